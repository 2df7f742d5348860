"""A discrete Bayesian network over the columns of a schema: its tables, samples and exact probabilities."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from benchmark.compiling import compiled
from benchmark.data.table import CODE_DTYPE, Schema, Table
from benchmark.errors import NetworkError

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork

_SUM_TOLERANCE = 1e-6  # files of other programs hold rounded probabilities


@dataclass(frozen=True, eq=False)
class Network:
    """A Bayesian network: a directed acyclic graph and one conditional probability table per column.

    A NetworkError means that the graph has a cycle, a table has the wrong shape, or a row is not a
    distribution.
    """

    schema: Schema  # columns, states and roles
    parents: tuple[tuple[int, ...], ...]  # positions of each column's parents, in ascending order
    # ``cpts[i]`` has shape (n_parent_configurations, cardinality of column i); each row is the distribution
    # of column i under one configuration. Configurations count in mixed radix, the last parent fastest, which
    # is C order over the parents' states.
    cpts: tuple[NDArray[np.float64], ...] = field(repr=False)

    def __post_init__(self) -> None:
        n_columns = len(self.schema.columns)
        if len(self.topological_order) != n_columns:
            in_cycle = [n for i, n in enumerate(self.schema.names) if i not in self.topological_order]
            raise NetworkError(
                "The graph has a cycle",
                expected="edges that lead from no column back to it",
                got="a cycle through " + ", ".join(in_cycle),
                remedy="remove or reverse one of these edges",
            )
        for i, cpt in enumerate(self.cpts):
            shape = (self.n_configurations(i), int(self.schema.cardinalities[i]))
            if cpt.shape != shape:
                raise NetworkError(
                    f"The probability table of {self.schema.names[i]!r} has the wrong shape",
                    expected=str(shape),
                    got=str(cpt.shape),
                )
            if not ((cpt >= 0).all() and (abs(cpt.sum(axis=1) - 1.0) <= _SUM_TOLERANCE).all()):
                raise NetworkError(
                    f"A row of the probability table of {self.schema.names[i]!r} is not a distribution",
                    expected=f"non-negative numbers that sum to 1 (within {_SUM_TOLERANCE:g})",
                    got=f"numbers from {cpt.min():g}, sums from {cpt.sum(1).min():g} to {cpt.sum(1).max():g}",
                )
            cpt.flags.writeable = False

    @cached_property
    def topological_order(self) -> tuple[int, ...]:
        """Column positions, parents before children; among the possible ones the smallest first."""
        order: list[int] = []
        remaining = dict(enumerate(self.parents))
        while ready := [i for i, parents in remaining.items() if remaining.keys().isdisjoint(parents)]:
            order.append(ready[0])
            del remaining[ready[0]]
        return tuple(order)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of schema, graph and probabilities."""
        h = hashlib.sha256(repr((self.schema, self.parents)).encode())
        for cpt in self.cpts:
            h.update(np.ascontiguousarray(cpt, dtype="<f8").tobytes())
        return h.hexdigest()

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """(parent, child) pairs by name, ordered by child and then parent position."""
        names = self.schema.names
        return tuple((names[p], names[i]) for i, parents in enumerate(self.parents) for p in parents)

    def n_configurations(self, column: int) -> int:
        """Return the number of parent configurations of a column; 1 for a root."""
        return int(np.prod([self.schema.cardinalities[p] for p in self.parents[column]], dtype=np.int64))

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        return sum(cpt.shape[0] * (cpt.shape[1] - 1) for cpt in self.cpts)

    def with_cpt(self, column: int, cpt: NDArray[np.float64]) -> Network:
        """Return a copy in which one column has another probability table."""
        cpts = list(self.cpts)
        cpts[column] = cpt
        return Network(self.schema, self.parents, tuple(cpts))

    def to_pgmpy(self) -> DiscreteBayesianNetwork:
        """Return the same network as a new pgmpy model, with column and state names."""
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.models import DiscreteBayesianNetwork

        model = DiscreteBayesianNetwork(list(self.edges))
        model.add_nodes_from(self.schema.names)
        states = {column.name: list(column.states) for column in self.schema.columns}
        for i, column in enumerate(self.schema.columns):
            evidence = [self.schema.columns[p] for p in self.parents[i]]
            model.add_cpds(
                TabularCPD(
                    column.name,
                    column.cardinality,
                    self.cpts[i].T,
                    evidence=[e.name for e in evidence] or None,
                    evidence_card=[e.cardinality for e in evidence] or None,
                    state_names={name: states[name] for name in (column.name, *(e.name for e in evidence))},
                )
            )
        model.check_model()
        return model


