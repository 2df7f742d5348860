"""The techniques at each level of bias, for each goal: what is left, what it costs, whom they accept."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmark.columns import BLIND, GOAL_METRICS, GOALS, ORIGINAL, RESTORE
from benchmark.facts.model import Answers, Constant, Estimate, Level, Reason, Shares, Standing
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import Scenario, records
from benchmark.statistics.answers import DISCRIMINATION, NEARLY_ALL, is_constant
from benchmark.statistics.cells import Resampling
from benchmark.statistics.intervals import level_changes
from benchmark.statistics.recommendation import BASELINE, OF_BASELINE, RECOMMENDED, VERDICTS, Criteria
from benchmark.statistics.unprocessing import INSIDE

_SHOWN = 5e-4  # half of the last digit that readers see


def scenario_answers(
    scenario: Scenario,
    baseline: str,
    answers: pd.DataFrame,
    knows: Sequence[str],
    results: pd.DataFrame,
    criteria: Criteria,
    resampling: Resampling | None,
) -> tuple[Answers, ...]:
    """Return the answers of a scenario, goal by goal.

    ``answers`` are :func:`~benchmark.statistics.answers.answer_table` with a column ``knows``. ``knows`` has
    the order of its words, and ``results`` are all values of the run.
    """
    rows, planted = scenario.rows(answers), scenario.dataset.planted(scenario.bias)
    results = scenario.rows(results[results["metric"] == DISCRIMINATION])
    changes = records(level_changes(results, baseline, resampling)) if baseline else ()
    effects = {row.level: Estimate.of(row, "change") for row in changes}
    goals: tuple[Any, ...] = GOALS
    found = []
    for goal in goals:
        at = {level: records(part) for level, part in rows[rows["goal"] == goal].groupby("level")}
        if telling := scenario.telling_levels(sorted(at)):
            levels = tuple(
                _level(
                    at[level],
                    baseline,
                    knows,
                    criteria,
                    level=level,
                    beta=getattr(planted.dose(level), "beta", None),
                    bias_effect=effects.get(level),
                )
                for level in telling
            )
            metric, highest = GOAL_METRICS[goal], planted.highest(telling)
            found.append(Answers(goal=goal, metric=metric, highest=highest, levels=levels))
    return tuple(found)


def why_unanswered(run: Manifest, scenario: Scenario, answers: pd.DataFrame) -> Reason | None:
    """Return why a scenario has no answer for the goal to restore; None if it has one."""
    if (scenario.rows(answers)["goal"] == RESTORE).any():
        return None
    if not run.experiment.paired_betas:
        return Reason(code="levels_not_paired")
    if scenario.test != ORIGINAL:
        return Reason(code="no_clean_model_on_test")
    if run.metric(GOAL_METRICS[RESTORE]) is None:
        return Reason(code="distance_not_measured")
    return Reason(code="nothing_planted")


def _level(rows: list[Any], baseline: str, knows: Sequence[str], criteria: Criteria, **known: Any) -> Level:
    def own(row: Any) -> bool:  # compared with a learner of its own
        return bool(row.baseline != baseline)

    def order(row: Any) -> tuple[object, ...]:
        """Sort the baseline first, then by what is told, verdict and distance to the goal; NaN is last."""
        told = 1 + knows.index(row.knows) if row.knows != BLIND else 0
        verdict = VERDICTS.index(row.verdict) if row.verdict else -1
        distance = round(row.distance, 6)
        return row.technique != baseline, told, row.role != BASELINE, verdict, distance != distance, distance

    rows = sorted(rows, key=order)
    techniques = [row for row in rows if row.role == "technique"]
    halves = [(row.simultaneous_high - row.simultaneous_low) / 2 for row in techniques if row.tested]
    reasons = {row.level_reason for row in techniques}
    reason = reasons.pop() if len(reasons) == 1 else ""
    constants = [(row.constant_accuracy, row.constant_accepts) for row in rows]
    constants = [own for own in constants if not math.isnan(own[0])]
    several = sum(row.role == BASELINE for row in rows) > 1
    # The nearest technique of each choice among those that know as much, where each learner has one.
    taken: dict[tuple[str, str], Any] = {}
    for row in rows:
        for choice in row.choice.split():
            taken.setdefault((choice, row.knows), row)
    return Level(
        **known,
        reason=Reason(code=reason) if reason else None,
        detectable=criteria.margin + float(np.median(halves)) if halves else None,
        constant=Constant(accuracy=constants[0][0], accepts=constants[0][1]) if constants else None,
        floor=techniques[0].accuracy_floor if techniques else None,
        techniques=tuple(
            Standing.from_record(
                row,
                baseline=row.baseline if several and row.role != BASELINE else None,
                verdict=row.verdict or None,
                reason=_reason(row, of_level=reason),
                remarks=tuple(_remarks(row)),
                gain=Estimate(mean=row.improvement, low=row.simultaneous_low, high=row.simultaneous_high),
                accepted=Shares(
                    all=row.accepted, deprived=row.accepted_deprived, favored=row.accepted_favored
                ),
                repetitions=row.n,
                dominated_by=row.dominated_by or None,
                best=[choice for (choice, _), best in taken.items() if best is row],
                tied=[choice for choice in row.tied.split() if own(taken[choice, row.knows]) == own(row)],
            )
            for row in rows
        ),
    )


def _reason(row: Any, of_level: str) -> Reason | None:
    """Return the reason of a verdict, with the numbers that decided it, if it is not the level's reason."""
    if not row.reason:
        # Techniques with a learner of their own may have an answer where the others have none.
        differs = row.role == "technique" and row.level_reason not in ("", of_level)
        return Reason(code=row.level_reason) if differs else None
    args: dict[str, object] = {}
    match row.reason:
        case "constant":
            args = _constant(row)
        case "below_constant":
            args = {"accuracy": row.accuracy, "floor": row.accuracy_floor}
        case "one_group":
            args = _one_group(row)
        case "too_few_accepted":
            args = _limit(row)
        case "incomplete":
            args = {"samples": min(row.n, row.pairs), "of": row.n + row.missing}
        case "few_repetitions":
            args = {"samples": int(row.splits)}
        case "not_recorded":
            args = {"shares": math.isnan(row.accepted)}
    return Reason(code=row.reason, args=args)


