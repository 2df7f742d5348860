"""Loss of :mod:`benchmark.techniques.lfr`, the same bits on every processor.

The loss is not convex: a difference in the last digit may lead the search to another minimum. So no library
is used whose code depends on the processor. Sums run in the order of the rows. Exponential and logarithm are
made of sums and products, which are rounded alike everywhere.
"""

import math
from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int32]

_TINY = float(np.finfo(np.float64).eps)
# The logarithm of 2 in two parts; the first has so few digits that its multiples are exact.
_LOG_2_HIGH, _LOG_2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_EXPONENTIAL = tuple(1.0 / math.factorial(i) for i in range(13, -1, -1))
_LOGARITHM = tuple(2.0 / (2 * i + 1) for i in range(11, -1, -1))


@njit(cache=True, nogil=True)
def exponential(x: float) -> float:
    """Return exp(x) of a number from -inf to 0, to within rounding; 0 below -700."""
    if x < -700.0:
        return 0.0
    halvings = math.floor(x / (_LOG_2_HIGH + _LOG_2_LOW) + 0.5)
    rest = (x - halvings * _LOG_2_HIGH) - halvings * _LOG_2_LOW  # at most half the logarithm of 2
    power = 0.0
    for term in _EXPONENTIAL:
        power = power * rest + term
    return math.ldexp(power, int(halvings))


@njit(cache=True, nogil=True)
def logarithm(x: float) -> float:
    """Return log(x) of a positive number, to within rounding."""
    fraction, doublings = math.frexp(x)
    if fraction < 0.7071067811865476:
        fraction, doublings = 2.0 * fraction, doublings - 1
    ratio = (fraction - 1.0) / (fraction + 1.0)
    power = 0.0
    for term in _LOGARITHM:
        power = power * (ratio * ratio) + term
    return doublings * _LOG_2_HIGH + (doublings * _LOG_2_LOW + power * ratio)


@njit(cache=True, nogil=True)
def nearness(starts: Indices, columns: Indices, data: Array, v: Array) -> tuple[Array, Array, Array]:
    """Return products of rows with prototypes, distances and memberships, each of shape (n_rows, k).

    The rows are a compressed sparse matrix: row i has the values ``data[starts[i]:starts[i + 1]]`` in
    ``columns[starts[i]:starts[i + 1]]``. The prototypes v have shape (k, n_features). A row's memberships sum
    to 1.
    """
    n, k = len(starts) - 1, len(v)
    across = np.ascontiguousarray(v.T)
    products, distances, memberships = np.zeros((n, k)), np.empty((n, k)), np.empty((n, k))
    norms = np.zeros(k)
    for feature in range(len(across)):
        for j in range(k):
            norms[j] += across[feature, j] * across[feature, j]
    for row in range(n):
        square = 0.0
        for at in range(starts[row], starts[row + 1]):
            square += data[at] * data[at]
            for j in range(k):
                products[row, j] += data[at] * across[columns[at], j]
        for j in range(k):
            # Never 0, because the loss divides by it.
            distances[row, j] = math.sqrt(max(square - 2.0 * products[row, j] + norms[j], _TINY))
        least = distances[row].min()
        total = 0.0
        for j in range(k):
            memberships[row, j] = exponential(least - distances[row, j])
            total += memberships[row, j]
        for j in range(k):
            memberships[row, j] /= total
    return products, distances, memberships


@njit(cache=True, nogil=True)
def loss_and_gradient(
    starts: Indices,
    columns: Indices,
    data: Array,
    share: Array,
    label: Array,
    A: tuple[float, float, float],
    smoothing: float,
    w: Array,
    v: Array,
) -> tuple[float, Array, Array]:
    """Return the loss, and its gradients by the prototypes' weights and positions.

    Rows and positions v are as for :func:`nearness`; w are the weights, shape (k,). The other arguments are
    fields of :class:`~benchmark.techniques.lfr.RepresentationLoss`.
    """
    n, k, features = len(starts) - 1, v.shape[0], v.shape[1]
    A_x, A_y, A_z = A
    products, distances, m = nearness(starts, columns, data, v)

    difference = np.zeros(k)
    for row in range(n):
        for j in range(k):
            difference[j] += (share[row, 0] - share[row, 1]) * m[row, j]
    L_z, force = 0.0, np.zeros(k)
    for j in range(k):
        rounded = math.sqrt(difference[j] * difference[j] + smoothing * smoothing)
        L_z += (rounded - smoothing) / k
        if rounded > 0.0:
            force[j] = A_z / k * difference[j] / rounded

    between = np.zeros((k, k))  # products of the prototypes
    for i in range(k):
        for j in range(k):
            for feature in range(features):
                between[i, j] += v[i, feature] * v[j, feature]

    L_x, L_y = 0.0, 0.0
    by_w, pulled = np.zeros(k), np.zeros(k)
    by_product, by_pair = np.zeros((features, k)), np.zeros((k, k))
    repeated, by_m, reconstructed = np.empty(k), np.empty(k), np.empty(k)
    for row in range(n):
        per_row = (share[row, 0] + share[row, 1]) / features
        square, error, predicted = 0.0, 0.0, 0.0
        for at in range(starts[row], starts[row + 1]):
            square += data[at] * data[at]
        # |x - vᵀm|² = |x|² - 2 m·(v x) + m·(v vᵀ) m, so that no reconstruction is ever built.
        for j in range(k):
            repeated[j] = 0.0
            for i in range(k):
                repeated[j] += m[row, i] * between[i, j]
            error += (repeated[j] - 2.0 * products[row, j]) * m[row, j]
            predicted += m[row, j] * w[j]
        L_x += per_row * (square + error)

        predicted = min(max(predicted, _TINY), 1.0 - _TINY)
        L_y -= label[row, 1] * logarithm(predicted) + label[row, 0] * logarithm(1.0 - predicted)
        by_predicted = A_y * (label[row, 0] / (1.0 - predicted) - label[row, 1] / predicted)

        along = 0.0
        for j in range(k):
            by_m[j] = 2.0 * A_x * per_row * (repeated[j] - products[row, j])
            by_m[j] += by_predicted * w[j] + (share[row, 0] - share[row, 1]) * force[j]
            along += m[row, j] * by_m[j]
            by_w[j] += m[row, j] * by_predicted
            reconstructed[j] = 2.0 * A_x * per_row * m[row, j]
        for j in range(k):
            by_distance = m[row, j] * (along - by_m[j]) / distances[row, j]
            pulled[j] += by_distance
            for i in range(k):
                by_pair[i, j] += m[row, i] * reconstructed[j]
            reconstructed[j] += by_distance
        for at in range(starts[row], starts[row + 1]):
            for j in range(k):
                by_product[columns[at], j] += data[at] * reconstructed[j]

    by_v = np.empty((k, features))
    for j in range(k):
        for feature in range(features):
            total = pulled[j] * v[j, feature] - by_product[feature, j]
            for i in range(k):
                total += by_pair[i, j] * v[i, feature]
            by_v[j, feature] = total
    return A_x * L_x + A_y * L_y + A_z * L_z, by_w, by_v
