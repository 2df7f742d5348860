"""The reader of all tables: from verified bytes, or a data frame, to columns of distinct values.

Of an unknown file, kind, encoding, separator, header and decimal marks are found out. The standard library
parses CSV. :func:`pandas.read_csv` would fill rows that are too short with empty values, take the first
values of longer rows for an index, and tell the line of neither.
"""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import lzma
import os
import re
import warnings
import zipfile
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from benchmark.data.card_parts import MISSING_MARKS, Source, SourceFile
from benchmark.data.number_form import PLAIN, Unclear, forms_of
from benchmark.data.raw import RawColumn, RawRows
from benchmark.data.reading import DoubtError
from benchmark.data.source import LARGEST, read_file
from benchmark.errors import DataError, UnknownNameError
from benchmark.file_options import FileOptions, Named
from benchmark.text.words import few, values_in_list

if TYPE_CHECKING:
    import pandas as pd
    from openpyxl.worksheet.worksheet import Worksheet

DELIMITERS = (",", ";", "\t", "|", " ")  # separators of a line's values, the most usual first
_SAMPLE_LINES, _MOST_BEFORE_HEADER = 300, 20
_MOST_UNFIT = 20  # lines that a proposal leaves out
_NUMBERED = re.compile(r"column_\d+")  # names of columns without a header
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # its first bytes
_ARFF = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[ \t\r]*(?:%[^\n]*)?\n)*[ \t]*@(?:relation|attribute)\s", re.IGNORECASE
)
_NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal")
_Row = tuple[int, list[str]]  # the number of its last line, and its values


@dataclass(frozen=True)
class RawTable:
    """A file's content, and how it was read."""

    source: Source
    columns: dict[str, RawColumn]
    # Sentences on what a look at the file may miss: encoding, lines above the header, further sheets, and
    # blanks around values.
    remarks: tuple[str, ...]
    numbers: Mapping[str, str]  # likewise, on forms of numbers, by column
    unclear: Mapping[str, Unclear]  # columns with two readings, by name
    # The other columns that the file calls by the same name, and whose values differ, by name.
    twins: Mapping[str, Sequence[str]]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())).rows)

    def decided(self, named: Mapping[str, Sequence[str]]) -> RawTable:
        """Return the table with unclear columns read as ``named``, by what their mark separates."""
        columns, numbers, unclear = dict(self.columns), dict(self.numbers), dict(self.unclear)
        for name, both in self.unclear.items():
            if (form := both.chosen(name, named)) is not None:
                del unclear[name]
                columns[name] = replace(columns[name], form=form)
                numbers[name] = form.said(name, both.example)
        return replace(self, columns=columns, numbers=numbers, unclear=unclear)


def read_table(
    path: Path,
    folder: Path,
    file_options: FileOptions,
    named: Set[str] = frozenset(),
    content: bytes | None = None,
) -> RawTable:
    """Return the content of a file without a card: CSV, ARFF, an Excel workbook or Parquet, gzipped or not.

    ``folder`` is the card's, which names the file from there. The first line is the header, unless the
    ``named`` columns are called ``column_1``, ``column_2`` and so on. ``content`` is the unpacked file, where
    it was read before. A DataError says that the file is missing, no table, or too large; a DoubtError asks
    for the encoding or the sheet, or whether lines that do not fit the header are rows.
    """
    content = _content(path, file_options) if content is None else content
    kind, location, sheet = _kind(content, path), str(path), file_options.sheet
    size = len(content) if len(content) > LARGEST else None  # the card must allow so much to be unpacked
    without = _line_numbers(file_options.without_lines)
    file = SourceFile(path=_from(path, folder), size=size, without_lines=without)
    source, remarks = Source(files=(file,), format=kind), list[str]()
    if kind == "parquet":
        return _table(read_rows(content, source, file, location), source, path)
    if kind != "xlsx":
        encoding = file_options.encoding or _encoding(content, path)
        source = source.model_copy(update={"encoding": encoding})
        if encoding == "cp1252" != file_options.encoding:
            guess = "which is a guess: look at letters with accents. If they are wrong, add --encoding NAME"
            remarks.append(f"The text is CP1252, {guess}.")
    if sheet is not None:
        if kind != "xlsx":
            raise UnknownNameError("sheet", sheet, [])
        source = source.model_copy(update={"sheet": sheet})
    opened = _opened(content, source, location)
    sheets = opened.names if isinstance(opened, Sheet) else []
    if others := sheets[1:] if sheet is None else []:
        remarks.append(f"Of {len(sheets)} sheets the first, {sheets[0]!r}, is read.")
        location = f"The first sheet {sheets[0]!r} of {path}"
    if kind != "arff":
        try:
            delimiter, names, skip, remark = _layout(_samples(opened), location, named)
        except DataError as error:
            if not others:
                raise
            text = f"{error.what.rstrip('.')}. Another sheet may have it: {few([*map(repr, others)])}"
            raise DoubtError([(text, {"sheet": others[0]})]) from error
        file = file.model_copy(update={"skip_lines": skip})
        changes = {"files": (file,), "delimiter": delimiter, "column_names": names}
        source = source.model_copy(update=changes)
        remarks += [remark] * bool(remark)
    if isinstance(opened, Sheet):
        remarks += opened.unlike_its_look(file.skip_lines + 1)
    rows = _rows_of(opened, source, file, str(path), most_unfit=_MOST_UNFIT)
    if without:
        remarks.append(f"Lines that are left out: {', '.join(map(str, without))}.")
    return _table(rows, source, path, remarks)


