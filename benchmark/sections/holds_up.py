"""Which techniques hold up: better than the baseline, and of use, up to which level of bias."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
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
from benchmark.statistics.answers import ACCURACY, with_useful
from benchmark.statistics.cells import WHERE
from benchmark.statistics.choices import COMPARED_WITH
from benchmark.statistics.paired import FAMILY
from benchmark.text.words import LevelName, level_text

SURVIVOR_COLUMNS = (*FAMILY, "technique", "up_to", "not_at", "keeps_accuracy")
"""Columns of :func:`survivors`."""

PURPOSES = {metric: WORDS[goal].purpose for goal, metric in GOAL_METRICS.items()}
"""What a technique is chosen for, by the metric that is the measure of this goal."""

PASSED = ("recommended", "candidate", "outdone")
"""Verdicts of techniques that hold up in the metric of a goal: all limits of the goal are kept."""

NOT_COMPARED = "nothing could be compared"
"""Stands where no technique is of use, or the baseline cannot be compared with."""

INCOMPLETE = "incomplete"
"""Stands where a technique lacks values at a level of bias, so that it does not hold up to there."""


def section(statistics: RunStatistics) -> Section:
    """Return the techniques that hold up in each metric of each scenario, the farthest first."""
    found, incomplete = survivors(statistics)
    level, levels = statistics.run.level_sign, statistics.run.levels_sign
    traded = (
        f"Less accurate: shown to be so by more than the same margin at one of these {levels}."
        if ACCURACY in statistics.metrics
        else ""
    )
    gaps = (
        f"Incomplete: techniques that are better at some {level}, but lack values there or at a smaller "
        f"{level}, so that they do not count as holding up to there."
        if len(incomplete)
        else ""
    )
    notes = [
        f"Techniques of use that beat the baseline by more than {statistics.rope:g}, by the "
        f"greatest {level} at which that is shown. In brackets: smaller {levels} at which it is not shown. "
        f"Shown is what intervals say that hold for all techniques at a {level} together.",
        traded,
        gaps,
        "In the metric of a goal a technique holds up only where it is recommended for that goal, or would "
        "be but for few repetitions or a technique that outdoes it.",
        "Of use in other metrics, as far as that is recorded: at least as accurate as the best constant "
        "answer, and without nearly always the same answer to all or to one of the groups.",
        *left_out_notes(statistics),
    ]
    headings = ["Dataset", "Metric", f"Up to {level}", "Techniques", "Less accurate", "Incomplete"]
    return Section(
        "holds_up",
        "Which technique holds up at which level of bias",
        [note for note in notes if note],
        [Block(table=TextTable(headings, list(_rows(statistics, found, incomplete))))],
        files={
            "comparisons": "each technique minus the baseline on the same samples: intervals, p-values, "
            "effect sizes",
            "robustness": f"slope and area of each metric over {levels}, and the {level} at which a "
            "technique stops "
            "beating the baseline",
        },
        figures={
            "heat": "Means and improvements over the baseline",
            "forest": "Improvements over the baseline, with intervals",
        },
    )


def left_out_notes(statistics: RunStatistics) -> list[str]:
    """Count what is better nowhere, because it is degenerate, and say of which baselines that is true."""
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
    left = [f"Left out, because they answer {SAME_ANSWER}: {'; '.join(counts)}."] if counts else []
    return [*unknown, *left, *baselines]


def _rows(statistics: RunStatistics, found: pd.DataFrame, incomplete: pd.DataFrame) -> Iterator[list[str]]:
    titles = statistics.run.titles
    for scenario, metric in statistics.compared_metrics:
        held_up = scenario.rows(found[found["metric"] == metric])
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
    """Return the title of a metric, and in brackets the goal that it is the measure of, if any."""
    purpose = PURPOSES.get(metric)
    return statistics.title(metric) + (f" ({purpose})" if purpose else "")


def survivors(statistics: RunStatistics) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Find the techniques of use that beat the baseline, and up to which level of bias.

    Returns
    -------
    DataFrame
        Columns :data:`SURVIVOR_COLUMNS`, one row for each family of tests and technique that is better than
        the baseline at some level, by :func:`~benchmark.statistics.answers.judged`, and of use there. In the
        metric of a goal its verdict is one of :data:`PASSED`. In others it is never degenerate, at least as
        accurate as the best constant answer, and without one answer for nearly all of a group
        (:func:`~benchmark.statistics.answers.standings`). ``up_to`` is the greatest such level up to which
        technique and baseline have a value in every repetition, ``not_at`` lists the smaller ones at which it
        is not better or of no use, and ``keeps_accuracy`` says that it is judged to be less accurate at none
        of those at which it is. Nothing is better where nothing is compared with the baseline
        (:func:`~benchmark.statistics.answers.incomparable`). The farthest first; metrics in the run's order.
    DataFrame
        Columns :data:`~benchmark.statistics.paired.FAMILY` and ``technique``: those that would hold up, or
        farther, if all repetitions up to there had a value.
    """
    where = list(WHERE)
    table = statistics.compared
    table = table.assign(better=table["better"] & passes(statistics, table))
    costly = table.loc[(table["metric"] == ACCURACY) & table["worse"], where]
    less_accurate = set(costly.itertuples(index=False, name=None))
    rows, incomplete = [], []
    table = table[~repeated_levels(statistics.run, table)]
    # A loop over thousands of groups: plain lists are many times as fast as frames of a few rows.
    own_rows: dict[tuple[str, ...], list[tuple[float, int, bool]]] = {}
    fields = table[[*FAMILY, "technique", "beta", "missing", "better"]]
    for *key, beta, missing, better in fields.itertuples(index=False, name=None):
        own_rows.setdefault(tuple(key), []).append((beta, missing, better))
    for names, own in own_rows.items():
        first_gap = min((beta for beta, missing, *_ in own if missing > 0), default=math.inf)
        whole = [(beta, better) for beta, _, better in own if beta < first_gap]
        levels = [beta for beta, better in whole if better]
        if sum(better for *_, better in own) > len(levels):
            incomplete.append(names)
        if levels:
            *scenario, _metric, technique = names
            missed = [beta for beta, _ in whole if beta < max(levels) and beta not in levels]
            keeps = not any((*scenario, beta, technique) in less_accurate for beta in levels)
            not_at = " ".join(f"{beta:g}" for beta in missed)
            rows.append((*names, max(levels), not_at, keeps))
    found = pd.DataFrame(rows, columns=list(SURVIVOR_COLUMNS))
    return (
        found.sort_values("up_to", ascending=False, kind="stable", ignore_index=True),
        pd.DataFrame(incomplete, columns=[*FAMILY, "technique"]),
    )


