"""From a coded table to a fitted network, whose numbers may rest on a minimum number of rows each."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from benchmark.data.card_parts import NetworkSettings
from benchmark.data.table import Table
from benchmark.errors import NetworkError
from benchmark.network.model import Network, fit_network, state_counts
from benchmark.network.search import learn_structure
from benchmark.seeding import generator

_MANY_COLUMNS = 150  # the time grows with the third power of their number


def merge_settings(settings: NetworkSettings, changes: Mapping[str, Any]) -> NetworkSettings:
    """Return settings with every change that is not None.

    A NetworkError means that a value is invalid.
    """
    changed = {name: value for name, value in changes.items() if value is not None}
    try:
        return NetworkSettings.model_validate({**settings.model_dump(), **changed})
    except ValidationError as error:
        flaws = (f"{'.'.join(map(str, e['loc']))}: {e['msg']}, not {e['input']!r}" for e in error.errors())
        raise NetworkError(
            "The network settings are invalid",
            expected="values that the card's section [network] takes",
            got="; ".join(flaws),
            remedy="correct the option or the section 'network'; docs/adding/dataset.md explains it",
        ) from None


def learn_network(
    table: Table,
    settings: NetworkSettings,
    *,
    required_edges: Sequence[tuple[str, str]] = (),
    forbidden_edges: Sequence[tuple[str, str]] = (),
) -> Network:
    """Return a network with a learned graph and probabilities, equal for equal tables and settings.

    The graph has all required and no forbidden edges (parent, child), named by column. An UnknownNameError
    means that an edge names no column, a NetworkError that edges contradict each other or the settings.
    """
    schema = table.schema
    structure = learn_structure(
        table.codes,
        schema.cardinalities,
        settings,
        required_edges=[(schema.index(a), schema.index(b)) for a, b in required_edges],
        forbidden_edges=[(schema.index(a), schema.index(b)) for a, b in forbidden_edges],
        rng=generator(0, purpose="structure search"),
        names=schema.names,
    )
    if settings.min_count > 1:
        return fit_pooled(
            table, structure.parents, min_count=settings.min_count, pseudo_count=settings.pseudo_count
        )
    return fit_network(table, structure.parents, pseudo_count=settings.pseudo_count)


def announcement(table: Table) -> str:
    """Return a line to show before a table's network is learned."""
    minutes = ", which takes minutes" if len(table.schema.columns) > _MANY_COLUMNS else ""
    return f"learning the network of {len(table.schema.columns)} columns{minutes}"


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
