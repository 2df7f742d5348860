"""Marks of degenerate techniques in ranks and fronts, and of techniques below a constant answer.

Degenerate techniques have no value where fronts and ranks are computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

BELOW_COLUMNS = ("below_constant", "below_constant_betas")
"""Columns of ranks and Pareto fronts: whether a technique is less accurate than the best constant answer on
any dataset of the row, and at which levels of bias."""


def _standing_of_rows(table: pd.DataFrame, standing: pd.DataFrame) -> Iterator[list[Any]]:
    """Yield for each row of a table the rows of standings that it covers: of its beta, or of all betas."""
    keys = ["bias", "classifier", "test", "technique"]
    by_key = {key: list(part.itertuples(index=False)) for key, part in standing.groupby(keys, sort=False)}
    rows: list[Any] = list(table.itertuples(index=False))
    for row in rows:
        datasets = str(row.datasets if hasattr(row, "datasets") else row.dataset).split()
        beta = getattr(row, "beta", np.nan)
        yield [
            status
            for status in by_key.get((row.bias, row.classifier, row.test, row.technique), [])
            if status.dataset in datasets
            and (status.beta == beta or (pd.isna(beta) and not getattr(status, "repeated", False)))
        ]


def with_degenerate(table: pd.DataFrame, standing: pd.DataFrame) -> pd.DataFrame:
    """Return ranks or Pareto fronts with the reason ``constant`` where a technique is left out for that.

    Ranks also have the first dataset and level at which it is degenerate.
    """
    standing = standing[standing["n_degenerate"] > 0]
    first = [next(iter(rows), None) for rows in _standing_of_rows(table, standing)]
    found = np.array([row is not None for row in first], dtype=bool) & (table["reason"] != "").to_numpy()
    marked = table.assign(reason=table["reason"].mask(found, "constant"))
    for column, field in (("reason_dataset", "dataset"), ("reason_level", "beta")):
        if column in table.columns:
            values = zip(table[column], first, found, strict=True)
            marked[column] = [getattr(row, field) if is_one else value for value, row, is_one in values]
    return marked


def with_below(table: pd.DataFrame, standing: pd.DataFrame) -> pd.DataFrame:
    """Return a table with :data:`BELOW_COLUMNS`; it has ``dataset`` or ``datasets``, and perhaps ``beta``."""
    below = _standing_of_rows(table, standing[standing["below_constant"]])
    betas = [" ".join(f"{beta:g}" for beta in sorted({row.beta for row in rows})) for rows in below]
    return table.assign(below_constant=list(map(bool, betas)), below_constant_betas=betas)
