"""Probability tables in which no number rests on fewer rows than a threshold."""

import math

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.network.model import Network, parent_configurations

Counts = NDArray[np.float64]


def fit_pooled(
    table: Table, parents: tuple[tuple[int, ...], ...], *, min_count: int, pseudo_count: float = 0.0
) -> Network:
    r"""Estimate the probability tables of a given graph from groups of at least ``min_count`` rows.

    With :math:`m` for ``min_count``, in two steps that :func:`row_groups` and :func:`pooled_counts` take:

    1. Parent configurations that fewer than :math:`m` rows have are taken together, so that all of a group
       have one distribution. The groups are a partition of the rows: the distribution of one does not contain
       the rows of another.
    2. In a group with :math:`n_x` rows of state :math:`x`, the *rare* states are those with :math:`n_x < m`;
       :math:`T` is the sum of their rows. If :math:`0 < T < m`, the rows of the group less those of all
       others would tell :math:`T`, so that a *partner* takes part: of the states that are not rare the one
       with the greatest :math:`b_x`, the column's count over all rows, pooled likewise. With at least
       :math:`2m` rows in the rare states and the partner :math:`p` together,

       .. math:: n'_p = n_p + T - m, \qquad T' = m;

       with fewer, the partner is rare as well. Else :math:`T' = T`, or :math:`m` where all states are rare
       and have fewer. Rare states share :math:`T'` in proportion to :math:`b_x`, all others keep :math:`n_x`.
       What is published is :math:`P(x) = (n'_x + a) / \sum_y (n'_y + a)` with the pseudo-count :math:`a`.

    Whether all rare states together have one row or :math:`m` changes no number, also where the rows of the
    group are known, and which of several rare states a row has changes none but :math:`b`. A zero says that
    none of at least :math:`m` rows has the state. This is a rule of thresholds, as statistical offices use
    it, and no proof against readers who know all persons but one, or who subtract one table from another.

    Parameters
    ----------
    table : Table
        Data.
    parents : tuple of tuple of int
        The graph.
    min_count : int
        Fewest rows that a number may rest on; 1 or more.
    pseudo_count : float, default 0
        Added to each count.
    """
    cardinalities = table.schema.cardinalities
    cpts = []
    for i, own in enumerate(parents):
        sizes, r = [int(cardinalities[p]) for p in own], int(cardinalities[i])
        cell = parent_configurations(table.codes, own, cardinalities) * r + table.codes[:, i]
        counts = np.bincount(cell, minlength=math.prod(sizes) * r).reshape(-1, r).astype(np.float64)
        base = pooled_counts(counts.sum(axis=0), np.ones(r), min_count)
        groups = row_groups(counts.sum(axis=1), sizes, min_count)
        rows = np.empty_like(counts)
        for group in np.unique(groups):
            inside = groups == group
            together = counts[inside].sum(axis=0)
            shared = pooled_counts(together, base, min_count) + pseudo_count
            rows[inside] = shared if together.any() else base + pseudo_count
        cpts.append(rows / rows.sum(axis=1, keepdims=True))
    return Network(table.schema, parents, tuple(cpts))


def row_groups(rows: Counts, sizes: list[int], min_count: int) -> NDArray[np.int64]:
    """Return the group of each parent configuration: its rows are counted with those of the whole group.

    A configuration with ``min_count`` rows is a group by itself. The others join those of them that share
    all parents' states but the last one's; where these have fewer than ``min_count`` rows in total, those
    that share all but the last two; and so on. If even all that are left have too few, they join the smallest
    group. The group of those that no row has, if no others are left, is the number -1.

    ``rows``, shape (n_configurations,), are the rows of each configuration in the order of
    :class:`~benchmark.network.model.Network`, and ``sizes`` the parents' numbers of states.
    """
    groups = np.arange(len(rows))
    left = rows < min_count
    first_free = len(rows)
    for depth in range(len(sizes) - 1, -1, -1):
        prefix = np.arange(len(rows)) // math.prod(sizes[depth:])
        together = np.bincount(prefix, weights=rows * left)[prefix]
        joined = left & (together >= min_count)
        groups[joined] = first_free + prefix[joined]
        left &= ~joined
        first_free += len(rows)
    if left.any():
        groups[left] = -1
        if rows[left].any() and not left.all():
            names, places = np.unique(groups[~left], return_inverse=True)
            groups[left] = names[np.bincount(places, weights=rows[~left]).argmin()]
    return groups


def pooled_counts(counts: Counts, base: Counts, min_count: int) -> Counts:
    """Let the states with fewer than ``min_count`` rows share these, or more, as ``base`` says.

    All arrays have shape (n_states,). If no row has a rare state, they stay without. The sum stays what it is
    unless it is below ``min_count`` itself.
    """
    rare = counts < min_count
    total = counts[rare].sum()
    if total == 0:
        return counts
    pooled = counts.copy()
    if total < min_count and not rare.all():
        partner = int(np.where(rare, -1.0, base).argmax())
        both = total + counts[partner]
        # Which of the two it is depends on their sum alone, so that it tells nothing of the rare ones either.
        if both >= 2 * min_count:
            pooled[partner] = both - min_count
        else:
            rare[partner], total = True, both
    pooled[rare] = max(total, min_count) * base[rare] / base[rare].sum()
    return pooled
