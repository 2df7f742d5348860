"""How near techniques come to the model without planted bias, and which difference they remove.

:mod:`benchmark.statistics.decisions` defines the shares of people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.columns import EQUALISE, GOAL_METRICS, ORIGINAL
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
    row_means,
    to_cells,
)
from benchmark.statistics.decisions import (
    DECISION_CELL,
    RESTORATION_DISTANCE,
    SHARES,
    TOO_FEW_SPLITS,
    Measure,
    mean_of_repetitions,
    measures_of_decisions,
    taken,
)
from benchmark.statistics.intervals import CONFIDENCE, student_intervals
from benchmark.statistics.ratio import Ratio

HARDLY_MOVED = 0.02
"""Change in a model's discrimination below which there is nothing to undo."""

ORIGINAL_REMOVED, PLANTED_REMOVED = "original_removed", "planted_removed"
"""Metrics: the discrimination that a technique removes, of the original part and of the planted part."""

ORIGINAL_SHARE, PLANTED_SHARE = "original_share", "planted_share"
"""The same removals as shares of what there is."""

RESTORATION_COLUMNS = (
    *(*SCENARIO, "beta", "technique", "baseline", "metric", "n", "value", "value_low", "value_high"),
    *("refit_clean", "refit_biased", "beyond_refit", "beyond_refit_low", "beyond_refit_high", "reason"),
)
"""Columns of :func:`restoration_table`."""

SHARE_COLUMNS = (*CELL_KEY, "n", "value", "low", "high", "reason")
"""Columns of :func:`pooled_shares`."""

UNDO_COLUMNS = (*SCENARIO, "beta", "baseline", "technique", "undo")
"""Columns of :func:`undo_table` and :func:`chance_table`."""

NO_REFERENCE, NOTHING_TO_UNDO, NO_EFFECT_SHOWN = "no_reference", "nothing_to_undo", "no_effect_shown"
"""Reasons for not ranking techniques by how near they come to the clean model.

The clean model is useless. The bias hardly moves the baseline. Or it is not shown to move the baseline's
decisions farther than training again on clean rows does.
"""

BY_CHANCE = "by_chance"
"""Reason for not naming a technique: it is not shown to come nearer than a refit of the biased rows."""

REVERSED = "reversed"
"""Note beside a share of the original difference whose sign the technique turns without planted bias."""

NOTHING_PLANTED, NO_ORIGINAL, _NO_PAIRS = "nothing_planted", "no_original", "no_pairs"


def pooled_shares(
    decisions: pd.DataFrame, resampling: Resampling | None, *, confidence: float = CONFIDENCE
) -> pd.DataFrame:
    """Return the shares of people of each cell, summed over its folds and repetitions.

    ``decisions`` have the columns :data:`~benchmark.columns.DECISION_COLUMNS`. ``resampling`` says how splits
    overlap; if it has folds, they are the splits, else repetitions are. The result has the columns
    :data:`SHARE_COLUMNS` and a row for each cell and each of :data:`SHARES`. ``value`` is NaN below
    :data:`LEAST_PEOPLE` people, and ``reason`` explains a missing value or interval.
    """
    cells, measures = measures_of_decisions(decisions, resampling, confidence)
    rows = np.arange(len(cells))
    table = _by_metric({name: _values(measures[name], cells, rows) for name in SHARES})
    names = {"value_low": "low", "value_high": "high"}
    return table.rename(columns=names)[list(SHARE_COLUMNS)]


