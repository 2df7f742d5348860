"""Tables and figure of the findings of ``fairness_cost``, ``network_rows`` and ``network_rows_seen``.

``python -m studies fairness_cost`` writes the pages' tables and the figure anew from the committed
values; ``studies/fairness_cost/test_fairness_cost.py`` holds them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.experiment.entries import DatasetEntry
from benchmark.experiment.plan import load_experiment
from benchmark.figures import style
from benchmark.figures.page import Page, RowLabels
from benchmark.figures.style import line_style
from benchmark.metrics import list_metrics
from benchmark.statistics.cells import Array, Cells, distance, to_cells
from benchmark.techniques import get_technique
from benchmark.text.writing import plain_or_packed
from studies.agreement import tau_interval, tau_of, tau_of_halves
from studies.estimates import RESAMPLES, Estimate, draw_estimate, student_estimate
from studies.pages import Files, with_part

__all__ = ["PAGES", "TABLES", "claims", "corrected", "draw", "mitigation", "with_tables"]

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results"
PAGES = (
    *(RESULTS / run / "FINDINGS.md" for run in ("fairness_cost", "network_rows")),
    ROOT / "docs" / "method.md",
    RESULTS / "network_rows" / "NUMBERS.md",
)
FIGURE = RESULTS / "fairness_cost" / "figures" / "mitigation.png"
RANKS_FIGURE = RESULTS / "network_rows" / "figures" / "ranks.png"
BASELINE = "none"
WRONG = ("label", "selection", "both")
"""Kinds whose biased test differs from the original one in labels, or in who is in it."""

KINDS = (*WRONG, "measurement")
METRICS = ("discrimination", "accuracy", "overestimation", "underestimation")
STAGES = ("pre", "in", "post")
RELABELLED = ("massaging", "reweighing", "preferential_sampling")
"""Techniques whose effect on samples of a network was found to be understated."""

_HOLDOUT = 0.3
_BEGIN, _END = "<!-- {}: python -m studies fairness_cost -->", "<!-- {} ends -->"


@cache
def cells(run: str) -> Cells:
    """Return the values of a committed run on the original test, and for ``fairness_cost`` on the others."""
    return to_cells(pd.read_csv(plain_or_packed(RESULTS / run / "results.csv")))


@cache
def places(run: str) -> dict[tuple[object, ...], NDArray[np.intp]]:
    """Return the rows of all techniques by dataset, bias, level, metric and test."""
    keys = cells(run).keys
    assert list(keys["technique"].unique()) == techniques()
    return dict(keys.groupby(["dataset", "bias", "level", "metric", "test"]).indices)


def values(run: str, dataset: str, bias: str, beta: float, metric: str, test: str = "original") -> Array:
    """Return the values of all techniques, as the experiment names them: (n_techniques, n_repetitions)."""
    return cells(run).values[places(run)[dataset, bias, beta, metric, test]]


@cache
def techniques() -> list[str]:
    """Return the names of the techniques, the same in all three experiments."""
    return [technique.name for technique in load_experiment("fairness_cost").techniques]


@cache
def datasets() -> list[str]:
    """Return the names of the datasets of ``fairness_cost``."""
    return [dataset.name for dataset in load_experiment("fairness_cost").datasets]


@cache
def betas(run: str) -> tuple[float, ...]:
    """Return the levels of bias of an experiment."""
    return load_experiment(run).levels


def corrected(values: Array, test_share: float = _HOLDOUT) -> Estimate:
    """Return the mean over repetitions with its interval, corrected for splits that overlap.

    ``test_share`` is the share of all rows that each split keeps for testing, however many of the
    others are trained on; 0 is for independent repetitions.
    """
    return student_estimate(values, overlap=test_share / (1 - test_share))


# What mitigation does to accuracy


def changes(dataset: str, bias: str, beta: float, test: str) -> Array:
    """Return accuracy minus the baseline's on the same split, shape (n_techniques - 1, n_repetitions)."""
    own = values("fairness_cost", dataset, bias, beta, "accuracy", test)
    baseline = techniques().index(BASELINE)
    return np.delete(own - own[baseline], baseline, axis=0)


def mitigation(dataset: str, bias: str, beta: float, test: str, stage: str | None = None) -> Array:
    """Return the mean change over all techniques but the baseline, or those of a stage, on each split."""
    others = [name for name in techniques() if name != BASELINE]
    own = [stage is None or get_technique(name).stage == stage for name in others]
    return np.asarray(changes(dataset, bias, beta, test)[own].mean(axis=0))


