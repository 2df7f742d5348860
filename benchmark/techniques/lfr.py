"""Learned fair representations (Zemel et al. 2013)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np

from benchmark.data.table import Table
from benchmark.errors import DeclinedError, NotConvergedError
from benchmark.techniques import base
from benchmark.techniques._search import Search
from benchmark.techniques.constrained_logistic import Design
from benchmark.techniques.encoding import Encoding, Treatment, new_features, with_features
from benchmark.techniques.registry import register

_SMOOTHING = (1e-2, 1e-4)  # radius of the rounded corner of the absolute value: large at first, then small
_TOLERANCE = 1e-7  # relative decrease of the loss in a step that ends the search
_MEMORY = 10  # number of last steps that shape the next
_SUFFICIENT = 1e-4  # least share of the gradient's promised decrease that a step must bring
_SHORTEST = 1e-10  # share of a step below which rounding decides whether it descends
_TINY = float(np.finfo(np.float64).eps)


@register
class LearnedFairRepresentations(base.PreProcessing):
    r"""Describe rows by memberships of prototypes that both groups are equally near to.

    Idea: row x belongs to prototype :math:`v_k` with the share :math:`M_k(x) \propto \exp(-\|x - v_k\|)`.
    Prototypes and their weights :math:`w_k \in [0, 1]` minimize :math:`A_x L_x + A_y L_y + A_z L_z`:

    - :math:`L_x`: squared error of the reconstruction :math:`\hat x = \sum_k M_k v_k`, averaged over features
      and over the rows of each group, and summed over both groups;
    - :math:`L_y`: mean log loss of the prediction :math:`\hat y = \sum_k M_k w_k`;
    - :math:`L_z`: difference of the groups' mean memberships, averaged over the prototypes.

    The paper takes sums where these are means. AIF360 takes the same means, so weights mean the same there.
    L-BFGS descends from prototypes at k random rows and random weights to a local minimum. The corner of the
    absolute value in :math:`L_z` is rounded, with radius 0.01 at first and 0.0001 in the end. The arithmetic
    is the same to the last bit on every processor. The paper's features are here encoded columns without the
    sensitive column (see ``treatment``).

    Changes: the classifier sees memberships in place of features, and learns predicted labels. Memberships of
    training and test rows are cut into ``bins`` intervals of equal width, because :math:`L_z` bounds
    differences of memberships, not of ranks. Limits: memberships are equal in the mean only, so a classifier
    of the given labels may find the group in their other moments. Predicted labels may be of one class only;
    then nothing can be trained. The loss is not convex, so the result depends on chance.
    """

    name = "lfr"
    reference = "Zemel, Wu, Swersky, Pitassi and Dwork (2013), Learning fair representations, ICML"
    summary = "Describe rows by memberships of prototypes that both groups are equally near to"
    version = "2"
    intersections = True
    needs_two_groups = "no second group to be near"
    randomised = True
    needs_sensitive = False

    prototypes: Annotated[int, base.Interval(2, 100)] = 5  # number of prototypes
    A_x: Annotated[float, base.Interval(0)] = 0.01  # weight of reconstruction
    A_y: Annotated[float, base.Interval(0)] = 1.0  # weight of prediction
    A_z: Annotated[float, base.Interval(0)] = 50.0  # weight of fairness
    bins: Annotated[int, base.Interval(2, 1000)] = 20  # number of states of each membership
    # Whether predicted labels, favorable where :math:`\hat y > 1/2`, replace the training labels. Then the
    # classifier imitates the paper's own predictor, as with AIF360. Otherwise it learns the given labels.
    replace_labels: bool = True
    # Columns that enter as one number, the position of the state, scaled to variance 1: none, the schema's
    # ordered columns, or all. The others enter as indicators of their states.
    treatment: Treatment = "categorical"
    max_iterations: Annotated[int, base.Interval(1, 100_000)] = 5000  # steps after which the search fails

    search_space = (
        Search("prototypes", 3, 15),
        Search("A_x", 1e-3, 1.0, log=True),
        Search("A_z", 0.1, 1000.0, log=True),
    )

    def _prepare(self, train: Table, tools: base.Tools) -> base.Prepared:
        schema = train.schema
        encoding = Encoding.of(train, use_sensitive=False, treatment=self.treatment)
        changed = new_features(schema, [(f"prototype {k}", self.bins) for k in range(self.prototypes)])
        prototypes, convergence = self._fitted(train, encoding, tools.rng)

        def memberships(table: Table) -> base.Array:
            return prototypes.memberships(encoding.features(table))

        def transform(table: Table) -> Table:
            codes = np.minimum(memberships(table) * self.bins, self.bins - 1)
            return with_features(table, changed, [codes])

        table = transform(train)
        if self.replace_labels:
            predicted = (memberships(train) * prototypes.weights).sum(axis=1)
            table = base.with_labels(table, predicted > 0.5)
            if table.y.all() or not table.y.any():
                raise DeclinedError(
                    "The representation predicts one label for all rows",
                    expected="both states of the label, for a classifier to learn",
                    got=f"{np.count_nonzero(table.y)} favorable of {len(table)} rows",
                    remedy="lower A_z, or keep the given labels with replace_labels = false",
                )
        return base.Prepared(table, features=changed.names[2:], transform=transform, convergence=convergence)

    def _fitted(
        self, train: Table, encoding: Encoding, rng: np.random.Generator
    ) -> tuple[Prototypes, base.Convergence]:
        """Return the prototypes at a minimum of the loss, from random rows and weights."""
        design = Design.of(train, encoding, train.y)
        order = np.lexsort(design.codes[::-1])  # the search may depend on the order of rows
        rows, weight = design.rows(order)[:, 1:], design.weight[order]
        start = rng.choice(len(rows), self.prototypes, p=weight.sum(axis=(1, 2)))
        prototypes = Prototypes(rng.random(self.prototypes), rows[start])
        for smoothing in _SMOOTHING:
            loss = RepresentationLoss.of(rows, weight, (self.A_x, self.A_y, self.A_z), smoothing)
            prototypes, convergence = descend(loss, prototypes, self.max_iterations)
        return prototypes, convergence


@dataclass(frozen=True, eq=False)
class Prototypes:
    """Prototypes with their weights."""

    weights: base.Array  # probability of the favorable label that each predicts, shape (k,)
    positions: base.Array  # shape (k, n_features)

    @classmethod
    def of(cls, theta: base.Array, k: int) -> Prototypes:
        """Return the prototypes of a vector of weights and positions, shape (k + k n_features,)."""
        return cls(theta[:k], theta[k:].reshape(k, -1))

    @property
    def theta(self) -> base.Array:
        """Weights and positions as one vector, shape (k + k n_features,)."""
        return np.concatenate([self.weights, self.positions.ravel()])

    def memberships(self, rows: base.Array) -> base.Array:
        """Return the memberships of encoded rows, shape (n_rows, k); a row's memberships sum to 1."""
        from scipy.sparse import csr_array

        from benchmark.techniques._lfr_kernels import nearness

        sparse = csr_array(rows)
        return nearness(sparse.indptr, sparse.indices, sparse.data, self.positions)[2]