def _line_numbers(lines: Named | None) -> tuple[int, ...]:
    texts = values_in_list(lines, str.isdecimal, "without-lines")
    if not all(text.isdecimal() and int(text) for text in texts):
        expected, got = "numbers of lines, such as 2,1005", repr(lines)
        raise DataError("--without-lines names no lines", expected=expected, got=got, remedy="correct it")
    return tuple(sorted(map(int, texts)))


def frame_table(frame: pd.DataFrame, file: str) -> RawTable:
    """Return the content of a frame, for a card that reads it from a CSV file of this name."""
    source = Source(files=(SourceFile(path=file),), format="csv")
    return _table(rows_of_frame(frame, file), source, Path(file))


def _table(rows: RawRows, source: Source, path: Path, remarks: Sequence[str] = ()) -> RawTable:
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
    # Of a frame, types are known.
    texts = {
        name: [value for value in column.values if value not in MISSING_MARKS]
        for name, column in rows.columns.items()
        if column.marks is MISSING_MARKS
    }
    forms = {name: forms_of(own) for name, own in texts.items()}
    # A decimal comma in one column of a file of semicolons is that of all columns.
    if source.delimiter == ";" and any(
        len(forms[name]) == 1 and forms[name][0].decimal == "," in "".join(own) for name, own in texts.items()
    ):
        commas = {name: tuple(form for form in own if form.decimal == ",") for name, own in forms.items()}
        forms |= {name: commas[name] for name, own in forms.items() if len(own) > 1}
    columns, unclear, said = dict(rows.columns), {}, dict[str, str]()
    for name, fitting in forms.items():
        own = texts[name]
        columns[name] = replace(columns[name], form=fitting[0] if fitting else None)
        if not fitting:
            digits = sorted((value for value in own if re.search(r"\d", value)), key=len)
            which = f"{digits[0]!r} and {digits[-1]!r}"
            remarks.append(f"Numbers of {name} are text, as they have several forms, such as {which}.")
        elif len(fitting) > 1:
            unclear[name] = Unclear(fitting, own)
        elif example := fitting[0].unlike_its_look(own):
            said[name] = fitting[0].said(name, example)
    twins: dict[str, list[str]] = {}
    for name, first in rows.renamed.items():
        if first and (columns[name].cells != columns[first].cells).any():
            twins.setdefault(first, []).append(name)
    return RawTable(source, columns, tuple(remarks), said, unclear, twins)


