"""Results as a matrix, the columns that they must have, and which of two values is better."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.columns import BLIND, RESULT_COLUMNS
from benchmark.errors import StatisticsError, UnknownNameError

Array: TypeAlias = NDArray[np.float64]

SCENARIO = ("dataset", "bias", "classifier", "test")
"""A dataset under one kind of bias, one classifier and one test. Scenarios are never compared nor pooled."""

ScenarioKey: TypeAlias = tuple[str, str, str, str]
"""Names in the columns of :data:`SCENARIO`."""

PLANTED = ("dataset", "bias", "level")
"""Columns of a level of bias that is planted in a dataset."""

AXES = (*PLANTED, "classifier", "test")
"""Columns that techniques at one level of bias share."""

WHERE = (*SCENARIO, "level", "technique")
"""Columns that the repetitions of a cell share; each repetition has a value of every metric."""

CELL_KEY = tuple(column for column in RESULT_COLUMNS[:-1] if column != "repetition")
"""Columns that the values of all repetitions share."""

DECIMALS = 12
"""Decimals of distances when ranked: a smaller difference is rounding."""

ROUNDING = 1e-12
"""Relative difference below which two numbers are equal but for rounding."""


class Goal(Protocol):
    """A metric's best value and direction; every :class:`benchmark.metrics.Metric` is one."""

    @property
    def ideal(self) -> float | None:
        """Best value, if there is one."""

    @property
    def direction(self) -> str:
        """``"higher"``, ``"lower"``, ``"closer_to_ideal"``, or ``"none"`` where no value is better."""


@dataclass(frozen=True)
class _Least:
    ideal: float = 0.0
    direction: str = "lower"


LEAST: Goal = _Least()
"""The goal of a number that is itself a distance or a gap: 0."""


@dataclass(frozen=True)
class Baselines:
    """The technique that all others are compared with, by dataset and classifier."""

    by: Mapping[tuple[str, str], str]
    # Doing nothing, where techniques are compared with another: without planted bias, these are the clean
    # models.
    untreated: Mapping[tuple[str, str], str] | None = None
    # Classifiers that are learners of techniques' own: tests of all of them are one family.
    learners: frozenset[str] = frozenset()

    @property
    def of_clean_models(self) -> Self:
        """The techniques whose models without planted bias are the clean models."""
        return self if self.untreated is None else type(self)(self.untreated, learners=self.learners)

    def column(self, frame: pd.DataFrame) -> pd.Series:
        """Return the baseline of each row of a frame with dataset, classifier and technique."""
        column = pd.Series("", index=frame.index, dtype=object)
        for rows, baseline in self.parts(frame):
            column[rows] = baseline
        return column

    def parts(self, frame: pd.DataFrame) -> Iterator[tuple[NDArray[np.bool_], str]]:
        """Yield masks of the rows that share one baseline; none is empty."""
        index = pd.MultiIndex.from_frame(frame[["dataset", "classifier"]])
        for baseline in dict.fromkeys(self.by.values()):
            rows = index.isin([names for names, other in self.by.items() if other == baseline])
            if rows.any():
                yield rows, baseline


