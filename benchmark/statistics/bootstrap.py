"""Bootstrap intervals of means and of weighted sums of means, for many rows at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from benchmark.errors import StatisticsError
from benchmark.seeding import generator
from benchmark.statistics.frames import blocks_by_count

__all__ = [
    "CONFIDENCE",
    "N_RESAMPLES",
    "Intervals",
    "check_settings",
    "interval_of_sum",
    "intervals_of_means",
    "resampled_shares",
    "resamples",
]

CONFIDENCE = 0.95
"""Coverage of intervals, unless told otherwise."""

N_RESAMPLES = 9999
"""Number of resamples and of random sign flips, unless told otherwise."""

_ALL_EQUAL = "all values are equal"
_TOO_FEW = "fewer than two values"
_ONE_SIDED = "nearly all resamples lie on one side of the estimate"
# Below this share of the largest deviation two sums are held equal: they differ by rounding only.
_ROUNDING = 1e-12
_ROWS_AT_ONCE = 256  # a matrix of 256 rows and 9,999 resamples takes 20 MB


@dataclass(frozen=True, eq=False)
class Intervals:
    """Intervals of several estimates.

    Parameters
    ----------
    low, high : ndarray of float, shape (n_rows,)
        Ends; NaN where there is no interval.
    method : ndarray of str, shape (n_rows,)
        ``"bca"``, ``"percentile"`` where that is undefined, or empty where there is no interval.
    reason : ndarray of str, shape (n_rows,)
        Why it is not BCa; else empty.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    method: NDArray[np.object_]
    reason: NDArray[np.object_]

    @classmethod
    def none(cls, n_rows: int, reason: str) -> Intervals:
        """Return what stands where there is no interval."""
        nan = np.full(n_rows, np.nan)
        return cls(nan, nan.copy(), np.full(n_rows, "", object), np.full(n_rows, reason, object))

    def place(self, rows: NDArray[np.intp], other: Intervals) -> None:
        """Write other intervals over the given rows of these."""
        for name in ("low", "high", "method", "reason"):
            getattr(self, name)[rows] = getattr(other, name)


def check_settings(confidence: float, n_resamples: int) -> None:
    """Raise :class:`StatisticsError` unless a confidence lies between 0 and 1 and there is a resample."""
    if not 0 < confidence < 1:
        raise StatisticsError(
            "The confidence of intervals is no share",
            expected="a number between 0 and 1",
            got=f"{confidence}",
        )
    if n_resamples < 1:
        raise StatisticsError("There are no resamples", expected="at least 1", got=f"{n_resamples}")


def resamples(n: int, n_resamples: int, seed: int, *, stratum: int = 0) -> NDArray[np.int64]:
    """Return which of n values are drawn into each resample, shape (n_resamples, n).

    They depend on their number, the seed and the stratum alone, so that all rows of n values share them.
    """
    rng = generator(seed, purpose="bootstrap", n=n, stratum=stratum)
    return rng.integers(0, n, size=(n_resamples, n))


