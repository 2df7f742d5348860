"""Two metrics at once: Pareto fronts and the hypervolume that they dominate."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.errors import StatisticsError
from benchmark.statistics.frames import AXES, Array, Cells, Goal, require_known, row_means, to_cells

PARETO_COLUMNS = (
    *(*AXES, "technique", "first", "second"),
    *("first_distance", "second_distance", "on_front", "share_on_front", "n", "reason"),
)
"""Columns of :func:`pareto_fronts`."""

HYPERVOLUME_COLUMNS = (
    *(*AXES, "first", "second", "first_reference", "second_reference"),
    *("hypervolume", "n_techniques", "reason"),
)
"""Columns of :func:`hypervolumes`."""


@dataclass(frozen=True, eq=False)
class _Plane:
    """Techniques at one place of :data:`AXES` by their distances in two metrics."""

    where: tuple[object, ...]  # in the order of AXES
    techniques: list[str]
    first: Array  # (n_techniques, n_repetitions), NaN where either metric is missing
    second: Array

    @property
    def n(self) -> NDArray[np.int64]:
        return np.asarray(np.isfinite(self.first).sum(axis=1))

    @property
    def means(self) -> tuple[Array, Array]:
        """Means of both metrics over the repetitions that a technique has, NaN if it has none."""
        return row_means(self.first), row_means(self.second)


def pareto_fronts(
    results: pd.DataFrame | Cells, metrics: tuple[str, str], goals: Mapping[str, Goal]
) -> pd.DataFrame:
    """Find the techniques that no other one beats in one of two metrics without losing in the other.

    Techniques are compared by their mean :func:`~benchmark.statistics.frames.distance` to each metric's
    ideal, over the repetitions in which both metrics have a value.

    Columns :data:`PARETO_COLUMNS`, one row for each place of :data:`~benchmark.statistics.frames.AXES` and
    technique.
    ``on_front`` says whether the technique is on the front of the means, and ``share_on_front`` in which
    share of its repetitions, each by itself, it is on the front of these; a technique without a value is on
    none, with NaN and a reason.
    """
    rows: list[tuple[object, ...]] = []
    for plane in _planes(results, metrics, goals):
        first, second = plane.means
        front = on_pareto_front(first, second)
        times = on_pareto_front(plane.first.T, plane.second.T).sum(axis=0)
        for i, (technique, n) in enumerate(zip(plane.techniques, plane.n, strict=True)):
            share, reason = (times[i] / n, "") if n else (np.nan, "no repetition has values of both metrics")
            own = (first[i], second[i], bool(front[i]), share, n, reason)
            rows.append((*plane.where, technique, *metrics, *own))
    return pd.DataFrame(rows, columns=list(PARETO_COLUMNS))


def hypervolumes(
    results: pd.DataFrame | Cells,
    metrics: tuple[str, str],
    goals: Mapping[str, Goal],
    *,
    reference: tuple[float, float],
) -> pd.DataFrame:
    """Measure how much of the trade-off between two metrics the techniques together achieve.

    Parameters
    ----------
    reference : tuple of float
        Reference point: the distances to the two ideals from which on nothing counts.

    Returns
    -------
    DataFrame
        Columns :data:`HYPERVOLUME_COLUMNS`, one row for each place of
        :data:`~benchmark.statistics.frames.AXES`: the :func:`hypervolume` of the techniques' mean distances,
        in the product of the metrics' units; NaN with a reason where no technique has values.

    Notes
    -----
    There is no interval; ``docs/statistics.md`` says why. The best of several noisy points are better than
    the best of the points without noise, so that the hypervolume is too large by up to as much as it varies.
    """
    if not np.isfinite(reference).all():
        raise StatisticsError(
            "The reference point of the hypervolume is not finite",
            expected="two distances to the ideal",
            got=f"{reference}",
            remedy="give the greatest distances that the metrics' ranges allow, or smaller ones",
        )
    rows: list[tuple[object, ...]] = []
    for plane in _planes(results, metrics, goals):
        area, reason = np.nan, "no technique has values of both metrics"
        if n_techniques := int((plane.n > 0).sum()):
            area, reason = float(hypervolume(*plane.means, reference)), ""
        rows.append((*plane.where, *metrics, *reference, area, n_techniques, reason))
    return pd.DataFrame(rows, columns=list(HYPERVOLUME_COLUMNS))


def on_pareto_front(first: Array, second: Array) -> NDArray[np.bool_]:
    """Return which points no other point dominates; less is better in both coordinates.

    A point dominates another if it is nowhere worse and somewhere better, so that equal points are on the
    front together. A point with NaN is not on it. The last axis of both coordinates are the points, leading
    axes are separate sets of them.
    """
    front = np.isfinite(first) & np.isfinite(second)
    for i in range(first.shape[-1]):
        x, y = first[..., i, None], second[..., i, None]
        dominated = (x <= first) & (y <= second) & ((x < first) | (y < second))
        front &= ~dominated
    return front


def hypervolume(first: Array, second: Array, reference: tuple[float, float]) -> Array:
    """Return the area that points dominate within a reference point; less is better in both coordinates.

    Exact: the points are swept in the order of their first coordinate. The last axis of both coordinates are
    the points, leading axes are separate sets of them. A point with NaN, or beyond the reference in either
    coordinate, dominates nothing. Zitzler and Thiele (1998), Multiobjective optimization using evolutionary
    algorithms.
    """
    counted = (first < reference[0]) & (second < reference[1])  # False for NaN
    x = np.where(counted, first, reference[0])
    y = np.where(counted, second, reference[1])
    order = np.argsort(x, axis=-1)
    x, y = np.take_along_axis(x, order, axis=-1), np.take_along_axis(y, order, axis=-1)
    widths = np.diff(x, axis=-1, append=reference[0])
    return np.asarray((widths * (reference[1] - np.minimum.accumulate(y, axis=-1))).sum(axis=-1))


def _planes(
    results: pd.DataFrame | Cells, metrics: tuple[str, str], goals: Mapping[str, Goal]
) -> Iterator[_Plane]:
    cells = to_cells(results)
    require_known("metric", metrics, cells.keys["metric"])
    cells = cells.where(metric=metrics)
    distances = cells.distances(goals)
    for metric in metrics:
        rows = (cells.keys["metric"] == metric).to_numpy()
        if not np.isfinite(distances[rows]).any() and np.isfinite(cells.values[rows]).any():
            raise StatisticsError(
                f"The metric {metric!r} cannot be traded off",
                expected="a metric of which some values are better than others",
                got="none is",
                remedy="leave it out, or give it a goal with another direction",
            )
    for names, own in cells.keys.groupby(list(AXES), sort=False):
        techniques = own["technique"].unique()
        first, second = (
            distances[own.index[own["metric"] == metric]].reshape(-1, distances.shape[1])
            if (own["metric"] == metric).any()
            else np.full((len(techniques), distances.shape[1]), np.nan)
            for metric in metrics
        )
        present = np.isfinite(first) & np.isfinite(second)
        first, second = (np.where(present, own, np.nan) for own in (first, second))
        yield _Plane(names, list(map(str, techniques)), first, second)
