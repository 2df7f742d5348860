"""The parts of the page that only say something: data, methods, failures, and how to get it all again."""

from __future__ import annotations

import base64
import html
import json
import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import PurePath
from typing import Any

import pandas as pd

from benchmark.data.card import Card
from benchmark.declarations import list_declarations
from benchmark.experiment.plan import load_experiment
from benchmark.metrics import Metric
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.descriptions import DatasetDescription
from benchmark.runs.finished import FinishedRun
from benchmark.statistics.across import ALPHA
from benchmark.statistics.bayes import ROPE
from benchmark.techniques import list_techniques
from benchmark.text.words import printable

__all__ = ["data_section", "failures_section", "methods_section", "regeneration_section", "text"]

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


def text(value: object) -> str:
    """Return anything as text in HTML, which it cannot leave."""
    return html.escape(printable(value))


def data_section(run: FinishedRun) -> str:
    """Return what the numbers were measured on: card, known problems, network, planted bias."""
    return "".join(_dataset(run, dataset) for dataset in run.datasets)


def methods_section(statistics: RunStatistics) -> str:
    """Return what was measured and how, and whom to cite."""
    run = statistics.run
    known = list_techniques()
    rows = []
    for entry in run.facts.experiment.techniques:
        technique = known.get(entry.technique)
        reference = technique.reference if technique else "from a plugin that is not loaded here"
        settings = ", ".join(f"{name} = {value}" for name, value in entry.parameters.items())
        rows.append(
            (
                _head(entry.title or entry.name),
                _code(entry.technique),
                text(settings),
                text(reference),
            )
        )
    return (
        files("benchmark.pages")
        .joinpath("static")
        .joinpath("methods.html")
        .read_text(encoding="utf-8")
        .replace("@alpha@", f"{statistics.alpha:g}")
        .replace("@rope@", f"{statistics.rope:g}")
        .replace("@flips@", f"{statistics.n_flips:,}")
        + "<h3>Metrics</h3>"
        + _table(
            "Metrics of this page; y+ is the favorable label, ŷ a prediction, g the deprived group, ḡ the "
            "favored one",
            ("metric", "formula", "range", "ideal", "better", "source"),
            (_metric(name, statistics.title(name), item) for name, item in statistics.metrics.items()),
        )
        + "<h3>Techniques</h3>"
        + _table("Techniques of this run", ("technique", "method", "parameters", "published in"), rows)
        + "<h3>Citations</h3>"
        + _copyable("The method of this benchmark", _PAPER)
        + _copyable("The program", _software(run))
        + "".join(
            _copyable(card.title, card.bibtex.strip())
            for card in {card.name: card for card in _cards(run).values()}.values()
            if card.bibtex
        )
    )


def failures_section(run: FinishedRun) -> str:
    """Return every reason why numbers are missing, the most frequent first."""
    failures = run.failures
    if failures.empty:
        return "<p>Every cell has a result, and every metric a value.</p>"
    alike = failures["reason"].map(lambda reason: _NUMBERS.sub("#", reason))
    groups = sorted(
        (own for _, own in failures.groupby(["status", alike], sort=False)), key=len, reverse=True
    )
    rows = [
        (
            f'<th scope="row" class="reason">{text(own["reason"].iloc[0])}</th>',
            text(own["status"].iloc[0].replace("_", " ")),
            f"{len(own):,}",
            text("; ".join(_titles(run, own["technique"]))),  # titles have commas
            text(", ".join(own["dataset"].unique())),
            text(", ".join(f"{beta:g}" for beta in sorted(own["beta"].unique()))),
            text(", ".join(metric or "all" for metric in own["metric"].unique())),
        )
        for own in groups
    ]
    return (
        f"<p>{len(failures):,} results or values are missing; none of them counts in any mean. Reasons that "
        "differ in a number only are one row, with the first of them.</p>"
        + _table(
            "Missing results by reason",
            ("reason", "status", "count", "techniques", "datasets", "β", "metrics"),
            rows,
        )
    )


