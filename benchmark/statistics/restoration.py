r"""How near techniques come to the model without planted bias: their decisions beside those of two models.

The *clean model* is a technique's baseline without planted bias. The *biased baseline* is the same at the
level in question. In each split, all three answered the same test rows. A share is a ratio of two sums over
splits, :math:`R = \sum y_r / \sum x_r`: of :math:`x_r` people, :math:`y_r` have a property. Its interval is
the interval of the mean of the linearized :math:`R + (y_r - R x_r) / \bar x`: Student's, with the variance
corrected for overlapping splits. It is not clipped to 0 and 1. Cochran (1977), Sampling Techniques, chapter
6; Nadeau and Bengio (2003), Inference for the generalization error.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark import columns
from benchmark.metrics import restoration as decided
from benchmark.statistics.cells import (
    CELL_KEY,
    ROUNDING,
    SCENARIO,
    WHERE,
    Array,
    Baselines,
    Cells,
    Resampling,
    first_true,
    positions_in,
    require_unique,
    row_means,
    to_cells,
)
from benchmark.statistics.intervals import student_intervals

DECISION_CELL = (*columns.CELL_COLUMNS[:-1], "test")
"""Columns that the decisions of all repetitions share."""

RESTORATION_DISTANCE, AGREEMENT = columns.GOAL_METRICS[columns.RESTORE], "agreement"
"""Mean distance of four rates to the clean model's rates; share of people whom both models answer alike."""

_GROUPS = ("", "_deprived", "_favored")

SHARES = tuple(name + group for name in decided.SHARES for group in _GROUPS)
"""Names of shares of people, among everybody and in each group: :func:`share_counts`."""

LEAST_PEOPLE = 10
"""A share is not reported for fewer people than this, over all splits."""

TOO_FEW_SPLITS = "few_splits"
"""Reason for a missing interval."""

_NO_RATE, _NO_PEOPLE, _FEW_PEOPLE = "no_rate", "no_people", "few_people"


def share_counts(counts: NDArray[Any]) -> dict[str, tuple[Array, Array]]:
    """Return, for each name in :data:`SHARES`, the number of people with its property, and of all people.

    ``given_back``: the technique accepts, of those whom the clean model accepts and the biased baseline
    refuses. ``paid``: the technique refuses, of those whom both accept. ``in_their_place``: the technique
    accepts, of those whom the clean model refuses. The counts have shape (n_rows, 32), in the order of
    :data:`~benchmark.columns.DECISION_COUNTS`; the results have shape (n_rows,).
    """
    people = _people(counts).sum(axis=2)  # by group and by the models that accept them
    by_group = {name: decided.share_counts(name, people) for name in decided.SHARES}
    return {
        name + group: (upper[:, members].sum(axis=1), lower[:, members].sum(axis=1))
        for name, (upper, lower) in by_group.items()
        for group, members in zip(_GROUPS, ([0, 1], [0], [1]), strict=True)
    }


def restoration_values(counts: NDArray[Any]) -> dict[str, Array]:
    """Return eleven metrics of decisions, by name; arrays of shape (n_rows,), NaN where a denominator is 0.

    ``counts``, shape (n_rows, 32), are in the order of :data:`~benchmark.columns.DECISION_COUNTS`.

    ``restoration_distance``
        Mean over both groups of the absolute differences between the technique's and the clean model's true
        positive rate and false positive rate, 0 to 1. NaN where a group has nobody with a label.
    ``agreement``
        Share of the people whom technique and clean model answer alike.
    :data:`SHARES`
        Ratios of :func:`share_counts`.
    """
    people = _people(counts)
    (apart, labeled), (alike, everybody) = decided.rates_apart(people), decided.agreement_counts(people)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = {
            RESTORATION_DISTANCE: (apart / labeled).mean(axis=(1, 2)),
            AGREEMENT: alike.sum(axis=(1, 2)) / everybody.sum(axis=(1, 2)),
        }
        return means | {name: upper / lower for name, (upper, lower) in share_counts(counts).items()}


