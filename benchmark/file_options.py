"""What a user says about a file: options of the command line, and parameters of the same names in Python.

The command line reads them, so this module imports nothing heavy.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, Self, get_origin, get_type_hints

from benchmark.errors import UnknownNameError

MIN_COUNT = 5  # fewest rows that a value needs for a state of its own
MOST_MB = 500.0  # most megabytes of unpacked text that are read from a file without a card

Named = str | tuple[str, ...]
"""Values that an option names: text such as ``A,B``, or the values themselves."""


@dataclass(frozen=True)
class FileOptions:
    """What a user says about a file; what is not said is left to the draft of its card."""

    # Beside the type stand the placeholder and the meaning, as help shows them.
    label: Annotated[str, "COLUMN", "column of the outcome"] = ""
    favorable: Annotated[
        Named | None,
        "VALUE",
        "value of the label that is good for people, as in the file; several as A,B; numbers as '>= 10'; "
        "values with commas in double quotes",
    ] = None
    sensitive: Annotated[str, "COLUMN", "column of the groups"] = ""
    deprived: Annotated[
        Named | None,
        "GROUP",
        "the deprived group, likewise: F, 'Black,Asian', '< 25'; default: of two groups the one with the "
        "favorable label least often",
    ] = None
    unfavorable: Annotated[
        Named | None,
        "VALUE",
        "the other values, likewise, or '*' for all others; rows with neither are left out; default: the "
        "other one of two values",
    ] = None
    favored: Annotated[
        Named | None,
        "GROUP",
        "the other groups, likewise, or '*' for all others; rows of neither are left out; default: the other "
        "one of two groups",
    ] = None
    missing: Annotated[
        Named | None,
        "VALUES",
        "values that mean missing: of the label and the groups as A,B, and their rows are left out; of "
        "another column as 'age=-9,points=99'; of all columns as '*=-9'",
    ] = None
    person: Annotated[
        str | None,
        "COLUMN",
        "column that names the person of each row: a person's rows stand on one side of every split, and the "
        "column is no feature; 'rows' if equal rows are one person's, 'none' if all rows are independent",
    ] = None
    drop: Annotated[Named | None, "COLUMNS", "columns A,B to leave out"] = None
    keep: Annotated[Named | None, "COLUMNS", "columns A,B to keep that would be left out"] = None
    thousands: Annotated[
        Named | None, "COLUMNS", "columns A,B in which the point or comma of 1.234 separates thousands"
    ] = None
    decimals: Annotated[
        Named | None, "COLUMNS", "columns A,B in which the point or comma of 1.234 separates decimals"
    ] = None
    sheet: Annotated[str | None, "NAME", "sheet of an Excel workbook; default: the first"] = None
    without_lines: Annotated[
        Named | None, "LINES", "numbers of lines A,B of the file that are no rows, such as a total"
    ] = None
    encoding: Annotated[
        str | None, "NAME", "encoding of the text, such as cp932; default: UTF-8, UTF-16 or CP1252"
    ] = None
    max_mb: Annotated[float, "N", f"largest file, in megabytes of text; default: {MOST_MB:g}"] = MOST_MB
    min_count: Annotated[
        int, "N", f"merge values of a feature that fewer than N rows have; default: {MIN_COUNT}"
    ] = MIN_COUNT

    @classmethod
    def said(cls) -> Iterator[tuple[str, str, str, type[Any] | None]]:
        """Yield name, placeholder, meaning and type of each option that a user may give; None is text."""
        for name, hint in get_type_hints(cls, include_extras=True).items():
            if get_origin(hint) is Annotated:
                default = getattr(cls, name)
                yield name, *hint.__metadata__, None if default is None else type(default)

    @property
    def given(self) -> dict[str, Any]:
        """The options that are not at their defaults."""
        own = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {name: value for name, (value, default) in own.items() if value != default}

    @classmethod
    def of(cls, **given: object) -> Self:
        """Return options that were typed, or given in Python; None leaves a default.

        Several values are a list, those of columns a mapping. An UnknownNameError says that there is no such
        option.
        """
        types = {name: kind for name, _, _, kind in cls.said()}
        options: dict[str, Any] = {}
        for name, value in given.items():
            if name not in types:
                raise UnknownNameError("option", name, types)
            if value is not None:
                options[name] = (types[name] or _named)(value)
        return cls(**options)


def _named(value: object) -> Named:
    """Return a Python value as values that an option names: text as it was typed, or a tuple of values."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):  # columns, and their values
        lists = ((name, item if isinstance(item, list | tuple) else [item]) for name, item in value.items())
        return tuple(f"{name}={item}" for name, items in lists for item in items)
    if isinstance(value, set | frozenset):
        return tuple(sorted(map(str, value)))
    return tuple(map(str, value)) if isinstance(value, list | tuple) else (str(value),)
