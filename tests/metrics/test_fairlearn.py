"""Metrics that fairlearn has are equal to fairlearn's."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import fairlearn.metrics
import numpy as np
import pytest

from benchmark.metrics import (
    Equivalent,
    Metric,
    Predictions,
    get_metric,
    list_metrics,
    measure,
)
from tests.helpers.metric_properties import as_pair, cases, random_rows

HERE = "tests/metrics/test_fairlearn.py::"
EXCLUDED = {
    "MetricFrame": "applies any function to groups; measure does it here",
    "count": "a size: Measurement.n_rows, see test_sizes",
    "make_derived_metric": "makes metrics",
    "plot_model_comparison": "a figure",
    "plot_roc_curve_by_group": "a figure",
    "r2_score_group_min": "of regression: labels here are favorable or not",
}
WITH_ARGUMENTS: dict[str, Callable[..., float]] = {
    "equalized_odds_difference(agg='mean')": partial(fairlearn.metrics.equalized_odds_difference, agg="mean"),
}


def theirs_of(name: str) -> Callable[..., Any]:
    return WITH_ARGUMENTS.get(name) or getattr(fairlearn.metrics, name)


def predicted(item: Metric, rows: Predictions) -> Any:
    """Return what fairlearn is to take for predictions."""
    return rows.y_score if "y_score" in item.needs else rows.y_pred.astype(int)  # type: ignore[union-attr]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("item", "equivalent"), cases("fairlearn", HERE + "test_rates"))
def test_rates(item: Metric, equivalent: Equivalent, weighted: bool) -> None:
    for n_groups in (2, 5):
        rows = random_rows(n_groups, weighted=weighted)
        expected = fairlearn.metrics.MetricFrame(
            metrics=theirs_of(equivalent.name),
            y_true=rows.y_true,
            y_pred=predicted(item, rows),
            sensitive_features=np.array(rows.names)[rows.codes],
            sample_params={"sample_weight": rows.sample_weight} if weighted else None,
        ).by_group.to_dict()
        assert {m.group: m.value for m in measure(rows, [item.name])} == pytest.approx(expected, abs=1e-9)
    pair = as_pair(random_rows(2, weighted=weighted), item.name, 1)
    expected = fairlearn_pair(item, equivalent, weighted)
    assert pair == pytest.approx(expected, abs=1e-9)


def fairlearn_pair(item: Metric, equivalent: Equivalent, weighted: bool) -> dict[str, float]:
    rows = random_rows(2, weighted=weighted)
    found = {}
    for code, name in enumerate(("favored", "deprived")):
        own = rows.take(rows.codes == code)
        weight = {"sample_weight": own.sample_weight} if weighted else {}
        found[f"{item.name}[{name}]"] = theirs_of(equivalent.name)(own.y_true, predicted(item, own), **weight)
    return found


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("item", "equivalent"), cases("fairlearn", HERE + "test_between_groups"))
def test_between_groups(item: Metric, equivalent: Equivalent, weighted: bool) -> None:
    for n_groups in (2, 5):
        rows = random_rows(n_groups, weighted=weighted)
        expected = theirs_of(equivalent.name)(
            rows.y_true,
            predicted(item, rows),
            sensitive_features=rows.codes,
            **({"sample_weight": rows.sample_weight} if weighted else {}),
        )
        (ours,) = measure(rows, [item.name])
        assert ours.value == pytest.approx(expected, abs=1e-9)
        assert 0 < expected < (math.inf if "loss" in item.name else 1)  # else the rows would prove little
        if n_groups == 2:
            assert as_pair(rows, item.name, 1) == {item.name: pytest.approx(expected, abs=1e-9)}


def test_every_metric_of_fairlearn_is_covered() -> None:
    here = {
        case.values[1].name.partition("(")[0]
        for t in ("test_rates", "test_between_groups")
        for case in cases("fairlearn", HERE + t)
    }
    public = set(fairlearn.metrics.__all__)
    assert public - here == set(EXCLUDED) & public  # older versions have fewer
    assert here <= public


def test_every_equivalent_is_tested_here() -> None:
    named = {e.test for item in list_metrics().values() for e in item.equivalents if e.source == "fairlearn"}
    assert named == {HERE + "test_rates", HERE + "test_between_groups"}
    same = [e for item in list_metrics().values() for e in item.equivalents if e.source == "fairlearn"]
    assert {e.relation for e in same} == {"same"}
    assert len({e.name for e in same}) == len(same)


def test_sizes() -> None:
    rows = random_rows(5, weighted=True)
    frame = fairlearn.metrics.MetricFrame(
        metrics=fairlearn.metrics.count,
        y_true=rows.y_true,
        y_pred=rows.y_pred,
        sensitive_features=np.array(rows.names)[rows.codes],
    )
    assert {m.group: m.n_rows for m in measure(rows, ["selection_rate"])} == frame.by_group.to_dict()


@pytest.mark.parametrize("name", ["true_positive_rate", "false_negative_rate"])
def test_a_rate_of_nobody_is_zero_there_and_has_no_value_here(name: str) -> None:
    rows = Predictions(
        np.array([0, 0, 1]), ("a", "b"), np.array([True, False, False]), np.array([True, True, True])
    )
    (_, nobody) = measure(rows, [name])
    assert math.isnan(nobody.value)
    assert "group 'b'" in nobody.reason
    assert theirs_of(name)([0, 0], [1, 1], pos_label=1) == 0
    assert all(e.note for e in get_metric(name).equivalents if e.source == "fairlearn")
