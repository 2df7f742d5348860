"""Forms of numbers in a column: decimal mark, separator of thousands, a sign such as $ or %."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

MARKS = {".": "point", ",": "comma"}  # decimal marks, and their names
Thousands = Literal[".", ",", " ", "'"]  # separators of thousands
Unit = Literal["$", "€", "£", "¥", "%"]
UNITS: tuple[str, ...] = get_args(Unit)  # signs that may stand beside a number
_SPACES = ("\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}", "\N{THIN SPACE}")
_APOSTROPHES = ("\N{RIGHT SINGLE QUOTATION MARK}",)
_PLAIN = {**dict.fromkeys(map(ord, _SPACES), " "), **dict.fromkeys(map(ord, _APOSTROPHES), "'")}
_EXCHANGED = str.maketrans(",.", ".,")
_NUMBER = re.compile(r"(\d[\d., ']*|[.,]\d+)([eE][+-]?\d+)?")
_GROUPS = {mark: re.compile(rf"\d{{1,3}}(?:{re.escape(mark)}\d{{3}})+") for mark in (".", ",", " ", "'")}
_FEW = 0.02  # a share of numbers with a mark that may be typing errors
_MANY = 20  # fewest numbers with the mark that outweigh them


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

    @cached_property
    def _grouped(self) -> re.Pattern[str]:
        decimals = rf"(?:{re.escape(self.decimal)}\d*)?"
        return re.compile(rf"[+-]?{_GROUPS[self.thousands or ','].pattern}{decimals}")


PLAIN = NumberForm()  # numbers as Python writes them


@dataclass(frozen=True)
class Notation:
    """The form of a column's numbers, as far as its values tell."""

    form: NumberForm | None = None  # the form, if the column alone tells it
    unit: str | None = None  # the sign beside the numbers
    unclear: str = ""  # a mark that may stand before decimals or separate thousands
    whole: str = ""  # a whole number without that mark, which makes one of the two readings unlikely
    example: str = ""  # a number with that mark
    mixed: str = ""  # why the column has no single form, if it has none
    has_decimals: bool = False  # whether some number certainly has decimals

    def read(self, *, thousands: bool) -> NumberForm:
        """Return the form in which the unclear mark separates thousands, or stands before decimals."""
        if thousands:
            return NumberForm(_other(self.unclear), self.unclear, self.unit)
        return NumberForm(self.unclear, None, self.unit)


def notation(values: Sequence[str]) -> Notation:
    """Return the notation of a column from its distinct values, without missing ones."""
    unit = _unit(values)
    bare = [_bare(value, unit) for value in values]
    numbers = [(value, text) for value, text in zip(values, bare, strict=True) if _NUMBER.fullmatch(text)]
    if not numbers or len(numbers) < 0.5 * len(values):
        return Notation()
    seen: dict[str, Counter[str]] = {mark: Counter() for mark in MARKS}
    example: dict[tuple[str, str], str] = {}
    other_marks = Counter[str]()
    whole = ""
    for value, text in numbers:
        number = re.split("[eE]", text)[0]
        for mark in (" ", "'"):
            if mark in number:
                before = re.split("[.,]", number)[0]
                other_marks[mark if _GROUPS[mark].fullmatch(before) else "broken"] += 1
                number = number.replace(mark, "")
        readings = _tells(number)
        for mark, reading in readings:
            seen[mark][reading] += 1
            example.setdefault((mark, reading), value)
        if not readings and number.isdigit() and int(number) and text == number:
            whole = whole or value
    if other_marks["broken"]:
        return Notation()
    blank = next(iter(other_marks), None)
    for times in seen.values():
        few = _FEW * sum(times.values())
        if 0 < times["decimal"] <= few and times["unclear"] >= _MANY and whole:
            del times["decimal"]  # typing errors
    decimal = [mark for mark in MARKS if seen[mark]["decimal"]]
    grouped = [mark for mark in MARKS if seen[mark]["thousands"]]
    unclear = [mark for mark in MARKS if seen[mark]["unclear"]]
    if len(decimal) == 2 or len(grouped) == 2 or set(decimal) & set(grouped) or (blank and grouped):
        return _mixed([example[m, w] for w in ("decimal", "thousands") for m in MARKS if (m, w) in example])
    if decimal or grouped:
        mark = decimal[0] if decimal else _other(grouped[0])
        behind = _other(mark)
        separated = blank or (behind if behind in (*grouped, *unclear) else None)
        return Notation(NumberForm(mark, separated, unit), unit, has_decimals=bool(decimal))
    if blank:
        return Notation(NumberForm(unclear[0] if unclear else ".", blank, unit), unit)
    if len(unclear) == 2:
        return _mixed([example[mark, "unclear"] for mark in MARKS])
    if unclear:
        (mark,) = unclear
        return Notation(None, unit, mark, whole, example[mark, "unclear"])
    return Notation(NumberForm(".", None, unit) if unit else None, unit)


def file_decimal(notations: Iterable[Notation]) -> str | None:
    """Return the decimal mark of all columns that tell theirs, or None if they differ."""
    marks = {
        notation.form.decimal
        for notation in notations
        if notation.form is not None and (notation.has_decimals or notation.form.thousands in MARKS)
    }
    return marks.pop() if len(marks) == 1 else None


def _mixed(examples: Sequence[str]) -> Notation:
    return Notation(mixed=f"writes its numbers in two ways, such as {' and '.join(map(repr, examples[:2]))}")


def _other(mark: str) -> str:
    return "," if mark == "." else "."


def _unit(values: Sequence[str]) -> str | None:
    """Return the only sign beside the numbers, if at least half of the values have it."""
    counts = Counter(unit for value in values for unit in UNITS if unit in value)
    if len(counts) != 1:
        return None
    ((unit, times),) = counts.items()
    return unit if times >= 0.5 * len(values) else None


def _bare(value: str, unit: str | None) -> str:
    text = value.translate(_PLAIN)
    if unit is not None:
        text = text.replace(unit, "", 1).strip()
    return text[1:].strip() if text[:1] in ("+", "-") else text


def _tells(number: str) -> list[tuple[str, str]]:
    """Return the marks in a number, each "decimal", "thousands" or "unclear"."""
    if not (counts := {mark: number.count(mark) for mark in MARKS if mark in number}):
        return []
    if len(counts) == 2:
        last = max(counts, key=number.rindex)
        first = _other(last)
        head = number[: number.rindex(last)]
        if counts[last] == 1 and _GROUPS[first].fullmatch(head):
            return [(first, "thousands"), (last, "decimal")]
        return []
    ((mark, times),) = counts.items()
    if times > 1:
        return [(mark, "thousands")] if _GROUPS[mark].fullmatch(number) else []
    head, _, tail = number.partition(mark)
    if len(tail) == 3 and 1 <= len(head) <= 3 and not head.startswith("0"):
        return [(mark, "unclear")]
    return [(mark, "decimal")]
