"""Exponentiated gradient and grid search: fairlearn's reductions on the bench's tables and classifiers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from benchmark.classifiers import make_classifier, naive_bayes_ranker
from benchmark.conformance import example_table
from benchmark.data.table import Table
from benchmark.errors import NotConvergedError
from benchmark.techniques import Tools, get_technique
from tests.helpers.marks import nightly_but
from tests.helpers.tables import table
from tests.helpers.techniques import fitted, tiled, tools

BOTH = ["exponentiated_gradient", "grid_search"]
CONSTRAINTS = [
    "demographic_parity",
    "equalized_odds",
    "true_positive_rate_parity",
    "false_positive_rate_parity",
]


def largest_distance(predicted: np.ndarray, data: Table, constraint: str) -> float:
    """How far a group's rate of positive predictions is from the rate of all, by definition."""
    rows = {
        "demographic_parity": [np.ones(len(data), dtype=bool)],
        "equalized_odds": [data.y, ~data.y],
        "true_positive_rate_parity": [data.y],
        "false_positive_rate_parity": [~data.y],
    }[constraint]
    groups = (data.deprived, ~data.deprived)
    return float(max(abs(predicted[r & g].mean() - predicted[r].mean()) for r in rows for g in groups))


class Direct:
    """The classifier as a user of fairlearn would hand it over: weights of mean 1, a copy for each fit."""

    def __init__(self, cardinalities: np.ndarray) -> None:
        self.cardinalities = cardinalities

    def fit(self, X: Any, y: Any, sample_weight: Any) -> Direct:
        self.tree = make_classifier("c45").build(self.cardinalities, 0)
        self.tree.fit(X, np.asarray(y), sample_weight=np.asarray(sample_weight) / np.mean(sample_weight))
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.asarray(self.tree.predict(X))


