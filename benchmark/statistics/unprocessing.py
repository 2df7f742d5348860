"""The unprocessing frontier: techniques that thresholds on the best unconstrained scores outdo.

Cruz and Hardt (2024), Unprocessing seven years of algorithmic fairness, ICLR.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from benchmark.columns import EQUALIZE, FRONTIER_COLUMNS
from benchmark.statistics.answers import ACCURACY, DISCRIMINATION, ConstantAnswer, constant_on
from benchmark.statistics.cells import (
    WHERE,
    Array,
    Resampling,
    ScenarioKey,
    first_true,
    to_cells,
)
from benchmark.statistics.intervals import cell_intervals
from benchmark.statistics.recommendation import EQUAL

INSIDE, ON, BEYOND = "inside", "on", "beyond"
"""Standing of a technique: outdone by the frontier, not told apart from it, or better than it."""

LEVEL = ("dataset", "bias", "test", "level")
"""Columns that share a frontier: the frontier of the best of the run's classifiers."""

FRONTIER_GAP_COLUMNS = (
    *WHERE,
    *("n", "missing", "difference", "difference_low", "difference_high", "standing", "reason"),
)
"""Columns of :func:`frontier_gaps`."""

_WHOSE = ["technique", "classifier"]


def best_frontiers(frontier: pd.DataFrame) -> pd.DataFrame:
    """Return at each level of bias the rows of the classifier that is most accurate without thresholds.

    Columns :data:`~benchmark.columns.FRONTIER_COLUMNS`. The mean accuracy over the repetitions counts, with
    the whole gap left; of equal classifiers, the first is taken.
    """
    started = frontier[frontier["relaxation"] == 1]
    means = started.groupby([*LEVEL, *_WHOSE], sort=False)[ACCURACY].mean().dropna().reset_index()
    best = means.loc[means.groupby(list(LEVEL), sort=False)[ACCURACY].idxmax()]
    return frontier.merge(best[[*LEVEL, *_WHOSE]])[list(FRONTIER_COLUMNS)]


def mean_frontiers(frontier: pd.DataFrame) -> pd.DataFrame:
    """Return means over the repetitions of best frontiers, down to parity: LEVEL, relaxation, coordinates."""
    shown = frontier[frontier["relaxation"] >= 0]
    means = shown.groupby([*LEVEL, "relaxation"], sort=False)[[ACCURACY, DISCRIMINATION]].mean()
    return means.reset_index()


def curves_of(means: pd.DataFrame, scenario: ScenarioKey) -> pd.DataFrame:
    """Return the rows of :func:`mean_frontiers` for a scenario, whatever its classifier."""
    if means.empty:
        return means
    dataset, bias, _classifier, test = scenario
    return means[(means["dataset"] == dataset) & (means["bias"] == bias) & (means["test"] == test)]


