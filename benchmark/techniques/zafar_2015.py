"""Fairness constraints on the decision boundary (Zafar et al. 2015)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import NotConvergedError
from benchmark.techniques._search import Search
from benchmark.techniques.base import Array, Convergence, Interval
from benchmark.techniques.constrained_logistic import (
    ConstrainedLogistic,
    Design,
    LogisticLoss,
    minimize,
    moved_to,
    unconstrained,
)
from benchmark.techniques.registry import register

_EQUAL = 1e-9  # covariances that differ by less are equal
_ON_BOUND = 1e-6  # share by which the loss may miss its bound
_ROOT = 1e-12  # tolerance of the root of the loss's gain on its path to the bound
_POINTS = 60  # of a path; 4 to 10 suffice
_SLACK = 1e-9  # a row's score may miss its bound by this much
_MARGIN = 1e-4  # distance to the boundary that keeps a guarded row on its side in spite of the slack
_CUTS = 100  # bounds that join the working set in a round
_ROUNDS = 200  # of the working set; 5 to 30 suffice


@register
class Zafar2015(ConstrainedLogistic):
    r"""Logistic regression whose distance to the boundary does not covary with the group.

    Idea: a covariance stands for the difference of the groups' rates of positive predictions, and unlike it
    is linear in :math:`\theta`. It is :math:`\frac1n\sum_i (z_i - \bar z)\,\theta^\top x_i`, of the group z
    (1 for the favored, 0 for the deprived) and the signed distance to the boundary. With L the mean logistic
    loss and :math:`\theta^*` its minimum:

    - ``fairness``: the smallest L for which :math:`|\mathrm{cov}| \le` ``threshold``;
    - ``accuracy``: the smallest :math:`|\mathrm{cov}|` for which
      :math:`L(\theta) \le (1 + \gamma) L(\theta^*)`;
    - ``misclassification``: the smallest :math:`|\mathrm{cov}|` under a bound for each row. Members of the
      favored group whom :math:`\theta^*` predicts positive stay positive. The loss of everyone else stays
      within :math:`(1 + \gamma)` times the loss at :math:`\theta^*`;
    - ``none``: :math:`\theta^*`, without a constraint.

    The second and the third problem may have several equally fair solutions, often infinitely many with
    covariance 0. The result is the solution whose coefficients are nearest to :math:`\theta^*` in Euclidean
    distance.

    Convergence is reported in steps and a residual. For ``fairness`` these are Newton steps and the distance
    of the loss from its minimum. For ``accuracy`` they are points of a path and the share by which the loss
    misses its bound. For ``misclassification`` they are rounds of the working set and the distance by which a
    score misses its bound.

    Changes: training only. Limits: a covariance of 0 does not make the rates of positive predictions equal;
    it fails where the groups' distances are distributed in different shapes. Only ``misclassification``
    depends on which label is positive.
    """

    name = "zafar_2015"
    reference = (
        "Zafar, Valera, Gomez Rodriguez and Gummadi (2015), Fairness constraints: Mechanisms for fair "
        "classification, arXiv:1507.05259, equation 2 and section 3"
    )
    summary = "Logistic regression with a bounded covariance of group and distance to the boundary"
    version = "3"
    intersections = True

    unconstrained: ClassVar = {"constraint": "none", "threshold": 0.0, "gamma": 0.5, "positive": "favorable"}

    # The problem, see above.
    constraint: Literal["fairness", "accuracy", "misclassification", "none"] = "fairness"
    threshold: Annotated[float, Interval(0)] = 0.0  # bound of the covariance, for ``fairness``
    # Share by which the loss may exceed its minimum, for ``accuracy`` and ``misclassification``. For the
    # latter the published experiments used 1000.
    gamma: Annotated[float, Interval(0)] = 0.5

    search_space = (
        Search("threshold", 1e-4, 0.3, log=True, where=("constraint", "fairness")),
        Search("gamma", 1e-3, 1.0, log=True, where=("constraint", "accuracy")),
    )

    def _coefficients(self, design: Design) -> tuple[Array, Convergence]:
        loss = LogisticLoss(design, self.ridge)
        free, convergence = unconstrained(design, self.ridge)
        if self.constraint == "none":
            return free, convergence
        covariance = float(design.covariance @ free)
        limit = self.threshold if self.constraint == "fairness" else 0.0
        if abs(covariance) <= limit + _EQUAL:
            return free, convergence
        # The covariance is bounded: the optimum lies on the bound.
        if self.constraint == "fairness":
            return _best_at(loss, float(np.copysign(limit, covariance)), free)
        if self.constraint == "accuracy":
            return _fairest_within(loss, free, self.gamma)
        return _fairest_for_each(design, free, self.gamma)


def _best_at(loss: LogisticLoss, level: float, start: Array) -> tuple[Array, Convergence]:
    """Return the coefficients of least loss with a given covariance, and the convergence."""
    normal = loss.design.covariance
    return minimize(loss, moved_to(start, normal, level), normal=normal, problem="fairness constraint")


def _fairest_within(loss: LogisticLoss, free: Array, gamma: float) -> tuple[Array, Convergence]:
    """Return the coefficients of least covariance, then nearest to ``free``, under a bound of the loss."""
    normal, lowest = loss.design.covariance, loss.value(free)
    bound = (1 + gamma) * lowest
    if bound <= lowest:
        return free, Convergence(0, 0.0, _ON_BOUND)
    nearest = moved_to(free, normal, 0.0)
    if loss.value(nearest) <= bound:
        return nearest, Convergence(0, 0.0, _ON_BOUND)
    # For a parabolic loss, the root of its gain is linear along the first path. Along the second path, where
    # the pull dominates the curvature, the inverse of the root is linear.
    best, _ = _best_at(loss, 0.0, free)
    least = loss.value(best)
    if least > bound:  # covariance 0 is out of reach: go from free toward its best
        path = _lowered(loss, free, best)
        ends, high, power, base = (free, best), 1.0, 0.5, lowest
    else:  # it is within reach: pull its best toward free
        path = _pulled(loss, free, best)
        ends, high, power, base = (nearest, path(1.0)), np.inf, -0.5, min(least, bound * (1 - 1e-12))

    def missed(theta: Array) -> float:
        return float(max(loss.value(theta) - base, 0.0) ** power - (bound - base) ** power)

    theta, steps = _on_bound(path, missed, (missed(ends[0]), missed(ends[1])), high)
    over = max(loss.value(theta) / bound - 1, 0.0)
    if over > _ON_BOUND:
        raise NotConvergedError("accuracy constraint", steps, over, _ON_BOUND)
    return theta, Convergence(steps, over, _ON_BOUND)


_Path: TypeAlias = Callable[[float], Array]


def _lowered(loss: LogisticLoss, free: Array, best: Array) -> _Path:
    """Return a path of best coefficients, whose covariance at ``free`` is lowered by a share."""
    covariance = float(loss.design.covariance @ free)
    return lambda share: _best_at(loss, (1 - share) * covariance, free + share * (best - free))[0]


def _pulled(loss: LogisticLoss, free: Array, best: Array) -> _Path:
    """Return a path of best coefficients of covariance 0, under a pull of given inverse toward ``free``."""
    normal, last = loss.design.covariance, best

    def path(inverse: float) -> Array:
        nonlocal last  # the best start of the next search
        objective = LogisticLoss(loss.design, loss.ridge, free, 1.0 / inverse)
        last, _ = minimize(objective, last, normal=normal, problem="accuracy constraint")
        return last

    return path


def _on_bound(
    path: _Path, missed: Callable[[Array], float], ends: tuple[float, float], high: float
) -> tuple[Array, int]:
    """Return the root of ``missed`` along a path, by secants within a bracket, and the number of points.

    ``missed`` grows along the path. ``ends`` are its values at 0, which is negative, and at 1.
    """
    low, before, point = 0.0, (0.0, ends[0]), (1.0, ends[1])
    for taken in range(1, _POINTS):
        if point[1] < 0:
            low = max(low, point[0])
        else:
            high = min(high, point[0])
        secant = point[0] - point[1] * (point[0] - before[0]) / (point[1] - before[1])
        middle = (low + high) / 2 if np.isfinite(high) else 10 * low
        argument = float(secant if low < secant < high else middle)
        theta = path(argument)
        before, point = point, (argument, missed(theta))
        if abs(point[1]) <= _ROOT or point[1] == before[1]:
            return theta, taken
    return theta, _POINTS


def _fairest_for_each(design: Design, free: Array, gamma: float) -> tuple[Array, Convergence]:
    """Return the coefficients of least covariance, then nearest to ``free``, under bounds for each row.

    All bounds are linear, but few are active: broken bounds join the working set of the next solution.
    """
    bounds = _Bounds.of(design, free, gamma)
    normal, most = design.covariance, float(design.covariance @ free)
    working, level, worst = np.empty(0, dtype=np.intp), 0.0, np.inf
    for taken in range(_ROUNDS):
        theta = _nearest(free, normal, level, *bounds.halfspaces(working))
        if theta is None:  # the working set allows no covariance so small
            least = max(_least_covariance(normal, *bounds.halfspaces(working)), _enlarged(abs(level)))
            if least >= abs(most):  # free itself meets all bounds
                return free, Convergence(taken + 1, max(float(bounds.missing(free).max()), 0.0), _SLACK)
            level = float(np.copysign(least, most))
            continue
        # Done if no row misses its bound; else the worst bounds join the working set.
        missing = bounds.missing(theta)
        worst = float(missing.max())
        if worst <= _SLACK:
            return theta, Convergence(taken + 1, max(worst, 0.0), _SLACK)
        missing[working] = 0.0
        broken = np.argsort(-missing, kind="stable")[:_CUTS]
        broken = broken[missing[broken] > 0.0]
        if not len(broken):  # all broken bounds are in the working set: only rounding is left
            break
        working = np.concatenate([working, broken])
    raise NotConvergedError("misclassification constraint", taken + 1, worst, _SLACK)


@dataclass(frozen=True, eq=False)
class _Bounds:
    """Bounds of each distinct row's score, shape (n_distinct,); infinite where there is none.

    Bound i < n_distinct is row i's lower bound, bound n_distinct + i its upper bound.
    """

    design: Design
    lower: Array
    upper: Array

    @classmethod
    def of(cls, design: Design, free: Array, gamma: float) -> _Bounds:
        scores = design.scores(free)
        occurs = design.weight > 0
        guarded = occurs[:, 0].any(axis=1) & (scores > 0)  # favored rows that free predicts positive
        # Rows of a bounded loss, by label: all that are not guarded.
        bound = np.where(guarded[:, None], occurs[:, 1], occurs.any(axis=1))
        lower = np.where(bound[:, 1], _least_score(scores, gamma), -np.inf)
        upper = np.where(bound[:, 0], -_least_score(-scores, gamma), np.inf)
        guard = np.where(guarded, np.minimum(scores, _MARGIN), -np.inf)
        return cls(design, np.maximum(lower, guard), upper)

    def missing(self, theta: Array) -> Array:
        """Return the distance by which each bound is missed, shape (2 n_distinct,); negative if it is met."""
        scores = self.design.scores(theta)
        return np.concatenate([self.lower - scores, scores - self.upper])

    def halfspaces(self, chosen: NDArray[np.intp]) -> tuple[Array, Array]:
        """Return some bounds as rows and offsets, so that rows·theta >= offsets."""
        row, is_upper = chosen % len(self.lower), chosen >= len(self.lower)
        sign = np.where(is_upper, -1.0, 1.0)
        return sign[:, None] * self.design.rows(row), np.where(is_upper, -self.upper[row], self.lower[row])


def _least_score(score: Array, gamma: float) -> Array:
    """Return the scores, shape as given, at which log(1 + exp(-score)) is (1 + gamma) times its value."""
    loss = (1 + gamma) * np.logaddexp(0.0, -score)
    # log(exp(loss) - 1), written so that neither a small nor a large loss loses its digits
    return np.asarray(-(loss + np.log(-np.expm1(-loss))))


def _nearest(anchor: Array, normal: Array, level: float, rows: Array, offsets: Array) -> Array | None:
    """Return the point nearest to ``anchor`` with normal·point = level and rows·point >= offsets, or None.

    Least-distance programming by nonnegative least squares: Lawson and Hanson (1974), chapter 23.
    """
    from scipy.optimize import nnls

    start = moved_to(anchor, normal, level)
    if not len(rows):
        return start
    along = rows - np.outer(rows @ normal, normal) / (normal @ normal)
    target = np.zeros(len(normal) + 1)
    target[-1] = 1.0
    matrix = np.vstack([along.T, offsets - rows @ start])
    solution, distance = nnls(matrix, target, maxiter=100 * matrix.shape[1])
    if distance < 1e-7:
        return None
    residual = matrix @ solution - target
    step = -residual[:-1] / residual[-1]
    # Correct the rounding of active bounds, which is large where the set is nearly empty.
    active = solution > 0
    short = matrix[-1] - step @ along.T
    step += np.linalg.lstsq(along[active], short[active])[0]
    return np.asarray(start + step) if (matrix[-1] - step @ along.T).max() <= _SLACK else None


def _least_covariance(normal: Array, rows: Array, offsets: Array) -> float:
    """Return the least absolute normal·point with rows·point >= offsets, a little enlarged."""
    from scipy.optimize import linprog

    n = len(normal)
    constraints = np.vstack([np.c_[-rows, np.zeros(len(rows))], np.r_[normal, -1.0], np.r_[-normal, -1.0]])
    solution = linprog(
        np.r_[np.zeros(n), 1.0],
        A_ub=constraints,
        b_ub=np.r_[-offsets, 0.0, 0.0],
        bounds=[(None, None)] * n + [(0, None)],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if solution.x is None:
        raise NotConvergedError("misclassification constraint", int(solution.nit), np.inf, _SLACK)
    return _enlarged(float(solution.x[-1]))


def _enlarged(level: float) -> float:
    return level * (1 + 1e-6) + 1e-9
