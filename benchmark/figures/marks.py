"""Marks of figures with their words: signs of useless techniques, lines of reference, missing values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from benchmark.runs.descriptions import DatasetDescription
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import Scenario, records
from benchmark.statistics.answers import NEARLY_ALL, ConstantAnswer, random_accuracy
from benchmark.statistics.hidden_bias import HIDDEN_BIAS
from benchmark.statistics.restoration import NO_EFFECT_SHOWN, NO_REFERENCE, NOTHING_TO_UNDO
from benchmark.text.words import share
from benchmark.wording.described import all_planted, provenance, repetitions

DEGENERATE, BELOW_CONSTANT, ONE_GROUP = "‡", "†", "¶"
"""Signs of techniques that answer nearly everybody or each group the same, are less accurate than the best
constant answer, or answer nearly all of one group the same."""

WITHOUT_VALUE = "Without a value (failures.csv says why)"
"""Stands before the names of techniques."""

MEANINGS = {
    DEGENERATE: f"accepts or refuses more than {share(NEARLY_ALL)} of all, or of each group",
    BELOW_CONSTANT: "less accurate than the best constant answer",
    ONE_GROUP: f"accepts or refuses more than {share(NEARLY_ALL)} of one group",
}

CONSTANT_LINE: dict[str, Any] = {"color": "#A02020", "lw": 1.0, "ls": (0, (7, 2, 1.5, 2)), "zorder": 1.4}
RANDOM_MARK: dict[str, Any] = {
    "color": "#A02020",
    "marker": "+",
    "ms": 6,
    "mew": 1.2,
    "ls": "none",
    "zorder": 2.8,
}
FRONTIER_LINE: dict[str, Any] = {"lw": 0.9, "ls": (0, (3, 2)), "zorder": 1.45, "gid": "frontier"}
"""Looks of the best constant answer, of the answer by lot, and of the unprocessing frontier."""

WITHHELD = {
    NO_REFERENCE: "no reference",
    NOTHING_TO_UNDO: "too little to undo",
    NO_EFFECT_SHOWN: "no effect on decisions shown beyond retraining",
    HIDDEN_BIAS: "withheld",
}
"""Why comparisons with a clean model are not weighed."""

_REACH = 0.5


def sign(row: Any) -> str:
    """Return the sign of a row of standings, or an empty string."""
    applies = {DEGENERATE: row.n_degenerate > 0, BELOW_CONSTANT: row.below_constant, ONE_GROUP: row.one_group}
    return next((own for own, true in applies.items() if true), "")


def signs_of(
    standing: pd.DataFrame, signs: Collection[str] = tuple(MEANINGS)
) -> dict[tuple[str, float], str]:
    """Return the sign of each technique and level of bias in a scenario's standings that has one of some."""
    found: dict[tuple[str, float], str] = {(row.technique, row.beta): sign(row) for row in records(standing)}
    return {cell: own for cell, own in found.items() if own and own in signs}


def meanings(signs: Iterable[str], look: str = "") -> list[str]:
    """Return a note on the meaning of some signs; ``look`` is how degenerate techniques are drawn."""
    used, drawn = set(signs), {DEGENERATE: f" ({look})"} if look else {}
    words = [f"{own}{drawn.get(own, '')} {text}" for own, text in MEANINGS.items() if own in used]
    return [f"{'; '.join(words)}."] if words else []


def notes_on(dataset: DatasetDescription) -> list[str]:
    """Return the notes of a dataset's figures: the planted bias, and the warning."""
    return [all_planted(dataset), *([f"Warning: {dataset.warning}"] if dataset.warning else [])]


def subtitle(scenario: Scenario, run: Manifest, explanation: str) -> str:
    """Return a figure's subtitle: test data, repetitions, learner, and an explanation of the figure."""
    source = provenance(scenario.dataset)
    start = f"{source[0].upper()}{source[1:]}; {repetitions(run)}; classifier {scenario.classifier}."
    return f"{start} {explanation}".strip()


def data_notes(datasets: Iterable[DatasetDescription]) -> list[str]:
    """Return notes on the planted bias and warnings, with the dataset's heading where they are several."""
    known = {dataset.name: dataset for dataset in datasets}.values()
    return [
        f"{dataset.heading}: {note}" if len(known) > 1 else note
        for dataset in known
        for note in notes_on(dataset)
        if note
    ]


def missing_note(lacking: Mapping[str, Iterable[float]], run: Manifest) -> list[str]:
    """Return a note on techniques, by title, that lack values at some levels of bias."""
    texts = [f"{title} at {run.level_text(*levels)}" for title, levels in lacking.items() if list(levels)]
    return [f"{WITHOUT_VALUE}: {'; '.join(texts)}."] if texts else []


def is_near(level: float, values: ArrayLike) -> bool:
    """Return whether a level is at most half the values' span away, so that an axis can show both."""
    finite = np.asarray(values, dtype=float)
    finite = finite[np.isfinite(finite)]
    if not len(finite):
        return False
    reach = _REACH * float(np.ptp(finite))
    return bool(finite.min() - reach <= level <= finite.max() + reach)


def constant_text(answer: ConstantAnswer | None, *, drawn: bool) -> str:
    """Return a sentence on the line of the best constant answer, or on one beyond the axis."""
    if answer is None:
        return ""
    where = "Red, dash-dotted" if drawn else "Beyond the axis"
    return f"{where}: accuracy of the best constant answer ({answer.accuracy:.3f})."


def frontier_text(answer: ConstantAnswer | None, *, one_each: str, lot_drawn: bool) -> str:
    """Return sentences on the lines of unprocessing frontiers and on the point of the answer by lot."""
    where = "Red cross" if lot_drawn else "Beyond the axes"
    lot = "" if answer is None else f" {where}: accepting by lot ({random_accuracy(answer.accuracy):.3f})."
    return (
        f"Dashed{one_each}: the unprocessing frontier, thresholds by group on the scores of the most "
        f"accurate classifier without mitigation.{lot}"
    )
