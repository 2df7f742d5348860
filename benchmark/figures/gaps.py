"""Changes of the gaps between groups by techniques, for the mitigated attribute and for the others."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from benchmark.columns import CROSSED
from benchmark.figures import EVERYTHING, Choice, Drawing, marks, style
from benchmark.figures.page import Page, RowLabels
from benchmark.figures.style import Look, line_style
from benchmark.metrics import get_metric
from benchmark.runs.analysis import RunStatistics
from benchmark.statistics.cells import SCENARIO
from benchmark.text.words import file_name
from benchmark.wording.described import repetitions

_WIDTH = 1.9
_MOST_COLUMNS = 3
_SHOWN = ["attribute", "technique", "difference", "difference_low", "difference_high"]


def gap_figures(statistics: RunStatistics) -> Iterator[Drawing]:
    """Yield ``groups_<metric>``, with bias, classifier and test where there are several."""
    table = statistics.groups[statistics.groups["difference"].notna()]
    kinds = [column for column in SCENARIO[1:] if table[column].nunique() > 1]
    for metric in table["metric"].unique():
        for _, rows in table[table["metric"] == metric].groupby(list(SCENARIO[1:]), sort=False):
            names = [metric, *(str(rows[column].iloc[0]) for column in kinds)]
            draw = functools.partial(draw_gaps, statistics, rows, metric)
            yield "groups_" + "__".join(map(file_name, names)), draw


@style.styled()
def draw_gaps(
    statistics: RunStatistics, rows: pd.DataFrame, metric: str, choice: Choice = EVERYTHING
) -> Page:
    """Draw the change of the largest gap in a rate by each technique, for every attribute.

    Each dataset has a panel at the lowest and at the highest level of bias, with a row for each technique. An
    attribute has a mark with an interval.
    """
    run = statistics.run
    names = choice.of_techniques(rows["technique"].unique())
    choice.of_metrics([metric])
    betas = sorted({rows["beta"].min(), rows["beta"].max()})
    rows = rows[rows["beta"].isin(betas) & rows["technique"].isin(names)]
    scenarios = [scenario for scenario in statistics.scenarios if len(scenario.rows(rows))]
    panels = [(beta, scenario) for beta in betas for scenario in scenarios]
    # Datasets may name the columns of an intersection in another order.
    looks: dict[frozenset[str], tuple[Look, str]] = {}
    for attribute in rows["attribute"].unique():
        looks.setdefault(_parts(attribute), (line_style(len(looks)), attribute))
    labels = RowLabels([run.titles[name] for name in names], choice.width)
    page = Page(
        len(panels),
        min(len(scenarios), _MOST_COLUMNS),
        panel=(_WIDTH, max(0.6, len(names) * max(labels.row, 0.05 + 0.085 * len(looks)))),
        title=f"{get_metric(metric).title}, largest gap: what techniques change for every attribute",
        subtitle="The gap of a technique minus the baseline's gap on the same samples. Above 0 (right) "
        "groups are farther apart. Techniques know only the group above the panel. Means of "
        f"{repetitions(run)} with 95 % intervals. Filled: the interval leaves out 0.",
        notes=marks.notes_on(*(s.dataset for s in scenarios)),
        panel_titles=[
            f"{scenario.heading}, {scenario.dataset.sensitive_feature} = "
            f"{scenario.dataset.deprived_group}, {run.level_text(beta)}"
            for beta, scenario in panels
        ],
        choice=choice,
        left=labels.width,
    )
    ends = rows[["difference_low", "difference_high"]].to_numpy(dtype=float).ravel()
    limits = style.padded([*ends, *rows["difference"], 0.0], 0.06, 0.005)
    for (beta, scenario), axes in zip(panels, page.panels, strict=True):
        _draw_panel(axes, scenario.rows(rows[rows["beta"] == beta]), names, looks)
        axes.set_xlim(*limits)
        labels.write(axes, named=page.first_in_row(axes))
        style.set_ticks(axes, x=3)
    handles = [Line2D([], [], **{**look, "ls": "none"}, label=label) for look, label in looks.values()]
    page.legend_beside(page.panels[0], handles)
    return page.fit()


def _parts(attribute: str) -> frozenset[str]:
    return frozenset(attribute.split(CROSSED))


def _draw_panel(
    axes: Axes,
    rows: pd.DataFrame,
    names: Sequence[str],
    looks: Mapping[frozenset[str], tuple[Look, str]],
) -> None:
    axes.axvline(0, **style.RULE)
    style.guide_rows(axes, len(names))
    attributes = list(rows["attribute"].unique())
    for attribute, technique, value, low, high in rows[_SHOWN].itertuples(index=False, name=None):
        look, _ = looks[_parts(attribute)]
        shift = attributes.index(attribute) - (len(attributes) - 1) / 2
        y = names.index(technique) + 0.75 * shift / len(attributes)
        axes.hlines(y, low, high, color=look["color"], lw=1.1, zorder=2)
        face = look["color"] if low > 0 or high < 0 else "white"
        axes.plot(value, y, look["marker"], mfc=face, mec=look["color"], mew=0.9, ms=3.8, zorder=3, gid="gap")
