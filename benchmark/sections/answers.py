"""The choices at each level of bias, their gain and cost. The sentences are in :mod:`.choices`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd

from benchmark.columns import EQUALISE, RESTORE, UNTREATED
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import Scenario
from benchmark.sections.choices import (
    DOMINATED,
    answer_counts,
    answer_sentences,
    better_in_both,
    change_interval,
    change_text,
    changes_sign,
    choice_title,
    few_sentences,
    flaws,
    named_choices,
    recommended_as_well,
    recommended_rule,
    remarks,
    tie_sentences,
)
from benchmark.sections.data import data_notes, planted_note
from benchmark.sections.goals import (
    DISTANCE,
    NO_CHOICE,
    TWO_WINNERS,
    WHY_NOT_IN_SHORT,
    WORDS,
    by_goal,
    clean_words,
    difference,
    differences,
    unanswered,
    winners,
    words_of,
)
from benchmark.sections.moved import MOVED, moved
from benchmark.sections.reasons import answer_words, constant_words
from benchmark.sections.restoration import people_blocks, people_of
from benchmark.sections.section import Block, Section, TextTable
from benchmark.sections.signs import INSIDE_WORDS
from benchmark.statistics.answer_record import Answer, answer_records, by_scenario
from benchmark.statistics.answers import BY_LOT, random_accuracy
from benchmark.statistics.cells import Baseline, ScenarioKey
from benchmark.statistics.recommendation import CHEAP, CHOICES, LEAST, Criteria
from benchmark.statistics.unprocessing import INSIDE
from benchmark.text.words import level_text, number, share, short

TITLE = "At this level of bias: which technique, at what cost"

ANSWERS_PAGE = "answers.md"
"""Name of the page with every technique at every level of bias."""

NOT_TESTED = "Differences between two recommended techniques are not tested."
"""Limit of recommendations."""

RANDOM = "Accepting by lot"
"""Title of the random answer in a table."""

READING_TITLE = "What the words mean"
"""Heading of definitions and rules."""

INERT = "bias as it is planted here has no effect: one level stands for all"
"""Stands where only one level of bias is shown."""

_AtLevels = Mapping[float, Sequence[Answer]]
"""A scenario's answers for one goal, by level of bias."""

_MOST_ROWS = 8
_MOST_IN_FULL = 6  # scenarios in the terminal; of more, those with the same choices are one


def headings(goal: str) -> tuple[str, ...]:
    """Return the columns of :attr:`Line.cells`."""
    shares = "Selection rate: all / deprived / favored"
    return ("Technique", WORDS[goal].column, "change", "Accuracy", "change", shares, "Remarks")


def section(statistics: RunStatistics, most: int | None = _MOST_ROWS) -> Section:
    """Return tables of choices for each goal and scenario, then sentences and a table for each level of bias.

    Tables have at most ``most`` rows, unless the chosen techniques, baselines and yardsticks are more. With
    None they have all.
    """
    run, table = statistics.run, statistics.answers
    files = {
        "answers": "each technique at each level of bias, for each goal: its discrimination or distance, its "
        "cost in accuracy, its selection rates, and its verdict",
        "pareto": "the Pareto-optimal techniques of each metric and accuracy",
    }
    figures = {"pareto": "Trade-offs and Pareto fronts"}
    if table.empty:
        note = "Discrimination is not recorded in these results, so no technique can be recommended."
        return Section("answers", TITLE, (note,), files=files, figures=figures)
    goals = dict(by_goal(table))
    notes = [
        *differences(statistics.scenarios, table, run),
        *([note] if (note := unanswered(table, run)) else []),
    ]
    records = answer_records(table)
    words = [
        run.level_meaning,
        clean_words(table, run.titles) + f" {DISTANCE}" * (RESTORE in goals),
        *reading(run, recommended_rule(goals, statistics.criteria)),
        dominated_note(records),
        frontier_note(records),
    ]
    named = winners(table)
    blocks: list[Block] = []
    cut = False
    for goal, answers in goals.items():
        overview, details = [], []
        scenarios = by_scenario(answers)
        for scenario in statistics.scenarios:
            if scenario.key not in scenarios:
                continue
            of_scenario = _telling(scenario, scenarios[scenario.key])
            overview.append(_overview(statistics, scenario, goal, of_scenario))
            for beta, rows in of_scenario.items():
                lines = answer_lines(rows, run.titles, most)
                different = difference(named.get((scenario.key, beta), {}), run.titles)
                cut |= len(lines) < len(answer_lines(rows, run.titles))
                details.append(
                    Block(
                        f"{scenario.heading} at {run.level_text(beta)}. {WORDS[goal].title}",
                        [
                            *([different] if different else []),
                            *answer_sentences(rows, run.titles, criteria=statistics.criteria),
                            *(people_of(statistics, scenario, beta, rows) if goal == RESTORE else ()),
                        ],
                        table=TextTable(headings(goal), [line.cells for line in lines]),
                    )
                )
        blocks += [*overview, Block(READING_TITLE, [word for word in words if word]), *details]
    if cut:
        notes.append(f"Long tables are cut here; {ANSWERS_PAGE} has all techniques.")
    return Section("answers", TITLE, notes, blocks, files, figures)