def passes(statistics: RunStatistics, table: pd.DataFrame) -> pd.Series[bool]:
    """Return of each comparison whether the technique is of use there, by the goal if its metric has one."""
    where, keys = list(WHERE), [*WHERE, "metric"]
    standing = with_useful(statistics.standing).set_index(where)["useful"]
    useful = table[where].join(standing, on=where)["useful"].eq(True)
    verdicts = table[keys].join(statistics.answers.set_index(keys)["verdict"], on=keys)["verdict"]
    # Without values in every repetition it does not hold up, but may be better at more levels.
    passed = verdicts.isin(PASSED) | ((verdicts == "incomplete") & useful)
    return useful.where(~table["metric"].isin(PURPOSES), passed)


def is_compared(statistics: RunStatistics, scenario: Scenario, metric: str) -> bool:
    """Whether any technique is compared with the baseline in a metric: one of use, at some level of bias."""
    standing = statistics.standing
    useless = pd.MultiIndex.from_frame(standing.loc[standing["n_degenerate"] > 0, list(WHERE)])
    own = scenario.rows(statistics.compared)
    own = own[(own["metric"] == metric) & own["improvement"].notna()]
    return not bool(pd.MultiIndex.from_frame(own[list(WHERE)]).isin(useless).all())


def _none_words(statistics: RunStatistics, scenario: Scenario, metric: str) -> str:
    """Say why no technique holds up in a metric: none is shown to, or nothing can be said of any."""
    if not is_compared(statistics, scenario, metric):
        return NOT_COMPARED
    answers = scenario.rows(statistics.answers)
    verdicts = set(answers.loc[answers["metric"] == metric, "verdict"])
    reasons = {reason for reason in verdicts if reason in WHY_NOT or reason == "unknown"}
    if metric not in PURPOSES or not verdicts <= {*reasons, *COMPARED_WITH}:
        return "none shown"
    said = ["shares accepted are not recorded" if reason == "unknown" else reason for reason in reasons]
    return ", ".join(sorted(said)).replace("_", " ") or NOT_COMPARED


