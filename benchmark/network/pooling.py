"""Probability tables in which every number is based on a minimum number of rows."""

import math

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.network.model import Network, state_counts

Counts = NDArray[np.float64]


def fit_pooled(
    table: Table, parents: tuple[tuple[int, ...], ...], *, min_count: int, pseudo_count: float = 0.0
) -> Network:
    r"""Return a network with probability tables from groups of at least ``min_count`` rows, 1 or more.

    With :math:`m` for ``min_count``, in two steps, by :func:`row_groups` and :func:`pooled_counts`:

    1. Parent configurations that fewer than :math:`m` rows have are grouped, and a group has one
       distribution. The groups are a partition of the rows: no row counts in two distributions.
    2. In a group with :math:`n_x` rows of state :math:`x`, a state is *rare* if :math:`n_x < m`;
       :math:`T` is the number of rows with rare states. If :math:`0 < T < m`, the group's size minus its
       other counts would reveal :math:`T`, so a *partner* joins the rare states. It is the state that is not
       rare with the greatest :math:`b_x`, the column's count over all rows, pooled likewise. With at least
       :math:`2m` rows in the rare states and the partner :math:`p` together,

       .. math:: n'_p = n_p + T - m, \qquad T' = m;

       with fewer, the partner is rare as well. Else :math:`T' = T`, or :math:`m` where all states are rare
       and have fewer. Rare states share :math:`T'` in proportion to :math:`b_x`, all others keep :math:`n_x`.
       Published is :math:`P(x) = (n'_x + a) / \sum_y (n'_y + a)` with the pseudo-count :math:`a`.

    Whether all rare states together have one row or :math:`m` changes no number, even if the number of rows
    in the group is known. Which of several rare states a row has changes only :math:`b`. A zero means that
    none of at least :math:`m` rows has the state. This is a threshold rule, as statistical offices use it. It
    does not protect against readers who know all persons but one, or who subtract one table from another.
    """
    cardinalities = table.schema.cardinalities
    cpts = []
    for i, column_parents in enumerate(parents):
        counts = state_counts(table, i, column_parents).astype(np.float64)
        base = pooled_counts(counts.sum(axis=0), np.ones(counts.shape[1]), min_count)
        sizes = [int(cardinalities[p]) for p in column_parents]
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
    """Return the group number of each parent configuration; a group's rows are counted together.

    A configuration with ``min_count`` rows is a group by itself. Small ones join each other if they share
    all parents' states but the last. If these have fewer than ``min_count`` rows in total, small ones join
    that share all states but the last two, and so on. If all remaining ones have too few rows, they join the
    smallest group. If they have no rows, or if there is no other group, their number is -1.

    ``rows``, shape (n_configurations,), are the rows of each configuration in the order of
    :class:`~benchmark.network.model.Network`, and ``sizes`` the parents' numbers of states.
    """
    groups = np.arange(len(rows))
    small = rows < min_count
    first_free = len(rows)
    for depth in range(len(sizes) - 1, -1, -1):
        prefix = np.arange(len(rows)) // math.prod(sizes[depth:])
        together = np.bincount(prefix, weights=rows * small)[prefix]
        joined = small & (together >= min_count)
        groups[joined] = first_free + prefix[joined]
        small &= ~joined
        first_free += len(rows)
    if small.any():
        groups[small] = -1
        if rows[small].any() and not small.all():
            names, positions = np.unique(groups[~small], return_inverse=True)
            groups[small] = names[np.bincount(positions, weights=rows[~small]).argmin()]
    return groups


def pooled_counts(counts: Counts, base: Counts, min_count: int) -> Counts:
    """Return counts in which states with below ``min_count`` rows share theirs in proportion to ``base``.

    All arrays have shape (n_states,). If no row has a rare state, the counts stay. Their sum stays unless it
    is below ``min_count``, to which it then rises.
    """
    rare = counts < min_count
    total = counts[rare].sum()
    if total == 0:
        return counts
    pooled = counts.copy()
    if total < min_count and not rare.all():
        partner = int(np.where(rare, -1.0, base).argmax())
        both = total + counts[partner]
        # This depends on the sum alone, so that it reveals nothing about the rare states.
        if both >= 2 * min_count:
            pooled[partner] = both - min_count
        else:
            rare[partner], total = True, both
    pooled[rare] = max(total, min_count) * base[rare] / base[rare].sum()
    return pooled
