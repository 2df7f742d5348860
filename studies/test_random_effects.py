"""Random effects over sources: the variance between them, and the interval of the next."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from scipy.optimize import brentq

from benchmark.statistics.intervals import prediction_intervals
from studies.random_effects import heterogeneity, variance_of_next


def sources(k: int, spread: float, n_rows: int = 20) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(k)
    variances = rng.uniform(0.1, 4, (n_rows, k))
    return rng.normal(1, np.sqrt(spread**2 + variances)), variances


def excess(spread: float, means: np.ndarray, variances: np.ndarray) -> float:
    weights = 1 / (spread + variances)
    return float(weights @ (means - np.average(means, weights=weights)) ** 2 - (len(means) - 1))


@pytest.mark.parametrize("k", [3, 11, 44])
@pytest.mark.parametrize("spread", [0.0, 1.0, 5.0])
def test_the_variance_between_sources_is_the_root_of_its_equation(k: int, spread: float) -> None:
    # Some iterations stop at 0 though the sources differ by more than chance, such as statsmodels 0.15's.
    means, variances = sources(k, spread)
    roots = [
        brentq(excess, 0, 1000, args=row, xtol=1e-12) if excess(0, *row) > 0 else 0
        for row in zip(means, variances, strict=True)
    ]
    np.testing.assert_allclose(heterogeneity(means, variances), roots, atol=1e-9)


def test_sources_that_differ_less_than_by_chance_have_no_heterogeneity() -> None:
    means = np.array([[1.0, 1.1, 0.9], [1.0, 1.0, 1.0]])
    assert heterogeneity(means, np.ones((2, 3))).tolist() == [0, 0]
    assert heterogeneity(means, np.zeros((2, 3))) == pytest.approx([0.01, 0])


def test_sources_of_one_precision_need_their_means_alone() -> None:
    means, _ = sources(11, 3)
    plain = prediction_intervals(means)
    single = variance_of_next(means, np.full(means.shape, 0.1))
    np.testing.assert_allclose(prediction_intervals(means, single), plain)
    t, s = scipy.stats.t.ppf(0.975, 10), means.std(axis=1, ddof=1)
    np.testing.assert_allclose(plain[1] - means.mean(axis=1), t * s * np.sqrt(1 + 1 / 11))


def test_the_noise_of_the_new_source_widens_its_interval() -> None:
    means, variances = sources(11, 1)
    singles = [variance_of_next(means, variances, noise) for noise in (0.0, None, 4.0)]
    widths = [np.subtract(*reversed(prediction_intervals(means, single))) for single in singles]
    assert (widths[0] < widths[1]).all()
    assert (widths[1] < widths[2]).all()
    t, spread = scipy.stats.t.ppf(0.975, 10), means.var(axis=1, ddof=1)
    expected = 2 * t * np.sqrt(heterogeneity(means, variances) + 4 + spread / 11)
    np.testing.assert_allclose(widths[2], expected)


def test_one_source_says_nothing_of_the_next() -> None:
    assert np.isnan(prediction_intervals(np.array([[0.3]]))).all()
    assert np.isnan(heterogeneity(np.array([[0.3]]), np.ones((1, 1)))).all()


def test_what_is_missing_is_not_taken_for_no_heterogeneity() -> None:
    means, variances = np.array([[1.0, 3.0], [1.0, np.nan]]), np.array([[np.nan, 1.0], [1.0, 1.0]])
    assert np.isnan(heterogeneity(means, variances)).all()
