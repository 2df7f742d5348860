"""Techniques among each other: average ranks over datasets, groups that do not differ, and Pareto fronts."""

import math
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.columns import UNTREATED
from benchmark.statistics.cells import (
    AXES,
    DECIMALS,
    PLANTED,
    Array,
    Cells,
    Goal,
    goal_of,
    known_of,
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


PARETO_COLUMNS = (
    *(*AXES, "technique", "first", "second"),
    *("first_distance", "second_distance", "on_front", "share_on_front", "n", "reason"),
)
"""Columns of :func:`pareto_fronts`."""


def pareto_fronts(
    results: pd.DataFrame | Cells,
    metrics: tuple[str, str],
    goals: Mapping[str, Goal],
    learners: Collection[str] = (),
    knowledge: Mapping[str, str] = MappingProxyType({}),
) -> pd.DataFrame:
    """Return the techniques, and whether another one beats them in one metric without losing in the other.

    Techniques are compared by their mean :func:`~benchmark.statistics.cells.distance` to each metric's
    ideal, over the repetitions in which both metrics have a value. Techniques with a classifier among
    ``learners``, which are techniques' own, are on one front. Those that by ``knowledge`` are told something
    are compared with those that know as much, and with doing nothing.

    Columns :data:`PARETO_COLUMNS`, which ``results/README.md`` explains at ``pareto.csv``; one row for each
    technique and combination of :data:`~benchmark.statistics.cells.AXES`. A technique without a value is on
    no front, with NaN and a reason.
    """
    cells = to_cells(results).where(metric=metrics)
    distances = cells.distances(goals)
    points = cells.keys.drop_duplicates([*AXES, "technique"])
    first, second = (
        np.where((at >= 0)[:, None], distances[at], np.nan)
        for at in (cells.find(metric=metric)[points.index] for metric in metrics)
    )
    gaps = np.isnan(first) | np.isnan(second)
    first, second = (np.where(gaps, np.nan, values) for values in (first, second))
    n = (~gaps).sum(axis=1)
    means = row_means(first), row_means(second)
    on_front, times = np.zeros(len(points), dtype=bool), np.zeros(len(points))
    points = points[[*AXES, "technique"]].reset_index(drop=True)
    family = points["classifier"].mask(points["classifier"].isin(learners), "")
    spots = points.groupby([*PLANTED, family, "test"], sort=False)
    told = known_of(points, knowledge)
    nothing = (points["technique"] == UNTREATED).to_numpy()
    for rows in spots.indices.values():
        for knows_this in told.iloc[rows].unique():
            own = rows[(told.iloc[rows] == knows_this).to_numpy()]
            among = np.union1d(own, rows[nothing[rows]])
            is_own = np.isin(among, own)
            on_front[own] = on_pareto_front(means[0][among], means[1][among])[is_own]
            times[own] = on_pareto_front(first[among].T, second[among].T).sum(axis=0)[is_own]
    table = points.assign(
        first=metrics[0],
        second=metrics[1],
        first_distance=means[0],
        second_distance=means[1],
        on_front=on_front,
        share_on_front=np.where(n, times / np.maximum(n, 1), np.nan),
        n=n,
        reason=np.where(n, "", "no_values"),
    )
    # Those on one front stand together.
    return table.iloc[np.argsort(spots.ngroup(), kind="stable")].reset_index(drop=True)


def on_pareto_front(first: Array, second: Array) -> NDArray[np.bool_]:
    """Return which points no other point dominates; less is better in both coordinates.

    A point dominates another if it is nowhere worse and somewhere better, so that equal points are on the
    front together. A point with NaN is not on it. The last axis has the points; leading axes are separate
    sets.
    """
    front = np.isfinite(first) & np.isfinite(second)
    for i in range(first.shape[-1]):
        x, y = first[..., i, None], second[..., i, None]
        dominated = (x <= first) & (y <= second) & ((x < first) | (y < second))
        front &= ~dominated
    return front