def headings_of(statistics: RunStatistics) -> list[str]:
    """Return the headings of the choices in each scenario, goal by goal."""
    return [
        _heading(scenario, goal)
        for goal, answers in by_goal(statistics.answers)
        for scenario in statistics.scenarios
        if len(scenario.rows(answers))
    ]


def one_line_each(statistics: RunStatistics) -> list[str]:
    """Return a line for each scenario: the technique that is named for each goal, by level of bias."""
    goals = {goal: by_scenario(answers) for goal, answers in by_goal(statistics.answers)}
    lines = []
    for scenario in statistics.scenarios:
        parts = []
        for goal, scenarios in goals.items():
            if scenario.key in scenarios:
                purpose = f", {WORDS[goal].purpose}" if len(goals) > 1 else ""
                choices = _by_level(_telling(scenario, scenarios[scenario.key]), statistics.run)
                parts.append(f"{scenario.heading}{purpose}, {choices}.")
        if parts:
            lines.append(" ".join(parts))
    return lines


def _telling(scenario: Scenario, levels: _AtLevels) -> _AtLevels:
    """Return the answers at the levels of bias that tell more than others of a scenario."""
    return {beta: levels[beta] for beta in scenario.telling_levels(sorted(levels))}


def _by_level(levels: _AtLevels, run: Manifest) -> str:
    """Return the named technique at each level of bias, then the levels without one by reason."""
    named: list[str] = []
    reasons: dict[str, list[float]] = {}
    for beta, rows in levels.items():
        if row := named_choices(rows).get(LEAST):
            baseline = next(other for other in rows if other.technique == row.baseline)
            named.append(
                f"{run.level_text(beta)}: {'candidate ' * (row.outcome == 'promising')}"
                f"{run.titles[row.technique]} ({words_of(rows).measure} from {number(baseline.value)} to "
                f"{number(row.value)}, accuracy from {number(baseline.accuracy)} to {number(row.accuracy)})"
            )
        else:
            reasons.setdefault(_none_in_short(rows), []).append(beta)
    if len(reasons) == 1:
        (reason,) = reasons
        where = "all other levels" if named else "at every level of bias"
        return "; ".join([*named, f"{where}: {reason}"])
    without = (f"{level_text(run.level_name, *betas)}: {reason}" for reason, betas in reasons.items())
    return "; ".join([*named, *without])


def _none_in_short(rows: Sequence[Answer]) -> str:
    """Return why no technique is named at a level of bias, for a cell of a table."""
    outcomes = {row.outcome for row in rows if not row.is_compared_with}
    reasons = (words for name, words in WHY_NOT_IN_SHORT.items() if outcomes == {name})
    return next(reasons, NO_CHOICE)


def _heading(scenario: Scenario, goal: str) -> str:
    return f"{scenario.heading}. {WORDS[goal].title}"


def reading(run: Manifest, rule: Sequence[str]) -> list[str]:
    """Return definitions of the numbers of an answer, with the rule of recommendation."""
    tested = "Accuracy is measured on test rows without planted bias."
    if note := run.tests_note:
        tested = f"All numbers are measured on the test data that a heading names. {note}"
    return [
        "Selection rate: the share that gets the favorable prediction, or is accepted. Discrimination is the "
        "favored group's selection rate minus the deprived group's. 0 is equal acceptance; below 0 the "
        "deprived group is ahead.",
        f"{tested} Changes are to the baseline, on the same samples.",
        "Discrimination may differ in sign between samples. Then its mean distance from 0 stands beside its "
        "mean, and decides.",
        "Intervals are of 95 %. In brackets after an accuracy: its change to the baseline.",
        f"{run.protocol.scope_text} A recommendation needs an interval that allows for the number of "
        "techniques; with several, it is wider than the shown ones. A difference that is not shown may still "
        "exist.",
        *rule,
        f"Limits go by unrounded numbers. {NOT_TESTED}",
    ]


