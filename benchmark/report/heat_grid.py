"""The cells of a heat map: colours, and a number in each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["NUMBER_SIZE", "draw_cells", "short_number"]

NUMBER_SIZE = 7.0
"""Size of the numbers in points."""


def draw_cells(axes: Axes, colors: NDArray[np.float64], texts: Sequence[Sequence[str]]) -> None:
    """Fill a panel with coloured cells, each with its text in black or white, whichever is readable.

    Parameters
    ----------
    axes : Axes
        Gets a column and a row per cell, the first row on top.
    colors : ndarray of float, shape (n_rows, n_columns, 4)
        Red, green, blue and opacity.
    texts : sequence of sequence of str, shape (n_rows, n_columns)
        Nothing is written where it is empty.
    """
    n_rows, n_columns = colors.shape[:2]
    x, y = np.arange(n_columns + 1) - 0.5, np.arange(n_rows + 1) - 0.5
    axes.pcolormesh(x, y, colors, edgecolors="white", linewidth=0.6)
    dark = colors[..., :3] @ np.array([0.2126, 0.7152, 0.0722]) < 0.45
    for i, row in enumerate(texts):
        for j, text in enumerate(row):
            if text:
                color = "white" if dark[i, j] else "black"
                axes.text(j, i, text, ha="center", va="center", size=NUMBER_SIZE, color=color)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def short_number(value: float, *, signed: bool = False) -> str:
    """Return a number of three decimals without the zero before the point: it has to fit its cell."""
    if abs(value) >= 10:
        text = f"{value:+.3g}" if signed else f"{value:.3g}"
    else:
        text = f"{value:+.3f}" if signed else f"{value:.3f}"
    if float(text) == 0:
        return ".000"
    for zero, nothing in (("+0.", "+."), ("-0.", "-."), ("0.", ".")):
        if text.startswith(zero):
            text = nothing + text[len(zero) :]
            break
    return text.replace("-", "\N{MINUS SIGN}")
