"""Techniques against the unprocessing frontier: where paths are met, whose frontier it is, who is inside."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmark.columns import EQUALIZE, FRONTIER_COLUMNS, GOALS, RESTORE
from benchmark.statistics.answers import ConstantAnswer, random_accuracy
from benchmark.statistics.cells import Resampling
from benchmark.statistics.unprocessing import (
    FRONTIER_GAP_COLUMNS,
    accuracy_at,
    best_frontiers,
    curves_of,
    frontier_gaps,
    mean_frontiers,
    with_frontier,
)
from tests.helpers.made_up_results import results


@pytest.mark.parametrize(
    ("discrimination", "accuracy"),
    [
        (0.5, 0.8),  # more than without thresholds: the first point
        (0.4, 0.8),
        (0.3, 0.75),  # half of the way
        (0.2, 0.7),
        (0.1, 0.65),  # on the way through 0 to the other side
        (0.0, 0.6),
    ],
)
def test_a_path_is_met_where_it_first_discriminates_no_more(discrimination: float, accuracy: float) -> None:
    gaps, accuracies = np.array([[0.4, 0.2, -0.2, 0.0]]), np.array([[0.8, 0.7, 0.5, 0.9]])
    for sign in (1, -1):
        assert accuracy_at(np.array([discrimination]), sign * gaps, accuracies) == pytest.approx(accuracy)


def test_beyond_its_last_rule_a_path_leads_to_the_constant() -> None:
    gaps, d = np.array([[0.4, 0.1, 0.0]] * 2), np.array([0.05, 0.05])
    found = accuracy_at(d, gaps, np.array([[0.8, 0.7, 0.5], [0.8, 0.7, np.nan]]))
    np.testing.assert_allclose(found, [0.6, np.nan])
    assert np.isnan(accuracy_at(np.array([np.nan]), gaps[:1], gaps[:1])).all()


N = 5
NOISE = np.linspace(-0.01, 0.01, N)  # of a repetition's sample, alike for all


def frontier(classifier: str, accuracy: float, dataset: str = "one") -> pd.DataFrame:
    """Return a frontier that loses 0.1 of accuracy per 0.4 of discrimination."""
    rows = [
        (dataset, "cpt", 0.0, "none", classifier, i, "original", r, accuracy - 0.1 * (1 - r) + noise, 0.4 * r)
        for i, noise in enumerate(NOISE)
        for r in (1.0, 0.5, 0.0)
    ]
    return pd.DataFrame(rows, columns=list(FRONTIER_COLUMNS))


@pytest.fixture(scope="module")
def tried() -> pd.DataFrame:
    # By how much each is above the better frontier, where it discriminates by 0.2.
    own = {"inside": -0.02, "on": 0.0, "beyond": 0.02}
    lots = np.array([0.001, -0.002, 0.002, -0.001, 0.0])
    accuracy = {name: 0.75 + NOISE + more + lots for name, more in own.items()} | {"none": 0.8 + NOISE}
    gaps = {name: [0.2, -0.2] * 2 + [0.2] for name in own} | {"none": [0.4] * N}
    return pd.concat([results(accuracy), results(gaps, metric="discrimination")])


def test_techniques_are_inside_on_or_beyond_the_best_frontier(tried: pd.DataFrame) -> None:
    both = pd.concat([frontier("c45", 0.7), frontier("naive_bayes", 0.8), frontier("c45", 0.7, "unseen")])
    best = best_frontiers(both)
    assert list(best["classifier"].unique()) == ["naive_bayes", "c45"]
    found = frontier_gaps(tried, best, {})
    assert tuple(found.columns) == FRONTIER_GAP_COLUMNS
    assert found.set_index("technique")["standing"].to_dict() == {
        "inside": "inside",
        "on": "on",
        "beyond": "beyond",
        "none": "on",
    }
    np.testing.assert_allclose(found["difference"], [-0.02, 0, 0.02, 0], atol=1e-12)
    means = mean_frontiers(best)
    assert len(curves_of(means, ("one", "cpt", "c45", "original"))) == 3
    assert curves_of(means, ("one", "label", "c45", "original")).empty


def test_without_an_interval_nothing_is_said(tried: pd.DataFrame) -> None:
    best, constant = best_frontiers(frontier("c45", 0.8)), {"one": ConstantAnswer(0.6)}
    folds = Resampling({"one": 0.1}, {"one": 3})
    found = frontier_gaps(tried, best, constant, folds)
    assert set(found["standing"]) == {""}
    assert found["difference"].notna().all()
    single = frontier_gaps(tried[tried["repetition"] == 0], best, constant)
    assert set(single["standing"]) == {""}
    assert set(single["reason"]) == {"few_values"}
    assert frontier_gaps(tried.assign(bias="label"), best, constant).empty


def test_the_answer_by_lot_is_right_as_often_as_two_draws_agree() -> None:
    for rate in (0.3, 0.5, 0.9):
        accuracy = ConstantAnswer(rate).accuracy
        assert random_accuracy(accuracy) == pytest.approx(rate**2 + (1 - rate) ** 2)


def test_a_frontier_is_one_of_discrimination() -> None:
    where = {"dataset": "one", "bias": "cpt", "classifier": "c45", "test": "original", "level": 0.5}
    answers = pd.DataFrame([{**where, "technique": "a", "goal": goal} for goal in GOALS])
    gaps = pd.DataFrame([{**where, "technique": "a", "standing": "inside"}])
    found = with_frontier(answers, gaps).set_index("goal")["frontier"].to_dict()
    assert found == {EQUALIZE: "inside", RESTORE: None}
    assert "frontier" not in with_frontier(answers, gaps.iloc[:0])