def regeneration_section(statistics: RunStatistics) -> str:
    """Return what is needed to get the same numbers again: command, settings, seeds, versions, digests."""
    run = statistics.run
    facts = run.facts
    digests = []
    for name, own in facts.datasets.items():
        digests += [
            (_head(name), "card", _code(own.card_digest)),
            (_head(name), "test data", _code(own.test_digest)),
            (_head(name), "network", _code(own.network.digest)),
        ]
    digests.append((_head("program"), "all that a prediction passes through", _code(facts.code.harness)))
    versions = [(_head(name), text(version)) for name, version in run.versions.items()]
    seconds = facts.durations_in_seconds["all_cells"]
    settings = json.dumps(facts.experiment.settings, indent=2, ensure_ascii=False)
    return (
        "<p>The same experiment, data and versions give the same numbers, whatever the number of workers:</p>"
        + _copyable("Command", _command(run))
        + "<p>Statistics and this page are made from its folder:</p>"
        + _copyable("Command of the report", _report_command(statistics))
        + _facts(
            {
                "root seed": run.seed,
                "repetitions": run.repetitions,
                "cells": ", ".join(
                    f"{what.replace('_', ' ')}: {n:,}"
                    for what, n in facts.cells.items()
                    if what != "computed_in_this_run"  # the others were stored before
                ),
                "time of all cells": f"{seconds / 60:,.1f} minutes, one after the other",
                "finished": facts.finished,
                "system": f"{facts.platform['system']}, {facts.platform['cores']} cores",
                **_machine(facts.platform),
            }
        )
        + _table("Versions", ("package", "version"), versions)
        + _table("Digests (SHA-256)", ("of", "what", "digest"), digests)
        + f"<details><summary>All settings of the experiment</summary>{_pre(settings)}</details>"
    )


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


def _dataset(run: FinishedRun, dataset: DatasetDescription) -> str:
    card = _cards(run).get(dataset.name)
    parts = [f"<h3>{text(dataset.heading)} ({_code(dataset.name)})</h3>"]
    if dataset.embedded:
        parts.append(
            '<p class="warning"><strong>Embedded network, not real data.</strong> The shipped network stood '
            "in for the real data: training and test rows are samples of it, and no number here says how a "
            "technique does on real people.</p>"
        )
    if dataset.warning:
        parts.append(f'<p class="warning"><strong>Warning.</strong> {text(dataset.warning)}</p>')
    parts += [f'<p class="warning"><strong>Note.</strong> {text(note)}</p>' for note in dataset.noticed]
    told: dict[str, object] = {
        "scored on": f"{dataset.test_data}, {dataset.n_test:,} rows",
        "trained on": f"samples of {dataset.n_train:,} rows",
        "baseline": dataset.baseline,
        "groups": _groups(dataset),
    }
    if card is None:
        parts.append("<p>The card is not at hand, so only what the run itself recorded is shown.</p>")
    else:
        parts.append(f"<p>{text(card.description.strip())}</p>")
        told |= {
            "label": f"{card.label}; favorable: {card.favorable_label}",
            "sensitive feature": f"{card.sensitive_feature}; deprived: {card.deprived_group}",
            "columns": ", ".join(card.columns),
            "licence": card.licence,
            "described at": card.homepage,
            "citation": card.citation.strip(),
        }
        if card.digest != run.facts.datasets[dataset.name].card_digest:
            parts.append("<p>The card has changed since this run; what is shown is its present state.</p>")
    parts.append(_facts({what: value for what, value in told.items() if value}))
    if card and card.known_problems:
        items = "".join(f"<li>{text(problem)}</li>" for problem in card.known_problems)
        parts.append(f"<h4>Known problems</h4><ul>{items}</ul>")
    parts.append(_planted(dataset))
    parts.append(_drawing(dataset))
    return f'<section class="dataset">{"".join(parts)}</section>'


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


def _planted(dataset: DatasetDescription) -> str:
    parts = ["<h4>Planted bias</h4>"]
    for bias in dataset.biases:
        parts.append(f"<p>{text(bias.sentence)} (kind {_code(bias.kind)}).</p>")
        if bias.inert:
            parts.append(
                '<p class="warning">No dependency of the learned network is one that this edit could act on: '
                "at every β the samples are the same.</p>"
            )
        parts.append(
            _table(
                f"Discrimination that the network itself has under the bias {bias.name}",
                ("β", *(f"{beta:g}" for beta, _ in bias.discrimination)),
                [(_head("discrimination"), *(_number(value) for _, value in bias.discrimination))],
            )
        )
    return "".join(parts)


