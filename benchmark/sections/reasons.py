"""Words for the codes of frames: degenerate decisions, constant answers, missing ranks, few datasets."""

from __future__ import annotations

from typing import Any

from benchmark.statistics.answers import (
    ACCEPTS_ALL,
    BY_GROUP,
    BY_LOT,
    DEGENERATE,
    EITHER,
    NEARLY_ALL,
    REFUSES_ALL,
    ConstantAnswer,
)
from benchmark.text.words import share

DEGENERATE_WORDS = {
    REFUSES_ALL: f"refuses more than {share(NEARLY_ALL)} of everybody",
    ACCEPTS_ALL: f"accepts more than {share(NEARLY_ALL)} of everybody",
    BY_GROUP: "decides by group alone",
}
"""Kinds of degenerate decisions."""

CONSTANT_WORDS = {
    REFUSES_ALL: "refusing everybody",
    ACCEPTS_ALL: "accepting everybody",
    EITHER: "refusing or accepting everybody",
    BY_LOT: "accepting {share} by lot",
}
"""Best constant answers."""


def degenerate_words(row: Any) -> str:
    """Return how many of a technique's samples are degenerate in which way.

    ``row`` is an answer, or a row of :func:`~benchmark.statistics.answers.standings`.
    """
    counts = {kind: getattr(row, f"n_{kind}") for kind in DEGENERATE}
    return "; ".join(
        f"{DEGENERATE_WORDS[kind]} in {n} of {row.n_recorded} samples" for kind, n in counts.items() if n
    )


def constant_words(kind: str, accepted: float) -> str:
    """Return a constant answer in words: ``"refusing everybody"``."""
    return CONSTANT_WORDS[kind].format(share=share(accepted))


def answer_words(answer: ConstantAnswer) -> str:
    """Return the best constant answer in words."""
    return constant_words(answer.kind, answer.accepted)
