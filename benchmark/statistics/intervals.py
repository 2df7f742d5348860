"""Mean, median and bootstrap interval of every metric over the repetitions of a cell."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmark.statistics.bootstrap import CONFIDENCE, N_RESAMPLES, intervals_of_means
from benchmark.statistics.frames import CELL_KEY, blocks_by_count, row_means, to_cells

__all__ = ["INTERVAL_COLUMNS", "cell_intervals"]

INTERVAL_COLUMNS = (
    *CELL_KEY,
    *("n", "missing", "mean", "median", "ci_low", "ci_high", "interval", "reason"),
)
"""Columns of :func:`cell_intervals`."""


def cell_intervals(
    results: pd.DataFrame,
    *,
    confidence: float = CONFIDENCE,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> pd.DataFrame:
    """Summarise each metric of each cell over the repetitions.

    Parameters
    ----------
    results : DataFrame
        Columns :data:`~benchmark.experiment.export.RESULT_COLUMNS`.
    confidence : float, default 0.95
        Coverage of the intervals.
    n_resamples : int, default 9999
        Number of bootstrap resamples; cells with as many values share them.
    seed : int, default 0
        Decides which.

    Returns
    -------
    DataFrame
        Columns :data:`INTERVAL_COLUMNS`, in the order of :class:`~benchmark.statistics.frames.Cells`. ``n``
        counts the finite values, ``missing`` the repetitions of the scenario without one. ``ci_low`` and
        ``ci_high`` are the ends of the mean's interval, ``interval`` is ``bca``, ``percentile`` or empty,
        and ``reason`` says why it is not ``bca``.

    Raises
    ------
    StatisticsError
        If the results are malformed or a setting is impossible.

    References
    ----------
    Efron (1987); see :func:`benchmark.statistics.bootstrap.interval_of_sum`.
    """
    cells = to_cells(results)
    found = intervals_of_means(cells.values, confidence=confidence, n_resamples=n_resamples, seed=seed)
    median = np.full(len(cells.keys), np.nan)
    for rows, block in blocks_by_count(cells.values):
        if block.shape[1]:
            median[rows] = np.median(block, axis=1)
    return cells.keys.assign(
        n=cells.n,
        missing=cells.n_expected - cells.n,
        mean=row_means(cells.values),
        median=median,
        ci_low=found.low,
        ci_high=found.high,
        interval=found.method,
        reason=found.reason,
    )
