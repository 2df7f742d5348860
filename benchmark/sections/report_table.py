"""A table for print, before any markup: numbers with their marks, in rows and groups of columns."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """One entry of a table: a mean, and half of its 95 % interval, each NaN where there is none."""

    mean: float = math.nan
    half_width: float = math.nan
    remark: str | None = None  # why repetitions are missing, if any are
    best: bool = False  # of those that it is compared with
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
    """A table, before any markup; each row has ``len(groups) * len(columns)`` cells.

    ``row_headings`` are those of the columns that name the rows: of groups of rows, if the table has several,
    and of rows. All ``groups`` of columns have the same ``columns``. The notes say what has to be known
    besides.
    """

    name: str
    caption: str
    row_headings: tuple[str, ...]
    groups: tuple[str, ...]
    columns: tuple[str, ...]
    blocks: tuple[RowGroup, ...]
    notes: tuple[str, ...]
