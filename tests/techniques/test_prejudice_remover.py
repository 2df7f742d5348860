"""The prejudice remover: its objective, its derivatives, its optimum, and what eta does."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from benchmark.conformance import example_table
from benchmark.data.table import Table
from benchmark.techniques import Predictor, get_technique
from benchmark.techniques.constrained_logistic import Design
from benchmark.techniques.encoding import Encoding
from benchmark.techniques.prejudice_remover import PrejudiceRemover, RegularizedLoss
from tests.helpers.tables import table


def fitted(data: Table, **parameters: Any) -> Predictor:
    return get_technique("prejudice_remover", **parameters).fit(data, None)  # type: ignore[arg-type]


def scores(data: Table, **parameters: Any) -> np.ndarray:
    predict_score = fitted(data, **parameters).predict_score
    return predict_score(data)


def objective(data: Table, eta: float, ridge: float = 1e-6) -> RegularizedLoss:
    encoding = Encoding.of(data, use_sensitive=False, treatment="categorical")
    groups = [data.take(data.deprived == deprived) for deprived in (False, True)]
    designs = [Design.of(group, encoding, group.y) for group in groups]
    return RegularizedLoss(designs, np.array([len(group) for group in groups]) / len(data), eta, ridge)


def dense(data: Table) -> np.ndarray:
    """Write down the indicators of every row, an intercept in front, the sensitive feature left out."""
    visible = [i for i in data.schema.feature_indices if i != data.schema.sensitive_index]
    blocks = [np.eye(data.schema.columns[i].cardinality)[data.codes[:, i]] for i in visible]
    return np.hstack([np.ones((len(data), 1)), *blocks])


def mean_loss(probability: np.ndarray, data: Table) -> float:
    return float(-np.log(np.where(data.y, probability, 1 - probability)).mean())


def prejudice_index(probability: np.ndarray, data: Table) -> float:
    """Mutual information of predicted class and group, from the table of their joint probabilities."""
    joint = np.array(
        [
            [((1 - p) * g).mean(), (p * g).mean()]
            for p in [probability]
            for g in (~data.deprived, data.deprived)
        ]
    )
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    return float((joint * np.log(joint / independent)).sum())


def test_the_objective_is_the_one_of_the_paper() -> None:
    data, rng = example_table(), np.random.default_rng(0)
    X = dense(data)
    theta = rng.normal(size=2 * X.shape[1])
    own = theta.reshape(2, -1)[data.deprived.astype(int)]
    probability = 1 / (1 + np.exp(-(X * own).sum(axis=1)))
    expected = mean_loss(probability, data) + 3.0 * prejudice_index(probability, data) + 0.05 * theta @ theta
    assert objective(data, 3.0, ridge=0.1).value(theta) == pytest.approx(expected, rel=1e-12)


def test_without_the_index_it_is_logistic_regression_of_each_group() -> None:
    data = example_table()
    made = scores(data, eta=0.0, ridge=1e-9)
    for group in (data.deprived, ~data.deprived):
        X = dense(data)[group][:, 1:]
        plain = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, data.y[group])
        np.testing.assert_allclose(made[group], plain.predict_proba(X)[:, 1], atol=1e-5)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("eta", [1.0, 10.0, 100.0])
def test_the_optimum_is_no_worse_than_a_general_solvers(seed: int, eta: float) -> None:
    data = example_table(200, seed=seed)
    loss = objective(data, eta, ridge=1e-3)
    theta, convergence = PrejudiceRemover(eta=eta, ridge=1e-3)._coefficients(loss.designs, loss.shares)
    assert convergence.residual <= convergence.tolerance
    rng = np.random.default_rng(seed)
    for start in (np.zeros(theta.size), rng.normal(size=theta.size)):
        found = minimize(loss.value, start, jac=lambda t: loss.expansion(t)[0], options={"gtol": 1e-8})
        assert loss.value(theta.ravel()) <= found.fun + 1e-9
    assert np.abs(loss.expansion(theta.ravel())[0]).max() < 1e-5


def test_rates_by_hand_where_the_group_is_all_there_is_to_know() -> None:
    # No feature tells rows apart, so that each group has one probability and the index alone moves them.
    data = table([0] * 100 + [1] * 100, [1] * 80 + [0] * 20 + [1] * 40 + [0] * 60, [0] * 200)
    made = scores(data, eta=0.0)
    np.testing.assert_allclose(made[[0, -1]], [0.8, 0.4], atol=1e-4)
    made = scores(data, eta=1000.0)
    np.testing.assert_allclose(made[[0, -1]], 0.6, atol=1e-3)
    # In between, the slopes of loss and index cancel: at equal sizes, p - q = eta p (1 - p) log(odds ratio).
    favored, deprived = scores(data, eta=1.0)[[0, -1]]
    total = (favored + deprived) / 2

    def logit(p: float) -> float:
        return float(np.log(p / (1 - p)))

    for label, p in ((0.8, favored), (0.4, deprived)):
        assert label - p == pytest.approx(p * (1 - p) * (logit(p) - logit(total)), abs=1e-4)
    assert 0.4 < deprived < favored < 0.8


def test_rows_are_predicted_by_their_own_group() -> None:
    data = example_table()
    sensitive = data.schema.sensitive_index
    predictor = fitted(data, eta=0.1)
    third = data.with_column("sex", np.where(data.codes[:, sensitive] == 0, 2, data.codes[:, sensitive]))
    np.testing.assert_array_equal(predictor.predict_score(third), predictor.predict_score(data))
    moved = data.with_column("sex", np.where(data.deprived, 0, 1))
    assert not np.array_equal(predictor.predict_score(moved), predictor.predict_score(data))
    np.testing.assert_array_equal(predictor.predict(data), predictor.predict_score(data) > 0.5)
