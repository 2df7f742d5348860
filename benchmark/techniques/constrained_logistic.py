"""Logistic regression on coded tables, to which Zafar's classifiers add constraints.

Equal rows are collapsed into one weighted row, and no design matrix is ever built: sums over rows are
weighted counts of states, and the Gram matrix of the indicators is the set of weighted two-way tables.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.compiling import compiled
from benchmark.data.table import Table
from benchmark.errors import NotConvergedError
from benchmark.techniques.base import Array, Convergence, Interval, Predictor, Technique, Tools
from benchmark.techniques.encoding import Encoding, Treatment

Codes: TypeAlias = NDArray[np.intp]

_STEPS = 200  # Newton's method takes 5 to 40
_NOISE = 1e-14  # relative rounding of an objective, which must not stop a line search
_DECIMALS = 9  # of a score: many rows lie on one bound, and rounding must neither rank nor part them


@dataclass(frozen=True, eq=False)
class Design:
    """The distinct rows of a training table as a linear model sees them."""

    encoding: Encoding
    codes: Codes  # visible codes of each distinct row, shape (n_columns, n_distinct)
    # Share of the training rows that look so, by group (0 favored, 1 deprived) and class (0 negative,
    # 1 positive), shape (n_distinct, 2, 2); they sum to 1.
    weight: Array

    @classmethod
    def of(cls, train: Table, encoding: Encoding, positive: NDArray[np.bool_]) -> Design:
        """Collapse a training table whose rows belong to the positive class where ``positive`` says so."""
        codes = encoding.codes(train)
        first, inverse = _distinct(codes, encoding.cardinalities)
        cell = inverse * 4 + train.deprived * 2 + positive
        weight = np.bincount(cell, minlength=4 * len(first)) / len(train)
        return cls(encoding, np.ascontiguousarray(codes[:, first]), weight.reshape(-1, 2, 2))

    @cached_property
    def _positions(self) -> NDArray[np.int32]:
        """Which indicators each distinct row has, the intercept first, shape (n_distinct, 1 + n_columns)."""
        starts = np.array([block.start for block in self.encoding.blocks])
        positions = np.zeros((self.codes.shape[1], 1 + len(starts)), dtype=np.int32)
        positions[:, 1:] = self.codes.T + starts
        return positions

    @cached_property
    def covariance(self) -> Array:
        """Vector a for which a·theta is the covariance of group and distance, shape (n_features,).

        The group counts as 1 for the favored and 0 for the deprived: equation 2 of Zafar et al. (2015).
        """
        favored, everyone = self.weight[:, 0].sum(axis=1), self.weight.sum(axis=(1, 2))
        return self.moments(favored - favored.sum() * everyone)

    def scores(self, theta: Array) -> Array:
        """Return the signed distance of each distinct row to the boundary, shape (n_distinct,)."""
        return np.asarray(compiled(_sums_of)(self._positions, self.encoding.matrix @ theta))

    def moments(self, v: Array) -> Array:
        """Return the sums of v x over distinct rows x, shape (n_features,).

        Of k weights of a row, ``v`` of shape (n_distinct, k), there are k sums, shape (n_features, k).
        """
        columns = np.ascontiguousarray(v.reshape(len(v), -1))
        sums = self.encoding.matrix.T @ compiled(_sums_by)(
            self._positions, columns, len(self.encoding.matrix)
        )
        return np.asarray(sums[:, 0] if v.ndim == 1 else sums)

    def gram(self, v: Array) -> Array:
        """Return the sum of v x xᵀ over distinct rows x, shape (n_features, n_features)."""
        upper = compiled(_pair_sums)(self._positions, v, len(self.encoding.matrix))
        full = upper + upper.T
        full[np.diag_indices(len(full))] /= 2
        matrix = self.encoding.matrix
        return np.asarray(matrix.T @ full @ matrix)

    def rows(self, chosen: NDArray[np.intp]) -> Array:
        """Return the features of some distinct rows, shape (n_chosen, n_features)."""
        rows = np.zeros((len(chosen), self.encoding.matrix.shape[1]))
        for positions in self._positions[chosen].T:
            rows += self.encoding.matrix[positions]
        return rows


# Loops over rows whose indicators are known by position: a fraction of what sparse matrices take, and sums in
# one order on every machine.


def _sums_of(positions: NDArray[np.int32], effects: Array) -> Array:
    sums = np.zeros(positions.shape[0])
    for row in range(positions.shape[0]):
        for position in positions[row]:
            sums[row] += effects[position]
    return sums


def _sums_by(positions: NDArray[np.int32], v: Array, size: int) -> Array:
    sums = np.zeros((size, v.shape[1]))
    for row in range(positions.shape[0]):
        for position in positions[row]:
            for k in range(v.shape[1]):
                sums[position, k] += v[row, k]
    return sums


def _pair_sums(positions: NDArray[np.int32], v: Array, size: int) -> Array:
    sums = np.zeros((size, size))
    for row in range(positions.shape[0]):
        if v[row] != 0.0:
            for a in range(positions.shape[1]):
                for b in range(a, positions.shape[1]):
                    sums[positions[row, a], positions[row, b]] += v[row]
    return sums


def _distinct(codes: Codes, cardinalities: tuple[int, ...]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first position of each distinct column of codes, and which one every column equals."""
    key, size = np.zeros(codes.shape[1], dtype=np.int64), 1
    for column, states in zip(codes, cardinalities, strict=True):
        if size > 2**62 // states:  # the key would overflow, so it is renumbered first
            distinct, key = np.unique(key, return_inverse=True)
            size = len(distinct)
        key, size = key * states + column, size * states
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return first, inverse