def state_counts(table: Table, column: int, parents: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the rows with each state of a column, shape (n_parent_configurations, n_states)."""
    cardinalities = table.schema.cardinalities
    n_cells, cell = 1, np.zeros(len(table), dtype=np.int64)
    for i in (*parents, column):
        n_cells *= int(cardinalities[i])
        cell *= cardinalities[i]
        cell += table.codes[:, i]
    return np.bincount(cell, minlength=n_cells).reshape(-1, cardinalities[column])


def fit_network(table: Table, parents: tuple[tuple[int, ...], ...], *, pseudo_count: float = 0.0) -> Network:
    """Return a network of a given graph with probabilities estimated from a table.

    ``pseudo_count`` is added to each cell's count; 0 is maximum likelihood. A configuration without any
    count gets the uniform distribution. A NetworkError means that the pseudo-count is negative or not finite,
    or that the graph is invalid.
    """
    if not (np.isfinite(pseudo_count) and pseudo_count >= 0):
        raise NetworkError(
            "The pseudo-count is invalid", expected="a finite number, 0 or more", got=repr(pseudo_count)
        )
    cpts = []
    for i, column_parents in enumerate(parents):
        counts = state_counts(table, i, column_parents) + pseudo_count
        total = counts.sum(axis=1, keepdims=True)
        uniform = 1.0 / counts.shape[1]
        cpts.append(np.where(total > 0, counts / np.where(total > 0, total, 1.0), uniform))
    return Network(table.schema, tuple(tuple(p) for p in parents), tuple(cpts))


def _draw(
    cumulative: NDArray[np.float64],
    codes: NDArray[np.int16],
    parents: NDArray[np.int64],
    radix: NDArray[np.int64],
    u: NDArray[np.float64],
    column: int,
) -> None:
    """Fill one column of ``codes`` (n_columns, n_rows) by inverting each row's distribution function."""
    last = cumulative.shape[1] - 1
    for row in range(u.shape[0]):
        configuration = 0
        for k in range(parents.shape[0]):
            configuration = configuration * radix[k] + codes[parents[k], row]
        state = 0
        while state < last and u[row] >= cumulative[configuration, state]:
            state += 1
        codes[column, row] = state


def sample(network: Network, n_rows: int, rng: np.random.Generator) -> Table:
    """Return ``n_rows`` independent rows drawn from a network, at least 1.

    Columns are drawn parents first, each from one uniform number per row. So the result depends only on the
    network, the number of rows and the generator's state, which is advanced. A NetworkError means that
    ``n_rows`` is not a positive integer.
    """
    if not isinstance(n_rows, int | np.integer) or n_rows < 1:
        raise NetworkError("Cannot draw that many rows", expected="a positive integer", got=repr(n_rows))
    cardinalities = network.schema.cardinalities
    # Rows of this matrix are the table's columns: each is contiguous, and the transpose is column-major.
    codes = np.empty((len(cardinalities), n_rows), dtype=CODE_DTYPE)
    for i in network.topological_order:
        parents = np.array(network.parents[i], dtype=np.int64)
        compiled(_draw)(
            _cumulative(network.cpts[i]), codes, parents, cardinalities[parents], rng.random(n_rows), i
        )
    codes.flags.writeable = False  # handed over: the table need not copy it
    return Table(network.schema, codes.T)


def _cumulative(cpt: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return row-wise distribution functions that never draw a state of probability zero.

    Rounding may leave the sum of a row's possible states slightly below 1. So everything from the last
    possible state on is raised to 1, and no draw reaches an impossible state.
    """
    cumulative = np.cumsum(cpt, axis=1)
    last_possible = cpt.shape[1] - 1 - np.argmax(cpt[:, ::-1] > 0, axis=1)
    cumulative[np.arange(cpt.shape[1])[None, :] >= last_possible[:, None]] = 1.0
    return cumulative


def joint_distribution(network: Network, names: Sequence[str]) -> NDArray[np.float64]:
    """Return the joint distribution of some columns, an axis for each name, by variable elimination.

    Columns that are not ancestors of these columns are never touched. An UnknownNameError means that a name
    is not a column, a NetworkError that more than 52 columns take part, the most that einsum can label.
    """
    schema = network.schema
    columns = [schema.index(name) for name in names]
    relevant: set[int] = set()
    stack = list(columns)
    while stack:
        i = stack.pop()
        if i not in relevant:
            relevant.add(i)
            stack.extend(network.parents[i])
    label = {column: k for k, column in enumerate(sorted(relevant))}
    if len(label) > 52:
        raise NetworkError(
            "Exact inference involves too many columns",
            expected="at most 52 ancestors of " + ", ".join(names),
            got=str(len(label)),
            remedy="convert the network with to_pgmpy() and use one of its inference engines",
        )
    operands: list[object] = []
    for i in sorted(relevant):
        axes = (*network.parents[i], i)
        operands += [network.cpts[i].reshape(schema.cardinalities[list(axes)]), [label[a] for a in axes]]
    joint: NDArray[np.float64] = np.einsum(*operands, [label[c] for c in columns], optimize="greedy")  # type: ignore[call-overload]
    return joint


def group_rates(network: Network) -> tuple[float, float]:
    """Return P(favorable label | favored group) and P(favorable label | deprived group), exactly.

    A group without any probability has the rate NaN.
    """
    schema = network.schema
    joint = joint_distribution(network, [*schema.sensitive_features, schema.label])
    shape, joint = joint.shape[:-1], joint.reshape(-1, joint.shape[-1])
    states = np.unravel_index(np.arange(len(joint)), shape)
    members = schema.deprived_among(dict(zip(schema.sensitive_indices, states, strict=True)).__getitem__)
    deprived = joint[members].sum(axis=0)
    favored = joint.sum(axis=0) - deprived
    with np.errstate(invalid="ignore"):
        return (
            float(favored[schema.favorable_code] / favored.sum()),
            float(deprived[schema.favorable_code] / deprived.sum()),
        )


def discrimination(network: Network) -> float:
    """Return the network's discrimination: P(y+ | favored) - P(y+ | deprived), equation 1."""
    favored, deprived = group_rates(network)
    return favored - deprived