def frontier_gaps(
    results: pd.DataFrame,
    best: pd.DataFrame,
    constants: Mapping[str, ConstantAnswer],
    resampling: Resampling | None = None,
) -> pd.DataFrame:
    """Return how each technique's accuracy compares with the frontier's at the same discrimination.

    In each repetition the frontier is walked from equal thresholds to parity and beyond. It ends at the best
    constant answer, which does not discriminate. The way is straight between points, since two rules can be
    mixed by lot. A technique is compared with the first point that has no more discrimination, of either
    sign, than the technique.

    ``results`` have the columns :data:`~benchmark.columns.RESULT_COLUMNS`, with accuracy and discrimination.
    ``best`` is from :func:`best_frontiers`, ``constants`` and ``resampling`` are as in
    :func:`~benchmark.statistics.answers.standings` and :func:`~benchmark.statistics.answers.answer_table`.
    The result has the columns :data:`FRONTIER_GAP_COLUMNS` (``frontier_gaps.csv`` in ``results/README.md``),
    and one row for each technique at each level of bias that has a frontier.
    """
    paths = best.pivot(index=[*LEVEL, "repetition"], columns="relaxation", values=[ACCURACY, DISCRIMINATION])
    cells = results[results["metric"].isin((ACCURACY, DISCRIMINATION))]
    cell = [*WHERE, "repetition"]
    values = cells.pivot(index=cell, columns="metric", values="value").reset_index()
    cells = cells[cell].drop_duplicates().merge(values)  # in the order of the results
    where = pd.MultiIndex.from_frame(cells[[*LEVEL, "repetition"]])
    levels = pd.MultiIndex.from_frame(best[list(LEVEL)].drop_duplicates())
    has_frontier = pd.MultiIndex.from_frame(cells[list(LEVEL)]).isin(levels)
    cells, where = cells[has_frontier], where[has_frontier]
    if cells.empty:
        return pd.DataFrame(columns=list(FRONTIER_GAP_COLUMNS))
    paths = paths.reindex(where)
    # From the whole gap to none.
    accuracies, gaps = (
        paths[name].sort_index(axis=1, ascending=False).to_numpy() for name in (ACCURACY, DISCRIMINATION)
    )
    constant = [
        getattr(constant_on(constants.get(name), test, bias, beta, [repetition]), "accuracy", np.nan)
        for name, bias, test, beta, repetition in where
    ]
    reached = accuracy_at(
        np.abs(cells[DISCRIMINATION].to_numpy()),
        np.column_stack([gaps, np.zeros(len(gaps))]),
        np.column_stack([accuracies, constant]),
    )
    differences = cells.assign(metric="frontier", value=cells[ACCURACY] - reached)
    table = cell_intervals(to_cells(differences, resampling))
    low, high = table["ci_low"], table["ci_high"]
    standing = first_true(
        {"": low.isna(), INSIDE: high < -EQUAL, BEYOND: low > EQUAL, ON: np.ones(len(table), dtype=bool)}
    )
    names = {"mean": "difference", "ci_low": "difference_low", "ci_high": "difference_high"}
    table = table.rename(columns=names).assign(standing=standing)
    return table[list(FRONTIER_GAP_COLUMNS)]


def with_frontier(answers: pd.DataFrame, gaps: pd.DataFrame) -> pd.DataFrame:
    """Return answers with ``frontier``, the standing by :func:`frontier_gaps`, empty if unknown.

    It is one of discrimination: None for another goal than to equalize. Without gaps, the answers are
    returned without the column.
    """
    if gaps.empty:
        return answers
    standing = gaps.set_index(list(WHERE))["standing"]
    standings = standing.reindex(pd.MultiIndex.from_frame(answers[list(WHERE)]), fill_value="")
    frontier = pd.Series(standings.to_numpy(), index=answers.index, dtype=object)
    return answers.assign(frontier=frontier.where(answers["goal"] == EQUALIZE, None))


def accuracy_at(discrimination: Array, gaps: Array, accuracies: Array) -> Array:
    """Return the accuracy of each path where it first has no more than a discrimination, shape (n_paths,).

    ``discrimination`` has no sign. ``gaps``, of either sign, and ``accuracies`` belong to the points of each
    path, shape (n_paths, n_points); between points a path is straight. The last gap is 0. The result is NaN
    if a number that decides it is missing.
    """
    d = discrimination[:, None]
    reached = np.abs(gaps) <= d
    reached[:, 1:] |= np.sign(gaps[:, 1:]) != np.sign(gaps[:, :-1])  # the path passes through 0
    end = reached.argmax(axis=1)
    start = np.maximum(end - 1, 0)
    rows = np.arange(len(gaps))
    first, second = np.abs(gaps[rows, start]), np.sign(gaps[rows, start]) * gaps[rows, end]
    step = np.where(end > 0, first - second, 1.0)
    share = np.where(end > 0, (first - discrimination) / step, 0.0)
    accuracy = (1 - share) * accuracies[rows, start]
    accuracy = accuracy + np.where(share > 0, share * accuracies[rows, end], 0.0)
    return np.where(np.isnan(discrimination) | np.isnan(gaps).any(axis=1), np.nan, accuracy)
