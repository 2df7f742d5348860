"""Metrics as the planted bias grows: slope, area, and the level where a technique stops helping."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from benchmark.statistics.cells import (
    NO_BASELINE,
    NO_BETTER_VALUE,
    Array,
    Baseline,
    Cells,
    Goal,
    all_equal,
    first_true,
    goal_of,
    known_baselines,
    row_means,
    to_cells,
)
from benchmark.statistics.intervals import CONFIDENCE, student_intervals

LINE = ("dataset", "bias", "technique", "classifier", "test", "metric")
"""Columns that the values over the levels of bias share."""

ROBUSTNESS_COLUMNS = (
    *(*LINE, "n_betas", "n", "slope", "slope_low", "slope_high", "area", "area_low", "area_high", "reason"),
)
"""Columns of :func:`slopes_and_areas`."""

STOPPING_COLUMNS = (*LINE, "baseline", "n_betas", "stops_at", "reason")
"""Columns of :func:`stopping_points`."""


def slopes_and_areas(results: pd.DataFrame | Cells, *, confidence: float = CONFIDENCE) -> pd.DataFrame:
    r"""Return how each metric moves with the level of bias.

    With the value :math:`v_\beta` of a repetition at each level, its *slope* is the slope of the
    least-squares line, :math:`\sum (\beta - \bar\beta) v_\beta / \sum (\beta - \bar\beta)^2`. Its *area* is
    the area under the polygon through the values (trapezoidal rule). Both are linear, so that their means
    over the repetitions are slope and area of the means.

    Columns :data:`ROBUSTNESS_COLUMNS`, which ``results/README.md`` explains at ``robustness.csv``; one row
    for each :data:`LINE`. Slope and area are means over the ``n`` repetitions that have a value at every
    level, with :func:`~benchmark.statistics.intervals.student_intervals`. They are NaN with a reason if there
    are none.

    Samples of different levels are independent, and Welch's interval of a weighted sum of their means would
    have more degrees of freedom. For two or three repetitions it is too wide or too narrow, depending on the
    levels' variances. The interval over repetitions holds for any variances, and for dependent levels.
    """
    cells = to_cells(results)
    rows: list[tuple[object, ...]] = []
    overlaps: list[float] = []
    lines: list[Array] = []  # slope and area of each repetition
    for names, keys in cells.keys.groupby(list(LINE), sort=False):
        betas = keys["beta"].to_numpy(dtype=float)
        values = cells.values[keys.index]
        n_betas, reason = _levels_with_a_value(betas, values)
        if not reason and len(betas) < 2:
            reason = "fewer than two levels of bias"
        weights = np.full((2, len(betas)), np.nan)
        if not reason:
            weights[:] = slope_weights(betas), area_weights(betas)
        # NaN where a level has no value.
        lines.append((weights[:, :, None] * cells.singles[keys.index]).sum(axis=1))
        overlaps.append(cells.overlaps[keys.index[0]])
        rows.append((*names, n_betas, reason))
    table = pd.DataFrame(rows, columns=[*LINE, "n_betas", "reason"])
    slopes, areas = np.stack(lines, axis=1)
    for name, values in (("slope", slopes), ("area", areas)):
        table[name] = row_means(values)
        table[f"{name}_low"], table[f"{name}_high"] = student_intervals(
            values, confidence, np.array(overlaps)
        )
    table["n"] = np.isfinite(slopes).sum(axis=1)
    why = first_true(
        {
            "no repetition has a value at every beta": table["n"] == 0,
            "one repetition has a value at every beta, so there is no interval": table["n"] == 1,
            "all repetitions are equal": all_equal(slopes) & all_equal(areas),
        }
    )
    table["reason"] = table["reason"].mask(table["reason"] == "", why)
    return table[list(ROBUSTNESS_COLUMNS)]


def stopping_points(
    results: pd.DataFrame | Cells, baseline: Baseline, goals: Mapping[str, Goal]
) -> pd.DataFrame:
    """Return the level of bias from which on a technique does not beat another one, the baseline, any more.

    The baseline is as in :func:`~benchmark.statistics.paired.paired_comparisons`. A technique beats it at a
    level if the mean improvement over the repetitions is above 0. It stops at the smallest level from which
    on it beats the baseline at no level of the experiment.

    Columns :data:`STOPPING_COLUMNS`, one row for each dataset, bias, classifier, test, metric and technique
    other than the baseline. ``stops_at`` is that level: the smallest level if the technique never beats the
    baseline, infinite if it does at the greatest level. NaN with a reason where a level has no pairs, or no
    value of the metric is better than another.

    There is no interval; ``docs/statistics.md`` says why.
    """
    cells = to_cells(results)
    names = known_baselines(cells, baseline)
    partner = cells.find(technique=names)
    distances = cells.distances(goals)
    improvement = np.where((partner >= 0)[:, None], distances[partner] - distances, np.nan)
    rows = []
    for line, keys in cells.keys.groupby(list(LINE), sort=False):
        technique, metric = line[LINE.index("technique")], line[-1]
        if technique == (compared := names[keys.index[0]]):
            continue
        betas = keys["beta"].to_numpy(dtype=float)
        n_betas, reason = _levels_with_a_value(betas, improvement[keys.index])
        if (partner[keys.index] < 0).all():
            reason = NO_BASELINE
        elif goal_of(goals, str(metric)).direction == "none":
            reason = NO_BETTER_VALUE
        better = np.flatnonzero(row_means(improvement[keys.index]) > 0)
        first_without = np.append(betas, np.inf)[better[-1] + 1 if len(better) else 0]
        rows.append((*line, compared, n_betas, np.nan if reason else float(first_without), reason))
    return pd.DataFrame(rows, columns=list(STOPPING_COLUMNS))


def _levels_with_a_value(betas: Array, values: Array) -> tuple[int, str]:
    """Return the number of levels of bias with a value, and a reason that names the levels without one."""
    missing = [f"{beta:g}" for beta in betas[~np.isfinite(values).any(axis=1)]]
    return len(betas) - len(missing), f"no value at beta {', '.join(missing)}" if missing else ""


def slope_weights(betas: Array) -> Array:
    """Return the weights of the values at these levels in the slope of the least-squares line."""
    centered = betas - betas.mean()
    return np.asarray(centered / (centered**2).sum())


def area_weights(betas: Array) -> Array:
    """Return the weights of the values at these ascending levels in the area below them."""
    widths = np.diff(betas)
    return np.asarray((np.append(widths, 0) + np.append(0, widths)) / 2)
