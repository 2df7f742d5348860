"""Marks of useless classifiers in tables and figures: signs with notes, a line, hollow points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from benchmark.sections.reasons import (
    CONSTANT_WORDS,
    DEGENERATE_WORDS,
    answer_words,
    constant_words,
    degenerate_words,
)
from benchmark.statistics.answers import DEGENERATE as KINDS
from benchmark.statistics.answers import EITHER, NEARLY_ALL, ConstantAnswer, random_accuracy
from benchmark.text.words import LevelName, level_text, share

DEGENERATE = "‡"
"""Stands beside techniques that answer nearly everybody, or each group, the same."""

BELOW_CONSTANT = "†"
"""Stands beside techniques that are less accurate than the best constant answer."""

ONE_GROUP = "¶"
"""Stands beside techniques that give one of the groups nearly always the same answer."""

SAME_ANSWER = "nearly everybody, or each group, the same in at least one sample"
"""The answer of degenerate techniques, after the verb "to answer"."""

INSIDE_WORDS = "dominated by thresholds on untreated scores"
"""Stands beside a technique inside the unprocessing frontier."""

BELOW_WORDS = "less accurate than the best constant answer"
"""Stands beside a technique below it."""

INERT_NUMBERS = "The bias has no effect as planted here: columns differ only in their samples"
"""Stands below numbers at several levels of bias that has no effect."""

COMPARED_NEVERTHELESS = "techniques are compared with it nevertheless"
"""Said of a degenerate baseline that is not mostly constant."""

CONSTANT_LINE: dict[str, Any] = {
    "color": "#A02020",
    "lw": 1.0,
    "ls": (0, (7, 2, 1.5, 2)),
    "zorder": 1.4,
    "gid": "constant",
}
"""Look of the line at the accuracy of the best constant answer, as keywords of matplotlib."""

RANDOM_MARK: dict[str, Any] = {
    "color": CONSTANT_LINE["color"],
    "marker": "+",
    "ms": 6,
    "mew": 1.2,
    "ls": "none",
    "zorder": 2.8,
    "gid": "random",
}
"""Look of the answer by lot, as keywords of matplotlib."""

FRONTIER_LINE: dict[str, Any] = {"lw": 0.9, "ls": (0, (3, 2)), "zorder": 1.45, "gid": "frontier"}
"""Look of the unprocessing frontier, as keywords of matplotlib."""

_REACH = 0.5


def below_constant_words(row: Any) -> str:
    """Return ``"less accurate than refusing everybody"`` for a row that :func:`mark` takes."""
    return f"less accurate than {constant_words(row.constant_answer, row.constant_accepts)}"


def mark(row: Any) -> str:
    """Return the sign of a useless technique, or an empty string.

    ``row`` is an answer, or a row of :func:`~benchmark.statistics.answers.standings`.
    """
    signs = {DEGENERATE: row.n_degenerate > 0, BELOW_CONSTANT: row.below_constant, ONE_GROUP: row.one_group}
    return next((sign for sign, applies in signs.items() if applies), "")


def mark_notes(rows: Iterable[Any]) -> list[str]:
    """Return an explanation of each sign that :func:`mark` gives to one of these rows."""
    marked: dict[str, dict[tuple[str, float], None]] = {}  # the best constant answers, by sign
    for row in rows:
        marked.setdefault(mark(row), {})[row.constant_answer, row.constant_accepts] = None
    notes = []
    if DEGENERATE in marked:
        notes.append(
            f"{DEGENERATE} answers {SAME_ANSWER} (accepts less than {share(1 - NEARLY_ALL)} or more "
            f"than {share(NEARLY_ALL)} of all, or of each group): not ranked, and never recommended."
        )
    if below := list(marked.get(BELOW_CONSTANT, ())):
        words = [constant_words(*answer) for answer in below]
        either = CONSTANT_WORDS[EITHER] if CONSTANT_WORDS[EITHER] in words else " or ".join(words)
        answer = words[0] if len(words) == 1 else f"the best constant answer ({either})"
        notes.append(
            f"{BELOW_CONSTANT} less accurate than {answer}: recommended only within the slack of "
            "accuracy, or where the clean model (the baseline without planted bias) is no more accurate."
        )
    if ONE_GROUP in marked:
        notes.append(
            f"{ONE_GROUP} refuses or accepts more than {share(NEARLY_ALL)} of one of the groups: never "
            "recommended."
        )
    return notes


def baseline_notes(standing: pd.DataFrame, titles: Mapping[str, str], level: LevelName = "beta") -> list[str]:
    """Return a note for each reason why a baseline is degenerate, with the levels of bias.

    ``standing`` has one scenario's rows of :func:`~benchmark.statistics.answers.standings`. ``titles`` are
    those of its baselines.
    """
    notes = []
    for name, title in titles.items():
        rows = standing[(standing["technique"] == name) & (standing["n_degenerate"] > 0)].sort_values("beta")
        counts = ["n_recorded", *(f"n_{kind}" for kind in KINDS)]
        for (constant, *_), levels in rows.groupby(["mostly_constant", *counts], sort=False):
            betas = level_text(level, *levels["beta"])
            words = degenerate_words(levels.iloc[0])
            notes.append(
                f"At {betas} nothing is compared with the baseline, {title}: it {words}."
                if constant
                else f"{DEGENERATE} The baseline, {title}, {words} at {betas}; {COMPARED_NEVERTHELESS}."
            )
    return notes


def is_near(level: float, values: ArrayLike) -> bool:
    """Return whether a level is at most half the values' span away, so that an axis can show both."""
    finite = np.asarray(values, dtype=float)
    finite = finite[np.isfinite(finite)]
    if not len(finite):
        return False
    reach = _REACH * float(np.ptp(finite))
    return bool(finite.min() - reach <= level <= finite.max() + reach)


