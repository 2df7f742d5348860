"""Constraints on misclassification rates (Zafar et al. 2017)."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from benchmark.compiling import compiled
from benchmark.errors import NotConvergedError
from benchmark.techniques._search import Search
from benchmark.techniques.base import Array, Convergence, Interval
from benchmark.techniques.constrained_logistic import ConstrainedLogistic, Design, LogisticLoss, unconstrained
from benchmark.techniques.registry import register

_STEPS = 500  # of the convex-concave procedure, which mostly takes 5 to 100
_CHANGE = 1e-6  # of the loss in the last step
_SMALL_CHANGE = 1e-3  # of loss and penalized cost, where that alone ends the procedure
_VIOLATION = 1e-3  # of a bound
_GAP = 1e-8  # of each step's problem
_HIGHEST_TAU = 1e4  # enough to meet the bounds; more only stiffens the problems
_HINGE = 0.05  # width of the rounded corner of max(0, score)
_CORNER = 1e-4  # width of the rounded corner of max(0, violation)
_REACH = 0.3  # largest distance from the boundary at which a row may reach a corner while the model holds
_MOVED = 0.02  # change of the scores up to which the loss is a parabola, to within 1e-8
_LOOSE = 0.1  # share of the gain that a descent leaves while its model may not hold
_ROUNDS = 100  # of models for a problem, and of steps for a model; 1 to 10 suffice


@register
class Zafar2017(ConstrainedLogistic):
    r"""Logistic regression whose misclassifications do not covary with the group.

    Idea: the covariance of the group and a row's distance of misclassification is a proxy. It stands for the
    difference of the groups' false positive or false negative rates. Let
    :math:`g_i = \min(0, y_i \theta^\top x_i)` for the rows of the negative class (``fpr``) or of the positive
    class (``fnr``), and 0 for all others. With :math:`N_0, N_1` rows of the deprived and the favored group,
    the covariance is

    .. math:: \frac1N \Big( \frac{N_0}{N} \sum_{favored} g_i - \frac{N_1}{N} \sum_{deprived} g_i \Big),

    whose absolute value is bounded. Each sum is concave, so the bound is a difference of convex functions.
    Each step of disciplined convex-concave programming replaces the concave part by its tangent and minimizes
    the loss plus tau times the violations. Then tau grows by the factor mu, up to 10,000. The first tangents
    are taken at the unconstrained optimum.

    Changes: training only. Limits: a local method. With a bound of 0 it moves little once the constraint is
    met, because every tangent touches the constraint at the current point. The covariance weighs
    misclassified rows by their distance, so equal covariances need not be equal rates. Where a group has no
    row of the constrained class, a bound of 0 allows the other group no mistake at all. The other label as
    positive class exchanges the two rates.

    The corners of min(0, ·) are rounded over a width of 0.05, which makes every problem smooth and changes
    each term by at most 0.00625. The fit has converged when the loss changes by at most 1e-6 in a step and no
    bound is missed by more than 0.001. The residual is the largest miss. The authors' program ends earlier
    (``stopping_rule="small_change"``), but not in the first step: when loss and penalized cost both change by
    at most 0.001. The penalized cost is the loss plus tau times the violations. The residual is then the
    larger change, and bounds may be missed by any amount.
    """

    name = "zafar_2017"
    reference = (
        "Zafar, Valera, Gomez Rodriguez and Gummadi (2017), Fairness beyond disparate treatment & disparate "
        "impact: Learning classification without disparate mistreatment, WWW, section 4. Shen, Diamond, Gu "
        "and Boyd (2016), Disciplined convex-concave programming, CDC: the procedure"
    )
    summary = "Logistic regression with a bounded covariance of group and misclassification"
    version = "2"
    intersections = True

    unconstrained: ClassVar = {
        **{"constraint": "none", "threshold": 0.0, "tau": 5.0, "mu": 1.2},
        **{"stopping_rule": "feasible", "positive": "favorable"},
    }

    # Constrained rates: false positive, false negative, both, or none.
    constraint: Literal["fpr", "fnr", "fpr_fnr", "none"] = "fpr_fnr"
    threshold: Annotated[float, Interval(0)] = 0.0  # bound of the absolute covariance
    tau: Annotated[float, Interval(1e-3, 1e5)] = 5.0  # first weight of the violations
    mu: Annotated[float, Interval(1, 10)] = 1.2  # growth factor of tau
    # Whether the procedure ends when the bounds are met, or like the authors' program.
    stopping_rule: Literal["feasible", "small_change"] = "feasible"

    search_space = (Search("threshold", 1e-4, 0.3, log=True),)

    def _coefficients(self, design: Design) -> tuple[Array, Convergence]:
        loss = LogisticLoss(design, self.ridge)
        theta, convergence = unconstrained(design, self.ridge)
        if self.constraint == "none":
            return theta, convergence
        mistakes = _Mistakes(design, self.constraint.split("_"))
        model = _Model(loss, mistakes, theta)
        point, value = model.at(theta), model.loss_at(theta)
        tau, cost, force = self.tau, np.inf, np.zeros(len(mistakes.sign))
        for taken in range(_STEPS):
            # Convex-concave step: tangents replace the concave halves of the constraints.
            problem = _Convexified(loss, mistakes, point, self.threshold, tau)
            point, force, model = _solved(problem, force, model)
            before, value = value, model.loss_at(point.theta)
            change = abs(value - before)
            violation = float(np.abs(point.sums - point.sums[mistakes.other]).max()) - self.threshold
            if self.stopping_rule == "small_change":
                earlier, cost = cost, value + problem.penalty(problem.violations(point.sums, point.theta))
                if (largest := max(change, abs(cost - earlier))) <= _SMALL_CHANGE:
                    return point.theta, Convergence(taken + 1, largest, _SMALL_CHANGE)
            elif change <= _CHANGE and violation <= _VIOLATION:
                return point.theta, Convergence(taken + 1, max(violation, 0.0), _VIOLATION)
            # Penalty: the weight of violations grows from step to step.
            tau = min(self.mu * tau, _HIGHEST_TAU)
        if change > _CHANGE:
            raise NotConvergedError("loss of the convex-concave procedure", _STEPS, change, _CHANGE)
        raise NotConvergedError("bound of the convex-concave procedure", _STEPS, violation, _VIOLATION)


class _Mistakes:
    """The convex sums whose differences are the covariances of group and misclassification.

    Each constrained rate has two: of the favored and then of the deprived. Rows of the negative class count
    for the rate ``fpr``, rows of the positive class for ``fnr``.
    """

    def __init__(self, design: Design, rates: list[str]) -> None:
        self.sign = np.repeat([1.0 if rate == "fpr" else -1.0 for rate in rates], 2)  # sign of wrong scores
        self.other = np.arange(len(self.sign)) ^ 1  # the sum that is subtracted from each
        members = design.weight.sum(axis=(0, 2))
        # Weight of each row in each sum, shape (n_sums, n_distinct).
        by_rate = [design.weight[:, :, int(rate == "fnr")].T * members[::-1, None] for rate in rates]
        self.weight = np.vstack(by_rate)
        self.counts = self.weight.any(axis=0)  # rows with any weight

    def sums(self, scores: Array) -> Array:
        """Return the sums of the distances by which rows are misclassified, shape (n_sums,)."""
        return np.asarray(compiled(_hinges)(scores, self.weight, self.sign))


@dataclass(frozen=True, eq=False)
class _Point:
    """Coefficients, and a model's values at them."""

    theta: Array
    scores: Array  # of the model's near rows, shape (n_near,)
    sums: Array  # of the mistakes, shape (n_sums,)
    gradients: Array  # of the sums, shape (n_sums, n_features)