def read_frame(
    path: Path,
    file_options: FileOptions,
    named: Set[str] = frozenset(),
    known: Mapping[str, Set[str]] | None = None,
) -> pd.DataFrame:
    """Return the table in a file without a card: CSV, ARFF, an Excel workbook or Parquet, gzipped or not.

    Values of a Parquet file keep their types. Others are text without blanks around it, or None if they are
    missing; numbers are as Python writes them. ``known`` are values by column that are not missing, such as
    ``NA``. ``frame.attrs`` has ``betabench_remarks`` on the file, the columns whose numbers are
    ``betabench_unclear``, and those with ``betabench_na``: missing values that are written ``NA``. Other
    parameters and errors are those of :func:`read_table`.
    """
    import pandas as pd

    content = _content(path, file_options)
    if _kind(content, path) == "parquet":
        return packed_frame(content, str(path), "parquet")
    table = read_table(path, path.parent, file_options, named, content)
    if twins := [name for name in sorted(named) if name in table.twins]:
        other = table.twins[twins[0]][0]
        refuse_repeated(twins, f"name {other!r} if the second is meant, or ")
    chosen = {
        option: values_in_list(getattr(file_options, option), table.columns.__contains__, option)
        for option in ("thousands", "decimals")
    }
    for name in itertools.chain.from_iterable(chosen.values()):
        if name not in table.columns:
            raise UnknownNameError("column", name, table.columns)
    table = table.decided(chosen)
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
    frame.attrs["betabench_remarks"] = (*table.remarks, *table.numbers.values())
    frame.attrs["betabench_unclear"] = table.unclear
    frame.attrs["betabench_na"] = tuple(written_na)
    return frame


def _content(path: Path, file_options: FileOptions) -> bytes:
    most = int(1e6 * file_options.max_mb)
    if (content := read_file(path, SourceFile(path=_as_utf8(path)), most=most)) is None:
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
            remedy="save it as CSV in UTF-8, or read it with pandas and give benchmark.quick the frame",
        )
    return "csv"


def _encoding(content: bytes, path: Path) -> str:
    """Return a file's encoding."""
    # charset-normalizer 3.5 would be wrong more often, and as sure. It read none of 24 small western tables
    # right, which these encodings all do, and 20 of 42 others.
    for encoding in ("utf-16",) if content.startswith(_UTF_16) else ("utf-8-sig", "cp1252"):
        with contextlib.suppress(UnicodeDecodeError):
            content.decode(encoding)
            return encoding
    others = "cp932 in Japan, gb18030 in China, cp1251 in Russia, mac_roman or cp850 of old programs"
    text = f"{path} is neither UTF-8 nor CP1252. Write the name of its encoding for NAME, such as {others}"
    raise DoubtError([(text, {"encoding": "NAME"})])


def _samples(opened: str | Sheet) -> dict[str, list[_Row]]:
    """Return the first rows that are not blank by each separator of values, up to the first error of CSV."""
    if isinstance(opened, Sheet):
        return {",": opened.rows[:_SAMPLE_LINES]}
    samples: dict[str, list[_Row]] = {delimiter: [] for delimiter in DELIMITERS}
    text = "".join(itertools.islice(io.StringIO(opened, newline=""), _SAMPLE_LINES))
    for delimiter, sample in samples.items():
        with contextlib.suppress(csv.Error):  # the sample may cut a quote, or the separator may be wrong
            sample.extend(csv_rows(text, delimiter))
    return samples


