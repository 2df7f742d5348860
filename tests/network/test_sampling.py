import numpy as np
import pytest
from scipy import stats

from benchmark.data import Column, Schema
from benchmark.errors import NetworkError
from benchmark.network.model import Network, group_rates, joint_distribution, sample
from tests.helpers.networks import random_network


@pytest.mark.parametrize("seed", range(4))
def test_every_family_passes_a_chi_square_test(seed: int) -> None:
    network = random_network(seed)
    n = 200_000
    table = sample(network, n, np.random.default_rng(seed))
    names = network.schema.names
    p_values = []
    for i, parents in enumerate(network.parents):
        axes = [*parents, i]
        expected = n * joint_distribution(network, [names[a] for a in axes])
        shape = network.schema.cardinalities[axes]
        cells = np.ravel_multi_index(tuple(table.codes[:, axes].T.astype(np.int64)), tuple(shape))
        observed = np.bincount(cells, minlength=expected.size)
        frequent = expected.ravel() >= 5
        chi2 = ((observed - expected.ravel())[frequent] ** 2 / expected.ravel()[frequent]).sum()
        p_values.append(stats.chi2.sf(chi2, frequent.sum() - 1))
    assert min(p_values) > 1e-4  # fixed seeds: a wrong table or a shifted column gives 0


def test_pairs_of_columns_that_share_no_family_are_right_too() -> None:
    network = random_network(7)
    n = 200_000
    table = sample(network, n, np.random.default_rng(0))
    expected = joint_distribution(network, ["x0", "x5"])
    observed = np.zeros(expected.shape)
    np.add.at(observed, (table.codes[:, 0], table.codes[:, 5]), 1 / n)
    np.testing.assert_allclose(observed, expected, atol=5 * np.sqrt(0.25 / n))


def test_the_same_generator_state_gives_the_same_rows_and_other_states_others() -> None:
    network = random_network(1)
    one = sample(network, 1000, np.random.default_rng(5))
    assert one.digest == sample(network, 1000, np.random.default_rng(5)).digest
    assert one.digest != sample(network, 1000, np.random.default_rng(6)).digest


def test_states_of_probability_zero_are_never_drawn() -> None:
    schema = Schema((Column("s", ("a", "b", "c", "d")), Column("y", ("-", "+"))), "y", "+", "s", "a")
    third = 1.0 / 3.0
    network = Network(schema, ((), ()), (np.array([[0.0, third, 2 * third, 0.0]]), np.array([[1.0, 0.0]])))
    table = sample(network, 100_000, np.random.default_rng(0))
    assert sorted(np.unique(table.codes[:, 0])) == [1, 2]
    assert not table.y.any()

    class AlmostOne(np.random.Generator):
        def random(self, size: int) -> np.ndarray:
            return np.full(size, np.nextafter(1.0, 0.0))

    extreme = sample(network, 3, AlmostOne(np.random.PCG64(0)))
    assert extreme.codes[:, 0].tolist() == [2, 2, 2]
    assert not extreme.y.any()


def test_group_rates_match_a_large_sample(toy: Network) -> None:
    table = sample(toy, 400_000, np.random.default_rng(3))
    favored, deprived = group_rates(toy)
    assert (favored, deprived) == pytest.approx((0.37, 0.20))
    assert table.y[~table.deprived].mean() == pytest.approx(favored, abs=0.005)
    assert table.y[table.deprived].mean() == pytest.approx(deprived, abs=0.005)


@pytest.mark.parametrize("n_rows", [0, -1, 2.5])
def test_a_senseless_number_of_rows_is_refused(toy: Network, n_rows: float) -> None:
    with pytest.raises(NetworkError, match="positive integer"):
        sample(toy, n_rows, np.random.default_rng(0))  # type: ignore[arg-type]
