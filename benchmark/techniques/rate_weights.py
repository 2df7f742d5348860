"""Weights by true rates of both groups that are told."""

from benchmark.data.table import Table
from benchmark.techniques.base import Prepared, Tools
from benchmark.techniques.registry import register
from benchmark.techniques.restoring import Restorer


@register
class RateWeights(Restorer):
    r"""Weight one label of each group so that both boundaries move as the groups' true rates ask.

    Idea: labels of a group are wrong in one direction. With a recorded rate r below the true rate t, a share
    b = (t - r) / t of the favorable labels was turned, and favorable rows get the weight (1 + b) / (1 - b)
    of :class:`~benchmark.techniques.gap_weights.GapWeights`. With r above t, a share b = (r - t) / (1 - t) of
    the unfavorable labels was turned, and unfavorable rows get this weight.

    Changes: weights, of mean 1. Limits: as of weights by a gap. Labels that are wrong in both directions
    cancel out in a rate, and no weight takes this noise away.
    """

    name = "rate_weights"
    reference = (
        "Natarajan, Dhillon, Ravikumar and Tewari (2013), Learning with noisy labels, NeurIPS, section 3.2, "
        "in each group"
    )
    summary = "Weight labels of both groups by true rates that are told"
    version = "1"
    knows = ("rates",)

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return self.by_rates(train, tools, "label", *tools.known.rates)
