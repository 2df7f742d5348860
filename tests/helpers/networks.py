"""Random networks."""

import numpy as np

from benchmark.data import Column, Schema
from benchmark.network.model import Network


def random_network(seed: int, n_columns: int = 6, max_parents: int = 3) -> Network:
    """Draw a network with a random graph over columns of 2 to 4 states; column 1 is the label."""
    rng = np.random.default_rng(seed)
    cardinalities = rng.integers(2, 5, n_columns)
    cardinalities[1] = 2
    columns = tuple(
        Column(f"x{i}", tuple(f"s{k}" for k in range(c)), ordered=False) for i, c in enumerate(cardinalities)
    )
    schema = Schema(columns, "x1", "s1", "x0", "s0")
    order = rng.permutation(n_columns)
    # The sensitive feature comes first and is always a parent of the label.
    order = np.array([0, *(i for i in order if i != 0)])
    parents: list[tuple[int, ...]] = [()] * n_columns
    for place, i in enumerate(order):
        earlier = [int(j) for j in order[:place]]
        chosen = rng.choice(earlier, min(len(earlier), int(rng.integers(0, max_parents + 1))), replace=False)
        extra = {0} if i == 1 else set()
        parents[i] = tuple(sorted({int(c) for c in chosen} | extra))
    cpts = tuple(
        rng.dirichlet(
            np.ones(cardinalities[i]), int(np.prod([cardinalities[p] for p in parents[i]], dtype=int))
        )
        for i in range(n_columns)
    )
    return Network(schema, tuple(parents), cpts)
