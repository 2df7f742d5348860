"""Two metrics at once: Pareto fronts and the hypervolume that they dominate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.errors import StatisticsError
from benchmark.statistics.bootstrap import (
    CONFIDENCE,
    N_RESAMPLES,
    check_settings,
    resampled_shares,
    resamples,
)
from benchmark.statistics.frames import Goal, require_known, to_cells

__all__ = [
    "HYPERVOLUME_COLUMNS",
    "PARETO_COLUMNS",
    "hypervolume",
    "hypervolumes",
    "on_pareto_front",
    "pareto_fronts",
]

_WHERE = ("dataset", "bias", "beta", "classifier")

PARETO_COLUMNS = (
    *("dataset", "bias", "beta", "classifier", "technique", "first", "second"),
    *("first_distance", "second_distance", "on_front", "share_on_front", "n", "reason"),
)
"""Columns of :func:`pareto_fronts`."""

HYPERVOLUME_COLUMNS = (
    *("dataset", "bias", "beta", "classifier", "first", "second", "first_reference", "second_reference"),
    *("hypervolume", "ci_low", "ci_high", "n_techniques", "reason"),
)
"""Columns of :func:`hypervolumes`."""


@dataclass(frozen=True, eq=False)
class _Plane:
    """Techniques of one dataset, bias, level of bias and classifier by their distances in two metrics."""

    where: dict[str, object]
    techniques: list[str]
    first: NDArray[np.float64]  # (n_techniques, n_repetitions), NaN where either metric is missing
    second: NDArray[np.float64]

    @property
    def n(self) -> NDArray[np.int64]:
        count: NDArray[np.int64] = np.isfinite(self.first).sum(axis=1)
        return count

    def means(self, shares: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the means of both metrics over weighted repetitions, shape (n_weightings, n_techniques).

        A technique's mean is over those of the repetitions that it has, NaN if it has none of them.
        """
        present = np.isfinite(self.first)
        weight = shares @ present.T.astype(float)
        weight[weight == 0] = np.nan
        return (
            shares @ np.where(present, self.first, 0).T / weight,
            shares @ np.where(present, self.second, 0).T / weight,
        )

    def resampled(self, n_resamples: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the means of whole repetitions drawn anew: all techniques meet the same ones."""
        n = self.first.shape[1]
        return self.means(resampled_shares(resamples(n, n_resamples, seed)))


def pareto_fronts(
    results: pd.DataFrame,
    metrics: tuple[str, str],
    goals: Mapping[str, Goal],
    *,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> pd.DataFrame:
    """Find the techniques that no other one beats in one of two metrics without losing in the other.

    Techniques are compared by their mean :func:`~benchmark.statistics.frames.distance` to each metric's
    ideal, over the repetitions in which both metrics have a value.

    Parameters
    ----------
    results : DataFrame
        Columns :data:`~benchmark.experiment.export.RESULT_COLUMNS`.
    metrics : tuple of str
        Names of the two metrics.
    goals : mapping of str to Goal
        Their ideals and directions.
    n_resamples : int, default 9999
        Number of bootstrap resamples; each draws repetitions, with all techniques' values on them.
    seed : int, default 0
        Decides which.

    Returns
    -------
    DataFrame
        Columns :data:`PARETO_COLUMNS`, one row for each dataset, bias, level of bias, classifier and
        technique. ``on_front`` says whether the technique is on the front, and ``share_on_front`` in which
        share of the resamples it is; a technique without a value is on none, with NaN and a reason.

    Raises
    ------
    StatisticsError
        If the results are malformed, a metric has no better values, or a setting is impossible.
    UnknownNameError
        If a metric has no results or no goal.
    """
    check_settings(CONFIDENCE, n_resamples)
    rows = []
    for plane in _planes(results, metrics, goals):
        everywhere = np.full((1, plane.first.shape[1]), 1.0)
        first, second = (mean[0] for mean in plane.means(everywhere))
        front = on_pareto_front(first, second)
        share = on_pareto_front(*plane.resampled(n_resamples, seed)).mean(axis=0)
        rows += [
            {
                **plane.where,
                "technique": technique,
                "first": metrics[0],
                "second": metrics[1],
                "first_distance": first[i],
                "second_distance": second[i],
                "on_front": bool(front[i]),
                "share_on_front": share[i] if n else np.nan,
                "n": n,
                "reason": "" if n else "no repetition has values of both metrics",
            }
            for i, (technique, n) in enumerate(zip(plane.techniques, plane.n, strict=True))
        ]
    return pd.DataFrame(rows, columns=list(PARETO_COLUMNS))


def hypervolumes(
    results: pd.DataFrame,
    metrics: tuple[str, str],
    goals: Mapping[str, Goal],
    *,
    reference: tuple[float, float],
    confidence: float = CONFIDENCE,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> pd.DataFrame:
    """Measure how much of the trade-off between two metrics the techniques together achieve.

    Parameters
    ----------
    results, metrics, goals, n_resamples, seed
        As in :func:`pareto_fronts`.
    reference : tuple of float
        Reference point: the distances to the two ideals from which on nothing counts.
    confidence : float, default 0.95
        Coverage of the intervals.

    Returns
    -------
    DataFrame
        Columns :data:`HYPERVOLUME_COLUMNS`, one row for each dataset, bias, level of bias and classifier:
        the :func:`hypervolume` of the techniques' mean distances, in the product of the metrics' units, and
        its percentile interval; NaN with a reason where no technique has values, and no interval where there
        is only one repetition.

    Raises
    ------
    StatisticsError, UnknownNameError
        As in :func:`pareto_fronts`, or if the reference point is not finite.

    Notes
    -----
    Resampling adds noise to every technique, and the best of noisy points are better than the best of quiet
    ones: where many techniques lie close together, the interval stands too high and can miss the estimate.
    """
    check_settings(confidence, n_resamples)
    if not np.isfinite(reference).all():
        raise StatisticsError(
            "The reference point of the hypervolume is not finite",
            expected="two distances to the ideal",
            got=f"{reference}",
        )
    tails = (1 - confidence) / 2, (1 + confidence) / 2
    rows = []
    for plane in _planes(results, metrics, goals):
        n_repetitions = plane.first.shape[1]
        value, low, high = np.nan, np.nan, np.nan
        reason = "no technique has values of both metrics"
        if n_repetitions:
            value = float(hypervolume(*plane.means(np.ones((1, n_repetitions))), reference)[0])
            reason = "fewer than two repetitions, so there is no interval"
        if n_repetitions > 1:
            low, high = np.quantile(hypervolume(*plane.resampled(n_resamples, seed), reference), tails)
            reason = ""
        rows.append(
            {
                **plane.where,
                "first": metrics[0],
                "second": metrics[1],
                "first_reference": reference[0],
                "second_reference": reference[1],
                "hypervolume": value,
                "ci_low": low,
                "ci_high": high,
                "n_techniques": int((plane.n > 0).sum()),
                "reason": reason,
            }
        )
    return pd.DataFrame(rows, columns=list(HYPERVOLUME_COLUMNS))


def on_pareto_front(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which points no other point dominates; less is better in both coordinates.

    A point dominates another if it is nowhere worse and somewhere better, so that equal points are on the
    front together. A point with NaN is not on it.

    Parameters
    ----------
    first, second : ndarray of float, shape (..., n_points)
        Coordinates; leading axes are separate sets of points.

    Returns
    -------
    ndarray of bool, shape (..., n_points)
    """
    front = np.isfinite(first) & np.isfinite(second)
    for i in range(first.shape[-1]):
        x, y = first[..., i, None], second[..., i, None]
        dominated = (x <= first) & (y <= second) & ((x < first) | (y < second))
        front &= ~dominated
    return front


def hypervolume(
    first: NDArray[np.float64], second: NDArray[np.float64], reference: tuple[float, float]
) -> NDArray[np.float64]:
    """Return the area that points dominate within a reference point; less is better in both coordinates.

    Exact: the points are swept in the order of their first coordinate.

    Parameters
    ----------
    first, second : ndarray of float, shape (..., n_points)
        Coordinates; leading axes are separate sets of points. A point with NaN, or beyond the reference in
        either coordinate, dominates nothing.
    reference : tuple of float
        Upper bounds of the area.

    Returns
    -------
    ndarray of float, shape (...)

    References
    ----------
    Zitzler and Thiele (1998), Multiobjective optimization using evolutionary algorithms.
    """
    counted = (first < reference[0]) & (second < reference[1])  # False for NaN
    x = np.where(counted, first, reference[0])
    y = np.where(counted, second, reference[1])
    order = np.argsort(x, axis=-1)
    x, y = np.take_along_axis(x, order, axis=-1), np.take_along_axis(y, order, axis=-1)
    widths = np.diff(x, axis=-1, append=reference[0])
    area: NDArray[np.float64] = (widths * (reference[1] - np.minimum.accumulate(y, axis=-1))).sum(axis=-1)
    return area


def _planes(results: pd.DataFrame, metrics: tuple[str, str], goals: Mapping[str, Goal]) -> Iterator[_Plane]:
    cells = to_cells(results)
    require_known("metric", metrics, cells.keys["metric"])
    of_both = results[results["metric"].isin(metrics)]
    cells = to_cells(of_both)
    distances = cells.distances(goals)
    for metric in metrics:
        rows = (cells.keys["metric"] == metric).to_numpy()
        if not np.isfinite(distances[rows]).any() and np.isfinite(cells.values[rows]).any():
            raise StatisticsError(
                f"The metric {metric!r} cannot be traded off",
                expected="a metric of which some values are better than others",
                got="none is",
            )
    for names, own in cells.keys.groupby(list(_WHERE), sort=False):
        techniques = own["technique"].unique()
        first, second = (
            distances[own.index[own["metric"] == metric]].reshape(-1, distances.shape[1])
            if (own["metric"] == metric).any()
            else np.full((len(techniques), distances.shape[1]), np.nan)
            for metric in metrics
        )
        present = np.isfinite(first) & np.isfinite(second)
        kept = present.any(axis=0)
        yield _Plane(
            dict(zip(_WHERE, names, strict=True)),
            [str(technique) for technique in techniques],
            np.where(present, first, np.nan)[:, kept],
            np.where(present, second, np.nan)[:, kept],
        )