def restoration_table(
    decisions: pd.DataFrame,
    results: pd.DataFrame,
    baselines: Baselines,
    resampling: Resampling | None,
    refits: Mapping[str, tuple[str, str]],
    *,
    confidence: float = CONFIDENCE,
) -> pd.DataFrame:
    r"""Return how near each technique comes to the clean model, and which difference it removes.

    ``decisions`` and ``results`` have the columns :data:`~benchmark.columns.DECISION_COLUMNS` and
    :data:`~benchmark.columns.RESULT_COLUMNS`, both with refits; levels are paired. ``resampling`` says how
    splits overlap; if it has folds, they are the splits, else repetitions are. ``refits`` are, by name of a
    baseline, its refits on a bootstrap of the clean and of the biased training rows. A baseline may have
    none.

    The result has the columns :data:`RESTORATION_COLUMNS`, which ``results/README.md`` explains at
    ``restoration.csv``. For each test with decisions at levels above 0, each metric of each technique has a
    row, baselines included and refits not. :data:`SHARES` are ratios of sums (:func:`pooled_shares`).
    ``restoration_distance`` and ``agreement`` are means over repetitions, each of which sums its folds first,
    with Student's interval of single splits.

    :math:`D` and :math:`T` are the signed discriminations of the baseline and of the technique.
    ``original_removed`` is the mean of :math:`D_0 - T_0`, and ``planted_removed`` is the mean of
    :math:`(D_\beta - D_0) - (T_\beta - T_0)`. Their sum is the mean of :math:`D_\beta - T_\beta`.
    ``original_share`` and ``planted_share`` are their shares of :math:`D_0` and of :math:`D_\beta - D_0`.
    They are ratios of sums with the interval of :meth:`Ratio.interval` (Fieller, 1954), undefined where the
    denominator's interval holds 0. The four are left out where ``results`` have no discrimination.
    """
    cells, people = measures_of_decisions(decisions[decisions["beta"] > 0], resampling, confidence)
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
    for name, measure in {**people, **_of_discrimination(cells, results, resampling, confidence)}.items():
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


def undo_table(
    results: pd.DataFrame,
    baselines: Baselines,
    standing: pd.DataFrame,
    resampling: Resampling | None,
    refits: Mapping[str, tuple[str, str]],
    *,
    least: float = HARDLY_MOVED,
    confidence: float = CONFIDENCE,
) -> pd.DataFrame:
    r"""Return where the planted bias has changed anything that a technique could undo.

    ``standing`` is from :func:`~benchmark.statistics.answers.standings`, and ``least`` is the mean change of
    the baseline's discrimination below which there is nothing to undo. The other parameters are those of
    :func:`restoration_table`.

    The result has the columns :data:`UNDO_COLUMNS`, and a row for each scenario of the original test, level
    above 0 and baseline; ``technique`` is empty. ``undo`` is

    - :data:`NO_REFERENCE` if the clean model has no results, is degenerate in some repetition, or is less
      accurate than the best constant;
    - :data:`NOTHING_TO_UNDO` if :math:`|\bar D_\beta - \bar D_0|` is below ``least``;
    - :data:`NO_EFFECT_SHOWN` if the baseline's ``restoration_distance`` does not exceed that for the refit of
      clean rows, by the interval of the paired difference;
    - else empty.

    One repetition without folds has no interval: there the difference itself counts. Without such a refit,
    ``least`` alone decides.
    """
    metrics = [GOAL_METRICS[EQUALISE], RESTORATION_DISTANCE]
    cells, techniques = _compared(results, metrics, baselines, resampling)
    table = techniques.drop(columns="technique").drop_duplicates(ignore_index=True)
    biased = table.rename(columns={"baseline": "technique"})
    clean = biased.assign(beta=0.0)
    refit = biased.assign(technique=[refits.get(name, ("", ""))[0] for name in table["baseline"]])

    moved, _ = _difference(cells, metrics[0], biased, clean, confidence)
    farther, low = _difference(cells, metrics[1], biased, refit, confidence)
    useless = standing[(standing["n_degenerate"] > 0) | standing["below_constant"]]
    of_clean = taken(cells.values, positions_in(cells.keys, clean.assign(metric=metrics[0]), CELL_KEY))
    no_reference = np.isnan(row_means(of_clean)) | (positions_in(useless, clean, WHERE) >= 0)
    reasons = {
        NO_REFERENCE: no_reference,
        NOTHING_TO_UNDO: np.abs(moved) < least * (1 - ROUNDING),
        NO_EFFECT_SHOWN: np.where(np.isnan(low), farther, low) <= ROUNDING,
    }
    return table.assign(technique="", undo=first_true(reasons))[list(UNDO_COLUMNS)]


