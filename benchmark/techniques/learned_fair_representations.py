"""Learned fair representations (Zemel et al. 2013)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import CODE_DTYPE, Table
from benchmark.errors import DeclinedError, NotConvergedError
from benchmark.techniques.base import Convergence, Interval, Prepared, PreProcessing, Tools, one_group
from benchmark.techniques.constrained_logistic import Design
from benchmark.techniques.correlation_remover import new_features
from benchmark.techniques.encoding import Encoding, Treatment
from benchmark.techniques.registry import register

__all__ = ["LearnedFairRepresentations", "Prototypes", "RepresentationLoss", "descend"]

Array: TypeAlias = NDArray[np.float64]

_SMOOTHING = (1e-2, 1e-4)  # the corner of the absolute value, rounded off: roughly at first, then finely
_TOLERANCE = 1e-7  # relative decrease of the loss in a step that ends the search
_TINY = float(np.finfo(np.float64).eps)


@register
class LearnedFairRepresentations(PreProcessing):
    r"""Describe rows by their nearness to prototypes that both groups are equally near to.

    Idea: row x belongs to prototype :math:`v_k` with the share :math:`M_k(x) \propto \exp(-\|x - v_k\|)`.
    Prototypes and a weight :math:`w_k \in [0, 1]` for each minimise :math:`A_x L_x + A_y L_y + A_z L_z`:

    - :math:`L_x`: squared error of the reconstruction :math:`\hat x = \sum_k M_k v_k`, averaged over features
      and over the rows of each group, and summed over both groups;
    - :math:`L_y`: mean log loss of the prediction :math:`\hat y = \sum_k M_k w_k`;
    - :math:`L_z`: difference of the groups' mean memberships, averaged over the prototypes.

    The paper sums where means are taken here; they are those of AIF360, so that weights mean the same there.
    L-BFGS descends from prototypes at k random rows and random weights to a local minimum; the absolute value
    in :math:`L_z` is rounded off at its corner, by 0.01 at first and by 0.0001 in the end. The features of
    the paper are encoded columns without the sensitive one (see ``treatment``).

    Changes: of training and test rows the classifier sees, instead of features, the memberships, each cut
    into ``bins`` intervals of equal width (because :math:`L_z` bounds differences of memberships and not of
    ranks); and it learns predicted labels. Limits: memberships are equal in the mean only, so that a
    classifier of the given labels may find the group in their other moments; predicted labels may be of one
    class only, and then nothing can be trained; a loss that is not convex makes the result depend on
    chance.

    Parameters
    ----------
    prototypes : int in [2, 100], default 5
        Their number.
    A_x, A_y, A_z : float >= 0, defaults 0.01, 1.0, 50.0
        Weights of reconstruction, prediction and fairness.
    bins : int in [2, 1000], default 20
        Number of states of each membership.
    replace_labels : bool, default True
        Whether training labels become those of the prediction, favorable where :math:`\hat y > 1/2`, so that
        the classifier imitates the paper's own predictor, as with AIF360. Otherwise it learns the given
        labels from the representation.
    treatment : {"categorical", "schema", "ordinal"}, default "categorical"
        Which columns enter as one number, the position of the state, scaled to variance 1: none, those that
        the schema calls ordered, or all. The others enter by indicators of their states.
    max_iterations : int in [1, 100000], default 5000
        Steps after which the search fails.

    References
    ----------
    Zemel, Wu, Swersky, Pitassi and Dwork (2013), Learning fair representations, ICML.
    """

    name = "lfr"
    reference = "Zemel, Wu, Swersky, Pitassi and Dwork (2013), Learning fair representations, ICML"
    summary = "Describe rows by memberships of prototypes that both groups are equally near to"
    version = "1"
    randomised = True
    needs_sensitive = False

    prototypes: Annotated[int, Interval(2, 100)] = 5
    A_x: Annotated[float, Interval(0)] = 0.01
    A_y: Annotated[float, Interval(0)] = 1.0
    A_z: Annotated[float, Interval(0)] = 50.0
    bins: Annotated[int, Interval(2, 1000)] = 20
    replace_labels: bool = True
    treatment: Treatment = "categorical"
    max_iterations: Annotated[int, Interval(1, 100_000)] = 5000

    def skip(self, train: Table) -> str | None:
        """Decline a table with one group only: there are no two that could be equally near."""
        return one_group(train, "no second group to be near")

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        schema = train.schema
        encoding = Encoding.of(train, use_sensitive=False, treatment=self.treatment)
        changed = new_features(schema, [(f"prototype {k}", self.bins) for k in range(self.prototypes)])
        with threadpool_limits(1, user_api="blas"):
            found, convergence = self._fitted(train, encoding, tools.rng)

        def memberships(table: Table) -> Array:
            with threadpool_limits(1, user_api="blas"):
                return found.memberships(encoding.features(table))

        def transform(table: Table) -> Table:
            codes = np.minimum(memberships(table) * self.bins, self.bins - 1).astype(CODE_DTYPE)
            kept = table.codes[:, [schema.label_index, schema.sensitive_index]]
            return Table(changed, np.column_stack([kept, codes]))

        table = transform(train)
        if self.replace_labels:
            predicted = (memberships(train) * found.weights).sum(axis=1)
            codes = np.where(predicted > 0.5, schema.favorable_code, 1 - schema.favorable_code)
            table = table.with_column(schema.label, codes)
            if table.y.all() or not table.y.any():
                raise DeclinedError(
                    "The representation predicts one label for everybody",
                    expected="both states of the label, for a classifier to learn",
                    got=f"{np.count_nonzero(table.y)} favorable of {len(table)} rows",
                    remedy="lower A_z, or keep the given labels with replace_labels = false",
                )
        return Prepared(table, features=changed.names[2:], transform=transform, convergence=convergence)

    def _fitted(
        self, train: Table, encoding: Encoding, rng: np.random.Generator
    ) -> tuple[Prototypes, Convergence]:
        """Descend from random rows and weights to a minimum of the loss."""
        design = Design.of(train, encoding, train.y)
        rows = design.rows(np.arange(len(design.weight)))[:, 1:]
        start = rng.choice(len(rows), self.prototypes, p=design.weight.sum(axis=(1, 2)))
        found = Prototypes(rng.random(self.prototypes), rows[start])
        for smoothing in _SMOOTHING:
            loss = RepresentationLoss.of(rows, design.weight, (self.A_x, self.A_y, self.A_z), smoothing)
            found, convergence = descend(loss, found, self.max_iterations)
        return found, convergence


@dataclass(frozen=True, eq=False)
class Prototypes:
    """Prototypes and what they predict.

    Parameters
    ----------
    weights : ndarray of float, shape (k,)
        Predicted probability of the favorable label for each.
    positions : ndarray of float, shape (k, n_features)
        The prototypes.
    """

    weights: Array
    positions: Array

    @classmethod
    def of(cls, theta: Array, k: int) -> Prototypes:
        """Split a vector of weights and positions, shape (k + k n_features,)."""
        return cls(theta[:k], theta[k:].reshape(k, -1))

    @property
    def theta(self) -> Array:
        """Weights and positions as one vector, shape (k + k n_features,)."""
        return np.concatenate([self.weights, self.positions.ravel()])

    def distances(self, square: Array, product: Array) -> Array:
        """Return distances, shape (n_rows, k), from rows' squared norms and products with the prototypes."""
        squared = square[:, None] - 2 * product + (self.positions**2).sum(axis=1)
        return np.asarray(np.sqrt(np.maximum(squared, _TINY)))  # never 0, because the loss divides by it

    def memberships(self, rows: Array) -> Array:
        """Return the memberships of encoded rows, shape (n_rows, k); those of a row sum to 1."""
        return _softmin(self.distances((rows**2).sum(axis=1), rows @ self.positions.T))


