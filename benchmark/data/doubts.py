"""The two sides of a label, or of the groups: a user names them, and what is open is an error."""

from __future__ import annotations

import difflib
import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.data.raw import RawColumn
from benchmark.data.reading import FEW_ROWS
from benchmark.data.sniff import RawTable
from benchmark.data.states import MOST_STATES, Mask, figure, has_numbers, odd_values
from benchmark.errors import DataError
from benchmark.file_options import FileOptions, Named
from benchmark.text.words import as_number, few, in_list, values_in_list

ALL_OTHERS = "*"
"""What an option names for all values that the other side does not."""

_CONDITION = re.compile(r"(<=|>=|<|>)\s*(\S+)")
_IN_WORDS = {"<": "below {}", "<=": "up to {}", ">": "above {}", ">=": "{} and more"}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_SMALLEST_SHARE = 0.02  # a group with a smaller share of the rows counts as deprived only if it is named
_MOST_NAMED = 60  # columns that an error lists

Question = tuple[str, Mapping[str, str]]  # a sentence, and the options that answer it


class DoubtError(DataError):
    """A file can be read in several ways; its ``options`` are a proposal for one of them.

    With ``options`` the same command or call has nothing open. They are as typed, without a shell's quotes,
    and begin with what was ``given`` before.
    """

    def __init__(self, questions: Sequence[Question], given: FileOptions | None = None) -> None:
        self.options: dict[str, str] = {}
        for name, value in ((name, value) for _, options in questions for name, value in options.items()):
            before = self.options.get(name) or getattr(given, name, None)
            if before is not None and not isinstance(before, str):
                before = in_list(before)
            self.options[name] = f"{before},{value}" if before else value
        what = " ".join(f"{text.rstrip('.')}." for text, _ in questions)
        added = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        super().__init__(what, remedy=f"add {added}. This is a proposal: correct its values")

    @property
    def typed(self) -> str:
        """The options as typed in a terminal."""
        return shlex.join(f"--{name}={value}" for name, value in self.options.items())


def counted(column: RawColumn, chosen: Mask) -> list[tuple[str, int]]:
    """Return the chosen values of a column, each with its number of rows, most frequent first."""
    order = sorted(np.flatnonzero(chosen).tolist(), key=lambda i: -int(column.counts[i]))
    return [(column.values[i], int(column.counts[i])) for i in order]


def shown(column: RawColumn, chosen: Mask | None = None) -> str:
    """Return a text of a column's values, or of the chosen ones, with their rows, most frequent first."""
    values = counted(column, ~column.missing if chosen is None else chosen)
    rows = [f"{value!r} ({n:,} row{'s' * (n != 1)})" for value, n in values]
    return few(rows, MOST_STATES, "other values") or "nothing, as no row has a value"


def listed(values: Sequence[str], column: RawColumn) -> str:
    """Return values of a column as an option takes them, in quotes if commas could be read in two ways."""
    return in_list(values, quoted=any("," in value for value in column.values))


def meant(name: str, names: Iterable[str]) -> str:
    """Return a question for the name that was probably meant, or an empty text."""
    lower = {candidate.lower(): candidate for candidate in names}
    close = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.5)
    return f"did you mean {lower[close[0]]!r}? " if close else ""


def require_column(name: str, option: str, table: RawTable) -> None:
    """Raise a DataError unless a table has the column that an option names."""
    if name not in table.columns:
        raise DataError(
            f"The file has no column {name!r}",
            expected="one of " + few(list(map(repr, table.columns)), _MOST_NAMED, "others"),
            remedy=meant(name, table.columns) + f"name the column with --{option}{_by_place(table)}",
        )


def _by_place(table: RawTable) -> str:
    """Return how to name columns by their place, where a number in the header says that it may be a row."""
    if all(as_number(name) is None for name in table.columns):
        return ""
    return "; if the first line is a row and no header, name columns by their place: column_1, column_2, ..."


def missing_roles(table: RawTable, label: str, lacking: Sequence[str]) -> DoubtError:
    """Return an error that lists the file's columns, and the label's values, for options that are lacking."""
    columns = [f"{name!r} ({(~column.missing).sum():,} values)" for name, column in table.columns.items()]
    text = f"--{' and --'.join(lacking)} must be named. The columns are {few(columns, _MOST_NAMED, 'others')}"
    text += _by_place(table)
    if label:
        require_column(label, "label", table)
        text += f". {label!r} has the values {shown(table.columns[label])}"
    return DoubtError([(text, {name: "VALUE" if name == "favorable" else "COLUMN" for name in lacking})])


