"""How classifiers of no use are marked: signs, a line for the best constant answer, hollow points, notes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from benchmark.runs.descriptions import listed_betas
from benchmark.statistics.answers import ConstantAnswer, random_accuracy

DEGENERATE = "‡"
"""Stands beside techniques that answer nearly everybody, or each group, the same."""

BELOW_CONSTANT = "†"
"""Stands beside techniques that are less accurate than the best constant answer."""

ONE_GROUP = "¶"
"""Stands beside techniques that give one of the groups nearly always the same answer."""

INSIDE_FRONTIER = "§"
"""Stands beside techniques that thresholds on the best unconstrained scores outdo."""

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


def degenerate_notes(standing: pd.DataFrame, titles: Mapping[str, str], consequence: str) -> list[str]:
    """Say which techniques are degenerate at which levels of bias, and why: a line for each reason.

    ``standing`` are rows of one scenario from :func:`~benchmark.statistics.answers.standings`, ``titles`` the
    techniques that are shown, in order, and ``consequence`` is what a figure does with them: ``"Hollow"``.
    """
    own = standing[(standing["n_degenerate"] > 0) & standing["technique"].isin(list(titles))]
    # How many samples it is so in differs from one level of bias to the next.
    reasons = own["degenerate"].str.replace(r" in \d+ of \d+ samples", "", regex=True)
    return [
        f"{DEGENERATE} {consequence}, as it {reason}: {_listed(rows, titles)}."
        for reason, rows in own.groupby(reasons, sort=False)
    ]


def below_constant_notes(standing: pd.DataFrame, titles: Mapping[str, str]) -> list[str]:
    """Say which techniques are less accurate than the best constant answer, of one scenario's standings."""
    own = standing[_is_below(standing) & standing["technique"].isin(list(titles))]
    return [
        f"{BELOW_CONSTANT} {below_constant_words(str(answer)).capitalize()}: {_listed(rows, titles)}."
        for answer, rows in own.groupby("constant_answer", sort=False)
    ]


def _listed(rows: pd.DataFrame, titles: Mapping[str, str]) -> str:
    betas = {name: sorted(found["beta"]) for name, found in rows.groupby("technique", sort=False)}
    return "; ".join(
        f"{title} at β = {listed_betas(betas[name])}" for name, title in titles.items() if name in betas
    )
