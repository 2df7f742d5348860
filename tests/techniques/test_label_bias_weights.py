"""Label-bias weights are those of Jiang and Nachum's first algorithm, and end at equal acceptance rates."""

import numpy as np
import pytest

from benchmark.data.table import Table
from benchmark.techniques import get_technique
from benchmark.techniques.label_bias_weights import parity_weights
from tests.helpers.noisy_labels import TRUE, Lookup, population, tools

MANY = np.linspace(0.02, 0.98, 49)


def algorithm(data: Table, step: float, rounds: int) -> np.ndarray:
    """Return the weights after some rounds of algorithm 1 for one protected group, by the publication."""
    X, y, group, multiplier = data.codes[:, :2], data.y.astype(int), data.deprived, 0.0
    weight = np.ones(len(data))
    for _ in range(rounds):
        accepted = Lookup().fit(X, y, weight).predict(X)
        # c(x, 1) = 1[x in G] / P(G) - 1, of which the mean over accepted people is the violation.
        violation = np.mean(accepted * (group / group.mean() - 1))
        multiplier -= step * violation
        raised = np.exp(multiplier * group)
        weight = np.where(y == 1, raised / (1 + raised), 1 / (1 + raised))
    return weight / weight.mean()


def weights(data: Table, **parameters: float) -> np.ndarray:
    technique = get_technique("label_bias_weights", **parameters)
    weight = technique.prepare(data, tools()).sample_weight
    assert weight is not None
    return weight


def test_values_of_the_formula() -> None:
    data = population(n=2)
    expected = np.where(data.deprived, np.where(data.y, 0.75, 0.25), 0.5)
    np.testing.assert_allclose(parity_weights(data, float(np.log(3))), expected)


@pytest.mark.parametrize("rounds", [1, 3, 10])
def test_weights_are_those_of_the_algorithm(rounds: int) -> None:
    data = population(deprived=0.6 * MANY, favored=MANY, n=21)
    np.testing.assert_allclose(
        weights(data, step=1.0, rounds=rounds, tolerance=0.0), algorithm(data, 1.0, rounds), rtol=1e-12
    )


def test_the_model_accepts_both_groups_equally_often() -> None:
    data = population(deprived=0.6 * MANY, favored=MANY, n=21)
    accepted = get_technique("label_bias_weights").fit(data, tools()).predict(data)
    assert abs(accepted[data.deprived].mean() - accepted[~data.deprived].mean()) < 0.03
    untreated = get_technique("none").fit(data, tools()).predict(data)
    assert abs(untreated[data.deprived].mean() - untreated[~data.deprived].mean()) > 0.3


def test_equal_acceptance_rates_need_no_weights() -> None:
    np.testing.assert_allclose(weights(population(deprived=TRUE, n=20)), 1)


def test_a_row_that_stands_for_two_counts_as_two() -> None:
    once = population(deprived=0.6 * MANY, favored=MANY, n=21)
    double = np.random.default_rng(0).random(len(once)) < 0.5
    twice = once.take(np.concatenate([np.arange(len(once)), np.flatnonzero(double)]))
    technique = get_technique("label_bias_weights")
    weighted = technique.prepare(once, tools(weights=1.0 + double)).sample_weight
    np.testing.assert_allclose(weights(twice)[: len(once)], weighted, rtol=1e-9)
