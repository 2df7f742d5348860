"""Fairea's mutation baseline and regions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from benchmark.errors import UnknownNameError
from benchmark.metrics import GroupCounts, OneValueEach, evaluate
from benchmark.statistics import fairea_regions
from benchmark.statistics.fairea import REGIONS, regions
from tests.statistics.made_up import results

PAPER = ["accuracy", "discrimination", "overestimation", "underestimation"]


def count(deprived: np.ndarray, y_true: np.ndarray, y_pred: np.ndarray) -> np.ndarray:
    counts = np.zeros((2, 2, 2), dtype=int)
    np.add.at(counts, (deprived.astype(int), y_true.astype(int), y_pred.astype(int)), 1)
    return counts


def mutation_baseline(counts: np.ndarray, shares: Sequence[float]) -> pd.DataFrame:
    """Return the metrics at the counts that are expected once shares of predictions are made constant."""
    by_label = counts.sum(axis=(0, 2))
    rows = []
    for share in shares:
        mutated = (1 - share) * counts
        mutated[:, :, int(by_label[1] > by_label[0])] += share * counts.sum(axis=2)
        names = tuple(map(str, range(len(counts))))
        rows.append(OneValueEach(names, 1, PAPER)(GroupCounts(names, mutated, counts)).values)
    return pd.DataFrame(rows)


def constant_accuracy(counts: np.ndarray) -> float:
    by_label = counts.sum(axis=(0, 2))
    return float(by_label.max() / by_label.sum())


@pytest.mark.parametrize("favorable", [False, True])
def test_the_baseline_is_the_mean_over_all_ways_to_overwrite(favorable: bool) -> None:
    deprived = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0], dtype=bool)
    y_true = np.array([1, 0, 0, 0, 1, 1, 0, 0, 0], dtype=bool) ^ favorable
    y_pred = np.array([1, 1, 0, 0, 1, 0, 1, 1, 0], dtype=bool) ^ favorable
    n = len(y_true)
    shares = [k / n for k in (0, 1, 3, 9)]
    found = mutation_baseline(count(deprived, y_true, y_pred), shares)
    for k, row in zip((0, 1, 3, 9), found.itertuples(), strict=True):
        means = dict.fromkeys(PAPER, 0.0)
        ways = list(itertools.combinations(range(n), k))
        for overwritten in ways:
            mutated = y_pred.copy()
            mutated[list(overwritten)] = favorable  # the more common label
            for name, value in evaluate(y_true, mutated, deprived, metrics=PAPER).values.items():
                means[name] += value / len(ways)
        for name in PAPER:
            assert getattr(row, name) == pytest.approx(means[name], abs=1e-9)


# Somebody of each group has each label.
tables = npst.arrays(np.int64, (3, 2, 2), elements=st.integers(1, 40))


@settings(deadline=None, max_examples=50)
@given(tables)
def test_the_baseline_is_a_straight_line(counts: np.ndarray) -> None:
    s = np.linspace(0, 1, 11)
    found = mutation_baseline(counts, s)
    first = found.iloc[0]
    for name in PAPER[1:]:
        np.testing.assert_allclose(found[name], (1 - s) * first[name], atol=1e-9)
    np.testing.assert_allclose(
        found["accuracy"], (1 - s) * first["accuracy"] + s * constant_accuracy(counts), atol=1e-9
    )


def region(accuracy: float, bias: float) -> str:
    """Return the region where the original has accuracy 0.8 and bias 0.4, and a constant has accuracy 0.6."""
    found = regions(*(np.array([x]) for x in (accuracy, bias, 0.8, 0.4)), 0.6)
    return str(found[0])


def test_regions_by_hand() -> None:
    assert region(0.9, 0.3) == "win_win"
    assert region(0.9, 0.5) == "inverted"
    assert region(0.7, 0.5) == "lose_lose"
    # Half the bias costs half the way from 0.8 to 0.6 on the baseline.
    assert region(0.71, 0.2) == "good"
    assert region(0.69, 0.2) == "bad"
    assert region(0.61, 0.0) == "good"
    assert region(0.59, 0.0) == "bad"


def test_borders_of_regions() -> None:
    assert region(0.8, 0.4) == "unchanged"
    assert region(0.8, 0.3) == region(0.9, 0.4) == "win_win"
    assert region(0.8, 0.5) == region(0.7, 0.4) == "lose_lose"
    assert region(0.6, 0.0) == "bad"  # a constant prediction is the baseline
    assert region(float("nan"), 0.1) == ""
    # An original without bias can only be left as fair as it is.
    assert regions(*(np.array([x]) for x in (0.7, 0.0, 0.8, 0.0)), 0.6)[0] == "lose_lose"


@settings(deadline=None, max_examples=50)
@given(tables, st.sampled_from([0.1, 0.4, 0.9]), st.sampled_from(PAPER[1:]))
def test_the_border_of_good_and_bad_is_the_mutation_baseline(
    counts: np.ndarray, share: float, metric: str
) -> None:
    counts = counts + 40 * np.eye(2, dtype=int)  # the original is more accurate than a constant
    original, mutated = (row for _, row in mutation_baseline(counts, [0, share]).iterrows())
    constant = constant_accuracy(counts)
    drop = original["accuracy"] - mutated["accuracy"]
    assume(abs(original[metric]) > 1e-3)
    numbers = (abs(mutated[metric]), original["accuracy"], abs(original[metric]))
    for step, expected in ((drop / 2, "good"), (-drop / 2, "bad")):
        arrays = (np.array([x]) for x in (mutated["accuracy"] + step, *numbers))
        assert regions(*arrays, constant)[0] == expected


def test_shares_of_repetitions() -> None:
    table = pd.concat(
        [
            results({"none": [0.8, 0.8, 0.8, 0.8], "t": [0.9, 0.7, 0.71, None]}),
            results({"none": [0.4, -0.4, 0.4, 0.4], "t": [-0.3, 0.5, 0.2, 0.1]}, metric="discrimination"),
        ]
    )
    found = fairea_regions(table, "none", {"one": 0.6}, ["discrimination"])
    assert len(found) == 1
    row = found.iloc[0]
    assert (row["technique"], row["original"], row["metric"]) == ("t", "none", "discrimination")
    assert (row["n"], row["missing"]) == (3, 1)
    assert row[list(REGIONS)].to_dict() == pytest.approx(
        {"win_win": 1 / 3, "good": 1 / 3, "bad": 0, "inverted": 0, "lose_lose": 1 / 3, "unchanged": 0}
    )


def test_a_cell_without_an_original_has_a_reason() -> None:
    table = pd.concat(
        [
            results({"none": [0.8], "t": [0.9]}),
            results({"none": [0.4], "t": [0.3]}, metric="discrimination"),
            results({"t": [0.9]}, dataset="two"),
            results({"t": [0.3]}, dataset="two", metric="discrimination"),
        ]
    )
    found = fairea_regions(table, "none", {"one": 0.6, "two": 0.5}, ["discrimination"])
    assert found["win_win"].tolist() == pytest.approx([1, np.nan], nan_ok=True)
    assert found["reason"].tolist() == ["", "no repetition has all values of technique and original"]


def test_impossible_requests_are_refused() -> None:
    table = results({"none": [0.8], "t": [0.9]})
    with pytest.raises(UnknownNameError, match="technique called 'raw'"):
        fairea_regions(table, "raw", {"one": 0.6}, [])
    with pytest.raises(UnknownNameError, match="dataset called 'one'"):
        fairea_regions(table, "none", {}, [])
    with pytest.raises(UnknownNameError, match="metric called 'bias'"):
        fairea_regions(table, "none", {"one": 0.6}, ["bias"])