@dataclass(frozen=True, eq=False)
class RepresentationLoss:
    """The loss of prototypes and its gradient.

    Parameters
    ----------
    rows : sparse array of float, shape (n_distinct, n_features)
        Distinct encoded rows.
    square : ndarray of float, shape (n_distinct,)
        Their squared norms.
    share : ndarray of float, shape (n_distinct, 2)
        Share of the favored and of the deprived group that a row stands for.
    label : ndarray of float, shape (n_distinct, 2)
        Share of all rows that it stands for, by label (0 unfavorable, 1 favorable).
    A : tuple of float
        Weights of reconstruction, prediction and fairness.
    smoothing : float >= 0
        Radius, in differences of memberships, at which the corner of the absolute value is rounded off.
    """

    rows: Any
    square: Array
    share: Array
    label: Array
    A: tuple[float, float, float]
    smoothing: float

    @classmethod
    def of(
        cls, rows: Array, weight: Array, A: tuple[float, float, float], smoothing: float
    ) -> RepresentationLoss:
        """Take rows, shape (n_distinct, n_features), and weights as of :class:`Design`."""
        from scipy.sparse import csr_array

        group = weight.sum(axis=2)
        share = group / group.sum(axis=0)
        return cls(csr_array(rows), (rows**2).sum(axis=1), share, weight.sum(axis=1), A, smoothing)

    def __call__(self, theta: Array, k: int) -> tuple[float, Array]:
        """Return value and gradient at :attr:`Prototypes.theta` of k prototypes."""
        A_x, A_y, A_z = self.A
        found = Prototypes.of(theta, k)
        v = found.positions
        product = self.rows @ v.T
        distance = found.distances(self.square, product)
        m = _softmin(distance)

        # |x - vᵀm|² = |x|² - 2 m·(v x) + m·(v vᵀ) m, so that no reconstruction is ever built.
        repeated = m @ (v @ v.T)
        per_row = self.share.sum(axis=1) / v.shape[1]
        L_x = per_row @ (self.square + ((repeated - 2 * product) * m).sum(axis=1))

        predicted = (m @ found.weights).clip(_TINY, 1 - _TINY)
        L_y = -(self.label[:, 1] @ np.log(predicted) + self.label[:, 0] @ np.log1p(-predicted))
        by_predicted = A_y * (self.label[:, 0] / (1 - predicted) - self.label[:, 1] / predicted)

        apart = self.share[:, 0] - self.share[:, 1]
        difference = apart @ m
        rounded = np.hypot(difference, self.smoothing)
        L_z = (rounded - self.smoothing).mean()
        slope = np.divide(difference, rounded, out=np.zeros_like(rounded), where=rounded > 0)

        by_m = 2 * A_x * per_row[:, None] * (repeated - product)
        by_m += by_predicted[:, None] * found.weights + apart[:, None] * (A_z / len(v) * slope)
        by_distance = m * ((m * by_m).sum(axis=1, keepdims=True) - by_m) / distance
        reconstructed = 2 * A_x * per_row[:, None] * m
        by_v = by_distance.sum(axis=0)[:, None] * v + (m.T @ reconstructed) @ v
        by_v -= (self.rows.T @ (by_distance + reconstructed)).T
        gradient = np.concatenate([m.T @ by_predicted, by_v.ravel()])
        return float(A_x * L_x + A_y * L_y + A_z * L_z), gradient


