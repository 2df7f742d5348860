"""Writing files atomically, so that a reader sees the old file or the new one; choices of figures.

Texts in CSV files are such that no spreadsheet reads them as a formula, and no terminal as a command.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.errors import ReportError, UnknownNameError

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("png", "pdf", "svg")
"""Every format in which a figure can be written."""

FORMATS_WRITTEN = FORMATS[:1]
"""Formats of figures by default."""

FIGURES = ("none", "paper", "all")
"""Choices of the figures to draw."""

PACKED = ".xz"
"""Ending of a compressed file: ``results.csv.xz`` stands for ``results.csv``."""


def plain_or_packed(path: Path) -> Path:
    """Return the path of a file, or of its compressed form if only this exists."""
    packed = path.with_name(path.name + PACKED)
    return packed if packed.is_file() and not path.exists() else path


def figure_choice(figures: bool | str) -> str:
    """Return one of :data:`FIGURES`; True stands for all, False for none, and others are a ReportError."""
    if isinstance(figures, bool):
        return "all" if figures else "none"
    if figures not in FIGURES:
        raise UnknownNameError("choice of figures", figures, FIGURES)
    return figures


def figure_formats(text: str) -> tuple[str, ...]:
    """Return the formats that a text names, such as ``"png,svg"``; others are a ReportError."""
    named = tuple(dict.fromkeys(part.strip().lower() for part in text.split(",")))
    if not set(named) <= set(FORMATS):
        raise ReportError(
            "Figures cannot be written in this format",
            expected="one or more of " + ", ".join(FORMATS) + ", with commas between them",
            got=repr(text),
            remedy="correct --formats, or leave figures out with --figures none",
        )
    return named


def require_writable(folder: Path) -> None:
    """Raise a ReportError unless a folder can be written to, or created."""
    nearest = folder.absolute()
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
        return
    raise ReportError(
        f"The folder {folder} cannot be written to",
        expected="a folder, or room for one, with permission to write",
        got=f"{nearest} is {'not writable' if nearest.is_dir() else 'a file'}",
        remedy="choose another folder with --output",
    )


def write_atomically(path: Path, content: bytes | str) -> Path:
    """Write a file under a temporary name in its folder, then rename it; return its path.

    Folders are created as needed. Text is written as UTF-8, line ends as they are.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def write_json(path: Path, facts: Mapping[str, Any]) -> Path:
    """Write facts as indented JSON in UTF-8, in their order, and return the path."""
    return write_atomically(path, json.dumps(facts, indent=2, ensure_ascii=False) + "\n")


SIX_DIGITS = "%.6g"
"""Format of floats in statistics: more digits than resampling determines."""

# A spreadsheet computes a text that begins with one of these. A number with a sign stays a number.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+|inf|nan)([eE][+-]?\d+)?")
# All but tab and line feed, which CSV can hold.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def as_cell(text: str) -> str:
    """Return a text in the form that a CSV file may hold.

    A text that a spreadsheet would compute gets an apostrophe before it, which makes it a text there. A text
    that has such apostrophes already gets one more, so that :func:`from_cell` can tell them apart. Control
    characters but tab and line feed become U+FFFD.
    """
    quoted = f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", quoted)


def from_cell(text: str) -> str:
    """Return the text of a cell, without the apostrophe that :func:`as_cell` put before it."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def csv_text(frame: pd.DataFrame, float_format: str | None = None) -> str:
    """Return a frame as CSV: nothing for NaN, line feeds only, and texts that no spreadsheet computes.

    Floats are the shortest that read back the same, unless a format is given.
    """
    from pandas.api.types import is_numeric_dtype

    cells = frame.rename(columns=as_cell)
    for position, (_, column) in enumerate(frame.items()):
        if not is_numeric_dtype(column):
            harmless = {text: as_cell(text) for text in column.unique() if isinstance(text, str)}
            if any(text != cell for text, cell in harmless.items()):
                cells.isetitem(position, [harmless.get(value, value) for value in column])
    text: str = cells.to_csv(index=False, lineterminator="\n", float_format=float_format)
    return text
