"""What the page of a run says besides its numbers, as values for the templates in ``templates/run``."""

from __future__ import annotations

import base64
import json
import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from benchmark.columns import EACH_OWN, OWN
from benchmark.data.card import Card
from benchmark.declarations import list_declarations
from benchmark.experiment.plan import load_experiment
from benchmark.metrics import Metric
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.descriptions import DatasetDescription, listed_betas
from benchmark.runs.finished import FinishedRun
from benchmark.runs.manifest import Manifest
from benchmark.statistics.across import ALPHA
from benchmark.statistics.bayes import ROPE
from benchmark.tables.groups import HOW_TO_READ_GAPS, gap_title, gaps_of, smallest_text
from benchmark.tables.tuning import HOW_TO_READ as HOW_TO_READ_REGRETS
from benchmark.tables.tuning import regret_blocks
from benchmark.tables.winner import winner
from benchmark.techniques import find_technique

_PAPER = """@inproceedings{cardoso2019framework,
  author    = {Cardoso, Rodrigo L. and Meira Jr., Wagner and Almeida, Virgilio and Zaki, Mohammed J.},
  title     = {A Framework for Benchmarking Discrimination-Aware Models in Machine Learning},
  booktitle = {Proceedings of the AAAI/ACM Conference on AI, Ethics, and Society},
  year      = {2019},
}"""

# Reasons that differ in these only are one reason.
_NUMBERS = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def data_section(run: FinishedRun) -> list[dict[str, Any]]:
    """Return what the numbers were measured on: card, known problems, network, planted bias."""
    cards = _cards(run)
    return [_dataset(run, dataset, cards.get(dataset.name)) for dataset in run.datasets]


def groups_section(statistics: RunStatistics) -> dict[str, Any]:
    """Return how to read gaps between groups, and those of each rate."""
    metrics = statistics.groups["metric"].unique()
    return {
        "reading": f"{HOW_TO_READ_GAPS} {smallest_text(statistics)}",
        "metrics": {gap_title(metric): [*gaps_of(statistics, metric)] for metric in metrics},
    }


def tuning_section(statistics: RunStatistics) -> dict[str, Any]:
    """Return how to read regrets, and those of each dataset; none where nothing was tuned."""
    return {
        "rule": statistics.run.tuned_by,
        "reading": HOW_TO_READ_REGRETS,
        "blocks": [] if statistics.regret.empty else [*regret_blocks(statistics)],
    }


def use_section(statistics: RunStatistics) -> dict[str, Any]:
    """Return what is recommended at the highest level of bias, and the lines that apply it."""
    (*places, said), lines = winner(statistics)
    return {"places": places, "said": said, "lines": lines}


def methods_section(statistics: RunStatistics) -> dict[str, Any]:
    """Return what was measured and how, and whom to cite."""
    run = statistics.run
    cards = {card.name: card for card in _cards(run).values() if card.bibtex}
    return {
        "tests": run.tests_note,
        "alpha": statistics.alpha,
        "rope": statistics.rope,
        "flips": statistics.n_flips,
        "overlapping": statistics.resampling is not None,
        "metrics": [_metric(name, statistics.title(name), goal) for name, goal in statistics.metrics.items()],
        "techniques": [
            {
                "title": entry.title or entry.name,
                "method": entry.technique,
                "parameters": ", ".join(f"{name} = {value}" for name, value in entry.parameters.items()),
                "reference": getattr(
                    find_technique(entry.technique), "reference", "from a plugin that is not loaded here"
                ),
            }
            for entry in run.facts.experiment.techniques
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
            "techniques": "; ".join(run.titles.get(name) or name for name in own["technique"].unique()),
            "datasets": ", ".join(own["dataset"].unique()),
            "betas": listed_betas(sorted(own["beta"].unique())),
            "metrics": ", ".join(metric or "all" for metric in own["metric"].unique()),
            "tests": ", ".join(test or "all" for test in own["test"].unique()) if run.tests_note else "",
        }
        for own in sorted(groups, key=len, reverse=True)
    ]


