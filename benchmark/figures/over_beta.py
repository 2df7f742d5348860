"""Metrics of each technique over the levels of bias."""

import math
from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from benchmark.experiment.entries import TechniqueEntry
from benchmark.figures import EVERYTHING, Choice, marks, style
from benchmark.figures.page import Page
from benchmark.figures.style import FAINT, GREY, Look, line_style
from benchmark.metrics import list_metrics
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import STAGES, Manifest, MetricDescription
from benchmark.runs.report_frames import Scenario
from benchmark.statistics.answers import ACCURACY
from benchmark.tables.techniques import DEGENERATE
from benchmark.wording import level_axis, levels_are_paired, vocabulary

_MOST_LINES = 9  # that the eye distinguishes
_LEAST_SAMPLES = 3  # two give intervals many times their distance
_ALONE, _WITH_GROUPS = (2.9, 2.1), (2.1, 1.6)  # size of a panel
_EDGE: Look = {"mec": "white", "mew": 0.4, "zorder": 3}
_HOLLOW = Line2D([], [], ls="none", marker="o", mec=GREY, mfc="white", label="hollow: degenerate")

_Shown: TypeAlias = Sequence[tuple[TechniqueEntry, int]]  # techniques with the positions of their looks


@style.styled()
def draw_over_beta(run: RunFrames, scenario: Scenario, choice: Choice = EVERYTHING) -> Page:
    """Draw each metric over the levels of bias, a panel per metric, a line with its interval per technique.

    Intervals are cut at the metric's range, and not drawn of fewer than three repetitions. Metrics are the
    headline metrics, unless others are chosen.
    """
    manifest, summary = run.manifest, _within_range(scenario.rows(run.summary))
    measured = set(summary["metric"])
    described = {metric.name: metric for metric in manifest.metrics if metric.name in measured}
    headline = [metric.name for metric in manifest.shown.metrics if metric.name in measured]
    chosen = headline if choice.metrics is None else choice.of_metrics(described)
    metrics, constant = [described[name] for name in chosen], scenario.constant_accuracy
    titles = marks.titles_of(summary, manifest, choice)
    summary = summary[summary["metric"].isin(chosen) & summary["technique"].isin(titles)]
    # A technique has the same look in all figures of a run.
    known = {technique.name: (technique, i) for i, technique in enumerate(manifest.techniques)}
    shown = [known[name] for name in titles]
    hollow = marks.signs_of(scenario.rows(run.standing), titles, [DEGENERATE])
    near = marks.is_near(constant, summary.loc[summary["metric"] == ACCURACY, "mean"])
    groups: list[tuple[str, _Shown]] = [("", shown)]
    if any(technique.told for technique, _ in shown) or len(shown) > _MOST_LINES:
        groups = list(_technique_groups(shown, scenario.baseline, manifest))
    many = "Black: the baseline. Light gray: the techniques of the other rows."
    words = [
        "Means with 95 % intervals." if manifest.repetitions >= _LEAST_SAMPLES else "Means.",
        levels_are_paired(manifest),
        many if len(groups) > 1 else "",
        marks.constant_text(scenario.best_constant, drawn=near) if ACCURACY in chosen else "",
    ]
    size = _ALONE if len(groups) == 1 else _WITH_GROUPS
    page = Page(
        len(metrics) * len(groups),
        min(2 if size is _ALONE else 4, len(metrics)),
        panel=size,
        title=f"{scenario.heading}: metrics over the level of bias",
        subtitle=marks.subtitle(scenario, manifest, " ".join(filter(None, words))),
        notes=[
            *marks.told_notes(titles, manifest, "Tinted"),
            *marks.notes(
                scenario,
                signs=hollow.values(),
                look="hollow",
                missing=marks.lacking(summary, titles, manifest),
            ),
        ],
        # A legend below all panels does not tell whose lines a panel has.
        panel_titles=[
            f"{metric.title}, {title.lower()}" if title and choice.width else metric.title
            for title, _ in groups
            for metric in metrics
        ],
        choice=choice,
        block=len(metrics),
    )
    for g, (title, group) in enumerate(groups):
        panels = page.panels[g * len(metrics) : (g + 1) * len(metrics)]
        for i, (axes, metric) in enumerate(zip(panels, metrics, strict=True)):
            rows = summary[summary["metric"] == metric.name]
            _draw_lines(axes, rows, group, hollow)
            # A metric without values at some level has the same axis as those that it stands above.
            axes.set_xlim(*style.padded(manifest.levels, 0.05, 0.0))
            style.set_level_ticks(axes, manifest.levels)
            _draw_reference(axes, metric, constant if near else np.nan)
            if any(technique.told for technique, _ in group):
                axes.set_facecolor(marks.TOLD)
            if g:  # each metric has the same limits in all groups
                axes.sharey(page.panels[i])
        handles = [Line2D([], [], label=t.full_title, **line_style(i)) for t, i in group]
        page.legend_beside(panels[0], [*handles, *[_HOLLOW] * bool(hollow)], title)
    page.name_axes(level_axis(manifest), y_alike=False)
    return page.fit()


