"""Scores of Bayesian network structures, BIC and BDeu, and constraints: edges that must and must not be.

Both scores are differences of one set function F. For a set S of columns, N runs through the counts of the
configurations that occur, and q(S) is the product of its cardinalities. With n rows and the equivalent sample
size a:

- BIC:  F(S) = Σ N ln N − ln(n)/2 · q(S)
- BDeu: F(S) = Σ [ln Γ(N + a/q(S)) − ln Γ(a/q(S))]

A column X with parents P then adds F(P ∪ X) − F(P) to the score of its structure. So sets are counted and
remembered instead of families: one set serves several families, and score equivalence is plain to see.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from benchmark.data.card_parts import ScoreName
from benchmark.data.table import distinct
from benchmark.errors import NetworkError

_SMALL = 256  # counts below this are scored once per value instead of once per cell


def members(mask: int) -> Iterator[int]:
    """Yield the columns of a bit mask in ascending order."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


@dataclass(frozen=True, eq=False)
class Rows:
    """The distinct rows of a coded table and how often each occurs."""

    codes: NDArray[np.int16]  # shape (n_columns, n_distinct)
    weights: NDArray[np.int64]  # shape (n_distinct,): number of occurrences
    cardinalities: tuple[int, ...]  # declared number of states of each column
    total: int  # rows before collapsing

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.cardinalities)

    def grouped(self, mask: int) -> Self:
        """Return a row for all that agree in the columns of ``mask``; its other columns mean nothing."""
        columns = list(members(mask))
        first, inverse = distinct(self.codes[columns], tuple(self.cardinalities[i] for i in columns))
        weights = np.bincount(inverse, self.weights).astype(np.int64)
        return replace(self, codes=np.ascontiguousarray(self.codes[:, first]), weights=weights)


def collapse(codes: NDArray[np.int16], cardinalities: Sequence[int] | NDArray[np.integer[Any]]) -> Rows:
    """Return the distinct rows.

    ``codes``, shape (n_rows, n_columns), are the codes of a :class:`~benchmark.data.table.Table`.
    ``cardinalities`` has the number of states of each column, and each code is below it.
    """
    sizes = tuple(int(size) for size in cardinalities)
    rows = Rows(codes.T, np.ones(len(codes), dtype=np.int64), sizes, len(codes))
    return rows.grouped((1 << len(sizes)) - 1)


@njit(cache=True, nogil=True)
def _term(count: int, pseudo: float) -> float:
    if pseudo == 0.0:
        return count * math.log(count)
    return math.lgamma(count + pseudo) - math.lgamma(pseudo)


@njit(cache=True, nogil=True)
def score_counts(counts: NDArray[np.int64], pseudo: float) -> float:
    """Return the sum of N ln N, or of ln Γ(N + pseudo) - ln Γ(pseudo), over all counts N > 0, in nats.

    ``counts`` have shape (n_cells,), zeros allowed; ``pseudo`` is the prior weight of one cell in rows, and
    0 selects N ln N.
    """
    repeats = np.zeros(_SMALL, dtype=np.int64)
    n_large = 0
    for count in counts:
        if count < _SMALL:
            repeats[count] += 1
        else:
            n_large += 1
    large = np.empty(n_large, dtype=np.int64)
    for count in counts:
        if count >= _SMALL:
            n_large -= 1
            large[n_large] = count
    total = 0.0
    for count in range(1, _SMALL):
        if repeats[count] > 0:
            total += repeats[count] * _term(count, pseudo)
    for count in np.sort(large):  # so that the sum does not depend on the order of the cells
        total += _term(count, pseudo)
    return total


def column_label(column: int, names: Sequence[str] | None) -> str:
    """Return the name of a column in messages."""
    return f"column {column}" if names is None else f"column {column} ({names[column]!r})"


def find_cycle(parents: Sequence[int]) -> list[int]:
    """Return a directed cycle of the graph with these parent masks, first column repeated; [] if none."""
    try:
        TopologicalSorter({child: list(members(mask)) for child, mask in enumerate(parents)}).prepare()
    except CycleError as error:
        cycle: list[int] = error.args[1]
        return cycle
    return []


@dataclass(frozen=True)
class Constraints:
    """Constraints on a structure, checked against each other; parents of a column are bits of a mask."""

    required: tuple[int, ...]  # for each column, the parents that it must have
    allowed: tuple[int, ...]  # for each column, the parents that it may have
    max_indegree: int

    @classmethod
    def from_edges(
        cls,
        n_columns: int,
        required_edges: Iterable[tuple[int, int]] = (),
        forbidden_edges: Iterable[tuple[int, int]] = (),
        max_indegree: int | None = None,
        names: Sequence[str] | None = None,
    ) -> Self:
        """Return constraints from edges (parent, child); without ``max_indegree``, it is unlimited.

        ``names`` name columns in messages. A NetworkError means that constraints contradict each other.
        """
        required = _parent_masks(n_columns, required_edges)
        forbidden = _parent_masks(n_columns, forbidden_edges)
        limit = n_columns - 1 if max_indegree is None else max_indegree
        for child in range(n_columns):
            for parent in members(required[child] & forbidden[child]):
                raise NetworkError(
                    "An edge is both required and forbidden",
                    got=f"{column_label(parent, names)} → {column_label(child, names)}",
                    remedy="take it out of one of the two lists",
                )
            if required[child].bit_count() > limit:
                raise NetworkError(
                    f"The required edges exceed the largest in-degree at {column_label(child, names)}",
                    expected=f"at most {limit} parents",
                    got=", ".join(column_label(parent, names) for parent in members(required[child])),
                    remedy="require fewer edges or raise max_indegree",
                )
        if cycle := find_cycle(required):
            raise NetworkError(
                "The required edges form a cycle",
                got=" → ".join(column_label(column, names) for column in cycle),
                remedy="take one of these edges out of the required ones",
            )
        everything = (1 << n_columns) - 1
        allowed = tuple(everything & ~mask & ~(1 << child) for child, mask in enumerate(forbidden))
        return cls(tuple(required), allowed, limit)


