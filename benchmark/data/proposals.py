"""Columns that may be the label, or sensitive, where nobody has named them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from benchmark.data.sides import meant, shown
from benchmark.data.sniff import RawTable
from benchmark.data.states import MOST_STATES, useless
from benchmark.errors import DataError
from benchmark.text.words import few

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
    """Raise a DataError unless a table has a column; ``option`` is what names it."""
    if name not in table.columns:
        raise DataError(
            f"The file has no column {name!r}",
            expected="one of " + few(list(map(repr, table.columns)), _MOST_NAMED, "others"),
            remedy=meant(name, list(table.columns)) + f"name the column with --{option}",
        )


def missing_roles(table: RawTable, asked: Mapping[str, str | None]) -> DataError:
    """Return an error that names the options that are missing, and the file's columns."""
    options = " and ".join(f"--{name}" for name, value in asked.items() if not value)
    return DataError(
        f"{options} must be named",
        expected="of the columns " + few(list(map(repr, table.columns)), _MOST_NAMED, "others"),
        remedy="say which column is the label, which of its values is favorable, which column is sensitive. "
        f"They may be: {'; '.join(proposals(table, asked))}",
    )


def proposals(table: RawTable, asked: Mapping[str, str | None]) -> Iterator[str]:
    """Yield what the options that are missing could be."""
    if not (label := asked["label"]):
        taken = {asked["sensitive"], *(_sensitive(table) if not asked["sensitive"] else ())}
        found = _labels(table, taken) or list(table.columns)[::-1]
        yield f"--label: {few(found, _MOST_PROPOSED, 'others')}"
    elif not asked["favorable"]:
        require_column(label, "label", table)
        yield f"--favorable: of {label!r}, {shown(table.columns[label])}"
    if not asked["sensitive"]:
        likely = _sensitive(table) or [name for name in _small(table) if name != label]
        yield f"--sensitive: {few(likely, _MOST_PROPOSED, 'others')}"


def _small(table: RawTable) -> list[str]:
    return [
        name
        for name, column in table.columns.items()
        if 2 <= (~column.missing).sum() <= MOST_STATES and not useless(column)
    ]


def _labels(table: RawTable, taken: set[str | None]) -> list[str]:
    """Return columns of few values, the likeliest label first: by its name, or as the last column."""
    last = list(table.columns)[-1]
    found = [name for name in _small(table)[::-1] if name not in taken]

    def unlikely(name: str) -> tuple[bool, bool, bool]:
        two = int((~table.columns[name].missing).sum()) == 2
        return not _words(name) & _OUTCOMES, name != last, not two

    return sorted(found, key=unlikely)


def _sensitive(table: RawTable) -> list[str]:
    """Return columns whose names say that they are of people's groups, those of few values first."""
    small = _small(table)
    return sorted(
        (name for name in table.columns if _words(name) & _PEOPLE), key=lambda name: name not in small
    )


def _words(name: str) -> set[str]:
    """Return the words of a name: of "PersonAge_years" person, age, years."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}
