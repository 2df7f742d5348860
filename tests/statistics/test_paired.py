"""Techniques against a baseline, pair by pair."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchmark.errors import UnknownNameError
from benchmark.metrics import list_metrics
from benchmark.statistics.hypothesis_tests import (
    N_FLIPS,
    flips_needed,
    holm,
    sign_flip_p_values,
    wilcoxon_p_values,
)
from benchmark.statistics.intervals import student_intervals
from benchmark.statistics.paired import paired_comparisons
from tests.helpers.made_up_results import GOALS, random_results, results

NAN = float("nan")


def compare(table: pd.DataFrame, baseline: str = "none") -> pd.DataFrame:
    return paired_comparisons(table, baseline, GOALS)


@pytest.mark.parametrize("n", [2, 3, 6, 9])
def test_all_sign_flips_are_tried(n: int) -> None:
    values = np.random.default_rng(n).normal(0.4, 1, (4, n))
    values[1] = np.round(values[1])  # ties
    values[2, 0] = 0
    found = sign_flip_p_values(values)
    for row, p in zip(values, found, strict=True):
        sums = [abs(np.dot(signs, row)) for signs in itertools.product([1, -1], repeat=n)]
        assert p == pytest.approx(np.mean(np.array(sums) >= abs(row.sum()) - 1e-9), abs=1e-12)


def test_equal_sums_count_in_spite_of_rounding() -> None:
    # Without rounding, 0.1 + 0.2 - 0.3 = 0 and every flip reaches it.
    assert sign_flip_p_values(np.array([[0.1, 0.2, -0.3]]))[0] == 1
    assert sign_flip_p_values(np.zeros((1, 4)))[0] == 1


def scipys_wilcoxon(row: NDArray[np.float64]) -> float:
    """Return SciPy's p-value, of few values by all sign flips, as newer versions do of themselves."""
    few = len(row) <= 13
    method = scipy.stats.PermutationMethod(n_resamples=2**13) if few else "auto"
    return float(scipy.stats.wilcoxon(row, zero_method="zsplit", method=method).pvalue)


@pytest.mark.parametrize("n", [2, 5, 6, 9, 20])
def test_wilcoxon_is_that_of_scipy_row_by_row(n: int) -> None:
    values = np.random.default_rng(n).normal(0.3, 1, (5, n))
    values[1, :2] = 0
    values[3, 0] = -values[3, 1]  # a tie must not cost the other rows their exact distribution
    many = np.random.default_rng(n).integers(-2, 4, (6, n)).astype(float)  # zeros and ties
    values = np.vstack([values, many])
    values = values[values.any(axis=1)]
    theirs = [scipys_wilcoxon(row) for row in values]
    np.testing.assert_allclose(wilcoxon_p_values(values), theirs, rtol=0, atol=1e-12)
    assert np.isnan(wilcoxon_p_values(np.zeros((1, n)))[0])


def test_holm_by_hand() -> None:
    corrected = holm(np.array([0.01, 0.04, NAN, 0.03, 0.005]))
    np.testing.assert_allclose(corrected, [0.03, 0.06, NAN, 0.06, 0.02])
    assert holm(np.array([0.6, 0.9])).tolist() == [1, 1]
    assert holm(np.array([])).size == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_lies_between_the_raw_and_bonferroni(p_values: list[float]) -> None:
    p = np.array(p_values)
    corrected = holm(p)
    assert (corrected >= p).all()
    assert (corrected <= np.minimum(1, len(p) * p) + 1e-12).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(corrected[order]) >= 0).all()
    # Step down by hand: a hypothesis is rejected while every smaller one is.
    level, rejected = 0.05, []
    for rank, i in enumerate(order):
        if p[i] * (len(p) - rank) > level:
            break
        rejected.append(i)
    assert set(rejected) == set(np.flatnonzero(corrected <= level))


def test_a_comparison_by_hand() -> None:
    table = pd.concat(
        [
            results({"none": [0.8, 0.9, 0.7], "t": [0.7, 0.9, 0.5]}),
            results({"none": [0.3, 0.2, 0.1], "t": [-0.1, 0.1, -0.2]}, metric="discrimination"),
            results({"none": [3.0, 2.0, 1.0], "t": [2.5, 2.0, 0.9]}, metric="loss"),
        ]
    )
    found = compare(table).set_index("metric")
    np.testing.assert_allclose(found["difference"], [-0.1, -0.8 / 3, -0.2], atol=1e-12)
    # Beyond the ideal counts as much as before it: -0.1 is nearer than 0.3 by 0.2, -0.2 farther than 0.1.
    np.testing.assert_allclose(found["improvement"], [-0.1, 0.2 / 3, 0.2], atol=1e-12)
    assert (found["technique"] == "t").all()
    assert (found["baseline"] == "none").all()
    assert (found["n"] == 3).all()
    assert (found["p_method"] == "exact").all()
    # Improvements 0.2, 0.1, -0.1: of the 8 sums, all but ±0 reach 0.2.
    assert found.loc["discrimination", "p_paired"] == 6 / 8


