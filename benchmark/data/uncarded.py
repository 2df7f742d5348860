"""Rows of a file or frame that has no card, by the card that is drafted for it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from benchmark.data.card import Card
from benchmark.data.draft import Draft, draft
from benchmark.data.draft_text import card_text
from benchmark.data.frames import as_csv
from benchmark.data.table import Table
from benchmark.file_options import FileOptions
from benchmark.text.writing import write_atomically


@dataclass(frozen=True, eq=False)
class UncardedRows:
    """Rows with the draft of their card."""

    draft: Draft
    card: str  # the drafted card, as TOML
    table: Table


def read_uncarded(
    data: pd.DataFrame | str | Path, options: FileOptions, folder: Path, name: str
) -> UncardedRows:
    """Return the rows of a file, or of a frame, which is written to the folder as ``data.csv``.

    Ordered categories of a frame keep their order. ``name`` is the card's. Errors are those of
    :func:`~benchmark.data.draft.draft`.
    """
    file = Path(str(data))
    if isinstance(data, pd.DataFrame):
        file = folder / "data.csv"
        columns = data.select_dtypes("category").items()
        orders = {
            str(key).strip(): list(map(str, col.cat.categories)) for key, col in columns if col.cat.ordered
        }
        options = replace(options, orders=orders, typed=True)
        write_atomically(file, as_csv(data))
    drafted = draft(file, options, folder)
    card = card_text(drafted, file, options.min_count, name)
    schema = Card.model_validate(tomllib.loads(card)).schema()
    codes = [drafted.columns_read[column].codes for column in schema.names]
    return UncardedRows(drafted, card, Table(schema, np.column_stack(codes)))
