"""Each metric over beta: a line per technique."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FormatStrFormatter, MaxNLocator

from benchmark.figures.style import (
    FAINT,
    GREY,
    SIZES,
    STEPS,
    Page,
    beta_ticks,
    line_style,
    styled,
    text_width,
    wrap,
)
from benchmark.runs.descriptions import STAGES, MetricDescription, RunDescription, TechniqueDescription
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
from benchmark.statistics.answers import ACCURACY, ConstantAnswer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_LINES = 9  # more cannot be told apart by eye
_LEGEND_LINE = 0.19
_LEGEND_WIDTH = 2.6

_Shown = Sequence[tuple[TechniqueDescription, int]]


@dataclass(frozen=True)
class _Group:
    """The techniques that one row of panels shows in colour, each with the position of its look."""

    title: str
    techniques: _Shown


@dataclass(frozen=True)
class _Marks:
    """What tells useful techniques from useless ones, and the notes below the figure."""

    hollow: set[tuple[str, float]]
    constant: ConstantAnswer | None
    measured: bool
    drawn: bool
    notes: list[str]

    @property
    def beyond(self) -> str:
        """Says what the best constant answer is where there is accuracy, but no line for it."""
        return constant_text(self.constant, drawn=False) if self.measured and not self.drawn else ""

    @property
    def line(self) -> str:
        """Says which line is the best constant answer, where there is one."""
        return constant_text(self.constant, drawn=True) if self.drawn else ""

    @property
    def legend(self) -> list[tuple[dict[str, Any], str]]:
        """Looks and words of the lines of the legend that are no technique."""
        found: list[tuple[dict[str, Any], str]] = []
        if self.drawn and self.constant is not None:
            words = f"{self.constant.words}: accuracy {self.constant.accuracy:.3f}"
            found.append((CONSTANT_LINE, words))
        if self.hollow:
            hollow = {"ls": "none", "marker": "o", "mec": GREY, "mfc": "white"}
            found.append((hollow, "hollow: degenerate, see below"))
        return found


def draw_over_beta(
    summary: pd.DataFrame,
    failures: pd.DataFrame,
    standing: pd.DataFrame,
    scenario: Scenario,
    description: RunDescription,
) -> Figure:
    """Draw each metric over beta, a panel per metric, a line with its 95 % interval band per technique.

    A single level of bias leaves nothing to run over: then the techniques stand below each other, each with
    its interval as a bar.

    Parameters
    ----------
    summary : DataFrame
        As :func:`benchmark.runs.summary.summarise` returns it.
    failures : DataFrame
        Say why a technique has no value.
    standing : DataFrame
        From :func:`~benchmark.statistics.answers.standings`: degenerate techniques have hollow marks.
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
    titles = {technique.name: technique.title for technique, _ in shown}
    marks = _Marks(
        hollow=degenerate_cells(scenario.rows(standing)),
        constant=scenario.dataset.best_constant,
        measured=any(metric.name == ACCURACY for metric in metrics),
        drawn=is_near(scenario.dataset.constant_accuracy, own.loc[own["metric"] == ACCURACY, "mean"]),
        notes=[
            *degenerate_notes(scenario.rows(standing), titles, "Hollow"),
            *below_constant_notes(scenario.rows(standing), titles),
            *_missing_notes(own, failures, shown, scenario, description),
            *scenario_notes(scenario),
        ],
    )
    with styled():
        draw = _draw_lines if len(description.betas) > 1 else _draw_bars
        return draw(own, shown, metrics, marks, scenario, description)


