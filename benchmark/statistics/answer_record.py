"""One technique's answer at one level of bias, as a record: a row of ``answers.csv``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pandas as pd

from benchmark.statistics.cells import ScenarioKey
from benchmark.statistics.recommendation import (
    BASELINE,
    HARMS,
    NOT_RESTORED,
    NOT_SHOWN,
    NOT_USABLE,
    REASONS,
    REFERENCE,
    WITHIN_LIMITS,
)

OUTCOMES = (
    *(REFERENCE, *WITHIN_LIMITS, BASELINE, NOT_SHOWN, HARMS),
    *(*REASONS[NOT_SHOWN][1:], *REASONS[NOT_USABLE], *NOT_RESTORED),
)
"""Values of :attr:`Answer.outcome`, in the order of tables."""


class Answer(NamedTuple):
    """A technique at one level of bias; ``results/README.md`` explains the fields.

    ``frontier`` is the standing by the unprocessing frontier, None where the run recorded no frontier.
    """

    dataset: str
    bias: str
    classifier: str
    test: str
    beta: float
    technique: str
    goal: str
    baseline: str
    clean_model: str  # the technique whose model without planted bias is the clean one
    n: int
    missing: int
    pairs: int
    metric: str
    value: float
    value_low: float
    value_high: float
    distance: float
    change: float
    change_low: float
    change_high: float
    improvement: float
    simultaneous_low: float
    simultaneous_high: float
    splits: float
    tested: bool
    better: bool
    worse: bool
    accuracy: float
    accuracy_low: float
    accuracy_high: float
    accuracy_change: float
    accuracy_change_low: float
    accuracy_change_high: float
    less_accurate: bool
    accepted: float
    accepted_deprived: float
    accepted_favored: float
    constant_accuracy: float
    constant_answer: str
    constant_accepts: float
    n_recorded: int
    n_degenerate: int
    n_refuses_all: int
    n_accepts_all: int
    n_by_group: int
    degenerate: str
    mostly_constant: bool
    below_constant: bool
    one_group: bool
    favorable_deprived: float
    favorable_favored: float
    reference: str
    reference_accepted: float
    reference_deprived: float
    reference_favored: float
    accuracy_floor: float
    too_few: str
    baseline_degenerate: bool
    baseline_accepted_deprived: float
    role: str
    verdict: str
    reason: str
    level_reason: str
    dominated_by: str
    choice: str
    tied: str
    levels_down: bool
    frontier: str | None = None

    @property
    def outcome(self) -> str:
        """Its role, or its verdict; if several reasons lead to that, the one that did, also of the level."""
        if self.verdict not in (NOT_SHOWN, NOT_USABLE):
            return self.verdict or self.role
        of_level = self.level_reason if self.level_reason in NOT_RESTORED else ""
        return self.reason or of_level or self.verdict

    @property
    def choices(self) -> list[str]:
        """The goals of choice that the technique is named for."""
        return self.choice.split()

    @property
    def ties(self) -> list[str]:
        """The goals of choice in which others tie with the technique."""
        return self.tied.split()


ANSWER_COLUMNS = Answer._fields[:-1]
"""Columns of :func:`~benchmark.statistics.answers.answer_table`."""


def answer_records(answers: pd.DataFrame) -> list[Answer]:
    """Return the rows of a table of answers."""
    columns = [name for name in Answer._fields if name in answers.columns]
    return [Answer(*row) for row in answers[columns].itertuples(index=False, name=None)]


def in_order(answers: Iterable[Answer]) -> list[Answer]:
    """Return the answers of one goal at one level of bias, sorted: techniques to choose first.

    They come in the order of :data:`OUTCOMES`. Of one outcome, the smallest mean distance to the goal comes
    first: discrimination that changes its sign from sample to sample still counts.
    """

    def key(answer: Answer) -> tuple[int, bool, float]:
        distance = round(answer.distance, 6)
        return OUTCOMES.index(answer.outcome), distance != distance, distance  # NaN comes last

    return sorted(answers, key=key)


def by_level(answers: pd.DataFrame) -> Iterator[tuple[ScenarioKey, float, list[Answer]]]:
    """Yield the key of a scenario, a level of bias, and its answers :func:`in_order`, all for one goal."""
    levels: dict[tuple[ScenarioKey, float], list[Answer]] = {}
    for answer in answer_records(answers):
        levels.setdefault((answer[:4], answer.beta), []).append(answer)
    for (scenario, beta), rows in levels.items():
        yield scenario, beta, in_order(rows)


def by_scenario(answers: pd.DataFrame) -> dict[ScenarioKey, dict[float, list[Answer]]]:
    """Return the answers for one goal by scenario and level of bias, :func:`in_order`."""
    scenarios: dict[ScenarioKey, dict[float, list[Answer]]] = {}
    for key, beta, rows in by_level(answers):
        scenarios.setdefault(key, {})[beta] = rows
    return scenarios
