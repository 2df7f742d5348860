"""Effect of planted bias on one technique: its values at a level of bias minus its values without bias."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from benchmark.statistics.cells import CELL_KEY, Resampling, to_cells
from benchmark.statistics.intervals import cell_intervals

LEVEL_COLUMNS = (*CELL_KEY, "n", "change", "change_low", "change_high")
"""Columns of :func:`level_changes`."""


def level_changes(
    results: pd.DataFrame, technique: str, resampling: Resampling | None = None
) -> pd.DataFrame:
    """Return by how much each metric of a technique differs from its value at β = 0, in the same repetitions.

    Repetitions have the same random numbers at all levels (``paired_betas``). ``resampling`` says whether
    they are repeated splits of the same rows. The result has the columns :data:`LEVEL_COLUMNS` and a row for
    each metric at each level above 0. ``change`` is the mean over ``n`` repetitions, with the ends of its
    interval of 95 %. The result is empty where β = 0 was not run.
    """
    changes = _changes(results[results["technique"] == technique], "repetition")
    if changes.empty:
        return pd.DataFrame(columns=list(LEVEL_COLUMNS))
    if resampling is not None and resampling.folds is not None:
        folds = resampling.folds[resampling.folds["technique"] == technique]
        resampling = replace(resampling, folds=_changes(folds, "repetition", "fold"))
    table = cell_intervals(to_cells(changes, resampling))
    names = {"mean": "change", "ci_low": "change_low", "ci_high": "change_high"}
    return table.rename(columns=names)[list(LEVEL_COLUMNS)]


def _changes(results: pd.DataFrame, *splits: str) -> pd.DataFrame:
    """Return the values of each split minus its values at β = 0."""
    keys = [name for name in (*CELL_KEY, *splits) if name != "beta"]
    clean = results[results["beta"] == 0].set_index(keys)["value"].rename("clean")
    others = results[results["beta"] > 0].join(clean, on=keys, how="inner")
    return others.assign(value=others["value"] - others["clean"]).drop(columns="clean")