def dominated_note(rows: Iterable[Answer]) -> str:
    """Return the meaning of a dominated technique if there is one; else nothing."""
    return f"Dominated: {DOMINATED}." if any(row.outcome == "dominated" for row in rows) else ""


def frontier_note(rows: Iterable[Answer]) -> str:
    """Return the meaning of a technique inside the unprocessing frontier if there is one; else nothing."""
    if not any(row.frontier == INSIDE for row in rows):
        return ""
    return (
        f"{INSIDE_WORDS.capitalize()}: group thresholds on an untreated model's scores are more accurate at "
        "equal or less discrimination. The model is the most accurate one. The 95 % interval of the "
        "difference lies below 0."
    )


def scenario_notes(
    scenario: Scenario, titles: Mapping[str, str] | None = None, baseline: Baseline | None = None
) -> list[str]:
    """Return notes on a scenario's groups, bias, baseline and best constant answer.

    The baseline is named if ``titles`` of techniques are given and it is a technique. ``baseline`` is the
    experiment's by default.
    """
    constant = scenario.best_constant
    notes = [
        scenario.dataset.roles,
        _planted_elsewhere(scenario),
        _baseline_note(scenario, titles or {}, baseline),
        f"{answer_words(constant)}: accuracy {number(constant.accuracy)}" if constant else "",
        INERT if scenario.inert else "",
    ]
    return [note for note in notes if note]


def _planted_elsewhere(scenario: Scenario) -> str:
    """Return a note on bias that is planted on other groups than the deprived one; nothing if none is."""
    dataset = scenario.dataset
    planted = next((bias for bias in dataset.bias if bias.name == scenario.bias), None)
    if planted is None or not planted.acting or not dataset.sensitive_feature:
        return ""
    if all(f"| {dataset.sensitive_feature} = " in edit for edit in planted.acting):
        return ""
    return f"the bias is planted on other groups: {', '.join(planted.acting)}"


def _baseline_note(scenario: Scenario, titles: Mapping[str, str], baseline: Baseline | None) -> str:
    used = scenario.baseline if baseline is None else baseline
    if not isinstance(used, str) or used == UNTREATED or used not in titles:
        return ""
    reason = scenario.dataset.entry.baseline_reason or "as the experiment says"
    return f"baseline: {titles[used]}, {reason if used == scenario.baseline else 'as asked for'}"


# ------------------------------------------------------------------------------------------ the choices


def _overview(statistics: RunStatistics, scenario: Scenario, goal: str, levels: _AtLevels) -> Block:
    """Return a table of the choices for a goal at every level of bias of a scenario, with notes."""
    run = statistics.run
    moves = moved(statistics, scenario)
    table_rows = [
        choice_row(beta, rows, run.titles, moves.get(beta, "") if moves else None)
        for beta, rows in levels.items()
    ]
    notes = [
        unanswered(statistics.answers, run, scenario) if RESTORE in statistics.answered else "",
        "; ".join(scenario_notes(scenario, run.titles, statistics.baseline_of(scenario))),
        planted_note(scenario, run.protocol),
        *data_notes([scenario.dataset], run),
    ]
    headings = choice_headings(goal, statistics.rope, run.level_sign, moved=bool(moves))
    table = TextTable(headings, table_rows)
    return Block(_heading(scenario, goal), [note for note in notes if note], table=table)


def choice_headings(goal: str, margin: float, level: str = "β", *, moved: bool = False) -> tuple[str, ...]:
    """Return the columns of :func:`choice_row`; ``level`` is the name of levels of bias."""
    return (
        level,
        *([MOVED] if moved else []),
        "Baseline",
        *(choice_title(name, WORDS[goal], margin) for name in CHOICES),
    )


