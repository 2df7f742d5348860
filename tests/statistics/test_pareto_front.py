"""Pareto fronts."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from benchmark.statistics.across import on_pareto_front, pareto_fronts
from tests.helpers.made_up_results import GOALS, results

NAN = float("nan")
METRICS = ("accuracy", "discrimination")
points = npst.arrays(np.int64, st.tuples(st.just(2), st.integers(1, 7)), elements=st.integers(0, 9))


def both(accuracy: dict[str, list[float]], discrimination: dict[str, list[float]]) -> pd.DataFrame:
    return pd.concat([results(accuracy), results(discrimination, metric="discrimination")])


@given(points)
def test_the_front_is_what_nothing_dominates(drawn: np.ndarray) -> None:
    x, y = drawn.astype(float)
    found = on_pareto_front(x, y)
    for i in range(len(x)):
        better = [j for j in range(len(x)) if x[j] <= x[i] and y[j] <= y[i] and (x[j], y[j]) != (x[i], y[i])]
        assert found[i] == (not better)


def test_a_front_by_hand() -> None:
    x = np.array([[1.0, 2, 2, 3, 1], [1, 2, NAN, 0, 5]])
    y = np.array([[3.0, 2, 3, 1, 3], [1, 2, 0, NAN, 0]])
    np.testing.assert_array_equal(
        on_pareto_front(x, y), [[True, True, False, True, True], [True, False, False, False, True]]
    )


def test_a_front_of_techniques() -> None:
    table = both(
        {"fair": [0.6, 0.7], "true": [0.9, 0.8], "worse": [0.55, 0.6], "gone": [NAN, 0.9]},
        {"fair": [0.0, -0.1], "true": [0.3, 0.2], "worse": [0.3, 0.4], "gone": [0.1, NAN]},
    )
    found = pareto_fronts(table, METRICS, GOALS).set_index("technique")
    assert found["on_front"].to_dict() == {"fair": True, "true": True, "worse": False, "gone": False}
    assert found["share_on_front"].iloc[:3].tolist() == [1, 1, 0]
    np.testing.assert_allclose(found["first_distance"].iloc[:3], [0.35, 0.15, 0.425])
    np.testing.assert_allclose(found["second_distance"].iloc[:3], [0.05, 0.25, 0.35])
    # Each metric has a value on another repetition: there is no point.
    assert found["n"].tolist() == [2, 2, 2, 0]
    assert found.loc["gone", "reason"] == "no_values"
    assert np.isnan(found.loc["gone", "share_on_front"])


def test_fronts_are_of_techniques_that_know_as_much() -> None:
    table = both(
        {"none": [0.8], "blind": [0.7], "told": [0.9], "told_less": [0.85], "useless": [0.8]},
        {"none": [0.4], "blind": [0.3], "told": [0.1], "told_less": [0.2], "useless": [0.5]},
    )
    together = pareto_fronts(table, METRICS, GOALS).set_index("technique")["on_front"]
    assert together[together].index.tolist() == ["told"]
    knows = {"told": "the gap", "told_less": "half the gap", "useless": "the rates"}
    apart = pareto_fronts(table, METRICS, GOALS, knowledge=knows).set_index("technique")
    expected = {"none": True, "blind": True, "told": True, "told_less": True, "useless": False}
    assert apart["on_front"].to_dict() == expected, "doing nothing beats one"
    assert apart["share_on_front"].tolist() == [1, 1, 1, 1, 0]


def test_shares_are_those_of_single_repetitions() -> None:
    rng = np.random.default_rng(3)
    names, n = "abcd", 5
    accuracy = {name: rng.uniform(0.6, 0.8, n).tolist() for name in names}
    discrimination = {name: rng.uniform(-0.1, 0.2, n).tolist() for name in names}
    accuracy["d"][2] = NAN
    found = pareto_fronts(both(accuracy, discrimination), METRICS, GOALS)
    x = 1 - np.array([accuracy[name] for name in names])
    y = np.abs([discrimination[name] for name in names])
    y[3, 2] = NAN
    hits = sum(on_pareto_front(x[:, r], y[:, r]).astype(int) for r in range(n))
    np.testing.assert_allclose(found["share_on_front"], hits / np.array([5, 5, 5, 4]))
    assert ((hits > 0) & (hits < 4)).any()  # something is uncertain here


def test_metrics_of_different_datasets_make_no_front() -> None:
    apart = pd.concat([results({"a": [0.5]}), results({"a": [0.5]}, dataset="two", metric="discrimination")])
    found = pareto_fronts(apart, METRICS, GOALS)
    assert (found["reason"] == "no_values").all()
    assert not found["on_front"].any()