def _technique_groups(shown: _Shown, baseline: str, run: Manifest) -> Iterator[tuple[str, _Shown]]:
    """Yield title and techniques of each row of panels, those of a stage or of a part of one.

    Those that are told something are a stage of their own, the last. Each stage has the baseline, if it is
    shown. A technique's look follows from its position among all techniques of its stage, so it is the same
    on all datasets of a run.
    """
    names = {technique.name for technique, _ in shown}
    first = [(technique, 0) for technique, _ in shown if technique.name == baseline]
    blind = [t for t in run.techniques if not t.told]
    stages = {title: [t for t in blind if run.stages.get(t.name, "") == own] for own, title in STAGES.items()}
    if len(blind) <= _MOST_LINES:
        stages = {"": blind}
    told = [t for t in run.techniques if t.told]
    for title, of_stage in {**stages, vocabulary()["told"]["label"]: told}.items():
        n_parts = math.ceil(len(of_stage) / (_MOST_LINES - 1))
        for part in range(n_parts):
            # The sizes of parts differ by one at most.
            members = of_stage[part * len(of_stage) // n_parts : (part + 1) * len(of_stage) // n_parts]
            lines = [(t, i) for i, t in enumerate(members, 1) if t.name in names - {baseline}]
            if lines:
                yield title + (f" ({part + 1} of {n_parts})" if n_parts > 1 else ""), [*first, *lines]


def _within_range(summary: pd.DataFrame) -> pd.DataFrame:
    """Return means with intervals that are cut at their metrics' ranges, if of enough repetitions."""
    names, ranges = summary["metric"].str.partition("[")[0], list_metrics()
    low, high = (
        names.map({name: metric.range[end] for name, metric in ranges.items()}).astype(float)
        for end in (0, 1)
    )
    ends = summary[["ci_low", "ci_high"]].clip(low, high, axis=0)
    return summary.assign(**ends.where(summary["n"] >= _LEAST_SAMPLES))


def _draw_reference(axes: Axes, metric: MetricDescription, constant: float) -> None:
    """Draw lines at the best constant answer, and at the ideal unless it would stretch the axis."""
    if metric.name == ACCURACY and np.isfinite(constant):
        axes.axhline(constant, **marks.CONSTANT_LINE, gid="constant")
    low, high = axes.get_ylim()
    if metric.ideal is not None and low <= metric.ideal <= high:
        axes.axhline(metric.ideal, **style.DASHED_RULE)


def _draw_lines(axes: Axes, rows: pd.DataFrame, group: _Shown, hollow: Collection[tuple[str, float]]) -> None:
    behind = rows[~rows["technique"].isin([technique.name for technique, _ in group])]
    if len(behind):  # one broken line, because hundreds of lines make a large file
        grid = behind.pivot(index="technique", columns="level", values="mean")
        beta, mean = np.append(grid.columns, np.nan), np.pad(grid, [(0, 0), (0, 1)], constant_values=np.nan)
        axes.plot(np.tile(beta, len(grid)), mean.ravel(), color=FAINT, lw=0.6, zorder=1.5, gid="others")
    for technique, position in group:
        own, look = rows[rows["technique"] == technique.name], line_style(position)
        beta, mean, low, high = own[["level", "mean", "ci_low", "ci_high"]].to_numpy().T
        axes.plot(beta, mean, **_EDGE, **look)
        axes.fill_between(beta, low, high, color=look["color"], alpha=0.18, lw=0, zorder=2)
        empty = np.array([(technique.name, level) in hollow for level in beta], dtype=bool)
        if empty.any():
            mark = {"marker": look["marker"], "mec": look["color"], "mfc": "white"}
            axes.plot(beta[empty], mean[empty], ls="none", zorder=3.2, gid="degenerate", **mark)
