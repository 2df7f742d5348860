"""Groups are counted once, compared with a reference group, and judged by what their ratios are."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.audit import PARITIES, GroupRates
from benchmark.errors import ExperimentError, UnknownNameError
from benchmark.metrics import Predictions, list_families

CELLS = ("tp", "fp", "fn", "tn")
# What each tested rate counts, and what it counts it among, in columns of the groups.
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
    counts = np.array(list(groups.values()))
    cells = np.repeat(np.tile(CELLS, len(groups)), counts.ravel())
    codes = np.repeat(np.arange(len(groups)), counts.sum(axis=1))
    return Predictions(codes, (*groups,), np.isin(cells, ["tp", "fn"]), np.isin(cells, ["tp", "fp"]))


HAND = predictions(a=(10, 5, 20, 65), b=(12, 3, 8, 27))


def rates(given: Predictions = HAND, reference: str = "majority", **options: Any) -> GroupRates:
    return GroupRates(given, "letter", reference, **options)


def cell(own: GroupRates, group: str, metric: str) -> pd.Series:
    return own.disparities.set_index(["group", "metric"]).loc[(group, metric)]


# --- counting ---------------------------------------------------------------------------------------------


def test_groups_by_hand() -> None:
    table = rates().groups.set_index("group")
    assert table["attribute"].tolist() == ["letter", "letter"]
    assert table.loc["a", [*CELLS, "n", "k"]].tolist() == [10, 5, 20, 65, 100, 30]
    assert table.loc["b", ["labelled_positives", "labelled_negatives"]].tolist() == [20, 30]
    assert table.loc["b", ["predicted_positives", "predicted_negatives"]].tolist() == [15, 35]
    assert table.loc["a", "predicted_positive_share"] == 15 / 30
    assert table.loc["a", "false_omission_rate"] == 20 / 85
    assert set(list_families()["rates"]) < set(table.columns)
    for rate, (part, whole) in FRACTIONS.items():
        np.testing.assert_allclose(table[rate], table[part] / table[whole])
    small = rates(predictions(a=(30, 0, 0, 0), b=(0, 0, 0, 29))).groups["small"]
    assert small.tolist() == [False, True]


def test_without_labels_only_the_selected_are_counted() -> None:
    blind = rates(Predictions(HAND.codes, HAND.names, y_pred=HAND.y_pred))
    table = blind.groups.set_index("group")
    assert "auc" not in table
    assert table[[*CELLS, "labelled_positives", "labelled_negatives"]].isna().all(axis=None)
    assert table.loc["a", ["predicted_positives", "selection_rate"]].tolist() == [15, 0.15]
    found = blind.disparities
    told = found[found["disparity"].notna()]
    assert set(told["metric"]) == {"predicted_positive_share", "selection_rate"}
    assert found.loc[found["disparity"].isna(), "reason"].str.contains("labels").all()
    verdicts = blind.verdicts.set_index(["group", "parity"])["verdict"]
    assert not verdicts["b", "Unsupervised Fairness"]
    assert verdicts["a", "Supervised Fairness"] is pd.NA


def test_without_predictions_nothing_is_told_but_the_labels() -> None:
    table = rates(Predictions(HAND.codes, HAND.names, y_true=HAND.y_true)).groups
    assert table["labelled_positives"].tolist() == [30, 20]
    assert table[[*CELLS, "predicted_positives", "predicted_negatives", "k"]].isna().all(axis=None)


# --- comparing --------------------------------------------------------------------------------------------


def test_disparities_by_hand() -> None:
    own = rates(reference="a")
    row = cell(own, "b", "false_positive_rate")
    assert row[["value", "reference", "reference_value", "n", "n_reference"]].tolist() == [
        *(3 / 30, "a", 5 / 70, 50, 100)
    ]
    assert row["disparity"] == pytest.approx(1.4)
    assert cell(own, "b", "predicted_positive_share")["disparity"] == 1
    assert cell(own, "b", "selection_rate")["disparity"] == pytest.approx(2)
    same = own.disparities[own.disparities["group"] == "a"]
    assert (same["disparity"] == 1).all()
    assert same["p_value"].isna().all()


def test_a_small_denominator_is_flagged_in_a_large_group() -> None:
    own = rates(predictions(a=(40, 40, 40, 40), b=(6, 6, 100, 100)), "a")
    flagged = {metric for metric in FRACTIONS if cell(own, "b", metric)["small"]}
    assert flagged == {"precision", "false_discovery_rate"}
    assert not own.disparities.query("group == 'a'")["small"].any()


GROUPS = predictions(c=(5, 1, 5, 9), b=(2, 4, 10, 4), a=(9, 1, 1, 9), d=(0, 0, 4, 4))


@pytest.mark.parametrize(
    ("given", "reference", "chosen"),
    [
        (GROUPS, "majority", "a"),  # a, b and c are equally large: the first in sorted order
        (GROUPS, "c", "c"),
        (
            GROUPS,
            "minimum",
            {
                **{"false_omission_rate": "a", "true_negative_rate": "b", "selection_rate": "d"},
                **{"false_discovery_rate": "a", "precision": "b"},  # d selects nobody and has none
            },
        ),
        (predictions(b=(4, 3, 2, 1), a=(1, 2, 3, 4)), "majority", "a"),
        (predictions(b=(4, 3, 2, 1), a=(1, 2, 3, 4)), "minimum", {"selection_rate": "a"}),
        (predictions(b=(1, 2, 3, 4), a=(1, 2, 3, 4)), "minimum", "a"),
    ],
)
def test_references(given: Predictions, reference: str, chosen: Any) -> None:
    found = rates(given, reference).disparities.drop_duplicates("metric").set_index("metric")["reference"]
    expected = chosen if isinstance(chosen, dict) else dict.fromkeys(found.index, chosen)
    assert {metric: found[metric] for metric in expected} == expected


def test_where_no_group_has_a_rate_there_is_no_reference() -> None:
    row = cell(rates(predictions(a=(0, 0, 3, 4), b=(0, 0, 5, 2)), "minimum"), "b", "precision")
    assert row[["reference", "n_reference"]].tolist() == ["", 0]
    assert row[["value", "reference_value", "disparity", "p_value"]].isna().all()
    assert "that is predicted favorable" in row["reason"]


def test_what_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'majority'"):
        rates(reference="majorty")
    for tau in (0, -0.5, 1.01, math.nan, math.inf):
        with pytest.raises(ExperimentError, match="tau"):
            rates(tau=tau)


counts = st.tuples(*[st.integers(0, 12)] * 4).filter(any)


@given(counts, counts)
def test_swapping_the_groups_inverts_disparities_and_keeps_tests(a: tuple, b: tuple) -> None:
    both = predictions(a=a, b=b)
    one = rates(both, "a").disparities.query("group == 'b'").set_index("metric")
    other = rates(both, "b").disparities.query("group == 'a'").set_index("metric")
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
    own = rates(predictions(a=(10, 5, 20, 65), b=(12, 3, 8, 27), c=(1, 2, 0, 9)), "b")
    table = own.groups.set_index("group")
    for group, (metric, (part, whole)) in itertools.product("ac", FRACTIONS.items()):
        expected = fisher(*(int(table.loc[g, c]) for g in (group, "b") for c in (part, whole)))
        assert cell(own, group, metric)["p_value"] == pytest.approx(expected, rel=1e-9), (group, metric)


def test_numbers_of_selected_people_are_compared_as_coin_tosses() -> None:
    own = rates(predictions(a=(8, 0, 0, 5), b=(2, 0, 9, 90)), "b")
    # 8 of 10 selected are of one group: as far from even as 0, 1, 2, 8, 9 or 10 heads.
    expected = 2 * sum(math.comb(10, heads) for heads in range(3)) / 2**10
    assert cell(own, "a", "predicted_positive_share")["p_value"] == pytest.approx(expected)


def test_two_groups_of_which_nobody_is_selected_do_not_differ() -> None:
    own = rates(predictions(a=(0, 0, 3, 4), b=(0, 0, 5, 2), c=(1, 0, 0, 5)), "a")
    for metric in ("predicted_positive_share", "selection_rate"):
        assert cell(own, "b", metric)["p_value"] == 1
        assert "is 0" in cell(own, "b", metric)["reason"]


@pytest.mark.parametrize("reference", ["majority", "minimum"])
def test_p_values_are_adjusted_for_all_tests_of_the_attribute_once(reference: str) -> None:
    # The groups c and d are equal: of equal tests, the second counts for one less, and must not profit.
    groups = predictions(a=(30, 15, 20, 65), b=(12, 30, 8, 27), c=(10, 2, 50, 9), d=(10, 2, 50, 9))
    found = rates(groups, reference).disparities
    compared = found[found["p_value"].notna()]
    # A rate and its complement are one test, as are a group against another and the other way round.
    kinds = [tuple(sorted(FRACTIONS.get(m, (m,))[1:])) for m in compared["metric"]]
    pairs = [tuple(sorted(pair)) for pair in zip(compared["group"], compared["reference"], strict=True)]
    once = compared.assign(kind=kinds, pair=pairs).drop_duplicates(["kind", "pair"])
    m = len(once)
    assert m == 18 if reference == "majority" else m > 18
    ordered = np.sort(once["p_value"])
    for p, adjusted in zip(compared["p_value"], compared["p_adjusted"], strict=True):
        rank = int(np.searchsorted(ordered, p * (1 + 1e-12), side="right"))
        expected = min(1, max((m - i) * ordered[i] for i in range(rank)))
        assert adjusted == pytest.approx(expected, rel=1e-9)
    assert (compared["significant"] == (compared["p_adjusted"] <= 0.05)).all()
    assert 0 < compared["significant"].sum() < len(compared)


# --- judging ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [0.8, 0.25, 0.9, 1.0])
@pytest.mark.parametrize("inverse", [False, True])
def test_both_ends_are_included(tau: float, inverse: bool) -> None:
    for fraction, fair in ((1, True), (1 - 1e-10, True), (1 - 1e-6, False), (1.01, tau < 1)):
        ratio = 1 / (tau * fraction) if inverse else tau * fraction
        # Of the first group the share ratio / 20 is selected, of the second one 1 / 20.
        weight = np.array([ratio, 20 - ratio, 1, 19])
        selected = np.array([True, False, True, False])
        own = Predictions(np.array([0, 0, 1, 1]), ("a", "b"), y_pred=selected, sample_weight=weight)
        assert cell(rates(own, "b", tau=tau), "a", "selection_rate")["verdict"] == fair
    exact = predictions(a=(60, 0, 40, 0), b=(75, 0, 25, 0))
    assert 0.6 / 0.75 < 0.8
    assert cell(rates(exact, "b"), "a", "selection_rate")["verdict"]
    assert cell(rates(exact, "a"), "b", "selection_rate")["verdict"]


def judged(groups: dict[str, dict[str, Any]], conventions: Any = "betabench") -> GroupRates:
    """Return rates with made-up verdicts by group and rate; the others are fair."""
    own = rates(predictions(**dict.fromkeys(groups, (1, 1, 1, 1))), conventions=conventions)
    made_up = own.disparities.copy()
    for i, row in made_up.iterrows():
        verdict = groups[row["group"]].get(row["metric"], True)
        made_up.loc[i, "verdict"] = verdict
        made_up.loc[i, "reason"] = f"why {row['metric']}" if verdict is pd.NA else ""
    own.__dict__["disparities"] = made_up
    return own


@pytest.mark.parametrize(
    ("one", "other", "ours", "theirs"),
    [
        (True, True, True, True),
        (True, False, False, False),
        (False, False, False, False),
        (True, pd.NA, pd.NA, False),
        (False, pd.NA, False, False),
        (pd.NA, pd.NA, pd.NA, pd.NA),
    ],
)
def test_two_verdicts_make_one(one: Any, other: Any, ours: Any, theirs: Any) -> None:
    for fdr, fpr in ((one, other), (other, one)):
        known = {"a": {"false_discovery_rate": fdr, "false_positive_rate": fpr}}
        for conventions, expected in (("betabench", ours), ("clarify", ours), ("aequitas", theirs)):
            row = judged(known, conventions).verdicts.set_index("parity").loc["TypeI Parity"]
            assert row["verdict"] is expected or row["verdict"] == expected
            lacking = "false_discovery_rate" if fdr is pd.NA else "false_positive_rate"
            assert row["reason"] == (f"why {lacking}" if expected is pd.NA else "")


def test_pairs_are_made_of_the_parities_that_the_source_names() -> None:
    rates_of = {parts[0] for parts in PARITIES.values() if len(parts) == 1}
    fails = {}
    for rate in rates_of:
        verdicts = judged({"a": {rate: False}}).verdicts.set_index("parity")["verdict"]
        fails[rate] = {name for name, fair in verdicts.items() if not fair and len(PARITIES[name]) == 2}
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


def test_an_attribute_is_fair_if_all_of_its_groups_are() -> None:
    fpr, fnr, tpr = "false_positive_rate", "false_negative_rate", "true_positive_rate"
    known = {"a": {fpr: False, fnr: pd.NA}, "b": {fpr: False, tpr: False}, "c": {tpr: pd.NA}}
    own = judged(known).parity.set_index("parity")
    for name, verdict, failed in (
        *(("FDR Parity", True, ""), ("FNR Parity", pd.NA, "")),
        *(("FPR Parity", False, "a, b"), ("TPR Parity", False, "b")),
    ):
        assert own.loc[name, "verdict"] is verdict or own.loc[name, "verdict"] == verdict
        assert own.loc[name, "failed"] == failed
