"""Marks of useless classifiers in tables and figures: signs with notes, a line, hollow points."""

from __future__ import annotations

from typing import Any

from benchmark.sections.reasons import (
    constant_words,
)

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


def below_constant_words(row: Any) -> str:
    """Return ``"less accurate than refusing everybody"`` for a row that :func:`mark` takes."""
    return f"less accurate than {constant_words(row.constant_answer, row.constant_accepts)}"


def mark(row: Any) -> str:
    """Return the sign of a useless technique, or an empty string.

    ``row`` is an answer, or a row of :func:`~benchmark.statistics.answers.standings`.
    """
    signs = {DEGENERATE: row.n_degenerate > 0, BELOW_CONSTANT: row.below_constant, ONE_GROUP: row.one_group}
    return next((sign for sign, applies in signs.items() if applies), "")
