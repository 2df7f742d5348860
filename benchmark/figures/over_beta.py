"""Figures of each metric over beta, with a line per technique."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchmark.figures import style
from benchmark.figures.line_groups import Shown, technique_groups
from benchmark.figures.style import FAINT, GREY, Page, RowLabels, line_style, wrap
from benchmark.runs.descriptions import MetricDescription
from benchmark.runs.manifest import Manifest
from benchmark.runs.reasons import explain
from benchmark.runs.report_frames import Scenario
from benchmark.sections import signs as marks
from benchmark.sections.reasons import answer_words
from benchmark.statistics.answers import ACCURACY

_LEGEND_LINE = 0.19
_LEGEND_WIDTH = 2.6
_BAR_NAME_WIDTH = 2.2


@dataclass(frozen=True)
class _Plot:
    """The content of a scenario's figure."""

    rows: pd.DataFrame
    shown: Shown
    metrics: Sequence[MetricDescription]
    hollow: set[tuple[str, float]]  # techniques and levels of bias of degenerate cells
    drawn: bool  # whether there is a line at the best constant answer
    beyond: str  # the best constant answer, if accuracy has no such line
    notes: list[str]
    scenario: Scenario
    description: Manifest

    def subtitle(self, *more: str) -> str:
        intervals = "Means with 95 % intervals." if self.description.repetitions > 1 else ""
        return self.scenario.subtitle(self.description, " ".join(filter(None, [intervals, *more])))

    def rows_of(self, metric: MetricDescription) -> pd.DataFrame:
        return self.rows[self.rows["metric"] == metric.name]

    def draw_levels(self, axes: Axes, metric: MetricDescription, *, horizontal: bool) -> None:
        """Draw lines at the best constant answer, and at the ideal unless it would stretch the axis."""
        draw = axes.axhline if horizontal else axes.axvline
        if self.drawn and metric.name == ACCURACY:
            draw(self.scenario.constant_accuracy, **marks.CONSTANT_LINE)
        low, high = axes.get_ylim() if horizontal else axes.get_xlim()
        if metric.ideal is not None and low <= metric.ideal <= high:
            draw(metric.ideal, **style.DASHED_RULE)

    def is_hollow(self, rows: pd.DataFrame) -> list[bool]:
        return [cell in self.hollow for cell in zip(rows["technique"], rows["beta"], strict=True)]


def draw_over_beta(
    summary: pd.DataFrame,
    failures: pd.DataFrame,
    standing: pd.DataFrame,
    scenario: Scenario,
    description: Manifest,
) -> Figure:
    """Draw each metric over beta, a panel per metric, a line with its 95 % interval band per technique.

    With a single level of bias, techniques stand below each other, each with its interval as a bar.
    ``standing`` comes from :func:`~benchmark.statistics.answers.standings`; degenerate techniques have hollow
    marks.
    """
    rows, standing, dataset = scenario.rows(summary), scenario.rows(standing), scenario.dataset
    names = set(rows["technique"])
    # A technique has the same look in all figures of a run.
    shown = [(t, i) for i, t in enumerate(description.techniques) if t.name in names]
    titles = {technique.name: technique.title for technique, _ in shown}
    metrics = [m for m in description.metrics if (rows["metric"] == m.name).any()]
    measured = any(metric.name == ACCURACY for metric in metrics)
    near = marks.is_near(scenario.constant_accuracy, rows.loc[rows["metric"] == ACCURACY, "mean"])
    plot = _Plot(
        rows,
        shown,
        metrics,
        hollow=marks.degenerate_cells(standing),
        drawn=near,
        beyond=marks.constant_text(scenario.best_constant, drawn=False) if measured and not near else "",
        notes=[
            *marks.degenerate_notes(standing, titles, "Hollow", description.level_name),
            *marks.below_constant_notes(standing, titles, description.level_name),
            *_missing_notes(rows, failures, titles, scenario, description),
            *dataset.figure_notes,
        ],
        scenario=scenario,
        description=description,
    )
    with style.styled():
        return _draw_lines(plot) if len(description.levels) > 1 else _draw_bars(plot)


