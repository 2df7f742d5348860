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

_EQUAL = 1e-9  # what counts as equal covariances
_ON_BOUND = 1e-6  # share by which the loss may miss its bound
_ROOT = 1e-12  # by how much the root of what the loss has gained may miss that of the bound
_POINTS = 60  # of a path; 4 to 10 suffice
_SLACK = 1e-9  # by how much a row's score may miss its bound
_MARGIN = 1e-4  # distance to the boundary that keeps a guarded row on its side in spite of the slack
_CUTS = 100  # bounds that join the working set at a time
_ROUNDS = 200  # of joining; 5 to 30 suffice


@register
class Zafar2015(ConstrainedLogistic):
    r"""Logistic regression whose distance to the boundary does not covary with the group.

    Idea: the covariance :math:`\frac1n\sum_i (z_i - \bar z)\,\theta^\top x_i` of the group z (1 for the
    favored, 0 for the deprived) and the signed distance to the boundary stands in for the difference of the
    groups' rates of positive predictions, and unlike it is linear in :math:`\theta`. With L the mean logistic
    loss and :math:`\theta^*` its minimum:

    - ``fairness``: the smallest L for which :math:`|\mathrm{cov}| \le` ``threshold``;
    - ``accuracy``: the smallest :math:`|\mathrm{cov}|` for which
      :math:`L(\theta) \le (1 + \gamma) L(\theta^*)`;
    - ``misclassification``: the smallest :math:`|\mathrm{cov}|` for which no member of the favored group
      whom :math:`\theta^*` predicts positive is predicted negative, and everyone else's own loss stays within
      :math:`(1 + \gamma)` times what it is at :math:`\theta^*`;
    - ``none``: nothing is constrained, and :math:`\theta^*` is taken.

    The second and the third problem leave open which of several equally fair solutions is meant, and often
    infinitely many have covariance 0. Taken is the one nearest to :math:`\theta^*` in the Euclidean distance
    of the coefficients: a fair classifier that differs as little as can be from the one that it corrects.

    Convergence is reported in steps and residual: for ``fairness`` Newton steps and how far the loss may be
    from its minimum; for ``accuracy`` points of the path that were looked at and the share by which the loss
    misses its bound; for ``misclassification`` rounds of the working set and how far a score misses
    its bound.

    Changes: training only. Limits: a covariance of 0 does not make the rates of positive predictions equal;
    it fails where the groups' distances are distributed in different shapes.

    Parameters
    ----------
    constraint : {"fairness", "accuracy", "misclassification", "none"}, default "fairness"
        What is constrained, see above.
    threshold : float >= 0, default 0.0
        Bound of the covariance, for ``fairness``.
    gamma : float >= 0, default 0.5
        Share by which the loss may exceed its minimum, for the other two. For ``misclassification`` the
        published experiments used 1000.
    use_sensitive, treatment, positive
        See :class:`ConstrainedLogistic`. Only ``misclassification`` depends on which label is positive.
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

    constraint: Literal["fairness", "accuracy", "misclassification", "none"] = "fairness"
    threshold: Annotated[float, Interval(0)] = 0.0
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
    """Minimize the loss among the coefficients of one covariance."""
    normal = loss.design.covariance
    return minimize(loss, moved_to(start, normal, level), normal=normal, what="fairness constraint")


def _fairest_within(loss: LogisticLoss, free: Array, gamma: float) -> tuple[Array, Convergence]:
    """Minimize the absolute covariance, and then the distance to ``free``, under a bound of the loss."""
    normal, lowest = loss.design.covariance, loss.value(free)
    bound = (1 + gamma) * lowest
    if bound <= lowest:
        return free, Convergence(0, 0.0, _ON_BOUND)
    nearest = moved_to(free, normal, 0.0)
    if loss.value(nearest) <= bound:
        return nearest, Convergence(0, 0.0, _ON_BOUND)
    # Were the loss a parabola, the root of what it has gained would be linear along the first path, and its
    # inverse, where little curves beside the pull, along the second one.
    best, _ = _best_at(loss, 0.0, free)
    least = loss.value(best)
    if least > bound:  # covariance 0 is out of reach: go from free towards its best
        path: _Path = _Lowered(loss, free, best)
        ends, high, power, base = (free, best), 1.0, 0.5, lowest
    else:  # it is within reach: pull its best towards free
        path = _Pulled(loss, free, best)
        ends, high, power, base = (nearest, path(1.0)), np.inf, -0.5, min(least, bound * (1 - 1e-12))

    def missed(theta: Array) -> float:
        return float(max(loss.value(theta) - base, 0.0) ** power - (bound - base) ** power)

    theta, steps = _on_bound(path, missed, (missed(ends[0]), missed(ends[1])), high)
    over = max(loss.value(theta) / bound - 1, 0.0)
    if over > _ON_BOUND:
        raise NotConvergedError("accuracy constraint", steps, over, _ON_BOUND)
    return theta, Convergence(steps, over, _ON_BOUND)


_Path: TypeAlias = Callable[[float], Array]


class _Lowered:
    """Best coefficients of a covariance lowered by a share of what it is at ``free``."""

    def __init__(self, loss: LogisticLoss, free: Array, best: Array) -> None:
        self.loss, self.free, self.best = loss, free, best
        self.covariance = float(loss.design.covariance @ free)

    def __call__(self, share: float) -> Array:
        start = self.free + share * (self.best - self.free)
        return _best_at(self.loss, (1 - share) * self.covariance, start)[0]


class _Pulled:
    """Best coefficients of covariance 0 under a pull of given inverse towards ``free``."""

    def __init__(self, loss: LogisticLoss, free: Array, best: Array) -> None:
        self.loss, self.free, self.reached = loss, free, best

    def __call__(self, inverse: float) -> Array:
        objective = LogisticLoss(self.loss.design, self.loss.ridge, self.free, 1.0 / inverse)
        normal = self.loss.design.covariance
        # The last solution is the best place to start from.
        self.reached, _ = minimize(objective, self.reached, normal=normal, what="accuracy constraint")
        return self.reached


def _on_bound(
    path: _Path, missed: Callable[[Array], float], ends: tuple[float, float], high: float
) -> tuple[Array, int]:
    """Return where on a path nothing is missed, by secants within a bracket, and the points looked at.

    What is missed grows along the path; given is what it is at 0, negative, and at 1.
    """
    low, before, there = 0.0, (0.0, ends[0]), (1.0, ends[1])
    for taken in range(1, _POINTS):
        if there[1] < 0:
            low = max(low, there[0])
        else:
            high = min(high, there[0])
        secant = there[0] - there[1] * (there[0] - before[0]) / (there[1] - before[1])
        middle = (low + high) / 2 if np.isfinite(high) else 10 * low
        argument = float(secant if low < secant < high else middle)
        theta = path(argument)
        before, there = there, (argument, missed(theta))
        if abs(there[1]) <= _ROOT or there[1] == before[1]:
            return theta, taken
    return theta, _POINTS


def _fairest_for_each(design: Design, free: Array, gamma: float) -> tuple[Array, Convergence]:
    """Minimize the absolute covariance, and then the distance to ``free``, under bounds for each row.

    All bounds are linear, but few are active: those that a solution breaks join the working set of the next.
    """
    bounds = _Bounds.of(design, free, gamma)
    normal, most = design.covariance, float(design.covariance @ free)
    working, level, worst = np.empty(0, dtype=np.intp), 0.0, np.inf
    for taken in range(_ROUNDS):
        theta = _nearest(free, normal, level, *bounds.halfspaces(working))
        if theta is None:  # the working set allows no covariance so small
            least = max(_least_covariance(normal, *bounds.halfspaces(working)), _enlarged(abs(level)))
            if least >= abs(most):  # free itself keeps all bounds
                return free, Convergence(taken + 1, max(float(bounds.missing(free).max()), 0.0), _SLACK)
            level = float(np.copysign(least, most))
            continue
        # Done where no row misses its bound; else the worst bounds join the working set.
        missing = bounds.missing(theta)
        worst = float(missing.max())
        if worst <= _SLACK:
            return theta, Convergence(taken + 1, max(worst, 0.0), _SLACK)
        missing[working] = 0.0
        broken = np.argsort(-missing, kind="stable")[:_CUTS]
        broken = broken[missing[broken] > 0.0]
        if not len(broken):  # all that is missed is in the working set already: only rounding is left
            break
        working = np.concatenate([working, broken])
    raise NotConvergedError("misclassification constraint", taken + 1, worst, _SLACK)


@dataclass(frozen=True, eq=False)
class _Bounds:
    """Bounds of the score of each distinct row, shape (n_distinct,); infinite where there is none.

    Bound i < n_distinct is the lower one of row i, bound n_distinct + i its upper one.
    """

    design: Design
    lower: Array
    upper: Array

    @classmethod
    def of(cls, design: Design, free: Array, gamma: float) -> _Bounds:
        scores = design.scores(free)
        occurs = design.weight > 0
        guarded = occurs[:, 0].any(axis=1) & (scores > 0)  # favored rows that free predicts positive
        # What a loss bound asks of all other rows; where both labels occur, of each.
        bound = np.where(guarded[:, None], occurs[:, 1], occurs.any(axis=1))
        lower = np.where(bound[:, 1], _least_score(scores, gamma), -np.inf)
        upper = np.where(bound[:, 0], -_least_score(-scores, gamma), np.inf)
        guard = np.where(guarded, np.minimum(scores, _MARGIN), -np.inf)
        return cls(design, np.maximum(lower, guard), upper)

    def missing(self, theta: Array) -> Array:
        """Return by how much coefficients miss each bound, shape (2 n_distinct,); negative if they do not."""
        scores = self.design.scores(theta)
        return np.concatenate([self.lower - scores, scores - self.upper])

    def halfspaces(self, chosen: NDArray[np.intp]) -> tuple[Array, Array]:
        """Return some bounds as rows and offsets of rows·theta >= offset."""
        row, is_upper = chosen % len(self.lower), chosen >= len(self.lower)
        sign = np.where(is_upper, -1.0, 1.0)
        return sign[:, None] * self.design.rows(row), np.where(is_upper, -self.upper[row], self.lower[row])


def _least_score(score: Array, gamma: float) -> Array:
    """Return the score, shape as given, at which log(1 + exp(-score)) is (1 + gamma) times what it is."""
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
    # What rounding has left of the active bounds: where the set is all but empty, that may be much.
    active = solution > 0
    short = matrix[-1] - step @ along.T
    step += np.linalg.lstsq(along[active], short[active])[0]
    return np.asarray(start + step) if (matrix[-1] - step @ along.T).max() <= _SLACK else None


def _least_covariance(normal: Array, rows: Array, offsets: Array) -> float:
    """Return the least absolute normal·point, a little enlarged, for which rows·point >= offsets."""
    from scipy.optimize import linprog

    n = len(normal)
    constraints = np.vstack([np.c_[-rows, np.zeros(len(rows))], np.r_[normal, -1.0], np.r_[-normal, -1.0]])
    found = linprog(
        np.r_[np.zeros(n), 1.0],
        A_ub=constraints,
        b_ub=np.r_[-offsets, 0.0, 0.0],
        bounds=[(None, None)] * n + [(0, None)],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.x is None:
        raise NotConvergedError("misclassification constraint", int(found.nit), np.inf, _SLACK)
    return _enlarged(float(found.x[-1]))


def _enlarged(level: float) -> float:
    return level * (1 + 1e-6) + 1e-9
