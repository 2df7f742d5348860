"""Techniques over several datasets: average ranks, and groups that do not differ."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.statistics.cells import (
    AXES,
    DECIMALS,
    Array,
    Cells,
    Goal,
    goal_of,
    row_means,
    to_cells,
)
from benchmark.statistics.hypothesis_tests import friedman, holm, wilcoxon_p_values

ALPHA = 0.05
"""Level of significance, by default."""

NO_VALUE = "no_value"
"""Reason for a missing rank: a block without a value of the technique."""

RANK_COLUMNS = (
    *("datasets", "over", "level", "bias", "classifier", "test", "metric", "technique"),
    *("mean_rank", "mean_distance", "n_blocks", "n_datasets", "reason", "reason_dataset", "reason_level"),
    *("groups", "n_techniques", "f", "p_f", "test_reason", "datasets_needed"),
)
"""Columns of :func:`rank_table`."""


def rank_table(
    results: pd.DataFrame | Cells,
    goals: Mapping[str, Goal],
    *,
    over: Sequence[str] = ("dataset",),
    alpha: float = ALPHA,
) -> pd.DataFrame:
    """Return the average ranks of techniques over blocks, best first, and tests of whether they differ.

    Techniques are compared by the mean over the repetitions of the
    :func:`~benchmark.statistics.cells.distance` to the metric's ideal. Rank 1 is the best, and ties share
    their average. A metric without better or worse values is left out. Blocks are made of the axes ``over``:
    ``"dataset"``, perhaps with ``"level"``. Each combination of the other axes is ranked by itself. ``alpha``
    is the level at which two techniques differ, with Holm's correction for all pairs.

    The result has the columns :data:`RANK_COLUMNS`, which ``results/README.md`` explains at ``ranks.csv``.
    ``reason`` is :data:`NO_VALUE` for a technique without a value in some block, which has no rank.
    ``groups`` are neighbors in rank that do not differ by Wilcoxon's test (:func:`unbroken_groups`). Demsar
    (2006), Statistical comparisons of classifiers over multiple data sets, sections 3.1.3 and 3.2.2;
    Benavoli, Corani and Mangili (2016), Should we really use post-hoc tests based on mean-ranks?
    """
    cells = to_cells(results)
    # Equal means whose sums were rounded otherwise share a rank.
    means = cells.keys.assign(distance=np.round(row_means(cells.distances(goals)), DECIMALS))
    directed = [name for name in means["metric"].unique() if goal_of(goals, name).direction != "none"]
    fixed = [*(axis for axis in AXES if axis not in over), "metric"]
    tables = []
    for names, part in means[means["metric"].isin(directed)].groupby(fixed, sort=False):
        distances = part.pivot(index=list(over), columns="technique", values="distance")
        table = _ranked(distances[part["technique"].unique()], alpha)
        key: dict[str, Any] = dict(zip(fixed, names, strict=True))
        tables.append(table.assign(**key))
    if not tables:
        return pd.DataFrame(columns=list(RANK_COLUMNS))
    table = pd.concat(tables, ignore_index=True)
    level = "level" if "level" in table.columns else "reason_level"  # ranked by itself, or a part of blocks
    table = table.assign(
        datasets=" ".join(cells.keys["dataset"].unique()),
        over=" ".join(over),
        level=table.get("level", np.nan),
        reason_level=table[level].astype(float).where(table["reason"] != ""),
    )
    return table[list(RANK_COLUMNS)]


def _ranked(distances: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Return ranks for one comparison, of distances to the ideal with a row per block."""
    gaps = distances.isna()
    left_out = distances.columns[gaps.any()]
    whole = distances.drop(columns=left_out)
    n, k = whole.shape
    ranks = whole.rank(axis=1).mean().sort_values(kind="stable")
    best_first = whole[ranks.index]
    names = pd.Series("", index=[*ranks.index, *left_out])
    for number, group in enumerate(unbroken_groups(_differ(best_first.to_numpy(), alpha)), start=1):
        names.iloc[list(group)] += f" {number}"
    reason = "few_blocks" if n < 2 else "few_techniques" if k < 2 else ""
    f, p_f = (math.nan, math.nan) if reason else friedman(whole.to_numpy())
    first_gaps = distances.index[gaps[left_out].to_numpy().argmax(axis=0)].to_frame()
    table = pd.DataFrame(
        {
            "mean_rank": ranks.reindex(names.index),
            "mean_distance": best_first.mean().reindex(names.index),
            "n_blocks": n,
            "n_datasets": distances.index.get_level_values("dataset").nunique(),
            "reason": np.where(names.index.isin(left_out), NO_VALUE, ""),
            "groups": names.str.strip(),
            "n_techniques": k,
            "f": f,
            "p_f": p_f,
            "test_reason": reason or ("all_equal" if math.isnan(f) else ""),
            "datasets_needed": repetitions_needed(max(1, math.comb(k, 2)), alpha),
        }
    ).join(first_gaps.set_axis(left_out).add_prefix("reason_"))
    table["reason_dataset"] = table["reason_dataset"].astype(object).fillna("")
    return table.rename_axis("technique").reset_index()


def _differ(distances: Array, alpha: float) -> NDArray[np.bool_]:
    """Return whether two techniques, the columns of distances, differ over the blocks; shape (k, k)."""
    k = distances.shape[1]
    first, second = np.triu_indices(k, 1)
    differ = np.zeros((k, k), dtype=bool)
    # False for NaN: nothing differs.
    differ[first, second] = holm(wilcoxon_p_values(distances.T[second] - distances.T[first])) <= alpha
    return differ | differ.T


def unbroken_groups(differ: NDArray[np.bool_]) -> list[range]:
    """Return the largest runs of positions in which no two differ, of at least two, by their first position.

    ``differ``, shape (k, k), says whether two treatments differ, in the order of their ranks. Two that do not
    differ share no run if one between them differs from either: no bar could join them.
    """
    groups: list[range] = []
    for start in range(len(differ)):
        stop = start + 1
        while stop < len(differ) and not differ[start:stop, stop].any():
            stop += 1
        if stop - start > 1 and (not groups or stop > groups[-1].stop):
            groups.append(range(start, stop))
    return groups


def repetitions_needed(n_tests: int, alpha: float = ALPHA) -> int:
    r"""Return how many repetitions a test needs to be significant at all among ``n_tests`` tests.

    This is the smallest number n with :math:`2 / 2^n \le \alpha / m`: Holm's correction requires this of the
    smallest of m p-values. It holds for sign flips and signed ranks, and for datasets in place of
    repetitions.
    """
    return math.ceil(math.log2(2 * n_tests / alpha))
