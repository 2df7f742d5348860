"""Cells of group and label, and their sizes if the two were independent.

Massaging, reweighing and both samplings (Kamiran and Calders 2012) make training tables in which the label
does not depend on the group.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table

KAMIRAN_CALDERS = (
    "Kamiran and Calders (2012), Data preprocessing techniques for classification without discrimination, "
    "Knowledge and Information Systems 33(1)"
)
CELL_NAMES = (
    ("favored, unfavorable label", "favored, favorable label"),
    ("deprived, unfavorable label", "deprived, favorable label"),
)


def cell_counts(table: Table, weights: NDArray[np.float64] | None = None) -> NDArray[Any]:
    """Return the number of rows by group (deprived last) and label (favorable last), shape (2, 2).

    With ``weights``, shape (n_rows,), it is their sum.
    """
    cells = table.deprived.view(np.uint8) * 2 + table.y.view(np.uint8)
    return np.bincount(cells, weights, minlength=4).reshape(2, 2)


def independent_counts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return whole cell sizes under independence, with the same sizes of groups and classes.

    The exact size is P(s) P(y) n. Rounding one cell to the nearest integer fixes the other three, so the
    remaining discrimination is at most half a row in each group.
    """
    n, deprived, favorable = int(counts.sum()), int(counts[1].sum()), int(counts[:, 1].sum())
    both = (2 * deprived * favorable + n) // (2 * n)
    return np.array([[n - deprived - favorable + both, favorable - both], [deprived - both, both]])


def empty_cell(counts: NDArray[np.int64], lack: str, needed: NDArray[np.bool_] | bool = True) -> str | None:
    """Return the name of the first empty cell that is needed, with the lack that it means; or None."""
    names = (
        f"no training row is ({CELL_NAMES[d][y]}), {lack}" for d, y in np.argwhere((counts == 0) & needed)
    )
    return next(names, None)


def missing_members(table: Table) -> str | None:
    """Return the reason why rows cannot be resampled, an empty cell that has to grow, or None."""
    counts = cell_counts(table)
    return empty_cell(counts, "so there is no row to copy", independent_counts(counts) > 0)


def resample(table: Table, pick: Callable[[NDArray[np.intp], int, bool], NDArray[np.intp]]) -> Table:
    """Return a table whose cells have their sizes under independence: rows copied or left out, in order.

    ``pick(rows, size, grows)`` chooses ``size`` of a cell's positions ``rows``. They are copied once more if
    the cell grows, and stay if it shrinks. A cell that must more than double is first copied whole as often
    as fits.
    """
    counts = cell_counts(table)
    wanted = independent_counts(counts)
    chosen = []
    for (d, y), count in np.ndenumerate(counts):
        if count:
            rows = np.flatnonzero((table.deprived == bool(d)) & (table.y == bool(y)))
            copies, rest = divmod(int(wanted[d, y]), int(count))
            chosen += [np.tile(rows, copies), pick(rows, rest, copies > 0)]
    return table.take(np.sort(np.concatenate(chosen)))
