"""Tables of what is significant and of what is robust; :mod:`benchmark.tables.markup` writes them down.

Each metric has both, technique by dataset; pairs of the paper's metrics also have the paper's own shape.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from benchmark.runs.analysis import MOST_PAIRED, RunStatistics
from benchmark.runs.descriptions import DatasetDescription
from benchmark.runs.finished import FinishedRun
from benchmark.runs.frames import Scenario, described_scenarios
from benchmark.runs.standing_marks import BELOW_CONSTANT, DEGENERATE
from benchmark.statistics.answers import ACCEPTANCE, ACCURACY
from benchmark.statistics.frames import row_means, to_cells
from benchmark.tables.answers import mark, mark_notes
from benchmark.tables.paper import (
    ACCEPTED,
    ACCEPTED_NOTE,
    CONSTANT,
    HEADINGS,
    PAPER_PAIRS,
    PREPROCESSING,
    REPAIR,
    Block,
    Cell,
    ReportTable,
    Row,
    constant_cell,
    constant_shares,
    paper_name,
    shares_cell,
)
from benchmark.text.embedded import NOT_REAL, extent
from benchmark.text.words import file_name

BETTER, WORSE = "+", "-"
"""Signs of a significant difference to the baseline."""

_ABSENT = "not part of this run."
_USELESS = (DEGENERATE, BELOW_CONSTANT)
_BY_DISTANCE = "by its mean distance to the ideal over the samples, as far as three decimals tell"
_OF_USE = f", of what is marked neither {DEGENERATE} nor {BELOW_CONSTANT}"
_NAN = math.nan


def scenarios_of(statistics: RunStatistics) -> tuple[Scenario, ...]:
    """Return the scenarios of a run, in its order."""
    return described_scenarios(statistics.intervals, statistics.run)


def compared_metrics(statistics: RunStatistics) -> Iterator[tuple[Scenario, str]]:
    """Yield each scenario with each metric that it has and of which some values are better than others."""
    for scenario in scenarios_of(statistics):
        own = set(scenario.rows(statistics.intervals)["metric"])
        for metric, declared in statistics.metrics.items():
            if metric in own and declared.direction != "none":
                yield scenario, metric


def statistics_tables(statistics: RunStatistics) -> list[ReportTable]:
    """Build the tables of significance and of robustness.

    Parameters
    ----------
    statistics : RunStatistics
        From :func:`~benchmark.runs.analysis.run_statistics`.

    Returns
    -------
    list of ReportTable
        For each metric ``significance_<metric>`` and ``robustness_<metric>``; then the shape of the paper's
        Tables 3, 4, 6 and 7 as far as the run has their techniques and metrics. Where accuracy is shown, the
        shares accepted are beside it and the best constant answer is a row. Degenerate techniques and those
        that are less accurate than it are marked, and never the best.
    """
    builder = _Builder(statistics)
    tables = [make(metric) for metric in statistics.metrics for make in (builder.signed, builder.robust)]
    shapes = ((3, "preprocessing", PREPROCESSING), (4, "repair", REPAIR))
    for later, pair in zip((0, 3), PAPER_PAIRS, strict=True):
        metrics = [name for name in pair if name in statistics.metrics]
        for number, name, methods in shapes:
            techniques = [
                t.name
                for m in methods
                for t in statistics.run.techniques
                if t.method == m and t.name in builder.techniques
            ]
            if metrics and techniques:
                own = paper_name(statistics.run.published is not None, number + later, name, metrics)
                tables.append(builder.in_paper_shape(f"significance_{own}", techniques, metrics))
    return tables


def method_notes(statistics: RunStatistics) -> list[str]:
    """Say what differences are compared with, how they are tested, and what follows from it."""
    run = statistics.run
    titles = {name: run.titles[name] for name in statistics.baselines.values()}
    compared = "; ".join(
        f"{run.headings(dataset)}: {titles[name]}" for dataset, name in statistics.baselines.items()
    )
    notes = [
        f"Baseline: {compared}.",
        "Test: two-sided sign-flip permutation test of the paired improvements, technique against baseline "
        f"on the same training sample, {run.repetitions} repetitions. Correction: Holm's at "
        f"{statistics.alpha:g}, over a family of all techniques at all β of one dataset, bias, classifier "
        "and metric.",
        "Intervals (95 %, Student's) and p-values reflect variation between training samples only; the test "
        "set and the learned network are fixed.",
    ]
    return [*notes, *reach_notes(statistics.out_of_reach(), run)]


def reach_notes(reach: pd.DataFrame, run: FinishedRun) -> list[str]:
    """Say where no difference can be significant, of rows of :meth:`RunStatistics.out_of_reach`."""
    return [
        f"No difference can be significant on {run.headings(' '.join(own['dataset'].unique()))}: with "
        f"{n} repetitions and {n_tests} tests in a family, the smallest p-value after the correction is "
        f"{smallest:.3g}. At least {needed} repetitions are needed."
        for (n, n_tests, smallest, needed), own in reach.groupby(
            ["n", "n_tests", "smallest", "needed"], sort=False
        )
    ]


def pair_notes(statistics: RunStatistics) -> list[str]:
    """Say where there are too many techniques to compare all pairs of them."""
    return [
        f"Pairs of techniques are left out on {statistics.run.headings(datasets)}: {n} techniques have "
        f"{n * (n - 1) // 2:,} pairs, and all are compared up to {MOST_PAIRED} techniques."
        for datasets, n in statistics.unpaired.items()
    ]


def data_notes(datasets: Iterable[DatasetDescription]) -> Iterator[str]:
    """Say what readers have to know about the data: warnings, biases without effect, sizes of groups."""
    for dataset in datasets:
        if dataset.embedded:
            yield f"Warning, {dataset.heading}: an {NOT_REAL}."
        if dataset.warning:
            yield f"Warning, {dataset.heading}: {dataset.warning.strip().rstrip('.')}."
        for warning in dataset.inert_warnings.values():
            yield f"Warning, {dataset.heading}: {warning}"
        for note in dataset.noticed:
            yield f"Note, {dataset.heading}: {note.strip().rstrip('.')}."
        if (sizes := dataset.group_sizes) is not None:
            yield (
                f"{dataset.heading}: of the test rows, {sizes.deprived_favorable:,} of {sizes.deprived:,} "
                f"deprived and {sizes.favored_favorable:,} of {sizes.favored:,} favored ones are favorable."
            )


class _Builder:
    """Looks numbers up and puts them into the three shapes."""

    def __init__(self, statistics: RunStatistics) -> None:
        self.statistics = statistics
        self.run = statistics.run
        self.scenarios = scenarios_of(statistics)
        key = ["dataset", "bias", "classifier", "beta", "technique", "metric"]
        rows = statistics.intervals[[*key, "mean", "n", "missing"]].itertuples(index=False, name=None)
        self.means = {row[:6]: (float(row[6]), int(row[7]), int(row[8])) for row in rows}
        tried = statistics.intervals["technique"].unique()
        self.techniques = [name for name in self.run.titles if name in tried]
        self.betas = sorted(statistics.intervals["beta"].unique())
        self.gaps = _mean_distances(statistics)
        compared = statistics.compared
        significant = compared[compared["p_permutation_holm"] <= statistics.alpha]
        self.signs = {
            key: BETTER if improvement > 0 else WORSE
            for *names, improvement in significant[[*key, "improvement"]].itertuples(index=False, name=None)
            for key in [tuple(names)]
        }
        keys = ["dataset", "bias", "classifier", "beta", "technique"]
        self.useless: dict[tuple[object, ...], str] = {
            tuple(getattr(row, name) for name in keys): sign
            for row in statistics.standing.itertuples(index=False)
            if (sign := mark(row))
        }
        answers = statistics.answers
        self.shares = {
            row[:5]: row[5:] for row in answers[[*keys, *ACCEPTANCE]].itertuples(index=False, name=None)
        }
        self.constants = self.run.constant_answers
        lines = statistics.robustness
        self.lines = {
            row[:5]: row[5:]
            for row in lines[
                ["dataset", "bias", "classifier", "technique", "metric", "area", "slope", "stops_at"]
            ].itertuples(index=False, name=None)
        }

    def signed(self, metric: str) -> ReportTable:
        """Rows technique, columns dataset by beta; beside accuracy, the shares accepted."""
        columns: list[Sequence[Cell]] = []
        for scenario in self.scenarios:
            for beta in self.betas:
                columns.append(self.marked_cells(scenario, beta, self.techniques, metric))
                if metric == ACCURACY:
                    columns.append([self.shares_cell(scenario, beta, name) for name in self.techniques])
        headings = [f"β = {beta:g}" for beta in self.betas]
        if metric == ACCURACY:
            headings = [text for heading in headings for text in (heading, ACCEPTED)]
        rows = [
            Row(self.run.titles[name], own)
            for name, own in zip(self.techniques, zip(*columns, strict=True), strict=True)
        ]
        constant = [
            cell
            for scenario in self.scenarios
            for _ in self.betas
            for cell in self.constant_cells(scenario, [metric])
        ]
        if metric in (ACCURACY, "discrimination"):
            rows.append(Row(CONSTANT, tuple(constant)))
        return self.table(
            f"significance_{file_name(metric)}",
            f"{self.statistics.title(metric)}: techniques against the baseline",
            tuple(headings),
            rows,
            (
                f"Bold: the best of a column {_BY_DISTANCE}{_OF_USE}. {self.aim(metric)}",
                *self.signs_note(self.techniques, [metric]),
            ),
        )

    def robust(self, metric: str) -> ReportTable:
        """Rows technique, columns dataset by area, slope, and where the technique stops."""
        columns: list[Sequence[Cell]] = []
        for scenario in self.scenarios:
            found = [self.lines.get((*scenario.key, name, metric)) for name in self.techniques]
            signs = [self.sign_of_line(scenario, name) for name in self.techniques]
            gaps = [
                _NAN if sign else self.area_of_distances(scenario, name, metric)
                for name, sign in zip(self.techniques, signs, strict=True)
            ]
            best = _smallest(gaps)
            columns.append(
                [
                    Cell(own[0] if own else _NAN, _NAN, None if own else _ABSENT, best=is_best, mark=sign)
                    for own, is_best, sign in zip(found, best, signs, strict=True)
                ]
            )
            columns.append([Cell(own[1] if own else _NAN, _NAN, None) for own in found])
            columns.append([Cell(_NAN, _NAN, None, text=_stop(own[2]) if own else "") for own in found])
        last = f"{max(self.betas):g}"
        return self.table(
            f"robustness_{file_name(metric)}",
            f"{self.statistics.title(metric)} over β: area, slope, and where techniques stop beating the "
            "baseline",
            ("Area", "Slope", "Stops"),
            [
                Row(self.run.titles[name], own)
                for name, own in zip(self.techniques, zip(*columns, strict=True), strict=True)
            ],
            (
                "Area: under the means over β (trapezoidal rule). Slope: of the least-squares line through "
                f"them. Bold: the smallest area under the mean distance to the ideal{_OF_USE}. "
                f"{self.aim(metric)}",
                *(f"{note} Here where that is so at some β." for note in self.useless_notes(self.techniques)),
                "Stops: the smallest β from which on the mean is no better than the baseline's; 'no' where "
                f"it still is better at β = {last}, the greatest. That is about means, and no test: "
                "robustness.csv has intervals of area and slope.",
            ),
        )

    def in_paper_shape(self, name: str, techniques: Sequence[str], metrics: Sequence[str]) -> ReportTable:
        """Rows dataset by beta, columns technique by metric."""
        blocks = []
        for scenario in self.scenarios:
            rows = []
            for beta in self.betas:
                by_metric = [self.marked_cells(scenario, beta, techniques, metric) for metric in metrics]
                if ACCURACY in metrics:
                    by_metric.append(
                        [self.shares_cell(scenario, beta, technique) for technique in techniques]
                    )
                cells = [cell for own in zip(*by_metric, strict=True) for cell in own]
                if any(cell.remark != _ABSENT for own in by_metric[: len(metrics)] for cell in own):
                    rows.append(Row(f"{beta:.2f}" if round(beta, 2) == beta else f"{beta:g}", tuple(cells)))
            if rows and ACCURACY in metrics:
                rows.append(Row(CONSTANT, tuple(self.constant_cells(scenario, metrics) * len(techniques))))
            if rows:
                blocks.append(Block(scenario.heading, tuple(rows)))
        shown = " and ".join(
            self.statistics.title(m) if i == 0 else self.statistics.title(m).lower()
            for i, m in enumerate(metrics)
        )
        aims = " ".join(self.aim(metric) for metric in metrics)
        return ReportTable(
            name=name,
            caption=f"{shown}: techniques against the baseline{self.extent()}",
            row_headings=("Dataset", "β"),
            groups=tuple(self.run.titles[technique] for technique in techniques),
            columns=(
                *(HEADINGS.get(metric, self.statistics.title(metric)) for metric in metrics),
                *([ACCEPTED] if ACCURACY in metrics else []),
            ),
            blocks=tuple(blocks),
            notes=(
                f"Bold: the best technique of a row in each metric {_BY_DISTANCE}{_OF_USE}. {aims}",
                *self.signs_note(techniques, metrics),
                *self.notes(),
            ),
        )

    def table(
        self, name: str, caption: str, columns: tuple[str, ...], rows: Sequence[Row], notes: Sequence[str]
    ) -> ReportTable:
        return ReportTable(
            name=name,
            caption=caption + self.extent(),
            row_headings=("Technique",),
            groups=tuple(scenario.heading for scenario in self.scenarios),
            columns=columns,
            blocks=(Block("", tuple(rows)),),
            notes=(*notes, *self.notes()),
        )

    def cell(self, scenario: Scenario, beta: float, technique: str, metric: str) -> Cell:
        key = (*scenario.key, beta, technique, metric)
        if key not in self.means:
            return Cell(_NAN, _NAN, _ABSENT)
        mean, n, missing = self.means[key]
        remark = f"{n} of {n + missing} values; failures.csv says why." if missing else None
        signs = [self.signs.get(key, ""), self.useless.get(key[:-1], "") if n else ""]
        return Cell(mean, _NAN, remark, mark=",".join(filter(None, signs)))

    def shares_cell(self, scenario: Scenario, beta: float, technique: str) -> Cell:
        return shares_cell(self.shares.get((*scenario.key, beta, technique), [_NAN] * 3))

    def constant_cells(self, scenario: Scenario, metrics: Sequence[str]) -> list[Cell]:
        """Return the cells of the best constant answer, the shares beside accuracy included."""
        answer = self.constants.get(scenario.dataset.name)
        cells = [constant_cell(answer, metric) for metric in metrics]
        if ACCURACY in metrics:
            cells.append(constant_shares(answer))
        return cells

    def marked_cells(
        self, scenario: Scenario, beta: float, techniques: Sequence[str], metric: str
    ) -> list[Cell]:
        """Return the cells of techniques, those marked that are nearest to the ideal and of use."""
        cells = [self.cell(scenario, beta, technique, metric) for technique in techniques]
        gaps = [
            _NAN
            if set(cell.mark) & set(_USELESS)
            else self.gaps.get((*scenario.key, beta, name, metric), _NAN)
            for cell, name in zip(cells, techniques, strict=True)
        ]
        marked = zip(cells, _smallest(gaps), strict=True)
        return [replace(cell, best=is_best) for cell, is_best in marked]

    def sign_of_line(self, scenario: Scenario, technique: str) -> str:
        """Return the worst of a technique's signs over all levels of bias."""
        found = {self.useless.get((*scenario.key, beta, technique), "") for beta in self.betas}
        return next((sign for sign in _USELESS if sign in found), "")

    def area_of_distances(self, scenario: Scenario, technique: str, metric: str) -> float:
        betas = [beta for beta in self.betas if (*scenario.key, beta, technique, metric) in self.gaps]
        gaps = [self.gaps[*scenario.key, beta, technique, metric] for beta in betas]
        return _NAN if len(betas) < 2 else float(np.trapezoid(gaps, betas))

    def aim(self, metric: str) -> str:
        """Say which values of a metric are good."""
        own = self.statistics.metrics[metric]
        match own.direction:
            case "none":
                return f"{self.statistics.title(metric)}: no value is better than another."
            case "closer_to_ideal":
                return f"{self.statistics.title(metric)}: best is {own.ideal:g}."
            case direction:
                return f"{self.statistics.title(metric)}: {direction} is better."

    def extent(self) -> str:
        return extent(dataset.embedded for dataset in self.run.datasets)

    def signs_note(self, techniques: Sequence[str], metrics: Sequence[str]) -> Iterator[str]:
        yield f"Marked {BETTER}: significantly better than the baseline. Marked {WORSE}: significantly worse."
        yield from self.useless_notes(techniques)
        if ACCURACY in metrics:
            yield ACCEPTED_NOTE
        if {ACCURACY, "discrimination"} & set(metrics) and self.constants:
            words = {
                scenario.dataset.heading: self.constants[scenario.dataset.name].words
                for scenario in self.scenarios
                if scenario.dataset.name in self.constants
            }
            yield f"{CONSTANT}: " + "; ".join(f"{name}: {answer}" for name, answer in words.items()) + "."
        yield from method_notes(self.statistics)

    def useless_notes(self, techniques: Sequence[str]) -> list[str]:
        """Explain the signs of what is never the best, as far as they occur."""
        standing = self.statistics.standing
        return mark_notes(standing[standing["technique"].isin(techniques)])

    def notes(self) -> Iterator[str]:
        run = self.run
        yield from (f"Warning, {warning}" for warning in self.statistics.warnings)
        yield from data_notes(run.datasets)
        yield run.made_with(("betabench", "numpy"))


def _mean_distances(statistics: RunStatistics) -> dict[tuple[object, ...], float]:
    """Return the mean over the repetitions of each cell's distance to the ideal of each metric."""
    cells = to_cells(statistics.results)
    key = ["dataset", "bias", "classifier", "beta", "technique", "metric"]
    names = cells.keys[key].itertuples(index=False, name=None)
    return dict(zip(names, map(float, row_means(cells.distances(statistics.goals))), strict=True))


def _smallest(gaps: Sequence[float] | np.ndarray) -> list[bool]:
    """Return which numbers are the smallest as far as three decimals tell; none where all are missing."""
    shown = np.round(np.asarray(gaps, dtype=float), 3)
    return (
        [bool(own) for own in shown == np.nanmin(shown)] if np.isfinite(shown).any() else [False] * len(shown)
    )


def _stop(level: float) -> str:
    return "" if pd.isna(level) else "no" if math.isinf(level) else f"{level:g}"
