"""Compiled heart of :class:`benchmark.classifiers.c45.C45Classifier`: growing, pruning and walking the tree.

A tree is a handful of parallel arrays (:class:`Nodes`). Nodes are numbered in depth-first order, and a node's
children have consecutive numbers, one per declared category. So child ``v`` of a node is ``first_child + v``,
and the strict descendants of a node are one range of numbers. Every parent has a smaller number than its
descendants, so a loop from the last node to the first goes bottom up. A node's rows are one range of a
permutation of the training rows (:class:`Rows`).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

LEAF = -1  # the feature of a node that does not split
_TOLERANCE = 1e-6  # weights and bits closer than this are equal: sums carry rounding errors
_GAIN_SLACK = 1e-3  # an attribute whose gain falls this far below the average is still a candidate
_COLLAPSE_SLACK = 1e-3  # a subtree must save more than this weight of training errors
# A leaf or a raised branch may be estimated this many errors worse than the subtree that it replaces.
_PRUNING_SLACK = 0.1 + _TOLERANCE
# With this many categories per unit of training weight, a feature no longer counts in the average gain.
_MANY_VALUED = 0.3


class Rows(NamedTuple):
    """The training rows, and their order; arrays have shape (n_rows,) unless noted."""

    order: NDArray[np.int32]  # permutation in which each node's rows are one range
    scratch: NDArray[np.int32]  # working memory
    codes: NDArray[np.int16]  # 0 up to its feature's cardinality, shape (n_rows, n_features), C order
    y: NDArray[np.int32]  # classes, numbered from 0
    weights: NDArray[np.float64]  # positive
    cardinality: NDArray[np.int64]  # categories, hence branches, of each feature, shape (n_features,)


class Nodes(NamedTuple):
    """The nodes of a tree, root first, as parallel arrays of length n_nodes."""

    feature: NDArray[np.int32]  # the feature of the node's split, or LEAF
    first_child: NDArray[np.int32]  # number of the child for code 0; meaningless at a leaf
    start: NDArray[np.int32]  # first position of the node's rows in the order of rows
    stop: NDArray[np.int32]  # position after the node's last row
    counts: NDArray[np.float64]  # weight of each class among the node's rows, shape (n_nodes, n_classes)
    alive: NDArray[np.bool_]  # whether the node is still part of the tree: pruning only marks nodes


class Limit(NamedTuple):
    """The pessimism of the error estimates."""

    confidence: float  # probability that the true error exceeds the estimate
    z: float  # the standard normal distribution's quantile at 1 - confidence


@njit(cache=True, nogil=True)
def _plogp(weight: float) -> float:
    """Return ``weight * log2(weight)``, a term of the entropy of unnormalized counts."""
    return weight * math.log2(weight) if weight > _TOLERANCE else 0.0


@njit(cache=True, nogil=True)
def _gain_and_ratio(
    table: NDArray[np.float64], counts: NDArray[np.float64], min_cases: float
) -> tuple[float, float]:
    """Return the information gain and gain ratio of a split, in bits (Quinlan 1993, section 2.2).

    ``table`` holds the class weights of each category one after the other, ``counts`` the class weights of
    the node. The gain is negative if fewer than two branches would hold ``min_cases``.
    """
    n_classes, total = counts.size, counts.sum()
    before = split = _plogp(total)
    for weight in counts:
        before -= _plogp(weight)
    after, n_large = 0.0, 0
    for begin in range(0, table.size, n_classes):
        size = 0.0
        for weight in table[begin : begin + n_classes]:
            size += weight
            after -= _plogp(weight)
        after += _plogp(size)
        split -= _plogp(size)
        n_large += size >= min_cases - _TOLERANCE
    if n_large < 2:
        return -1.0, 0.0
    gain = max(before - after, 0.0) / total
    return gain, gain * total / split if split > _TOLERANCE * total else 0.0


@njit(cache=True, nogil=True)
def _best_feature(gains: NDArray[np.float64], ratios: NDArray[np.float64], few: NDArray[np.bool_]) -> int:
    """Return the first feature with the best gain ratio among those of at least average gain, or LEAF.

    Features with a negative gain are no candidates; only the ``few``-valued enter the average.
    """
    average, n_averaged = 0.0, 0
    for f in range(gains.size):
        if gains[f] >= 0.0 and few[f]:
            average += gains[f]
            n_averaged += 1
    if n_averaged == 0:
        return LEAF
    average /= n_averaged
    best, best_ratio = LEAF, 0.0
    for f in range(gains.size):
        if gains[f] >= max(average - _GAIN_SLACK, 0.0) and ratios[f] > best_ratio + _TOLERANCE:
            best, best_ratio = f, ratios[f]
    return best


@njit(cache=True, nogil=True)
def _partition(rows: Rows, begin: int, end: int, feature: int) -> NDArray[np.int32]:
    """Return the bounds of each code after a stable sort of positions ``begin`` to ``end`` by ``feature``.

    The rows with code ``v`` are then at ``bounds[v]`` to ``bounds[v + 1]``.
    """
    order, scratch, codes = rows.order, rows.scratch, rows.codes
    # Shifted by one, so that filling a category moves its entry from its beginning to its end.
    bounds = np.zeros(rows.cardinality[feature] + 2, np.int32)
    for i in range(begin, end):
        scratch[i] = order[i]
        bounds[codes[order[i], feature] + 2] += 1
    bounds[0] = begin
    bounds[1] = begin
    for v in range(2, bounds.size):
        bounds[v] += bounds[v - 1]
    for i in range(begin, end):
        v = codes[scratch[i], feature]
        order[bounds[v + 1]] = scratch[i]
        bounds[v + 1] += 1
    return bounds[:-1]


@njit(cache=True, nogil=True)
def _extended(array: Any, length: int) -> Any:
    """Return a copy with at least ``length`` entries; the new ones are uninitialized."""
    longer = np.empty((max(length, 2 * array.shape[0]), *array.shape[1:]), array.dtype)
    old, new = array.ravel(), longer.ravel()
    for i in range(old.size):  # compiles much faster than an assignment between slices
        new[i] = old[i]
    return longer


@njit(cache=True, nogil=True)
def grow(rows: Rows, n_classes: int, min_cases: float) -> Nodes:
    """Return the full tree, all nodes alive; ``rows`` are reordered, ``min_cases`` is a weight."""
    order, _, codes, y, weights, cardinality = rows
    n_rows, n_features = codes.shape
    # The class weights of all categories of all features in one array.
    offset = np.zeros(n_features + 1, np.int64)
    for f in range(n_features):
        offset[f + 1] = offset[f] + cardinality[f] * n_classes
    table = np.empty(offset[-1])

    feature, first_child = np.empty(256, np.int32), np.empty(256, np.int32)
    start, stop = np.empty(256, np.int32), np.empty(256, np.int32)
    counts = np.empty((256, n_classes))
    feature[0], first_child[0], start[0], stop[0], counts[0] = LEAF, 0, 0, n_rows, 0.0
    for row in range(n_rows):
        counts[0, y[row]] += weights[row]
    n_nodes = 1

    few_valued = cardinality < _MANY_VALUED * counts[0].sum()
    if not few_valued.any():
        few_valued[:] = True

    gains, ratios = np.empty(n_features), np.zeros(n_features)
    candidates = np.empty(n_features, np.int64)
    path = np.empty(n_features, np.int64)  # the features of the node's ancestors
    stack = [(0, 0)]
    while len(stack) > 0:
        node, depth = stack.pop()
        total = counts[node].sum()
        # Stop: too few cases for two branches, or one class only.
        if total < 2 * min_cases - _TOLERANCE or total - counts[node].max() < _TOLERANCE:
            continue

        # Class weights by category of every remaining feature, in one pass over the node's rows.
        n_candidates = 0
        gains[:] = -1.0
        for f in range(n_features):
            if f not in path[:depth]:  # else it is constant here
                candidates[n_candidates] = f
                n_candidates += 1
                table[offset[f] : offset[f + 1]] = 0.0
        for i in range(start[node], stop[node]):
            row = order[i]
            k, weight = y[row], weights[row]
            for j in range(n_candidates):
                f = candidates[j]
                table[offset[f] + codes[row, f] * n_classes + k] += weight
        for f in candidates[:n_candidates]:
            gains[f], ratios[f] = _gain_and_ratio(table[offset[f] : offset[f + 1]], counts[node], min_cases)
        best = _best_feature(gains, ratios, few_valued)
        if best == LEAF:
            continue

        first = n_nodes
        n_nodes += cardinality[best]
        if n_nodes > feature.size:
            feature, first_child = _extended(feature, n_nodes), _extended(first_child, n_nodes)
            start, stop = _extended(start, n_nodes), _extended(stop, n_nodes)
            counts = _extended(counts, n_nodes)
        feature[node], first_child[node], path[depth] = best, first, best
        bounds = _partition(rows, start[node], stop[node], best)
        # The last branch first, so that the first branch leaves the stack first: depth-first numbers.
        for v in range(cardinality[best] - 1, -1, -1):
            child = first + v
            feature[child], first_child[child] = LEAF, 0
            start[child], stop[child] = bounds[v], bounds[v + 1]
            for k in range(n_classes):
                counts[child, k] = table[offset[best] + v * n_classes + k]
            stack.append((child, depth + 1))
    alive = np.ones(n_nodes, np.bool_)
    n = n_nodes
    return Nodes(feature[:n], first_child[:n], start[:n], stop[:n], counts[:n], alive)


@njit(cache=True, nogil=True)
def _ends(nodes: Nodes, cardinality: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number after each node's last descendant (the first descendant is ``first_child``)."""
    ends = np.zeros(nodes.feature.size, np.int64)
    for node in range(nodes.feature.size - 1, -1, -1):
        if nodes.feature[node] != LEAF:
            first = nodes.first_child[node]
            last = first + cardinality[nodes.feature[node]]
            ends[node] = max(last, ends[first:last].max())
    return ends


