"""Finding out how an unknown file is to be read: encoding, separator, header, decimal mark."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import os
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmark.data.card_parts import MISSING_VALUES, Source, SourceFile
from benchmark.data.number_form import MARKS, PLAIN, Notation, NumberForm, file_decimal, notation
from benchmark.data.raw import DELIMITERS, number_repeats, read_csv
from benchmark.data.source import LARGEST, read_file
from benchmark.errors import DataError
from benchmark.text.words import as_number, values_in_list

MISSING_MARKS = frozenset({*MISSING_VALUES, "-", "--", ".", "n/a", "na", "<NA>", "#N/A", "Null", "NaT"})
"""Values that are taken for none in a file that nobody has described."""

MOST_MB = 500.0
"""Most megabytes of text, unpacked, that are read of a file that nobody has described."""

_SAMPLE_LINES, _MOST_BEFORE_HEADER = 300, 20
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars", " ": "blanks"}
_NO_TEXT = {
    b"PK": "an Excel workbook or a zip archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"PAR1": "a Parquet file",
    b"SQLite": "a database",
}


@dataclass(frozen=True, eq=False)
class RawColumn:
    """A column of a file as text: its distinct values, how often each occurs, and which rows have which."""

    name: str
    values: tuple[str, ...]
    rows: NDArray[np.intp]  # of each row, the position of its value
    form: NumberForm = PLAIN  # how its numbers are written
    mixed: str = ""  # why they are written in no single form, if they are not
    none: frozenset[str] = frozenset()  # values that a user says stand for none, beside the usual marks

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """How many rows have each value."""
        return np.bincount(self.rows, minlength=len(self.values))

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Whether each value stands for none."""
        marks = MISSING_MARKS - {"-"} if "+" in self.values else MISSING_MARKS
        return np.array([value in marks or value in self.none for value in self.values], dtype=bool)

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """The number that each value is; NaN where it is none, or only a code for a missing one."""
        found = (None if value in self.none else as_number(self.form.plain(value)) for value in self.values)
        return np.array([np.nan if own is None else own for own in found])

    def of(self, kept: NDArray[np.bool_]) -> RawColumn:
        """Return the column with some of its rows, and the values that these have."""
        rows = self.rows[kept]
        used = np.unique(rows)
        return replace(self, values=tuple(self.values[i] for i in used), rows=np.searchsorted(used, rows))


@dataclass(frozen=True)
class RawTable:
    """A file, how it is read, and what gave that away."""

    source: Source
    columns: dict[str, RawColumn]
    found: tuple[str, ...]  # a sentence each
    numbers: tuple[str, ...] = ()  # how columns write numbers, where not as Python does
    unclear: Mapping[str, Notation] = field(default_factory=dict)  # columns with two readings, by name

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())).rows)


def sniff(
    path: Path,
    folder: Path,
    *,
    thousands: str | None = None,
    decimals: str | None = None,
    most_mb: float = MOST_MB,
) -> RawTable:
    """Read a CSV file of which nothing is known.

    A DataError says that there is no such file, that it is no table of text, that it is too large, or that a
    line does not fit the others.

    Parameters
    ----------
    path : Path
        The file, gzipped or not.
    folder : Path
        Where the card is to lie, which names the file from there.
    thousands, decimals : str, optional
        Columns, as A,B, whose point or comma separates thousands, or stands before decimals, where the file
        leaves both readings open.
    most_mb : float
        Most megabytes of text, unpacked.
    """
    content = read_file(path, SourceFile(path=str(path)), most=int(1e6 * most_mb))
    if content is None:
        raise DataError(f"There is no file {path}", remedy="correct the path")
    text, encoding, found = _decode(content, path)
    size = len(content) if len(content) > LARGEST else None  # to unpack as much needs the card's word
    del content
    delimiter, names, skipped, header = _layout(text, path)
    found += (f"Values are separated by {_SEPARATORS[delimiter]}.", header)
    source = Source(
        files=(SourceFile(path=_from(path, folder), skip_lines=skipped, size=size),),
        format="csv",
        delimiter=delimiter,
        encoding=encoding,
        column_names=names,
    )
    columns = _read(text, source, path)
    if any('"' in line for line in itertools.islice(io.StringIO(text), _SAMPLE_LINES)):
        found += ("Some values are in quotes.",)
    if repeats := [name for name in columns if re.sub(r"\.\d+$", "", name) in columns.keys() - {name}]:
        found += (f"Columns of the same name are numbered: {', '.join(repeats)}.",)
    asked = dict.fromkeys(values_in_list(thousands or "", columns), True)
    asked |= dict.fromkeys(values_in_list(decimals or "", columns), False)
    decimal, forms, unclear, said = _forms(columns.values(), delimiter, asked)
    if decimal == ",":
        source = source.model_copy(update={"decimal": ","})
        found += ("Numbers have a decimal comma.",)
    mixed = {name: own.mixed for name, own in forms.items()}
    columns = {
        name: replace(column, form=forms[name].form or NumberForm(decimal), mixed=mixed[name])
        for name, column in columns.items()
    }
    return RawTable(source, columns, found, said, unclear)


