"""What techniques do to the groups of every attribute, the mitigated one and the others."""

from __future__ import annotations

import pandas as pd

from benchmark.columns import RESULT_COLUMNS
from benchmark.metrics import GAP
from benchmark.statistics import paired_comparisons
from benchmark.statistics.cells import (
    CELL_KEY,
    LEAST,
    Baseline,
    Resampling,
    baseline_of,
    row_means,
    to_cells,
)

_ENDS = ("", "_low", "_high")

GAP_COLUMNS = (
    *(*CELL_KEY[:-1], "attribute", "metric", "baseline", "n"),
    *("gap", "baseline_gap", *(f"difference{end}" for end in _ENDS)),
    *("p_value", "p_value_holm", "wider", "reason"),
)
"""Columns of :func:`gap_changes`."""


def gap_changes(
    groups: pd.DataFrame, baseline: Baseline, resampling: Resampling | None = None
) -> pd.DataFrame:
    """Compare the largest gaps between groups with those of the baseline, on the same samples.

    Parameters
    ----------
    groups : DataFrame
        Columns :data:`~benchmark.columns.GROUP_COLUMNS`.
    baseline : str, or mapping of str to str
        Name of a technique; or that of each technique's own, by its name.
    resampling : Resampling, optional
        How repetitions overlap. Folds of a repetition are one whole here, and repetitions of the same rows:
        with folds there are no intervals, since those of single folds are not kept.

    Returns
    -------
    DataFrame
        Columns :data:`GAP_COLUMNS`, a row for each cell, attribute (or intersection) and rate: ``gap`` and
        ``baseline_gap`` are means over the repetitions, ``difference`` the mean of their paired differences,
        with its interval and p-value as in :func:`~benchmark.statistics.paired_comparisons`, ``wider`` the
        share of the repetitions in which the gap is larger than the baseline's. The baseline has rows, too.
        There are none where it has no gaps.
    """
    own = groups[groups["group"] == GAP]
    if not (own["technique"] == baseline_of(baseline, own["technique"])).any():
        return pd.DataFrame(columns=list(GAP_COLUMNS))
    goals = dict.fromkeys(own["metric"].unique(), LEAST)
    own = own.assign(metric=own["metric"] + "[" + own["attribute"] + "]")[list(RESULT_COLUMNS)]
    unfolded = None if resampling is None else Resampling(resampling.overlaps, resampling.n_folds)
    cells = to_cells(own, unfolded)
    others = baseline_of(baseline, cells.keys["technique"])
    means = cells.keys.assign(gap=row_means(cells.values), n=cells.n, baseline=others)
    partner = cells.find(technique=others)
    means["baseline_gap"] = means["gap"].to_numpy()[partner]
    differences = cells.values - cells.values[partner]
    # NaN where there is no pair.
    means["wider"] = row_means(1.0 * (differences > 0) + 0.0 * differences)
    found = paired_comparisons(cells, baseline, goals).drop(columns=["baseline", "n"])
    table = means.merge(found, on=list(CELL_KEY), how="left")
    names = table["metric"].str.removesuffix("]").str.split("[", n=1, expand=True)
    table = table.assign(metric=names[0], attribute=names[1], reason=table["reason"].fillna(""))
    table = table.rename(columns={"p_permutation": "p_value", "p_permutation_holm": "p_value_holm"})
    return table[list(GAP_COLUMNS)]