def _layout(
    samples: Mapping[str, list[_Row]], location: str, named: Set[str]
) -> tuple[str, tuple[str, ...] | None, int, str]:
    """Return separator, names of columns if no line has them, lines above the rows, and a remark.

    The header has the ``named`` columns, or as many values as other lines. Of several separators, the one
    that gives most columns counts; blanks separate words as well, so they come last. Named columns of the
    form ``column_1`` say that there is no header.
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
            f"{location} is no table with columns",
            expected="two columns or more, with the same number of values in each line",
            got=repr(first[:80]),
            remedy="save the table as CSV with a header",
        )
    _, start, width, _, delimiter, rows = min(layouts)
    width = -width
    headers = (i for i, (_, row) in enumerate(rows[: _MOST_BEFORE_HEADER + 1]) if named and named <= {*row})
    # R writes a header without a name for the rows' own names.
    at = next(headers, start - (start > 0 and len(rows[start - 1][1]) == width - 1))
    line, header = rows[at]
    # A line of nothing but separators counts as well.
    above = max((before for before, _ in samples[delimiter] if before < line), default=0)
    if len(header) == width - 1:
        if all(row[-1] == "" for _, row in rows[at + 1 :]):
            names = distinct_names([*header, ""])
            return delimiter, names, line, "Rows end with a separator, the header does not."
        if len({row[0] for _, row in rows[at + 1 :]}) == len(rows) - at - 1:  # names of rows differ
            names = distinct_names(["row", *header])
            return delimiter, names, line, "Rows have a name, for which the header has no column."
    if named and named.isdisjoint(header) and all(map(_NUMBERED.fullmatch, named)):
        names = distinct_names([""] * width)
        return delimiter, names, above, "The first line is a row: columns have numbers, as named."
    return delimiter, None, above, f"The header is line {line}." if above else ""


# ----------------------------------------------------------------------------------------------------- rows


def read_rows(
    content: bytes, source: Source, file: SourceFile, location: str, used: Collection[str] | None = None
) -> RawRows:
    """Return the rows of a file from its verified content, with all columns or those ``used``.

    ``source`` says how the file is read, and ``file`` how many lines are skipped. A DataError says that the
    content is not of its format or encoding, is empty, or has a line that does not fit the header.
    """
    if source.format in ("parquet", "rda"):
        _require_none(file.without_lines, location)
        return rows_of_frame(packed_frame(content, location, source.format), location)
    return _rows_of(_opened(content, source, location), source, file, location, used)


def _opened(content: bytes, source: Source, location: str) -> str | Sheet:
    """Return a file's text, or a workbook's sheet; a DataError says that it is not in the named encoding."""
    if source.format == "xlsx":
        return read_sheet(content, location, source.sheet)
    try:
        return content.decode(source.encoding)
    except (UnicodeDecodeError, LookupError) as error:  # or there is no such encoding
        raise DataError(
            f"The source file {location} is not text in its encoding",
            expected=source.encoding,
            got=str(error),
            remedy="correct source.encoding in the card, or --encoding",
        ) from error


def _rows_of(
    opened: str | Sheet,
    source: Source,
    file: SourceFile,
    location: str,
    used: Collection[str] | None = None,
    most_unfit: int = 0,
) -> RawRows:
    """Return the rows; a DoubtError proposes to leave out at most ``most_unfit`` lines that do not fit."""
    given, skip = source.column_names, file.skip_lines
    rows: Iterator[_Row]
    lines, without, passed, unfit = array("q"), {*file.without_lines}, set[int](), list[tuple[int, int]]()
    try:
        if isinstance(opened, Sheet):
            rows = (row for row in opened.rows if row[0] > skip)
        elif source.format == "arff":
            declared, rows = _arff(opened, location)
            given = given or declared
        else:
            rows = csv_rows(opened, source.delimiter, skip)
        if given is None:
            if (first := next(rows, None)) is None:
                raise DataError(
                    f"The source file {location} is empty",
                    expected="a header line and rows",
                    got=f"no line after the first {skip}" if skip else "no line",
                    remedy="get the file again, or correct 'skip_lines' in the card",
                )
            given = tuple(name.strip() for name in first[1])
        header = distinct_names(given)
        renamed = {name: own for name, own in zip(header, given, strict=True) if name != own}
        # Each value is stored once, each cell as a number. Cells of other columns do not outlive their row.
        kept: list[tuple[int, dict[str, int], array[int]]] = [
            (i, {}, array("i")) for i, name in enumerate(header) if used is None or name in used
        ]
        for line, row in rows:
            if line in without:
                passed.add(line)
            elif len(row) != len(header):
                unfit.append((line, len(row)))
            else:
                lines.append(line)
                for i, values, codes in kept:
                    codes.append(values.setdefault(row[i], len(values)))
    except csv.Error as error:
        if not unfit:  # which may be the cause
            raise DataError(
                f"The source file {location} is not valid {source.format.upper()}",
                got=f"{error}, in the row below line {lines[-1]}" if lines else str(error),
                remedy="correct the quotes there, or 'delimiter' in the card; the file may be truncated",
            ) from error
    if unfit:
        (line, n), *others = unfit
        what, expected = (
            f"Line {line} of {location} does not fit the others and the header",
            f"{len(header)} values",
        )
        got = f"{n} value{'s' * (n != 1)}"
        got += f"; other lines do not fit either: {few([str(other) for other, _ in others])}" * bool(others)
        if len(unfit) <= most_unfit:
            text = f"{what}: {expected} expected, got {got}. If they are no rows, leave them out"
            left_out = [*map(str, (*file.without_lines, *(line for line, _ in unfit)))]
            raise DoubtError([(text, {"without_lines": left_out})])
        raise DataError(
            what,
            expected=expected,
            got=got,
            remedy="correct or delete the line, get the file again if it is truncated, or correct "
            "'delimiter' and 'skip_lines' in the card",
        )
    _require_none(without - passed, location)
    columns = {
        header[i]: RawColumn.from_written(header[i], values, np.array(codes, dtype=np.intp))
        for i, values, codes in kept
    }
    padded = {header[i]: odd for i, values, _ in kept if (odd := _padded(values))}
    files = np.full(len(lines), location, dtype=object)
    return RawRows(header, columns, np.array(lines, dtype=np.intp), files, renamed, padded)


def _require_none(lines: Collection[int], location: str) -> None:
    """Raise a DataError if there are lines to leave out that a file does not have."""
    if lines:
        raise DataError(
            f"Lines of {location} cannot be left out",
            expected="numbers of lines, or of rows of a sheet, that are below the header and not blank",
            got=few([*map(str, sorted(lines))]),
            remedy="correct --without-lines, or 'without_lines' in the card",
        )


def _padded(values: Collection[str]) -> str:
    """Return a value that differs from another one in blanks only, or an empty text."""
    return next((v for v in values if v != v.strip() and v.strip() and v.strip() in values), "")


def csv_rows(text: str, delimiter: str, skip_lines: int = 0) -> Iterator[_Row]:
    """Yield the rows of a CSV file that are not blank."""
    lines = io.StringIO(text, newline="")
    for _ in range(skip_lines):
        lines.readline()
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    for row in reader:
        if len(row) > 1 or (row and row[0].strip()):
            yield skip_lines + reader.line_num, row


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names for columns: the second ``a`` becomes ``a.1``, and the third without one ``column_3``."""
    distinct: list[str] = []
    for i, given in enumerate(names, 1):
        name = given or f"column_{i}"
        if name in distinct:
            numbered = (f"{name}.{k}" for k in itertools.count(1))
            name = next(free for free in numbered if free not in distinct and free not in names)
        distinct.append(name)
    return tuple(distinct)