def over_datasets(estimates: list[Estimate]) -> Estimate:
    """Return the mean over datasets, which are independent of each other, with its interval."""
    own = np.array(estimates)
    mean, half = own[:, 0].mean(), np.sqrt(((own[:, 2] - own[:, 0]) ** 2).sum()) / len(own)
    return float(mean), float(mean - half), float(mean + half)


def gains_and_losses(bias: str, beta: float, test: str) -> tuple[int, int]:
    """Return for how many pairs of dataset and technique the change's interval is above 0, and below."""
    own = [corrected(row) for dataset in datasets() for row in changes(dataset, bias, beta, test)]
    return sum(low > 0 for _, low, _ in own), sum(high < 0 for _, _, high in own)


def claims() -> list[tuple[str, str, list[str], int, str]]:
    """Return the claims of the experiment.

    Words, kind, datasets that show it, on how many it has to hold, and the number behind it: a mean over
    datasets in points with half of its interval, or how many pairs of dataset and technique gain.
    """
    levels = betas("fairness_cost")
    top = levels[-1]

    def more(bias: str, dataset: str) -> Array:
        return mitigation(dataset, bias, top, "original") - mitigation(dataset, bias, top, "biased")

    def cost_seen(bias: str, dataset: str) -> bool:
        return all(mitigation(dataset, bias, b, "biased").mean() < 0 for b in levels if b >= 0.4)

    def less(bias: str, dataset: str) -> bool:
        return corrected(more(bias, dataset))[1] > 0

    def gains(bias: str, dataset: str, levels: tuple[float, ...] = (top,)) -> bool:
        return any(corrected(row)[1] > 0 for b in levels for row in changes(dataset, bias, b, "original"))

    def costs(bias: str, dataset: str, beta: float = top) -> bool:
        return bool(mitigation(dataset, bias, beta, "original").mean() < 0)

    def never(bias: str, dataset: str) -> bool:
        return not gains(bias, dataset, betas("fairness_cost"))

    def gaining(bias: str) -> str:
        return f"{gains_and_losses(bias, top, 'original')[0]} of {_n_pairs()}"

    def difference(bias: str) -> str:
        return _points(over_datasets([corrected(more(bias, dataset)) for dataset in datasets()]))

    def change(test: str, beta: float = top) -> Callable[[str], str]:
        return lambda bias: _change(bias, beta, test)

    Asked = tuple[str, str, Callable[[str, str], bool], int, Callable[[str], str]]
    asked: list[Asked] = [
        ("(1) the biased test sees a cost from 0.4 on", bias, cost_seen, 4, change("biased"))
        for bias in WRONG
    ]
    for bias in ("label", "both", "selection"):
        number = "(3)" if bias == "selection" else "(2)"
        words = f"{number} less cost on the original test than on the biased one"
        asked.append((words, bias, less, 4, difference))
        asked.append((f"{number} some technique gains on the original test", bias, gains, 3, gaining))
    kind, nothing = "measurement", "(5) mitigation costs where nothing is planted"
    asked += [
        ("(4) no technique gains on the original test", kind, never, 4, gaining),
        ("(4) mitigation costs on the original test", kind, costs, 3, change("original")),
        (nothing, "label", partial(costs, beta=0.0), 4, change("original", 0.0)),
    ]
    return [
        (words, bias, [dataset for dataset in datasets() if holds(bias, dataset)], needed, number(bias))
        for words, bias, holds, needed, number in asked
    ]


# Whether networks serve as well as real rows


def distances(run: str, dataset: str, bias: str, beta: float, metric: str) -> Array:
    """Return distances to the ideal on the original test, shape (n_techniques, n_repetitions)."""
    return distance(values(run, dataset, bias, beta, metric), list_metrics()[metric])


def tau_and_ceiling(entry: str, bias: str, beta: float, metric: str) -> tuple[float, float]:
    """Return tau between samples of an entry's networks and real rows, and the ceiling."""
    real = distances("fairness_cost", dataset_of(entry), bias, beta, metric)
    drawn = distances("network_rows", entry, bias, beta, metric)
    return float(tau_of(real.mean(axis=1), drawn.mean(axis=1))), tau_of_halves(real)


