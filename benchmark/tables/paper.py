"""Tables in the shape of the paper's Tables 2 to 7, and one of all techniques for each pair of metrics.

This module decides on the content of a table; :mod:`benchmark.render.tables` writes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from benchmark.columns import ORIGINAL, TEST_TITLES
from benchmark.runs.descriptions import (
    DatasetDescription,
    MetricDescription,
    TechniqueDescription,
)
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import Manifest
from benchmark.runs.reasons import explain
from benchmark.runs.report_frames import Scenario
from benchmark.sections.answers import accepts_text
from benchmark.sections.data import counted
from benchmark.sections.report_table import Cell, ReportTable, Row, RowGroup
from benchmark.sections.signs import mark, mark_notes
from benchmark.statistics.answers import ACCEPTANCE, ACCURACY, DISCRIMINATION
from benchmark.statistics.cells import SCENARIO, WHERE
from benchmark.text.embedded import extent
from benchmark.text.words import sentence

_PREPROCESSING = ("massaging", "reweighing", "uniform_sampling", "preferential_sampling")

SHAPES = (
    ("preprocessing", "pre-processing techniques", _PREPROCESSING),
    ("repair", "repair", ("repair",)),
)
"""The paper's Tables 3 and 6, and 4 and 7: a name, a subject, and the methods in the paper's order."""

HEADINGS = {
    "discrimination": "Disc.",
    "accuracy": "Acc.",
    "overestimation": "Over.",
    "underestimation": "Under.",
}
"""The paper's column headings; other metrics are headed by their title."""

ACCEPTED = "Accepted"
"""Heading of the column beside accuracy: the shares that a technique accepts."""

ACCEPTED_NOTE = (
    f"{ACCEPTED}: share of the test rows that is predicted the favorable outcome: all / deprived / favored."
)

CONSTANT = "Best constant answer"
"""Heading of the row for the more accurate of the two classifiers that answer everybody the same."""

PAPER_PAIRS = ((DISCRIMINATION, ACCURACY), ("overestimation", "underestimation"))
"""Metrics of the paper's Tables 2 to 4, and of its Tables 5 to 7."""


def build_tables(run: RunFrames) -> list[ReportTable]:
    """Return every table of the headline metrics for which the run has values.

    First come Tables 2 to 7 of the paper, as far as the run has their techniques and metrics. Then comes a
    table of all techniques for each pair of metrics. Reference rows are in no table. Beside accuracy stand
    the shares accepted, and the best constant answer is a row.
    """
    run = run.of_techniques
    description = run.manifest
    shown = description.shown
    builder = _Builder(run)
    tables: list[ReportTable | None] = []
    for first, metrics in zip((2, 5), _present(PAPER_PAIRS, shown), strict=True):
        names = [metric.name for metric in metrics]
        tables.append(builder.baseline(paper_name(description, first, "baseline", names), metrics))
        for number, (name, subject, methods) in enumerate(SHAPES, start=first + 1):
            table_name = paper_name(description, number, name, names)
            tables.append(builder.by_technique(table_name, subject, methods, metrics))
    tables += [builder.everything(metrics) for metrics in _all_pairs(shown)]
    return [table for table in tables if table is not None]


def paper_name(run: Manifest, number: int, subject: str, metrics: Sequence[str]) -> str:
    """Return the name of a table in the paper's shape; it has a number only if the run repeats the paper."""
    return (
        f"table{number}_{subject}" if run.experiment.published is not None else "_".join([subject, *metrics])
    )