@dataclass(frozen=True, eq=False)
class Resampling:
    """Repeated splits of the same rows; each repetition, or each of its folds, is a split.

    ``overlaps`` are, for each dataset, the number of rows that a split tests over the number of all others,
    also for small training samples. ``n_folds`` are numbers of folds by dataset, if any. ``folds`` are then
    the values of single folds, with columns :data:`~benchmark.columns.FOLD_COLUMNS`.
    """

    overlaps: Mapping[str, float]
    n_folds: Mapping[str, int] | None = None
    folds: pd.DataFrame | None = None

    def changed(self, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Self:
        """Return the same splits with the values of single folds, if any, as a function returns them."""
        return self if self.folds is None else replace(self, folds=change(self.folds))


@dataclass(frozen=True, eq=False)
class Cells:
    """Results with one row per cell and metric, and one column per repetition.

    The keys, columns :data:`CELL_KEY`, have for each scenario every combination of its levels of bias
    (ascending), techniques and metrics (in order of occurrence). So a cell without any result has a row too.
    """

    keys: pd.DataFrame
    values: Array  # (n_rows, n_repetitions), NaN where there is no finite value
    n_expected: NDArray[np.int64]  # (n_rows,), number of repetitions of the scenario
    overlap: Array | None = None  # (n_rows,), of a Resampling; None where repetitions are independent
    of_folds: Array | None = None  # (n_rows, n_repetitions * most folds), where the splits are folds
    n_folds: NDArray[np.int64] | None = None  # (n_rows,), number of folds there

    @property
    def singles(self) -> Array:
        """Values of each split: folds where there are some, else repetitions."""
        return self.values if self.of_folds is None else self.of_folds

    @property
    def overlaps(self) -> Array:
        """Number of tested rows over all other rows, in repeated splits; 0 for independent repetitions."""
        return np.zeros(len(self.keys)) if self.overlap is None else self.overlap

    @property
    def n(self) -> NDArray[np.int64]:
        """Number of values of each row, shape (n_rows,)."""
        return np.asarray(np.isfinite(self.values).sum(axis=1))

    def where(self, **names: Sequence[str]) -> Self:
        """Return the rows whose keys have one of the given entries in every named column."""
        mask = np.ones(len(self.keys), dtype=bool)
        for column, entries in names.items():
            mask &= self.keys[column].isin(entries).to_numpy()
        return self.take(mask)

    def take(self, mask: NDArray[np.bool_]) -> Self:
        """Return the rows for which a mask of shape (n_rows,) is true."""
        keys = self.keys[mask].reset_index(drop=True)
        overlap, of_folds = (None if a is None else a[mask] for a in (self.overlap, self.of_folds))
        n_folds = None if self.n_folds is None else self.n_folds[mask]
        return type(self)(keys, self.values[mask], self.n_expected[mask], overlap, of_folds, n_folds)

    def find(self, **replaced: str | float | pd.Series) -> NDArray[np.intp]:
        """Return for each row the position of the row whose key has the replaced entries; -1 without one."""
        return positions_in(self.keys, self.keys.assign(**replaced), CELL_KEY)

    def distances(self, goals: Mapping[str, Goal], *, of_splits: bool = False) -> Array:
        """Return the :func:`distance` of each value, or of each split; a metric without a goal is an error.

        The mean of splits over folds is the distance of their repetition. Where closeness to an ideal counts,
        deviations of folds keep a sign, so that a fold above the ideal offsets one below it. The sign makes
        the repetition's mean deviation a distance.
        """
        values = self.singles if of_splits else self.values
        distances = np.empty_like(values)
        n_folds = values.shape[1] // self.values.shape[1]
        for metric in self.keys["metric"].unique():
            rows, goal = (self.keys["metric"] == metric).to_numpy(), goal_of(goals, metric)
            distances[rows] = distance(values[rows], goal)
            if goal.direction == "closer_to_ideal" and goal.ideal is not None:
                sides = np.where(self.values[rows] < goal.ideal, -1.0, 1.0)
                distances[rows] = (values[rows] - goal.ideal) * np.repeat(sides, n_folds, axis=1)
        return distances


def distance(values: Array, goal: Goal) -> Array:
    r"""Return how far values are from the ideal, so that less is better for every metric.

    This is :math:`|v - v^*|` where closeness to the ideal :math:`v^*` counts, :math:`v^* - v` where higher
    values are better, and :math:`v - v^*` where lower values are. Without a finite ideal, 0 takes its place:
    differences between two distances are the same for any. The unit is the metric's; NaN where no value is
    better than another.
    """
    ideal = goal.ideal if goal.ideal is not None and np.isfinite(goal.ideal) else 0.0
    if goal.direction == "higher":
        return ideal - values
    if goal.direction == "lower":
        return values - ideal
    if goal.direction == "closer_to_ideal" and goal.ideal is not None:
        return np.abs(values - goal.ideal)
    return np.full_like(values, np.nan)


def goal_of(goals: Mapping[str, Goal], metric: str) -> Goal:
    """Return a metric's goal; ``"precision[Female]"`` has the goal of ``"precision"``."""
    name = metric.partition("[")[0]
    if name not in goals:
        raise UnknownNameError("metric", name, goals)
    return goals[name]


def require_known(kind: str, names: Sequence[str], column: pd.Series) -> None:
    """Raise :class:`UnknownNameError` for the first name that does not occur in a column of results."""
    for name in names:
        if name not in set(column):
            raise UnknownNameError(kind, name, set(column))


def to_cells(results: pd.DataFrame | Cells, resampling: Resampling | None = None) -> Cells:
    """Return results as a matrix; a matrix is returned as it is.

    If ``resampling`` is given, repetitions are repeated splits of the same rows. Values that are not finite
    count as missing. A StatisticsError says that a column or every row is missing, two rows have one key, or
    a value is no number.
    """
    if isinstance(results, Cells):
        return results
    table = _checked(results)
    grids, expected = [], []
    for _, rows in table.groupby(list(SCENARIO), sort=False):
        levels = [np.sort(rows["level"].unique()), rows["technique"].unique(), rows["metric"].unique()]
        grid = pd.MultiIndex.from_product(levels, names=["level", "technique", "metric"]).to_frame(
            index=False
        )
        grids.append(grid.assign(**rows.iloc[0][list(SCENARIO)])[list(CELL_KEY)])
        expected.append(np.full(len(grid), rows["repetition"].nunique(), dtype=np.int64))
    keys = pd.concat(grids, ignore_index=True)
    positions = positions_in(keys, table, CELL_KEY)
    repetitions, columns = np.unique(table["repetition"].to_numpy(), return_inverse=True)
    values = np.full((len(keys), len(repetitions)), np.nan)
    values[positions, columns] = table["value"].to_numpy()
    cells = Cells(keys, values, np.concatenate(expected))
    return cells if resampling is None else _of_splits(cells, repetitions, resampling)


def _of_splits(cells: Cells, repetitions: NDArray[np.int64], resampling: Resampling) -> Cells:
    overlap = np.array([resampling.overlaps[str(name)] for name in cells.keys["dataset"]], dtype=np.float64)
    if resampling.n_folds is None:
        return replace(cells, overlap=overlap)
    n_folds = np.array([resampling.n_folds[str(name)] for name in cells.keys["dataset"]], dtype=np.int64)
    values = np.full((*cells.values.shape, n_folds.max(initial=1)), np.nan)
    if (folds := resampling.folds) is not None:
        rows = positions_in(cells.keys, folds, CELL_KEY)
        columns = pd.Index(repetitions).get_indexer(pd.Index(folds["repetition"]))
        is_cell = (rows >= 0) & (columns >= 0)
        positions = rows[is_cell], columns[is_cell], folds["fold"].to_numpy(dtype=np.intp)[is_cell]
        values[positions] = folds["value"].to_numpy(dtype=float)[is_cell]
    # A value that is left out of the repetitions is left out of their folds.
    values = np.where(np.isfinite(values) & np.isfinite(cells.values)[:, :, None], values, np.nan)
    return replace(cells, overlap=overlap, of_folds=values.reshape(len(values), -1), n_folds=n_folds)


def positions_in(frame: pd.DataFrame, others: pd.DataFrame, key: Sequence[str]) -> NDArray[np.intp]:
    """Return for each row of ``others`` the position in ``frame`` of the row with its key; -1 without one."""
    index, keys = (pd.MultiIndex.from_frame(rows[list(key)]) for rows in (frame, others))
    return np.asarray(index.get_indexer(keys), dtype=np.intp)


def of_rows(values: Array, statistic: Callable[[Array], Array], *, least: int = 1) -> Array:
    """Return a statistic of each row's finite values, NaN where there are fewer than ``least``.

    The statistic takes blocks of shape (n_rows, n) without gaps, and returns one number for each row.
    """
    finite = np.isfinite(values)
    counts = finite.sum(axis=1)
    statistics = np.full(len(values), np.nan)
    for n in np.unique(counts[counts >= least]):
        rows = counts == n
        statistics[rows] = statistic(values[rows][finite[rows]].reshape(-1, n))
    return statistics


def row_means(values: Array) -> Array:
    """Return the mean of each row's finite values, NaN where there is none."""
    return of_rows(values, lambda block: block.mean(axis=1))


def all_equal(values: Array) -> NDArray[np.bool_]:
    """Return whether each row's values are equal but for rounding; False for a row without values."""
    high, low = np.fmax.reduce(values, axis=1), np.fmin.reduce(values, axis=1)
    return np.asarray(high - low <= ROUNDING * np.maximum(np.abs(high), np.abs(low)))


def first_true(conditions: Mapping[str, Any]) -> NDArray[np.str_]:
    """Return for each row the name of the first condition, a mask, that is true there; empty without one."""
    names: Any = list(conditions)
    return np.select(list(conditions.values()), names, "")


def known_of(frame: pd.DataFrame, knowledge: Mapping[str, str]) -> pd.Series:
    """Return what the technique of each row is told about the bias; others than those given know nothing."""
    words = [knowledge.get(name, BLIND) for name in frame["technique"]]
    return pd.Series(words, index=frame.index, dtype=object)


def _checked(results: pd.DataFrame) -> pd.DataFrame:
    require_unique("results", results, RESULT_COLUMNS[:-1], RESULT_COLUMNS)
    if results.empty:
        raise StatisticsError("There are no results", expected="at least one row", got="none")
    table = results[list(RESULT_COLUMNS)].copy()
    try:
        table["value"] = table["value"].astype(float)
    except (TypeError, ValueError) as error:
        raise StatisticsError(
            "The results hold values that are not numbers",
            expected="floats or NaN",
            got=str(error),
            remedy="leave these rows out, or give their reasons as failures",
        ) from error
    table["value"] = table["value"].where(np.isfinite(table["value"]))
    return table


def require_unique(
    content: str, frame: pd.DataFrame, key: Sequence[str], columns: Sequence[str] = ()
) -> None:
    """Raise a StatisticsError that names the content of a frame that lacks columns, or has a key twice."""
    if missing := [column for column in columns if column not in frame.columns]:
        raise StatisticsError(
            f"The {content} lack columns",
            expected=", ".join(columns),
            got="no " + ", no ".join(missing),
            remedy=f"read the {content}.csv of a run",
        )
    repeated = frame.duplicated(list(key))
    if repeated.any():
        first = frame.loc[repeated, list(key)].iloc[0]
        raise StatisticsError(
            f"The {content} hold several rows of one key",
            expected="distinct " + ", ".join(key),
            got=f"{int(repeated.sum())} repeated, the first is " + ", ".join(f"{k}={first[k]}" for k in key),
            remedy="use the results of one store only",
        )
