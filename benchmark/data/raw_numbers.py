"""The raw numbers behind bins: kept beside the codes, carried along with rows, and drawn for rows without."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import DataError

if TYPE_CHECKING:
    from benchmark.data.table import Table


@dataclass(frozen=True, eq=False)
class Numbers:
    """The numbers that some columns of a table were cut from."""

    columns: tuple[str, ...]  # names of the columns
    # Shape (n_rows, n_columns), in the units of the file; NaN where a row's value is missing or no number.
    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or self.values.shape[1] != len(self.columns):
            raise DataError(
                "The numbers do not fit their columns",
                expected=f"shape (n_rows, {len(self.columns)})",
                got=f"shape {self.values.shape}",
            )
        self.values.flags.writeable = False

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> Numbers:
        """Return the numbers of row positions (repeats allowed), or of a row mask."""
        return Numbers(self.columns, np.asfortranarray(self.values[rows]))

    def without(self, column: str) -> Numbers | None:
        """Return the numbers of all other columns, or None if there are none."""
        if column not in self.columns:
            return self
        kept = [i for i, name in enumerate(self.columns) if name != column]
        names = tuple(self.columns[i] for i in kept)
        return Numbers(names, self.values.T[kept].T) if kept else None

    def of(self, column: str) -> NDArray[np.float64]:
        """Return the numbers of one of the columns, shape (n_rows,)."""
        return self.values[:, self.columns.index(column)]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of columns and numbers, as 64 hexadecimal digits."""
        h = hashlib.sha256(repr((self.columns, self.values.shape)).encode())
        h.update(self.values.astype("<f8").tobytes(order="F"))
        return h.hexdigest()


def numbered(
    table: Table,
    data: Table,
    numbers: Numbers,
    known: NDArray[np.intp] | None,
    own: NDArray[np.intp] | None,
    lots: Callable[[str], np.random.Generator],
) -> Table:
    """Return a table with numbers: those of the data where its rows are rows of these, else drawn.

    What is drawn is one of the numbers that the data have in the same bin, each as probable as it is frequent
    there, independently of all else given the bin. A state in which the data have no number gives NaN.

    Parameters
    ----------
    table : Table
        Rows without numbers.
    data, numbers : Table, Numbers
        The data and their numbers. Columns that have numbers have the same states in both tables, apart from
        states that were added at the end of those of ``table``.
    known : ndarray of int, optional
        Which of the data's rows numbers are drawn from; all unless given.
    own : ndarray of int, shape (n_rows,), optional
        Which of the data's rows those of the table are; none unless given. A row whose state is another one
        there gets a drawn number.
    lots : callable(str) -> Generator
        The random numbers of each column, by name.
    """
    columns = tuple(name for name in numbers.columns if name in table.schema.names)
    if not columns:
        return table
    values = np.empty((len(table), len(columns)), order="F")
    for place, name in enumerate(columns):
        codes, theirs = table.codes[:, table.schema.index(name)], data.codes[:, data.schema.index(name)]
        values[:, place] = _drawn(codes, theirs, numbers.of(name), known, lots(name).random(len(table)))
        if own is not None:
            same = codes == theirs[own]
            values[same, place] = numbers.of(name)[own[same]]
    return replace(table, numbers=Numbers(columns, values))


def _drawn(
    codes: NDArray[np.int16],
    theirs: NDArray[np.int16],
    numbers: NDArray[np.float64],
    known: NDArray[np.intp] | None,
    lots: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return, for each code and each lot in [0, 1), one of the numbers of the rows with that code."""
    if known is not None:
        theirs, numbers = theirs[known], numbers[known]
    there = ~np.isnan(numbers)
    theirs, numbers = theirs[there], numbers[there]
    # Sorted, so that the order of the data's rows does not matter.
    numbers = np.append(numbers[np.lexsort((numbers, theirs))], np.nan)
    count = np.bincount(theirs, minlength=int(codes.max(initial=0)) + 1)
    first = np.cumsum(count) - count
    place = first[codes] + (lots * count[codes]).astype(np.intp)
    return np.asarray(numbers[np.where(count[codes] > 0, place, -1)])
