"""Tables in the shape of the paper's Tables 2 to 7, and one of everything per pair of metrics.

This module decides what a table shows; :mod:`benchmark.report.markup` writes it down.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from benchmark.report.describe import (
    DatasetDescription,
    MetricDescription,
    RunDescription,
    TechniqueDescription,
)
from benchmark.report.frames import Scenario, scenarios
from benchmark.report.reasons import explain

__all__ = ["Block", "Cell", "ReportTable", "Row", "build_tables"]

PREPROCESSING = ("massaging", "reweighing", "uniform_sampling", "preferential_sampling")
"""Methods of the paper's Tables 3 and 6, in the paper's order."""

REPAIR = ("repair",)
"""Method of the paper's Tables 4 and 7."""

HEADINGS = {
    "discrimination": "Disc.",
    "accuracy": "Acc.",
    "overestimation": "Over.",
    "underestimation": "Under.",
}
"""The paper's column headings; other metrics are headed by their title."""

PAPER_PAIRS = (("discrimination", "accuracy"), ("overestimation", "underestimation"))
"""Metrics of the paper's Tables 2 to 4, and of its Tables 5 to 7."""


@dataclass(frozen=True)
class Cell:
    """One entry of a table.

    Parameters
    ----------
    mean : float
        NaN if there is no value.
    half_width : float
        Half of the 95 % interval; NaN if there is none.
    remark : str or None
        Why repetitions are missing, if any are.
    best : bool, default False
        Whether it is the best of those that it is compared with.
    mark : str, default ""
        A sign beside the number, explained in the notes.
    text : str, default ""
        Stands in place of the number.
    """

    mean: float
    half_width: float
    remark: str | None
    best: bool = False
    mark: str = ""
    text: str = ""


@dataclass(frozen=True)
class Row:
    """A row: its own heading and its cells."""

    heading: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Block:
    """Rows that belong together; ``heading`` is empty if the table has no blocks."""

    heading: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class ReportTable:
    """A table, before any markup.

    Parameters
    ----------
    name : str
        For the file's name.
    caption : str
        What the table shows, in one line.
    row_headings : tuple of str
        Headings of the columns that name the rows: of blocks (if the table has them), and of rows.
    groups : tuple of str
        Headings of the groups of columns.
    columns : tuple of str
        Headings of the columns within each group; all groups have the same.
    blocks : tuple of Block
        Each row has ``len(groups) * len(columns)`` cells.
    notes : tuple of str
        What has to be known besides: data, warnings, seed, versions.
    """

    name: str
    caption: str
    row_headings: tuple[str, ...]
    groups: tuple[str, ...]
    columns: tuple[str, ...]
    blocks: tuple[Block, ...]
    notes: tuple[str, ...]


def build_tables(
    summary: pd.DataFrame, results: pd.DataFrame, failures: pd.DataFrame, description: RunDescription
) -> list[ReportTable]:
    """Build every table that the run has something for.

    Parameters
    ----------
    summary : DataFrame
        As :func:`benchmark.report.summary.summarise` returns it.
    results, failures : DataFrame
        As :func:`benchmark.report.frames.check_results` and ``check_failures`` return them.
    description : RunDescription
        Gives order, titles and notes.

    Returns
    -------
    list of ReportTable
        Tables 2 to 7 of the paper as far as the run has their techniques and metrics, then one table of all
        techniques for each pair of metrics.
    """
    builder = _Builder(summary, failures, description, scenarios(results, failures, description))
    tables: list[ReportTable | None] = []
    for first, metrics in zip((2, 5), _present(PAPER_PAIRS, description), strict=True):
        tables += [
            builder.baseline(f"table{first}_baseline", metrics),
            builder.by_technique(
                f"table{first + 1}_preprocessing", "pre-processing techniques", PREPROCESSING, metrics
            ),
            builder.by_technique(f"table{first + 2}_repair", "repair", REPAIR, metrics),
        ]
    tables += [builder.everything(metrics) for metrics in _all_pairs(description)]
    return [table for table in tables if table is not None]


