"""The inputs of metrics: groups of people, their counts of labels and predictions, and their rows.

All counts come from one pass over the rows (:meth:`Predictions.counts`). Metrics that need more than counts,
such as scores, take a group's rows.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import BetabenchError, DataError

Need = Literal["y_true", "y_pred", "y_score", "strata", "features", "alternated", "decisions"]
"""Data that a metric may need: fields of :class:`Predictions`; decisions are also in :class:`GroupCounts`."""

Conventions = Literal["betabench", "clarify", "aequitas"]
"""Values where a denominator is zero.

``betabench``
    NaN with a reason.
``clarify``
    As Amazon SageMaker Clarify's open-source package: 0 / 0 is 0, any other number over 0 is infinite, and
    distributions are compared on the values that both groups have.
``aequitas``
    As Aequitas: rates are NaN, a disparity of a positive number to 0 is 10.
"""


class UndefinedMetricError(BetabenchError):
    """A metric has no value on these rows; the message is the reason that results show."""


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """How often each combination of group, label and prediction occurs."""

    names: tuple[str, ...]
    # shape (n_groups, 2, 2): sum of weights; index 1 is unfavorable / favorable label, index 2 unfavorable /
    # favorable prediction.
    weight: NDArray[np.float64]
    rows: NDArray[np.int64]  # shape (n_groups, 2, 2): number of rows, whatever their weights
    # shape (n_groups, 2, 2, 2, 2): number of rows by favorable label and by who accepts: the clean model, the
    # baseline, the technique; see :mod:`benchmark.metrics.restoration`.
    decisions: NDArray[np.int64] | None = None

    @classmethod
    def of_decisions(cls, names: tuple[str, ...], decisions: NDArray[np.int64]) -> Self:
        """Return counts that are sums of decisions."""
        rows = decisions.sum(axis=(2, 3))
        return cls(names, rows.astype(np.float64), rows, decisions)

    @classmethod
    def of(
        cls,
        names: tuple[str, ...],
        labeled: NDArray[np.int64],
        y_pred: NDArray[np.bool_] | None,
        sample_weight: NDArray[np.float64] | None = None,
    ) -> Self:
        """Return counts of rows by :func:`labeled_groups`; a missing prediction counts as unfavorable."""
        cells = labeled if y_pred is None else labeled + y_pred.view(np.uint8)
        shape = (len(names), 2, 2)
        rows = np.bincount(cells, minlength=4 * len(names)).reshape(shape)
        weight = rows.astype(np.float64)
        if sample_weight is not None:
            summed = np.bincount(cells, sample_weight, minlength=4 * len(names))
            weight = np.asarray(summed, dtype=np.float64).reshape(shape)
        return cls(names, weight, rows)


def labeled_groups(codes: NDArray[np.integer], y_true: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    """Return each row's position in :class:`GroupCounts` if it is predicted unfavorable.

    A favorable prediction has the next position. A missing label counts as unfavorable.
    """
    labeled = codes.astype(np.int64) * 4
    if y_true is not None:
        labeled += y_true.view(np.uint8) * np.uint8(2)
    return labeled


def as_array(name: str, values: object) -> NDArray[Any]:
    """Return an array, a list or a pandas Series as an array; a DataError means that it is none of these."""
    if isinstance(values, np.ndarray):
        return values
    try:
        array = np.asarray(values)
        if array.dtype == object and {type(value) for value in array.flat} <= {bool, np.bool_}:
            array = array.astype(np.bool_)  # as pandas' nullable booleans
    except (ValueError, TypeError) as problem:
        raise DataError(
            f"{name} cannot be used",
            expected="an array, a list or a pandas Series, with one value per row",
            got=f"{type(values).__name__}: {problem}",
        ) from problem
    return array


def require_one_index(given: Mapping[str, Any]) -> None:
    """Raise a DataError if pandas Series have different indexes, as the rows may then differ."""
    indexes = {name: values.index for name, values in given.items() if hasattr(values, "iloc")}
    first = next(iter(indexes), "")
    for name, index in indexes.items():
        if not index.equals(indexes[first]):
            raise DataError(
                f"{first} and {name} have different indexes",
                expected="the same index, so that each row is one person",
                got=f"{len(indexes[first])} and {len(index)} rows",
                remedy="align them, or give arrays (.to_numpy()) if they have the same order",
            )


@dataclass(frozen=True, eq=False)
class Predictions:
    """Labels, predictions and other data of metrics, row by row.

    Lists and pandas Series become arrays. A DataError means that shapes, types or values do not fit, or that
    Series have different indexes.
    """

    codes: NDArray[np.integer]  # shape (n_rows,): group of each row, as index into ``names``
    names: tuple[str, ...]  # names of the groups; a group may be empty
    y_true: NDArray[np.bool_] | None = None  # shape (n_rows,): whether the label is favorable
    y_pred: NDArray[np.bool_] | None = None  # shape (n_rows,): whether the prediction is favorable
    # shape (n_rows,): scores, higher for rows more likely to have the favorable label.
    y_score: NDArray[np.float64] | None = None
    strata: NDArray[np.integer] | None = None  # shape (n_rows,): codes of a column to stratify by
    # shape (n_rows, n_features): numeric features, for metrics that look for similar rows.
    features: NDArray[np.float64] | None = None
    # shape (n_rows,): the model's scores, or else predictions as 0 and 1, after the two groups have changed
    # places.
    alternated: NDArray[np.float64] | None = None
    # shape (n_rows,): finite, non-negative weights; all 1 if left out.
    sample_weight: NDArray[np.float64] | None = None
    # shape (n_rows, 2): whether the clean model accepts, and whether the baseline does; see
    # :mod:`benchmark.metrics.restoration`. Its metrics count rows without weights.
    decisions: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "names"}
        require_one_index(given)
        for name, values in given.items():
            if values is not None and not isinstance(values, np.ndarray):
                object.__setattr__(self, name, as_array(name, values))
        shape = (len(self.codes),)
        valid = len(shape) == self.codes.ndim and self.codes.dtype.kind in "iu"
        if valid and len(self.codes):
            valid = bool(0 <= self.codes.min() <= self.codes.max() < len(self.names))
        if not valid:
            raise DataError(
                "The groups' codes cannot be used",
                expected=f"integers from 0 to {len(self.names) - 1}, one per row",
                got=f"{self.codes.dtype} of shape {self.codes.shape}",
            )
        for name in ("y_true", "y_pred"):
            array = getattr(self, name)
            if array is not None and (array.dtype != np.bool_ or array.shape != shape):
                raise DataError(
                    f"{name} cannot be evaluated",
                    expected=f"a bool array of shape {shape}, True for favorable",
                    got=f"{array.dtype} of shape {array.shape}",
                    remedy="compare the values with the favorable one, as in y == 1",
                )
        for name, signs in (("y_score", ""), ("alternated", ""), ("sample_weight", ", none negative")):
            numbers = getattr(self, name)
            if numbers is None:
                continue
            numeric = numbers.dtype.kind in "biuf"
            valid = numeric and numbers.shape == shape and bool(np.isfinite(numbers).all())
            if not valid or (signs and (numbers < 0).any()):
                smallest = f", smallest {np.min(numbers, initial=math.inf)}" if numeric else ""
                raise DataError(
                    f"{name} cannot be used",
                    expected=f"finite numbers of shape {shape}{signs}",
                    got=f"{numbers.dtype} of shape {numbers.shape}{smallest}",
                )
        for name in ("strata", "features", "decisions"):
            rows = getattr(self, name)
            if rows is not None and rows.shape[:1] != shape:
                got = f"an array of shape {rows.shape}"
                raise DataError(f"{name} cannot be used", expected=f"{shape[0]} rows", got=got)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def given(self) -> set[Need]:
        """The data that are given."""
        return {kind for kind in get_args(Need) if getattr(self, kind) is not None}

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weight of each row, shape (n_rows,)."""
        return np.ones(len(self)) if self.sample_weight is None else self.sample_weight

    @functools.cached_property
    def counts(self) -> GroupCounts:
        """Counts of all groups, in one pass; missing labels and predictions count as unfavorable."""
        labeled = labeled_groups(self.codes, self.y_true)
        counts = GroupCounts.of(self.names, labeled, self.y_pred, self.sample_weight)
        if self.decisions is None or self.y_pred is None:
            return counts
        positions = labeled // 2  # by group and label
        for accepted in (*self.decisions.T, self.y_pred):
            positions = 2 * positions + accepted
        shape = (len(self.names), 2, 2, 2, 2)
        return replace(counts, decisions=np.bincount(positions, minlength=math.prod(shape)).reshape(shape))

    def take(self, mask: NDArray[np.bool_]) -> Self:
        """Return the rows for which ``mask``, shape (n_rows,), is True."""
        arrays = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "names"}
        return replace(self, **{name: array[mask] for name, array in arrays.items() if array is not None})


