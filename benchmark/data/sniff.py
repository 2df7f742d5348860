"""The format of an unknown file: kind, encoding, separator, header, decimal mark."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from benchmark.data.card_parts import MISSING_MARKS, Source, SourceFile
from benchmark.data.number_form import PLAIN, Unclear, forms_of, unclear
from benchmark.data.raw import (
    DELIMITERS,
    RawColumn,
    RawRows,
    csv_rows,
    decoded,
    distinct_names,
    parquet_frame,
    read_rows,
    refuse_repeated,
    rows_of_frame,
)
from benchmark.data.source import LARGEST, read_file
from benchmark.data.xlsx import first_sheet, sheet_names
from benchmark.errors import DataError
from benchmark.file_options import MOST_MB
from benchmark.text.words import values_in_list

if TYPE_CHECKING:
    import pandas as pd

_SAMPLE_LINES, _MOST_BEFORE_HEADER = 300, 20
_NUMBERED = re.compile(r"column_\d+")  # names of columns without a header
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_ARFF = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[ \t\r]*(?:%[^\n]*)?\n)*[ \t]*@(?:relation|attribute)\s", re.IGNORECASE
)


@dataclass(frozen=True)
class RawTable:
    """A file's content, and how it was read."""

    source: Source
    columns: dict[str, RawColumn]
    # Sentences on what a look at the file may miss: encoding, lines above the header, further sheets, blanks
    # around values, and forms of numbers.
    remarks: tuple[str, ...]
    unclear: Mapping[str, Unclear] = field(default_factory=dict)  # columns with two readings, by name

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())).rows)


def sniff(
    path: Path,
    folder: Path,
    *,
    thousands: str | Sequence[str] | None = None,
    decimals: str | Sequence[str] | None = None,
    most_mb: float = MOST_MB,
    named: Set[str] = frozenset(),
    content: bytes | None = None,
) -> RawTable:
    """Return the content of a file without a card: CSV, ARFF, an Excel workbook or Parquet, gzipped or not.

    ``folder`` is the card's, which names the file from there. ``thousands`` and ``decimals`` name columns, as
    A,B, whose point or comma separates thousands or stands before decimals. The first line is the header,
    unless the ``named`` columns are called ``column_1``, ``column_2`` and so on. ``content`` is the unpacked
    file, where it was read before. A DataError says that the file is missing, no table, or larger than
    ``most_mb``, that a line does not fit the others, or that several columns have a named one's name.
    """
    content = _content(path, most_mb) if content is None else content
    kind = _kind(content, path)
    size = len(content) if len(content) > LARGEST else None  # the card must allow so much to be unpacked
    file = SourceFile(path=_from(path, folder), size=size)
    source = Source(files=(file,), format=kind)
    remarks = []
    if kind in ("csv", "arff"):
        encoding = _encoding(content, path)
        source = source.model_copy(update={"encoding": encoding})
        if encoding in ("cp1252", "latin-1"):
            guess = "which is a guess: look at letters with accents"
            remarks.append(f"The text is {encoding.upper()}, {guess}.")
    if kind == "xlsx" and len(sheets := sheet_names(content)) > 1:
        remarks.append(f"Of {len(sheets)} sheets the first, {sheets[0]!r}, is read.")
    if kind in ("csv", "xlsx"):
        layout = _layout(_samples(content, source, path), path, named)
        file = file.model_copy(update={"skip_lines": layout.skip_lines})
        changes = {"files": (file,), "delimiter": layout.delimiter, "column_names": layout.names}
        source = source.model_copy(update=changes)
        remarks += [layout.remark] * bool(layout.remark)
    rows = read_rows(content, source, file, str(path))
    refuse_repeated(named & {*rows.renamed.values()})
    return _table(rows, source, path, remarks, thousands, decimals)


def frame_table(frame: pd.DataFrame, file: str) -> RawTable:
    """Return the content of a frame, for a card that reads it from a CSV file of this name."""
    source = Source(files=(SourceFile(path=file),), format="csv")
    return _table(rows_of_frame(frame, file), source, Path(file))


