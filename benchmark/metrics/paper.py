"""The main paper's four metrics.

The paper measures on one table with two groups; *discrimination* is what others call the demographic
(statistical) parity difference, *over-* and *underestimation* are the two sides of disparate mistreatment
(Zafar et al. 2017).
"""

from __future__ import annotations

from benchmark.metrics.base import GroupCounts, metric, share

__all__ = ["accuracy", "discrimination", "overestimation", "underestimation"]

_FAVORED, _DEPRIVED = 0, 1
_NAMES = ("favored", "deprived")
_UNFAVORABLE, _FAVORABLE = 0, 1


def _predicted(counts: GroupCounts, group: int) -> float:
    """P(ŷ+ | group)."""
    weight = counts.weight[group]
    return share(weight[:, _FAVORABLE].sum(), weight.sum(), f"row of the {_NAMES[group]} group")


def _wrong(counts: GroupCounts, group: int, label: int) -> float:
    """P(ŷ ≠ y | group, y)."""
    weight = counts.weight[group, label]
    name = "a favorable" if label == _FAVORABLE else "an unfavorable"
    return share(weight[1 - label], weight.sum(), f"row of the {_NAMES[group]} group with {name} label")


@metric(
    title="Discrimination",
    formula="P(ŷ+ | ḡ) - P(ŷ+ | g)",
    range=(-1.0, 1.0),
    ideal=0.0,
    direction="closer_to_ideal",
    source="Main paper, equation 1, applied to predictions; Kamiran and Calders (2012)",
    needs=("y_pred", "deprived"),
)
def discrimination(counts: GroupCounts) -> float:
    """Return how much more often the favored group is predicted the favorable outcome."""
    return _predicted(counts, _FAVORED) - _predicted(counts, _DEPRIVED)


@metric(
    title="Accuracy",
    formula="P(ŷ = y)",
    range=(0.0, 1.0),
    ideal=1.0,
    direction="higher",
    source="Standard",
    needs=("y_true", "y_pred"),
)
def accuracy(counts: GroupCounts) -> float:
    """Return the share of correct predictions."""
    right = counts.weight[:, _UNFAVORABLE, _UNFAVORABLE] + counts.weight[:, _FAVORABLE, _FAVORABLE]
    return share(right.sum(), counts.weight.sum(), "row")


@metric(
    title="Overestimation",
    formula="P(ŷ+ | ḡ, y-) - P(ŷ+ | g, y-)",
    range=(-1.0, 1.0),
    ideal=0.0,
    direction="closer_to_ideal",
    source="Main paper, equation 2; Zafar et al. (2017), false positive rates",
    needs=("y_true", "y_pred", "deprived"),
)
def overestimation(counts: GroupCounts) -> float:
    """Return how much more often the favored group is wrongly predicted the favorable outcome."""
    return _wrong(counts, _FAVORED, _UNFAVORABLE) - _wrong(counts, _DEPRIVED, _UNFAVORABLE)


@metric(
    title="Underestimation",
    formula="P(ŷ- | g, y+) - P(ŷ- | ḡ, y+)",
    range=(-1.0, 1.0),
    ideal=0.0,
    direction="closer_to_ideal",
    source="Main paper, equation 3; Zafar et al. (2017), false negative rates",
    needs=("y_true", "y_pred", "deprived"),
)
def underestimation(counts: GroupCounts) -> float:
    """Return how much more often the deprived group is wrongly predicted the unfavorable outcome."""
    return _wrong(counts, _DEPRIVED, _FAVORABLE) - _wrong(counts, _FAVORED, _FAVORABLE)
