"""Pareto fronts of two metrics."""

from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.statistics.cells import AXES, Array, Cells, Goal, row_means, to_cells

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
) -> pd.DataFrame:
    """Return the techniques, and whether another one beats them in one metric without losing in the other.

    Techniques are compared by their mean :func:`~benchmark.statistics.cells.distance` to each metric's
    ideal, over the repetitions in which both metrics have a value. Techniques with a classifier among
    ``learners``, which are techniques' own, are on one front.

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
    spots = points.groupby(["dataset", "bias", "level", family, "test"], sort=False)
    for rows in spots.indices.values():
        on_front[rows] = on_pareto_front(means[0][rows], means[1][rows])
        times[rows] = on_pareto_front(first[rows].T, second[rows].T).sum(axis=0)
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
