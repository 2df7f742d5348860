"""Reading of source files: from verified bytes to raw values of the card's columns and rows."""

import contextlib
import csv
import difflib
import io
import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmark.data.card import Card
from benchmark.data.card_parts import REST, Source, SourceFile, condition_of
from benchmark.data.frames import as_csv, parquet_frame
from benchmark.data.source import SourceBytes
from benchmark.data.xlsx import first_sheet
from benchmark.errors import DataError
from benchmark.text.words import as_number

_Rows = Iterator[tuple[int, list[str]]]
_Joined = tuple[Sequence[str], Mapping[str, list[str]]]  # header of a joined file, and its rows by key


@dataclass(frozen=True)
class Records:
    """A card's rows and columns of one file, all values still text."""

    columns: dict[str, tuple[str, ...]]  # values of each column used, by its name in the file
    lines: list[int]  # line number of each row that the card keeps
    unused: list[str]  # columns of the file that the card does not mention


def read_files(card: Card, sources: Sequence[SourceBytes]) -> Iterator[Records]:
    """Yield the records of each file of a card, from the contents of all files, by :func:`read_records`."""
    joined = None if card.source.join is None else _read_joined(card, sources[-1])
    for file, source in zip(card.source.files, sources, strict=False):
        yield read_records(card, file, source, joined)


def read_records(card: Card, file: SourceFile, source: SourceBytes, joined: _Joined | None = None) -> Records:
    """Return the records of one file; cells of other columns or rows do not outlive their line.

    ``file`` is the card's entry for the file, ``source`` its content. A DataError says that it is no text or
    not of its format, lacks columns, or has a line that does not fit the header.
    """
    text = _text_of(card.source, source)
    columns = (spec.source or name for name, spec in card.columns.items())
    used = list(dict.fromkeys((*columns, *card.behind)))
    mentioned = [*used, *card.filter, *card.exclude, *card.conditions]
    advice = _Advice(card, file, text)
    try:
        header, rows = READERS[card.source.format](text, card.source, file, source.location)
        if joined is not None:
            assert card.source.join is not None
            column = card.source.join.column
            key = _positions([column], header, source.location, advice)[column]
            rows = _with_joined(rows, key, len(header), joined[1])
            header = [*header, *_renamed(joined[0], header)]
        position = _positions(mentioned, header, source.location, advice)
        wanted = [(position[name], frozenset(values)) for name, values in card.filter.items()]
        unwanted = [(position[name], frozenset(values)) for name, values in card.exclude.items()]
        conditions = [
            (position[name], condition_of(text)) for name, texts in card.conditions.items() for text in texts
        ]
        cells = [position[name] for name in used]
        cells_read, lines = [], []
        for line, row in rows:
            if len(row) != len(header):
                raise DataError(
                    f"Line {line} of {source.location} does not fit the header",
                    expected=f"{len(header)} values",
                    got=f"{len(row)} values",
                    remedy=advice.of_row(line, len(header))
                    or "if it is truncated, get it again; else correct source.delimiter in the card",
                )
            is_wanted = all(row[i].strip() in values for i, values in wanted)
            is_wanted = is_wanted and all(holds(row[i]) for i, holds in conditions)
            if is_wanted and not any(row[i].strip() in values for i, values in unwanted):
                cells_read.append([row[i] for i in cells])
                lines.append(line)
    except csv.Error as error:
        raise DataError(
            f"The source file {source.location} is not valid {card.source.format.upper()}",
            got=str(error),
            remedy=advice.of_header([], mentioned)
            or "the file may be truncated; get it again; else correct source.delimiter in the card",
        ) from error
    values = zip(*cells_read, strict=True) if cells_read else [()] * len(used)
    mentioned += [name for group in card.dropped for name in group.columns]
    unused = [] if REST in mentioned else [name for name in header if name not in mentioned]
    return Records(dict(zip(used, values, strict=True)), lines, unused)


def _text_of(settings: Source, source: SourceBytes) -> str:
    if settings.format == "xlsx":
        return first_sheet(source.content, source.location, settings.delimiter)
    if settings.format == "parquet":
        return as_csv(parquet_frame(source.content, source.location), settings.delimiter)
    try:
        return source.content.decode(settings.encoding)
    except UnicodeDecodeError as error:
        raise DataError(
            f"The source file {source.location} is not text in the encoding of its card",
            expected=settings.encoding,
            got=str(error),
            remedy="correct source.encoding in the card",
        ) from error


def _read_joined(card: Card, source: SourceBytes) -> _Joined:
    """Return the rows of the joined file; a DataError also says that a key repeats."""
    join, text = card.source.join, _text_of(card.source, source)
    assert join is not None
    header, rows = READERS[card.source.format](text, card.source, join.file, source.location)
    advice = _Advice(card, join.file, text)
    position = _positions([join.key], header, source.location, advice)[join.key]
    row_of: dict[str, list[str]] = {}
    for line, row in rows:
        key = row[position].strip() if len(row) == len(header) else None
        if key is None or key in row_of:
            raise DataError(
                f"Line {line} of {source.location} cannot be joined to other rows",
                expected=f"{len(header)} values, and another value of {join.key!r} than in all other lines",
                got=f"{len(row)} values" if key is None else f"{key!r} for the second time",
                remedy="correct the file, or 'key' under [source.join] in the card",
            )
        row_of[key] = row
    return header, row_of


def _renamed(names: Sequence[str], others: Sequence[str]) -> Iterator[str]:
    """Yield names that differ from all others: ``a`` becomes ``a.1``."""
    for name in names:
        numbered = (f"{name}.{number}" for number in itertools.count(1))
        yield name if name not in others else next(free for free in numbered if free not in {*others, *names})


