"""The reader of all tables: from verified bytes, or a data frame, to columns of distinct values.

The standard library parses CSV. :func:`pandas.read_csv` would fill rows that are too short with empty values,
take the first values of longer rows for an index, and tell the line of neither.
"""

from __future__ import annotations

import csv
import difflib
import io
import itertools
import math
import re
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmark.data.card import Card
from benchmark.data.card_parts import MISSING_MARKS, Source, SourceFile, condition_of
from benchmark.data.number_form import PLAIN, NumberForm
from benchmark.data.source import SourceBytes
from benchmark.data.xlsx import first_sheet
from benchmark.errors import DataError
from benchmark.text.words import figure, share

if TYPE_CHECKING:
    import pandas as pd

DELIMITERS = (",", ";", "\t", "|", " ")  # separators of a line's values, the most usual first
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
MOST_STATES, MOST_LEVELS = 12, 8  # most states of a category, and most distinct numbers that are a state each
NO_STATES = ("has no value in any row", "has the same value in every row")  # reasons of useless columns
DATES = "holds dates or times, which have no states"
_MOST_CODES = 3  # codes of missing values at one end of the numbers
_DATE = re.compile(
    r"(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}[- ][A-Za-z]{3,9}[- ]\d{2,4}|[A-Za-z]{3,9} \d{1,2},? \d{4})"
    r"([T ]+\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(:\d{2})?"
)
_CODE = re.compile(r"-?(9+[678]?|8+|7+)|-\d")
_ID = re.compile(
    r"(?i:(^|.*[_ .-])(id|uuid|guid|index|key|row|row_?names?|serial)$|unnamed: 0$)|.*[a-z](Id|ID)$"
)
_WEIGHT = re.compile(  # names of columns of weights: sample_weight, PWGTP, PERSONWT, WTMEC2YR
    r"(?!.*(birth|body|over|under|light))(.*[_ .-])?"
    r"(\w*(weights?|wgts?|wghts?)|\w{3,}wts?|fnlwgt|p?wgtp|wt(mec|int|sa|fa|ss)\w*)([_ .-]?\d+)?",
    re.IGNORECASE,
)
Mask = NDArray[np.bool_]
_Row = tuple[int, list[str]]  # the number of its last line, and its values


def like_weight(name: str) -> bool:
    """Return whether a column is named like weights of rows."""
    return _WEIGHT.fullmatch(name) is not None


