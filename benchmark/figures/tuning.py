"""Figure of the cost of choosing settings on biased rows, over the level of bias."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from benchmark.figures import style
from benchmark.figures.style import Page, line_style
from benchmark.runs.analysis import RunStatistics
from benchmark.sections.data import data_notes
from benchmark.sections.tuning import CHOICES, pooled
from benchmark.statistics.tuning import CHOSEN_ON

_PANEL = (2.2, 1.7)


def draw_regret(statistics: RunStatistics) -> Figure:
    """Draw regret against the oracle over the level of bias, and the share of fits beyond the constraint.

    All datasets together have a column of panels, and each dataset has one. Bars are intervals.
    """
    run = statistics.run
    parts = list(pooled(statistics, "oracle"))
    names = [on for on in CHOSEN_ON if on in set(statistics.regret["chosen_on"])]
    columns = len(parts)
    handles = [Line2D([], [], **line_style(i), label=CHOICES[on]) for i, on in enumerate(names)]
    oracle = line_style(len(names))
    ends = [end for _, rows in parts for end in rows[["regret_low", "regret_high"]].to_numpy(float).ravel()]
    limits = style.padded([0.0, *ends], 0.05, 0.002)
    with style.styled():
        page = Page(
            2 * columns,
            columns,
            panel=_PANEL,
            title="What it costs to choose a setting on biased rows",
            subtitle="Above: how much worse the objective is on the original test than with the setting that "
            "the test rows would have chosen, with 95 % intervals over training samples. Below: fits beyond "
            "the constraint there, which can be better than the oracle. "
            + ("Without planted bias, both differ by chance alone. " if 0 in run.levels else "")
            + f"Rule: {run.tuned_by}.",
            notes=list(data_notes(run.datasets, run)),
            left=0.95,
            right=0.35 + 0.75 + style.widest([CHOICES[on] for on in (*names, "oracle")]),
            gap=(0.25, 0.25),
            panel_titles=[heading for heading, _ in parts] + [""] * columns,
        )
        for i, (_, part) in enumerate(parts):
            above, below = page.axes[i], page.axes[columns + i]
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
            below.plot(rows["beta"], rows["breaks_against"], mec="white", mew=0.4, **oracle)
            for axes in (above, below):
                style.set_level_ticks(axes, run.levels)
                axes.set_xlim(*style.padded(part["beta"], 0.06, 0.02))
            above.tick_params(labelbottom=False, labelleft=i == 0)
            above.set_ylim(*limits)
            below.set_xlabel(run.level_axis)
            below.set_ylim(-0.04, 1.04)
            below.yaxis.set_major_formatter(PercentFormatter(1.0))
            above.set_ylabel("regret" if i == 0 else "")
            below.set_ylabel("fits beyond the\nconstraint" if i == 0 else "")
            below.tick_params(labelleft=i == 0)
        handles.append(Line2D([], [], **oracle, label=CHOICES["oracle"]))
        page.legend_beside(page.axes[0], handles, "Setting")
    return page.figure
