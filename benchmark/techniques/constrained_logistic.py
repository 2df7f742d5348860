"""Logistic regression on coded tables, to which Zafar's classifiers add constraints.

Equal rows are collapsed into one weighted row, and no design matrix is ever built. Sums over rows are
weighted counts of states, and the Gram matrix of the indicators is the set of weighted two-way tables. Sorted
rows are the leaves of a tree, whose inner nodes are the common first states of neighboring rows. A node's
term is added once, not once for each of its rows.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.compiling import compiled
from benchmark.data.table import Table, distinct
from benchmark.errors import NotConvergedError
from benchmark.techniques.base import Array, Convergence, Interval, Predictor, Technique, Tools
from benchmark.techniques.encoding import Encoding, Treatment

Codes: TypeAlias = NDArray[np.intp]

_STEPS = 200  # Newton's method takes 5 to 40
_NOISE = 1e-14  # relative rounding of an objective, which must not stop a line search
_DECIMALS = 9  # of a score: many rows lie on one bound, and rounding must neither rank nor separate them


class Tree:
    """Rows of a design as paths through a tree: the intercept, and below it one level for each column.

    ``positions`` has each row's indicator at each level, shape (n_rows, 1 + n_columns), of ``size``
    indicators. Any order of rows is correct; sorted rows have the fewest nodes.
    """

    def __init__(self, positions: NDArray[np.int32], size: int) -> None:
        self.positions, self.size = positions, size
        # The highest level at which the next row takes another path.
        self.fork = np.zeros(len(positions), dtype=np.intp)
        self.fork[:-1] = (positions[1:, 1:] != positions[:-1, 1:]).argmax(axis=1) + 1

    def take(self, rows: NDArray[np.intp]) -> Tree:
        """Return the tree of some rows."""
        return Tree(self.positions[rows], self.size)

    def scores(self, effects: Array) -> Array:
        """Return the sum of each row's effects, shape (n_rows,), of ``effects`` of shape (n_indicators,)."""
        return np.asarray(compiled(_sums_of)(self.positions, self.fork, effects))

    def sums(self, v: Array) -> Array:
        """Return the sums of v, shape (n_rows, k), over the rows of each indicator: (n_indicators, k)."""
        return np.asarray(compiled(_sums_by)(self.positions, self.fork, v, self.size))

    def pair_sums(self, v: Array) -> Array:
        """Return the sums of v over the rows of each pair of indicators, in one of the pair's two cells."""
        return np.asarray(compiled(_pair_sums)(self.positions, self.fork, v, self.size))


