"""Fairness between individuals: inequality of benefits, and equal treatment of similar people.

The benefit of a row is its prediction minus its label plus 1: 2 for a false positive, 1 for a right
prediction, 0 for a false negative. Neighbors are rows, whatever their weights, by Euclidean distance on the
features as they are. Rows at the same distance share the remaining places among the neighbors.
"""

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.metrics import Metric, metric
from benchmark.metrics.inputs import Group, UndefinedMetricError, require_rows

Benefits: TypeAlias = Sequence[tuple[float, float]]
"""Pairs of a number of people and their benefit; or of the people in a group and their mean benefit."""

_SPEICHER = "Speicher et al. (2018), A unified approach to quantifying algorithmic unfairness, section 3"
_N_NEIGHBOURS = 5
_TREE_FEATURES = 15
_BLOCK = 100  # rows whose neighbors are in memory together: many neighbors, if distances tie


def _of_benefits(
    title: str, formula: str, *, note: str, between: str
) -> Callable[[Callable[[Benefits], float]], Metric]:
    """Return a decorator that declares a function as two metrics of the inequality of benefits.

    The first takes the benefits of all rows, the second, with the note ``between``, the groups' means.
    """
    declared = functools.partial(
        metric,
        range=(0.0, math.inf),
        ideal=0.0,
        source=_SPEICHER,
        needs=("y_true", "y_pred"),
        family="individual",
    )

    def declare(compute: Callable[[Benefits], float]) -> Metric:
        of_means = formula.replace("Σ_i", "Σ_g n_g").replace("b_i", "b̄_g")
        declared(
            f"{title} between groups",
            f"{of_means}, b = ŷ - y + 1",
            name=f"between_group_{compute.__name__}",
            compare="all_groups",
            note=between,
        )(lambda groups: compute(_mean_benefits(groups)))
        return declared(
            title,
            f"{formula}, b = ŷ - y + 1",
            name=compute.__name__,
            compare="overall",
            note=note,
        )(lambda all_: compute([(all_.fp, 2.0), (all_.tp + all_.tn, 1.0), (all_.fn, 0.0)]))

    return declare


def _mean_benefits(groups: Sequence[Group]) -> Benefits:
    filled = [group for group in groups if group.size]
    if len(filled) < len(groups) and len(filled) < 2:
        raise UndefinedMetricError("fewer than two groups have rows")
    return [(group.size, 1 + (group.fp - group.fn) / group.size) for group in filled]


def _relative(benefits: Benefits) -> Iterator[tuple[float, float]]:
    """Yield shares of people, and their benefit as a multiple of the mean."""
    people = sum(number for number, _ in benefits)
    if not people:
        raise UndefinedMetricError("there is no row")
    mean = sum(number * benefit for number, benefit in benefits) / people
    if not mean:
        raise UndefinedMetricError("every row is a false negative, so that no row has a benefit")
    for number, benefit in benefits:
        yield number / people, benefit / mean


def _entropy(benefits: Benefits) -> float:
    return sum(share * (b - 1) ** 2 for share, b in _relative(benefits)) / 2


@_of_benefits(
    "Generalized entropy",
    "1 / 2n Σ_i ((b_i / b̄)² - 1)",
    note="alpha = 2. It looks at all rows, not at groups.",
    between="alpha = 2. The generalized entropy if each row had the mean benefit of its group.",
)
def generalized_entropy(benefits: Benefits) -> float:
    """Return the generalized entropy for alpha 2, which is half the squared coefficient of variation."""
    return _entropy(benefits)


@_of_benefits(
    "Theil index",
    "1 / n Σ_i b_i / b̄ ln(b_i / b̄)",
    note="The generalized entropy for alpha = 1; 0 ln 0 is 0.",
    between="The Theil index if each row had the mean benefit of its group.",
)
def theil_index(benefits: Benefits) -> float:
    """Return the Theil index of benefits."""
    return sum(share * b * math.log(b) for share, b in _relative(benefits) if b)


@_of_benefits(
    "Coefficient of variation",
    "√(1 / n Σ_i (b_i / b̄ - 1)²)",
    note="√2 times the root of the generalized entropy; older AIF360 has 2 times.",
    between="√2 times the root of the generalized entropy between groups; older AIF360 has 2 times.",
)
def coefficient_of_variation(benefits: Benefits) -> float:
    """Return the standard deviation of benefits as a multiple of their mean."""
    return math.sqrt(2 * _entropy(benefits))


