"""Equalized odds by a derived predictor (Hardt et al. 2016)."""

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.techniques.base import Array, Tools
from benchmark.techniques.post_processing import Adjustment, ErrorRatePostProcessing, Scored, lottery
from benchmark.techniques.registry import register

Objective: TypeAlias = Literal["accuracy", "balanced_accuracy"]


@register
class EqualizedOdds(ErrorRatePostProcessing):
    r"""Redraw decisions so that the groups' true and false positive rates agree.

    Idea: a derived predictor :math:`\tilde Y` sees only the decision :math:`\hat Y` (a score above 1/2) and
    the group A. The best one with equal rates on the held-out rows solves the linear program

    .. math:: \min_p \; \mathrm{loss}(\tilde Y) \quad \text{so that} \quad
              P(\tilde Y = 1 \mid A = 0, Y = y) = P(\tilde Y = 1 \mid A = 1, Y = y), \; y = 0, 1,

    in the four probabilities :math:`p_{a \hat y} = P(\tilde Y = 1 \mid \hat Y = \hat y, A = a)`, with which
    chance decides for each row.

    Changes: predictions. Limits: the group with the better decisions is worsened at random to the level of
    the other. Where few rows are favorable, the most accurate solution may give all rows the same answer.
    """

    name = "equalized_odds"
    reference = (
        "Hardt, Price and Srebro (2016), Equality of opportunity in supervised learning, NIPS, section 4.1: "
        "from a binary predictor"
    )
    summary = "Redraw decisions with probabilities that equalize the groups' error rates"
    version = "1"
    intersections = True

    # The best solution has the smallest share of errors, or the largest difference of true and false positive
    # rate.
    objective: Objective = "accuracy"

    def _adjust(self, held_out: Scored, tools: Tools) -> Adjustment:
        table = held_out.table
        cells = 4 * table.deprived + 2 * table.y + (held_out.score > 0.5)
        counts = np.bincount(cells, minlength=8).reshape(2, 2, 2)
        favorable = derived_predictor(counts, self.objective)
        return lottery(
            lambda test: favorable[test.table.deprived.astype(int), (test.score > 0.5).astype(int)], tools
        )


def derived_predictor(counts: NDArray[np.int64], objective: Objective) -> Array:
    """Return the best derived predictor of equal error rates, shape (2, 2).

    It has the probability of the favorable answer by group (deprived last) and decision (favorable last).
    ``counts`` are rows by group, label and decision, shape (2, 2, 2).
    """
    from scipy.optimize import linprog

    labeled = counts.sum(axis=2, keepdims=True)
    decided = counts / labeled  # P(decision | group, label): how a rate mixes the probabilities
    weight = labeled / counts.sum() if objective == "accuracy" else np.ones_like(labeled)
    loss = weight * decided * np.array([1.0, -1.0])[:, None]  # false positives cost, true positives pay
    solution = linprog(
        loss.sum(axis=1).ravel(),
        A_eq=np.hstack([decided[0], -decided[1]]),
        b_eq=np.zeros(2),
        bounds=(0, 1),
        method="highs",
    )
    return np.asarray(solution.x).clip(0, 1).reshape(2, 2)
