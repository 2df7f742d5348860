"""At each level of bias: which technique, at what cost. The sentences are in :mod:`.choices`."""

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
    OUTDONE,
    answer_counts,
    answer_sentences,
    better_in_both,
    change_interval,
    change_text,
    changes_sign,
    choice_title,
    fall_words,
    few_sentences,
    named_choices,
    recommended_as_well,
    recommended_rule,
    remarks,
    tie_sentences,
)
from benchmark.sections.data import data_notes, planted_note
from benchmark.sections.goals import (
    CLEAN_MODEL,
    TWO_WINNERS,
    WHY_NOT_IN_SHORT,
    WORDS,
    by_goal,
    difference,
    differences,
    unanswered,
    winners,
    words_of,
)
from benchmark.sections.moved import MOVED, moved
from benchmark.sections.restoration import people_blocks, people_of
from benchmark.sections.section import Block, Section, TextTable
from benchmark.sections.signs import mark_notes, sign_notes, signs_of
from benchmark.statistics.answer_record import Answer, answer_records, by_level
from benchmark.statistics.answers import random_accuracy
from benchmark.statistics.cells import Baseline, ScenarioKey
from benchmark.statistics.choices import CHEAP, CHOICES, LEAST, Criteria
from benchmark.text.words import number, share

TITLE = "At this level of bias: which technique, at what cost"

ANSWERS_PAGE = "answers.md"
"""Name of the page with every technique at every level of bias."""

NOT_TESTED = "Which of two recommended techniques is better is not tested."
"""What recommendations do not say."""

RANDOM = "Accepting by lot"
"""What the random answer is called in a table."""

INERT = "bias as it is planted here has no effect: one level stands for all"
"""Said where only one level of bias is shown."""

_MOST_ROWS = 8
_MOST_IN_FULL = 6  # scenarios in the terminal; of more, those that name the same techniques are one


def headings(goal: str) -> tuple[str, ...]:
    """Return the columns of :attr:`Line.cells`."""
    shares = "Accepts: all / deprived / favored"
    return ("Technique", WORDS[goal].column, "change", "Accuracy", "change", shares, "Remarks")


def section(statistics: RunStatistics, most: int | None = _MOST_ROWS) -> Section:
    """Return the choices for each goal at every level of bias, then what is said of each level, with a table.

    Tables have at most ``most`` rows besides techniques to choose and what they are measured by; all if None.
    """
    run, table = statistics.run, statistics.answers
    files = {
        "answers": "each technique at each level of bias, for each goal: what it leaves, its cost in "
        "accuracy, shares accepted, and whether it may be recommended",
        "pareto": "which techniques no other beats in a metric without losing accuracy",
    }
    figures = {"pareto": "Trade-offs and Pareto fronts"}
    if table.empty:
        note = "Discrimination is not recorded in these results, so that no technique can be recommended."
        return Section("answers", TITLE, (note,), files=files, figures=figures)
    goals = dict(by_goal(table))
    notes = [
        *differences(statistics.scenarios, table, run),
        *([note] if (note := unanswered(table, run)) else []),
        run.level_meaning,
        *([CLEAN_MODEL] if RESTORE in goals else []),
        f"{reading(run)} Intervals are of 95 %.",
        "In brackets after an accuracy: its change to the baseline. Limits go by unrounded numbers.",
        NOT_TESTED,
        *sign_notes(answer_records(table)),
    ]
    named = winners(table)
    blocks: list[Block] = []
    cut = False
    for goal, answers in goals.items():
        overview, details = [], []
        levels = {(key, beta): rows for key, beta, rows in by_level(answers)}
        for scenario in statistics.scenarios:
            betas = [b for b in scenario.telling_levels(run.levels) if (scenario.key, b) in levels]
            if not betas:
                continue
            there = {beta: levels[scenario.key, beta] for beta in betas}
            overview.append(_overview(statistics, scenario, goal, there))
            for beta, rows in there.items():
                lines = answer_lines(rows, run.titles, most)
                first = difference(named.get((scenario.key, beta), {}), run.titles)
                cut |= len(lines) < len(answer_lines(rows, run.titles))
                details.append(
                    Block(
                        f"{scenario.heading} at {run.level_text(beta)}. {WORDS[goal].title}",
                        [
                            *([first] if first else []),
                            *answer_sentences(rows, run.titles, criteria=statistics.criteria),
                            *(people_of(statistics, scenario, beta, rows) if goal == RESTORE else ()),
                        ],
                        table=TextTable(headings(goal), [line.cells for line in lines]),
                    )
                )
        blocks += [*overview, *details]
    if cut:
        notes.append(f"Long tables are cut here; {ANSWERS_PAGE} has all techniques.")
    return Section("answers", TITLE, notes, blocks, files, figures)


