"""How a file was read: labels, groups, rows left out, and each column; and the error of what is open."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import DataError
from benchmark.file_options import FileOptions
from benchmark.text.words import as_number, few, in_list, is_one_of, share

FEW_ROWS = 30  # fewest rows from which a group's numbers tell anything

_MOST_SHOWN = 8  # values that a line names
_RATES = "one rate for each group, such as --true-rate deprived=0.4,favored=0.42"
_SIDES = ("favorable", "unfavorable", "deprived", "favored")

Question = tuple[str, Mapping[str, str | Sequence[str]]]  # a sentence, and the options that answer it


class DoubtError(DataError):
    """A file can be read in several ways; its ``options`` are a proposal for one of them.

    With ``options`` the same command or call has nothing open. They are as typed, without a shell's quotes,
    and begin with what was ``given`` before.
    """

    def __init__(self, questions: Sequence[Question], given: FileOptions | None = None) -> None:
        self.options: dict[str, str] = {}
        for name, value in ((name, value) for _, options in questions for name, value in options.items()):
            # A question about sides proposes a whole side.
            before = None if name in _SIDES else self.options.get(name) or getattr(given, name, None)
            texts = [own if isinstance(own, str) else in_list(own) for own in (before, value) if own]
            self.options[name] = ",".join(texts)
        what = " ".join(f"{text.rstrip('.')}." for text, _ in questions)
        added = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        super().__init__(what, remedy=f"add {added}. You decide: this is only a proposal")

    @property
    def typed(self) -> str:
        """The options as typed in a terminal."""
        return typed_options(self.options)


def typed_options(given: Mapping[str, object]) -> str:
    """Return options as typed in a terminal; several values are a list or a tuple."""
    texts = {name: in_list(own) if isinstance(own, list | tuple) else own for name, own in given.items()}
    return shlex.join(f"--{name.replace('_', '-')}={own}" for name, own in texts.items())


def typed(command: str, file: str, file_options: FileOptions, *more: str) -> str:
    """Return a command on a file as typed in a terminal, with what was said about the file."""
    return " ".join(
        ["betabench", command, shlex.quote(file), typed_options(file_options.given), *map(shlex.quote, more)]
    )


@dataclass(frozen=True)
class Part:
    """One side of the label, or of the groups."""

    role: str  # ``"favorable"``, ``"unfavorable"``, ``"deprived"`` or ``"favored"``
    column: str  # name of the column
    # The values of the file on this side, each with its rows, the most frequent first.
    values: tuple[tuple[str, int], ...]
    rows: int  # number of rows
    favorable: int  # number of rows with the favorable label
    name: str = ""  # the name of numbers that a condition chose: ``"10 and more"``

    def __str__(self) -> str:
        counted = [f"{value!r}" + f" ({n:,})" * (len(self.values) > 1) for value, n in self.values]
        text = f"{self.role}: {self.column} = {self.name or few(counted, _MOST_SHOWN)}: {self.rows:,} rows"
        if self.role in ("favorable", "unfavorable"):
            return f"{text}."
        return f"{text}, {share(self.favorable / self.rows)} favorable."


@dataclass(frozen=True)
class LeftOut:
    """Rows that are left out, and whether this is associated with the label or the group."""

    rows: int  # number of rows
    why: str  # the reason, in words that follow "rows with"
    compared: str = ""  # shares of the favorable label, or of the deprived group, in them and in the others
    goes_with: str = ""  # ``"label"`` or ``"group"`` if these shares differ clearly

    def __str__(self) -> str:
        rows = "1 row is" if self.rows == 1 else f"{self.rows:,} rows are"
        text = f"{rows} left out: {self.why}"
        if self.compared:
            text += f"; {self.compared}"
        if not self.goes_with:
            return f"{text}."
        return f"{text}. So leaving them out is associated with the {self.goes_with}."


@dataclass(frozen=True, eq=False)
class ColumnReading:
    """How one column of a file was read: a row of the table of what was read, dropped and merged."""

    name: str
    read_as: str  # ``"label"``, ``"group"``, ``"number"``, ``"category"``, ``"person"`` or ``"dropped"``
    reason: str = ""  # why it is dropped, or what to check
    missing: int = 0  # rows whose value is missing
    merged: int = 0  # rows whose rarer value is read as one state for all of them
    entry: Mapping[str, Any] = field(default_factory=dict)  # its table in the card; empty if it is no feature
    codes: NDArray[np.int16] = field(default_factory=lambda: np.empty(0, np.int16))  # each row's state
    ordered: bool = False  # whether its states have an order, as bins do

    @property
    def states(self) -> tuple[str, ...]:
        """Its values, or bins of its numbers; none if it is no feature."""
        return tuple(self.entry.get("states", ()))

    def __str__(self) -> str:
        """Return what a reader of the column must know."""
        parts = [f"{self.missing:,} rows lack a value"] * (self.missing > 0)
        parts += [f"{self.merged:,} rows have rarer values"] * (self.merged > 0)
        return "; ".join([*parts, *filter(None, [self.reason])])


@dataclass(frozen=True)
class Reading:
    """How a file was read."""

    file: str  # name of the file
    rows_in_file: int
    rows: int  # rows that are read
    parts: tuple[Part, ...]  # the favorable and the unfavorable label, the deprived and the favored group
    left_out: tuple[LeftOut, ...]  # rows that are left out
    columns: tuple[ColumnReading, ...] = ()  # those of the file, in its order
    forms: tuple[str, ...] = ()  # sentences on what a look at the file may miss
    notes: tuple[str, ...] = ()  # warnings on groups, columns and repeated rows

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader of any result needs: on rows left out, groups and columns."""
        small = (
            f"The {part.role} group has {part.rows:,} rows: its numbers are mostly chance. Do not use them."
            for part in self.parts[2:]
            if part.rows < FEW_ROWS
        )
        clear = (str(rows) for rows in self.left_out if rows.goes_with)
        return (*clear, *small, *self.notes)

    def __str__(self) -> str:
        columns = (f"{column.name}, {column.read_as}: {column}" for column in self.columns if str(column))
        others = (rows for rows in self.left_out if not rows.goes_with)
        lines = [f"- {line}" for line in (*self.parts, *others, *self.forms, *columns)]
        head = f"How {self.file} is read, {self.rows:,} of {self.rows_in_file:,} rows:"
        return "\n".join([*(f"Warning: {warning}" for warning in self.warnings), head, *lines])