def _constant(row: Any) -> dict[str, object]:
    """Return how decisions are degenerate, and in how many of the samples whose shares are known."""
    return {"kind": row.degenerate, "samples": row.n_degenerate, "of": row.n_recorded}


def _one_group(row: Any) -> dict[str, object]:
    """Return the group that gets nearly always the same answer, and its share accepted."""
    for group, accepted in (("deprived", row.accepted_deprived), ("favored", row.accepted_favored)):
        if is_constant(accepted):
            return {"group": group, "accepts": accepted > NEARLY_ALL}
    return {}


def _limit(row: Any) -> dict[str, object]:
    """Return the first limit of acceptance that a technique misses, its share, and the reference's."""
    limit = row.too_few.split()[0]
    if limit == "fewer_deprived":
        shares = {"share": row.accepted_deprived, "reference": row.baseline_accepted_deprived}
        return {"verb": "accepts", "group": "deprived", "of": "baseline", **shares}
    verb, group = limit.split("_")
    share, reference = {
        "deprived": (row.accepted_deprived, row.reference_deprived),
        "favored": (row.accepted_favored, row.reference_favored),
        "all": (row.accepted, row.reference_accepted),
    }[group]
    if verb == "refuses":
        share, reference = 1 - share, 1 - reference
    of = "clean_model" if row.reference == OF_BASELINE else "labels"
    return {"verb": verb, "group": group, "of": of, "share": share, "reference": reference}


def _remarks(row: Any) -> Iterator[Reason]:
    """Yield what the numbers of a technique hide, besides the reason of its verdict."""
    if row.n_degenerate and row.reason != "constant":
        yield Reason(code="constant", args=_constant(row))
    elif row.below_constant and row.reason != "below_constant":
        yield Reason(code="below_constant", args={"accuracy": row.accuracy, "floor": row.constant_accuracy})
    elif row.one_group and row.reason != "one_group":
        yield Reason(code="one_group", args=_one_group(row))
    if row.missing and row.reason != "incomplete":
        yield Reason(code="incomplete", args={"samples": row.n, "of": row.n + row.missing})
    if abs(row.distance - abs(row.value)) > _SHOWN:
        yield Reason(code="either_sign", args={"distance": row.distance})
    if _falls(row):
        code = "levels_down" if row.levels_down else "accepts_fewer"
        args = {"share": row.accepted_deprived, "before": row.baseline_accepted_deprived}
        yield Reason(code=code, args=args)
    if getattr(row, "frontier", None) == INSIDE:  # where the run recorded one
        yield Reason(code="inside_frontier")


def _falls(row: Any) -> bool:
    """Return whether fewer of the deprived group are accepted than by the baseline, as far as readers see."""
    if row.role != "technique" or math.isnan(row.baseline_accepted_deprived):
        return False
    chosen = row.verdict in RECOMMENDED
    return row.levels_down or (chosen and row.accepted_deprived < row.baseline_accepted_deprived - 5e-3)
