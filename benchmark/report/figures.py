"""Figures of the numbers: discrimination against accuracy, and each metric over beta."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FormatStrFormatter, MaxNLocator, NullLocator

from benchmark.report.describe import MetricDescription, RunDescription, TechniqueDescription
from benchmark.report.frames import Scenario
from benchmark.report.reasons import explain
from benchmark.report.style import BETA_COLORS, GREY, SIZES, Page, line_style, styled, text_width, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Limits", "draw_over_beta", "draw_tradeoff", "tradeoff_limits", "tradeoff_points"]

TRADEOFF = ("discrimination", "accuracy")
"""Metrics on the axes of the paper's Figure 1."""

Limits = tuple[tuple[float, float], tuple[float, float]]
"""Lower and upper limit of the discrimination axis, and of the accuracy axis."""

_WHAT = "discrimination against accuracy"
_HOW = "Dots: single repetitions; outlined: the mean of each β."
_NARROWEST = 0.04
_STEPS = (1, 2, 2.5, 5, 10)


def tradeoff_points(results: pd.DataFrame, scenario: Scenario) -> pd.DataFrame:
    """Return a scenario's points: one row per technique, beta and repetition that has both values.

    Parameters
    ----------
    results : DataFrame
        As :func:`benchmark.report.frames.check_results` returns them.
    scenario : Scenario
        Whose points.

    Returns
    -------
    DataFrame
        Columns ``technique, beta, repetition, discrimination, accuracy``, values finite.
    """
    rows = scenario.rows(results)
    rows = rows[rows["metric"].isin(TRADEOFF) & np.isfinite(rows["value"])]
    wide = rows.pivot(index=["technique", "beta", "repetition"], columns="metric", values="value")
    points: pd.DataFrame = wide.reindex(columns=list(TRADEOFF)).dropna().reset_index()
    return points


def tradeoff_limits(points: pd.DataFrame) -> Limits:
    """Return axes limits that hold all points, and zero discrimination, the ideal."""
    x, y = points["discrimination"].to_numpy(), points["accuracy"].to_numpy()
    return _padded(np.append(x, 0.0)), _padded(y)


def draw_tradeoff(
    points: pd.DataFrame,
    limits: Limits,
    techniques: Sequence[TechniqueDescription],
    failures: pd.DataFrame,
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
    missing = [_missing_betas(points, technique.name, description) for technique in techniques]
    n_betas = len(description.betas)
    titles = [_panel_title(t, gone, n_betas) for t, gone in zip(techniques, missing, strict=True)]
    with styled():
        page = Page(
            len(techniques),
            columns,
            panel=(3.9, 2.9) if single else (2.3, 1.8),
            title=f"{techniques[0].title} on {scenario.heading}"
            if single
            else f"{scenario.heading}: {_WHAT}",
            subtitle=_subtitle(scenario, description, f"{_WHAT.capitalize()}. {_HOW}" if single else _HOW),
            notes=[*_gap_notes(techniques, missing, failures, scenario), *_notes(scenario)],
            right=0.9,
            panel_titles=[] if single else titles,
        )
        for i, (technique, axes) in enumerate(zip(techniques, page.axes, strict=True)):
            own = points[points["technique"] == technique.name]
            if own.empty:
                axes.text(0.5, 0.5, "no value, see below", transform=axes.transAxes, ha="center", color=GREY)
            _draw_cloud(axes, own)
            _dress_tradeoff(axes, limits, x_labels=page.nothing_below(i), y_labels=page.first_in_row(i))
        _add_beta_colorbar(page, description.betas)
    return page.figure


def draw_over_beta(
    summary: pd.DataFrame, failures: pd.DataFrame, scenario: Scenario, description: RunDescription
) -> Figure:
    """Draw each metric over beta, a panel per metric, a line with its 95 % interval band per technique.

    A single level of bias leaves nothing to run over: then the techniques stand below each other, each with
    its interval as a bar.

    Parameters
    ----------
    summary : DataFrame
        As :func:`benchmark.report.summary.summarise` returns it.
    failures : DataFrame
        Say why a technique has no value.
    scenario : Scenario
        What to draw.
    description : RunDescription
        Titles, order, levels of bias and repetitions.

    Returns
    -------
    Figure
    """
    own = scenario.rows(summary)
    names = set(own["technique"])
    # A technique keeps its look in all figures of a run, whichever techniques a scenario lacks.
    shown = [(t, i) for i, t in enumerate(description.techniques) if t.name in names]
    metrics = [m for m in description.metrics if (own["metric"] == m.name).any()]
    with styled():
        if len(description.betas) > 1:
            return _draw_lines(own, failures, shown, metrics, scenario, description)
        return _draw_bars(own, failures, shown, metrics, scenario, description)


_Shown = Sequence[tuple[TechniqueDescription, int]]


def _draw_lines(
    own: pd.DataFrame,
    failures: pd.DataFrame,
    shown: _Shown,
    metrics: Sequence[MetricDescription],
    scenario: Scenario,
    description: RunDescription,
) -> Figure:
    labels = [wrap(technique.title, 2.6, SIZES["tick"]) for technique, _ in shown]
    legend_width = 0.75 + max(text_width(line, SIZES["tick"]) for lines in labels for line in lines)
    n_lines = sum(len(lines) for lines in labels)
    columns = min(2, len(metrics))
    n_rows = math.ceil(len(metrics) / columns)
    page = Page(
        len(metrics),
        columns,
        # The legend beside the panels has a line per technique and must not be taller than they are.
        panel=(3.1, max(2.1, (0.19 * n_lines - 0.7 * (n_rows - 1)) / n_rows)),
        title=f"{scenario.heading}: metrics over the level of bias",
        subtitle=_subtitle(scenario, description, _interval_text(description)),
        notes=[*_missing_notes(own, failures, shown, scenario, description), *_notes(scenario)],
        right=0.3 + legend_width,
        gap=(0.72, 0.2),
        panel_titles=[metric.title for metric in metrics],
    )
    for i, (metric, axes) in enumerate(zip(metrics, page.axes, strict=True)):
        for technique, position in shown:
            _draw_line(
                axes, own[(own["technique"] == technique.name) & (own["metric"] == metric.name)], position
            )
        _draw_ideal(axes, metric, horizontal=True)
        axes.xaxis.set_major_locator(FixedLocator(_ticks(description.betas)))
        axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
        axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=_STEPS))
        axes.tick_params(labelbottom=page.nothing_below(i))
        if page.nothing_below(i):
            axes.set_xlabel("planted bias β")
    handles = [Line2D([], [], **line_style(position)) for _, position in shown]
    page.figure.legend(
        handles,
        ["\n".join(lines) for lines in labels],
        loc="upper left",
        bbox_to_anchor=((page.grid_right + 0.16) / page.width, page.grid_top / page.height),
        borderaxespad=0,
        handlelength=3.2,
        labelspacing=0.35,
    )
    return page.figure


