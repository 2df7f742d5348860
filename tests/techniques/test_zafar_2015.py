"""Zafar's fairness constraints, and the logistic regression that both of his classifiers share."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import OptimizeResult, linprog, minimize, nnls
from sklearn.linear_model import LogisticRegression

from benchmark.conformance import example_table
from benchmark.data.table import Table, distinct
from benchmark.errors import NotConvergedError, TechniqueError
from benchmark.techniques import Predictor, get_technique
from benchmark.techniques import constrained_logistic as shared
from benchmark.techniques.constrained_logistic import Design, LogisticLoss
from benchmark.techniques.encoding import Encoding
from benchmark.techniques.zafar_2015 import Zafar2015
from tests.helpers.tables import table, tables

SEEDS = [1, 2]
TREATMENTS = ["categorical", "schema", "ordinal"]


def designed(data: Table, treatment: Any = "categorical", use_sensitive: bool = True) -> Design:
    return Design.of(data, Encoding.of(data, use_sensitive=use_sensitive, treatment=treatment), data.y)


def coefficients(data: Table, **parameters: Any) -> np.ndarray:
    return Zafar2015(**parameters)._coefficients(designed(data))[0]


def fitted(data: Table, **parameters: Any) -> Predictor:
    return get_technique("zafar_2015", **parameters).fit(data, None)  # type: ignore[arg-type]


def dense(data: Table, treatment: str = "categorical") -> np.ndarray:
    """Features of every row, written down column by column."""
    features = [np.ones(len(data))]
    for i in data.schema.feature_indices:
        column, codes = data.schema.columns[i], data.codes[:, i].astype(float)
        if treatment == "ordinal" or (treatment == "schema" and column.ordered):
            features.append((codes - codes.mean()) / max(codes.std(), 1e-300))
        elif column.cardinality == 2:
            features.append(codes)
        else:
            features.extend((codes == state).astype(float) for state in range(column.cardinality))
    return np.column_stack(features)


def mean_loss(theta: np.ndarray, X: np.ndarray, y: np.ndarray, ridge: float = 1e-6) -> float:
    return float(np.logaddexp(0, -np.where(y, 1, -1) * (X @ theta)).mean() + ridge / 2 * theta @ theta)


def covariance(data: Table, X: np.ndarray) -> np.ndarray:
    z = (~data.deprived).astype(float)
    return X.T @ (z - z.mean()) / len(data)


def slsqp(fun: Any, start: np.ndarray, constraints: list[dict[str, Any]]) -> OptimizeResult:
    return minimize(
        fun, start, method="SLSQP", constraints=constraints, options={"maxiter": 1000, "ftol": 1e-12}
    )


# The shared machinery


@pytest.mark.parametrize("treatment", TREATMENTS)
def test_sums_over_distinct_rows_are_sums_over_all_rows(treatment: str) -> None:
    data = example_table()
    design, X = designed(data, treatment), dense(data, treatment)
    v = np.random.default_rng(0).random(len(design.weight))
    distinct = design.rows(np.arange(len(v)))
    np.testing.assert_allclose(design.gram(v), (distinct.T * v) @ distinct, atol=1e-12)
    few = np.where(np.arange(len(v)) < 3, v, 0.0)  # another branch
    np.testing.assert_allclose(design.gram(few), (distinct.T * few) @ distinct, atol=1e-12)
    np.testing.assert_allclose(design.moments(v), distinct.T @ v, atol=1e-12)
    np.testing.assert_allclose(
        design.moments(np.column_stack([v, few])), distinct.T @ np.c_[v, few], atol=1e-12
    )
    np.testing.assert_allclose(design.covariance, covariance(data, X), atol=1e-12)
    theta = np.random.default_rng(1).normal(size=X.shape[1])
    np.testing.assert_allclose(design.encoding.scores(design.encoding.codes(data), theta), X @ theta)
    np.testing.assert_allclose(design.scores(theta), distinct @ theta)
    assert LogisticLoss(design, 1e-6).value(theta) == pytest.approx(mean_loss(theta, X, data.y), rel=1e-12)
    assert design.weight.sum() == pytest.approx(1.0)
    assert len(v) == len(np.unique(X, axis=0))


def test_what_fits_share_follows_from_the_table_alone() -> None:
    data, other = example_table(seed=1), example_table(seed=2)
    forms: list[tuple[str, dict[str, Any]]] = [
        ("zafar_2015", {}),
        ("zafar_2015", {"constraint": "accuracy"}),
        ("zafar_2017", {"constraint": "fpr"}),
        ("zafar_2015", {"ridge": 1e-3}),
        ("zafar_2015", {"positive": "unfavorable", "constraint": "misclassification"}),
    ]

    def scores(name: str, parameters: dict[str, Any], table: Table) -> np.ndarray:
        score = get_technique(name, **parameters).fit(table, None).predict_score  # type: ignore[arg-type]
        return score(data)

    alone = []
    for name, parameters in forms:
        shared._shared.clear()
        alone.append(scores(name, parameters, data))
    for order in (range(5), reversed(range(5))):
        for i in order:
            scores(*forms[i], other)
            again = Table(data.schema, data.codes)  # the same rows in another object
            np.testing.assert_array_equal(scores(*forms[i], again), alone[i])
        for i in range(5):
            np.testing.assert_array_equal(scores(*forms[i], data), alone[i])
    assert len(shared._shared) == 1
    (design,) = shared._shared.values()
    with pytest.raises(ValueError, match="read-only"):
        shared.unconstrained(design, 1e-6)[0][0] = 1.0


def test_rows_stay_distinct_where_the_number_of_possible_rows_overflows() -> None:
    codes = np.zeros((30, 40), dtype=np.intp)
    codes[0] = np.arange(40) % 20  # what tells rows apart is the first to overflow
    first, inverse = distinct(codes, (1024,) * 30)
    assert len(first) == 20
    np.testing.assert_array_equal(codes[:, first][:, inverse], codes)


def test_the_hidden_sensitive_feature_is_no_feature() -> None:
    data = example_table()
    sensitive = data.schema.sensitive_index
    predictor = fitted(data, use_sensitive=False)
    moved = data.with_column("sex", (data.codes[:, sensitive] + 1) % 3)
    np.testing.assert_array_equal(predictor.predict_score(data), predictor.predict_score(moved))  # type: ignore[misc]
    visible = fitted(data)
    assert not np.array_equal(visible.predict_score(data), visible.predict_score(moved))  # type: ignore[misc]


@pytest.mark.parametrize("seed", SEEDS)
def test_without_a_bound_it_is_plain_logistic_regression(seed: int) -> None:
    data = example_table(seed=seed)
    plain = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(dense(data)[:, 1:], data.y)
    score = fitted(data, threshold=1e9, ridge=1e-9).predict_score
    expected = plain.predict_proba(dense(data)[:, 1:])[:, 1]
    np.testing.assert_allclose(score(data), expected, atol=1e-5)


def test_separable_rows_have_a_finite_optimum() -> None:
    favored = np.arange(200) % 2
    data = table(1 - favored, favored)  # the deprived are never favorable, the favored always
    theta = coefficients(data, threshold=1e9)
    assert np.isfinite(theta).all()
    assert np.abs(theta).max() < 30
    np.testing.assert_array_equal(fitted(data, threshold=1e9).predict(data), data.y)
    # The optimum is where the ridge's gradient meets the loss's: no smaller ridge, no larger coefficients.
    assert np.abs(coefficients(data, threshold=1e9, ridge=1e-3)).max() < np.abs(theta).max()
    for constraint in ("fairness", "accuracy", "misclassification"):
        assert np.isfinite(coefficients(data, constraint=constraint)).all()


def test_a_fit_that_does_not_converge_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "_STEPS", 2)
    with pytest.raises(NotConvergedError, match=r"did not converge in 2 steps.*residual") as caught:
        fitted(example_table())
    assert isinstance(caught.value, TechniqueError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("constraint", ["fairness", "accuracy", "misclassification"])
def test_the_order_and_the_repetition_of_rows_are_irrelevant(constraint: str) -> None:
    data = example_table()
    theta = coefficients(data, constraint=constraint)
    shuffled = data.take(np.random.default_rng(0).permutation(len(data)))
    np.testing.assert_array_equal(coefficients(shuffled, constraint=constraint), theta)
    tripled = data.take(np.tile(np.arange(len(data)), 3))
    np.testing.assert_allclose(coefficients(tripled, constraint=constraint), theta, atol=1e-6)


# Best accuracy under a bound of the covariance


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.8])
def test_fairness_keeps_its_bound_and_loses_no_more_than_a_general_solver(seed: int, share: float) -> None:
    data = example_table(200, seed=seed)
    X, y = dense(data), data.y
    a, free = covariance(data, X), coefficients(data, threshold=1e9)
    limit = share * abs(float(a @ free))
    theta = coefficients(data, threshold=limit)
    assert abs(a @ theta) == pytest.approx(limit, abs=1e-9)
    found = slsqp(
        lambda t: mean_loss(t, X, y),
        np.zeros(X.shape[1]),
        [{"type": "ineq", "fun": lambda t, s=sign: limit - s * (a @ t)} for sign in (1, -1)],
    )
    assert mean_loss(theta, X, y) <= found.fun + 1e-9


@given(tables(), st.floats(0, 1))
def test_fairness_keeps_its_bound_on_any_table(data: Table, share: float) -> None:
    a = covariance(data, dense(data))
    free = coefficients(data, threshold=1e9)
    limit = share * abs(float(a @ free))
    theta = coefficients(data, threshold=limit)
    assert abs(a @ theta) <= limit + 1e-8
    loss = LogisticLoss(designed(data), 1e-6)
    assert loss.value(free) <= loss.value(theta) + 1e-12


# Best fairness under a bound of the loss


def accuracy_problem(seed: int, gamma: float) -> tuple[np.ndarray, ...]:
    data = example_table(200, seed=seed)
    X, a = dense(data), covariance(data, dense(data))
    free = coefficients(data, threshold=1e9)
    bound = np.array((1 + gamma) * mean_loss(free, X, data.y))
    return coefficients(data, constraint="accuracy", gamma=gamma), free, a, bound, X, data.y


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("gamma", [0.01, 0.05, 0.25, 0.5])
def test_accuracy_keeps_its_bound_and_covaries_no_more_than_a_general_solver(seed: int, gamma: float) -> None:
    theta, free, a, bound, X, y = accuracy_problem(seed, gamma)
    assert mean_loss(theta, X, y) <= bound * (1 + 1e-8)
    sign = np.sign(a @ free)
    found = slsqp(
        lambda t: sign * (a @ t),
        free,
        [
            {"type": "ineq", "fun": lambda t: bound - mean_loss(t, X, y)},
            {"type": "ineq", "fun": lambda t: sign * (a @ t)},
        ],
    )
    assert abs(a @ theta) <= max(found.fun, 0.0) + 1e-5


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("gamma", [0.25, 0.29, 0.5])
def test_of_all_fair_solutions_accuracy_takes_the_nearest(seed: int, gamma: float) -> None:
    theta, free, a, bound, X, y = accuracy_problem(seed, gamma)
    assert abs(a @ theta) < 1e-9  # several solutions
    found = slsqp(
        lambda t: (t - free) @ (t - free),
        theta + 1e-3,
        [
            {"type": "ineq", "fun": lambda t: bound - mean_loss(t, X, y)},
            {"type": "eq", "fun": lambda t: a @ t},
        ],
    )
    assert np.linalg.norm(theta - free) <= np.sqrt(found.fun) + 1e-6


def test_accuracy_meets_each_of_its_three_cases() -> None:
    cases = set()
    for gamma in (0.1, 0.4, 0.5):
        theta, free, a, bound, X, y = accuracy_problem(1, gamma)
        nearest = free - (a @ free) / (a @ a) * a
        cases.add((bool(abs(a @ theta) < 1e-9), bool(np.allclose(theta, nearest))))
        if not np.allclose(theta, nearest):
            assert mean_loss(theta, X, y) == pytest.approx(bound, rel=1e-7)  # the bound is used up
    assert cases == {(False, False), (True, False), (True, True)}


# No positive may be misclassified


def score_bounds(data: Table, scores: np.ndarray, gamma: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows and offsets of rows·theta >= offset, one row at a time."""
    rows, offsets = [], []
    for x, score, y, deprived in zip(dense(data), scores, data.y, data.deprived, strict=True):
        if score > 0 and not deprived:
            rows.append(x)
            offsets.append(min(score, 1e-4))  # a distance that keeps rounding from deciding
        else:
            sign = 1 if y else -1
            allowed = (1 + gamma) * np.logaddexp(0, -sign * score)
            rows.append(sign * x)
            offsets.append(-allowed - np.log(-np.expm1(-allowed)))
    return np.array(rows), np.array(offsets)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("gamma", [0.0, 0.2, 1.0, 1000.0])
