"""Repeated splits of the same rows: intervals and tests that know that these overlap."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from benchmark.columns import FOLD_COLUMNS
from benchmark.statistics.cells import Resampling, to_cells
from benchmark.statistics.hypothesis_tests import CORRECTED, corrected_t_p_values
from benchmark.statistics.intervals import NO_FOLDS, cell_intervals, student_intervals
from benchmark.statistics.paired import paired_comparisons
from tests.helpers.made_up_results import GOALS, results

HALVES = Resampling({"one": 1.0})


def two(n: int = 6, beta: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    base = rng.normal(0.7 - 0.2 * beta, 0.02, n)
    return results({"none": base.tolist(), "t": (base + rng.normal(0.05, 0.02, n)).tolist()}, beta=beta)


def folds_of(table: pd.DataFrame, n_folds: int) -> pd.DataFrame:
    """Return folds whose means are the values of a table."""
    shift = np.linspace(-0.03, 0.03, n_folds)
    parts = [table.assign(fold=k, value=table["value"] + shift[k]) for k in range(n_folds)]
    return pd.concat(parts)[list(FOLD_COLUMNS)]


def test_the_standard_error_has_the_overlap_in_it() -> None:
    values = np.random.default_rng(1).normal(size=(1, 10))
    low, high = student_intervals(values, overlap=3 / 7)
    half = scipy.stats.t.ppf(0.975, 9) * values.std(ddof=1) * np.sqrt(1 / 10 + 3 / 7)
    assert (low[0], high[0]) == pytest.approx((values.mean() - half, values.mean() + half))
    t = abs(values.mean()) / (values.std(ddof=1) * np.sqrt(1 / 10 + 3 / 7))
    assert corrected_t_p_values(values, np.array([3 / 7]))[0] == pytest.approx(2 * scipy.stats.t.sf(t, 9))


def test_comparisons_of_splits_use_the_corrected_test_and_say_so() -> None:
    plain = paired_comparisons(two(), "none", GOALS).iloc[0]
    found = paired_comparisons(to_cells(two(), HALVES), "none", GOALS).iloc[0]
    factor = np.sqrt((1 / 6 + 1) / (1 / 6))
    for name in ("difference", "improvement"):
        assert found[name] == plain[name]
        width, before = (own[f"{name}_high"] - own[f"{name}_low"] for own in (found, plain))
        assert width == pytest.approx(factor * before)
    assert (plain["p_method"], found["p_method"]) == ("exact", CORRECTED)
    assert found["p_paired"] > plain["p_paired"]


def test_single_folds_are_the_splits_where_there_are_some() -> None:
    table = two(4)
    cells = to_cells(table, Resampling({"one": 0.5}, {"one": 3}, folds_of(table, 3)))
    found = cell_intervals(cells).set_index("technique").loc["t"]
    own = folds_of(table, 3).query("technique == 't'")["value"]
    half = scipy.stats.t.ppf(0.975, 11) * own.std(ddof=1) * np.sqrt(1 / 12 + 1 / 2)
    assert (found["n"], found["mean"]) == (4, pytest.approx(own.mean()))
    assert found["ci_high"] - found["mean"] == pytest.approx(half)
    # Of differences, what folds have in common cancels.
    compared = paired_comparisons(cells, "none", GOALS).iloc[0]
    plain = paired_comparisons(to_cells(table, Resampling({"one": 0.5})), "none", GOALS).iloc[0]
    assert compared["difference"] == plain["difference"]
    assert compared["difference_high"] < plain["difference_high"]


def test_without_single_folds_there_is_no_interval() -> None:
    cells = to_cells(two(), Resampling({"one": 0.5}, {"one": 3}))
    found = cell_intervals(cells)
    assert found["ci_low"].isna().all()
    assert set(found["reason"]) == {NO_FOLDS}
    assert np.isnan(paired_comparisons(cells, "none", GOALS)["p_paired"]).all()


def test_each_dataset_has_its_own_number_of_folds() -> None:
    few, many = two(4), two(4).assign(dataset="another")
    folds = pd.concat([folds_of(few, 2), folds_of(many, 5)])
    together = Resampling({"one": 1.0, "another": 0.25}, {"one": 2, "another": 5}, folds)
    found = cell_intervals(to_cells(pd.concat([few, many]), together)).set_index("dataset")
    for name, own, n_folds, overlap in (("one", few, 2, 1.0), ("another", many, 5, 0.25)):
        alone = Resampling({name: overlap}, {name: n_folds}, folds_of(own, n_folds))
        expected = cell_intervals(to_cells(own, alone)).set_index("dataset")
        pd.testing.assert_frame_equal(found.loc[[name]], expected)


def test_improvements_over_folds_their_interval_and_test_are_of_one_quantity() -> None:
    """Two repetitions of three folds of discrimination, by hand."""
    by_fold = {
        # Means 0.2 and 0.1; a fold beyond 0 takes from its repetition, as it does from the mean.
        "none": [[0.5, 0.3, -0.2], [0.1, 0.3, -0.1]],
        # Means 0.05 and -0.04: the second repetition is on the other side.
        "t": [[0.1, 0.1, -0.05], [-0.1, 0.0, -0.02]],
    }
    means = {name: [float(np.mean(own)) for own in values] for name, values in by_fold.items()}
    table = results(means, metric="discrimination")
    parts = [
        table.assign(fold=k, value=[own[k] for values in by_fold.values() for own in values])
        for k in range(3)
    ]
    folds = pd.concat(parts)[list(FOLD_COLUMNS)]
    found = paired_comparisons(
        to_cells(table, Resampling({"one": 0.5}, {"one": 3}, folds)), "none", GOALS
    ).iloc[0]
    # Of each repetition |0.2| - |0.05| = 0.15 and |0.1| - |-0.04| = 0.06.
    assert found["improvement"] == pytest.approx(0.105)
    gains = np.array([0.5 - 0.1, 0.3 - 0.1, -0.2 + 0.05, 0.1 - 0.1, 0.3 - 0.0, -0.1 - 0.02])
    assert gains.mean() == pytest.approx(0.105)
    error = gains.std(ddof=1) * np.sqrt(1 / 6 + 0.5)
    half = scipy.stats.t.ppf(0.975, 5) * error
    assert (found["improvement_se"], found["df"]) == (pytest.approx(error), 5)
    ends = found["improvement_low"], found["improvement_high"]
    assert ends == pytest.approx((0.105 - half, 0.105 + half))
    assert found["p_paired"] == pytest.approx(2 * scipy.stats.t.sf(0.105 / error, 5))


def test_one_repetition_of_folds_has_an_interval_and_no_reason_against_it() -> None:
    table = two(1)
    cells = to_cells(table, Resampling({"one": 0.5}, {"one": 3}, folds_of(table, 3)))
    assert set(cell_intervals(cells)["reason"]) == {""}
    found = paired_comparisons(cells, "none", GOALS).iloc[0]
    assert (found["n"], found["df"]) == (1, 2)
    unrecorded = to_cells(two(2), Resampling({"one": 0.5}, {"one": 3}))
    assert set(paired_comparisons(unrecorded, "none", GOALS)["reason"]) == {NO_FOLDS}


def test_a_fold_without_a_value_does_not_move_the_interval_off_its_estimate() -> None:
    table = two(3)
    folds = folds_of(table, 4)
    folds.loc[(folds["fold"] == 0) & (folds["repetition"] == 1) & (folds["technique"] == "t"), "value"] = (
        np.nan
    )
    kept = folds.groupby(["technique", "repetition"], sort=False)["value"].mean()
    table["value"] = kept.loc[list(zip(table["technique"], table["repetition"], strict=True))].to_numpy()
    cells = to_cells(table, Resampling({"one": 1 / 3}, {"one": 4}, folds))
    found = paired_comparisons(cells, "none", GOALS).iloc[0]
    assert found["df"] == 10
    for name in ("difference", "improvement"):
        assert found[name] == pytest.approx((found[f"{name}_low"] + found[f"{name}_high"]) / 2, abs=1e-12)
    t = abs(found["improvement"]) / found["improvement_se"]
    assert found["p_paired"] == pytest.approx(2 * scipy.stats.t.sf(t, 10))
    own = cell_intervals(cells)
    np.testing.assert_allclose(own["mean"], (own["ci_low"] + own["ci_high"]) / 2, atol=1e-12)