@pytest.mark.parametrize(
    ("name", "constraint", "use_sensitive"),
    [
        ("exponentiated_gradient", "equalized_odds", True),
        ("grid_search", "demographic_parity", False),
        ("grid_search", "equalized_odds", True),
    ],
)
def test_it_predicts_what_a_direct_call_of_fairlearn_does(
    name: str, constraint: str, use_sensitive: bool
) -> None:
    from fairlearn import reductions

    data, test = example_table(), example_table(200, seed=8)
    data = data.take(np.lexsort((*data.codes.T, data.deprived)))  # the library's grid depends on the order
    columns = [0, 1, 2, 4] if use_sensitive else [0, 2, 4]
    moment = {"demographic_parity": reductions.DemographicParity, "equalized_odds": reductions.EqualizedOdds}
    estimator = Direct(data.schema.cardinalities[columns])
    if name == "grid_search":
        direct = reductions.GridSearch(estimator, moment[constraint](), grid_size=13)
        lots = {}
    else:
        bound = moment[constraint](difference_bound=0.03)
        direct = reductions.ExponentiatedGradient(estimator, bound, eps=0.03)
        lots = {"random_state": int(np.random.default_rng(0).integers(2**32))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        direct.fit(data.codes[:, columns], data.y.astype(int), sensitive_features=data.deprived)
    parameters = {"grid_size": 13} if name == "grid_search" else {"bound": 0.03}
    predictor = fitted(name, data, constraint=constraint, use_sensitive=use_sensitive, **parameters)
    expected = direct.predict(test.codes[:, columns], **lots)
    np.testing.assert_array_equal(predictor.predict(test), expected == 1)
    assert 0 < expected.mean() < 1


@pytest.mark.parametrize("constraint", ["demographic_parity", "true_positive_rate_parity"])
def test_the_lottery_keeps_its_bound_on_the_training_rows(constraint: str) -> None:
    data = example_table()
    plain = get_technique("none").fit(data, tools()).predict(data)
    predictor = fitted("exponentiated_gradient", data, constraint=constraint, bound=0.02, use_sensitive=True)
    drawn = predictor.predict(tiled(data, 40))
    assert largest_distance(plain, data, constraint) > 0.06
    # The lots do not even out quite.
    assert largest_distance(drawn, tiled(data, 40), constraint) < 0.02 + 0.01
    assert predictor.convergence.residual <= predictor.convergence.tolerance
    assert predictor.convergence.steps > 1


@pytest.mark.parametrize("constraint", nightly_but("true_positive_rate_parity", CONSTRAINTS))
def test_grid_search_trades_error_for_the_constrained_distance(constraint: str) -> None:
    data = example_table()
    errors, distances = [], []
    for weight in (0.0, 1.0):
        fit = fitted("grid_search", data, constraint=constraint, constraint_weight=weight)
        predicted = fit.predict(data)
        errors.append((predicted != data.y).mean())
        distances.append(largest_distance(predicted, data, constraint))
    assert errors[0] <= errors[1]
    assert distances[0] > 1.5 * distances[1]


# A feature that tells the groups apart; 80 in 100 of the favored and 20 of the deprived are favorable.
# Following it errs in 20 of 100 rows with rates 1 and 0, 0.5 away from the rate of all; constants err in 50.
APART = table([0] * 100 + [1] * 100, [1] * 80 + [0] * 20 + [1] * 20 + [0] * 80, [0] * 100 + [1] * 100)


def test_the_best_lottery_of_two_classifiers_is_found() -> None:
    # A share w of the feature's follower is 0.5 w away: at a bound of 0.1 the best lottery has w = 0.2.
    technique, rows = get_technique("exponentiated_gradient", bound=0.1), tiled(APART, 500)
    predictor, other = (technique.fit(APART, tools(seed=seed)) for seed in (0, 1))
    drawn = predictor.predict(rows)
    assert drawn[~rows.deprived].mean() - drawn[rows.deprived].mean() == pytest.approx(0.2, abs=0.01)
    assert (drawn != rows.y).mean() == pytest.approx(0.2 * 0.2 + 0.8 * 0.5, abs=0.01)
    # The seed decides, and equal rows draw different lots.
    np.testing.assert_array_equal(drawn, predictor.predict(rows))
    assert not np.array_equal(drawn, other.predict(rows))
    blocks = drawn.reshape(500, -1)
    assert (blocks != blocks[0]).any()


def test_the_score_is_the_share_of_lots_that_predict_the_favorable_outcome() -> None:
    data = example_table()
    predictor = fitted("exponentiated_gradient", data, constraint="equalized_odds")
    score = predictor.predict_score(data)
    drawn = predictor.predict(tiled(data, 400)).reshape(400, len(data)).mean(axis=0)
    assert len(np.unique(score)) > 2
    np.testing.assert_allclose(drawn, score, atol=0.12)
    assert set(drawn[score < 1e-9]) <= {0.0}
    assert set(drawn[score > 1 - 1e-9]) <= {1.0}


def test_grid_search_takes_the_accurate_or_the_equal_classifier() -> None:
    accurate = fitted("grid_search", APART, constraint_weight=0.0).predict(APART)
    np.testing.assert_array_equal(accurate, ~APART.deprived)
    equal = fitted("grid_search", APART, constraint_weight=1.0).predict(APART)
    assert len(set(equal.tolist())) == 1


# What follows concerns what both share, and the grid is quicker.


def test_the_hidden_sensitive_feature_is_no_feature() -> None:
    data = example_table()
    moved = data.with_column("sex", (data.codes[:, data.schema.sensitive_index] + 1) % 3)
    hidden, visible = (fitted("grid_search", data, use_sensitive=shown) for shown in (False, True))
    np.testing.assert_array_equal(hidden.predict(data), hidden.predict(moved))
    assert not np.array_equal(visible.predict(data), visible.predict(moved))


def test_groups_are_the_deprived_and_everyone_else() -> None:
    data = example_table()
    group = data.codes[:, data.schema.sensitive_index]
    merged = data.with_column("sex", np.where(group == 2, 0, group))
    as_is, as_one = (fitted("grid_search", rows).predict(data) for rows in (data, merged))
    np.testing.assert_array_equal(as_is, as_one)


def test_the_classifier_sees_weights_of_mean_one() -> None:
    seen = []

    class Recording(Direct):
        def fit(self, X: Any, y: Any, sample_weight: Any) -> Direct:
            seen.append(np.mean(sample_weight))
            return super().fit(X, y, sample_weight)

    technique = get_technique("grid_search", grid_size=9)
    technique.fit(example_table(), Tools(Recording, naive_bayes_ranker, np.random.default_rng(0)))
    assert len(seen) == 9
    np.testing.assert_allclose(seen, 1.0)


def test_a_game_that_does_not_end_says_so() -> None:
    with pytest.raises(NotConvergedError, match="exponentiated gradient did not converge in 1 steps"):
        fitted("exponentiated_gradient", example_table(), max_iterations=1)


@pytest.mark.parametrize("name", BOTH)
def test_tables_without_anything_to_compare_are_declined(name: str) -> None:
    no_positives = example_table(positives=(True, False))
    for constraint in ("true_positive_rate_parity", "equalized_odds"):
        reason = get_technique(name, constraint=constraint).skip(no_positives)
        assert "nothing to compare" in reason
        assert f"[{no_positives.deprived.sum()}, 0]" in reason
    for constraint in ("demographic_parity", "false_positive_rate_parity"):
        assert get_technique(name, constraint=constraint).skip(no_positives) is None
    assert get_technique(name).skip(table([1, 1, 1], [0, 1, 0], [0, 1, 2])) is not None
    alone = table([0, 0, 1, 1], [0, 1, 0, 1])
    assert "only one" in str(get_technique(name).skip(alone))
    assert get_technique(name, use_sensitive=True).skip(alone) is None


def memorisable(n: int = 120) -> Table:
    """Return rows that a feature tells apart one by one, the groups' rates of favorable labels far apart."""
    rng = np.random.default_rng(1)
    group = rng.integers(0, 2, n)
    label = (rng.random(n) < np.where(group == 0, 0.7, 0.3)).astype(int)
    return table(group, label, rng.permutation(n), states=n)


def test_a_classifier_that_memorises_its_rows_ends_soon_with_a_lottery() -> None:
    # The first classifier makes no error, so that the library's own tolerance is 0 and no gap is below it.
    data = memorisable()
    predictor = fitted("exponentiated_gradient", data, classifier="decision_tree")
    assert predictor.convergence.tolerance == 0.5 / len(data)
    assert predictor.convergence.residual <= predictor.convergence.tolerance
    assert predictor.convergence.steps < 10
    drawn = predictor.predict(tiled(data, 200))
    assert largest_distance(drawn, tiled(data, 200), "demographic_parity") < 0.01 + 0.01


def test_the_tolerance_is_the_librarys_own_where_the_first_classifier_errs() -> None:
    from benchmark.techniques.reductions import _tolerant

    for errors in (1, 2, 60):
        wrong = np.arange(120) < errors
        own = 0.5 * np.std(wrong, ddof=1) / np.sqrt(120)
        mitigator = _tolerant(120)(None, None)
        mitigator.nu = own
        assert mitigator.nu == pytest.approx(own, rel=1e-12)
    mitigator.nu = 0.0
    assert mitigator.nu == 0.5 / 120


@pytest.mark.parametrize("classifier", ["c45", "logistic_regression"])
@pytest.mark.parametrize("name", BOTH)
def test_costs_may_cancel_in_every_row(name: str, classifier: str) -> None:
    # The label is the group, and the groups are equally large: at one multiplier no prediction costs more.
    data = table([0, 0, 1, 1], [1, 1, 0, 0], [0, 2, 1, 1])
    assert fitted(name, data, classifier).predict(data).shape == (4,)