@njit(cache=True, nogil=True)
def collapse(nodes: Nodes, cardinality: NDArray[np.int64]) -> None:
    """Turn subtrees that classify their training rows no better than a leaf into leaves, in place."""
    feature, first_child, _, _, counts, alive = nodes
    ends = _ends(nodes, cardinality)
    as_leaf, as_tree = np.empty(feature.size), np.empty(feature.size)
    for node in range(feature.size - 1, -1, -1):
        as_leaf[node] = counts[node].sum() - counts[node].max()
        as_tree[node] = as_leaf[node]
        if feature[node] != LEAF:
            first = first_child[node]
            as_tree[node] = as_tree[first : first + cardinality[feature[node]]].sum()
    for node in range(feature.size):
        if alive[node] and feature[node] != LEAF and as_leaf[node] <= as_tree[node] + _COLLAPSE_SLACK:
            alive[first_child[node] : ends[node]] = False
            feature[node] = LEAF


@njit(cache=True, nogil=True)
def _upper_limit(cases: float, errors: float, z: float) -> float:
    """Return the upper confidence limit of one or more ``errors``, by the normal approximation."""
    if errors + 0.5 >= cases:
        return max(cases, errors)
    share = (errors + 0.5) / cases
    zz = z * z / cases
    deviation = z * math.sqrt((share - share * share + zz / 4.0) / cases)
    return cases * (share + zz / 2.0 + deviation) / (1.0 + zz)


