"""Tidy tables of stored cells, from which all reports are made.

:mod:`benchmark.columns` lists the columns of each frame: ``FOLD_COLUMNS`` are the columns of
:func:`folds_frame`. Cells without a result are in :func:`failures_frame` only.
"""

import itertools
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.columns import (
    CONVERGENCE_COLUMNS,
    CROSSED,
    DECISION_COLUMNS,
    DOSE_COLUMNS,
    FAILURE_COLUMNS,
    FOLD_COLUMNS,
    FRONTIER_COLUMNS,
    GROUP_COLUMNS,
    METRIC_COLUMNS,
    ORIGINAL,
    TUNED,
    TUNING_COLUMNS,
    Test,
)
from benchmark.experiment.draws import draw_splits
from benchmark.experiment.plan import Block
from benchmark.experiment.prepared import PreparedDataset, PreparedExperiment
from benchmark.experiment.scoring import DRAWS, Decisions, joint_counts
from benchmark.experiment.store import CellResult, MetricValue
from benchmark.experiment.unprocessing import frontier_points
from benchmark.metrics import FAILING, GroupCounts, measure_by_group, metrics_by_group
from benchmark.text.words import parted_fold


def metrics_frame(
    cells: Iterable[CellResult], metrics: Sequence[str], tests: Sequence[str] = (ORIGINAL,)
) -> pd.DataFrame:
    """Return one row per test and metric of every cell, in the order of cells, tests and metrics.

    A metric with a value for each group is followed by the group: ``precision[Female]``. An undefined metric
    has the value NaN, and a reason.
    """
    rows = [
        (*_key(cell), m.test, m.metric, m.value, m.reason)
        for cell in cells
        for m in _in_order(cell, metrics, tests)
    ]
    return pd.DataFrame(rows, columns=list(METRIC_COLUMNS)).astype({"level": float, "value": float})


def failures_frame(
    cells: Iterable[CellResult], metrics: Sequence[str], tests: Sequence[str] = (ORIGINAL,)
) -> pd.DataFrame:
    """Return one row per cell without a result, and per metric without a value, with the reason.

    ``test`` and ``metric`` are empty if the cell has no result. A metric's ``status`` is ``failed`` if it
    raised an error or gave no number in its range, and else ``undefined``.
    """
    rows: list[tuple[object, ...]] = []
    for cell in cells:
        if cell.status != "ok":
            rows.append((*_key(cell), "", "", cell.status, *parted_fold(cell.reason)))
        for m in _in_order(cell, metrics, tests):
            if m.value is None:
                status = "failed" if m.reason.startswith(FAILING) else "undefined"
                rows.append((*_key(cell), m.test, m.metric, status, *parted_fold(m.reason)))
    return pd.DataFrame(rows, columns=list(FAILURE_COLUMNS)).astype({"level": float, "at_fold": float})


def folds_frame(cells: Iterable[CellResult], metrics: Sequence[str], tests: Sequence[str]) -> pd.DataFrame:
    """Return one row per fold, test and metric of every cell with splits; results are means over splits."""
    rows = [
        (*_key(cell), m.test, m.fold, m.metric, m.value)
        for cell in cells
        for m in _in_order(cell, metrics, tests, of_folds=True)
    ]
    return pd.DataFrame(rows, columns=list(FOLD_COLUMNS)).astype({"level": float, "value": float})


def groups_frame(prepared: PreparedExperiment, cells: Iterable[CellResult]) -> pd.DataFrame:
    """Return metrics by group of every attribute, of every pair, and of all attributes together.

    All splits of a repetition count together. A group smaller than ``smallest_group`` has a note in place of
    a value (:func:`benchmark.metrics.measure_by_group`).
    """
    experiment, rows = prepared.experiment, []
    metrics = metrics_by_group(experiment.measured)
    datasets = {data.name: data for data in prepared.datasets.values()}
    for cell in cells:
        data = datasets[cell.dataset]
        for test, splits in joint_counts(cell.counts, data.card.attributes, experiment.tests).items():
            whole = np.concatenate([np.asarray(split, dtype=np.int64).reshape(-1, 5) for split in splits])
            for attribute, counts in _margins(data, whole, cell.counts.get(DRAWS, 1)):
                for m in measure_by_group(counts, metrics, smallest=experiment.smallest_group):
                    key = (*_key(cell), test, attribute)
                    rows.append((*key, m.group, m.n_rows, m.metric, m.value, m.reason))
    return pd.DataFrame(rows, columns=list(GROUP_COLUMNS)).astype({"level": float, "value": float})


