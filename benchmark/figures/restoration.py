"""Who gets back what the planted bias took, and who pays: three shares of people for each technique."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from benchmark.figures import EVERYTHING, Choice, Drawing, marks, style
from benchmark.figures.page import Page, RowLabels
from benchmark.figures.style import BLUE, GREY, ORANGE, Look
from benchmark.metrics.restoration import RESTORATION, SHARES
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import Scenario
from benchmark.statistics.answers import undo_of, with_useful
from benchmark.statistics.decisions import LEAST_PEOPLE
from benchmark.wording.described import repetitions

_TITLES = {
    "given_back": "Given back: % accepted of those who lost acceptance by the bias. More is better",
    "paid": "Paid: % refused of those whom clean model and biased baseline accept. Less is better",
    "in_their_place": "In their place: % accepted of those whom the clean model refuses. Less is better",
}
assert tuple(_TITLES) == tuple(SHARES)
_MORE_IS_BETTER = "given_back"
_PANEL_WIDTH = 1.95
_CLEAN: Look = {"color": "black", "lw": 1.1, "ls": "solid"}
_BIASED: Look = {"color": "#882255", "lw": 1.2, "ls": (0, (3, 1.5))}
_UNTREATED: Look = {"color": "#6E9A00", "lw": 1.3, "ls": (0, (1, 1.2))}
_REFERENCES = {
    "refit_clean": (_CLEAN, "untreated, refit on clean rows"),
    "refit_biased": (_BIASED, "untreated, refit on biased rows"),
    "biased_baseline": (_UNTREATED, "biased baseline (0 % in the other panels)"),
}
_LOOKS = {
    "better": ("o", BLUE, "better than the refit on biased rows, shown"),
    "worse": ("s", ORANGE, "worse than it, shown"),
    "neither": ("D", GREY, "not shown to differ"),
}
_SHOWN = ["value", "value_low", "value_high", "beyond_refit_low", "beyond_refit_high"]


def restoration_figures(statistics: RunStatistics) -> Iterator[Drawing]:
    """Yield ``restoration_<scenario>`` where decisions of techniques were compared."""
    for scenario in statistics.scenarios:
        if len(_of_techniques(scenario.rows(statistics.restoration))):
            drawing = functools.partial(draw_restoration, statistics, scenario)
            yield f"restoration_{scenario.file_name}", drawing


@style.styled()
def draw_restoration(statistics: RunStatistics, scenario: Scenario, choice: Choice = EVERYTHING) -> Page:
    """Draw the decisions that techniques give back at a scenario's highest level of bias, and their cost.

    Each share of people has a panel, each technique a row, the nearest to the clean model first. Marks and
    intervals are cut at 0 and 100 %. A hollow mark is a technique with a bad standing. Lines are the refits
    of a technique's learner and, where it accepts others, the biased baseline.
    """
    run = statistics.run
    rows = scenario.rows(statistics.restoration)
    beta = float(rows["beta"].max())
    rows = rows[rows["beta"] == beta]
    metrics, names = choice.of_metrics(_TITLES), choice.of_techniques(_nearest_first(_of_techniques(rows)))
    standing = with_useful(scenario.rows(statistics.standing).query("beta == @beta"))
    useful = set(standing.loc[standing["useful"], "technique"])
    signs = {name: sign for (name, _), sign in marks.signs_of(standing).items() if name in names}
    reasons = undo_of(rows.drop_duplicates("baseline"), statistics.undo)
    titles = [f"{run.titles[name]} {signs.get(name, '')}".strip() for name in names]
    labels = RowLabels(titles, choice.width)
    page = Page(
        len(metrics),
        len(metrics),
        panel=(_PANEL_WIDTH, max(0.8, labels.row * len(names))),
        title="Goal: restore decisions. Who gets back what the bias took: "
        f"{scenario.heading}, {run.level_text(beta)}",
        subtitle=f"The nearest to the clean model is first. Shares of people in {repetitions(run)}, with "
        "95 % intervals. Clean model: the untreated learner, trained without planted bias. Refit: the same "
        "learner on a random draw of the rows; on biased rows it gives back decisions by chance.",
        notes=[
            "Shown: the 95 % interval of the difference to the refit on biased rows leaves out 0. Hollow: "
            f"see the sign beside the name. No mark: fewer than {LEAST_PEOPLE} people to count.",
            *(f"Not weighed: {reason}." for reason in marks.not_weighed(reasons)),
            *marks.meanings(signs.values()),
            *marks.notes_on(scenario.dataset),
        ],
        panel_titles=[_TITLES[metric] for metric in metrics],
        choice=choice,
        left=labels.width,
        least=0.9,
    )
    for metric, axes in zip(metrics, page.panels, strict=True):
        _draw_share(axes, rows[rows["metric"] == metric], names, useful)
        labels.write(axes, named=page.first_in_row(axes))
        style.set_ticks(axes, x=4)
    handles = [
        Line2D([], [], ls="none", marker=marker, mec=color, mfc=color, ms=4.6, label=label)
        for marker, color, label in _LOOKS.values()
    ]
    page.legend_below(
        [*handles, *(Line2D([], [], label=label, **look) for look, label in _REFERENCES.values())]
    )
    return page.fit()


def _nearest_first(rows: pd.DataFrame) -> list[str]:
    """Return the techniques of one level of bias of a scenario, the nearest to the clean model first."""
    distances = rows[rows["metric"] == RESTORATION[0]].sort_values("value", kind="stable")
    return list(dict.fromkeys([*distances["technique"], *rows["technique"]]))


def _of_techniques(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of techniques other than the baselines."""
    return rows[rows["technique"] != rows["baseline"]]


