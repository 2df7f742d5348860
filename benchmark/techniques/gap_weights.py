"""Weights by a label gap that is told (Natarajan and others 2013; Zadrozny 2004)."""

from benchmark.data.table import Table
from benchmark.techniques.base import Prepared, Tools
from benchmark.techniques.registry import register
from benchmark.techniques.restoring import Restorer


@register
class GapWeights(Restorer):
    r"""Weight the deprived group's favorable rows so that the bias no longer moves the boundary.

    Idea: let p be the true and p' the recorded probability of a favorable label in the deprived group. Let r
    be its recorded rate and g the told gap, so that t = r + g is the true rate. A model should accept where
    p >= 1/2.

    Wrong labels: a share b = g / t of the favorable labels was turned, whoever has them, so p' = (1 - b) p.
    The boundary p = 1/2 is recorded as p' = (1 - b) / 2. A weight w on favorable rows makes a model accept
    where w p' >= 1 - p', which is this boundary if

    .. math:: w = \frac{1 + b}{1 - b}.

    These are the label-dependent costs of Natarajan and others for noise of one side. Missing rows: a share
    of the favorable rows is left out, whoever they are, so recorded odds are true odds times a constant, and
    w is the ratio of odds of t and of r. If a share b is left out, that is 1 / (1 - b), the inverse selection
    weight of Zadrozny: favorable rows count as many as there were.

    Changes: weights, of mean 1. If g is below 0, the unfavorable rows get the weight of the reverse case.
    Limits: right where the chance of losing the label is the same for all of the group. Where it is greater
    near the boundary, the weight falls short there. Where rows of either label are missing alike, no weight
    is needed for the boundary, and the group's share of all rows is not restored.
    """

    name = "gap_weights"
    reference = (
        "Natarajan, Dhillon, Ravikumar and Tewari (2013), Learning with noisy labels, NeurIPS, section 3.2; "
        "Zadrozny (2004), Learning and evaluating classifiers under sample selection bias, ICML"
    )
    summary = "Weight the deprived group's favorable rows by a label gap that is told"
    version = "1"
    knows = ("kind", "gap")

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return self.by_gap(train, tools, tools.known.gap, tools.known.kind)
