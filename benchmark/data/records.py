"""Reading a source file: from verified bytes to the raw values of the wanted columns and rows."""

from __future__ import annotations

import csv
import difflib
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmark.data.card import Card, Source, SourceFile
from benchmark.data.source import SourceBytes
from benchmark.errors import DataError

if TYPE_CHECKING:
    from _csv import Reader

__all__ = ["Records", "read_records"]

_Rows = Iterator[tuple[int, list[str]]]


@dataclass(frozen=True)
class Records:
    """What a card wants of one file, all values still text.

    Parameters
    ----------
    columns : dict of str to tuple of str
        Values of each column used, by its name in the file; the rows that the card's filter keeps.
    lines : list of int
        Line number in the file of each row.
    """

    columns: dict[str, tuple[str, ...]]
    lines: list[int]


def read_records(card: Card, file: SourceFile, source: SourceBytes) -> Records:
    """Read one source file; cells of other columns or rows do not outlive their line.

    Parameters
    ----------
    card : Card
        Format, columns and filter.
    file : SourceFile
        The card's entry for this file.
    source : SourceBytes
        Its content.

    Raises
    ------
    DataError
        If it is not text or not of its format, lacks columns, or a line does not fit the header.
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
    read_rows = {"csv": _read_csv, "arff": _read_arff}[card.source.format]
    try:
        header, rows = read_rows(text, card.source, file, source.location)
        used = list(dict.fromkeys(spec.source or name for name, spec in card.columns.items()))
        where = _positions([*used, *card.filter], header, source.location)
        wanted = [(where[name], frozenset(values)) for name, values in card.filter.items()]
        cells = [where[name] for name in used]
        kept, lines = [], []
        for line, row in rows:
            if len(row) != len(header):
                raise DataError(
                    f"Line {line} of {source.location} does not fit the header",
                    expected=f"{len(header)} values",
                    got=f"{len(row)} values",
                    remedy="if it is truncated, get it again; else correct source.delimiter in the card",
                )
            if not wanted or all(row[i].strip() in values for i, values in wanted):
                kept.append([row[i] for i in cells])
                lines.append(line)
    except csv.Error as error:
        raise DataError(
            f"The source file {source.location} is not valid {card.source.format.upper()}",
            got=str(error),
            remedy="the file may be truncated; get it again",
        ) from error
    columns = zip(*kept, strict=True) if kept else [()] * len(used)
    return Records(dict(zip(used, columns, strict=True)), lines)


def _positions(names: Iterable[str], header: Sequence[str], location: str) -> dict[str, int]:
    missing = [name for name in names if name not in header]
    if missing:
        close = difflib.get_close_matches(missing[0], header, n=1)
        raise DataError(
            f"The source file {location} lacks columns",
            expected=", ".join(map(repr, missing)),
            got="only " + ", ".join(map(repr, header)),
            remedy=(f"did you mean {close[0]!r}? " if close else "")
            + "set 'source' of the columns in the card",
        )
    return {name: i for i, name in enumerate(header)}


def _read_csv(text: str, source: Source, file: SourceFile, location: str) -> tuple[Sequence[str], _Rows]:
    lines = io.StringIO(text, newline="")
    for _ in range(file.skip_lines):
        lines.readline()
    rows = _rows(
        csv.reader(lines, delimiter=source.delimiter, skipinitialspace=True, strict=True), file.skip_lines
    )
    if source.column_names:
        return source.column_names, rows
    header = next(rows, None)
    if header is None:
        raise DataError(f"The source file {location} is empty", expected="a header line and rows")
    return _number_repeats(header[1]), rows


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
            reader = csv.reader(data, quotechar="'", skipinitialspace=True, strict=True)
            return _number_repeats(header), _rows(reader, number)
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


def _rows(reader: Reader, lines_before: int) -> _Rows:
    """Yield the rows that are not blank, each with its (last) line number."""
    for row in reader:
        if len(row) > 1 or (row and row[0].strip()):
            yield lines_before + reader.line_num, row


def _number_repeats(names: Iterable[str]) -> list[str]:
    """Make names distinct: the second ``a`` becomes ``a.1``, the third ``a.2``."""
    seen: Counter[str] = Counter()
    distinct = []
    for name in map(str.strip, names):
        distinct.append(f"{name}.{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return distinct
