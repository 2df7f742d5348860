"""The first sheet of an Excel workbook, as text.

Cards compare values as they are written, so a reader that converts dates and numbers is not needed.
"""

import io
import itertools
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from xml.etree import ElementTree

from benchmark.data.source import LARGEST
from benchmark.errors import DataError

_RELATIONS = "xl/_rels/workbook.xml.rels"


def first_sheet(content: bytes, location: str) -> list[tuple[int, list[str]]]:
    """Return the rows of the first sheet of a workbook (.xlsx) that are not blank, each with its number.

    Values are as stored: a date is its serial number, a truth value TRUE or FALSE, a formula its last value.
    A DataError says that the file is no workbook, or too large.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as book:
            sheet, shared = _parsed(book, _sheet_path(book)), []
            if "xl/sharedStrings.xml" in book.namelist():
                shared = [_text(item) for item in _parsed(book, "xl/sharedStrings.xml").iterfind("{*}si")]
            rows = list(_rows(sheet, shared))
    except (zipfile.BadZipFile, zlib.error, ElementTree.ParseError, LookupError, ValueError) as error:
        raise DataError(
            f"The source file {location} is not a valid Excel workbook",
            expected="a file .xlsx with a sheet",
            got=str(error.args[0] if error.args else error),
            remedy="get it again, or save the sheet as CSV and correct 'format' under [source]",
        ) from error
    width = len(rows[0]) if rows else 0
    return [(n, [*row, *[""] * (width - len(row))]) for n, row in enumerate(rows, 1) if any(row)]


def sheet_names(content: bytes) -> list[str]:
    """Return the names of the sheets of a workbook that :func:`first_sheet` reads."""
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        sheets = _parsed(book, "xl/workbook.xml").iterfind("{*}sheets/{*}sheet")
        return [sheet.get("name", "") for sheet in sheets]


def _parsed(book: zipfile.ZipFile, name: str) -> ElementTree.Element:
    if book.getinfo(name).file_size > LARGEST:
        raise ValueError(f"{name} has more than {LARGEST:,} bytes")
    xml = book.read(name)
    if b"<!DOCTYPE" in xml:  # entities could blow up a small file, and workbooks have none
        raise ValueError(f"{name} declares a document type")
    return ElementTree.fromstring(xml)


def _sheet_path(book: zipfile.ZipFile) -> str:
    (first, *_) = _parsed(book, "xl/workbook.xml").iterfind("{*}sheets/{*}sheet")
    identifier = next(value for name, value in first.items() if name.endswith("}id"))
    targets = {relation.get("Id"): relation.get("Target") or "" for relation in _parsed(book, _RELATIONS)}
    return posixpath.join("/xl", targets[identifier]).removeprefix("/")


def _rows(sheet: ElementTree.Element, shared: list[str]) -> Iterator[list[str]]:
    """Yield the cells of each row, blank rows included."""
    numbers = itertools.count(1)
    for row in sheet.iterfind("{*}sheetData/{*}row"):
        while next(numbers) < int(row.get("r", 0)):
            yield []
        cells: list[str] = []
        for cell in row.iterfind("{*}c"):
            if letters := re.match("[A-Z]+", cell.get("r", "")):
                cells += [""] * (_column(letters[0]) - len(cells))
            cells.append(_value(cell, shared))
        yield cells


def _column(letters: str) -> int:
    """Return the position of a column: 0 for A, 26 for AA."""
    position = 0
    for letter in letters:
        position = 26 * position + ord(letter) - ord("A") + 1
    return position - 1


def _value(cell: ElementTree.Element, shared: list[str]) -> str:
    kind, value = cell.get("t"), cell.findtext("{*}v") or ""
    if kind == "inlineStr":
        inline = cell.find("{*}is")
        return "" if inline is None else _text(inline)
    if kind == "s":
        return shared[int(value)]
    return {"0": "FALSE", "1": "TRUE"}[value] if kind == "b" else value


def _text(item: ElementTree.Element) -> str:
    """Return a text without its pronunciation; parts of different style are joined."""
    return "".join(part.text or "" for path in ("{*}t", "{*}r/{*}t") for part in item.iterfind(path))
