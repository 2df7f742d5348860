"""Rows of a file or frame that has no card, by the card that is drafted for it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from benchmark.data.card import Card
from benchmark.data.draft import Draft, draft
from benchmark.data.draft_text import card_text
from benchmark.data.table import Table
from benchmark.file_options import FileOptions


@dataclass(frozen=True, eq=False)
class UncardedRows:
    """Rows with the draft of their card."""

    draft: Draft
    card: str  # the drafted card, as TOML
    table: Table


def read_uncarded(
    data: pd.DataFrame | str | Path, options: FileOptions, folder: Path, name: str
) -> UncardedRows:
    """Return the rows of a file, or of a frame, whose card reads ``data.csv``; nothing is written.

    ``name`` is the card's, and ``folder`` its place. Errors are those of :func:`~benchmark.data.draft.draft`.
    """
    source = data if isinstance(data, pd.DataFrame) else Path(data)
    drafted = draft(source, options, folder)
    file = source if isinstance(source, Path) else folder / "data.csv"
    card = card_text(drafted, file, options.min_count, name)
    schema = Card.model_validate(tomllib.loads(card)).schema()
    codes = [drafted.columns_read[column].codes for column in schema.names]
    return UncardedRows(drafted, card, Table(schema, np.column_stack(codes)))
