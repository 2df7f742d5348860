"""Numbers of findings are written without the zero before the point, and ratios have intervals."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from scipy.optimize import brentq

from studies.estimates import ratio_intervals, signed, three, told, two


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.25, ".25"),
        (-0.25, "-.25"),
        (10.05, "10.05"),
        (20.3, "20.30"),
        (-100.007, "-100.01"),
        (0.999, "1.00"),
        (-0.001, "-.00"),
        (0.001, ".00"),
        (0.0, ".00"),
        (float("nan"), "–"),
    ],
)
def test_only_a_zero_in_front_is_left_out(value: float, text: str) -> None:
    assert two(value) == text


def test_three_digits_a_sign_and_an_interval() -> None:
    assert [three(value) for value in (10.0, 0.0625, -30.05)] == ["10.000", ".062", "-30.050"]
    assert [signed(value) for value in (10.0, 0.5, -0.5, 0.0001)] == ["+10.000", "+.500", "-.500", "+.000"]
    assert told((10.05, 0.2, 100.3), two) == "10.05 [.20, 100.30]"


def test_the_ends_are_the_ratios_that_a_t_test_just_does_not_reject() -> None:
    rng = np.random.default_rng(4)
    lower = rng.normal(0.2, 0.03, 12)
    upper = 0.4 * lower + rng.normal(0, 0.02, 12)
    (rho,), *found = ratio_intervals(upper[None], lower[None])
    assert rho == pytest.approx(upper.mean() / lower.mean())

    def rejected(ratio: float) -> float:
        return float(abs(scipy.stats.ttest_1samp(upper - ratio * lower, 0).statistic)) - quantile

    quantile = scipy.stats.t.ppf(0.975, 11)
    ends = [brentq(rejected, *bracket) for bracket in ((rho - 1, rho), (rho, rho + 1))]
    assert np.ravel(found) == pytest.approx(ends)


def test_the_interval_of_a_ratio_knows_the_overlap() -> None:
    lower = np.full((1, 6), 0.2)
    upper = lower + np.random.default_rng(5).normal(0, 0.03, (1, 6))
    (_, *plain), (_, *wide) = (ratio_intervals(upper, lower, overlap) for overlap in (0.0, 1.0))
    assert np.diff(np.ravel(wide)) == pytest.approx(np.sqrt(7) * np.diff(np.ravel(plain)))


def test_repetitions_without_one_of_both_values_are_left_out() -> None:
    nan = float("nan")
    whole = ratio_intervals(np.array([[0.1, 0.08, 0.14]]), np.array([[0.2, 0.18, 0.19]]))
    gaps = ratio_intervals(np.array([[0.1, 0.08, 0.14, nan, 9]]), np.array([[0.2, 0.18, 0.19, 9, nan]]))
    np.testing.assert_allclose(gaps, whole, rtol=1e-12)


def test_a_ratio_that_does_not_vary_is_a_point_where_the_lower_mean_is_sure() -> None:
    lower = np.array([[0.20, 0.25, 0.15]])
    for share in (0.0, 0.5):
        _, low, high = ratio_intervals(share * lower, lower)
        assert (low[0], high[0]) == (pytest.approx(share), pytest.approx(share))


def test_there_is_no_interval_where_the_lower_mean_may_be_0() -> None:
    for lower in ([[0.1, -0.1, 0.05]], [[0.2, np.nan, np.nan]]):
        assert np.isnan(ratio_intervals(np.array([[0.1, 0.2, 0.3]]), np.array(lower))[1:]).all()
