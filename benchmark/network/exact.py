"""The best of all structures, by dynamic programming over sets of columns."""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from benchmark.errors import NetworkError
from benchmark.network.structure_scores import Constraints, Rows, SetScores, score_counts

MAX_COLUMNS = 16
"""Most columns of an exact search: each further column doubles time and memory."""

_SLACK = 1e-9  # nats per row by which rounding may lower a bound


def optimal_parents(scores: SetScores, constraints: Constraints) -> tuple[int, ...]:
    """Return the parents of each column, as bit masks, in a structure of highest score.

    The sets that matter are counted into ``scores``. Of equal parent sets the smallest mask wins, with column
    0 as the lowest bit; of equal sinks the lowest column. A NetworkError means more than 16 columns.

    Silander & Myllymäki 2006: the best parents within each set of candidates, then the best sink of each set
    of columns. Parent sets that no structure needs are neither counted nor scored; see :func:`_useful`.
    """
    n_columns = scores.rows.n_columns
    if n_columns > MAX_COLUMNS:
        raise NetworkError(
            "The table has too many columns for the exact search",
            expected=f"at most {MAX_COLUMNS} columns",
            got=f"{n_columns}",
            remedy="use algorithm='tabu' with restarts, or select columns",
        )
    useful = _useful(scores, constraints)
    values = _count_sets(scores, useful)
    families = _score_families(values, useful, constraints)
    best, choice = _best_parents(families)
    sinks = _best_sinks(best)
    parents = [0] * n_columns
    remaining = (1 << n_columns) - 1
    for _ in range(n_columns):
        sink = int(sinks[remaining])
        remaining ^= 1 << sink
        parents[sink] = int(choice[sink, remaining])
    return tuple(parents)


def _useful(scores: SetScores, constraints: Constraints) -> NDArray[np.bool_]:
    """Return a mask of the parent sets that a best structure can have, shape (n_columns, 2**n_columns).

    A set of parents is useless if no superset scores above the required parents alone. Its supersets are then
    useless, too. With r states of the child and q configurations of the parents:

    - BIC: a superset gains at most the log-likelihood of all columns as parents and loses at least
      ln(n)/2 (r - 1) q (de Campos & Ji 2011, who bound the log-likelihood by 0).
    - BDeu: within a configuration of the parents, the first row's state has predictive probability 1/r and
      each further state's first row less, so that the score is at most -ln r times the number of
      configurations of child and parents that occur. That number is at least the distinct rows divided by the
      configurations of all other columns.
    """
    rows = scores.rows
    all_columns = (1 << rows.n_columns) - 1
    sets = np.arange(all_columns + 1)
    cells = _products(rows.cardinalities)
    sizes = sum(sets >> column & 1 for column in range(rows.n_columns))
    useful = np.empty((rows.n_columns, all_columns + 1), dtype=np.bool_)
    for child, (required, allowed) in enumerate(zip(constraints.required, constraints.allowed, strict=True)):
        r = rows.cardinalities[child]
        if scores.name == "bic":
            parents = rows.grouped(all_columns ^ 1 << child).weights
            ceiling = score_counts(rows.weights, 0.0) - score_counts(parents, 0.0)
            bound = ceiling - scores.penalty * (r - 1) * cells
        else:
            occurring = np.maximum(1.0, len(rows.weights) / cells[all_columns & ~(sets | 1 << child)])
            bound = -math.log(r) * occurring
        legal = (sets & ~allowed == 0) & (sizes <= constraints.max_indegree)
        useful[child] = legal & (bound >= scores.family(child, required) - _SLACK * rows.total)
    return useful


def _products(cardinalities: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the product of the cardinalities of every set of columns, shape (2**n_columns,)."""
    products = np.ones(1)
    for cardinality in cardinalities:
        products = np.concatenate([products, products * cardinality])
    return products


def _count_sets(scores: SetScores, useful: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return F of every set that a useful family needs, NaN for others, shape (2**n_columns,).

    Columns leave the table one by one, so that each set is counted from the distinct rows of a slightly
    larger set instead of from all rows.
    """
    rows = scores.rows
    # Subsets of needed sets are needed: a set that is not needed has no needed superset.
    needed: NDArray[np.bool_] = np.logical_or.reduce(useful)
    for child, row in enumerate(useful):
        needed[np.flatnonzero(row) | 1 << child] = True
    values = np.full(len(needed), np.nan)
    # The column of most states is decided first: without it the table shrinks most.
    order = sorted(range(rows.n_columns), key=lambda column: (rows.cardinalities[column], column))

    def decide(mask: int, undecided: int, rows: Rows) -> None:
        if undecided == 0:
            values[mask] = scores.record(mask, rows.weights)
            return
        column = order[undecided - 1]
        rest = mask
        for other in order[: undecided - 1]:
            rest |= 1 << other
        decide(mask, undecided - 1, rows.grouped(rest))
        if needed[mask | 1 << column]:
            decide(mask | 1 << column, undecided - 1, rows)

    decide(0, rows.n_columns, rows)
    return values


def _score_families(
    values: NDArray[np.float64], useful: NDArray[np.bool_], constraints: Constraints
) -> NDArray[np.float64]:
    """Return the score of every useful family, -inf for all others, shape (n_columns, 2**n_columns)."""
    sets = np.arange(len(values))
    families = np.full(useful.shape, -np.inf)
    for child, required in enumerate(constraints.required):
        parents = np.flatnonzero(useful[child] & (sets & required == required))
        families[child, parents] = values[parents | 1 << child] - values[parents]
    return families


@njit(cache=True, nogil=True)
def _best_parents(families: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return score and mask of the best parents of each column within each set of candidates."""
    n_columns, n_sets = families.shape
    best = families.copy()
    choice = np.empty((n_columns, n_sets), dtype=np.int64)
    for child in range(n_columns):
        for candidates in range(n_sets):
            choice[child, candidates] = candidates
            if candidates >> child & 1:
                continue
            for column in range(n_columns):
                if candidates >> column & 1:
                    fewer = candidates ^ (1 << column)
                    # Ties go to the set without the highest column: the smallest mask in the end.
                    if best[child, fewer] >= best[child, candidates]:
                        best[child, candidates] = best[child, fewer]
                        choice[child, candidates] = choice[child, fewer]
    return best, choice


@njit(cache=True, nogil=True)
def _best_sinks(best: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the last column of a best ordering of each set of columns."""
    n_columns, n_sets = best.shape
    total = np.full(n_sets, -np.inf)
    total[0] = 0.0
    sinks = np.zeros(n_sets, dtype=np.int64)
    for columns in range(1, n_sets):
        for sink in range(n_columns):
            if columns >> sink & 1:
                before = columns ^ (1 << sink)
                value = total[before] + best[sink, before]
                if value > total[columns]:
                    total[columns] = value
                    sinks[columns] = sink
    return sinks
