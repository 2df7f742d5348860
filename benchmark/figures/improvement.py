"""Techniques against the baseline: a heat map of a metric, and a forest plot of the paired improvements."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from benchmark.figures import style
from benchmark.figures.heat_grid import MINUS, Columns, StepColors, draw_cells, short_number
from benchmark.figures.style import BLUE, GREY, LINE, ORANGE, Look, Page, RowLabels
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import Scenario
from benchmark.sections import signs as marks
from benchmark.sections.certainty import own_notes, rule
from benchmark.sections.data import data_notes
from benchmark.sections.signs import baseline_notes, mark_notes
from benchmark.statistics.cells import WHERE, baseline_names
from benchmark.tables.numbers import signs_of

_CELL = (0.45, 0.21)
_LEGEND, _NARROWEST = 1.4, 1.6
_NAME_WIDTH = 2.4
_STEPS = (1, 3, 10, 30)  # times the region of practical equivalence
_DEFAULT_STEP = 0.01
_MOST_BETAS = 5
_ROW = 0.19
_TOGETHER = ["simultaneous_low", "simultaneous_high"]
_ENDS = ["improvement", "improvement_low", "improvement_high", *_TOGETHER]
_EFFECT = ["technique", "beta", "better", "worse", *_ENDS]
_USELESS = (0.88, 0.88, 0.88, 1.0)
_SIGN: Look = {"xytext": (3, 1), "textcoords": "offset points", "gid": "below", "fontsize": 6, "zorder": 4}


def draw_heat(statistics: RunStatistics, metric: str, test: str) -> Figure:
    """Draw the means of a metric on a test: techniques down, datasets and levels of bias across.

    Color is the improvement over the dataset's baseline, in steps that are multiples of the region of
    practical equivalence. Signs mark better and worse cells, which differ in gray as well. The baseline's
    cells are framed. Degenerate techniques are gray, without a sign. Cells without a comparison are white.
    """
    run = statistics.run
    rows = statistics.intervals.query("metric == @metric and test == @test")
    columns = [
        (scenario, float(beta))
        for scenario in statistics.scenarios
        if scenario.test == test
        for beta in np.unique(scenario.rows(rows)["beta"])
    ]
    standing = statistics.standing.query("test == @test")
    titles = _tried(statistics, rows)
    names = list(titles)
    labels = RowLabels([style.wrap(title, _NAME_WIDTH) for title in titles.values()])
    # A map is at least as tall as its legend.
    height = max(_CELL[1], 0.06 + labels.tallest * LINE, _LEGEND / len(names))
    width = max(_CELL[0], _NARROWEST / len(columns))
    across = Columns(columns, lambda scenario: scenario.heading, width)
    scenarios = [scenario for scenario, _, _ in across.blocks]
    # Orange to purple: the higher, the more purple.
    colors = StepColors([(statistics.rope or _DEFAULT_STEP) * step for step in _STEPS], "PuOr", 0.06)
    with style.styled():
        page = Page(
            1,
            1,
            panel=(width * len(columns), height * len(names)),
            title=f"{statistics.title(metric, test)}: techniques against the baseline",
            subtitle=f"Means; columns: {run.level_sign} and dataset. Color: how much nearer to the ideal "
            f"than the baseline (framed). + better, {MINUS} worse.",
            notes=[
                rule(statistics),
                *own_notes(statistics, scenarios),
                *mark_notes(standing[standing["technique"].isin(names)].itertuples(index=False)),
                *(f"{s.heading}: {note}" for s in scenarios for note in _of_baseline(statistics, s)),
                *(
                    f"{s.heading}: {marks.INERT_NUMBERS}."
                    for s in scenarios
                    if s.inert and len(run.levels) > 1
                ),
                *data_notes(dict.fromkeys(s.dataset for s in scenarios), run),
            ],
            left=0.3 + labels.width,
            right=1.0,
            below=across.room + 0.2,
        )
        (axes,) = page.axes
        values, texts, useless = _cells(statistics, rows, names, columns)
        shades = colors(values)
        shades[useless] = _USELESS
        draw_cells(axes, shades, texts)
        labels.write(axes)
        across.write(axes, len(names))
        for scenario, first, last in across.blocks:
            for baseline in {*baseline_names(statistics.baseline_of(scenario))} & {*names}:
                corner = (first - 0.5, names.index(baseline) - 0.5)
                look: Look = {"fill": False, "edgecolor": "black", "lw": 1.4, "zorder": 3, "gid": "frame"}
                axes.add_patch(Rectangle(corner, last - first + 1, 1, **look))
        colors.add_legend(page)
    return page.figure


def _tried(statistics: RunStatistics, rows: pd.DataFrame) -> dict[str, str]:
    """Return the titles of the techniques in some rows by name, in the run's order."""
    tried = set(rows["technique"])
    return {name: title for name, title in statistics.run.titles.items() if name in tried}


