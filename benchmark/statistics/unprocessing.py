"""Which techniques thresholds on the best unconstrained scores outdo: the unprocessing frontier.

Cruz and Hardt (2024), Unprocessing seven years of algorithmic fairness, ICLR.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd

from benchmark.columns import FRONTIER_COLUMNS
from benchmark.statistics.answers import ACCURACY, DISCRIMINATION, ConstantAnswer, constant_in
from benchmark.statistics.cells import (
    SCENARIO,
    WHERE,
    Array,
    Resampling,
    ScenarioKey,
    first_true,
    to_cells,
)
from benchmark.statistics.choices import EQUAL
from benchmark.statistics.intervals import cell_intervals

INSIDE, ON, BEYOND = "inside", "on", "beyond"
"""Where a technique lies of the frontier: outdone by it, not told apart from it, or better than it."""

LEVEL = ("dataset", "bias", "test", "beta")
"""What has a frontier of its own: that of the best of the run's classifiers there."""

FRONTIER_GAP_COLUMNS = (
    *WHERE,
    *("best_technique", "best_classifier", "n", "missing"),
    *("difference", "difference_low", "difference_high", "standing", "reason"),
)
"""Columns of :func:`frontier_gaps`."""

_WHOSE = ["technique", "classifier"]


def best_frontiers(frontier: pd.DataFrame) -> pd.DataFrame:
    """Return at each level of bias the rows of the classifier that is most accurate without thresholds.

    Columns :data:`~benchmark.columns.FRONTIER_COLUMNS`. What counts is the mean over the repetitions, where
    the gap is as it was; of equal ones, it is the first.
    """
    started = frontier[frontier["relaxation"] == 1]
    means = started.groupby([*LEVEL, *_WHOSE], sort=False)[ACCURACY].mean().dropna().reset_index()
    best = means.loc[means.groupby(list(LEVEL), sort=False)[ACCURACY].idxmax()]
    return frontier.merge(best[[*LEVEL, *_WHOSE]])[list(FRONTIER_COLUMNS)]


def mean_frontiers(frontier: pd.DataFrame) -> pd.DataFrame:
    """Return means over the repetitions of best frontiers, down to parity: LEVEL, relaxation, coordinates."""
    where, shown = [*LEVEL, "relaxation"], frontier[frontier["relaxation"] >= 0]
    found: pd.DataFrame = shown.groupby(where, sort=False)[[ACCURACY, DISCRIMINATION]].mean().reset_index()
    return found


def curves_of(means: pd.DataFrame, scenario: ScenarioKey) -> pd.DataFrame:
    """Return the rows of :func:`mean_frontiers` that a scenario is compared with, whatever its classifier."""
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
    """Compare the accuracy of each technique with that of the frontier at the same discrimination.

    In each repetition the frontier is walked from equal thresholds to parity and beyond, on straight lines,
    since two rules can be mixed by lot, and from there to the best constant answer, which does not
    discriminate. The first point with no more discrimination, of either sign, than the technique is compared
    with.

    Parameters
    ----------
    results : DataFrame
        Columns :data:`~benchmark.columns.RESULT_COLUMNS`, with accuracy and discrimination.
    best : DataFrame
        From :func:`best_frontiers`.
    constants, resampling
        As for :func:`~benchmark.statistics.answers.standings` and :func:`~benchmark.statistics.answer_table`.

    Returns
    -------
    DataFrame
        Columns :data:`FRONTIER_GAP_COLUMNS`, one row for each technique at each level of bias that has a
        frontier: whose it is; ``n`` and ``missing``, the repetitions with and without a comparison; the mean
        ``difference`` in accuracy to the frontier with its 95 % interval; ``standing``, :data:`INSIDE` if the
        interval lies below 0, :data:`BEYOND` if above, else :data:`ON`, and empty where there is none, with
        the ``reason``.
    """
    paths = best.pivot(index=[*LEVEL, "repetition"], columns="relaxation", values=[ACCURACY, DISCRIMINATION])
    found = results[results["metric"].isin((ACCURACY, DISCRIMINATION))]
    cell = [*WHERE, "repetition"]
    values = found.pivot(index=cell, columns="metric", values="value").reset_index()
    found = found[cell].drop_duplicates().merge(values)  # in the order of the results
    where = pd.MultiIndex.from_frame(found[[*LEVEL, "repetition"]])
    levels = pd.MultiIndex.from_frame(best[list(LEVEL)].drop_duplicates())
    known = pd.MultiIndex.from_frame(found[list(LEVEL)]).isin(levels)
    found, where = found[known], where[known]
    if found.empty:
        return pd.DataFrame(columns=list(FRONTIER_GAP_COLUMNS))
    paths = paths.reindex(where)
    # From a gap as it was to none.
    accuracies, gaps = (
        paths[name].sort_index(axis=1, ascending=False).to_numpy() for name in (ACCURACY, DISCRIMINATION)
    )
    constant = np.array(
        [
            constant_in(constants.get(dataset), test, bias, beta, repetition)
            for dataset, bias, test, beta, repetition in where
        ]
    )
    reached = accuracy_at(
        np.abs(found[DISCRIMINATION].to_numpy()),
        np.column_stack([gaps, np.zeros(len(gaps))]),
        np.column_stack([accuracies, constant]),
    )
    differences = found.assign(metric="frontier", value=found[ACCURACY] - reached)
    table = cell_intervals(to_cells(differences, resampling))
    low, high = table["ci_low"], table["ci_high"]
    standing = first_true(
        {"": low.isna(), INSIDE: high < -EQUAL, BEYOND: low > EQUAL, ON: np.ones(len(table), dtype=bool)}
    )
    whose = best[[*LEVEL, *_WHOSE]].drop_duplicates().rename(columns={n: f"best_{n}" for n in _WHOSE})
    names = {"mean": "difference", "ci_low": "difference_low", "ci_high": "difference_high"}
    table = table.rename(columns=names).assign(standing=standing).merge(whose, on=list(LEVEL))
    return table[list(FRONTIER_GAP_COLUMNS)]