def constant_text(answer: ConstantAnswer | None, *, drawn: bool) -> str:
    """Return a note on the line of the best constant answer, or on one that lies beyond the axis."""
    if answer is None:
        return ""
    where = "Red, dash-dotted" if drawn else "Beyond the axis"
    return f"{where}: accuracy of {answer_words(answer)} ({answer.accuracy:.3f})."


def frontier_text(answer: ConstantAnswer | None, *, one_each: str, lot_drawn: bool) -> str:
    """Return a note on the lines of unprocessing frontiers and on the point of the answer by lot."""
    where = "Red cross" if lot_drawn else "Beyond the axes"
    lot = "" if answer is None else f" {where}: accepting by lot ({random_accuracy(answer.accuracy):.3f})."
    return (
        f"Dashed{one_each}: the unprocessing frontier, thresholds by group on the scores of the most "
        f"accurate classifier without mitigation.{lot}"
    )


def degenerate_cells(standing: pd.DataFrame) -> set[tuple[str, float]]:
    """Return technique and level of bias of the degenerate rows of a scenario's standings."""
    return _cells(standing[standing["n_degenerate"] > 0])


def below_constant_cells(standing: pd.DataFrame) -> set[tuple[str, float]]:
    """Return technique and level of bias of the other rows below the best constant answer."""
    return _cells(standing[_is_below(standing)])


def marked_titles(standing: pd.DataFrame, titles: Mapping[str, str]) -> dict[str, str]:
    """Return titles, with a mark at each technique below the best constant answer at some level of bias."""
    below = {name for name, _ in below_constant_cells(standing)}
    return {name: title + f" {BELOW_CONSTANT}" * (name in below) for name, title in titles.items()}


def _is_below(standing: pd.DataFrame) -> pd.Series:
    return standing["below_constant"].eq(True) & (standing["n_degenerate"] == 0)


def _cells(rows: pd.DataFrame) -> set[tuple[str, float]]:
    return {(str(name), float(beta)) for name, beta in zip(rows["technique"], rows["beta"], strict=True)}


def degenerate_notes(
    standing: pd.DataFrame, titles: Mapping[str, str], consequence: str, level: LevelName = "beta"
) -> list[str]:
    """Return a note for each reason why techniques are degenerate, with their levels of bias.

    ``standing`` has one scenario's rows of :func:`~benchmark.statistics.answers.standings`. ``titles`` has
    the techniques of a figure, in order. ``consequence`` is their look there: ``"Hollow"``.
    """
    degenerate = standing[(standing["n_degenerate"] > 0) & standing["technique"].isin(list(titles))]
    kinds = [degenerate[f"n_{kind}"] > 0 for kind in KINDS]
    notes = []
    for present, rows in degenerate.groupby(kinds, sort=False):
        words = "; ".join(
            DEGENERATE_WORDS[kind] for kind, occurs in zip(KINDS, present, strict=True) if occurs
        )
        notes.append(f"{DEGENERATE} {consequence}, as it {words}: {_listed(rows, titles, level)}.")
    return notes


def below_constant_notes(
    standing: pd.DataFrame, titles: Mapping[str, str], level: LevelName = "beta"
) -> list[str]:
    """Return a note on techniques less accurate than the best constant answer, with their levels of bias."""
    below = standing[_is_below(standing) & standing["technique"].isin(list(titles))]
    return [
        f"{BELOW_CONSTANT} {below_constant_words(rows.iloc[0]).capitalize()}: {_listed(rows, titles, level)}."
        for _, rows in below.groupby(["constant_answer", "constant_accepts"], sort=False)
    ]


def _listed(rows: pd.DataFrame, titles: Mapping[str, str], level: LevelName) -> str:
    betas = {name: sorted(levels) for name, levels in rows.groupby("technique", sort=False)["beta"]}
    return "; ".join(
        f"{title} at {level_text(level, *betas[name])}" for name, title in titles.items() if name in betas
    )
