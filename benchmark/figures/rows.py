"""Figures with a row for each technique: improvements, gaps between groups, and decisions restored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from benchmark.columns import CROSSED
from benchmark.figures import EVERYTHING, Choice, marks, style
from benchmark.figures.page import Page, RowLabels
from benchmark.figures.style import BLUE, GREY, ORANGE, Look
from benchmark.metrics import get_metric
from benchmark.metrics.restoration import RESTORATION
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import Scenario, records
from benchmark.statistics.answers import undo_of, with_useful
from benchmark.statistics.decisions import LEAST_PEOPLE
from benchmark.tables.numbers import BELOW_CONSTANT, DEGENERATE
from benchmark.text.words import repetitions
from benchmark.wording import vocabulary

_MOST_BETAS = 5
_MOST_COLUMNS = 3
_ENDS = ["improvement_low", "improvement_high", "simultaneous_low", "simultaneous_high"]
_OUTER: Look = {"lw": 0.7, "capstyle": "projecting"}
_INNER: Look = {"lw": 1.9, "capstyle": "butt"}
_SIGN: Look = {"xytext": (3, 1), "textcoords": "offset points", "gid": "below", "fontsize": 8, "zorder": 4}
_MARK: Look = {"mew": 1.1, "ms": 4.6}

# Marker and color of what is better, worse, or neither, by the codes of the vocabulary.
_LOOKS = {"b": ("o", BLUE), "w": ("s", ORANGE), ".": ("D", GREY)}

_SHARES = {
    "given_back": "Given back: % accepted of those who lost acceptance by the bias. More is better",
    "paid": "Paid: % refused of those whom clean model and biased baseline accept. Less is better",
    "in_their_place": "In their place: % accepted of those whom the clean model refuses. Less is better",
}
_REFERENCES: dict[str, Look] = {
    "refit_clean": {"color": "black", "lw": 1.1, "label": "untreated, refit on clean rows"},
    "refit_biased": {
        "color": "#882255",
        "lw": 1.2,
        "ls": (0, (3, 1.5)),
        "label": "untreated, refit on biased rows",
    },
    "biased_baseline": {
        "color": "#6E9A00",
        "lw": 1.3,
        "ls": (0, (1, 1.2)),
        "label": "biased baseline (0 % in the other panels)",
    },
}


@style.styled()
def draw_forest(
    statistics: RunStatistics, scenario: Scenario, metric: str, choice: Choice = EVERYTHING
) -> Page:
    """Draw each technique's improvement of a metric over the baseline, with intervals.

    Each level of bias, or each of five, has a panel with a row for each technique. Improvements are paired
    differences on the same samples. The band is the region of practical equivalence. A cross marks a
    degenerate technique. Techniques without a comparison have no mark.
    """
    run = statistics.run
    rows = scenario.rows(statistics.compared).query("metric == @metric")
    betas = style.beta_ticks(sorted(rows["beta"].unique()), _MOST_BETAS)
    titles = marks.titles_of(rows, run, choice)
    choice.of_metrics([metric])
    names, labels = list(titles), RowLabels(list(titles.values()), choice.width)
    rows = rows[rows["technique"].isin(names)]
    signs = marks.signs_of(scenario.rows(statistics.standing), names)
    page = Page(
        len(betas),
        len(betas),
        panel=(max(1.5, 4.4 / len(betas)), labels.height),
        title=f"{scenario.heading}: {statistics.title(metric)}, improvement over the baseline",
        subtitle=f"Baseline: {run.titles[statistics.baseline_of(scenario)]}. By how much a technique is "
        "nearer to the ideal on the same training rows. "
        f"Band: up to {statistics.rope:g}, practically none. Thick: 95 % intervals, each by itself. "
        "Thin: intervals that hold for all techniques together, which decide.",
        notes=marks.notes(scenario.dataset, signs=signs.values(), look="cross"),
        panel_titles=[*map(run.level_text, betas)],
        choice=choice,
        rows=labels,
        least=0.9,
    )
    limits = style.padded([*rows[["improvement", *_ENDS]].to_numpy(dtype=float).ravel(), 0.0], 0.06, 0.005)
    for beta, axes in zip(betas, page.panels, strict=True):
        axes.axvspan(-statistics.rope, statistics.rope, color="#ECECEC", lw=0, zorder=0.5)
        axes.axvline(0, **style.RULE)
        _draw_effects(axes, rows[rows["beta"] == beta], names, signs)
        axes.set_xlim(*limits)
    shown = vocabulary()["shown"]
    page.legend_below(
        [
            _in_legend(marker, color, f"{shown[code]['label']}, {words}", filled=words == "shown")
            for code, (marker, color) in _LOOKS.items()
            for words in ("shown", "not shown")
            if code != "."
        ]
    )
    if any(sign == DEGENERATE and beta in betas for (_, beta), sign in signs.items()):
        page.legend_below([_in_legend("x", GREY, "degenerate")])
    return page.fit()


def _in_legend(marker: str, color: str, label: str, *, filled: bool = True) -> Line2D:
    face = color if filled else "white"
    return Line2D([], [], ls="none", marker=marker, mec=color, mfc=face, label=label, **_MARK)


def _draw_effects(
    axes: Axes, rows: pd.DataFrame, names: Sequence[str], signs: Mapping[tuple[str, float], str]
) -> None:
    rows = rows[np.isfinite(rows["improvement"])]
    if rows.empty:
        style.say_empty(axes, "nothing is compared: the baseline is degenerate, or has no value")
        return
    y, looks = rows["technique"].map(names.index), []
    for row in records(rows):
        sign = signs.get((row.technique, row.beta))
        looks.append(("x", GREY) if sign == DEGENERATE else _LOOKS["b" if row.improvement > 0 else "w"])
        (marker, color), at = looks[-1], (row.improvement, names.index(row.technique))
        face = color if row.better or row.worse else "white"
        axes.plot(*at, marker, mfc=face, mec=color, zorder=3, gid="effect", **_MARK)
        if sign == BELOW_CONSTANT:
            axes.annotate(BELOW_CONSTANT, at, **_SIGN)
    colors = [color for _, color in looks]
    for which, look in (("simultaneous", _OUTER), ("improvement", _INNER)):
        axes.hlines(y, rows[f"{which}_low"], rows[f"{which}_high"], colors=colors, zorder=2, **look)


@style.styled()
def draw_gaps(statistics: RunStatistics, rows: pd.DataFrame, choice: Choice = EVERYTHING) -> Page:
    """Draw the change of the largest gap in a rate by each technique, for every attribute.

    ``rows`` are those of ``statistics.groups`` for one rate, bias, classifier and test. Each dataset has a
    panel at the lowest and at the highest level of bias, with a row for each technique. An attribute has a
    mark with an interval.
    """
    run, metric = statistics.run, str(rows["metric"].iloc[0])
    names = choice.of_techniques(rows["technique"].unique())
    choice.of_metrics([metric])
    betas = sorted({rows["beta"].min(), rows["beta"].max()})
    # Datasets may name the columns of an intersection in another order.
    attributes = rows["attribute"].map(lambda name: CROSSED.join(sorted(name.split(CROSSED))))
    rows = rows.assign(attribute=attributes)[rows["beta"].isin(betas) & rows["technique"].isin(names)]
    scenarios = [scenario for scenario in statistics.scenarios if len(scenario.rows(rows))]
    panels = [(beta, scenario) for beta in betas for scenario in scenarios]
    looks = {name: style.line_style(i) | {"ls": "none"} for i, name in enumerate(rows["attribute"].unique())}
    titles = [run.titles[name] for name in names]
    labels = RowLabels(titles, choice.width, least=0.05 + 0.085 * len(looks))
    page = Page(
        len(panels),
        min(len(scenarios), _MOST_COLUMNS),
        panel=(1.9, labels.height),
        title=f"{get_metric(metric).title}, largest gap: what techniques change for every attribute",
        subtitle="The gap of a technique minus the baseline's gap on the same samples. Above 0 (right) "
        "groups are farther apart. Techniques know only the group above the panel. Means of "
        f"{repetitions(run.repetitions)} with 95 % intervals. Filled: the interval leaves out 0.",
        notes=marks.notes(*(s.dataset for s in scenarios)),
        panel_titles=[
            f"{scenario.heading}, {scenario.dataset.sensitive_feature} = "
            f"{scenario.dataset.deprived_group}, {run.level_text(beta)}"
            for beta, scenario in panels
        ],
        choice=choice,
        rows=labels,
    )
    ends = ["difference", "difference_low", "difference_high"]
    limits = style.padded([*rows[ends].to_numpy(dtype=float).ravel(), 0.0], 0.06, 0.005)
    for (beta, scenario), axes in zip(panels, page.panels, strict=True):
        axes.axvline(0, **style.RULE)
        own = scenario.rows(rows[rows["beta"] == beta])
        shown = list(own["attribute"].unique())
        for row in records(own):
            shift = (shown.index(row.attribute) - (len(shown) - 1) / 2) / len(shown)
            filled = row.difference_low > 0 or row.difference_high < 0
            _draw_estimate(
                axes,
                names.index(row.technique) + 0.75 * shift,
                (row.difference, row.difference_low, row.difference_high),
                (looks[row.attribute]["marker"], looks[row.attribute]["color"]),
                filled=filled,
                gid="gap",
            )
        axes.set_xlim(*limits)
    page.legend_beside(page.panels[0], [Line2D([], [], **look, label=name) for name, look in looks.items()])
    return page.fit()


def _draw_estimate(
    axes: Axes, y: float, estimate: Sequence[float], look: tuple[str, str], *, filled: bool, gid: str
) -> None:
    """Draw a value with its interval in a row, given marker and color."""
    (value, low, high), (marker, color) = estimate, look
    axes.hlines(y, low, high, color=color, lw=1.2, zorder=2, capstyle="projecting")
    axes.plot(value, y, marker, mfc=color if filled else "white", mec=color, zorder=3, gid=gid, **_MARK)


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
    nearest = of_techniques(rows).sort_values("value", kind="stable")
    nearest = nearest[nearest["metric"] == RESTORATION[0]]["technique"]
    names = choice.of_techniques(dict.fromkeys([*nearest, *of_techniques(rows)["technique"]]))
    metrics = choice.of_metrics(_SHARES)
    standing = with_useful(scenario.rows(statistics.standing).query("beta == @beta"))
    useful = set(standing.loc[standing["useful"], "technique"])
    signs = {name: sign for (name, _), sign in marks.signs_of(standing, names).items()}
    reasons = undo_of(rows.drop_duplicates("baseline"), statistics.undo)
    labels = RowLabels([f"{run.titles[name]} {signs.get(name, '')}".strip() for name in names], choice.width)
    page = Page(
        len(metrics),
        len(metrics),
        panel=(1.95, labels.height),
        title="Goal: restore decisions. Who gets back what the bias took: "
        f"{scenario.heading}, {run.level_text(beta)}",
        subtitle="The nearest to the clean model is first. Shares of people in "
        f"{repetitions(run.repetitions)}, with 95 % intervals. Clean model: the untreated learner, trained "
        "without planted bias. Refit: the same learner on a random draw of the rows; on biased rows it gives "
        "back decisions by chance.",
        notes=[
            "Better or worse: the 95 % interval of the difference to the refit on biased rows leaves out 0. "
            f"Hollow: see the sign beside the name. No mark: fewer than {LEAST_PEOPLE} people to count.",
            *(f"Not weighed: {reason}." for reason in marks.not_weighed(reasons)),
            *marks.notes(scenario.dataset, signs=signs.values()),
        ],
        panel_titles=[_SHARES[metric] for metric in metrics],
        choice=choice,
        rows=labels,
        least=0.9,
    )
    for metric, axes in zip(metrics, page.panels, strict=True):
        _draw_share(axes, rows[rows["metric"] == metric], names, useful)
    shown = vocabulary()["shown"]
    page.legend_below(
        [
            *(_in_legend(*look, shown[code]["label"]) for code, look in _LOOKS.items()),
            *(Line2D([], [], **look) for look in _REFERENCES.values()),
        ]
    )
    return page.fit()


def of_techniques(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of techniques other than the baselines."""
    return rows[rows["technique"] != rows["baseline"]]


