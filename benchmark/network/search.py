"""Structure learning: hill climbing, tabu search with random restarts, exact search."""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from benchmark.data.card_parts import NetworkSettings
from benchmark.errors import NetworkError
from benchmark.network.structure_scores import Constraints, Rows, SetScores, collapse, members, score_counts

MAX_COLUMNS = 16
"""Most columns of an exact search: each further column doubles time and memory."""

_SLACK = 1e-9  # nats per row by which rounding may lower a bound
_PATIENCE = 10  # steps without a new best structure after which tabu search stops
_PERTURBATIONS = 12  # random steps that make a variation: about one per column works well


@dataclass(frozen=True)
class Structure:
    """A learned directed acyclic graph."""

    parents: tuple[tuple[int, ...], ...]  # parents of each column, ascending
    score: float  # of the whole structure, in nats; higher is better


def learn_structure(
    table_codes: NDArray[np.int16],
    cardinalities: Sequence[int] | NDArray[np.integer[Any]],
    settings: NetworkSettings,
    *,
    required_edges: Sequence[tuple[int, int]] = (),
    forbidden_edges: Sequence[tuple[int, int]] = (),
    rng: np.random.Generator,
    names: Sequence[str] | None = None,
) -> Structure:
    """Return the structure of a Bayesian network, learned from a coded table.

    Hill climbing adds, deletes or reverses the edge that gains most until nothing gains. Tabu search (Glover
    1989) then continues by the best step to a structure that it did not visit lately. The exact search
    returns a structure of the highest score of all, for up to 16 columns. Searches start from the required
    edges alone, a restart from a random variation of the best structure. Among steps of equal gain, additions
    go before deletions before reversals, then the lowest parent column (before the step), then the lowest
    child column.

    ``table_codes`` have shape (n_rows, n_columns); the order of the rows has no influence. ``cardinalities``
    are the numbers of states of the columns, ``names`` their names in errors. Every visited structure has all
    required and no forbidden edges (parent, child). Random steps draw from ``rng``. A NetworkError means that
    the edges contradict each other or the in-degree, or that the exact search has too many columns.
    """
    rows = collapse(table_codes, cardinalities)
    scores = SetScores(rows, settings.score, settings.equivalent_sample_size)
    edges = (required_edges, forbidden_edges)
    constraints = Constraints.from_edges(rows.n_columns, *edges, settings.max_indegree, names)
    if settings.algorithm == "exact":
        best = optimal_parents(scores, constraints)
    else:
        limits = (settings.tabu_length, _PATIENCE if settings.algorithm == "tabu" else 0)
        best = _climb(_Graph(scores, constraints, constraints.required), *limits)
        # Random restarts from variations of the best structure.
        for _ in range(settings.restarts):
            graph = _Graph(scores, constraints, best)
            graph.perturb(_PERTURBATIONS, rng)
            best = max(best, _climb(graph, *limits), key=scores.structure)
    parents = tuple(tuple(members(mask)) for mask in best)
    return Structure(parents, scores.structure(best))


class _Graph:
    """The current structure of a search, with the gain of each legal step.

    A step is a number: the position in an array of shape (3, n_columns, n_columns) for addition, deletion,
    reversal of the edge from the row's column to the column's.
    """

    def __init__(self, scores: SetScores, constraints: Constraints, parents: Sequence[int]) -> None:
        n_columns = scores.rows.n_columns
        self.scores = scores
        self.parents = tuple(parents)
        self._limit = constraints.max_indegree
        self._allowed = _matrix(constraints.allowed)
        self._required = _matrix(constraints.required)
        self._edges = _matrix(self.parents)
        self._toggles = np.empty((n_columns, n_columns))
        self._outdated = [True] * n_columns

    def after(self, step: int) -> tuple[int, ...]:
        """Return the parents of each column after a step."""
        n_columns = len(self.parents)
        kind, edge = divmod(step, n_columns * n_columns)
        parent, child = divmod(edge, n_columns)
        masks = list(self.parents)
        masks[child] ^= 1 << parent
        if kind == 2:
            masks[parent] ^= 1 << child
        return tuple(masks)

    def move(self, parents: tuple[int, ...]) -> None:
        """Go to another structure."""
        for child, (old, new) in enumerate(zip(self.parents, parents, strict=True)):
            if old != new:
                self._edges[:, child] = _matrix([new], len(parents))[:, 0]
                self._outdated[child] = True
        self.parents = parents

    def legal(self) -> NDArray[np.bool_]:
        """Return a mask of the steps that keep the graph acyclic and within its constraints, flat."""
        edges = self._edges
        # As float32, so that matrix products are fast; only their sign matters.
        direct = edges.astype(np.float32)
        # Transitive closure by repeated squaring: which columns a path leads to.
        reach = direct
        for _ in range(len(edges).bit_length()):
            reach = ((reach + reach @ reach) > 0).astype(np.float32)
        room = edges.sum(axis=0) < self._limit
        deletions = edges & ~self._required
        additions = self._allowed & room & ~edges & ~(reach.T > 0)
        # A reversal closes a cycle exactly if a second path leads from parent to child.
        reversals = deletions & self._allowed.T & room[:, None] & ~(reach @ direct > 0)
        return np.stack([additions, deletions, reversals]).ravel()

    def gains(self) -> NDArray[np.float64]:
        """Return the gain in score of each step, -inf for illegal ones, flat."""
        for child, outdated in enumerate(self._outdated):
            if outdated:
                self._toggles[:, child] = self.scores.toggles(child, self.parents[child])
                self._outdated[child] = False
        # Score delta: an edge changes its child's family only; a reversal changes two families.
        toggles = self._toggles
        return np.where(self.legal(), np.stack([toggles, toggles, toggles + toggles.T]).ravel(), -np.inf)

    def perturb(self, steps: int, rng: np.random.Generator) -> None:
        """Take random legal steps."""
        for _ in range(steps):
            legal = np.flatnonzero(self.legal())
            if len(legal) == 0:
                return
            self.move(self.after(int(legal[rng.integers(len(legal))])))


def _matrix(masks: Sequence[int], n_columns: int | None = None) -> NDArray[np.bool_]:
    """Return parent masks as an adjacency matrix, shape (n_columns, len(masks)), [parent, child]."""
    size = len(masks) if n_columns is None else n_columns
    return np.array([[mask >> parent & 1 for mask in masks] for parent in range(size)], dtype=np.bool_)


def _climb(graph: _Graph, tabu_length: int, patience: int) -> tuple[int, ...]:
    """Return the best structure on a path of best steps to structures not visited lately.

    Stops after more than ``patience`` steps without a new best structure; hill climbing has patience 0.
    """
    best = graph.parents
    best_score = graph.scores.structure(best)
    recent = deque([best], maxlen=tabu_length)
    idle = 0
    while True:
        # Greedy step: the addition, deletion or reversal that gains most in score.
        gains = graph.gains()
        step = int(gains.argmax())
        # Tabu list: no step back to a structure visited lately.
        while (new := graph.after(step)) in recent and gains[step] > -math.inf:
            gains[step] = -math.inf
            step = int(gains.argmax())
        if gains[step] == -math.inf:
            return best
        score = graph.scores.structure(new)
        if score > best_score:
            best, best_score, idle = new, score, 0
        # Out of patience: a local optimum that tabu steps did not leave.
        elif (idle := idle + 1) > patience:
            return best
        graph.move(new)
        recent.append(new)


# ------------------------------------------- the best of all, by dynamic programming over sets of columns


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
