"""Classifiers are built from their names, and the ranker ranks."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
import sklearn
from scipy.sparse import issparse

from benchmark.classifiers import list_classifiers, make_classifier, naive_bayes_ranker
from benchmark.classifiers.factories import OneHotClassifier
from benchmark.conformance import example_table
from benchmark.data.table import Table
from benchmark.errors import ClassifierError, UnknownNameError

TRAIN, TEST = example_table(), example_table(300, seed=4)
COLUMNS = list(TRAIN.schema.feature_indices)
CARDINALITIES = TRAIN.schema.cardinalities[COLUMNS]
FAST = {
    "random_forest": {"n_estimators": 5},
    "gradient_boosting": {"max_iter": 5},
    "lightgbm": {"n_estimators": 20},
}
MISSING = {"lightgbm": pytest.mark.skipif(find_spec("lightgbm") is None, reason="needs betabench[lightgbm]")}
NAMES = [pytest.param(name, marks=MISSING.get(name, ())) for name in list_classifiers()]


def codes(table: Table) -> np.ndarray:
    return table.codes.T[COLUMNS].T


def predictions(name: str, seed: int = 0, sample_weight: np.ndarray | None = None) -> np.ndarray:
    estimator = make_classifier(name, FAST.get(name)).build(CARDINALITIES, seed)
    estimator.fit(codes(TRAIN), TRAIN.y.astype(int), sample_weight)
    return np.asarray(estimator.predict(codes(TEST)))


@pytest.mark.parametrize("name", [*NAMES, "sklearn.linear_model.Perceptron"])
def test_every_classifier_learns_and_is_deterministic(name: str) -> None:
    predicted = predictions(name)
    assert set(np.unique(predicted)) <= {0, 1}
    majority = max(TEST.y.mean(), 1 - TEST.y.mean())
    assert (predicted == TEST.y).mean() > (majority - 0.02 if "Perceptron" not in name else 0.5)
    np.testing.assert_array_equal(predicted, predictions(name))


@pytest.mark.parametrize("name", NAMES)
def test_every_classifier_honors_weights(name: str) -> None:
    # Weights that silence nearly all favorable rows leave a classifier that hardly ever says yes.
    silent = predictions(name, sample_weight=np.where(TRAIN.y, 1e-3, 1.0))
    assert silent.mean() < 0.5 * predictions(name).mean()


def test_a_short_name_and_its_path_are_one_classifier() -> None:
    short = make_classifier("logistic_regression", {"C": 0.5}).describe()
    assert short == make_classifier("sklearn.linear_model.LogisticRegression", {"C": 0.5}).describe()
    assert short == {
        "class": "sklearn.linear_model.LogisticRegression",
        "version": sklearn.__version__,
        "parameters": {"C": 0.5},
    }
    assert isinstance(
        make_classifier("sklearn.naive_bayes.CategoricalNB").build(CARDINALITIES, 0),
        type(make_classifier("naive_bayes").build(CARDINALITIES, 0)),
    )


def test_one_and_true_are_different_parameters() -> None:
    assert make_classifier("c45", {"prune": 1}).describe()["parameters"] == {"prune": 1}
    assert make_classifier("c45", {"prune": True}).describe()["parameters"] == {}


def test_parameters_reach_the_classifier() -> None:
    forest = make_classifier("random_forest", {"n_estimators": 3}).build(CARDINALITIES, 2**100 + 5)
    assert isinstance(forest, OneHotClassifier)
    assert forest.estimator.n_estimators == 3
    assert forest.estimator.random_state == 5
    tree = make_classifier("c45", {"min_cases": 50}).build(CARDINALITIES, 0)
    assert tree.min_cases == 50
    np.testing.assert_array_equal(tree.categories, CARDINALITIES)


def test_states_can_be_read_as_numbers() -> None:
    factory = make_classifier("decision_tree", {"max_depth": 1}, "ordinal")
    tree = factory.build(CARDINALITIES, 0).fit(codes(TRAIN), TRAIN.y.astype(int))
    assert tree.n_features_in_ == len(CARDINALITIES)
    assert tree.tree_.threshold[0] % 1 == 0.5  # between two codes
    assert factory.describe()["encoding"] == "ordinal"
    assert "encoding" not in make_classifier("decision_tree").describe()
    with pytest.raises(ClassifierError, match=r"'c45' reads states as categories.*such as 'random_forest'"):
        make_classifier("c45", encoding="ordinal")


def test_the_seed_decides_where_chance_does() -> None:
    assert (predictions("random_forest", 1) != predictions("random_forest", 2)).any()


def test_unknown_parameters_name_the_valid_ones() -> None:
    with pytest.raises(ClassifierError, match=r"no parameter 'min_case'.*min_cases.*mean 'min_cases'"):
        make_classifier("c45", {"min_case": 3})
    with pytest.raises(ClassifierError, match="sets the parameter 'random_state' of 'random_forest'"):
        make_classifier("random_forest", {"random_state": 3})
    with pytest.raises(ClassifierError, match="sets the parameter 'categories' of 'c45'"):
        make_classifier("c45", {"categories": [2]})


def test_unknown_classifiers_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'naive_bayes'"):
        make_classifier("naive_bays")
    with pytest.raises(ClassifierError, match="cannot be imported"):
        make_classifier("sklearn.linear_model.LogisticRegresion")
    with pytest.raises(ClassifierError, match="cannot be imported"):
        make_classifier("no_such_package.Classifier")
    for path in ("sklearn.linear_model.LinearRegression", "sklearn.base.clone", "numpy.pi"):
        with pytest.raises(ClassifierError, match="names no classifier"):
            make_classifier(path)


def test_weights_that_an_estimator_cannot_use_are_refused() -> None:
    neighbors = make_classifier("sklearn.neighbors.KNeighborsClassifier").build(CARDINALITIES, 0)
    neighbors.fit(codes(TRAIN), TRAIN.y.astype(int))
    with pytest.raises(ClassifierError, match="cannot train on weighted rows"):
        neighbors.fit(codes(TRAIN), TRAIN.y.astype(int), np.ones(len(TRAIN)))


@pytest.mark.parametrize("name", NAMES)
def test_states_that_training_never_showed_can_be_predicted(name: str) -> None:
    estimator = make_classifier(name, FAST.get(name)).build(CARDINALITIES, 0)
    estimator.fit(codes(TRAIN), TRAIN.y.astype(int))
    unseen = codes(TEST).copy()
    unseen[:, 3] = 3  # 'never'
    assert len(estimator.predict(unseen)) == len(TEST)


def test_probabilities_are_offered_where_the_classifier_has_them() -> None:
    for name, offered in (("logistic_regression", True), ("linear_svm", False), ("c45", True)):
        estimator = make_classifier(name).build(CARDINALITIES, 0)
        assert hasattr(estimator, "predict_proba") is offered
    logistic = make_classifier("logistic_regression").build(CARDINALITIES, 0)
    probabilities = logistic.fit(codes(TRAIN), TRAIN.y.astype(int)).predict_proba(codes(TEST))
    np.testing.assert_array_equal(probabilities[:, 1] > 0.5, logistic.predict(codes(TEST)) == 1)


def test_the_ranker_is_scikit_learns_naive_bayes() -> None:
    from sklearn.naive_bayes import CategoricalNB

    model = CategoricalNB(min_categories=CARDINALITIES).fit(codes(TRAIN), TRAIN.y)
    expected = model.predict_proba(codes(TRAIN))[:, 1]
    np.testing.assert_allclose(naive_bayes_ranker(TRAIN), expected, rtol=1e-12)


def test_the_ranker_is_sure_without_overflow() -> None:
    n = 4000
    copies = TRAIN.take(np.zeros(n, dtype=int)).codes.copy()
    copies[: n // 2] = [6, 0, 0, 0, 0]
    copies[n // 2 :] = [0, 1, 2, 1, 1]
    ranked = naive_bayes_ranker(Table(TRAIN.schema, copies))
    assert (ranked[: n // 2] > 0.999).all()
    assert (ranked[n // 2 :] < 0.001).all()


def test_the_ranker_refuses_rows_of_one_class() -> None:
    with pytest.raises(ClassifierError, match="rows of one class"):
        naive_bayes_ranker(TRAIN.take(TRAIN.y))


@pytest.fixture(scope="module")
def mixed() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Codes of three states beside a number, which is missing in some rows, their states, and labels."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 3, 400), rng.normal(50, 20, 400)])
    y = ((X[:, 1] > 60) ^ (X[:, 0] == 1)).astype(int)
    X[:40, 1] = np.nan
    return X, np.array([3, 0]), y


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("gradient_boosting", 0.93),
        ("decision_tree", 0.93),
        ("random_forest", 0.93),
        ("logistic_regression", 0.6),
        ("linear_svm", 0.6),
        ("sklearn.neighbors.KNeighborsClassifier", 0.85),
        pytest.param("lightgbm", 0.93, marks=MISSING["lightgbm"]),
    ],
)
def test_numbers_pass_through_beside_states(
    mixed: tuple[np.ndarray, np.ndarray, np.ndarray], name: str, least: float
) -> None:
    X, cardinalities, y = mixed
    built = make_classifier(name, FAST.get(name), "numbers").build(cardinalities, 2**32 - 1)
    seen = X.copy()
    predicted = built.fit(X, y).predict(X)
    np.testing.assert_array_equal(X, seen)
    assert (predicted == y)[40:].mean() > least
    # A state or a missing value that training did not have is no surprise.
    built.fit(X[40:][X[40:, 0] < 2], y[40:][X[40:, 0] < 2])
    assert set(built.predict(X)) <= {0, 1}


def test_what_numbers_become(mixed: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    X, cardinalities, y = mixed

    def seen_by(name: str) -> Any:
        built = make_classifier(name, encoding="numbers").build(cardinalities, 0)
        return built.fit(X, y)._encoder.transform(X)

    tree = seen_by("decision_tree")
    np.testing.assert_array_equal(tree, np.column_stack([np.eye(3)[X[:, 0].astype(int)], X[:, 1]]))
    # scikit-learn 1.6 does not declare that this classifier takes sparse rows.
    encoded = seen_by("logistic_regression")
    linear = encoded.toarray() if issparse(encoded) else encoded
    assert linear.shape == (400, 5)  # three states, the number, and where it is missing
    np.testing.assert_allclose([linear[:, 3].mean(), linear[:, 3].std()], [0, 1], atol=1e-9)
    assert len(np.unique(linear[:40, 4])) == 1
    assert linear[0, 4] != linear[40, 4]
    booster = make_classifier("gradient_boosting", encoding="numbers").build(np.array([3, 0, 300]), 0)
    assert booster.estimator.categorical_features == [0]  # more states than it tells apart are a number


@MISSING["lightgbm"]
def test_lightgbm_is_set_up_to_repeat_itself() -> None:
    described = make_classifier("lightgbm", {"num_leaves": 7, "n_jobs": 2}).describe()
    assert described["parameters"] == {
        "deterministic": True,
        "force_row_wise": True,
        "n_jobs": 2,
        "num_leaves": 7,
        "verbose": -1,
    }
    built = make_classifier("lightgbm", encoding="numbers").build(np.array([3, 0, 2]), 2**127)
    assert built._fit_arguments == {"categorical_feature": [0, 2]}
