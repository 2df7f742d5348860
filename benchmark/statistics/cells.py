"""What results must look like, which of two values is better, and results as a matrix."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.columns import RESULT_COLUMNS
from benchmark.errors import StatisticsError, UnknownNameError

Array: TypeAlias = NDArray[np.float64]

SCENARIO = ("dataset", "bias", "classifier", "test")
"""What is never compared, nor pooled: a dataset under one kind of bias, one classifier and one test."""

ScenarioKey: TypeAlias = tuple[str, str, str, str]
"""Names in the columns of :data:`SCENARIO`."""

AXES = ("dataset", "bias", "beta", "classifier", "test")
"""What techniques at one level of bias have in common."""

WHERE = (*SCENARIO, "beta", "technique")
"""What the repetitions of a cell have in common; each has a value of every metric."""

CELL_KEY = ("dataset", "bias", "beta", "technique", "classifier", "test", "metric")
"""What the values of all repetitions have in common."""

DECIMALS = 12
"""Decimals to which distances to an ideal are ranked: those that differ by less differ by rounding only."""

ROUNDING = 1e-12
"""Share of their size below which two numbers are held equal: they differ by rounding only."""

NO_BASELINE = "the baseline has no results here"
NO_BETTER_VALUE = "no value of the metric is better than another"
"""Reasons why a technique cannot be compared."""


class Goal(Protocol):
    """Which values of a metric are good; every :class:`benchmark.metrics.Metric` is one."""

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
"""The goal of a number that is a distance or a gap already: 0."""


Baseline: TypeAlias = str | Mapping[str, str]
"""The technique that others are compared with, or by the name of each technique its own."""


def baseline_of(baseline: Baseline, techniques: pd.Series) -> pd.Series:
    """Return the baseline of each technique of a column; one that has none is compared with nothing."""
    if isinstance(baseline, str):
        return pd.Series(baseline, index=techniques.index, dtype=object)
    return techniques.map(dict(baseline)).fillna("")


def baseline_names(baseline: Baseline) -> tuple[str, ...]:
    """Return the techniques that others are compared with."""
    return (baseline,) if isinstance(baseline, str) else tuple(dict.fromkeys(baseline.values()))


@dataclass(frozen=True)
class Baselines:
    """What each technique is compared with, by dataset and classifier."""

    by: Mapping[tuple[str, str], Baseline]

    def column(self, frame: pd.DataFrame) -> pd.Series:
        """Return the baseline of each row of a frame with dataset, classifier and technique."""
        found = pd.Series("", index=frame.index, dtype=object)
        for rows, baseline in self.parts(frame):
            found[rows] = baseline_of(baseline, frame.loc[rows, "technique"])
        return found

    def parts(self, frame: pd.DataFrame) -> Iterator[tuple[NDArray[np.bool_], Baseline]]:
        """Yield masks of the rows that have one baseline, or one mapping of them; none is empty."""
        places = pd.MultiIndex.from_frame(frame[["dataset", "classifier"]])
        known = list(self.by.values())  # mappings have no hash
        for baseline in [own for i, own in enumerate(known) if own not in known[:i]]:
            rows = places.isin([place for place, own in self.by.items() if own == baseline])
            if rows.any():
                yield rows, baseline


@dataclass(frozen=True, eq=False)
class Resampling:
    """Repeated splits of the same rows, of which each repetition, or each of its folds, is one.

    ``overlaps`` are, for each dataset, the rows that a split tests over all other rows, however few of these
    a training sample has. ``n_folds`` are the datasets' numbers of folds, if any. ``folds``, with the columns
    :data:`~benchmark.columns.FOLD_COLUMNS`, are the values of single folds, which are the splits then.
    """

    overlaps: Mapping[str, float]
    n_folds: Mapping[str, int] | None = None
    folds: pd.DataFrame | None = None


@dataclass(frozen=True, eq=False)
class Cells:
    """Results with one row per cell and metric, and one column per repetition.

    The keys, columns :data:`CELL_KEY`, are in each scenario every combination of its levels of bias
    (ascending), its techniques and its metrics (as they first occur), so that a cell without any result has a
    row too.
    """

    keys: pd.DataFrame
    values: Array  # (n_rows, n_repetitions), NaN where there is no finite value
    n_expected: NDArray[np.int64]  # (n_rows,), number of repetitions of the scenario
    overlap: Array | None = None  # (n_rows,), of a Resampling; None where repetitions are independent
    of_folds: Array | None = None  # (n_rows, n_repetitions * most folds), where the splits are folds
    n_folds: NDArray[np.int64] | None = None  # (n_rows,), number of folds there

    @property
    def singles(self) -> Array:
        """Values of each split: those of the folds where there are some, else those of the repetitions."""
        return self.values if self.of_folds is None else self.of_folds

    @property
    def overlaps(self) -> Array:
        """Tested rows over all others, in repeated splits; 0 where repetitions are independent."""
        return np.zeros(len(self.keys)) if self.overlap is None else self.overlap

    @property
    def by_split(self) -> Self:
        """The same with a column for each split."""
        n_folds = 1 if self.n_folds is None else self.n_folds
        return replace(
            self, values=self.singles, n_expected=self.n_expected * n_folds, of_folds=None, n_folds=None
        )

    @property
    def n(self) -> NDArray[np.int64]:
        """Number of values of each row, shape (n_rows,)."""
        return np.asarray(np.isfinite(self.values).sum(axis=1))

    def where(self, **names: Sequence[str]) -> Self:
        """Return the rows whose keys have one of the given entries in every column named."""
        kept = np.ones(len(self.keys), dtype=bool)
        for column, entries in names.items():
            kept &= self.keys[column].isin(entries).to_numpy()
        return self.take(kept)

    def take(self, kept: NDArray[np.bool_]) -> Self:
        """Return the rows for which a mask of shape (n_rows,) is true."""
        keys = self.keys[kept].reset_index(drop=True)
        overlap, of_folds = (None if own is None else own[kept] for own in (self.overlap, self.of_folds))
        n_folds = None if self.n_folds is None else self.n_folds[kept]
        return type(self)(keys, self.values[kept], self.n_expected[kept], overlap, of_folds, n_folds)

    def find(self, **replaced: str | float | pd.Series) -> NDArray[np.intp]:
        """Return for each row the position of the one whose key has other entries; -1 if there is none."""
        index = pd.MultiIndex.from_frame(self.keys)
        found: NDArray[np.intp] = index.get_indexer(pd.MultiIndex.from_frame(self.keys.assign(**replaced)))
        return found

    def distances(self, goals: Mapping[str, Goal]) -> Array:
        """Return the :func:`distance` of each value; a metric without a goal is an error."""
        found = np.empty_like(self.values)
        for rows, goal in self._goals(goals):
            found[rows] = distance(self.values[rows], goal)
        return found

    def split_distances(self, goals: Mapping[str, Goal]) -> Array:
        """Return the distance of each split; its mean over folds is the distance of their repetition.

        Where being close to an ideal counts, a fold beyond the ideal counts against one before it, as in the
        repetition's value: its deviation has the sign that makes the repetition's a distance.
        """
        if self.of_folds is None:
            return self.distances(goals)
        found = np.empty_like(self.of_folds)
        for rows, goal in self._goals(goals):
            values = self.of_folds[rows]
            found[rows] = distance(values, goal)
            if goal.direction == "closer_to_ideal" and goal.ideal is not None:
                sides = np.where(self.values[rows] < goal.ideal, -1.0, 1.0)
                found[rows] = (values - goal.ideal) * np.repeat(
                    sides, values.shape[1] // sides.shape[1], axis=1
                )
        return found

    def _goals(self, goals: Mapping[str, Goal]) -> Iterator[tuple[NDArray[np.bool_], Goal]]:
        """Yield the rows of each metric and its goal."""
        for metric in self.keys["metric"].unique():
            yield (self.keys["metric"] == metric).to_numpy(), goal_of(goals, metric)


def distance(values: Array, goal: Goal) -> Array:
    r"""Return how far values are from the ideal, so that less is better for every metric.

    This is :math:`|v - v^*|` where being close to the ideal :math:`v^*` counts, :math:`v^* - v` where higher
    values are better and :math:`v - v^*` where lower ones are. Without a finite ideal, 0 takes its place:
    differences between two distances are the same for any. The distances are in the unit of the values, NaN
    where no value is better than another.
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
    """Return a metric's goal; that of ``"precision"`` for ``"precision[Female]"``."""
    name = metric.partition("[")[0]
    if name not in goals:
        raise UnknownNameError("metric", name, goals)
    return goals[name]


