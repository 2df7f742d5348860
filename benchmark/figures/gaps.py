"""What techniques change of the gaps between groups, of the mitigated attribute and of the others."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchmark.columns import CROSSED
from benchmark.figures import Drawing, style
from benchmark.figures.style import LINE, Look, Page, RowLabels, line_style
from benchmark.runs.analysis import RunStatistics
from benchmark.sections.certainty import own_notes
from benchmark.sections.data import data_notes
from benchmark.sections.gaps import gap_title
from benchmark.statistics.cells import SCENARIO
from benchmark.text.words import file_name

_NAME_WIDTH, _WIDTH = 2.0, 1.9
_MOST_COLUMNS = 3
_SHOWN = ["attribute", "technique", "difference", "difference_low", "difference_high"]


def gap_figures(statistics: RunStatistics) -> Iterator[Drawing]:
    """Yield name and drawing function: ``groups_<metric>``, with bias, classifier and test where several."""
    table = statistics.groups[statistics.groups["difference"].notna()]
    kinds = [column for column in SCENARIO[1:] if table[column].nunique() > 1]
    for metric in table["metric"].unique():
        own = table[table["metric"] == metric]
        for keys, rows in own.groupby(list(SCENARIO[1:]), sort=False):
            names = [
                metric,
                *(key for column, key in zip(SCENARIO[1:], keys, strict=True) if column in kinds),
            ]
            yield (
                "groups_" + "__".join(map(file_name, names)),
                functools.partial(draw_gaps, statistics, rows, metric),
            )


def draw_gaps(statistics: RunStatistics, rows: pd.DataFrame, metric: str) -> Figure:
    """Draw by how much each technique changes the largest gap in a rate, for every attribute.

    A panel for each dataset at the lowest and the highest level of bias, a row for each technique, a mark
    with its interval for each attribute.
    """
    scenarios = [scenario for scenario in statistics.scenarios if len(scenario.rows(rows))]
    betas = sorted({rows["beta"].min(), rows["beta"].max()})
    rows = rows[rows["beta"].isin(betas)]
    panels = [(beta, scenario) for beta in betas for scenario in scenarios]
    titles = {name: statistics.run.titles[name] for name in rows["technique"].unique()}
    # An intersection is the same in whatever order a dataset names its columns.
    looks: dict[frozenset[str], tuple[Look, str]] = {}
    for attribute in rows["attribute"].unique():
        looks.setdefault(_parts(attribute), (line_style(len(looks)), attribute))
    labels = RowLabels([style.wrap(title, _NAME_WIDTH) for title in titles.values()])
    columns = min(len(scenarios), _MOST_COLUMNS)
    height = max(0.05 + 0.085 * len(looks), labels.tallest * LINE)
    with style.styled():
        page = Page(
            len(panels),
            columns,
            panel=(_WIDTH, max(0.6, height * len(titles))),
            title=f"{gap_title(metric)}: what techniques change for every attribute",
            subtitle="The gap of a technique minus that of the baseline on the same samples: above 0 (right) "
            "groups are farther apart. Techniques know of the group above the panel only. Means of "
            f"{statistics.run.repetitions_text} with 95 % intervals; filled: the interval "
            "leaves out 0.",
            notes=[
                *own_notes(statistics, scenarios),
                *data_notes({s.dataset.name: s.dataset for s in scenarios}.values(), statistics.run),
            ],
            left=0.3 + labels.width,
            right=0.9 + style.widest(label for _, label in looks.values()),
            gap=(0.2, 0.25),
            panel_titles=[
                f"{s.heading}, {s.dataset.sensitive_feature} = {s.dataset.deprived_group}, "
                f"{statistics.run.level_text(beta)}"
                for beta, s in panels
            ],
            titles_stay=True,
        )
        ends = rows[["difference_low", "difference_high"]].to_numpy(dtype=float).ravel()
        limits = style.padded([*ends, *rows["difference"], 0.0], 0.06, 0.005)
        for i, ((beta, scenario), axes) in enumerate(zip(panels, page.axes, strict=True)):
            own = scenario.rows(rows)
            _draw_panel(axes, own[own["beta"] == beta], list(titles), looks)
            axes.set_xlim(*limits)
            labels.write(axes, named=page.first_in_row(i))
            axes.grid(visible=False, axis="y")
            style.set_ticks(axes, x=3)
        marks = [Line2D([], [], **{**look, "ls": "none"}, label=label) for look, label in looks.values()]
        page.legend_beside(page.axes[0], marks)
    return page.figure


def _parts(attribute: str) -> frozenset[str]:
    return frozenset(attribute.split(CROSSED))


def _draw_panel(
    axes: Axes,
    rows: pd.DataFrame,
    names: Sequence[str],
    looks: Mapping[frozenset[str], tuple[Look, str]],
) -> None:
    axes.axvline(0, **style.RULE)
    axes.hlines(np.arange(len(names)), 0, 1, color="#EFEFEF", lw=0.6, transform=axes.get_yaxis_transform())
    attributes = list(rows["attribute"].unique())
    for attribute, technique, value, low, high in rows[_SHOWN].itertuples(index=False, name=None):
        look, _ = looks[_parts(attribute)]
        shift = attributes.index(attribute) - (len(attributes) - 1) / 2
        y = names.index(technique) + 0.75 * shift / len(attributes)
        axes.hlines(y, low, high, color=look["color"], lw=1.1, zorder=2)
        face = look["color"] if low > 0 or high < 0 else "white"
        axes.plot(value, y, look["marker"], mfc=face, mec=look["color"], mew=0.9, ms=3.8, zorder=3, gid="gap")
