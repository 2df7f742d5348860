"""The raw numbers behind bins: they stand beside the codes, follow rows, and are drawn for new rows."""

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

_Codes = NDArray[np.int16]
_Array = NDArray[np.float64]
_RowPositions = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Numbers:
    """The numbers that some columns of a table were cut from."""

    columns: tuple[str, ...]  # names of the columns
    # Shape (n_rows, n_columns), in the units of the file; NaN if a value is missing or no number.
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
        """Return the numbers of some rows, given by positions (repeats allowed) or by a mask."""
        return Numbers(self.columns, np.asfortranarray(self.values[rows]))

    def without(self, column: str) -> Numbers | None:
        """Return the numbers of all other columns, or None if there are none."""
        if column not in self.columns:
            return self
        others = [i for i, name in enumerate(self.columns) if name != column]
        names = tuple(self.columns[i] for i in others)
        return Numbers(names, self.values.T[others].T) if others else None

    def of(self, column: str) -> NDArray[np.float64]:
        """Return the numbers of a column, shape (n_rows,)."""
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
    source_rows: _RowPositions | None,
    data_rows: _RowPositions | None,
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
    codes: _Codes, of_data: _Codes, numbers: _Array, source_rows: _RowPositions | None, lots: _Array
) -> _Array:
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
