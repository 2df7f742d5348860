"""Figures: functions from a run's numbers to a matplotlib figure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Drawing: TypeAlias = "tuple[str, Callable[[], Figure]]"
"""The name of a figure's files without their ending, and the function that draws it."""