def _margins(
    data: PreparedDataset, joint: NDArray[np.int64], n_draws: int
) -> Iterator[tuple[str, GroupCounts]]:
    """Yield name and counts of each attribute, of each pair, and of all attributes together.

    Each person is counted once for each draw of what a technique is told.
    """
    columns = [data.test.schema.column(name) for name in data.card.attributes]
    codes = np.unravel_index(joint[:, 0], [column.cardinality for column in columns])
    for size in sorted({1, 2, len(columns)} & {*range(len(columns) + 1)}):
        for chosen in itertools.combinations(range(len(columns)), size):
            attributes = [columns[i] for i in chosen]
            shape = tuple(column.cardinality for column in attributes)
            groups = np.ravel_multi_index(tuple(codes[i] for i in chosen), shape)
            occur, positions = np.unique(groups, return_inverse=True)
            mean = np.zeros((len(occur), 2, 2))
            np.add.at(mean, positions, joint[:, 1:].reshape(-1, 2, 2) / n_draws)
            rows = np.rint(mean)
            rows[:, :, 0] = np.rint(mean.sum(axis=2)) - rows[:, :, 1]  # all draws have the same people
            names = tuple(
                CROSSED.join(column.states[k] for column, k in zip(attributes, states, strict=True))
                for states in zip(*np.unravel_index(occur, shape), strict=True)
            )
            yield (
                CROSSED.join(c.name for c in attributes),
                GroupCounts(names, mean, rows.astype(np.int64)),
            )


def decisions_frame(cells: Iterable[CellResult], tests: Sequence[str] = (ORIGINAL,)) -> pd.DataFrame:
    """Return the counts of decisions of each cell, test and fold; empty if decisions were not compared."""
    rows = [
        (*_key(cell), decisions.test, fold, *people)
        for cell in cells
        for decisions in Decisions.stored(cell.counts, tests)
        for fold, people in enumerate(decisions.by_split(cell.counts.get(DRAWS, 1)).tolist())
    ]
    return pd.DataFrame(rows, columns=list(DECISION_COLUMNS)).astype({"level": float})


def doses_frame(prepared: PreparedExperiment) -> pd.DataFrame:
    """Return the β of each dose, and its increase of the label gap in each training sample.

    Increases are means over splits. Groups of real rows are the true ones, whatever the bias records.
    """
    rows: list[tuple[object, ...]] = []
    for name, data in prepared.datasets.items():
        for (bias, gap), solved in data.solved.items():
            at_0 = Block(name, bias, 0.0, 0, (), gap)
            clean = _label_gaps(prepared, at_0) if data.reaches(bias, 0.0, gap) else None
            for dose in solved.doses:
                solution = (dose.dose, dose.beta, dose.gap, dose.error, solved.pooled(dose))
                added: Iterable[float] = [math.nan]
                if dose.beta is not None and clean is not None:
                    added = _label_gaps(prepared, replace(at_0, level=dose.dose)) - clean
                for repetition, more in enumerate(added):
                    reason = solved.out_of_reach(dose)
                    rows.append((data.name, at_0.shown_bias, *solution, repetition, more, reason))
    numbers = dict.fromkeys(("level", "beta", "gap", "error", "added"), float)
    return pd.DataFrame(rows, columns=list(DOSE_COLUMNS)).astype(numbers)


