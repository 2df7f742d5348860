"""The first look at data: the effect of planted bias on a model, and of techniques."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmark.columns import EQUALISE, RESTORE, UNTREATED
from benchmark.data.reading import FEW_ROWS, small_group
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.descriptions import DatasetDescription, PlantedBias
from benchmark.runs.manifest import Protocol
from benchmark.sections.choices import answer_counts, answer_sentences, change_text
from benchmark.sections.goals import TWO_WINNERS, WORDS, by_goal, difference, unanswered, winners
from benchmark.sections.hidden import hidden_blocks
from benchmark.sections.reasons import constant_words, degenerate_words
from benchmark.sections.restoration import people_of
from benchmark.sections.section import Block, Section
from benchmark.statistics.answer_record import Answer, by_level
from benchmark.statistics.answers import BY_LOT, DISCRIMINATION
from benchmark.statistics.levels import level_changes
from benchmark.text.words import number, share, with_interval

_PLANTED = {
    "label": "of the favorable labels of the deprived group {share} are wrongly turned to unfavorable in the "
    "training rows",
    "selection": "of the rows of the deprived group with the favorable label {share} are missing from the "
    "training rows",
    "cpt": "training rows are drawn from a world in which the probability of the favorable label is lower "
    "for the deprived group, by {share} of itself",
}
"""Kinds of bias in words, with a level."""

_TOO_GOOD = 0.99  # accuracy
_BY_CHANCE = 0.005  # accuracy


def offer(accepts: bool) -> str:
    """Return advice where a model accepts nearly everybody, or else refuses nearly everybody."""
    accepted, best = ("0.9", "90 %") if accepts else ("0.1", "10 %")
    return (
        "Most models with a cut at one half do so. To compare techniques that all accept the same share, "
        f"by their scores, type --accept {accepted} --classifier logistic_regression for the best {best}. "
        "A tree gives many people the same score."
    )


def section(statistics: RunStatistics) -> Section | None:
    """Return the effects of planted bias and of techniques; None if there are several datasets."""
    run = statistics.run
    if len(run.datasets) > 1:
        return None
    (dataset,) = run.datasets
    levels: dict[str, dict[str, list[tuple[float, list[Answer]]]]] = {}
    bias = PlantedBias("")
    for goal, answers in by_goal(statistics.answers):
        for (_, planted_bias, classifier, _), beta, rows in by_level(answers):
            bias = dataset.planted(planted_bias)
            levels.setdefault(classifier, {}).setdefault(goal, []).append((beta, rows))
    highest = bias.highest(beta for goals in levels.values() for rows in goals.values() for beta, _ in rows)
    sentences = [
        f"At {run.level_text(highest)}. {words}"
        for (_, beta), named in winners(statistics.answers).items()
        if beta == highest and (words := difference(named, run.titles))
    ]
    blocks = [Block(notes=[f"Warning: {dataset.warning}"])] if dataset.warning else []
    blocks += [Block(TWO_WINNERS, sentences)] if sentences else []
    for classifier, of_goals in levels.items():
        blocks.append(_effect_of_bias(statistics, dataset, classifier, of_goals[EQUALISE]))
        for goal, of_goal in of_goals.items():
            blocks.append(_effect_of_techniques(statistics, goal, of_goal, bias))
    reason = unanswered(statistics.answers, run)
    notes = [*([reason] if reason else []), *small_groups(dataset), f"In brackets: {scope(run.protocol)}"]
    return Section("first", "", blocks=[*blocks, *hidden_blocks(statistics), Block(notes=notes)])


def _effect_of_bias(
    statistics: RunStatistics,
    dataset: DatasetDescription,
    classifier: str,
    levels: list[tuple[float, list[Answer]]],
) -> Block:
    """Return sentences on a model without mitigation at each level of bias, and on the bias's effect."""
    run = statistics.run
    changes = level_changes(statistics.results, UNTREATED, statistics.resampling)
    changes = changes[(changes["metric"] == DISCRIMINATION) & (changes["classifier"] == classifier)]
    moved = {row.beta: row for row in changes.itertuples(index=False)}
    untreated = {beta: next(row for row in rows if row.technique == UNTREATED) for beta, rows in levels}
    return Block(
        f"What bias does to a model without mitigation ({classifier})",
        [
            f"{trained(run.protocol, run.repetitions)} Discrimination is the share accepted of the others "
            "minus the share accepted of the deprived group. The deprived group is "
            f"{dataset.sensitive_feature} = {dataset.deprived_group}."
        ],
        remarks=[
            *(
                f"{run.level_text(beta)}: {planted(dataset, beta)}. {_state(row)}{_moved(moved.get(beta))}"
                for beta, row in untreated.items()
            ),
            *_out_of_reach(dataset),
            *doubts(next(iter(untreated.values()))),
        ],
    )


