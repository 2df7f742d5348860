"""Estimates of findings: means with their intervals, and their texts and marks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from benchmark.statistics.intervals import CONFIDENCE, student_intervals
from benchmark.text.words import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RESAMPLES = 100_000
"""Resamples of repetitions where the end of an interval decides: its Monte Carlo error is about .001."""

Estimate = tuple[float, float, float]
"""A number and the ends of its interval."""


def student_estimate(
    values: NDArray[np.float64], confidence: float = CONFIDENCE, overlap: float = 0.0
) -> Estimate:
    """Return a mean with Student's interval; ``overlap`` is as in ``student_intervals``."""
    [low], [high] = student_intervals(values[None, :], confidence, overlap)
    return float(values.mean()), float(low), float(high)


def two(value: float) -> str:
    """Return a number with two digits, below 1 without the zero before the point."""
    return short(value, 2)


def three(value: float) -> str:
    """Return a number with three digits, below 1 without the zero before the point."""
    return short(value)


def signed(value: float) -> str:
    """Return a number as :func:`three` does, with its sign."""
    return f"{'+' if round(value, 3) > 0 else ''}{three(value)}"


def told(estimate: Estimate, write: Callable[[float], str]) -> str:
    """Return a number with its interval."""
    value, low, high = map(write, estimate)
    return f"{value} [{low}, {high}]"


def draw_estimate(axes: Axes, row: int, estimate: Estimate, color: str) -> None:
    """Draw a dot with its interval in a row of a panel."""
    value, low, high = estimate
    axes.plot([low, high], [row, row], color=color, lw=1.2, zorder=2)
    axes.scatter([value], [row], s=18, color=color, zorder=3)
