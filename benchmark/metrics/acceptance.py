"""The share of people who are predicted the favorable outcome, in all and in each group.

They are measured in every run, whatever its experiment names: nothing else tells a fair classifier from one
that answers nearly everybody the same.
"""

from __future__ import annotations

from benchmark.metrics.base import metric
from benchmark.metrics.groups import Group
from benchmark.metrics.rates import selection_rate

__all__ = ["accepted", "accepted_deprived", "accepted_favored"]

_SOURCE = "Standard: the selection rate of fairlearn, AIF360 and Aequitas"


@metric(
    title="Share accepted",
    formula="P(ŷ+)",
    range=(0.0, 1.0),
    ideal=None,
    direction="none",
    source=_SOURCE,
    needs=("y_pred",),
    compare="overall",
    family="acceptance",
)
def accepted(everybody: Group) -> float:
    """Return the share of all rows that are predicted the favorable outcome."""
    return selection_rate(everybody)


@metric(
    title="Share accepted, deprived group",
    formula="P(ŷ+ | g)",
    range=(0.0, 1.0),
    ideal=None,
    direction="none",
    source=_SOURCE,
    needs=("y_pred",),
    compare="one_against_rest",
    family="acceptance",
)
def accepted_deprived(deprived: Group, _favored: Group) -> float:
    """Return the share of the deprived group that is predicted the favorable outcome."""
    return selection_rate(deprived)


@metric(
    title="Share accepted, favored group",
    formula="P(ŷ+ | ḡ)",
    range=(0.0, 1.0),
    ideal=None,
    direction="none",
    source=_SOURCE,
    needs=("y_pred",),
    compare="one_against_rest",
    family="acceptance",
)
def accepted_favored(_deprived: Group, favored: Group) -> float:
    """Return the share of the favored group that is predicted the favorable outcome."""
    return selection_rate(favored)
