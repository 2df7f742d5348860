"""Fair classification by a grid of multipliers (Agarwal et al. 2018)."""

from typing import Annotated

import numpy as np

from benchmark.data.table import Table
from benchmark.techniques._search import Search
from benchmark.techniques.base import Interval, Predictor, Tools
from benchmark.techniques.exponentiated_gradient import Reduction
from benchmark.techniques.registry import register


@register
class GridSearch(Reduction):
    r"""Best single classifier on a grid of trade-offs between error and the groups' difference.

    Idea: for each vector of multipliers :math:`\lambda` on a grid, the classifier is trained to minimize
    error plus :math:`\lambda` times the constraints' violation. This is an ordinary fit on rows with changed
    labels and weights. The best classifier has the least sum, on the training rows, of 1 - w times its error
    rate and w times its difference. That is the largest distance of a group's rate from the rate of all.

    Changes: training only. Runs fairlearn's ``GridSearch``. Limits: no bound is promised. A single classifier
    may lose more accuracy than a lottery. Two multipliers, as of ``equalized_odds``, leave few values for
    each.
    """

    name = "grid_search"
    reference = (
        "Agarwal, Beygelzimer, Dudik, Langford and Wallach (2018), A reductions approach to fair "
        "classification, ICML, section 3.4"
    )
    summary = "Best classifier trained on costs on a grid of trade-offs between error and difference"
    version = "1"
    intersections = True

    constraint_weight: Annotated[float, Interval(0, 1)] = 0.5  # the weight w
    grid_size: Annotated[int, Interval(5)] = 41  # number of fits
    # Largest sum of the multipliers' absolute values.
    grid_limit: Annotated[float, Interval(0.01, 100)] = 2.0

    search_space = (
        Search("constraint_weight", 0.0, 1.0),
        Search("grid_limit", 0.2, 10.0, log=True),
    )

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        from fairlearn import reductions

        fitted, features = self._reduce(
            train,
            tools,
            lambda estimator, moment: reductions.GridSearch(
                estimator,
                moment(),
                constraint_weight=self.constraint_weight,
                grid_size=self.grid_size,
                grid_limit=self.grid_limit,
            ),
        )

        best = fitted.predictors_[fitted.best_idx_]
        return Predictor(lambda test: np.asarray(best.predict(self._checked(features(test), [best])) == 1))
