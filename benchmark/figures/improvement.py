"""Techniques against the baseline: a heat map of a metric, and a forest plot of the paired improvements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from benchmark.figures import EVERYTHING, Choice, marks, style
from benchmark.figures.heat_grid import MINUS, Columns, StepColors, draw_cells, short_number
from benchmark.figures.page import Page, RowLabels
from benchmark.figures.style import BLUE, GREY, ORANGE, Look
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import Scenario, records
from benchmark.statistics.cells import WHERE
from benchmark.tables.numbers import BELOW_CONSTANT, DEGENERATE

_CELL = 0.5
_LEGEND, _NARROWEST = 1.4, 1.6
_STEPS = (1, 3, 10, 30)  # times the region of practical equivalence
_DEFAULT_STEP = 0.01
_MOST_BETAS = 5
_ENDS = ["improvement_low", "improvement_high", "simultaneous_low", "simultaneous_high"]
_OUTER: Look = {"lw": 0.7, "capstyle": "projecting"}
_INNER: Look = {"lw": 1.9, "capstyle": "butt"}
_USELESS = (0.88, 0.88, 0.88, 1.0)
_SIGN: Look = {"xytext": (3, 1), "textcoords": "offset points", "gid": "below", "fontsize": 8, "zorder": 4}


@style.styled()
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
    standing = statistics.standing[statistics.standing["technique"].isin(names)]
    signs = {(*s.key, *c): own for s in scenarios for c, own in marks.signs_of(s.rows(standing)).items()}
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
        notes=[*marks.meanings(signs.values()), *marks.notes_on(*(s.dataset for s in scenarios))],
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


@style.styled()
def draw_forest(
    statistics: RunStatistics, scenario: Scenario, metric: str, choice: Choice = EVERYTHING
) -> Page:
    """Draw each technique's improvement of a metric over the baseline, with intervals.

    Each level of bias, or each of five, has a panel with a row for each technique. Improvements are paired
    differences on the same samples. The band is the region of practical equivalence. A cross marks a
    degenerate technique. Techniques without a comparison have no mark.
    """
    run = statistics.run
    rows = scenario.rows(statistics.compared).query("metric == @metric")
    betas = style.beta_ticks(sorted(rows["beta"].unique()), _MOST_BETAS)
    titles = marks.titles_of(rows, run, choice)
    choice.of_metrics([metric])
    names, labels = list(titles), RowLabels(list(titles.values()), choice.width)
    rows = rows[rows["technique"].isin(names)]
    compared = run.titles[statistics.baseline_of(scenario)]
    standing = scenario.rows(statistics.standing)
    signs = marks.signs_of(standing[standing["technique"].isin(names)])
    page = Page(
        len(betas),
        len(betas),
        panel=(max(1.5, 4.4 / len(betas)), max(0.5, labels.row * len(names))),
        title=f"{scenario.heading}: {statistics.title(metric)}, improvement over the baseline",
        subtitle=f"Baseline: {compared}. By how much a technique is nearer to the ideal on the same training "
        f"rows. Band: up to {statistics.rope:g}, practically none. Thick: 95 % intervals, each by itself. "
        "Thin: intervals that hold for all techniques together, which decide.",
        notes=[*marks.meanings(signs.values(), "cross"), *marks.notes_on(scenario.dataset)],
        panel_titles=[*map(run.level_text, betas)],
        choice=choice,
        left=labels.width,
        least=0.9,
    )
    limits = style.padded([*rows[["improvement", *_ENDS]].to_numpy(dtype=float).ravel(), 0.0], 0.06, 0.005)
    for beta, axes in zip(betas, page.panels, strict=True):
        _draw_effects(axes, rows[rows["beta"] == beta], names, signs, statistics.rope)
        axes.set_xlim(*limits)
        labels.write(axes, named=page.first_in_row(axes))
        style.set_ticks(axes, x=3)
    useless = {cell for cell, own in signs.items() if own == DEGENERATE and cell[1] in betas}
    handles = [
        Line2D([], [], ls="none", marker=marker, mec=color, mfc=face, ms=4.6, label=f"{side}, {words}")
        for marker, color, side in (("o", BLUE, "better"), ("s", ORANGE, "worse"))
        for face, words in ((color, "shown"), ("white", "not shown"))
    ]
    cross = Line2D([], [], ls="none", marker="x", mec=GREY, mew=1.1, ms=4.6, label="degenerate")
    page.legend_below([*handles, *[cross] * bool(useless)])
    return page.fit()


def _draw_effects(
    axes: Axes,
    rows: pd.DataFrame,
    names: Sequence[str],
    signs: Mapping[tuple[str, float], str],
    rope: float,
) -> None:
    axes.axvspan(-rope, rope, color="#ECECEC", lw=0, zorder=0.5)
    axes.axvline(0, **style.RULE)
    style.guide_rows(axes, len(names))
    rows = rows[np.isfinite(rows["improvement"])]
    if rows.empty:
        style.say_empty(axes, "nothing is compared: the baseline is degenerate, or has no value")
        return
    useless = np.array(
        [signs.get(cell) == DEGENERATE for cell in zip(rows["technique"], rows["beta"], strict=True)], bool
    )
    better = rows["improvement"] > 0
    colors = np.select([useless, better], [GREY, BLUE], ORANGE).tolist()
    markers = np.select([useless, better], ["x", "o"], "s").tolist()
    y = rows["technique"].map(names.index)
    for which, look in (("simultaneous", _OUTER), ("improvement", _INNER)):
        axes.hlines(y, rows[f"{which}_low"], rows[f"{which}_high"], colors=colors, zorder=2, **look)
    for row, at, marker, color in zip(records(rows), y, markers, colors, strict=True):
        face = color if row.better or row.worse else "white"
        axes.plot(row.improvement, at, marker, mfc=face, mec=color, mew=1.1, ms=4.6, zorder=3, gid="effect")
        if signs.get((row.technique, row.beta)) == BELOW_CONSTANT:
            axes.annotate(BELOW_CONSTANT, (row.improvement, at), **_SIGN)
