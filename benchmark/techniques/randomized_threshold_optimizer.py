"""Randomized thresholds of near statistical parity (Alabdulmohsin and Lucic 2021)."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from benchmark.techniques._search import Search
from benchmark.techniques.base import Array, Interval, Tools
from benchmark.techniques.post_processing import Adjustment, GroupPostProcessing, Scored, lottery
from benchmark.techniques.registry import register

_SLACK = 1e-9  # a rate may miss its bound by this much, so that rounding decides nothing


@register
class RandomizedThresholdOptimizer(GroupPostProcessing):
    r"""Shift each group's randomized threshold to near statistical parity.

    Idea: with :math:`f = 2 P(y{+} \mid x) - 1` in [-1, 1], the rule h(x), the probability of the favorable
    answer, solves

    .. math:: \min_h \; E\left[\tfrac\gamma2 h(x)^2 - f(x)\,h(x)\right] \quad \text{so that} \quad
              \max_k E[h \mid x \in X_k] - \min_k E[h \mid x \in X_k] \le \epsilon

    over the groups :math:`X_k`, the states of the sensitive feature. The solution
    :math:`h(x) = \min(1, \max(0, (f(x) - t_k) / \gamma))` rises from 0 at the group's threshold :math:`t_k`
    to 1 at :math:`t_k + \gamma`. The threshold :math:`t_k = \lambda_k - \mu_k` is the difference of the
    multipliers of the two bounds of the group's rate. Here the problem is solved exactly on the held-out
    rows, for the best level :math:`\rho` near which the rates meet. Groups whose rate lies in
    :math:`[\rho - \epsilon/2, \rho + \epsilon/2]` keep the threshold 0; the others end at the nearer bound.
    At the best :math:`\rho` the thresholds balance, :math:`\sum_k n_k t_k = 0`.

    Changes: predictions. Limits: a lottery decides rows near a threshold. The rule is best only if the scores
    are good estimates of P(y+ | x). A group without held-out rows has the threshold 0.
    """

    name = "randomized_threshold_optimizer"
    reference = (
        "Alabdulmohsin and Lucic (2021), A near-optimal algorithm for debiasing trained machine learning "
        "models, NeurIPS, equation 3: the rule"
    )
    summary = "Shift each group's randomized threshold to near statistical parity at the least cost"
    version = "1"
    intersections = True
    multi_group = True

    # Largest difference between two groups' rates of favorable answers.
    epsilon: Annotated[float, Interval(0, 1)] = 0.0
    gamma: Annotated[float, Interval(0.001, 2)] = 0.1  # width, in f, of the range in which chance decides

    search_space = (
        Search("epsilon", 0.0, 0.3),
        Search("gamma", 0.01, 1.0, log=True),
    )

    def _adjust(self, held_out: Scored, tools: Tools) -> Adjustment:
        groups, members = np.unique(held_out.table.groups, return_inverse=True)
        scores = [2 * held_out.score[members == k] - 1 for k in range(len(groups))]
        threshold = np.zeros(len(held_out.table.schema.groups))
        threshold[groups] = parity_thresholds(scores, self.epsilon, self.gamma)
        return lottery(lambda test: (2 * test.score - 1 - threshold[test.table.groups]) / self.gamma, tools)


def parity_thresholds(scores: Sequence[Array], epsilon: float, gamma: float) -> Array:
    """Return the threshold of each group, shape (n_groups,); ``epsilon`` and ``gamma`` as of the technique.

    ``scores`` has the scores f, from -1 to 1, of each group's rows. No group is empty.
    """
    from scipy.optimize import bisect

    rates = [(f / gamma).clip(0, 1).mean() for f in scores]
    if np.ptp(rates) <= epsilon:
        return np.zeros(len(scores))
    curves = [_rate_curve(f, gamma) for f in scores]
    size = np.array([len(f) for f in scores])

    def thresholds(low: float, slack: float) -> Array:
        """Return the thresholds nearest to 0 with all rates from ``low`` to ``low + epsilon``."""
        least = [_threshold_at(low + epsilon + slack, *curve) for curve in curves]
        most = [_threshold_at(low - slack, *curve) for curve in curves]
        return np.asarray(np.clip(0.0, least, most))

    def balance(low: float) -> float:
        return float(size @ thresholds(low, _SLACK))

    low = bisect(balance, min(rates), max(rates) - epsilon, xtol=1e-13)
    # Where a gap between scores is wider than gamma, many thresholds give one rate. The larger slack selects
    # the threshold nearest to 0.
    return thresholds(low, 2 * _SLACK)


def _rate_curve(f: Array, gamma: float) -> tuple[Array, Array]:
    """Return the rate, the mean of h, at the thresholds where its slope changes, and these; both falling."""
    ends = np.concatenate([f - gamma, f])
    knots, where = np.unique(ends, return_inverse=True)
    # A row's h falls from 1 to 0 while the threshold moves from f - gamma to f.
    falling = np.cumsum(np.bincount(where, np.repeat([1.0, -1.0], len(f))))[:-1]
    rate = 1 - np.append(0.0, np.cumsum(falling * np.diff(knots))) / (len(f) * gamma)
    return rate[::-1], knots[::-1]


def _threshold_at(level: float, rate: Array, knots: Array) -> float:
    return float(np.interp(level, rate, knots, left=np.inf, right=-np.inf))