def _table(
    rows: RawRows,
    source: Source,
    path: Path,
    remarks: Sequence[str] = (),
    thousands: str | Sequence[str] | None = None,
    decimals: str | Sequence[str] | None = None,
) -> RawTable:
    """Return a table whose numbers are read in the form that all numbers of their column have."""
    if not len(rows.lines):
        expected = "rows below the header"
        raise DataError(f"{path} has no rows", expected=expected, got="none", remedy="get the file again")
    remarks = [*remarks]
    if numbered := [name for name, own in rows.renamed.items() if own]:
        remarks.append(f"Columns of the same name are numbered: {', '.join(numbered)}.")
    if unnamed := [name for name, own in rows.renamed.items() if not own]:
        remarks.append(f"Columns without a name get one: {', '.join(unnamed)}.")
    for name, odd in rows.padded.items():
        what = f"blanks around values do not count, so that {odd!r} is {odd.strip()!r}"
        remarks.append(f"{name}: {what}.")
    known = rows.columns.__contains__
    separates = dict.fromkeys(values_in_list(thousands, known, "thousands"), True)
    separates |= dict.fromkeys(values_in_list(decimals, known, "decimals"), False)
    # Of a frame, types are known.
    values = {
        name: [value for value in column.values if value not in MISSING_MARKS]
        for name, column in rows.columns.items()
        if column.marks is MISSING_MARKS
    }
    forms = {name: forms_of(texts) for name, texts in values.items()}
    commas = source.delimiter == ";" and any(
        len(forms[name]) == 1 and forms[name][0].decimal == "," and any("," in text for text in texts)
        for name, texts in values.items()
    )
    columns, doubts = dict(rows.columns), {}
    for name, fitting in forms.items():
        if len(fitting) > 1 and name in separates:
            fitting = tuple(form for form in fitting if (form.thousands is not None) == separates[name])
        elif len(fitting) > 1 and commas:
            fitting = tuple(form for form in fitting if form.decimal == ",")
        elif len(fitting) > 1:
            doubts[name] = unclear(values[name], fitting)
        form = fitting[0] if fitting else None
        columns[name] = replace(columns[name], form=form)
        if form is None or (form == PLAIN and name not in separates):
            continue
        if marked := [v for v in values[name] if form.number(v) is not None and not v.isdigit()]:
            example = max(marked, key=lambda value: (len(value), value))
            remarks.append(f"Numbers of {name}: {example!r} is read as {form.number(example):.12g}.")
    return RawTable(source, columns, tuple(remarks), doubts)


def read_frame(
    path: Path,
    *,
    named: Set[str] = frozenset(),
    known: Mapping[str, Set[str]] | None = None,
    thousands: str | Sequence[str] | None = None,
    decimals: str | Sequence[str] | None = None,
    most_mb: float = MOST_MB,
) -> pd.DataFrame:
    """Return the table in a file without a card: CSV, ARFF, an Excel workbook or Parquet, gzipped or not.

    Values of a Parquet file keep their types. Others are text without blanks around it, or None if they are
    missing; numbers are as Python writes them. ``known`` are values by column that are not missing, such as
    ``NA``. ``frame.attrs`` has ``betabench_remarks`` on the file, the columns whose numbers are
    ``betabench_unclear``, with an example, and those with ``betabench_na``: missing values that are written
    ``NA``. Other parameters and errors are those of :func:`sniff`.
    """
    import pandas as pd

    content = _content(path, most_mb)
    if _kind(content, path) == "parquet":
        return parquet_frame(content, str(path))
    table = sniff(path, path.parent, thousands=thousands, decimals=decimals, named=named, content=content)
    columns, written_na = {}, []
    for name, column in table.columns.items():
        column = replace(column, marks=column.marks - (known or {}).get(name, frozenset()))
        values = np.array(column.values, dtype=object)
        if column.form not in (None, PLAIN):
            numeric = ~np.isnan(column.numbers)
            values[numeric] = [column.form.plain(value) for value in values[numeric]]
        values[column.missing] = None
        columns[name] = values[column.rows]
        written_na += [name] if "NA" in column.values and "NA" in column.marks else []
    frame = pd.DataFrame(columns)
    frame.attrs["betabench_remarks"] = table.remarks
    frame.attrs["betabench_unclear"] = {name: column.example for name, column in table.unclear.items()}
    frame.attrs["betabench_na"] = tuple(written_na)
    return frame


def _content(path: Path, most_mb: float) -> bytes:
    if (content := read_file(path, SourceFile(path=_as_utf8(path)), most=int(1e6 * most_mb))) is None:
        raise DataError(f"There is no file {path}", remedy="correct the path")
    return content


def _from(path: Path, folder: Path) -> str:
    """Return a file's path relative to a card's folder."""
    try:
        return _as_utf8(Path(os.path.relpath(path, folder)))
    except ValueError:  # on another drive
        return _as_utf8(path.resolve())


def _as_utf8(path: Path) -> str:
    """Return a path as text, also where the encoding of file names is not UTF-8."""
    return os.fsencode(path.as_posix()).decode("utf-8", "replace")