def _exceptions(not_at: str) -> str:
    return f" (not at {', '.join(not_at.split())})" if not_at else ""


@dataclass(frozen=True)
class Held:
    """How far one technique holds up in one metric of a scenario, in words."""

    technique: str
    up_to: str
    cost: str  # what it costs in accuracy where that is most; empty where nothing is known of it
    less_accurate: bool


def held(
    statistics: RunStatistics, scenario: Scenario, found: tuple[pd.DataFrame, pd.DataFrame]
) -> dict[str, list[Held]]:
    """Return by metric how far each technique of a scenario holds up, given the :func:`survivors`.

    First come those that hold up longest, without losing accuracy, and by most in the mean over the levels.
    """
    holding, incomplete = (scenario.rows(own) for own in found)
    compared = scenario.rows(statistics.compared)
    own = compared.loc[compared["metric"] == ACCURACY, ["technique", "beta", "difference"]]
    costs = {(name, beta): change for name, beta, change in own.itertuples(index=False, name=None)}
    levels = scenario.telling_levels(statistics.run.levels)
    tried = set(scenario.rows(statistics.intervals)["technique"])
    techniques = [name for name in statistics.run.titles if name in tried]
    gains = compared["improvement"].fillna(0).groupby([compared["metric"], compared["technique"]]).sum()
    rows: dict[str, list[Held]] = {}
    for metric in statistics.metrics:
        own_rows: list[Any] = list(holding[holding["metric"] == metric].itertuples(index=False))
        far = {row.technique: row for row in own_rows}
        gaps = set(incomplete.loc[incomplete["metric"] == metric, "technique"])
        traded = metric != ACCURACY
        order = {
            name: (
                -far[name].up_to if name in far else math.inf,
                traded and name in far and not far[name].keeps_accuracy,
                -gains.get((metric, name), 0.0),
            )
            for name in techniques
        }
        rows[metric] = [
            _held(
                name,
                far.get(name),
                name in gaps,
                levels,
                costs if traded else {},
                scenario.inert,
                statistics.run.level_name,
            )
            for name in sorted(techniques, key=order.__getitem__)
        ]
    return rows


def _held(
    name: str,
    row: Any,
    incomplete: bool,
    levels: Sequence[float],
    costs: Mapping[tuple[str, float], float],
    inert: bool,
    level: LevelName,
) -> Held:
    if row is None:
        return Held(name, INCOMPLETE if incomplete else "–", "", False)
    not_at = tuple(map(float, row.not_at.split()))
    better = [beta for beta in levels if beta <= row.up_to and beta not in not_at]
    paid = {beta: costs[name, beta] for beta in better if not math.isnan(costs.get((name, beta), math.nan))}
    worst = min(paid, key=paid.__getitem__, default=None)
    cost = "" if worst is None else f"{change_text(paid[worst])} ({level_text(level, worst)})"
    up_to = ("any" if inert else f"{row.up_to:g}") + _exceptions(row.not_at)
    up_to += f"; {INCOMPLETE}" if incomplete else ""
    return Held(name, up_to, cost, bool(costs) and not row.keeps_accuracy)


def rule_text(statistics: RunStatistics, scenario: Scenario, metric: str, baseline: str) -> str:
    """Say what is better and worse than a baseline, given by its title, in a metric of a scenario."""
    if statistics.metrics[metric].direction == "none":
        return "No value is better than another."
    judged = scenario.rows(statistics.judged)
    rule = f"▲ better, and of use, and ▼ worse than {baseline}, by more than {statistics.rope:g}"
    if judged.loc[judged["metric"] == metric, "tested"].any():
        return (
            f"{rule}, in an interval that holds for all techniques at a {statistics.run.level_sign} together."
        )
    return f"{rule} in the one sample that there is."
