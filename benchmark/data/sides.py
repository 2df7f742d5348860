"""The two sides of a label or of the groups: the values that a user names for each."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.data.reading import FEW_ROWS
from benchmark.data.sniff import RawColumn
from benchmark.data.states import MOST_LEVELS, MOST_STATES, Mask, bin_names, cut_of
from benchmark.errors import DataError
from benchmark.text.words import as_number, few, values_in_list

_CONDITION = re.compile(r"(<=|>=|<|>)\s*(\S+)")
_SMALLEST_SHARE = 0.02  # of the rows, below which a group is not taken to be deprived unless it is named
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


@dataclass
class Side:
    """Values that a user chose, the name of their state, and where a condition cuts numbers."""

    values: frozenset[str]
    name: str
    cut: float | None = None
    opposite: str = ""  # the condition that all other numbers fulfil, where there is one

    def of(self, column: RawColumn) -> Mask:
        """Return which values of a column are chosen."""
        return np.array([value in self.values for value in column.values], dtype=bool)


def side(column: RawColumn, asked: str, option: str) -> Side:
    """Return the values that a user asks for: text as the file has it, numbers by value, or a condition."""
    asked, numbers = asked.strip(), column.numbers
    there = [value for value, gone in zip(column.values, column.missing, strict=True) if not gone]
    if asked not in there and (found := _CONDITION.fullmatch(asked)):
        limit = as_number(found[2])
        if limit is None or (~np.isnan(numbers[~column.missing])).sum() < max(1, 0.9 * len(there)):
            raise DataError(
                f"{asked!r} is no condition for the column {column.name!r}",
                expected="a condition such as '>= 10', for a column of numbers",
                got=shown(column),
                remedy=f"name values with --{option}",
            )
        at, low = cut_of(found[1], limit, numbers[~column.missing]), found[1][0] == "<"
        chosen = ~column.missing & (numbers < at if low else numbers >= at)
        values = frozenset(column.values[i] for i in np.flatnonzero(chosen))
        opposite = f"{_OPPOSITE[found[1]]} {found[2]}"
        return Side(values, bin_names([at], numbers[~column.missing])[0 if low else 1], at, opposite)
    parts = values_in_list(asked, there)
    named, matched = set[str](), set[str]()
    for value, own in zip(column.values, numbers, strict=True):
        same = [part for part in parts if value in there and (part == value or as_number(part) == own)]
        named |= {value} if same else set()
        matched |= set(same)
    if lacking := [part for part in parts if part not in matched]:
        many = (~np.isnan(numbers)).sum() > MOST_LEVELS
        hint = f"write --{option} '>= 10'; " if many else meant(lacking[0], there)
        raise DataError(
            f"The column {column.name!r} has no value {lacking[0]!r}",
            expected=shown(column),
            remedy=f"{hint}write values as the file has them, several as A,B",
        )
    name = " or ".join(parts) if len(parts) <= 3 else f"{parts[0]} and {len(parts) - 1} more"
    return Side(frozenset(named), name)


def least_favored(codes: NDArray[np.integer[Any]], favorable: Mask, n_groups: int) -> int:
    """Return the group that has the favorable label least often, of those that are no handful of rows."""
    counts = np.bincount(codes, minlength=n_groups)
    rates = np.bincount(codes, weights=favorable, minlength=n_groups) / np.maximum(counts, 1)
    # A handful of people has any rate.
    enough = min(max(FEW_ROWS, _SMALLEST_SHARE * len(codes)), np.sort(counts)[-2])
    return int(np.argmin(np.where(counts >= enough, rates, np.inf)))


def as_list(values: Sequence[str]) -> str:
    """Write values as an option takes them."""
    return ",".join(values)


def meant(name: str, known: Sequence[str]) -> str:
    """Return which of the known names was probably meant, as a question, or nothing."""
    close = difflib.get_close_matches(name.lower(), [own.lower() for own in known], n=1, cutoff=0.5)
    return next((f"did you mean {own!r}? " for own in known if [own.lower()] == close), "")


def shown(column: RawColumn, chosen: Mask | None = None) -> str:
    """Return the values of a column, or those chosen, with their rows, the most frequent first."""
    own = ~column.missing if chosen is None else chosen
    rows = [f"{value!r} ({n:,} rows)" for value, n in counted(column, own)]
    return few(rows, MOST_STATES, "other values") or "nothing, as no row has a value"


def counted(column: RawColumn, chosen: Mask | None = None) -> list[tuple[str, int]]:
    """Return the values of a column, or those chosen, each with its rows, the most frequent first."""
    own = np.arange(len(column.values)) if chosen is None else np.flatnonzero(chosen)
    order = sorted(own.tolist(), key=lambda i: -int(column.counts[i]))
    return [(column.values[i], int(column.counts[i])) for i in order]
