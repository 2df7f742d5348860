"""What is known of a table's rows beside their states: scores, judgments, persons, and drawn numbers."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Numbers, Table


def _sha256(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()


@dataclass(frozen=True, eq=False)
class Score:
    """The number behind the label, which no technique sees: from the threshold on the label is favorable."""

    values: NDArray[np.float64]  # shape (n_rows,): the number of each row
    threshold: float  # the smallest favorable number
    half_range: float  # half of the distance between the smallest and the greatest possible number
    lowest: float = math.nan  # the smallest possible number; by default the smallest of these rows

    def __post_init__(self) -> None:
        if math.isnan(self.lowest) and len(self.values):
            object.__setattr__(self, "lowest", float(self.values.min()))

    @property
    def digest(self) -> str:
        """SHA-256 of the numbers, as 64 hexadecimal digits."""
        facts = repr((self.threshold, self.half_range, self.lowest))
        return _sha256(facts.encode(), self.values.astype("<f8").tobytes())

    def take(self, rows: NDArray[np.bool_] | NDArray[np.integer[Any]]) -> Score:
        """Return the score of some rows, given by a mask or by positions."""
        return replace(self, values=self.values[rows])


@dataclass(frozen=True, eq=False)
class Judged:
    """The judged label of each row; no technique sees it unless the bias ``judged`` makes it the label.

    Judges and persons are numbered in the order of the rows, so that only their identity is known.
    """

    favorable: NDArray[np.bool_]  # shape (n_rows,): whether the judged label is the favorable one
    judges: NDArray[np.intp]  # shape (n_rows,): who judged
    persons: NDArray[np.intp]  # shape (n_rows,): who was judged

    @property
    def digest(self) -> str:
        """SHA-256 of judged labels, judges and persons, as 64 hexadecimal digits."""
        columns = (self.favorable, self.judges, self.persons)
        return _sha256(*(column.astype("<i8").tobytes() for column in columns))

    def take(self, rows: NDArray[np.bool_] | NDArray[np.integer[Any]]) -> Judged:
        """Return the judgments of some rows, given by a mask or by positions."""
        return Judged(self.favorable[rows], self.judges[rows], self.persons[rows])

    def gap(self, table: Table) -> float:
        """Return the gap of the judged label: P(judged y+ | favored) - P(judged y+ | deprived)."""
        return _gap(self.favorable, table.deprived)

    def dose(self, table: Table) -> float:
        """Return the gap of the judged label minus the gap of the true label, on the rows of ``table``.

        It is negative if the judged labels of the groups differ less than the true ones.
        """
        return self.gap(table) - _gap(table.y, table.deprived)

    def shares(self, table: Table) -> NDArray[np.float64]:
        """Return the shares of misjudged rows by group and true label, shape (2, 2).

        Rows are the favored and the deprived group, columns the unfavorable and the favorable label. A share
        of no rows is NaN.
        """
        cells = 2 * table.deprived + table.y
        counts, wrong = (
            np.bincount(codes, minlength=4) for codes in (cells, cells[self.favorable != table.y])
        )
        with np.errstate(invalid="ignore"):
            return np.asarray(wrong / counts).reshape(2, 2)


def _gap(favorable: NDArray[np.bool_], deprived: NDArray[np.bool_]) -> float:
    return float(favorable[~deprived].mean() - favorable[deprived].mean())


@dataclass(frozen=True, eq=False)
class Persons:
    """The person of each row, numbered in the order of the rows, so that only identity is known."""

    numbers: NDArray[np.intp]  # shape (n_rows,)

    @property
    def digest(self) -> str:
        """SHA-256 of the numbers, as 64 hexadecimal digits."""
        return _sha256(self.numbers.astype("<i8").tobytes())

    def __len__(self) -> int:
        return int(self.numbers.max()) + 1


def numbered(names: Iterable[Hashable]) -> NDArray[np.intp]:
    """Return a number for each name, shape (n_rows,): distinct names are numbered from 0 as they occur."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.intp)


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


def with_numbers(
    table: Table,
    data: Table,
    numbers: Numbers,
    source_rows: NDArray[np.intp] | None,
    data_rows: NDArray[np.intp] | None,
    lots: Callable[[str], np.random.Generator],
) -> Table:
    """Return a table with numbers: the data's own for rows of the data, else drawn ones.

    A drawn number is one of the data's in the same bin, as probable as it is frequent there. Given the bin,
    it is independent of all else. A state without numbers in the data gives NaN. Columns with numbers have
    the same states in both tables; ``table`` may have more states at the end.

    Numbers are drawn from ``source_rows`` of the data, all unless given. ``data_rows``, shape (n_rows,), has
    the data's row of each row of the table. A row whose state has changed gets a drawn number; without
    ``data_rows`` all do. ``lots`` returns the random numbers of a column, by name.
    """
    if not (columns := tuple(name for name in numbers.columns if name in table.schema.names)):
        return table
    values = np.empty((len(table), len(columns)), order="F")
    for i, name in enumerate(columns):
        codes, of_data = table.codes[:, table.schema.index(name)], data.codes[:, data.schema.index(name)]
        values[:, i] = _drawn(codes, of_data, numbers.of(name), source_rows, lots(name).random(len(table)))
        if data_rows is not None:
            same = codes == of_data[data_rows]
            values[same, i] = numbers.of(name)[data_rows[same]]
    return replace(table, numbers=Numbers(columns, values))


def _drawn(
    codes: NDArray[np.int16],
    of_data: NDArray[np.int16],
    numbers: NDArray[np.float64],
    source_rows: NDArray[np.intp] | None,
    lots: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return for each code, and its lot in [0, 1), a number of one of the data's rows with that code."""
    if source_rows is not None:
        of_data, numbers = of_data[source_rows], numbers[source_rows]
    present = ~np.isnan(numbers)
    of_data, numbers = of_data[present], numbers[present]
    # Sorted, so that the order of the data's rows does not matter.
    numbers = np.append(numbers[np.lexsort((numbers, of_data))], np.nan)
    count = np.bincount(of_data, minlength=int(codes.max(initial=0)) + 1)
    first = np.cumsum(count) - count
    chosen = first[codes] + (lots * count[codes]).astype(np.intp)
    return np.asarray(numbers[np.where(count[codes] > 0, chosen, -1)])