def test_misclassification_keeps_every_bound_and_covaries_the_least(seed: int, gamma: float) -> None:
    data = example_table(300, seed=seed)
    X, a = dense(data), covariance(data, dense(data))
    free = coefficients(data, threshold=1e9)
    theta = coefficients(data, constraint="misclassification", gamma=gamma)
    rows, offsets = score_bounds(data, X @ free, gamma)
    assert (rows @ theta >= offsets - 1e-8).all()
    guarded = ~data.deprived & (X @ free > 1e-3)
    assert guarded.any()
    assert (X @ theta > 0)[guarded].all()

    n = X.shape[1]
    least = linprog(
        np.r_[np.zeros(n), 1.0],
        A_ub=np.vstack([np.c_[-rows, np.zeros(len(rows))], np.r_[a, -1.0], np.r_[-a, -1.0]]),
        b_ub=np.r_[-offsets, 0.0, 0.0],
        bounds=[(None, None)] * n + [(0, None)],
    )
    assert abs(a @ theta) <= least.fun + 1e-4
    if gamma == 1000:
        assert abs(a @ theta) < 1e-9
    if gamma == 0:
        assert least.fun > 1e-2  # so that the case of an unreachable 0 is met


@pytest.mark.parametrize("seed", SEEDS)
def test_of_all_fair_solutions_misclassification_takes_the_nearest(seed: int) -> None:
    data = example_table(60, seed=seed)
    X, a = dense(data), covariance(data, dense(data))
    free = coefficients(data, threshold=1e9, ridge=1e-3)
    theta = coefficients(data, constraint="misclassification", gamma=3.0, ridge=1e-3)
    rows, offsets = score_bounds(data, X @ free, 3.0)
    # Karush, Kuhn and Tucker: the way back is a combination of the active bounds, with the right signs.
    active = rows[rows @ theta < offsets + 1e-5]
    assert len(active)
    _, distance = nnls(np.c_[active.T, a, -a], theta - free)
    assert distance < 1e-5


@pytest.mark.parametrize("positive", ["favorable", "unfavorable"])
def test_misclassification_guards_the_class_called_positive(positive: str) -> None:
    data = example_table()
    parameters = {"constraint": "misclassification", "gamma": 1000.0, "positive": positive}
    before, after = fitted(data, threshold=1e9).predict(data), fitted(data, **parameters).predict(data)
    guarded = ~data.deprived & (before == (positive == "favorable"))
    np.testing.assert_array_equal(after[guarded], before[guarded])
    assert not np.array_equal(after, before)
