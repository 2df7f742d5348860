"""Figures of discrimination against accuracy: as the paper's Figure 1, and of all learners together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from benchmark.figures import EVERYTHING, Choice, marks, style
from benchmark.figures.label_places import write_keys
from benchmark.figures.page import Page
from benchmark.figures.style import BETA_COLORS, FAINT, GREY, Look, beta_look
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.finished import RunFrames
from benchmark.runs.report_frames import SameRows, Scenario
from benchmark.statistics.cells import WHERE
from benchmark.statistics.unprocessing import curves_of
from benchmark.tables.numbers import DEGENERATE
from benchmark.wording.described import level_axis

TRADEOFF = ("discrimination", "accuracy")
"""Metrics on the axes of the paper's Figure 1."""

Limits = tuple[tuple[float, float], tuple[float, float]]
"""Lower and upper limit of the discrimination axis, and of the accuracy axis."""

_NARROWEST = 0.04
_MOST_LARGE = 16
_MOST_COLUMNS = 6
_MOST_TOGETHER = (6, 3)  # levels and columns of the figure of all learners
_MOST_DOTS = 600  # in vectors, some 120 bytes each


def points_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return ``technique, beta, repetition, discrimination, accuracy`` of results with both metrics."""
    rows = rows[rows["metric"].isin(TRADEOFF) & np.isfinite(rows["value"])]
    wide = rows.pivot(index=["technique", "beta", "repetition"], columns="metric", values="value")
    points: pd.DataFrame = wide.reindex(columns=list(TRADEOFF)).dropna().reset_index()
    return points


def tradeoff_limits(points: pd.DataFrame, constant: float) -> Limits:
    """Return limits that hold all points, zero discrimination and, if near, a constant answer's accuracy."""
    x, y = np.append(points["discrimination"], 0.0), points["accuracy"].to_numpy()
    y = np.append(y, constant) if marks.is_near(constant, y) else y
    padded = [style.padded(values, 0.06, 0.005, _NARROWEST) for values in (x, y)]
    return padded[0], padded[1] if len(y) else (0.0, 1.0)


@style.styled()
def draw_tradeoff(
    run: RunFrames,
    scenario: Scenario,
    curves: pd.DataFrame | None = None,
    only: str | None = None,
    choice: Choice = EVERYTHING,
) -> Page:
    """Draw discrimination against accuracy, a panel per technique, as in the paper's Figure 1.

    Each repetition is a dot, the level of bias its color. The mean of each level is outlined; means are
    joined in order of levels. Degenerate means are hollow. Limits are those of all techniques, so that
    figures of a scenario compare. ``curves`` are the unprocessing frontiers of
    :func:`~benchmark.statistics.unprocessing.mean_frontiers`. ``only`` is the technique of a figure of one.
    """
    manifest, summary, constant = run.manifest, scenario.rows(run.summary), scenario.constant_accuracy
    points = points_of(scenario.rows(run.results))
    limits = tradeoff_limits(points, constant)
    choice.of_metrics(TRADEOFF)
    tried = summary if only is None else summary[summary["technique"] == only]
    titles = marks.titles_of(tried, manifest, choice)
    single = len(titles) == 1
    baseline = points[points["technique"] == scenario.baseline]
    words = [f"Dots: single repetitions; outlined: the mean of each {manifest.level_sign}."]
    if len(baseline):
        words.append(f"Gray line: the baseline ({manifest.titles[scenario.baseline]}).")
    words.append(marks.constant_text(scenario.best_constant, drawn=_within(constant, limits)))
    curves = None if curves is None else curves_of(curves, scenario.key)
    if curves is not None and len(curves):
        words.append(marks.frontier_text(scenario.best_constant, f", one for each {manifest.level_sign}"))
    hollow = marks.signs_of(scenario.rows(run.standing), titles, [DEGENERATE])
    n = len(titles)
    page = Page(
        n,
        n if n <= 3 else min(math.ceil(math.sqrt(n)), _MOST_COLUMNS),
        panel=(3.9, 2.9) if single else (2.1, 1.7) if n <= _MOST_LARGE else (1.65, 1.3),
        title=f"{next(iter(titles.values()))} on {scenario.heading}"
        if single
        else f"{scenario.heading}: discrimination against accuracy",
        subtitle=marks.subtitle(scenario, manifest, " ".join(filter(None, words))),
        notes=marks.notes(
            scenario.dataset,
            signs=hollow.values(),
            look="hollow",
            missing=marks.lacking(summary[summary["metric"].isin(TRADEOFF)], titles, manifest),
        ),
        panel_titles=[] if single else list(titles.values()),
        choice=choice,
    )
    for name, axes in zip(titles, page.panels, strict=True):
        draw_tradeoff_panel(
            axes,
            points[points["technique"] == name],
            baseline[baseline["technique"] != name],
            limits,
            constant,
            hollow,
            curves,
            rasterized=len(points) > _MOST_DOTS and not single,
            limit=manifest.level_limit,
        )
    page.name_axes(*TRADEOFF)
    page.add_beta_colorbar(manifest.levels, limit=manifest.level_limit, label=level_axis(manifest))
    return page.fit()


