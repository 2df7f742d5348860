"""Estimates of findings: means with their intervals, and their texts and marks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from benchmark.statistics.cells import Array, row_means
from benchmark.statistics.intervals import CONFIDENCE, student_intervals
from benchmark.text.words import short
from studies.agreement import resamples_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RESAMPLES = 100_000
"""Resamples of repetitions where the end of an interval decides: its Monte Carlo error is about .001."""

_COUNTED = 400_000

Estimate = tuple[float, float, float]
"""A number and the ends of its interval."""


def student_estimate(values: NDArray[np.float64], overlap: float = 0.0) -> Estimate:
    """Return a mean with Student's interval of 95 %; ``overlap`` is as in ``student_intervals``."""
    [low], [high] = student_intervals(values[None, :], overlap=overlap)
    return float(values.mean()), float(low), float(high)


def ratio_intervals(upper: Array, lower: Array, overlap: Array | float = 0.0) -> tuple[Array, Array, Array]:
    r"""Return the ratio of two means in each row, and the ends of its interval of 95 %, by Fieller.

    Values have shape (n_rows, n_repetitions), and repetitions that have both count. The interval holds each
    ratio :math:`\rho` for which the upper mean minus :math:`\rho` times the lower mean does not differ
    significantly from 0. Its ends are NaN where the lower mean may be 0. ``overlap`` is as in
    ``student_intervals``. Fieller (1954), Some problems in interval estimation.
    """
    upper, lower = (np.where(np.isfinite(upper) & np.isfinite(lower), own, np.nan) for own in (upper, lower))
    n = np.isfinite(upper).sum(axis=1)
    means = row_means(upper), row_means(lower)
    off = [np.nan_to_num(own - mean[:, None]) for own, mean in zip((upper, lower), means, strict=True)]
    with np.errstate(divide="ignore", invalid="ignore"):
        square = stdtrit(np.maximum(n - 1.0, 1.0), (1 + CONFIDENCE) / 2) ** 2
        # One repetition has no spread, but 0 / 0 may give a number.
        factor = np.where(n > 1, square * (1 / n + overlap) / (n - 1.0), np.nan)
        c, b, a = (
            means[i] * means[j] - factor * (off[i] * off[j]).sum(axis=1) for i, j in ((0, 0), (0, 1), (1, 1))
        )
        root = np.sqrt(np.maximum(b**2 - a * c, 0))
        low, high = (np.where(a > 0, (b + sign * root) / a, np.nan) for sign in (-1, 1))
        return means[0] / means[1], low, high


def resampled(
    own: NDArray[np.float64], statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> tuple[float, float]:
    """Return the percentiles 2.5 and 97.5 of a statistic over resamples of the last axis of some values.

    ``statistic`` takes sums over resamples. All resamples of up to eleven values are counted. Of more,
    :data:`RESAMPLES` are drawn.
    """
    n = own.shape[-1]
    most = _COUNTED if math.comb(2 * n - 1, n) <= _COUNTED else RESAMPLES
    counts, chances = resamples_of(n, most)
    values = statistic(own @ counts.T)
    order = np.argsort(values, kind="stable")
    ends = np.searchsorted(np.cumsum(chances[order]), [0.025, 0.975])
    low, high = values[order[ends]]
    return float(low), float(high)


def two(value: float) -> str:
    """Return a number with two digits, as :func:`three` does."""
    return _signed(value, 2)


def three(value: float) -> str:
    """Return a number with three digits, below 1 without the zero before the point.

    A number below 0 keeps its sign if it rounds to 0: the end of an interval shows its side.
    """
    return _signed(value, 3)


def _signed(value: float, digits: int) -> str:
    text = short(value, digits)
    return f"-{text}" if value < 0 and not text.startswith("-") else text


def signed(value: float) -> str:
    """Return a number as :func:`three` does, with its sign."""
    return f"{'+' if value > 0 else ''}{three(value)}"


def told(estimate: Estimate, write: Callable[[float], str]) -> str:
    """Return a number with its interval."""
    value, low, high = map(write, estimate)
    return f"{value} [{low}, {high}]"


def draw_estimate(axes: Axes, row: int, estimate: Estimate, color: str) -> None:
    """Draw a dot with its interval in a row of a panel."""
    value, low, high = estimate
    axes.plot([low, high], [row, row], color=color, lw=1.2, zorder=2)
    axes.scatter([value], [row], s=18, color=color, zorder=3)
