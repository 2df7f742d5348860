"""Weights by what is told put the boundary back where the bias found it, and stay finite at the edges."""

from typing import Any

import numpy as np
import pytest

from benchmark.data.table import Table
from benchmark.errors import DeclinedError
from benchmark.techniques import Examined, Knowledge, get_technique
from benchmark.techniques.base import with_labels
from benchmark.techniques.restoring import boundary_weight, turned_shares
from tests.helpers.noisy_labels import TRUE, one_of_each, population, rates, tools

CLEAN = np.tile(TRUE >= 0.5, 2)  # decisions by true probabilities, of the favored and of the deprived
NONE = Examined(np.empty(0, dtype=np.intp), np.empty(0, dtype=bool))


def weights(name: str, data: Table, known: Knowledge, **more: Any) -> np.ndarray:
    technique = get_technique(name)
    weight = technique.prepare(data, tools(known, **more)).sample_weight
    assert weight is not None
    return weight


def decisions(name: str, data: Table, known: Knowledge, **parameters: Any) -> np.ndarray:
    return get_technique(name, **parameters).fit(data, tools(known)).predict(one_of_each(data))


def without(data: Table, share: float) -> Table:
    """Leave out a share of the deprived group's favorable rows at each value of x0."""
    keep = np.ones(len(data), dtype=bool)
    for value in range(len(TRUE)):
        rows = np.flatnonzero(data.deprived & data.y & (data.codes[:, 1] == value))
        keep[rows[: round(share * len(rows))]] = False
    return data.take(np.flatnonzero(keep))


def test_values_of_the_formulas() -> None:
    # A share of .2 of the favorable labels was turned: (1 + .2) / (1 - .2). Of rates .4 and .5 it is .1 / .5.
    assert boundary_weight(0.4, 0.5, "label") == pytest.approx((1, 1.5))
    assert boundary_weight(0.6, 0.5, "label") == pytest.approx((1.5, 1))
    assert turned_shares(0.4, 0.5) == pytest.approx((0, 0.2))
    assert turned_shares(0.6, 0.5) == pytest.approx((0.2, 0))
    # Half the favorable rows are missing: 50 of 100 for 50 others. Zadrozny's weight is 1 / P(kept) = 2.
    assert boundary_weight(1 / 3, 0.5, "selection") == pytest.approx((1, 2))
    assert boundary_weight(2 / 3, 0.5, "selection") == pytest.approx((2, 1))
    assert boundary_weight(0.3, 0.3, "label") == boundary_weight(0.3, 0.3, "selection") == (1, 1)


@pytest.mark.parametrize("share", [0.2, 0.4, 0.6])
def test_turned_labels_of_a_group_leave_decisions_as_they_were(share: float) -> None:
    data = population(deprived=(1 - share) * TRUE)
    gap = float(TRUE.mean()) - rates(data)[0]
    known = Knowledge(kind="label", gap=gap, rates=(TRUE.mean(), TRUE.mean()))
    assert (decisions("none", data, known) != CLEAN).any()
    np.testing.assert_array_equal(decisions("gap_weights", data, known), CLEAN)
    np.testing.assert_array_equal(decisions("rate_weights", data, known), CLEAN)
    every = np.flatnonzero(data.deprived & ~data.y)
    wrong = np.arange(len(every)) < round(gap * np.count_nonzero(data.deprived))
    refusals = Knowledge(refusals=Examined(every, wrong))
    np.testing.assert_allclose(
        weights("refusal_weights", data, refusals), weights("gap_weights", data, known), rtol=1e-12
    )


@pytest.mark.parametrize("share", [0.2, 0.4, 0.6])
def test_missing_rows_leave_decisions_as_they_were(share: float) -> None:
    data = without(population(), share)
    known = Knowledge(
        kind="selection", gap=float(TRUE.mean()) - rates(data)[0], rates=(TRUE.mean(), TRUE.mean())
    )
    assert (decisions("none", data, known) != CLEAN).any()
    for name in ("gap_weights", "blum_stangl"):
        np.testing.assert_array_equal(decisions(name, data, known), CLEAN)
        weight = weights(name, data, known)
        assert np.average(data.y[data.deprived], weights=weight[data.deprived]) == pytest.approx(TRUE.mean())
        assert weight[data.deprived & data.y][0] / weight[0] == pytest.approx(1 / (1 - share), rel=0.01)