class _Model:
    """A model near a point: the loss as a parabola, and the sums exact while far rows keep their sides.

    Rows near the boundary, where the corners are, enter the sums one by one. The share of far rows is linear
    as long as they keep their sides.
    """

    def __init__(self, loss: LogisticLoss, mistakes: _Mistakes, center: Array) -> None:
        design = self.design = loss.design
        self.mistakes, self.center, self.everyone = mistakes, center, loss.weight
        self.value = loss.value(center)
        _, self.scores, slope, curvature = loss.at(center)
        close = np.abs(self.scores) <= _REACH
        near, self.far = np.flatnonzero(mistakes.counts & close), np.flatnonzero(mistakes.counts & ~close)
        self.tree, self.weight = design.tree.take(near), np.ascontiguousarray(mistakes.weight[:, near])
        # One pass over the rows for all gradients: of the loss, and of the far rows' share of the sums.
        slopes = np.zeros((len(slope), 1 + len(mistakes.sign)))
        slopes[:, 0] = slope
        far_weight = np.ascontiguousarray(mistakes.weight[:, self.far])
        slopes[self.far, 1:] = compiled(_hinge_slopes)(self.scores[self.far], far_weight, mistakes.sign)
        gradients = design.moments(slopes).T
        self.gradient, self.linear = gradients[0] + loss.ridge * center, gradients[1:]
        self.hessian = design.gram(curvature)
        self.hessian[np.diag_indices(len(center))] += loss.ridge

    def loss_at(self, theta: Array) -> float:
        """Return the loss."""
        away = theta - self.center
        return float(self.value + away @ (self.gradient + self.hessian @ away / 2))

    def near_scores(self, theta: Array) -> Array:
        """Return the scores of the near rows, shape (n_near,)."""
        return self.tree.scores(self.design.encoding.matrix @ theta)

    def at(self, theta: Array, scores: Array | None = None) -> _Point:
        """Return the point of some coefficients; ``scores`` of the near rows are computed if left out."""
        scores = self.near_scores(theta) if scores is None else scores
        sums = self.linear @ theta + compiled(_hinges)(scores, self.weight, self.mistakes.sign)
        slopes = compiled(_hinge_slopes)(scores, self.weight, self.mistakes.sign)
        return _Point(theta, scores, sums, self.linear + self.design.moments(slopes, self.tree).T)

    def curvature(self, scores: Array, force: Array) -> Array:
        """Return the Hessian of the loss plus the sums, each times its force."""
        weight = (force @ self.weight) * (np.abs(scores) < _HINGE / 2) / _HINGE
        return np.asarray(self.hessian + self.design.gram(weight, self.tree))

    def holds(self, theta: Array) -> bool:
        """Return whether the model is nearly exact at some coefficients."""
        scores = self.design.scores(theta)
        square = np.square(scores - self.scores)
        ends = np.copysign(scores, scores * self.scores)[self.far]  # negative after a change of sides
        return bool(self.everyone @ (square * square) <= _MOVED**4 and (ends > _HINGE / 2).all())


