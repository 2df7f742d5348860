"""Declaration and evaluation of metrics.

Every metric is a function of :class:`GroupCounts`, the 2 × 2 × 2 table of group, label and prediction. So a
thousand metrics still cost one pass over the rows, and no metric can look at anything else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import BetabenchError, DataError
from benchmark.registry import Registry

__all__ = [
    "Direction",
    "GroupCounts",
    "Metric",
    "MetricError",
    "MetricResults",
    "UndefinedMetricError",
    "evaluate",
    "get_metric",
    "list_metrics",
    "metric",
    "share",
]

Direction = Literal["higher", "lower", "closer_to_ideal"]

_GROUPS = ("favored", "deprived")
_LABELS = ("unfavorable", "favorable")


class MetricError(BetabenchError):
    """A metric raises an error, or returns no number."""


class UndefinedMetricError(BetabenchError):
    """A metric has no value on these counts; the message is the reason that results show."""


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """How often each combination of group, label and prediction occurs.

    Parameters
    ----------
    weight : ndarray of float, shape (2, 2, 2)
        Sum of weights; index 0 is favored / deprived, index 1 unfavorable / favorable label, index 2
        unfavorable / favorable prediction.
    rows : ndarray of int, shape (2, 2)
        Number of rows by group and label, whatever their weights.
    """

    weight: NDArray[np.float64]
    rows: NDArray[np.int64]

    @classmethod
    def from_predictions(
        cls,
        y_true: NDArray[np.bool_],
        y_pred: NDArray[np.bool_],
        deprived: NDArray[np.bool_],
        sample_weight: NDArray[np.float64] | None = None,
    ) -> GroupCounts:
        """Count predictions in one pass.

        Parameters
        ----------
        y_true, y_pred : ndarray of bool, shape (n_rows,)
            Whether the label, and the prediction, is favorable.
        deprived : ndarray of bool, shape (n_rows,)
            Whether a row belongs to the deprived group.
        sample_weight : ndarray of float, shape (n_rows,), optional
            Finite, non-negative weights; all 1 if left out.

        Raises
        ------
        DataError
            If shapes differ, an array is not boolean or a weight is invalid.
        """
        for name, array in (("y_true", y_true), ("y_pred", y_pred), ("deprived", deprived)):
            if array.dtype != np.bool_ or array.shape != (len(y_true),):
                raise DataError(
                    f"{name} cannot be evaluated",
                    expected=f"a bool array of shape ({len(y_true)},), True for favorable or deprived",
                    got=f"{array.dtype} of shape {array.shape}",
                )
        cells = deprived.view(np.uint8) * 4 + y_true.view(np.uint8) * 2 + y_pred.view(np.uint8)
        rows = np.bincount(cells, minlength=8)
        weight = np.asarray(rows, dtype=np.float64)
        if sample_weight is not None:
            valid = sample_weight.shape == y_true.shape and np.isfinite(sample_weight).all()
            if not valid or (sample_weight < 0).any():
                raise DataError(
                    "sample_weight cannot be used",
                    expected=f"finite, non-negative weights of shape ({len(y_true)},)",
                    got=f"shape {sample_weight.shape}, smallest {np.min(sample_weight, initial=np.inf)}",
                )
            weight = np.asarray(np.bincount(cells, sample_weight, minlength=8), dtype=np.float64)
        return cls(weight.reshape(2, 2, 2), rows.reshape(2, 2, 2).sum(axis=2))

    @property
    def sizes(self) -> dict[str, int]:
        """Numbers of rows by name: ``n``, ``n_deprived``, ``n_deprived_favorable`` and so on."""
        sizes = {"n": int(self.rows.sum())}
        for g, group in enumerate(_GROUPS):
            sizes[f"n_{group}"] = int(self.rows[g].sum())
            for y, label in enumerate(_LABELS):
                sizes[f"n_{group}_{label}"] = int(self.rows[g, y])
        return sizes


@dataclass(frozen=True)
class Metric:
    """A metric, declared once for evaluation, tables, figures and documentation.

    Parameters
    ----------
    name : str
        Name in results.
    title : str
        Name in tables and figures.
    formula : str
        Definition in the notation of the paper: y+ favorable label, ŷ prediction, g deprived group, ḡ the
        favored one.
    range : tuple of float
        Lowest and highest possible value.
    ideal : float
        Value that means no error, or no difference between the groups.
    direction : {"higher", "lower", "closer_to_ideal"}
        Which of two values is better.
    source : str
        Publication and equation.
    needs : tuple of str
        What it is computed from, of ``y_true``, ``y_pred``, ``deprived``.
    compute : callable(GroupCounts) -> float
        Value; raises :class:`UndefinedMetricError` with the reason where there is none.
    """

    name: str
    title: str
    formula: str
    range: tuple[float, float]
    ideal: float
    direction: Direction
    source: str
    needs: tuple[str, ...]
    compute: Callable[[GroupCounts], float]


@dataclass(frozen=True)
class MetricResults:
    """Values of metrics on one set of predictions.

    Parameters
    ----------
    values : mapping of str to float
        Value by metric name; NaN where there is none.
    reasons : mapping of str to str
        Why a value is NaN, by metric name.
    counts : GroupCounts
        What they were computed from; ``counts.sizes`` belongs beside every value that is shown.
    """

    values: Mapping[str, float]
    reasons: Mapping[str, str]
    counts: GroupCounts


def _metric_flaws(item: Metric) -> list[str]:
    low, high = item.range
    flaws = [] if low <= item.ideal <= high else [f"its ideal {item.ideal} lies outside its range"]
    return flaws + [
        f"its {f!r} is empty" for f in ("title", "formula", "source", "needs") if not getattr(item, f)
    ]


_REGISTRY: Registry[Metric] = Registry(
    "metric",
    DataError,
    package="benchmark.metrics",
    entry_points="betabench.metrics",
    flaws=_metric_flaws,
)


def metric(**declaration: Any) -> Callable[[Callable[[GroupCounts], float]], Metric]:
    """Declare the decorated function as a metric named like it; keywords as in :class:`Metric`."""

    def declare(compute: Callable[[GroupCounts], float]) -> Metric:
        declared = Metric(name=compute.__name__, compute=compute, **declaration)
        _REGISTRY.add(declared.name, declared)
        return declared

    return declare


def get_metric(name: str) -> Metric:
    """Return a metric by name; raises :class:`UnknownNameError` if there is none."""
    return _REGISTRY.get(name)


def list_metrics() -> dict[str, Metric]:
    """Return all metrics by name, sorted by name."""
    return _REGISTRY.items()


def share(part: float, whole: float, who: str) -> float:
    """Return ``part / whole``; raises :class:`UndefinedMetricError` naming ``who`` if there is nobody."""
    if whole == 0:
        raise UndefinedMetricError(f"there is no {who}")
    return float(part / whole)


def evaluate(
    y_true: NDArray[np.bool_],
    y_pred: NDArray[np.bool_],
    deprived: NDArray[np.bool_],
    *,
    metrics: Iterable[str] | None = None,
    sample_weight: NDArray[np.float64] | None = None,
) -> MetricResults:
    """Compute metrics of predictions.

    Parameters
    ----------
    y_true, y_pred : ndarray of bool, shape (n_rows,)
        Whether the label, and the prediction, is favorable.
    deprived : ndarray of bool, shape (n_rows,)
        Whether a row belongs to the deprived group.
    metrics : iterable of str, optional
        Names of the metrics, in the order of the results; all in alphabetical order if left out.
    sample_weight : ndarray of float, shape (n_rows,), optional
        Weight of each row.

    Returns
    -------
    MetricResults
        A value or a reason for each metric.

    Raises
    ------
    DataError
        If the arrays do not fit each other.
    UnknownNameError
        If a metric is unknown.
    MetricError
        If a metric fails.
    """
    counts = GroupCounts.from_predictions(y_true, y_pred, deprived, sample_weight)
    values: dict[str, float] = {}
    reasons: dict[str, str] = {}
    for name in list_metrics() if metrics is None else metrics:
        try:
            values[name] = float(get_metric(name).compute(counts))
        except UndefinedMetricError as undefined:
            values[name] = math.nan
            reasons[name] = undefined.what
        except (ArithmeticError, TypeError, ValueError, LookupError, AttributeError) as problem:
            raise MetricError(
                f"the metric {name!r} fails",
                expected="a number",
                got=f"{type(problem).__name__}: {problem}",
                remedy="correct the metric, or raise UndefinedMetricError where it has no value",
            ) from problem
    return MetricResults(values, reasons, counts)
