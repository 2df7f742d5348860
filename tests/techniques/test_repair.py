"""Repair brings the groups' distributions together as Feldman et al. (2015) define."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.conformance import example_table
from benchmark.data.table import Table
from benchmark.errors import TechniqueError
from tests.helpers.tables import table, tables
from tests.helpers.techniques import prepare

VARIANTS = ("feldman", "blackbox_auditing", "proportional")


def repaired(data: Table, column: int = 1, **parameters: Any) -> np.ndarray:
    return prepare("repair", data, **parameters).table.codes[:, column]


def shares(data: Table, values: np.ndarray, states: int = 5) -> np.ndarray:
    """Shares of the states in each group that has rows, shape (n_groups, states)."""
    groups = data.codes[:, 0]
    return np.array(
        [np.bincount(values[groups == g], minlength=states) / (groups == g).sum() for g in np.unique(groups)]
    )


def with_labels(groups: list[int], *features: list[int], **keywords: Any) -> Table:
    return table(groups, [0, 1] * (len(groups) // 2) + [0] * (len(groups) % 2), *features, **keywords)


@given(tables(groups=3), st.sampled_from(VARIANTS), st.sampled_from(["schema", "categorical", "ordinal"]))
def test_level_0_changes_nothing(data: Table, variant: str, treatment: str) -> None:
    after = prepare(
        "repair",
        data,
        level=0,
        variant=variant,
        treatment=treatment,
        repair_label=True,
        repair_sensitive=True,
    )
    np.testing.assert_array_equal(after.table.codes, data.codes)


@given(tables(groups=3))
def test_ordinal_repair_at_level_1_equalises_to_within_rounding(data: Table) -> None:
    after = np.cumsum(shares(data, repaired(data, treatment="ordinal")), axis=1)
    sizes = np.bincount(data.codes[:, 0])
    for g in range(3):
        for h in range(g):
            allowed = 0.5 / sizes[g] + 0.5 / sizes[h] + 1e-12
            assert np.abs(after[g] - after[h]).max() <= allowed


@given(tables(groups=3))
def test_categorical_repair_at_level_1_equalises_to_within_one_row(data: Table) -> None:
    after = shares(data, repaired(data, treatment="categorical"))
    sizes = np.bincount(data.codes[:, 0])
    for g in range(3):
        for h in range(g):
            assert np.abs(after[g] - after[h]).max() <= 1 / sizes[g] + 1 / sizes[h] + 1e-12


@given(tables(), st.sampled_from(["categorical", "ordinal"]))
def test_a_higher_level_brings_groups_closer(data: Table, treatment: str) -> None:
    sizes = np.bincount(data.codes[:, 0])
    distance = []
    for level in (0, 0.25, 0.5, 0.75, 1):
        after = shares(data, repaired(data, treatment=treatment, level=level))
        if treatment == "ordinal":  # the earth mover's distance, in states
            distance.append(np.abs(np.diff(np.cumsum(after, axis=1), axis=0)).sum())
        else:
            distance.append(np.abs(np.diff(after, axis=0)).sum() / 2)
    rounding = 5 / sizes.min()
    assert all(b <= a + rounding for a, b in pairwise(distance))
    assert distance[-1] <= rounding


@given(tables(), st.sampled_from([0.3, 0.5, 1.0]))
def test_categorical_repair_moves_as_few_rows_as_possible(data: Table, level: float) -> None:
    before = data.codes[:, 1]
    after = repaired(data, treatment="categorical", level=level)
    for g, (p, q) in enumerate(zip(shares(data, before), shares(data, after), strict=True)):
        rows = data.codes[:, 0] == g
        assert (before != after)[rows].sum() == pytest.approx(rows.sum() * np.abs(p - q).sum() / 2)


def test_categorical_shares_by_hand() -> None:
    # Shares (.8, .2, 0) and (.2, .2, .6): median (.5, .2, .3); half way there (.65, .2, .15), (.35, .2, .45).
    data = with_labels([0] * 20 + [1] * 20, [0] * 16 + [1] * 4 + [0] * 4 + [1] * 4 + [2] * 12)
    full = shares(data, repaired(data, treatment="categorical"))[:, :3]
    np.testing.assert_allclose(full, [[0.5, 0.2, 0.3]] * 2, atol=1e-12)
    half = shares(data, repaired(data, treatment="categorical", level=0.5))[:, :3]
    np.testing.assert_allclose(half, [[0.65, 0.2, 0.15], [0.35, 0.2, 0.45]], atol=1e-12)


def test_ordinal_quantiles_by_hand() -> None:
    # Four rows each at 0 0 2 4 and 2 2 4 4; the median of two quantiles is their middle: 1 1 3 4.
    data = with_labels([0] * 4 + [1] * 4, [4, 0, 2, 0, 2, 4, 2, 4])
    np.testing.assert_array_equal(
        np.sort(repaired(data, treatment="ordinal").reshape(2, 4)), [[1, 1, 3, 4]] * 2
    )
    # Half way, in whole states, half a state rounding to the even: 0 0 2 4 and 2 2 4 4.
    half = repaired(data, treatment="ordinal", level=0.5).reshape(2, 4)
    np.testing.assert_array_equal(np.sort(half), [[0, 0, 2, 4], [2, 2, 4, 4]])
    # Of unequal groups the quantiles meet too: 0 0 0 1 1 1 against 1 3 gives 0 0 0 2 2 2 against 0 2.
    data = with_labels([0] * 6 + [1] * 2, [0, 0, 0, 1, 1, 1, 1, 3])
    np.testing.assert_array_equal(repaired(data, treatment="ordinal"), [0, 0, 0, 2, 2, 2, 0, 2])


@given(tables(groups=3), st.sampled_from([0.1, 0.25, 0.5, 0.51, 0.75, 1.0]))
def test_ordered_columns_can_move_in_proportion_to_the_level(data: Table, level: float) -> None:
    settings: dict[str, Any] = {"treatment": "ordinal", "variant": "proportional"}
    before = data.codes[:, 1]
    some, whole = (repaired(data, level=part, **settings) for part in (level, 1.0))
    np.testing.assert_array_equal(repaired(data, level=0, **settings), before)
    np.testing.assert_array_equal(whole, repaired(data, treatment="ordinal"))
    for g in range(3):
        rows = data.codes[:, 0] == g
        # The way of all rows of a group, in states; a whole row is rounded once in each group.
        gone, way = ((after[rows].astype(int) - before[rows]).sum() for after in (some, whole))
        assert gone == pytest.approx(level * way, abs=1)


@given(tables(groups=3))
def test_ordinal_repair_keeps_the_order_of_rows_within_a_group(data: Table) -> None:
    before, after = data.codes[:, 1], repaired(data, treatment="ordinal")
    for g in range(3):
        old, new = before[data.codes[:, 0] == g], after[data.codes[:, 0] == g]
        for low in range(4):
            assert new[old <= low].max(initial=0) <= new[old > low].min(initial=4)


def test_treatment_decides_which_columns_are_ordered() -> None:
    data = with_labels([0] * 2 + [1] * 2, [0, 0, 4, 4], [0, 0, 4, 4], ordered=(True, False))
    by_schema = prepare("repair", data, level=0.5, variant="blackbox_auditing").table.codes[:, 1:3]
    np.testing.assert_array_equal(by_schema, [[0, 0], [0, 0], [2, 4], [2, 4]])
    for treatment, column in (("ordinal", [0, 0, 2, 2]), ("categorical", [0, 0, 4, 4])):
        both = prepare("repair", data, level=0.5, variant="blackbox_auditing", treatment=treatment)
        np.testing.assert_array_equal(both.table.codes[:, 1:3], np.column_stack([column, column]))


@pytest.mark.parametrize("variant", VARIANTS)
def test_label_and_sensitive_feature_are_repaired_on_request_only(variant: str) -> None:
    data = example_table()
    sensitive, label = data.schema.sensitive_index, data.schema.label_index
    plain = prepare("repair", data, variant=variant).table
    np.testing.assert_array_equal(plain.codes[:, [sensitive, label]], data.codes[:, [sensitive, label]])
    assert (plain.codes[:, 2] != data.codes[:, 2]).any()
    full = prepare("repair", data, variant=variant, repair_label=True, repair_sensitive=True).table
    rates = [full.y[data.codes[:, sensitive] == g].mean() for g in range(3)]
    assert np.ptp(rates) < (0.12 if variant == "blackbox_auditing" else 0.03)  # the other one draws at random
    assert (full.codes[:, sensitive] != data.codes[:, sensitive]).any()


def test_a_label_repaired_away_is_an_error() -> None:
    # Labels that follow the group have nothing in common but what both groups lack.
    data = table([0] * 5 + [1] * 5 + [2] * 5, [1] * 5 + [0] * 10)
    with pytest.raises(TechniqueError, match="rows of one class only"):
        prepare("repair", data, repair_label=True)


@pytest.mark.parametrize("groups", [2, 3])
def test_a_copy_of_the_group_is_repaired_although_no_state_is_shared(groups: int) -> None:
    group = np.repeat(np.arange(groups), 30)
    data = table(group, np.arange(len(group)) % 2, group)
    np.testing.assert_allclose(shares(data, repaired(data))[:, :groups], 1 / groups, atol=1e-12)


def test_blackbox_auditing_leaves_an_ordered_column_whose_states_all_groups_share() -> None:
    data = with_labels([0] * 9 + [1] * 6, [0, 0, 0, 0, 1, 1, 2, 3, 4, 0, 1, 2, 3, 4, 4])
    after = repaired(data, treatment="ordinal", variant="blackbox_auditing")
    np.testing.assert_array_equal(after, data.codes[:, 1])
    assert (repaired(data, treatment="ordinal") != data.codes[:, 1]).any()


def test_blackbox_auditing_quantiles_run_over_distinct_states() -> None:
    # States 0 1 2 3 in two bins, {0 1} and {2 3}, with lower medians 0 and 2; the other group has 1 and 4.
    data = with_labels([0] * 4 + [1] * 3, [0, 1, 2, 3, 1, 4, 4])
    after = repaired(data, treatment="ordinal", variant="blackbox_auditing")
    np.testing.assert_array_equal(after, [0, 0, 2, 2, 0, 2, 2])


@pytest.mark.parametrize(("level", "moves"), [(0.25, False), (0.5, False), (0.75, True)])
def test_blackbox_auditing_moves_a_numeric_group_column_whole(level: float, moves: bool) -> None:
    # Half a state rounds to the even one, so the published levels 0.25 and 0.50 leave the group readable.
    data = with_labels([0] * 4 + [1] * 4)
    group = repaired(
        data, 0, level=level, treatment="ordinal", variant="blackbox_auditing", repair_sensitive=True
    )
    np.testing.assert_array_equal(group, np.zeros(8) if moves else data.codes[:, 0])


def test_blackbox_auditing_moves_a_group_column_toward_its_mode() -> None:
    # Of the smaller group 3 in 10 rows are redrawn, with weights 1 for the mode and 0.7 for their own state.
    data = with_labels([0] * 12000 + [1] * 10000)
    settings = {"treatment": "categorical", "variant": "blackbox_auditing", "repair_sensitive": True}
    group = repaired(data, 0, level=0.3, **settings)
    assert (group[:12000] == 0).all()
    assert (group[12000:] == 0).mean() == pytest.approx(0.3 / 1.7, abs=0.01)
    assert (repaired(data, 0, level=1.0, **settings) == 0).all()


def test_blackbox_auditing_spreads_evenly_what_shares_no_state() -> None:
    data = with_labels([0] * 5000 + [1] * 5000, [0] * 5000 + [1] * 5000, states=4)
    after = shares(data, repaired(data, variant="blackbox_auditing"), states=4)
    np.testing.assert_allclose(after[:, :2], 0.5, atol=0.03)
    # A part of the way there is nothing lower to go to: every row stays.
    half = repaired(data, variant="blackbox_auditing", level=0.5)
    np.testing.assert_allclose(shares(data, half, states=4)[0, 0], 1.0)


def test_blackbox_auditing_redraws_in_proportion_to_the_lowered_shares() -> None:
    # Shares (.8, .2, 0) and (.2, .2, .6), lower medians (.2, .2, 0). Half way the first group keeps
    # (.5, .2, 0) and redraws the rest, ending at (.5, .2, 0) / .7; the second (.2, .2, .3), likewise.
    data = with_labels(
        [0] * 20000 + [1] * 20000, [0] * 16000 + [1] * 4000 + [0] * 4000 + [1] * 4000 + [2] * 12000
    )
    after = repaired(data, treatment="categorical", level=0.5, variant="blackbox_auditing")
    expected = np.array([[0.5, 0.2, 0], [0.2, 0.2, 0.3]]) / 0.7
    np.testing.assert_allclose(shares(data, after)[:, :3], expected, atol=0.012)
    kept = (after == data.codes[:, 1])[:16000].mean()
    assert kept == pytest.approx((0.5 + 0.3 * 0.5 / 0.7) / 0.8, abs=0.012)


def test_test_rows_stay_by_default_and_follow_their_cell_on_request() -> None:
    train, test = example_table(), example_table(4000, seed=9)
    assert prepare("repair", train).transform is None
    prepared = prepare("repair", train, repair_test=True, repair_label=True)
    after = prepared.transform(test)
    np.testing.assert_array_equal(after.codes[:, [1, 3]], test.codes[:, [1, 3]])
    np.testing.assert_array_equal(after.codes, prepared.transform(test).codes)
    # What the training rows of one group and state became, with their frequencies.
    for column, states in ((0, 7), (2, 4)):
        for state in range(states):
            cell = (train.codes[:, 1] == 1) & (train.codes[:, column] == state)
            other = (test.codes[:, 1] == 1) & (test.codes[:, column] == state)
            if cell.sum():
                expected = np.bincount(prepared.table.codes[cell, column], minlength=states) / cell.sum()
                got = np.bincount(after.codes[other, column], minlength=states) / max(other.sum(), 1)
                assert not got[expected == 0].any()
                if other.sum() > 100:
                    np.testing.assert_allclose(got, expected, atol=0.12)


def test_a_test_row_of_an_unseen_cell_stays() -> None:
    train = with_labels([0] * 4 + [1] * 4, [0] * 4 + [1] * 4)
    transform = prepare("repair", train, repair_test=True).transform
    test = with_labels([0, 1], [4, 3])
    np.testing.assert_array_equal(transform(test).codes, test.codes)


def test_rows_that_leave_one_state_spread_over_all_that_lack_rows() -> None:
    # Both groups give up half of two states; sent in order, each state would feed just one other.
    data = with_labels([0] * 400 + [1] * 400, [0, 1] * 200 + [2, 3] * 200)
    after = repaired(data, treatment="categorical")
    moves = np.zeros((4, 4), dtype=int)
    np.add.at(moves, (data.codes[:, 1], after), 1)
    assert (moves[:2, 2:] > 20).all()
    assert (moves[2:, :2] > 20).all()
