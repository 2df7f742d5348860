from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmark.data import Column, Schema, Table
from benchmark.errors import NetworkError
from benchmark.network.bif import write_bif
from benchmark.network.model import Network, fit_network, joint_distribution
from tests.helpers.networks import random_network

SCHEMA = Schema((Column("s", ("a", "b", "c")), Column("y", ("no", "yes"))), "y", "yes", "s", "a")


def test_maximum_likelihood_is_the_relative_frequency() -> None:
    table = Table(SCHEMA, np.array([[0, 0], [0, 1], [0, 1], [1, 0]]))
    network = fit_network(table, ((), (0,)))
    assert network.cpts[0].tolist() == [[0.75, 0.25, 0.0]]
    np.testing.assert_allclose(network.cpts[1], [[1 / 3, 2 / 3], [1, 0], [0.5, 0.5]])  # c was never seen


def test_pseudo_counts_are_added_to_every_cell() -> None:
    table = Table(SCHEMA, np.array([[0, 0], [0, 1], [0, 1], [1, 0]]))
    network = fit_network(table, ((), (0,)), pseudo_count=1.0)
    np.testing.assert_allclose(network.cpts[0], [[4 / 7, 2 / 7, 1 / 7]])
    np.testing.assert_allclose(network.cpts[1], [[2 / 5, 3 / 5], [2 / 3, 1 / 3], [0.5, 0.5]])


@pytest.mark.parametrize("pseudo_count", [-1.0, float("nan"), float("inf")])
def test_an_invalid_pseudo_count_is_refused(pseudo_count: float) -> None:
    table = Table(SCHEMA, np.array([[0, 0]]))
    with pytest.raises(NetworkError, match="pseudo-count"):
        fit_network(table, ((), ()), pseudo_count=pseudo_count)


def test_a_cycle_is_refused_by_name() -> None:
    with pytest.raises(NetworkError, match="cycle through s, y"):
        Network(SCHEMA, ((1,), (0,)), (np.full((2, 3), 1 / 3), np.full((3, 2), 0.5)))


@pytest.mark.parametrize(
    ("cpt", "message"),
    [
        (np.full((2, 2), 0.5), "wrong shape"),
        (np.full((3, 2), 0.4), "not a distribution"),
        (np.array([[1.5, -0.5]] * 3), "not a distribution"),
        (np.full((3, 2), np.nan), "not a distribution"),
    ],
)
def test_a_bad_table_is_refused(cpt: np.ndarray, message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        Network(SCHEMA, ((), (0,)), (np.full((1, 3), 1 / 3), cpt))


def test_topological_order_puts_parents_first_and_small_positions_before_large_ones() -> None:
    network = random_network(3)
    seen: set[int] = set()
    for i in network.topological_order:
        assert set(network.parents[i]) <= seen
        seen.add(i)
    assert random_network(3).topological_order == network.topological_order


def test_pgmpy_reads_our_files_and_answers_the_same_queries(tmp_path: Path) -> None:
    from pgmpy.inference import VariableElimination
    from pgmpy.readwrite import BIFReader

    network = random_network(4)
    write_bif(network, tmp_path / "n.bif")
    model = BIFReader(str(tmp_path / "n.bif")).get_model()
    assert sorted(model.edges()) == sorted(network.edges)
    for given in (model, network.to_pgmpy()):
        _answers_alike(network, VariableElimination(given))


def _answers_alike(network: Network, engine: Any) -> None:
    names = ["x0", "x1", "x4"]
    theirs = engine.query(names, show_progress=False)
    ours = joint_distribution(network, names)
    order = [theirs.variables.index(name) for name in names]
    np.testing.assert_allclose(ours, theirs.values.transpose(order), atol=1e-12)
    assert ours.sum() == pytest.approx(1.0, abs=1e-12)