def headings_of(statistics: RunStatistics) -> list[str]:
    """Return the headings of the choices in each scenario, goal by goal."""
    return [
        _heading(scenario, goal)
        for goal, own in by_goal(statistics.answers)
        for scenario in statistics.scenarios
        if len(scenario.rows(own))
    ]


def _heading(scenario: Scenario, goal: str) -> str:
    return f"{scenario.heading}. {WORDS[goal].title}"


def reading(run: Manifest) -> str:
    """Say how the numbers of an answer are to be read."""
    tested = "Accuracy is that on test rows without planted bias."
    if note := run.tests_note:
        tested = f"All numbers are those on the test data that a heading names. {note}"
    return (
        "Discrimination: the share of the favored group that is predicted the favorable outcome minus that "
        "of the deprived group; 0 is equal acceptance, and below it the deprived group is ahead. "
        f"{tested} Accepts: the share that is predicted the favorable outcome. Changes are to the baseline, "
        "on the same samples. Where discrimination is of either sign in different samples, its mean distance "
        "from 0, by which techniques are compared, is given as well. "
        f"{run.protocol.scope_text} A technique is recommended by an interval that allows for how many "
        "techniques are compared, and so is wider than the intervals shown. What is not shown may still be "
        "there."
    )


def scenario_notes(
    scenario: Scenario, titles: Mapping[str, str] | None = None, baseline: Baseline | None = None
) -> list[str]:
    """Say who is deprived, where the bias is planted if not on them, and what a constant answer scores.

    And say whether the bias has an effect and, given ``titles`` of techniques, which one is compared with if
    it is not doing nothing: ``baseline``, by default the one that the experiment names.
    """
    constant = scenario.best_constant
    notes = [
        scenario.dataset.roles,
        _planted_elsewhere(scenario),
        _baseline_note(scenario, titles or {}, baseline),
        f"{constant.words}: accuracy {number(constant.accuracy)}" if constant else "",
        INERT if scenario.inert else "",
    ]
    return [note for note in notes if note]


def _planted_elsewhere(scenario: Scenario) -> str:
    """Say where bias is planted that is not on the deprived group itself; nothing if it is."""
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


