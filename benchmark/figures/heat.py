"""Heat maps: of a metric against the baseline, and the parts of any."""

import math
import re
from collections.abc import Sequence
from itertools import groupby

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import from_levels_and_colors
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from benchmark.figures import EVERYTHING, Choice, marks
from benchmark.figures.page import Page, RowLabels
from benchmark.figures.style import LINE, SIZES, Look, styled, text_width, wrap
from benchmark.runs.analysis import RunStatistics
from benchmark.statistics.cells import WHERE
from benchmark.tables.techniques import DEGENERATE, standing_signs

MINUS, _NO_VALUE = "\N{MINUS SIGN}", "–"

_CELL = 0.5
_LEGEND, _NARROWEST = 1.4, 1.6
_STEPS = (1, 3, 10, 30)  # times the region of practical equivalence
_DEFAULT_STEP = 0.01
_DEGENERATE_GRAY = (0.88, 0.88, 0.88, 1.0)


def step_colors(steps: Sequence[float], colormap: str, edge: float) -> ScalarMappable:
    """Return colors that change at the same steps on either side of 0; NaN is white."""
    bounds = [*(-step for step in reversed(steps)), *steps]
    shades = colormaps[colormap](np.linspace(edge, 1 - edge, len(bounds) + 1))
    colors, norm = from_levels_and_colors(bounds, list(shades), extend="both")
    return ScalarMappable(norm, colors.with_extremes(bad="white"))


def add_steps(page: Page, colors: ScalarMappable) -> None:
    """Add the legend of :func:`step_colors` beside the panels."""
    bar = page.add_colorbar(colors, spacing="uniform")
    bounds = [float(bound) for bound in bar.norm.boundaries]
    bar.set_ticks(bounds, labels=[f"{bound:+g}".replace("-", MINUS) for bound in bounds])
    bar.ax.tick_params(length=0, rotation=90 if bar.orientation == "horizontal" else 0)


def write_columns(axes: Axes, columns: Sequence[tuple[str, float]], width: float) -> list[tuple[int, int]]:
    """Write levels of bias below a map's columns, and below each block of equal headings its heading.

    ``columns`` have heading and level, and are ``width`` inches wide; headings are wrapped to their blocks.
    Return the first and last column of each block.
    """
    betas, turn, below = [f"{beta:g}" for _, beta in columns], 0, LINE
    groups = groupby(enumerate(columns), lambda column: column[1][0])
    blocks = [(heading, [i for i, _ in block]) for heading, block in groups]
    if (widest := max(text_width(beta, SIZES["tick"]) for beta in betas)) > 0.9 * width:
        # Texts of narrow columns stand upright; levels of those narrower than a line are skipped.
        step = math.ceil(LINE / width)
        betas = [beta if i % step == 0 else "" for i, beta in enumerate(betas)]
        width, turn, below = 2.0, 90, widest
    names = ["\n".join(wrap(heading, len(own) * width)) for heading, own in blocks]
    axes.set_xlim(-0.5, len(betas) - 0.5)
    axes.set_xticks(range(len(betas)), labels=betas, rotation=turn)
    axes.xaxis.remove_overlapping_locs = False
    middles = [(own[0] + own[-1]) / 2 for _, own in blocks]
    axes.set_xticks(middles, labels=names, minor=True, rotation=turn, va="top")
    axes.tick_params(axis="x", which="minor", length=0, pad=72 * (below + 0.1))
    for _, own in blocks[1:]:
        axes.axvline(own[0] - 0.5, color="black", lw=0.8)
    return [(own[0], own[-1]) for _, own in blocks]


def draw_cells(
    axes: Axes,
    values: NDArray[np.float64],
    colors: ScalarMappable,
    texts: Sequence[Sequence[str]],
    gray: NDArray[np.bool_] | None = None,
) -> None:
    """Fill a panel with colored cells, the first row on top, each with its text in readable black or white.

    Values, texts and cells that are ``gray`` have shape (n_rows, n_columns).
    """
    shades = colors.to_rgba(np.ma.masked_invalid(values))
    if gray is not None:
        shades[gray] = _DEGENERATE_GRAY
    n_rows, n_columns = values.shape
    x, y = np.arange(n_columns + 1) - 0.5, np.arange(n_rows + 1) - 0.5
    axes.pcolormesh(x, y, shades, edgecolors="white", linewidth=0.6)
    dark = shades[..., :3] @ np.array([0.2126, 0.7152, 0.0722]) < 0.45
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
        return _NO_VALUE
    text = f"{value:{'+' if signed else ''}{'.3g' if abs(value) >= 10 else '.3f'}}"
    if float(text) == 0:
        return ".000"
    return re.sub(r"^([+-]?)0\.", r"\1.", text).replace("-", MINUS)


