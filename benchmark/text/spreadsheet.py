"""Text in CSV files that no spreadsheet reads as a formula, and no terminal as a command."""

import re

import pandas as pd

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
    cells = frame.rename(columns=as_cell)
    for position, (_, column) in enumerate(frame.items()):
        if not pd.api.types.is_numeric_dtype(column):
            harmless = {text: as_cell(text) for text in column.unique() if isinstance(text, str)}
            if any(text != cell for text, cell in harmless.items()):
                cells.isetitem(position, [harmless.get(value, value) for value in column])
    text: str = cells.to_csv(index=False, lineterminator="\n", float_format=float_format)
    return text