@cache
def ranks(entry: str, bias: str, beta: float, metric: str) -> tuple[Estimate, float]:
    """Return tau between samples of an entry's networks and real rows, and the ceiling."""
    real = distances("fairness_cost", dataset_of(entry), bias, beta, metric)
    drawn = distances("network_rows", entry, bias, beta, metric)
    found = tau_interval(real, drawn, _HOLDOUT / (1 - _HOLDOUT), resamples=RESAMPLES)
    return (found.tau, found.low, found.high), tau_of_halves(real)


def dataset_of(entry: str) -> str:
    """Return the dataset of an entry of ``network_rows``: its card."""
    return _entry(entry).card


def effect(run: str, entry: str, metric: str = "discrimination") -> float:
    """Return by how much relabelling and resampling lower a metric, on average, where nothing is planted."""
    own = dict(zip(techniques(), values(run, entry, "label", 0.0, metric).mean(axis=1), strict=True))
    return float(own[BASELINE] - np.mean([own[technique] for technique in RELABELLED]))


def nearer(run: str, entry: str) -> float:
    """Return by how much relabelling and resampling bring discrimination nearer to 0, as :func:`effect`."""
    own = dict(zip(techniques(), distances(run, entry, "label", 0.0, "discrimination"), strict=True))
    return float(own[BASELINE].mean() - np.mean([own[technique] for technique in RELABELLED]))


def error(entry: str, metric: str) -> float:
    """Return the mean absolute error of a technique's mean on samples of the network, at both levels."""
    real, made = (
        np.array([values(run, name, "label", beta, metric).mean(axis=1) for beta in betas("network_rows")])
        for run, name in (("fairness_cost", dataset_of(entry)), ("network_rows", entry))
    )
    return float(np.abs(real - made).mean())


def seen(dataset: str, metric: str, beta: float, technique: str | None = None) -> Estimate:
    """Return the mean where the network has seen the test rows, minus that where it has not.

    Of one technique, or over all, with its interval. Repetitions of the two runs are independent, splits are
    not.
    """
    parts = []
    for run, share in (("network_rows_seen", 0.0), ("network_rows", _HOLDOUT)):
        own = values(run, dataset, "label", beta, metric)
        row = own.mean(axis=0) if technique is None else own[techniques().index(technique)]
        parts.append(corrected(row, share))
    difference = parts[0][0] - parts[1][0]
    half = float(np.hypot(*(high - mean for mean, _, high in parts)))
    return difference, difference - half, difference + half


# As pages have it


def _points(estimate: Estimate, digits: int = 1) -> str:
    """Return an estimate in points (hundredths) with half of its interval."""
    mean, low, high = (100 * number for number in estimate)
    return f"{mean + 0.0:+.{digits}f} ± {(high - low) / 2:.{digits}f}"


def _table(head: list[str], rows: list[list[str]]) -> str:
    # The first column is words.
    rule = "|---|" + "---:|" * (len(head) - 1)
    lines = ["| " + " | ".join(line) + " |" for line in (head, *rows)]
    return "\n".join([lines[0], rule, *lines[1:]])


def _n_pairs() -> int:
    return len(datasets()) * (len(techniques()) - 1)


def _change(bias: str, beta: float, test: str, stage: str | None = None) -> str:
    """Return the change in accuracy over datasets and techniques, or those of a stage."""
    return _points(
        over_datasets([corrected(mitigation(dataset, bias, beta, test, stage)) for dataset in datasets()])
    )


def changes_table() -> str:
    """Return the change in accuracy by kind, test and level, and at the greatest one by stage."""
    levels = betas("fairness_cost")

    def cell(bias: str, beta: float, test: str) -> str:
        gained, lost = gains_and_losses(bias, beta, test)
        return f"{_change(bias, beta, test)} ({gained}/{lost})"

    def stages(bias: str, beta: float, test: str) -> list[str]:
        return [_change(bias, beta, test, stage) for stage in STAGES]

    # Where nothing is planted, kinds and tests are the same rows.
    rows = [["nothing, both", cell(KINDS[0], 0.0, "original"), *[""] * (len(levels) - 1)]]
    rows[0] += stages(KINDS[0], 0.0, "original")
    # Without wrong labels and missing rows both tests are the same as well.
    where = [*itertools.product(WRONG, ("biased", "original")), (KINDS[-1], "both")]
    for bias, words in where:
        test = "original" if words == "both" else words
        own = [cell(bias, beta, test) for beta in levels[1:]]
        rows.append([f"{bias}, {words}", "", *own, *stages(bias, levels[-1], test)])
    head = ["planted, test", *(f"β = {beta:g}" for beta in levels), *(f"{stage}-" for stage in STAGES)]
    return _table(head, rows)