def require_known(kind: str, names: Sequence[str], known: pd.Series) -> None:
    """Raise :class:`UnknownNameError` for the first name that does not occur in a column of results."""
    for name in names:
        if name not in set(known):
            raise UnknownNameError(kind, name, set(known))


def known_baselines(cells: Cells, baseline: Baseline) -> pd.Series:
    """Return the baseline of each row; :class:`UnknownNameError` names one that does not occur."""
    names = baseline_of(baseline, cells.keys["technique"])
    require_known("technique", list(names.unique()), cells.keys["technique"])
    return names


def to_cells(results: pd.DataFrame | Cells, resampling: Resampling | None = None) -> Cells:
    """Return results as a matrix; one that is made already is returned as it is.

    Given ``resampling``, repetitions are repeated splits of the same rows.

    Values that are not finite count as missing, as if their rows were not there. A StatisticsError says that
    a column or every row is missing, two rows have one key, or a value is no number.
    """
    if isinstance(results, Cells):
        return results
    table = _checked(results)
    grids, expected = [], []
    for _, own in table.groupby(list(SCENARIO), sort=False):
        levels = [np.sort(own["beta"].unique()), own["technique"].unique(), own["metric"].unique()]
        grid = pd.MultiIndex.from_product(levels, names=["beta", "technique", "metric"]).to_frame(index=False)
        grids.append(grid.assign(**own.iloc[0][list(SCENARIO)])[list(CELL_KEY)])
        expected.append(np.full(len(grid), own["repetition"].nunique(), dtype=np.int64))
    keys = pd.concat(grids, ignore_index=True)
    rows = pd.MultiIndex.from_frame(keys).get_indexer(pd.MultiIndex.from_frame(table[list(CELL_KEY)]))
    repetitions, columns = np.unique(table["repetition"].to_numpy(), return_inverse=True)
    values = np.full((len(keys), len(repetitions)), np.nan)
    values[rows, columns] = table["value"].to_numpy()
    cells = Cells(keys, values, np.concatenate(expected))
    return cells if resampling is None else _of_splits(cells, repetitions, resampling)


