"""The format of an unknown file: kind, encoding, separator, header, decimal mark."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import json
import os
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from benchmark.data.card_parts import MISSING_MARKS, Source, SourceFile
from benchmark.data.frames import as_csv, parquet_frame
from benchmark.data.number_form import MARKS, PLAIN, Notation, NumberForm, file_decimal, notation
from benchmark.data.raw import DELIMITERS, READERS, number_repeats
from benchmark.data.source import LARGEST, read_file
from benchmark.data.xlsx import first_sheet, sheet_names
from benchmark.errors import DataError
from benchmark.file_options import MOST_MB
from benchmark.text.words import as_number, values_in_list

if TYPE_CHECKING:
    import pandas as pd

# Open classes of numbers: a sign or word before the limit, or words behind it, and perhaps a unit.
_OPEN = r"(?:(?:(?P<strict>{})|{})\s*(?P<first>[^\s=]+)|(?P<last>\S+?)\s*(?:{}))(?:\s+[a-z]+)?"
_BELOW = re.compile(
    _OPEN.format(
        "<|under|below|less than|fewer than",
        "<=|≤|up to|at most",
        "(?:or|and) (?:less|fewer|under|below|younger)",
    ),
    re.IGNORECASE,
)
_ABOVE = re.compile(
    _OPEN.format(
        ">|over|above|more than", ">=|≥|at least|from", r"\+|plus|(?:or|and) (?:more|over|above|older|up)"
    ),
    re.IGNORECASE,
)
_SAMPLE_LINES, _MOST_BEFORE_HEADER = 300, 20
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars", " ": "blanks"}
_NO_TABLE = {
    b"PK": "an Excel workbook or a zip archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"SQLite": "a database",
}
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_KINDS = {"csv": "CSV", "arff": "ARFF", "xlsx": "an Excel workbook, of which the first sheet is read"}
_KINDS["parquet"] = "Parquet"
_ARFF = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[ \t\r]*(?:%[^\n]*)?\n)*[ \t]*@(?:relation|attribute)\s", re.IGNORECASE
)


@dataclass(frozen=True, eq=False)
class RawColumn:
    """A column of a file as text: its distinct values, and the value of each row."""

    name: str
    values: tuple[str, ...]
    rows: NDArray[np.intp]  # position of each row's value
    form: NumberForm = PLAIN  # how its numbers are written
    mixed: str = ""  # why its numbers have no single form, if they have none
    none: frozenset[str] = frozenset()  # values that a user calls missing
    marks: frozenset[str] = MISSING_MARKS  # other values that mean missing; of a frame, only empty text

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """Number of rows of each value."""
        return np.bincount(self.rows, minlength=len(self.values))

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Whether each value means missing."""
        marks = self.marks - {"-"} if "+" in self.values else self.marks
        return np.array([value in marks or value in self.none for value in self.values], dtype=bool)

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """Each value as a number; NaN if it is no number, or called missing."""
        numbers = (None if value in self.none else as_number(self.form.plain(value)) for value in self.values)
        return np.array([np.nan if number is None else number for number in numbers])

    @cached_property
    def places(self) -> NDArray[np.float64]:
        """Each value's number; of an open class, such as ``<1`` or ``65+``, a number beyond all others."""
        places, plain = self.numbers.copy(), np.unique(self.numbers[~np.isnan(self.numbers)])
        if len(plain) < 2:
            return places
        step = float(np.diff(plain).min())
        for i in np.flatnonzero(np.isnan(places) & ~self.missing).tolist():
            for form, sign in ((_BELOW, -1), (_ABOVE, 1)):
                if (match := form.fullmatch(self.values[i])) is None:
                    continue
                limit = as_number(self.form.plain(match["first"] or match["last"]))
                if limit is not None and (sign * (limit - plain) >= 0).all():
                    within = match["strict"] is None and limit not in plain
                    places[i] = limit if within else limit + sign * step
        return places

    def of(self, read: NDArray[np.bool_]) -> RawColumn:
        """Return the column with some of its rows and their values only."""
        rows = self.rows[read]
        used = np.unique(rows)
        return replace(self, values=tuple(self.values[i] for i in used), rows=np.searchsorted(used, rows))


