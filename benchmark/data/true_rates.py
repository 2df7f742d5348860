"""Rates of the favorable label by group, known from outside a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from benchmark.data.reading import Part, Reading
from benchmark.errors import DataError
from benchmark.text.words import as_number, few

_EXAMPLE = "one rate for each group, such as --true-rate deprived=0.4,favored=0.42"


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
        raise DataError(problem, expected=_EXAMPLE, got=repr(text), remedy="correct --true-rate")
    return rates


def rates_of_sides(given: Mapping[Any, float] | str, reading: Reading) -> dict[str, float]:
    """Return the rates of the groups ``"deprived"`` and ``"favored"``.

    ``given`` has rates by value of the sensitive column, as the file writes it, or by these two names; a text
    is parsed. If a group has several values, all need a rate; their rows are the weights. A DataError says
    that a rate is out of range, or a group unknown or without a rate.
    """
    given = (
        parse_rates(given)
        if isinstance(given, str)
        else {str(name): float(rate) for name, rate in given.items()}
    )
    for name, rate in given.items():
        if not 0 <= rate <= 1:  # NaN included
            percent = f"write {rate / 100:g} for {rate:g} %" if 1 < rate <= 100 else "correct --true-rate"
            raise DataError(
                f"The outside rate of {name!r} is out of range",
                expected="a share of the group from 0 to 1",
                got=f"{rate:g}",
                remedy=percent,
            )
    sides = [part for part in reading.parts if part.role in ("deprived", "favored")]
    keys = {name: _key(name, sides) for name in given}
    names = [name for part in sides for name in _names(part)]
    if strangers := [name for name, key in keys.items() if key is None]:
        raise DataError(
            f"{sides[0].column!r} has no group {strangers[0]!r}, for which an outside rate is given",
            expected=few(list(map(repr, names)), 12),
            got=", ".join(map(repr, given)),
            remedy="name groups as the file has them, in --true-rate",
        )
    rates = {key: given[name] for name, key in keys.items() if key is not None}
    return {part.role: _rate_of(part, rates) for part in sides}


def _rate_of(part: Part, rates: Mapping[tuple[str, str], float]) -> float:
    for name in (part.role, part.name):
        if (part.role, name) in rates:
            return rates[part.role, name]
    weights = {value: n for value, n in part.values if (part.role, value) in rates}
    if missing := [value for value, _ in part.values if value not in weights]:
        names = [part.name] if part.name else missing
        raise DataError(
            f"No outside rate is given for the {part.role} group",
            expected=f"a rate of {' and of '.join(map(repr, names[:6]))}, or of {part.role!r}",
            got=", ".join(sorted({name for _, name in rates})),
            remedy=f"give {_EXAMPLE}",
        )
    return sum(rates[part.role, value] * n for value, n in weights.items()) / sum(weights.values())


def _names(part: Part) -> Iterator[str]:
    yield from [part.name] if part.name else [value for value, _ in part.values]
    yield part.role


def _key(name: str, sides: list[Part]) -> tuple[str, str] | None:
    """Return the side of a name, and the file's spelling of it; None if it is unknown."""
    number = as_number(name)
    for part in sides:
        for spelling in _names(part):
            if spelling == name or (number is not None and as_number(spelling) == number):
                return part.role, spelling
    return None