def choice_row(
    beta: float, rows: Sequence[Answer], titles: Mapping[str, str], moved: str | None = None
) -> list[str]:
    """Return the texts of the baseline and of the choices for a goal at one level of bias.

    Doing nothing comes before another baseline. ``moved`` is the bias's effect on the baseline, and has a
    cell before them if given.
    """
    compared_with = [choice_text(row, titles) for row in rows if row.outcome == "reference"]
    compared_with += [choice_text(row, titles) for row in rows if row.outcome == "baseline"] or ["not run"]
    picked = named_choices(rows)
    cells = [f"{beta:g}", *([] if moved is None else [moved]), "; ".join(compared_with)]
    if LEAST in picked:
        least, cheap = picked[LEAST], picked.get(CHEAP)
        kind = "candidate: " if least.outcome == "promising" else ""
        cheaper = "the same" if cheap is least else kind + choice_text(cheap, titles) if cheap else "none"
        return [*cells, kind + choice_text(least, titles), cheaper]
    return [*cells, _none_in_short(rows), ""]


def choice_text(row: Answer, titles: Mapping[str, str]) -> str:
    """Return a technique's value and accuracy: ``"Massaging: 0.037, accuracy 0.825 (-0.016)"``."""
    title = titles[row.technique] + (f" ({words})" if (words := flaws(row)) else "")
    cost = "" if row.outcome == "baseline" else f" ({change_text(row.accuracy_change)})"
    hidden = f" ({number(row.distance)} from 0)" if changes_sign(row) else ""
    return f"{title}: {number(row.value)}{hidden}, accuracy {number(row.accuracy)}{cost}"


# ------------------------------------------------------------------------------------ all at one level


class Line(NamedTuple):
    """A line of the table of one level of bias, as text; a yardstick's line has no ``answer``."""

    answer: Answer | None
    title: str
    value: str
    change: Sequence[str]  # and its interval
    accuracy: str
    cost: Sequence[str]  # and its interval
    shares: Sequence[str]  # accepted of all, of the deprived, of the favored
    remarks: str

    @property
    def cells(self) -> list[str]:
        """The texts in the columns of :func:`headings`."""
        numbers = [self.value, " ".join(self.change), self.accuracy, " ".join(self.cost)]
        return [self.title, *numbers, " / ".join(self.shares), self.remarks]


def answer_lines(rows: Sequence[Answer], titles: Mapping[str, str], most: int | None = None) -> list[Line]:
    """Return the lines of one level of bias: chosen techniques, baseline, yardsticks, other techniques.

    Yardsticks are the best constant answer and, where a frontier is recorded, the random one. If there are
    more lines than ``most``, other techniques are left out.
    """
    several = len({row.baseline for row in rows}) > 1
    chosen = [row for row in rows if row.is_chosen or row.outcome == "reference"]
    baseline = [row for row in rows if row.outcome == "baseline"]
    rest = [row for row in rows if not row.is_chosen and not row.is_compared_with]
    yardsticks = _yardsticks(rows)
    if most is not None and len(rows) + len(yardsticks) > most:
        rest = rest[: max(0, most - len(baseline) - len(yardsticks) - len(chosen))]
    first, last = ([_line(row, titles, several) for row in part] for part in (chosen + baseline, rest))
    return [*first, *yardsticks, *last]


def _line(row: Answer, titles: Mapping[str, str], of_several: bool) -> Line:
    is_baseline = row.outcome == "baseline"
    return Line(
        row,
        titles[row.technique],
        number(row.value),
        [] if is_baseline else change_interval(row.change, row.change_low, row.change_high),
        number(row.accuracy),
        []
        if is_baseline
        else change_interval(row.accuracy_change, row.accuracy_change_low, row.accuracy_change_high),
        _accepts(row),
        remarks(row, titles, of_several=of_several),
    )


def _yardsticks(rows: Sequence[Answer]) -> list[Line]:
    """Return the lines of the best constant answer and, where there is a frontier, of accepting by lot."""
    row = next((row for row in rows if row.constant_answer), None)
    if row is None:
        return []
    shares = [share(row.constant_accepts)] * 3
    constant = number(row.constant_accuracy)
    title = constant_title(constant_words(row.constant_answer, row.constant_accepts))
    value = number(0.0 if row.goal == EQUALISE else math.nan)
    lines = [Line(None, title, value, (), constant, (), shares, "the best constant answer")]
    if row.frontier is not None and row.constant_answer != BY_LOT:
        at_rate = number(random_accuracy(row.constant_accuracy))
        remark = "on average, at the test data's rate of favorable labels"
        lines.append(Line(None, RANDOM, number(0.0), (), at_rate, (), (), remark))
    return lines


def constant_title(words: str) -> str:
    """Return the title of the best constant answer in a table: ``"Refusing everybody"``."""
    return words[:1].upper() + words[1:]


def _accepts(row: Answer) -> list[str]:
    return [share(part) for part in (row.accepted, row.accepted_deprived, row.accepted_favored)]