@dataclass(frozen=True)
class RawTable:
    """A file's content, and how it was read."""

    source: Source
    columns: dict[str, RawColumn]
    remarks: tuple[str, ...]  # sentences on the format
    numbers: tuple[str, ...] = ()  # sentences on columns that do not write numbers as Python does
    unseen: tuple[str, ...] = ()  # sentences on what a look at the file may miss: blanks, further sheets
    unclear: Mapping[str, Notation] = field(default_factory=dict)  # columns with two readings, by name
    repeated: frozenset[str] = frozenset()  # names that several columns have; all but the first got a number

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
    typed: bool = False,
    content: bytes | None = None,
) -> RawTable:
    """Return the content of a file without a card: CSV, ARFF, an Excel workbook or Parquet, gzipped or not.

    ``folder`` is the card's, which names the file from there. ``thousands`` and ``decimals`` name columns, as
    A,B, whose point or comma separates thousands or stands before decimals. A first line with one of the
    ``named`` columns is the header. ``typed`` says that a frame was written to the file, so that only empty
    values are missing. ``content`` is the unpacked file, where it was read before. A DataError says that the
    file is missing, no table, or larger than ``most_mb``, or that a line does not fit the others.
    """
    content = _content(path, most_mb) if content is None else content
    kind = _kind(content, path)
    size = len(content) if len(content) > LARGEST else None  # the card must allow so much to be unpacked
    source = Source(files=(SourceFile(path=_from(path, folder), size=size),), format=kind)
    typed |= kind == "parquet"
    remarks: tuple[str, ...] = (f"The file is {_KINDS[kind]}.",)
    said: tuple[str, ...] = ()
    if kind == "xlsx":
        text = first_sheet(content, str(path))
        first, *others = sheet_names(content)
        if others:
            said = (f"Of {len(others) + 1} sheets the first, {first!r}, is read.",)
    elif kind == "parquet":
        text = as_csv(parquet_frame(content, str(path)))
    else:
        text, encoding, remarks = _decode(content, path)
        source = source.model_copy(update={"encoding": encoding})
    del content
    header_names: list[str] = []
    if kind != "arff":
        choices = DELIMITERS if kind == "csv" and not typed else DELIMITERS[:1]
        delimiter, names, skipped, header = _layout(text, path, choices, None if typed else named)
        remarks += (*((f"Values are separated by {_SEPARATORS[delimiter]}.",) * (kind == "csv")), header)
        file = source.files[0].model_copy(update={"skip_lines": skipped})
        changes = {"files": (file,), "delimiter": delimiter, "column_names": names}
        source = source.model_copy(update=changes)
        if names is None:
            header_names = next(row for line, row in _sample(text, delimiter) if line > skipped)
    columns, blanks = _read(text, source, path)
    if typed:
        columns = {name: replace(column, marks=frozenset({""})) for name, column in columns.items()}
    if kind == "csv" and any('"' in line for line in itertools.islice(io.StringIO(text), _SAMPLE_LINES)):
        remarks += ("Some values are in quotes.",)
    numbered = {name: re.sub(r"\.\d+$", "", name) for name in columns if name not in header_names}
    if repeats := {name: first for name, first in numbered.items() if first in columns.keys() - {name}}:
        remarks += (f"Columns of the same name are numbered: {', '.join(repeats)}.",)
    known = columns.__contains__
    separates = dict.fromkeys(values_in_list(thousands, known, "thousands"), True)
    separates |= dict.fromkeys(values_in_list(decimals, known, "decimals"), False)
    decimal, notations, unclear, sentences = _notations(columns.values(), source.delimiter, separates)
    if decimal == ",":
        source = source.model_copy(update={"decimal": ","})
        remarks += ("Numbers have a decimal comma.",)
    for name, written in notations.items():
        form = written.form or NumberForm(decimal)
        columns[name] = replace(columns[name], form=form, mixed=written.mixed)
    return RawTable(
        source, columns, remarks, sentences, (*said, *blanks), unclear, frozenset(repeats.values())
    )


