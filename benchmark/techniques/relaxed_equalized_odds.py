"""Thresholds by group with nearly equal error rates (Hardt et al. 2016, Cruz and Hardt 2024)."""

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from benchmark.techniques._search import Search
from benchmark.techniques.base import Array, Interval, Tools
from benchmark.techniques.post_processing import Adjustment, ErrorRatePostProcessing, Scored, lottery
from benchmark.techniques.registry import register


@register
class RelaxedEqualizedOdds(ErrorRatePostProcessing):
    r"""Mix thresholds of each group so that error rates differ by no more than a tolerance.

    Idea: thresholds on a group's scores reach the points of its ROC curve, and drawing between thresholds
    reaches all mixtures :math:`\lambda` of these points. The most accurate mixtures on the held-out rows
    solve the linear program

    .. math:: \max_\lambda \; P(\hat Y = Y) \quad \text{so that} \quad
              |P(\hat Y = 1 \mid A = 0, Y = y) - P(\hat Y = 1 \mid A = 1, Y = y)| \le \epsilon,
              \; y = 0, 1.

    Tolerance 0 equalizes the odds of a score. Tolerance 1 leaves each group its most accurate threshold.
    Changes: predictions. Limits: chance decides rows between two mixed thresholds. Rates agree on the
    held-out rows with their recorded labels, which may be biased.
    """

    name = "relaxed_equalized_odds"
    reference = (
        "Hardt, Price and Srebro (2016), Equality of opportunity in supervised learning, NIPS, section 4.2: "
        "from a score. Cruz and Hardt (2024), Unprocessing seven years of algorithmic fairness, ICLR: "
        "the tolerance"
    )
    summary = "Mix each group's thresholds so that error rates differ by at most a tolerance"
    version = "1"
    intersections = True

    # Largest difference of the groups' true positive rates, and of their false positive rates.
    tolerance: Annotated[float, Interval(0, 1)] = 0.05

    search_space = (Search("tolerance", 0.0, 0.3),)

    def _adjust(self, held_out: Scored, tools: Tools) -> Adjustment:
        table, score = held_out.table, held_out.score
        rules = threshold_mixtures(score, table.y, table.deprived, self.tolerance)

        def chance(test: Scored) -> Array:
            favored, deprived = (acceptance(test.score, *rule) for rule in rules)
            return np.where(test.table.deprived, deprived, favored)

        return lottery(chance, tools)


def threshold_mixtures(
    score: Array, y: NDArray[np.bool_], deprived: NDArray[np.bool_], tolerance: float
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Return thresholds, falling, and their probabilities, for the favored and for the deprived group.

    A row is accepted if its score is at least the threshold that is drawn for it. All arrays have shape
    (n_rows,); both groups have rows of both labels.
    """
    from scipy.optimize import linprog
    from sklearn.metrics import roc_curve

    curves = [roc_curve(y[rows], score[rows]) for rows in (~deprived, deprived)]
    # Shares of all rows that have a label, by group: what a rate is worth in accuracy.
    positive, negative = ([np.mean(rows & label) for rows in (~deprived, deprived)] for label in (y, ~y))
    value = [p * tpr - n * fpr for (fpr, tpr, _), p, n in zip(curves, positive, negative, strict=True)]
    sizes = [len(thresholds) for _, _, thresholds in curves]
    # A row for each rate: the favored group's minus the deprived group's.
    apart = np.array([np.append(curves[0][rate], -curves[1][rate]) for rate in (0, 1)])
    solution = linprog(
        -np.concatenate(value),
        A_ub=np.vstack([apart, -apart]),
        b_ub=np.full(4, tolerance),
        A_eq=np.repeat(np.eye(2), sizes, axis=1),
        b_eq=np.ones(2),
        bounds=(0, 1),
        method="highs",
    )
    shares = np.split(np.asarray(solution.x).clip(0, 1), sizes[:1])
    favored, deprived_rule = (
        (thresholds[share > 0], share[share > 0] / share.sum())
        for (_, _, thresholds), share in zip(curves, shares, strict=True)
    )
    return favored, deprived_rule


def acceptance(score: Array, thresholds: Array, shares: Array) -> Array:
    """Return the probability that each score is accepted, shape (n_rows,), by :func:`threshold_mixtures`."""
    reached = np.append(0.0, np.cumsum(shares))
    # Thresholds fall, so a score reaches all behind the first that it reaches.
    n_above = np.searchsorted(-thresholds, -score, side="left")
    return np.asarray(reached[-1] - reached[n_above])
