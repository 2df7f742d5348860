"""Forms of numbers in a column: decimal mark, separator of thousands, a sign such as $ or %."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from benchmark.errors import DataError
from benchmark.text.words import as_number

_MARKS = (".", ",")  # decimal marks
Thousands = Literal[".", ",", " ", "'"]  # separators of thousands
Unit = Literal["$", "€", "£", "¥", "%"]
UNITS: tuple[str, ...] = get_args(Unit)  # signs that may stand beside a number
_SPACES = ("\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}", "\N{THIN SPACE}")
_APOSTROPHES = ("\N{RIGHT SINGLE QUOTATION MARK}",)
_PLAIN = {**dict.fromkeys(map(ord, _SPACES), " "), **dict.fromkeys(map(ord, _APOSTROPHES), "'")}
_EXCHANGED = str.maketrans(",.", ".,")
_SIGNS = rf"[\s+\-{re.escape(''.join(UNITS))}]*"
_LIKE_A_NUMBER = re.compile(
    rf"{_SIGNS}[.,]?\d[\d.,' {''.join(_SPACES + _APOSTROPHES)}]*(?:[eE][+-]?\d+)?{_SIGNS}"
)


@dataclass(frozen=True)
class NumberForm:
    """A form in which numbers are written."""

    decimal: str = "."  # decimal mark
    # Separator of thousands; all four kinds of blanks count as one, and so do both apostrophes.
    thousands: str | None = None
    # One of :data:`UNITS`, which is ignored. With ``%``, only zeros may lack it.
    unit: str | None = None

    def plain(self, text: str) -> str:
        """Return a number as Python writes it; text that is no number in this form becomes no number."""
        if self.unit is not None:
            bare = text.replace(self.unit, "", 1).strip()
            if self.unit == "%" and bare == text and text.strip("0.,"):
                return ""
            text = re.sub(r"^([+-])\s+", r"\1", bare)
        if self.thousands is not None:
            text = text.translate(_PLAIN)
            if self.thousands in text:
                if not self._grouped.fullmatch(text):
                    return ""
                text = text.replace(self.thousands, "")
        # Exchanged, not only replaced: a point among decimal commas is no decimal point.
        return text.translate(_EXCHANGED) if self.decimal == "," else text

    def number(self, text: str) -> float | None:
        """Return the number in a text, or None."""
        return as_number(self.plain(text))

    def said(self, column: str, text: str) -> str:
        """Return a sentence on how a number of a column is read."""
        return f"Numbers of {column}: {text!r} is read as {self.number(text):.12g}."

    def unlike_its_look(self, values: Sequence[str]) -> str:
        """Return the longest number whose form a look may miss, or an empty text.

        These are leading zeros of plain numbers, and any mark of others.
        """
        if self == PLAIN:
            marked = (text for text in values if text[0] == "0" and text.isdigit() and text != "0")
        else:
            marked = (text for text in values if not text.isdigit())
        numbers = [text for text in marked if self.number(text) is not None]
        return max(numbers, key=lambda text: (len(text), text), default="")

    @cached_property
    def _grouped(self) -> re.Pattern[str]:
        mark, decimal = re.escape(self.thousands or ","), re.escape(self.decimal)
        return re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:{mark}\d{{3}})+(?:{decimal}\d*)?")


PLAIN = NumberForm()  # numbers as Python writes them


@dataclass(frozen=True)
class Unclear:
    """Two forms in which all numbers of a column can be read."""

    forms: Sequence[NumberForm]
    values: Sequence[str]  # the column's values

    @cached_property
    def example(self) -> str:
        """The first value that they read differently."""
        return next(text for text in self.values if len({form.number(text) for form in self.forms}) > 1)

    def chosen(self, column: str, named: Mapping[str, Sequence[str]]) -> NumberForm | None:
        """Return the form of the option that names a column, or None; a DataError says that both do."""
        chosen = {
            option: form
            for form in self.forms
            if column in named[option := "thousands" if form.thousands else "decimals"]
        }
        if len(chosen) > 1:
            problem = f"{column!r} is named by --{' and by --'.join(chosen)}"
            raise DataError(problem, got=f"{self.example!r}, {self.readings}", remedy="name it once")
        return next(iter(chosen.values()), None)

    @property
    def readings(self) -> str:
        """Both readings of the example."""
        return " or ".join(f"{form.number(self.example):.12g}" for form in self.forms)


def forms_of(values: Sequence[str]) -> tuple[NumberForm, ...]:
    """Return the forms in which all numbers among a column's values can be read, a plain one first.

    These are several only if they give different numbers, and none if the column writes numbers in several
    forms. A column of mostly text is plain.
    """
    texts = [value for value in values if _LIKE_A_NUMBER.fullmatch(value)]
    if 2 * len(texts) < len(values) or not texts:
        return (PLAIN,)
    used = set().union(*(text.translate(_PLAIN) for text in texts))
    units = [None, *used.intersection(UNITS)]
    separators = [None, *(mark for mark in get_args(Thousands) if mark in used)]
    decimals = [mark for mark in _MARKS if mark == "." or mark in used or "." in used]
    forms = [
        NumberForm(decimal, thousands, unit)
        for unit, thousands, decimal in itertools.product(units, separators, decimals)
        if thousands != decimal
    ]
    texts = [text for text in texts if any(form.number(text) is not None for form in forms)]
    fitting = [form for form in forms if all(form.number(text) is not None for text in texts)]
    readings: dict[tuple[float | None, ...], NumberForm] = {}
    for form in fitting:
        readings.setdefault(tuple(map(form.number, texts)), form)
    return tuple(readings.values())