@njit(cache=True, nogil=True)
def _estimated_errors(counts: NDArray[np.float64], limit: Limit) -> float:
    """Return the pessimistic number of errors of a leaf (Quinlan 1993, section 4.2).

    This is the upper confidence limit of a binomial proportion. It is exact for no error, the normal
    approximation with continuity correction for one error and more, and linear between the two.
    """
    cases: float = counts.sum()
    if cases < _TOLERANCE:
        return 0.0
    errors: float = cases - counts.max()
    if errors >= 1.0:
        return _upper_limit(cases, errors, limit.z)
    at_none = cases * (1.0 - math.pow(limit.confidence, 1.0 / cases))
    if errors < _TOLERANCE:
        return at_none
    return at_none + errors * (_upper_limit(cases, 1.0, limit.z) - at_none)


@njit(cache=True, nogil=True)
def _largest_branch(nodes: Nodes, node: int, cardinality: NDArray[np.int64]) -> int:
    """Return the child of largest weight, the last in a tie."""
    first = int(nodes.first_child[node])
    largest, largest_weight = first, 0.0
    for child in range(first, first + cardinality[nodes.feature[node]]):
        weight = nodes.counts[child].sum()
        if weight >= largest_weight - _TOLERANCE:
            largest, largest_weight = child, weight
    return largest