@dataclass(frozen=True, eq=False)
class Design:
    """The distinct rows of a training table for a linear model."""

    encoding: Encoding
    codes: Codes  # visible codes of each distinct row, shape (n_columns, n_distinct)
    # Share of the training rows by distinct row, group (1 deprived) and class (1 positive), shape
    # (n_distinct, 2, 2); the sum is 1.
    weight: Array
    levels: tuple[int, ...]  # columns in the order by which rows are sorted
    # Earlier unconstrained fits, by their ridge.
    _fits: dict[float, tuple[Array, Convergence]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, train: Table, encoding: Encoding, positive: NDArray[np.bool_]) -> Design:
        """Return the design of a training table; ``positive`` is each row's class, shape (n_rows,)."""
        codes = encoding.codes(train)
        # The less a column varies, the fewer nodes its level has.
        agreeing = [int((np.bincount(column) ** 2).sum()) for column in codes]
        levels = tuple(sorted(range(len(codes)), key=lambda i: -agreeing[i]))
        first, inverse = distinct(codes[list(levels)], tuple(encoding.cardinalities[i] for i in levels))
        cell = inverse * 4 + train.deprived * 2 + positive
        weight = np.bincount(cell, minlength=4 * len(first)) / len(train)
        return cls(encoding, np.ascontiguousarray(codes[:, first]), weight.reshape(-1, 2, 2), levels)

    @cached_property
    def tree(self) -> Tree:
        """The distinct rows, in their order."""
        starts = np.array([block.start for block in self.encoding.blocks])
        positions = np.zeros((self.codes.shape[1], 1 + len(starts)), dtype=np.int32)
        positions[:, 1:] = (self.codes.T + starts)[:, list(self.levels)]
        return Tree(positions, len(self.encoding.matrix))

    @cached_property
    def covariance(self) -> Array:
        """Vector a, shape (n_features,), so that a·theta is the covariance of group and distance.

        The group is 1 for the favored and 0 for the deprived: equation 2 of Zafar et al. (2015).
        """
        favored, everyone = self.weight[:, 0].sum(axis=1), self.weight.sum(axis=(1, 2))
        return self.moments(favored - favored.sum() * everyone)

    def scores(self, theta: Array) -> Array:
        """Return the signed distance of each distinct row to the boundary, shape (n_distinct,)."""
        return self.tree.scores(self.encoding.matrix @ theta)

    def moments(self, v: Array, tree: Tree | None = None) -> Array:
        """Return the sums of v x over distinct rows x, or the rows of a ``tree``, shape (n_features,).

        For k weights of each row, ``v`` of shape (n_distinct, k), the sums have shape (n_features, k).
        """
        columns = np.ascontiguousarray(v if v.ndim == 2 else v[:, None])
        sums = self.encoding.matrix.T @ (tree or self.tree).sums(columns)
        return np.asarray(sums[:, 0] if v.ndim == 1 else sums)

    def gram(self, v: Array, tree: Tree | None = None) -> Array:
        """Return the sum of v x xᵀ over the rows x of ``moments``, shape (n_features, n_features)."""
        pairs = (tree or self.tree).pair_sums(v)
        return np.asarray(compiled(_by_feature)(pairs, *self._features, self.encoding.matrix.shape[1]))

    @cached_property
    def _features(self) -> tuple[NDArray[np.intp], Array]:
        """The only feature of each indicator, and its value, both of shape (n_indicators,)."""
        matrix = self.encoding.matrix
        feature = np.abs(matrix).argmax(axis=1)
        return feature, matrix[np.arange(len(matrix)), feature]

    def rows(self, chosen: NDArray[np.intp]) -> Array:
        """Return the features of some distinct rows, shape (n_chosen, n_features)."""
        rows = np.zeros((len(chosen), self.encoding.matrix.shape[1]))
        for positions in self.tree.positions[chosen].T:
            rows += self.encoding.matrix[positions]
        return rows


# Loops over the rows of a tree are faster than sparse matrices, and add up in one order everywhere. Below the
# level at which the next row forks off, a row's nodes end with it, so their sums are complete.


def _sums_of(positions: NDArray[np.int32], fork: NDArray[np.intp], effects: Array) -> Array:
    n, depth = positions.shape
    scores, above, first = np.empty(n), np.full(depth, effects[0]), 1
    for row in range(n):
        for level in range(first, depth):
            above[level] = above[level - 1] + effects[positions[row, level]]
        scores[row], first = above[depth - 1], fork[row]
    return scores


def _sums_by(positions: NDArray[np.int32], fork: NDArray[np.intp], v: Array, size: int) -> Array:
    n, depth = positions.shape
    sums, below = np.zeros((size, v.shape[1])), np.zeros((depth, v.shape[1]))
    for row in range(n):
        below[depth - 1] = v[row]
        for level in range(depth - 1, fork[row] - 1, -1):
            for k in range(v.shape[1]):
                sums[positions[row, level], k] += below[level, k]
                if level > 0:
                    below[level - 1, k] += below[level, k]
                below[level, k] = 0.0
    return sums


def _pair_sums(positions: NDArray[np.int32], fork: NDArray[np.intp], v: Array, size: int) -> Array:
    n, depth = positions.shape
    sums, below = np.zeros((size, size)), np.zeros(depth)
    for row in range(n):
        below[depth - 1] = v[row]
        for level in range(depth - 1, fork[row] - 1, -1):
            if below[level] != 0.0:
                for other in range(level + 1):
                    sums[positions[row, level], positions[row, other]] += below[level]
                if level > 0:
                    below[level - 1] += below[level]
                below[level] = 0.0
    return sums


def _by_feature(pairs: Array, feature: NDArray[np.intp], value: Array, size: int) -> Array:
    gram = np.zeros((size, size))
    for a in range(len(pairs)):
        for b in range(len(pairs)):
            if pairs[a, b] != 0.0:
                gram[feature[a], feature[b]] += value[a] * value[b] * pairs[a, b]
                if a != b:
                    gram[feature[b], feature[a]] += value[a] * value[b] * pairs[a, b]
    return gram