def read_frame(
    path: Path,
    *,
    named: Set[str] = frozenset(),
    known: Mapping[str, Set[str]] | None = None,
    most_mb: float = MOST_MB,
) -> pd.DataFrame:
    """Return the table in a file without a card: CSV, ARFF, an Excel workbook or Parquet, gzipped or not.

    Values of a Parquet file keep their types. Others are text without blanks around it, or None if they are
    missing; numbers are as Python writes them. ``known`` are values by column that are not missing, such as
    ``NA``. ``frame.attrs`` has ``betabench_remarks`` on the file, the columns whose numbers are
    ``betabench_unclear``, with an example, the names that several columns have (``betabench_repeated``), and
    the columns with ``betabench_na``: missing values that are written ``NA``. Other parameters and errors are
    those of :func:`sniff`.
    """
    import pandas as pd

    content = _content(path, most_mb)
    if _kind(content, path) == "parquet":
        return parquet_frame(content, str(path))
    table = sniff(path, path.parent, named=named, content=content)
    columns, written_na = {}, []
    for name, column in table.columns.items():
        column = replace(column, marks=column.marks - (known or {}).get(name, frozenset()))
        plain = [column.form.plain(value) for value in column.values]
        written = zip(column.values, plain, np.isnan(column.numbers), strict=True)
        values = np.array([value if isnan else number for value, number, isnan in written], dtype=object)
        values[column.missing] = None
        columns[name] = values[column.rows]
        written_na += [name] if "NA" in column.values and "NA" in column.marks else []
    frame = pd.DataFrame(columns)
    frame.attrs["betabench_remarks"] = (*table.remarks, *(f"Numbers of {words}" for words in table.numbers))
    frame.attrs["betabench_unclear"] = {name: column.example for name, column in table.unclear.items()}
    frame.attrs["betabench_repeated"] = table.repeated
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
    kinds = {
        **{kind: content.startswith(start) for start, kind in _NO_TABLE.items()},
        "no text: it has bytes of value 0": b"\0" in content and not content.startswith(_UTF_16),
        "JSON": _is_json(content),
        "empty": not content.strip(),
    }
    if any(kinds.values()):
        raise DataError(
            f"{path} cannot be read as a table",
            expected="a CSV file with a header and rows, an ARFF, Parquet or Excel file (.xlsx)",
            got=next(kind for kind, applies in kinds.items() if applies),
            remedy="save it as CSV, or read it with pandas and give benchmark.quick the frame",
        )
    return "csv"


