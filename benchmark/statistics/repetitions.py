"""How little a few repetitions can show, and how many would be enough."""

from __future__ import annotations

import math

from scipy.special import stdtrit

from benchmark.statistics.across import ALPHA

FEW_REPETITIONS = 5
"""Repetitions, or folds of them, below which hardly any difference can be shown."""


def half_width_in_deviations(n: int, n_techniques: int, alpha: float = ALPHA) -> float:
    """Return half the width of each technique's simultaneous interval, in standard deviations.

    The deviations are of improvements over ``n`` independent repetitions, at least 2. A difference shows only
    if it is larger by the margin (:func:`~benchmark.statistics.answers.judged`). Repetitions that overlap
    have wider intervals.
    """
    return float(stdtrit(n - 1, 1 - alpha / (2 * max(n_techniques, 1))) / math.sqrt(n))


def repetitions_for(n_techniques: int, alpha: float = ALPHA) -> int:
    """Return how many repetitions show a difference as large as its standard deviation over them."""
    n = 2
    while half_width_in_deviations(n, n_techniques, alpha) > 1:
        n += 1
    return n


def few_words(n: int, n_techniques: int) -> str:
    """Return sentences on how little a number of repetitions can show, and how many would be enough."""
    needed = repetitions_for(n_techniques)
    if n < 2:
        return (
            "One repetition shows no difference: there are candidates at most. It takes at least "
            f"{needed} repetitions to show a difference as large as its standard deviation over them."
        )
    return (
        f"With {n} repetitions hardly any difference can be shown: only one that is "
        f"{half_width_in_deviations(n, n_techniques):.0f} times its standard deviation over repetitions. It "
        f"takes at least {needed} repetitions to show one as large as its standard deviation."
    )