class _Builder:
    """Looks cells up and puts them into the three shapes."""

    def __init__(
        self,
        summary: pd.DataFrame,
        failures: pd.DataFrame,
        description: RunDescription,
        found: tuple[Scenario, ...],
    ) -> None:
        self.failures = failures
        self.description = description
        self.scenarios = found
        keys = ["dataset", "bias", "classifier", "beta", "technique", "metric"]
        self.rows = {
            key: (float(mean), float(high - mean), int(n))
            for *key_list, mean, high, n in summary[[*keys, "mean", "ci_high", "n"]].itertuples(index=False)
            for key in [tuple(key_list)]
        }
        self.run = {(*key[:3], key[4]) for key in self.rows}

    def baseline(self, name: str, metrics: Sequence[MetricDescription]) -> ReportTable | None:
        """Rows beta, columns dataset by metric: the shape of Tables 2 and 5."""
        shown = [s for s in self.scenarios if self.has(s, s.dataset.baseline)]
        if not metrics or not shown:
            return None
        rows = tuple(
            Row(_beta(beta), tuple(self.cell(s, s.dataset.baseline, beta, m) for s in shown for m in metrics))
            for beta in self.description.betas
        )
        return ReportTable(
            name=name,
            caption=self.caption(metrics, "when no technique is applied", shown),
            row_headings=("β",),
            groups=tuple(s.heading for s in shown),
            columns=_headings(metrics),
            blocks=(Block("", rows),),
            notes=self.notes(shown, [self.baseline_note(shown), *self.absent_baselines()]),
        )

    def absent_baselines(self) -> list[str]:
        """Say which datasets a baseline table lacks, because their baseline was not run."""
        absent = [s for s in self.scenarios if not self.has(s, s.dataset.baseline)]
        return [
            f"Not shown, because its baseline {s.dataset.baseline} was not run: {s.heading}." for s in absent
        ]

    def by_technique(
        self, name: str, subject: str, methods: Sequence[str], metrics: Sequence[MetricDescription]
    ) -> ReportTable | None:
        """Rows dataset by beta, columns technique by metric: the shape of Tables 3, 4, 6 and 7."""
        of_methods = [t for method in methods for t in self.description.techniques if t.method == method]
        techniques = [t for t in of_methods if any(self.has(s, t.name) for s in self.scenarios)]
        shown = [s for s in self.scenarios if any(self.has(s, t.name) for t in techniques)]
        if not metrics or not techniques:
            return None
        return ReportTable(
            name=name,
            caption=self.caption(metrics, f"for {subject}", shown),
            row_headings=("Dataset", "β"),
            groups=tuple(t.title for t in techniques),
            columns=_headings(metrics),
            blocks=tuple(
                Block(
                    s.heading,
                    tuple(
                        Row(
                            _beta(beta),
                            tuple(self.cell(s, t.name, beta, m) for t in techniques for m in metrics),
                        )
                        for beta in self.description.betas
                    ),
                )
                for s in shown
            ),
            notes=self.notes(shown),
        )

    def everything(self, metrics: Sequence[MetricDescription]) -> ReportTable | None:
        """Rows dataset by technique, columns beta by metric: grows downwards with the techniques."""
        blocks = tuple(
            Block(
                s.heading,
                tuple(
                    self.technique_row(s, t, metrics)
                    for t in self.description.techniques
                    if self.has(s, t.name)
                ),
            )
            for s in self.scenarios
        )
        if not blocks:
            return None
        return ReportTable(
            name="all_" + "_".join(metric.name for metric in metrics),
            caption=self.caption(metrics, "for all techniques", self.scenarios),
            row_headings=("Dataset", "Technique"),
            groups=tuple(f"β = {_beta(beta)}" for beta in self.description.betas),
            columns=_headings(metrics),
            blocks=blocks,
            notes=self.notes(self.scenarios),
        )

    def technique_row(
        self, scenario: Scenario, technique: TechniqueDescription, metrics: Sequence[MetricDescription]
    ) -> Row:
        betas = self.description.betas
        return Row(
            technique.title,
            tuple(self.cell(scenario, technique.name, beta, m) for beta in betas for m in metrics),
        )

    def has(self, scenario: Scenario, technique: str) -> bool:
        """Whether the run tried a technique there, with or without success."""
        return (*scenario.key, technique) in self.run

    def cell(self, scenario: Scenario, technique: str, beta: float, metric: MetricDescription) -> Cell:
        key = (*scenario.key, beta, technique, metric.name)
        mean, half_width, n = self.rows.get(key, (float("nan"), float("nan"), 0))
        planned = self.description.repetitions
        if n >= planned:
            return Cell(mean, half_width, None)
        reason = explain(self.failures, scenario, technique, beta=beta, metric=metric.name)
        reason = reason or "no other result is recorded"
        if key not in self.rows:
            reason = "not part of this run"
        return Cell(mean, half_width, f"{n} of {planned} values; {reason}.")

    def caption(self, metrics: Sequence[MetricDescription], of: str, shown: Iterable[Scenario]) -> str:
        titles = " and ".join(m.title if i == 0 else m.in_sentence for i, m in enumerate(metrics))
        embedded = [s.dataset.embedded for s in shown]
        if not any(embedded):
            return f"{titles} {of}"
        extent = "" if all(embedded) else "partly "
        return f"{titles} {of} ({extent}embedded networks, not real data)"

    def notes(self, shown: Sequence[Scenario], more: Sequence[str] = ()) -> tuple[str, ...]:
        run = self.description
        spread = ", ± half of the 95 % Student-t interval" if run.repetitions > 1 else ""
        versions = ", ".join(f"{package} {version}" for package, version in run.versions.items())
        datasets = list(dict.fromkeys(s.dataset for s in shown))
        warnings = [f"Warning, {d.heading}: {_sentence(d.warning)}" for d in datasets if d.warning]
        classifiers = ", ".join(dict.fromkeys(s.classifier for s in shown))
        return (
            f"Mean of {run.repetitions_text}{spread}. Classifier: {classifiers}.",
            *more,
            *(_data_note(dataset) for dataset in datasets),
            *warnings,
            f"Experiment {run.name} ({run.title}), seed {run.seed}; {versions}.",
        )

    def baseline_note(self, shown: Sequence[Scenario]) -> str:
        baselines = {}
        for s in shown:
            technique = self.description.technique(s.dataset.baseline)
            baselines[s.dataset.heading] = technique.title if technique else s.dataset.baseline
        return "Baseline: " + "; ".join(f"{heading}: {title}" for heading, title in baselines.items()) + "."


