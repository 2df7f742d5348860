"""Proposals for the label and the sensitive column of an unknown file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from benchmark.data.sides import meant, shown
from benchmark.data.sniff import RawTable
from benchmark.data.states import MOST_STATES, useless
from benchmark.errors import DataError
from benchmark.text.words import as_number, few

_MOST_NAMED = 60  # columns that an error lists
_MOST_PROPOSED = 8
_PEOPLE = frozenset(
    (
        *("sex", "gender", "race", "ethnic", "ethnicity", "age", "nation", "nationality", "foreign"),
        *("foreigner", "religion", "religious", "disability", "disabled", "marital", "married", "color"),
        *("colour", "origin", "birth", "native", "country", "immigrant", "female", "male"),
    )
)
_OUTCOMES = frozenset(
    (
        *("label", "target", "class", "outcome", "result", "y", "approved", "approval", "accepted"),
        *("default", "defaulted", "paid", "repaid", "hired", "admitted", "granted", "status", "decision"),
        *("survived", "churn", "revenue", "fraud", "passed", "grade", "risk", "income", "depressed"),
        *("leave", "left"),
    )
)


def require_column(name: str, option: str, table: RawTable) -> None:
    """Raise a DataError unless a table has the column that an option names."""
    if name not in table.columns:
        raise DataError(
            f"The file has no column {name!r}",
            expected="one of " + few(list(map(repr, table.columns)), _MOST_NAMED, "others"),
            remedy=meant(name, list(table.columns)) + f"name the column with --{option}" + _of_place(table),
        )


def _of_place(table: RawTable) -> str:
    """Return how to name columns by their place, where a number in the header says that it may be a row."""
    if all(as_number(name) is None for name in table.columns):
        return ""
    return "; if the first line is a row and no header, name columns by their place: column_1, column_2, ..."


def missing_roles(table: RawTable, roles: Mapping[str, str | None]) -> DataError:
    """Return an error that lists the missing options and the file's columns."""
    options = " and ".join(f"--{name}" for name, value in roles.items() if not value)
    return DataError(
        f"{options} must be named",
        expected="of the columns " + few(list(map(repr, table.columns)), _MOST_NAMED, "others"),
        remedy="name the label, its favorable value and the sensitive column. They may be: "
        + "; ".join(proposals(table, roles))
        + _of_place(table),
    )


def proposals(table: RawTable, roles: Mapping[str, str | None]) -> Iterator[str]:
    """Yield values that the missing options may have."""
    if not (label := roles["label"]):
        taken = {roles["sensitive"], *(_sensitive(table) if not roles["sensitive"] else ())}
        likely = _labels(table, taken) or list(table.columns)[::-1]
        yield f"--label: {few(likely, _MOST_PROPOSED, 'others')}"
    elif not roles["favorable"]:
        require_column(label, "label", table)
        yield f"--favorable: of {label!r}, {shown(table.columns[label])}"
    if not roles["sensitive"]:
        likely = _sensitive(table) or [name for name in _small(table) if name != label]
        yield f"--sensitive: {few(likely, _MOST_PROPOSED, 'others')}"


def _small(table: RawTable) -> list[str]:
    small = {n: c for n, c in table.columns.items() if 2 <= (~c.missing).sum() <= MOST_STATES}
    return [name for name, column in small.items() if not useless(column)]


def _labels(table: RawTable, taken: set[str | None]) -> list[str]:
    """Return columns of few values, likely labels first: by their name, or as the last column."""
    last = list(table.columns)[-1]
    names = [name for name in _small(table)[::-1] if name not in taken]

    def unlikely(name: str) -> tuple[bool, bool, bool]:
        two = int((~table.columns[name].missing).sum()) == 2
        return not _words(name) & _OUTCOMES, name != last, not two

    return sorted(names, key=unlikely)


def _sensitive(table: RawTable) -> list[str]:
    """Return columns named like groups of people, columns of few values first."""
    small, names = _small(table), [name for name in table.columns if _words(name) & _PEOPLE]
    return sorted(names, key=lambda name: name not in small)


def _words(name: str) -> set[str]:
    """Return the words of a name: person, age and years of "PersonAge_years"."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}
