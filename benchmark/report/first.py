"""What a first run says, in a few lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from benchmark.columns import UNTREATED
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.descriptions import DatasetDescription, Protocol
from benchmark.runs.small_groups import small_groups
from benchmark.runs.standing_marks import BELOW_CONSTANT, DEGENERATE
from benchmark.statistics.answers import DISCRIMINATION
from benchmark.statistics.choices import CHEAP, COMPARED_WITH, LEAST, RESTORES
from benchmark.statistics.levels import level_changes
from benchmark.tables.answers import answer_counts, choices, spots
from benchmark.tables.choice_words import (
    change_text,
    choice_sentence,
    gain_and_cost,
    restored_sentences,
    ruled_out,
    tie_sentences,
)
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


_SIGNS = {
    DEGENERATE: "with the same answer for nearly everybody, or for each group, in at least one sample",
    BELOW_CONSTANT: "less accurate than the best constant answer",
    "not shown to be less": "not shown to leave less discrimination",
}
"""What signs and short words of tables mean, where no legend explains them."""

_TOO_GOOD = 0.99  # accuracy


def first_lines(statistics: RunStatistics) -> Iterator[str]:
    """Say what planted bias does to a model on the only dataset of a run, and what techniques change."""
    run = statistics.run
    (dataset,) = run.datasets
    found: dict[str, list[tuple[float, pd.DataFrame]]] = {}
    for (_, _, classifier, _), beta, rows in spots(statistics.answers):
        found.setdefault(classifier, []).append((beta, rows))
    for classifier, levels in found.items():
        yield from _what_bias_does(statistics, dataset, classifier, levels)
        yield from _what_techniques_change(statistics, levels)
    yield from small_groups(dataset)
    yield f"In brackets: {scope(run.protocol)}"


def _what_bias_does(
    statistics: RunStatistics,
    dataset: DatasetDescription,
    classifier: str,
    levels: list[tuple[float, pd.DataFrame]],
) -> Iterator[str]:
    """Say what a model without mitigation does at each level of bias, and by how much the bias moved it."""
    run = statistics.run
    changes = level_changes(statistics.results, UNTREATED, statistics.resampling)
    changes = changes[(changes["metric"] == DISCRIMINATION) & (changes["classifier"] == classifier)]
    moved = {row.beta: row for row in changes.itertuples(index=False)}
    deprived = f"{dataset.sensitive_feature} = {dataset.deprived_group}"
    yield (
        f"What bias does to a model without mitigation ({classifier}). "
        f"{trained(run.protocol, run.repetitions)} Discrimination is the share of the others that it accepts "
        f"minus the share of the deprived group that it accepts. The deprived group is {deprived}."
    )
    for beta, rows in levels:
        row = next(row for row in rows.itertuples(index=False) if row.technique == UNTREATED)
        yield f"- {planted(dataset, beta)}. {_state(row)}{_moved(moved.get(beta))}"
    first: Any = next(row for row in levels[0][1].itertuples(index=False) if row.technique == UNTREATED)
    if first.mostly_constant or first.accuracy <= first.constant_accuracy:
        yield (
            f"This model is no more accurate than {first.constant_answer}, which is right about "
            f"{number(first.constant_accuracy)} of all people. What techniques do to it says little: find a "
            "better model first. --classifier names another one; 'betabench list classifiers' shows them all."
        )
    if first.accuracy > _TOO_GOOD:
        yield (
            f"An accuracy above {_TOO_GOOD:g} is rare. Look for columns that tell the label, alone or "
            "together, because they were recorded after it."
        )


def _what_techniques_change(
    statistics: RunStatistics, levels: list[tuple[float, pd.DataFrame]]
) -> Iterator[str]:
    """Say what brings the model back at the highest level of bias, what is nearest to 0, and at what cost."""
    titles, rope = statistics.run.titles, statistics.rope
    *less, (beta, found) = levels
    rows: list[Any] = list(found.itertuples(index=False))
    picked = choices(rows)
    back, least, cheap = (picked.get(name) for name in (RESTORES, LEAST, CHEAP))
    yield f"What techniques change at β = {beta:g}:"
    gain = "" if back is None else gain_and_cost(back)
    yield from (f"- {sentence}" for sentence in restored_sentences(rows, titles, (), rope, gain))
    shown = sorted((row for row in rows if row.better), key=lambda row: row.distance)
    if least is None and shown:
        yield (
            "- Nearest to 0: none is named. Only techniques that are ruled out are shown to leave less "
            f"discrimination by more than {rope:g}: {ruled_out(shown, titles, 'distance')}"
        )
    elif least is None:
        yield (
            "- Nearest to 0: none is named. No technique is shown to leave less discrimination by more "
            f"than {rope:g}."
        )
    elif least is back:
        yield "- It is recommended for least discrimination as well."
    else:
        yield f"- {choice_sentence(LEAST, least, titles, rope)}"
    if least is not None and cheap is None:
        yield f"- Every recommended technique loses more than {rope:g} of accuracy."
    elif cheap is not None and cheap is not least:
        yield f"- {choice_sentence(CHEAP, cheap, titles, rope)}"
    others = [row for row in rows if row.verdict not in COMPARED_WITH]
    yield from (f"- {sentence}" for sentence in tie_sentences(picked, others, titles, rope))
    for level, there in ((beta, found), *less[::-1]):
        counts = answer_counts(there)
        for sign, words in _SIGNS.items():
            counts = counts.replace(sign, words)
        yield f"At β = {level:g}: {counts}."


def planted(dataset: DatasetDescription, beta: float) -> str:
    """Say in words what a level of bias is."""
    if beta == 0:
        return "β = 0: nothing is planted, labels are those of the file"
    (bias,) = dataset.biases
    words = _PLANTED.get(bias.kind)
    return f"β = {beta:g}: " + (words.format(share=share(beta)) if words else bias.description)


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


def _state(row: Any) -> str:
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
