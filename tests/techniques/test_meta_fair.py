"""Thresholds per group under a bound on the ratio of rates, against linear programs and brute force."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from benchmark.conformance import example_table
from benchmark.errors import TechniqueError
from benchmark.techniques import get_technique
from benchmark.techniques.meta_fair import Levels, best_shares
from tests.helpers.tables import table
from tests.helpers.techniques import fitted, tiled, tools

SEEDS = [0, 1, 2, 3, 4, 5]
TAUS = [0.0, 0.3, 0.8, 0.95, 1.0]


def estimates(seed: int) -> list[np.ndarray]:
    """Draw estimates of P(y+ | x) for two groups, the second worse off, some of them equal."""
    rng = np.random.default_rng(seed)
    return [rng.beta(a, 2, size=int(rng.integers(5, 60))).round(2).clip(0.01, 0.99) for a in (3, 1.2)]


def chances(probability: np.ndarray, share: float) -> np.ndarray:
    """Return each row's chance of a favorable prediction, if a share of the rows passes the threshold."""
    threshold, lot = Levels.of(probability).rule(share)
    return np.where(probability > threshold, 1.0, np.where(probability == threshold, lot, 0.0))


def expected_gain(probabilities: list[np.ndarray], favorable: list[np.ndarray]) -> float:
    return float(sum(f @ (2 * p - 1) for p, f in zip(probabilities, favorable, strict=True)))


def false_discoveries(probability: np.ndarray, favorable: np.ndarray) -> float:
    return float(favorable @ (1 - probability) / favorable.sum())


def solved(probabilities: list[np.ndarray], constraint: Any, tau: float) -> list[np.ndarray]:
    shares = best_shares([Levels.of(p) for p in probabilities], constraint, tau)
    return [chances(p, share) for p, share in zip(probabilities, shares, strict=True)]


# Six rows of one group, by hand
HAND = np.array([0.4, 0.9, 0.7, 0.4, 0.1, 0.9])