def _draw_share(axes: Axes, rows: pd.DataFrame, names: Sequence[str], useful: set[str]) -> None:
    metric = rows["metric"].iloc[0]
    by_name = rows.set_index("technique")
    shown = by_name.loc[list(names)]
    percents = 100 * shown[_SHOWN[:3]].to_numpy(dtype=float).clip(0, 1)
    heights = np.arange(len(names))
    lines = {name: 100 * shown[name].to_numpy(dtype=float) for name in ("refit_clean", "refit_biased")}
    if metric == "in_their_place":
        untreated = by_name["value"].reindex(shown["baseline"])
        lines["biased_baseline"] = 100 * untreated.to_numpy(dtype=float)
    # Lines of one learner meet, lines of several do not.
    half = 0.5 if shown["baseline"].nunique() == 1 else 0.36
    for name, values in lines.items():
        look, _ = _REFERENCES[name]
        axes.vlines(values, heights - half, heights + half, zorder=1.5, gid=name, **look)
    style.guide_rows(axes, len(names))
    beyond = shown[_SHOWN[3:]].to_numpy(dtype=float)
    for y, (name, (value, low, high), ends) in enumerate(zip(names, percents, beyond, strict=True)):
        marker, color, _ = _LOOKS[_beside_refit(metric, *ends)]
        axes.hlines(y, low, high, color=color, lw=1.3, zorder=2, capstyle="projecting")
        face = color if name in useful else "white"
        axes.plot(value, y, marker, mfc=face, mec=color, mew=1.1, ms=4.6, zorder=3, gid="share")
    highest = max(np.nanmax([*percents.ravel(), *np.concatenate(list(lines.values())), 0.0]), 1.0)
    axes.set_xlim(-0.04 * highest, 1.04 * highest)


def _beside_refit(metric: str, low: float, high: float) -> str:
    """Return the key of a technique's look, from the interval of its difference to the refit."""
    more, less = low > 0, high < 0
    better, worse = (more, less) if metric == _MORE_IS_BETTER else (less, more)
    return "better" if better else "worse" if worse else "neither"
