"""Discrimination against accuracy, the paper's Figure 1."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.colors import Normalize
from matplotlib.ticker import MaxNLocator

from benchmark.figures.style import BETA_COLORS, FAINT, GREY, STEPS, Page, add_beta_colorbar, styled
from benchmark.runs.descriptions import RunDescription, TechniqueDescription
from benchmark.runs.frames import Scenario
from benchmark.runs.reasons import explain
from benchmark.runs.scenario_words import listed, scenario_notes, scenario_subtitle
from benchmark.runs.standing_marks import (
    CONSTANT_LINE,
    below_constant_notes,
    constant_text,
    degenerate_cells,
    degenerate_notes,
    is_near,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TRADEOFF = ("discrimination", "accuracy")
"""Metrics on the axes of the paper's Figure 1."""

Limits = tuple[tuple[float, float], tuple[float, float]]
"""Lower and upper limit of the discrimination axis, and of the accuracy axis."""

_WHAT = "discrimination against accuracy"
_HOW = "Dots: single repetitions; outlined: the mean of each β."
_NARROWEST = 0.04
_MOST_LARGE = 16
_MOST_COLUMNS = 6
_MOST_DOTS = 600  # in vectors, some 120 bytes each


def tradeoff_points(results: pd.DataFrame, scenario: Scenario) -> pd.DataFrame:
    """Return a scenario's points: one row per technique, beta and repetition that has both values.

    Parameters
    ----------
    results : DataFrame
        As :func:`benchmark.runs.frames.check_results` returns them.
    scenario : Scenario
        Whose points.

    Returns
    -------
    DataFrame
        Columns ``technique, beta, repetition, discrimination, accuracy``, values finite.
    """
    return points_of(scenario.rows(results))


def points_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return :func:`tradeoff_points` of the results of one scenario."""
    rows = rows[rows["metric"].isin(TRADEOFF) & np.isfinite(rows["value"])]
    wide = rows.pivot(index=["technique", "beta", "repetition"], columns="metric", values="value")
    points: pd.DataFrame = wide.reindex(columns=list(TRADEOFF)).dropna().reset_index()
    return points


def tradeoff_limits(points: pd.DataFrame, constant: float) -> Limits:
    """Return axes limits that hold all points, zero discrimination, the ideal, and the best constant answer.

    Parameters
    ----------
    points : DataFrame
        From :func:`tradeoff_points`.
    constant : float
        Accuracy of the best constant answer, which the axis reaches if it is near the points.
    """
    x, y = points["discrimination"].to_numpy(), points["accuracy"].to_numpy()
    return _padded(np.append(x, 0.0)), _padded(np.append(y, constant) if is_near(constant, y) else y)


def draw_tradeoff(
    points: pd.DataFrame,
    limits: Limits,
    techniques: Sequence[TechniqueDescription],
    failures: pd.DataFrame,
    standing: pd.DataFrame,
    scenario: Scenario,
    description: RunDescription,
) -> Figure:
    """Draw discrimination against accuracy, a panel per technique, as in the paper's Figure 1.

    Parameters
    ----------
    points : DataFrame
        From :func:`tradeoff_points`; a dot each, beta as colour. The mean of each beta is outlined, and the
        means are joined in order of beta.
    limits : Limits
        Of all panels; hand over those of the whole scenario so that its figures compare.
    techniques : sequence of TechniqueDescription
        What to draw, in order.
    failures : DataFrame
        Says why a technique has no point at some beta.
    standing : DataFrame
        From :func:`~benchmark.statistics.answers.standings`: the means of degenerate techniques are hollow.
    scenario : Scenario
        What the points belong to.
    description : RunDescription
        Titles, levels of bias and repetitions.

    Returns
    -------
    Figure
    """
    single = len(techniques) == 1
    columns = len(techniques) if len(techniques) <= 3 else math.ceil(math.sqrt(len(techniques)))
    panel = (2.3, 1.8) if len(techniques) <= _MOST_LARGE else (1.65, 1.3)
    baseline = points[points["technique"] == scenario.dataset.baseline]
    compared = "" if baseline.empty else f" Grey line: {_baseline_title(scenario, description)}."
    missing = [_missing_betas(points, technique.name, description) for technique in techniques]
    n_betas = len(description.betas)
    titles = [_panel_title(t, gone, n_betas) for t, gone in zip(techniques, missing, strict=True)]
    constant = scenario.dataset.constant_accuracy
    drawn = limits[1][0] <= constant <= limits[1][1]
    line = f" {constant_text(scenario.dataset.best_constant, drawn=drawn)}"
    how = (f"{_WHAT.capitalize()}. " if single else "") + _HOW + compared + line
    standing = scenario.rows(standing)
    hollow = degenerate_cells(standing)
    shown = {technique.name: technique.title for technique in techniques}
    with styled():
        page = Page(
            len(techniques),
            min(columns, _MOST_COLUMNS),
            panel=(3.9, 2.9) if single else panel,
            title=f"{techniques[0].title} on {scenario.heading}"
            if single
            else f"{scenario.heading}: {_WHAT}",
            subtitle=scenario_subtitle(scenario, description, how),
            notes=[
                *degenerate_notes(standing, shown, "Hollow"),
                *below_constant_notes(standing, shown),
                *_gap_notes(techniques, missing, failures, scenario),
                *scenario_notes(scenario),
            ],
            right=0.9,
            panel_titles=[] if single else titles,
        )
        for i, (technique, axes) in enumerate(zip(techniques, page.axes, strict=True)):
            own = points[points["technique"] == technique.name]
            if own.empty:
                axes.text(0.5, 0.5, "no value, see below", transform=axes.transAxes, ha="center", color=GREY)
            draw_tradeoff_panel(
                axes,
                own,
                baseline if technique.name != scenario.dataset.baseline else baseline.iloc[:0],
                limits,
                constant,
                hollow,
                rasterized=len(points) > _MOST_DOTS and not single,
                x_labels=page.nothing_below(i),
                y_labels=page.first_in_row(i),
            )
        add_beta_colorbar(page, description.betas)
    return page.figure


def draw_tradeoff_panel(
    axes: Axes,
    own: pd.DataFrame,
    baseline: pd.DataFrame,
    limits: Limits,
    constant: float,
    hollow: Collection[tuple[str, float]] = (),
    *,
    rasterized: bool = False,
    x_labels: bool = True,
    y_labels: bool = True,
) -> None:
    """Draw the points of one technique, and behind them the means of the baseline.

    Parameters
    ----------
    axes : Axes
        Where to, within :func:`~benchmark.figures.style.styled`.
    own, baseline : DataFrame
        Rows of :func:`tradeoff_points`; without a baseline, none.
    limits : Limits
        Of the axes.
    constant : float
        Accuracy of the best constant answer: a line, if it lies within the limits.
    hollow : collection of (str, float), default ()
        Technique and level of bias of means to be drawn hollow.
    rasterized : bool, default False
        Whether single dots are pixels in formats of vectors.
    x_labels, y_labels : bool, default True
        Whether the axes have numbers and names.
    """
    if len(baseline):
        _draw_reference(axes, baseline)
    _draw_cloud(axes, own, hollow, rasterized=rasterized)
    if limits[1][0] <= constant <= limits[1][1]:
        axes.axhline(constant, **CONSTANT_LINE)
    _dress_tradeoff(axes, limits, x_labels=x_labels, y_labels=y_labels)


def _baseline_title(scenario: Scenario, description: RunDescription) -> str:
    technique = description.technique(scenario.dataset.baseline)
    return f"the baseline ({technique.title if technique else scenario.dataset.baseline})"


def _draw_reference(axes: Axes, baseline: pd.DataFrame) -> None:
    """Draw the baseline's means, which every technique is to be seen against."""
    means = baseline.groupby("beta", sort=True)[list(TRADEOFF)].mean()
    x, y = means["discrimination"], means["accuracy"]
    axes.plot(x, y, color=FAINT, lw=1.6, marker="o", ms=3.4, zorder=1.5, gid="baseline")


