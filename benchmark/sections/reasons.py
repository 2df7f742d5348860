"""Words for the codes of frames: degenerate decisions, constant answers, missing ranks, few datasets."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from benchmark.runs.manifest import Manifest
from benchmark.statistics.across import NO_VALUE, smallest_p_value
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

RANK_WORDS = {
    NO_VALUE: "not every repetition has a value on {dataset} at {level}",
    "constant": "degenerate on {dataset} at {level}",
}
"""Reasons for a missing rank."""


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


def rank_words(row: Any, run: Manifest) -> str:
    """Return why a row of ``ranks.csv`` has no rank; nothing if it has one."""
    if not row.reason:
        return ""
    where = {"dataset": run.headings(row.reason_dataset), "level": run.level_text(row.reason_level)}
    return RANK_WORDS[row.reason].format(**where)


def few_datasets(ranks: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of ``ranks.csv`` whose datasets are too few for a claim about techniques."""
    few = ranks["n_datasets"] < ranks["datasets_needed"]
    return ranks[few | (ranks["n_blocks"] > ranks["n_datasets"])]


def few_datasets_words(row: Any, alpha: float) -> str:
    """Return a warning for a row of :func:`few_datasets`; ``alpha`` is the level of significance."""
    sentences, n = [], row.n_datasets
    if n < row.datasets_needed:
        n_tests = max(1, math.comb(row.n_techniques, 2))
        tests = "one signed-rank test" if n_tests == 1 else f"any of {n_tests} signed-rank tests"
        datasets, them = ("1 dataset is", "it") if n == 1 else (f"{n} datasets are", "them")
        sentences.append(
            f"{datasets} too few for a claim beyond {them}: the smallest two-sided p-value from n datasets "
            f"is 2/2^n, here {smallest_p_value(n):.3g}, and for {tests} to be significant at {alpha:g} there "
            f"must be at least {row.datasets_needed}."
        )
    if row.n_blocks > n:
        sentences.append(
            f"The {row.n_blocks} blocks come from {n} dataset{'s' * (n != 1)}, so they are not independent "
            "and p-values are too small."
        )
    return " ".join(sentences)