def draw_tradeoff_panel(
    axes: Axes,
    points: pd.DataFrame,
    baseline: pd.DataFrame,
    limits: Limits,
    constant: float,
    hollow: Collection[tuple[str, float]] = (),
    curves: pd.DataFrame | None = None,
    *,
    rasterized: bool = False,
    limit: float = 1.0,
) -> None:
    """Draw the points of one technique, and behind them the means of the baseline, which may have no rows.

    ``constant`` is the accuracy of the best constant answer, which has a line within the limits. ``hollow``
    has technique and level of bias of hollow means. ``curves`` are the scenario's frontiers; the answer by
    lot is drawn beside them. ``rasterized`` dots are pixels in PDF and SVG. ``limit`` is the level of the
    last color.
    """
    if points.empty:
        axes.text(0.5, 0.5, "no value, see below", transform=axes.transAxes, ha="center", color=GREY)
    if len(baseline):
        x, y, _ = _means(baseline)
        axes.plot(x, y, color=FAINT, lw=1.6, marker="o", ms=3.4, zorder=1.5, gid="baseline")
    dots: Look = {"s": 9, "alpha": 0.55, "lw": 0, "rasterized": rasterized}
    axes.scatter(points["discrimination"], points["accuracy"], c=points["beta"], **dots, **beta_look(limit))
    x, y, betas = _means(points)
    axes.plot(x, y, color=GREY, lw=0.8, zorder=2.5)
    axes.scatter(x, y, c=betas, s=34, edgecolors="black", lw=1.0, zorder=3, **beta_look(limit))
    useless = {beta for technique, beta in hollow if technique in set(points["technique"])}
    if (empty := np.isin(betas, list(useless))).any():
        edges = BETA_COLORS(betas[empty] / limit)
        look: Look = {"s": 34, "c": "white", "edgecolors": edges, "lw": 1.5, "zorder": 3.2}
        axes.scatter(x[empty], y[empty], gid="degenerate", **look)
    if curves is not None and len(curves):
        colors = {beta: BETA_COLORS(beta / limit) for beta in curves["beta"]}
        marks.draw_frontiers(axes, curves, constant, colors)
    _frame(axes, limits, constant)


def _within(constant: float, limits: Limits) -> bool:
    return limits[1][0] <= constant <= limits[1][1]


def _frame(axes: Axes, limits: Limits, constant: float) -> None:
    """Set the limits of a panel, and draw its lines of reference."""
    if _within(constant, limits):
        axes.axhline(constant, **marks.CONSTANT_LINE, gid="constant")
    axes.axvline(0, **style.DASHED_RULE)
    axes.set(xlim=limits[0], ylim=limits[1])


