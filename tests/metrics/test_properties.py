"""What holds for every registered metric, whatever it measures."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.metrics import Measurement, Metric, Predictions, list_metrics, measure
from tests.helpers.metric_properties import NOT_MIRRORED, NOT_WEIGHTED

METRICS = list_metrics()
TO_A_REFERENCE = [name for name, metric in METRICS.items() if metric.compare == "against_reference"]

NOT_COPIED = {
    "consistency": "a row's own copies take the places of its neighbors",
    "flip_test": "the copies of the nearest rows take the places of the next",
    **dict.fromkeys(("alternation_divergence", "alternation_gap"), "a single row has no variance, two have"),
    **dict.fromkeys(
        ("differential_fairness_bias_amplification", "smoothed_differential_fairness"),
        "smoothing adds one row to each group, however many there are",
    ),
}


def answers(rows: Predictions) -> dict[tuple[str, str, str], Measurement]:
    """Compute all metrics, and those against a reference group for each group as the reference."""
    first, *others = rows.names
    found = measure(rows, reference=first)
    for reference in others:
        found += measure(rows, TO_A_REFERENCE, reference=reference)
    return {(m.metric, m.group, m.reference): m for m in found}


def values(rows: Predictions) -> dict[tuple[str, str, str], float]:
    return {key: m.value for key, m in answers(rows).items()}


def same(one: float, other: float) -> bool:
    return (math.isnan(one) and math.isnan(other)) or one == pytest.approx(other, rel=1e-9, abs=1e-9)


def assert_same(rows: Predictions, changed: Predictions, but: Iterable[str] = ()) -> None:
    """Assert that metrics have the same values of rows and of changed rows."""
    found, others = values(rows), values(changed)
    assert [key for key in found if key[0] not in but and not same(found[key], others[key])] == []


@st.composite
def predictions(draw: st.DrawFn, n_groups: int = 2) -> Predictions:
    """Draw few rows, so that somebody is often missing; scores and features are often equal."""
    n = draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    often = [draw(st.sampled_from([0, 0.2, 0.5, 0.8, 1])) for _ in range(2)]
    weight = rng.integers(0, 4, n).astype(float) if draw(st.booleans()) else None
    return Predictions(
        rng.integers(0, n_groups, n),
        tuple("abc"[:n_groups]),
        y_true=rng.random(n) < often[0],
        y_pred=rng.random(n) < often[1],
        y_score=rng.integers(0, 9, n) / 8,
        strata=rng.integers(0, 2, n),
        features=rng.integers(0, 3, (n, 2)).astype(float),
        alternated=rng.integers(0, 9, n) / 8,
        sample_weight=weight,
    )


def taken(rows: Predictions, index: Any) -> Predictions:
    """Return rows by number, in that order and as often."""
    fields = {field.name: getattr(rows, field.name) for field in dataclasses.fields(rows)}
    arrays = {name: value[index] for name, value in fields.items() if isinstance(value, np.ndarray)}
    return dataclasses.replace(rows, **arrays)


any_predictions = st.one_of(predictions(2), predictions(3))


@given(any_predictions)
def test_values_lie_in_their_range_or_have_a_reason(rows: Predictions) -> None:
    for key, found in answers(rows).items():
        low, high = METRICS[found.metric].range
        assert math.isnan(found.value) == bool(found.reason), key
        assert math.isnan(found.value) or low - 1e-12 <= found.value <= high + 1e-12, key


@given(any_predictions, st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_that_of_groups_has_a_say(rows: Predictions, random: Any) -> None:
    order = list(range(len(rows)))
    random.shuffle(order)
    assert_same(rows, taken(rows, order))
    last = len(rows.names) - 1
    assert_same(rows, dataclasses.replace(rows, codes=last - rows.codes, names=rows.names[::-1]))


@given(any_predictions)
def test_all_rows_twice_are_the_same(rows: Predictions) -> None:
    assert_same(rows, taken(rows, np.repeat(np.arange(len(rows)), 2)), NOT_COPIED)


@given(any_predictions)
def test_a_weight_is_a_number_of_rows(rows: Predictions) -> None:
    weight = np.arange(len(rows)) % 3
    plain = dataclasses.replace(rows, sample_weight=None)
    weighted = dataclasses.replace(rows, sample_weight=weight.astype(float))
    assert_same(weighted, taken(plain, np.repeat(np.arange(len(rows)), weight)), NOT_WEIGHTED)


# Of two groups that change places, what one metric says of the one, the other says of the other.
SWAPPED = {"accepted_deprived": "accepted_favored", "accepted_favored": "accepted_deprived"}


def mirrored(metric: Metric, value: float) -> float:
    """Return what the value is if the two groups change places, by what the metric declares."""
    low, high = metric.range
    if low == -high:
        return -value
    if metric.ideal == 1 and high == math.inf:
        return 1 / value if value else math.nan
    return value


@given(predictions(2))
def test_two_groups_that_change_places_flip_the_sign(rows: Predictions) -> None:
    found = values(rows)
    for (name, group, reference), value in found.items():
        metric = METRICS[name]
        if name in NOT_MIRRORED or metric.compare not in ("one_against_rest", "against_reference"):
            continue
        if group == reference:
            continue
        other = "b" if group == "a" else "a"
        back = found[SWAPPED.get(name, name), other, reference if reference == "rest" else group]
        assert same(mirrored(metric, value), back) or same(mirrored(metric, back), value), name


def judges(metric: Metric) -> bool:
    """Whether a metric says how far predictions or scores are from the labels."""
    needs = set(metric.needs)
    return metric.ideal is not None and "y_true" in needs and bool(needs & {"y_pred", "y_score"})


@given(any_predictions)
def test_a_perfect_prediction_is_ideal(rows: Predictions) -> None:
    perfect = dataclasses.replace(rows, y_pred=rows.y_true, y_score=rows.y_true.astype(float))
    for key, value in values(perfect).items():
        if judges(METRICS[key[0]]):
            assert math.isnan(value) or same(value, METRICS[key[0]].ideal or 0.0), key


def test_a_perfect_prediction_gives_most_of_them_a_value() -> None:
    y_true = np.array([0, 1] * 4, bool)
    rows = Predictions(np.repeat([0, 1], 4), ("a", "b"), y_true, y_true, y_true.astype(float))
    found = {m.metric for m in measure(rows, reference="a") if not math.isnan(m.value)}
    undefined = {name for name, metric in METRICS.items() if judges(metric)} - found
    assert all("ratio" in name or "disparity" in name or name == "treatment_equality" for name in undefined)


def test_exceptions_are_metrics() -> None:
    assert {*NOT_MIRRORED, *NOT_COPIED, *NOT_WEIGHTED} <= set(METRICS)
