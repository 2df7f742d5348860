"""The two sides of a label, or of the groups: the values that a user names for each."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.data.raw import RawColumn
from benchmark.data.reading import FEW_ROWS
from benchmark.data.states import MOST_LEVELS, MOST_STATES, Mask, bin_names, cut_of
from benchmark.errors import DataError
from benchmark.file_options import Named
from benchmark.text.words import as_number, few, in_list, values_in_list

_CONDITION = re.compile(r"(<=|>=|<|>)\s*(\S+)")
_SMALLEST_SHARE = 0.02  # a group with a smaller share of the rows counts as deprived only if it is named
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


@dataclass
class Side:
    """The values that a user chose for a side."""

    values: frozenset[str]
    name: str  # of their state
    cut: float | None = None  # the number at which a condition cuts, if there is one
    opposite: str = ""  # the opposite condition

    def of(self, column: RawColumn) -> Mask:
        """Return a mask of the chosen values of a column."""
        return np.array([value in self.values for value in column.values], dtype=bool)


def side(column: RawColumn, given: Named, option: str) -> Side:
    """Return the side that a user names: by values as the file has them, by numbers, or by a condition.

    A value that usually means missing, such as ``NA``, is a value of the side that names it.
    """
    numbers = column.numbers
    present = [value for value in column.values if value and value not in column.none]
    text = given.strip() if isinstance(given, str) else ""
    if text not in present and (condition := _CONDITION.fullmatch(text)):
        present = [value for value, missing in zip(column.values, column.missing, strict=True) if not missing]
        limit, numbers = as_number(condition[2]), column.places
        strange: Mask = np.isnan(numbers) & ~column.missing
        if limit is None or (~strange).sum() < max(1, 0.9 * len(present)):
            raise DataError(
                f"{text!r} is no condition for the column {column.name!r}",
                expected="a condition such as '>= 10', for a column of numbers",
                got=shown(column),
                remedy=f"name values with --{option}",
            )
        at, low = cut_of(condition[1], limit, numbers[~column.missing]), condition[1][0] == "<"
        open_classes = np.isnan(column.numbers) & ~np.isnan(numbers)
        least, most = (np.nanmin(column.numbers), np.nanmax(column.numbers))
        strange |= open_classes & ((numbers < least) & (at <= numbers) | (numbers > most) & (at > numbers))
        if strange.any():
            codes = in_list([f"{column.name}={column.values[i]}" for i in np.flatnonzero(strange)])
            raise DataError(
                f"The condition {text!r} does not tell on which side some values of {column.name!r} are",
                expected="numbers",
                got=shown(column, strange),
                remedy=f"if they mean missing, write --missing {shlex.quote(codes)}; else name values with "
                f"--{option}",
            )
        chosen = ~column.missing & (numbers < at if low else numbers >= at)
        values = frozenset(column.values[i] for i in np.flatnonzero(chosen))
        opposite = f"{_OPPOSITE[condition[1]]} {condition[2]}"
        return Side(values, bin_names([at], numbers[~column.missing])[0 if low else 1], at, opposite)
    by_number: dict[float | None, list[str]] = {}
    for value, number in zip(column.values, numbers.tolist(), strict=True):
        if value in present:
            by_number.setdefault(number, []).append(value)

    def meanings(part: str) -> list[str]:
        return [part] * (part in present) + by_number.get(as_number(part), [])

    parts = values_in_list(given, lambda part: bool(meanings(part)), option)
    if lacking := [part for part in parts if not meanings(part)]:
        many = (~np.isnan(numbers)).sum() > MOST_LEVELS
        hint = f"write --{option} '>= 10'; " if many else meant(lacking[0], present)
        raise DataError(
            f"The column {column.name!r} has no value {lacking[0]!r}",
            expected=shown(column),
            remedy=f"{hint}write values as the file has them, several as A,B",
        )
    parts = list(dict.fromkeys(meanings(part)[0] for part in parts))  # as the file writes them
    name = " or ".join(parts) if len(parts) <= 3 else f"{parts[0]} and {len(parts) - 1} more"
    values = frozenset(value for part in parts for value in meanings(part))
    return Side(values, f"{name} ({option})" if name in {*present} - values else name)


def least_favored(codes: NDArray[np.integer[Any]], favorable: Mask, n_groups: int) -> int:
    """Return the group with the lowest share of favorable labels, among groups that are not tiny."""
    counts = np.bincount(codes, minlength=n_groups)
    rates = np.bincount(codes, weights=favorable, minlength=n_groups) / np.maximum(counts, 1)
    # The rate of a handful of people is chance.
    enough = min(max(FEW_ROWS, _SMALLEST_SHARE * len(codes)), np.sort(counts)[-2])
    return int(np.argmin(np.where(counts >= enough, rates, np.inf)))


def meant(name: str, names: Sequence[str]) -> str:
    """Return a question for the name that was probably meant, or an empty text."""
    lower = [candidate.lower() for candidate in names]
    close = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.5)
    return f"did you mean {names[lower.index(close[0])]!r}? " if close else ""


def shown(column: RawColumn, chosen: Mask | None = None) -> str:
    """Return a text of a column's values, or of the chosen ones, with their rows, most frequent first."""
    positions = ~column.missing if chosen is None else chosen
    rows = [f"{value!r} ({n:,} rows)" for value, n in counted(column, positions)]
    return few(rows, MOST_STATES, "other values") or "nothing, as no row has a value"


def counted(column: RawColumn, chosen: Mask | None = None) -> list[tuple[str, int]]:
    """Return a column's values, or the chosen ones, each with its number of rows, most frequent first."""
    positions = np.arange(len(column.values)) if chosen is None else np.flatnonzero(chosen)
    order = sorted(positions.tolist(), key=lambda i: -int(column.counts[i]))
    return [(column.values[i], int(column.counts[i])) for i in order]