@dataclass(frozen=True, eq=False)
class RawColumn:
    """A column of a file as text: its distinct values, and the value of each row."""

    name: str
    values: tuple[str, ...]  # without blanks around them, sorted
    rows: NDArray[np.intp]  # position of each row's value
    form: NumberForm | None = PLAIN  # how its numbers are written; None if all values are text
    none: frozenset[str] = frozenset()  # values that a user calls missing
    marks: frozenset[str] = MISSING_MARKS  # other values that mean missing; of a frame, only empty text
    order: tuple[str, ...] = ()  # the values of an ordered category of a frame, in their order
    n_file: int = 0  # rows of the file, if these are some of them

    @property
    def cells(self) -> NDArray[np.object_]:
        """The value of each row."""
        return np.array(self.values, dtype=object)[self.rows]

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
        return np.array([self._number(value) for value in self.values], dtype=np.float64)

    def _number(self, value: str) -> float | None:
        return None if self.form is None or value in self.none else self.form.number(value)

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
                limit = self._number(match["first"] or match["last"])
                if limit is not None and (sign * (limit - plain) >= 0).all():
                    within = match["strict"] is None and limit not in plain
                    places[i] = limit if within else limit + sign * step
        return places

    @cached_property
    def meanings(self) -> list[float | str]:
        """Each value as a number, or as text if it is none."""
        pairs = zip(self.values, self.numbers.tolist(), strict=True)
        return [value if math.isnan(number) else number for value, number in pairs]

    @cached_property
    def n_different(self) -> int:
        """Number of different values: equal numbers, as 1 and 1.0, are one."""
        return len({meaning for meaning, out in zip(self.meanings, self.missing, strict=True) if not out})

    @cached_property
    def has_numbers(self) -> bool:
        """Whether it has many numbers, and few other values."""
        present = self.numbers[~self.missing]
        return bool((~np.isnan(present)).sum() > max(MOST_LEVELS, 0.5 * len(present)))

    @cached_property
    def odd(self) -> Mask:
        """A mask of values among many numbers that may mean missing: words, and codes as -9 or 99.

        Codes are far from all other numbers.
        """
        numbers = np.where(self.missing, np.nan, self.numbers)
        odd = np.isnan(self.places) & ~self.missing
        if not self.has_numbers:
            return np.zeros_like(odd)
        for sign in (1, -1):
            ordered = np.unique(sign * numbers[~np.isnan(numbers)])[::-1]
            coded = [_CODE.fullmatch(figure(sign * number)) is not None for number in ordered]
            found, others = np.split(ordered, [[*coded, False].index(False)])
            if 0 < len(found) <= _MOST_CODES and len(others) > MOST_LEVELS:
                below_zero = sign < 0 and others[0] <= 0 < found[-1]
                if below_zero or found[-1] - others[0] > 0.5 * np.ptp(others):
                    odd |= np.isin(numbers, sign * found)
        return odd

    @cached_property
    def useless(self) -> str:
        """Why the column is no feature, or an empty text."""
        present = np.flatnonzero(~self.missing)
        n, n_rows = len(present), int(self.counts[present].sum())
        if not n:
            return NO_STATES[0]
        if n == 1 and n_rows == len(self.rows):
            return NO_STATES[1]
        values, numbers = [self.values[i] for i in present], self.numbers[present]
        if sum(bool(_DATE.fullmatch(value)) for value in values) >= 0.95 * n:
            return DATES
        if _ID.fullmatch(self.name) and n > max(MOST_STATES, 0.05 * n_rows):
            return f"has the name of an identifier, and {n:,} different values"
        if not np.isnan(numbers).any():
            steps = np.diff(self.numbers[self.rows])
            counting = (steps > 0).all() or (steps < 0).all() or np.ptp(numbers) < max(n, self.n_file)
            whole = n == n_rows == len(self.rows) >= 20 and (numbers == np.round(numbers)).all()
            return "numbers the rows" if whole and counting else ""
        if np.isnan(numbers).mean() < 0.1:
            return ""
        most = np.sort(self.counts[present])[::-1][: MOST_STATES - 1].sum()
        if n > MOST_STATES and (n > 0.5 * n_rows or (n > 4 * MOST_STATES and most < 0.5 * n_rows)):
            shown = f"the {MOST_STATES - 1} most frequent are {share(most / n_rows)} of the rows"
            return f"has {n:,} different values, of which {shown}"
        return ""

    def of(self, read: NDArray[np.bool_] | NDArray[np.intp]) -> RawColumn:
        """Return the column with some of its rows and their values only."""
        rows = self.rows[read]
        used = np.flatnonzero(np.bincount(rows, minlength=len(self.values)))
        values, n_file = tuple(self.values[i] for i in used), self.n_file or len(self.rows)
        return replace(self, values=values, rows=np.searchsorted(used, rows), n_file=n_file)


@dataclass(frozen=True, eq=False)
class RawRows:
    """The rows of a file or frame, and those of its columns that were asked for."""

    header: tuple[str, ...]  # distinct names of all columns
    columns: dict[str, RawColumn]
    lines: NDArray[np.intp]  # line number of each row
    files: NDArray[np.object_]  # path or URL of each row's file
    renamed: dict[str, str] = field(default_factory=dict)  # names of the file that were empty, or taken
    padded: dict[str, str] = field(default_factory=dict)  # a value with blanks that do not count, by column

    def place(self, row: int) -> str:
        """Return line and file of a row."""
        return f"line {self.lines[row]} of {self.files[row]}"


def read_rows(
    content: bytes, source: Source, file: SourceFile, location: str, used: Collection[str] | None = None
) -> RawRows:
    """Return the rows of a file from its verified content, with all columns or those ``used``.

    ``source`` says how the file is read, and ``file`` how many lines are skipped. A DataError says that the
    content is not of its format or encoding, is empty, or has a line that does not fit the header.
    """
    if source.format == "parquet":
        return rows_of_frame(parquet_frame(content, location), location)
    try:
        given, rows = _opened(content, source, file, location)
        header = distinct_names(given)
        # Each value is stored once, each cell as a number. Cells of other columns do not outlive their row.
        kept: list[tuple[int, dict[str, int], array[int]]] = [
            (i, {}, array("i")) for i, name in enumerate(header) if used is None or name in used
        ]
        lines = array("q")
        for line, row in rows:
            if len(row) != len(header):
                raise DataError(
                    f"Line {line} of {location} does not fit the others and the header",
                    expected=f"{len(header)} values",
                    got=f"{len(row)} values",
                    remedy="correct the line, get the file again if it is truncated, or correct 'delimiter' "
                    "and 'skip_lines' in the card",
                )
            lines.append(line)
            for i, values, codes in kept:
                codes.append(values.setdefault(row[i], len(values)))
    except csv.Error as error:
        raise DataError(
            f"The source file {location} is not valid {source.format.upper()}",
            got=str(error),
            remedy="the file may be truncated; get it again; else correct quotes, or 'delimiter' in the card",
        ) from error
    columns = {
        header[i]: _column(header[i], values, np.array(codes, dtype=np.intp)) for i, values, codes in kept
    }
    padded = {header[i]: odd for i, values, _ in kept if (odd := _padded(values))}
    renamed = {name: own for name, own in zip(header, given, strict=True) if name != own}
    files = np.full(len(lines), location, dtype=object)
    return RawRows(header, columns, np.array(lines, dtype=np.intp), files, renamed, padded)


