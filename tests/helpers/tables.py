"""Small tables for tests."""

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from benchmark.data.table import Column, Schema, Table

GROUPS = ("favored", "deprived", "third")


def table(
    groups: Sequence[int],
    labels: Sequence[int],
    *features: Sequence[int],
    states: int = 5,
    ordered: Sequence[bool] = (),
) -> Table:
    """Build a table: group 1 is deprived, label 1 favorable; features are called x0, x1 and so on."""
    schema = Schema(
        (
            Column("group", GROUPS[: max(2, max(groups) + 1)]),
            *(
                Column(f"x{i}", tuple(map(str, range(states))), ordered=i < len(ordered) and ordered[i])
                for i in range(len(features))
            ),
            Column("label", ("no", "yes")),
        ),
        label="label",
        favorable_label="yes",
        sensitive_feature="group",
        deprived_group="deprived",
    )
    return Table(schema, np.column_stack([groups, *features, labels]).astype(np.int16))


@st.composite
def tables(draw: st.DrawFn, groups: int = 2, ordered: bool = False) -> Table:
    """Draw tables in which every group has rows and both labels occur."""
    n = draw(st.integers(6, 80))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    group = rng.choice(groups, n, p=rng.dirichlet(np.ones(groups)))
    group[:groups] = np.arange(groups)
    favorable = rng.random(groups)
    label = (rng.random(n) < favorable[group]).astype(int)
    label[rng.permutation(n)[:2]] = [0, 1]
    shares = rng.dirichlet(np.full(5, 0.5), groups)
    feature = np.array([rng.choice(5, p=shares[g]) for g in group])
    return table(group, label, feature, ordered=(ordered,))


def discrimination(data: Table, weight: np.ndarray | None = None) -> float:
    """P(y+ | favored) - P(y+ | deprived), straight from the definition."""
    w = np.ones(len(data)) if weight is None else weight
    d = data.deprived
    return float(np.average(data.y[~d], weights=w[~d]) - np.average(data.y[d], weights=w[d]))