def regeneration_section(statistics: RunStatistics, baselines: Sequence[str] = ()) -> dict[str, Any]:
    """Return what is needed to get the same numbers again: command, settings, seeds, versions, digests.

    ``baselines`` are those that were named for the page.
    """
    run, facts = statistics.run, statistics.run.facts
    seconds = facts.durations_in_seconds["all_cells"]
    cells = [
        f"{what.replace('_', ' ')}: {n:,}"
        for what, n in facts.cells.items()
        if what != "computed_in_this_run"  # the others were stored before
    ]
    return {
        "command": _command(run),
        "report_command": _report_command(statistics, baselines),
        "facts": {
            "root seed": run.seed,
            "repetitions": run.repetitions,
            "cells": ", ".join(cells),
            "time of all cells": f"{seconds / 60:,.1f} minutes, one after the other",
            "finished": facts.finished,
            "system": f"{facts.platform['system']}, {facts.platform['cores']} cores",
            # What else the manifest says of the processor and the libraries that numbers depend on.
            **{
                name.replace("_", " "): _listed(value)
                for name, value in facts.platform.items()
                if name not in ("system", "cores") and value
            },
        },
        "versions": dict(run.versions),
        "digests": [*_digests(facts)],
        "settings": json.dumps(facts.experiment.settings, indent=2, ensure_ascii=False),
    }


def _digests(facts: Manifest) -> Iterator[tuple[str, str, str]]:
    for name, own in facts.datasets.items():
        yield name, "card", own.card_digest
        yield name, "test data", own.test_digest
        yield name, "network", own.network.digest
    yield "program", "all that a prediction passes through", facts.code.harness


def _listed(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_listed(own)}" for name, own in value.items())
    if isinstance(value, list | tuple):
        nested = any(isinstance(own, Mapping) for own in value)
        return ("; " if nested else ", ").join(map(_listed, value))
    return str(value)


# ------------------------------------------------------------------------------------------------ data


def _dataset(run: FinishedRun, dataset: DatasetDescription, card: Card | None) -> dict[str, Any]:
    facts: dict[str, object] = {
        "scored on": f"{dataset.test_data}, {dataset.n_test:,} rows",
        "trained on": f"samples of {dataset.n_train:,} rows",
        "baseline": EACH_OWN if dataset.baseline == OWN else dataset.baseline,
        "groups": _groups(dataset),
    }
    if card is not None:
        facts |= {
            "label": f"{card.label}; favorable: {card.favorable_label}",
            "sensitive feature": f"{card.sensitive_feature}; deprived: {card.roles['deprived_group']}",
            "columns": ", ".join(card.columns),
            "licence": card.licence,
            "described at": card.homepage,
            "citation": card.citation.strip(),
        }
    return {
        "name": dataset.name,
        "heading": dataset.heading,
        "title": dataset.title,
        "embedded": dataset.embedded,
        "warning": dataset.warning,
        "notes": dataset.notes,
        "description": card.description.strip() if card else None,
        "has_changed": card is not None and card.digest != run.facts.datasets[dataset.name].card_digest,
        "facts": {what: value for what, value in facts.items() if value},
        "problems": card.known_problems if card else (),
        "planted": [
            {
                "name": bias.name,
                "sentence": bias.sentence,
                "kind": bias.kind,
                "is_inert": bias.inert,
                "by_beta": {
                    f"{b:g}": math.nan if value is None else value for b, value in bias.discrimination
                },
            }
            for bias in dataset.biases
        ],
        "edges": dataset.edges,
        # The label is neither in the manifest nor in a card at hand: an older run of a user's own data.
        "drawing": _drawing(dataset) if dataset.label else None,
    }