def test_each_group_may_have_labels_that_are_wrong_in_a_direction_of_its_own() -> None:
    data = population(deprived=0.6 * TRUE, favored=1 - 0.6 * (1 - TRUE))
    known = Knowledge(rates=(TRUE.mean(), TRUE.mean()))
    favored, deprived = np.split(decisions("none", data, known), 2)
    assert favored.sum() == 5
    assert deprived.sum() == 1
    np.testing.assert_array_equal(decisions("rate_weights", data, known), CLEAN)


def test_favorable_labels_that_a_bias_adds_are_undone_by_a_negative_gap() -> None:
    data = population(deprived=1 - 0.6 * (1 - TRUE))
    known = Knowledge(kind="label", gap=float(TRUE.mean()) - rates(data)[0])
    assert known.gap < 0
    np.testing.assert_array_equal(decisions("gap_weights", data, known), CLEAN)


def test_the_middle_of_bounds_decides_where_their_ends_disagree() -> None:
    data = population(deprived=0.6 * TRUE)
    known = Knowledge(kind="label", bounds=(0.35, 0.7))
    recorded = rates(data)[0]
    rows = one_of_each(data)
    predictor = get_technique("rate_bounds").fit(data, tools(known))
    low, middle, high = (
        decisions("gap_weights", data, Knowledge(kind="label", gap=rate - recorded))
        for rate in (0.35, 0.525, 0.7)
    )
    assert (low != middle).any()
    assert (high != middle).any()
    np.testing.assert_array_equal(predictor.predict(rows), middle)
    np.testing.assert_array_equal(predictor.predict_score(rows) >= 0.5, predictor.predict(rows))


def test_examined_rows_that_do_not_count_are_as_good_as_none() -> None:
    data = population(deprived=0.6 * TRUE)
    rows = np.flatnonzero(data.deprived & ~data.y)[:9]
    own, examined = np.ones(len(data)), Examined(rows, np.arange(9) < 3)
    own[rows] = 0
    with pytest.raises(DeclinedError, match="No refusal of the deprived group was looked at again"):
        weights("refusal_weights", data, Knowledge(refusals=examined), weights=own)
    unchanged = weights("prediction_powered", data, Knowledge(clean_rows=examined), weights=own)
    np.testing.assert_allclose(unchanged, 1)


@pytest.mark.parametrize("kind", ["label", "selection"])
@pytest.mark.parametrize("gap", [-1.0, -0.9, 0.0, 0.9, 1.0])
@pytest.mark.parametrize("deprived", [(0.0,) * 6, TRUE, (1.0,) * 6])
def test_no_gap_gives_weights_that_are_infinite_or_of_another_mean(
    kind: str, gap: float, deprived: np.ndarray
) -> None:
    data = population(deprived=deprived)
    weight = weights("gap_weights", data, Knowledge(kind=kind, gap=gap))
    assert weight.mean() == pytest.approx(1)
    assert weight.min() > 0
    if gap == 0:
        np.testing.assert_allclose(weight, 1)


def test_rows_of_one_group_have_their_own_weights() -> None:
    data = population().take(np.arange(1200))
    assert not data.deprived.any()
    known = Knowledge(kind="label", gap=0.1, rates=(0.5, 0.5), bounds=(0.4, 0.6), clean_rows=NONE)
    for name in ("gap_weights", "rate_weights", "blum_stangl", "prediction_powered", "rate_bounds"):
        np.testing.assert_allclose(weights(name, data, known), 1)


def test_no_refusal_that_was_looked_at_again_is_declined() -> None:
    with pytest.raises(DeclinedError, match="look at some of them again"):
        get_technique("refusal_weights").fit(population(), tools(Knowledge(refusals=NONE)))
    with pytest.raises(DeclinedError, match="look at some rows again"):
        get_technique("audited_rows").fit(population(), tools(Knowledge(clean_rows=NONE)))


