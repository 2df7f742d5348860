"""Rows that are not independent of each other: people with several rows, and copies of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmark.data.raw import RawColumn
from benchmark.data.states import DATES, MOST_STATES, like_weight, useless

_REPEATED = 0.01  # share of rows from which repeats count
_FEW = 0.01  # different values per row, at least, in a column that names people
_PAIRS, _DIFFER = 10.0, 0.02  # pairs of rows that would differ by chance, and how often they do, at most
_BANDS = 5  # fewest numbers in a band, on average
_FINE, _BY_CHANCE = 0.005, 0.2  # share of pairs that agree in a fine column, and in all others, at most
_ALIKE = 0.7  # share of pairs that agree in the last column, of those that agree in all others


def naming_people(columns: Mapping[str, RawColumn], label: str, sensitive: str) -> dict[str, tuple[int, int]]:
    """Return the columns that seem to name people who have several rows: their numbers of values and rows.

    Nearly all rows of a value are of one group, which chance would not do. Copies of whole rows do not count,
    because with them each number seems to name a person.
    """
    others = {name: column for name, column in columns.items() if name not in (label, sensitive)}
    groups, known = [columns[sensitive].rows], 1
    if np.isfinite(columns[sensitive].numbers).sum() > MOST_STATES:
        # Numbers such as ages grow, but two other columns show a person; a column tells itself.
        groups, known = [column.rows for column in others.values()], 3
    once, found = first_rows(columns), {}
    for name, column in others.items():
        present = column.counts[~column.missing]
        n, n_rows = len(present), int(present.sum())
        if n <= max(MOST_STATES, _FEW * n_rows) or present[present > 1].sum() < _REPEATED * n_rows:
            continue
        if _measures(column, columns[sensitive].rows):
            continue
        if sum(_stays(column, codes, once) for codes in groups) >= known:
            found[name] = n, n_rows
    return found


def _measures(column: RawColumn, groups: NDArray[np.intp]) -> bool:
    """Return whether a column has fractions, dates, weights, or numbers of which the groups are bands."""
    numbers = column.numbers[~np.isnan(column.numbers)]
    # Each group has weights of its own, because weights follow its share of the population.
    if like_weight(column.name) or (numbers != np.round(numbers)).any() or useless(column) == DATES:
        return True
    members = groups[np.argsort(column.numbers[column.rows], kind="stable")]
    return len(numbers) == len(column.values) and _BANDS * (np.diff(members) != 0).sum() < len(numbers)


def _stays(column: RawColumn, groups: NDArray[np.intp], once: NDArray[np.intp]) -> bool:
    """Return whether the group stays the same in nearly all of some rows with the same value."""
    values, groups = column.rows[once], groups[once]
    order = np.argsort(values, kind="stable")
    pairs = (np.diff(values[order]) == 0) & ~column.missing[values[order][1:]]
    # Where only one group has values, as of pregnancies, they tell no person.
    shares = np.bincount(groups[~column.missing[values]]) / max(1, (~column.missing[values]).sum())
    expected = pairs.sum() * (1 - np.square(shares).sum())
    return bool(expected >= _PAIRS and (pairs & (np.diff(groups[order]) != 0)).sum() <= _DIFFER * expected)


def _hashed(columns: Sequence[NDArray[np.intp]]) -> tuple[NDArray[np.uint64], list[NDArray[np.uint64]]]:
    """Return a number for each row, equal for equal rows, and the part of each column in this sum."""
    rng = np.random.default_rng(0)
    parts = [rng.integers(2**64, size=int(codes.max()) + 1, dtype=np.uint64)[codes] for codes in columns]
    return np.sum(parts, axis=0, dtype=np.uint64), parts


def equal_rows(columns: Sequence[NDArray[np.intp]]) -> NDArray[np.intp]:
    """Return a number for each row, shape (n_rows,): equal for rows that are equal in all columns."""
    return np.unique(_hashed(columns)[0], return_inverse=True)[1]


def first_rows(columns: Mapping[str, RawColumn]) -> NDArray[np.intp]:
    """Return the first row of those that are equal in all columns but useless ones."""
    rows = [column.rows for column in columns.values() if not useless(column)]
    return np.unique(_hashed(rows)[0], return_index=True)[1] if rows else np.arange(0)


def copies(columns: Sequence[NDArray[np.intp]]) -> int:
    """Return how many rows seem to be copies of another row; 0 if people may be alike by chance.

    Other people agree by chance: then most pairs that agree in all columns but a certain one differ in this
    one. Copies agree in it, whichever it is, or agree in all others where they agree in a fine one.
    """
    rows, parts = _hashed(columns)
    repeated, equal = _equal_pairs(rows)
    every = len(rows) * (len(rows) - 1) / 2

    def seldom_shared(part: NDArray[np.uint64]) -> bool:
        alone, others = _equal_pairs(part)[1], _equal_pairs(rows - part)[1]
        return alone <= _FINE * every and others <= _BY_CHANCE * every and equal >= _ALIKE * alone

    if repeated < _REPEATED * len(rows):
        return 0
    copied = any(map(seldom_shared, parts)) or all(
        equal >= _ALIKE * _equal_pairs(rows - part)[1] for part in parts
    )
    return repeated if copied else 0


def _equal_pairs(rows: NDArray[np.uint64]) -> tuple[int, float]:
    """Return how many rows repeat another, and the number of pairs of equal rows."""
    counts = np.unique(rows, return_counts=True)[1].astype(float)
    return len(rows) - len(counts), float((counts * (counts - 1)).sum() / 2)