def _groups(dataset: DatasetDescription) -> str:
    """Say who is better off in the test data, and what a constant answer is worth there."""
    if (sizes := dataset.group_sizes) is None:
        return ""
    constant = sizes.best_constant
    return (
        f"{sizes.deprived_favorable:,} of {sizes.deprived:,} test rows of the deprived group and "
        f"{sizes.favored_favorable:,} of {sizes.favored:,} of the favored group have the favorable label; "
        f"the best constant answer, {constant.words}, has an accuracy of {constant.accuracy:.4f}"
    )


def _drawing(dataset: DatasetDescription) -> str:
    """Return a drawing of the learned network, as SVG in base64."""
    # matplotlib is loaded only when something is drawn.
    from benchmark.figures.network import draw_network
    from benchmark.figures.style import render

    return base64.b64encode(render(draw_network(dataset), "svg")).decode()


def _cards(run: FinishedRun) -> dict[str, Card]:
    """Return the card of each dataset that is at hand, with its columns as the experiment reads them."""
    entries = zip(run.datasets, run.facts.experiment.datasets, strict=True)
    return {dataset.name: card for dataset, entry in entries if (card := entry.find_card()) is not None}


# --------------------------------------------------------------------------------------------- methods


def _metric(name: str, title: str, goal: object) -> dict[str, Any]:
    if not isinstance(goal, Metric):
        return {"name": name, "declared": None}
    low, high = (f"{value:g}".replace("inf", "∞") for value in goal.range)
    better = {"closer_to_ideal": "closer to the ideal", "none": "neither"}.get(goal.direction, goal.direction)
    return {"name": name, "title": title, "declared": goal, "range": f"{low} to {high}", "better": better}


def _software(run: FinishedRun) -> str:
    version = run.versions.get("betabench", "")
    return (
        "@software{betabench,\n"
        "  author  = {{The betabench developers}},\n"
        "  title   = {betabench: which fairness technique survives which amount of planted bias},\n"
        f"  version = {{{version}}},\n"
        f"  year    = {{{run.facts.finished[:4]}}},\n"
        "}"
    )


# -------------------------------------------------------------------------------------- how to get it again


def _report_command(statistics: RunStatistics, baselines: Sequence[str]) -> str:
    run = statistics.run
    parts = ["betabench", "report", f"results/{run.name}", "--metrics", *statistics.metrics]
    declared = run.baselines(statistics.results).by
    known = {place: own for place, own in statistics.baselines.by.items() if isinstance(own, str)}
    if any(declared[place] != own for place, own in known.items()) and len({*known.values()}) == 1:
        parts += ["--baseline", *{*known.values()}]
    if baselines:
        parts += ["--page-baselines", *baselines]
    for option, value, usual in (("--rope", statistics.rope, ROPE), ("--alpha", statistics.alpha, ALPHA)):
        if value != usual:
            parts += [option, f"{value:g}"]
    return shlex.join([*parts, *_plugins(run)])


def _plugins(run: FinishedRun) -> list[str]:
    return [part for plugin in run.facts.code.plugins for part in ("--plugin", PurePath(plugin).name)]


def _command(run: FinishedRun) -> str:
    parts = ["betabench", "run", "--experiment", run.name]
    if run.name in list_declarations("experiments"):
        shipped = load_experiment(run.name)
        entries, techniques = shipped.datasets, shipped.techniques
        chosen = {
            "--datasets": ([dataset.entry for dataset in run.datasets], [entry.name for entry in entries]),
            "--techniques": (list(run.titles), [entry.name for entry in techniques]),
            "--betas": ([f"{beta:g}" for beta in run.betas], [f"{beta:g}" for beta in shipped.betas]),
            "--repetitions": ([f"{run.repetitions}"], [f"{shipped.repetitions}"]),
        }
        for option, (here, there) in chosen.items():
            if here != there:
                parts += [option, *here]
    else:
        parts[3] = f"{run.name}.toml"
    parts += _plugins(run)
    embedded = [dataset.embedded for dataset in run.datasets]
    if all(embedded):
        parts.append("--offline")
    elif not any(embedded):
        parts.append("--require-real-data")
    return shlex.join(parts)
