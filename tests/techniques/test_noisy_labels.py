"""Doubtful labels count both ways, and the corrected loss is unbiased: with exact scores nothing is lost."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from benchmark.data.table import Table
from benchmark.techniques import Knowledge, Prepared, get_technique
from benchmark.techniques.noise_loss import corrected
from benchmark.techniques.restoring import wrong_given_unlabeled
from tests.helpers.noisy_labels import TRUE, one_of_each, population, rates, tools

CLEAN = np.tile(TRUE >= 0.5, 2)


def prepared(name: str, data: Table, known: Knowledge) -> Prepared:
    technique = get_technique(name)
    return technique.prepare(data, tools(known))


def shares(made: Prepared) -> np.ndarray:
    """Return the weighted share of favorable labels by group and value of x0, shape (12,)."""
    cell = made.table.codes[:, 0] * len(TRUE) + made.table.codes[:, 1]
    favorable = np.bincount(cell, made.sample_weight * made.table.y)
    return np.asarray(favorable / np.bincount(cell, made.sample_weight))


def test_values_of_the_publication() -> None:
    # w(x) = (1 - c) / c * g(x) / (1 - g(x)): of c = .5 and g = .4 it is .4 / .6; none exceeds 1.
    score = np.array([0.0, 0.2, 0.4, 0.5, 0.6, 1.0])
    np.testing.assert_allclose(wrong_given_unlabeled(score, 0.5), [0, 0.25, 2 / 3, 1, 1, 1])
    np.testing.assert_allclose(wrong_given_unlabeled(score, 1.0), 0)
    # Of 1,000 people of whom 600 are good, half of these are recorded so: 300 of 700 refusals are wrong.
    assert wrong_given_unlabeled(np.array([0.3]), 0.5) == pytest.approx(300 / 700)


@pytest.mark.parametrize("direction", [True, False])
def test_relabeled_rows_have_the_true_shares_of_labels(direction: bool) -> None:
    deprived = 0.6 * TRUE if direction else 1 - 0.6 * (1 - TRUE)
    data = population(deprived=deprived, n=1000)
    known = Knowledge(rates=(float(TRUE.mean()), float(TRUE.mean())))
    made = prepared("noise_relabeling", data, known)
    assert made.sample_weight.sum() == pytest.approx(len(data))
    np.testing.assert_allclose(shares(made), np.tile(TRUE, 2), atol=0.02)
    predictor = get_technique("noise_relabeling").fit(data, tools(known))
    np.testing.assert_array_equal(predictor.predict(one_of_each(data)), CLEAN)


def test_the_number_of_wrong_labels_is_the_told_one_where_scores_miss_it() -> None:
    data = population(deprived=0.6 * TRUE)

    class Even:
        """Gives everybody the same score."""

        def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: Any = None) -> None:
            pass

        def predict_proba(self, X: np.ndarray) -> np.ndarray:
            return np.full((len(X), 2), 0.5)

    technique = get_technique("noise_relabeling")
    known = Knowledge(rates=(float(TRUE.mean()), float(TRUE.mean())))
    made = technique.prepare(data, tools(known, classifier=lambda sizes: Even()))
    own = made.table.deprived
    assert np.average(made.table.y[own], weights=made.sample_weight[own]) == pytest.approx(TRUE.mean())


def test_labels_that_nothing_made_doubtful_stay() -> None:
    data = population()
    deprived, favored = rates(data)
    made = prepared("noise_relabeling", data, Knowledge(rates=(deprived, favored)))
    np.testing.assert_array_equal(made.table.codes, data.codes)
    made = prepared("positive_unlabeled", data, Knowledge(direction=True, kind="selection"))
    np.testing.assert_array_equal(made.table.codes, data.codes)


# Every truly favorable person is sure to be one, as the estimate of c needs.
SURE = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])


@pytest.mark.parametrize("direction", [True, False])
def test_refusals_are_unlabeled_rows(direction: bool) -> None:
    recorded = 0.4 * SURE if direction else 1 - 0.4 * (1 - SURE)
    data = population(deprived=recorded, favored=SURE, n=500)
    known = Knowledge(direction=direction, kind="label")
    made = prepared("positive_unlabeled", data, known)
    np.testing.assert_allclose(shares(made), np.tile(SURE, 2), atol=0.02)


def test_too_many_refusals_count_as_wrong_where_nobody_is_sure() -> None:
    # The estimate of c is the mean score of the favorable: sum p² / sum p, times the share that stayed.
    data = population(deprived=0.6 * TRUE, n=1000)
    kept = 0.6 * (TRUE**2).sum() / TRUE.sum()
    score = 0.6 * TRUE
    expected = score + (1 - score) * wrong_given_unlabeled(score, kept)
    made = prepared("positive_unlabeled", data, Knowledge(direction=True, kind="label"))
    np.testing.assert_allclose(shares(made)[6:], expected, atol=0.02)


def test_the_expected_loss_of_recorded_labels_is_that_of_true_ones() -> None:
    a, b = 0.1, 0.3  # shares of unfavorable and of favorable labels that are turned
    for true in (0, 1):
        recorded = np.array([[1 - a, a], [b, 1 - b]])[true]
        np.testing.assert_allclose(corrected(recorded[None, :], a, b)[0], np.eye(2)[true], atol=1e-12)
    # Lemma 1 of the publication, one label at a time.
    np.testing.assert_allclose(corrected(np.array([[0.0, 1.0]]), a, b), [[-b / 0.6, (1 - a) / 0.6]])
    np.testing.assert_allclose(corrected(np.array([[1.0, 0.0]]), a, b), [[(1 - b) / 0.6, -a / 0.6]])


def test_the_fit_is_the_minimum_of_the_corrected_loss() -> None:
    data = population(deprived=0.7 * TRUE, favored=1 - 0.8 * (1 - TRUE), n=20)
    told = (0.52, 0.45)
    X = np.column_stack([np.ones(len(data)), data.codes[:, 0], np.eye(len(TRUE))[data.codes[:, 1]]])
    r = rates(data)
    b = np.where(data.deprived, (told[0] - r[0]) / told[0], 0.0)
    a = np.where(data.deprived, 0.0, (r[1] - told[1]) / (1 - told[1]))
    y = data.y.astype(int)

    def loss(theta: np.ndarray) -> float:
        score = X @ theta
        of = np.array([np.logaddexp(0, score), np.logaddexp(0, -score)])
        own, other = of[y, np.arange(len(y))], of[1 - y, np.arange(len(y))]
        turned_own, turned_other = np.where(y, b, a), np.where(y, a, b)
        unbiased = ((1 - turned_other) * own - turned_own * other) / (1 - a - b)
        return float(unbiased.mean() + 0.01 / 2 * theta @ theta)

    best = minimize(loss, np.zeros(X.shape[1]), method="BFGS", options={"gtol": 1e-9}).x
    predictor = get_technique("noise_loss", ridge=0.01).fit(
        data, tools(Knowledge(rates=told), classifier=None)
    )  # type: ignore[arg-type]
    np.testing.assert_allclose(predictor.predict_score(data), 1 / (1 + np.exp(-X @ best)), atol=1e-5)


def test_noise_that_is_told_is_taken_out_of_the_loss() -> None:
    data = population(deprived=0.6 * TRUE, n=1000)
    known = Knowledge(rates=(float(TRUE.mean()), float(TRUE.mean())))
    predictor = get_technique("noise_loss", ridge=1e-6).fit(data, tools(known))
    np.testing.assert_allclose(predictor.predict_score(one_of_each(data)), np.tile(TRUE, 2), atol=0.02)


def test_the_learner_without_correction_need_not_be_told() -> None:
    data = population(deprived=0.6 * TRUE)
    predictor = get_technique("noise_loss", strength=0.0, ridge=1e-6).fit(data, tools())
    plain = get_technique("prejudice_remover", eta=0.0).fit(data, tools())
    assert predictor.predict_score(one_of_each(data)).mean() == pytest.approx(
        plain.predict_score(one_of_each(data)).mean(), abs=0.01
    )
