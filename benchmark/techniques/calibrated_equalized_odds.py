"""Equal error rates of calibrated scores (Pleiss et al. 2017)."""

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.techniques.base import Array, Tools
from benchmark.techniques.post_processing import Adjustment, ErrorRatePostProcessing, Scored
from benchmark.techniques.registry import register

Cost: TypeAlias = Literal["fnr", "fpr", "weighted"]


@register
class CalibratedEqualizedOdds(ErrorRatePostProcessing):
    r"""Withhold information from the group with the lower cost until the groups' costs agree.

    Idea: calibrated scores allow one equal error rate, not two. With f the score and :math:`\mu_g` the share
    of favorable labels of group g, the generalized rates are :math:`\mathrm{fpr}_g = E[f \mid g, y = 0]` and
    :math:`\mathrm{fnr}_g = E[1 - f \mid g, y = 1]`. The cost :math:`c_g` is one of them or both. A random
    share of the group with the lower cost (group 2) gets :math:`\mu_2` in place of its score. The group's
    scores stay calibrated, and its cost rises toward :math:`\bar c_2`, the cost of the constant score
    :math:`\mu_2`. The costs meet at the share :math:`(c_1 - c_2) / (\bar c_2 - c_2)`. A score above 1/2 is
    the favorable answer.

    Changes: predictions. Limits: drawn rows are judged by the group alone. The costs of scores agree, not the
    costs of decisions. Scores of trees and of naive Bayes are seldom calibrated. If even the constant score
    costs less than the other group's scores, the whole group gets it. If it costs no more than the group's
    scores, nobody gets it.
    """

    name = "calibrated_equalized_odds"
    reference = "Pleiss, Raghavan, Wu, Kleinberg and Weinberger (2017), On fairness and calibration, NIPS"
    summary = "Replace random scores of the better served group by its base rate until costs agree"
    version = "1"
    intersections = True

    # The cost to make equal: the generalized false negative rate, the generalized false positive rate, or
    # :math:`\mu_g\,\mathrm{fnr}_g + (1 - \mu_g)\,\mathrm{fpr}_g`.
    cost: Cost = "weighted"

    def _adjust(self, held_out: Scored, tools: Tools) -> Adjustment:
        members = held_out.table.deprived
        base = np.array([held_out.table.y[members == group].mean() for group in (False, True)])
        rates = mixing_rates(held_out, self.cost)
        seed = int(tools.rng.integers(2**63))  # drawn once, so that each call answers alike

        def adjust(test: Scored) -> NDArray[np.bool_]:
            group = test.table.deprived.astype(int)
            drawn = np.random.default_rng(seed).random(len(group)) < rates[group]
            return np.where(drawn, base[group], test.score) > 0.5

        return adjust


def mixing_rates(held_out: Scored, cost: Cost) -> Array:
    """Return the share of each group that gets its base rate for a score, shape (2,), deprived last."""
    members, y = held_out.table.deprived, held_out.table.y
    costs, constant = np.empty(2), np.empty(2)
    for group in (0, 1):
        score, label = held_out.score[members == group], y[members == group]
        costs[group] = _cost(score, label, cost)
        constant[group] = _cost(np.full(len(label), label.mean()), label, cost)
    cheap = int(costs.argmin())
    room, rates = constant[cheap] - costs[cheap], np.zeros(2)
    if room > 0:
        rates[cheap] = min(np.ptp(costs) / room, 1.0)
    return rates


def _cost(score: Array, y: NDArray[np.bool_], cost: Cost) -> float:
    fpr, fnr, base = score[~y].mean(), 1 - score[y].mean(), y.mean()
    weight = {"fnr": 1.0, "fpr": 0.0, "weighted": base}[cost]
    return float(weight * fnr + (1 - weight) * fpr)
