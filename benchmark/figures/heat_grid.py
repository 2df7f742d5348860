"""The parts of heat maps: cells with numbers, names of blocks of columns, legends of stepped colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap
from numpy.typing import NDArray

from benchmark.figures.style import SIZES, Page

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE = 1.3 * SIZES["tick"] / 72
"""Height of a line of labels in inches."""

_NUMBER_SIZE = 7.0


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
                axes.text(j, i, text, ha="center", va="center", size=_NUMBER_SIZE, color=color)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def name_block(axes: Axes, name: str, x: float, n_rows: int) -> None:
    """Write the name of a block of columns below the lowest row and the columns' own labels."""
    axes.annotate(
        name,
        (x, n_rows - 0.5),
        xytext=(0, -72 * (LINE + 0.1)),
        textcoords="offset points",
        ha="center",
        va="top",
        size=SIZES["tick"],
    )


def add_step_colorbar(page: Page, norm: BoundaryNorm, colors: ListedColormap) -> None:
    """Add the legend of colours that change at signed bounds, at the right of the panels."""
    height = min(page.grid_top - page.grid_bottom, 3.2)
    axes = page.figure.add_axes(page.place(page.grid_right + 0.16, page.grid_top - height, 0.12, height))
    bar = page.figure.colorbar(ScalarMappable(norm, colors), cax=axes, spacing="uniform")
    bounds = [float(bound) for bound in norm.boundaries]
    bar.set_ticks(bounds, labels=[f"{bound:+g}".replace("-", "\N{MINUS SIGN}") for bound in bounds])
    bar.ax.tick_params(length=0)
    bar.outline.set_visible(False)


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
