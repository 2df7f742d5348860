"""Hidden rates: what the page says is what the committed values give."""

from __future__ import annotations

import re

import pytest

from studies.hidden_rates import findings as hidden_rates

# Values of a large run take some seconds to be read.
pytestmark = pytest.mark.slow


def test_what_is_said_of_the_review_holds() -> None:
    values = hidden_rates.read_values()
    assert values["dataset"].nunique() == values["technique"].nunique() == 12
    assert not values.isna().any(axis=None)
    outside = {
        planted: {name for name, lies in hidden_rates.within(values, planted).items() if not lies}
        for planted in hidden_rates.PLANTED
    }
    assert outside == {
        0.2: {("the best", 0.4), ("τ, parity", 0.4)},
        0.4: {("the best", 0.4)},
    }
    _, low, high = hidden_rates.best_by_means(values, 0.4)
    assert low <= hidden_rates.REVIEW["the best", 0.4] <= high
    text = re.sub(r"\s+", " ", hidden_rates.PAGE.read_text(encoding="utf-8"))
    assert "Of 12 estimates of an earlier review, 11 lie within" in text


def test_ranks_are_not_shown_to_be_true_at_a_rate_of_two_fifths() -> None:
    values = hidden_rates.read_values()
    for planted in hidden_rates.PLANTED:
        _, low, high = hidden_rates.interval(hidden_rates.estimates(values, 0.4, planted)["τ, distance"])
        assert low < 0 < high
        assert hidden_rates.interval(hidden_rates.estimates(values, 0.2, planted)["τ, distance"])[1] > 0


def test_a_rate_is_the_label_gap_of_those_who_can_lose_it() -> None:
    low, high = hidden_rates.gaps(0.4)
    assert 2 * hidden_rates.gaps(0.2)[0] == pytest.approx(low)
    assert 0 < low < 0.1 < high < 0.4