def _label_gaps(prepared: PreparedExperiment, block: Block) -> NDArray[np.float64]:
    """Return the label gap of the training sample of each repetition of a block, shape (n_repetitions,)."""
    data, gaps = prepared.datasets[block.dataset], []
    for repetition in range(prepared.experiment.repetitions):
        splits = draw_splits(data, replace(block, repetition=repetition))
        of_splits = []
        for split in splits:
            rows = split.after_bias
            deprived = split.train.deprived if rows is None else data.test.deprived[rows]
            groups = [split.train.y[members] for members in (~deprived, deprived)]
            of_splits.append(groups[0].mean() - groups[1].mean() if all(map(len, groups)) else math.nan)
        gaps.append(float(np.mean(of_splits)))
    return np.array(gaps)


def tuning_frame(prepared: PreparedExperiment, cells: Iterable[CellResult]) -> pd.DataFrame:
    """Return one row per cell of each tuned technique, including its default setting.

    It has the setting and the rows that it was chosen on. Objective and distance to the constraint are on
    these rows, and on the original test.
    """
    experiment, rows, defaults = prepared.experiment, [], {}
    bases: dict[str, str] = {}
    for entry in experiment.techniques:  # tuned entries follow their technique
        bases[entry.name] = next(reversed(bases.values())) if entry.tuned else entry.name
    chosen_on = {entry.name: entry.tuned or "default" for entry in experiment.techniques}
    tuned = {bases[name] for name, on in chosen_on.items() if on != "default"}
    rule = None if experiment.tune is None else experiment.tune.parsed
    for cell in cells:
        base = bases[cell.technique]
        if rule is None or base not in tuned or cell.status != "ok":
            continue
        original = [m for m in cell.metrics if m.test == ORIGINAL and m.fold is None]
        values = {m.metric: math.nan if m.value is None else m.value for m in original}
        key = (cell.dataset, cell.bias, cell.level, base, cell.classifier, cell.repetition)
        if cell.technique == base:
            defaults[key] = values
        on_test = rule.goal(values), rule.excess(values, defaults.get(key))
        note: Any = cell.counts[TUNED][0] if TUNED in cell.counts else {}
        parameters = json.dumps(note["parameters"], sort_keys=True) if note else ""
        tried = (note.get("settings", 0), note.get("unscored", 0))
        validated = (note.get("objective", math.nan), note.get("excess", math.nan))
        shown = (values["discrimination"], values["accuracy"])
        setting = (base, chosen_on[cell.technique], parameters, *tried, *validated, *on_test, *shown)
        rows.append((*_key(cell), *setting))
    return pd.DataFrame(rows, columns=list(TUNING_COLUMNS)).astype({"level": float})


def convergence_frame(cells: Iterable[CellResult]) -> pd.DataFrame:
    """Return the convergence of each cell whose technique optimizes."""
    rows = [(*_key(c), *astuple(c.convergence)) for c in cells if c.convergence is not None]
    return pd.DataFrame(rows, columns=list(CONVERGENCE_COLUMNS)).astype({"level": float})


def frontier_frame(cells: Iterable[CellResult], tests: Sequence[Test]) -> pd.DataFrame:
    """Return the points of each cell's unprocessing frontier (:mod:`benchmark.experiment.unprocessing`)."""
    rows = [
        (*_key(cell), test, *point)
        for cell in cells
        for test in tests
        for point in frontier_points(cell, test)
    ]
    numbers = ("level", *FRONTIER_COLUMNS[-3:])
    return pd.DataFrame(rows, columns=list(FRONTIER_COLUMNS)).astype(dict.fromkeys(numbers, float))


def _in_order(
    cell: CellResult, metrics: Sequence[str], tests: Sequence[str], *, of_folds: bool = False
) -> list[MetricValue]:
    """Return a cell's values ordered by test, metric and fold; values of one metric keep their order."""
    ranks = {key: i for i, key in enumerate(itertools.product(tests, metrics))}
    values = [m for m in cell.metrics if (m.fold is not None) == of_folds]
    named = [(ranks.get((m.test, m.metric.partition("[")[0])), m) for m in values]
    ranked = ((i, m.fold or 0, m) for i, m in named if i is not None)
    return [m for *_, m in sorted(ranked, key=lambda item: item[:2])]


def _key(cell: CellResult) -> tuple[object, ...]:
    return (cell.dataset, cell.shown_bias, cell.level, cell.technique, cell.classifier, cell.repetition)