def _drawing(dataset: DatasetDescription) -> str:
    rows = [(_head(parent), text(child)) for parent, child in dataset.edges]
    listed = (
        f"<details><summary>The {len(rows)} dependencies as a table</summary>"
        + _table("Dependencies of the learned network", ("parent", "child"), rows)
        + "</details>"
    )
    if not dataset.label:  # neither in the manifest nor in a card at hand
        return f"<h4>Learned network</h4>{listed}"
    # matplotlib is loaded only when something is drawn.
    from benchmark.figures.network import draw_network
    from benchmark.figures.style import render

    # An image of its own: names within one drawing cannot meet those of another, nor run anything.
    image = base64.b64encode(render(draw_network(dataset), "svg")).decode()
    told = f"Drawing of the learned network of {dataset.title}; the table below lists its dependencies"
    return (
        f'<h4>Learned network</h4><div class="box" tabindex="0" role="region" aria-label="{text(told)}">'
        f'<img class="network" alt="{text(told)}" src="data:image/svg+xml;base64,{image}"></div>{listed}'
    )


def _cards(run: FinishedRun) -> dict[str, Card]:
    """Return the card of each dataset that is at hand, with its columns as the experiment reads them."""
    entries = zip(run.datasets, run.facts.experiment.datasets, strict=True)
    return {dataset.name: card for dataset, entry in entries if (card := entry.find_card()) is not None}


# --------------------------------------------------------------------------------------------- methods


def _metric(name: str, title: str, item: object) -> tuple[str, ...]:
    if not isinstance(item, Metric):
        return (_head(name), "declared by a plugin that is not loaded here", "", "", "", "")
    low, high = (f"{value:g}".replace("inf", "∞") for value in item.range)
    ideal = "" if item.ideal is None else f"{item.ideal:g}"
    note = f'<br><span class="soft">{text(item.note)}</span>' if item.note else ""
    return (
        f'<th scope="row">{text(title)}<br>{_code(name)}</th>',
        text(item.formula) + note,
        f"{low} to {high}",
        ideal,
        _BETTER[item.direction],
        text(item.source),
    )


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
    for plugin in run.facts.code.plugins:
        parts += ["--plugin", PurePath(plugin).name]
    return shlex.join(parts)


def _command(run: FinishedRun) -> str:
    parts = ["betabench", "run", "--experiment", run.name]
    if run.name in list_declarations("experiments"):
        shipped = load_experiment(run.name)
        chosen = {
            "--datasets": (
                [dataset.entry for dataset in run.datasets],
                [entry.name for entry in shipped.datasets],
            ),
            "--techniques": (list(run.titles), [entry.name for entry in shipped.techniques]),
            "--betas": ([f"{beta:g}" for beta in run.betas], [f"{beta:g}" for beta in shipped.betas]),
            "--repetitions": ([f"{run.repetitions}"], [f"{shipped.repetitions}"]),
        }
        for option, (here, there) in chosen.items():
            if here != there:
                parts += [option, *here]
    else:
        parts[3] = f"{run.name}.toml"
    for plugin in run.facts.code.plugins:
        parts += ["--plugin", PurePath(plugin).name]
    embedded = [dataset.embedded for dataset in run.datasets]
    if all(embedded):
        parts.append("--offline")
    elif not any(embedded):
        parts.append("--require-real-data")
    return shlex.join(parts)


# ------------------------------------------------------------------------------------------------ HTML


def _titles(run: FinishedRun, names: pd.Series[str]) -> list[str]:
    return [run.titles.get(name) or name for name in names.unique()]


def _number(value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else f"{value:.4f}"


def _code(value: object) -> str:
    return f"<code>{text(value)}</code>"


def _head(value: object) -> str:
    return f'<th scope="row">{text(value)}</th>'


def _pre(content: str) -> str:
    # Line breaks are meant here; all else that cannot be printed is shown as such.
    lines = "\n".join(map(text, content.split("\n")))
    return f'<pre tabindex="0">{lines}</pre>'


def _copyable(title: str, content: str) -> str:
    return (
        f'<figure class="copyable"><figcaption>{text(title)} '
        f'<button type="button" class="copy">Copy<span class="unseen"> {text(title)}</span></button>'
        f"</figcaption>{_pre(content)}</figure>"
    )


def _facts(facts: Mapping[str, object]) -> str:
    return (
        '<dl class="facts">'
        + "".join(f"<dt>{text(what)}</dt><dd>{text(value)}</dd>" for what, value in facts.items())
        + "</dl>"
    )


def _table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in a box that scrolls by itself and by keyboard; cells are HTML, all else is text."""
    head = "".join(f'<th scope="col">{text(heading)}</th>' for heading in headings)
    body = "".join(
        "<tr>" + "".join(c if c.startswith("<th") else f"<td>{c}</td>" for c in row) + "</tr>" for row in rows
    )
    return (
        f'<div class="box" tabindex="0" role="region" aria-label="{text(caption)}"><table>'
        f"<caption>{text(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
