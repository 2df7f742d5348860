"""Workbooks of Excel."""

import io
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import openpyxl


def book(*sheets: Iterable[Sequence[Any]], change: Callable[[Any], object] = lambda book: None) -> bytes:
    """Return a workbook with sheets called one and two, whose rows are given; empty cells are not stored."""
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in zip(("one", "two"), sheets, strict=False):
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append([None if value == "" else value for value in row])
    change(made)
    stream = io.BytesIO()
    made.save(stream)
    return stream.getvalue()
