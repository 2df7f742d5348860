"""The techniques that hold up in each metric, and up to which level of bias."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from benchmark.columns import GOAL_METRICS
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.ranks import repeated_levels
from benchmark.runs.report_frames import Scenario
from benchmark.sections.choices import UNKNOWN_SHARES, change_text
from benchmark.sections.goals import WHY_NOT, WORDS
from benchmark.sections.section import Block, Section, TextTable
from benchmark.sections.signs import SAME_ANSWER, baseline_notes
from benchmark.statistics.answer_record import answer_records
from benchmark.statistics.answers import ACCURACY, with_useful
from benchmark.statistics.cells import WHERE
from benchmark.statistics.paired import FAMILY
from benchmark.statistics.recommendation import TECHNIQUE, WITHIN_LIMITS

SURVIVOR_COLUMNS = (*FAMILY, "technique", "up_to", "not_at", "keeps_accuracy")
"""Columns of :func:`survivors`: ``up_to`` a level of bias, but ``not_at`` these smaller ones."""

PURPOSES = {metric: WORDS[goal].purpose for goal, metric in GOAL_METRICS.items()}
"""The purpose of a goal, by its metric."""

NOT_COMPARED = "nothing could be compared"
"""Stands where no technique is useful, or nothing is compared with the baseline."""

INCOMPLETE = "incomplete"
"""Stands where a technique does not hold up to a level of bias for lack of values."""


def section(statistics: RunStatistics) -> Section:
    """Return the techniques that hold up in each metric of each scenario, the highest level first."""
    holding, incomplete = survivors(statistics)
    level, levels = statistics.run.level_sign, statistics.run.levels_sign
    notes = [
        f"Useful techniques that beat the baseline by more than {statistics.rope:g}, by the greatest {level} "
        f"at which that is shown. In brackets: smaller {levels} at which it is not shown. Shown means: by "
        f"intervals that hold for all techniques at a {level} together.",
        *(
            [f"Less accurate: shown at one of these {levels}, by the same margin."]
            if ACCURACY in statistics.metrics
            else []
        ),
        *(
            [
                f"Incomplete: better at some {level}, but values are missing there or at a smaller {level}. "
                "So the technique does not count as holding up to there."
            ]
            if len(incomplete)
            else []
        ),
        "In the metric of a goal, a technique holds up only if it is recommended for that goal. A candidate "
        "or a dominated technique counts as well.",
        "In other metrics, a technique is useful if it is at least as accurate as the best constant answer, "
        "not degenerate, and without one answer for nearly all of a group, as far as that is recorded.",
        *left_out_notes(statistics),
    ]
    headings = ["Dataset", "Metric", f"Up to {level}", "Techniques", "Less accurate", "Incomplete"]
    return Section(
        "holds_up",
        "Which technique holds up at which level of bias",
        notes,
        [Block(table=TextTable(headings, list(_rows(statistics, holding, incomplete))))],
        files={
            "comparisons": "each technique minus the baseline on the same samples: intervals, p-values, "
            "effect sizes",
        },
        figures={
            "heat": "Means and improvements over the baseline",
            "forest": "Improvements over the baseline, with intervals",
        },
    )


def left_out_notes(statistics: RunStatistics) -> list[str]:
    """Return notes on degenerate techniques, which are left out, and on degenerate baselines."""
    degenerate = statistics.standing[statistics.standing["n_degenerate"] > 0]
    degenerate = degenerate[~repeated_levels(statistics.run, degenerate)]
    counts, baselines = [], []
    for scenario in statistics.scenarios:
        compared = statistics.baseline_titles(statistics.baseline_of(scenario))
        useless = scenario.rows(degenerate)
        for beta, rows in useless[~useless["technique"].isin(compared)].groupby("beta"):
            several = "s" * (len(rows) > 1)
            counts.append(
                f"{len(rows)} technique{several} on {scenario.heading} at "
                f"{statistics.run.level_text(float(str(beta)))}"
            )
        baselines += [
            f"{scenario.heading}: {note}"
            for note in baseline_notes(useless, compared, statistics.run.level_name)
        ]
    unknown = [UNKNOWN_SHARES] if statistics.answers["accepted"].isna().all() else []
    degenerates = [f"Left out, because they answer {SAME_ANSWER}: {'; '.join(counts)}."] if counts else []
    return [*unknown, *degenerates, *baselines]


def _rows(statistics: RunStatistics, holding: pd.DataFrame, incomplete: pd.DataFrame) -> Iterator[list[str]]:
    titles = statistics.run.titles
    for scenario, metric in statistics.compared_metrics:
        held_up = scenario.rows(holding[holding["metric"] == metric])
        gaps = scenario.rows(incomplete[incomplete["metric"] == metric])["technique"]
        head = [scenario.heading, metric_title(statistics, metric)]
        last = "; ".join(titles[name] for name in gaps) or "–"
        if held_up.empty:
            yield [*head, "–", _none_words(statistics, scenario, metric), "", last]
        for level, rows in held_up.groupby("up_to", sort=False):
            names: dict[bool, list[str]] = {True: [], False: []}
            for technique, not_at, keeps in rows[["technique", "not_at", "keeps_accuracy"]].itertuples(
                index=False, name=None
            ):
                names[metric == ACCURACY or keeps].append(titles[technique] + _exceptions(not_at))
            up_to = "any" if scenario.inert else f"{level:g}"
            yield [*head, up_to, "; ".join(names[True]), "; ".join(names[False]), last]
            head, last = ["", ""], ""


def metric_title(statistics: RunStatistics, metric: str) -> str:
    """Return the title of a metric, with its goal in brackets if it has one."""
    purpose = PURPOSES.get(metric)
    return statistics.title(metric) + (f" ({purpose})" if purpose else "")


def survivors(statistics: RunStatistics) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the techniques that hold up, the highest level first, and those that lack values for more.

    The first frame has a row for each family of tests and technique that is better than the baseline
    (:func:`~benchmark.statistics.answers.judged`) and useful (:func:`passes`) at some level. ``up_to`` is the
    greatest such level before values are missing. ``not_at`` lists smaller levels at which the technique is
    not better or not useful. ``keeps_accuracy`` is false if it is judged less accurate at a level at which it
    is better. The second frame has the columns of :data:`~benchmark.statistics.paired.FAMILY` and
    ``technique``.
    """
    where = list(WHERE)
    table = statistics.compared
    table = table.assign(better=table["better"] & passes(statistics, table))
    costly = table.loc[(table["metric"] == ACCURACY) & table["worse"], where]
    less_accurate = set(costly.itertuples(index=False, name=None))
    rows, incomplete = [], []
    table = table[~repeated_levels(statistics.run, table)]
    # Plain lists: for thousands of groups they are many times as fast as frames of a few rows.
    comparisons: dict[tuple[str, ...], list[tuple[float, int, bool]]] = {}
    fields = table[[*FAMILY, "technique", "beta", "missing", "better"]]
    for *key, beta, missing, better in fields.itertuples(index=False, name=None):
        comparisons.setdefault(tuple(key), []).append((beta, missing, better))
    for names, at_levels in comparisons.items():
        first_gap = min((beta for beta, missing, *_ in at_levels if missing > 0), default=math.inf)
        whole = [(beta, better) for beta, _, better in at_levels if beta < first_gap]
        levels = [beta for beta, better in whole if better]
        if sum(better for *_, better in at_levels) > len(levels):
            incomplete.append(names)
        if levels:
            *scenario, _metric, technique = names
            missed = [beta for beta, _ in whole if beta < max(levels) and beta not in levels]
            keeps = not any((*scenario, beta, technique) in less_accurate for beta in levels)
            not_at = " ".join(f"{beta:g}" for beta in missed)
            rows.append((*names, max(levels), not_at, keeps))
    holding = pd.DataFrame(rows, columns=list(SURVIVOR_COLUMNS))
    return (
        holding.sort_values("up_to", ascending=False, kind="stable", ignore_index=True),
        pd.DataFrame(incomplete, columns=[*FAMILY, "technique"]),
    )