@dataclass(frozen=True, eq=False)
class _Convexified:
    """The loss plus tau times the violations, with tangents in place of the subtracted sums."""

    loss: LogisticLoss
    mistakes: _Mistakes
    start: _Point  # point of the tangents
    threshold: float  # bound of the covariances
    tau: float

    def violations(self, sums: Array, theta: Array) -> Array:
        """Return each sum less its counterpart's tangent and the threshold, shape (n_sums,)."""
        tangents = self.start.sums + self.start.gradients @ (theta - self.start.theta)
        return np.asarray(sums - tangents[self.mistakes.other] - self.threshold)

    def penalty(self, violations: Array) -> float:
        """Return the cost of violations, shape (n_sums,)."""
        return self.tau * float(_rounded(violations, _CORNER).sum())

    def value(self, theta: Array) -> float:
        """Return the value at ``theta``."""
        sums = self.mistakes.sums(self.loss.at(theta)[1])
        return self.loss.value(theta) + self.penalty(self.violations(sums, theta))


def _solved(problem: _Convexified, force: Array, model: _Model) -> tuple[_Point, Array, _Model]:
    """Return a problem's minimum, the forces of the violations there, and a model that holds there.

    The search starts at the point of the tangents, where ``model`` holds, with a first guess of the forces.
    """
    point, share = problem.start, _LOOSE
    for _ in range(_ROUNDS):
        end, force, promised, lower = _descended(problem, point, force, model, share)
        if model.holds(end.theta):
            if promised <= _GAP:
                return end, force, model
            point, share = end, 0.0  # the minimum is near: descend to the end
            continue
        # Backtracking line search, with all rows, toward a minimum where the model does not hold.
        before, length, theta = problem.value(point.theta), 1.0, end.theta
        while problem.value(theta) > before - 1e-4 * length * lower + _GAP / 10:
            length /= 2
            theta = point.theta + length * (end.theta - point.theta)
            if length < 1e-10:
                raise NotConvergedError("convex-concave step", _ROUNDS, lower, _GAP)
        model = _Model(problem.loss, problem.mistakes, theta)
        point = model.at(theta)
    raise NotConvergedError("convex-concave step", _ROUNDS, lower, _GAP)