def _of_baseline(statistics: RunStatistics, scenario: Scenario) -> list[str]:
    """Return notes on a scenario's degenerate baselines."""
    titles = statistics.baseline_titles(statistics.baseline_of(scenario))
    return baseline_notes(scenario.rows(statistics.standing), titles, statistics.run.level_name)


def _cells(
    statistics: RunStatistics,
    rows: pd.DataFrame,
    names: Sequence[str],
    columns: Sequence[tuple[Scenario, float]],
) -> tuple[np.ndarray, list[list[str]], np.ndarray]:
    """Return improvement and text of each cell, and whether it is degenerate."""
    key = list(WHERE)
    compared = statistics.compared[statistics.compared["metric"] == rows["metric"].iloc[0]]
    compared = compared.assign(sign=np.select([compared["better"], compared["worse"]], ["+", MINUS], ""))
    table = rows.merge(compared[[*key, "improvement", "sign"]], how="left", on=key).fillna({"sign": ""})
    positions = {(*scenario.key, beta): j for j, (scenario, beta) in enumerate(columns)}
    signs = signs_of(statistics.standing)
    values = np.full((len(names), len(columns)), np.nan)
    useless = np.zeros(values.shape, dtype=bool)
    texts = [[""] * len(columns) for _ in names]
    columns_read = [*key, "mean", "improvement", "sign"]
    for *where, mean, improvement, sign in table[columns_read].itertuples(index=False, name=None):
        i, j = names.index(where[-1]), positions[tuple(where[:-1])]
        standing = signs.get(tuple(where), "")
        values[i, j] = improvement
        useless[i, j] = standing == marks.DEGENERATE
        shown_sign = "" if useless[i, j] else sign
        texts[i][j] = "–" if np.isnan(mean) else short_number(mean) + shown_sign + standing
    return values, texts, useless


