"""Answers of one dataset from values that are written down by hand."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from benchmark.columns import EQUALIZE, GOAL_METRICS, RESTORE, RESULT_COLUMNS
from benchmark.metrics import list_metrics
from benchmark.runs.verdicts import compare_with
from benchmark.statistics.across import ALPHA
from benchmark.statistics.answers import ConstantAnswer, answer_table, judged, standings
from benchmark.statistics.cells import Baselines, Resampling, to_cells
from benchmark.statistics.recommendation import NOT_RESTORED, NOT_SHOWN, NOT_USABLE, Criteria

REFUSING = ConstantAnswer(0.3, groups=(0.2, 0.4))

# Discrimination, accuracy, and the shares accepted of all, of the deprived and of the favored; and, where
# decisions are to be restored, the distance to the clean model.
Values = tuple[float, float, float, float, float] | tuple[float, float, float, float, float, float]
BASELINE: Values = (0.4, 0.8, 0.4, 0.2, 0.6)
METRICS = (
    *("discrimination", "accuracy", "accepted", "accepted_deprived", "accepted_favored"),
    GOAL_METRICS[RESTORE],
)

Cell = Values | Sequence[Values | None] | Callable[[int], Values]
"""Values of all repetitions; of several in turn, where None is a failure; or by a repetition's number."""


def results_of(
    levels: Mapping[float, Mapping[str, Cell]], repetitions: int, test: str = "original"
) -> pd.DataFrame:
    """Return the values of techniques by level of bias as the rows of results."""
    rows: list[tuple[object, ...]] = []
    for (beta, cells), repetition in itertools.product(levels.items(), range(repetitions)):
        for technique, own in cells.items():
            if callable(own):
                values = own(repetition)
            else:
                values = own[repetition % len(own)] if isinstance(own, list) else own
            rows += [
                ("set", "cpt", beta, technique, "c45", repetition, test, metric, float(value))
                for metric, value in zip(METRICS, values or [math.nan] * 5, strict=False)
            ]
    return pd.DataFrame(rows, columns=list(RESULT_COLUMNS))


def answers_at(
    levels: Mapping[float, Mapping[str, Cell]],
    *,
    repetitions: int = 10,
    baseline: str = "none",
    constant: ConstantAnswer | None = REFUSING,
    test: str = "original",
    paired: bool = True,
    resampling: Resampling | None = None,
    goal: str = EQUALIZE,
    criteria: Criteria = Criteria(),  # noqa: B008
    effects: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return the answers for a goal at several levels of bias, by technique and level, with ``outcome``."""
    results = results_of(levels, repetitions, test)
    baselines = Baselines({("set", "c45"): baseline})
    of_goals = results[results["metric"].isin(("accuracy", *GOAL_METRICS.values()))]
    comparisons = compare_with(to_cells(of_goals, resampling), baselines, list_metrics(), ALPHA)
    found = answer_table(
        results,
        judged(comparisons, rope=criteria.margin),
        standings(results, {"set": constant} if constant else {}),
        baselines,
        criteria,
        resampling,
        paired_levels=paired,
        effects=effects,
    )
    found = found[found["goal"] == goal]
    found = found.assign(outcome=outcomes(found))
    return found.set_index(["technique", "level"], drop=False)


def answers_of(
    cells: Mapping[str, Cell],
    *,
    repetitions: int = 12,
    constant: ConstantAnswer | None = ConstantAnswer(0.3),  # noqa: B008
    baseline: str = "none",
) -> pd.DataFrame:
    """Return the answers at one level of bias, with ``outcome``."""
    found = answers_at({0.5: cells}, repetitions=repetitions, constant=constant, baseline=baseline)
    return found.reset_index(drop=True)


def outcomes(answers: pd.DataFrame) -> list[str]:
    """Return the role or verdict of each answer; if several reasons lead to that, the one that did."""

    def outcome(row: Any) -> str:
        if row.verdict not in (NOT_SHOWN, NOT_USABLE):
            return str(row.verdict or row.role)
        of_level = row.level_reason if row.level_reason in NOT_RESTORED else ""
        return str(row.reason or of_level or row.verdict)

    return [outcome(row) for row in answers.itertuples(index=False)]