def _descended(
    problem: _Convexified, point: _Point, force: Array, model: _Model, share: float
) -> tuple[_Point, Array, float, float]:
    """Return the end of a descent in a model, the forces there, the last step's promise, and the gain.

    The descent ends when a step promises less than a ``share`` of the gain so far.
    """
    sign = model.mistakes.sign
    tangents = problem.start.gradients[problem.mistakes.other]
    violations = problem.violations(point.sums, point.theta)
    first = value = model.loss_at(point.theta) + problem.penalty(violations)
    for _ in range(_ROUNDS):
        # Composite Newton step: parabolas replace the loss and the hinges, but not the penalty.
        theta, scores = point.theta, point.scores
        gradient = model.gradient + model.hessian @ (theta - model.center)
        hessian, ascents = model.curvature(scores, force), point.gradients - tangents
        step, force, promised = _composite_step(gradient, hessian, violations, ascents, problem.tau)
        # Line search: the value is convex, and only the near rows' scores change the sums nonlinearly.
        along, length = model.near_scores(step), 1.0
        if promised > _GAP:
            length = compiled(_step_length)(
                np.array([gradient @ step, step @ model.hessian @ step]),
                violations - compiled(_hinges)(scores, model.weight, sign),
                (model.linear - tangents) @ step,
                *(scores, along, model.weight, sign),
                *(problem.tau, 1e-4 * promised, 1e-14 * (1 + abs(value))),
            )
            if length == 0.0:
                raise NotConvergedError("convex-concave step", _ROUNDS, promised, _GAP)
        point = model.at(theta + length * step, scores + length * along)
        violations = problem.violations(point.sums, point.theta)
        value = model.loss_at(point.theta) + problem.penalty(violations)
        if promised <= max(_GAP, share * (first - value)):
            return point, force, promised, first - value
    raise NotConvergedError("convex-concave step", _ROUNDS, promised, _GAP)


def _composite_step(
    gradient: Array, hessian: Array, violations: Array, ascents: Array, tau: float
) -> tuple[Array, Array, float]:
    """Return the step to the minimum of a parabola plus tau times the rounded, linear violations.

    The step has shape (n_features,). Also returned are the force of each violation after the step (the
    penalty's derivative by the violation), and the decrease of the model.
    """
    solved = np.linalg.solve(hessian, np.vstack([gradient, ascents]).T).T
    newton, along = solved[0], solved[1:]
    matrix = ascents @ along.T
    matrix[np.diag_indices(len(matrix))] += _CORNER / tau
    force = compiled(_forces)(matrix, violations - ascents @ newton + _CORNER / 2, tau)
    step = -newton - force @ along
    after = violations + ascents @ step
    lower = tau * (_rounded(violations, _CORNER) - _rounded(after, _CORNER)).sum()
    return step, force, float(lower - gradient @ step - step @ hessian @ step / 2)


def _forces(matrix: Array, offsets: Array, highest: float) -> Array:
    # Minimize f·matrix·f / 2 - offsets·f over 0 <= f <= highest, for two or four f. Each case puts some f at
    # a bound and the gradient of the others at 0. The result is the best case within the bounds.
    m = len(offsets)
    best, least = np.zeros(m), np.inf
    force, system, between = np.zeros(m), np.zeros((m, m + 1)), np.zeros(m, dtype=np.intp)
    for case in range(3**m):
        n, rest = 0, case
        for i in range(m):
            force[i] = highest if rest % 3 == 1 else 0.0
            if rest % 3 == 2:
                between[n] = i
                n += 1
            rest //= 3
        for i in range(n):
            system[i, n] = offsets[between[i]] - matrix[between[i]] @ force
            for j in range(n):
                system[i, j] = matrix[between[i], between[j]]
        # Elimination, without pivots because the matrix is positive definite.
        for i in range(n):
            for j in range(i + 1, n):
                factor = system[j, i] / system[i, i]
                for k in range(i, n + 1):
                    system[j, k] -= factor * system[i, k]
        inside = True
        for i in range(n - 1, -1, -1):
            root = system[i, n]
            for j in range(i + 1, n):
                root -= system[i, j] * force[between[j]]
            root /= system[i, i]
            inside = inside and -1e-9 * highest <= root <= (1 + 1e-9) * highest
            force[between[i]] = min(max(root, 0.0), highest)
        value = float(force @ (matrix @ force / 2 - offsets))
        if inside and value < least:
            least = value
            best[:] = force
    return best


