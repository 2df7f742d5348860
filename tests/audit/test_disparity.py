"""Groups are counted once, compared with a reference group, and judged by what their ratios are."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.audit import (
    PARITIES,
    by_group,
    disparities,
    group_table,
    intersect,
    overall_parity,
    parity,
    select,
)
from benchmark.errors import DataError, ExperimentError, UnknownNameError
from benchmark.metrics import Predictions, list_families

CELLS = ("tp", "fp", "fn", "tn")
# What each tested rate counts, and what it counts it among, in columns of the group table.
FRACTIONS = {
    "selection_rate": ("predicted_positives", "n"),
    "precision": ("tp", "predicted_positives"),
    "false_discovery_rate": ("fp", "predicted_positives"),
    "false_omission_rate": ("fn", "predicted_negatives"),
    "false_positive_rate": ("fp", "labelled_negatives"),
    "false_negative_rate": ("fn", "labelled_positives"),
    "true_positive_rate": ("tp", "labelled_positives"),
    "true_negative_rate": ("tn", "labelled_negatives"),
    "negative_predictive_value": ("tn", "predicted_negatives"),
}


def predictions(**groups: tuple[int, int, int, int]) -> Predictions:
    """Expand the numbers of tp, fp, fn and tn of each group to rows."""
    rows = [
        (name, cell)
        for name, counts in groups.items()
        for cell, count in zip(CELLS, counts, strict=True)
        for _ in range(count)
    ]
    frame = pd.DataFrame(rows, columns=["group", "cell"])
    return by_group(
        frame["group"],
        y_true=frame["cell"].isin(["tp", "fn"]).to_numpy(),
        y_pred=frame["cell"].isin(["tp", "fp"]).to_numpy(),
    )


HAND = predictions(a=(10, 5, 20, 65), b=(12, 3, 8, 27))


def cell(frame: pd.DataFrame, group: str, metric: str) -> pd.Series:
    [row] = frame[frame["group"].eq(group) & frame["metric"].eq(metric)].to_dict("records")
    return pd.Series(row)


# --- counting ---------------------------------------------------------------------------------------------


def test_a_group_table_by_hand() -> None:
    table = group_table(HAND, "letter").set_index("group")
    assert table["attribute"].tolist() == ["letter", "letter"]
    assert table.loc["a", [*CELLS, "n", "k"]].tolist() == [10, 5, 20, 65, 100, 30]
    assert table.loc["b", ["labelled_positives", "labelled_negatives"]].tolist() == [20, 30]
    assert table.loc["b", ["predicted_positives", "predicted_negatives"]].tolist() == [15, 35]
    assert table.loc["a", "predicted_positive_share"] == 15 / 30
    assert table.loc["a", "false_omission_rate"] == 20 / 85
    assert set(list_families()["rates"]) < set(table.columns)
    for rate, (part, whole) in FRACTIONS.items():
        np.testing.assert_allclose(table[rate], table[part] / table[whole])


def test_weights_count_like_repeated_rows_but_allow_no_test() -> None:
    weight = np.random.default_rng(0).integers(0, 4, len(HAND))
    weighted = Predictions(
        HAND.codes, HAND.names, HAND.y_true, HAND.y_pred, sample_weight=weight.astype(float)
    )
    again = [np.repeat(array, weight) for array in (HAND.codes, HAND.y_true, HAND.y_pred)]
    repeated = Predictions(again[0], HAND.names, again[1], again[2])
    tables = [group_table(p, "letter").drop(columns="n") for p in (weighted, repeated)]
    pd.testing.assert_frame_equal(*tables, check_dtype=False)
    found = disparities(weighted, "letter", reference="a")
    same = disparities(repeated, "letter", reference="a")
    np.testing.assert_allclose(found["disparity"], same["disparity"])
    assert found["p_value"].isna().all()
    assert not found["significant"].any()
    assert same["p_value"].notna().any()


def test_without_labels_only_the_selected_are_counted() -> None:
    blind = Predictions(HAND.codes, HAND.names, y_pred=HAND.y_pred)
    table = group_table(blind, "letter").set_index("group")
    assert table[[*CELLS, "labelled_positives", "labelled_negatives"]].isna().all(axis=None)
    assert table.loc["a", ["predicted_positives", "selection_rate"]].tolist() == [15, 0.15]
    found = disparities(blind, "letter")
    told = found[found["disparity"].notna()]
    assert set(told["metric"]) == {"predicted_positive_share", "selection_rate"}
    assert found.loc[found["disparity"].isna(), "reason"].str.contains("labels").all()
    verdicts = parity(found).set_index(["group", "parity"])["verdict"]
    assert not verdicts["b", "Unsupervised Fairness"]
    assert verdicts["a", "Supervised Fairness"] is pd.NA


def test_without_predictions_nothing_is_told_but_the_labels() -> None:
    table = group_table(Predictions(HAND.codes, HAND.names, y_true=HAND.y_true), "letter")
    assert table["labelled_positives"].tolist() == [30, 20]
    assert table[[*CELLS, "predicted_positives", "predicted_negatives", "k"]].isna().all(axis=None)


# --- comparing --------------------------------------------------------------------------------------------


def test_disparities_by_hand() -> None:
    found = disparities(HAND, "letter", reference="a")
    row = cell(found, "b", "false_positive_rate")
    assert row["value"] == 3 / 30
    assert (row["reference"], row["reference_value"]) == ("a", 5 / 70)
    assert row["disparity"] == pytest.approx(1.4)
    assert (row["n"], row["n_reference"]) == (50, 100)
    assert cell(found, "b", "predicted_positive_share")["disparity"] == 1
    assert cell(found, "b", "selection_rate")["disparity"] == pytest.approx(2)
    own = found[found["group"] == "a"]
    assert (own["disparity"] == 1).all()
    assert own["p_value"].isna().all()


def test_a_small_denominator_is_flagged_in_a_large_group() -> None:
    found = disparities(predictions(a=(40, 40, 40, 40), b=(6, 6, 100, 100)), "letter", reference="a")
    flagged = {metric for metric in FRACTIONS if cell(found, "b", metric)["small"]}
    assert flagged == {"precision", "false_discovery_rate"}
    assert not found.loc[found["group"] == "a", "small"].any()


def test_references() -> None:
    groups = predictions(c=(5, 1, 5, 9), b=(2, 4, 10, 4), a=(9, 1, 1, 9), d=(0, 0, 4, 4))
    chosen = disparities(groups, "letter").drop_duplicates("metric")["reference"]
    assert (chosen == "a").all()  # a, b and c are equally large: the first in sorted order
    chosen = disparities(groups, "letter", reference="minimum").drop_duplicates("metric")
    smallest = chosen.set_index("metric")["reference"]
    assert smallest["false_omission_rate"] == "a"
    assert smallest["true_negative_rate"] == "b"
    assert smallest["selection_rate"] == "d"
    assert smallest["false_discovery_rate"] == "a"  # d selects nobody and has none
    assert smallest["precision"] == "b"
    chosen = disparities(groups, "letter", reference="c").drop_duplicates("metric")["reference"]
    assert (chosen == "c").all()


def test_the_order_of_the_groups_decides_nothing_but_the_order_of_the_rows() -> None:
    turned = Predictions(1 - HAND.codes, HAND.names[::-1], HAND.y_true, HAND.y_pred)
    by = ["group", "metric"]
    for reference in ("majority", "minimum", "b"):
        one, other = (disparities(p, "letter", reference=reference) for p in (HAND, turned))
        assert other["group"].iloc[0] == "b"
        pd.testing.assert_frame_equal(*(f.sort_values(by, ignore_index=True) for f in (one, other)))
    pd.testing.assert_frame_equal(
        group_table(HAND, "x"), group_table(turned, "x")[::-1].reset_index(drop=True)
    )
    tied = predictions(a=(1, 2, 3, 4), b=(4, 3, 2, 1))
    turned = Predictions(1 - tied.codes, tied.names[::-1], tied.y_true, tied.y_pred)
    assert (disparities(turned, "letter")["reference"] == "a").all()
    least = disparities(turned, "letter", reference="minimum").set_index(by)["reference"]
    assert least["a", "selection_rate"] == "a"
    same = predictions(a=(1, 2, 3, 4), b=(1, 2, 3, 4))
    turned = Predictions(1 - same.codes, same.names[::-1], same.y_true, same.y_pred)
    assert (disparities(turned, "letter", reference="minimum")["reference"] == "a").all()


def test_a_group_without_rows_is_counted_but_not_compared() -> None:
    empty = Predictions(HAND.codes + 1, ("0", *HAND.names), HAND.y_true, HAND.y_pred)
    table = group_table(empty, "letter").set_index("group")
    assert table.loc["0", ["n", "k"]].tolist() == [0, 30]
    assert math.isnan(table.loc["0", "selection_rate"])
    for reference in ("majority", "minimum"):
        found = disparities(empty, "letter", reference=reference)
        pd.testing.assert_frame_equal(found, disparities(HAND, "letter", reference=reference))
    with pytest.raises(UnknownNameError, match="no group called '0'"):
        disparities(empty, "letter", reference="0")


def test_where_no_group_has_a_rate_there_is_no_reference() -> None:
    found = disparities(predictions(a=(0, 0, 3, 4), b=(0, 0, 5, 2)), "letter", reference="minimum")
    row = cell(found, "b", "precision")
    assert row["reference"] == ""
    assert row["n_reference"] == 0
    assert row[["value", "reference_value", "disparity", "p_value"]].isna().all()
    assert "that is predicted favorable" in row["reason"]


def test_an_unknown_reference_is_refused_with_a_guess() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'majority'"):
        disparities(HAND, "letter", reference="majorty")


counts = st.tuples(*[st.integers(0, 12)] * 4).filter(any)


@settings(max_examples=25, deadline=None)
@given(counts, counts)
def test_swapping_the_groups_inverts_disparities_and_keeps_tests(a: tuple, b: tuple) -> None:
    both = predictions(a=a, b=b)
    one = disparities(both, "x", reference="a").query("group == 'b'").set_index("metric")
    other = disparities(both, "x", reference="b").query("group == 'a'").set_index("metric")
    inverse = (one["disparity"] * other["disparity"]).where((one["value"] > 0) & (other["value"] > 0))
    np.testing.assert_allclose(inverse.dropna(), 1)
    np.testing.assert_allclose(one["p_value"], other["p_value"], rtol=1e-9)
    np.testing.assert_allclose(one["p_adjusted"], other["p_adjusted"], rtol=1e-9)


# --- significance -----------------------------------------------------------------------------------------


def fisher(hits: int, n: int, other_hits: int, other_n: int) -> float:
    """Add up all tables of these margins that are no more likely than the one met, in fractions."""
    everything, drawn = n + other_n, hits + other_hits
    chance = {
        k: Fraction(math.comb(n, k) * math.comb(other_n, drawn - k), math.comb(everything, drawn))
        for k in range(max(0, drawn - other_n), min(n, drawn) + 1)
    }
    return float(sum(p for p in chance.values() if p <= chance[hits]))


def test_p_values_are_fishers() -> None:
    groups = predictions(a=(10, 5, 20, 65), b=(12, 3, 8, 27), c=(1, 2, 0, 9))
    table = group_table(groups, "letter").set_index("group")
    found = disparities(groups, "letter", reference="b")
    for group, (metric, (part, whole)) in itertools.product("ac", FRACTIONS.items()):
        expected = fisher(*(int(table.loc[g, c]) for g in (group, "b") for c in (part, whole)))
        assert cell(found, group, metric)["p_value"] == pytest.approx(expected, rel=1e-9), (group, metric)


def test_numbers_of_selected_people_are_compared_as_coin_tosses() -> None:
    found = disparities(predictions(a=(8, 0, 0, 5), b=(2, 0, 9, 90)), "letter", reference="b")
    # 8 of 10 selected are of one group: as far from even as 0, 1, 2, 8, 9 or 10 heads.
    expected = 2 * sum(math.comb(10, heads) for heads in range(3)) / 2**10
    assert cell(found, "a", "predicted_positive_share")["p_value"] == pytest.approx(expected)


def test_two_groups_of_which_nobody_is_selected_do_not_differ() -> None:
    found = disparities(predictions(a=(0, 0, 3, 4), b=(0, 0, 5, 2), c=(1, 0, 0, 5)), "x", reference="a")
    for metric in ("predicted_positive_share", "selection_rate"):
        assert cell(found, "b", metric)["p_value"] == 1
        assert "is 0" in cell(found, "b", metric)["reason"]


def test_an_adjusted_p_value_is_never_below_that_of_a_smaller_one() -> None:
    # Twice the same table: the second test counts for one less than the first, and must not profit.
    found = disparities(predictions(a=(90, 10, 10, 90), b=(7, 3, 9, 11), c=(7, 3, 9, 11)), "x", reference="a")
    compared = found[found["p_value"].notna()].sort_values("p_value")
    assert compared["p_adjusted"].is_monotonic_increasing
    twice = compared[compared["metric"] == "true_positive_rate"]
    assert twice["p_adjusted"].nunique() == twice["p_value"].nunique() == 1


@pytest.mark.parametrize("reference", ["majority", "minimum"])
def test_p_values_are_adjusted_for_all_tests_of_the_attribute_once(reference: str) -> None:
    groups = predictions(a=(30, 15, 20, 65), b=(12, 30, 8, 27), c=(10, 2, 50, 9))
    found = disparities(groups, "letter", reference=reference)
    compared = found[found["p_value"].notna()]
    # A rate and its complement are one test, as are a group against another and the other way round.
    kinds = [tuple(sorted(FRACTIONS.get(m, (m,))[1:])) for m in compared["metric"]]
    pairs = [tuple(sorted(pair)) for pair in zip(compared["group"], compared["reference"], strict=True)]
    once = compared.assign(kind=kinds, pair=pairs).drop_duplicates(["kind", "pair"])
    m = len(once)
    assert m == 12 if reference == "majority" else m > 12
    ordered = np.sort(once["p_value"])
    for p, adjusted in zip(compared["p_value"], compared["p_adjusted"], strict=True):
        rank = int(np.searchsorted(ordered, p * (1 + 1e-12), side="right"))
        expected = min(1, max((m - i) * ordered[i] for i in range(rank)))
        assert adjusted == pytest.approx(expected, rel=1e-9)
    assert (compared["significant"] == (compared["p_adjusted"] <= 0.05)).all()
    assert 0 < compared["significant"].sum() < len(compared)


def test_chance_alone_is_rarely_significant() -> None:
    rng = np.random.default_rng(7)
    alarms = 0
    for _ in range(20):
        codes, y_true, y_pred = rng.integers(0, 3, 300), rng.random(300) < 0.4, rng.random(300) < 0.3
        alarms += disparities(Predictions(codes, ("a", "b", "c"), y_true, y_pred), "x")["significant"].any()
    assert alarms <= 3  # 1 is expected at most, and 4 or more have a chance of 1.6 %


# --- judging ----------------------------------------------------------------------------------------------


def measured(**ratios: float) -> pd.DataFrame:
    """Return disparities of one group."""
    return pd.DataFrame(
        {
            "attribute": "x",
            "group": "a",
            "metric": list(ratios),
            "disparity": list(ratios.values()),
            "reason": [f"why {name}" if math.isnan(ratio) else "" for name, ratio in ratios.items()],
        }
    )


def verdict(name: str, conventions: str = "betabench", tau: float = 0.8, **ratios: float) -> bool | None:
    found = parity(measured(**ratios), tau, conventions=conventions).set_index("parity")["verdict"]
    return None if found[name] is pd.NA else bool(found[name])


@pytest.mark.parametrize(
    ("ratio", "fair"),
    [
        (0.8, True),
        (0.6 / 0.75, True),  # 0.7999999999999999
        (0.75 / 0.6, True),
        (1.25, True),
        (0.3 / 0.24, True),
        (1.0, True),
        (0.8 - 1e-6, False),
        (1.25 + 1e-6, False),
        (0.0, False),
        (10.0, False),
        (math.inf, False),
        (math.nan, None),
    ],
)
def test_both_ends_are_included(ratio: float, fair: bool | None) -> None:
    assert 0.6 / 0.75 < 0.8
    assert verdict("Impact Parity", selection_rate=ratio) is fair


@pytest.mark.parametrize("tau", [0.25, 0.5, 0.9])
def test_a_smaller_tau_allows_more(tau: float) -> None:
    for ratio, fair in ((tau, True), (1 / tau, True), (tau * 0.99, False), (1.01 / tau, False)):
        assert verdict("FPR Parity", tau=tau, false_positive_rate=ratio) is fair
        assert verdict("FPR Parity", tau=1, false_positive_rate=ratio) is False
    assert verdict("FPR Parity", tau=1, false_positive_rate=1.0) is True


@pytest.mark.parametrize("tau", [0, -0.5, 1.01, math.nan, math.inf])
def test_an_impossible_tau_is_refused(tau: float) -> None:
    with pytest.raises(ExperimentError, match="tau"):
        parity(measured(precision=1.0), tau)


GOOD, BAD, NONE = 1.0, 2.0, math.nan


@pytest.mark.parametrize(
    ("one", "other", "ours", "theirs"),
    [
        (GOOD, GOOD, True, True),
        (GOOD, BAD, False, False),
        (BAD, BAD, False, False),
        (GOOD, NONE, None, False),
        (BAD, NONE, False, False),
        (NONE, NONE, None, None),
    ],
)
def test_two_verdicts_make_one(one: float, other: float, ours: bool | None, theirs: bool | None) -> None:
    for fdr, fpr in ((one, other), (other, one)):
        rates = {"false_discovery_rate": fdr, "false_positive_rate": fpr}
        assert verdict("TypeI Parity", **rates) is ours
        assert verdict("TypeI Parity", "aequitas", **rates) is theirs


def test_pairs_are_made_of_the_parities_that_the_source_names() -> None:
    rates = {parts[0]: GOOD for parts in PARITIES.values() if len(parts) == 1}
    fails = {
        rate: {
            name
            for name, fair in parity(measured(**rates | {rate: BAD})).set_index("parity")["verdict"].items()
            if not fair and len(PARITIES[name]) == 2
        }
        for rate in rates
    }
    assert fails == {
        "predicted_positive_share": {"Unsupervised Fairness"},
        "selection_rate": {"Unsupervised Fairness"},
        "false_discovery_rate": {"TypeI Parity", "Supervised Fairness"},
        "false_positive_rate": {"TypeI Parity", "Equalized Odds", "Supervised Fairness"},
        "false_omission_rate": {"TypeII Parity", "Supervised Fairness"},
        "false_negative_rate": {"TypeII Parity", "Supervised Fairness"},
        "true_positive_rate": {"Equalized Odds"},
        "true_negative_rate": set(),
        "negative_predictive_value": set(),
        "precision": set(),
    }


def test_an_undefined_verdict_says_why() -> None:
    found = parity(measured(false_discovery_rate=GOOD, false_positive_rate=NONE)).set_index("parity")
    assert found["reason"].to_dict() == {
        "FDR Parity": "",
        "FPR Parity": "why false_positive_rate",
        "TypeI Parity": "why false_positive_rate",
    }


def test_only_what_is_measured_is_judged() -> None:
    assert parity(measured(precision=1.0))["parity"].tolist() == ["Precision Parity"]


def test_an_attribute_is_fair_if_all_of_its_groups_are() -> None:
    frame = pd.DataFrame(
        [
            ("x", "a", "p", True), ("x", "b", "p", True),
            ("x", "a", "q", True), ("x", "b", "q", None),
            ("x", "a", "r", False), ("x", "b", "r", None),
            ("y", "a", "r", False), ("y", "b", "r", False),
        ],
        columns=["attribute", "group", "parity", "verdict"],
    ).astype({"verdict": "boolean"})  # fmt: skip
    found = overall_parity(frame)
    assert found[["attribute", "parity"]].to_numpy().tolist() == [
        ["x", "p"], ["x", "q"], ["x", "r"], ["y", "r"]
    ]  # fmt: skip
    assert found["verdict"].astype(object).where(found["verdict"].notna(), None).tolist() == [
        True,
        None,
        False,
        False,
    ]
    assert found["failed"].tolist() == ["", "", "a", "a, b"]


# --- selecting and crossing -------------------------------------------------------------------------------

SCORE = np.array([0.9, 0.5, 0.7, 0.5, 0.1, 0.5, 0.3])


@pytest.mark.parametrize(
    ("rule", "threshold", "selected"),
    [
        ({"k": 1}, 0.9, [0]),
        ({"k": 2}, 0.7, [0, 2]),
        ({"k": 3}, 0.5, [0, 1, 2, 3, 5]),  # the third shares its score with two more
        ({"k": 7}, 0.1, range(7)),
        ({"percent": 30}, 0.7, [0, 2]),  # 2.1 rows
        ({"percent": 100}, 0.1, range(7)),
        ({"threshold": 0.5}, 0.5, [0, 1, 2, 3, 5]),
        ({"threshold": 0.95}, 0.95, []),
    ],
)
def test_selecting(rule: dict[str, float], threshold: float, selected: list[int]) -> None:
    found = select(SCORE, **rule)
    assert np.flatnonzero(found.selected).tolist() == list(selected)
    assert found.threshold == threshold
    assert found.n_selected == len(selected)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.data())
def test_the_selected_are_the_highest_in_whatever_order(scores: list[int], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(scores)))
    found = select(np.array(scores), k=k)
    kth = sorted(scores, reverse=True)[k - 1]
    assert found.selected.tolist() == [score >= kth for score in scores]
    assert found.n_selected >= k
    assert sum(score > kth for score in scores) < k


def test_a_percentage_of_whole_rows_is_whole() -> None:
    score = np.arange(1000.0)
    for tenths in range(1, 1001):
        assert select(score, percent=tenths / 10).n_selected == tenths


@pytest.mark.parametrize(
    "rule",
    [
        {}, {"k": 2, "percent": 10.0}, {"threshold": math.nan},
        {"k": 0}, {"k": 8}, {"k": -1}, {"k": 2.5},
        {"percent": 0.0}, {"percent": 10.0}, {"percent": 101.0}, {"percent": math.nan},
    ],
)  # fmt: skip
def test_impossible_selections_are_refused(rule: dict[str, float]) -> None:
    with pytest.raises(ExperimentError, match="Expected"):
        select(SCORE, **rule)


@pytest.mark.parametrize(
    "score", [np.array([0.5, math.nan]), np.array([[0.5]]), np.array(["high"]), np.array([True])]
)
def test_scores_that_have_no_order_are_refused(score: np.ndarray) -> None:
    with pytest.raises(DataError, match="cannot be ranked"):
        select(score, k=1)


PEOPLE = pd.DataFrame(
    {"sex": ["Female", "Male", "Female"], "race": ["Black", "White", "White"], "age": [1, 2, 1]}
)


def test_attributes_are_crossed() -> None:
    crossed = intersect(PEOPLE, ["sex", "race"])
    assert crossed.name == "sex × race"
    assert crossed.tolist() == ["Female × Black", "Male × White", "Female × White"]
    three = intersect(PEOPLE, ["sex", "race", "age"])
    assert three.name == "sex × race × age"
    assert three[0] == "Female × Black × 1"
    assert by_group(crossed).names == ("Female × Black", "Female × White", "Male × White")


def test_crossing_columns_that_are_not_there_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'race'"):
        intersect(PEOPLE, ["sex", "rase"])
    with pytest.raises(ExperimentError, match="two or more columns"):
        intersect(PEOPLE, ["sex"])


def test_a_person_without_a_group_is_refused() -> None:
    missing = PEOPLE.assign(race=["Black", None, "White"])
    with pytest.raises(DataError, match="1 of 3 rows"):
        intersect(missing, ["sex", "race"])
    with pytest.raises(DataError, match="'race' has missing values"):
        by_group(missing["race"])
    for audit in (group_table, disparities):
        with pytest.raises(DataError, match="has no rows"):
            audit(by_group(PEOPLE["race"][:0]), "race")