def _draw_lines(plot: _Plot) -> Figure:
    metrics, extra = plot.metrics, list(_extra_legend(plot))
    black = plot.scenario.baseline if isinstance(plot.scenario.baseline, str) else ""
    groups = list(technique_groups(plot.shown, black, plot.description.techniques))
    single = len(groups) == 1
    legends = [
        [*((line_style(i), wrap(t.title, _LEGEND_WIDTH)) for t, i in techniques), *extra]
        for _, techniques in groups
    ]
    every = [line for legend in legends for _, lines in legend for line in lines]
    n_lines = max(sum(len(lines) for _, lines in legend) for legend in legends)
    columns = min(2 if single else 4, len(metrics))
    n_rows = math.ceil(len(metrics) / columns)  # of one group
    per_group = n_rows * columns
    # A legend beside its panels has a line per technique and must not be taller than they are.
    needed = (_LEGEND_LINE * (n_lines + (not single)) - 0.7 * (n_rows - 1)) / n_rows
    many = "" if single else "Light gray: the techniques of the other rows."
    many = f"Black: the baseline. {many}" if many and black else many
    titles = [metric.title for metric in metrics] + [""] * (per_group - len(metrics))
    page = Page(
        len(groups) * per_group,
        columns,
        panel=(3.1, max(2.1, needed)) if single else (2.2, max(1.6, needed)),
        title=f"{plot.scenario.heading}: metrics over the level of bias",
        subtitle=plot.subtitle(plot.description.protocol.levels_text, many, plot.beyond),
        notes=plot.notes,
        right=0.3 + (0.75 + style.widest([*every, *(title for title, _ in groups)])),
        gap=(0.72, 0.2) if single else (0.56, 0.2),
        panel_titles=titles * len(groups),
    )
    for g, ((title, techniques), legend) in enumerate(zip(groups, legends, strict=True)):
        panels = page.axes[g * per_group : (g + 1) * per_group]
        for axes in panels[len(metrics) :]:
            axes.remove()
        for i, (axes, metric) in enumerate(zip(panels, metrics, strict=False)):
            rows = plot.rows_of(metric)
            _draw_behind(axes, rows[~rows["technique"].isin([technique.name for technique, _ in techniques])])
            for technique, position in techniques:
                _draw_line(axes, rows[rows["technique"] == technique.name], position, plot)
            plot.draw_levels(axes, metric, horizontal=True)
            # A metric without values at some level has the same axis as those that it stands above.
            axes.set_xlim(*style.padded(plot.description.levels, 0.05, 0.0))
            style.set_level_ticks(axes, plot.description.levels)
            style.set_ticks(axes, y=6)
            lowest = i + columns >= len(metrics) and (g == len(groups) - 1)
            axes.tick_params(labelbottom=lowest)
            if lowest:
                axes.set_xlabel(plot.description.level_axis)
        lines = [Line2D([], [], **look, label="\n".join(words)) for look, words in legend]
        page.legend_beside(panels[0], lines, title)
    # Each metric has the same limits in all groups.
    for i in range(len(metrics)):
        lows, highs = zip(*(axes.get_ylim() for axes in page.axes[i::per_group]), strict=True)
        for axes in page.axes[i::per_group]:
            axes.set_ylim(min(lows), max(highs))
    return page.figure


def _extra_legend(plot: _Plot) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Yield looks and words of the legend's entries besides the techniques."""
    constant = plot.scenario.best_constant
    if plot.drawn and constant is not None:
        words = f"{answer_words(constant)}: accuracy {constant.accuracy:.3f}"
        yield marks.CONSTANT_LINE, wrap(words, _LEGEND_WIDTH)
    if plot.hollow:
        look = {"ls": "none", "marker": "o", "mec": GREY, "mfc": "white"}
        yield look, wrap("hollow: degenerate, see below", _LEGEND_WIDTH)