@njit(cache=True, nogil=True)
def _raised_estimate(
    nodes: Nodes,
    node: int,
    branch: int,
    rows: Rows,
    estimate: NDArray[np.float64],
    gained: NDArray[np.float64],
    limit: Limit,
) -> float:
    """Return the estimated errors of ``branch`` if it received all rows of its parent ``node``.

    Only leaves that the siblings' rows would reach are estimated anew. ``gained``, shape (n_nodes,
    n_classes), is all zero before and after.
    """
    feature, first_child, start, stop, counts, _ = nodes
    reached = rows.scratch
    n_reached = 0
    for begin, end in ((start[node], start[branch]), (stop[branch], stop[node])):
        for row in rows.order[begin:end]:
            leaf = branch
            while feature[leaf] != LEAF:
                leaf = first_child[leaf] + rows.codes[row, feature[leaf]]
            if gained[leaf].sum() == 0.0:
                reached[n_reached] = leaf
                n_reached += 1
            gained[leaf, rows.y[row]] += rows.weights[row]
    total: float = estimate[branch]
    for leaf in reached[:n_reached]:
        total += _estimated_errors(counts[leaf] + gained[leaf], limit) - estimate[leaf]
        gained[leaf] = 0.0
    return total


@njit(cache=True, nogil=True)
def _hand_down(nodes: Nodes, node: int, rows: Rows) -> None:
    """Divide the rows of an inner node among its children."""
    bounds = _partition(rows, nodes.start[node], nodes.stop[node], nodes.feature[node])
    for v in range(bounds.size - 1):
        child = nodes.first_child[node] + v
        nodes.start[child], nodes.stop[child] = bounds[v], bounds[v + 1]
        nodes.counts[child] = 0.0
        for row in rows.order[bounds[v] : bounds[v + 1]]:
            nodes.counts[child, rows.y[row]] += rows.weights[row]


@njit(cache=True, nogil=True)
def prune(nodes: Nodes, rows: Rows, limit: Limit, subtree_raising: bool) -> None:
    """Prune by pessimistic error estimates, bottom up and in place (Quinlan 1993, chapter 4).

    A node becomes a leaf, or gives way to its largest branch (which receives all its rows and is pruned
    again), or stays. ``rows`` are in the order of :func:`grow`, which changes with the tree.
    """
    feature, first_child, _, _, counts, alive = nodes
    ends = _ends(nodes, rows.cardinality)
    gained = np.zeros_like(counts)
    estimate = np.zeros(feature.size)
    for node in range(feature.size):
        if alive[node] and feature[node] == LEAF:
            estimate[node] = _estimated_errors(counts[node], limit)

    node = feature.size
    while node > 0:
        node -= 1
        if not alive[node] or feature[node] == LEAF:
            continue
        first = first_child[node]
        # Pessimistic errors of the three choices: the subtree, a leaf, the largest branch.
        as_tree = estimate[first : first + rows.cardinality[feature[node]]].sum()
        as_leaf = _estimated_errors(counts[node], limit)
        as_branch = np.inf
        branch = _largest_branch(nodes, node, rows.cardinality)
        if subtree_raising and feature[branch] != LEAF:
            as_branch = _raised_estimate(nodes, node, branch, rows, estimate, gained, limit)

        if as_leaf <= min(as_tree, as_branch) + _PRUNING_SLACK:
            # Subtree replacement: the node becomes a leaf.
            alive[first : ends[node]] = False
            feature[node] = LEAF
            estimate[node] = as_leaf
        elif as_branch <= as_tree + _PRUNING_SLACK:
            # Subtree raising: the largest branch replaces the node and takes all of its rows.
            alive[first : first_child[branch]] = False
            alive[ends[branch] : ends[node]] = False
            feature[node], first_child[node], ends[node] = feature[branch], first_child[branch], ends[branch]
            _hand_down(nodes, node, rows)
            for inner in range(first_child[node], ends[node]):
                if alive[inner] and feature[inner] != LEAF:
                    _hand_down(nodes, inner, rows)
                elif alive[inner]:
                    estimate[inner] = _estimated_errors(counts[inner], limit)
            node = ends[node]  # again from the bottom, because the branch has gained rows
        else:
            estimate[node] = as_tree


@njit(cache=True, nogil=True)
def walk(
    codes: NDArray[np.int16],
    feature: NDArray[np.int32],
    first_child: NDArray[np.int32],
    cardinality: NDArray[np.int64],
) -> NDArray[np.int32]:
    """Return the last node of each row's path: a leaf, or a node that splits on an unknown code.

    A code outside a feature's categories is unknown. ``codes``, shape (n_rows, n_features), are in Fortran
    order. The tree has no dead nodes.
    """
    ends = np.empty(codes.shape[0], np.int32)
    for row in range(ends.size):
        node = 0
        while feature[node] != LEAF:
            code = codes[row, feature[node]]
            if not 0 <= code < cardinality[feature[node]]:
                break
            node = first_child[node] + code
        ends[row] = node
    return ends
