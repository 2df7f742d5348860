"""Heat maps: of a metric against the baseline, and the parts of any."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import groupby

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from benchmark.figures import EVERYTHING, Choice, marks
from benchmark.figures.page import Page, RowLabels
from benchmark.figures.style import LINE, SIZES, Look, styled, text_width, wrap
from benchmark.runs.analysis import RunStatistics
from benchmark.statistics.cells import WHERE
from benchmark.tables.numbers import DEGENERATE, standing_signs

MINUS = "\N{MINUS SIGN}"

_CELL = 0.5
_LEGEND, _NARROWEST = 1.4, 1.6
_STEPS = (1, 3, 10, 30)  # times the region of practical equivalence
_DEFAULT_STEP = 0.01
_USELESS = (0.88, 0.88, 0.88, 1.0)


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


class Columns:
    """Columns of a heat map, each a heading and a level of bias; equal headings stand once below their block.

    ``width`` is a column's width in inches; headings are wrapped to the widths of their blocks.
    """

    def __init__(self, columns: Sequence[tuple[str, float]], width: float) -> None:
        self._betas = [f"{beta:g}" for _, beta in columns]
        groups = groupby(enumerate(columns), lambda column: column[1][0])
        blocks = [(heading, [i for i, _ in block]) for heading, block in groups]
        self.blocks = [(own[0], own[-1]) for _, own in blocks]  # first and last column of each heading
        # Texts of narrow columns stand upright.
        levels = max((text_width(beta, SIZES["tick"]) for beta in self._betas), default=0.0)
        self._upright, self._below = levels > 0.9 * width, LINE
        if self._upright:
            step = math.ceil(LINE / width)  # levels of columns that are narrower than a line are skipped
            self._betas = [beta if i % step == 0 else "" for i, beta in enumerate(self._betas)]
            width, self._below = 2.0, levels
        self._names = [wrap(heading, len(own) * width) for heading, own in blocks]

    def write(self, axes: Axes, n_rows: int) -> None:
        """Write levels and names below the lowest row of a panel, and draw lines between the blocks."""
        axes.set_xlim(-0.5, len(self._betas) - 0.5)
        turn = 90 if self._upright else 0
        axes.set_xticks(range(len(self._betas)), labels=self._betas, rotation=turn)
        for lines, (first, last) in zip(self._names, self.blocks, strict=True):
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
    if math.isnan(value):
        return "–"
    text = f"{value:{'+' if signed else ''}{'.3g' if abs(value) >= 10 else '.3f'}}"
    if float(text) == 0:
        return ".000"
    return re.sub(r"^([+-]?)0\.", r"\1.", text).replace("-", MINUS)


@styled()
def draw_heat(statistics: RunStatistics, metric: str, test: str, choice: Choice = EVERYTHING) -> Page:
    """Draw the means of a metric on a test: techniques down, datasets and levels of bias across.

    Color is the improvement over the dataset's baseline, in steps that are multiples of the region of
    practical equivalence. Signs mark better and worse cells, which differ in gray as well. The baseline's
    cells are framed. Degenerate techniques are gray, without a sign. Cells without a comparison are white.
    On a narrow page cells have no numbers.
    """
    run, key = statistics.run, list(WHERE)
    rows = statistics.intervals.query("metric == @metric and test == @test")
    titles = marks.titles_of(rows, run, choice)
    choice.of_metrics([metric])
    scenarios = [scenario for scenario in statistics.scenarios if len(scenario.rows(rows))]
    columns = [(s, float(beta)) for s in scenarios for beta in np.unique(s.rows(rows)["beta"])]
    names, labels = list(titles), RowLabels(list(titles.values()), choice.width)
    width = max(_CELL, _NARROWEST / len(columns))
    if choice.width is not None:
        width = (choice.width - labels.width - 0.4) / len(columns)
    across = Columns([(scenario.heading, beta) for scenario, beta in columns], width)
    standing = statistics.standing.assign(standing=standing_signs(statistics.standing))
    compared = statistics.compared.query("metric == @metric")
    compared = compared.assign(sign=np.select([compared["better"], compared["worse"]], ["+", MINUS], ""))
    cells = rows[rows["technique"].isin(names)].merge(standing[[*key, "standing"]], how="left", on=key)
    cells = cells.merge(compared[[*key, "improvement", "sign"]], how="left", on=key)
    cells = cells.fillna({"sign": "", "standing": ""})
    cells["useless"] = cells["standing"] == DEGENERATE
    sign, number = cells["sign"].mask(cells["useless"], ""), cells["mean"].map(short_number)
    if width >= 0.9 * _CELL:
        cells["text"] = number + sign + cells["standing"]
    else:
        cells["text"] = cells["standing"].where(cells["standing"] != "", sign)
    # Orange to purple: the higher, the more purple.
    colors = StepColors([(statistics.rope or _DEFAULT_STEP) * step for step in _STEPS], "PuOr", 0.06)
    page = Page(
        1,
        1,
        # A map is at least as tall as its legend.
        panel=(width * len(columns), max(labels.height, _LEGEND)),
        title=f"{statistics.title(metric, test)}: techniques against the baseline",
        subtitle=f"Means; columns: {run.level_sign} and dataset. Color: how much nearer to the ideal "
        f"than the baseline (framed). + better, {MINUS} worse, by more than {statistics.rope:g}.",
        notes=marks.notes(*(s.dataset for s in scenarios), signs=cells["standing"]),
        choice=choice,
        rows=labels,
    )
    (axes,) = page.panels
    grid = cells.pivot(index="technique", columns=key[:-1], values=["improvement", "useless", "text"])
    order = [(*scenario.key, beta) for scenario, beta in columns]
    values, useless, texts = (grid[part].reindex(names)[order] for part in ("improvement", "useless", "text"))
    shades = colors(values.to_numpy(dtype=float))
    shades[useless.eq(True)] = _USELESS
    draw_cells(axes, shades, texts.fillna("").to_numpy())
    across.write(axes, len(names))
    for scenario, (first, last) in zip(scenarios, across.blocks, strict=True):
        if (baseline := statistics.baseline_of(scenario)) in names:
            corner = (first - 0.5, names.index(baseline) - 0.5)
            look: Look = {"fill": False, "edgecolor": "black", "lw": 1.4, "zorder": 3, "gid": "frame"}
            axes.add_patch(Rectangle(corner, last - first + 1, 1, **look))
    colors.add_legend(page)
    return page.fit()