def draw_forest(statistics: RunStatistics, scenario: Scenario, metric: str) -> Figure:
    """Draw each technique's improvement of a metric over the baseline, with intervals.

    Each level of bias, or each of five, has a panel with a row for each technique. Improvements are paired
    differences on the same samples. The band is the region of practical equivalence. A cross marks a
    degenerate technique. Techniques without a comparison have no mark.
    """
    run = statistics.run
    rows = scenario.rows(statistics.compared).query("metric == @metric")
    betas = style.beta_ticks(sorted(rows["beta"].unique()), _MOST_BETAS)
    titles = _tried(statistics, rows)
    names = list(titles)
    standing = scenario.rows(statistics.standing)
    baseline = statistics.baseline_titles(statistics.baseline_of(scenario))
    compared = run.baseline_text(statistics.baseline_of(scenario))
    labels = RowLabels([style.wrap(title, _NAME_WIDTH) for title in titles.values()])
    height = max(_ROW, 0.05 + labels.tallest * LINE)
    with style.styled():
        page = Page(
            len(betas),
            len(betas),
            panel=(max(1.5, 4.4 / len(betas)), max(0.5, height * len(names))),
            title=f"{scenario.heading}: {statistics.title(metric)}, improvement over the baseline",
            subtitle=f"Baseline: {compared}. Mean paired improvements. Thick: 95 % intervals, each by "
            "itself. Thin: intervals that hold for all techniques together, which decide; filled: better or "
            "worse, see below.",
            notes=[
                rule(statistics),
                "Improvement: by how much a technique is nearer to the ideal than the baseline, on the same "
                f"training sample. Band: differences of up to {statistics.rope:g}, practically none.",
                *marks.degenerate_notes(standing, titles, "Cross, not to be compared", run.level_name),
                *_of_baseline(statistics, scenario),
                *marks.below_constant_notes(standing, baseline | titles, run.level_name),
                *data_notes([scenario.dataset], run),
            ],
            left=0.3 + labels.width,
            gap=(0.16, 0.0),
            below=0.86,
            panel_titles=[*map(run.level_text, betas)],
            titles_stay=True,
        )
        limits = style.padded([*rows[_ENDS].to_numpy(dtype=float).ravel(), 0.0], 0.06, 0.005)
        useless, below = marks.degenerate_cells(standing), marks.below_constant_cells(standing)
        for i, (beta, axes) in enumerate(zip(betas, page.axes, strict=True)):
            _draw_effects(axes, rows[rows["beta"] == beta], names, useless, below, statistics.rope)
            axes.set_xlim(*limits)
            labels.write(axes, named=page.first_in_row(i))
            style.set_ticks(axes, x=3)
        _add_legend(page, crosses=bool(useless & set(itertools.product(names, betas))))
    return page.figure


def _draw_effects(
    axes: Axes,
    rows: pd.DataFrame,
    names: Sequence[str],
    useless: Collection[tuple[str, float]],
    below: Collection[tuple[str, float]],
    rope: float,
) -> None:
    axes.axvspan(-rope, rope, color="#ECECEC", lw=0, zorder=0.5)
    axes.axvline(0, **style.RULE)
    style.guide_rows(axes, len(names))
    rows = rows[np.isfinite(rows["improvement"])]
    alike: dict[tuple[str, str, str], list[tuple[float, int]]] = {}
    bars: list[tuple[int, float, float, float, float, str]] = []
    for technique, beta, better, worse, value, *ends in rows[_EFFECT].itertuples(index=False, name=None):
        is_useless = (technique, beta) in useless
        color = GREY if is_useless else BLUE if value > 0 else ORANGE
        marker = "x" if is_useless else "o" if value > 0 else "s"
        face = color if better or worse else "white"
        y = names.index(technique)
        bars.append((y, *ends, color))
        alike.setdefault((marker, face, color), []).append((value, y))
        if (technique, beta) in below:
            axes.annotate(marks.BELOW_CONSTANT, (value, y), **_SIGN)
    if bars:
        ys, lows, highs, outer_lows, outer_highs, colors = zip(*bars, strict=True)
        axes.hlines(ys, outer_lows, outer_highs, colors=colors, lw=0.7, zorder=2, capstyle="projecting")
        axes.hlines(ys, lows, highs, colors=colors, lw=1.9, zorder=2, capstyle="butt")
    for (marker, face, color), points in alike.items():
        x, y_of = zip(*points, strict=True)
        axes.plot(x, y_of, marker, mfc=face, mec=color, mew=1.1, ms=4.6, zorder=3, gid="effect")


def _add_legend(page: Page, *, crosses: bool) -> None:
    handles = [
        Line2D([], [], ls="none", marker=marker, mec=color, mfc=face, ms=4.6, label=f"{side}, {words}")
        for marker, color, side in (("o", BLUE, "better"), ("s", ORANGE, "worse"))
        for face, words in ((color, "shown"), ("white", "not shown"))
    ]
    if crosses:
        label = f"{marks.DEGENERATE} degenerate, see below"
        handles.append(Line2D([], [], ls="none", marker="x", mec=GREY, mew=1.1, ms=4.6, label=label))
    page.legend_below(handles, 0.36, handletextpad=0.3)
