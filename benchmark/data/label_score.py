"""The number behind the label, and how it is read from a file."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmark.data.number_form import NumberForm
from benchmark.errors import DataError
from benchmark.text.words import as_number, share

if TYPE_CHECKING:  # the classes below are used without a card, too
    from benchmark.data.card import Card
    from benchmark.data.card_parts import ScoreColumn
    from benchmark.data.raw import Records
    from benchmark.data.table import Table

# Share of rows that contradict the number, above which it cannot be behind the label.
_MOST_CONTRARY = 0.1


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
        h = hashlib.sha256(repr((self.threshold, self.half_range, self.lowest)).encode())
        h.update(self.values.astype("<f8").tobytes())
        return h.hexdigest()

    def take(self, rows: NDArray[np.bool_] | NDArray[np.integer[Any]]) -> Score:
        """Return the score of some rows, given by a mask or by positions."""
        return replace(self, values=self.values[rows])


def read_numbers(card: Card, records: Records, location: str) -> list[float]:
    """Return the number behind the label of each row of a file; empty if the card names no such column.

    A DataError says that a value is no number, or outside the card's range.
    """
    if (declared := card.score) is None:
        return []
    form = NumberForm(card.source.decimal)
    low = -math.inf if declared.minimum is None else declared.minimum
    high = math.inf if declared.maximum is None else declared.maximum
    numbers = []
    for line, raw in zip(records.lines, records.columns[declared.column], strict=True):
        number = as_number(form.plain(raw.strip()))
        if number is None or not low <= number <= high:
            problem = "is none" if number is None else "is out of its range"
            where = f"line {line} of {location}, column {declared.column!r}"
            raise DataError(
                f"The number behind the label {problem} in {where}",
                expected="a number" + (f" from {low:g} to {high:g}" if math.isfinite(high - low) else ""),
                got=repr(raw),
                remedy="leave rows without a number out by [filter], or correct 'column', 'minimum' and "
                "'maximum' under [score] in the card",
            )
        numbers.append(number)
    return numbers


def score_of(card: Card, table: Table, numbers: Sequence[float]) -> Score | None:
    """Return the number behind the label of all rows, or None if the card names none.

    A DataError says that the number cannot decide the label, or that all rows have the same one.
    """
    if (declared := card.score) is None:
        return None
    values = np.array(numbers, dtype=np.float64)
    contrary = contrary_labels(table, values, declared)
    if contrary > _MOST_CONTRARY * len(table):
        raise DataError(
            f"The column {declared.column!r} is not the number behind the label of {card.name!r}",
            expected=f"{card.label} = {card.favorable_label!r} where it is {declared.threshold:g} or more, "
            "and nowhere else",
            got=f"another label in {contrary:,} of {len(table):,} rows ({share(contrary / len(table))})",
            remedy="correct 'column' and 'threshold' under [score] in the card, or 'favorable_label'",
        )
    low = float(values.min()) if declared.minimum is None else declared.minimum
    high = float(values.max()) if declared.maximum is None else declared.maximum
    if low == high:
        raise DataError(
            f"The number behind the label of {card.name!r} is the same in all rows",
            expected="numbers on both sides of the threshold",
            got=f"{low:g} in column {declared.column!r}",
            remedy="correct 'column' under [score] in the card",
        )
    return Score(values, declared.threshold, (high - low) / 2, low)


def contrary_labels(table: Table, values: NDArray[np.float64], declared: ScoreColumn) -> int:
    """Return the number of rows whose label contradicts the number behind it."""
    return int(((values >= declared.threshold) != table.y).sum())