def _overview(
    statistics: RunStatistics, scenario: Scenario, goal: str, levels: Mapping[float, Sequence[Answer]]
) -> Block:
    """Return the choices for a goal at every level of bias of a scenario, and what has to be known of it."""
    run = statistics.run
    moves = moved(statistics, scenario)
    rows = [
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
    table = TextTable(headings, rows)
    return Block(_heading(scenario, goal), [note for note in notes if note], table=table)


def choice_headings(goal: str, margin: float, level: str = "β", *, moved: bool = False) -> tuple[str, ...]:
    """Return the columns of :func:`choice_row`; ``level`` is what levels of bias are called."""
    return (
        level,
        *([MOVED] if moved else []),
        "Baseline",
        *(choice_title(name, WORDS[goal], margin) for name in CHOICES),
    )


def choice_row(
    beta: float, rows: Sequence[Answer], titles: Mapping[str, str], moved: str | None = None
) -> list[str]:
    """Return the baseline and the choices for a goal at one level of bias as text.

    ``moved``, by how much the bias moves the baseline, is a cell before them where it is given.
    Doing nothing comes before a baseline that is something else.
    """
    shown = [choice_text(row, titles) for row in rows if row.verdict == "untreated"]
    shown += [choice_text(row, titles) for row in rows if row.verdict == "baseline"] or ["not run"]
    picked = named_choices(rows)
    cells = [f"{beta:g}", *([] if moved is None else [moved]), "; ".join(shown)]
    if LEAST in picked:
        least, cheap = picked[LEAST], picked.get(CHEAP)
        only = "candidate: " if least.verdict == "candidate" else ""
        other = "the same" if cheap is least else only + choice_text(cheap, titles) if cheap else "none"
        return [*cells, only + choice_text(least, titles), other]
    verdicts = {row.verdict for row in rows if not row.is_compared_with}
    none = next((words for own, words in WHY_NOT_IN_SHORT.items() if verdicts == {own}), "none recommended")
    return [*cells, none, ""]


def choice_text(row: Answer, titles: Mapping[str, str]) -> str:
    """Return what a technique leaves and costs: ``"Massaging: 0.037, accuracy 0.825 (-0.016)"``."""
    cost = "" if row.verdict == "baseline" else f" ({change_text(row.accuracy_change)})"
    hidden = f" ({number(row.distance)} from 0)" if changes_sign(row) else ""
    return f"{_signed_title(row, titles)}: {number(row.value)}{hidden}, accuracy {number(row.accuracy)}{cost}"


def _signed_title(row: Answer, titles: Mapping[str, str]) -> str:
    return " ".join([titles[row.technique], *signs_of(row)])


# ------------------------------------------------------------------------------------ all at one level


class Line(NamedTuple):
    """A line of the table of one level of bias, as text; ``answer`` is None in that of a yardstick."""

    answer: Answer | None
    title: str
    signs: Sequence[str]
    value: str
    change: Sequence[str]  # and its interval
    accuracy: str
    cost: Sequence[str]  # and its interval
    shares: Sequence[str]  # accepted: of all, of the deprived, of the favored
    remarks: str

    @property
    def cells(self) -> list[str]:
        """The texts in the columns of :func:`headings`."""
        numbers = [self.value, " ".join(self.change), self.accuracy, " ".join(self.cost)]
        return [" ".join([self.title, *self.signs]), *numbers, " / ".join(self.shares), self.remarks]


def answer_lines(rows: Sequence[Answer], titles: Mapping[str, str], most: int | None = None) -> list[Line]:
    """Return the lines of one level of bias, whose answers are in order.

    The best constant answer, and the random one where a frontier is known, come after the techniques to
    choose and the baseline. Of more lines than ``most`` only so many are returned, but all techniques to
    choose and what they are measured by, the baseline and the constant and random answers.
    """
    several = len({row.baseline for row in rows}) > 1
    chosen = [row for row in rows if row.is_chosen or row.verdict == "untreated"]
    baseline = [row for row in rows if row.verdict == "baseline"]
    rest = [row for row in rows if not row.is_chosen and not row.is_compared_with]
    yardsticks = _yardsticks(rows)
    if most is not None and len(rows) + len(yardsticks) > most:
        rest = rest[: max(0, most - len(baseline) - len(yardsticks) - len(chosen))]
    first, last = ([_line(row, titles, several) for row in part] for part in (chosen + baseline, rest))
    return [*first, *yardsticks, *last]


def _line(row: Answer, titles: Mapping[str, str], of_several: bool) -> Line:
    is_baseline = row.verdict == "baseline"
    return Line(
        row,
        titles[row.technique],
        signs_of(row),
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
    known = next((row for row in rows if row.constant_answer), None)
    if known is None:
        return []
    shares = [share(float(known.constant_answer.startswith("accept")))] * 3
    constant = number(known.constant_accuracy)
    title = constant_title(known.constant_answer)
    left = number(0.0 if known.goal == EQUALISE else math.nan)
    lines = [Line(None, title, (), left, (), constant, (), shares, "the best constant answer")]
    if known.frontier is not None:
        by_lot = number(random_accuracy(known.constant_accuracy))
        remark = "in the mean, at the test data's rate of favorable labels"
        lines.append(Line(None, RANDOM, (), number(0.0), (), by_lot, (), (), remark))
    return lines


def constant_title(answer: str) -> str:
    """Return what the best constant answer is called in a table: ``"Refusing everybody"``."""
    return answer[:1].upper() + answer[1:]


def _accepts(row: Answer) -> list[str]:
    return [share(part) for part in (row.accepted, row.accepted_deprived, row.accepted_favored)]


def accepts_text(shares: Iterable[float]) -> str:
    """Return shares accepted as they stand beside each other: ``"17 % / 7 % / 23 %"``."""
    return " / ".join(map(share, shares))


# --------------------------------------------------------------------------------------- the short form


def short_section(statistics: RunStatistics) -> Section:
    """Return the answers of a run in short, and who gets back what the bias took: see :func:`in_short`."""
    found = in_short(
        statistics.scenarios,
        statistics.answers,
        statistics.run,
        criteria=statistics.criteria,
        moves={scenario.key: moved(statistics, scenario) for scenario in statistics.scenarios},
    )
    return replace(found, blocks=[*found.blocks, *people_blocks(statistics)])


def in_short(
    scenarios: Sequence[Scenario],
    answers: pd.DataFrame,
    run: Manifest,
    *,
    criteria: Criteria,
    marked: bool = False,
    moves: Mapping[ScenarioKey, Mapping[float, str]] = MappingProxyType({}),
) -> Section:
    """Return what to choose for each goal in each scenario, in 80 columns, and how that is to be read.

    Parameters
    ----------
    scenarios : sequence of Scenario
        In the order in which they are shown.
    answers : DataFrame
        From :func:`~benchmark.statistics.answers.answer_table`.
    run : Manifest
        What the answers are of.
    criteria : Criteria
        What they were made with.
    marked : bool
        Whether a table above has signs at all techniques.
    moves : mapping of ScenarioKey to mapping of float to str
        By how much each dose moves the baseline.
    """
    blocks: list[Block] = []
    everything: list[_Levels] = []
    for goal, own in by_goal(answers):
        levels: dict[ScenarioKey, dict[float, list[Answer]]] = {}
        for key, beta, rows in by_level(own):
            levels.setdefault(key, {})[beta] = rows
        there = [scenario for scenario in scenarios if scenario.key in levels]
        if there:
            blocks += _goal_blocks(goal, there, levels, run, criteria, moves)
            everything.append(levels)
    if said := differences(scenarios, answers, run):
        blocks.insert(0, Block(TWO_WINNERS, said))
    if everything:
        notes = [note for note in (unanswered(answers, run),) if note]
        notes += _short_reading(everything, run, criteria=criteria, marked=marked)
        blocks.append(Block(notes=notes))
    return Section("answers", "", blocks=blocks)


_Levels = Mapping[ScenarioKey, Mapping[float, Sequence[Answer]]]


def _goal_blocks(
    goal: str,
    scenarios: Sequence[Scenario],
    levels: _Levels,
    run: Manifest,
    criteria: Criteria,
    moves: Mapping[ScenarioKey, Mapping[float, str]],
) -> Iterator[Block]:
    """Yield the blocks of one goal; many scenarios in which it has the same choices are one block."""
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
    yield Block(WORDS[goal].title)
    for group in groups.values():
        if len(group) == 1:
            yield from _in_full(group[0], levels, run, criteria, moves.get(group[0].key, {}))
        else:
            yield from _alike(group, levels, run)


def _in_full(
    scenario: Scenario, levels: _Levels, run: Manifest, criteria: Criteria, moves: Mapping[float, str]
) -> Iterator[Block]:
    yield Block(f"What to choose: {scenario.heading}", _short_notes(scenario, run))
    for beta in scenario.telling_levels(sorted(levels[scenario.key])):
        if not (rows := levels[scenario.key].get(beta)):
            continue
        titles, picked = run.titles, named_choices(rows)
        table_headings = ("", words_of(rows).short, "accuracy (change)", "accepts %", "technique")
        yield Block(
            f"{run.level_text(beta)}: {answer_counts(rows)}",
            table=TextTable(table_headings, list(_short_rows(rows, titles))),
            remarks=[
                *([f"{MOVED} {moves[beta]}."] if beta in moves else []),
                *(
                    f"{titles[row.technique]} {fall_words(row)}."
                    for row in rows
                    if row.choice and fall_words(row)
                ),
                *tie_sentences(picked, rows, titles, criteria.margin),
                *recommended_as_well(picked, rows, titles),
                *better_in_both(picked, rows, titles),
            ],
        )


def _alike(group: Sequence[Scenario], levels: _Levels, run: Manifest) -> Iterator[Block]:
    """Yield what is the same in several scenarios of one dataset and bias: which techniques are named."""
    first = group[0]
    title = f"What to choose, the same in {len(group)} cases of {first.dataset.heading}"
    yield Block(title, [*_short_notes(first, run), "; ".join(scenario.heading for scenario in group)])
    for beta in first.telling_levels(sorted(levels[first.key])):
        named: dict[tuple[str, str], list[Answer]] = {}
        for row in (row for scenario in group for row in levels[scenario.key].get(beta, ()) if row.choice):
            named.setdefault((row.choice, row.technique), []).append(row)
        parts = [
            f"{choice}: {run.titles[technique]} ({words_of(rows).short} {_span(row.value for row in rows)}, "
            f"accuracy {_span(row.accuracy for row in rows)})"
            for (choice, technique), rows in named.items()
        ]
        yield Block(f"{run.level_text(beta)}: {'; '.join(parts) or 'no technique is recommended'}")


def _span(values: Iterable[float]) -> str:
    values = list(values)
    return f"{short(min(values))} to {short(max(values))}"


def _short_notes(scenario: Scenario, run: Manifest) -> list[str]:
    notes = "; ".join(scenario_notes(scenario, run.titles))
    warning = f"Warning: {scenario.dataset.warning}" if scenario.dataset.warning else ""
    return [note for note in (notes, warning) if note]


def _short_rows(rows: Sequence[Answer], titles: Mapping[str, str]) -> Iterator[list[str]]:
    """Yield doing nothing, the baseline and each choice, named by what they are."""
    for verdict, kind in (("untreated", "nothing"), ("baseline", "baseline")):
        for row in (row for row in rows if row.verdict == verdict):
            yield [kind, *_short_numbers(row), _signed_title(row, titles)]
    several = len({row.baseline for row in rows}) > 1
    for row in dict.fromkeys(named_choices(rows).values()):
        kinds = row.choices
        only = "candidate: " if row.verdict == "candidate" else ""
        against = f" (against {titles[row.baseline]})" if several else ""
        kind = "both" if kinds == [LEAST, CHEAP] else kinds[0]
        yield [kind, *_short_numbers(row), f"{only}{_signed_title(row, titles)}{against}"]


def _short_numbers(row: Answer) -> list[str]:
    left = f"|{short(row.distance)}|" if changes_sign(row) else short(row.value)
    change, low, high = row.accuracy_change, row.accuracy_change_low, row.accuracy_change_high
    cost = ""
    if row.verdict != "baseline" and not math.isnan(change):
        # Wide enough for either side, should the interval not be symmetric.
        spread = "" if math.isnan(low) else f"±{short(max(high - change, change - low))}"
        cost = f" ({'+' if float(f'{change:.3f}') > 0 else ''}{short(change)}{spread})"
    shares = "/".join(part.removesuffix(" %") for part in _accepts(row))
    return [left, f"{short(row.accuracy)}{cost}", shares]


def short(value: float | None) -> str:
    """Return three decimals without the zero before the point: five betas have to fit 80 columns."""
    text = "–" if value is None else number(value)
    return text.replace("0.", ".", 1) if text.removeprefix("-").startswith("0.") else text


def _short_reading(
    everything: Sequence[_Levels], run: Manifest, *, criteria: Criteria, marked: bool
) -> list[str]:
    """Say how the answers are to be read: which way is good, what is recommended, what signs mean."""
    by_place = [rows for levels in everything for betas in levels.values() for rows in betas.values()]
    rows = [row for of_level in by_place for row in of_level]
    shown = [row for row in rows if row.choice or row.is_compared_with]
    chosen = {name for row in rows for name in row.choices}
    goals = {row.goal for row in rows}
    margin = criteria.margin
    kinds = {
        f"least: of the recommended, the nearest to the goal; within {margin:g} of it, the most accurate": (
            LEAST in chosen
        ),
        f"cheap: the same where it costs {margin:g} of accuracy or less": CHEAP in chosen,
        "both: least and cheap": any(row.choices == [LEAST, CHEAP] for row in rows),
        "nothing: doing nothing": any(row.verdict == "untreated" for row in rows),
    }
    where = "on the test data named above" if run.tests_note else "on test rows without planted bias"
    spread = ", ± its interval of 95 %" if any(not math.isnan(row.value_low) for row in rows) else ""
    # Where most techniques are compared at a level of bias, few repetitions show the least.
    fewest = max(by_place, key=lambda of_level: sum(row.tested for row in of_level))
    return [
        ". ".join([run.level_entry, *(k for k, said in kinds.items() if said)])
        + ". Limits go by unrounded numbers.",
        *([f"dist.: distance to the clean model. {CLEAN_MODEL}"] if RESTORE in goals else []),
        *([_DISCRIMINATION] if EQUALISE in goals else []),
        f"accuracy: {where}; in brackets the change to the baseline{spread}. accepts: all/deprived/favored.",
        *([run.tests_note] if run.tests_note else []),
        *([_which_are_recommended(rows, criteria)] if any(row.is_chosen for row in rows) else []),
        *few_sentences(fewest),
        *(
            ["|.050|: of either sign in different samples, .050 from 0 on average."]
            if any(map(changes_sign, shown))
            else []
        ),
        *dict.fromkeys([*sign_notes(shown), *(mark_notes(rows) if marked else [])]),
    ]


_DISCRIMINATION = (
    "disc.: discrimination, share accepted of the favored minus that of the deprived group; below 0 the "
    "deprived group is ahead."
)


def _which_are_recommended(rows: Sequence[Answer], criteria: Criteria) -> str:
    outdone = [f"Outdone: {OUTDONE}."] if any(row.verdict == "outdone" for row in rows) else []
    return " ".join([*recommended_rule(rows, criteria), *outdone])