def _favorable_neighbors(
    features: NDArray[np.float64], favorable: NDArray[np.bool_], people: NDArray[np.float64], n_neighbors: int
) -> NDArray[np.float64]:
    """Return the number of each person's nearest rows with a favorable prediction, shape (n_people,).

    ``features``, shape (n_rows, n_features), and ``favorable``, shape (n_rows,), describe possible neighbors,
    at least ``n_neighbors``; ``people``, shape (n_people, n_features), are the features of the people. Rows
    that tie for the last place count in part, so that the order of the rows does not matter.
    """
    from sklearn.neighbors import NearestNeighbors

    # Equal rows are searched once: tables of categories have few distinct rows.
    points, which = np.unique(features, axis=0, return_inverse=True)
    rows = np.bincount(which.ravel())
    votes = np.bincount(which.ravel(), favorable)
    queries, query_of = np.unique(people, axis=0, return_inverse=True)
    # A tree helps with few features only; with many, matrix products are faster.
    algorithm = "kd_tree" if points.shape[1] <= _TREE_FEATURES else "brute"
    search = NearestNeighbors(algorithm=algorithm).fit(points).kneighbors
    neighbors = np.empty(len(queries))
    for start in range(0, len(queries), _BLOCK):
        block = queries[start : start + _BLOCK]
        complete, more = False, n_neighbors + 1
        while not complete:  # until a point lies beyond the distance of the last place
            wanted, more = min(more, len(points)), 8 * more
            distance, nearest = (answer.reshape(len(block), wanted) for answer in search(block, wanted))
            last = (rows[nearest].cumsum(axis=1) >= n_neighbors).argmax(axis=1)
            reach = np.take_along_axis(distance, last[:, None], axis=1)
            # Equal distances may differ in the last digits, by the order of the features.
            inside = distance < reach * (1 - 1e-12)
            edge = (distance <= reach * (1 + 1e-12)) & ~inside
            complete = wanted == len(points) or not edge[:, -1].any()
        n, favored = rows[nearest], votes[nearest]
        places = n_neighbors - (n * inside).sum(axis=1)
        shared = places * (favored * edge).sum(axis=1) / (n * edge).sum(axis=1)
        neighbors[start : start + _BLOCK] = (favored * inside).sum(axis=1) + shared
    return neighbors[query_of.ravel()]


@metric(
    "Consistency",
    "1 - 1 / n Σ_i |ŷ_i - mean of ŷ over the 5 rows nearest to i|",
    range=(0.0, 1.0),
    ideal=1.0,
    source="Zemel et al. (2013), Learning fair representations, section 4",
    needs=("y_pred", "features"),
    compare="overall",
    family="individual",
    note="A row is one of its own neighbors, which the paper leaves open.",
)
def consistency(everybody: Group) -> float:
    """Return the mean agreement of each prediction with the predictions for similar rows."""
    rows = everybody.rows
    assert rows.features is not None
    assert rows.y_pred is not None
    if len(rows) < _N_NEIGHBOURS:
        raise UndefinedMetricError(f"there are fewer than {_N_NEIGHBOURS} rows")
    require_rows(everybody)
    favorable = _favorable_neighbors(rows.features, rows.y_pred, rows.features, _N_NEIGHBOURS)
    apart = np.abs(rows.y_pred - favorable / _N_NEIGHBOURS)
    return float(1 - np.average(apart, weights=rows.weights))


@metric(
    "Flip test",
    "(n(g, ŷ+, neighbors ŷ-) - n(g, ŷ-, neighbors ŷ+)) / n(g)",
    range=(-1.0, 1.0),
    ideal=0.0,
    source="Black, Yeom and Fredrikson (2020), FlipTest; Das et al. (2021), with nearest neighbors",
    needs=("y_pred", "features"),
    compare="one_against_rest",
    family="individual",
    note="Positive: g is treated better than the majority of its neighbors: of the 5 nearest rows of ḡ, or "
    "the nearest alone if ḡ has fewer than 10 rows.",
)
def flip_test(deprived: Group, favored: Group) -> float:
    """Return the deprived group's share treated better than similar rows, minus its share treated worse."""
    require_rows(deprived, favored)
    rows, others = deprived.rows, favored.rows
    assert rows.features is not None
    assert rows.y_pred is not None
    assert others.features is not None
    assert others.y_pred is not None
    n_neighbors = _N_NEIGHBOURS if len(others) > 9 else 1
    favorable = _favorable_neighbors(others.features, others.y_pred, rows.features, n_neighbors)
    # If rows at the same distance leave the neighbors even, there is no majority and no flip.
    majority = np.sign(2 * favorable - n_neighbors)
    flips = np.where(rows.y_pred, majority < 0, -1.0 * (majority > 0))
    return float(np.average(flips, weights=rows.weights))