def inside_shares(gaps: pd.DataFrame, unconstrained: Collection[str]) -> pd.DataFrame:
    """Return which share of the techniques of each scenario is inside the frontier, at each level of bias.

    ``gaps`` are of :func:`frontier_gaps`. Columns :data:`~benchmark.statistics.cells.SCENARIO`, ``beta``,
    ``n_techniques``, those with a standing, ``n_inside`` and ``share_inside``, NaN where there are none.
    Those that frontiers are made from, the ``unconstrained``, are not counted, whichever is the best.
    """
    own = gaps[~gaps["technique"].isin(unconstrained)]
    flags = own.assign(n_techniques=own["standing"] != "", n_inside=own["standing"] == INSIDE)
    counts = ["n_techniques", "n_inside"]
    found: pd.DataFrame = flags.groupby([*SCENARIO, "beta"], sort=False)[counts].sum().reset_index()
    return found.assign(
        share_inside=found["n_inside"] / found["n_techniques"].where(found["n_techniques"] > 0)
    )


def with_frontier(answers: pd.DataFrame, gaps: pd.DataFrame) -> pd.DataFrame:
    """Return answers with ``frontier``, the standing by :func:`frontier_gaps`, empty if unknown.

    The column is there only if there are gaps.
    """
    if gaps.empty:
        return answers
    standing = gaps.set_index(list(WHERE))["standing"]
    found = standing.reindex(pd.MultiIndex.from_frame(answers[list(WHERE)]), fill_value="")
    return answers.assign(frontier=found.to_numpy())


def accuracy_at(discrimination: Array, gaps: Array, accuracies: Array) -> Array:
    """Return the accuracy of paths where they first have no more than a discrimination, shape (n_paths,).

    ``discrimination`` is without a sign; ``gaps``, of either sign, and ``accuracies`` are those of the points
    of each path, shape (n_paths, n_points), between which it is straight. The last gap is 0. Where any number
    is missing that decides, the result is NaN.
    """
    d = discrimination[:, None]
    there = np.abs(gaps) <= d
    there[:, 1:] |= np.sign(gaps[:, 1:]) != np.sign(gaps[:, :-1])  # it passes through 0 on the way
    end = there.argmax(axis=1)
    start = np.maximum(end - 1, 0)
    rows = np.arange(len(gaps))
    first, second = np.abs(gaps[rows, start]), np.sign(gaps[rows, start]) * gaps[rows, end]
    step = np.where(end > 0, first - second, 1.0)
    share = np.where(end > 0, (first - discrimination) / step, 0.0)
    reached = (1 - share) * accuracies[rows, start]
    reached = reached + np.where(share > 0, share * accuracies[rows, end], 0.0)
    return np.where(np.isnan(discrimination) | np.isnan(gaps).any(axis=1), np.nan, reached)