@styled()
def draw_heat(statistics: RunStatistics, metric: str, test: str, choice: Choice = EVERYTHING) -> Page:
    """Draw the means of a metric on a test: techniques down, datasets and levels of bias across.

    Colors change at multiples of the region of practical equivalence. Degenerate techniques are gray, cells
    without a comparison white. On a narrow page cells have no numbers.
    """
    run, key = statistics.run, list(WHERE)
    rows = statistics.intervals.query("metric == @metric and test == @test")
    titles = marks.titles_of(rows, run, choice)
    choice.of_metrics([metric])
    scenarios = [scenario for scenario in statistics.scenarios if len(scenario.rows(rows))]
    columns = [(s, float(beta)) for s in scenarios for beta in np.unique(s.rows(rows)["level"])]
    names = list(titles)
    labels = RowLabels(list(titles.values()), choice.width, parts=marks.parts_of(names, run))
    width = max(_CELL, _NARROWEST / len(columns))
    if choice.width is not None:
        width = (choice.width - labels.width - 0.4) / len(columns)
    standing = statistics.standing.assign(standing=standing_signs(statistics.standing))
    compared = statistics.compared.query("metric == @metric")
    compared = compared.assign(sign=np.select([compared["better"], compared["worse"]], ["+", MINUS], ""))
    cells = rows[rows["technique"].isin(names)].merge(standing[[*key, "standing"]], how="left", on=key)
    cells = cells.merge(compared[[*key, "improvement", "sign"]], how="left", on=key)
    cells = cells.fillna({"sign": "", "standing": ""})
    cells["degenerate"] = cells["standing"] == DEGENERATE
    sign, number = cells["sign"].mask(cells["degenerate"], ""), cells["mean"].map(short_number)
    if width >= 0.9 * _CELL:
        cells["text"] = number + sign + cells["standing"]
    else:
        cells["text"] = (
            cells["standing"].where(cells["standing"] != "", sign).mask(number == _NO_VALUE, number)
        )
    blank = [f"{_NO_VALUE} no value; failures.csv says why."] * bool((number == _NO_VALUE).any())
    blank += ["Empty: not tried."] * (len(cells) < len(names) * len(columns))
    # Orange to purple: the higher, the more purple.
    colors = step_colors([(statistics.rope or _DEFAULT_STEP) * step for step in _STEPS], "PuOr", 0.06)
    page = Page(
        1,
        1,
        # A map is at least as tall as its legend.
        panel=(width * len(columns), max(labels.height, _LEGEND)),
        title=f"{statistics.title(metric, test)}: techniques against the baseline",
        subtitle=f"Means; columns: {run.level_sign} and dataset. Color: how much nearer to the ideal "
        f"than the baseline (framed). + shown to be better, {MINUS} worse, by more than {statistics.rope:g}.",
        notes=[*blank, *marks.told_notes(names, run), *marks.notes(*scenarios, signs=cells["standing"])],
        choice=choice,
        rows=labels,
    )
    (axes,) = page.panels
    parts = ["improvement", "degenerate", "text"]
    grid = cells.pivot(index="technique", columns=key[:-1], values=parts)
    order = [(*scenario.key, beta) for scenario, beta in columns]
    values, degenerate, texts = (grid[part].reindex(names)[order] for part in parts)
    draw_cells(
        axes,
        values.to_numpy(dtype=float),
        colors,
        texts.fillna("").to_numpy().tolist(),
        degenerate.eq(True).to_numpy(),
    )
    blocks = write_columns(axes, [(scenario.heading, beta) for scenario, beta in columns], width)
    for scenario, (first, last) in zip(scenarios, blocks, strict=True):
        if (baseline := statistics.baseline_of(scenario)) in names:
            corner = (first - 0.5, names.index(baseline) - 0.5)
            look: Look = {"fill": False, "edgecolor": "black", "lw": 1.4, "zorder": 3, "gid": "frame"}
            axes.add_patch(Rectangle(corner, last - first + 1, 1, **look))
    add_steps(page, colors)
    return page.fit()