class _Builder:
    """Builder of the three shapes, which looks cells up."""

    def __init__(self, run: RunFrames) -> None:
        self.failures = run.failures
        self.description = run.manifest
        self.scenarios = run.scenarios
        self.standing = run.standing
        self.marks = marks_of(run.standing)
        self.rows = look_up(run.summary, (*WHERE, "metric"), ("mean", "ci_high", "n"))
        positions = [(*WHERE, "metric").index(column) for column in (*SCENARIO, "technique")]
        self.run = {tuple(key[i] for i in positions) for key in self.rows}

    def baseline(self, name: str, metrics: Sequence[MetricDescription]) -> ReportTable | None:
        """Return a table in the shape of Tables 2 and 5: rows beta, columns dataset by metric."""
        # Techniques' own learners are not "no technique": they stand beside the techniques.
        names = {s.key: s.baseline for s in self.scenarios if isinstance(s.baseline, str)}
        shown = [s for s in self.scenarios if s.key in names and self.has(s, names[s.key])]
        if not metrics or not shown:
            return None
        rows = [
            Row(beta_text(beta), self.cells([(s, names[s.key], beta) for s in shown], metrics))
            for beta in self.description.levels
        ]
        titles = self.description.titles
        baselines = {s.dataset.heading: titles.get(names[s.key], names[s.key]) for s in shown}
        absent = [
            f"Not shown, because its baseline {names[s.key]} was not run: {s.heading}."
            for s in self.scenarios
            if s.key in names and s not in shown
        ]
        return ReportTable(
            name=name,
            caption=self.caption(metrics, "when no technique is applied", shown),
            row_headings=(self.description.level_sign,),
            groups=tuple(s.heading for s in shown),
            columns=self.headings(metrics),
            blocks=(RowGroup("", (*rows, *self.constant_row(shown, metrics))),),
            notes=self.notes(
                shown,
                metrics,
                [names[s.key] for s in shown],
                [_listed("Baseline", baselines), *absent],
            ),
        )

    def by_technique(
        self, name: str, subject: str, methods: Sequence[str], metrics: Sequence[MetricDescription]
    ) -> ReportTable | None:
        """Return a table in the shape of Tables 3, 4, 6 and 7: rows dataset by beta, columns by technique."""
        tried = {technique for *_, technique in self.run}
        techniques = [t for t in of_methods(self.description, methods) if t.name in tried]
        shown = [s for s in self.scenarios if any(self.has(s, t.name) for t in techniques)]
        if not metrics or not techniques:
            return None
        blocks = []
        for s in shown:
            rows = [
                Row(beta_text(beta), self.cells([(s, t.name, beta) for t in techniques], metrics))
                for beta in self.description.levels
            ]
            blocks.append(RowGroup(s.heading, (*rows, *self.constant_row([s] * len(techniques), metrics))))
        return ReportTable(
            name=name,
            caption=self.caption(metrics, f"for {subject}", shown),
            row_headings=("Dataset", self.description.level_sign),
            groups=tuple(t.title for t in techniques),
            columns=self.headings(metrics),
            blocks=tuple(blocks),
            notes=self.notes(shown, metrics, [t.name for t in techniques]),
        )

    def everything(self, metrics: Sequence[MetricDescription]) -> ReportTable | None:
        """Return a table with rows dataset by technique and columns beta by metric."""
        betas, techniques = self.description.levels, self.description.techniques
        blocks = []
        for s in self.scenarios:
            rows = [
                Row(t.title, self.cells([(s, t.name, beta) for beta in betas], metrics))
                for t in techniques
                if self.has(s, t.name)
            ]
            blocks.append(RowGroup(s.heading, (*rows, *self.constant_row([s] * len(betas), metrics))))
        if not blocks:
            return None
        return ReportTable(
            name="all_" + "_".join(metric.name for metric in metrics),
            caption=self.caption(metrics, "for all techniques", self.scenarios),
            row_headings=("Dataset", "Technique"),
            groups=tuple(self.description.level_text(beta) for beta in betas),
            columns=self.headings(metrics),
            blocks=tuple(blocks),
            notes=self.notes(self.scenarios, metrics, [t.name for t in techniques]),
        )

    def headings(self, metrics: Sequence[MetricDescription]) -> tuple[str, ...]:
        """Return a heading for each metric, and for the shares accepted beside accuracy."""
        titles = [HEADINGS.get(metric.name, metric.title) for metric in metrics]
        return (*titles, *([ACCEPTED] if self.with_shares(metrics) else []))

    def with_shares(self, metrics: Sequence[MetricDescription]) -> bool:
        """Whether a table of these metrics shows the shares accepted."""
        return _has_accuracy(metrics) and self.description.metric(ACCEPTANCE[0]) is not None

    def cells(
        self, where: Iterable[tuple[Scenario, str, float]], metrics: Sequence[MetricDescription]
    ) -> tuple[Cell, ...]:
        """Return the cells of a row: for each scenario, technique and level of bias, all metrics."""
        cells = []
        for scenario, technique, beta in where:
            cells += [self.cell(scenario, technique, beta, metric.name) for metric in metrics]
            if self.with_shares(metrics):
                key = (*scenario.key, beta, technique)
                cells.append(shares_cell([self.rows.get((*key, m), (math.nan,))[0] for m in ACCEPTANCE]))
        return tuple(cells)

    def constant_row(self, shown: Sequence[Scenario], metrics: Sequence[MetricDescription]) -> list[Row]:
        """Return the row of the best constant answer if there is accuracy to compare by, else no row."""
        if not _has_accuracy(metrics):
            return []
        names, shares = [metric.name for metric in metrics], self.with_shares(metrics)
        cells = [cell for s in shown for cell in constant_cells(s, names, with_shares=shares)]
        return [Row(CONSTANT, tuple(cells))]

    def has(self, scenario: Scenario, technique: str) -> bool:
        """Whether the run tried a technique there, with or without success."""
        return (*scenario.key, technique) in self.run

    def cell(self, scenario: Scenario, technique: str, beta: float, metric: str) -> Cell:
        key = (*scenario.key, beta, technique)
        mean, high, n = self.rows.get((*key, metric), (math.nan, math.nan, 0))
        planned = self.description.repetitions
        sign = self.marks.get(key, "") if n else ""
        if n >= planned:
            return Cell(mean, high - mean, mark=sign)
        reason = explain(self.failures, scenario, technique, beta=beta, metric=metric)
        reason = reason or "no other result is recorded"
        if (*key, metric) not in self.rows:
            reason = "not part of this run"
        return Cell(mean, high - mean, f"{n} of {planned} values; {reason}.", mark=sign)

    def caption(self, metrics: Sequence[MetricDescription], of: str, shown: Iterable[Scenario]) -> str:
        return f"{titles_text(metrics)} {of}{extent(s.dataset.embedded for s in shown)}"

    def notes(
        self,
        shown: Sequence[Scenario],
        metrics: Sequence[MetricDescription],
        techniques: Sequence[str],
        more: Sequence[str] = (),
    ) -> tuple[str, ...]:
        run = self.description
        named = self.standing[self.standing["technique"].isin(techniques)]
        marked = pd.concat([named.iloc[:0], *(s.rows(named) for s in dict.fromkeys(shown))])
        has_intervals = any(math.isfinite(high) for _, high, _ in self.rows.values())
        spread = f", ± half of {run.protocol.interval_text}" if has_intervals else ""
        datasets = list(dict.fromkeys(s.dataset for s in shown))
        classifiers = ", ".join(dict.fromkeys(s.classifier for s in shown))
        return (
            f"Mean of {run.repetitions_text}{spread}. Classifier: {classifiers}.",
            *([run.tests_note] if run.tests_note else []),
            *more,
            *([ACCEPTED_NOTE] if self.with_shares(metrics) else []),
            *(constant_notes(shown) if _has_accuracy(metrics) else []),
            *mark_notes(marked.itertuples(index=False)),
            *map(_data_note, datasets),
            *(f"Warning, {d.heading}: {sentence(d.warning)}" for d in datasets if d.warning),
            run.made_with(),
        )