def passes(statistics: RunStatistics, table: pd.DataFrame) -> pd.Series[bool]:
    """Return for each comparison whether the technique is useful there, by the goal of its metric if any."""
    where, keys = list(WHERE), [*WHERE, "metric"]
    standing = with_useful(statistics.standing).set_index(where)["useful"]
    useful = table[where].join(standing, on=where)["useful"].eq(True)
    answers = table[keys].join(statistics.answers.set_index(keys)[["verdict", "reason"]], on=keys)
    # A technique that lacks values does not hold up, but may be better at more levels.
    passed = answers["verdict"].isin(WITHIN_LIMITS) | ((answers["reason"] == "incomplete") & useful)
    return useful.where(~table["metric"].isin(PURPOSES), passed)


def _is_compared(statistics: RunStatistics, scenario: Scenario, metric: str) -> bool:
    """Return whether any technique that is not degenerate is compared with the baseline in a metric."""
    standing = statistics.standing
    degenerate = pd.MultiIndex.from_frame(standing.loc[standing["n_degenerate"] > 0, list(WHERE)])
    rows = scenario.rows(statistics.compared)
    rows = rows[(rows["metric"] == metric) & rows["improvement"].notna()]
    return not bool(pd.MultiIndex.from_frame(rows[list(WHERE)]).isin(degenerate).all())