def claims_table() -> str:
    """Return on how many datasets each claim holds, and whether that is enough."""
    rows: dict[str, list[str]] = {}
    for words, bias, found, needed, number in claims():
        verdict = "holds" if len(found) >= needed else "**fails**"
        number_of, claim = words.split(maxsplit=1)
        row = rows.setdefault(claim, ["", "", f"{needed} of {len(datasets())}", verdict])
        row[0] = f"{row[0].partition(claim)[0]}{'' if number_of in row[0] else number_of + ' '}{claim}"
        row[1] += f"{'; ' * bool(row[1])}{bias} {len(found)}: {number}"
        row[3] = row[3] if verdict == "holds" else verdict
    return _table(["claim", "datasets that show it: number", "needed", "verdict"], list(rows.values()))


def ranks_table(planted: bool = True) -> str:
    """Return tau of all datasets with the networks of their cards, and its ceiling, with bias or without."""
    rows = []
    for entry in datasets():
        for bias in [bias.name for bias in _entry(entry).bias]:
            for beta in betas("network_rows"):
                if (beta > 0) == planted and (planted or bias == KINDS[0]):
                    found = [ranks(entry, bias, beta, metric) for metric in METRICS]
                    rows.append([entry, *[f"{bias}, {beta:g}"] * planted, *(_tau(*own) for own in found)])
    return _table(["dataset", *["planted"] * planted, *METRICS], rows)


def method_table() -> str:
    """Return tau and its ceiling where nothing is planted, a column for each dataset."""
    rows = []
    for metric in METRICS:
        found = [ranks(dataset, KINDS[0], 0.0, metric) for dataset in datasets()]
        rows.append([metric, *(f"{estimate[0]:.2f} ({best:.2f})" for estimate, best in found)])
    return _table(["", *datasets()], rows)


def _entry(name: str) -> DatasetEntry:
    return next(own for own in load_experiment("network_rows").datasets if own.name == name)


def _tau(estimate: Estimate, best: float) -> str:
    return "{:.2f} [{:.2f}, {:.2f}] of {:.2f}".format(*estimate, best)


@cache
def gaps(entry: str) -> tuple[list[float], int]:
    """Return tau minus its ceiling for each metric, on average of two levels, and how often it is near."""
    found = [[tau_and_ceiling(entry, "label", beta, m) for beta in betas("network_rows")] for m in METRICS]
    near = sum(tau >= best - 0.1 for own in found for tau, best in own)
    return [float(np.mean([tau - best for tau, best in own])) for own in found], near


NETWORKS = ("", "_exact", "_smoothed", "_dense", "_denser", "_label_first", "_first")
"""How entries of ``network_rows`` are named after the dataset: the card's network, and others."""


def networks_table() -> str:
    """Return for Adult and COMPAS how well each network serves in all, a row for each."""
    both = ("adult", "compas")
    rows = [
        ["real rows", *(cell for own in both for cell in ("-", f"{effect('fairness_cost', own):.3f}", "-"))]
    ]
    for name in NETWORKS:
        row = [_network(name)]
        for entry in (f"{dataset}{name}" for dataset in both):
            off = float(np.mean([error(entry, metric) for metric in METRICS]))
            row += [f"{gaps(entry)[1]} of 8", f"{effect('network_rows', entry):.3f}", f"{off:.3f}"]
        rows.append(row)
    return _table(["network", *(f"{own}: {w}" for own in both for w in ("near", "effect", "error"))], rows)


def gaps_table() -> str:
    """Return how near tau comes to its ceiling for each metric, with each network of Adult and COMPAS."""
    rows = [
        [dataset, _network(name), *(f"{gap + 0.0:+.2f}" for gap in gaps(f"{dataset}{name}")[0])]
        for dataset in ("adult", "compas")
        for name in NETWORKS
    ]
    return _table(["dataset", "network", *METRICS], rows)


def _network(name: str) -> str:
    return f"`{name.lstrip('_') or 'card'}`"


