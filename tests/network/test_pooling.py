"""No probability of a pooled network rests on fewer rows than its threshold."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from benchmark.data.card_parts import NetworkSettings
from benchmark.data.table import Column, Schema, Table
from benchmark.network.learn import fit_pooled, learn_network, pooled_counts, row_groups
from benchmark.network.model import sample
from tests.helpers.networks import random_network
from tests.helpers.pooling import slowly_pooled


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("m", "pseudo"), [(2, 0.0), (5, 1.0), (17, 0.5)])
def test_tables_are_those_of_the_formula(seed: int, m: int, pseudo: float) -> None:
    truth = random_network(seed)
    table = sample(truth, 150, np.random.default_rng(seed))
    parents = tuple(tuple(range(max(0, i - 3), i)) for i in range(len(truth.schema.columns)))
    fitted = fit_pooled(table, parents, min_count=m, pseudo_count=pseudo)
    for own, theirs in zip(fitted.cpts, slowly_pooled(table, parents, m, pseudo), strict=True):
        np.testing.assert_allclose(own, theirs, rtol=1e-12)


def loans(*counts: int) -> Table:
    """Return rows of two groups: (first, no), (first, yes), (second, no), (second, yes)."""
    schema = Schema(
        (Column("group", ("a", "b")), Column("repaid", ("no", "yes"))),
        label="repaid", favorable_label="yes", sensitive_feature="group", deprived_group="a",
    )  # fmt: skip
    codes = [
        pair for pair, n in zip(itertools.product((0, 1), repeat=2), counts, strict=True) for _ in range(n)
    ]
    return Table(schema, np.array(codes, dtype=np.int16))


@pytest.mark.parametrize("few", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("rows", [100, 10, 9])
def test_how_few_a_lone_rare_state_has_cannot_be_read_by_who_knows_the_rows(few: int, rows: int) -> None:
    network = fit_pooled(loans(few, rows - few, 40 - few, 60 + few), ((), (0,)), min_count=5)
    share = 5 / rows if rows >= 10 else 40 / (100 + rows)  # the latter is that of all rows
    np.testing.assert_allclose(network.cpts[1][0], [share, 1 - share])


def test_what_others_keep_does_not_add_up_to_the_rows_less_the_rare_ones() -> None:
    # 41, 18 and 3 of 62 rows: as 41 : 18 : 5, the first two would tell the third.
    found = pooled_counts(np.array([41.0, 18.0, 3.0]), np.array([60.0, 30.0, 28.0]), 5)
    assert found.tolist() == [39.0, 18.0, 5.0]
    # Nine are too few to take two from: as of all rows, three in four of them have the first state.
    found = pooled_counts(np.array([6.0, 18.0, 3.0]), np.array([60.0, 30.0, 20.0]), 5)
    assert found.tolist() == [6.75, 18.0, 2.25]


def test_rare_configurations_join_their_nearest_and_the_last_ones_the_smallest_group() -> None:
    sizes = [2, 3]
    near = row_groups(np.array([9.0, 2, 3, 8, 1, 0]), sizes, 5)
    assert near[1] == near[2] == near[4] == near[5]  # five rows together, the smallest group
    assert len(set(near)) == 3
    far = row_groups(np.array([9.0, 2, 0, 8, 3, 0]), sizes, 5)
    assert len(set(far[[1, 2, 4, 5]])) == 1
    assert len(set(far)) == 3
    last = row_groups(np.array([9.0, 2, 0, 8, 0, 0]), sizes, 5)
    assert last[1] == last[3] != last[0]
    assert row_groups(np.array([9.0, 0, 9, 8, 9, 9]), sizes, 5)[1] == -1


def test_the_setting_reaches_the_fit_and_one_changes_nothing() -> None:
    table = loans(2, 95, 40, 60)
    edges = [("group", "repaid")]
    pooled = learn_network(table, NetworkSettings(min_count=5), required_edges=edges)
    assert pooled.cpts[1][0, 0] == 5 / 97
    counted = learn_network(table, NetworkSettings(), required_edges=edges)
    assert counted.cpts[1][0, 0] == 2 / 97
    # Digests of cards and manifests of runs from before the setting stay what they were.
    assert "min_count" not in NetworkSettings().model_dump()
    assert NetworkSettings(min_count=2).model_dump()["min_count"] == 2
