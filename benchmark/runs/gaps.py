"""Gaps between the groups of every attribute, and how techniques change them."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from benchmark.columns import RESULT_COLUMNS
from benchmark.metrics import GAP
from benchmark.statistics.cells import (
    CELL_KEY,
    LEAST,
    Resampling,
    row_means,
    to_cells,
)
from benchmark.statistics.paired import paired_comparisons

_ENDS = ("", "_low", "_high")

GAP_COLUMNS = (
    *(*CELL_KEY[:-1], "attribute", "metric", "baseline", "n"),
    *("gap", "baseline_gap", *(f"difference{end}" for end in _ENDS)),
    *("p_value", "p_value_holm", "wider", "reason"),
)
"""Columns of :func:`gap_changes`."""


def gap_changes(
    groups: pd.DataFrame,
    baseline: str,
    resampling: Resampling | None = None,
    learners: Collection[str] = (),
) -> pd.DataFrame:
    """Return the largest gaps between groups, compared with the baseline's on the same samples.

    ``groups`` have the columns :data:`~benchmark.columns.GROUP_COLUMNS`. ``baseline`` is the name of a
    technique. ``resampling`` says how repetitions overlap. A repetition counts as a whole here; if
    it has several splits there are no intervals, since their values are not kept. ``learners`` are as in
    :func:`~benchmark.statistics.paired.paired_comparisons`.

    The result has the columns :data:`GAP_COLUMNS`, which ``results/README.md`` explains at ``groups.csv``,
    and a row for each cell, attribute (or intersection) and rate. The baseline has rows, too. The frame is
    empty where the baseline has no gaps.
    """
    gaps = groups[groups["group"] == GAP]
    if not (gaps["technique"] == baseline).any():
        return pd.DataFrame(columns=list(GAP_COLUMNS))
    goals = dict.fromkeys(gaps["metric"].unique(), LEAST)
    gaps = gaps.assign(metric=gaps["metric"] + "[" + gaps["attribute"] + "]")[list(RESULT_COLUMNS)]
    unfolded = None if resampling is None else Resampling(resampling.overlaps, resampling.n_folds)
    cells = to_cells(gaps, unfolded)
    means = cells.keys.assign(gap=row_means(cells.values), n=cells.n, baseline=baseline)
    partner = cells.find(technique=baseline)
    means["baseline_gap"] = means["gap"].to_numpy()[partner]
    differences = cells.values - cells.values[partner]
    # NaN where there is no pair.
    means["wider"] = row_means(1.0 * (differences > 0) + 0.0 * differences)
    comparisons = paired_comparisons(cells, baseline, goals, learners=learners).drop(
        columns=["baseline", "n"]
    )
    table = means.merge(comparisons, on=list(CELL_KEY), how="left")
    names = table["metric"].str.removesuffix("]").str.split("[", n=1, expand=True)
    table = table.assign(metric=names[0], attribute=names[1], reason=table["reason"].fillna(""))
    table = table.rename(columns={"p_paired": "p_value", "p_paired_holm": "p_value_holm"})
    return table[list(GAP_COLUMNS)]