def chance_table(
    results: pd.DataFrame,
    baselines: Baselines,
    resampling: Resampling | None,
    refits: Mapping[str, tuple[str, str]],
    *,
    confidence: float = CONFIDENCE,
) -> pd.DataFrame:
    """Return the techniques that are not shown to come nearer to the clean model than chance does.

    Training again on a bootstrap of the biased rows comes nearer as well, by regression to the mean. A
    technique is shown to come nearer than such a refit if the interval of the paired difference of their
    ``restoration_distance`` lies above 0. One repetition without folds has no interval: there the difference
    itself counts. If a baseline has no refit, nothing is known about its techniques.

    Parameters are as in :func:`undo_table`. The result has the columns :data:`UNDO_COLUMNS`, and a row for
    each such technique on the original test, at a level above 0; ``undo`` is :data:`BY_CHANCE`.
    """
    cells, techniques = _compared(results, [RESTORATION_DISTANCE], baselines, resampling)
    is_technique = ~techniques["technique"].isin([name for pair in refits.values() for name in pair])
    table = techniques[is_technique & (techniques["technique"] != techniques["baseline"])].drop_duplicates()
    refit = table.assign(technique=[refits.get(name, ("", ""))[1] for name in table["baseline"]])
    farther, low = _difference(cells, RESTORATION_DISTANCE, refit, table, confidence)
    by_chance = np.where(np.isnan(low), farther, low) <= ROUNDING  # NaN without a refit or a value
    return table[by_chance].assign(undo=BY_CHANCE)[list(UNDO_COLUMNS)].reset_index(drop=True)


def _compared(
    results: pd.DataFrame, metrics: Sequence[str], baselines: Baselines, resampling: Resampling | None
) -> tuple[Cells, pd.DataFrame]:
    """Return cells of the original test, and techniques with a baseline at levels above 0."""
    cells = to_cells(results[(results["test"] == ORIGINAL) & results["metric"].isin(metrics)], resampling)
    techniques = cells.keys.loc[cells.keys["beta"] > 0, list(WHERE)]
    techniques = techniques.assign(baseline=baselines.column(techniques))
    return cells, techniques[techniques["baseline"] != ""]


def _difference(
    cells: Cells, metric: str, one: pd.DataFrame, other: pd.DataFrame, confidence: float
) -> tuple[Array, Array]:
    """Return the mean paired difference of a metric between two sets of cells, and its interval's low end."""
    first, second = (
        positions_in(cells.keys, frame.assign(metric=metric), CELL_KEY) for frame in (one, other)
    )
    values, parts = (taken(rows, first) - taken(rows, second) for rows in (cells.values, cells.singles))
    mean = row_means(values)
    low, _ = student_intervals(parts, confidence, taken(cells.overlaps, first), mean)
    return mean, low


