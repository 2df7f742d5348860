"""Decisions by both ends of bounds of the true rate."""

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.techniques.base import Array, Predictor, Prepared, Tools
from benchmark.techniques.registry import register
from benchmark.techniques.restoring import Restorer


@register
class RateBounds(Restorer):
    """Decide by both ends of told bounds of the deprived group's true rate, else by their middle.

    Idea: each end of the bounds gives weights as of ``gap_weights``, and these a model. If the true rate is
    within the bounds, the boundary is between the two models' boundaries. Where both agree, the answer
    does not depend on the rate. Where they differ, Chow would rather not decide.

    Changes: weights of three models, of mean 1. A benchmark needs an answer for every row, so a model with
    the weights for the middle of the bounds decides where the ends differ; scores are the median of three.
    Limits: as of weights by a gap, at each end. A learner whose answers jump may agree with itself by chance.
    """

    name = "rate_bounds"
    reference = (
        "Natarajan, Dhillon, Ravikumar and Tewari (2013), Learning with noisy labels, NeurIPS, section 3.2, "
        "at both bounds; Chow (1970), On optimum recognition error and reject tradeoff, IEEE Transactions on "
        "Information Theory 16"
    )
    summary = "Decide by both ends of bounds of the true rate, and by their middle where these differ"
    version = "1"
    knows = ("kind", "bounds")
    takes_weights = False

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return self.by_rates(train, tools, tools.known.kind, sum(tools.known.bounds) / 2)

    def _learned(self, prepared: Prepared, tools: Tools) -> Predictor:
        train = prepared.table
        ends = [self.by_rates(train, tools, tools.known.kind, rate) for rate in tools.known.bounds]
        low, middle, high = (super(RateBounds, self)._learned(p, tools) for p in (ends[0], prepared, ends[1]))
        three = [low, middle, high]

        def predict(test: Table) -> NDArray[np.bool_]:
            of_low = low.predict(test)
            return np.where(of_low == high.predict(test), of_low, middle.predict(test))

        def score(test: Table) -> Array:
            return np.median([m.predict_score(test) for m in three if m.predict_score is not None], axis=0)

        return Predictor(predict, score if middle.predict_score else None)