class Objective(Protocol):
    """A smooth convex function of coefficients theta, shape (n_features,)."""

    def value(self, theta: Array) -> float:
        """Return the value at ``theta``."""

    def expansion(self, theta: Array) -> tuple[Array, Array]:
        """Return gradient, shape (n_features,), and Hessian, shape (n_features, n_features)."""


@dataclass(frozen=True, eq=False)
class LogisticLoss:
    """Mean logistic loss with a ridge, and on request a pull toward given coefficients."""

    design: Design
    ridge: float  # weight of half the squared norm of all coefficients, the intercept's included
    anchor: Array | None = None  # coefficients to stay near to, shape (n_features,)
    pull: float = 0.0  # weight of half the squared distance to them

    # The last point and its results: Newton's method expands where it has just computed the value.
    _last: list[tuple[bytes, tuple[float, Array, Array, Array]]] = field(default_factory=list, repr=False)

    @cached_property
    def _by_class(self) -> Array:
        return np.ascontiguousarray(self.design.weight.sum(axis=1).T)

    @cached_property
    def weight(self) -> Array:
        """Share of the training rows that each distinct row stands for, shape (n_distinct,)."""
        return np.asarray(self._by_class.sum(axis=0))

    def at(self, theta: Array) -> tuple[float, Array, Array, Array]:
        """Return the mean loss, the scores, and the loss's first and second derivatives by the scores.

        Scores and derivatives have shape (n_distinct,).
        """
        key = theta.tobytes()
        if not self._last or self._last[0][0] != key:
            scores = self.design.scores(theta)
            value, slope, curvature = compiled(_logistic)(scores, self._by_class)
            self._last[:] = [(key, (value, scores, slope, curvature))]
        return self._last[0][1]

    def value(self, theta: Array) -> float:
        """Return the value at ``theta``."""
        value = self.at(theta)[0] + self.ridge / 2 * (theta @ theta)
        if self.anchor is not None:
            away = theta - self.anchor
            value += self.pull / 2 * (away @ away)
        return float(value)

    def expansion(self, theta: Array) -> tuple[Array, Array]:
        """Return gradient and Hessian at ``theta``."""
        _, _, slope, curvature = self.at(theta)
        gradient = self.design.moments(slope) + self.ridge * theta
        hessian = self.design.gram(curvature)
        if self.anchor is not None:
            gradient += self.pull * (theta - self.anchor)
        hessian[np.diag_indices(len(theta))] += self.ridge + self.pull
        return gradient, hessian


def _logistic(scores: Array, by_class: Array) -> tuple[float, Array, Array]:
    value, slope, curvature = 0.0, np.empty(len(scores)), np.empty(len(scores))
    for row in range(len(scores)):
        score, negatives, positives = scores[row], by_class[0, row], by_class[1, row]
        # exp(-|score|), so that nothing overflows; log(1 + exp(-score)) is larger by -score below 0
        small, weight = math.exp(-abs(score)), negatives + positives
        value += weight * math.log1p(small) + (negatives * score if score > 0.0 else -positives * score)
        larger = 1.0 / (1.0 + small)
        slope[row] = weight * (larger if score > 0.0 else small * larger) - positives
        curvature[row] = weight * small * larger * larger
    return value, slope, curvature


