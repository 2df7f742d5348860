"""Techniques over several datasets: ranks, tests, groups, warnings."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from benchmark.statistics.across import rank_table, repetitions_needed, unbroken_groups
from benchmark.statistics.hypothesis_tests import friedman
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
    found = rank_table(demsar(), GOALS).set_index("technique")
    assert found["mean_rank"].round(3).to_dict() == {"both": 1.964, "m": 2.0, "cf": 2.893, "c45": 3.143}
    assert (found["n_datasets"] == 14).all()
    np.testing.assert_allclose(found.loc[list(TUNED), "mean_distance"], 1 - DEMSAR.mean(axis=0))


def test_demsars_friedman_test() -> None:
    found = rank_table(demsar(), GOALS).iloc[0]
    n, k = DEMSAR.shape
    # The paper prints the statistics without the correction for ties.
    ties = sum(
        (count**3 - count).sum() for count in (np.unique(row, return_counts=True)[1] for row in DEMSAR)
    )
    chi2 = scipy.stats.friedmanchisquare(*DEMSAR.T).statistic
    assert found["f"] == pytest.approx((n - 1) * chi2 / (n * (k - 1) - chi2))
    printed = chi2 * (1 - ties / (n * k * (k**2 - 1)))
    assert printed == pytest.approx(9.28, abs=0.005)
    assert (n - 1) * printed / (n * (k - 1) - printed) == pytest.approx(3.69, abs=0.005)
    assert found["p_f"] == pytest.approx(scipy.stats.f.sf(found["f"], 3, 39))
    assert found["datasets_needed"] <= n


@given(npst.arrays(np.int64, st.tuples(st.integers(2, 8), st.integers(3, 6)), elements=st.integers(0, 4)))
def test_iman_and_davenports_test_is_an_analysis_of_variance_of_ranks(values: np.ndarray) -> None:
    f, p = friedman(values.astype(float))
    ranks = scipy.stats.rankdata(values, axis=1)
    n, k = values.shape
    if (ranks == (k + 1) / 2).all():
        assert np.isnan([f, p]).all()
        return
    # The same from the sums of squares of a two-way table of ranks without interaction.
    between = n * ((ranks.mean(axis=0) - ranks.mean()) ** 2).sum()
    residual = ((ranks - ranks.mean(axis=0) - ranks.mean(axis=1, keepdims=True) + ranks.mean()) ** 2).sum()
    if residual > 1e-9:
        expected = (between / (k - 1)) / (residual / ((k - 1) * (n - 1)))
        assert f == pytest.approx(expected, rel=1e-6, abs=1e-9)
        assert p == pytest.approx(scipy.stats.f.sf(expected, k - 1, (k - 1) * (n - 1)), abs=1e-6)
    else:
        assert f == np.inf
        assert np.isnan(p), "no p-value of few blocks is 0"


def test_groups_join_what_does_not_differ() -> None:
    rng = np.random.default_rng(2)
    table = on_datasets(
        *(
            {"bad": x, "good": x + 0.3, "better": x + 0.3 + e}
            for x, e in rng.normal(0.3, 0.02, (12, 2)) - [0, 0.3]
        )
    )
    found = rank_table(table, GOALS).set_index("technique")
    assert found["groups"].to_dict() == {"better": "1", "good": "1", "bad": ""}
    # Three datasets can tell nothing apart: all are in one group.
    few = rank_table(table[table["dataset"].isin(["set 0", "set 1", "set 2"])], GOALS)
    assert few["groups"].tolist() == ["1", "1", "1"]


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
    found = rank_table(table, GOALS).set_index("technique")
    assert found["mean_rank"].tolist() == pytest.approx([4 / 3, 5 / 3, np.nan], nan_ok=True)
    assert found.loc["c", ["reason", "reason_dataset"]].tolist() == ["no_value", "set 1"]
    assert found.loc["a", "reason"] == ""
    assert (found["n_blocks"] == 3).all()


def test_degenerate_comparisons_have_reasons() -> None:
    equal = rank_table(on_datasets({"a": 0.5, "b": 0.5}, {"a": 0.4, "b": 0.4}), GOALS)
    assert equal["test_reason"].tolist() == ["all_equal"] * 2
    assert equal[["technique", "groups"]].to_numpy().tolist() == [["a", "1"], ["b", "1"]]
    alone = rank_table(on_datasets({"a": 0.5, "b": 0.4}), GOALS)
    assert set(alone["test_reason"]) == {"few_blocks"}


def test_blocks_are_made_of_the_axes_that_are_pooled() -> None:
    table = random_results()
    assert len(rank_table(table, GOALS)) == 3 * 3 * 2  # techniques, levels of bias, metrics
    pooled = rank_table(table, GOALS, over=["dataset", "level"])
    assert pooled["level"].isna().all()
    assert (pooled["n_blocks"] == 6).all()
    assert (pooled["n_datasets"] == 2).all()
    assert pooled[pooled["metric"] == "discrimination"]["technique"].tolist() == [
        "a",
        "b",
        "c",
    ]  # nearest to 0


def test_how_many_datasets_a_claim_needs() -> None:
    assert repetitions_needed(1) == 6  # 2/2^6 = 0.031, 2/2^5 = 0.0625
    assert repetitions_needed(10) == 9  # 2/2^9 = 0.0039 <= 0.005
    assert repetitions_needed(1, alpha=0.25) == 3
    assert set(rank_table(random_results(), GOALS)["datasets_needed"]) == {repetitions_needed(3)}
    for n in range(2, 9):
        # The smallest p-value is that of differences of one sign.
        smallest = scipy.stats.wilcoxon(np.arange(1.0, n + 1)).pvalue
        assert repetitions_needed(1, alpha=smallest) == n
