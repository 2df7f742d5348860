"""Pareto fronts of two metrics."""

from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.errors import StatisticsError
from benchmark.statistics.cells import AXES, Array, Cells, Goal, require_known, row_means, to_cells

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
    cells = to_cells(results)
    require_known("metric", metrics, cells.keys["metric"])
    cells = cells.where(metric=metrics)
    distances = cells.distances(goals)
    for metric in metrics:
        rows = (cells.keys["metric"] == metric).to_numpy()
        if not np.isfinite(distances[rows]).any() and np.isfinite(cells.values[rows]).any():
            raise StatisticsError(
                f"The metric {metric!r} cannot be traded off",
                expected="a metric with values that are better than others",
                got="no value is better than another",
                remedy="leave it out, or give it a goal with another direction",
            )
    fronts: list[tuple[object, ...]] = []
    family = cells.keys["classifier"].mask(cells.keys["classifier"].isin(learners), "")
    of_metric = [cells.find(metric=metric) for metric in metrics]
    spots = cells.keys.groupby(["dataset", "bias", "beta", family, "test"], sort=False)
    for _, keys in spots:
        points = keys.drop_duplicates(["classifier", "technique"])
        first, second = (
            np.where((at >= 0)[:, None], distances[at], np.nan)
            for at in (positions[points.index] for positions in of_metric)
        )
        present = np.isfinite(first) & np.isfinite(second)
        first, second = (np.where(present, distance, np.nan) for distance in (first, second))
        first_means, second_means = row_means(first), row_means(second)
        front = on_pareto_front(first_means, second_means)
        times = on_pareto_front(first.T, second.T).sum(axis=0)
        places = points[[*AXES, "technique"]].itertuples(index=False, name=None)
        for i, (place, n) in enumerate(zip(places, present.sum(axis=1), strict=True)):
            share, reason = (times[i] / n, "") if n else (np.nan, "no_values")
            values = (first_means[i], second_means[i], bool(front[i]), share, n, reason)
            fronts.append((*place, *metrics, *values))
    return pd.DataFrame(fronts, columns=list(PARETO_COLUMNS))


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