def _draw_lines(
    own: pd.DataFrame,
    shown: _Shown,
    metrics: Sequence[MetricDescription],
    marks: _Marks,
    scenario: Scenario,
    description: RunDescription,
) -> Figure:
    groups = list(_groups(shown, scenario, description))
    labels = [
        [wrap(technique.title, _LEGEND_WIDTH, SIZES["tick"]) for technique, _ in group.techniques]
        for group in groups
    ]
    extra = [(look, wrap(text, _LEGEND_WIDTH, SIZES["tick"])) for look, text in marks.legend]
    labels = [[*own_labels, *(lines for _, lines in extra)] for own_labels in labels]
    every = [line for own_labels in labels for lines in own_labels for line in lines]
    widest = max([text_width(line, SIZES["tick"]) for line in every], default=0.0)
    legend_width = 0.75 + max([widest, *(text_width(group.title, SIZES["tick"]) for group in groups)])
    n_lines = max(sum(map(len, own_labels)) for own_labels in labels)
    single = len(groups) == 1
    columns = min(2 if single else 4, len(metrics))
    n_rows = math.ceil(len(metrics) / columns)  # of one group
    # A legend beside its panels has a line per technique and must not be taller than they are.
    needed = (_LEGEND_LINE * (n_lines + (not single)) - 0.7 * (n_rows - 1)) / n_rows
    page = Page(
        len(groups) * n_rows * columns,
        columns,
        panel=(3.1, max(2.1, needed)) if single else (2.2, max(1.6, needed)),
        title=f"{scenario.heading}: metrics over the level of bias",
        subtitle=scenario_subtitle(
            scenario, description, " ".join(filter(None, [_how(description, single=single), marks.beyond]))
        ),
        notes=marks.notes,
        right=0.3 + legend_width,
        gap=(0.72, 0.2) if single else (0.56, 0.2),
        panel_titles=[
            metrics[i].title if i < len(metrics) else "" for _ in groups for i in range(n_rows * columns)
        ],
    )
    for g, (group, own_labels) in enumerate(zip(groups, labels, strict=True)):
        panels = page.axes[g * n_rows * columns : (g + 1) * n_rows * columns]
        for i, axes in enumerate(panels):
            if i >= len(metrics):
                axes.remove()
                continue
            coloured = {technique.name for technique, _ in group.techniques}
            values = own[own["metric"] == metrics[i].name]
            others = values[~values["technique"].isin(coloured)]
            if len(others):
                _draw_behind(axes, others)
            for technique, position in group.techniques:
                _draw_line(axes, values[values["technique"] == technique.name], position, marks.hollow)
            if marks.drawn and metrics[i].name == ACCURACY:
                axes.axhline(scenario.dataset.constant_accuracy, **CONSTANT_LINE)
            lowest = i + columns >= len(metrics) and (g == len(groups) - 1)
            _dress(axes, metrics[i], description.betas, lowest=lowest)
        looks = [line_style(position) for _, position in group.techniques]
        looks += [look for look, _ in extra]
        _add_legend(page, panels[0], looks, own_labels, group.title if not single else None)
    _share_limits(page.axes, n_rows * columns, len(metrics))
    return page.figure


def _groups(shown: _Shown, scenario: Scenario, description: RunDescription) -> Iterator[_Group]:
    """Yield all techniques together, or, where they are many, those of each stage with the baseline.

    A technique looks the same on all datasets of a run: its position is that among all techniques of its
    stage, whichever of them a dataset lacks.
    """
    if len(shown) <= _MOST_LINES:
        yield _Group("", shown)
        return
    names = {technique.name for technique, _ in shown}
    baseline = [(technique, 0) for technique, _ in shown if technique.name == scenario.dataset.baseline]
    for stage, title in STAGES.items():
        own = [t for t in description.techniques if t.stage == stage]
        n_parts = math.ceil(len(own) / (_MOST_LINES - 1))
        for part in range(n_parts):
            # Parts of equal size, give or take one.
            members = own[part * len(own) // n_parts : (part + 1) * len(own) // n_parts]
            others = [
                (technique, position)
                for position, technique in enumerate(members, 1)
                if technique.name in names and technique.name != scenario.dataset.baseline
            ]
            if others:
                yield _Group(
                    title + (f" ({part + 1} of {n_parts})" if n_parts > 1 else ""), [*baseline, *others]
                )


def _how(description: RunDescription, *, single: bool) -> str:
    many = "" if single else "Black: the baseline. Light grey: the techniques of the other rows."
    return f"{_interval_text(description)} {many}".strip()


def _dress(axes: Axes, metric: MetricDescription, betas: Sequence[float], *, lowest: bool) -> None:
    _draw_ideal(axes, metric, horizontal=True)
    axes.xaxis.set_major_locator(FixedLocator(beta_ticks(betas)))
    axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=STEPS))
    axes.tick_params(labelbottom=lowest)
    if lowest:
        axes.set_xlabel("planted bias β")


def _share_limits(panels: Sequence[Axes], per_group: int, n_metrics: int) -> None:
    """Give each metric the same limits in all groups."""
    for i in range(n_metrics):
        same = panels[i::per_group]
        lows, highs = zip(*(axes.get_ylim() for axes in same), strict=True)
        for axes in same:
            axes.set_ylim(min(lows), max(highs))


def _add_legend(
    page: Page,
    beside: Axes,
    looks: Sequence[Mapping[str, Any]],
    labels: Sequence[Sequence[str]],
    title: str | None,
) -> None:
    page.figure.legend(
        [Line2D([], [], **look) for look in looks],
        ["\n".join(lines) for lines in labels],
        loc="upper left",
        bbox_to_anchor=((page.grid_right + 0.16) / page.width, beside.get_position().y1),
        borderaxespad=0,
        borderpad=0,
        handlelength=3.2,
        labelspacing=0.35,
        title=title,
        title_fontproperties={"size": SIZES["tick"], "weight": "bold"},
        alignment="left",
    )


