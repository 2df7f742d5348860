"""What changes for a group once it is taken for the other one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from benchmark.metrics import Predictions, measure
from benchmark.metrics.alternation import gaussian_kl


def predictions(*, scored: bool = True) -> Predictions:
    """Five rows of each group: scores of a rise by .1, scores of b spread to twice their deviation."""
    before = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.3, 0.4, 0.5, 0.6, 0.7])
    after = np.concatenate([before[:5] + 0.1, 0.5 + 2 * (before[5:] - 0.5)])
    return Predictions(
        np.repeat([0, 1], 5),
        ("a", "b"),
        y_pred=before > 0.45,
        y_score=before if scored else None,
        alternated=after if scored else (after > 0.45).astype(float),
    )


def test_divergence_of_groups() -> None:
    found = {m.group: m.value for m in measure(predictions(), ["alternation_divergence"])}
    # Variance of five evenly spaced numbers .1 apart is .02.
    assert found["a"] == pytest.approx(0.1**2 / (2 * 0.02))
    assert found["b"] == pytest.approx(math.log(2) + 1 / 8 - 1 / 2)
    gap = {m.group: m.value for m in measure(predictions(), ["alternation_gap"])}
    assert gap == {"a": pytest.approx(found["a"] - found["b"]), "b": pytest.approx(found["b"] - found["a"])}


def test_weights_of_rows_count() -> None:
    given = predictions()
    weights = np.arange(1, len(given) + 1)
    repeated = given.take(np.repeat(np.arange(len(given)), weights))
    weighted = replace(given, sample_weight=weights.astype(float))
    for found, expected in zip(
        *(measure(own, ["alternation_divergence", "alternation_gap"]) for own in (weighted, repeated)),
        strict=True,
    ):
        assert found.value == pytest.approx(expected.value)


def test_rows_without_weight_are_none() -> None:
    given = predictions()
    of_b = replace(given, sample_weight=given.codes.astype(float))
    found, plain = ({m.group: m for m in measure(own, ["alternation_divergence"])} for own in (of_b, given))
    assert found["a"].reason == "there are fewer than two rows of the group 'a'"
    assert found["b"].value == pytest.approx(plain["b"].value)


def test_without_scores_predictions_count() -> None:
    found = {m.group: m.value for m in measure(predictions(scored=False), ["alternation_divergence"])}
    before, after = [0, 0, 0, 0, 1], [0, 0, 0, 1, 1]
    assert found["a"] == pytest.approx(gaussian_kl(before, after))


def test_a_group_of_one_has_no_distribution() -> None:
    one = Predictions(
        np.array([0, 1, 1]),
        ("a", "b"),
        y_pred=np.array([True, True, False]),
        alternated=np.array([1.0, 1.0, 1.0]),
    )
    lonely, two = measure(one, ["alternation_divergence"])
    assert math.isnan(lonely.value)
    assert lonely.reason == "there are fewer than two rows of the group 'a'"
    assert two.value == math.inf