@dataclass(frozen=True)
class Side:
    """The values on one side."""

    values: frozenset[str]
    name: str  # of their state
    cut: float | None = None  # the number at which a condition cuts, if there is one

    def of(self, column: RawColumn) -> Mask:
        """Return a mask of this side's values of a column."""
        return np.array([value in self.values for value in column.values], dtype=bool)

    def rows(self, column: RawColumn) -> Mask:
        """Return a mask of the rows of a column that are on this side."""
        return self.of(column)[column.rows]


def two_sides(
    column: RawColumn, likely: str = "", **given: Named | None
) -> tuple[tuple[Side | None, Side | None], list[Question]]:
    """Return both sides that two options name, as far as they are known, and the questions that are open.

    ``given`` has the values of both options. A column of two values that differ by more than case needs one
    name; without any, no side is known. ``likely`` is a value that a question proposes for the first side. A
    DataError says that there is no such value, or that both sides have it.
    """
    stars = [own == ALL_OTHERS and ALL_OTHERS not in column.values for own in given.values()]
    named = [
        None if own is None or star else _named(column, own, option)
        for (option, own), star in zip(given.items(), stars, strict=True)
    ]
    n, questions = n_different(column), list[Question]()
    folded = {value.casefold() for value, _ in counted(column, ~column.missing)}
    several = n > 2 or len(folded) < n == 2  # Yes and yes may mean the same
    sides = [None if own is None else own[0] for own in named]
    for i, other in ((0, named[1]), (1, named[0])):
        if sides[i] is None and other is not None and (stars[i] or other[0].cut is not None or not several):
            sides[i] = other[1]
            at = other[0].cut
            if at is not None and not stars[i] and (odd := _odd_values(column, at)).any():
                text = f"{column.name!r} has words or codes among its numbers: {shown(column, odd)}"
                both = f"If they are no codes, name --{' and --'.join(given)}"
                questions.append((f"{text}. {both}", _as_missing(column, odd)))
    first, second = sides
    if first is None or second is None:
        if several or any(stars):
            questions.append(_question(column, dict(zip(given, sides, strict=True)), likely))
    elif both_have := sorted(first.values & second.values):
        raise DataError(
            f"{few(list(map(repr, both_have)))} of {column.name!r} cannot be {' as well as '.join(given)}",
            remedy=f"name each value once, in --{' or in --'.join(given)}",
        )
    return (first, second), questions


def _question(column: RawColumn, sides: Mapping[str, Side | None], likely: str) -> Question:
    """Return the question which values are on the sides that are not named."""
    lacking = [option for option, side in sides.items() if side is None]
    likely = likely or counted(column, ~column.missing)[0][0]
    text = f"{column.name!r} has {n_different(column):,} values: {shown(column)}. So "
    if len(lacking) == 2 and has_numbers(column):
        odd = odd_values(column)
        numbers = column.numbers[column.rows[~odd[column.rows]]]
        above = numbers[numbers > np.nanmin(numbers)]
        middle = max(float(np.nanmedian(numbers)), float(np.nanmin(above)))
        text += f"--{lacking[0]} must be a condition, or both sides must be named"
        return text, {lacking[0]: f"< {figure(middle)}", **_as_missing(column, odd)}
    text += f"--{' and --'.join(lacking)} must be named, and rows on neither side are left out"
    proposed = {lacking[0]: listed([likely], column)} if len(lacking) == 2 else {}
    taken = {value for side in sides.values() if side for value in side.values}
    taken |= {*same_values(column, likely)} if proposed else set()
    rest = [value for value, _ in counted(column, ~column.missing) if value not in taken]
    many = len(rest) > MOST_STATES and ALL_OTHERS not in column.values
    return text, proposed | {lacking[-1]: ALL_OTHERS if many else listed(rest, column)}


def n_different(column: RawColumn) -> int:
    """Return the number of different values of a column: equal numbers, as 1 and 1.0, are one."""
    return len({meaning for meaning, out in zip(_meanings(column), column.missing, strict=True) if not out})


def _meanings(column: RawColumn) -> list[float | str]:
    """Return each value as a number, or as text if it is none."""
    pairs = zip(column.values, column.numbers.tolist(), strict=True)
    return [value if math.isnan(number) else number for value, number in pairs]