# ----------------------------------------------------------------------------------------------------- ARFF


def _arff(text: str, location: str) -> tuple[tuple[str, ...], Iterator[_Row]]:
    """Return an ARFF file's names and its rows, unescaped.

    A DataError says that the file has no data, or lists only values other than 0 (sparse rows).
    """
    lines = io.StringIO(text, newline=None)
    names = []
    for number, line in enumerate(lines, start=1):
        keyword, *declared = line.split(maxsplit=1) or [""]
        if keyword.lower() == "@attribute" and declared and (name := _ARFF_NAME.match(declared[0])):
            names.append(_arff_value(name).strip())
        elif keyword.lower() == "@data":
            return tuple(names), _arff_rows(lines, number, location)
    raise DataError(
        f"The source file {location} is not valid ARFF",
        expected="a line '@data'",
        got="none",
        remedy="the file may be truncated; get it again",
    )


def _arff_rows(lines: Iterable[str], lines_before: int, location: str) -> Iterator[_Row]:
    for number, line in enumerate(lines, lines_before + 1):
        bare = line.strip()
        if not bare or bare.startswith("%"):
            continue
        if bare.startswith("{"):
            raise DataError(
                f"Line {number} of {location} is a sparse row, which lists only values other than 0",
                expected="rows with a value for each attribute",
                got=bare[:80],
                remedy="save it without sparse rows: in Weka with the filter SparseToNonSparse",
            )
        quoted = "'" in bare or '"' in bare
        yield number, list(_arff_cells(bare)) if quoted else bare.split(",")


def _arff_cells(line: str) -> Iterator[str]:
    # No parser of CSV takes both kinds of quotes, or backslashes within them.
    end, more = 0, ","
    while more:
        if (cell := _ARFF_CELL.match(line, end)) is None:
            raise csv.Error(f"a quote does not enclose a value in {line[:80]!r}")
        yield _arff_value(cell)
        end, more = cell.end(), cell[3]