@dataclass(frozen=True, eq=False)
class Group:
    """People whom a metric is computed from."""

    name: str  # for reasons: ``"the deprived group"``
    tp: float  # weight of right favorable predictions
    fp: float  # weight of wrong favorable predictions
    fn: float  # weight of wrong unfavorable predictions
    tn: float  # weight of right unfavorable predictions
    n_rows: int  # number of rows, whatever their weights
    codes: tuple[int, ...] = ()  # the groups of the predictions that it consists of
    source: Predictions | None = None  # predictions with its rows; None if only counts were stored
    conventions: Conventions = "betabench"  # values where a denominator is zero
    # shape (2, 2, 2, 2): the group's :attr:`GroupCounts.decisions`.
    decisions: NDArray[np.int64] | None = None
    smallest: int = 0  # shares of fewer people are undefined: a single person would change them too much

    @classmethod
    def of(
        cls,
        counts: GroupCounts,
        codes: Sequence[int],
        name: str,
        source: Predictions | None = None,
        conventions: Conventions = "betabench",
        smallest: int = 0,
    ) -> Self:
        """Return some groups of counts as one."""
        weight = counts.weight[list(codes)].sum(axis=0)
        (tn, fp), (fn, tp) = weight.tolist()
        n_rows = int(counts.rows[list(codes)].sum())
        decisions = None if counts.decisions is None else counts.decisions[list(codes)].sum(axis=0)
        return cls(name, tp, fp, fn, tn, n_rows, tuple(codes), source, conventions, decisions, smallest)

    @property
    def size(self) -> float:
        """Weight of the group."""
        return self.tp + self.fp + self.fn + self.tn

    @property
    def positives(self) -> float:
        """Weight of people with the favorable label."""
        return self.tp + self.fn

    @property
    def negatives(self) -> float:
        """Weight of people with the unfavorable label."""
        return self.fp + self.tn

    @property
    def predicted_positives(self) -> float:
        """Weight of people with a favorable prediction."""
        return self.tp + self.fp

    @property
    def predicted_negatives(self) -> float:
        """Weight of people with an unfavorable prediction."""
        return self.fn + self.tn

    @functools.cached_property
    def rows(self) -> Predictions:
        """The group's rows; undefined where only counts were stored."""
        if self.source is None:
            raise UndefinedMetricError("only counts were kept, and the metric needs the rows")
        return self.source.take(np.isin(self.source.codes, self.codes))

    def share(self, part: float, whole: float, who: str = "") -> float:
        """Return ``part / whole``, weights of people; undefined for 0 unless conventions define a value.

        ``who`` says in the reason whom ``whole`` counts: ``"with a favorable label"``.
        """
        if 0 < whole < self.smallest:
            several = who.replace("that is", "that are")  # other reasons are about one row
            raise UndefinedMetricError(f"fewer than {self.smallest} rows{several and ' ' + several}")
        if whole:
            return part / whole
        if self.conventions == "clarify":
            return math.inf if part else 0.0
        raise UndefinedMetricError(f"there is no row of {self.name}{who and ' ' + who}")

    def ratio(self, value: float, other: float, other_name: str) -> float:
        """Return ``value / other`` of two rates; undefined for 0 unless conventions define a value.

        ``other_name`` names ``other`` in the reason: ``"the selection rate of the favored group"``.
        """
        if other:
            return value / other
        if self.conventions == "clarify":
            return math.inf if value else 0.0
        if self.conventions == "aequitas" and value > 0:
            return 10.0
        raise UndefinedMetricError(f"{other_name} is 0")


def difference(value: float, other: float) -> float:
    """Return ``value - other``, or 0 if both are the same infinity."""
    return 0.0 if value == other else value - other


def require_rows(*groups: Group) -> None:
    """Raise :class:`UndefinedMetricError` if one of the groups is empty, which no convention allows."""
    for group in groups:
        if not group.size:
            raise UndefinedMetricError(f"there is no row of {group.name}")
