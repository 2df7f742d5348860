"""Logistic regression with the prejudice remover regularizer (Kamishima et al. 2012)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np

from benchmark.data.table import Table
from benchmark.techniques._search import Search
from benchmark.techniques.base import Array, Convergence, Interval, Predictor, Technique, Tools
from benchmark.techniques.constrained_logistic import Design, minimize, sigmoid
from benchmark.techniques.encoding import Encoding, Treatment
from benchmark.techniques.registry import register

_TINY = 1e-300  # stands for a rate of 0 in logarithms


@register
class PrejudiceRemover(Technique):
    r"""Logistic regression that pays for the mutual information of prediction and group.

    Idea: the deprived group and everyone else have separate coefficients. Eta times the prejudice index is
    added to the loss: the mutual information of the predicted class and the group s in nats,

    .. math:: \sum_s P(s) \sum_y \hat P(y \mid s) \ln \frac{\hat P(y \mid s)}{\hat P(y)},

    where :math:`\hat P(y \mid s)` is the mean predicted probability over the group's training rows and
    :math:`\hat P(y)` the mean over all rows. All terms are means per row, so eta weighs them as in the paper.

    Changes: training only. Limits: the index sees probabilities, not decisions. Groups of the same mean
    probability may still differ in how often it exceeds one half. The index is not convex; the result is the
    local optimum that descent reaches from the optimum without the index. Convergence is reported in Newton
    steps and half the squared Newton decrement.
    """

    name = "prejudice_remover"
    stage = "in"
    reference = (
        "Kamishima, Akaho, Asoh and Sakuma (2012), Fairness-aware classifier with prejudice remover "
        "regularizer, ECML PKDD"
    )
    summary = "Logistic regression per group, penalized for the information of prediction and group"
    needs_two_groups = "nothing depends on the group"
    version = "2"
    intersections = True
    unconstrained: ClassVar = {"eta": 0.0}

    # Weight of the prejudice index beside the mean logistic loss.
    eta: Annotated[float, Interval(0, 1000)] = 1.0
    # Columns that enter as one number, the position of the state: none, the schema's ordered columns, or all.
    # The sensitive feature is in neither group's model.
    treatment: Treatment = "categorical"
    # Weight of half the squared norm of all coefficients, the intercepts included, beside the mean loss per
    # row.
    ridge: Annotated[float, Interval(1e-9, 1.0)] = 1e-6

    search_space = (Search("eta", 0.01, 100.0, log=True),)

    def skip(self, train: Table) -> str | None:
        """Decline a table with one group only, or with no feature but the sensitive one."""
        reason = super().skip(train)
        if reason is not None:
            return reason
        if len(train.schema.feature_indices) == 1:
            return "the sensitive feature is the only one"
        return None

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        encoding = Encoding.of(train, use_sensitive=False, treatment=self.treatment)
        groups = [train.take(train.deprived == deprived) for deprived in (False, True)]
        designs = [Design.of(group, encoding, group.y) for group in groups]
        coefficients, convergence = self._coefficients(designs, np.array([*map(len, groups)]) / len(train))

        def scores(test: Table) -> Array:
            codes = encoding.codes(test)
            favored, deprived = (encoding.scores(codes, theta) for theta in coefficients)
            return np.where(test.deprived, deprived, favored)

        return Predictor(lambda test: scores(test) > 0, lambda test: sigmoid(scores(test)), convergence)

    def _coefficients(self, designs: list[Design], shares: Array) -> tuple[Array, Convergence]:
        """Return the coefficients of the favored and of the deprived, shape (2, n_features)."""
        start = np.zeros(2 * designs[0].encoding.matrix.shape[1])
        plain = RegularizedLoss(designs, shares, 0.0, self.ridge)
        theta, convergence = minimize(plain, start, problem="logistic regression")
        if self.eta > 0:
            loss, gap = RegularizedLoss(designs, shares, self.eta, self.ridge), 1e-13 * (1 + self.eta)
            # Rounding of the index grows with its weight, and so does the gap.
            theta, convergence = minimize(loss, theta, gap=gap, problem="prejudice remover")
        return theta.reshape(2, -1), convergence


@dataclass(frozen=True, eq=False)
class RegularizedLoss:
    """Mean logistic loss plus eta times the prejudice index plus a ridge.

    ``theta`` has the coefficients of the favored and then of the deprived, shape (2 n_features,).
    """

    designs: list[Design]  # training rows of the favored and of the deprived
    shares: Array  # the groups' shares of all rows, shape (2,)
    eta: float  # weight of the prejudice index
    ridge: float  # weight of half the squared norm of the coefficients

    def value(self, theta: Array) -> float:
        """Return the value at ``theta``."""
        scores = self._scores(theta)
        losses = [
            negative @ np.logaddexp(0.0, s) + positive @ np.logaddexp(0.0, -s)
            for (negative, positive), s in zip(self._weights, scores, strict=True)
        ]
        rates = self._rates(scores)
        index = self.shares @ (rates * self._log_ratios(rates)).sum(axis=1)
        return float(self.shares @ losses + self.eta * index + self.ridge / 2 * (theta @ theta))

    def expansion(self, theta: Array) -> tuple[Array, Array]:
        """Return the gradient, and a positive definite Hessian without the negative curvature of rows."""
        scores = self._scores(theta)
        rates = self._rates(scores)
        n = len(theta) // 2
        gradient, hessian = self.ridge * theta, self.ridge * np.eye(2 * n)
        by_theta = np.zeros((2, 2 * n))  # derivatives of each group's rate of favorable predictions
        # Derivatives of eta times the index by the two rates, as a multiple of the shares.
        forces = self.eta * self._log_ratios(rates) @ [-1.0, 1.0]
        for s, design in enumerate(self.designs):
            block = slice(s * n, (s + 1) * n)
            (negative, positive), probability = self._weights[s], sigmoid(scores[s])
            weight = negative + positive
            spread = weight * probability * (1 - probability)
            slope = weight * probability - positive + forces[s] * spread
            curvature = spread * (1 + forces[s] * (1 - 2 * probability))
            moments = design.moments(np.column_stack([slope, spread]))
            gradient[block] += self.shares[s] * moments[:, 0]
            by_theta[s, block] = moments[:, 1]
            hessian[block, block] += self.shares[s] * design.gram(np.maximum(curvature, 0.0))
        # As a function of the two rates the index is convex.
        variance, total = rates.prod(axis=1), (self.shares @ rates).prod()
        by_rates = np.diag(self.shares / np.maximum(variance, _TINY))
        by_rates -= np.outer(self.shares, self.shares) / np.maximum(total, _TINY)
        return gradient, hessian + self.eta * by_theta.T @ by_rates @ by_theta

    @cached_property
    def _weights(self) -> list[Array]:
        """Share of each group's rows by class, each shape (2, n_distinct)."""
        return [np.ascontiguousarray(design.weight.sum(axis=1).T) for design in self.designs]

    def _scores(self, theta: Array) -> list[Array]:
        """Return the scores of each group's distinct rows, each shape (n_distinct,)."""
        return [d.scores(part) for d, part in zip(self.designs, theta.reshape(2, -1), strict=True)]

    def _rates(self, scores: list[Array]) -> Array:
        """Return each group's mean probability of either class, shape (2, 2)."""
        pairs = zip([w.sum(axis=0) for w in self._weights], scores, strict=True)
        return np.array([[weight @ sigmoid(-s), weight @ sigmoid(s)] for weight, s in pairs])

    def _log_ratios(self, rates: Array) -> Array:
        """Return the logarithm of each group's rates over the rates of all, shape (2, 2)."""
        return np.asarray(np.log(np.maximum(rates, _TINY)) - np.log(np.maximum(self.shares @ rates, _TINY)))