def _hinges(scores: Array, weight: Array, sign: Array) -> Array:
    sums = np.zeros(len(sign))
    for k in range(0, len(sign), 2):  # the two sums of a rate have one sign
        for row in range(len(scores)):
            wrong = sign[k] * scores[row]
            inside = wrong * (1 / _HINGE) + 0.5
            if inside > 0.0:
                distance = wrong if inside >= 1.0 else _HINGE / 2 * inside * inside
                sums[k] += weight[k, row] * distance
                sums[k + 1] += weight[k + 1, row] * distance
    return sums


def _hinge_slopes(scores: Array, weight: Array, sign: Array) -> Array:
    slopes = np.zeros((len(scores), len(sign)))
    for row in range(len(scores)):
        for k in range(0, len(sign), 2):
            inside = sign[k] * scores[row] * (1 / _HINGE) + 0.5
            if inside > 0.0:
                slope = sign[k] * min(inside, 1.0)
                slopes[row, k] = weight[k, row] * slope
                slopes[row, k + 1] = weight[k + 1, row] * slope
    return slopes


def _step_length(
    parabola: Array,
    start: Array,
    linear: Array,
    scores: Array,
    along: Array,
    weight: Array,
    sign: Array,
    tau: float,
    decrease: float,
    noise: float,
) -> float:
    # Return the length, at most 1, of slope near 0, by secants within a bracket; 0 if there is none. The loss
    # changes by a parabola (slope, curvature); violations are start + length * linear + hinges.
    low, high, low_slope, high_slope, length = 0.0, 1.0, 0.0, 0.0, 0.0
    first, first_slope = 0.0, 0.0
    sums, slopes = np.zeros(len(sign)), np.zeros(len(sign))
    for trial in range(40):
        sums[:], slopes[:] = start + length * linear, linear
        for k in range(0, len(sign), 2):
            for row in range(len(scores)):
                wrong = sign[k] * (scores[row] + length * along[row])
                inside = wrong * (1 / _HINGE) + 0.5
                if inside > 0.0:
                    distance = wrong if inside >= 1.0 else _HINGE / 2 * inside * inside
                    slope = sign[k] * along[row] * min(inside, 1.0)
                    for i in range(k, k + 2):
                        sums[i] += weight[i, row] * distance
                        slopes[i] += weight[i, row] * slope
        value, slope = length * (parabola[0] + length * parabola[1] / 2), parabola[0] + length * parabola[1]
        for i in range(len(sign)):
            inside = sums[i] * (1 / _CORNER) + 0.5
            if inside > 0.0:
                value += tau * (sums[i] if inside >= 1.0 else _CORNER / 2 * inside * inside)
                slope += tau * slopes[i] * min(inside, 1.0)
        if trial == 0:
            first, first_slope, low_slope, length = value, slope, slope, 1.0
            continue
        lower, flat = value <= first - decrease * length + noise, slope <= -0.1 * first_slope
        if lower and flat and (length == 1.0 or slope >= 0.1 * first_slope or trial > 8):
            return length
        if slope > 0.0:
            high, high_slope = length, slope
        else:
            low, low_slope = length, slope
        secant = high - high_slope * (high - low) / (high_slope - low_slope)
        length = min(max(secant, low + 0.1 * (high - low)), high - 0.1 * (high - low))
    return 0.0


def _rounded(x: Array, width: float) -> Array:
    """Return max(0, x) with the corner rounded by a parabola from -width/2 to width/2."""
    inside = np.clip(x / width + 0.5, 0.0, 1.0)
    return np.asarray(np.maximum(x - width / 2, 0.0) + width / 2 * inside**2)
