"""How classifiers of no use are marked: signs, a line for the best constant answer, hollow points, notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from benchmark.statistics.answer_record import Answer
from benchmark.statistics.answers import EITHER_CONSTANT, NEARLY_ALL, ConstantAnswer, random_accuracy
from benchmark.statistics.unprocessing import INSIDE
from benchmark.text.words import LevelName, level_text, share

DEGENERATE = "‡"
"""Stands beside techniques that answer nearly everybody, or each group, the same."""

BELOW_CONSTANT = "†"
"""Stands beside techniques that are less accurate than the best constant answer."""

ONE_GROUP = "¶"
"""Stands beside techniques that give one of the groups nearly always the same answer."""

INSIDE_FRONTIER = "§"
"""Stands beside techniques that thresholds on the best unconstrained scores outdo."""

LEVELS_DOWN = "↓"
"""Stands beside techniques that help nobody."""

SAME_ANSWER = "nearly everybody, or each group, the same in at least one sample"
"""What degenerate techniques answer."""

INSIDE_WORDS = "inside the unprocessing frontier"
"""What a technique is that thresholds on the best unconstrained scores outdo."""

BELOW_WORDS = "less accurate than the best constant answer"
"""What a technique below it is."""

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


def below_constant_words(answer: str) -> str:
    """Return what a technique is that a constant answer outdoes: ``"less accurate than refusing everybody"``.

    ``answer`` are the :attr:`~benchmark.statistics.answers.ConstantAnswer.words` of the constant answer.
    """
    return f"less accurate than {answer}"


def mark(row: Any) -> str:
    """Return the sign of no use that belongs beside a technique's name, or nothing.

    Rows of :func:`~benchmark.statistics.answers.standings` and answers have what it needs.
    """
    signs = {DEGENERATE: row.n_degenerate > 0, BELOW_CONSTANT: row.below_constant, ONE_GROUP: row.one_group}
    return next((sign for sign, applies in signs.items() if applies), "")


def signs_of(answer: Answer) -> list[str]:
    """Return the signs beside an answer's technique: :func:`mark` and two that may join it."""
    signs = {LEVELS_DOWN: answer.levels_down, INSIDE_FRONTIER: answer.frontier == INSIDE}
    return [sign for sign in (mark(answer), *(sign for sign, applies in signs.items() if applies)) if sign]


def mark_notes(rows: Iterable[Any]) -> list[str]:
    """Explain the signs that :func:`mark` gives to rows, each only where it occurs."""
    marked: dict[str, dict[str, None]] = {}  # the best constant answers, by sign
    for row in rows:
        marked.setdefault(mark(row), {})[row.constant_answer] = None
    notes = []
    if DEGENERATE in marked:
        notes.append(
            f"{DEGENERATE} answers {SAME_ANSWER} (accepts less than {share(1 - NEARLY_ALL)} or more "
            f"than {share(NEARLY_ALL)} of all, or of each group): not ranked, and never recommended."
        )
    if below := list(marked.get(BELOW_CONSTANT, ())):
        either = EITHER_CONSTANT if EITHER_CONSTANT in below else " or ".join(below)
        answer = below[0] if len(below) == 1 else f"the best constant answer ({either})"
        notes.append(
            f"{BELOW_CONSTANT} {below_constant_words(answer)}: recommended only within the slack of "
            "accuracy, or where the clean model is no more accurate."
        )
    if ONE_GROUP in marked:
        notes.append(
            f"{ONE_GROUP} refuses or accepts more than {share(NEARLY_ALL)} of one of the groups: never "
            "recommended."
        )
    return notes


def sign_notes(answers: Iterable[Answer]) -> list[str]:
    """Explain all signs of answers, each only where it occurs."""
    answers = list(answers)
    notes = []
    if any(answer.levels_down for answer in answers):
        notes.append(
            f"{LEVELS_DOWN} accepts no greater share of the deprived group than the baseline, and a smaller "
            "one of the favored group."
        )
    if any(answer.frontier == INSIDE for answer in answers):
        notes.append(
            f"{INSIDE_FRONTIER} {INSIDE_WORDS}: at no more discrimination, thresholds by group on the scores "
            "of the most accurate classifier without mitigation are more accurate (the 95 % interval of the "
            "difference lies below 0)."
        )
    return [*notes, *mark_notes(answers)]