def sigmoid(scores: Array) -> Array:
    """Return the logistic function of scores of any size, shape and all."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * scores)))


def minimize(
    objective: Objective, start: Array, *, normal: Array | None = None, gap: float = 1e-13, problem: str
) -> tuple[Array, Convergence]:
    """Return the minimum of a convex function, by Newton's method with a backtracking line search.

    The Hessian is positive definite. With ``normal``, shape (n_features,), the product normal·theta keeps its
    value at ``start``. The search ends when half the squared Newton decrement, a bound of the distance from
    the least value, is at most ``gap``. Raises :class:`NotConvergedError`, which names the ``problem``, if
    200 steps do not suffice.
    """
    theta, value, promised = start, objective.value(start), np.inf
    for taken in range(_STEPS):
        step, promised = _newton_step(*objective.expansion(theta), normal)
        if promised <= gap:
            return theta + step, Convergence(taken + 1, max(promised, 0.0), gap)
        # Backtracking line search.
        noise, length = _NOISE * (1 + abs(value)), 1.0
        reached = theta + step
        while (lower := objective.value(reached)) > value - 1e-4 * length * promised + noise:
            length /= 2
            reached = theta + length * step
            if length < 1e-10:
                raise NotConvergedError(problem, taken, promised, gap)
        theta, value = reached, lower
    raise NotConvergedError(problem, _STEPS, promised, gap)


def _newton_step(gradient: Array, hessian: Array, normal: Array | None) -> tuple[Array, float]:
    """Return the Newton step, and the decrease of the quadratic model: half the squared decrement."""
    if normal is None:
        step = -np.linalg.solve(hessian, gradient)
    else:
        by_gradient, by_normal = np.linalg.solve(hessian, np.column_stack([gradient, normal])).T
        step = (normal @ by_gradient) / (normal @ by_normal) * by_normal - by_gradient
        step -= (normal @ step) / (normal @ normal) * normal  # rounding must not add up along the normal
    return np.asarray(step, dtype=np.float64), float(-gradient @ step) / 2


def least(design: Design, ridge: float, problem: str = "logistic regression") -> tuple[Array, Convergence]:
    """Return the coefficients of least logistic loss, shape (n_features,), and the convergence."""
    return minimize(LogisticLoss(design, ridge), np.zeros(design.encoding.matrix.shape[1]), problem=problem)


def unconstrained(design: Design, ridge: float) -> tuple[Array, Convergence]:
    """Return the same as :func:`least`, computed once."""
    if ridge not in design._fits:
        theta, convergence = least(design, ridge)
        theta.flags.writeable = False
        design._fits[ridge] = theta, convergence
    return design._fits[ridge]


_Shared: TypeAlias = tuple[str, bool, Treatment, str]
_shared: dict[_Shared, Design] = {}  # the last one only


def _shared_design(train: Table, use_sensitive: bool, treatment: Treatment, positive: str) -> Design:
    """Return the design of a table; the last design and its fits again for the same table and settings.

    Several techniques train on one sample. A design and its fits follow from the table's contents alone, so
    results do not depend on earlier fits.
    """
    key = (train.digest, use_sensitive, treatment, positive)
    if key not in _shared:
        encoding = Encoding.of(train, use_sensitive=use_sensitive, treatment=treatment)
        design = Design.of(train, encoding, train.y if positive == "favorable" else ~train.y)
        _shared.clear()
        _shared[key] = design
    return _shared[key]


def moved_to(theta: Array, normal: Array, level: float) -> Array:
    """Return the point nearest to ``theta`` with normal·point = level, shape (n_features,)."""
    return np.asarray(theta + (level - normal @ theta) / (normal @ normal) * normal)


class ConstrainedLogistic(Technique):
    """A logistic regression with constrained training; subclasses define the constraint."""

    stage = "in"
    needs_two_groups = "nothing is left to constrain"

    use_sensitive: bool = True  # whether the sensitive feature is among the features
    # Columns that enter as one number, the position of the state: none, the schema's ordered columns, or all.
    treatment: Treatment = "categorical"
    positive: Literal["favorable", "unfavorable"] = "favorable"  # the label that the method calls positive
    # Weight of half the squared norm of all coefficients beside the mean loss per row. The default is just
    # enough for one finite optimum. The indicators of a column sum to the intercept, and without a ridge a
    # state with a single label would have an infinite coefficient.
    ridge: Annotated[float, Interval(1e-9, 1.0)] = 1e-6

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        design = _shared_design(train, self.use_sensitive, self.treatment, self.positive)
        encoding = design.encoding
        theta, convergence = self._coefficients(design)
        if self.positive == "unfavorable":
            theta = -theta

        def scores(test: Table) -> Array:
            return encoding.scores(encoding.codes(test), theta).round(_DECIMALS)

        return Predictor(lambda test: scores(test) > 0, lambda test: sigmoid(scores(test)), convergence)

    @abstractmethod
    def _coefficients(self, design: Design) -> tuple[Array, Convergence]:
        """Return the trained coefficients, shape (n_features,), and the convergence."""
