"""Rates of the favorable label that are known from outside a file, by group."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from benchmark.data.reading import Part, Reading
from benchmark.errors import DataError
from benchmark.text.words import as_number, few

_EXAMPLE = "one rate for each group, such as --true-rate F=0.4,M=0.42"


def parse_rates(text: str) -> dict[str, float]:
    """Return the rates that a text such as ``"F=0.4,M=0.42"`` gives, by group.

    Raises
    ------
    DataError
        If it is no such list, or names a group twice.
    """
    found: dict[str, float] = {}
    place = 0
    # A name may hold commas and equals signs; a rate holds neither.
    for match in re.finditer(r"\s*(.+?)\s*=\s*([^=,]*?)\s*(?:,|$)", text):
        rate = as_number(match[2])
        if match.start() != place or rate is None or match[1] in found:
            break
        found[match[1]], place = rate, match.end()
    if not found or place < len(text):
        raise DataError(
            "The outside rates cannot be read",
            expected=_EXAMPLE,
            got=repr(text),
            remedy="correct --true-rate",
        )
    return found


def rates_of_sides(given: Mapping[str, float], reading: Reading) -> dict[str, float]:
    """Return the rate of the deprived and of the favored group.

    Parameters
    ----------
    given : mapping of str to float
        Rates by group: values of the sensitive column as the file has them, or ``"deprived"`` and
        ``"favored"``. Where a side has several values, each has to be given; rows of the file are their
        weights.
    reading : Reading
        How the file was read.

    Returns
    -------
    dict of str to float
        With the keys ``"deprived"`` and ``"favored"``.

    Raises
    ------
    DataError
        If a rate is out of range, a group is unknown, or one is missing.
    """
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
    called = {name: _called(name, sides) for name in given}
    known = [name for part in sides for name in _names(part)]
    if strangers := [name for name, there in called.items() if there is None]:
        raise DataError(
            f"{sides[0].column!r} has no group {strangers[0]!r}, for which an outside rate is given",
            expected=few(list(map(repr, known)), 12),
            got=", ".join(map(repr, given)),
            remedy="name groups as the file has them, in --true-rate",
        )
    rates = {there: given[name] for name, there in called.items() if there is not None}
    return {part.role: _rate_of(part, rates) for part in sides}


def _rate_of(part: Part, rates: Mapping[tuple[str, str], float]) -> float:
    whole = [rates[part.role, name] for name in (part.role, part.name) if (part.role, name) in rates]
    if whole:
        return whole[0]
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


def _called(name: str, sides: list[Part]) -> tuple[str, str] | None:
    """Return the side that a name belongs to, and what it is called there; None where it is unknown."""
    for part in sides:
        for own in _names(part):
            if own == name or (as_number(own) is not None and as_number(own) == as_number(name)):
                return part.role, own
    return None
