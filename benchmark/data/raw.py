"""Columns of files and frames as they were read: distinct values as text, and what is asked of them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.data.card_parts import MISSING_MARKS
from benchmark.data.number_form import PLAIN, NumberForm
from benchmark.text.words import as_number, figure, share

# Open classes of numbers: a sign or word before the limit, or words behind it, and perhaps a unit.
_OPEN = r"(?:(?:(?P<strict>{})|{})\s*(?P<first>[^\s=]+)|(?P<last>\S+?)\s*(?:{}))(?:\s+[a-z]+)?"
_BELOW = re.compile(
    _OPEN.format(
        "<|under|below|less than|fewer than",
        "<=|≤|up to|at most",
        "(?:or|and) (?:less|fewer|under|below|younger)",
    ),
    re.IGNORECASE,
)
_ABOVE = re.compile(
    _OPEN.format(
        ">|over|above|more than", ">=|≥|at least|from", r"\+|plus|(?:or|and) (?:more|over|above|older|up)"
    ),
    re.IGNORECASE,
)
MOST_STATES, MOST_LEVELS = 12, 8  # most states of a category, and most distinct numbers that are a state each
NO_STATES = ("has no value in any row", "has the same value in every row")  # reasons of useless columns
DATES = "holds dates or times, which have no states"
_MOST_CODES = 3  # codes of missing values at one end of the numbers
_FEWEST_LEVELS = 3  # other numbers beside which a code stands out
_DATE = re.compile(
    r"(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}[- ][A-Za-z]{3,9}[- ]\d{2,4}|[A-Za-z]{3,9} \d{1,2},? \d{4})"
    r"([T ]+\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(:\d{2})?"
)
_CODE = re.compile(r"-?(9+[678]?|8+|7+)|-\d")
_ID = re.compile(
    r"(?i:(^|.*[_ .-])(id|uuid|guid|index|key|row|row_?names?|serial)$|unnamed: 0$)|.*[a-z](Id|ID)$"
)
_WEIGHT = re.compile(  # names of columns of weights: sample_weight, PWGTP, PERSONWT, WTMEC2YR
    r"(?!.*(birth|body|over|under|light))(.*[_ .-])?"
    r"(\w*(weights?|wgts?|wghts?)|\w{3,}wts?|fnlwgt|p?wgtp|wt(mec|int|sa|fa|ss)\w*)([_ .-]?\d+)?",
    re.IGNORECASE,
)
Mask = NDArray[np.bool_]


def like_weight(name: str) -> bool:
    """Return whether a column is named like weights of rows."""
    return _WEIGHT.fullmatch(name) is not None


@dataclass(frozen=True, eq=False)
class RawColumn:
    """A column of a file as text: its distinct values, and the value of each row."""

    name: str
    values: tuple[str, ...]  # without blanks around them, sorted
    rows: NDArray[np.intp]  # position of each row's value
    form: NumberForm | None = PLAIN  # how its numbers are written; None if all values are text
    none: frozenset[str] = frozenset()  # values that a user calls missing
    marks: frozenset[str] = MISSING_MARKS  # other values that mean missing; of a frame, only empty text
    order: tuple[str, ...] = ()  # the values of an ordered category of a frame, in their order
    n_file: int = 0  # rows of the file, if these are some of them

    @classmethod
    def from_written(
        cls, name: str, values: Iterable[str], codes: NDArray[np.intp], **more: Any
    ) -> RawColumn:
        """Return a column from distinct values as written, of which several may differ in blanks only."""
        stripped = [value.strip() for value in values]
        place = {value: i for i, value in enumerate(sorted({*stripped}))}
        rank = np.array([place[value] for value in stripped], dtype=np.intp)
        return cls(name, tuple(place), rank[codes], **more)

    @property
    def cells(self) -> NDArray[np.object_]:
        """The value of each row."""
        return np.array(self.values, dtype=object)[self.rows]

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """Number of rows of each value."""
        return np.bincount(self.rows, minlength=len(self.values))

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Whether each value means missing."""
        values = np.array(self.values)
        return (self.marked & np.isin(values, [*self.marks])) | np.isin(values, [*self.none])

    @cached_property
    def marked(self) -> NDArray[np.bool_]:
        """Whether each value usually means missing, also where it does not here."""
        usual = MISSING_MARKS - {"-"} if "+" in self.values else MISSING_MARKS
        return np.array([value in usual for value in self.values], dtype=bool)

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """Each value as a number; NaN if it is no number, or called missing."""
        # Codes of so many digits that several would be one floating-point number are text.
        wide = {int(value) for value in self.values if 15 < len(value) < 300 and value.isdecimal()}
        if len({*map(float, wide)}) < len(wide):
            return np.full(len(self.values), np.nan)
        return np.array([self._number(value) for value in self.values], dtype=np.float64)

    def _number(self, value: str) -> float | None:
        return None if self.form is None or value in self.none else self.form.number(value)

    @cached_property
    def places(self) -> NDArray[np.float64]:
        """Each value's number; of an open class, such as ``<1`` or ``65+``, a number beyond all others."""
        places, plain = self.numbers.copy(), np.unique(self.numbers[~np.isnan(self.numbers)])
        if len(plain) < 2:
            return places
        step = float(np.diff(plain).min())
        for i in np.flatnonzero(np.isnan(places) & ~self.missing).tolist():
            for form, sign in ((_BELOW, -1), (_ABOVE, 1)):
                if (match := form.fullmatch(self.values[i])) is None:
                    continue
                limit = self._number(match["first"] or match["last"])
                if limit is not None and (sign * (limit - plain) >= 0).all():
                    within = match["strict"] is None and limit not in plain
                    places[i] = limit if within else limit + sign * step
        return places

    @cached_property
    def meanings(self) -> list[float | str]:
        """Each value as a number, or as text if it is none."""
        pairs = zip(self.values, self.numbers.tolist(), strict=True)
        return [value if math.isnan(number) else number for value, number in pairs]

    @cached_property
    def n_different(self) -> int:
        """Number of different values: equal numbers, as 1 and 1.0, are one."""
        return len({meaning for meaning, out in zip(self.meanings, self.missing, strict=True) if not out})

    @property
    def has_commas(self) -> bool:
        """Whether values have commas, so that a list of them has quotes."""
        return any("," in value for value in self.values)

    @property
    def has_text_numbers(self) -> bool:
        """Whether most values of a frame's text, whose type is believed, are many numbers."""
        numbers = sum(as_number(value) is not None for value in self.values)
        return self.form is None and numbers > max(MOST_LEVELS, 0.9 * len(self.values))

    @cached_property
    def has_numbers(self) -> bool:
        """Whether it has many numbers, and few other values."""
        present = self.numbers[~self.missing]
        return bool((~np.isnan(present)).sum() > max(MOST_LEVELS, 0.5 * len(present)))

    @cached_property
    def odd(self) -> Mask:
        """A mask of values among many numbers that may mean missing: words, and codes as -9 or 99.

        Codes are far from all other numbers.
        """
        numbers = np.where(self.missing, np.nan, self.numbers)
        # Words are among few numbers as other categories are.
        odd = np.isnan(self.places) & ~self.missing & self.has_numbers
        for sign in (1, -1):
            ordered = np.unique(sign * numbers[~np.isnan(numbers)])[::-1]
            coded = [_CODE.fullmatch(figure(sign * number)) is not None for number in ordered]
            found, others = np.split(ordered, [[*coded, False].index(False)])
            if 0 < len(found) <= _MOST_CODES and len(others) >= _FEWEST_LEVELS:
                # A scale from -3 to 3 has few levels.
                below_zero = len(others) > MOST_LEVELS and sign < 0 and others[0] <= 0 < found[-1]
                if below_zero or found[-1] - others[0] > 0.5 * np.ptp(others):
                    odd |= np.isin(numbers, sign * found)
        return odd

    @cached_property
    def useless(self) -> str:
        """Why the column is no feature, or an empty text."""
        present = np.flatnonzero(~self.missing)
        n, n_rows = len(present), int(self.counts[present].sum())
        if not n:
            return NO_STATES[0]
        if n == 1 and n_rows == len(self.rows):
            return NO_STATES[1]
        values, numbers = [self.values[i] for i in present], self.numbers[present]
        if sum(bool(_DATE.fullmatch(value)) for value in values) >= 0.95 * n:
            return DATES
        if _ID.fullmatch(self.name) and n > max(MOST_STATES, 0.05 * n_rows):
            return f"has the name of an identifier, and {n:,} different values"
        if not np.isnan(numbers).any():
            steps = np.diff(self.numbers[self.rows])
            counting = (steps > 0).all() or (steps < 0).all() or np.ptp(numbers) < max(n, self.n_file)
            whole = n == n_rows == len(self.rows) >= 20 and (numbers == np.round(numbers)).all()
            return "numbers the rows" if whole and counting else ""
        if np.isnan(numbers).mean() < 0.1:
            return ""
        most = np.sort(self.counts[present])[::-1][: MOST_STATES - 1].sum()
        if n > MOST_STATES and (n > 0.5 * n_rows or (n > 4 * MOST_STATES and most < 0.5 * n_rows)):
            shown = f"the {MOST_STATES - 1} most frequent are {share(most / n_rows)} of the rows"
            if self.has_numbers:
                texts = [value for value, number in zip(values, numbers, strict=True) if math.isnan(number)]
                shown = f"{len(texts):,} are no numbers, such as {texts[0]!r}"
            return f"has {n:,} different values, of which {shown}"
        return ""

    def of(self, read: NDArray[np.bool_] | NDArray[np.intp]) -> RawColumn:
        """Return the column with some of its rows and their values only."""
        rows = self.rows[read]
        used = np.flatnonzero(np.bincount(rows, minlength=len(self.values)))
        values, n_file = tuple(self.values[i] for i in used), self.n_file or len(self.rows)
        return replace(self, values=values, rows=np.searchsorted(used, rows), n_file=n_file)


def counted(column: RawColumn, chosen: Mask) -> list[tuple[str, int]]:
    """Return the chosen values of a column, each with its number of rows, most frequent first."""
    order = sorted(np.flatnonzero(chosen).tolist(), key=lambda i: -int(column.counts[i]))
    return [(column.values[i], int(column.counts[i])) for i in order]


@dataclass(frozen=True, eq=False)
class RawRows:
    """The rows of a file or frame, and those of its columns that were asked for."""

    header: tuple[str, ...]  # distinct names of all columns
    columns: dict[str, RawColumn]
    lines: NDArray[np.intp]  # line number of each row
    files: NDArray[np.object_]  # path or URL of each row's file
    renamed: dict[str, str] = field(default_factory=dict)  # names of the file that were empty, or taken
    padded: dict[str, str] = field(default_factory=dict)  # a value with blanks that do not count, by column

    def place(self, row: int) -> str:
        """Return line and file of a row."""
        return f"line {self.lines[row]} of {self.files[row]}"
