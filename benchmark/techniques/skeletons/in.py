"""my_technique (author and year)."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmark.data import Table
from benchmark.techniques import Interval, Predictor, Technique, Tools, register
from benchmark.techniques.encoding import Encoding


@register
class MyTechnique(Technique):
    r"""Say in one line what it does while it trains.

    Idea: why it should work, with the formula. Here least squares, the label counting 1 or 0, with a penalty
    of ``strength`` times the squared covariance c of group and score: :math:`|X\theta - y|^2 / n + strength\,
    (c^\top\theta)^2`. Changes: the training only. Limits: where it fails, and when it declines a table.

    Parameters
    ----------
    strength : float >= 0, default 1.0
        What it does, and what its ends mean. Here 0 is plain least squares.
    """

    name = "my_technique"
    stage = "in"
    reference = "Author (year), Title, journal or conference, section or equation"
    summary = "What it does, in one line for lists"
    version = "1"  # a new one whenever the same input and seed would give another result
    needs_sensitive = False  # what else can be declared: see benchmark.techniques.Technique
    unconstrained: ClassVar = {"strength": 0.0}  # only of a learner of its own: without mitigation it is this

    strength: Annotated[float, Interval(0)] = 1.0

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        # What takes codes as they are is given train.features and test.features, which hold no label.
        encoding = Encoding.of(train, use_sensitive=False, treatment="categorical")
        X = np.column_stack([np.ones(len(train)), encoding.features(train)])
        covariance = (train.deprived - train.deprived.mean()) @ X / len(train)
        gram = X.T @ X / len(train) + self.strength * np.outer(covariance, covariance)
        theta = np.linalg.solve(gram + 1e-6 * np.eye(len(gram)), train.y @ X / len(train)).astype(float)

        def predict_score(test: Table) -> NDArray[np.float64]:  # test rows come with their labels hidden
            return np.clip(encoding.scores(encoding.codes(test), theta), 0.0, 1.0)

        return Predictor(lambda test: predict_score(test) >= 0.5, predict_score)