def _draw_bars(
    own: pd.DataFrame,
    failures: pd.DataFrame,
    shown: _Shown,
    metrics: Sequence[MetricDescription],
    scenario: Scenario,
    description: RunDescription,
) -> Figure:
    labels = [wrap(technique.title, 2.2, SIZES["tick"]) for technique, _ in shown]
    row_height = 0.08 + 0.15 * max(len(lines) for lines in labels)
    page = Page(
        len(metrics),
        min(4, len(metrics)),
        panel=(2.3, max(0.6, row_height * (len(shown) + 0.5))),
        title=f"{scenario.heading}: metrics at β = {description.betas[0]:g}",
        subtitle=_subtitle(scenario, description, _interval_text(description)),
        notes=[*_missing_notes(own, failures, shown, scenario, description), *_notes(scenario)],
        left=0.3 + max(text_width(line, SIZES["tick"]) for lines in labels for line in lines),
        gap=(0.35, 0.42),
        below=0.4,
        panel_titles=[metric.title for metric in metrics],
    )
    rows = np.arange(len(shown))
    for i, (metric, axes) in enumerate(zip(metrics, page.axes, strict=True)):
        values = own[own["metric"] == metric.name]
        for row, (technique, position) in zip(rows, shown, strict=True):
            _draw_bar(axes, values[values["technique"] == technique.name], int(row), position)
        _draw_ideal(axes, metric, horizontal=False)
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.set_yticks(rows, ["\n".join(lines) for lines in labels])
        axes.tick_params(labelleft=page.first_in_row(i))
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=_STEPS))
    return page.figure


def _draw_cloud(axes: Axes, own: pd.DataFrame) -> None:
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
    )
    means = own.groupby("beta", sort=True)[list(TRADEOFF)].mean()
    x, y = means["discrimination"], means["accuracy"]
    axes.plot(x, y, color=GREY, lw=0.8, zorder=2.5)
    axes.scatter(x, y, c=means.index, cmap=BETA_COLORS, norm=norm, s=34, edgecolors="black", lw=1.0, zorder=3)


def _dress_tradeoff(axes: Axes, limits: Limits, *, x_labels: bool, y_labels: bool) -> None:
    axes.axvline(0, color=GREY, lw=0.8, ls=(0, (2, 2)), zorder=1)
    axes.set_xlim(*limits[0])
    axes.set_ylim(*limits[1])
    axes.xaxis.set_major_locator(MaxNLocator(nbins=4, steps=_STEPS))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=_STEPS))
    axes.tick_params(labelbottom=x_labels, labelleft=y_labels)
    if x_labels:
        axes.set_xlabel("discrimination")
    if y_labels:
        axes.set_ylabel("accuracy")


