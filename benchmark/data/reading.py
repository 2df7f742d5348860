"""The account of how a file was read: labels, groups, rows left out. It is printed first."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.text.words import few, share

FEW_ROWS = 30  # fewest rows from which a group's numbers tell anything

_Mask = NDArray[np.bool_]
_Sides = NDArray[np.float64]  # whether each row is on a side: 1, 0, or NaN if that is unknown
_MOST_SHOWN = 8  # values that a line names
_CLEAR, _LARGE = 3.0, 0.05  # standard errors, and distance, from which two shares differ clearly


@dataclass(frozen=True)
class Remark:
    """A warning: a line that says what it is, and what else a reader may need."""

    short: str
    more: str = ""

    def __str__(self) -> str:
        return f"{self.short} {self.more}".rstrip()


@dataclass(frozen=True)
class Part:
    """One side of the label, or of the groups."""

    role: str  # ``"favorable"``, ``"unfavorable"``, ``"deprived"`` or ``"favored"``
    column: str  # name of the column
    # The values of the file on this side, each with its rows, the most frequent first.
    values: tuple[tuple[str, int], ...]
    rows: int  # number of rows
    favorable: int  # number of rows with the favorable label
    n_rows: int  # number of rows on both sides
    name: str = ""  # the name of numbers that a condition chose: ``"10 and more"``
    span: str = ""  # the smallest and the largest of these numbers

    @property
    def named(self) -> str:
        """The column and its values, in few words."""
        return f"{self.column} = {self.name or few([value for value, _ in self.values], 3, 'others')}"

    def __str__(self) -> str:
        if self.name:
            text = f"{self.column} = {self.name} ({self.span}): {self.rows:,} rows"
        elif len(self.values) == 1:
            text = f"{self.column} = {self.values[0][0]!r}: {self.rows:,} rows"
        else:
            named = [f"{value!r} ({n:,})" for value, n in self.values]
            text = f"{self.column} = {few(named, _MOST_SHOWN, 'other values')}: {self.rows:,} rows"
        if self.role in ("favorable", "unfavorable"):
            return f"{self.role} label: {text}, {share(self.rows / self.n_rows)}."
        rate = share(self.favorable / self.rows)
        return f"{self.role} group: {text}, of which {rate} have the favorable label."


@dataclass(frozen=True)
class LeftOut:
    """Rows that are left out, and whether this is associated with the label or the group."""

    rows: int  # number of rows
    why: str  # the reason, in words that follow "rows with"
    # Share of favorable labels, and of the deprived group, among these rows and among the rows that are read;
    # None if no row's is known.
    with_label: tuple[float, float] | None = None
    with_group: tuple[float, float] | None = None
    goes_with: str = ""  # ``"label"`` or ``"group"`` if both shares differ clearly
    may_turn: bool = False  # whether these rows could change which group is better off

    def __str__(self) -> str:
        rows, verb = ("row", "is") if self.rows == 1 else ("rows", "are")
        text = f"{self.rows:,} {rows} with {self.why} {verb} left out"
        if shares := self.with_label or self.with_group:
            out, others = map(share, shares)
            have = "have the favorable label" if self.with_label else "are in the deprived group"
            text += f": {out} of them {have}, {others} of the others"
        if not self.goes_with:
            return f"{text}."
        turn = " and could change which group is better off" * self.may_turn
        return f"{text}. So leaving them out is associated with the {self.goes_with}{turn}."


@dataclass(frozen=True)
class ColumnReading:
    """How one column of a file was read: a row of the table of what was read, dropped and merged."""

    name: str
    read_as: str  # ``"label"``, ``"group"``, ``"number"``, ``"category"``, ``"person"`` or ``"dropped"``
    states: tuple[str, ...] = ()  # its values, or bins of its numbers; none if it is dropped
    missing: int = 0  # rows whose value is missing
    merged: int = 0  # rows whose rarer value is read as one state for all of them
    reason: str = ""  # why it is dropped, or what to check


@dataclass(frozen=True)
class Reading:
    """How a file was read."""

    file: str  # name of the file
    rows_in_file: int
    rows: int  # rows that are read
    parts: tuple[Part, ...]  # the favorable and the unfavorable label, the deprived and the favored group
    left_out: tuple[LeftOut, ...]  # rows that are left out
    numbers: tuple[str, ...] = ()  # sentences on columns that do not write numbers as Python does
    merged: str = ""  # advice, if several unnamed values count as unfavorable
    unseen: tuple[str, ...] = ()  # sentences on what a look at the file may miss: blanks, further sheets
    about_columns: tuple[Remark, ...] = ()  # warnings on groups and columns
    columns: tuple[ColumnReading, ...] = ()  # each column of the file, in its order

    def lines(self) -> Iterator[str]:
        """Yield the lines of the account, without the warnings."""
        of = f" of {self.rows_in_file:,}" if self.rows < self.rows_in_file else ""
        yield f"How {self.file} is read, {self.rows:,}{of} rows:"
        for part in self.parts:
            yield f"- {part}"
            if part.role == "unfavorable" and self.merged:
                yield f"  {self.merged}"
        yield from (f"- {rows}" for rows in self.left_out if not rows.goes_with)
        yield from (f"- numbers of {words}" for words in self.numbers)
        yield from (f"- {words}" for words in self.unseen)

    @property
    def warnings(self) -> tuple[Remark, ...]:
        """What a reader of any result needs: on rows left out, groups and columns."""
        left = (Remark(str(rows)) for rows in self.left_out if rows.goes_with)
        small = (
            Remark(
                f"The {part.role} group has {part.rows:,} rows. Numbers on fewer than {FEW_ROWS} rows are "
                "mostly chance: do not act on them."
            )
            for part in self.parts[2:]
            if part.rows < FEW_ROWS
        )
        return (*left, *small, *self.about_columns)

    def __str__(self) -> str:
        return "\n".join([*(f"Warning: {warning}" for warning in self.warnings), *self.lines()])


def left_out(rows: _Mask, why: str, read: _Mask, y: _Sides, member: _Sides) -> LeftOut:
    """Return a comparison of rows that are left out with the rows that are read.

    ``y`` tells for each row of the file whether it has the favorable label, ``member`` whether it is in the
    deprived group.
    """
    n, shares = int(rows.sum()), dict[str, Any]()
    for column, values in (("label", y), ("group", member)):
        out, others = values[rows & ~np.isnan(values)], values[read]
        if not len(out):
            continue
        both: dict[str, Any] = {f"with_{column}": (float(out.mean()), float(others.mean()))}
        together = np.concatenate([out, others]).mean()
        error = math.sqrt(together * (1 - together) * (1 / len(out) + 1 / len(others)))
        if abs(out.mean() - others.mean()) > max(_LARGE, _CLEAR * error):
            return LeftOut(n, why, **both, goes_with=column, may_turn=_may_turn(rows, read, y, member))
        shares |= both
    return LeftOut(n, why, **shares)


def _may_turn(rows: _Mask, read: _Mask, y: _Sides, member: _Sides) -> bool:
    """Return whether unknown labels or groups of rows left out could change which group is better off."""
    # The unknown value may be the same for all, or follow the known one, or be its opposite.
    of_group = (np.ones_like(y), np.zeros_like(y), y, 1 - y)
    of_label = (member, 1 - member)
    differences = []
    for group, label in itertools.product(of_group, of_label):
        groups = np.where(np.isnan(member), group, member)
        labels = np.where(np.isnan(y), label, y)
        one, other = (labels[(rows | read) & ~np.isnan(labels) & (groups == side)] for side in (1, 0))
        if len(one) and len(other):
            differences.append(float(one.mean() - other.mean()))
    now = float(y[read & (member == 1)].mean() - y[read & (member == 0)].mean())
    return any(difference * now < 0 for difference in differences)