def look_up(
    frame: pd.DataFrame, key: Sequence[str], columns: Sequence[str]
) -> dict[tuple[object, ...], tuple[Any, ...]]:
    """Return some columns of each row by others, as plain numbers and texts."""
    rows = frame[[*key, *columns]].itertuples(index=False, name=None)
    return {row[: len(key)]: row[len(key) :] for row in rows}


def marks_of(standing: pd.DataFrame) -> dict[tuple[object, ...], str]:
    """Return the sign, or "", of each technique at each level of bias."""
    keys = standing[list(WHERE)].itertuples(index=False, name=None)
    return {key: mark(row) for key, row in zip(keys, standing.itertuples(index=False), strict=True)}


def of_methods(run: Manifest, methods: Iterable[str]) -> list[TechniqueDescription]:
    """Return the techniques of a run that belong to some methods, in the order of the methods."""
    return [technique for method in methods for technique in run.techniques if technique.technique == method]


def shares_cell(shares: Sequence[float]) -> Cell:
    """Return the cell of the shares accepted: of all, of the deprived and of the favored group."""
    return Cell(text="" if all(map(math.isnan, shares)) else accepts_text(shares))


def constant_cells(scenario: Scenario, metrics: Sequence[str], *, with_shares: bool) -> list[Cell]:
    """Return the best constant answer's cells: it has accuracy and discrimination, but no other metric.

    The shares that it accepts, the same of each group, come last.
    """
    answer = scenario.best_constant
    values = {ACCURACY: answer.accuracy, DISCRIMINATION: 0.0} if answer else {}
    cells = [Cell(values.get(metric, math.nan)) for metric in metrics]
    shares = [answer.accepted if answer else math.nan] * 3
    return [*cells, *([shares_cell(shares)] if with_shares else [])]