_ARFF_QUOTED = r"""(?:(['"])((?:(?!\1)[^\\]|\\.)*)\1|"""
_ARFF_CELL = re.compile(rf"""\s*{_ARFF_QUOTED}(?!['"])[^,]*?)\s*(,|$)""")
_ARFF_NAME = re.compile(rf"{_ARFF_QUOTED}[^\s{{]+)")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


def _arff_value(match: re.Match[str]) -> str:
    """Return a value of ARFF without its quotes; a backslash gives the next character its plain meaning."""
    if match[1] is None:
        return match[0].rstrip(",").strip()

    def plain(escape: re.Match[str]) -> str:
        code = escape[1]
        return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPED.get(code, code)

    return _ESCAPE.sub(plain, match[2])


# ---------------------------------------------------------------------------------------------------- Excel


@dataclass(frozen=True)
class Sheet:
    """A sheet of a workbook."""

    rows: list[_Row]  # those that are not blank
    names: list[str]  # of all sheets of the workbook
    sheet: Worksheet

    def unlike_its_look(self, header: int) -> Iterator[str]:
        """Yield sentences on hidden cells, and on cells merged over rows below the header."""
        lines = (*self.sheet.row_dimensions.values(), *self.sheet.column_dimensions.values())
        if hidden := sum(bool(line.hidden) for line in lines):
            yield f"Hidden rows and columns of the sheet are read as well: {hidden:,}."
        if merged := sum(own.max_row > max(own.min_row, header) for own in self.sheet.merged_cells.ranges):
            what = "cells merged over several rows, only the first row has a value"
            yield f"Of {merged:,} {what}: fill the rest."


def read_sheet(content: bytes, location: str, named: str | None = None) -> Sheet:
    """Return a sheet of a workbook (.xlsx), by default the first.

    A truth value is TRUE or FALSE, a formula its last value, a date is written as 2020-01-31, and a time as
    08:30:00. A DataError says that the file is no workbook, or too large, an UnknownNameError that it lacks
    the sheet.
    """
    import openpyxl

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as book:
            if sum(part.file_size for part in book.infolist()) > LARGEST:
                raise ValueError(f"it has more than {LARGEST:,} bytes")
        with warnings.catch_warnings():  # of styles and validations, which are not read
            warnings.simplefilter("ignore", UserWarning)
            workbook = openpyxl.load_workbook(io.BytesIO(content), data_only=True)
        sheets = {sheet.title: sheet for sheet in workbook.worksheets}
        sheet = next(iter(sheets.values())) if named is None else sheets.get(named)
    except Exception as error:  # whatever a damaged file makes of the reader
        raise DataError(
            f"The source file {location} is not a valid Excel workbook",
            expected="a file .xlsx with a sheet",
            got=str(error.args[0] if error.args else error),
            remedy="get it again, or save the sheet as CSV and correct 'format' under [source]",
        ) from error
    if sheet is None:
        raise UnknownNameError("sheet", str(named), sheets)
    rows = ([*map(_cell, row)] for row in sheet.iter_rows(min_row=1, values_only=True))
    ends = (
        (n, row, max((i for i, text in enumerate(row, 1) if text), default=0))
        for n, row in enumerate(rows, 1)
    )
    numbered = [(n, row[:end]) for n, row, end in ends if end]
    # Empty cells at the end of a row do not count. A title above the table is a single cell.
    ((usual, _),) = Counter(len(row) for _, row in numbered).most_common(1) or [(0, 0)]
    first, width = next(((n, len(row)) for n, row in numbered if len(row) >= usual), (0, 0))
    for n, row in numbered:
        row += [""] * (width - len(row)) * (n > first or len(row) > 1)
    return Sheet(numbered, [*sheets], sheet)


def _cell(value: object) -> str:
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).upper()
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time.min else value.isoformat(" ")
    return str(value)


# --------------------------------------------------------------------------------------------------- frames