def _draw_bars(
    own: pd.DataFrame,
    shown: _Shown,
    metrics: Sequence[MetricDescription],
    marks: _Marks,
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
        subtitle=scenario_subtitle(
            scenario,
            description,
            " ".join(filter(None, [_interval_text(description), marks.beyond or marks.line])),
        ),
        notes=marks.notes,
        left=0.3 + max(text_width(line, SIZES["tick"]) for lines in labels for line in lines),
        gap=(0.35, 0.42),
        below=0.4,
        panel_titles=[metric.title for metric in metrics],
    )
    rows = np.arange(len(shown))
    for i, (metric, axes) in enumerate(zip(metrics, page.axes, strict=True)):
        values = own[own["metric"] == metric.name]
        for row, (technique, position) in zip(rows, shown, strict=True):
            _draw_bar(axes, values[values["technique"] == technique.name], int(row), position, marks.hollow)
        if marks.drawn and metric.name == ACCURACY:
            axes.axvline(scenario.dataset.constant_accuracy, **CONSTANT_LINE)
        _draw_ideal(axes, metric, horizontal=False)
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.set_yticks(rows, ["\n".join(lines) for lines in labels])
        axes.tick_params(labelleft=page.first_in_row(i))
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=STEPS))
    return page.figure


def _draw_behind(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw the means of techniques as one broken line: hundreds of lines of their own make a large file."""
    grid = rows.pivot(index="technique", columns="beta", values="mean")
    beta, mean = np.append(grid.columns, np.nan), np.pad(grid, [(0, 0), (0, 1)], constant_values=np.nan)
    axes.plot(np.tile(beta, len(grid)), mean.ravel(), color=FAINT, lw=0.6, zorder=1.5, gid="others")


def _draw_line(axes: Axes, rows: pd.DataFrame, position: int, hollow: Collection[tuple[str, float]]) -> None:
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
    empty = rows[_is_in(rows, hollow)]
    if len(empty):
        look = {"marker": style["marker"], "mec": style["color"]}
        axes.plot(empty["beta"], empty["mean"], ls="none", mfc="white", zorder=3.2, gid="degenerate", **look)


def _draw_bar(
    axes: Axes, rows: pd.DataFrame, y: int, position: int, hollow: Collection[tuple[str, float]]
) -> None:
    style = line_style(position)
    rows = rows[rows["n"] > 0]
    for mean, high, is_hollow in zip(rows["mean"], rows["ci_high"], _is_in(rows, hollow), strict=True):
        half_width = high - mean if math.isfinite(high) else 0.0
        look = {"color": style["color"], "marker": style["marker"]}
        mark, _, _ = axes.errorbar(mean, y, xerr=half_width, capsize=2.5, **look)
        if is_hollow:
            mark.set(markerfacecolor="white", gid="degenerate")


def _is_in(rows: pd.DataFrame, cells: Collection[tuple[str, float]]) -> list[bool]:
    return [cell in cells for cell in zip(rows["technique"], rows["beta"], strict=True)]


def _draw_ideal(axes: Axes, metric: MetricDescription, *, horizontal: bool) -> None:
    """Draw the ideal value, if it lies among the values: stretching the axis to it would flatten them."""
    low, high = axes.get_ylim() if horizontal else axes.get_xlim()
    if metric.ideal is None or not low <= metric.ideal <= high:
        return
    draw = axes.axhline if horizontal else axes.axvline
    draw(metric.ideal, color=GREY, lw=0.8, ls=(0, (2, 2)), zorder=1)


def _interval_text(description: RunDescription) -> str:
    return "Means with 95 % intervals." if description.repetitions > 1 else ""


def _missing_notes(
    own: pd.DataFrame, failures: pd.DataFrame, shown: _Shown, scenario: Scenario, description: RunDescription
) -> list[str]:
    empty = own[own["n"] == 0]
    notes = []
    for technique, _ in shown:
        rows = empty[empty["technique"] == technique.name]
        if not rows.empty:
            betas = listed(sorted(rows["beta"].unique()))
            absent = [m.in_sentence for m in description.metrics if (rows["metric"] == m.name).any()]
            what = "value" if len(absent) == len(description.metrics) else " and no ".join(absent)
            reason = explain(failures, scenario, technique.name) or "no result is recorded"
            notes.append(f"{technique.title}: no {what} at β = {betas} ({reason}).")
    return notes