def _data_note(dataset: DatasetDescription) -> str:
    groups = dataset.group_sizes
    return (
        f"{dataset.heading}: {dataset.provenance} ({dataset.n_test:,} rows; favorable are "
        f"{groups.deprived_favorable:,} of {groups.deprived:,} deprived and "
        f"{groups.favored_favorable:,} of {groups.favored:,} favored), "
        f"{dataset.n_train:,} training rows, data {dataset.digest[:12]}. "
        f"{_sentence(dataset.bias_description)}"
    )


def _sentence(text: str) -> str:
    return text.strip().rstrip(".") + "."


def _beta(beta: float) -> str:
    # Two places as in the paper, more only where needed.
    return f"{beta:.2f}" if round(beta, 2) == beta else f"{beta:g}"


def _headings(metrics: Sequence[MetricDescription]) -> tuple[str, ...]:
    return tuple(HEADINGS.get(metric.name, metric.title) for metric in metrics)


def _present(pairs: Iterable[Sequence[str]], description: RunDescription) -> list[list[MetricDescription]]:
    return [[m for name in pair if (m := description.metric(name)) is not None] for pair in pairs]


def _all_pairs(description: RunDescription) -> list[list[MetricDescription]]:
    """Return the paper's pairs, then all other metrics two by two in described order."""
    in_paper = [name for pair in PAPER_PAIRS for name in pair]
    others = [m for m in description.metrics if m.name not in in_paper]
    pairs = _present(PAPER_PAIRS, description) + [others[i : i + 2] for i in range(0, len(others), 2)]
    return [pair for pair in pairs if pair]
