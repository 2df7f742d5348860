"""What a first look at data says: what planted bias does to a model, and what techniques change."""

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
from benchmark.sections.restoration import people_of
from benchmark.sections.section import Block, Section
from benchmark.statistics.answer_record import Answer, by_level
from benchmark.statistics.answers import DISCRIMINATION
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
"""What a level of a kind of bias is, in words."""

_TOO_GOOD = 0.99  # accuracy


def section(statistics: RunStatistics) -> Section | None:
    """Return what planted bias does to a model, and what techniques change, where there is one dataset."""
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
    highest = bias.highest(beta for goals in levels.values() for own in goals.values() for beta, _ in own)
    said = [
        " ".join([f"At {run.level_text(highest)}.", words])
        for (_, beta), named in winners(statistics.answers).items()
        if beta == highest and (words := difference(named, run.titles))
    ]
    blocks = [Block(TWO_WINNERS, said)] if said else []
    for classifier, of_goals in levels.items():
        blocks.append(_what_bias_does(statistics, dataset, classifier, of_goals[EQUALISE]))
        for goal, of_goal in of_goals.items():
            told = bias.highest(beta for beta, _ in of_goal)
            blocks.append(_what_techniques_change(statistics, goal, of_goal, told))
    reason = unanswered(statistics.answers, run)
    blocks += hidden_blocks(statistics)
    notes = [*([reason] if reason else []), *small_groups(dataset), f"In brackets: {scope(run.protocol)}"]
    last = Block(notes=notes)
    return Section("first", "", blocks=[*blocks, last])


def _what_bias_does(
    statistics: RunStatistics,
    dataset: DatasetDescription,
    classifier: str,
    levels: list[tuple[float, list[Answer]]],
) -> Block:
    """Say what a model without mitigation does at each level of bias, and by how much the bias moved it."""
    run = statistics.run
    changes = level_changes(statistics.results, UNTREATED, statistics.resampling)
    changes = changes[(changes["metric"] == DISCRIMINATION) & (changes["classifier"] == classifier)]
    moved = {row.beta: row for row in changes.itertuples(index=False)}
    untreated = {beta: next(row for row in rows if row.technique == UNTREATED) for beta, rows in levels}
    return Block(
        f"What bias does to a model without mitigation ({classifier})",
        [
            f"{trained(run.protocol, run.repetitions)} Discrimination is the share of the others that it "
            "accepts minus the share of the deprived group that it accepts. The deprived group is "
            f"{dataset.sensitive_feature} = {dataset.deprived_group}."
        ],
        remarks=[
            *(
                f"{run.level_text(beta)}: {planted(dataset, beta)}. {_state(row)}{_moved(moved.get(beta))}"
                for beta, row in untreated.items()
            ),
            *_out_of_reach(dataset),
            *_doubts(next(iter(untreated.values()))),
        ],
    )


def _doubts(model: Answer) -> Iterator[str]:
    """Say why a model without planted bias may be no use to look at."""
    if model.mostly_constant or model.accuracy <= model.constant_accuracy:
        yield (
            f"This model is no more accurate than {model.constant_answer}, which is right about "
            f"{number(model.constant_accuracy)} of all people. What techniques do to it says little: find a "
            "better model first. --classifier names another one; 'betabench list classifiers' shows them all."
        )
    if model.accuracy > _TOO_GOOD:
        yield (
            f"An accuracy above {_TOO_GOOD:g} is rare. Look for columns that tell the label, alone or "
            "together, because they were recorded after it."
        )


def _what_techniques_change(
    statistics: RunStatistics, goal: str, levels: list[tuple[float, list[Answer]]], highest: float
) -> Block:
    """Say which techniques to choose for a goal at the highest level of bias, and count them elsewhere."""
    run, told = statistics.run, dict(levels)
    rows = told.pop(highest)
    counts = (f"At {run.level_text(level)}: {answer_counts(told[level])}." for level in [*told][::-1])
    sentences = answer_sentences(rows, run.titles, criteria=statistics.criteria)
    place = rows[0].bias, rows[0].classifier
    scenario = next(own for own in statistics.scenarios if (own.bias, own.classifier) == place)
    people = people_of(statistics, scenario, highest, rows) if goal == RESTORE else []
    return Block(
        f"{WORDS[goal].title}. What techniques change at {run.level_text(highest)}",
        remarks=[*sentences, *people, *counts],
    )


def small_groups(dataset: DatasetDescription) -> Iterator[str]:
    """Yield a sentence for the deprived and for the favored group, where it has too few test rows."""
    if sizes := dataset.test_groups:
        for role, rows in (("deprived", sizes.deprived), ("favored", sizes.favored)):
            if rows < FEW_ROWS:
                yield small_group(role, rows)


def planted(dataset: DatasetDescription, level: float) -> str:
    """Say in words what a level of bias is, and for a dose by how much the label gap grows."""
    gap = dataset.recorded_gap
    if level == 0:
        held = f", with a label gap of {number(gap)}" if any(bias.doses for bias in dataset.bias) else ""
        return f"nothing is planted, labels are those of the file{held}"
    (bias,) = dataset.bias
    words = _PLANTED.get(bias.kind)
    if not bias.doses:
        return words.format(share=share(level)) if words else bias.description
    beta = bias.betas[level]
    text = words.format(share=share(beta)) if words else f"{bias.description}, with β = {beta:.3g}"
    grown = f"from {number(gap)} to {number(gap + level)}" if words else f"to {number(gap + level)}"
    return f"{text}. So the label gap grows by {level:g}, {grown}"


def _out_of_reach(dataset: DatasetDescription) -> Iterator[str]:
    """Say which doses cannot be reached, and which take nearly all that there is to take."""
    for dose in (dose for bias in dataset.bias for dose in bias.doses):
        if dose.beta is None:
            yield (
                f"dose {dose.dose:g} is out of reach in this file: the bias widens the label gap by "
                f"{number(dose.gap)} at most. Nothing is shown of it; --doses gives others."
            )
        elif not dose.pooled:
            yield (
                f"dose {dose.dose:g} takes β = {dose.beta:.3g}, so that hardly anybody is left whom the bias "
                "could still touch. Do not compare it with that dose elsewhere."
            )


def trained(protocol: Protocol, repetitions: int) -> str:
    """Say what models were trained and tested on."""
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
    """Say what intervals speak of."""
    if not protocol.overlaps:
        return (
            "intervals of 95 %. They say how far numbers move with other samples of the same network. With "
            "other people they move more."
        )
    return (
        "intervals of 95 %. They say how far numbers would move with another file: as many other people from "
        "the same source, to train on and to test on. They are estimated from splits of this file, which "
        "overlap; that is allowed for. Of people from elsewhere they say nothing."
    )


def _state(row: Answer) -> str:
    """Say what a model leaves, how often it is right, and whom it accepts."""
    return (
        f"Discrimination {with_interval(row.value, row.value_low, row.value_high)}, accuracy "
        f"{number(row.accuracy)}; it accepts {share(row.accepted_deprived)} of the deprived group and "
        f"{share(row.accepted_favored)} of the others."
    )


def _moved(change: Any) -> str:
    """Say by how much bias moved a model, and whether that is more than chance moves it."""
    if change is None:
        return ""
    text = change_text(change.change, change.change_low, change.change_high)
    if change.change_low > 0 or change.change_high < 0:
        return f" The bias changed it by {text}."
    return f" The bias changed it by {text}: the interval holds 0, so that no effect is shown."