def _from(path: Path, folder: Path) -> str:
    """Return a file's path as a card in a folder names it."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # on another drive
        return path.resolve().as_posix()


def _decode(content: bytes, path: Path) -> tuple[str, str, tuple[str, ...]]:
    """Return a file's text, its encoding, and a sentence on it."""
    what = next((what for start, what in _NO_TEXT.items() if content.startswith(start)), None)
    wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    if what is None and b"\0" in content and not wide:
        what = "no text: it has bytes of value 0"
    if what is None and content.lstrip()[:1] in (b"{", b"[", b"@", b"%"):
        what = "JSON, or an ARFF file"
    if what is None and not content.strip():
        what = "empty"
    if what is not None:
        raise DataError(
            f"{path} cannot be read as a table",
            expected="a CSV file with a header and rows",
            got=what,
            remedy="save it as CSV, or read it with pandas and give benchmark.quick the frame",
        )
    marked = content.startswith(b"\xef\xbb\xbf")
    # charset-normalizer 3.5 reads none of 24 small western tables as they were written, which these encodings
    # all do, and 20 of 42 others: it would be wrong more often, and as sure.
    for encoding in ("utf-16",) if wide else ("utf-8-sig", "cp1252", "latin-1"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        mark = " with a byte order mark" * (wide or marked)
        guess = ", which is a guess: look at letters with accents" * (encoding in ("cp1252", "latin-1"))
        return text, encoding, (f"The text is {encoding.removesuffix('-sig').upper()}{mark}{guess}.",)
    raise DataError(f"{path} is not text in the encoding that its byte order mark names", got=encoding)


def _layout(text: str, path: Path) -> tuple[str, tuple[str, ...] | None, int, str]:
    """Return separator, names if the header has none of use, lines before the rows or header, and a word."""
    # csv.Sniffer finds no separator in the first lines of adult.test, which begin with a remark, and takes
    # the first row after it for a header.
    layouts = []
    for order, delimiter in enumerate(DELIMITERS):
        rows = _sample(text, delimiter)
        width, times = Counter(len(row) for _, row in rows).most_common(1)[0] if rows else (0, 0)
        before = next((i for i, (_, row) in enumerate(rows) if len(row) == width), 0)
        if width > 1 and before <= _MOST_BEFORE_HEADER and times >= 0.9 * (len(rows) - before):
            # Blanks separate words as well, so anything else is believed first.
            layouts.append(((delimiter == " ", before, -width, order), rows))
    if not layouts:
        raise DataError(
            f"{path} is no table with columns",
            expected="two columns or more, with the same number of values in each line",
            got=repr(text.lstrip().partition("\n")[0][:80]),
            remedy="save it as CSV with a header",
        )
    (_, start, width, order), rows = min(layouts)
    delimiter = DELIMITERS[order]
    if start and len(rows[start - 1][1]) == -width - 1:  # as R writes it
        line, first = rows[start - 1]
        return (
            delimiter,
            ("row", *_named(first)),
            line,
            "Rows have a name, for which the header has no column.",
        )
    (line, first), others = rows[start], [row for _, row in rows[start + 1 :]]
    above = rows[start - 1][0] if start else 0
    recurring = sum(cell in {row[i] for row in others if i < len(row)} for i, cell in enumerate(first))
    if any(as_number(cell) is not None for cell in first) or recurring > len(first) / 2:
        word = "The first line is a row, so the columns are named by number."
        return delimiter, _named([""] * len(first)), above, word
    if not all(first) or len(set(number_repeats(first))) < len(first):
        return delimiter, _named(first), line, "The header leaves columns without a name; they have one here."
    return (
        delimiter,
        None,
        above,
        "The header is the first line" + (f" after {above} others." if above else "."),
    )


def _named(header: list[str]) -> tuple[str, ...]:
    """Return distinct names: columns without one are numbered, repeated ones as in any header."""
    names: list[str] = []
    for i, name in enumerate(header, 1):
        name = name or f"column_{i}"
        numbered = (f"{name}.{k}" for k in itertools.count(header[: i - 1].count(name)))
        names.append(name if name not in names else next(own for own in numbered if own not in names))
    return tuple(names)


def _sample(text: str, delimiter: str) -> list[tuple[int, list[str]]]:
    """Return the first rows, each with the number of its last line, up to what is no CSV."""
    reader = csv.reader(
        itertools.islice(io.StringIO(text, newline=""), _SAMPLE_LINES),
        delimiter=delimiter,
        skipinitialspace=True,
        strict=True,
    )
    rows: list[tuple[int, list[str]]] = []
    with contextlib.suppress(csv.Error):  # a quote that the sample cuts, or that is one for this separator
        rows.extend((reader.line_num, [c.strip() for c in row]) for row in reader if "".join(row).strip())
    return rows


def _read(text: str, source: Source, path: Path) -> dict[str, RawColumn]:
    try:
        header, lines = read_csv(text, source, source.files[0], str(path))
        # A value is kept once, and of each cell its number only.
        known: list[dict[str, int]] = [{} for _ in header]
        rows = [array("i") for _ in header]
        for line, row in lines:
            if len(row) != len(header):
                raise DataError(
                    f"Line {line} of {path} does not fit the others",
                    expected=f"{len(header)} values",
                    got=f"{len(row)} values",
                    remedy="correct the line, or get the file again if it is truncated",
                )
            for cell, values, codes in zip(row, known, rows, strict=True):
                codes.append(values.setdefault(cell.strip(), len(values)))
    except csv.Error as error:
        raise DataError(f"{path} is not valid CSV", got=str(error), remedy="correct the file") from error
    if not rows or not rows[0]:
        raise DataError(
            f"{path} has no rows", expected="rows below the header", got="none", remedy="get the file again"
        )
    columns = {}
    for name, values, codes in zip(header, known, rows, strict=True):
        order = sorted(values)
        place = np.empty(len(order), dtype=np.intp)
        place[[values[value] for value in order]] = np.arange(len(order))
        columns[name] = RawColumn(name, tuple(order), place[np.frombuffer(codes, dtype=np.intc)])
    return columns


def _forms(
    columns: Iterable[RawColumn], delimiter: str, asked: Mapping[str, bool]
) -> tuple[str, dict[str, Notation], dict[str, Notation], tuple[str, ...]]:
    """Return the file's decimal mark, how each column writes numbers, what stays unclear, and sentences.

    ``asked`` says of columns whether their mark separates thousands. Where nobody says it, the file's other
    columns may; a comma in a file that is separated by commas is none before decimals.
    """
    found = {}
    for column in columns:
        values = [value for value in column.values if value not in MISSING_MARKS]
        found[column.name] = notation(values)
    known = file_decimal(found.values())
    unclear, said, decimals = {}, [], Counter[str]()
    for name, own in found.items():
        if own.unclear:
            mark, separates = own.unclear, asked.get(name)
            if separates is None and known is not None and (known != mark or not own.whole):
                separates = known != mark
            elif separates is None and known is None and mark == "," == delimiter:
                separates = True
            elif separates is None and own.whole:
                unclear[name] = own
            form = own.read(thousands=bool(separates))
            found[name] = own = replace(own, form=form, has_decimals=not separates)
            if name not in unclear and (separates or mark == "," or name in asked):
                said.append(_said(name, own.example, form))
        elif own.form is not None and (own.form.thousands is not None or own.unit is not None):
            said.append(_said(name, "", own.form))
        if own.has_decimals and own.form is not None:
            decimals[own.form.decimal] += 1
    decimal = "," if decimals[","] > decimals["."] else "."
    return decimal, found, unclear, tuple(said)


def _said(name: str, example: str, form: NumberForm) -> str:
    """Return how a column's numbers are read, in a sentence."""
    names = {" ": "a blank", "'": "an apostrophe", **{mark: f"a {name}" for mark, name in MARKS.items()}}
    parts = []
    if form.thousands is not None:
        parts.append(f"{names[form.thousands]} separates thousands")
    elif example:
        parts.append(f"{names[form.decimal]} stands before decimals")
    if form.unit is not None:
        parts.append(f"the sign {form.unit} is passed over")
    shown = f", so that {example!r} is {as_number(form.plain(example)):.12g}" if example else ""
    return f"{name}: {' and '.join(parts)}{shown}."
