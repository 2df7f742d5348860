"""Weights that correct label bias without being told of it (Jiang and Nachum 2020)."""

from typing import Annotated

import numpy as np

from benchmark.data.table import Table
from benchmark.techniques.base import Array, Interval, Prepared, Tools
from benchmark.techniques.registry import register
from benchmark.techniques.restoring import Restorer


@register
class LabelBiasWeights(Restorer):
    r"""Weight labels of the deprived group until a model trained with the weights has demographic parity.

    Idea: true labels have demographic parity, and recorded labels are the nearest to them, by the relative
    entropy, that have the bias which they show. Then the true probability of a label is proportional to the
    recorded one times exp(l c(x, y)). The constraint's c is 1 for the favorable label in the group and
    else 0, up to a constant. Training with the weights

    .. math:: w(x, y) = \frac{e^{l c(x, y)}}{\sum_{y'} e^{l c(x, y')}}

    is training on true labels, of people who count differently. The multiplier l is found by steps: a model
    is trained with the weights, and l falls by ``step`` times the violation. This is the model's acceptance
    rate in the group minus its rate over all rows. In the group the ratio of the two labels' weights is e to
    the l, so the boundary p' of recorded probabilities is at 1 / (1 + e to the l).

    Changes: weights, of mean 1. Limits: nothing is told, so equal acceptance rates are taken for the truth.
    Where true rates differ, weights take the difference for bias. One model is trained in each round.
    """

    name = "label_bias_weights"
    reference = (
        "Jiang and Nachum (2020), Identifying and correcting label bias in machine learning, AISTATS, "
        "algorithm 1, demographic parity"
    )
    summary = "Weight labels of the deprived group until the model accepts both groups equally often"
    version = "1"
    needs_two_groups = "there are no groups to compare"

    step: Annotated[float, Interval(1e-3, 100)] = 4.0  # change of the multiplier by a violation of 1
    rounds: Annotated[int, Interval(1, 1000)] = 25  # most models that are trained to find the multiplier
    # Violation, as a difference of acceptance rates, at which the search ends.
    tolerance: Annotated[float, Interval(0, 1)] = 0.005

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        own = np.ones(len(train)) if tools.weights is None else tools.weights
        prepared, multiplier = Prepared(train, sample_weight=np.ones(len(train))), 0.0
        for _ in range(self.rounds):
            prepared = self.weighted(train, parity_weights(train, multiplier), tools)
            assert prepared.sample_weight is not None
            rows = Prepared(train, sample_weight=prepared.sample_weight * own, features=prepared.features)
            accepted = self._learned(rows, tools).predict(train)
            group = train.deprived
            violation = np.average(accepted[group], weights=own[group]) - np.average(accepted, weights=own)
            if abs(violation) <= self.tolerance:
                return prepared
            multiplier -= self.step * float(violation)
        return self.weighted(train, parity_weights(train, multiplier), tools)


def parity_weights(train: Table, multiplier: float) -> Array:
    """Return the publication's weights of rows, shape (n_rows,), for a multiplier of the deprived group."""
    favorable = 1 / (1 + np.exp(-multiplier * train.deprived))
    return np.asarray(np.where(train.y, favorable, 1 - favorable))
