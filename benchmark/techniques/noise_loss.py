"""Logistic regression with a loss that label noise of known rates leaves unbiased (Natarajan et al. 2013)."""

from dataclasses import replace
from typing import Annotated, ClassVar

import numpy as np

from benchmark.data.table import Table
from benchmark.techniques.base import Array, Interval, Predictor, Technique, Tools
from benchmark.techniques.constrained_logistic import Design, least, sigmoid
from benchmark.techniques.encoding import Encoding, Treatment
from benchmark.techniques.registry import register
from benchmark.techniques.restoring import group_rates, turned_shares


@register
class NoiseLoss(Technique):
    r"""Logistic regression whose expected loss is the loss of true labels, by told true rates of both groups.

    Idea: in a group a share b of truly favorable and a share a of truly unfavorable labels was turned,
    whoever has them. With the losses l(1) and l(0) of a score for either label, a recorded favorable label
    has the loss

    .. math:: \frac{(1 - a)\, l(1) - b\, l(0)}{1 - a - b},

    and an unfavorable one the same with labels, and a and b, in each other's place. The expected loss of a
    recorded label is the loss of the true one, so the model is fitted to p itself and no boundary has to
    move. One of a and b is 0, and the other follows from recorded and told rates as in ``rate_weights``.
    Negative weights cancel in the curvature of the logistic loss, because l(1) - l(0) is linear in the score:
    the sum stays convex.

    Changes: training only. Limits: where more labels are recorded as favorable than the noise allows, the
    loss falls without end; the ridge holds the coefficients.
    """

    name = "noise_loss"
    stage = "in"
    reference = (
        "Natarajan, Dhillon, Ravikumar and Tewari (2013), Learning with noisy labels, NeurIPS, lemma 1; "
        "Wang, Liu and Levy (2021), Fair classification with group-dependent label noise, FAccT, section 4: "
        "noise rates by group"
    )
    summary = "Logistic regression with a loss corrected for label noise, by true rates that are told"
    version = "1"
    intersections = True
    knows = ("rates",)
    unconstrained: ClassVar = {"strength": 0.0}

    strength: Annotated[float, Interval(0, 1)] = 1.0  # share of the noise that the loss corrects
    use_sensitive: bool = True  # whether the sensitive feature is among the features
    # Columns that enter as one number, the position of the state: none, the schema's ordered columns, or all.
    treatment: Treatment = "categorical"
    # Weight of half the squared norm of all coefficients beside the mean loss per row. Of a few hundred rows
    # the corrected loss alone has no least value, so it is greater than that of other learners.
    ridge: Annotated[float, Interval(1e-9, 1.0)] = 0.01

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        encoding = Encoding.of(train, use_sensitive=self.use_sensitive, treatment=self.treatment)
        design = Design.of(train, encoding, train.y)
        if self.strength > 0:
            weight = design.weight.copy()
            for group, recorded, true in group_rates(train, tools, *tools.known.rates):
                a, b = (self.strength * share for share in turned_shares(recorded, true))
                weight[:, group] = corrected(weight[:, group], a, b)
            design = replace(design, weight=weight)
        theta, convergence = least(design, self.ridge, "logistic regression with label noise")

        def scores(test: Table) -> Array:
            return encoding.scores(encoding.codes(test), theta).round(9)

        return Predictor(lambda test: scores(test) > 0, lambda test: sigmoid(scores(test)), convergence)


def corrected(counts: Array, unfavorable: float, favorable: float) -> Array:
    """Return the weights of a row's losses for either label, from its counts of recorded labels.

    Both have shape (n_rows, 2), favorable labels last; ``unfavorable`` and ``favorable`` are the shares of
    true labels that were turned.
    """
    by_recorded = np.array([[1 - favorable, -unfavorable], [-favorable, 1 - unfavorable]])
    return np.asarray(counts @ by_recorded / (1 - unfavorable - favorable))