def clean_model_shares(counts: NDArray[Any]) -> dict[str, Array]:
    """Return the shares of people whom the clean model accepts, and its accuracy; shape (n_rows,) each.

    ``counts``, shape (n_rows, 32), are in the order of :data:`~benchmark.columns.DECISION_COUNTS`.
    """
    people = _people(counts).sum(axis=(4, 5))  # by group, label and decision of the clean model
    accepted, everybody = people[:, :, :, 1].sum(axis=2), people.sum(axis=(2, 3))
    right = people[:, :, 0, 0] + people[:, :, 1, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        deprived, favored = (accepted / everybody).T
        accepted_of_all, accuracy = (part.sum(axis=1) / everybody.sum(axis=1) for part in (accepted, right))
    return {
        "accepted": accepted_of_all,
        "accepted_deprived": deprived,
        "accepted_favored": favored,
        "accuracy": accuracy,
    }


def _people(counts: NDArray[Any]) -> Array:
    """Return counts of people by group, label, clean model, biased baseline and technique."""
    return np.asarray(counts, dtype=np.float64).reshape(-1, 2, 2, 2, 2, 2)


@dataclass(frozen=True, eq=False)
class Measure:
    """A metric of each cell that is a mean of parts, one for each split, or nearly so.

    ``estimator`` takes two arrays, of shape (n_rows, n_repetitions) or (n_rows, n_splits). It returns the
    estimates, shape (n_rows,), and their parts, shape (n_rows, n_splits). ``undefined`` is the reason for a
    missing estimate.
    """

    estimator: Callable[[Array, Array], tuple[Array, Array]]
    arrays: tuple[Array, Array]
    n: NDArray[np.int64]
    overlap: Array
    undefined: str

    def interval(
        self, rows: NDArray[np.intp], others: NDArray[np.intp] | None = None
    ) -> tuple[Array, Array, Array]:
        """Return the estimates of some cells and the ends of their intervals.

        If ``others`` are given, the estimates are differences from these cells, in splits that both have; -1
        is no cell.
        """
        values = [taken(array, rows) for array in self.arrays]
        if others is None:
            estimate, parts = self.estimator(*values)
        else:
            compared = [taken(array, others) for array in self.arrays]
            gaps = [np.isnan(a) | np.isnan(b) for a, b in zip(values, compared, strict=True)]
            (estimate, parts), (compared_estimate, compared_parts) = (
                self.estimator(*(np.where(gap, np.nan, a) for gap, a in zip(gaps, arrays, strict=True)))
                for arrays in (values, compared)
            )
            estimate, parts = estimate - compared_estimate, parts - compared_parts
        return estimate, *student_intervals(parts, overlap=self.overlap[rows], estimate=estimate)

    def reasons(self, rows: NDArray[np.intp]) -> NDArray[np.str_]:
        """Return the reasons why cells have no estimate or no interval; empty where they have both."""
        estimate, low, _ = self.interval(rows)
        return first_true({self.undefined: np.isnan(estimate), TOO_FEW_SPLITS: np.isnan(low)})


def taken(array: Array, rows: NDArray[np.intp]) -> Array:
    """Return rows of an array; NaN where the row is -1."""
    present = (rows >= 0).reshape(-1, *(1,) * (array.ndim - 1))
    return np.where(present, array[rows], np.nan)


def ratio_of_sums(upper: Array, lower: Array) -> tuple[Array, Array]:
    """Return ratios of sums over splits, NaN below :data:`LEAST_PEOPLE`, and their linearized parts."""
    total, n = np.nansum(lower, axis=1), np.isfinite(lower).sum(axis=1)
    ratio = np.full(len(total), np.nan)
    np.divide(np.nansum(upper, axis=1), total, out=ratio, where=total >= LEAST_PEOPLE)
    mean = np.where(total >= LEAST_PEOPLE, total, np.nan) / np.maximum(n, 1)
    ratios = ratio[:, None]
    return ratio, ratios + (upper - ratios * lower) / mean[:, None]


def measures_of_decisions(
    decisions: pd.DataFrame, resampling: Resampling | None
) -> tuple[pd.DataFrame, dict[str, Measure]]:
    """Return the cells, columns :data:`DECISION_CELL`, and a measure for each of the eleven metrics.

    A StatisticsError says that columns are missing or two rows have one key.
    """
    require_unique("decisions", decisions, [*columns.CELL_COLUMNS, "test", "fold"], columns.DECISION_COLUMNS)
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
        measures[name] = Measure(lambda all_, own: (row_means(all_), own), arrays, n, overlap, undefined)
    n = np.isfinite(repetitions(np.zeros(len(of_repetition)))).sum(axis=1)
    for name, (upper, lower) in share_counts(of_split).items():
        arrays = splits(upper), splits(lower)
        measures[name] = Measure(ratio_of_sums, arrays, n, overlap, _FEW_PEOPLE)
    return cells, measures


def _spread(
    decisions: pd.DataFrame, cells: pd.DataFrame, *splits: str
) -> tuple[NDArray[Any], Callable[[Array], Array]]:
    """Return counts summed by split, and a function that arranges a value of each as a row for each cell."""
    summed = (
        decisions.groupby([*DECISION_CELL, *splits], sort=False)[list(columns.DECISION_COUNTS)]
        .sum()
        .reset_index()
    )
    rows = positions_in(cells, summed, DECISION_CELL)
    places = summed.groupby(list(splits)).ngroup().to_numpy()

    def spread(values: Array) -> Array:
        matrix = np.full((len(cells), places.max(initial=-1) + 1), np.nan)
        matrix[rows, places] = values
        return matrix

    return summed[list(columns.DECISION_COUNTS)].to_numpy(), spread


HARDLY_MOVED = 0.02
"""Change in a model's discrimination below which there is nothing to undo."""

RESTORATION_COLUMNS = (
    *(*SCENARIO, "level", "technique", "baseline", "metric", "n", "value", "value_low", "value_high"),
    *("refit_clean", "refit_biased", "beyond_refit", "beyond_refit_low", "beyond_refit_high", "reason"),
)
"""Columns of :func:`restoration_table`."""

EFFECT_COLUMNS = (*SCENARIO, "level", "baseline", "technique", "reason")
"""Columns of :func:`effect_table`."""

NO_REFERENCE, NOTHING_TO_UNDO, NO_EFFECT_SHOWN = "no_reference", "nothing_to_undo", "no_effect_shown"
"""Reasons for not ranking techniques by how near they come to the clean model.

The clean model is of no use. The bias hardly moves the baseline. Or it is not shown to move the baseline's
decisions farther than training again on clean rows does.
"""

BY_CHANCE = "by_chance"
"""Reason for not naming a technique: it is not shown to come nearer than a refit of the biased rows."""


def pooled_shares(decisions: pd.DataFrame, resampling: Resampling | None) -> pd.DataFrame:
    """Return the shares of people of each cell, summed over its splits and repetitions.

    ``decisions`` have the columns :data:`~benchmark.columns.DECISION_COLUMNS`. ``resampling`` says how splits
    overlap, and whether a repetition has several. The result has the columns
    :data:`DECISION_CELL`, ``metric``, ``n``, ``value``, ``value_low``, ``value_high`` and ``reason``, and a
    row for each cell and each of :data:`SHARES`. ``value`` is NaN below
    :data:`~benchmark.statistics.restoration.LEAST_PEOPLE` people, and ``reason`` explains a missing value or
    interval.
    """
    cells, measures = measures_of_decisions(decisions, resampling)
    rows = np.arange(len(cells))
    return _by_metric({name: _values(measures[name], cells, rows) for name in SHARES})


def restoration_table(
    decisions: pd.DataFrame,
    baselines: Baselines,
    resampling: Resampling | None,
    refits: Mapping[str, tuple[str, str]],
) -> pd.DataFrame:
    """Return how near each technique comes to the clean model.

    ``decisions`` have the columns :data:`~benchmark.columns.DECISION_COLUMNS`, with refits; levels are
    paired. ``resampling`` says how splits overlap, and whether a repetition has several. ``refits`` are, by
    name of a baseline, its refits on a bootstrap of the clean and of the biased training rows. A baseline may
    have none.

    The result has the columns :data:`RESTORATION_COLUMNS`, which ``results/README.md`` explains at
    ``restoration.csv``. For each test with decisions at levels above 0, each metric of each technique has a
    row, baselines included and refits not. :data:`SHARES` are ratios of sums (:func:`pooled_shares`).
    ``restoration_distance`` and ``agreement`` are means over repetitions, each of which sums its splits
    first, with Student's interval of single splits.
    """
    cells, measures = measures_of_decisions(decisions[decisions["level"] > 0], resampling)
    refit_of = {refit: baseline for baseline, pair in refits.items() for refit in pair}
    is_refit = cells["technique"].isin(list(refit_of)).to_numpy()
    names = cells["technique"].map(refit_of).where(is_refit, baselines.column(cells))
    cells = cells.assign(baseline=names)
    rows = np.flatnonzero(~is_refit)
    pairs = [refits.get(name, ("", "")) for name in names[rows]]
    clean, biased = (
        positions_in(cells, cells.iloc[rows].assign(technique=[pair[i] for pair in pairs]), DECISION_CELL)
        for i in (0, 1)
    )
    tables = {}
    for name, measure in measures.items():
        value, _, _ = measure.interval(np.arange(len(cells)))
        beyond, low, high = measure.interval(rows, biased)
        tables[name] = _values(measure, cells, rows).assign(
            refit_clean=taken(value, clean),
            refit_biased=taken(value, biased),
            beyond_refit=beyond,
            beyond_refit_low=low,
            beyond_refit_high=high,
        )
    return _by_metric(tables)[list(RESTORATION_COLUMNS)]


def effect_table(
    results: pd.DataFrame,
    baselines: Baselines,
    standing: pd.DataFrame,
    resampling: Resampling | None,
    refits: Mapping[str, tuple[str, str]],
) -> pd.DataFrame:
    r"""Return where the planted bias has changed anything to undo, and which techniques undo it by chance.

    ``results`` have the columns :data:`~benchmark.columns.RESULT_COLUMNS`, with refits, and ``standing`` is
    from :func:`~benchmark.statistics.answers.standings`. The other parameters are those of
    :func:`restoration_table`.

    The result has the columns :data:`EFFECT_COLUMNS`. Where ``technique`` is empty, a row is for a scenario
    of the original test, a level above 0 and a baseline; ``reason`` is

    - :data:`NO_REFERENCE` if the clean model has no results, is degenerate in some repetition, or is less
      accurate than the best constant;
    - :data:`NOTHING_TO_UNDO` if :math:`|\bar D_\beta - \bar D_0|` of the baseline's discriminations is below
      :data:`HARDLY_MOVED`;
    - :data:`NO_EFFECT_SHOWN` if the baseline's ``restoration_distance`` does not exceed that for the refit of
      clean rows, by the interval of the paired difference;
    - else empty.

    Without such a refit, the first two decide alone. The other rows are techniques with :data:`BY_CHANCE`.
    Training again on a bootstrap of the biased rows comes nearer to the clean model as well, by regression to
    the mean. Nothing is known of techniques whose baseline has no such refit. One repetition of one split
    has no interval: there the difference itself counts.
    """
    metrics = [columns.GOAL_METRICS[columns.EQUALIZE], RESTORATION_DISTANCE]
    cells = to_cells(
        results[(results["test"] == columns.ORIGINAL) & results["metric"].isin(metrics)], resampling
    )
    techniques = cells.keys.loc[cells.keys["level"] > 0, list(WHERE)].drop_duplicates()
    techniques = techniques.assign(baseline=baselines.column(techniques))
    techniques = techniques[techniques["baseline"] != ""].reset_index(drop=True)

    table = techniques.drop(columns="technique").drop_duplicates(ignore_index=True)
    biased = table.rename(columns={"baseline": "technique"})
    clean = biased.assign(level=0.0)
    refit = biased.assign(technique=[refits.get(name, ("", ""))[0] for name in table["baseline"]])
    effect, _ = _difference(cells, metrics[0], biased, clean)
    unusable = standing[(standing["n_degenerate"] > 0) | standing["below_constant"]]
    of_clean = taken(cells.values, positions_in(cells.keys, clean.assign(metric=metrics[0]), CELL_KEY))
    reasons = {
        NO_REFERENCE: np.isnan(row_means(of_clean)) | (positions_in(unusable, clean, WHERE) >= 0),
        NOTHING_TO_UNDO: np.abs(effect) < HARDLY_MOVED * (1 - ROUNDING),
        NO_EFFECT_SHOWN: _not_farther(cells, biased, refit),
    }
    names_of_refits = [name for pair in refits.values() for name in pair]
    compared = ~techniques["technique"].isin(names_of_refits)
    compared &= techniques["technique"] != techniques["baseline"]
    refit = techniques.assign(technique=[refits.get(name, ("", ""))[1] for name in techniques["baseline"]])
    by_chance = techniques[compared & _not_farther(cells, refit, techniques)].assign(reason=BY_CHANCE)
    table = table.assign(technique="", reason=first_true(reasons))
    return pd.concat([table, by_chance], ignore_index=True)[list(EFFECT_COLUMNS)]


def _not_farther(cells: Cells, one: pd.DataFrame, other: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which cells are not shown to be farther from the clean model than others."""
    farther, low = _difference(cells, RESTORATION_DISTANCE, one, other)
    # NaN without one of both.
    return np.asarray(np.where(np.isnan(low), farther, low) <= ROUNDING)


def _difference(cells: Cells, metric: str, one: pd.DataFrame, other: pd.DataFrame) -> tuple[Array, Array]:
    """Return the mean paired difference of a metric between two sets of cells, and its interval's low end."""
    first, second = (
        positions_in(cells.keys, frame.assign(metric=metric), CELL_KEY) for frame in (one, other)
    )
    values, parts = (taken(rows, first) - taken(rows, second) for rows in (cells.values, cells.singles))
    mean = row_means(values)
    low, _ = student_intervals(parts, overlap=taken(cells.overlaps, first), estimate=mean)
    return mean, low


def _values(measure: Measure, cells: pd.DataFrame, rows: NDArray[np.intp]) -> pd.DataFrame:
    """Return the given cells with the values of a measure, indexed by cell."""
    value, low, high = measure.interval(rows)
    return cells.iloc[rows].assign(
        n=measure.n[rows], value=value, value_low=low, value_high=high, reason=measure.reasons(rows)
    )


def _by_metric(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the tables of several metrics as one, sorted by cell."""
    together = pd.concat([table.assign(metric=name) for name, table in tables.items()])
    return together.sort_index(kind="stable").reset_index(drop=True)
