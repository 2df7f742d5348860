"""The part of the facts that a first look shows: one level of bias for each scenario and goal."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmark.columns import BLIND, UNTREATED
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
    def tried(self) -> tuple[Standing, ...]:
        """The techniques that know nothing, without doing nothing and without the baseline."""
        return tuple(row for row in self.level.techniques if row.role == "technique" and row.knows == BLIND)

    @property
    def best(self) -> Standing | None:
        """The technique to take."""
        return self.level.best()

    @property
    def told(self) -> list[tuple[str, Standing | None]]:
        """What techniques are told, each with the one to take of those; empty at a level without answers."""
        states = dict.fromkeys(row.knows for row in self.level.techniques if row.knows != BLIND)
        return [] if self.level.reason else [(knows, self.level.best(knows=knows)) for knows in states]

    @property
    def baseline(self) -> Standing | None:
        """What the best technique is compared with; None if it has no results."""
        return self.level.before(self.best)

    @property
    def lower(self) -> Level | None:
        """The next lower level of bias where there is a technique to take, other than at this one."""
        here = self.best.technique if self.best else None
        found = ((level, level.best()) for level in self._below)
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


@dataclass(frozen=True)
class Overview:
    """All cases of a run, with rows of techniques in the order of a table."""

    cases: tuple[Case, ...]
    compared_with: tuple[Row, ...]  # doing nothing, and other baselines
    techniques: tuple[Row, ...]  # those that help first, then nearest to the goal

    @property
    def goals(self) -> list[Goal]:
        """The goals that have an answer."""
        return list(dict.fromkeys(case.goal for case in self.cases))

    @property
    def scenarios(self) -> list[Scenario]:
        """The scenarios that have an answer."""
        return list({case.scenario.file: case.scenario for case in self.cases}.values())

    @property
    def states(self) -> list[str]:
        """What techniques are told about the bias, in the order of rows; empty if they all know nothing."""
        return [
            knows for knows in dict.fromkeys(row.first.knows for row in self.techniques) if knows != BLIND
        ]

    def shown(self, most: int) -> tuple[Row, ...]:
        """Return so many rows of techniques; those that are told something have at most half of them."""
        n_blind = sum(row.first.knows == BLIND for row in self.techniques)
        first = min(n_blind, max(most - len(self.techniques) + n_blind, most - most // 2))
        return (*self.techniques[:first], *self.techniques[n_blind:][: most - first])

    def others(self, rows: Sequence[Row]) -> Mapping[str, int]:
        """Return the number of techniques by the best verdict that a table shows of them."""
        told = ([cell.verdict for cell, _ in self.verdicts(row)] for row in rows)
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

    def counts(self, goal: Goal) -> Mapping[str, Counter[str]]:
        """Return for each technique the number of answered cases of a goal by verdict, and as ``of`` of all.

        One that another technique dominates has the verdict of the techniques to choose from there.
        """
        found = {}
        for row in self.techniques:
            pairs = zip(row.cells, self.cases, strict=True)
            answered = [pair for pair in pairs if pair[1].goal == goal and not pair[1].level.reason]
            told = [_counted(cell, case) for cell, case in answered if cell and cell.role == "technique"]
            found[row.technique] = Counter({"of": len(told), **Counter(filter(None, told))})
        return found

    def most_often(
        self, verdict: Verdict, goal: Goal, knows: str = BLIND
    ) -> tuple[list[str], int, int | None] | None:
        """Return the techniques that have a verdict in the most cases of a goal, in how many, of how many.

        They are among those that know as much. The last is None if they were tried in different numbers of
        cases.
        """
        known = {row.technique for row in self.techniques if row.first.knows == knows}
        counts = {name: count for name, count in self.counts(goal).items() if name in known}
        most = max((count[verdict] for count in counts.values()), default=0)
        names = [name for name, count in counts.items() if count[verdict] == most]
        tried = {counts[name]["of"] for name in names}
        return (names, most, tried.pop() if len(tried) == 1 else None) if most else None


def overview(facts: Facts) -> Overview:
    """Return the answers at the highest level of bias that can be compared, scenario by scenario."""
    cases = (
        Case(scenario, answers, answers.at_highest)
        for scenario in facts.scenarios
        for answers in scenario.answers
    )
    return _overview(facts, cases)


def level_by_level(facts: Facts) -> list[Overview]:
    """Return the answers of each scenario at each level of bias."""
    cases = [
        Case(one, answers, at) for one in facts.scenarios for answers in one.answers for at in answers.levels
    ]
    keys = [(case.scenario.file, case.level.level) for case in cases]
    pairs = [*zip(keys, cases, strict=True)]
    return [_overview(facts, (case for at, case in pairs if at == key)) for key in dict.fromkeys(keys)]


def _overview(facts: Facts, of: Iterable[Case]) -> Overview:
    cases = tuple(of)
    found: dict[str, list[Standing | None]] = {}
    for i, case in enumerate(cases):
        for row in case.level.techniques:
            found.setdefault(row.technique, [None] * len(cases))[i] = row
    rows = [Row(name, tuple(cells)) for name, cells in found.items()]
    roles = {row.technique: {cell.role for cell in row.cells if cell} for row in rows}
    # Of a case in which techniques bring learners, the first baseline stands for all.
    first = {baseline.technique for case in cases if (baseline := case.level.before())}
    # A table that counts has what is a technique somewhere among the techniques.
    many = len({case.scenario.file for case in cases}) > MOST_IN_COLUMNS
    counted = {row.technique for row in rows if many and "technique" in roles[row.technique]}
    first |= {name for name in roles if "reference" in roles[name]}
    compared = [row for row in rows if row.technique in first - counted]
    compared.sort(key=lambda row: row.technique != UNTREATED)
    tried = (row for row in rows if row.technique in counted or roles[row.technique] == {"technique"})
    # Those that know as much stand together.
    states = list(dict.fromkeys((BLIND, *(technique.knows for technique in facts.techniques))))
    order = sorted(tried, key=lambda row: (states.index(row.first.knows), *_place(row, cases)))
    return Overview(cases, tuple(compared), tuple(order))


def _counted(cell: Standing, case: Case) -> Verdict | None:
    best = case.level.best(knows=cell.knows)
    return best.verdict if cell.verdict == "dominated" and best else cell.verdict


def _place(row: Row, cases: Sequence[Case]) -> tuple[float, ...]:
    """Return a key that sorts rows: techniques to take first, then by verdicts and by what they leave.

    Of many scenarios, those that help in the most cases are first, as a table counts them.
    """
    found = [(cell, case) for cell, case in zip(row.cells, cases, strict=True) if cell]
    places = [VERDICTS.index(cell.verdict) for cell, _ in found if cell.verdict]
    distances = [cell.distance for cell, _ in found if cell.distance is not None]
    if len({case.scenario.file for case in cases}) > MOST_IN_COLUMNS:
        first = sum(_counted(*pair) == "helps" for pair in found)
    else:
        first = sum("least" in cell.best for cell, _ in found)
    helped = sum(place == 0 for place in places)
    left = sum(distances) / len(distances) if distances else float("inf")
    return (-first, -helped, min(places, default=len(VERDICTS)), left)