def resampled_shares(indices: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the share that each value has in each resample; both of shape (n_resamples, n)."""
    n_resamples, n = indices.shape
    flat = indices + n * np.arange(n_resamples)[:, None]
    counts = np.bincount(flat.ravel(), minlength=n_resamples * n).reshape(n_resamples, n)
    shares: NDArray[np.float64] = counts / n
    return shares


def intervals_of_means(
    values: NDArray[np.float64],
    *,
    confidence: float = CONFIDENCE,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> Intervals:
    """Return the interval of each row's mean.

    Parameters
    ----------
    values : ndarray of float, shape (n_rows, n_repetitions)
        NaN where there is no value.
    confidence : float, default 0.95
        Coverage.
    n_resamples : int, default 9999
        Number of resamples.
    seed : int, default 0
        Decides which.

    Returns
    -------
    Intervals
        As :func:`interval_of_sum` has them; none where there are fewer than two values.
    """
    check_settings(confidence, n_resamples)
    found = Intervals.none(len(values), _TOO_FEW)
    for rows, block in blocks_by_count(values):
        if block.shape[1] < 2:
            continue
        shares = resampled_shares(resamples(block.shape[1], n_resamples, seed))
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            found.place(rows[part], interval_of_sum([block[part]], [1.0], [shares], confidence))
    return found


def interval_of_sum(
    strata: Sequence[NDArray[np.float64]],
    coefficients: Sequence[float],
    shares: Sequence[NDArray[np.float64]],
    confidence: float,
) -> Intervals:
    r"""Return bias-corrected and accelerated intervals of weighted sums of means.

    The estimate is :math:`\sum_s c_s \bar x_s` over independent samples s. With :math:`G` the distribution of
    the resampled estimates, :math:`z_0 = \Phi^{-1}(G(\hat\theta))` where ties count half, and the
    acceleration :math:`a = \sum l^3 / 6 (\sum l^2)^{3/2}` from the influence
    :math:`l_{si} = c_s (x_{si} - \bar x_s) / n_s` of each value, the ends are the quantiles of G at
    :math:`\Phi(z_0 + (z_0 + z) / (1 - a (z_0 + z)))` for the normal quantiles z of the two tails.

    Where all resamples lie on one side of the estimate, or the correction has no value, the plain quantiles
    are taken instead (percentile interval); where all values are equal, that is a point.

    Parameters
    ----------
    strata : sequence of ndarray of float, shape (n_rows, n_s)
        Values of each sample, at least two.
    coefficients : sequence of float
        Weight of each sample's mean.
    shares : sequence of ndarray of float, shape (n_resamples, n_s)
        What :func:`resampled_shares` gives for each sample, drawn independently.
    confidence : float
        Coverage.

    Returns
    -------
    Intervals
        One for each row.

    References
    ----------
    Efron (1987), Better bootstrap confidence intervals, section 6; Efron and Tibshirani (1993), An
    introduction to the bootstrap, equations 14.9 to 14.15; for several samples, their section 14.4.
    """
    n_rows = len(strata[0])
    estimate = np.zeros(n_rows)
    deviation = np.zeros((n_rows, len(shares[0])))
    scale, squares, cubes = np.zeros(n_rows), np.zeros(n_rows), np.zeros(n_rows)
    equal = np.ones(n_rows, dtype=bool)
    for values, coefficient, share in zip(strata, coefficients, shares, strict=True):
        mean = values.mean(axis=1)
        estimate += coefficient * mean
        centred = coefficient * (values - mean[:, None])
        deviation += centred @ share.T
        widest = np.abs(centred).max(axis=1)
        scale += widest
        equal &= widest <= _ROUNDING * np.abs(coefficient * values).max(axis=1)
        influence = centred / values.shape[1]
        squares += (influence**2).sum(axis=1)
        cubes += (influence**3).sum(axis=1)
    tolerance = (_ROUNDING * scale)[:, None]
    below = ((deviation < -tolerance).mean(axis=1) + (deviation <= tolerance).mean(axis=1)) / 2
    tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    with np.errstate(divide="ignore", invalid="ignore"):
        acceleration = cubes / (6 * squares**1.5)
        # Infinite where every resample lies on one side; shape (n_rows, 2), the tails in columns.
        shifted = ndtri(below)[:, None] + ndtri(tails)
        stretch = 1 - acceleration[:, None] * shifted
        corrected = ndtr(ndtri(below)[:, None] + shifted / stretch)
    defined = ~equal & (np.isfinite(corrected) & np.isfinite(shifted) & (stretch > 0)).all(axis=1)
    deviation.sort(axis=1)
    deviation[equal] = 0
    ends = estimate[:, None] + _quantiles(deviation, np.where(defined[:, None], corrected, tails))
    return Intervals(
        ends[:, 0],
        ends[:, 1],
        np.where(defined, "bca", "percentile").astype(object),
        np.where(defined, "", np.where(equal, _ALL_EQUAL, _ONE_SIDED)).astype(object),
    )


def _quantiles(ordered: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return quantiles of each row's sorted values, interpolated linearly; shape that of the shares."""
    position = shares * (ordered.shape[1] - 1)
    left = np.floor(position).astype(np.intp)
    right = np.minimum(left + 1, ordered.shape[1] - 1)
    low, high = np.take_along_axis(ordered, left, axis=1), np.take_along_axis(ordered, right, axis=1)
    quantiles: NDArray[np.float64] = low + (position - left) * (high - low)
    return quantiles
