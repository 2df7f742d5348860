"""What the page of a run says besides its numbers, as values for the templates in ``templates/run``."""

from __future__ import annotations

import base64
import json
import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from benchmark.data.card import Card, load_card
from benchmark.declarations import list_declarations
from benchmark.errors import CardError, UnknownNameError
from benchmark.experiment.plan import load_experiment
from benchmark.metrics import Metric
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.descriptions import bias_sentence
from benchmark.runs.finished import FinishedRun, RunDataset
from benchmark.statistics.across import ALPHA
from benchmark.statistics.bayes import ROPE
from benchmark.techniques import list_techniques

__all__ = ["data_section", "failures_section", "methods_section", "regeneration_section"]

_BETTER = {
    "higher": "higher",
    "lower": "lower",
    "closer_to_ideal": "closer to the ideal",
    "none": "neither",
}

_PAPER = """@inproceedings{cardoso2019framework,
  author    = {Cardoso, Rodrigo L. and Meira Jr., Wagner and Almeida, Virgilio and Zaki, Mohammed J.},
  title     = {A Framework for Benchmarking Discrimination-Aware Models in Machine Learning},
  booktitle = {Proceedings of the AAAI/ACM Conference on AI, Ethics, and Society},
  year      = {2019},
}"""

# Reasons that differ in these only are one reason.
_NUMBERS = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")


@dataclass(frozen=True)
class _Network:
    """What is drawn of a dataset's network."""

    heading: str
    embedded: bool
    columns: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    edited_edges: tuple[tuple[str, str], ...]
    label: str
    sensitive_feature: str
    bias_description: str
    warning: str | None


def data_section(run: FinishedRun) -> list[dict[str, Any]]:
    """Return what the numbers were measured on: card, known problems, network, planted bias."""
    cards = _cards(run)
    return [_dataset(run, dataset, cards.get(dataset.name), i) for i, dataset in enumerate(run.datasets)]


def methods_section(statistics: RunStatistics) -> dict[str, Any]:
    """Return what was measured and how, and whom to cite."""
    run, known = statistics.run, list_techniques()
    cards = {card.name: card for card in _cards(run).values() if card.bibtex}
    return {
        "alpha": statistics.alpha,
        "rope": statistics.rope,
        "flips": statistics.n_flips,
        "metrics": [_metric(name, statistics.title(name), goal) for name, goal in statistics.metrics.items()],
        "techniques": [
            {
                "title": entry["title"] or entry["name"],
                "method": entry["technique"],
                "parameters": ", ".join(f"{name} = {value}" for name, value in entry["parameters"].items()),
                "reference": known[entry["technique"]].reference
                if entry["technique"] in known
                else "from a plugin that is not loaded here",
            }
            for entry in run.facts["experiment"]["techniques"]
        ],
        "citations": [
            ("The method of this benchmark", _PAPER),
            ("The program", _software(run)),
            *((card.title, (card.bibtex or "").strip()) for card in cards.values()),
        ],
    }


def failures_section(run: FinishedRun) -> list[dict[str, Any]]:
    """Return every reason why numbers are missing, the most frequent first."""
    failures = run.failures
    if failures.empty:
        return []
    alike = failures["reason"].map(lambda reason: _NUMBERS.sub("#", reason))
    groups = [own for _, own in failures.groupby(["status", alike], sort=False)]
    return [
        {
            "reason": own["reason"].iloc[0],
            "status": own["status"].iloc[0].replace("_", " "),
            "n": len(own),
            # Titles have commas.
            "techniques": "; ".join(run.techniques.get(name) or name for name in own["technique"].unique()),
            "datasets": ", ".join(own["dataset"].unique()),
            "betas": ", ".join(f"{beta:g}" for beta in sorted(own["beta"].unique())),
            "metrics": ", ".join(metric or "all" for metric in own["metric"].unique()),
        }
        for own in sorted(groups, key=len, reverse=True)
    ]


