"""Metrics that AIF360 has are equal to AIF360's."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmark.metrics import Equivalent, Metric, list_metrics, measure
from tests.helpers.metric_properties import as_pair, cases, random_rows

HERE = "tests/metrics/test_aif360.py::"
TESTS = ("test_rates", "test_two_groups", "test_all_groups")
# Of the labels of a data set, there: here the predictions are taken for them.
OF_A_DATASET = ("smoothed_empirical_differential_fairness",)
EXCLUDED = {
    "binary_confusion_matrix": "counts, behind the rates",
    "generalized_binary_confusion_matrix": "sums of scores behind the generalized rates",
    "performance_measures": "all rates at once",
    "difference": "subtracts any function of two groups",
    "ratio": "divides any function of two groups",
    "power": "a count: the true positives",
    "rich_subgroup": "searches for a subgroup; it measures none that is given",
}


def classes() -> tuple[type, type]:
    from aif360.metrics import BinaryLabelDatasetMetric, ClassificationMetric

    return ClassificationMetric, BinaryLabelDatasetMetric


@cache
def datasets(n_groups: int) -> tuple[Any, Any]:
    """Return the rows in AIF360's form: with their labels, and with the predictions and scores."""
    from aif360.datasets import BinaryLabelDataset

    rows = random_rows(n_groups)
    made = []
    for label in (rows.y_true, rows.y_pred):
        frame = pd.DataFrame({"group": rows.codes, "label": label, "weight": rows.sample_weight}, dtype=float)
        made.append(
            BinaryLabelDataset(
                df=frame,
                label_names=["label"],
                protected_attribute_names=["group"],
                instance_weights_name="weight",
            )
        )
    made[1].scores = np.asarray(rows.y_score).reshape(-1, 1)
    return made[0], made[1]


def theirs(name: str, n_groups: int, deprived: list[int], favored: list[int], **options: Any) -> float:
    classification, dataset = classes()
    labeled, predicted = datasets(n_groups)
    groups = {
        "unprivileged_groups": [{"group": code} for code in deprived],
        "privileged_groups": [{"group": code} for code in favored],
    }
    of_a_dataset = name in OF_A_DATASET
    found = dataset(predicted, **groups) if of_a_dataset else classification(labeled, predicted, **groups)
    return float(getattr(found, name)(**options))


def of_ours(value: float, equivalent: Equivalent) -> float:
    """Return what AIF360 has to answer if our value is right."""
    return {"same": value, "negated": -value}[equivalent.relation]


@pytest.mark.parametrize(("item", "equivalent"), cases("AIF360", HERE + "test_rates"))
def test_rates(item: Metric, equivalent: Equivalent) -> None:
    for n_groups in (2, 5):
        found = measure(random_rows(n_groups), [item.name])
        assert [m.group for m in found] == list("abcde"[:n_groups])
        for code, ours in enumerate(found):
            expected = theirs(equivalent.name, n_groups, [code], [], privileged=False)
            assert of_ours(ours.value, equivalent) == pytest.approx(expected, abs=1e-9)
    expected_pair = {
        f"{item.name}[deprived]": theirs(equivalent.name, 2, [0], [1], privileged=False),
        f"{item.name}[favored]": theirs(equivalent.name, 2, [0], [1], privileged=True),
    }
    assert as_pair(random_rows(2), item.name, 0) == pytest.approx(expected_pair, abs=1e-9)


@pytest.mark.parametrize(("item", "equivalent"), cases("AIF360", HERE + "test_two_groups"))
def test_two_groups(item: Metric, equivalent: Equivalent) -> None:
    """AIF360 compares two groups: with five, each with the others together, or with a reference group."""
    expected = theirs(equivalent.name, 2, [0], [1])
    (pair,) = as_pair(random_rows(2), item.name, 0).values()
    if item.compare != "against_reference":
        assert of_ours(pair, equivalent) == pytest.approx(expected, abs=1e-9)
    first, *_ = measure(random_rows(2), [item.name], reference="b")
    assert of_ours(first.value, equivalent) == pytest.approx(expected, abs=1e-9)
    if item.compare in ("one_against_rest", "against_reference"):
        against_rest = item.compare == "one_against_rest"
        for code, ours in enumerate(measure(random_rows(5), [item.name], reference="b")):
            others = [c for c in range(5) if c != code] if against_rest else [1]
            if others != [code]:  # AIF360 refuses to compare a group with itself
                expected = theirs(equivalent.name, 5, [code], others)
                assert of_ours(ours.value, equivalent) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("item", "equivalent"), cases("AIF360", HERE + "test_all_groups"))
def test_all_groups(item: Metric, equivalent: Equivalent) -> None:
    for n_groups in (2, 5):
        (ours,) = measure(random_rows(n_groups), [item.name])
        expected = theirs(equivalent.name, n_groups, [0], [1])
        assert of_ours(ours.value, equivalent) == pytest.approx(expected, abs=1e-9)
        assert expected != 0
    assert of_ours(as_pair(random_rows(2), item.name, 0)[item.name], equivalent) == pytest.approx(
        theirs(equivalent.name, 2, [0], [1]), abs=1e-9
    )


def test_every_metric_of_aif360_is_covered() -> None:
    public = {name for c in classes() for name, _ in inspect.getmembers(c) if not name.startswith("_")}
    counts = {name for name in public if name.startswith("num_")}
    covered = {e.name for item in list_metrics().values() for e in item.equivalents if e.source == "AIF360"}
    assert public - covered - counts == set(EXCLUDED)
    assert covered <= public


def test_every_equivalent_that_points_here_has_its_case() -> None:
    named = {e.test for item in list_metrics().values() for e in item.equivalents if e.source == "AIF360"}
    assert {test for test in named if test.startswith(HERE)} == {HERE + test for test in TESTS}
