"""Borderline bias: who is near the boundary, by other means, and where the numbers go."""

import pickle
from typing import Any

import numpy as np
import pytest

from benchmark.bias import Rows, make_bias, make_step
from benchmark.bias.borderline import nearness_to_boundary
from benchmark.conformance import example_table
from benchmark.data import Table
from benchmark.errors import BetabenchError, BiasError
from benchmark.experiment.draws import draw_splits
from benchmark.experiment.keys import planned_cells
from benchmark.experiment.plan import Block
from benchmark.experiment.prepared import PreparedExperiment
from tests.helpers.protocol import made


def prepared(*kinds: str, **fields: Any) -> PreparedExperiment:
    """Return the world of a small experiment on rows that count as real."""
    given: dict[str, Any] = {
        "datasets": [{"card": "compas", "bias": [{"kind": kind} for kind in kinds]}],
        "techniques": ["none"],
        "betas": [0, 0.5],
        "repetitions": 1,
        "seed": 3,
        "train": "data",
        "holdout": 0.5,
        "tests": ["original", "biased"],
    }
    return made(**{**given, **fields})


def fitted(features: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return coefficients and intercept of a logistic regression with half their squared sum as penalty."""
    design = np.column_stack([features, np.ones(len(features))])
    penalty = np.append(np.ones(features.shape[1]), 0.0)
    w = np.zeros(design.shape[1])
    for _ in range(50):  # Newton's steps
        p = 1 / (1 + np.exp(-design @ w))
        hessian = (design.T * (p * (1 - p))) @ design + np.diag(penalty)
        w -= np.linalg.solve(hessian, design.T @ (p - y) + penalty * w)
    return w


def nearness_by_hand(table: Table, seed: int) -> np.ndarray:
    n, y = len(table), table.y
    label = table.schema.label_index
    columns = [i for i in range(table.codes.shape[1]) if i != label]
    states = [(i, k) for i in columns for k in range(table.schema.columns[i].cardinality)]
    features = np.array([[float(row[i] == k) for i, k in states] for row in table.codes])
    part = np.empty(n, dtype=int)
    for place, row in enumerate(np.random.default_rng(seed).permutation(n)):
        part[row] = place % 5
    p = np.empty(n)
    for k in range(5):
        w = fitted(features[part != k], y[part != k])
        p[part == k] = 1 / (1 + np.exp(-(features[part == k] @ w[:-1] + w[-1])))
    p = p.round(9)

    def rank(value: float) -> float:
        """Return the middle of the places that a value has among all, from 0 to 1."""
        return ((p < value).sum() + ((p == value).sum() - 1) / 2) / (n - 1)

    threshold = np.quantile(p, 1 - y.mean())
    below, above = p[p <= threshold].max(), p[p >= threshold].min()
    share = 0.0 if above == below else (threshold - below) / (above - below)
    at = (1 - share) * rank(below) + share * rank(above)
    return np.array([max(0.0, 1 - abs(rank(value) - at) / 0.25) for value in p])


@pytest.mark.parametrize("n_rows", [40, 301])
def test_nearness_by_other_means(n_rows: int) -> None:
    table = example_table(n_rows)
    found = nearness_to_boundary(table, np.random.default_rng(7))
    np.testing.assert_allclose(found, nearness_by_hand(table, 7), atol=1e-9)
    assert found.max() > 0.9
    assert (found == 0).any()


def test_ties_share_the_middle_of_their_places() -> None:
    """A few rows, each a hundred times: those of a fifth that are equal are equally near."""
    table = example_table(8).take(np.repeat(np.arange(8), 100))
    found = nearness_to_boundary(table, np.random.default_rng(2))
    assert len(np.unique(found)) <= 5 * 8
    np.testing.assert_allclose(found, nearness_by_hand(table, 2), atol=1e-9)


def test_rows_of_one_label_have_no_boundary() -> None:
    table = example_table(200)
    one = np.append(np.flatnonzero(~table.y), np.flatnonzero(table.y)[:1])
    with pytest.raises(BiasError, match=r"cannot tell where.*1 favorable labels among.*another kind"):
        nearness_to_boundary(table.take(one), np.random.default_rng(0))


def test_labels_turn_by_rate_times_nearness() -> None:
    table = example_table(20_000)
    near = np.linspace(0, 1, len(table))
    rows = Rows.of(table, boundary=near)
    chances = make_step("borderline", {"rate": "0.8 * beta"}).chances(rows, 0.5)
    turned = chances.turned
    np.testing.assert_allclose(turned[:, 1], 0.4 * near * table.deprived)
    assert not turned[:, 0].any()
    expected = make_bias("borderline").expected_in_rows(rows, 1.0)
    lost = near[table.deprived & table.y].sum() / table.deprived.sum()
    assert expected.discrimination == pytest.approx(rows.discrimination + lost)
    assert expected.error == 0


def test_the_nearness_goes_with_its_rows() -> None:
    table = example_table(50)
    rows = Rows.of(table, boundary=np.arange(50) / 50)
    some = np.array([3, 30, 7, 7])
    for part, before in ((rows.take(some), 50), (rows.apart(some), 4)):
        np.testing.assert_array_equal(part.boundary, some / 50)
        assert len(part.before) == before


def test_a_scene_knows_the_boundary_where_a_bias_asks() -> None:
    made, again = prepared("label", "borderline"), prepared("borderline", betas=[0, 1])
    boundary = made.datasets["compas"].boundary
    assert boundary is not None
    np.testing.assert_array_equal(boundary, again.datasets["compas"].boundary)
    other = prepared("borderline", seed=4, betas=[0.5]).datasets["compas"].boundary
    assert not np.array_equal(boundary, other)
    assert prepared("label").datasets["compas"].boundary is None
    # Each cell of another bias keeps its key.
    keys = {cell.key for _, cells in planned_cells(prepared("label")) for cell in cells}
    assert keys < {cell.key for _, cells in planned_cells(made) for cell in cells}


def test_training_and_biased_test_rows_lose_labels_near_the_boundary_alone() -> None:
    made = prepared("borderline", betas=[0, 1])
    (data,) = made.datasets.values()
    block = Block("compas", "borderline", 1.0, 0)
    (fold,) = draw_splits(data, block)
    copied = pickle.loads(pickle.dumps(data))  # as workers get it
    (same,) = draw_splits(copied, block)
    held_out = np.setdiff1d(np.arange(len(data.test)), fold.before_bias)
    for part, biased, twin in (
        (fold.before_bias, fold.train, same.train),
        (held_out, fold.tests["biased"].truth, same.tests["biased"].truth),
    ):
        np.testing.assert_array_equal(biased.codes, twin.codes)
        before, near = data.test.take(part), data.boundary[part]
        turned = biased.y != before.y
        assert (before.y & before.deprived)[turned].all()
        at_risk = before.y & before.deprived
        assert not turned[near == 0].any()
        assert turned[at_risk].mean() == pytest.approx(near[at_risk].mean(), abs=0.05)
        nearest = at_risk & (near > 0.8)
        assert turned[nearest].mean() > 0.8


def test_rows_of_a_network_have_no_boundary() -> None:
    message = r"(?s)'borderline' needs the rows' nearness to the decision boundary.*train = 'data'"
    with pytest.raises(BetabenchError, match=rf"(?s)dataset 'compas', bias 'borderline'.*{message[4:]}"):
        prepared("borderline", train="network", holdout=None, tests=["original"])
    with pytest.raises(BiasError, match=message):
        make_bias("borderline").plant_in_rows(Rows.of(example_table(50)), 0.5, np.random.default_rng(1))
