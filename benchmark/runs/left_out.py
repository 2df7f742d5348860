"""True reasons for missing ranks and fronts, and marks of techniques below a constant answer.

Degenerate techniques have no value where fronts and ranks are computed. Their reasons then name a
missing value; these functions put the true reason in its place.
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


def explained_fronts(fronts: pd.DataFrame, standing: pd.DataFrame) -> pd.DataFrame:
    """Return Pareto fronts with the true reasons."""
    reasons = zip(fronts["reason"], _standing_of_rows(fronts, _degenerate(standing)), strict=True)
    return fronts.assign(reason=[rows[0].degenerate if rows else reason for reason, rows in reasons])


def explained_ranks(ranks: pd.DataFrame, standing: pd.DataFrame) -> pd.DataFrame:
    """Return ranks with the true reasons."""
    reasons = []
    for reason, rows in zip(ranks["reason"], _standing_of_rows(ranks, _degenerate(standing)), strict=True):
        if reason and rows:
            reasons.append(f"{rows[0].degenerate} at dataset {rows[0].dataset}, beta {rows[0].beta:g}")
        else:
            reasons.append(reason.replace("no value for", "not every repetition has a value for"))
    return ranks.assign(reason=reasons)


def with_below(table: pd.DataFrame, standing: pd.DataFrame) -> pd.DataFrame:
    """Return a table with :data:`BELOW_COLUMNS`; it has ``dataset`` or ``datasets``, and perhaps ``beta``."""
    below = _standing_of_rows(table, standing[standing["below_constant"]])
    betas = [" ".join(f"{beta:g}" for beta in sorted({row.beta for row in rows})) for rows in below]
    return table.assign(below_constant=list(map(bool, betas)), below_constant_betas=betas)


def _degenerate(standing: pd.DataFrame) -> pd.DataFrame:
    return standing[standing["n_degenerate"] > 0]
