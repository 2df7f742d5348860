"""Confident learning doubts the labels that its publication counts off the confident joint's diagonal."""

import numpy as np
import pytest

from benchmark.conformance import example_table
from benchmark.errors import TechniqueError
from benchmark.techniques import get_technique
from benchmark.techniques.base import with_labels
from benchmark.techniques.doubtful_labels import doubted_labels
from tests.helpers.techniques import tools

ONE_GROUP = np.zeros(8, dtype=bool)
LABELS = np.array([True, True, True, True, False, False, False, False])


def confident_joint(score: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return which rows lie off the diagonal, one by one, by the publication's equations 1 and 2."""
    p = np.column_stack([1 - score, score])
    thresholds = [p[~y, 0].mean(), p[y, 1].mean()]
    off = []
    for row, label in zip(p, y, strict=True):
        reached = [j for j in (0, 1) if row[j] >= thresholds[j]]
        counted = max(reached, key=lambda j: row[j]) if reached else int(label)
        off.append(counted != int(label))
    return np.array(off)


def test_labels_that_scores_contradict_are_doubted() -> None:
    score = np.array([0.9, 0.8, 0.85, 0.1, 0.1, 0.2, 0.05, 0.9])
    np.testing.assert_array_equal(
        np.flatnonzero(doubted_labels(score, LABELS, ONE_GROUP)), [3, 7]
    )  # favorable with .1, unfavorable with .9


@pytest.mark.parametrize("seed", range(20))
def test_they_are_the_counts_off_the_diagonal_of_the_confident_joint(seed: int) -> None:
    rng = np.random.default_rng(seed)
    score, y, group = rng.random(300), rng.random(300) < 0.4, rng.random(300) < 0.3
    expected = np.empty(300, dtype=bool)
    for members in (group, ~group):
        expected[members] = confident_joint(score[members], y[members])
    np.testing.assert_array_equal(doubted_labels(score, y, group), expected)
    together = doubted_labels(score, y, np.zeros(300, dtype=bool))
    np.testing.assert_array_equal(together, confident_joint(score, y))


def test_a_group_without_a_class_has_no_doubted_label() -> None:
    score = np.linspace(0, 1, 8)
    assert not doubted_labels(score, np.ones(8, dtype=bool), ONE_GROUP).any()


def test_labels_turned_at_random_are_doubted_more_often_than_others() -> None:
    true = example_table(4000, seed=3)
    rng = np.random.default_rng(5)
    wrong = true.deprived & true.y & (rng.random(len(true)) < 0.3)
    noisy = with_labels(true, true.y & ~wrong)
    turning, pruning = (get_technique("confident_learning", action=action) for action in ("turn", "prune"))
    turned = turning.prepare(noisy, tools("naive_bayes")).table
    assert turned.y[wrong].mean() > 2 * (turned.y != noisy.y)[~wrong].mean() > 0
    left = pruning.prepare(noisy, tools("naive_bayes")).table
    assert len(left) == len(noisy) - np.count_nonzero(turned.y != noisy.y)


def test_a_class_of_one_row_is_declined() -> None:
    data = example_table(200)
    one = np.r_[np.flatnonzero(~data.y), np.flatnonzero(data.y)[:1]]
    with pytest.raises(TechniqueError, match="Too few rows of one class"):
        get_technique("confident_learning").fit(data.take(one), tools("naive_bayes"))
