"""Structure learning: hill climbing, tabu search with random restarts, exact search."""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.data.card_parts import NetworkSettings
from benchmark.network.exact import optimal_parents
from benchmark.network.structure_scores import Constraints, SetScores, collapse, members

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
