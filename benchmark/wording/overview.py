"""The part of the facts that a first look shows: one level of bias for each scenario and goal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmark.columns import UNTREATED
from benchmark.facts.model import Answers, Facts, Goal, Level, Reason, Scenario, Standing, Verdict
from benchmark.statistics.recommendation import VERDICTS

MOST_IN_COLUMNS = 4
"""Scenarios that a table of techniques has columns for; of more, it counts verdicts."""


@dataclass(frozen=True)
class Case:
    """The answer for a goal in a scenario, at one level of bias."""

    scenario: Scenario
    answers: Answers
    level: Level

    @property
    def goal(self) -> Goal:
        """The goal."""
        return self.answers.goal

    @property
    def baseline(self) -> Standing | None:
        """What the best technique is compared with; None if it has no results."""
        return baseline_of(self.level, self.best)

    @property
    def tried(self) -> tuple[Standing, ...]:
        """The techniques, without doing nothing and without the baseline."""
        return tuple(row for row in self.level.techniques if row.role == "technique")

    @property
    def best(self) -> Standing | None:
        """The technique to take."""
        return best_of(self.level, "least")

    @property
    def free(self) -> Standing | None:
        """The technique to take at no cost of accuracy, if it is another one."""
        found = best_of(self.level, "cheap")
        return None if found is None or found is self.best else found

    @property
    def lower(self) -> Level | None:
        """The next lower level of bias where there is a technique to take, other than at this one."""
        here = self.best.technique if self.best else None
        found = ((level, best_of(level, "least")) for level in self._below)
        others = (level for level, best in found if best and best.technique != here)
        return max(others, key=lambda level: level.level, default=None)

    @property
    def not_at(self) -> list[float]:
        """The lower levels of bias at which the technique to take is not shown to help."""
        return [
            level.level
            for level in self._below
            for row in level.techniques
            if self.best and row.technique == self.best.technique and row.verdict in ("not_shown", "harms")
        ]

    @property
    def _below(self) -> list[Level]:
        return [x for x in self.answers.levels if x.level < self.level.level and not x.reason]

    @property
    def common_reason(self) -> Reason | None:
        """The reason that all techniques share, if they do."""
        reasons = {row.reason.code: row.reason for row in self.tried if row.reason}
        everywhere = len(reasons) == 1 and all(row.reason for row in self.tried)
        return next(iter(reasons.values())) if everywhere else None


@dataclass(frozen=True)
class Row:
    """A technique in several cases; None where it was not run."""

    technique: str
    cells: tuple[Standing | None, ...]

    @property
    def first(self) -> Standing:
        """The first cell that has numbers."""
        return next(cell for cell in self.cells if cell is not None)

    @property
    def is_compared_with(self) -> bool:
        """Whether it is doing nothing or a baseline in any case, and no technique to choose."""
        return any(cell is not None and cell.role != "technique" for cell in self.cells)

    def count(self, verdict: Verdict, *, goal: Goal, cases: Sequence[Case]) -> int:
        """Return in how many cases of a goal the technique has a verdict.

        One that another technique dominates has the verdict of the techniques to choose from there.
        """
        pairs = [(cell, case) for cell, case in zip(self.cells, cases, strict=True) if case.goal == goal]
        return sum(
            cell is not None
            and verdict == (case.best.verdict if cell.verdict == "dominated" and case.best else cell.verdict)
            for cell, case in pairs
        )


@dataclass(frozen=True)
class Overview:
    """All cases of a run, with rows of techniques in the order of a table."""

    cases: tuple[Case, ...]
    compared_with: tuple[Row, ...]  # doing nothing, and other baselines
    techniques: tuple[Row, ...]  # those that help first, then nearest to the goal

    def of_goal(self, goal: Goal) -> list[Case]:
        """Return the cases of a goal."""
        return [case for case in self.cases if case.goal == goal]

    @property
    def goals(self) -> list[Goal]:
        """The goals that have an answer."""
        return list(dict.fromkeys(case.goal for case in self.cases))

    @property
    def scenarios(self) -> list[Scenario]:
        """The scenarios that have an answer."""
        return list({case.scenario.file: case.scenario for case in self.cases}.values())

    @property
    def answered(self) -> bool:
        """Whether any level of bias tells techniques from doing nothing."""
        return any(case.level.reason is None for case in self.cases)

    def first(self, most: int) -> tuple[Row, ...]:
        """Return the first techniques, at most so many."""
        return self.techniques[:most]

    def others(self, most: int) -> Mapping[str, int]:
        """Return the number of the techniques after these by the best verdict that a table shows."""
        told = ([cell.verdict for cell, _ in self.verdicts(row)] for row in self.techniques[most:])
        counts = Counter(min(filter(None, found), key=VERDICTS.index, default="not_shown") for found in told)
        return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}

    def verdicts(self, row: Row) -> list[tuple[Standing, list[Goal]]]:
        """Return the different verdicts on a technique, each with its goals.

        What is not shown is left out beside another verdict, and so is a level without any answer.
        """
        found: dict[tuple[str, str], tuple[Standing, list[Goal]]] = {}
        for cell, case in zip(row.cells, self.cases, strict=True):
            if cell is not None and cell.verdict and not case.level.reason:
                reason = cell.reason.code if cell.reason else ""
                found.setdefault((cell.verdict, reason), (cell, []))[1].append(case.goal)
        told = [entry for (verdict, _), entry in found.items() if verdict != "not_shown"]
        return told or list(found.values())[:1]

    def tried_in(self, row: Row, goal: Goal) -> int:
        """Return the number of cases of a goal in which a technique was tried."""
        pairs = zip(row.cells, self.cases, strict=True)
        return sum(cell is not None and case.goal == goal for cell, case in pairs)

    def most_often(self, verdict: Verdict, goal: Goal) -> tuple[list[Row], int, int] | None:
        """Return the techniques that have a verdict in the most cases of a goal, in how many, of how many."""
        counts = [
            (row.count(verdict, goal=goal, cases=self.cases), self.tried_in(row, goal), row)
            for row in self.techniques
        ]
        n, of, _ = max(counts, key=lambda entry: entry[0], default=(0, 0, None))
        return ([row for *known, row in counts if known == [n, of]], n, of) if n else None


def overview(facts: Facts) -> Overview:
    """Return the answers at the highest level of bias that can be compared, scenario by scenario."""
    return _overview(
        Case(scenario, answers, level)
        for scenario in facts.scenarios
        for answers in scenario.answers
        for level in answers.levels
        if level.level == answers.highest
    )


def level_by_level(facts: Facts) -> list[Overview]:
    """Return the answers of each scenario at each level of bias."""
    found: dict[tuple[str, float], list[Case]] = {}
    for scenario in facts.scenarios:
        for answers in scenario.answers:
            for level in answers.levels:
                found.setdefault((scenario.file, level.level), []).append(Case(scenario, answers, level))
    return [_overview(cases) for cases in found.values()]


def _overview(of: Iterable[Case]) -> Overview:
    cases = tuple(of)
    found: dict[str, list[Standing | None]] = {}
    for i, case in enumerate(cases):
        for row in case.level.techniques:
            found.setdefault(row.technique, [None] * len(cases))[i] = row
    rows = [Row(name, tuple(cells)) for name, cells in found.items()]
    compared = [row for row in rows if row.is_compared_with]
    tried = [row for row in rows if not row.is_compared_with]
    # Of a case in which techniques bring learners, the first baseline stands for all.
    first = {row.technique for case in cases for row in _first_baseline(case.level)}
    compared = [row for row in compared if row.technique in first or row.first.role == "reference"]
    compared.sort(key=lambda row: row.technique != UNTREATED)
    return Overview(cases, tuple(compared), tuple(sorted(tried, key=_place)))


def _first_baseline(level: Level) -> list[Standing]:
    return [row for row in level.techniques if row.role == "baseline"][:1]


def baseline_of(level: Level, technique: Standing | None = None) -> Standing | None:
    """Return what a technique is compared with at a level of bias, or the first such, if it has results."""
    found = [row for row in level.techniques if row.role == "baseline"]
    named = technique.baseline if technique else None
    return next((row for row in found if row.technique == named), found[0] if found else None)


def best_of(level: Level, choice: str) -> Standing | None:
    """Return the technique to take at a level of bias; None if it has none."""
    return next((row for row in level.techniques if choice in row.best), None)


def _place(row: Row) -> tuple[float, ...]:
    """Return a key that sorts rows: techniques to take first, then by verdicts and by what they leave."""
    places = [VERDICTS.index(cell.verdict) for cell in row.cells if cell and cell.verdict]
    distances = [cell.distance for cell in row.cells if cell and cell.distance is not None]
    taken = sum("least" in cell.best for cell in row.cells if cell)
    helped = sum(place == 0 for place in places)
    left = sum(distances) / len(distances) if distances else float("inf")
    return (-taken, -helped, min(places, default=len(VERDICTS)), left)