def _draw_share(axes: Axes, rows: pd.DataFrame, names: Sequence[str], useful: set[str]) -> None:
    metric, by_name = rows["metric"].iloc[0], rows.set_index("technique")
    shown = by_name.loc[list(names)]
    percents = 100 * shown[["value", "value_low", "value_high"]].to_numpy(dtype=float).clip(0, 1)
    lines = {name: 100 * shown[name].to_numpy(dtype=float) for name in ("refit_clean", "refit_biased")}
    if metric == "in_their_place":
        untreated = by_name["value"].reindex(shown["baseline"])
        lines["biased_baseline"] = 100 * untreated.to_numpy(dtype=float)
    # Lines of one learner meet, lines of several do not.
    half, y = 0.5 if shown["baseline"].nunique() == 1 else 0.36, np.arange(len(names))
    for name, values in lines.items():
        axes.vlines(values, y - half, y + half, zorder=1.5, gid=name, **_REFERENCES[name])
    for row, (name, estimate) in enumerate(zip(names, percents, strict=True)):
        more, less = shown["beyond_refit_low"].iloc[row] > 0, shown["beyond_refit_high"].iloc[row] < 0
        better, worse = (more, less) if metric == "given_back" else (less, more)
        look = _LOOKS["b" if better else "w" if worse else "."]
        _draw_estimate(axes, row, estimate, look, filled=name in useful, gid="share")
    highest = max(np.nanmax([*percents.ravel(), *np.concatenate(list(lines.values())), 0.0]), 1.0)
    axes.set_xlim(-0.04 * highest, 1.04 * highest)