def baseline_notes(standing: pd.DataFrame, titles: Mapping[str, str], level: LevelName = "beta") -> list[str]:
    """Say where nothing is compared with a baseline, and where it is degenerate nevertheless, and why.

    ``standing`` are rows of :func:`~benchmark.statistics.answers.standings`, of one scenario, and ``titles``
    those of its baselines; ``level`` is what levels of bias are called.
    """
    notes = []
    for name, title in titles.items():
        rows = standing[(standing["technique"] == name) & (standing["n_degenerate"] > 0)].sort_values("beta")
        for (constant, words), levels in rows.groupby(["mostly_constant", "degenerate"], sort=False):
            betas = level_text(level, *levels["beta"])
            notes.append(
                f"At {betas} nothing is compared with the baseline, {title}: it {words}."
                if constant
                else f"{DEGENERATE} The baseline, {title}, {words} at {betas}; {COMPARED_NEVERTHELESS}."
            )
    return notes


def is_near(level: float, values: ArrayLike) -> bool:
    """Whether an axis that reaches a level still shows values apart: it is at most half their span away."""
    finite = np.asarray(values, dtype=float)
    finite = finite[np.isfinite(finite)]
    if not len(finite):
        return False
    room = _REACH * float(np.ptp(finite))
    return bool(finite.min() - room <= level <= finite.max() + room)


def constant_text(answer: ConstantAnswer | None, *, drawn: bool) -> str:
    """Say which line is the best constant answer, or that it lies beyond the axis; nothing if unknown."""
    if answer is None:
        return ""
    where = "Red, dash-dotted" if drawn else "Beyond the axis"
    return f"{where}: accuracy of {answer.words} ({answer.accuracy:.3f})."


def frontier_text(answer: ConstantAnswer | None, *, one_each: str, lot_drawn: bool) -> str:
    """Say which lines are unprocessing frontiers, ``one_each`` of how many, and where the lot is."""
    where = "Red cross" if lot_drawn else "Beyond the axes"
    lot = "" if answer is None else f" {where}: accepting by lot ({random_accuracy(answer.accuracy):.3f})."
    return (
        f"Dashed{one_each}: the unprocessing frontier, thresholds by group on the scores of the most "
        f"accurate classifier without mitigation.{lot}"
    )


def degenerate_cells(standing: pd.DataFrame) -> set[tuple[str, float]]:
    """Return technique and level of bias of the degenerate rows of one scenario's standings."""
    return _cells(standing[standing["n_degenerate"] > 0])


def below_constant_cells(standing: pd.DataFrame) -> set[tuple[str, float]]:
    """Return technique and level of bias of the rows below the best constant answer, if not degenerate."""
    return _cells(standing[_is_below(standing)])


def marked_titles(standing: pd.DataFrame, titles: Mapping[str, str]) -> dict[str, str]:
    """Return titles with a mark at those that are below the best constant answer at some level of bias."""
    below = {name for name, _ in below_constant_cells(standing)}
    return {name: title + f" {BELOW_CONSTANT}" * (name in below) for name, title in titles.items()}


def _is_below(standing: pd.DataFrame) -> pd.Series:
    return standing["below_constant"].eq(True) & (standing["n_degenerate"] == 0)


def _cells(rows: pd.DataFrame) -> set[tuple[str, float]]:
    return {(str(name), float(beta)) for name, beta in zip(rows["technique"], rows["beta"], strict=True)}


def degenerate_notes(
    standing: pd.DataFrame, titles: Mapping[str, str], consequence: str, level: LevelName = "beta"
) -> list[str]:
    """Say which techniques are degenerate at which levels of bias, and why: a line for each reason.

    ``standing`` are rows of one scenario from :func:`~benchmark.statistics.answers.standings`, ``titles`` the
    techniques that are shown, in order, and ``consequence`` is what a figure does with them: ``"Hollow"``.
    """
    own = standing[(standing["n_degenerate"] > 0) & standing["technique"].isin(list(titles))]
    # How many samples it is so in differs from one level of bias to the next.
    reasons = own["degenerate"].str.replace(r" in \d+ of \d+ samples", "", regex=True)
    return [
        f"{DEGENERATE} {consequence}, as it {reason}: {_listed(rows, titles, level)}."
        for reason, rows in own.groupby(reasons, sort=False)
    ]


def below_constant_notes(
    standing: pd.DataFrame, titles: Mapping[str, str], level: LevelName = "beta"
) -> list[str]:
    """Say which techniques are less accurate than the best constant answer, of one scenario's standings."""
    own = standing[_is_below(standing) & standing["technique"].isin(list(titles))]
    return [
        f"{BELOW_CONSTANT} {below_constant_words(str(answer)).capitalize()}: {_listed(rows, titles, level)}."
        for answer, rows in own.groupby("constant_answer", sort=False)
    ]


def _listed(rows: pd.DataFrame, titles: Mapping[str, str], level: LevelName) -> str:
    betas = {name: sorted(found["beta"]) for name, found in rows.groupby("technique", sort=False)}
    return "; ".join(
        f"{title} at {level_text(level, *betas[name])}" for name, title in titles.items() if name in betas
    )