def parse_rates(text: str) -> dict[str, float]:
    """Return rates by group from a text such as ``"F=0.4,M=0.42"``; a DataError says that it is malformed."""
    rates: dict[str, float] = {}
    end = 0
    # A name may hold commas and equals signs; a rate holds neither.
    for match in re.finditer(r"\s*(.+?)\s*=\s*([^=,]*?)\s*(?:,|$)", text):
        rate = as_number(match[2])
        if match.start() != end or rate is None or match[1] in rates:
            break
        rates[match[1]], end = rate, match.end()
    if not rates or end < len(text):
        problem = "The outside rates cannot be read"
        raise DataError(problem, expected=_RATES, got=repr(text), remedy="correct --true-rate")
    return rates


def rates_of_sides(given: Mapping[Any, float] | str, reading: Reading) -> dict[str, float]:
    """Return the rates of the groups ``"deprived"`` and ``"favored"``.

    ``given`` has rates by these two names, or by a group's only value, as the file writes it; a text is
    parsed. A DataError says that a rate is out of range, or a group unknown or without a rate.
    """
    rates = (
        parse_rates(given) if isinstance(given, str) else {str(name): float(r) for name, r in given.items()}
    )
    for name, rate in rates.items():
        if not 0 <= rate <= 1:  # NaN included
            percent = f"write {rate / 100:g} for {rate:g} %" if 1 < rate <= 100 else "correct --true-rate"
            expected = "a share of the group from 0 to 1"
            problem = f"The outside rate of {name!r} is out of range"
            raise DataError(problem, expected=expected, got=f"{rate:g}", remedy=percent)
    # A group of one value is named by it, too.
    sides = {
        part.role: [part.role, *filter(None, [part.name]), *dict(part.values[: len(part.values) == 1])]
        for part in reading.parts[2:]
    }
    found = {role: [rates[name] for name in rates if is_one_of(name, own)] for role, own in sides.items()}
    if len(rates) != 2 or not all(found.values()):
        raise DataError(
            f"The outside rates are not those of the two groups of {reading.parts[2].column!r}",
            expected=" and ".join(f"a rate of {' or '.join(map(repr, own))}" for own in sides.values()),
            got=", ".join(map(repr, rates)),
            remedy=f"give {_RATES}",
        )
    return {role: own[0] for role, own in found.items()}