def test_bounds_of_the_false_discovery_rate_by_hand() -> None:
    low, high = np.array([0.0, 0.05, 0.15, 0.2, 0.45, 0.0]), np.array([1.0, 0.12, 0.2, 0.3, 0.9, 0.05])
    least, most = Levels.of(HAND).bounds(low, high, "false_discovery_rate")
    # With a share l of the row at 0.7 the rate is (0.2 + 0.3 l) / (2 + l); of the two at 0.4 likewise.
    at = {0.12: 2 + 0.04 / 0.18, 0.15: 2 + 0.1 / 0.15, 0.2: 3 + 2 * 0.1 / 0.8, 0.3: 3 + 2 * 0.4 / 0.6}
    np.testing.assert_allclose(least, np.array([0, 0, at[0.15], at[0.2], np.nan, np.nan]) / 6)
    np.testing.assert_allclose(most, np.array([6, at[0.12], at[0.2], at[0.3], np.nan, np.nan]) / 6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("tau", TAUS)
def test_the_statistical_rate_is_solved_as_well_as_by_a_linear_program(tau: float, seed: int) -> None:
    probabilities = estimates(seed)
    favorable = solved(probabilities, "statistical_rate", tau)
    rates = [f.mean() for f in favorable]
    assert min(rates) >= tau * max(rates) - 1e-9
    m, n = map(len, probabilities)
    first, second = np.r_[np.full(m, 1 / m), np.zeros(n)], np.r_[np.zeros(m), np.full(n, 1 / n)]
    best = linprog(
        1 - 2 * np.concatenate(probabilities),
        A_ub=[tau * first - second, tau * second - first],
        b_ub=[0, 0],
        bounds=(0, 1),
    )
    assert expected_gain(probabilities, favorable) == pytest.approx(-best.fun, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("tau", [0.3, 0.6, 0.9])
def test_the_false_discovery_rate_is_solved_as_well_as_by_brute_force(tau: float, seed: int) -> None:
    probabilities = estimates(seed)
    grids = [np.union1d(np.linspace(0, 1, 41)[1:], Levels.of(p).share[1:]) for p in probabilities]
    tried = [[chances(p, s) for s in grid] for p, grid in zip(probabilities, grids, strict=True)]
    rates = [
        np.array([false_discoveries(p, f) for f in fs]) for p, fs in zip(probabilities, tried, strict=True)
    ]
    gains = [np.array([f @ (2 * p - 1) for f in fs]) for p, fs in zip(probabilities, tried, strict=True)]
    smaller, larger = np.minimum.outer(*rates), np.maximum.outer(*rates)
    allowed = np.where(smaller >= tau * larger, np.add.outer(*gains), -np.inf)
    if not np.isfinite(allowed).any():
        pytest.skip("no pair of these shares meets the bound")
    favorable = solved(probabilities, "false_discovery_rate", tau)
    own = sorted(false_discoveries(p, f) for p, f in zip(probabilities, favorable, strict=True))
    assert own[0] >= tau * own[1] - 1e-9
    # Between the tried lower bounds, 0.001 apart, lies little.
    assert expected_gain(probabilities, favorable) >= allowed.max() - 0.05
    assert expected_gain(probabilities, favorable) <= expected_gain(
        probabilities, [p > 0.5 for p in probabilities]
    )


def test_rates_that_never_meet_are_an_error() -> None:
    groups = [Levels.of(np.array([0.95, 0.9])), Levels.of(np.array([0.3, 0.2]))]
    with pytest.raises(
        TechniqueError, match=r"false discovery rates.*ratio of at least 0\.5.*0\.05 to 0\.075"
    ):
        best_shares(groups, "false_discovery_rate", 0.5)
    assert best_shares(groups, "statistical_rate", 0.5) == pytest.approx([1.0, 0.5])


# On tables


@pytest.mark.parametrize("classifier", ["c45", "naive_bayes"])
def test_tau_bounds_the_ratio_of_the_groups_rates_on_the_training_rows(classifier: str) -> None:
    data, rows = example_table(), tiled(example_table(), 60)
    ratios, accuracies = [], []
    for tau in (0.0, 0.6, 0.8, 1.0):
        favorable = fitted("meta_fair", data, classifier, tau=tau).predict(rows)
        rates = sorted(favorable[g].mean() for g in (rows.deprived, ~rows.deprived))
        ratios.append(rates[0] / rates[1])
        accuracies.append((favorable == rows.y).mean())
        assert ratios[-1] > tau - 0.02  # the lots do not even out quite
    assert ratios[0] < 0.6
    assert accuracies[-1] < accuracies[0]


def test_tau_bounds_the_ratio_of_the_false_discovery_rates_on_the_training_rows() -> None:
    favorable_of_hundred = [95, 85, 70, 60, 30], [80, 70, 55, 51, 20]
    labels = np.concatenate([np.arange(100) < k for group in favorable_of_hundred for k in group])
    data = table(np.repeat([0, 1], 500), labels, np.tile(np.repeat(np.arange(5), 100), 2))
    rows, ratios = tiled(data, 60), []
    for tau in (0.0, 0.8, 0.9, 1.0):
        favorable = fitted("meta_fair", data, constraint="false_discovery_rate", tau=tau).predict(rows)
        rates = sorted((~rows.y)[favorable & g].mean() for g in (rows.deprived, ~rows.deprived))
        ratios.append(rates[0] / rates[1])
        assert ratios[-1] > tau - 0.01
    # Where more than half are favorable, 90 of 400 and 144 of 400 are not.
    assert ratios[0] == pytest.approx(90 / 144)


def test_estimates_are_calibrated_in_each_group() -> None:
    # A classifier that gives the same scores to both groups, of whom the deprived are favorable less often.
    class Blind:
        def fit(self, X: Any, y: Any) -> None:
            pass

        def predict_proba(self, X: Any) -> np.ndarray:
            favorable = np.array([0.3, 0.6, 0.9])[X[:, 1]]
            return np.column_stack([1 - favorable, favorable])

    favored, deprived = [4, 6, 9], [1, 4, 7]  # of ten each, by state
    labels = np.concatenate([np.arange(10) < k for k in favored + deprived])
    data = table([0] * 30 + [1] * 30, labels, sorted([0, 1, 2] * 10) * 2)
    blind = replace(tools(), classifier=lambda c: Blind())  # type: ignore[arg-type,return-value]
    made = get_technique("meta_fair", tau=0.0).fit(data, blind).predict(data)
    np.testing.assert_array_equal(made.reshape(2, 3, 10).all(axis=2), [[0, 1, 1], [0, 0, 1]])


def test_a_half_is_drawn_where_a_half_is_due() -> None:
    # The favored are favorable at 0.9, the deprived at 0.45: at tau = 0.5 half of the deprived are favored.
    data = table([0] * 100 + [1] * 100, [1] * 90 + [0] * 10 + [1] * 45 + [0] * 55)
    rows = tiled(data, 60)
    first, again, other = (
        get_technique("meta_fair", tau=0.5).fit(data, tools(seed=seed)).predict(rows) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    favorable = first
    assert favorable[~rows.deprived].all()
    assert favorable[rows.deprived].mean() == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize(("few", "many"), [(3, 7), (1, 7), (5, 9)])
def test_rates_that_differ_by_rounding_have_a_ratio_of_one(few: int, many: int) -> None:
    groups = [Levels.of(np.full(rows, 0.7)) for rows in (few, many)]
    assert best_shares(groups, "false_discovery_rate", 1.0) == [1.0, 1.0]
