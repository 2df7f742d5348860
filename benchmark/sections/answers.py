"""The choices at each level of bias, their gain and cost. The sentences are in :mod:`.choices`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import pandas as pd

from benchmark.columns import EQUALISE, RESTORE, UNTREATED
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import Scenario
from benchmark.sections.choices import (
    DOMINATED,
    answer_counts,
    better_in_both,
    changes_sign,
    few_sentences,
    flaws,
    named_choices,
    recommended_as_well,
    tie_sentences,
)
from benchmark.sections.goals import (
    DISTANCE,
    NO_CHOICE,
    TWO_WINNERS,
    WORDS,
    by_goal,
    clean_words,
    differences,
    unanswered,
    words_of,
)
from benchmark.sections.moved import MOVED, moved
from benchmark.sections.reasons import answer_words
from benchmark.sections.restoration import people_blocks
from benchmark.sections.section import Block, Section, TextTable
from benchmark.statistics.answer_record import Answer, by_scenario
from benchmark.statistics.cells import Baseline, ScenarioKey
from benchmark.statistics.recommendation import LEAST, Criteria
from benchmark.text.words import number, share, short

INERT = "bias as it is planted here has no effect: one level stands for all"
"""Stands where only one level of bias is shown."""

_AtLevels = Mapping[float, Sequence[Answer]]
"""A scenario's answers for one goal, by level of bias."""

_MOST_IN_FULL = 6  # scenarios in the terminal; of more, those with the same choices are one


def _telling(scenario: Scenario, levels: _AtLevels) -> _AtLevels:
    """Return the answers at the levels of bias that tell more than others of a scenario."""
    return {beta: levels[beta] for beta in scenario.telling_levels(sorted(levels))}


def dominated_note(rows: Iterable[Answer]) -> str:
    """Return the meaning of a dominated technique if there is one; else nothing."""
    return f"Dominated: {DOMINATED}." if any(row.outcome == "dominated" for row in rows) else ""


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


# ------------------------------------------------------------------------------------ all at one level


def constant_title(words: str) -> str:
    """Return the title of the best constant answer in a table: ``"Refusing everybody"``."""
    return words[:1].upper() + words[1:]


def _accepts(row: Answer) -> list[str]:
    return [share(part) for part in (row.accepted, row.accepted_deprived, row.accepted_favored)]


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
