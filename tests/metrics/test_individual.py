"""Individual fairness: against AIF360, brute force, and examples by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from benchmark.metrics import Group, Predictions, UndefinedMetricError, get_metric, list_metrics, measure

HERE = "tests/metrics/test_individual.py::"
EQUIVALENTS = [
    (m.name, e.name)
    for m in list_metrics().values()
    for e in m.equivalents
    if e.test == f"{HERE}test_aif360" and e.relation == "same"
]


def drawn(
    seed: int, n: int = 300, groups: int = 2, n_features: int = 3, *, whole: bool = False
) -> Predictions:
    """Draw rows; their features are whole numbers, of which many are equal, or none."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, groups, n)
    y_true = rng.random(n) < 0.6 - 0.2 * codes / groups
    y_pred = rng.random(n) < np.where(y_true, 0.8, 0.3) - 0.1 * (codes == 1)
    features = (
        rng.integers(0, 4, (n, n_features)).astype(float) if whole else rng.normal(size=(n, n_features))
    )
    return Predictions(codes, tuple("abcd"[:groups]), y_true, y_pred, features=features)


def value_of(rows: Predictions, name: str, group: str = "") -> float:
    (value,) = (m.value for m in measure(rows, [name]) if m.group == group)
    return value


# ---- AIF360


def in_aif360(rows: Predictions) -> tuple[Any, Any]:
    """Return the labels and the predictions as AIF360's data sets, in which the group is a feature."""
    import pandas as pd
    from aif360.datasets import BinaryLabelDataset

    frame = pd.DataFrame(rows.features).rename(columns=str).assign(group=rows.codes.astype(float))
    sets = [
        BinaryLabelDataset(
            df=frame.assign(label=np.asarray(labels, float)),
            label_names=["label"],
            protected_attribute_names=["group"],
            privileged_protected_attributes=[[0.0]],
            unprivileged_protected_attributes=[[float(code) for code in range(1, len(rows.names))]],
        )
        for labels in (rows.y_true, rows.y_pred)
    ]
    return sets[0], sets[1]


@pytest.mark.filterwarnings("ignore")  # the other library's own imports warn
@pytest.mark.parametrize(("ours", "theirs"), EQUIVALENTS)
@pytest.mark.parametrize(("seed", "groups"), [(0, 2), (1, 2), (2, 3)])
def test_aif360(ours: str, theirs: str, seed: int, groups: int) -> None:
    from aif360.metrics import ClassificationMetric

    rows = drawn(seed, groups=groups)
    if theirs.startswith("between_group"):  # compares two groups, whatever there is
        codes = np.minimum(rows.codes, 1)
        rows = Predictions(codes, ("a", "b"), rows.y_true, rows.y_pred, features=rows.features)
    two = {"privileged_groups": [{"group": 0}], "unprivileged_groups": [{"group": 1}]}
    expected = getattr(ClassificationMetric(*in_aif360(rows), **two), theirs)()
    assert expected > 1e-5
    assert value_of(rows, ours) == pytest.approx(expected, abs=1e-12)


def test_all_of_aif360s_inequality_indices_are_compared() -> None:
    indices = ("generalized_entropy_index", "theil_index", "coefficient_of_variation")
    assert {theirs for _, theirs in EQUIVALENTS} == {
        f"{prefix}{index}" for index in indices for prefix in ("", "between_group_", "between_all_groups_")
    }


@pytest.mark.filterwarnings("ignore")  # the other library's own imports warn
@pytest.mark.parametrize("seed", [0, 1])
def test_consistency_in_aif360(seed: int) -> None:
    from aif360.metrics import BinaryLabelDatasetMetric, ClassificationMetric

    rows = drawn(seed)
    labeled, predicted = in_aif360(rows)
    rows = Predictions(rows.codes, rows.names, rows.y_true, rows.y_pred, features=predicted.features)
    ours = value_of(rows, "consistency")
    assert ours == pytest.approx(BinaryLabelDatasetMetric(predicted).consistency().item(), abs=1e-12)
    assert ours != pytest.approx(ClassificationMetric(labeled, predicted).consistency().item(), abs=1e-3)


# ---- brute force


