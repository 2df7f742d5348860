"""Heat maps: of a metric against the baseline, and the parts of any."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import groupby
from typing import Generic, TypeVar

import numpy as np
import pandas as pd
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
from benchmark.runs.report_frames import Scenario
from benchmark.statistics.cells import WHERE
from benchmark.tables.numbers import DEGENERATE

Key = TypeVar("Key", bound=Hashable)

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


@styled()
def draw_heat(statistics: RunStatistics, metric: str, test: str, choice: Choice = EVERYTHING) -> Page:
    """Draw the means of a metric on a test: techniques down, datasets and levels of bias across.

    Color is the improvement over the dataset's baseline, in steps that are multiples of the region of
    practical equivalence. Signs mark better and worse cells, which differ in gray as well. The baseline's
    cells are framed. Degenerate techniques are gray, without a sign. Cells without a comparison are white.
    On a narrow page cells have no numbers.
    """
    run = statistics.run
    rows = statistics.intervals.query("metric == @metric and test == @test")
    columns = [
        (scenario, float(beta))
        for scenario in statistics.scenarios
        if scenario.test == test
        for beta in np.unique(scenario.rows(rows)["beta"])
    ]
    titles = marks.titles_of(rows, run, choice)
    choice.of_metrics([metric])
    names, labels = list(titles), RowLabels(list(titles.values()), choice.width)
    rows = rows[rows["technique"].isin(names)]
    width = max(_CELL, _NARROWEST / len(columns))
    if choice.width is not None:
        width = (choice.width - labels.width - 0.4) / len(columns)
    across = Columns(columns, lambda scenario: scenario.heading, width)
    scenarios = [scenario for scenario, _, _ in across.blocks]
    standings = [(scenario.key, scenario.rows(statistics.standing)) for scenario in scenarios]
    signs = {(*k, *cell): own for k, part in standings for cell, own in marks.signs_of(part, names).items()}
    # Orange to purple: the higher, the more purple.
    colors = StepColors([(statistics.rope or _DEFAULT_STEP) * step for step in _STEPS], "PuOr", 0.06)
    page = Page(
        1,
        1,
        # A map is at least as tall as its legend.
        panel=(width * len(columns), max(labels.row * len(names), _LEGEND)),
        title=f"{statistics.title(metric, test)}: techniques against the baseline",
        subtitle=f"Means; columns: {run.level_sign} and dataset. Color: how much nearer to the ideal "
        f"than the baseline (framed). + better, {MINUS} worse, by more than {statistics.rope:g}.",
        notes=marks.notes(*(s.dataset for s in scenarios), signs=signs.values()),
        choice=choice,
    )
    (axes,) = page.panels
    values, texts, useless = _cells(statistics, rows, names, columns, signs, numbers=width >= 0.9 * _CELL)
    shades = colors(values)
    shades[useless] = _USELESS
    draw_cells(axes, shades, texts)
    labels.write(axes)
    across.write(axes, len(names))
    for scenario, first, last in across.blocks:
        if (baseline := statistics.baseline_of(scenario)) in names:
            corner = (first - 0.5, names.index(baseline) - 0.5)
            look: Look = {"fill": False, "edgecolor": "black", "lw": 1.4, "zorder": 3, "gid": "frame"}
            axes.add_patch(Rectangle(corner, last - first + 1, 1, **look))
    colors.add_legend(page)
    return page.fit()


def _cells(
    statistics: RunStatistics,
    rows: pd.DataFrame,
    names: Sequence[str],
    columns: Sequence[tuple[Scenario, float]],
    marked: Mapping[tuple[object, ...], str],
    *,
    numbers: bool,
) -> tuple[np.ndarray, list[list[str]], np.ndarray]:
    """Return improvement and text of each cell, and whether it is degenerate."""
    key = list(WHERE)
    compared = statistics.compared[statistics.compared["metric"] == rows["metric"].iloc[0]]
    compared = compared.assign(sign=np.select([compared["better"], compared["worse"]], ["+", MINUS], ""))
    table = rows.merge(compared[[*key, "improvement", "sign"]], how="left", on=key).fillna({"sign": ""})
    positions = {(*scenario.key, beta): j for j, (scenario, beta) in enumerate(columns)}
    values = np.full((len(names), len(columns)), np.nan)
    useless = np.zeros(values.shape, dtype=bool)
    texts = [[""] * len(columns) for _ in names]
    columns_read = [*key, "mean", "improvement", "sign"]
    for *where, mean, improvement, sign in table[columns_read].itertuples(index=False, name=None):
        i, j = names.index(where[-1]), positions[tuple(where[:-1])]
        standing = marked.get((*where[:-2], where[-1], where[-2]), "")
        values[i, j] = improvement
        useless[i, j] = standing == DEGENERATE
        shown_sign = "" if useless[i, j] else sign
        number = "–" if np.isnan(mean) else short_number(mean)
        texts[i][j] = number + shown_sign + standing if numbers else standing or shown_sign
    return values, texts, useless