def regeneration_section(statistics: RunStatistics) -> dict[str, Any]:
    """Return what is needed to get the same numbers again: command, settings, seeds, versions, digests."""
    run, facts = statistics.run, statistics.run.facts
    seconds = facts["durations_in_seconds"]["all_cells"]
    return {
        "command": _command(run),
        "report_command": _report_command(statistics),
        "facts": {
            "root seed": run.seed,
            "repetitions": run.repetitions,
            "cells": ", ".join(
                f"{what.replace('_', ' ')}: {n:,}"
                for what, n in facts["cells"].items()
                if what != "computed_in_this_run"  # the others were stored before
            ),
            "time of all cells": f"{seconds / 60:,.1f} minutes, one after the other",
            "finished": facts["finished"],
            "system": f"{facts['platform']['system']}, {facts['platform']['cores']} cores",
            **_machine(facts["platform"]),
        },
        "versions": dict(run.versions),
        "digests": [*_digests(facts)],
        "settings": json.dumps(facts["experiment"], indent=2, ensure_ascii=False),
    }


def _digests(facts: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for name, own in facts["datasets"].items():
        yield name, "card", own["card_digest"]
        yield name, "test data", own["test_digest"]
        yield name, "network", own["network"]["digest"]
    yield "program", "all that a prediction passes through", facts["code"]["harness"]


def _machine(platform: Mapping[str, Any]) -> dict[str, str]:
    """Return what else the manifest says of the processor and the libraries that numbers depend on."""
    return {
        name.replace("_", " "): _listed(value)
        for name, value in platform.items()
        if name not in ("system", "cores") and value
    }


def _listed(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_listed(own)}" for name, own in value.items())
    if isinstance(value, list | tuple):
        mixed = any(isinstance(own, Mapping) for own in value)
        return ("; " if mixed else ", ").join(map(_listed, value))
    return str(value)


# ------------------------------------------------------------------------------------------------ data


def _dataset(run: FinishedRun, dataset: RunDataset, card: Card | None, position: int) -> dict[str, Any]:
    facts = run.facts["datasets"][dataset.name]
    told: dict[str, object] = {
        "scored on": f"{facts['test_data']}, {facts['test_rows']:,} rows",
        "trained on": f"samples of {facts['train_rows']:,} rows",
        "baseline": dataset.baseline,
        "groups": _groups(dataset),
    }
    if card is not None:
        told |= {
            "label": f"{card.label}; favorable: {card.favorable_label}",
            "sensitive feature": f"{card.sensitive_feature}; deprived: {card.deprived_group}",
            "columns": ", ".join(card.columns),
            "licence": card.licence,
            "described at": card.homepage,
            "citation": card.citation.strip(),
        }
    edges = [(parent, child) for parent, _, child in (e.partition(" -> ") for e in facts["network"]["edges"])]
    entry = run.facts["experiment"]["datasets"][position]
    edited = {edit["attribute"] for bias in entry["bias"] for edit in bias["edits"]}
    return {
        "name": dataset.name,
        "heading": dataset.heading,
        "title": card.title if card else "",
        "embedded": dataset.embedded,
        "warning": dataset.warning,
        "notes": dataset.noticed,
        "description": card.description.strip() if card else None,
        "has_changed": card is not None and card.digest != facts["card_digest"],
        "facts": {what: value for what, value in told.items() if value},
        "problems": card.known_problems if card else (),
        "planted": [_planted(dataset, name, bias) for name, bias in facts["bias"].items()],
        "edges": edges,
        "drawing": _drawing(dataset, card, edges, edited) if card else None,
    }


def _groups(dataset: RunDataset) -> str:
    """Say who is better off in the test data, and what a constant answer is worth there."""
    if (sizes := dataset.test_groups) is None:
        return ""
    constant = sizes.best_constant
    return (
        f"{sizes.deprived_favorable:,} of {sizes.deprived:,} test rows of the deprived group and "
        f"{sizes.favored_favorable:,} of {sizes.favored:,} of the favored group have the favorable label; "
        f"the best constant answer, {constant.words}, has an accuracy of {constant.accuracy:.4f}"
    )


def _planted(dataset: RunDataset, name: str, bias: Mapping[str, Any]) -> dict[str, Any]:
    found = bias["network_discrimination_by_beta"]
    return {
        "name": name,
        "sentence": bias_sentence(name, dataset.planted[name].description),
        "kind": bias["kind"],
        "is_inert": bool(bias["edits"]) and not bias["acting"],
        "by_beta": {f"{float(b):g}": math.nan if value is None else value for b, value in found.items()},
    }


def _drawing(dataset: RunDataset, card: Card, edges: Sequence[tuple[str, str]], edited: set[str]) -> str:
    """Return a drawing of the learned network, as SVG in base64."""
    # matplotlib is loaded only when something is drawn.
    from benchmark.figures.network import draw_network
    from benchmark.figures.style import render

    network = _Network(
        heading=dataset.heading,
        embedded=dataset.embedded,
        columns=tuple(dict.fromkeys([*card.columns, *(node for edge in edges for node in edge)])),
        edges=tuple(edges),
        edited_edges=tuple(edge for edge in edges if edge[0] in edited and edge[1] == card.label),
        label=card.label,
        sensitive_feature=card.sensitive_feature,
        bias_description=dataset.bias_description,
        warning=dataset.warning,
    )
    return base64.b64encode(render(draw_network(network), "svg")).decode()


def _cards(run: FinishedRun) -> dict[str, Card]:
    """Return the card of each dataset that is at hand, with its columns as the experiment reads them."""
    found = {}
    for dataset, entry in zip(run.datasets, run.facts["experiment"]["datasets"], strict=True):
        try:
            card = load_card(entry["card"])
        except (UnknownNameError, CardError):
            continue  # a user's own card, which need not be where it was
        found[dataset.name] = card.with_columns(entry.get("columns", {}))
    return found


# --------------------------------------------------------------------------------------------- methods


def _metric(name: str, title: str, goal: object) -> dict[str, Any]:
    if not isinstance(goal, Metric):
        return {"name": name, "declared": None}
    low, high = (f"{value:g}".replace("inf", "∞") for value in goal.range)
    better = _BETTER[goal.direction]
    return {"name": name, "title": title, "declared": goal, "range": f"{low} to {high}", "better": better}


def _software(run: FinishedRun) -> str:
    version = run.versions.get("betabench", "")
    return (
        "@software{betabench,\n"
        "  author  = {{The betabench developers}},\n"
        "  title   = {betabench: which fairness technique survives which amount of planted bias},\n"
        f"  version = {{{version}}},\n"
        f"  year    = {{{run.facts['finished'][:4]}}},\n"
        "}"
    )


# -------------------------------------------------------------------------------------- how to get it again


def _report_command(statistics: RunStatistics) -> str:
    run = statistics.run
    parts = ["betabench", "report", f"results/{run.name}", "--metrics", *statistics.metrics]
    declared = {dataset.name: dataset.baseline for dataset in run.datasets}
    baselines = set(statistics.baselines.values())
    if any(declared[name] != own for name, own in statistics.baselines.items()) and len(baselines) == 1:
        parts += ["--baseline", *baselines]
    for option, value, usual in (("--rope", statistics.rope, ROPE), ("--alpha", statistics.alpha, ALPHA)):
        if value != usual:
            parts += [option, f"{value:g}"]
    for plugin in run.facts["code"]["plugins"]:
        parts += ["--plugin", PurePath(plugin).name]
    return shlex.join(parts)


def _command(run: FinishedRun) -> str:
    experiment = run.facts["experiment"]
    parts = ["betabench", "run", "--experiment", run.name]
    if run.name in list_declarations("experiments"):
        shipped = load_experiment(run.name)
        chosen = {
            "--datasets": (
                [dataset.entry for dataset in run.datasets],
                [entry.name for entry in shipped.datasets],
            ),
            "--techniques": (list(run.techniques), [entry.name for entry in shipped.techniques]),
            "--betas": ([f"{beta:g}" for beta in run.betas], [f"{beta:g}" for beta in shipped.betas]),
            "--repetitions": ([f"{run.repetitions}"], [f"{shipped.repetitions}"]),
        }
        for option, (here, there) in chosen.items():
            if here != there:
                parts += [option, *here]
    else:
        parts[3] = f"{experiment['name']}.toml"
    for plugin in run.facts["code"]["plugins"]:
        parts += ["--plugin", PurePath(plugin).name]
    embedded = [dataset.embedded for dataset in run.datasets]
    if all(embedded):
        parts.append("--offline")
    elif not any(embedded):
        parts.append("--require-real-data")
    return shlex.join(parts)
