"""Techniques over several datasets: average ranks, groups that do not differ, practical equivalence."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.errors import StatisticsError, UnknownNameError
from benchmark.statistics.bayes import N_SAMPLES, ROPE, signed_rank_probabilities
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

_PAIR = ("first", "second")


@dataclass(frozen=True, eq=False)
class _Ranking:
    """Mean distances to the ideal by block and technique, for one comparison."""

    key: dict[str, object]
    techniques: list[str]
    distances: Array  # (n_blocks, n_techniques), nothing missing
    n_datasets: int
    left_out: dict[str, tuple[object, ...]]  # techniques, and the first block without a value of each

    @property
    def pairs(self) -> Iterator[tuple[str, str]]:
        return itertools.combinations(self.techniques, 2)

    @property
    def n_pairs(self) -> int:
        return math.comb(len(self.techniques), 2)

    @cached_property
    def improvements(self) -> Array:
        """Improvement of the first technique of each pair over the second, shape (n_pairs, n_blocks)."""
        first, second = np.triu_indices(len(self.techniques), 1)
        return np.asarray(self.distances.T[second] - self.distances.T[first])

    @cached_property
    def mean_ranks(self) -> Array:
        """Mean over the blocks of each technique's rank; the nearest to the ideal has rank 1."""
        from scipy.stats import rankdata

        return rankdata(self.distances, axis=1).mean(axis=0) if self.techniques else np.empty(0)

    @cached_property
    def p_values(self) -> tuple[Array, Array]:
        """The p-value of each pair, raw and with Holm's correction."""
        raw = wilcoxon_p_values(self.improvements, "zsplit") if self.n_pairs else np.empty(0)
        return raw, holm(raw)

    def rows(self, columns: Sequence[str], values: Iterable[Sequence[object]]) -> list[dict[str, object]]:
        """Return rows of some columns, with the comparison's key and numbers of blocks and datasets."""
        head = {**self.key, "n_blocks": len(self.distances), "n_datasets": self.n_datasets}
        return [{**head, **dict(zip(columns, row, strict=True))} for row in values]


