"""Learned fair representations minimize the loss of Zemel et al. (2013) in AIF360's scaling."""

from typing import Any

import numpy as np
import pytest

from benchmark.conformance import example_table
from benchmark.data.table import Table
from benchmark.errors import NotConvergedError
from benchmark.techniques._lfr_kernels import exponential, logarithm
from benchmark.techniques.constrained_logistic import Design
from benchmark.techniques.encoding import Encoding
from benchmark.techniques.lfr import Prototypes, RepresentationLoss, descend
from tests.helpers.techniques import prepare

WEIGHTS = ((0.01, 1.0, 50.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.3, 0.7, 2.0))


def encoded(data: Table) -> tuple[np.ndarray, Design]:
    """Features of each row, and the distinct rows."""
    encoding = Encoding.of(data, use_sensitive=False, treatment="schema")
    return encoding.features(data), Design.of(data, encoding, data.y)


def loss_of(data: Table, A: tuple[float, float, float], smoothing: float) -> RepresentationLoss:
    _, design = encoded(data)
    return RepresentationLoss.of(
        design.rows(np.arange(len(design.weight)))[:, 1:], design.weight, A, smoothing
    )


def aif360_objective(data: Table, A: tuple[float, float, float], k: int) -> Any:
    from aif360.algorithms.preprocessing.lfr_helpers import helpers

    X, _ = encoded(data)
    y, d = data.y.astype(float), data.deprived
    helpers.LFR_optim_objective.steps = 0
    return lambda theta: helpers.LFR_optim_objective(theta, X[d], X[~d], y[d], y[~d], k, *A, verbose=0)


def start(data: Table, k: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(size=k * (1 + encoded(data)[0].shape[1]))


def test_exponential_and_logarithm_are_those_of_the_library_to_within_rounding() -> None:
    x = np.concatenate([-np.random.default_rng(0).exponential(20.0, 2000), [0.0, -1e-300, -699.9]])
    np.testing.assert_allclose([exponential(value) for value in x], np.exp(x), rtol=1e-15)
    assert exponential(-1e9) == exponential(-np.inf) == 0.0
    x = np.concatenate([np.random.default_rng(0).random(2000), [1e-300, 0.5, 1 - 1e-16, 1 + 1e-15, 1e5]])
    np.testing.assert_allclose([logarithm(value) for value in x], np.log(x), rtol=1e-15)
    assert logarithm(1.0) == 0.0


@pytest.mark.filterwarnings("ignore")  # the other library's own imports warn
@pytest.mark.parametrize("A", WEIGHTS)
def test_loss_agrees_with_aif360(A: tuple[float, float, float]) -> None:
    data = example_table()
    theirs, ours = aif360_objective(data, A, 4), loss_of(data, A, 0.0)
    for seed in range(5):
        theta = start(data, 4, seed)
        assert ours(theta, 4)[0] == pytest.approx(theirs(theta), rel=1e-9)


@pytest.mark.parametrize("A", WEIGHTS)
def test_gradient_agrees_with_differences(A: tuple[float, float, float]) -> None:
    data = example_table(60)
    loss, theta = loss_of(data, A, 1e-2), start(data, 3, 0)
    step = 1e-6
    differences = [
        (loss(theta + step * unit, 3)[0] - loss(theta - step * unit, 3)[0]) / (2 * step)
        for unit in np.eye(len(theta))
    ]
    np.testing.assert_allclose(loss(theta, 3)[1], differences, rtol=1e-5, atol=1e-7)


@pytest.mark.filterwarnings("ignore")  # the other library's own imports warn
@pytest.mark.parametrize("seed", [0])
def test_minimum_is_not_above_that_of_aif360s_search(seed: int) -> None:
    from scipy.optimize import fmin_l_bfgs_b

    data, k, A = example_table(80), 3, (0.01, 1.0, 50.0)
    theirs, theta = aif360_objective(data, A, k), start(data, k, seed)
    bounds = [(0, 1)] * k + [(None, None)] * (len(theta) - k)
    found, value, _ = fmin_l_bfgs_b(
        theirs, theta, epsilon=1e-5, bounds=bounds, approx_grad=True, maxfun=5000, maxiter=5000
    )
    ours = Prototypes.of(theta, k)
    for smoothing in (1e-2, 1e-4):
        ours, _ = descend(loss_of(data, A, smoothing), ours, 5000)
    assert theirs(found) == pytest.approx(value)
    assert theirs(ours.theta) <= value + 1e-6


def test_a_search_that_runs_out_of_steps_fails() -> None:
    with pytest.raises(NotConvergedError, match="search for prototypes did not converge in 3 steps"):
        prepare("lfr", example_table(), max_iterations=3)


def test_the_classifier_sees_memberships_only() -> None:
    data = example_table()
    prepared = prepare("lfr", data, replace_labels=False, bins=7, prototypes=4)
    schema = prepared.table.schema
    assert schema.names == ("label", "sex", *(prepared.features or ()))
    assert [column.cardinality for column in schema.columns[2:]] == [7] * 4
    np.testing.assert_array_equal(prepared.table.y, data.y)
    np.testing.assert_array_equal(prepared.table.deprived, data.deprived)
    np.testing.assert_array_equal(prepared.transform(data).codes, prepared.table.codes)
    # Intervals are 1/7 wide and the four memberships sum to 1.
    lower = prepared.table.codes[:, 2:].sum(axis=1)
    assert ((lower > 7 - 4) & (lower <= 7)).all()


def test_replaced_labels_are_those_of_the_prediction() -> None:
    data = example_table()
    given, replaced = prepare("lfr", data, replace_labels=False, bins=1000), prepare("lfr", data, bins=1000)
    np.testing.assert_array_equal(given.table.codes[:, 1:], replaced.table.codes[:, 1:])
    assert not np.array_equal(given.table.y, replaced.table.y)
    # A threshold of a linear function of the memberships: a linear classifier finds it again.
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1e6, max_iter=10_000).fit(
        replaced.table.codes[:, 2:] / 1000, replaced.table.y
    )
    assert model.score(replaced.table.codes[:, 2:] / 1000, replaced.table.y) > 0.99
    assert np.mean(replaced.table.y == data.y) > max(data.y.mean(), 1 - data.y.mean())
