"""Bootstrap intervals, and what results must look like."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.errors import StatisticsError
from benchmark.seeding import generator
from benchmark.statistics import cell_intervals, distance
from benchmark.statistics.bootstrap import (
    interval_of_sum,
    intervals_of_means,
    resampled_shares,
    resamples,
)
from benchmark.statistics.frames import to_cells
from tests.statistics.made_up import Aim, random_results, results

PAPER = Path(__file__).resolve().parents[2] / "results" / "paper"


@pytest.mark.parametrize("n", [3, 5, 12, 30])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_intervals_of_means_are_those_of_scipy(n: int, confidence: float) -> None:
    rng = np.random.default_rng(n)
    values = np.vstack([rng.integers(0, 50, (4, n)), rng.lognormal(4, 1, (4, n))])
    if (
        n < 10
    ):  # few values are often drawn back in another order, and only whole numbers have the same sum then
        values = values.round()
    found = intervals_of_means(values, confidence=confidence, n_resamples=999, seed=3)
    for i, row in enumerate(values):
        theirs = scipy.stats.bootstrap(
            (row,),
            np.mean,
            method="BCa",
            n_resamples=999,
            confidence_level=confidence,
            rng=generator(3, purpose="bootstrap", n=n, stratum=0),
        ).confidence_interval
        assert found.method[i] == "bca"
        np.testing.assert_allclose((found.low[i], found.high[i]), theirs, rtol=0, atol=1e-9)


def test_the_interval_of_a_weighted_sum_of_means_is_that_of_scipy() -> None:
    rng = np.random.default_rng(1)
    samples = [rng.exponential(1, 8), rng.normal(0, 1, 5), rng.exponential(2, 11)]
    weights = [0.5, -1.5, 2.0]

    def statistic(*drawn: np.ndarray, axis: int) -> np.ndarray:
        return sum(w * sample.mean(axis=axis) for w, sample in zip(weights, drawn, strict=True))

    theirs = scipy.stats.bootstrap(
        samples, statistic, method="BCa", n_resamples=2000, rng=np.random.default_rng(2)
    )
    draws = np.random.default_rng(2)
    shares = [resampled_shares(draws.integers(0, len(s), (2000, len(s)))) for s in samples]
    found = interval_of_sum([s[None] for s in samples], weights, shares, 0.95)
    np.testing.assert_allclose((found.low[0], found.high[0]), theirs.confidence_interval, rtol=0, atol=1e-9)


def test_intervals_cover_what_they_estimate() -> None:
    values = np.random.default_rng(0).normal(0, 1, (800, 30))
    found = intervals_of_means(values, n_resamples=999)
    assert 0.91 < ((found.low < 0) & (found.high > 0)).mean() < 0.97


rows = st.lists(st.integers(-1000, 1000), min_size=3, max_size=8, unique=True)


@settings(max_examples=30, deadline=None)
@given(rows, st.integers(1, 100), st.integers(-1000, 1000))
def test_an_interval_moves_with_its_values(row: list[int], factor: int, shift: int) -> None:
    values = np.array([row], dtype=float)
    plain = intervals_of_means(values, n_resamples=199)
    moved = intervals_of_means(factor * values + shift, n_resamples=199)
    mirrored = intervals_of_means(-values, n_resamples=199)
    np.testing.assert_allclose(moved.low, factor * plain.low + shift, atol=1e-6)
    np.testing.assert_allclose(moved.high, factor * plain.high + shift, atol=1e-6)
    np.testing.assert_allclose((mirrored.low, mirrored.high), (-plain.high, -plain.low), atol=1e-9)
    assert min(row) - 1e-9 <= plain.low[0] <= plain.high[0] <= max(row) + 1e-9


def test_resamples_depend_on_their_size_alone() -> None:
    np.testing.assert_array_equal(resamples(7, 50, 1), resamples(7, 50, 1))
    assert (resamples(7, 50, 1) != resamples(7, 50, 2)).any()
    assert (resamples(7, 50, 1) != resamples(7, 50, 1, stratum=1)).any()
    shares = resampled_shares(np.array([[0, 0, 2], [1, 2, 0]]))
    np.testing.assert_allclose(shares, np.array([[2, 0, 1], [1, 1, 1]]) / 3)


def test_a_row_has_the_same_interval_whatever_stands_beside_it() -> None:
    table = random_results()
    whole = cell_intervals(table, n_resamples=200)
    part = cell_intervals(table[table["technique"] == "b"], n_resamples=200)
    own = whole[whole["technique"] == "b"].reset_index(drop=True)
    # Sums are taken in another order by another size of matrix.
    pd.testing.assert_frame_equal(own, part, rtol=1e-12)


def test_equal_values_have_a_point() -> None:
    found = cell_intervals(results({"a": [0.7] * 5, "b": [0.1 + 0.2, 0.3, 0.3, 0.3]}), n_resamples=100)
    assert found["interval"].tolist() == ["percentile"] * 2
    assert found["reason"].tolist() == ["all values are equal"] * 2
    np.testing.assert_allclose(found["ci_low"], [0.7, 0.3], rtol=1e-12)
    np.testing.assert_allclose(found["ci_high"], [0.7, 0.3], rtol=1e-12)


def test_one_sided_resamples_have_a_percentile_interval() -> None:
    found = intervals_of_means(np.array([[0.0, 1.0, 5.0]]), n_resamples=1)
    assert found.method[0] == "percentile"
    assert "one side" in found.reason[0]
    assert (
        found.low[0]
        == found.high[0]
        == pytest.approx(np.array([0.0, 1.0, 5.0])[resamples(3, 1, 0)[0]].mean())
    )


def test_missing_repetitions_are_counted() -> None:
    nan, inf = float("nan"), float("inf")
    found = cell_intervals(
        results({"a": [1, 2, 4, 9], "b": [1, nan, inf, 3], "c": [5, None, None, None]}), n_resamples=100
    ).set_index("technique")
    assert found["n"].tolist() == [4, 2, 1]
    assert found["missing"].tolist() == [0, 2, 3]
    assert found["mean"].tolist() == [4, 2, 5]
    assert found["median"].tolist() == [3, 2, 5]
    assert found["interval"].tolist()[2] == ""
    assert found["reason"].tolist()[2] == "fewer than two values"
    assert np.isnan(found.loc["c", "ci_low"])


def test_a_cell_without_results_is_a_row() -> None:
    table = pd.concat([results({"a": [1, 2], "b": [3, 4]}), results({"a": [5, 6]}, beta=1)])
    found = cell_intervals(table, n_resamples=50)
    empty = found[(found["technique"] == "b") & (found["beta"] == 1)].iloc[0]
    assert (empty["n"], empty["missing"]) == (0, 2)
    assert np.isnan(empty["mean"])
    # Another dataset's techniques and metrics are not expected here.
    other = results({"z": [1, 2]}, dataset="two", metric="loss")
    assert len(cell_intervals(pd.concat([table, other]), n_resamples=50)) == len(found) + 1


def test_the_order_of_the_rows_does_not_matter() -> None:
    table = random_results()
    key = ["dataset", "beta", "technique", "metric"]
    found = cell_intervals(table, n_resamples=100).sort_values(key, ignore_index=True)
    shuffled = cell_intervals(table.sample(frac=1, random_state=1), n_resamples=100)
    pd.testing.assert_frame_equal(found, shuffled.sort_values(key, ignore_index=True), rtol=1e-12)


def test_means_of_the_paper_run_are_those_of_its_summary() -> None:
    found = cell_intervals(pd.read_csv(PAPER / "results.csv"), n_resamples=20)
    key = ["dataset", "bias", "beta", "technique", "classifier", "metric"]
    both = found.merge(pd.read_csv(PAPER / "summary.csv"), on=key, suffixes=("", "_told"))
    assert len(both) > 900
    np.testing.assert_allclose(both["mean"], both["mean_told"], rtol=1e-9, atol=1e-12)
    assert (both["n"] == both["n_told"]).all()


def test_impossible_results_are_refused() -> None:
    table = results({"a": [1, 2]})
    with pytest.raises(StatisticsError, match="no value"):
        cell_intervals(table.drop(columns="value"))
    with pytest.raises(StatisticsError, match=r"several rows of one key.*repetition=1"):
        cell_intervals(pd.concat([table, table.iloc[1:]]))
    with pytest.raises(StatisticsError, match="no numbers"):
        cell_intervals(table.assign(value="high"))
    with pytest.raises(StatisticsError, match="no results"):
        cell_intervals(table.iloc[:0])
    with pytest.raises(StatisticsError, match="confidence"):
        cell_intervals(table, confidence=1)
    with pytest.raises(StatisticsError, match="resamples"):
        cell_intervals(table, n_resamples=0)


def test_distances_have_one_sense() -> None:
    values = np.array([-0.5, 0.0, 0.25, 1.0])
    np.testing.assert_array_equal(distance(values, Aim(1.0, "higher")), [1.5, 1, 0.75, 0])
    np.testing.assert_array_equal(distance(values, Aim(0.0, "lower")), values)
    np.testing.assert_array_equal(distance(values, Aim(0.25, "closer_to_ideal")), [0.75, 0.25, 0, 0.75])
    np.testing.assert_array_equal(distance(values, Aim(None, "higher")), -values)
    np.testing.assert_array_equal(distance(values, Aim(float("inf"), "higher")), -values)
    assert np.isnan(distance(values, Aim(None, "none"))).all()
    assert np.isnan(distance(values, Aim(None, "closer_to_ideal"))).all()


def test_cells_stand_in_the_order_of_levels_techniques_metrics() -> None:
    table = pd.concat([results({"b": [1], "a": [2]}, beta=0.5), results({"a": [3]}, beta=0.0)])
    cells = to_cells(table)
    assert list(zip(cells.keys["beta"], cells.keys["technique"], strict=True)) == [
        (0.0, "b"),
        (0.0, "a"),
        (0.5, "b"),
        (0.5, "a"),
    ]
    np.testing.assert_array_equal(cells.values[:, 0], [np.nan, 3, 1, 2])
    np.testing.assert_array_equal(cells.find(technique="a"), [1, 1, 3, 3])
    np.testing.assert_array_equal(cells.find(metric="loss"), [-1] * 4)