def _draw_behind(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw the means of techniques as one broken line, because hundreds of lines make a large file."""
    if rows.empty:
        return
    grid = rows.pivot(index="technique", columns="beta", values="mean")
    beta, mean = np.append(grid.columns, np.nan), np.pad(grid, [(0, 0), (0, 1)], constant_values=np.nan)
    axes.plot(np.tile(beta, len(grid)), mean.ravel(), color=FAINT, lw=0.6, zorder=1.5, gid="others")


def _draw_line(axes: Axes, rows: pd.DataFrame, position: int, plot: _Plot) -> None:
    look = line_style(position)
    beta, mean, low, high = rows[["beta", "mean", "ci_low", "ci_high"]].to_numpy().T
    axes.plot(beta, mean, mec="white", mew=0.4, zorder=3, **look)
    axes.fill_between(beta, low, high, color=look["color"], alpha=0.18, lw=0, zorder=2)
    empty = np.array(plot.is_hollow(rows), dtype=bool)
    if empty.any():
        mark = {"marker": look["marker"], "mec": look["color"], "mfc": "white"}
        axes.plot(beta[empty], mean[empty], ls="none", zorder=3.2, gid="degenerate", **mark)


def _draw_bars(plot: _Plot) -> Figure:
    metrics, n_rows = plot.metrics, len(plot.shown)
    labels = RowLabels([wrap(technique.title, _BAR_NAME_WIDTH) for technique, _ in plot.shown])
    row_height = 0.08 + 0.15 * labels.tallest
    line = marks.constant_text(plot.scenario.best_constant, drawn=True) if plot.drawn else ""
    page = Page(
        len(metrics),
        min(4, len(metrics)),
        panel=(2.3, max(0.6, row_height * (n_rows + 0.5))),
        title=f"{plot.scenario.heading}: metrics at "
        f"{plot.description.level_text(plot.description.levels[0])}",
        subtitle=plot.subtitle(plot.beyond or line),
        notes=plot.notes,
        left=0.3 + labels.width,
        gap=(0.35, 0.42),
        below=0.4,
        panel_titles=[metric.title for metric in metrics],
    )
    for i, (metric, axes) in enumerate(zip(metrics, page.axes, strict=True)):
        rows = plot.rows_of(metric)
        rows = rows[rows["n"] > 0]
        for y, (technique, position) in enumerate(plot.shown):
            _draw_bar(axes, rows[rows["technique"] == technique.name], y, position, plot)
        plot.draw_levels(axes, metric, horizontal=False)
        axes.set_ylim(n_rows - 0.5, -0.5)
        axes.set_yticks(range(n_rows), labels.texts)
        axes.tick_params(labelleft=page.first_in_row(i))
        style.set_ticks(axes, x=5)
    return page.figure


def _draw_bar(axes: Axes, rows: pd.DataFrame, y: int, position: int, plot: _Plot) -> None:
    look = {name: value for name, value in line_style(position).items() if name != "linestyle"}
    for mean, high, hollow in zip(rows["mean"], rows["ci_high"], plot.is_hollow(rows), strict=True):
        half_width = high - mean if math.isfinite(high) else 0.0
        mark, _, _ = axes.errorbar(mean, y, xerr=half_width, capsize=2.5, **look)
        if hollow:
            mark.set(markerfacecolor="white", gid="degenerate")


def _missing_notes(
    rows: pd.DataFrame,
    failures: pd.DataFrame,
    titles: dict[str, str],
    scenario: Scenario,
    description: Manifest,
) -> list[str]:
    empty = rows[rows["n"] == 0]
    notes = []
    for name, title in titles.items():
        gaps = empty[empty["technique"] == name]
        if len(gaps):
            betas = description.level_text(*sorted(gaps["beta"].unique()))
            absent = [m.in_sentence for m in description.metrics if (gaps["metric"] == m.name).any()]
            values = "value" if len(absent) == len(description.metrics) else " and no ".join(absent)
            reason = explain(failures, scenario, name) or "no result is recorded"
            notes.append(f"{title}: no {values} at {betas} ({reason}).")
    return notes