def _means(points: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return means of both metrics at each level of bias, and the levels, ascending."""
    means = points.groupby("beta", sort=True)[list(TRADEOFF)].mean()
    return means[TRADEOFF[0]].to_numpy(), means[TRADEOFF[1]].to_numpy(), means.index.to_numpy(dtype=float)


@style.styled()
def draw_together(statistics: RunStatistics, rows: SameRows, choice: Choice = EVERYTHING) -> Page:
    """Draw mean discrimination against mean accuracy of all techniques, a panel for each level of bias.

    Each learner has a color. A line leads from the baseline of a learner, a large mark, to each technique
    with it. Techniques are numbered, and named below.
    """
    run, first = statistics.run, rows.scenarios[0]
    choice.of_metrics(TRADEOFF)
    points = _means_of(statistics, rows.scenarios)
    names = list(marks.titles_of(points, run, choice))
    chosen = points["technique"].isin(names)
    baselines = points["technique"] == points["baseline"]
    numbered = points[chosen & ~baselines]
    numbered = numbered.sort_values("technique", key=lambda column: column.map(names.index), kind="stable")
    keys = {name: str(number) for number, name in enumerate(numbered["technique"].unique(), 1)}
    baselines = points[baselines & points["classifier"].isin(points.loc[chosen, "classifier"])]
    looks = {s.classifier: style.line_style(i) | {"linestyle": "none"} for i, s in enumerate(rows.scenarios)}
    levels = style.beta_ticks(run.levels, _MOST_TOGETHER[0])
    constant = first.constant_accuracy
    limits = tradeoff_limits(pd.concat([numbered, baselines]), constant)
    page = Page(
        len(levels),
        min(len(levels), _MOST_TOGETHER[1]),
        panel=(2.7, 2.3),
        title=f"{rows.heading}: all techniques, with every learner",
        subtitle=f"{marks.tested(first.dataset, run)}. Means. Lines lead from the baseline of a learner, a "
        "large mark, to the techniques with it. "
        + marks.constant_text(first.best_constant, drawn=_within(constant, limits)),
        notes=marks.notes(first.dataset),
        panel_titles=[run.level_text(level) for level in levels],
        choice=choice,
    )
    for axes, level in zip(page.panels, levels, strict=True):
        _frame(axes, limits, constant)
        for learner, look in looks.items():
            starts, ends = (
                part[(part["beta"] == level) & (part["classifier"] == learner)][list(TRADEOFF)].to_numpy()
                for part in (baselines, numbered)
            )
            for start, end in itertools.product(starts, ends):
                line: Look = {"color": look["color"], "lw": 0.6, "alpha": 0.6, "zorder": 2}
                axes.plot(*zip(start, end, strict=True), **line, gid="change")
            axes.plot(*starts.T, **look, ms=9, zorder=3, gid="baseline")
            axes.plot(*ends.T, **look, ms=4.5, zorder=3.2, gid="technique")
    page.name_axes(*TRADEOFF)
    page.legend_below([Line2D([], [], label=learner, **look) for learner, look in looks.items()])
    page.list_below([f"{key}  {run.titles[name]}" for name, key in keys.items()])
    page.fit()
    for axes, level in zip(page.panels, levels, strict=True):
        own, others = (part[part["beta"] == level] for part in (numbered, baselines))
        write_keys(axes, pd.concat([own, others])[list(TRADEOFF)], [keys[name] for name in own["technique"]])
    return page


def _means_of(statistics: RunStatistics, scenarios: Sequence[Scenario]) -> pd.DataFrame:
    """Return mean discrimination and accuracy of each cell that has both, with its baseline."""
    rows = pd.concat([scenario.rows(statistics.intervals) for scenario in scenarios])
    means = rows[rows["metric"].isin(TRADEOFF)].pivot(index=[*WHERE], columns="metric", values="mean")
    points = means.reindex(columns=list(TRADEOFF)).dropna().reset_index()
    return points.assign(baseline=statistics.baselines.column(points))
