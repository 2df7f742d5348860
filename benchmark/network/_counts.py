"""Counting of coded rows: the compiled part of structure learning.

Rows are packed into a few 64-bit words, so that a set of columns is a bit mask over those words, and
counting the configurations of a set is grouping equal masked words.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

_SMALL = 256  # counts below this are scored once per value instead of once per cell
# 2**64 / golden ratio, for Fibonacci hashing: Knuth, TAOCP 3, section 6.4
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def members(mask: int) -> Iterator[int]:
    """Yield the columns of a bit mask in ascending order."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


@dataclass(frozen=True, eq=False)
class Rows:
    """The distinct rows of a coded table and how often each occurs."""

    words: NDArray[np.uint64]  # shape (n_words, n_distinct): the rows, packed
    codes: NDArray[np.int16]  # shape (n_columns, n_distinct): the rows, one contiguous line per column
    weights: NDArray[np.int64]  # shape (n_distinct,): number of occurrences
    cardinalities: tuple[int, ...]  # declared number of states of each column
    column_bits: NDArray[np.uint64]  # shape (n_columns, n_words): which bits of the words hold each column
    total: int  # rows before collapsing

    @property
    def n_columns(self) -> int:
        return len(self.cardinalities)

    def bits(self, mask: int) -> NDArray[np.uint64]:
        """Return which bits of the words hold the columns of ``mask``, shape (n_words,)."""
        columns = list(members(mask))
        return np.asarray(np.bitwise_or.reduce(self.column_bits[columns], axis=0))


def collapse(codes: NDArray[np.int16], cardinalities: Sequence[int] | NDArray[np.integer[Any]]) -> Rows:
    """Return the distinct rows in the order of their first occurrence.

    ``codes``, shape (n_rows, n_columns), are the codes of a :class:`~benchmark.data.table.Table`.
    ``cardinalities`` has the number of states of each column, and each code is below it.
    """
    sizes = tuple(int(size) for size in cardinalities)
    places = _places(sizes)
    n_words = places[-1][0] + 1
    words = np.zeros((n_words, len(codes)), dtype=np.uint64)
    column_bits = np.zeros((len(sizes), n_words), dtype=np.uint64)
    for column, (word, shift, width) in enumerate(places):
        words[word] |= codes[:, column].astype(np.uint64) << np.uint64(shift)
        column_bits[column, word] = ((1 << width) - 1) << shift
    ones = np.ones(len(codes), dtype=np.int64)
    words, weights = group(words, np.bitwise_or.reduce(column_bits, axis=0), ones)
    distinct = np.empty((len(sizes), len(weights)), dtype=np.int16)
    for column, (word, shift, width) in enumerate(places):
        distinct[column] = (words[word] >> np.uint64(shift)) & np.uint64((1 << width) - 1)
    return Rows(words, distinct, weights, sizes, column_bits, len(codes))


def _places(sizes: tuple[int, ...]) -> list[tuple[int, int, int]]:
    """Return the word, the lowest bit and the number of bits of each column, each within one word."""
    places = []
    word, used = 0, 0
    for size in sizes:
        width = max(1, (size - 1).bit_length())
        if used + width > 64:
            word, used = word + 1, 0
        places.append((word, used, width))
        used += width
    return places


@njit(cache=True, nogil=True)
def group(
    words: NDArray[np.uint64], bits: NDArray[np.uint64], weights: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the distinct values of the rows in ``bits``, and their weights, by hashing with linear probing.

    ``words`` are packed rows, C-contiguous and of shape (n_words, n); ``bits`` has shape (n_words,),
    ``weights`` (n,). The groups are in the order of their first row, other bits cleared, shape (n_words,
    n_groups). The sums of their weights have shape (n_groups,).
    """
    n_words, n = words.shape
    log_size = 4
    while (1 << log_size) < 2 * n:
        log_size += 1
    shift = np.uint64(64 - log_size)
    slots = np.full(1 << log_size, -1, dtype=np.int32)
    groups = np.empty((n_words, n), dtype=np.uint64)
    totals = np.empty(n, dtype=np.int64)
    n_groups = 0
    for row in range(n):
        mixed = np.uint64(0)
        for word in range(n_words):
            mixed = (mixed ^ (words[word, row] & bits[word])) * _GOLDEN
            mixed ^= mixed >> np.uint64(32)
        slot = np.int64((mixed * _GOLDEN) >> shift)
        while True:
            candidate = slots[slot]
            if candidate < 0:
                slots[slot] = n_groups
                for word in range(n_words):
                    groups[word, n_groups] = words[word, row] & bits[word]
                totals[n_groups] = weights[row]
                n_groups += 1
                break
            same = True
            for word in range(n_words):
                same &= groups[word, candidate] == words[word, row] & bits[word]
            if same:
                totals[candidate] += weights[row]
                break
            slot = (slot + 1) & ((1 << log_size) - 1)
    return groups[:, :n_groups].copy(), totals[:n_groups].copy()


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
