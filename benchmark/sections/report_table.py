"""A table for print, before any markup: numbers with their marks, in rows and groups of columns."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """One entry of a table: a mean, and half of its 95 % interval, each NaN where there is none."""

    mean: float = math.nan
    half_width: float = math.nan
    remark: str | None = None  # reason for missing repetitions
    best: bool = False  # within its column
    mark: str = ""  # a sign beside the number, explained in the notes
    text: str = ""  # stands in place of the number


@dataclass(frozen=True)
class Row:
    """A row: its own heading and its cells."""

    heading: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class RowGroup:
    """Rows that belong together; ``heading`` is empty if the table has one group alone."""

    heading: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class ReportTable:
    """A table, before any markup; each row has ``len(groups) * len(columns)`` cells."""

    name: str
    caption: str
    row_headings: tuple[
        str, ...
    ]  # of the columns with names: of groups of rows, if there are several, and rows
    groups: tuple[str, ...]  # of columns
    columns: tuple[str, ...]  # the same in each group
    blocks: tuple[RowGroup, ...]
    notes: tuple[str, ...]
