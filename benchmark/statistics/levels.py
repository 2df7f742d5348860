"""Effect of planted bias on one technique: its values at a level of bias minus its values without bias."""

from __future__ import annotations

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

    def changes(values: pd.DataFrame) -> pd.DataFrame:
        """Return the technique's values in each split minus its values at β = 0."""
        values = values[values["technique"] == technique]
        splits = {*CELL_KEY, "repetition", "fold"} - {"beta"}
        keys = [name for name in values.columns if name in splits]
        clean = values[values["beta"] == 0].set_index(keys)["value"].rename("clean")
        others = values[values["beta"] > 0].join(clean, on=keys, how="inner")
        return others.assign(value=others["value"] - others["clean"]).drop(columns="clean")

    changed = changes(results)
    if changed.empty:
        return pd.DataFrame(columns=list(LEVEL_COLUMNS))
    table = cell_intervals(to_cells(changed, resampling and resampling.changed(changes)))
    names = {"mean": "change", "ci_low": "change_low", "ci_high": "change_high"}
    return table.rename(columns=names)[list(LEVEL_COLUMNS)]