def descend(
    loss: RepresentationLoss, start: Prototypes, max_iterations: int
) -> tuple[Prototypes, Convergence]:
    """Descend to a local minimum of the loss by L-BFGS-B.

    The convergence is in iterations and the relative decrease of the loss in the last one.

    Raises
    ------
    NotConvergedError
        If so many iterations do not suffice.
    """
    from scipy.optimize import minimize

    k = len(start.weights)
    values = [loss(start.theta, k)[0]] * 2  # of the last steps, the first two being none

    def keep_value(intermediate_result: Any) -> None:
        values.append(intermediate_result.fun)

    search: Any = minimize(
        loss,
        start.theta,
        args=(k,),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, 1)] * k + [(None, None)] * start.positions.size,
        callback=keep_value,
        # An iteration takes one or two evaluations of the loss, so that they never run out.
        options={"maxiter": max_iterations, "maxfun": 100 * max_iterations, "ftol": _TOLERANCE, "gtol": 0.0},
    )
    before, after = values[-2:]
    decrease = (before - after) / max(abs(before), abs(after), 1.0)
    if search.status == 1:
        raise NotConvergedError("search for prototypes", max_iterations, decrease, _TOLERANCE)
    return Prototypes.of(search.x, k), Convergence(int(search.nit), decrease, _TOLERANCE)


def _softmin(distance: Array) -> Array:
    near = np.exp(distance.min(axis=1, keepdims=True) - distance)
    return np.asarray(near / near.sum(axis=1, keepdims=True))
