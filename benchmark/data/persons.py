"""The persons of a dataset's rows: a person's rows stand on one side of every split."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from benchmark.data.card_parts import MISSING_MARKS

if TYPE_CHECKING:
    from benchmark.data.card import Card
    from benchmark.data.raw import Records

EQUAL_ROWS = "rows"
"""The ``person`` of a card in which rows with the same features are one person's."""


@dataclass(frozen=True, eq=False)
class Persons:
    """The person of each row, numbered in the order of the rows, so that only identity is known."""

    numbers: NDArray[np.intp]  # shape (n_rows,)

    @property
    def digest(self) -> str:
        """SHA-256 of the numbers, as 64 hexadecimal digits."""
        return hashlib.sha256(self.numbers.astype("<i8").tobytes()).hexdigest()

    def __len__(self) -> int:
        return int(self.numbers.max()) + 1


def numbered(names: Sequence[Hashable]) -> NDArray[np.intp]:
    """Return a number for each name, shape (n_rows,): distinct names are numbered from 0 as they occur."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], dtype=np.intp)


def read_persons(card: Card, records: Records, location: str) -> list[Hashable]:
    """Return the person of each row of a file, as written; empty if the card names no persons."""
    if card.person is None:
        return []
    if card.person == EQUAL_ROWS:
        # Without the label: of rows with the same features, a model would train on the wrong labels alone.
        features = [spec.source or name for name, spec in card.columns.items() if name != card.label]
        cells = ([raw.strip() for raw in records.columns[column]] for column in features)
        return list(zip(*cells, strict=True))
    names = (raw.strip() for raw in records.columns[card.person])
    return [
        (location, line) if name in MISSING_MARKS else name
        for name, line in zip(names, records.lines, strict=True)
    ]


def persons_of(card: Card, names: Sequence[Hashable]) -> Persons | None:
    """Return the persons of all rows from their names; None if the card names no persons."""
    return None if card.person is None else Persons(numbered(names))


def units_of(persons: Persons | None, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the unit of each row, shape (n_rows,), numbered from 0: the person, or else the row itself.

    ``rows`` are positions among the dataset's rows.
    """
    if persons is None:
        return np.arange(len(rows))
    return np.asarray(np.unique(persons.numbers[rows], return_inverse=True)[1], dtype=np.intp)


def rows_of_units(units: NDArray[np.intp], drawn: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the rows of drawn units, one unit after the other; a unit may be drawn several times."""
    order = np.argsort(units, kind="stable")
    first, last = (np.searchsorted(units[order], drawn, side=side) for side in ("left", "right"))
    within = np.arange((last - first).sum()) - np.repeat(
        np.cumsum(last - first) - (last - first), last - first
    )
    return np.asarray(order[np.repeat(first, last - first) + within], dtype=np.intp)
