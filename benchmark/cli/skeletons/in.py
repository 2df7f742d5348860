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
    r"""Describe in one line the change of the training.

    Idea: why it should work, with the formula. Here least squares on labels 1 and 0, with a penalty of
    ``strength`` times the squared covariance c of group and score: :math:`|X\theta - y|^2 / n + strength\,
    (c^\top\theta)^2`. Changes: the training only. Limits: where it fails, and when it declines a table.
    """

    name = "my_technique"
    stage = "in"
    reference = "Author (year), Title, journal or conference, section or equation"
    summary = "Describe its effect in one line for lists"
    version = "1"  # change it whenever the same input and seed would give another result
    needs_sensitive = False  # for further declarations see benchmark.techniques.Technique
    unconstrained: ClassVar = {"strength": 0.0}  # only for a learner of its own: switches mitigation off

    # Its effect, and the meaning of its ends. Here 0 is plain least squares.
    strength: Annotated[float, Interval(0)] = 1.0

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        # For a learner that takes codes: train.features and test.features hold them, without the label.
        encoding = Encoding.of(train, use_sensitive=False, treatment="categorical")
        X = np.column_stack([np.ones(len(train)), encoding.features(train)])
        covariance = (train.deprived - train.deprived.mean()) @ X / len(train)
        gram = X.T @ X / len(train) + self.strength * np.outer(covariance, covariance)
        theta = np.linalg.solve(gram + 1e-6 * np.eye(len(gram)), train.y @ X / len(train)).astype(float)

        def predict_score(test: Table) -> NDArray[np.float64]:  # test rows come without labels
            return np.clip(encoding.scores(encoding.codes(test), theta), 0.0, 1.0)

        return Predictor(lambda test: predict_score(test) >= 0.5, predict_score)