def _of_splits(cells: Cells, repetitions: NDArray[np.int64], resampling: Resampling) -> Cells:
    overlap = np.array([resampling.overlaps[str(name)] for name in cells.keys["dataset"]], dtype=np.float64)
    if resampling.n_folds is None:
        return replace(cells, overlap=overlap)
    n_folds = np.array([resampling.n_folds[str(name)] for name in cells.keys["dataset"]], dtype=np.int64)
    found = np.full((*cells.values.shape, n_folds.max(initial=1)), np.nan)
    if (folds := resampling.folds) is not None:
        rows = pd.MultiIndex.from_frame(cells.keys).get_indexer(
            pd.MultiIndex.from_frame(folds[list(CELL_KEY)])
        )
        columns = pd.Index(repetitions).get_indexer(pd.Index(folds["repetition"]))
        known = (rows >= 0) & (columns >= 0)
        places = rows[known], columns[known], folds["fold"].to_numpy(dtype=np.intp)[known]
        found[places] = folds["value"].to_numpy(dtype=float)[known]
    # What is left out of the repetitions is left out of their folds.
    found = np.where(np.isfinite(found) & np.isfinite(cells.values)[:, :, None], found, np.nan)
    return replace(cells, overlap=overlap, of_folds=found.reshape(len(found), -1), n_folds=n_folds)


def of_rows(
    values: Array,
    statistic: Callable[[Array], Array],
    *,
    least: int = 1,
) -> Array:
    """Return a statistic of each row's finite values, NaN where there are fewer than ``least``.

    The statistic is given blocks of shape (n_rows, n) without gaps, and returns one number for each row.
    """
    finite = np.isfinite(values)
    counts = finite.sum(axis=1)
    found = np.full(len(values), np.nan)
    for n in np.unique(counts[counts >= least]):
        rows = counts == n
        found[rows] = statistic(values[rows][finite[rows]].reshape(-1, n))
    return found


def row_means(values: Array) -> Array:
    """Return the mean of each row's finite values, NaN where there is none."""
    return of_rows(values, lambda block: block.mean(axis=1))


def all_equal(values: Array) -> NDArray[np.bool_]:
    """Return whether each row's values are equal but for rounding; False where there is none."""
    high, low = np.fmax.reduce(values, axis=1), np.fmin.reduce(values, axis=1)
    return np.asarray(high - low <= ROUNDING * np.maximum(np.abs(high), np.abs(low)))


def first_true(conditions: Mapping[str, Any], otherwise: str = "") -> NDArray[np.str_]:
    """Return of each row the name of the first condition, a mask, that is true there."""
    names: Any = list(conditions)
    return np.select(list(conditions.values()), names, otherwise)


def _checked(results: pd.DataFrame) -> pd.DataFrame:
    if missing := [column for column in RESULT_COLUMNS if column not in results.columns]:
        raise StatisticsError(
            "The results lack columns",
            expected=", ".join(RESULT_COLUMNS),
            got="no " + ", no ".join(missing),
            remedy="read the results.csv of a run",
        )
    if results.empty:
        raise StatisticsError("There are no results", expected="at least one row", got="none")
    table = with_numbers(results)
    require_unique("results", table, RESULT_COLUMNS[:-1])
    table["value"] = table["value"].where(np.isfinite(table["value"]))
    return table


def with_numbers(results: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of results in a new frame, with float values; others are a StatisticsError."""
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
    return table


def require_unique(content: str, frame: pd.DataFrame, key: Sequence[str]) -> None:
    """Raise a StatisticsError that names a frame's content if two rows have the same key."""
    repeated = frame.duplicated(list(key))
    if repeated.any():
        first = frame.loc[repeated, list(key)].iloc[0]
        raise StatisticsError(
            f"The {content} hold several rows of one key",
            expected="distinct " + ", ".join(key),
            got=f"{int(repeated.sum())} repeated, the first is " + ", ".join(f"{k}={first[k]}" for k in key),
            remedy="use the results of one store only",
        )
