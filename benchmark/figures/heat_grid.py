"""The parts of heat maps: cells with numbers, names of blocks of columns, legends of stepped colors."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Sequence
from itertools import groupby
from typing import Generic, TypeVar

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap
from numpy.typing import NDArray

from benchmark.figures.page import Page
from benchmark.figures.style import LINE, SIZES, Look, text_width, wrap

Key = TypeVar("Key", bound=Hashable)

MINUS = "\N{MINUS SIGN}"


class StepColors:
    """Colors that change at the same steps on either side of 0, with their legend."""

    def __init__(self, steps: Sequence[float], colormap: str, edge: float) -> None:
        bounds = [*(-step for step in reversed(steps)), *steps]
        steps_of_color = colormaps[colormap](np.linspace(edge, 1 - edge, len(bounds) + 1))
        self._colors = ListedColormap(steps_of_color).with_extremes(bad="white")
        self._norm = BoundaryNorm(bounds, self._colors.N, extend="both")

    def __call__(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return red, green, blue and opacity of numbers as one more dimension; NaN is white."""
        return np.asarray(self._colors(self._norm(np.ma.masked_invalid(values))))

    def add_legend(self, page: Page) -> None:
        """Add a colorbar beside the panels."""
        bar = page.add_colorbar(ScalarMappable(self._norm, self._colors), spacing="uniform")
        bounds = [float(bound) for bound in self._norm.boundaries]
        bar.set_ticks(bounds, labels=[f"{bound:+g}".replace("-", MINUS) for bound in bounds])
        bar.ax.tick_params(length=0, rotation=90 if bar.orientation == "horizontal" else 0)


class Columns(Generic[Key]):
    """Columns of a heat map: levels of bias, and below each block of equal keys its name.

    ``width`` is a column's width in inches; names are wrapped to the widths of their blocks.
    """

    def __init__(
        self, columns: Sequence[tuple[Key, float]], name: Callable[[Key], str], width: float
    ) -> None:
        self._betas = [f"{beta:g}" for _, beta in columns]
        groups = groupby(range(len(columns)), lambda i: columns[i][0])
        blocks = [(key, list(positions)) for key, positions in groups]
        self.blocks = [(key, positions[0], positions[-1]) for key, positions in blocks]
        # Texts of narrow columns stand upright.
        levels = max((text_width(beta, SIZES["tick"]) for beta in self._betas), default=0.0)
        self._upright, self._below = levels > 0.9 * width, LINE
        if self._upright:
            step = math.ceil(LINE / width)  # levels of columns that are narrower than a line are skipped
            self._betas = [beta if i % step == 0 else "" for i, beta in enumerate(self._betas)]
            width, self._below = 2.0, levels
        self._names = [wrap(name(key), len(positions) * width) for key, positions in blocks]

    def write(self, axes: Axes, n_rows: int) -> None:
        """Write levels and names below the lowest row of a panel, and draw lines between the blocks."""
        axes.set_xlim(-0.5, len(self._betas) - 0.5)
        turn = 90 if self._upright else 0
        axes.set_xticks(range(len(self._betas)), labels=self._betas, rotation=turn)
        for lines, (_, first, last) in zip(self._names, self.blocks, strict=True):
            axes.annotate(
                "\n".join(lines),
                ((first + last) / 2, n_rows - 0.5),
                xytext=(0, -72 * (self._below + 0.1)),
                rotation=turn,
                textcoords="offset points",
                ha="center",
                va="top",
                size=SIZES["tick"],
            )
            if first:
                axes.axvline(first - 0.5, color="black", lw=0.8)


def draw_cells(axes: Axes, colors: NDArray[np.float64], texts: Sequence[Sequence[str]]) -> None:
    """Fill a panel with colored cells, the first row on top, each with its text in readable black or white.

    Colors are red, green, blue and opacity: shape (n_rows, n_columns, 4).
    """
    n_rows, n_columns = colors.shape[:2]
    x, y = np.arange(n_columns + 1) - 0.5, np.arange(n_rows + 1) - 0.5
    axes.pcolormesh(x, y, colors, edgecolors="white", linewidth=0.6)
    dark = colors[..., :3] @ np.array([0.2126, 0.7152, 0.0722]) < 0.45
    look: Look = {"ha": "center", "va": "center_baseline", "size": SIZES["tick"], "gid": "cell"}
    for (i, j), is_dark in np.ndenumerate(dark):
        if texts[i][j]:  # outside of the layout, which would measure thousands of texts
            color = "white" if is_dark else "black"
            axes.text(j, i, texts[i][j], color=color, in_layout=False, **look)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def short_number(value: float, *, signed: bool = False) -> str:
    """Return a number of three decimals without the zero before the point, so that it fits a cell."""
    text = f"{value:{'+' if signed else ''}{'.3g' if abs(value) >= 10 else '.3f'}}"
    if float(text) == 0:
        return ".000"
    return re.sub(r"^([+-]?)0\.", r"\1.", text).replace("-", MINUS)