def test_a_frame_holds_what_the_array_functions_say() -> None:
    table = random_results(n=15)
    found = compare(table, baseline="a")
    wide = table.set_index(["dataset", "level", "metric", "technique", "repetition"])["value"]
    for row in found.itertuples():
        a, b = (wide[row.dataset, row.level, row.metric, name].to_numpy() for name in ("a", row.technique))
        gain = (b - a if row.metric == "accuracy" else np.abs(a) - np.abs(b))[None]
        assert row.p_paired == sign_flip_p_values(gain, N_FLIPS)[0]
        assert row.p_method == "sampled"
        low, high = student_intervals(gain)
        assert (row.improvement_low, row.improvement_high) == pytest.approx((low[0], high[0]))
        assert row.reason == ""


def test_holm_takes_all_techniques_and_levels_of_a_dataset_and_metric() -> None:
    found = compare(random_results(n=8), baseline="a")
    for _, family in found.groupby(["dataset", "metric"]):
        assert len(family) == 6  # two techniques at three levels of bias
        np.testing.assert_allclose(family["p_paired_holm"], holm(family["p_paired"].to_numpy()))


def test_a_large_family_has_enough_sign_flips_to_be_significant() -> None:
    assert flips_needed(100, 0.05) == 9999
    values = {f"t{i}": np.linspace(0.2, 0.4, 16).tolist() for i in range(601)}
    table = results({"none": [0.1] * 16, **values})
    found = compare(table)
    assert (found["p_method"] == "sampled").all()
    # Of 9,999 random signs, the smallest p-value of 601 tests would be 0.0601.
    assert (found["p_paired_holm"] <= 0.05).all()
    strict = paired_comparisons(table, "none", GOALS, alpha=0.06)
    assert (strict["p_paired"] == 1 / (1 + flips_needed(601, 0.06))).all()


def test_what_is_undefined_has_a_reason() -> None:
    table = pd.concat(
        [
            results({"none": [0.1, 0.2, 0.4], "same": [0.1, 0.2, 0.4], "up": [0.2, 0.3, 0.5]}),
            results({"none": [0.1, 0.2, 0.4], "once": [0.3, None, None]}, dataset="two"),
            results({"t": [0.1, 0.2]}, dataset="three"),
            results({"none": [1, 2], "t": [2, 4]}, dataset="four", metric="size"),
        ]
    )
    found = compare(table).set_index(["dataset", "technique"])
    assert found["reason"].to_dict() == {
        ("one", "same"): "all_zero",
        ("one", "up"): "all_equal",
        ("two", "once"): "few_pairs",
        ("three", "t"): "no_baseline",
        ("four", "t"): "no_better_value",
    }
    same, up, once, size = (
        found.loc[key] for key in [("one", "same"), ("one", "up"), ("two", "once"), ("four", "t")]
    )
    assert same["p_paired"] == 1
    assert same["improvement_low"] == same["improvement_high"] == 0
    assert up["p_paired"] == 2 / 8
    assert once["improvement"] == pytest.approx(0.2)
    assert once[["p_paired", "improvement_low"]].isna().all()
    assert once["p_method"] == ""
    assert size["difference"] == 1.5
    assert np.isnan(size["improvement"])
    # The comparison without a test is no member of the family.
    assert up["p_paired_holm"] == 2 * up["p_paired"]


def test_declared_metrics_are_goals_and_groups_share_theirs() -> None:
    table = results({"none": [0.1, 0.2], "t": [0.2, 0.5]}, metric="precision[Female]")
    found = paired_comparisons(table, "none", list_metrics())
    assert found["improvement"].tolist() == pytest.approx([0.2])


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"technique called 'nine'.*none"):
        compare(results({"none": [1, 2]}), baseline="nine")
    with pytest.raises(UnknownNameError, match="metric called 'speed'"):
        compare(results({"none": [1, 2], "t": [1, 2]}, metric="speed"))
