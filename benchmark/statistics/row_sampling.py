"""Variation of a metric with the test rows, which intervals over training samples leave out."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from benchmark.statistics.cells import CELL_KEY, Array
from benchmark.statistics.intervals import CONFIDENCE

ROW_COLUMNS = (*CELL_KEY, "sd_test_rows")
"""Columns of a frame of :func:`row_deviations`."""

_STEP = 0.5  # rows
_MANY = 1e9  # degrees of freedom: as good as a normal distribution


def row_deviations(counts: NDArray[np.float64], evaluate: Callable[[Array], Array]) -> Array:
    r"""Return the standard deviation of metrics if as many test rows were drawn again.

    Rows are drawn with replacement, so that counts are multinomial. ``counts``, shape (n_groups, 2, 2), are
    by group, label and prediction, and :math:`p_c` are their shares. The derivatives :math:`g_c` of a metric
    by the counts are found by shifting each count by half a row. The variance belongs to the metric's linear
    approximation,

    .. math:: n \Bigl(\sum_c p_c\, g_c^2 - \bigl(\sum_c p_c\, g_c\bigr)^2\Bigr)

    with n the number of rows. ``evaluate`` turns counts into metrics, shape (n_metrics,). The deviations have
    the same shape, and are NaN where a metric is undefined near the counts.

    Notes
    -----
    For the mean of several models on the same rows, pass mean counts. This assumes that the models agree
    about every row. If they do not, part of the noise averages out, and the deviation is too large. The mean
    answer about a row varies less than a single answer.
    """
    n = counts.sum()
    squares, means = 0.0, 0.0
    for cell in np.argwhere(counts > 0):
        position = tuple(cell)
        step = min(_STEP, counts[position] / 2)
        ends = []
        for sign in (-1, 1):
            moved = counts.copy()
            moved[position] += sign * step
            ends.append(evaluate(moved))
        slope = (ends[1] - ends[0]) / (2 * step)
        share = counts[position] / n
        squares, means = squares + share * slope**2, means + share * slope
    return np.asarray(np.sqrt(np.maximum(n * (squares - np.square(means)), 0)))


def with_test_rows(intervals: pd.DataFrame, deviations: pd.DataFrame | None) -> pd.DataFrame:
    r"""Return intervals over training samples with intervals that hold the variation of test rows as well.

    ``intervals`` are from :func:`~benchmark.statistics.cell_intervals`. ``deviations`` have the columns
    :data:`ROW_COLUMNS`; None means that they are unknown. New columns are ``sd_test_rows``, ``both_low`` and
    ``both_high``; NaN where the deviation or the interval is missing.

    All repetitions are scored on the same test rows, so that their noise does not average out. The variance
    of the mean is :math:`s^2 / R` over R repetitions plus the variance from the test rows. The degrees of
    freedom are Welch and Satterthwaite's, with none lost for the test rows.
    """
    key = list(CELL_KEY)
    if deviations is None:
        table = intervals.assign(sd_test_rows=np.nan)
    else:
        table = intervals.join(deviations.set_index(key)["sd_test_rows"], on=key)
    half = ((table["ci_high"] - table["ci_low"]) / 2).to_numpy()
    mean, n = table["mean"].to_numpy(), table["n"].to_numpy()
    low, high = widened(mean, half, n, table["sd_test_rows"].to_numpy())
    return table.assign(both_low=low, both_high=high)


def widened(mean: Array, half: Array, n: NDArray[np.int64], deviations: Array) -> tuple[Array, Array]:
    """Return the ends of intervals that hold the variation of test rows and of n repetitions.

    ``half`` are half the widths of Student's intervals, ``deviations`` are :func:`row_deviations`.
    """
    level = (1 + CONFIDENCE) / 2
    df = np.where(n > 1, n - 1.0, np.nan)
    training = (half / stdtrit(df, level)) ** 2
    both = training + deviations**2
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.where(training > 0, df * (both / training) ** 2, _MANY + 0 * df)
    ends = stdtrit(np.minimum(df, _MANY), level) * np.sqrt(both)
    return mean - ends, mean + ends
