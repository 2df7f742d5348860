"""Techniques over several datasets: ranks, tests, groups, warnings."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from benchmark.errors import StatisticsError, UnknownNameError
from benchmark.statistics import (
    average_ranks,
    bayesian_comparisons,
    friedman_tests,
    pairwise_tests,
    rank_groups,
    rankings,
)
from benchmark.statistics.across import (
    repetitions_needed,
    smallest_p_value,
    unbroken_groups,
)
from benchmark.statistics.hypothesis_tests import friedman, rank_biserial, wilcoxon_p_values
from tests.helpers.made_up_results import GOALS, random_results, results

# AUC of C4.5 with parameters m, cf, both or neither tuned, on 14 data sets: Demsar (2006), table 6. The third
# value of the last row but one is printed as 0.975 too, but ranked before the fourth.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)
TUNED = ("c45", "m", "cf", "both")


def demsar() -> pd.DataFrame:
    return pd.concat(
        [
            results({name: [value] for name, value in zip(TUNED, row, strict=True)}, dataset=f"set {i}")
            for i, row in enumerate(DEMSAR)
        ]
    )


def on_datasets(*values: dict[str, float], beta: float = 0.0) -> pd.DataFrame:
    return pd.concat(
        [
            results({name: [value] for name, value in own.items()}, dataset=f"set {i}", beta=beta)
            for i, own in enumerate(values)
        ]
    )


def test_demsars_average_ranks() -> None:
    found = average_ranks(rankings(demsar(), GOALS)).set_index("technique")
    assert found["mean_rank"].round(3).to_dict() == {"both": 1.964, "m": 2.0, "cf": 2.893, "c45": 3.143}
    assert (found["n_datasets"] == 14).all()
    np.testing.assert_allclose(found.loc[list(TUNED), "mean_distance"], 1 - DEMSAR.mean(axis=0))


def test_demsars_friedman_test() -> None:
    found = friedman_tests(rankings(demsar(), GOALS)).iloc[0]
    n, k = DEMSAR.shape
    # The paper prints the statistics without the correction for ties.
    ties = sum(
        (count**3 - count).sum() for count in (np.unique(row, return_counts=True)[1] for row in DEMSAR)
    )
    printed = found["chi2"] * (1 - ties / (n * k * (k**2 - 1)))
    assert printed == pytest.approx(9.28, abs=0.005)
    assert (n - 1) * printed / (n * (k - 1) - printed) == pytest.approx(3.69, abs=0.005)
    assert (found["df"], found["df_error"]) == (3, 39)
    assert found["datasets_needed"] <= n
    theirs = scipy.stats.friedmanchisquare(*DEMSAR.T)
    assert (found["chi2"], found["p_chi2"]) == pytest.approx(tuple(theirs), abs=1e-9)


def test_demsars_wilcoxon_test() -> None:
    # Table 2 compares C4.5 with C4.5+m: rank sums 93 and 12, significant at 0.05.
    differences = (DEMSAR[:, 1] - DEMSAR[:, 0]).round(3)
    theirs = scipy.stats.wilcoxon(differences, zero_method="zsplit")
    assert theirs.statistic == 12
    p = wilcoxon_p_values(differences[None], "zsplit")[0]
    # The normal approximation with the variance that tied ranks have: 0 0, and two of 0.005.
    variance = 14 * 15 * 29 / 24 - 2 * (2**3 - 2) / 48
    assert p == pytest.approx(2 * scipy.stats.norm.sf((93 - 52.5) / np.sqrt(variance)), abs=2e-4)
    assert p < 0.05
    pair = pairwise_tests(rankings(demsar(), GOALS)).set_index(["first", "second"]).loc[("c45", "m")]
    assert pair["improvement"] == pytest.approx(-differences.mean(), abs=1e-12)
    assert rank_biserial(differences[None])[0] > 0


@settings(max_examples=40, deadline=None)
@given(npst.arrays(np.int64, st.tuples(st.integers(2, 8), st.integers(3, 6)), elements=st.integers(0, 4)))
def test_friedman_is_that_of_scipy_and_iman_davenport_an_analysis_of_variance(values: np.ndarray) -> None:
    found = friedman(values.astype(float))
    ranks = scipy.stats.rankdata(values, axis=1)
    n, k = values.shape
    if (ranks == (k + 1) / 2).all():
        assert np.isnan([found.chi2, found.p_chi2, found.f, found.p_f]).all()
        return
    theirs = scipy.stats.friedmanchisquare(*values.T)
    assert (found.chi2, found.p_chi2) == pytest.approx(tuple(theirs), abs=1e-6)
    # The same from the sums of squares of a two-way table of ranks without interaction.
    between = n * ((ranks.mean(axis=0) - ranks.mean()) ** 2).sum()
    residual = ((ranks - ranks.mean(axis=0) - ranks.mean(axis=1, keepdims=True) + ranks.mean()) ** 2).sum()
    if residual > 1e-9:
        f = (between / (k - 1)) / (residual / ((k - 1) * (n - 1)))
        assert found.f == pytest.approx(f, rel=1e-6, abs=1e-9)
        assert found.p_f == pytest.approx(scipy.stats.f.sf(f, k - 1, (k - 1) * (n - 1)), abs=1e-6)
    else:
        assert found.f == np.inf
        assert np.isnan(found.p_f), "no p-value of few blocks is 0"


def test_pairs_have_scipys_p_values_and_holms_correction() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal([0.7, 0.75, 0.9], 0.1, (9, 3))
    table = on_datasets(*({"a": x, "b": y, "c": z} for x, y, z in values))
    found = pairwise_tests(rankings(table, GOALS))
    assert list(zip(found["first"], found["second"], strict=True)) == [("a", "b"), ("a", "c"), ("b", "c")]
    raw = [scipy.stats.wilcoxon(values[:, i], values[:, j]).pvalue for i, j in ((0, 1), (0, 2), (1, 2))]
    np.testing.assert_allclose(found["p_wilcoxon"], raw, atol=1e-9)
    order = np.argsort(raw)
    expected = np.maximum.accumulate(np.minimum(1, np.array(raw)[order] * [3, 2, 1]))
    np.testing.assert_allclose(found["p_wilcoxon_holm"].to_numpy()[order], expected, atol=1e-9)
    np.testing.assert_allclose(
        found["improvement"], [(values[:, i] - values[:, j]).mean() for i, j in ((0, 1), (0, 2), (1, 2))]
    )


def test_groups_join_what_does_not_differ() -> None:
    rng = np.random.default_rng(2)
    table = on_datasets(
        *(
            {"bad": x, "good": x + 0.3, "better": x + 0.3 + e}
            for x, e in rng.normal(0.3, 0.02, (12, 2)) - [0, 0.3]
        )
    )
    found = rank_groups(rankings(table, GOALS))
    assert found.groupby("group")["technique"].apply(set).to_dict() == {1: {"good", "better"}}
    # Three datasets can tell nothing apart: all are in one group.
    few = rank_groups(rankings(table[table["dataset"].isin(["set 0", "set 1", "set 2"])], GOALS))
    assert few["group"].tolist() == [1, 1, 1]


def test_runs_without_a_difference() -> None:
    def differ(k: int, *pairs: tuple[int, int]) -> np.ndarray:
        found = np.zeros((k, k), dtype=bool)
        for i, j in pairs:
            found[i, j] = found[j, i] = True
        return found

    assert unbroken_groups(differ(4)) == [range(4)]
    assert unbroken_groups(differ(4, (0, 3))) == [range(3), range(1, 4)]
    assert unbroken_groups(differ(4, (0, 1), (2, 3))) == [range(1, 3)]
    # 0 and 2 do not differ, but 1 between them differs from 0.
    assert unbroken_groups(differ(3, (0, 1))) == [range(1, 3)]
    assert unbroken_groups(differ(2, (0, 1))) == []
    assert unbroken_groups(differ(1)) == []


@given(npst.arrays(bool, st.integers(1, 7).map(lambda k: (k, k))))
def test_runs_are_all_largest_ones(drawn: np.ndarray) -> None:
    differ = np.triu(drawn, 1) | np.triu(drawn, 1).T
    k = len(differ)
    free = [(i, j) for i in range(k) for j in range(i + 2, k + 1) if not differ[i:j, i:j].any()]
    largest = [
        range(i, j) for i, j in free if not any(a <= i and j <= b and (a, b) != (i, j) for a, b in free)
    ]
    assert unbroken_groups(differ) == largest


def test_techniques_that_miss_a_block_are_left_out() -> None:
    table = on_datasets({"a": 0.5, "b": 0.6, "c": 0.7}, {"a": 0.5, "b": 0.4}, {"a": 0.5, "b": 0.6, "c": 0.7})
    found = average_ranks(rankings(table, GOALS)).set_index("technique")
    assert found["mean_rank"].tolist() == pytest.approx([4 / 3, 5 / 3, np.nan], nan_ok=True)
    assert found.loc["c", ["reason", "reason_dataset"]].tolist() == ["no_value", "set 1"]
    assert found.loc["a", "reason"] == ""
    assert (found["n_blocks"] == 3).all()


def test_nothing_in_common_is_nothing_to_rank() -> None:
    table = on_datasets({"a": 0.5}, {"b": 0.4})
    assert average_ranks(rankings(table, GOALS))["mean_rank"].isna().all()
    assert friedman_tests(rankings(table, GOALS))["reason"].tolist() == ["few_techniques"]
    for test in (pairwise_tests, bayesian_comparisons, rank_groups):
        assert test(rankings(table, GOALS)).empty


def test_degenerate_comparisons_have_reasons() -> None:
    equal = on_datasets({"a": 0.5, "b": 0.5}, {"a": 0.4, "b": 0.4})
    assert friedman_tests(rankings(equal, GOALS))["reason"].tolist() == ["all_equal"]
    pair = pairwise_tests(rankings(equal, GOALS)).iloc[0]
    assert pair["reason"] == "all_zero"
    assert np.isnan(pair["p_wilcoxon"])
    assert rank_groups(rankings(equal, GOALS))["technique"].tolist() == ["a", "b"]
    alone = on_datasets({"a": 0.5, "b": 0.4})
    assert friedman_tests(rankings(alone, GOALS))["reason"].tolist() == ["few_blocks"]


def test_blocks_are_made_of_the_axes_that_are_pooled() -> None:
    table = random_results()
    assert len(average_ranks(rankings(table, GOALS))) == 3 * 3 * 2  # techniques, levels of bias, metrics
    pooled = average_ranks(rankings(table, GOALS, over=["dataset", "beta"]))
    assert "beta" not in pooled.columns
    assert (pooled["n_blocks"] == 6).all()
    assert (pooled["n_datasets"] == 2).all()
    assert pooled[pooled["metric"] == "discrimination"]["technique"].tolist() == [
        "a",
        "b",
        "c",
    ]  # nearest to 0


def test_metrics_without_better_values_are_not_ranked() -> None:
    table = pd.concat([on_datasets({"a": 1, "b": 2}), results({"a": [1], "b": [2]}, metric="size")])
    assert set(average_ranks(rankings(table, GOALS))["metric"]) == {"accuracy"}


def test_impossible_comparisons_are_refused() -> None:
    table = on_datasets({"a": 1, "b": 2})
    with pytest.raises(UnknownNameError, match="axis called 'colour'"):
        rankings(table, GOALS, over=["dataset", "colour"])
    with pytest.raises(StatisticsError, match="no datasets"):
        rankings(table, GOALS, over=["beta"])
    with pytest.raises(UnknownNameError, match="metric called 'accuracy'"):
        rankings(table, {})


@pytest.mark.parametrize("n", range(1, 9))
def test_the_smallest_p_value_is_that_of_differences_of_one_sign(n: int) -> None:
    p = scipy.stats.wilcoxon(np.arange(1.0, n + 1)).pvalue
    assert smallest_p_value(n) == pytest.approx(p, abs=1e-12)


def test_how_many_datasets_a_claim_needs() -> None:
    assert repetitions_needed(1) == 6  # 2/2^6 = 0.031, 2/2^5 = 0.0625
    assert repetitions_needed(10) == 9  # 2/2^9 = 0.0039 <= 0.005
    assert repetitions_needed(1, alpha=0.25) == 3
    tests = friedman_tests(rankings(random_results(), GOALS))
    assert set(tests["datasets_needed"]) == {repetitions_needed(3)}


def test_bayesian_comparisons_see_who_is_better() -> None:
    table = on_datasets(*({"a": x, "b": x + 0.1, "c": x + 0.102} for x in np.linspace(0.3, 0.8, 8)))
    found = bayesian_comparisons(rankings(table, GOALS), n_samples=2000).set_index(["first", "second"])
    assert found.loc[("a", "b"), "p_second"] > 0.99
    assert found.loc[("b", "c"), "p_rope"] == 1
    assert found.loc[("a", "b"), "improvement"] == pytest.approx(-0.1)
    np.testing.assert_allclose(found[["p_first", "p_rope", "p_second"]].sum(axis=1), 1)
    narrow = bayesian_comparisons(rankings(table, GOALS), rope=0.0005, n_samples=2000).set_index(
        ["first", "second"]
    )
    assert narrow.loc[("b", "c"), "p_second"] > 0.99