def _kind(content: bytes, path: Path) -> Literal["csv", "arff", "xlsx", "parquet"]:
    """Return the kind of a file; a DataError says that it is no table."""
    if content.startswith(b"PAR1"):
        return "parquet"
    if content.startswith(b"PK") and b"xl/workbook.xml" in content:
        return "xlsx"
    if _ARFF.match(content):
        return "arff"
    if not content.strip() or (b"\0" in content and not content.startswith(_UTF_16)):
        raise DataError(
            f"{path} cannot be read as a table",
            expected="a CSV file with a header and rows, an ARFF, Parquet or Excel file (.xlsx)",
            got="no text: it has bytes of value 0" if content.strip() else "empty",
            remedy="save it as CSV, or read it with pandas and give benchmark.quick the frame",
        )
    return "csv"


def _encoding(content: bytes, path: Path) -> str:
    """Return a file's encoding."""
    # charset-normalizer 3.5 would be wrong more often, and as sure. It read none of 24 small western tables
    # right, which these encodings all do, and 20 of 42 others.
    wide = content.startswith(_UTF_16)
    for encoding in ("utf-16",) if wide else ("utf-8-sig", "cp1252", "latin-1"):
        with contextlib.suppress(UnicodeDecodeError):
            content.decode(encoding)
            return encoding
    raise DataError(f"{path} is not text in the encoding that its byte order mark names", got=encoding)


class _Layout(NamedTuple):
    """Where the rows of a file begin, and how their values are separated."""

    delimiter: str
    names: tuple[str, ...] | None  # names of the columns, if no line has them
    skip_lines: int
    remark: str


def _samples(content: bytes, source: Source, path: Path) -> dict[str, list[tuple[int, list[str]]]]:
    """Return the first rows that are not blank by each separator of values, up to the first error of CSV."""
    samples: dict[str, list[tuple[int, list[str]]]] = {}
    if source.format == "xlsx":
        samples[","] = first_sheet(content, str(path))[:_SAMPLE_LINES]
        return samples
    lines = io.StringIO(decoded(content, source, str(path)), newline="")
    text = "".join(itertools.islice(lines, _SAMPLE_LINES))
    for delimiter in DELIMITERS:
        samples[delimiter] = []
        with contextlib.suppress(csv.Error):  # the sample may cut a quote, or the separator may be wrong
            samples[delimiter].extend(csv_rows(text, delimiter))
    return samples


def _layout(samples: Mapping[str, list[tuple[int, list[str]]]], path: Path, named: Set[str]) -> _Layout:
    """Return the layout of a file: the header has the ``named`` columns, or as many values as other lines.

    Of several separators, the one that gives most columns counts; blanks separate words as well, so they come
    last. Named columns of the form ``column_1`` say that there is no header.
    """
    # csv.Sniffer finds no separator in adult.test, which begins with a remark, and takes its first row for a
    # header.
    layouts = []
    for order, (delimiter, sample) in enumerate(samples.items()):
        rows = [(line, [cell.strip() for cell in row]) for line, row in sample if "".join(row).strip()]
        width, times = Counter(len(row) for _, row in rows).most_common(1)[0] if rows else (0, 0)
        before = next((i for i, (_, row) in enumerate(rows) if len(row) == width), 0)
        if width > 1 and before <= _MOST_BEFORE_HEADER and times >= 0.9 * (len(rows) - before):
            layouts.append((delimiter == " ", before, -width, order, delimiter, rows))
    if not layouts:
        first = next((" ".join(row) for sample in samples.values() for _, row in sample), "")
        raise DataError(
            f"{path} is no table with columns",
            expected="two columns or more, with the same number of values in each line",
            got=repr(first[:80]),
            remedy="save it as CSV with a header",
        )
    _, start, width, _, delimiter, rows = min(layouts)
    width = -width
    headers = (i for i, (_, row) in enumerate(rows[: _MOST_BEFORE_HEADER + 1]) if named and named <= {*row})
    # R writes a header without a name for the rows' own names.
    at = next(headers, start - (start > 0 and len(rows[start - 1][1]) == width - 1))
    (line, header), above = rows[at], rows[at - 1][0] if at else 0
    if len(header) == width - 1:
        if all(row[-1] == "" for _, row in rows[at + 1 :]):
            names = distinct_names([*header, ""])
            return _Layout(delimiter, names, line, "Rows end with a separator, the header does not.")
        names = distinct_names(["row", *header])
        return _Layout(delimiter, names, line, "Rows have a name, for which the header has no column.")
    if named and named.isdisjoint(header) and all(map(_NUMBERED.fullmatch, named)):
        names = distinct_names([""] * width)
        return _Layout(delimiter, names, above, "The first line is a row: columns have numbers, as named.")
    remark = f"The header is below line {above}." if above else ""
    return _Layout(delimiter, None, above, remark)