@pytest.mark.parametrize(
    "name", ["gap_weights", "rate_weights", "refusal_weights", "blum_stangl", "prediction_powered"]
)
def test_a_row_that_stands_for_two_counts_as_two(name: str) -> None:
    once = population(deprived=0.6 * TRUE, n=20)
    rng = np.random.default_rng(0)
    rows = np.flatnonzero(once.deprived & ~once.y)[:40]
    audited = rng.permutation(len(once))[:60]
    double = rng.random(len(once)) < 0.5
    twice = once.take(np.concatenate([np.arange(len(once)), np.flatnonzero(double)]))
    place = np.full(len(once), -1)
    place[double] = len(once) + np.arange(double.sum())

    def known(copies: bool) -> Knowledge:
        def examined(rows: np.ndarray) -> Examined:
            label = rng_label[rows]
            if copies:
                rows, label = (
                    np.concatenate([rows, place[rows][double[rows]]]),
                    np.concatenate([label, label[double[rows]]]),
                )
            return Examined(rows, label)

        return Knowledge(
            kind="label", gap=0.1, rates=(0.5, 0.4), refusals=examined(rows), clean_rows=examined(audited)
        )

    rng_label = rng.random(len(once)) < 0.3
    weighted = weights(name, once, known(False), weights=1.0 + double)
    np.testing.assert_allclose(weights(name, twice, known(True))[: len(once)], weighted, rtol=1e-12)


def test_the_group_is_hidden_from_the_model_on_request() -> None:
    data = population(deprived=0.6 * TRUE)
    known = Knowledge(kind="label", gap=0.2, rates=(0.5, 0.5), bounds=(0.4, 0.6), direction=True)
    for name in (
        "gap_weights",
        "rate_bounds",
        "noise_relabeling",
        "positive_unlabeled",
        "label_bias_weights",
    ):
        first, second = np.split(decisions(name, data, known, hide_group=True), 2)
        np.testing.assert_array_equal(first, second)


# What rows that were looked at again tell.


def audited(m: int, share: float = 0.3, seed: int = 1) -> tuple[Table, Knowledge]:
    """Rows with turned labels, of which m were looked at again."""
    true = population()
    rng = np.random.default_rng(seed)
    recorded = with_labels(true, true.y & ~(true.deprived & (rng.random(len(true)) < share)))
    rows = rng.permutation(len(true))[:m]
    return recorded, Knowledge(clean_rows=Examined(rows, true.y[rows]))


def test_rates_are_those_of_all_rows_and_the_mean_correction() -> None:
    data, known = audited(200)
    rows = known.clean_rows
    told = []
    for group in (True, False):
        own = data.deprived[rows.rows] == group
        corrections = rows.favorable[own].astype(int) - data.y[rows.rows][own].astype(int)
        told.append(data.y[data.deprived == group].mean() + corrections.mean())
    assert told[0] > data.y[data.deprived].mean()
    np.testing.assert_allclose(
        weights("prediction_powered", data, known),
        weights("rate_weights", data, Knowledge(rates=tuple(told))),
    )


def test_few_audited_rows_say_more_together_with_all_others() -> None:
    errors = []
    for seed in range(40):
        data, known = audited(50, seed=seed)
        own = data.deprived[known.clean_rows.rows]
        alone = known.clean_rows.favorable[own].mean()
        ratio = weights("prediction_powered", data, known)[data.deprived & data.y].max()
        ratio /= weights("prediction_powered", data, known)[data.deprived & ~data.y].max()
        turned = (ratio - 1) / (ratio + 1)
        errors.append((alone - TRUE.mean(), data.y[data.deprived].mean() / (1 - turned) - TRUE.mean()))
    alone, together = np.sqrt(np.mean(np.square(errors), axis=0))
    assert together < 0.8 * alone


def test_audited_rows_alone_are_trained_on_with_the_labels_found() -> None:
    data, known = audited(300)
    technique = get_technique("audited_rows")
    prepared = technique.prepare(data, tools(known))
    np.testing.assert_array_equal(prepared.table.y, known.clean_rows.favorable)
    np.testing.assert_array_equal(prepared.table.codes[:, :2], data.codes[known.clean_rows.rows, :2])


@pytest.mark.parametrize("label", [False, True])
def test_audited_rows_of_one_label_give_that_label(label: bool) -> None:
    data = population()
    rows = np.arange(0, len(data), 7)
    known = Knowledge(clean_rows=Examined(rows, np.full(len(rows), label)))
    assert (decisions("audited_rows", data, known) == label).all()