def same_values(column: RawColumn, text: str) -> list[str]:
    """Return the values of a column that are a text, or the same number; the text itself comes first."""
    pairs = zip(column.values, _meanings(column), strict=True)
    same = [value for value, meaning in pairs if value == text or meaning == as_number(text)]
    return sorted(same, key=lambda value: value != text)


def _named(column: RawColumn, given: Named, option: str) -> tuple[Side, Side]:
    """Return the side that an option names, and the side of all other values."""

    def known(part: str) -> bool:
        return bool(same_values(column, part))

    parts = values_in_list(given, known, option)
    if isinstance(given, str) and not all(map(known, parts)):
        given = re.sub(rf"^{re.escape(column.name)}\s*=\s*", "", given).strip()
        parts = values_in_list(given, known, option)
        if not known(parts[0] if parts else "") and (condition := _CONDITION.fullmatch(given)):
            return _by_condition(column, condition[1], condition[2], option)
    if strangers := [part for part in parts if not known(part)]:
        hint = f"write --{option} '>= 10'; " if has_numbers(column) else meant(strangers[0], column.values)
        raise DataError(
            f"The column {column.name!r} has no value {strangers[0]!r}",
            expected=shown(column),
            remedy=f"{hint}write values as the file has them, several as A,B",
        )
    named = [same_values(column, part)[0] for part in parts]
    values = frozenset(value for part in parts for value in same_values(column, part))
    rest = [value for value, _ in counted(column, ~column.missing) if value not in values]
    return _side(column, named, values, option), _side(column, rest, frozenset(rest), f"not {option}")


def _side(column: RawColumn, names: Sequence[str], values: frozenset[str], option: str) -> Side:
    """Return a side that is named after its values, of equal numbers after the first."""
    meanings = dict(zip(column.values, _meanings(column), strict=True))
    first = list({meanings[name]: name for name in reversed(names)}.values())[::-1]
    name = " or ".join(first) if len(first) <= 3 else f"{first[0]} and {len(first) - 1} more"
    return Side(values, f"{name} ({option})" if name in {*column.values} - values else name)


def _by_condition(column: RawColumn, sign: str, text: str, option: str) -> tuple[Side, Side]:
    """Return the side of a condition such as ``< 25``, and the opposite side."""
    limit = as_number(text)
    if limit is None or np.isnan(column.numbers[~column.missing]).mean() > 0.5:
        raise DataError(
            f"'{sign} {text}' is no condition for the column {column.name!r}",
            expected="a condition such as '>= 10', for a column of numbers",
            got=shown(column),
            remedy=f"name values with --{option}",
        )
    whole = limit.is_integer() and not np.any(column.numbers % 1 > 0)
    at = limit if sign in ("<", ">=") else limit + 1 if whole else math.nextafter(limit, math.inf)

    def side(own: str) -> Side:
        on_it = column.places < at if own[0] == "<" else column.places >= at
        values = np.array(column.values)[on_it & ~column.missing].tolist()
        return Side(frozenset(values), _IN_WORDS[own].format(figure(limit or 0)), at)

    return side(sign), side(_OPPOSITE[sign])


def _odd_values(column: RawColumn, cut: float) -> Mask:
    """Return a mask of values of which it is not known on which side of a cut they are."""
    numbers, open_class = column.numbers[~np.isnan(column.numbers)], np.isnan(column.numbers)
    # Of an open class only the limit is known.
    below = open_class & (column.places < numbers.min()) & (cut <= column.places)
    above = open_class & (column.places > numbers.max()) & (cut > column.places)
    words = np.isnan(column.places) & ~column.missing
    return np.asarray(odd_values(column) | words | below | above)


def _as_missing(column: RawColumn, chosen: Mask) -> dict[str, str]:
    """Return the option that calls values of a column missing."""
    values = [f"{column.name}={value}" for value, _ in counted(column, chosen)]
    return {"missing": in_list(values)} if values else {}


def least_favored(codes: NDArray[np.integer[Any]], favorable: Mask, n_groups: int) -> int:
    """Return the group with the lowest share of favorable labels, among groups that are not tiny."""
    counts = np.bincount(codes, minlength=n_groups)
    rates = np.bincount(codes, weights=favorable, minlength=n_groups) / np.maximum(counts, 1)
    # The rate of a handful of people is chance.
    enough = min(max(FEW_ROWS, _SMALLEST_SHARE * len(codes)), np.sort(counts)[-2])
    return int(np.argmin(np.where(counts >= enough, rates, np.inf)))
