"""Constraints on a learned structure: edges that it must and must not contain."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Self

from benchmark.errors import NetworkError
from benchmark.network._counts import members


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

        ``names`` are the columns' names in messages. A NetworkError means that an edge does not join two
        columns, or that the constraints contradict each other.
        """
        required = _parent_masks(n_columns, required_edges, "required", names)
        forbidden = _parent_masks(n_columns, forbidden_edges, "forbidden", names)
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


def _parent_masks(
    n_columns: int, edges: Iterable[tuple[int, int]], kind: str, names: Sequence[str] | None
) -> list[int]:
    masks = [0] * n_columns
    for parent, child in edges:
        if parent == child:
            raise NetworkError(
                f"A {kind} edge leads from a column to itself",
                expected="edges between two columns",
                got=column_label(child, names),
                remedy="take the edge out",
            )
        masks[child] |= 1 << int(parent)
    return masks