class Objective(Protocol):
    """A smooth convex function of the coefficients, theta, shape (n_features,)."""

    def value(self, theta: Array) -> float:
        """Return the value at ``theta``."""

    def expansion(self, theta: Array) -> tuple[Array, Array]:
        """Return gradient, shape (n_features,), and Hessian, shape (n_features, n_features)."""


@dataclass(frozen=True, eq=False)
class LogisticLoss:
    """Mean logistic loss with a ridge, and on request a pull towards given coefficients."""

    design: Design
    ridge: float  # weight of half the squared norm of all coefficients, the intercept's included
    anchor: Array | None = None  # coefficients to stay near to, shape (n_features,)
    pull: float = 0.0  # weight of half the squared distance to them

    @cached_property
    def _by_class(self) -> Array:
        return np.ascontiguousarray(self.design.weight.sum(axis=1).T)

    @cached_property
    def _weight(self) -> Array:
        return np.asarray(self._by_class.sum(axis=0))

    def value(self, theta: Array) -> float:
        """Return the value at ``theta``."""
        scores = self.design.scores(theta)
        # log(1 + exp(-s)) of the positives; with the wrong sign, and so larger by s, of the negatives
        losses = np.logaddexp(0.0, -scores)
        value = self._weight @ losses + self._by_class[0] @ scores + self.ridge / 2 * (theta @ theta)
        if self.anchor is not None:
            away = theta - self.anchor
            value += self.pull / 2 * (away @ away)
        return float(value)

    def row_derivatives(self, scores: Array) -> tuple[Array, Array]:
        """Return the loss's first and second derivative by each score, both of shape (n_distinct,)."""
        probability, weight = sigmoid(scores), self._weight
        return weight * probability - self._by_class[1], weight * probability * (1 - probability)

    def expansion(self, theta: Array) -> tuple[Array, Array]:
        """Return gradient and Hessian at ``theta``."""
        slope, curvature = self.row_derivatives(self.design.scores(theta))
        gradient = self.design.moments(slope) + self.ridge * theta
        hessian = self.design.gram(curvature)
        if self.anchor is not None:
            gradient += self.pull * (theta - self.anchor)
        hessian[np.diag_indices(len(theta))] += self.ridge + self.pull
        return gradient, hessian