def _parent_masks(n_columns: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    masks = [0] * n_columns
    for parent, child in edges:
        masks[child] |= 1 << int(parent)
    return masks


_DENSE = 8  # most cells per distinct row of a full table; beyond, grouping is faster
_LEAST_DENSE = 4096


class SetScores:
    """The set function F of one table, computed on demand and remembered.

    BIC (Schwarz 1978) is in natural logarithm: log-likelihood less ln(n)/2 per free parameter. BDeu
    (Heckerman, Geiger & Chickering 1995) is the log marginal likelihood under uniform priors, which the
    equivalent sample size, a positive number, weighs in rows.

    Values do not depend on the way of counting. They are rounded to a grid of about 1e-15 of their size, on
    which sums and differences are exact (for sets of up to eight configurations per row; larger ones score
    too low to be chosen). So steps to structures of equal score tie exactly.
    """

    def __init__(self, rows: Rows, score: ScoreName = "bic", equivalent_sample_size: float = 1.0) -> None:
        self.rows = rows
        self.name = score
        self.prior = float(equivalent_sample_size) if score == "bdeu" else 0.0
        self.penalty = math.log(rows.total) / 2 if score == "bic" else 0.0
        # Eight times the largest log-likelihood leaves room for sums; a double holds 53 binary digits.
        _, exponent = math.frexp(8 * rows.total * math.log(rows.total + 1))
        self._grid = 2.0 ** (exponent - 53)
        self._dense = min(max(_DENSE * len(rows.weights), _LEAST_DENSE), 2**31 - 1)
        self._known: dict[int, float] = {}

    def cells(self, mask: int) -> int:
        """Return q(S), the number of possible configurations of a set."""
        return math.prod(self.rows.cardinalities[column] for column in members(mask))

    def of(self, mask: int) -> float:
        """Return F of the set of columns in a bit mask, in nats."""
        if mask not in self._known:
            if mask == 0:
                return self.record(0, np.array([self.rows.total]))
            top = mask.bit_length() - 1
            self._extend(mask ^ 1 << top, [top])
        return self._known[mask]

    def record(self, mask: int, counts: NDArray[np.int64]) -> float:
        """Remember and return F of a set from the counts of its configurations, shape (n_occurring,)."""
        cells = self.cells(mask)
        total = score_counts(counts, self.prior / cells)
        # BIC: less ln(n)/2 per configuration; BDeu has no penalty. Rounded to the grid, so that equals tie.
        value = round((total - self.penalty * cells) / self._grid) * self._grid
        self._known[mask] = value
        return value

    def family(self, child: int, parents: int) -> float:
        """Return what a structure's score gains by ``child`` with the parents in a bit mask, in nats."""
        return self.of(parents | 1 << child) - self.of(parents)

    def structure(self, parents: Sequence[int]) -> float:
        """Return the score of a structure given as one bit mask of parents per column, in nats."""
        return math.fsum(self.family(child, mask) for child, mask in enumerate(parents))

    def toggles(self, child: int, parents: int) -> NDArray[np.float64]:
        """Return the changes of the score, in nats, if each column joins or leaves the parents of ``child``.

        ``parents`` is the bit mask of its present parents. Shape (n_columns,), -inf for ``child`` itself.
        """
        columns = [column for column in range(self.rows.n_columns) if column != child]
        strangers = [column for column in columns if not parents >> column & 1]
        self._extend(parents, strangers)
        self._extend(parents | 1 << child, strangers)
        # Score delta of one edge: the child's family with the column toggled, less the present one.
        present = self.family(child, parents)
        changes = np.full(self.rows.n_columns, -math.inf)
        changes[columns] = [self.family(child, parents ^ 1 << column) - present for column in columns]
        return changes

    def _extend(self, base: int, candidates: Iterable[int]) -> None:
        """Count the sets ``base`` plus one candidate each, unless they are remembered."""
        rows, cells = self.rows, self.cells(base)
        missing = [column for column in candidates if base | 1 << column not in self._known]
        cell = np.zeros(len(rows.weights), dtype=np.int64)  # of each row in a full table of ``base``
        for column in members(base) if missing and cells <= self._dense else ():
            cell = cell * rows.cardinalities[column] + rows.codes[column]
        for column in missing:
            mask, states = base | 1 << column, rows.cardinalities[column]
            # Small sets are counted in full tables, large ones by grouping the configurations that occur.
            if cells * states <= self._dense:
                counts = np.bincount(cell * states + rows.codes[column], rows.weights)
                self.record(mask, counts.astype(np.int64))
            else:
                self.record(mask, rows.grouped(mask).weights)
