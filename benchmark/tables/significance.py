"""Tables of significance.

Each metric has one, technique by dataset. Pairs of the paper's metrics also have the paper's shape.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from benchmark.columns import EQUALISE
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.manifest import metric_description
from benchmark.runs.report_frames import Scenario
from benchmark.sections.certainty import method_notes
from benchmark.sections.data import data_notes
from benchmark.sections.report_table import Cell, ReportTable, Row, RowGroup
from benchmark.sections.signs import BELOW_CONSTANT, DEGENERATE, mark_notes
from benchmark.statistics.answers import ACCEPTANCE, ACCURACY, DISCRIMINATION
from benchmark.statistics.cells import WHERE, row_means, to_cells
from benchmark.tables.paper import (
    ACCEPTED,
    ACCEPTED_NOTE,
    CONSTANT,
    HEADINGS,
    PAPER_PAIRS,
    SHAPES,
    beta_text,
    constant_cells,
    constant_notes,
    look_up,
    marks_of,
    of_methods,
    paper_name,
    shares_cell,
    titles_text,
)
from benchmark.text.embedded import extent

BETTER, WORSE = "+", "-"
"""Signs of a difference to the baseline that is shown."""

_ABSENT = "not part of this run."
_USELESS = (DEGENERATE, BELOW_CONSTANT)
_BY_DISTANCE = "by its mean distance to the ideal over the samples, as far as three decimals tell"
_USEFUL = f", among techniques marked neither {DEGENERATE} nor {BELOW_CONSTANT}"
_KEY = (*WHERE, "metric")


def statistics_tables(statistics: RunStatistics) -> list[ReportTable]:
    """Return the tables of significance.

    First comes ``significance_<metric>`` for each metric, and for each test if there are several
    (``significance_accuracy__biased``). Then comes the shape of the paper's Tables 3, 4, 6
    and 7, as far as the run has their techniques and metrics. Beside accuracy stand the shares accepted, and
    the best constant answer is a row. Degenerate techniques, and those less accurate than the best constant
    answer, are marked, and are never the best.
    """
    run, builder = statistics.run, _Builder(statistics)
    tables = [builder.signed(metric, test) for metric in statistics.metrics for test in statistics.tests]
    for first, pair in zip((3, 6), PAPER_PAIRS, strict=True):
        metrics = [name for name in pair if name in statistics.metrics]
        for number, (name, _, methods) in enumerate(SHAPES, start=first):
            techniques = [t.name for t in of_methods(run, methods) if t.name in builder.techniques]
            if metrics and techniques:
                table_name = f"significance_{paper_name(run, number, name, metrics)}"
                tables.append(builder.in_paper_shape(table_name, techniques, metrics))
    return tables


class _Builder:
    """Builder of both shapes, which looks numbers up."""

    def __init__(self, statistics: RunStatistics) -> None:
        self.statistics = statistics
        self.run = statistics.run
        self.extent = extent(dataset.embedded for dataset in self.run.datasets)
        self.scenarios = statistics.scenarios
        self.means = look_up(statistics.intervals, _KEY, ("mean", "n", "missing"))
        tried = statistics.intervals["technique"].unique()
        self.techniques = [name for name in self.run.titles if name in tried]
        self.betas = sorted(statistics.intervals["beta"].unique())
        cells = to_cells(statistics.results)
        keys = cells.keys[list(_KEY)].itertuples(index=False, name=None)
        distances = map(float, row_means(cells.distances(statistics.goals)))
        self.gaps: dict[tuple[object, ...], float] = dict(zip(keys, distances, strict=True))
        compared = statistics.compared
        self.signs = {
            key: BETTER if better else WORSE
            for key, (better, worse) in look_up(compared, _KEY, ["better", "worse"]).items()
            if better or worse
        }
        self.useless = marks_of(statistics.standing)
        self.shares = look_up(statistics.for_goal(EQUALISE).answers, WHERE, ACCEPTANCE)

    def signed(self, metric: str, test: str) -> ReportTable:
        """Return a table with rows technique and columns dataset by beta, and shares beside accuracy."""
        columns: list[Sequence[Cell]] = []
        constant: list[Cell] = []
        shown = [scenario for scenario in self.scenarios if scenario.test == test]
        for scenario in shown:
            for beta in self.betas:
                columns += self.columns(scenario, beta, self.techniques, [metric])
                constant += constant_cells(scenario, [metric], with_shares=metric == ACCURACY)
        titles = [self.run.titles[name] for name in self.techniques]
        rows = [Row(title, cells) for title, cells in zip(titles, zip(*columns, strict=True), strict=True)]
        if metric in (ACCURACY, DISCRIMINATION):
            rows.append(Row(CONSTANT, tuple(constant)))
        accepted = [ACCEPTED] if metric == ACCURACY else []
        return ReportTable(
            name=f"significance_{self.statistics.file_name(metric, test)}",
            caption=f"{self.statistics.title(metric, test)}: techniques against the baseline{self.extent}",
            row_headings=("Technique",),
            groups=tuple(scenario.heading for scenario in shown),
            columns=tuple(text for beta in self.betas for text in (self.run.level_text(beta), *accepted)),
            blocks=(RowGroup("", tuple(rows)),),
            notes=(
                f"Bold: the best of a column {_BY_DISTANCE}{_USEFUL}. {self.aim(metric)}",
                *self.signs_notes(self.techniques, [metric], shown),
                *self.notes(),
            ),
        )

    def in_paper_shape(self, name: str, techniques: Sequence[str], metrics: Sequence[str]) -> ReportTable:
        """Return a table with rows dataset by beta and columns technique by metric."""
        blocks = []
        for scenario in self.scenarios:
            rows = []
            for beta in self.betas:
                columns = self.columns(scenario, beta, techniques, metrics)
                if any(cell.remark != _ABSENT for cell in chain(*columns[: len(metrics)])):
                    cells = tuple(chain(*zip(*columns, strict=True)))
                    rows.append(Row(beta_text(beta), cells))
            if rows and ACCURACY in metrics:
                answer = constant_cells(scenario, metrics, with_shares=True)
                rows.append(Row(CONSTANT, tuple(answer * len(techniques))))
            if rows:
                blocks.append(RowGroup(scenario.heading, tuple(rows)))
        described = [metric_description(metric) for metric in metrics]
        aims = " ".join(self.aim(metric) for metric in metrics)
        return ReportTable(
            name=name,
            caption=f"{titles_text(described)}: techniques against the baseline{self.extent}",
            row_headings=("Dataset", self.run.level_sign),
            groups=tuple(self.run.titles[technique] for technique in techniques),
            columns=(
                *(HEADINGS.get(metric.name, metric.title) for metric in described),
                *([ACCEPTED] if ACCURACY in metrics else []),
            ),
            blocks=tuple(blocks),
            notes=(
                f"Bold: the best technique of a row in each metric {_BY_DISTANCE}{_USEFUL}. {aims}",
                *self.signs_notes(techniques, metrics, self.scenarios),
                *self.notes(),
            ),
        )

    def columns(
        self, scenario: Scenario, beta: float, techniques: Sequence[str], metrics: Sequence[str]
    ) -> list[list[Cell]]:
        """Return the cells of techniques in each metric; beside accuracy, the shares accepted last."""
        key = (*scenario.key, beta)
        cells = [self.marked_cells(scenario, beta, techniques, metric) for metric in metrics]
        if ACCURACY in metrics:
            cells.append([shares_cell(self.shares.get((*key, name), [math.nan] * 3)) for name in techniques])
        return cells

    def marked_cells(
        self, scenario: Scenario, beta: float, techniques: Sequence[str], metric: str
    ) -> list[Cell]:
        """Return the cells of techniques; the best useful ones, nearest to the ideal, are marked."""
        cells = [self.cell(scenario, beta, technique, metric) for technique in techniques]
        gaps = [
            math.nan
            if set(cell.mark) & set(_USELESS)
            else self.gaps.get((*scenario.key, beta, name, metric), math.nan)
            for cell, name in zip(cells, techniques, strict=True)
        ]
        return [replace(cell, best=best) for cell, best in zip(cells, _smallest(gaps), strict=True)]

    def cell(self, scenario: Scenario, beta: float, technique: str, metric: str) -> Cell:
        key = (*scenario.key, beta, technique, metric)
        if key not in self.means:
            return Cell(remark=_ABSENT)
        mean, n, missing = self.means[key]
        remark = f"{n} of {n + missing} values; failures.csv says why." if missing else None
        signs = [self.signs.get(key, ""), self.useless.get(key[:-1], "") if n else ""]
        return Cell(mean, remark=remark, mark=",".join(filter(None, signs)))

    def aim(self, metric: str) -> str:
        """Return a sentence on which values of a metric are good."""
        declared, title = self.statistics.metrics[metric], self.statistics.title(metric)
        match declared.direction:
            case "none":
                return f"{title}: no value is better than another."
            case "closer_to_ideal":
                return f"{title}: best is {declared.ideal:g}."
            case direction:
                return f"{title}: {direction} is better."

    def signs_notes(
        self, techniques: Sequence[str], metrics: Sequence[str], shown: Sequence[Scenario]
    ) -> Iterator[str]:
        yield f"Marked {BETTER}: better than the baseline. Marked {WORSE}: worse."
        standing = self.statistics.standing
        shown_rows = standing["technique"].isin(techniques) & standing["test"].isin([s.test for s in shown])
        yield from mark_notes(standing[shown_rows].itertuples(index=False))
        if ACCURACY in metrics:
            yield ACCEPTED_NOTE
        if {ACCURACY, DISCRIMINATION} & set(metrics):
            yield from constant_notes(shown)
        yield from method_notes(self.statistics)

    def notes(self) -> Iterator[str]:
        yield from (f"Warning, {warning}" for warning in self.statistics.warnings)
        yield from data_notes(self.run.datasets, self.run)
        yield self.run.made_with(("betabench", "numpy"))


def _smallest(gaps: Sequence[float]) -> list[bool]:
    """Return which numbers are the smallest, to three decimals; none if all are missing."""
    shown = np.round(np.asarray(gaps, dtype=float), 3)
    least = np.nanmin(shown) if np.isfinite(shown).any() else math.nan
    return [bool(gap == least) for gap in shown]
