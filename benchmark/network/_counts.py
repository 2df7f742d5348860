"""Counting of coded rows for structure learning."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from benchmark.data.table import distinct

_SMALL = 256  # counts below this are scored once per value instead of once per cell


def members(mask: int) -> Iterator[int]:
    """Yield the columns of a bit mask in ascending order."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


@dataclass(frozen=True, eq=False)
class Rows:
    """The distinct rows of a coded table and how often each occurs."""

    codes: NDArray[np.int16]  # shape (n_columns, n_distinct)
    weights: NDArray[np.int64]  # shape (n_distinct,): number of occurrences
    cardinalities: tuple[int, ...]  # declared number of states of each column
    total: int  # rows before collapsing

    @property
    def n_columns(self) -> int:
        return len(self.cardinalities)

    def grouped(self, mask: int) -> Rows:
        """Return a row for all that agree in the columns of ``mask``; its other columns mean nothing."""
        columns = list(members(mask))
        first, inverse = distinct(self.codes[columns], tuple(self.cardinalities[i] for i in columns))
        weights = np.bincount(inverse, self.weights).astype(np.int64)
        return replace(self, codes=np.ascontiguousarray(self.codes[:, first]), weights=weights)


def collapse(codes: NDArray[np.int16], cardinalities: Sequence[int] | NDArray[np.integer[Any]]) -> Rows:
    """Return the distinct rows.

    ``codes``, shape (n_rows, n_columns), are the codes of a :class:`~benchmark.data.table.Table`.
    ``cardinalities`` has the number of states of each column, and each code is below it.
    """
    sizes = tuple(int(size) for size in cardinalities)
    rows = Rows(codes.T, np.ones(len(codes), dtype=np.int64), sizes, len(codes))
    return rows.grouped((1 << len(sizes)) - 1)


@njit(cache=True, nogil=True)
def _term(count: int, pseudo: float) -> float:
    if pseudo == 0.0:
        return count * math.log(count)
    return math.lgamma(count + pseudo) - math.lgamma(pseudo)


@njit(cache=True, nogil=True)
def score_counts(counts: NDArray[np.int64], pseudo: float) -> float:
    """Return the sum of N ln N, or of ln Γ(N + pseudo) - ln Γ(pseudo), over all counts N > 0, in nats.

    ``counts`` have shape (n_cells,), zeros allowed; ``pseudo`` is the prior weight of one cell in rows, and
    0 selects N ln N.
    """
    repeats = np.zeros(_SMALL, dtype=np.int64)
    n_large = 0
    for count in counts:
        if count < _SMALL:
            repeats[count] += 1
        else:
            n_large += 1
    large = np.empty(n_large, dtype=np.int64)
    for count in counts:
        if count >= _SMALL:
            n_large -= 1
            large[n_large] = count
    total = 0.0
    for count in range(1, _SMALL):
        if repeats[count] > 0:
            total += repeats[count] * _term(count, pseudo)
    for count in np.sort(large):  # so that the sum does not depend on the order of the cells
        total += _term(count, pseudo)
    return total