def _draw_cloud(
    axes: Axes, own: pd.DataFrame, hollow: Collection[tuple[str, float]], *, rasterized: bool
) -> None:
    norm = Normalize(0, 1)
    axes.scatter(
        own["discrimination"],
        own["accuracy"],
        c=own["beta"],
        cmap=BETA_COLORS,
        norm=norm,
        s=9,
        alpha=0.55,
        lw=0,
        rasterized=rasterized,
    )
    means = own.groupby("beta", sort=True)[list(TRADEOFF)].mean()
    x, y = means["discrimination"], means["accuracy"]
    axes.plot(x, y, color=GREY, lw=0.8, zorder=2.5)
    axes.scatter(x, y, c=means.index, cmap=BETA_COLORS, norm=norm, s=34, edgecolors="black", lw=1.0, zorder=3)
    betas = {beta for technique, beta in hollow if technique in set(own["technique"])}
    empty = means[means.index.isin(betas)]
    if len(empty):
        axes.scatter(
            empty["discrimination"],
            empty["accuracy"],
            c="white",
            s=34,
            edgecolors=BETA_COLORS(norm(empty.index.to_numpy())),
            lw=1.5,
            zorder=3.2,
            gid="degenerate",
        )


def _dress_tradeoff(axes: Axes, limits: Limits, *, x_labels: bool, y_labels: bool) -> None:
    axes.axvline(0, color=GREY, lw=0.8, ls=(0, (2, 2)), zorder=1)
    axes.set_xlim(*limits[0])
    axes.set_ylim(*limits[1])
    axes.xaxis.set_major_locator(MaxNLocator(nbins=4, steps=STEPS))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=STEPS))
    axes.tick_params(labelbottom=x_labels, labelleft=y_labels)
    if x_labels:
        axes.set_xlabel("discrimination")
    if y_labels:
        axes.set_ylabel("accuracy")


def _gap_notes(
    techniques: Sequence[TechniqueDescription],
    missing: Sequence[Sequence[float]],
    failures: pd.DataFrame,
    scenario: Scenario,
) -> list[str]:
    """Return a line for each technique that lacks points at some level of bias."""
    notes = []
    for technique, betas in zip(techniques, missing, strict=True):
        reasons = Counter(explain(failures, scenario, technique.name, beta=beta) for beta in betas)
        text = "; ".join(
            f"{reason or 'no result is recorded'}{', at each' if n > 1 else ''}"
            for reason, n in reasons.items()
        )
        if betas:
            notes.append(f"{technique.title}: no value at β = {listed(betas)} ({text}).")
    return notes


def _missing_betas(points: pd.DataFrame, technique: str, description: RunDescription) -> list[float]:
    present = set(points.loc[points["technique"] == technique, "beta"])
    return [beta for beta in description.betas if beta not in present]


def _panel_title(technique: TechniqueDescription, missing: Sequence[float], n_betas: int) -> str:
    partly = 0 < len(missing) < n_betas
    return f"{technique.title} (none at β = {listed(missing)})" if partly else technique.title


def _padded(values: np.ndarray) -> tuple[float, float]:
    if len(values) == 0:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    pad = max(0.06 * (high - low), (_NARROWEST - (high - low)) / 2, 0.005)
    return low - pad, high + pad
