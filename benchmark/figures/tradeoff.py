"""Figures of discrimination against accuracy, as the paper's Figure 1."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmark.columns import EACH_OWN
from benchmark.figures import style
from benchmark.figures.style import BETA_COLORS, FAINT, GREY, Look, Page, beta_look
from benchmark.runs.descriptions import TechniqueDescription
from benchmark.runs.manifest import Manifest
from benchmark.runs.reasons import explain
from benchmark.runs.report_frames import Scenario
from benchmark.sections import signs as marks
from benchmark.statistics.answers import random_accuracy
from benchmark.statistics.cells import baseline_of
from benchmark.statistics.unprocessing import curves_of

TRADEOFF = ("discrimination", "accuracy")
"""Metrics on the axes of the paper's Figure 1."""

Limits = tuple[tuple[float, float], tuple[float, float]]
"""Lower and upper limit of the discrimination axis, and of the accuracy axis."""

_WHAT = "discrimination against accuracy"
_HOW = "Dots: single repetitions; outlined: the mean of each {}."
_NARROWEST = 0.04
_MOST_LARGE = 16
_MOST_COLUMNS = 6
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


def draw_tradeoff(
    points: pd.DataFrame,
    limits: Limits,
    techniques: Sequence[TechniqueDescription],
    failures: pd.DataFrame,
    standing: pd.DataFrame,
    scenario: Scenario,
    description: Manifest,
    curves: pd.DataFrame | None = None,
) -> Figure:
    """Draw discrimination against accuracy, a panel per technique, as in the paper's Figure 1.

    ``points`` come from :func:`points_of`: one dot each, beta as color. The mean of each beta is outlined;
    means are joined in order of beta. Degenerate means are hollow by ``standing``, from
    :func:`~benchmark.statistics.answers.standings`. ``limits`` are the scenario's, so that its figures
    compare. ``failures`` have the reasons for missing points. ``curves`` are the unprocessing frontiers of
    :func:`~benchmark.statistics.unprocessing.mean_frontiers`.
    """
    single = len(techniques) == 1
    columns = len(techniques) if len(techniques) <= 3 else math.ceil(math.sqrt(len(techniques)))
    panel = (2.3, 1.8) if len(techniques) <= _MOST_LARGE else (1.65, 1.3)
    names = baseline_of(scenario.baseline, pd.Series([t.name for t in techniques]))
    baselines = [points[points["technique"] == name] for name in names]
    shown_as = EACH_OWN if scenario.own_learners else description.baseline_text(scenario.baseline)
    has_baseline = any(map(len, baselines))
    compared = f" Gray line: the baseline ({shown_as})." if has_baseline else ""
    present = points.groupby("technique")["beta"].unique().map(set)
    missing = {
        technique.name: [b for b in description.levels if b not in present.get(technique.name, ())]
        for technique in techniques
    }
    constant = scenario.constant_accuracy
    drawn = limits[1][0] <= constant <= limits[1][1]
    line = f" {marks.constant_text(scenario.best_constant, drawn=drawn)}"
    curves = None if curves is None else curves_of(curves, scenario.key)
    if curves is not None and len(curves):
        lot = limits[1][0] <= random_accuracy(constant) <= limits[1][1]
        one_each = f", one for each {description.level_sign}"
        line += f" {marks.frontier_text(scenario.best_constant, one_each=one_each, lot_drawn=lot)}"
    subtitle = f"{_HOW.format(description.level_sign)}{compared}{line}"
    subtitle = f"{_WHAT.capitalize()}. {subtitle}" if single else subtitle
    standing = scenario.rows(standing)
    hollow = marks.degenerate_cells(standing)
    titles = {technique.name: technique.title for technique in techniques}
    first = techniques[0].title
    with style.styled():
        page = Page(
            len(techniques),
            min(columns, _MOST_COLUMNS),
            panel=(3.9, 2.9) if single else panel,
            title=f"{first} on {scenario.heading}" if single else f"{scenario.heading}: {_WHAT}",
            subtitle=scenario.subtitle(description, subtitle),
            notes=[
                *marks.degenerate_notes(standing, titles, "Hollow", description.level_name),
                *marks.below_constant_notes(standing, titles, description.level_name),
                *_gap_notes(titles, missing, failures, scenario, description),
                *scenario.dataset.figure_notes,
            ],
            right=0.9,
            panel_titles=[
                _panel_title(t.title, missing[t.name], description) for t in techniques if not single
            ],
            titles_stay=True,
        )
        for i, (technique, axes) in enumerate(zip(techniques, page.axes, strict=True)):
            rows = points[points["technique"] == technique.name]
            if rows.empty:
                axes.text(0.5, 0.5, "no value, see below", transform=axes.transAxes, ha="center", color=GREY)
            draw_tradeoff_panel(
                axes,
                rows,
                baselines[i] if technique.name != names[i] else baselines[i].iloc[:0],
                limits,
                constant,
                hollow,
                curves,
                rasterized=len(points) > _MOST_DOTS and not single,
                x_labels=page.nothing_below(i),
                y_labels=page.first_in_row(i),
                limit=description.level_limit,
            )
        style.add_beta_colorbar(
            page, description.levels, limit=description.level_limit, label=description.level_axis
        )
    return page.figure


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
    x_labels: bool = True,
    y_labels: bool = True,
    limit: float = 1.0,
) -> None:
    """Draw the points of one technique, and behind them the means of the baseline, which may have no rows.

    ``constant`` is the accuracy of the best constant answer, which has a line within the limits. ``hollow``
    has technique and level of bias of hollow means. ``curves`` are the scenario's frontiers; the answer by
    lot is drawn beside them. ``rasterized`` dots are pixels in PDF and SVG. ``x_labels`` and ``y_labels``
    show numbers and names of the axes. ``limit`` is the level of the last color.
    """
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
    if limits[1][0] <= constant <= limits[1][1]:
        axes.axhline(constant, **marks.CONSTANT_LINE)
    if curves is not None and len(curves):
        for beta in curves["beta"].unique():
            curve = curves.loc[curves["beta"] == beta, list(TRADEOFF)].to_numpy()
            axes.plot(*curve.T, color=BETA_COLORS(beta / limit), **marks.FRONTIER_LINE)
        axes.plot(0, random_accuracy(constant), **marks.RANDOM_MARK)
    axes.axvline(0, **style.DASHED_RULE)
    axes.set(xlim=limits[0], ylim=limits[1])
    style.set_ticks(axes, x=4, y=5)
    axes.tick_params(labelbottom=x_labels, labelleft=y_labels)
    axes.set(xlabel=TRADEOFF[0] if x_labels else "", ylabel=TRADEOFF[1] if y_labels else "")


def _means(points: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return means of both metrics at each level of bias, and the levels, ascending."""
    means = points.groupby("beta", sort=True)[list(TRADEOFF)].mean()
    return means[TRADEOFF[0]].to_numpy(), means[TRADEOFF[1]].to_numpy(), means.index.to_numpy(dtype=float)


def _gap_notes(
    titles: Mapping[str, str],
    missing: Mapping[str, list[float]],
    failures: pd.DataFrame,
    scenario: Scenario,
    description: Manifest,
) -> list[str]:
    """Return a note for each technique without points at some level of bias."""
    notes = []
    for name, betas in missing.items():
        reasons = Counter(explain(failures, scenario, name, beta=beta) for beta in betas)
        text = "; ".join(
            f"{reason or 'no result is recorded'}{', at each' if n > 1 else ''}"
            for reason, n in reasons.items()
        )
        if betas:
            notes.append(f"{titles[name]}: no value at {description.level_text(*betas)} ({text}).")
    return notes


def _panel_title(title: str, missing: Sequence[float], description: Manifest) -> str:
    n_betas = len(description.levels)
    return f"{title} (none at {description.level_text(*missing)})" if 0 < len(missing) < n_betas else title
