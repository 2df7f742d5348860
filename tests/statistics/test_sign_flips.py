"""Exact sign-flip tests and their intervals: by hand, by enumeration, and beside other exact tests."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from numpy.typing import NDArray

from benchmark.errors import StatisticsError
from benchmark.statistics import hypothesis_tests
from benchmark.statistics.hypothesis_tests import (
    AGREED,
    MOST_COUNTED,
    MOST_TRIED,
    POWER,
    holm,
    sign_flip_bounds,
    sign_flip_interval,
    sign_flip_p_values,
    smallest_difference,
)

Values = NDArray[np.float64]


def made_up(kind: str, n: int) -> Values:
    rng = np.random.default_rng(n)
    return {
        "normal": rng.normal(0.5, 1, n),
        "skewed": rng.lognormal(0, 1.5, n) - 0.8,
        "ties": rng.integers(-2, 4, n) * 0.1,  # zeros as well
        "sizes": 10 ** rng.uniform(-3, 3, n) * rng.choice([1, 1, -1], n),
    }[kind]


def p_of(values: Values) -> float:
    return float(sign_flip_p_values(values[None, :])[0])


def test_sums_and_means_by_hand() -> None:
    # The eight signed sums of 4, 3 and 1 are ±8, ±6, ±2, 0 and 0. Four of them reach 6, six reach 2.
    assert p_of(np.array([4.0, 3.0, -1.0])) == 4 / 8
    assert p_of(np.array([4.0, -3.0, 1.0])) == 6 / 8
    # Means of subsets of 0, 3, 6: 0, 1.5, 3, 3, 3, 4.5, 6. At 1/2, two of eight patterns are rejected: k = 2.
    assert sign_flip_interval(np.array([0.0, 3.0, 6.0]), 0.5) == (1.5, 4.5)
    assert sign_flip_interval(np.arange(5.0)) == (-np.inf, np.inf)
    assert p_of(np.zeros(30)) == p_of(np.r_[np.ones(15), -np.ones(15)]) == 1
    assert sign_flip_interval(np.full(44, 0.1)) == (0.1, 0.1)


@pytest.mark.parametrize(
    ("kind", "n"),
    [
        ("normal", 12),
        ("ties", 12),
        ("sizes", 14),
        ("skewed", 16),
        ("ties", 18),
        pytest.param("normal", 20, marks=pytest.mark.slow),
    ],
)
def test_the_grid_encloses_what_enumeration_finds(kind: str, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = made_up(kind, n)
    p, alpha = p_of(values), 0.05
    exact = sign_flip_interval(values, alpha)
    subsets = (np.arange(1, 2**n)[:, None] >> np.arange(n) & 1).astype(np.float64)
    means = np.sort(subsets @ values / subsets.sum(axis=1))
    k = int(alpha / 2 * 2**n)
    assert exact == pytest.approx((means[k - 1], means[-k]), abs=1e-12)
    reached = np.abs(values.sum() - 2 * subsets @ values) >= abs(values.sum()) - 1e-9
    assert p == (1 + reached.sum()) / 2**n
    monkeypatch.setattr(hypothesis_tests, "MOST_TRIED", 0)
    low, high = sign_flip_bounds(values)
    assert low <= p <= high
    # Rounding may lose the observed pattern itself, and with it the opposite one.
    assert high - low <= AGREED + 2.0 ** (1 - n) * (kind != "ties")
    ends, near = sign_flip_interval(values, alpha), 2e-5 * np.ptp(values)
    assert means[k - 3] - near <= ends[0] <= means[k - 1] + 1e-12
    assert means[-k] - 1e-12 <= ends[1] <= means[2 - k] + near


@pytest.mark.parametrize("n", [21, 44, 200])
def test_known_distributions_are_met(n: int) -> None:
    """Of values of one size the test is the sign test, of ranks Wilcoxon's: both have exact p-values."""
    rng = np.random.default_rng(n)
    signs = rng.choice([1.0, 1.0, -1.0], n)
    assert p_of(0.1 * signs) == pytest.approx(
        scipy.stats.binomtest(int((signs > 0).sum()), n).pvalue, rel=1e-9
    )
    ranks = rng.permutation(n) + 1.0
    for flipped in (signs, rng.choice([1.0, -1.0], n)):
        low, high = sign_flip_bounds(ranks * flipped / 7)
        assert low == high
        assert high == pytest.approx(scipy.stats.wilcoxon(ranks * flipped, method="exact").pvalue, rel=1e-9)