def constant_notes(shown: Iterable[Scenario]) -> list[str]:
    """Return a note on the best constant answer on each dataset and test, as far as it is known."""
    words = {
        ", ".join([s.dataset.heading, *([] if s.test == ORIGINAL else [TEST_TITLES[s.test]])]): answer.words
        for s in shown
        if (answer := s.best_constant)
    }
    return [_listed(CONSTANT, words)] if words else []


def _listed(subject: str, texts: Mapping[str, str]) -> str:
    """Return a note on a subject: names, each with its text."""
    return f"{subject}: {'; '.join(f'{name}: {text}' for name, text in texts.items())}."


def titles_text(metrics: Iterable[MetricDescription]) -> str:
    """Return the titles of metrics as the start of a caption: ``"Discrimination and accuracy"``."""
    return " and ".join(m.title if i == 0 else m.in_sentence for i, m in enumerate(metrics))


def beta_text(beta: float) -> str:
    """Return a level of bias with two decimals, as in the paper, or more if needed."""
    return f"{beta:.2f}" if round(beta, 2) == beta else f"{beta:g}"


def _data_note(dataset: DatasetDescription) -> str:
    sizes = f"; {counted(dataset.test_groups)}" if dataset.test_groups else ""
    notes = "".join(f" Note: {note}" for note in dataset.notes)
    return (
        f"{dataset.heading}: {dataset.provenance} ({dataset.test_rows:,} rows{sizes}), "
        f"{dataset.train_rows:,} training rows, data {dataset.test_digest[:12]}. "
        f"{sentence(dataset.bias_description)}{notes}"
    )


def _has_accuracy(metrics: Iterable[MetricDescription]) -> bool:
    return any(metric.name == ACCURACY for metric in metrics)


def _present(pairs: Iterable[Sequence[str]], description: Manifest) -> list[list[MetricDescription]]:
    return [[m for name in pair if (m := description.metric(name)) is not None] for pair in pairs]


def _all_pairs(description: Manifest) -> list[list[MetricDescription]]:
    """Return the paper's pairs, then all other metrics two by two in described order."""
    in_paper = [name for pair in PAPER_PAIRS for name in pair]
    others = [m for m in description.metrics if m.name not in in_paper]
    pairs = _present(PAPER_PAIRS, description) + [others[i : i + 2] for i in range(0, len(others), 2)]
    return [pair for pair in pairs if pair]