def _add_beta_colorbar(page: Page, betas: Sequence[float]) -> None:
    height = min(page.grid_top - page.grid_bottom, 3.2)
    axes = page.figure.add_axes(page.place(page.grid_right + 0.16, page.grid_top - height, 0.12, height))
    bar = page.figure.colorbar(ScalarMappable(Normalize(0, 1), BETA_COLORS), cax=axes)
    bar.set_ticks(_ticks(betas), labels=[f"{beta:g}" for beta in _ticks(betas)])
    bar.ax.yaxis.set_minor_locator(NullLocator())
    bar.outline.set_visible(False)
    bar.set_label("planted bias β")


def _draw_line(axes: Axes, rows: pd.DataFrame, position: int) -> None:
    style = line_style(position)
    beta = rows["beta"].to_numpy()
    axes.plot(beta, rows["mean"].to_numpy(), mec="white", mew=0.4, zorder=3, **style)
    axes.fill_between(
        beta,
        rows["ci_low"].to_numpy(),
        rows["ci_high"].to_numpy(),
        color=style["color"],
        alpha=0.18,
        lw=0,
        zorder=2,
    )


def _draw_bar(axes: Axes, rows: pd.DataFrame, y: int, position: int) -> None:
    style = line_style(position)
    for mean, high in rows.loc[rows["n"] > 0, ["mean", "ci_high"]].itertuples(index=False):
        half_width = high - mean if math.isfinite(high) else 0.0
        axes.errorbar(mean, y, xerr=half_width, color=style["color"], marker=style["marker"], capsize=2.5)


def _draw_ideal(axes: Axes, metric: MetricDescription, *, horizontal: bool) -> None:
    """Draw the ideal value, if it lies among the values: stretching the axis to it would flatten them."""
    low, high = axes.get_ylim() if horizontal else axes.get_xlim()
    if metric.ideal is None or not low <= metric.ideal <= high:
        return
    draw = axes.axhline if horizontal else axes.axvline
    draw(metric.ideal, color=GREY, lw=0.8, ls=(0, (2, 2)), zorder=1)


def _subtitle(scenario: Scenario, description: RunDescription, explanation: str) -> str:
    provenance = scenario.dataset.provenance
    return (
        f"{provenance[0].upper()}{provenance[1:]}; {description.repetitions_text}; "
        f"classifier {scenario.classifier}. {explanation}"
    ).strip()


def _interval_text(description: RunDescription) -> str:
    return "Means with 95 % intervals." if description.repetitions > 1 else ""


def _notes(scenario: Scenario) -> list[str]:
    dataset = scenario.dataset
    return [dataset.bias_description, *([f"Warning: {dataset.warning}"] if dataset.warning else [])]


def _missing_notes(
    own: pd.DataFrame,
    failures: pd.DataFrame,
    shown: _Shown,
    scenario: Scenario,
    description: RunDescription,
) -> list[str]:
    empty = own[own["n"] == 0]
    notes = []
    for technique, _ in shown:
        rows = empty[empty["technique"] == technique.name]
        if not rows.empty:
            betas = _listed(sorted(rows["beta"].unique()))
            absent = [m.in_sentence for m in description.metrics if (rows["metric"] == m.name).any()]
            what = "value" if len(absent) == len(description.metrics) else " and no ".join(absent)
            reason = explain(failures, scenario, technique.name) or "no result is recorded"
            notes.append(f"{technique.title}: no {what} at β = {betas} ({reason}).")
    return notes


def _gap_notes(
    techniques: Sequence[TechniqueDescription],
    missing: Sequence[Sequence[float]],
    failures: pd.DataFrame,
    scenario: Scenario,
) -> list[str]:
    """Return a line for each technique that lacks points at some level of bias."""
    notes = []
    for technique, betas in zip(techniques, missing, strict=True):
        reasons = dict.fromkeys(explain(failures, scenario, technique.name, beta=beta) for beta in betas)
        text = "; ".join(reason or "no result is recorded" for reason in reasons)
        if betas:
            notes.append(f"{technique.title}: no value at β = {_listed(betas)} ({text}).")
    return notes


def _missing_betas(points: pd.DataFrame, technique: str, description: RunDescription) -> list[float]:
    present = set(points.loc[points["technique"] == technique, "beta"])
    return [beta for beta in description.betas if beta not in present]


def _panel_title(technique: TechniqueDescription, missing: Sequence[float], n_betas: int) -> str:
    partly = 0 < len(missing) < n_betas
    return f"{technique.title} (none at β = {_listed(missing)})" if partly else technique.title


def _listed(betas: Sequence[float]) -> str:
    return ", ".join(f"{beta:g}" for beta in betas)


def _ticks(betas: Sequence[float]) -> list[float]:
    """Return at most six levels of bias, evenly picked: more would overlap."""
    step = max(1, math.ceil((len(betas) - 1) / 5))
    return list(betas[::step])


def _padded(values: np.ndarray) -> tuple[float, float]:
    if len(values) == 0:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    pad = max(0.06 * (high - low), (_NARROWEST - (high - low)) / 2, 0.005)
    return low - pad, high + pad
