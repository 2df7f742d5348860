r"""What people are told: by a technique, by the model without planted bias, and by the biased baseline.

The *clean model* is a technique's baseline without planted bias, the *biased baseline* the same at the level
in question; both answered the same test rows as the technique, in the same split. A share is a ratio of two
sums over splits, of the people :math:`y_r` of whom something holds and of the people :math:`x_r` among whom
they are counted, :math:`R = \sum y_r / \sum x_r`. Its interval is that of the mean of the linearised
:math:`R + (y_r - R x_r) / \bar x`: Student's, with the variance corrected for overlapping splits. It is not
clipped to 0 and 1. Cochran (1977), Sampling Techniques, chapter 6; Nadeau and Bengio (2003), Inference for
the generalization error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.columns import CELL_COLUMNS, DECISION_COLUMNS, DECISION_COUNTS, GOAL_METRICS, RESTORE
from benchmark.errors import StatisticsError
from benchmark.metrics.restoration import SHARES as COUNTED_SHARES
from benchmark.metrics.restoration import agreement_counts, rates_apart
from benchmark.statistics.cells import Array, Resampling, first_true, require_unique, row_means
from benchmark.statistics.intervals import student_intervals

DECISION_CELL = (*CELL_COLUMNS[:-1], "test")
"""What the decisions of all repetitions have in common."""

RESTORATION_DISTANCE, AGREEMENT = GOAL_METRICS[RESTORE], "agreement"
"""Mean distance of four rates to those of the clean model; share of people whom both answer the same."""

_GROUPS = {"": "", "_deprived": " of the deprived group", "_favored": " of the favored group"}

SHARES = tuple(name + group for name in COUNTED_SHARES for group in _GROUPS)
"""Shares of people, of everybody and of each group: :func:`share_counts`."""

LEAST_PEOPLE = 10
"""People over all splits below whom no share is told."""

FEW = "fewer than two splits have a value"
"""Why there is no interval."""

_NO_RATE = "in every repetition one of the groups has nobody with one of the labels"
_NO_PEOPLE = "nobody was tested"


def share_counts(counts: NDArray[Any]) -> dict[str, tuple[Array, Array]]:
    """Return by name of each of :data:`SHARES` of how many people it holds, and among how many.

    ``given_back`` are those whom the technique accepts among those whom the clean model accepts and the
    biased baseline refuses; ``paid`` those whom it refuses among those whom both accept; ``in_their_place``
    those whom it accepts among those whom the clean model refuses. The counts have shape (n_rows, 32), in the
    order of :data:`~benchmark.columns.DECISION_COUNTS`; what is returned has shape (n_rows,).
    """
    people = _people(counts).sum(axis=2)  # by group, and by who accepts them
    by_group = {name: counted(people) for name, (counted, _) in COUNTED_SHARES.items()}
    return {
        name + group: (upper[:, members].sum(axis=1), lower[:, members].sum(axis=1))
        for name, (upper, lower) in by_group.items()
        for group, members in zip(_GROUPS, ([0, 1], [0], [1]), strict=True)
    }


def restoration_values(counts: NDArray[Any]) -> dict[str, Array]:
    """Return the eleven metrics of numbers of people.

    Parameters
    ----------
    counts : array of shape (n_rows, 32)
        In the order of :data:`~benchmark.columns.DECISION_COUNTS`.

    Returns
    -------
    dict of str to array of shape (n_rows,)
        By name of the metric; NaN where a denominator is 0.

        ``restoration_distance``
            Mean over both groups of the absolute differences between the technique's and the clean model's
            true positive rate and false positive rate, 0 to 1. NaN where a group has nobody with a label.
        ``agreement``
            Share of the people whom technique and clean model answer the same.
        :data:`SHARES`
            Ratios of :func:`share_counts`.
    """
    people = _people(counts)
    (apart, labeled), (alike, everybody) = rates_apart(people), agreement_counts(people)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = {
            RESTORATION_DISTANCE: (apart / labeled).mean(axis=(1, 2)),
            AGREEMENT: alike.sum(axis=(1, 2)) / everybody.sum(axis=(1, 2)),
        }
        return found | {name: upper / lower for name, (upper, lower) in share_counts(counts).items()}


def _people(counts: NDArray[Any]) -> Array:
    """Return counts by group, label, clean model, biased baseline and technique."""
    return np.asarray(counts, dtype=np.float64).reshape(-1, 2, 2, 2, 2, 2)


@dataclass(frozen=True, eq=False)
class Measure:
    """A metric of each cell that is a mean of parts, one for each split, or nearly so.

    ``estimator`` makes of two arrays, of shapes (n_rows, n_repetitions) or (n_rows, n_splits), the estimate,
    shape (n_rows,), and its parts, shape (n_rows, n_splits). ``undefined`` says why there is no estimate.
    """

    estimator: Callable[[Array, Array], tuple[Array, Array]]
    arrays: tuple[Array, Array]
    n: NDArray[np.int64]
    overlap: Array
    confidence: float
    undefined: str

    def interval(
        self, rows: NDArray[np.intp], others: NDArray[np.intp] | None = None
    ) -> tuple[Array, Array, Array]:
        """Return the estimates of some cells and the ends of their intervals.

        Given ``others``, they are of the differences to those, in the splits that both have; -1 is no cell.
        """
        values = [taken(array, rows) for array in self.arrays]
        if others is None:
            estimate, parts = self.estimator(*values)
        else:
            compared = [taken(array, others) for array in self.arrays]
            gaps = [np.isnan(a) | np.isnan(b) for a, b in zip(values, compared, strict=True)]
            (estimate, parts), (other, of_other) = (
                self.estimator(*(np.where(gap, np.nan, a) for gap, a in zip(gaps, arrays, strict=True)))
                for arrays in (values, compared)
            )
            estimate, parts = estimate - other, parts - of_other
        return estimate, *student_intervals(parts, self.confidence, self.overlap[rows], estimate)

    def reasons(self, rows: NDArray[np.intp]) -> NDArray[np.str_]:
        """Return why some cells have no estimate or no interval."""
        estimate, low, _ = self.interval(rows)
        return first_true({self.undefined: np.isnan(estimate), FEW: np.isnan(low)})


def taken(array: Array, rows: NDArray[np.intp]) -> Array:
    """Return rows of an array; NaN where the row is -1."""
    present = (rows >= 0).reshape(-1, *(1,) * (array.ndim - 1))
    return np.where(present, array[rows], np.nan)


def mean_of_repetitions(values: Array, by_split: Array) -> tuple[Array, Array]:
    """Return means of values of repetitions, with the values of single splits as their parts."""
    return row_means(values), by_split


def ratio_of_sums(upper: Array, lower: Array) -> tuple[Array, Array]:
    """Return ratios of sums over splits, NaN below :data:`LEAST_PEOPLE`, and their linearised parts."""
    total, n = np.nansum(lower, axis=1), np.isfinite(lower).sum(axis=1)
    ratio = np.full(len(total), np.nan)
    np.divide(np.nansum(upper, axis=1), total, out=ratio, where=total >= LEAST_PEOPLE)
    mean = np.where(total >= LEAST_PEOPLE, total, np.nan) / np.maximum(n, 1)
    ratios = ratio[:, None]
    return ratio, ratios + (upper - ratios * lower) / mean[:, None]


def measures_of_decisions(
    decisions: pd.DataFrame, resampling: Resampling | None, confidence: float
) -> tuple[pd.DataFrame, dict[str, Measure]]:
    """Return the cells, columns :data:`DECISION_CELL`, and of each of the eleven metrics its estimates.

    A StatisticsError says that columns are missing or two rows have one key.
    """
    if missing := [name for name in DECISION_COLUMNS if name not in decisions.columns]:
        raise StatisticsError(
            "The decisions lack columns",
            expected=", ".join(DECISION_COLUMNS),
            got="no " + ", no ".join(missing),
            remedy="read the decisions.csv of a run",
        )
    require_unique("decisions", decisions, [*CELL_COLUMNS, "test", "fold"])
    cells = decisions[list(DECISION_CELL)].drop_duplicates(ignore_index=True)
    of_repetition, repetitions = _spread(decisions, cells, "repetition")
    of_split, splits = of_repetition, repetitions
    if resampling is not None and resampling.n_folds is not None:
        of_split, splits = _spread(decisions, cells, "repetition", "fold")
    overlaps = {} if resampling is None else resampling.overlaps
    overlap = np.array([overlaps.get(name, 0.0) for name in cells["dataset"]])
    means, parts = restoration_values(of_repetition), restoration_values(of_split)
    measures = {}
    for name, undefined in ((RESTORATION_DISTANCE, _NO_RATE), (AGREEMENT, _NO_PEOPLE)):
        arrays = repetitions(means[name]), splits(parts[name])
        n = np.isfinite(arrays[0]).sum(axis=1)
        measures[name] = Measure(mean_of_repetitions, arrays, n, overlap, confidence, undefined)
    n = np.isfinite(repetitions(np.zeros(len(of_repetition)))).sum(axis=1)
    few = [
        f"fewer than {LEAST_PEOPLE} people{members} {among}"
        for _, among in COUNTED_SHARES.values()
        for members in _GROUPS.values()
    ]
    for undefined, (name, (upper, lower)) in zip(few, share_counts(of_split).items(), strict=True):
        arrays = splits(upper), splits(lower)
        measures[name] = Measure(ratio_of_sums, arrays, n, overlap, confidence, undefined)
    return cells, measures


def _spread(
    decisions: pd.DataFrame, cells: pd.DataFrame, *splits: str
) -> tuple[NDArray[Any], Callable[[Array], Array]]:
    """Return counts summed by split, and what makes of one value of each a row for each cell."""
    summed = (
        decisions.groupby([*DECISION_CELL, *splits], sort=False)[list(DECISION_COUNTS)].sum().reset_index()
    )
    rows = pd.MultiIndex.from_frame(cells).get_indexer(pd.MultiIndex.from_frame(summed[list(DECISION_CELL)]))
    columns = summed.groupby(list(splits)).ngroup().to_numpy()

    def spread(values: Array) -> Array:
        matrix = np.full((len(cells), columns.max(initial=-1) + 1), np.nan)
        matrix[rows, columns] = values
        return matrix

    return summed[list(DECISION_COUNTS)].to_numpy(), spread