def _column(name: str, values: Iterable[str], codes: NDArray[np.intp], **more: Any) -> RawColumn:
    """Return a column from distinct values as written, of which several may differ in blanks only."""
    stripped = [value.strip() for value in values]
    order = sorted(set(stripped))
    place = dict(zip(order, range(len(order)), strict=True))
    rank = np.array([place[value] for value in stripped], dtype=np.intp)
    return RawColumn(name, tuple(order), rank[codes], **more)


def _padded(values: Collection[str]) -> str:
    """Return a value that differs from another one in blanks only, or an empty text."""
    return next((v for v in values if v != v.strip() and v.strip() and v.strip() in values), "")


def _opened(
    content: bytes, source: Source, file: SourceFile, location: str
) -> tuple[list[str], Iterator[_Row]]:
    """Return the names in a file's header, or those of ``source``, and the file's rows."""
    names, skip = list(source.column_names or ()), file.skip_lines
    if source.format == "arff":
        declared, rows = _arff(decoded(content, source, location), location)
        return names or declared, rows
    if source.format == "xlsx":
        rows = (row for row in first_sheet(content, location) if row[0] > skip)
    else:
        rows = csv_rows(decoded(content, source, location), source.delimiter, skip)
    if names:
        return names, rows
    if (header := next(rows, None)) is None:
        raise DataError(
            f"The source file {location} is empty",
            expected="a header line and rows",
            got=f"no line after the first {skip}" if skip else "no line",
            remedy="get the file again, or correct 'skip_lines' in the card",
        )
    return [name.strip() for name in header[1]], rows


def decoded(content: bytes, source: Source, location: str) -> str:
    """Return a file's text; a DataError says that it is not in the encoding of its card."""
    try:
        return content.decode(source.encoding)
    except (UnicodeDecodeError, LookupError) as error:  # or there is no such encoding
        raise DataError(
            f"The source file {location} is not text in the encoding of its card",
            expected=source.encoding,
            got=str(error),
            remedy="correct source.encoding in the card",
        ) from error


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


# ----------------------------------------------------------------------------------------------- ARFF


def _arff(text: str, location: str) -> tuple[list[str], Iterator[_Row]]:
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
            return names, _arff_rows(lines, number, location)
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


# --------------------------------------------------------------------------------------------- frames


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
    names = [str(name).strip() for name in frame.columns]
    refuse_repeated({name for name in names if names.count(name) > 1})
    return names


