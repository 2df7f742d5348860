"""Exact inference: a network's probabilities, without sampling noise."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import NetworkError
from benchmark.network.model import Network


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
