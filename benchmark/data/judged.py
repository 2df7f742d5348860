"""A second label that people gave: their judgments, the judges, and the persons judged."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmark.data.persons import numbered
from benchmark.errors import DataError

if TYPE_CHECKING:
    from benchmark.data.card import Card
    from benchmark.data.raw import Records
    from benchmark.data.table import Table


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
        h = hashlib.sha256(self.favorable.astype("<i8").tobytes())
        for numbers in (self.judges, self.persons):
            h.update(numbers.astype("<i8").tobytes())
        return h.hexdigest()

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


def read_names(card: Card, records: Records, location: str) -> list[tuple[str, str]]:
    """Return judge and person of each row of a file, as written; empty if the card has no judged label.

    A DataError says that a row lacks one of them.
    """
    if card.judged is None:
        return []
    columns = (card.judged.judge, card.judged.person)
    judges, persons = ([raw.strip() for raw in records.columns[column]] for column in columns)
    for column, names in zip(columns, (judges, persons), strict=True):
        if "" in names:
            raise DataError(
                f"Nobody is named in line {records.lines[names.index('')]} of {location}, column {column!r}",
                expected="who judged, and who was judged, in each row",
                got="''",
                remedy="leave such rows out by [exclude], or correct 'judge' and 'person' under [judged]",
            )
    return list(zip(judges, persons, strict=True))


def judged_of(card: Card, codes: NDArray[np.int16], names: Sequence[tuple[str, str]]) -> Judged | None:
    """Return the judgments of all rows from the codes of the judged label; None if the card has none."""
    if card.judged is None:
        return None
    judges, persons = (numbered([pair[i] for pair in names]) for i in range(2))
    return Judged(codes == card.judged.label.states.index(card.favorable_label), judges, persons)