@dataclass(frozen=True, eq=False)
class _ShareOfDifference:
    """The share of the baseline's difference that each technique removes, by repetition and by split."""

    removed: tuple[Array, Array]
    of: tuple[Array, Array]
    n: NDArray[np.int64]
    overlap: Array
    confidence: float
    undefined: str
    reverses: NDArray[np.bool_]

    def interval(
        self, rows: NDArray[np.intp], others: NDArray[np.intp] | None = None
    ) -> tuple[Array, Array, Array]:
        """Return shares and the ends of Fieller's intervals; parameters as in :class:`Measure`."""
        removed = [taken(values, rows) for values in self.removed]
        if others is not None:
            compared = [taken(values, others) for values in self.removed]
            removed = [a - b for a, b in zip(removed, compared, strict=True)]
        shares, by_split = (
            Ratio.of(upper, taken(lower, rows), overlap=self.overlap[rows])
            for upper, lower in zip(removed, self.of, strict=True)
        )
        ends = by_split.lower_interval(self.confidence)
        sure = (ends[0] > ROUNDING) | (ends[1] < -ROUNDING)
        low, high = by_split.interval(self.confidence)
        value, low, high = np.where(sure, [shares.value, low, high], np.nan)
        return value, low, high

    def reasons(self, rows: NDArray[np.intp]) -> NDArray[np.str_]:
        """Return the reasons why cells have no share, or a note that the technique turns the sign."""
        value, _, _ = self.interval(rows)
        splits = np.isfinite(self.removed[1][rows]).sum(axis=1)
        none = np.isnan(value)
        return first_true(
            {
                _NO_PAIRS: self.n[rows] == 0,
                TOO_FEW_SPLITS: none & (splits < 2),
                self.undefined: none,
                REVERSED: self.reverses[rows],
            }
        )


def _of_discrimination(
    cells: pd.DataFrame, results: pd.DataFrame, resampling: Resampling | None, confidence: float
) -> dict[str, Measure | _ShareOfDifference]:
    """Return measures of the baseline's discrimination that each cell removes."""
    metric = GOAL_METRICS[EQUALISE]
    signed = results[(results["metric"] == metric) & results["test"].isin(cells["test"])]
    if signed.empty:
        return {}
    values_of = to_cells(signed, resampling)
    keys = cells.assign(metric=metric)
    rows = [
        positions_in(values_of.keys, keys.assign(technique=technique, beta=level), CELL_KEY)
        for technique in (keys["baseline"], keys["technique"])
        for level in (0.0, keys["beta"])
    ]
    removed, differences = [], []
    for values in (values_of.values, values_of.singles):
        # A split counts where all four are present, so that both parts sum to the whole removal.
        four = np.stack([taken(values, positions) for positions in rows])
        before, at_level, rest, rest_at_level = np.where(np.isnan(four).any(axis=0), np.nan, four)
        planted = at_level - before
        removed.append((before - rest, planted - (rest_at_level - rest)))
        differences.append((before, planted))
    # By repetition and by split, of the original difference and then of the planted one.
    removals, wholes = list(zip(*removed, strict=True)), list(zip(*differences, strict=True))
    n = np.isfinite(removals[0][0]).sum(axis=1)
    overlap = np.nan_to_num(taken(values_of.overlaps, rows[3]))
    before, gone = wholes[0][0], removals[0][0]
    turned = row_means(before) * row_means(before - gone) < 0
    measures: dict[str, Measure | _ShareOfDifference] = {
        name: Measure(mean_of_repetitions, arrays, n, overlap, confidence, _NO_PAIRS)
        for name, arrays in zip((ORIGINAL_REMOVED, PLANTED_REMOVED), removals, strict=True)
    }
    for name, removal, whole, undefined, reverses in (
        (ORIGINAL_SHARE, removals[0], wholes[0], NO_ORIGINAL, turned),
        (PLANTED_SHARE, removals[1], wholes[1], NOTHING_PLANTED, np.zeros(len(cells), dtype=bool)),
    ):
        measures[name] = _ShareOfDifference(removal, whole, n, overlap, confidence, undefined, reverses)
    return measures


def _values(
    measure: Measure | _ShareOfDifference, cells: pd.DataFrame, rows: NDArray[np.intp]
) -> pd.DataFrame:
    """Return the given cells with the values of a measure, indexed by cell."""
    value, low, high = measure.interval(rows)
    return cells.iloc[rows].assign(
        n=measure.n[rows], value=value, value_low=low, value_high=high, reason=measure.reasons(rows)
    )


def _by_metric(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the tables of several metrics as one, sorted by cell."""
    together = pd.concat([table.assign(metric=name) for name, table in tables.items()])
    return together.sort_index(kind="stable").reset_index(drop=True)
