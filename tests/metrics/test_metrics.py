"""The metrics are what the paper's equations say."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from benchmark import metrics as module
from benchmark.errors import DataError, UnknownNameError
from benchmark.metrics import (
    COMPARISONS,
    FAILING,
    Group,
    Metric,
    MetricError,
    OneValueEach,
    Predictions,
    UndefinedMetricError,
    evaluate,
    list_families,
    list_metrics,
    measure,
    metric,
    metric_names,
)

PAPER = ("discrimination", "accuracy", "overestimation", "underestimation")
Bools = NDArray[np.bool_]


def rows(counts: dict[tuple[int, int, int], int]) -> tuple[Bools, Bools, Bools]:
    """Expand {(deprived, label, prediction): number} to y_true, y_pred, deprived."""
    expanded = np.repeat(list(counts), list(counts.values()), axis=0).astype(bool)
    return expanded[:, 1], expanded[:, 2], expanded[:, 0]


# Favored: 10 rows, 5 predicted +; of 4 unfavorable 1 wrong, of 6 favorable 2 wrong.
# Deprived: 8 rows, 2 predicted +; of 5 unfavorable 1 wrong, of 3 favorable 2 wrong.
HAND = {
    (0, 0, 0): 3, (0, 0, 1): 1, (0, 1, 0): 2, (0, 1, 1): 4,
    (1, 0, 0): 4, (1, 0, 1): 1, (1, 1, 0): 2, (1, 1, 1): 1,
}  # fmt: skip


def test_values_by_hand() -> None:
    results = evaluate(*rows(HAND), metrics=PAPER)
    assert list(results.values) == list(PAPER)
    assert results.values["discrimination"] == pytest.approx(5 / 10 - 2 / 8)
    assert results.values["accuracy"] == pytest.approx(12 / 18)
    assert results.values["overestimation"] == pytest.approx(1 / 4 - 1 / 5)
    assert results.values["underestimation"] == pytest.approx(2 / 3 - 2 / 6)
    assert results.reasons == {}


def test_sizes_stand_beside_the_values() -> None:
    counts = evaluate(*rows(HAND)).counts
    assert counts.names == ("favored", "deprived")
    assert counts.rows.tolist() == [[[3, 1], [2, 4]], [[4, 1], [2, 1]]]
    assert counts.weight.tolist() == counts.rows.tolist()


@pytest.mark.parametrize(
    ("without", "undefined"),
    [
        (lambda d, y: d == 1, {"discrimination", "overestimation", "underestimation"}),
        (lambda d, y: d == 0, {"discrimination", "overestimation", "underestimation"}),
        (lambda d, y: (d, y) == (1, 1), {"underestimation"}),
        (lambda d, y: (d, y) == (0, 0), {"overestimation"}),
        (lambda d, y: True, set(PAPER)),
    ],
)
def test_an_empty_group_or_class_is_nan_with_a_reason(without, undefined: set[str]) -> None:  # type: ignore[no-untyped-def]
    left = {cell: 0 if without(*cell[:2]) else n for cell, n in HAND.items()}
    results = evaluate(*rows(left), metrics=PAPER)
    assert {name for name, value in results.values.items() if math.isnan(value)} == undefined
    assert set(results.reasons) == undefined


def test_reasons_name_who_is_missing() -> None:
    no_positives = {cell: n for cell, n in HAND.items() if cell[:2] != (1, 1)}
    reason = evaluate(*rows(no_positives)).reasons["underestimation"]
    assert reason == "there is no row of the deprived group with a favorable label"
    men_only = {cell: n for cell, n in HAND.items() if cell[0] == 0}
    assert evaluate(*rows(men_only)).reasons["discrimination"] == "there is no row of the deprived group"


def test_every_metric_is_fully_declared() -> None:
    assert set(PAPER) <= set(list_metrics())
    assert list(list_metrics()) == sorted(list_metrics())
    titles = [declared.title for declared in list_metrics().values()]
    assert len(set(titles)) == len(titles)
    for name, declared in list_metrics().items():
        assert declared.name == name
        assert declared.title
        assert declared.formula
        assert declared.source
        assert declared.needs or name == "class_imbalance"  # which looks at sizes alone
        assert declared.compare in COMPARISONS
        assert declared.family != "other"
        assert (declared.ideal is None) == (declared.direction == "none")
        if declared.ideal is not None:
            assert declared.range[0] <= declared.ideal <= declared.range[1]


def test_families_stand_for_their_metrics() -> None:
    families = list_families()
    assert set(families["paper"]) == set(PAPER)
    assert sorted(name for names in families.values() for name in names) == list(list_metrics())
    assert metric_names(["accuracy", "paper"]) == ("accuracy", "discrimination", *sorted(PAPER)[2:])
    with pytest.raises(UnknownNameError, match="did you mean 'paper'"):
        metric_names(["papre"])


def test_a_metric_that_lacks_what_it_needs_says_so() -> None:
    rows_without = Predictions(np.array([0, 1]), ("a", "b"), y_pred=np.array([True, False]))
    (found,) = measure(rows_without, ["accuracy"])
    assert math.isnan(found.value)
    assert found.reason == "it needs labels, not given"
    assert [m.value for m in measure(rows_without, ["selection_rate"])] == [1.0, 0.0]


def test_groups_are_compared_as_declared() -> None:
    """Three groups of 4 rows, of which 3, 2 and 1 are predicted favorable."""
    codes = np.repeat([0, 1, 2], 4)
    y_pred = np.array([1, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0], dtype=bool)
    found = Predictions(codes, ("a", "b", "c"), y_pred=y_pred)

    def values(name: str, reference: str | None = None) -> dict[tuple[str, str], float]:
        return {(m.group, m.reference): m.value for m in measure(found, [name], reference=reference)}

    assert values("selection_rate") == {("a", ""): 0.75, ("b", ""): 0.5, ("c", ""): 0.25}
    assert values("demographic_parity_difference") == {("", ""): 0.5}
    assert values("demographic_parity_ratio") == {("", ""): pytest.approx(1 / 3)}
    assert values("discrimination") == {
        ("a", "rest"): 3 / 8 - 3 / 4,
        ("b", "rest"): 0.0,
        ("c", "rest"): 5 / 8 - 1 / 4,
    }
    assert values("selection_rate_disparity", "b") == {("a", "b"): 1.5, ("b", "b"): 1.0, ("c", "b"): 0.5}
    (first, *_) = measure(found, ["selection_rate_disparity"])
    assert first.reason == "no reference group is chosen"
    with pytest.raises(UnknownNameError, match="group"):
        measure(found, ["selection_rate_disparity"], reference="d")


def test_stored_counts_give_the_same_as_rows() -> None:
    y_true, y_pred, deprived = rows(HAND)
    names = [name for name, declared in list_metrics().items() if declared.from_counts]
    whole = evaluate(y_true, y_pred, deprived, metrics=names)
    stored = OneValueEach(whole.counts.names, 1, names)(whole.counts)
    assert stored.values == pytest.approx(dict(whole.values), nan_ok=True)
    assert stored.reasons == whole.reasons


def test_conventions_replace_what_is_undefined() -> None:
    nobody = Group("the group 'a'", 0, 0, 0, 0, 0)
    with pytest.raises(UndefinedMetricError, match=r"^there is no row of the group 'a' with wings\."):
        nobody.share(0, 0, "with wings")
    clarify = Group("a", 0, 0, 0, 0, 0, conventions="clarify")
    assert (clarify.share(0, 0), clarify.share(2, 0), clarify.ratio(1, 0, "x")) == (0, math.inf, math.inf)
    aequitas = Group("a", 0, 0, 0, 0, 0, conventions="aequitas")
    assert aequitas.ratio(0.3, 0, "x") == 10
    for undefined in (lambda: aequitas.share(1, 0), lambda: aequitas.ratio(0, 0, "x")):
        with pytest.raises(UndefinedMetricError):
            undefined()


def test_unknown_and_flawed_metrics_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module._REGISTRY, "_items", dict(list_metrics()))
    with pytest.raises(UnknownNameError, match="did you mean 'accuracy'"):
        evaluate(*rows(HAND), metrics=["acuracy"])
    complete = {
        "title": "T", "formula": "f", "range": (0.0, 1.0), "ideal": 2.0, "direction": "higher", "source": "s",
        "needs": ("y_pred",),
    }  # fmt: skip

    def mine(everybody: Group) -> float:
        return everybody.tp - everybody.tp

    with pytest.raises(DataError, match=r"its ideal 2.0 lies outside its range"):
        metric(**complete)(mine)
    with pytest.raises(DataError, match="its 'formula' is empty"):
        metric(**{**complete, "ideal": 1.0, "formula": ""})(mine)
    declared = metric(**{**complete, "ideal": 1.0})(mine)
    assert isinstance(declared, Metric)
    assert evaluate(*rows(HAND), metrics=["mine"]).values == {"mine": 0.0}
    with pytest.raises(DataError, match="it needs 'wings', which is none of y_true"):
        metric(**{**complete, "ideal": 1.0, "needs": ("wings",), "name": "icarus"})(mine)
    with pytest.raises(DataError, match="its 'compare' is none of overall"):
        metric(**{**complete, "ideal": 1.0, "compare": "nobody", "name": "icarus"})(mine)
    for number, fails in enumerate((lambda group: 1 / 0, lambda group: math.nan, lambda group: 1.1)):
        broken = metric(**{**complete, "ideal": 1.0, "name": f"broken_{number}"})(fails)
        with pytest.raises(MetricError, match=r"the metric 'broken_\d' fails.*a number from 0 to 1"):
            evaluate(*rows(HAND), metrics=[broken.name])
        counts = evaluate(*rows(HAND)).counts
        tolerant = OneValueEach(counts.names, 1, [broken.name, "accuracy"])(counts, tolerant=True)
        assert math.isnan(tolerant.values[broken.name])
        assert tolerant.reasons[broken.name].startswith(FAILING)
        assert tolerant.values["accuracy"] == pytest.approx(12 / 18)
    for name, family in (("paper", "mine"), ("mine_too", "accuracy")):
        with pytest.raises(DataError, match="a metric and a family would have the same name"):
            metric(**{**complete, "ideal": 1.0, "name": name, "family": family})(mine)


@pytest.mark.parametrize(
    ("limits", "ideal", "direction"),
    [
        ((0.0, 1.0), 0.0, "lower"),
        ((0.0, 1.0), 1.0, "higher"),
        ((-1.0, 1.0), 0.0, "closer_to_ideal"),
        ((0.0, 1.0), None, "none"),
    ],
)
def test_the_direction_follows_from_the_ideal(
    monkeypatch: pytest.MonkeyPatch, limits: tuple[float, float], ideal: float | None, direction: str
) -> None:
    monkeypatch.setattr(module._REGISTRY, "_items", dict(list_metrics()))
    declared = {"range": limits, "ideal": ideal, "source": "a test", "needs": ("y_pred",)}
    assert metric("Mine", "0", name="mine", **declared)(lambda _: 0.0).direction == direction
    chosen = metric("Second", "0", name="second", direction="none", **declared)(lambda _: 0.0)
    assert chosen.direction == "none"


def test_one_group_is_compared_with_nobody() -> None:
    alone = Predictions(np.zeros(4, int), ("a",), np.array([1, 0, 1, 0]) > 0, np.array([1, 1, 0, 0]) > 0)
    for found in measure(alone, ["fairlearn", "paper", "predicted_positive_share"]):
        assert math.isnan(found.value) == (found.metric != "accuracy"), found


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda a: (a[0], a[1][:-1], a[2]), "y_pred"),
        (lambda a: (a[0], a[1].astype(int), a[2]), "y_pred"),
        (lambda a: (a[0], a[1], a[2][:3]), "deprived"),
        (lambda a: (a[0].astype(float), a[1], a[2]), "y_true"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change, name: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(DataError, match=f"{name} cannot be evaluated"):
        evaluate(*change(rows(HAND)))


@pytest.mark.parametrize("kind", [list, tuple, pd.Series, lambda a: pd.Series(a, dtype="boolean")])
def test_lists_and_series_are_arrays(kind: Callable[[Any], Any]) -> None:
    arrays = rows(HAND)
    expected = evaluate(*arrays, y_score=np.arange(len(arrays[0])) / 10, metrics=[*PAPER, "auc_gap"])
    found = evaluate(
        *map(kind, arrays), y_score=[i / 10 for i in range(len(arrays[0]))], metrics=[*PAPER, "auc_gap"]
    )
    assert found.values == expected.values
    codes, y_true, y_pred = [0, 1, 0, 1], kind([True, True, False, False]), [True, False, False, True]
    assert measure(Predictions(codes, ("a", "b"), y_true, y_pred), ["accuracy"])[0].value == 0.5


def test_what_is_no_array_of_bools_is_named() -> None:
    y_true, y_pred, deprived = rows(HAND)
    lacking = pd.Series([None, *y_true[1:]], dtype="boolean")
    for arguments, message in (
        ((y_true.astype(int).tolist(), y_pred, deprived), r"y_true .*int64.*y == 1"),
        ((lacking, y_pred, deprived), "y_true .*object"),
        ((y_true, y_pred, ["f"] * len(y_true)), "deprived .*<U1"),
        ((True, y_pred, deprived), "cannot be evaluated"),
        (([[True], [True, False]], y_pred, deprived), "y_true cannot be used.*a list or a pandas Series"),
    ):
        with pytest.raises(DataError, match=message):
            evaluate(*arguments)
    with pytest.raises(DataError, match="y_score cannot be used"):
        evaluate(y_true, y_pred, deprived, y_score=["high"] * len(y_true))
    shuffled = pd.Series(y_pred)[::-1]
    with pytest.raises(DataError, match="y_true and y_pred have different indexes"):
        evaluate(pd.Series(y_true), shuffled, deprived)


@pytest.mark.parametrize("weight", [np.ones(3), np.full(18, -1.0), np.full(18, np.inf)])
def test_invalid_weights_are_refused(weight: NDArray[np.float64]) -> None:
    with pytest.raises(DataError, match="sample_weight cannot be used"):
        evaluate(*rows(HAND), sample_weight=weight)