def test_what_the_grid_cannot_tell_is_undecided() -> None:
    """Sums of as many positive signs as observed differ by 1e-9. With or without them, it is a sign test."""
    signs = np.r_[np.ones(20), -np.ones(10)]
    values = signs + np.random.default_rng(1).normal(0, 1e-9, 30)
    low, high = sign_flip_bounds(values)
    assert high == pytest.approx(scipy.stats.binomtest(20, 30).pvalue)
    assert low == pytest.approx(scipy.stats.binomtest(21, 30).pvalue)
    assert np.isnan(p_of(values))
    # Zeros change no sum: the patterns of few other values are all tried.
    few = np.r_[values[: MOST_TRIED - 1], np.zeros(11)]
    assert p_of(few) == p_of(few[:MOST_TRIED])


def test_too_many_values_are_refused() -> None:
    many = np.linspace(-1, 2, MOST_COUNTED + 1)
    with pytest.raises(StatisticsError, match=r"at most 1,000.*1,001.*n_flips"):
        sign_flip_bounds(many)
    assert sign_flip_p_values(many[None, :], n_flips=99)[0] == 0.01
    low, high = sign_flip_bounds(np.ones(MOST_COUNTED))
    assert 0 < low == high < 1e-300


@pytest.mark.parametrize("n", [6, MOST_TRIED, MOST_TRIED + 1])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_have_no_answer(n: int, value: float) -> None:
    rows = np.tile(made_up("normal", n), (2, 1))
    rows[0, :2] = value
    for n_flips in (None, 99):
        p = sign_flip_p_values(rows, n_flips)
        assert np.isnan(p[0])
        assert p[1] == sign_flip_p_values(rows[1:], n_flips)[0]
    assert np.isnan(sign_flip_interval(rows[0])).all()


def test_the_smallest_difference_is_as_in_tables() -> None:
    """A mean of half a standard deviation is shown with a power of 80 % by 34 pairs (Cohen 1988: 33.4)."""
    of_33, of_34 = (np.sqrt((n - 1) / n) * np.resize([1.0, -1.0], n) for n in (33, 34))
    of_33 = (of_33 - of_33.mean()) / of_33.std(ddof=1)
    assert smallest_difference(of_34) < 0.5 < smallest_difference(of_33)
    assert np.isnan(smallest_difference(np.ones(1)))


@pytest.mark.parametrize(("n", "n_tests"), [(8, 1), (11, 1), (8, 11)])
def test_the_smallest_difference_is_found_in_four_of_five_experiments(n: int, n_tests: int) -> None:
    values = np.random.default_rng(n).normal(0, 1, n)
    least = smallest_difference(0.1 * values / values.std(ddof=1), n_tests=n_tests)
    drawn = np.random.default_rng(31).normal(least, 0.1, (20_000, n))
    t = drawn.mean(axis=1) / drawn.std(axis=1, ddof=1) * np.sqrt(n)
    # Three standard errors of 20,000 experiments are 0.0085. With 8 datasets and 11 tests the sum of two
    # quantiles of t gives 0.78.
    assert (t > scipy.stats.t.ppf(1 - 0.025 / n_tests, n - 1)).mean() == pytest.approx(POWER, abs=0.0085)


def test_an_undecided_p_value_weakens_the_others() -> None:
    """It counts as 1: 0.01 is the smallest of three, so that it is multiplied by 3, and 0.02 by 2."""
    found = holm(np.array([0.02, np.nan, 0.01]), undecided=True)
    assert found == pytest.approx([0.04, np.nan, 0.03], nan_ok=True)
