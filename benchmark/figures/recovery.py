"""Figures of the planted bias that techniques take back, over the level of bias, and of its cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FormatStrFormatter, NullLocator

from benchmark.figures import style
from benchmark.figures.line_groups import Shown, technique_groups
from benchmark.figures.style import GREY, Page, line_style, wrap
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import Scenario
from benchmark.sections.data import data_notes
from benchmark.sections.recovery import undefined
from benchmark.statistics.answers import ACCURACY, DISCRIMINATION
from benchmark.text.words import file_name

_WIDTH = 2.2
_LEGEND_LINE, _LEGEND_WIDTH = 0.19, 2.6
_LINEAR = 2.0  # end of the linear scale where some recoveries lie far beyond
_FAR = 4.0
_MOST_SHOWN = 48  # techniques, which is as many as a reader looks at
_NEAREST = (
    "Shown are {} of {} techniques, whose recovery at the highest {} is nearest to 1 in the mean over the "
    "panels; recovery.csv has all."
)
_TICKS = {12: (1, 2, 3, 5, 10), math.inf: (1, 2, 5, 10, 20, 50, 100)}  # up to a height of the axis


@dataclass(frozen=True)
class _Strip:
    column: str  # of the recoveries
    height: float  # at least
    label: str


_RECOVERY = _Strip("recovery", 1.7, "recovery")
_COSTS = (
    _Strip("accuracy_change", 1.0, "accuracy,\noriginal test"),
    _Strip("biased_accuracy_change", 1.0, "accuracy,\nbiased test"),
)


def draw_recovery(statistics: RunStatistics, scenarios: Sequence[Scenario], metric: str) -> Figure:
    """Draw the recovery of a metric over the level of bias, and the change in accuracy below it.

    Each scenario has a column of panels, each group of techniques two or three rows: recovery, and accuracy
    minus the baseline's on the original and on the biased test. Bands are intervals. Far recoveries are on a
    logarithmic scale. An undefined value has no mark, but a note.
    """
    table = statistics.recovery[statistics.recovery["metric"] == metric]
    rows = [scenario.rows(table) for scenario in scenarios]
    table = pd.concat(rows)
    names, tried = _nearest(table), table["technique"].nunique()
    run = statistics.run
    shown = [(t, i) for i, t in enumerate(run.techniques) if t.name in names]
    groups = list(technique_groups(shown, "", run.techniques))
    strips = [_RECOVERY, *(strip for strip in _COSTS if table[strip.column].notna().any())]
    legends = [[(line_style(i), wrap(t.title, _LEGEND_WIDTH)) for t, i in group] for _, group in groups]
    lines = [line for legend in legends for _, lines in legend for line in lines]
    # A legend beside its panels must not be taller than they are.
    room = sum(strip.height for strip in strips) + 0.3 * (len(strips) - 1)
    heights = []
    for (title, _), legend in zip(groups, legends, strict=True):
        needed = _LEGEND_LINE * (sum(len(words) for _, words in legend) + bool(title))
        heights += [max(strips[0].height, strips[0].height + needed - room), *(s.height for s in strips[1:])]
    columns, per_group = len(scenarios), len(strips)
    with style.styled():
        page = Page(
            columns * len(heights),
            columns,
            panel=(_WIDTH, heights),
            title=f"{statistics.title(metric)}: how much of the planted bias is taken back",
            subtitle=_subtitle(statistics, scenarios, compressed=_limits(table, _RECOVERY)[1]),
            notes=[
                *([_NEAREST.format(len(names), tried, run.level_sign)] if len(names) < tried else []),
                *(
                    f"{scenario.heading}, {words}"
                    for scenario, table_rows in zip(scenarios, rows, strict=True)
                    for words in undefined(table_rows, run.titles, run.level_name)
                ),
                *data_notes({s.dataset.name: s.dataset for s in scenarios}.values(), run),
            ],
            left=0.95,
            right=0.35 + 0.75 + style.widest([*lines, *(title for title, _ in groups)]),
            gap=(0.2, 0.12),
            panel_titles=[scenario.heading for scenario in scenarios] + [""] * (columns * (len(heights) - 1)),
            titles_stay=True,
        )
        for g, (title, techniques) in enumerate(groups):
            for s, strip in enumerate(strips):
                first = (g * per_group + s) * columns
                panels = page.axes[first : first + columns]
                for axes, scenario_rows in zip(panels, rows, strict=True):
                    _draw_panel(axes, scenario_rows, techniques, strip)
                    axes.set_xlim(*style.padded(table["beta"], 0.06, 0.02))
                    style.set_level_ticks(axes, run.levels)
                # Costs of one stage can be many times those of another.
                of_group = table["technique"].isin([technique.name for technique, _ in techniques])
                _share_limits(panels, table if strip is _RECOVERY else table[of_group], strip)
                for i, axes in enumerate(panels):
                    lowest = first + i + columns >= page.n_panels
                    axes.tick_params(labelbottom=lowest, labelleft=i == 0)
                    axes.set_xlabel(run.level_axis if lowest else "")
                    axes.set_ylabel(strip.label if i == 0 else "")
            handles = [Line2D([], [], **look, label="\n".join(words)) for look, words in legends[g]]
            page.legend_beside(page.axes[g * per_group * columns], handles, title)
    return page.figure


def _nearest(table: pd.DataFrame) -> set[str]:
    """Return the techniques to show: those with a recovery nearest to 1 at the highest level, if not all."""
    last = table[table["beta"] == table["beta"].max()]
    far = (last["recovery"] - 1).abs().groupby(last["technique"], sort=False).mean()
    return set(far.sort_values(kind="stable").index[:_MOST_SHOWN])


def _subtitle(statistics: RunStatistics, scenarios: Sequence[Scenario], *, compressed: bool) -> str:
    run, protocol = statistics.run, statistics.run.protocol
    over = ", corrected for overlapping splits" if protocol.overlaps else " over training samples"
    titles = dict.fromkeys(run.baseline_text(statistics.baseline_of(scenario)) for scenario in scenarios)
    return (
        "1 (dashed): the metric as before the bias was planted; above, it is over-corrected. 0: the baseline "
        f"({', '.join(titles)}); below, the metric is made worse. On the original test; means of "
        f"{run.repetitions_text} with 95 % intervals{over}. "
        + (f"Beyond {_LINEAR:g} and -{_LINEAR:g} the scale is logarithmic. " if compressed else "")
        + f"{protocol.levels_text} Below: accuracy minus the baseline's on the same samples."
    )


def _draw_panel(axes: Axes, rows: pd.DataFrame, techniques: Shown, strip: _Strip) -> None:
    axes.axhline(0, **style.RULE)
    if strip is _RECOVERY:
        axes.axhline(1, **style.DASHED_RULE)
    numbers = rows[["beta", strip.column, f"{strip.column}_low", f"{strip.column}_high"]].to_numpy(float)
    indices = rows.groupby("technique", sort=False).indices
    # Bars and bands of all techniques are drawn together, because hundreds of artists take long.
    bars: list[tuple[str, Any]] = []
    bands: list[tuple[str, Any]] = []
    empty = True
    for technique, position in techniques:
        values = numbers[indices.get(technique.name, [])]
        look = line_style(position)
        empty &= not np.isfinite(values[:, 1]).any()
        axes.plot(values[:, 0], values[:, 1], mec="white", mew=0.4, zorder=3, **look)
        finite = np.isfinite(values[:, 2:]).all(axis=1)
        bars += [(look["color"], [(beta, low), (beta, high)]) for beta, _, low, high in values[finite]]
        # A level between two without a value has no band.
        for (left, right), both in zip(pairwise(values), finite[:-1] & finite[1:], strict=True):
            if both:
                bands.append((look["color"], [left[[0, 2]], right[[0, 2]], right[[0, 3]], left[[0, 3]]]))
    bar_colors, bar_ends = list(zip(*bars, strict=True)) or ((), ())
    band_colors, corners = list(zip(*bands, strict=True)) or ((), ())
    axes.add_collection(LineCollection(bar_ends, colors=bar_colors, lw=1.0, alpha=0.6, zorder=2.5))
    axes.add_collection(PolyCollection(corners, facecolors=band_colors, alpha=0.18, lw=0, zorder=2))
    if empty and strip is _RECOVERY:
        axes.text(0.5, 0.25, "not defined, see below", transform=axes.transAxes, ha="center", color=GREY)


def _limits(table: pd.DataFrame, strip: _Strip) -> tuple[tuple[float, float], bool]:
    """Return limits that hold the points, and whether some are far; ends of intervals may lie outside."""
    points = table[strip.column].to_numpy(dtype=float)
    if strip is not _RECOVERY:
        return style.padded([*points, 0.0], 0.12, 0.002), False
    limits = style.padded([*points, 0.0, 1.0], 0.08, 0.05)
    if max(-limits[0], limits[1]) <= _FAR:
        return limits, False
    return (min(0.0, np.nanmin(points)) - 0.3, 1.3 * max(1.0, np.nanmax(points))), True


def _share_limits(panels: Sequence[Axes], table: pd.DataFrame, strip: _Strip) -> None:
    """Give panels the same limits and ticks."""
    limits, far = _limits(table, strip)
    for axes in panels:
        if far:
            axes.set_yscale("symlog", linthresh=_LINEAR, linscale=1.5)
            positive = next(ticks for most, ticks in _TICKS.items() if limits[1] - limits[0] <= most)
            ticks = [0, *positive, *(-tick for tick in positive)]
            axes.yaxis.set_minor_locator(NullLocator())
            axes.yaxis.set_major_locator(FixedLocator([t for t in ticks if limits[0] <= t <= limits[1]]))
            axes.yaxis.set_major_formatter(FormatStrFormatter("%g"))
        else:
            style.set_ticks(axes, y=5 if strip is _RECOVERY else 3)
        axes.set_ylim(*limits)


def recovery_panels(statistics: RunStatistics) -> Iterator[tuple[str, Sequence[Scenario], str]]:
    """Yield the end of each figure's name, its scenarios, of one bias and classifier, and its metric.

    Metrics are discrimination and accuracy, or all where neither is measured.
    """
    table = statistics.recovery
    main = table["metric"].isin([DISCRIMINATION, ACCURACY])
    table = table[main] if main.any() else table
    kinds = dict.fromkeys((scenario.bias, scenario.classifier) for scenario in statistics.scenarios)
    for metric in table[table["recovery"].notna()]["metric"].unique():
        for bias, classifier in kinds:
            scenarios = [s for s in statistics.scenarios if (s.bias, s.classifier) == (bias, classifier)]
            scenarios = [s for s in scenarios if (s.rows(table)["metric"] == metric).any()]
            if scenarios:
                kind = [bias, classifier] if len(kinds) > 1 else []
                yield "__".join([statistics.metric_files[metric], *map(file_name, kind)]), scenarios, metric
