"""What becomes of a metric as the planted bias grows: slope, area, and where a technique stops helping."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.statistics.bootstrap import (
    CONFIDENCE,
    N_RESAMPLES,
    Intervals,
    check_settings,
    interval_of_sum,
    resampled_shares,
    resamples,
)
from benchmark.statistics.frames import Cells, Goal, goal_of, require_known, to_cells

__all__ = ["ROBUSTNESS_COLUMNS", "STOPPING_COLUMNS", "slopes_and_areas", "stopping_points"]

_LINE = ("dataset", "bias", "technique", "classifier", "metric")

ROBUSTNESS_COLUMNS = (
    *(*_LINE, "n_betas", "slope", "slope_low", "slope_high", "slope_interval"),
    *("area", "area_low", "area_high", "area_interval", "reason"),
)
"""Columns of :func:`slopes_and_areas`."""

STOPPING_COLUMNS = (
    *(*_LINE, "baseline", "n_betas", "stops_at", "stops_low", "stops_high", "probability", "reason"),
)
"""Columns of :func:`stopping_points`."""


class _Shares:
    """Resamples by number of values and level of bias: each level has samples of its own."""

    def __init__(self, n_resamples: int, seed: int) -> None:
        self._settings = n_resamples, seed
        self._found: dict[tuple[int, int], NDArray[np.float64]] = {}

    def __call__(self, n: int, level: int) -> NDArray[np.float64]:
        if (n, level) not in self._found:
            self._found[n, level] = resampled_shares(resamples(n, *self._settings, stratum=level))
        return self._found[n, level]


def slopes_and_areas(
    results: pd.DataFrame,
    *,
    confidence: float = CONFIDENCE,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> pd.DataFrame:
    r"""Measure how each metric moves with the level of bias.

    With the mean :math:`m_\beta` of the repetitions at each level, the *slope* is that of the least-squares
    line, :math:`\sum (\beta - \bar\beta) m_\beta / \sum (\beta - \bar\beta)^2`, and the *area* is that under
    the polygon through the means (trapezoidal rule).

    Parameters
    ----------
    results : DataFrame
        Columns :data:`~benchmark.experiment.export.RESULT_COLUMNS`.
    confidence : float, default 0.95
        Coverage of the intervals.
    n_resamples : int, default 9999
        Number of bootstrap resamples, which draw repetitions at each level of bias independently: samples of
        different levels have nothing in common.
    seed : int, default 0
        Decides which.

    Returns
    -------
    DataFrame
        Columns :data:`ROBUSTNESS_COLUMNS`, one row for each dataset, bias, technique, classifier and metric.
        ``n_betas`` is the number of levels of bias with a value; slope and area have the metric's unit, and
        are NaN with a reason unless all levels of the scenario have one. Intervals are those of
        :func:`~benchmark.statistics.bootstrap.interval_of_sum`.

    Raises
    ------
    StatisticsError
        If the results are malformed or a setting is impossible.
    """
    check_settings(confidence, n_resamples)
    cells = to_cells(results)
    shares = _Shares(n_resamples, seed)
    rows = []
    for names, own, samples in _lines(cells, cells.values):
        betas = own["beta"].to_numpy(dtype=float)
        n_betas, reason = _coverage(betas, samples)
        row: dict[str, object] = {**names, "n_betas": n_betas, "slope_interval": "", "area_interval": ""}
        if not reason:
            means = np.array([sample.mean() for sample in samples])
            several = all(len(sample) > 1 for sample in samples)
            reason = (
                "" if several else "fewer than two repetitions at a level of bias, so there is no interval"
            )
            for name, weights in (("slope", _slope_weights(betas)), ("area", _area_weights(betas))):
                found = (
                    interval_of_sum(
                        [sample[None] for sample in samples],
                        weights.tolist(),
                        [shares(len(sample), level) for level, sample in enumerate(samples)],
                        confidence,
                    )
                    if several
                    else Intervals.none(1, reason)
                )
                row[name] = weights @ means
                row[f"{name}_low"], row[f"{name}_high"] = found.low[0], found.high[0]
                row[f"{name}_interval"] = found.method[0]
                reason = reason or found.reason[0]
        rows.append({**row, "reason": reason})
    return pd.DataFrame(rows, columns=list(ROBUSTNESS_COLUMNS))


def stopping_points(
    results: pd.DataFrame,
    baseline: str,
    goals: Mapping[str, Goal],
    *,
    confidence: float = CONFIDENCE,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> pd.DataFrame:
    """Find the level of bias from which on a technique does not beat the baseline any more.

    A technique beats the baseline at a level if the mean improvement over the repetitions
    (:func:`~benchmark.statistics.paired.paired_comparisons`) is above 0. It stops at the smallest level at
    which, and at all greater levels of the experiment, it does not.

    Parameters
    ----------
    results, baseline, goals
        As in :func:`~benchmark.statistics.paired.paired_comparisons`.
    confidence, n_resamples, seed
        As in :func:`slopes_and_areas`; what is resampled are pairs.

    Returns
    -------
    DataFrame
        Columns :data:`STOPPING_COLUMNS`, one row for each dataset, bias, classifier, metric and technique
        other than the baseline. ``stops_at`` is that level: the smallest one if the technique never beats the
        baseline, infinite if it does at the greatest one, so that where it stops is beyond the experiment.
        ``probability`` is the share of resamples that stop at the same level; ``stops_low`` and
        ``stops_high`` are levels between which at least the share ``confidence`` of them stops, with at most
        half of the rest on either side. NaN with a reason where a level has no pairs, or the metric no better
        values; no probability and no interval where a level has fewer than two pairs.

    Raises
    ------
    StatisticsError, UnknownNameError
        As in :func:`~benchmark.statistics.paired.paired_comparisons`.
    """
    check_settings(confidence, n_resamples)
    cells = to_cells(results)
    require_known("technique", [baseline], cells.keys["technique"])
    partner = cells.find(technique=baseline)
    distances = cells.distances(goals)
    improvement = np.where((partner >= 0)[:, None], distances[partner] - distances, np.nan)
    shares = _Shares(n_resamples, seed)
    rows = []
    for names, own, samples in _lines(cells, improvement):
        if names["technique"] == baseline:
            continue
        betas = own["beta"].to_numpy(dtype=float)
        n_betas, reason = _coverage(betas, samples, least=1)
        if (partner[own.index] < 0).all():
            reason = "the baseline has no results here"
        elif goal_of(goals, str(names["metric"])).direction == "none":
            reason = "no value of the metric is better than another"
        row: dict[str, object] = {**names, "baseline": baseline, "n_betas": n_betas}
        if not reason:
            stops_at = _stops_at(betas, np.array([[sample.mean() for sample in samples]]))[0]
            row["stops_at"] = stops_at
            if any(len(sample) < 2 for sample in samples):
                reason = "fewer than two pairs at a level of bias, so there is no interval"
            else:
                means = [shares(len(sample), level) @ sample for level, sample in enumerate(samples)]
                resampled = _stops_at(betas, np.stack(means, axis=1))
                tails = [(1 - confidence) / 2, (1 + confidence) / 2]
                # A level between two of the experiment would claim a precision that there is not.
                row["stops_low"] = np.quantile(resampled, tails[0], method="inverted_cdf")
                row["stops_high"] = np.quantile(resampled, tails[1], method="inverted_cdf")
                row["probability"] = (resampled == stops_at).mean()
        rows.append({**row, "reason": reason})
    return pd.DataFrame(rows, columns=list(STOPPING_COLUMNS))


def _lines(
    cells: Cells, values: NDArray[np.float64]
) -> list[tuple[dict[str, object], pd.DataFrame, list[NDArray[np.float64]]]]:
    """Return for each line over the levels of bias its name, its keys, and the finite values at each."""
    lines = []
    for names, own in cells.keys.groupby(list(_LINE), sort=False):
        samples = [row[np.isfinite(row)] for row in values[own.index]]
        lines.append((dict(zip(_LINE, names, strict=True)), own, samples))
    return lines


def _coverage(
    betas: NDArray[np.float64], samples: list[NDArray[np.float64]], *, least: int = 2
) -> tuple[int, str]:
    """Return how many levels of bias have a value, and why that is not enough."""
    missing = [f"{beta:g}" for beta, sample in zip(betas, samples, strict=True) if not len(sample)]
    n_betas = len(betas) - len(missing)
    if missing:
        return n_betas, f"no value at beta {', '.join(missing)}"
    return n_betas, "fewer than two levels of bias" if n_betas < least else ""


def _slope_weights(betas: NDArray[np.float64]) -> NDArray[np.float64]:
    centred = betas - betas.mean()
    weights: NDArray[np.float64] = centred / (centred**2).sum()
    return weights


def _area_weights(betas: NDArray[np.float64]) -> NDArray[np.float64]:
    widths = np.diff(betas)
    weights: NDArray[np.float64] = (np.append(widths, 0) + np.append(0, widths)) / 2
    return weights


def _stops_at(betas: NDArray[np.float64], improvements: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the level of bias from which on no improvement is above 0, shape (n_rows,)."""
    # The number of levels at the end, one after the other, at which it does not beat the baseline.
    beaten = (improvements <= 0)[:, ::-1]
    n_last = np.minimum.accumulate(beaten, axis=1).sum(axis=1)
    levels: NDArray[np.float64] = np.append(betas, np.inf)[len(betas) - n_last]
    return levels