def sigmoid(scores: Array) -> Array:
    """Return the logistic function of scores of any size, shape and all."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * scores)))


def minimize(
    objective: Objective, start: Array, *, normal: Array | None = None, gap: float = 1e-13, what: str = "fit"
) -> tuple[Array, Convergence]:
    """Minimize a convex function by Newton's method with a backtracking line search.

    The Hessian is positive definite. If ``normal``, shape (n_features,), is given, the product with it keeps
    the value that it has at ``start``. The value may be ``gap`` from the minimum, by what half the squared
    Newton decrement promises. Returned are where the minimum is, and Newton steps with how far from it the
    value may be; raises :class:`NotConvergedError`, which calls the problem ``what``, if 200 steps do not
    suffice.
    """
    theta, value, promised = start, objective.value(start), np.inf
    for taken in range(_STEPS):
        # Newton step; half its squared decrement bounds the distance from the minimum.
        step, promised = _newton_step(*objective.expansion(theta), normal)
        if promised <= gap:
            return theta + step, Convergence(taken + 1, max(promised, 0.0), gap)
        # Backtracking line search.
        noise, length = _NOISE * (1 + abs(value)), 1.0
        while (reached := objective.value(theta + length * step)) > value - 1e-4 * length * promised + noise:
            length /= 2
            if length < 1e-10:
                raise NotConvergedError(what, taken, promised, gap)
        theta, value = theta + length * step, reached
    raise NotConvergedError(what, _STEPS, promised, gap)


def _newton_step(gradient: Array, hessian: Array, normal: Array | None) -> tuple[Array, float]:
    """Return the step, and how much lower the quadratic model is after it."""
    if normal is None:
        step = -np.linalg.solve(hessian, gradient)
    else:
        by_gradient, by_normal = np.linalg.solve(hessian, np.column_stack([gradient, normal])).T
        step = (normal @ by_gradient) / (normal @ by_normal) * by_normal - by_gradient
        step -= (normal @ step) / (normal @ normal) * normal  # rounding must not add up along the normal
    return np.asarray(step, dtype=np.float64), float(-gradient @ step) / 2


def moved_to(theta: Array, normal: Array, level: float) -> Array:
    """Return the point nearest to ``theta`` whose product with ``normal`` is ``level``: (n_features,)."""
    return np.asarray(theta + (level - normal @ theta) / (normal @ normal) * normal)


class ConstrainedLogistic(Technique):
    """A logistic regression whose training is constrained; subclasses say how.

    Parameters
    ----------
    use_sensitive : bool, default True
        Whether the sensitive feature is among the features.
    treatment : {"categorical", "schema", "ordinal"}, default "categorical"
        Which columns enter as one number, the position of the state: none, those that the schema calls
        ordered, or all.
    positive : {"favorable", "unfavorable"}, default "favorable"
        Which label the method calls positive.
    ridge : float in [1e-9, 1], default 1e-6
        Weight of half the squared norm of all coefficients beside the mean loss per row. By default just
        enough for one finite optimum: the indicators of a column sum to the intercept, and a state that
        occurs with one label only would have an infinite coefficient.
    """

    stage = "in"
    needs_two_groups = "nothing is left to constrain"

    use_sensitive: bool = True
    treatment: Treatment = "categorical"
    positive: Literal["favorable", "unfavorable"] = "favorable"
    ridge: Annotated[float, Interval(1e-9, 1.0)] = 1e-6

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        encoding = Encoding.of(train, use_sensitive=self.use_sensitive, treatment=self.treatment)
        favorable = self.positive == "favorable"
        design = Design.of(train, encoding, train.y if favorable else ~train.y)
        theta, convergence = self._coefficients(design)
        if not favorable:
            theta = -theta

        def scores(test: Table) -> Array:
            return encoding.scores(encoding.codes(test), theta).round(_DECIMALS)

        return Predictor(lambda test: scores(test) > 0, lambda test: sigmoid(scores(test)), convergence)

    @abstractmethod
    def _coefficients(self, design: Design) -> tuple[Array, Convergence]:
        """Return the trained coefficients, shape (n_features,), and how they were found."""
