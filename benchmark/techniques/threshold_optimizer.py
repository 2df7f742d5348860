"""Thresholds for each group (Hardt et al. 2016), optimized by fairlearn."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmark.techniques.base import Tools
from benchmark.techniques.equalized_odds import Objective
from benchmark.techniques.post_processing import Adjustment, ErrorRatePostProcessing, Scored
from benchmark.techniques.registry import register


@register
class ThresholdOptimizer(ErrorRatePostProcessing):
    """Give each group its own thresholds, between which chance decides, under a constraint of equal rates.

    Idea: the thresholds of a group, and mixtures of two thresholds, reach points in the plane of two rates,
    which have a concave upper hull. Candidates are the points at which the groups' constrained rate is the
    same, in a thousand steps from 0 to 1. The best by the objective on the held-out rows is taken. For
    equalized odds the lowest of the groups' hulls limits all, and the other groups come down to it by random
    answers to some rows. Runs fairlearn's ``ThresholdOptimizer``.

    Changes: predictions. Limits: members of the two groups with equal scores get different answers, and two
    members of one group may, at random.
    """

    name = "threshold_optimizer"
    reference = (
        "Hardt, Price and Srebro (2016), Equality of opportunity in supervised learning, NIPS, section 4.2: "
        "from a score function"
    )
    summary = "Give each group its own, partly random, thresholds of equal rates"
    version = "1"
    intersections = True
    packages = ("fairlearn",)

    # The rate to make equal: the rate of favorable answers, both error rates, the true positive rate (equal
    # opportunity), or the false positive rate.
    constraint: Literal[
        "demographic_parity", "equalized_odds", "true_positive_rate_parity", "false_positive_rate_parity"
    ] = "demographic_parity"
    # The quantity to maximize; under a single constrained rate, the groups' mean, weighted by size.
    objective: Objective = "accuracy"

    def _adjust(self, held_out: Scored, tools: Tools) -> Adjustment:
        from fairlearn import postprocessing

        seed = int(tools.rng.integers(2**32))  # drawn once, so that each call answers alike
        optimizer = postprocessing.ThresholdOptimizer(
            estimator=_first_column(),
            prefit=True,
            predict_method="predict",
            constraints=self.constraint,
            objective=f"{self.objective}_score",
        )
        y, group = held_out.table.y.astype(int), held_out.table.deprived.astype(int)
        optimizer.fit(held_out.score[:, None], y, sensitive_features=group)

        def adjust(test: Scored) -> NDArray[np.bool_]:
            group = test.table.deprived.astype(int)
            answer = optimizer.predict(test.score[:, None], sensitive_features=group, random_state=seed)
            return np.asarray(answer == 1)

        return adjust


def _first_column() -> Any:
    """Return a fitted estimator that predicts its first feature, so that scores reach a library."""
    from sklearn.base import BaseEstimator

    class FirstColumn(BaseEstimator):  # type: ignore[misc]
        def fit(self, X: NDArray[np.float64], y: object = None) -> FirstColumn:
            return self

        def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.asarray(X)[:, 0]

        def __sklearn_is_fitted__(self) -> bool:
            return True

    return FirstColumn()