def seen_table() -> str:
    """Return what changes where networks have seen the test rows."""
    rows = [
        [dataset, f"{beta:g}", who or "mean of all", *(_points(seen(dataset, m, beta, who)) for m in METRICS)]
        for dataset in ("adult", "compas")
        for beta in betas("network_rows_seen")
        for who in (BASELINE, None)
    ]
    return _table(["dataset", "β", "technique", *METRICS], rows)


TABLES: dict[str, Callable[[], str]] = {
    "changes": changes_table,
    "claims": claims_table,
    "ranks": partial(ranks_table, planted=False),
    "planted": ranks_table,
    "method": method_table,
    "networks": networks_table,
    "gaps": gaps_table,
    "seen": seen_table,
}
"""What makes each table of the pages, by the name in its marks."""


def with_tables(page: Path) -> str:
    """Return the text of a page with its tables made anew; all else stays as it is."""
    text = page.read_text(encoding="utf-8")
    for name, make in TABLES.items():
        begin, end = _BEGIN.format(name), _END.format(name)
        if begin in text:
            text = with_part(text, begin, f"\n{make()}\n", end)
    return text


def draw() -> bytes:
    """Draw mitigation over the level of bias on both tests, a panel for each dataset and kind."""
    levels = betas("fairness_cost")
    with style.styled():
        page = Page(
            len(KINDS) * len(datasets()),
            len(KINDS),
            panel=(1.9, 1.1),
            title="What mitigation changes in accuracy, on the biased and on the original test",
            subtitle="Accuracy minus that of no technique, in points: mean of "
            f"{len(techniques()) - 1} techniques over 10 splits of real rows, with corrected 95 % intervals.",
            panel_titles=[*KINDS, *[""] * (len(KINDS) * (len(datasets()) - 1))],
        )
        extremes: list[list[float]] = [[] for _ in datasets()]
        for i, (dataset, bias) in enumerate(itertools.product(datasets(), KINDS)):
            axes = page.panels[i]
            axes.axhline(0, **style.RULE)
            for look, test in enumerate(("biased", "original")):
                own = [corrected(mitigation(dataset, bias, beta, test)) for beta in levels]
                mean, low, high = 100 * np.array(own).T
                line = line_style(look)
                axes.plot(levels, mean, label=f"{test} test", zorder=3, **line)
                axes.fill_between(levels, low, high, color=line["color"], alpha=0.2, lw=0)
                extremes[i // len(KINDS)] += [low.min(), high.max(), 0.0]
            axes.set_xticks(levels)
            last = i >= len(KINDS) * (len(datasets()) - 1)
            axes.tick_params(labelbottom=last)
            axes.set_xlabel("planted bias β" if last else "")
            axes.set_ylabel(dataset if i % len(KINDS) == 0 else "")
        for i, axes in enumerate(page.panels):
            axes.set_ylim(style.padded(extremes[i // len(KINDS)], 0.06, 0.5))
            axes.tick_params(labelleft=i % len(KINDS) == 0)
        page.panels[2 * len(KINDS) - 1].legend(loc="lower left", fontsize=style.SIZES["note"])
    return style.render(page.fit(), "png")


def draw_ranks() -> bytes:
    """Draw tau between network samples and real rows with its ceiling, a panel for each metric."""
    labels = RowLabels(list(datasets()))
    with style.styled():
        page = Page(
            len(METRICS),
            len(METRICS),
            panel=(1.5, 0.26 * len(labels)),
            title="Do networks serve as well as real rows?",
            subtitle="Kendall's τ between ranks of techniques on samples of the cards' networks and on real "
            "rows, nothing planted, with 95 % intervals. Orange: the ceiling, τ between halves of the real "
            "repetitions.",
            panel_titles=METRICS,
        )
        for axes, metric in zip(page.panels, METRICS, strict=True):
            for row, dataset in enumerate(datasets()):
                tau, ceiling = ranks(dataset, KINDS[0], 0.0, metric)
                draw_estimate(axes, row, tau, style.BLUE)
                axes.scatter([ceiling], [row], s=50, color=style.ORANGE, marker="|", lw=2.0, zorder=3)
            axes.set_xlim(0, 1.04)
            labels.write(axes, named=metric == METRICS[0])
    return style.render(page.fit(), "png")


FILES: Files = {
    **{path: partial(with_tables, path) for path in PAGES},
    FIGURE: draw,
    RANKS_FIGURE: draw_ranks,
}