def rows_of_frame(frame: pd.DataFrame, location: str) -> RawRows:
    """Return the rows of a frame, with types believed: text is text, even if it looks like numbers.

    Values are text as in :func:`as_csv`, and only missing values are missing. Errors are the same.
    """
    names = _names(frame)
    columns = {name: _typed(name, frame.iloc[:, i]) for i, name in enumerate(names)}
    files = np.full(len(frame), location, dtype=object)
    return RawRows(tuple(names), columns, np.arange(1, len(frame) + 1), files)


def as_csv(frame: pd.DataFrame) -> str:
    """Return a frame as CSV text; a DataError names a column that is twice."""
    text: str = frame.set_axis(_names(frame), axis=1).to_csv(index=False, lineterminator="\n")
    return text


def _names(frame: pd.DataFrame) -> list[str]:
    names = [str(name).strip() or f"column_{i}" for i, name in enumerate(frame.columns, 1)]
    refuse_repeated({name for name in names if names.count(name) > 1})
    return names


def refuse_repeated(names: Collection[str], remedy: str = "") -> None:
    """Raise a DataError if several columns have one of some names."""
    if names:
        raise DataError(
            "Columns have the same name",
            expected="a different name for each column",
            got=", ".join(map(repr, sorted(names))) + " more than once",
            remedy=f"{remedy}rename or drop columns",
        )


def _typed(name: str, series: pd.Series[Any]) -> RawColumn:
    """Return a column of a frame; of an object column, the types of its values count."""
    import pandas as pd

    is_number = pd.api.types.is_numeric_dtype(series) and not pd.api.types.is_bool_dtype(series)
    order: list[str] = []
    if series.dtype == object:
        is_number = pd.api.types.infer_dtype(series) in _NUMBERS
        series = series.map(str, na_action="ignore")  # 1 and True are equal, and are not the same value
    elif isinstance(series.dtype, pd.CategoricalDtype) and series.cat.ordered:
        order = _texts(series.cat.categories)
    codes, distinct = pd.factorize(series)
    values = _texts(distinct)
    if (codes < 0).any():
        values.append("")  # code -1
    form = PLAIN if is_number else None
    return RawColumn.from_written(name, values, codes, form=form, marks=frozenset({""}), order=tuple(order))


def _texts(values: Any) -> list[str]:
    """Return distinct values as pandas writes them."""
    import pandas as pd

    text = pd.Series(values).to_csv(index=False, header=False, lineterminator="\n")
    return [row[0].strip() for row in csv.reader(io.StringIO(text, newline=""))]


def packed_frame(content: bytes, location: str, kind: Literal["parquet", "rda"]) -> pd.DataFrame:
    """Return the frame in a Parquet file, or in R's own format (.rda, .RData, .rds).

    A DataError says that it cannot be read, or needs a package.
    """
    import pandas as pd

    package, written = {"parquet": ("pyarrow", "Parquet"), "rda": ("rdata", "R data")}[kind]
    try:
        frame = pd.read_parquet(io.BytesIO(content)) if kind == "parquet" else _r_frame(content)
    except ImportError as error:
        raise DataError(
            f"{written} files need the package {package}, which is not installed",
            got=location,
            remedy=f"pip install 'betabench[{kind}]', or save the table as CSV",
        ) from error
    # pyarrow's own errors are among the first two; the others are rdata's and its unpackers'.
    except (ValueError, OSError, LookupError, NotImplementedError, EOFError, lzma.LZMAError) as error:
        raise DataError(
            f"{location} cannot be read",
            expected=f"a {written} file",
            got=str(error).strip(),
            remedy="get or save it again, or save it as CSV",
        ) from error
    return frame.reset_index() if frame.index.name is not None else frame


def _r_frame(content: bytes) -> pd.DataFrame:
    """Return the only table in a file of R, without the names of its rows."""
    import pandas as pd
    import rdata

    with warnings.catch_warnings():  # that a tibble is read as the data frame that it is
        warnings.simplefilter("ignore", UserWarning)
        objects = rdata.read_rda(io.BytesIO(content))
    tables = [*objects.values()] if isinstance(objects, dict) else [objects]  # an .rds has no names
    if [*map(type, tables)] != [pd.DataFrame]:
        raise ValueError(f"it has {len(tables)} objects, or one that is no table")
    return pd.DataFrame(tables[0]).rename(columns=str)
