"""Pooled probabilities, computed slowly and plainly."""

import itertools
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table


def cell_counts(table: Table, columns: list[int]) -> list[tuple[list[int], int]]:
    """Return each combination of codes of some columns that rows have, and how many rows."""
    sizes = [table.schema.columns[c].cardinality for c in columns]
    cells, times = np.unique(
        np.ravel_multi_index(tuple(table.codes[:, columns].T), sizes), return_counts=True
    )
    return list(zip(np.transpose(np.unravel_index(cells, sizes)).tolist(), times.tolist(), strict=True))


def slowly_pooled(
    table: Table, parents: tuple[tuple[int, ...], ...], m: int, pseudo: float = 0.0
) -> list[NDArray[np.float64]]:
    """Return the tables of the docstring's formula, by counting row by row; all that is used has m rows."""
    sizes = [column.cardinality for column in table.schema.columns]

    def shared(counts: list[float], base: list[float]) -> list[float]:
        rare = [x for x, n in enumerate(counts) if n < m]
        kept = [x for x in range(len(counts)) if x not in rare]
        rows = sum(counts[x] for x in rare)
        if not rows:
            return counts
        found = list(counts)
        if rows < m and kept:
            partner = max(kept, key=lambda x: base[x])
            if rows + counts[partner] >= 2 * m:
                found[partner], rows = rows + counts[partner] - m, m
            else:
                rare, rows = [*rare, partner], rows + counts[partner]
        weight, rows = sum(base[x] for x in rare), max(rows, m)
        return [rows * base[x] / weight if x in rare else n for x, n in enumerate(found)]

    tables = []
    for i, own in enumerate(parents):
        seen = Counter({(tuple(c[:-1]), c[-1]): n for c, n in cell_counts(table, [*own, i])})
        every = list(itertools.product(*(range(sizes[p]) for p in own)))
        rows_of = {c: sum(seen[c, x] for x in range(sizes[i])) for c in every}
        base = shared([sum(seen[c, x] for c in every) for x in range(sizes[i])], [1.0] * sizes[i])
        group: dict[tuple[int, ...], Sequence[tuple[int, ...]]] = {c: [c] for c in every if rows_of[c] >= m}
        left = [c for c in every if c not in group]
        for depth in reversed(range(len(own))):
            for prefix in {c[:depth] for c in left}:
                together = [c for c in left if c[:depth] == prefix]
                if sum(rows_of[c] for c in together) >= m:
                    group |= dict.fromkeys(together, together)
            left = [c for c in left if c not in group]
        if sum(rows_of[c] for c in left):
            smallest = min(
                group.values(), key=lambda g: (sum(rows_of[c] for c in g), len(g) > 1, every.index(g[0]))
            )
            joined = [*smallest, *left]
            group |= dict.fromkeys(joined, joined)
        else:
            group |= dict.fromkeys(left, ())
        wanted = []
        for c in every:
            counts = [float(sum(seen[d, x] for d in group[c])) for x in range(sizes[i])]
            assert sum(counts) >= m or not group[c]
            wanted.append([n + pseudo for n in (shared(counts, base) if group[c] else base)])
        # Groups are a partition: no row counts in two distributions.
        assert sum({id(g): sum(rows_of[c] for c in g) for g in group.values()}.values()) == len(table)
        tables.append(np.array([[n / sum(row) for n in row] for row in wanted]))
    return tables