def refuse_repeated(names: Collection[str]) -> None:
    """Raise a DataError if several columns have one of some names."""
    if names:
        raise DataError(
            "Columns have the same name",
            expected="a different name for each column",
            got=", ".join(map(repr, sorted(names))) + " more than once",
            remedy="rename or drop columns",
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
    return _column(name, values, codes, form=form, marks=frozenset({""}), order=tuple(order))


def _texts(values: Any) -> list[str]:
    """Return distinct values as pandas writes them."""
    import pandas as pd

    text = pd.Series(values).to_csv(index=False, header=False, lineterminator="\n")
    return [row[0].strip() for row in csv.reader(io.StringIO(text, newline=""))]


_NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal")


def parquet_frame(content: bytes, location: str) -> pd.DataFrame:
    """Return the frame in a Parquet file; a DataError says that it cannot be read, or needs a package."""
    import pandas as pd

    try:
        frame = pd.read_parquet(io.BytesIO(content))
    except ImportError as error:
        raise DataError(
            "Parquet files need the package pyarrow, which is not installed",
            got=location,
            remedy="pip install 'betabench[parquet]', or save the table as CSV",
        ) from error
    except (ValueError, OSError) as error:  # pyarrow's own errors are among these
        raise DataError(
            f"{location} cannot be read",
            expected="a Parquet file",
            got=str(error).strip(),
            remedy="save it again, or as CSV",
        ) from error
    return frame.reset_index() if frame.index.name is not None else frame


# ---------------------------------------------------------------------------------------------- cards


def read_card(card: Card, sources: Sequence[SourceBytes]) -> RawRows:
    """Return the rows of all files of a card, in their order, from the contents of all files."""
    joined = None if card.source.join is None else _joined(card, sources[-1])
    pairs = zip(card.source.files, sources, strict=False)  # a joined file adds no rows
    parts = [read_records(card, file, source, joined) for file, source in pairs]
    columns = {}
    for name, first in parts[0].columns.items() if len(parts) > 1 else ():
        several = [part.columns[name] for part in parts]
        starts = np.cumsum([0, *(len(column.values) for column in several)])
        codes = [column.rows + start for column, start in zip(several, starts, strict=False)]
        values = itertools.chain.from_iterable(column.values for column in several)
        columns[name] = _column(first.name, values, np.concatenate(codes))
    return RawRows(
        tuple(dict.fromkeys(itertools.chain.from_iterable(part.header for part in parts))),
        columns or parts[0].columns,
        np.concatenate([part.lines for part in parts]),
        np.concatenate([part.files for part in parts]),
    )


def read_records(card: Card, file: SourceFile, source: SourceBytes, joined: RawRows | None = None) -> RawRows:
    """Return the rows of one file that a card keeps, and the columns that it uses.

    ``file`` is the card's entry for the file, ``source`` its content. A DataError says that the file lacks
    columns, or is one of :func:`read_rows`.
    """
    used = card.columns_of_file
    named = {*used, *card.filter, *card.exclude, *card.conditions}
    join = card.source.join
    key = () if join is None else (join.column,)
    rows = read_rows(source.content, card.source, file, source.location, {*named, *key})
    _require(key, rows, source)
    if join is not None and joined is not None:
        rows = _with_joined(rows, rows.columns[join.column], joined)
    _require(named, rows, source)
    read = np.ones(len(rows.lines), dtype=bool)
    for name, values in card.filter.items():
        read &= _where(rows.columns[name], frozenset(values).__contains__)
    for name, values in card.exclude.items():
        read &= ~_where(rows.columns[name], frozenset(values).__contains__)
    for name, texts in card.conditions.items():
        for text in texts:
            read &= _where(rows.columns[name], condition_of(text))
    columns = {name: rows.columns[name].of(read) for name in used}
    return replace(rows, columns=columns, lines=rows.lines[read], files=rows.files[read])


def _where(column: RawColumn, holds: Callable[[str], bool]) -> NDArray[np.bool_]:
    """Return which rows have a value that fulfills a condition."""
    return np.array([holds(value) for value in column.values], dtype=bool)[column.rows]


def _joined(card: Card, source: SourceBytes) -> RawRows:
    """Return the rows of the joined file; a DataError also says that a key repeats."""
    join = card.source.join
    assert join is not None
    rows = read_rows(source.content, card.source, join.file, source.location)
    _require([join.key], rows, source)
    key = rows.columns[join.key]
    repeats = np.setdiff1d(np.arange(len(key.rows)), np.unique(key.rows, return_index=True)[1])
    if len(repeats):
        raise DataError(
            f"Line {rows.lines[repeats[0]]} of {source.location} cannot be joined to other rows",
            expected=f"another value of {join.key!r} than in all other lines",
            got=f"{key.cells[repeats[0]]!r} for the second time",
            remedy="correct the file, or 'key' under [source.join] in the card",
        )
    return replace(rows, columns={join.key: key, **rows.columns})  # the key first


def _with_joined(rows: RawRows, column: RawColumn, joined: RawRows) -> RawRows:
    """Return the rows that have a partner, with its columns: if both have a column ``a``, its is ``a.1``."""
    key = next(iter(joined.columns.values()))
    partner = dict(zip(key.values, np.argsort(key.rows).tolist(), strict=True))
    found = np.array([partner.get(value, -1) for value in column.values])[column.rows]
    read = found >= 0
    header = distinct_names([*rows.header, *joined.header])
    columns = {name: own.of(read) for name, own in rows.columns.items()}
    for name, given in zip(header[len(rows.header) :], joined.header, strict=True):
        own = joined.columns[given]
        columns[name] = replace(own, name=name, rows=own.rows[found[read]])
    return replace(rows, header=header, columns=columns, lines=rows.lines[read], files=rows.files[read])


def _require(names: Collection[str], rows: RawRows, source: SourceBytes) -> None:
    """Raise a DataError unless a file has columns that its card names."""
    if not (missing := [name for name in names if name not in rows.header]):
        return
    close = difflib.get_close_matches(missing[0], rows.header, n=1)
    raise DataError(
        f"The source file {source.location} lacks columns",
        expected=", ".join(map(repr, missing)),
        got="only " + ", ".join(map(repr, rows.header)),
        remedy=(f"did you mean {close[0]!r}? " if close else "")
        + "write names in the card as in the file, correct 'delimiter' and 'skip_lines' under [source], or "
        "give names by 'column_names' there if the first line is a row and no header",
    )
