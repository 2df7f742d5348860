"""Intervals of means, and what results must look like."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from benchmark.errors import StatisticsError
from benchmark.runs.finished import read_frames
from benchmark.statistics.cells import distance, to_cells
from benchmark.statistics.intervals import cell_intervals, student_intervals
from tests.helpers.made_up_results import Aim, results

RESULTS = Path(__file__).resolve().parents[2] / "results"


@pytest.mark.parametrize("n", [2, 3, 12, 30])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_intervals_of_means_are_those_of_scipy(n: int, confidence: float) -> None:
    rng = np.random.default_rng(n)
    values = np.vstack([rng.integers(0, 50, (4, n)), rng.lognormal(4, 1, (4, n))])
    low, high = student_intervals(values, confidence)
    for i, row in enumerate(values):
        theirs = scipy.stats.ttest_1samp(row, 0).confidence_interval(confidence)
        np.testing.assert_allclose((low[i], high[i]), theirs, rtol=1e-12)


def test_equal_values_have_a_point() -> None:
    found = cell_intervals(results({"a": [0.7] * 5, "b": [0.1 + 0.2, 0.3, 0.3, 0.3]}))
    assert found["reason"].tolist() == ["all_equal"] * 2
    np.testing.assert_allclose(found["ci_low"], [0.7, 0.3], rtol=1e-12)
    np.testing.assert_allclose(found["ci_high"], [0.7, 0.3], rtol=1e-12)


def test_missing_repetitions_are_counted() -> None:
    nan, inf = float("nan"), float("inf")
    found = cell_intervals(
        results({"a": [1, 2, 4, 9], "b": [1, nan, inf, 3], "c": [5, None, None, None]})
    ).set_index("technique")
    assert found["n"].tolist() == [4, 2, 1]
    assert found["missing"].tolist() == [0, 2, 3]
    assert found["mean"].tolist() == [4, 2, 5]
    assert found["median"].tolist() == [3, 2, 5]
    assert found["reason"].tolist()[2] == "few_values"
    assert np.isnan(found.loc["c", "ci_low"])


def test_a_cell_without_results_is_a_row() -> None:
    table = pd.concat([results({"a": [1, 2], "b": [3, 4]}), results({"a": [5, 6]}, beta=1)])
    found = cell_intervals(table)
    empty = found[(found["technique"] == "b") & (found["level"] == 1)].iloc[0]
    assert (empty["n"], empty["missing"]) == (0, 2)
    assert np.isnan(empty["mean"])
    # Another dataset's techniques and metrics are not expected here.
    other = results({"z": [1, 2]}, dataset="two", metric="loss")
    assert len(cell_intervals(pd.concat([table, other]))) == len(found) + 1


_OTHER_RUNS = ("groups", "learners", "legast2025", "suite", "fairness_cost", "tuning", "wick")


@pytest.mark.parametrize(
    "name", ["paper", "techniques", *(pytest.param(name, marks=pytest.mark.nightly) for name in _OTHER_RUNS)]
)
def test_means_and_intervals_of_a_committed_run_are_those_of_its_summary(name: str) -> None:
    run = read_frames(RESULTS / name)
    found = cell_intervals(to_cells(run.results, run.resampling))
    key = ["dataset", "bias", "level", "technique", "classifier", "test", "metric"]
    both = found.merge(run.summary, on=key, suffixes=("", "_told"))
    assert len(both) == len(found) > 900
    for name in ("mean", "ci_low", "ci_high"):
        np.testing.assert_allclose(both[name], both[f"{name}_told"], rtol=1e-9, atol=1e-12)
    assert (both["n"] == both["n_told"]).all()


def test_impossible_results_are_refused() -> None:
    table = results({"a": [1, 2]})
    with pytest.raises(StatisticsError, match="no value"):
        cell_intervals(table.drop(columns="value"))
    with pytest.raises(StatisticsError, match=r"several rows of one key.*repetition=1"):
        cell_intervals(pd.concat([table, table.iloc[1:]]))
    with pytest.raises(StatisticsError, match="not numbers"):
        cell_intervals(table.assign(value="high"))
    with pytest.raises(StatisticsError, match="no results"):
        cell_intervals(table.iloc[:0])
    with pytest.raises(StatisticsError, match="confidence"):
        student_intervals(np.ones((1, 3)), 1)


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
    assert list(zip(cells.keys["level"], cells.keys["technique"], strict=True)) == [
        (0.0, "b"),
        (0.0, "a"),
        (0.5, "b"),
        (0.5, "a"),
    ]
    np.testing.assert_array_equal(cells.values[:, 0], [np.nan, 3, 1, 2])
    np.testing.assert_array_equal(cells.find(technique="a"), [1, 1, 3, 3])
    np.testing.assert_array_equal(cells.find(metric="loss"), [-1] * 4)
