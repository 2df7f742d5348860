"""The Bayesian signed-rank test."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.errors import StatisticsError
from benchmark.statistics.bayes import posterior_shares, signed_rank_probabilities

OBSERVED = np.array([[-0.031, 0.004, 0.022, 0.05, 0.013]])


def theirs(n_samples: int, seed: int) -> np.ndarray:
    """Draw weights as baycomp does, whose generator NumPy keeps as it is."""
    return np.random.RandomState(seed).dirichlet([0.5, 1, 1, 1, 1, 1], n_samples)


def by_loops(row: np.ndarray, weights: np.ndarray, rope: float) -> tuple[float, float]:
    z = [0.0, *row]
    negative = positive = 0.0
    for i, j in itertools.product(range(len(z)), repeat=2):
        negative += weights[i] * weights[j] * (z[i] + z[j] < -2 * rope)
        positive += weights[i] * weights[j] * (z[i] + z[j] > 2 * rope)
    return negative, positive


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=6), st.floats(0, 0.5), st.integers(0, 99))
def test_shares_are_sums_over_all_pairs(row: list[float], rope: float, seed: int) -> None:
    weights = np.random.default_rng(seed).dirichlet([0.5] + [1] * len(row), 3)
    negative, positive = posterior_shares(np.array([row]), weights, rope)
    expected = np.array([by_loops(np.array(row), w, rope) for w in weights])
    np.testing.assert_allclose(np.hstack([negative, positive]), expected, atol=1e-12)


def test_the_posterior_is_that_of_baycomp() -> None:
    # baycomp 1.0.3: SignedRankTest.sample(0, OBSERVED, rope=0.01, nsamples=1000, random_state=7)
    negative, positive = posterior_shares(OBSERVED, theirs(1000, 7), 0.01)
    found = np.hstack([negative, 1 - negative - positive, positive])
    np.testing.assert_allclose(
        found[:2],
        [
            [0.03562749920156395, 0.1868724563225258, 0.7775000444759103],
            [0.12822073473038723, 0.27819812299577984, 0.593581142273833],
        ],
        atol=1e-12,
    )
    np.testing.assert_allclose(
        found.mean(axis=0), [0.13442116672214968, 0.3618971929405745, 0.5036816403372757], atol=1e-12
    )
    np.testing.assert_array_equal(np.bincount(found.argmax(axis=1)), [62, 315, 623])


def test_the_posterior_is_that_of_the_installed_baycomp() -> None:
    baycomp = pytest.importorskip("baycomp")
    rng = np.random.default_rng(0)
    for rope in (0.01, 0.1):
        row = rng.normal(0.02, 0.1, 5)
        sample = baycomp.SignedRankTest.sample(np.zeros(5), row, rope=rope, nsamples=300, random_state=3)
        negative, positive = posterior_shares(row[None], theirs(300, 3), rope)
        np.testing.assert_allclose(negative[:, 0], sample[:, 0], atol=1e-10)
        np.testing.assert_allclose(positive[:, 0], sample[:, 2], atol=1e-10)


def test_probabilities_agree_with_baycomps_but_for_chance() -> None:
    # Of the 1,000 samples above, 62, 315 and 623.
    found = signed_rank_probabilities(OBSERVED, n_samples=20_000)[0]
    np.testing.assert_allclose(found, [0.062, 0.315, 0.623], atol=0.05)
    assert found.sum() == pytest.approx(1)


def test_one_dataset_in_closed_form() -> None:
    # With one observation beyond the region, the share of equivalence is the square of the prior's weight,
    # which has a Beta(s, 1) distribution: it is below 1/2 with probability (1/2)^(s/2).
    for prior in (0.5, 2.0):
        _, neither, positive = signed_rank_probabilities(np.array([[1.0]]), prior=prior, n_samples=50_000)[0]
        assert positive == pytest.approx(0.5 ** (prior / 2), abs=0.01)
        assert neither == pytest.approx(1 - 0.5 ** (prior / 2), abs=0.01)


def test_many_datasets_without_a_region_in_the_limit() -> None:
    # The posterior is then nearly normal, and tells as much as the one-sided Wilcoxon test.
    values = np.random.default_rng(4).normal(0.15, 1, (1, 60))
    p = scipy.stats.wilcoxon(values[0], alternative="greater").pvalue
    found = signed_rank_probabilities(values, rope=1e-9, n_samples=4000)[0]
    assert found[2] == pytest.approx(1 - p, abs=0.03)


def test_limits_and_symmetry() -> None:
    certain = signed_rank_probabilities(np.array([[1.0] * 12, [-1.0] * 12, [0.001] * 12]), n_samples=2000)
    np.testing.assert_allclose(certain, [[0, 0, 1], [1, 0, 0], [0, 1, 0]], atol=0.002)
    values = np.random.default_rng(1).normal(0, 0.05, (3, 6))
    found, mirrored = (signed_rank_probabilities(v, n_samples=3000) for v in (values, -values))
    np.testing.assert_array_equal(found, mirrored[:, ::-1])
    # A row has the same probabilities whatever stands beside it.
    np.testing.assert_array_equal(signed_rank_probabilities(values[:1], n_samples=3000), found[:1])
    assert (found != signed_rank_probabilities(values, n_samples=3000, seed=1)).any()


@pytest.mark.parametrize("setting", [{"rope": -0.1}, {"prior": 0}, {"n_samples": 0}])
def test_impossible_settings_are_refused(setting: dict[str, float]) -> None:
    with pytest.raises(StatisticsError, match="cannot be set up"):
        signed_rank_probabilities(OBSERVED, **setting)  # type: ignore[arg-type]
