"""Reading a source file: from verified bytes to the raw values of the wanted columns and rows."""

import contextlib
import csv
import difflib
import io
import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from benchmark.data.card import Card
from benchmark.data.card_parts import Source, SourceFile
from benchmark.data.source import SourceBytes
from benchmark.errors import DataError
from benchmark.text.words import as_number

_Rows = Iterator[tuple[int, list[str]]]


@dataclass(frozen=True)
class Records:
    """What a card wants of one file, all values still text."""

    columns: dict[str, tuple[str, ...]]  # values of each column used, by its name in the file
    lines: list[int]  # line number in the file of each row that the card keeps
    unused: list[str]  # columns of the file that the card does not mention


def read_records(card: Card, file: SourceFile, source: SourceBytes) -> Records:
    """Read one source file; cells of other columns or rows do not outlive their line.

    ``file`` is the card's entry for this file, ``source`` its content. A DataError says that it is not text
    or not of its format, lacks columns, or that a line does not fit the header.
    """
    try:
        text = source.content.decode(card.source.encoding)
    except UnicodeDecodeError as error:
        raise DataError(
            f"The source file {source.location} is not text in the encoding of its card",
            expected=card.source.encoding,
            got=str(error),
            remedy="correct source.encoding in the card",
        ) from error
    read_rows = {"csv": read_csv, "arff": _read_arff}[card.source.format]
    behind = () if card.score is None else (card.score.column,)
    used = list(dict.fromkeys((*(spec.source or name for name, spec in card.columns.items()), *behind)))
    advice = _Advice(card, file, text)
    try:
        header, rows = read_rows(text, card.source, file, source.location)
        where = _positions([*used, *card.filter, *card.exclude], header, source.location, advice)
        wanted = [(where[name], frozenset(values)) for name, values in card.filter.items()]
        unwanted = [(where[name], frozenset(values)) for name, values in card.exclude.items()]
        cells = [where[name] for name in used]
        kept, lines = [], []
        for line, row in rows:
            if len(row) != len(header):
                raise DataError(
                    f"Line {line} of {source.location} does not fit the header",
                    expected=f"{len(header)} values",
                    got=f"{len(row)} values",
                    remedy=advice.of_row(line, len(header))
                    or "if it is truncated, get it again; else correct source.delimiter in the card",
                )
            if all(row[i].strip() in values for i, values in wanted) and not any(
                row[i].strip() in values for i, values in unwanted
            ):
                kept.append([row[i] for i in cells])
                lines.append(line)
    except csv.Error as error:
        raise DataError(
            f"The source file {source.location} is not valid {card.source.format.upper()}",
            got=str(error),
            remedy=advice.of_header([], [*used, *card.filter, *card.exclude])
            or "the file may be truncated; get it again; else correct source.delimiter in the card",
        ) from error
    columns = zip(*kept, strict=True) if kept else [()] * len(used)
    mentioned = {
        *used,
        *card.filter,
        *card.exclude,
        *(name for group in card.dropped for name in group.columns),
    }
    unused = [name for name in header if name not in mentioned]
    return Records(dict(zip(used, columns, strict=True)), lines, unused)


DELIMITERS = (",", ";", "\t", "|", " ")
"""What may separate the values of a line, the most usual first."""


@dataclass(frozen=True)
class _Advice:
    """Says what a CSV file that does not fit its card would fit."""

    card: Card
    file: SourceFile
    text: str

    def of_header(self, header: Sequence[str], names: Sequence[str]) -> str:
        """Return what to do where a header lacks columns, or cannot be read."""
        if self.card.source.format != "csv":
            return ""
        if self.card.source.column_names:
            return self.of_row(self.file.skip_lines + 1, len(self.card.source.column_names))
        found = sum(name in header for name in names)
        if other := self._other(self.file.skip_lines + 1, lambda row: sum(n in row for n in names) > found):
            return other
        if header and (not found or any(as_number(name) is not None for name in header)):
            setting = "name the file's columns by 'column_names' under [source]"
            return f"if the first line is a row and no header, {setting}"
        return ""

    def of_row(self, line: int, n_values: int) -> str:
        """Return what to do where a row has not so many values."""
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
    missing = [name for name in names if name not in header]
    if missing:
        close = difflib.get_close_matches(missing[0], header, n=1)
        score = advice.card.score
        field = "'column' under [score]" if score and missing == [score.column] else "'source' of the columns"
        raise DataError(
            f"The source file {location} lacks columns",
            expected=", ".join(map(repr, missing)),
            got="only " + ", ".join(map(repr, header)),
            remedy=advice.of_header(header, names)
            or (f"did you mean {close[0]!r}? " if close else "") + f"set {field} in the card",
        )
    return {name: i for i, name in enumerate(header)}


def read_csv(text: str, source: Source, file: SourceFile, location: str) -> tuple[Sequence[str], _Rows]:
    """Return a CSV file's header and its rows, each with its line number; blank lines are none."""
    lines = io.StringIO(text, newline="")
    for _ in range(file.skip_lines):
        lines.readline()
    rows = _rows(lines, file.skip_lines, delimiter=source.delimiter)
    if source.column_names:
        return source.column_names, rows
    header = next(rows, None)
    if header is None:
        raise DataError(
            f"The source file {location} is empty",
            expected="a header line and rows",
            got=f"no line after the first {file.skip_lines}" if file.skip_lines else "no line",
            remedy="get the file again, or correct 'skip_lines' in the card",
        )
    return number_repeats(header[1]), rows


def _read_arff(text: str, _source: Source, _file: SourceFile, location: str) -> tuple[Sequence[str], _Rows]:
    lines = io.StringIO(text, newline="")
    header = []
    for number, line in enumerate(lines, start=1):
        keyword = line.split(maxsplit=1)[0].lower() if line.strip() else ""
        if keyword == "@attribute":
            header.append(_attribute_name(line))
        elif keyword == "@data":
            # Comment lines become blank ones, so that line numbers stay right.
            data = ("\n" if line.startswith("%") else line for line in lines)
            return number_repeats(header), _rows(data, number, quotechar="'")
    raise DataError(
        f"The source file {location} is not valid ARFF",
        expected="a line '@data'",
        got="none",
        remedy="the file may be truncated; get it again",
    )


def _attribute_name(line: str) -> str:
    declared = line.split(maxsplit=1)[1] if len(line.split()) > 1 else ""
    if declared[:1] in {"'", '"'}:
        return declared[1:].partition(declared[0])[0]
    return declared.split(maxsplit=1)[0] if declared else ""


def _rows(lines: Iterable[str], lines_before: int, **dialect: str) -> _Rows:
    """Yield the rows that are not blank, each with its (last) line number."""
    reader = csv.reader(lines, skipinitialspace=True, strict=True, **dialect)  # type: ignore[arg-type]
    for row in reader:
        if len(row) > 1 or (row and row[0].strip()):
            yield lines_before + reader.line_num, row


def number_repeats(names: Iterable[str]) -> list[str]:
    """Make names distinct: the second ``a`` becomes ``a.1``, the third ``a.2``."""
    seen: Counter[str] = Counter()
    distinct = []
    for name in map(str.strip, names):
        distinct.append(f"{name}.{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return distinct