@dataclass(frozen=True, eq=False)
class Rankings:
    """Mean distances of all techniques to the ideals, by block: the input of the functions below.

    A block is one dataset, or another combination of the axes that :func:`rankings` was given. Each
    combination of the axes in ``fixed`` is compared by itself.
    """

    fixed: list[str]
    over: list[str]
    each: list[_Ranking]

    def table(self, rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> pd.DataFrame:
        """Return rows as a frame whose first columns are the axes in ``fixed``."""
        return pd.DataFrame(list(rows), columns=[*self.fixed, *columns])


def rankings(
    results: pd.DataFrame | Cells, goals: Mapping[str, Goal], *, over: Sequence[str] = ("dataset",)
) -> Rankings:
    """Return the blocks over which techniques are compared.

    Techniques are compared by the mean over the repetitions of the
    :func:`~benchmark.statistics.cells.distance` to the metric's ideal. A technique without a value in some
    block is left out, and so is a metric without better or worse values. Blocks are made of the axes
    ``over``: ``"dataset"`` and any of ``"bias"``, ``"beta"``, ``"classifier"``, ``"test"``. Each combination
    of the other axes has a ranking of its own. A StatisticsError says as well that the axes of blocks are
    impossible.
    """
    for axis in over:
        if axis not in AXES:
            raise UnknownNameError("axis", axis, AXES)
    if "dataset" not in over:
        raise StatisticsError(
            "Techniques are compared over no datasets",
            expected="'dataset' among the axes that blocks are made of",
            got=", ".join(over) or "none",
            remedy="add 'dataset' to them",
        )
    cells = to_cells(results)
    # Equal means whose sums were rounded otherwise share a rank.
    means = cells.keys.assign(distance=np.round(row_means(cells.distances(goals)), DECIMALS))
    undirected = [name for name in means["metric"].unique() if goal_of(goals, name).direction == "none"]
    means = means[~means["metric"].isin(undirected)]
    fixed = [*(axis for axis in AXES if axis not in over), "metric"]
    each = []
    for names, distances in means.groupby(fixed, sort=False):
        wide = distances.pivot(index=list(over), columns="technique", values="distance")
        wide = wide[distances["technique"].unique()]
        gaps = wide.isna()
        left_out = {
            str(technique): block if isinstance(block := wide.index[gaps[technique]][0], tuple) else (block,)
            for technique in wide.columns[gaps.any()]
        }
        wide = wide.drop(columns=list(left_out))
        each.append(
            _Ranking(
                dict(zip(fixed, names, strict=True)),
                [str(technique) for technique in wide.columns],
                wide.to_numpy(),
                wide.index.get_level_values("dataset").nunique(),
                left_out,
            )
        )
    return Rankings(fixed, list(over), each)


def average_ranks(rankings: Rankings) -> pd.DataFrame:
    """Return the average ranks of techniques over the blocks, best first.

    Rank 1 is the best, and ties share their average. The columns are named as in ``ranks.csv``. ``reason`` is
    :data:`NO_VALUE` where a technique has no rank, and columns such as ``reason_dataset`` have the first
    block without a value. Demsar (2006), Statistical comparisons of classifiers over multiple data sets,
    section 3.2.2.
    """
    blocks = [f"reason_{axis}" for axis in rankings.over]
    columns = ("technique", "mean_rank", "mean_distance", "reason", *blocks)
    no_block = [None] * len(blocks)
    rows: list[dict[str, object]] = []
    for ranking in rankings.each:
        ranks, means = ranking.mean_ranks, row_means(ranking.distances.T)
        best_first = np.argsort(ranks, kind="stable")
        rows += ranking.rows(
            columns, [(ranking.techniques[i], ranks[i], means[i], "", *no_block) for i in best_first]
        )
        rows += ranking.rows(
            columns,
            [(name, math.nan, math.nan, NO_VALUE, *block) for name, block in ranking.left_out.items()],
        )
    return rankings.table(rows, [*columns[:3], "n_blocks", "n_datasets", *columns[3:]])


def friedman_tests(rankings: Rankings, *, alpha: float = ALPHA) -> pd.DataFrame:
    """Return tests of whether the techniques of :func:`average_ranks` have the same ranks.

    The columns are the axes that are not pooled and ``metric``; ``n_blocks``, ``n_datasets``,
    ``n_techniques``; the fields of :class:`~benchmark.statistics.hypothesis_tests.Friedman`; ``reason`` for
    NaN; and ``datasets_needed`` (:func:`repetitions_needed`), so that one of the pairs of techniques can
    differ at the level ``alpha``.
    """
    columns = ("n_techniques", "chi2", "p_chi2", "df", "f", "p_f", "df_error", "reason", "datasets_needed")
    rows: list[dict[str, object]] = []
    for ranking in rankings.each:
        n_blocks, k = ranking.distances.shape
        reason = "few_blocks" if n_blocks < 2 else "few_techniques" if k < 2 else ""
        numbers = [math.nan] * 6 if reason else astuple(friedman(ranking.distances))
        if not reason and math.isnan(numbers[0]):
            reason = "all_equal"
        needed = repetitions_needed(max(1, ranking.n_pairs), alpha)
        rows += ranking.rows(columns, [(k, *numbers, reason, needed)])
    return rankings.table(rows, ["n_blocks", "n_datasets", *columns])


def pairwise_tests(rankings: Rankings) -> pd.DataFrame:
    """Return Wilcoxon's signed-rank tests of each pair of techniques over the blocks.

    Columns are named as in ``pairs.csv``. ``improvement`` is the mean by which ``first`` is nearer to the
    ideal. ``p_wilcoxon`` is two-sided, and a block without a difference counts half for each technique.
    Holm's correction is for all pairs of one comparison.

    Demsar (2006), section 3.1.3; Benavoli, Corani and Mangili (2016), Should we really use post-hoc tests
    based on mean-ranks?
    """
    columns = ("improvement", "p_wilcoxon", "p_wilcoxon_holm", "reason")
    rows: list[dict[str, object]] = []
    for ranking in rankings.each:
        means, (raw, corrected) = row_means(ranking.improvements), ranking.p_values
        reasons = np.where(np.isnan(raw), "all_zero", "")
        tests = zip(ranking.pairs, means, raw, corrected, reasons, strict=True)
        rows += ranking.rows((*_PAIR, *columns), [(*pair, *numbers) for pair, *numbers in tests])
    return rankings.table(rows, [*_PAIR, "n_blocks", "n_datasets", *columns])


def rank_groups(rankings: Rankings, *, alpha: float = ALPHA) -> pd.DataFrame:
    """Return the techniques that a rank diagram joins by bars: neighbors in rank that do not differ.

    ``alpha`` is the level at which two techniques of :func:`pairwise_tests` differ, with Holm's correction.

    The columns are the axes that are not pooled and ``metric``; ``group``, numbered from 1, best first;
    ``technique`` and ``mean_rank``. A technique is in several groups or in none; see
    :func:`unbroken_groups`.
    """
    columns = ("group", "technique", "mean_rank")
    rows: list[dict[str, object]] = []
    for ranking in rankings.each:
        k, ranks = len(ranking.techniques), ranking.mean_ranks
        order = np.argsort(ranks, kind="stable")
        differ = np.zeros((k, k), dtype=bool)
        differ[np.triu_indices(k, 1)] = ranking.p_values[1] <= alpha  # False for NaN: nothing differs
        differ |= differ.T
        for number, group in enumerate(unbroken_groups(differ[np.ix_(order, order)]), start=1):
            members = [(number, ranking.techniques[i], ranks[i]) for i in order[group]]
            rows += ranking.rows(columns, members)
    return rankings.table(rows, columns)


def bayesian_comparisons(
    rankings: Rankings, *, rope: float = ROPE, n_samples: int = N_SAMPLES
) -> pd.DataFrame:
    """Return Bayesian signed-rank tests of each pair of techniques over the blocks.

    Columns are named as in ``pairs.csv``. Over few datasets the prior weighs much.
    :func:`~benchmark.statistics.bayes.signed_rank_probabilities` explains settings and their errors.
    Benavoli, Corani, Demsar and Zaffalon (2017), Time for a change, JMLR 18(77), section 4.2.
    """
    columns = ("improvement", "p_first", "p_rope", "p_second")
    rows: list[dict[str, object]] = []
    for ranking in rankings.each:
        probabilities = signed_rank_probabilities(ranking.improvements, rope=rope, n_samples=n_samples)
        compared = zip(ranking.pairs, ranking.improvements, probabilities, strict=True)
        rows += ranking.rows(
            (*_PAIR, *columns),
            [
                (*pair, improvements.mean(), first, neither, second)
                for pair, improvements, (second, neither, first) in compared
            ],
        )
    return rankings.table(rows, [*_PAIR, "n_blocks", "n_datasets", *columns])


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


def smallest_p_value(n: int) -> float:
    """Return the smallest two-sided p-value of n differences: 2 of the 2**n sign patterns."""
    return min(1.0, 2.0 / 2.0**n)


def repetitions_needed(n_tests: int, alpha: float = ALPHA) -> int:
    r"""Return how many repetitions a test needs to be significant at all among ``n_tests`` tests.

    This is the smallest number n with :math:`2 / 2^n \le \alpha / m`: Holm's correction requires this of the
    smallest of m p-values. It holds for sign flips and signed ranks, and for datasets in place of
    repetitions.
    """
    n = 1
    while smallest_p_value(n) > alpha / n_tests:
        n += 1
    return n