def accepts_text(shares: Iterable[float]) -> str:
    """Return selection rates beside each other: ``"17 % / 7 % / 23 %"``."""
    return " / ".join(map(share, shares))


# --------------------------------------------------------------------------------------- the short form


def short_section(statistics: RunStatistics) -> Section:
    """Return the choices of a run in 80 columns, and sentences on the people they serve."""
    choices = in_short(
        statistics.scenarios,
        statistics.answers,
        statistics.run,
        criteria=statistics.criteria,
        whole_rule="README.md has the whole rule.",
        moves={scenario.key: moved(statistics, scenario) for scenario in statistics.scenarios},
    )
    return replace(choices, blocks=[*choices.blocks, *people_blocks(statistics)])


def in_short(
    scenarios: Sequence[Scenario],
    answers: pd.DataFrame,
    run: Manifest,
    *,
    criteria: Criteria,
    whole_rule: str,
    moves: Mapping[ScenarioKey, Mapping[float, str]] = MappingProxyType({}),
) -> Section:
    """Return the choices for each goal in each scenario, in 80 columns.

    ``answers`` is an :func:`~benchmark.statistics.answers.answer_table` made with ``criteria``.
    ``whole_rule`` is a sentence on where to read the rule of recommendation. ``moves`` has the effects of
    doses on baselines.
    """
    blocks: list[Block] = []
    every_level: list[Sequence[Answer]] = []
    for goal, of_goal in by_goal(answers):
        levels = by_scenario(of_goal)
        if answered := [scenario for scenario in scenarios if scenario.key in levels]:
            measure = _SHORT_MEASURES[goal].format(clean=clean_words(of_goal, run.titles))
            blocks += _goal_blocks(goal, measure, answered, levels, run, criteria, moves)
            every_level += [rows for betas in levels.values() for rows in betas.values()]
    if sentences := differences(scenarios, answers, run):
        blocks.insert(0, Block(TWO_WINNERS, sentences))
    if every_level:
        notes = [unanswered(answers, run), *_short_reading(every_level, run, criteria, whole_rule)]
        blocks.append(Block(notes=[note for note in notes if note]))
    return Section("answers", "", blocks=blocks)


def _goal_blocks(
    goal: str,
    measure: str,
    scenarios: Sequence[Scenario],
    levels: Mapping[ScenarioKey, _AtLevels],
    run: Manifest,
    criteria: Criteria,
    moves: Mapping[ScenarioKey, Mapping[float, str]],
) -> Iterator[Block]:
    """Yield the blocks of one goal; many scenarios with the same choices are one block."""
    groups: dict[object, list[Scenario]] = {}
    for scenario in scenarios:
        choices = tuple(
            (beta, row.technique, row.choice)
            for beta, rows in levels[scenario.key].items()
            for row in rows
            if row.choice
        )
        alike = (*scenario.key[:2], choices) if len(scenarios) > _MOST_IN_FULL else scenario.key
        groups.setdefault(alike, []).append(scenario)
    yield Block(WORDS[goal].title, [measure])
    for group in groups.values():
        if len(group) == 1:
            yield from _in_full(group[0], levels[group[0].key], run, criteria, moves.get(group[0].key, {}))
        else:
            yield from _alike(group, levels, run)


def _in_full(
    scenario: Scenario, levels: _AtLevels, run: Manifest, criteria: Criteria, moves: Mapping[float, str]
) -> Iterator[Block]:
    yield Block(f"Technique to choose: {scenario.heading}", _short_notes(scenario, run))
    for beta, rows in _telling(scenario, levels).items():
        titles, picked = run.titles, named_choices(rows)
        named = [row for row in rows if row.is_compared_with or row.choice]
        yield Block(
            f"{run.level_text(beta)}: {answer_counts(rows)}",
            table=TextTable(_short_headings(rows), list(_short_rows(rows, titles))),
            remarks=[
                *([f"{MOVED} {moves[beta]}."] if beta in moves else []),
                *(f"{titles[row.technique]}: {words}." for row in named if (words := _short_flaws(row))),
                *tie_sentences(picked, rows, titles, criteria.margin),
                *recommended_as_well(picked, rows, titles),
                *better_in_both(picked, rows, titles),
            ],
        )