def _none_words(statistics: RunStatistics, scenario: Scenario, metric: str) -> str:
    """Return the reason why no technique holds up in a metric."""
    if not _is_compared(statistics, scenario, metric):
        return NOT_COMPARED
    answers = scenario.rows(statistics.answers)
    answers = answers[(answers["metric"] == metric) & (answers["role"] == TECHNIQUE)]
    outcomes = {row.outcome for row in answer_records(answers)}
    reasons = {reason for reason in outcomes if reason in WHY_NOT or reason == "not_recorded"}
    if metric not in PURPOSES or outcomes != reasons:
        return "none shown"
    words = ["selection rates are not recorded" if reason == "not_recorded" else reason for reason in reasons]
    return ", ".join(sorted(words)).replace("_", " ") or NOT_COMPARED


def _exceptions(not_at: str) -> str:
    return f" (not at {', '.join(not_at.split())})" if not_at else ""


@dataclass(frozen=True)
class Held:
    """The level up to which a technique holds up in a metric of a scenario, in words."""

    technique: str
    up_to: str
    cost: str  # the largest loss of accuracy; empty if unknown
    less_accurate: bool


def held(
    statistics: RunStatistics, scenario: Scenario, frames: tuple[pd.DataFrame, pd.DataFrame]
) -> dict[str, list[Held]]:
    """Return by metric the levels up to which each technique of a scenario holds up.

    ``frames`` are the :func:`survivors`. The techniques that hold up longest come first, then those without
    loss of accuracy, then those with the largest mean gain over the levels.
    """
    holding, incomplete = (scenario.rows(frame) for frame in frames)
    compared = scenario.rows(statistics.compared)
    changes = compared.loc[compared["metric"] == ACCURACY, ["technique", "beta", "difference"]]
    costs = {(name, beta): cost for name, beta, cost in changes.itertuples(index=False, name=None)}
    tried = set(scenario.rows(statistics.intervals)["technique"])
    techniques = [name for name in statistics.run.titles if name in tried]
    gains = compared["improvement"].fillna(0).groupby([compared["metric"], compared["technique"]]).sum()
    by_metric: dict[str, list[Held]] = {}
    for metric in statistics.metrics:
        of_metric: list[Any] = list(holding[holding["metric"] == metric].itertuples(index=False))
        rows = {row.technique: row for row in of_metric}
        gaps = set(incomplete.loc[incomplete["metric"] == metric, "technique"])
        traded = metric != ACCURACY
        order = {
            name: (
                -rows[name].up_to if name in rows else math.inf,
                traded and name in rows and not rows[name].keeps_accuracy,
                -gains.get((metric, name), 0.0),
            )
            for name in techniques
        }
        by_metric[metric] = [
            _held(statistics, scenario, rows[name], name in gaps, costs if traded else {})
            if name in rows
            else Held(name, INCOMPLETE if name in gaps else "–", "", False)
            for name in sorted(techniques, key=order.__getitem__)
        ]
    return by_metric


def _held(
    statistics: RunStatistics,
    scenario: Scenario,
    row: Any,
    incomplete: bool,
    costs: Mapping[tuple[str, float], float],
) -> Held:
    not_at = tuple(map(float, row.not_at.split()))
    levels = scenario.telling_levels(statistics.run.levels)
    better = [beta for beta in levels if beta <= row.up_to and beta not in not_at]
    paid = {beta: costs.get((row.technique, beta), math.nan) for beta in better}
    worst = min((beta for beta in better if not math.isnan(paid[beta])), key=paid.__getitem__, default=None)
    cost = "" if worst is None else f"{change_text(paid[worst])} ({statistics.run.level_text(worst)})"
    up_to = ("any" if scenario.inert else f"{row.up_to:g}") + _exceptions(row.not_at)
    up_to += f"; {INCOMPLETE}" if incomplete else ""
    return Held(row.technique, up_to, cost, bool(costs) and not row.keeps_accuracy)


def rule_text(statistics: RunStatistics, scenario: Scenario, metric: str, baseline: str) -> str:
    """Return a note on better and worse techniques in a metric; ``baseline`` is a title."""
    if statistics.metrics[metric].direction == "none":
        return "No value is better than another."
    judged = scenario.rows(statistics.judged)
    rule = f"▲ better, and useful, and ▼ worse than {baseline}, by more than {statistics.rope:g}"
    if judged.loc[judged["metric"] == metric, "tested"].any():
        return (
            f"{rule}, in an interval that holds for all techniques at a {statistics.run.level_sign} together."
        )
    return f"{rule} in the only sample."
