"""Constraints on misclassification rates (Zafar et al. 2017)."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from benchmark.errors import NotConvergedError
from benchmark.techniques.base import Array, Convergence, Interval
from benchmark.techniques.constrained_logistic import ConstrainedLogistic, Design, LogisticLoss, minimize
from benchmark.techniques.registry import register

_STEPS = 500  # of the convex-concave procedure, which mostly takes 5 to 100
_CHANGE = 1e-6  # of the loss in the last step
_SMALL_CHANGE = 1e-3  # of loss and penalized cost, where that alone ends the procedure
_VIOLATION = 1e-3  # of a bound
_GAP = 1e-8  # of each step's problem
_HIGHEST_TAU = 1e4  # enough to meet the bounds; more only stiffens the problems
_HINGE = 0.05  # width of the rounded corner of max(0, score)
_CORNER = 1e-4  # width of the rounded corner of max(0, violation)
_NEAR = 0.05  # mean change of the scores after which the loss has another Hessian


@register
class Zafar2017(ConstrainedLogistic):
    r"""Logistic regression whose misclassifications do not covary with the group.

    Idea: the covariance of the group and the distance by which a row is misclassified stands in for the
    difference of the groups' false positive or false negative rates. With :math:`g_i = \min(0, y_i
    \theta^\top x_i)` for the rows of the negative class (``fpr``) or of the positive class (``fnr``) and 0
    for all others, and :math:`N_0, N_1` rows of the deprived and the favored group, it is

    .. math:: \frac1N \Big( \frac{N_0}{N} \sum_{favored} g_i - \frac{N_1}{N} \sum_{deprived} g_i \Big),

    whose absolute value is bounded. Each sum is concave, so the bound is a difference of convex functions:
    disciplined convex-concave programming replaces, time and again, the concave part by its tangent and
    minimizes the loss plus tau times the violations; tau grows by the factor mu each time, up to 10,000. The
    first tangents are taken at the unconstrained optimum.

    Changes: training only. Limits: a local method; with a bound of 0 it moves little once the constraint is
    met, because every tangent touches the constraint where it stands. The covariance weighs misclassified
    rows by their distance, so that equal covariances need not be equal rates. Where a group has no row of the
    constrained class, a bound of 0 asks of the other group to make no mistake at all.

    The corners of min(0, ·) are rounded over a width of 0.05, which makes every problem smooth; each term is
    thereby off by at most 0.00625. The fit has converged when the loss changes by at most 1e-6 from one
    problem to the next and no bound is missed by more than 0.001, which is the residual that is reported.
    The authors' own program ends earlier (``stopping_rule="small_change"``), in the second step at the
    earliest: when loss and penalized cost, the loss plus tau times the violations, both change by at most
    0.001, the larger of which is then the residual. Bounds may be missed by any amount.

    Parameters
    ----------
    constraint : {"fpr", "fnr", "fpr_fnr"}, default "fpr_fnr"
        Rates that are constrained: false positive, false negative, or both.
    threshold : float >= 0, default 0.0
        Bound of the absolute covariance.
    tau : float > 0, default 5.0
        Weight of the violations at first.
    mu : float >= 1, default 1.2
        Factor by which tau grows.
    stopping_rule : {"feasible", "small_change"}, default "feasible"
        Whether the procedure ends where the bounds are met, or as the authors' program does.
    use_sensitive, treatment, positive, ridge
        See :class:`ConstrainedLogistic`. Calling the other label positive exchanges the two rates.
    """

    name = "zafar_2017"
    reference = (
        "Zafar, Valera, Gomez Rodriguez and Gummadi (2017), Fairness beyond disparate treatment & disparate "
        "impact: Learning classification without disparate mistreatment, WWW, section 4. Shen, Diamond, Gu "
        "and Boyd (2016), Disciplined convex-concave programming, CDC: the procedure"
    )
    summary = "Logistic regression with a bounded covariance of group and misclassification"
    version = "1"

    constraint: Literal["fpr", "fnr", "fpr_fnr"] = "fpr_fnr"
    threshold: Annotated[float, Interval(0)] = 0.0
    tau: Annotated[float, Interval(1e-3, 1e5)] = 5.0
    mu: Annotated[float, Interval(1, 10)] = 1.2
    stopping_rule: Literal["feasible", "small_change"] = "feasible"

    def _coefficients(self, design: Design) -> tuple[Array, Convergence]:
        loss, loss_gram = LogisticLoss(design, self.ridge), _LossGram(design)
        theta, _ = minimize(loss, np.zeros_like(design.covariance), what="logistic regression")
        mistakes = tuple(_Mistakes(design, rate) for rate in self.constraint.split("_"))
        tau, value, cost = self.tau, loss.value(theta), np.inf
        for taken in range(_STEPS):
            # Convex-concave step: the concave halves of the constraints are replaced by their tangents.
            tangents = tuple(m.tangents(theta) for m in mistakes)
            problem = _Convexified(loss, mistakes, tangents, self.threshold, tau, loss_gram)
            theta, _ = minimize(problem, theta, gap=_GAP, what="convex-concave step")
            change, value = abs(loss.value(theta) - value), loss.value(theta)
            violation = max(abs(m.covariance(theta)) for m in mistakes) - self.threshold
            if self.stopping_rule == "small_change":
                before, cost = cost, problem.value(theta)
                if (largest := max(change, abs(cost - before))) <= _SMALL_CHANGE:
                    return theta, Convergence(taken + 1, largest, _SMALL_CHANGE)
            elif change <= _CHANGE and violation <= _VIOLATION:
                return theta, Convergence(taken + 1, max(violation, 0.0), _VIOLATION)
            # Penalty: what the slack of the constraints costs grows from step to step.
            tau = min(self.mu * tau, _HIGHEST_TAU)
        if change > _CHANGE:
            raise NotConvergedError("loss of the convex-concave procedure", _STEPS, change, _CHANGE)
        raise NotConvergedError("bound of the convex-concave procedure", _STEPS, violation, _VIOLATION)


class _Mistakes:
    """The two convex sums whose difference is the covariance of group and misclassification.

    Rows of the negative class count for the rate ``fpr``, those of the positive class for ``fnr``.
    """

    def __init__(self, design: Design, rate: str) -> None:
        self.design = design
        self.sign = 1.0 if rate == "fpr" else -1.0  # of the scores that misclassify
        members = design.weight.sum(axis=(0, 2))
        # Weight of a row in the favored's and in the deprived's sum, shape (2, n_distinct).
        self.weight = np.ascontiguousarray(design.weight[:, :, int(rate == "fnr")].T) * members[::-1, None]

    def sums(self, scores: Array) -> Array:
        """Return the favored's and the deprived's sum of distances, shape (2,)."""
        return np.asarray(self.weight @ _rounded(self.sign * scores, _HINGE))

    def covariance(self, theta: Array) -> float:
        """Return the covariance: the deprived's sum less the favored's."""
        favored, deprived = self.sums(self.design.scores(theta))
        return float(deprived - favored)

    def row_slopes(self, scores: Array) -> Array:
        """Return the derivatives of both sums by each score, shape (2, n_distinct)."""
        return np.asarray(self.weight * (self.sign * _rounded_slope(self.sign * scores, _HINGE)))

    def gradients(self, scores: Array) -> Array:
        """Return the gradients of both sums by the coefficients, shape (2, n_features)."""
        return self.design.moments(self.row_slopes(scores).T).T

    def tangents(self, theta: Array) -> tuple[Array, Array]:
        """Return offsets, shape (2,), and gradients, shape (2, n_features), of the sums' tangents."""
        scores = self.design.scores(theta)
        gradients = self.gradients(scores)
        return self.sums(scores) - gradients @ theta, gradients


class _LossGram:
    """The loss's share of the Hessian, which is costly: it is computed anew only where it has changed."""

    def __init__(self, design: Design) -> None:
        self.design, self.weight = design, design.weight.sum(axis=(1, 2))
        self.scores = np.full(len(self.weight), np.inf)
        self.gram = np.empty(0)

    def at(self, scores: Array, curvature: Array) -> Array:
        """Return the Gram matrix, shape (n_features, n_features), of these scores or of scores near them."""
        if self.weight @ np.abs(scores - self.scores) > _NEAR:
            self.scores, self.gram = scores, self.design.gram(curvature)
        return self.gram


@dataclass(frozen=True, eq=False)
class _Convexified:
    """The loss plus tau times the violations, in which each subtracted sum is replaced by its tangent."""

    loss: LogisticLoss
    mistakes: tuple[_Mistakes, ...]
    tangents: tuple[tuple[Array, Array], ...]
    threshold: float  # bound of the covariances
    tau: float
    loss_gram: _LossGram  # shared by the problems of one fit

    def _violations(self, m: _Mistakes, tangent: tuple[Array, Array], scores: Array, theta: Array) -> Array:
        offsets, gradients = tangent
        # Each sum less the tangent of the other: an upper bound of the covariance and of its negative.
        return m.sums(scores) - (offsets + gradients @ theta)[::-1] - self.threshold

    def value(self, theta: Array) -> float:
        """Return the value at ``theta``."""
        scores = self.loss.design.scores(theta)
        penalty = sum(
            _rounded(self._violations(m, tangent, scores, theta), _CORNER).sum()
            for m, tangent in zip(self.mistakes, self.tangents, strict=True)
        )
        return self.loss.value(theta) + self.tau * float(penalty)

    def expansion(self, theta: Array) -> tuple[Array, Array]:
        """Return gradient and Hessian at ``theta``."""
        design = self.loss.design
        scores = design.scores(theta)
        slope, loss_curvature = self.loss.row_derivatives(scores)
        # One pass over the rows for all gradients: the loss's, and two for each constrained rate.
        slopes = np.vstack([slope, *(m.row_slopes(scores) for m in self.mistakes)])
        gradient, *sums = design.moments(slopes.T).T
        gradient = gradient + self.loss.ridge * theta
        curvature, directions = np.zeros_like(scores), []
        for i, (m, tangent) in enumerate(zip(self.mistakes, self.tangents, strict=True)):
            violations = self._violations(m, tangent, scores, theta)
            force = self.tau * _rounded_slope(violations, _CORNER)
            stiffness = self.tau * _rounded_curvature(violations, _CORNER)
            ascents = np.stack(sums[2 * i : 2 * i + 2]) - tangent[1][::-1]
            gradient += force @ ascents
            curvature += (force @ m.weight) * _rounded_curvature(scores, _HINGE)
            directions.append(np.sqrt(stiffness)[:, None] * ascents)
        stiff = np.vstack(directions)
        hessian = self.loss_gram.at(scores, loss_curvature) + design.gram(curvature) + stiff.T @ stiff
        hessian[np.diag_indices(len(theta))] += self.loss.ridge
        return gradient, hessian


def _rounded(x: Array, width: float) -> Array:
    """Return max(0, x) with the corner rounded by a parabola from -width/2 to width/2."""
    inside = np.clip(x / width + 0.5, 0.0, 1.0)
    return np.asarray(np.maximum(x - width / 2, 0.0) + width / 2 * inside**2)


def _rounded_slope(x: Array, width: float) -> Array:
    return np.asarray(np.clip(x / width + 0.5, 0.0, 1.0))


def _rounded_curvature(x: Array, width: float) -> Array:
    return np.asarray((np.abs(x) < width / 2) / width)