@dataclass(frozen=True, eq=False)
class RepresentationLoss:
    """The loss of prototypes and its gradient."""

    rows: Any  # distinct encoded rows, a sparse array of shape (n_distinct, n_features)
    share: base.Array  # each row's share of the favored and of the deprived group, shape (n_distinct, 2)
    label: base.Array  # share of all rows, by label (0 unfavorable, 1 favorable), shape (n_distinct, 2)
    A: tuple[float, float, float]  # weights of reconstruction, prediction and fairness
    smoothing: float  # radius, in differences of memberships, of the rounded corner of the absolute value

    @classmethod
    def of(
        cls, rows: base.Array, weight: base.Array, A: tuple[float, float, float], smoothing: float
    ) -> RepresentationLoss:
        """Return the loss of rows, shape (n_distinct, n_features), and weights as of :class:`Design`."""
        from scipy.sparse import csr_array

        group = weight.sum(axis=2)
        share = group / group.sum(axis=0)
        return cls(csr_array(rows), share, weight.sum(axis=1), A, smoothing)

    def __call__(self, theta: base.Array, k: int) -> tuple[float, base.Array]:
        """Return value and gradient at :attr:`Prototypes.theta` of k prototypes."""
        from benchmark.techniques._lfr_kernels import loss_and_gradient

        prototypes, rows = Prototypes.of(theta, k), self.rows
        settings = (self.share, self.label, self.A, self.smoothing)
        value, by_weights, by_positions = loss_and_gradient(
            rows.indptr, rows.indices, rows.data, *settings, prototypes.weights, prototypes.positions
        )
        return value, np.concatenate([by_weights, by_positions.ravel()])


