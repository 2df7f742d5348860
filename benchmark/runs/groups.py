"""What techniques do to the groups of every attribute, the mitigated one and the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from benchmark.columns import RESULT_COLUMNS
from benchmark.metrics import GAP
from benchmark.statistics import paired_comparisons
from benchmark.statistics.frames import CELL_KEY, Resampling, row_means, to_cells

_ENDS = ("", "_low", "_high")

GAP_COLUMNS = (
    *(*CELL_KEY[:-1], "attribute", "metric", "baseline", "n"),
    *("gap", "baseline_gap", *(f"difference{end}" for end in _ENDS)),
    *("p_value", "p_value_holm", "wider", "reason"),
)
"""Columns of :func:`gap_changes`."""


@dataclass(frozen=True)
class _Narrow:
    """A gap between groups, of which there had better be none."""

    ideal: float = 0.0
    direction: str = "lower"


def gap_changes(
    groups: pd.DataFrame, baselines: Mapping[str, str], resampling: Resampling | None = None
) -> pd.DataFrame:
    """Compare the largest gaps between groups with those of the baseline, on the same samples.

    Parameters
    ----------
    groups : DataFrame
        Columns :data:`~benchmark.columns.GROUP_COLUMNS`.
    baselines : mapping of str to str
        Baseline of each dataset.
    resampling : Resampling, optional
        How repetitions overlap. Folds of a repetition are one whole here.

    Returns
    -------
    DataFrame
        Columns :data:`GAP_COLUMNS`, a row for each cell, attribute (or intersection) and rate: ``gap`` and
        ``baseline_gap`` are means over the repetitions, ``difference`` the mean of their paired differences,
        with its interval and p-value as in :func:`~benchmark.statistics.paired_comparisons`, ``wider`` the
        share of the repetitions in which the gap is larger than the baseline's. The baseline has rows, too.
    """
    own = groups[groups["group"] == GAP]
    if own.empty:
        return pd.DataFrame(columns=list(GAP_COLUMNS))
    own = own.assign(metric=own["metric"] + "[" + own["attribute"] + "]")[list(RESULT_COLUMNS)]
    goals = {name.partition("[")[0]: _Narrow() for name in own["metric"].unique()}
    whole = None if resampling is None else Resampling(resampling.overlaps)
    parts = []
    for name in dict.fromkeys(baselines.values()):
        datasets = [dataset for dataset, baseline in baselines.items() if baseline == name]
        cells = to_cells(own, whole).where(dataset=datasets)
        if not (cells.keys["technique"] == name).any():
            continue
        means = cells.keys.assign(gap=row_means(cells.values), n=cells.n)
        partner = cells.find(technique=name)
        means["baseline_gap"] = means["gap"].to_numpy()[partner]
        differences = cells.values - cells.values[partner]
        # NaN where there is no pair.
        means["wider"] = row_means(1.0 * (differences > 0) + 0.0 * differences)
        found = paired_comparisons(cells, name, goals).drop(columns="n")
        parts.append(means.merge(found, on=list(CELL_KEY), how="left").assign(baseline=name))
    if not parts:
        return pd.DataFrame(columns=list(GAP_COLUMNS))
    table = pd.concat(parts, ignore_index=True)
    names = table["metric"].str.removesuffix("]").str.split("[", n=1, expand=True)
    table = table.assign(metric=names[0], attribute=names[1], reason=table["reason"].fillna(""))
    table = table.rename(columns={"p_permutation": "p_value", "p_permutation_holm": "p_value_holm"})
    return table[list(GAP_COLUMNS)]