def votes(features: np.ndarray, favorable: np.ndarray, one: np.ndarray, k: int) -> float:
    """Count the favorable predictions of the k nearest rows, as the mean over all orders of the rows."""
    distance = np.array([math.dist(row, one) for row in features]).round(9)
    found, left = 0.0, k
    for radius in np.unique(distance):
        tied = favorable[distance == radius]
        taken = min(left, len(tied))
        found += taken * tied.mean()
        left -= taken
    return found


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("n_features", [1, 3, 30])
def test_consistency_row_by_row(seed: int, whole: bool, n_features: int) -> None:
    rows = drawn(seed, 80, n_features=n_features, whole=whole)
    apart = [
        abs(p - votes(rows.features, rows.y_pred, x, 5) / 5)
        for x, p in zip(rows.features, rows.y_pred, strict=True)
    ]
    assert value_of(rows, "consistency") == pytest.approx(1 - np.mean(apart), abs=1e-12)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("n_others", [1, 9, 10, 100])
def test_flip_test_row_by_row(seed: int, whole: bool, n_others: int) -> None:
    drawn_rows = drawn(seed, n=60 + n_others, whole=whole)
    rows = Predictions(
        (np.arange(len(drawn_rows)) >= n_others).astype(int),
        ("others", "own"),
        y_pred=drawn_rows.y_pred,
        features=drawn_rows.features,
    )
    x, p = rows.features, rows.y_pred
    k = 5 if n_others > 9 else 1
    flips = 0
    for one, own in zip(x[n_others:], p[n_others:], strict=True):
        found = round(votes(x[:n_others], p[:n_others], one, k), 9)
        flips += int(own and found < k / 2) - int(not own and found > k / 2)
    assert value_of(rows, "flip_test", "own") == pytest.approx(flips / 60, abs=1e-12)


# ---- by hand


def line(positions: list[float], favorable: list[int], codes: list[int] | None = None) -> Predictions:
    where = np.array(codes or [0] * len(positions))
    return Predictions(
        where, ("a", "b"), y_pred=np.array(favorable, bool), features=np.array(positions, float)[:, None]
    )


def test_weights_count_rows_but_not_neighbors() -> None:
    rows = line([0, 0.1, 0.2, 0.3, 0.4, 9, 9.1, 9.2, 9.3, 9.4], [1] * 9 + [0])
    weight = np.ones(10)
    weight[-1] = 3  # 0.8 off
    weighted = Predictions(
        rows.codes, rows.names, y_pred=rows.y_pred, features=rows.features, sample_weight=weight
    )
    assert value_of(weighted, "consistency") == pytest.approx(1 - (4 * 0.2 + 3 * 0.8) / 12)


def everybody(tp: int, fp: int, fn: int, tn: int) -> Group:
    return Group("everybody", tp, fp, fn, tn, tp + fp + fn + tn)


def test_inequality_between_groups_by_hand() -> None:
    """Mean benefits 3/2 and 1/2 in groups of the same size; a group of nobody does not count."""
    groups = [everybody(1, 1, 0, 0), everybody(0, 0, 0, 0), everybody(0, 0, 1, 1)]
    theil = (1.5 * math.log(1.5) + 0.5 * math.log(0.5)) / 2
    assert get_metric("between_group_generalized_entropy")(groups) == pytest.approx(1 / 8)
    assert get_metric("between_group_theil_index")(groups) == pytest.approx(theil)
    assert get_metric("between_group_coefficient_of_variation")(groups) == pytest.approx(1 / 2)


@pytest.mark.parametrize(
    ("name", "rows", "reason"),
    [
        ("generalized_entropy", (0, 0, 3, 0), "every row is a false negative, so that no row has a benefit"),
        ("theil_index", (0, 0, 0, 0), "there is no row"),
    ],
)
def test_inequality_of_nothing(name: str, rows: tuple[int, int, int, int], reason: str) -> None:
    with pytest.raises(UndefinedMetricError, match=f"^{reason}.$"):
        get_metric(name)(everybody(*rows))


def test_reasons() -> None:
    few = {m.metric: m for m in measure(line([0, 1, 2], [0, 1, 1]), ["individual"]) if m.group in ("", "b")}
    assert few["consistency"].reason == "there are fewer than 5 rows"
    assert few["flip_test"].reason == "there is no row of the group 'b'"
    assert few["theil_index"].reason == "it needs labels, not given"