def descend(
    loss: RepresentationLoss, start: Prototypes, max_iterations: int
) -> tuple[Prototypes, base.Convergence]:
    """Return a local minimum of the loss by a projected L-BFGS method, or raise ``NotConvergedError``.

    Weights that would leave [0, 1] are held at the bound. NumPy sums products of vectors, not a library for
    linear algebra, so that every processor takes the same steps. The residual is the relative decrease of the
    loss in the last iteration. Nocedal and Wright (2006), Numerical optimization, algorithm 7.4; Bertsekas
    (1982), Projected Newton methods for optimization problems with simple constraints, SIAM Journal on
    Control and Optimization.
    """
    theta, k = start.theta, len(start.weights)
    bounded = np.arange(len(theta)) < k
    value, gradient = loss(theta, k)
    pairs: deque[_Pair] = deque(maxlen=_MEMORY)
    decrease = np.inf
    for taken in range(1, max_iterations + 1):
        # Projection: hold weights at a bound that the gradient would push through it.
        held = bounded & (((theta <= 0) & (gradient > 0)) | ((theta >= 1) & (gradient < 0)))
        downhill = np.where(held, 0.0, -gradient)
        step = np.where(held, 0.0, _newton_like(downhill, pairs))
        if _dot(step, downhill) <= 0:
            pairs.clear()
            step = _newton_like(downhill, pairs)
        # Line search: halve the step until the loss falls enough.
        length, before = 1.0, value
        while True:
            reached = theta + length * step
            reached[:k] = reached[:k].clip(0.0, 1.0)
            value, slope = loss(reached, k)
            if value <= before + _SUFFICIENT * _dot(gradient, reached - theta):
                break
            length /= 2
            if length < _SHORTEST:
                return Prototypes.of(theta, k), base.Convergence(taken, 0.0, _TOLERANCE)
        # L-BFGS memory: this step and its change of the gradient.
        moved, turned = reached - theta, slope - gradient
        bent = _dot(moved, turned)
        if bent > _TINY * _dot(turned, turned):
            pairs.append((moved, turned, bent))
        theta, gradient = reached, slope
        decrease = (before - value) / max(abs(before), abs(value), 1.0)
        if decrease <= _TOLERANCE:
            return Prototypes.of(theta, k), base.Convergence(taken, decrease, _TOLERANCE)
    raise NotConvergedError("search for prototypes", max_iterations, decrease, _TOLERANCE)


_Pair: TypeAlias = tuple[base.Array, base.Array, float]
"""A step, its change of the gradient, and their product."""


def _newton_like(downhill: base.Array, pairs: deque[_Pair]) -> base.Array:
    """Return the L-BFGS direction from the last steps, shape as given."""
    if not pairs:
        return np.asarray(downhill / max(np.sqrt(_dot(downhill, downhill)), 1.0))
    direction, amounts = downhill, []
    for moved, turned, bent in reversed(pairs):
        amounts.append(_dot(moved, direction) / bent)
        direction = direction - amounts[-1] * turned
    _, turned, bent = pairs[-1]
    direction = direction * (bent / _dot(turned, turned))
    for (moved, turned, bent), amount in zip(pairs, reversed(amounts), strict=True):
        direction = direction + (amount - _dot(turned, direction) / bent) * moved
    return direction


def _dot(a: base.Array, b: base.Array) -> float:
    return float((a * b).sum())
