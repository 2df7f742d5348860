"""The data of a run: cards, known problems, learned networks, planted bias."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from benchmark.bias import list_bias_kinds
from benchmark.columns import EACH_OWN, OWN
from benchmark.data.card import Card
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.descriptions import DatasetDescription, GroupSizes
from benchmark.runs.manifest import Manifest, Protocol
from benchmark.runs.report_frames import Scenario
from benchmark.sections.reasons import answer_words
from benchmark.sections.section import Block, Section, TextTable
from benchmark.text.embedded import NOT_REAL, OF_NETWORKS
from benchmark.text.words import LEVEL_SIGNS, LevelName, level_text, number, sentence

EMBEDDED = (
    "Warning: Embedded network, not real data. Training and test rows are samples of the shipped network. No "
    "number here shows the effect of a technique on real people."
)
"""Stands at every dataset whose shipped network stood in for real data."""


def section(statistics: RunStatistics) -> Section:
    """Return facts, known problems, planted bias and network of each dataset."""
    run = statistics.run
    cards = cards_of(run)
    blocks = (_dataset(dataset, cards.get(dataset.name), run.protocol) for dataset in run.datasets)
    notes = [] if run.protocol.train == "data" else [f"Note: {OF_NETWORKS}"]
    return Section("data", "Data", notes, [block for of_dataset in blocks for block in of_dataset])


def cards_of(run: Manifest) -> dict[str, Card]:
    """Return the cards that can be found, with the columns that the experiment reads."""
    cards = {dataset.name: dataset.entry.find_card() for dataset in run.datasets}
    return {name: card for name, card in cards.items() if card is not None}


def data_notes(datasets: Iterable[DatasetDescription], run: Manifest) -> Iterator[str]:
    """Yield warnings on a run's data, notes, and the sizes of groups."""
    which = counted_rows(run.protocol, "original " if run.tests_note else "")
    for dataset in datasets:
        if dataset.embedded:
            yield f"Warning, {dataset.heading}: an {NOT_REAL}."
        if dataset.warning:
            yield f"Warning, {dataset.heading}: {sentence(dataset.warning)}"
        for warning in dataset.inert_warnings.values():
            yield f"Warning, {dataset.heading}: {warning}"
        for note in dataset.notes:
            yield f"Note, {dataset.heading}: {sentence(note)}"
        if dataset.test_groups is not None:
            yield f"{dataset.heading}: of the {which}, {counted(dataset.test_groups)}."


def planted_note(scenario: Scenario, protocol: Protocol) -> str:
    """Return a note on the planted bias of a scenario, and its effect on the labels of training rows."""
    planted = next(bias for bias in scenario.dataset.bias if bias.name == scenario.bias)
    if not (planted.kind or planted.description):  # not in the manifest
        return ""
    kinds, real = list_bias_kinds(), protocol.train == "data"
    description, acting = planted.description or f"bias {scenario.bias!r}", ""
    if planted.kind in kinds and planted.edits and not real:  # then the description only names the edits
        description = kinds[planted.kind].summary
        acting = f", here {', '.join(planted.acting)}" if planted.acting else ""
    levels = ", ".join(
        f"{number(d)} at {level_text(protocol.level_name, beta)}"
        for beta, d in sorted(planted.network_discrimination_by_beta.items())
    )
    labels = "The training labels" if real else "On average, the training labels"
    drawn = f" {labels} have a discrimination of {levels}."
    solved = f" {sentence(planted.solved.capitalize())}" if planted.solved else ""
    return f"Planted: {description}{acting}.{solved}{drawn if levels else ''}"


def counted_rows(protocol: Protocol, which: str = "") -> str:
    """Return the counted rows in words: the test rows, or the rows that repetitions draw them from."""
    if protocol.holdout is not None:
        tested = f"{100 * protocol.holdout:.3g} % of them"
        return f"rows that are split ({tested} are the {which}test rows of a repetition)"
    if protocol.folds is not None:
        return f"rows that are split (each is a {which}test row in one fold of a repetition)"
    return f"{which}test rows"


def counted(sizes: GroupSizes) -> str:
    """Return numbers of favorable rows: ``"20 of 50 deprived and 60 of 90 favored ones are favorable"``."""
    return (
        f"{sizes.deprived_favorable:,} of {sizes.deprived:,} deprived and "
        f"{sizes.favored_favorable:,} of {sizes.favored:,} favored ones are favorable"
    )


def _dataset(dataset: DatasetDescription, card: Card | None, protocol: Protocol) -> Iterator[Block]:
    heading = dataset.heading
    split = counted_rows(protocol) if protocol.splits else "rows"
    facts = {
        "title": dataset.title,
        "scored on": f"{dataset.test_data}, {dataset.test_rows:,} {split}",
        "trained on": f"samples of {dataset.train_rows:,} rows",
        "baseline": EACH_OWN if dataset.baseline == OWN else dataset.baseline,
        "groups": _groups(dataset, protocol),
    }
    notes = [
        *([EMBEDDED] if dataset.embedded else []),
        *([f"Warning: {dataset.warning}"] if dataset.warning else []),
        *(f"Note: {note}" for note in dataset.notes),
    ]
    if card is None:
        notes.append("The card is missing, so only the run's own records are shown.")
    else:
        notes.append(card.description.strip())
        if card.digest != dataset.card_digest:
            notes.append("The card has changed since this run. Its present state is shown.")
        facts |= {
            "label": f"{card.label}; favorable: {card.favorable_label}",
            "sensitive feature": f"{card.sensitive_feature}; deprived: {card.roles['deprived_group']}",
            "columns": ", ".join(card.columns),
            "license": card.licence or "",
            "described at": card.homepage or "",
            "citation": card.citation.strip(),
        }
    yield Block(f"{heading} ({dataset.name})", notes, {name: text for name, text in facts.items() if text})
    if card and card.known_problems:
        yield Block(f"{heading}: known problems", remarks=card.known_problems)
    for bias in dataset.bias:
        level: LevelName = "dose" if bias.doses else "beta"
        sentences = [f"{bias.sentence} (kind {bias.kind})."]
        if bias.inert:
            sentences.append(
                "Warning: This edit changes no dependency of the learned network. The samples are the same "
                f"at every {LEVEL_SIGNS[level]}."
            )
        by_beta = bias.network_discrimination_by_beta
        row = ["of the network", *(number(value, 4) for value in by_beta.values())]
        table = TextTable(["Discrimination", *(level_text(level, beta) for beta in by_beta)], [row])
        yield Block(f"{heading}: planted bias {bias.name}", sentences, table=table)
    if not dataset.network.digest:
        return
    yield Block(f"{heading}: learned network", network=dataset)
    yield Block(
        table=TextTable(["parent", "child"], dataset.network.edges),
        fold=f"{heading}: the {len(dataset.network.edges)} dependencies as a table",
    )


def _groups(dataset: DatasetDescription, protocol: Protocol) -> str:
    """Return the favorable rows of each group of the test data, and the best constant answer."""
    if (sizes := dataset.test_groups) is None:
        return ""
    constant = sizes.best_constant
    return (
        f"of the {counted_rows(protocol)}, {counted(sizes)}; the best constant answer, "
        f"{answer_words(constant)}, has an accuracy of {number(constant.accuracy, 4)}"
    )
