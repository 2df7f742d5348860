"""Figure of the cost of choosing settings on biased rows, over the level of bias."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from benchmark.figures import EVERYTHING, Choice, marks, style
from benchmark.figures.page import Page
from benchmark.figures.style import line_style
from benchmark.runs.analysis import RunStatistics
from benchmark.statistics.tuning import CHOSEN_ON
from benchmark.wording.described import level_axis

_PANEL = (2.2, 1.7)
_CHOICES = {
    "default": "default",
    "biased": "tuned on biased rows",
    "clean": "tuned on clean rows",
    "oracle": "oracle",
}


@style.styled()
def draw_regret(statistics: RunStatistics, choice: Choice = EVERYTHING) -> Page:
    """Draw regret against the oracle over the level of bias, and the share of fits beyond the constraint.

    All datasets together have a column of panels, and each dataset has one. Bars are intervals.
    """
    run = statistics.run
    choice.of_metrics(), choice.of_techniques()
    parts = list(_parts(statistics))
    names = [on for on in CHOSEN_ON if on in set(statistics.regret["chosen_on"])]
    handles = [Line2D([], [], **line_style(i), label=_CHOICES[on]) for i, on in enumerate(names)]
    oracle = line_style(len(names))
    ends = [end for _, rows in parts for end in rows[["regret_low", "regret_high"]].to_numpy(float).ravel()]
    limits = style.padded([0.0, *ends], 0.05, 0.002)
    page = Page(
        2 * len(parts),
        len(parts),
        panel=_PANEL,
        title="What it costs to choose a setting on biased rows",
        subtitle="Above: how much worse the objective is on the original test than with the setting that "
        "the test rows would have chosen, with 95 % intervals over training samples. Below: fits beyond "
        "the constraint there, which can be better than the oracle. "
        + ("Without planted bias, both differ by chance alone. " if 0 in run.levels else "")
        + f"Rule: {run.tuned_by}.",
        notes=marks.notes(*run.datasets),
        panel_titles=[heading for heading, _ in parts] + [""] * len(parts),
        choice=choice,
    )
    for i, (_, part) in enumerate(parts):
        above, below = page.panels[i], page.panels[len(parts) + i]
        above.axhline(0, **style.RULE)
        for position, on in enumerate(names):
            rows, look = part[part["chosen_on"] == on].sort_values("beta"), line_style(position)
            # Intervals of several choices stand side by side.
            beta = rows["beta"] + (position - (len(names) - 1) / 2) * 0.02 * np.ptp(part["beta"])
            low, high = rows["regret_low"], rows["regret_high"]
            above.vlines(beta, low, high, colors=look["color"], lw=1.0, alpha=0.6)
            above.plot(beta, rows["regret"], mec="white", mew=0.4, zorder=3, **look)
            below.plot(rows["beta"], rows["breaks"], mec="white", mew=0.4, **look)
        rows = part.drop_duplicates("beta").sort_values("beta")
        below.plot(rows["beta"], rows["breaks_oracle"], mec="white", mew=0.4, **oracle)
        for axes in (above, below):
            style.set_level_ticks(axes, run.levels)
            axes.set_xlim(*style.padded(part["beta"], 0.06, 0.02))
        above.set_ylim(*limits)
        below.set_ylim(-0.04, 1.04)
        below.yaxis.set_major_formatter(PercentFormatter(1.0))
    page.name_axes(level_axis(run))
    for words, axes in (("regret", page.panels[0]), ("fits beyond the\nconstraint", page.panels[len(parts)])):
        axes.set_ylabel(words)
    handles.append(Line2D([], [], **oracle, label=_CHOICES["oracle"]))
    page.legend_beside(page.panels[0], handles, "Setting")
    return page.fit()


def _parts(statistics: RunStatistics) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield heading and mean regrets over techniques, of all datasets together and then of each."""
    table = statistics.regret
    table = table[table["technique"] == ""]
    several = [column for column in ("bias", "classifier") if table[column].nunique() > 1]
    headings = {dataset.name: dataset.heading for dataset in statistics.run.datasets}
    table = table.sort_values("dataset", key=lambda names: names != "", kind="stable")
    for (dataset, *_), regrets in table.groupby(["dataset", "bias", "classifier"], sort=False):
        heading = headings.get(str(dataset), "All datasets")
        yield ", ".join([heading, *(str(regrets[column].iloc[0]) for column in several)]), regrets
