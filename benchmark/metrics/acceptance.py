"""The share of people who are predicted the favorable outcome, in all and in each group.

They are measured in every run, whatever its experiment names: nothing else tells a fair classifier from one
that gives nearly all rows the same answer.
"""

import functools

from benchmark.metrics.base import metric
from benchmark.metrics.groups import Group
from benchmark.metrics.rates import selection_rate

_SOURCE = "Standard: the selection rate of fairlearn, AIF360 and Aequitas"


_share = functools.partial(
    metric, range=(0.0, 1.0), ideal=None, source=_SOURCE, needs=("y_pred",), family="acceptance"
)


@_share("Share accepted", "P(ŷ+)", compare="overall")
def accepted(everybody: Group) -> float:
    """Return the share of all rows that are predicted the favorable outcome."""
    return selection_rate(everybody)


@_share("Share accepted, deprived group", "P(ŷ+ | g)", compare="one_against_rest")
def accepted_deprived(deprived: Group, _favored: Group) -> float:
    """Return the share of the deprived group that is predicted the favorable outcome."""
    return selection_rate(deprived)


@_share("Share accepted, favored group", "P(ŷ+ | ḡ)", compare="one_against_rest")
def accepted_favored(_deprived: Group, favored: Group) -> float:
    """Return the share of the favored group that is predicted the favorable outcome."""
    return selection_rate(favored)