def doubts(model: Answer) -> Iterator[str]:
    """Yield reasons why a model without planted bias may be useless to study."""
    doubt, by_lot = "", model.constant_answer == BY_LOT
    # A tree without branches gives everybody the same score. Then lots decide, and are right a little more or
    # less often than expected.
    if model.accuracy <= model.constant_accuracy + by_lot * _BY_CHANCE:
        best = constant_words(model.constant_answer, model.constant_accepts)
        constant, hardly = number(model.constant_accuracy), "hardly" if by_lot else "no"
        doubt = f"is {hardly} more accurate than {best} (accuracy {constant})"
    elif model.mostly_constant:
        doubt = degenerate_words(model)
    if doubt:
        advice = (
            offer(model.accepted > 0.5)
            if model.mostly_constant
            else "Find a better model first. --classifier names another one; 'betabench list classifiers' "
            "shows them all."
        )
        yield f"This model {doubt}. The effects of techniques on it say little. {advice}"
    if model.accuracy > _TOO_GOOD:
        yield (
            f"An accuracy above {_TOO_GOOD:g} is rare. Look for columns that give the label away, alone or "
            "together, because they were recorded after it."
        )


def _effect_of_techniques(
    statistics: RunStatistics, goal: str, levels: list[tuple[float, list[Answer]]], bias: PlantedBias
) -> Block:
    """Return the choices for a goal at the highest level of bias, and counts of verdicts elsewhere."""
    run, rows_at = statistics.run, dict(levels)
    highest = bias.highest(rows_at)
    rows = rows_at.pop(highest)
    counts = (f"At {run.level_text(level)}: {answer_counts(rows_at[level])}." for level in [*rows_at][::-1])
    sentences = answer_sentences(rows, run.titles, criteria=statistics.criteria)
    key = rows[0].bias, rows[0].classifier
    scenario = next(s for s in statistics.scenarios if (s.bias, s.classifier) == key)
    people = people_of(statistics, scenario, highest, rows) if goal == RESTORE else []
    return Block(
        f"{WORDS[goal].title}. What techniques change at {run.level_text(highest)}",
        remarks=[*sentences, *people, *counts],
    )


def small_groups(dataset: DatasetDescription) -> Iterator[str]:
    """Yield a sentence for each group with too few test rows."""
    if sizes := dataset.test_groups:
        for role, rows in (("deprived", sizes.deprived), ("favored", sizes.favored)):
            if rows < FEW_ROWS:
                yield small_group(role, rows)


def planted(dataset: DatasetDescription, level: float) -> str:
    """Return a level of bias in words, and for a dose the growth of the label gap."""
    gap = dataset.recorded_gap
    if level == 0:
        recorded = f", with a label gap of {number(gap)}" if any(bias.doses for bias in dataset.bias) else ""
        return f"nothing is planted, the labels are the file's{recorded}"
    (bias,) = dataset.bias
    words = _PLANTED.get(bias.kind)
    if not bias.doses:
        return words.format(share=share(level)) if words else bias.description
    beta = bias.betas[level]
    text = words.format(share=share(beta)) if words else f"{bias.description}, with β = {beta:.3g}"
    grown = f"from {number(gap)} to {number(gap + level)}" if words else f"to {number(gap + level)}"
    return f"{text}. So the label gap grows by {level:g}, {grown}"


def _out_of_reach(dataset: DatasetDescription) -> Iterator[str]:
    """Yield a sentence for each dose that cannot be reached, or that takes nearly all labels."""
    for dose in (dose for bias in dataset.bias for dose in bias.doses):
        if dose.beta is None:
            yield (
                f"dose {dose.dose:g} is out of reach in this file: the bias widens the label gap by "
                f"{number(dose.gap)} at most. It is not shown. Choose other doses with --doses."
            )
        elif not dose.pooled:
            yield (
                f"dose {dose.dose:g} takes β = {dose.beta:.3g}: the bias touches nearly everybody it can. Do "
                "not compare it with this dose elsewhere."
            )


def trained(protocol: Protocol, repetitions: int) -> str:
    """Return a sentence on the training and test rows of models."""
    if not protocol.overlaps:
        return (
            f"It is trained on {repetitions} samples of the network that was learned from the file, and "
            "tested on the rows of the file."
        )
    if protocol.folds is None:
        return (
            "It is trained on one part of the rows and tested on another as the file has it, in "
            f"{repetitions} random splits."
        )
    return (
        f"The rows are split at random into {protocol.folds} parts, {repetitions} times. Each part is tested "
        "on as the file has it, by a model that is trained on the other parts."
    )


def scope(protocol: Protocol) -> str:
    """Return the scope of intervals in words."""
    if not protocol.overlaps:
        return (
            "intervals of 95 %. They cover other samples of the same network. With other people, numbers "
            "move more."
        )
    return (
        "intervals of 95 %. They cover another file: as many other people from the same source, to train and "
        "to test on. They are estimated from splits of this file and corrected for their overlap. They do "
        "not cover people from elsewhere."
    )


def _state(row: Answer) -> str:
    """Return a sentence on a model's discrimination, accuracy and selection rates."""
    return (
        f"Discrimination {with_interval(row.value, row.value_low, row.value_high)}, accuracy "
        f"{number(row.accuracy)}; it accepts {share(row.accepted_deprived)} of the deprived group and "
        f"{share(row.accepted_favored)} of the others."
    )


def _moved(change: Any) -> str:
    """Return a sentence on the bias's effect on a model, compared with chance."""
    if change is None:
        return ""
    text = change_text(change.change, change.change_low, change.change_high)
    if change.change_low > 0 or change.change_high < 0:
        return f" The bias changed it by {text}."
    return f" The bias changed it by {text}: the interval contains 0, so no effect is shown."