def _alike(
    group: Sequence[Scenario], levels: Mapping[ScenarioKey, _AtLevels], run: Manifest
) -> Iterator[Block]:
    """Yield blocks on the choices that several scenarios of one dataset and bias share."""
    first = group[0]
    title = f"Technique to choose, the same in {len(group)} cases of {first.dataset.heading}"
    yield Block(title, [*_short_notes(first, run), "; ".join(scenario.heading for scenario in group)])
    for beta in first.telling_levels(sorted(levels[first.key])):
        chosen: dict[tuple[str, str], list[Answer]] = {}
        for row in (row for scenario in group for row in levels[scenario.key].get(beta, ()) if row.choice):
            chosen.setdefault((_kind(row), row.technique), []).append(row)
        parts = [
            f"{kind} {run.titles[technique]} ({words_of(rows).short} {_span(row.value for row in rows)}, "
            f"accuracy {_span(row.accuracy for row in rows)})"
            for (kind, technique), rows in chosen.items()
        ]
        yield Block(f"{run.level_text(beta)}: {'; '.join(parts) or NO_CHOICE}")


def _span(values: Iterable[float]) -> str:
    values = list(values)
    return f"{short(min(values))} to {short(max(values))}"


def _short_notes(scenario: Scenario, run: Manifest) -> list[str]:
    notes = "; ".join(scenario_notes(scenario, run.titles))
    warning = f"Warning: {scenario.dataset.warning}" if scenario.dataset.warning else ""
    return [note for note in (notes, warning) if note]


def _short_flaws(row: Answer) -> str:
    sign = f"of either sign, on average {number(row.distance)} from 0" if changes_sign(row) else ""
    return "; ".join(filter(None, [flaws(row), sign]))


def _short_headings(rows: Sequence[Answer]) -> tuple[str, ...]:
    return ("", words_of(rows).short, "accuracy (change)", "accepts", "deprived", "favored", "technique")


def _short_rows(rows: Sequence[Answer], titles: Mapping[str, str]) -> Iterator[list[str]]:
    """Yield the texts of each choice, of doing nothing and of the baseline."""
    several = len({row.baseline for row in rows}) > 1
    for row in dict.fromkeys(named_choices(rows).values()):
        against = f" (against {titles[row.baseline]})" if several else ""
        yield [_kind(row), *_short_numbers(row), titles[row.technique] + against]
    for role, kind in (("reference", "nothing"), ("baseline", "baseline")):
        for row in (row for row in rows if row.role == role):
            yield [kind, *_short_numbers(row), titles[row.technique]]


def _kind(row: Answer) -> str:
    """Return the first word of a choice's line."""
    if LEAST not in row.choices:
        return "cheaper"
    return "candidate" if row.outcome == "promising" else "choose"


def _short_numbers(row: Answer) -> list[str]:
    change, low, high = row.accuracy_change, row.accuracy_change_low, row.accuracy_change_high
    cost = ""
    if row.outcome != "baseline" and not math.isnan(change):
        # Wide enough for either side, should the interval not be symmetric.
        spread = "" if math.isnan(low) else f"±{short(max(high - change, change - low))}"
        cost = f" ({'+' if float(f'{change:.3f}') > 0 else ''}{short(change)}{spread})"
    return [short(row.value), f"{short(row.accuracy)}{cost}", *_accepts(row)]


_SHORT_MEASURES = {
    EQUALISE: "disc. is discrimination: the share accepted of the favored group minus the share accepted of "
    "the deprived group.",
    RESTORE: "dist. is the distance to the clean model. {clean} " + DISTANCE,
}


def _short_reading(
    every_level: Sequence[Sequence[Answer]], run: Manifest, criteria: Criteria, whole_rule: str
) -> Iterator[str]:
    """Yield notes on numbers and on the rule of recommendation."""
    rows = [row for level in every_level for row in level]
    spread = any(not math.isnan(row.value_low) for row in rows)
    where = "on the test data named above" if run.tests_note else "on test rows without planted bias"
    yield (
        f"{run.level_meaning} Accuracy is measured {where}, its change to the baseline on the same samples"
        f"{', ± its 95 % interval' if spread else ''}."
    )
    yield run.tests_note
    if any(row.is_chosen for row in rows):
        yield (
            "A technique is recommended if it is shown to beat the baseline by more than "
            f"{criteria.margin:g}, is accurate enough, and accepts and refuses enough of each group. "
            f"Fewer than {criteria.least_splits} repetitions give candidates only. {whole_rule}"
        )
    yield dominated_note(rows)
    yield from few_sentences(max(every_level, key=lambda level: sum(row.tested for row in level)))
