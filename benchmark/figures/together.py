"""All techniques of a dataset in one figure, whatever their learner, each beside its learner's baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from benchmark.figures import EVERYTHING, Choice, marks, style
from benchmark.figures.label_places import write_keys
from benchmark.figures.page import Page
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import SameRows, Scenario, records
from benchmark.statistics.answers import ACCURACY, DISCRIMINATION
from benchmark.statistics.cells import WHERE
from benchmark.wording.described import provenance, repetitions

_MOST_LEVELS = 6
_MOST_COLUMNS = 3
_PANEL = (2.7, 2.3)
_AXES = [DISCRIMINATION, ACCURACY]
_POINT = ["classifier", "technique"]


@style.styled()
def draw_together(statistics: RunStatistics, rows: SameRows, choice: Choice = EVERYTHING) -> Page:
    """Draw mean discrimination against mean accuracy of all techniques, a panel for each level of bias.

    Each learner has a color. A line leads from the baseline of a learner, a large mark, to each technique
    with it. Techniques are numbered, and named below.
    """
    run, scenarios = statistics.run, rows.scenarios
    choice.of_metrics(_AXES)
    points = _points(statistics, scenarios)
    names = list(marks.titles_of(points, run, choice))
    chosen = points[points["technique"].isin(names)]
    beside = {*chosen[["classifier", "baseline"]].itertuples(index=False, name=None)}
    points = points[
        [t in names or (c, t) in beside for c, t in zip(*points[_POINT].to_numpy().T, strict=True)]
    ]
    numbered = chosen[chosen["technique"] != chosen["baseline"]]
    numbered = numbered.sort_values("technique", key=lambda column: column.map(names.index), kind="stable")
    keys = {name: str(number) for number, name in enumerate(numbered["technique"].unique(), 1)}
    looks = {s.classifier: style.line_style(i) | {"linestyle": "none"} for i, s in enumerate(scenarios)}
    levels = style.beta_ticks(run.levels, _MOST_LEVELS)
    first = scenarios[0]
    across, up = (style.padded(points[axis], 0.08, 0.005) for axis in _AXES)
    drawn = up[0] <= first.constant_accuracy <= up[1]
    source = provenance(first.dataset)
    how = (
        f"{repetitions(run)}, means. Lines lead from the baseline of a learner, a large mark, to the "
        f"techniques with it. {marks.constant_text(first.best_constant, drawn=drawn)}"
    )
    page = Page(
        len(levels),
        min(len(levels), _MOST_COLUMNS),
        panel=_PANEL,
        title=f"{rows.heading}: all techniques, with every learner",
        subtitle=f"{source[0].upper()}{source[1:]}; {how}".strip(),
        notes=marks.notes_on(first.dataset),
        panel_titles=[run.level_text(level) for level in levels],
        choice=choice,
    )
    for axes, level in zip(page.panels, levels, strict=True):
        axes.set(xlim=across, ylim=up)
        style.set_ticks(axes, x=4, y=5)
        axes.axvline(0, color=style.FAINT, lw=0.8, zorder=1)
        if drawn:
            axes.axhline(first.constant_accuracy, **marks.CONSTANT_LINE)
        _draw_panel(axes, points[points["beta"] == level], looks)
    page.name_axes("discrimination", "accuracy")
    page.legend_below([Line2D([], [], label=learner, **look) for learner, look in looks.items()])
    page.list_below([f"{key}  {run.titles[name]}" for name, key in keys.items()])
    page.fit()
    for axes, level in zip(page.panels, levels, strict=True):
        own, others = (rows[rows["beta"] == level] for rows in (numbered, points))
        write_keys(axes, pd.concat([own, others])[_AXES], [keys[name] for name in own["technique"]])
    return page


def _points(statistics: RunStatistics, scenarios: Sequence[Scenario]) -> pd.DataFrame:
    """Return mean discrimination and accuracy of each cell that has both, with its baseline."""
    rows = pd.concat([scenario.rows(statistics.intervals) for scenario in scenarios])
    means = rows[rows["metric"].isin(_AXES)].pivot(index=[*WHERE], columns="metric", values="mean")
    points = means.reindex(columns=_AXES).dropna().reset_index()
    return points.assign(baseline=statistics.baselines.column(points))


def _draw_panel(axes: Axes, points: pd.DataFrame, looks: Mapping[str, style.Look]) -> None:
    """Draw the points of a level of bias, and a line from each baseline to the techniques beside it."""
    at = {(row.classifier, row.technique): (row.discrimination, row.accuracy) for row in records(points)}
    for row in records(points):
        look, end = looks[row.classifier], (row.discrimination, row.accuracy)
        if row.technique == row.baseline:
            axes.plot(*end, **look, ms=9, zorder=3, gid="baseline")
            continue
        if (start := at.get((row.classifier, row.baseline))) is not None:
            line: style.Look = {"color": look["color"], "lw": 0.6, "alpha": 0.6, "zorder": 2}
            axes.plot(*zip(start, end, strict=True), **line, gid="change")
        axes.plot(*end, **look, ms=4.5, zorder=3.2, gid="technique")