def _is_json(content: bytes) -> bool:
    """Return whether a file is JSON, or a JSON value a line, and no CSV whose header has brackets."""
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start.startswith((b"{", b"[")):
        return False
    line = start.partition(b"\n")[0].strip()
    if line in (b"{", b"[") or re.match(rb'\{\s*"[^"]*"\s*:|\[\s*[\[{]', line):
        return True
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _decode(content: bytes, path: Path) -> tuple[str, str, tuple[str, ...]]:
    """Return a file's text, its encoding, and a sentence on the encoding."""
    wide = content.startswith(_UTF_16)
    marked = content.startswith(b"\xef\xbb\xbf")
    # charset-normalizer 3.5 would be wrong more often, and as sure. It read none of 24 small western tables
    # right, which these encodings all do, and 20 of 42 others.
    for encoding in ("utf-16",) if wide else ("utf-8-sig", "cp1252", "latin-1"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        mark = " with a byte order mark" * (wide or marked)
        guess = ", which is a guess: look at letters with accents" * (encoding in ("cp1252", "latin-1"))
        return text, encoding, (f"The text is {encoding.removesuffix('-sig').upper()}{mark}{guess}.",)
    raise DataError(f"{path} is not text in the encoding that its byte order mark names", got=encoding)


def _layout(
    text: str, path: Path, delimiters: Sequence[str], named: Set[str] | None
) -> tuple[str, tuple[str, ...] | None, int, str]:
    """Return separator, names if the header has no good ones, the number of lines to skip, and a sentence.

    The header is certain if it has one of the ``named`` columns, or if these are None.
    """
    # csv.Sniffer finds no separator in adult.test, which begins with a remark, and takes its first row for a
    # header.
    layouts = []
    for order, delimiter in enumerate(delimiters):
        rows = _sample(text, delimiter)
        width, times = Counter(len(row) for _, row in rows).most_common(1)[0] if rows else (0, 0)
        before = next((i for i, (_, row) in enumerate(rows) if len(row) == width), 0)
        if width > 1 and before <= _MOST_BEFORE_HEADER and times >= 0.9 * (len(rows) - before):
            # Blanks separate words as well, so any other separator comes first.
            layouts.append(((delimiter == " ", before, -width, order), rows))
    if not layouts:
        raise DataError(
            f"{path} is no table with columns",
            expected="two columns or more, with the same number of values in each line",
            got=repr(text.lstrip().partition("\n")[0][:80]),
            remedy="save it as CSV with a header",
        )
    (_, start, width, order), rows = min(layouts)
    delimiter = delimiters[order]
    if start and len(rows[start - 1][1]) == -width - 1:  # as R writes it
        line, first = rows[start - 1]
        if all(row[-1] == "" for _, row in rows[start:]):
            return delimiter, _named([*first, ""]), line, "Rows end with a separator, the header does not."
        sentence = "Rows have a name, for which the header has no column."
        return delimiter, ("row", *_named(first)), line, sentence
    (line, first), others = rows[start], [row for _, row in rows[start + 1 :]]
    above = rows[start - 1][0] if start else 0
    recurring = sum(cell in {row[i] for row in others if i < len(row)} for i, cell in enumerate(first))
    certain = named is None or not named.isdisjoint(first)
    if not certain and (any(as_number(cell) is not None for cell in first) or recurring > len(first) / 2):
        sentence = "The first line is a row, so the columns are named by number."
        return delimiter, _named([""] * len(first)), above, sentence
    if not all(first) or len(set(number_repeats(first))) < len(first):
        return delimiter, _named(first), line, "The header leaves columns without a name; they get one here."
    after = f" after {above} others" if above else ""
    return delimiter, None, above, f"The header is the first line{after}."


def _named(header: list[str]) -> tuple[str, ...]:
    """Return distinct names: unnamed columns get a number, and repeated names as well."""
    names: list[str] = []
    for i, name in enumerate(header, 1):
        name = name or f"column_{i}"
        numbered = (f"{name}.{k}" for k in itertools.count(header[: i - 1].count(name)))
        names.append(name if name not in names else next(free for free in numbered if free not in names))
    return tuple(names)


def _sample(text: str, delimiter: str) -> list[tuple[int, list[str]]]:
    """Return the first rows, each with the number of its last line, up to the first error of CSV."""
    lines = itertools.islice(io.StringIO(text, newline=""), _SAMPLE_LINES)
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    rows: list[tuple[int, list[str]]] = []
    with contextlib.suppress(csv.Error):  # the sample may cut a quote, or the separator may be wrong
        rows.extend((reader.line_num, [c.strip() for c in row]) for row in reader if "".join(row).strip())
    return rows


def _read(text: str, source: Source, path: Path) -> tuple[dict[str, RawColumn], tuple[str, ...]]:
    """Return the columns, and sentences on values that differ in blanks only."""
    try:
        header, lines = READERS[source.format](text, source, source.files[0], str(path))
        # Each value is stored once, and each cell as a number.
        positions: list[dict[str, int]] = [{} for _ in header]
        rows = [array("i") for _ in header]
        for line, row in lines:
            if len(row) != len(header):
                raise DataError(
                    f"Line {line} of {path} does not fit the others",
                    expected=f"{len(header)} values",
                    got=f"{len(row)} values",
                    remedy="correct the line, or get the file again if it is truncated",
                )
            for cell, values, codes in zip(row, positions, rows, strict=True):
                codes.append(values.setdefault(cell, len(values)))
    except csv.Error as error:
        problem = f"{path} is not valid {source.format.upper()}"
        raise DataError(problem, got=str(error), remedy="correct the file") from error
    if not rows or not rows[0]:
        expected = "rows below the header"
        raise DataError(f"{path} has no rows", expected=expected, got="none", remedy="get the file again")
    columns, blanks = {}, []
    for name, values, codes in zip(header, positions, rows, strict=True):
        stripped = [value.strip() for value in values]
        order = sorted(set(stripped))
        place = dict(zip(order, range(len(order)), strict=True))
        rank = np.array([place[value] for value in stripped], dtype=np.intp)
        columns[name] = RawColumn(name, tuple(order), rank[np.frombuffer(codes, dtype=np.intc)])
        if odd := next((v for v in values if v != v.strip() and v.strip() in values and v.strip()), None):
            blanks.append(f"{name}: blanks around values do not count, so that {odd!r} is {odd.strip()!r}.")
    return columns, tuple(blanks)


def _notations(
    columns: Iterable[RawColumn], delimiter: str, declared: Mapping[str, bool]
) -> tuple[str, dict[str, Notation], dict[str, Notation], tuple[str, ...]]:
    """Return the file's decimal mark, the notation of each column, the unclear ones, and sentences.

    ``declared`` says whether the mark of a column separates thousands. Other columns are read as the rest of
    the file is; in a file separated by commas, no comma stands before decimals.
    """
    notations = {
        raw.name: notation([value for value in raw.values if value not in MISSING_MARKS]) for raw in columns
    }
    file_mark = file_decimal(notations.values())
    unclear, sentences, decimals = {}, [], Counter[str]()
    for name, column in notations.items():
        if column.unclear:
            mark, separates = column.unclear, declared.get(name)
            if separates is None and file_mark is not None and (file_mark != mark or not column.whole):
                separates = file_mark != mark
            elif separates is None and file_mark is None and mark == "," == delimiter:
                separates = True
            elif separates is None and column.whole:
                unclear[name] = column
            form = column.read(thousands=bool(separates))
            notations[name] = column = replace(column, form=form, has_decimals=not separates)
            if name not in unclear and (separates or mark == "," or name in declared):
                sentences.append(_said(name, column.example, form))
        elif column.form is not None and (column.form.thousands is not None or column.unit is not None):
            sentences.append(_said(name, "", column.form))
        if column.has_decimals and column.form is not None:
            decimals[column.form.decimal] += 1
    decimal = "," if decimals[","] > decimals["."] else "."
    return decimal, notations, unclear, tuple(sentences)


def _said(name: str, example: str, form: NumberForm) -> str:
    """Return a sentence on how a column's numbers are read."""
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