def _with_joined(rows: _Rows, key: int, width: int, joined: Mapping[str, list[str]]) -> _Rows:
    for line, row in rows:
        if len(row) != width:
            yield line, row  # the caller reports the error
        elif (partner := joined.get(row[key].strip())) is not None:
            yield line, [*row, *partner]


DELIMITERS = (",", ";", "\t", "|", " ")  # separators of a line's values, the most usual first


@dataclass(frozen=True)
class _Advice:
    """Advice on a CSV file that does not fit its card."""

    card: Card
    file: SourceFile
    text: str

    def of_header(self, header: Sequence[str], names: Sequence[str]) -> str:
        """Return advice for a header that lacks columns or cannot be read, or an empty text."""
        if self.card.source.format != "csv":
            return ""
        if self.card.source.column_names:
            return self.of_row(self.file.skip_lines + 1, len(self.card.source.column_names))
        n_named = sum(name in header for name in names)
        if other := self._other(self.file.skip_lines + 1, lambda row: sum(n in row for n in names) > n_named):
            return other
        if header and (not n_named or any(as_number(name) is not None for name in header)):
            setting = "name the file's columns by 'column_names' under [source]"
            return f"if the first line is a row and no header, {setting}"
        return ""

    def of_row(self, line: int, n_values: int) -> str:
        """Return advice for a row that does not have ``n_values`` values, or an empty text."""
        if self.card.source.format != "csv":
            return ""
        return self._other(line, lambda row: len(row) == n_values > 1)

    def _other(self, number: int, fits: Callable[[list[str]], bool]) -> str:
        line = next(itertools.islice(io.StringIO(self.text), number - 1, None), "")
        for other in DELIMITERS:
            row: list[str] = []
            with contextlib.suppress(csv.Error):
                row = next(csv.reader([line], delimiter=other, skipinitialspace=True, strict=True), [])
            if other != self.card.source.delimiter and fits([cell.strip() for cell in row]):
                setting = f"delimiter = {json.dumps(other)}"
                return f"columns seem to be separated by {other!r}: set {setting} under [source]"
        return ""


def _positions(names: Sequence[str], header: Sequence[str], location: str, advice: _Advice) -> dict[str, int]:
    if missing := [name for name in names if name not in header]:
        close = difflib.get_close_matches(missing[0], header, n=1)
        card = advice.card
        field, header_hint = "'source' of the columns", advice.of_header(header, names)
        if card.score and missing == [card.score.column]:
            field = "'column' under [score]"
        elif card.judged and {*missing} <= {*card.judged.sources}:
            field = "'judge', 'person' and 'source' under [judged]"
        elif missing == [card.person]:
            field = "'person'"
        elif card.source.join and missing[0] in (card.source.join.column, card.source.join.key):
            field = "'column' and 'key' under [source.join]"
            header_hint = ""
        raise DataError(
            f"The source file {location} lacks columns",
            expected=", ".join(map(repr, missing)),
            got="only " + ", ".join(map(repr, header)),
            remedy=header_hint
            or (f"did you mean {close[0]!r}? " if close else "") + f"set {field} in the card",
        )
    return {name: i for i, name in enumerate(header)}


def read_csv(text: str, source: Source, file: SourceFile, location: str) -> tuple[Sequence[str], _Rows]:
    """Return a CSV file's header and its rows, each with its line number, without blank lines."""
    lines = io.StringIO(text, newline="")
    for _ in range(file.skip_lines):
        lines.readline()
    rows = _rows(lines, file.skip_lines, delimiter=source.delimiter)
    if source.column_names:
        return source.column_names, rows
    if (header := next(rows, None)) is None:
        raise DataError(
            f"The source file {location} is empty",
            expected="a header line and rows",
            got=f"no line after the first {file.skip_lines}" if file.skip_lines else "no line",
            remedy="get the file again, or correct 'skip_lines' in the card",
        )
    return number_repeats(header[1]), rows


def _read_arff(text: str, _source: Source, _file: SourceFile, location: str) -> tuple[Sequence[str], _Rows]:
    """Return an ARFF file's header and its rows, each with its line number; names and values are unescaped.

    A DataError says that the file has no data, or lists only values other than 0 (sparse rows).
    """
    lines = io.StringIO(text, newline=None)
    header = []
    for number, line in enumerate(lines, start=1):
        keyword, *declared = line.split(maxsplit=1) or [""]
        if keyword.lower() == "@attribute" and declared and (name := _ARFF_NAME.match(declared[0])):
            header.append(_arff_value(name))
        elif keyword.lower() == "@data":
            return number_repeats(header), _arff_rows(lines, number, location)
    raise DataError(
        f"The source file {location} is not valid ARFF",
        expected="a line '@data'",
        got="none",
        remedy="the file may be truncated; get it again",
    )


def _arff_rows(lines: Iterable[str], lines_before: int, location: str) -> _Rows:
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


READERS = {"csv": read_csv, "xlsx": read_csv, "parquet": read_csv, "arff": _read_arff}
"""Readers of a file's text: its header and its rows, by the format of the file."""


def _rows(lines: Iterable[str], lines_before: int, **dialect: str) -> _Rows:
    """Yield the rows that are not blank, each with the number of its last line."""
    reader = csv.reader(lines, skipinitialspace=True, strict=True, **dialect)  # type: ignore[arg-type]
    for row in reader:
        if len(row) > 1 or (row and row[0].strip()):
            yield lines_before + reader.line_num, row


def number_repeats(names: Iterable[str]) -> list[str]:
    """Return distinct names: the second ``a`` becomes ``a.1``, the third ``a.2``."""
    seen: Counter[str] = Counter()
    distinct = []
    for name in map(str.strip, names):
        distinct.append(f"{name}.{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return distinct
