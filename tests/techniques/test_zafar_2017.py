"""Zafar's constraints on misclassification rates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize as general_solver
from threadpoolctl import threadpool_limits

from benchmark.conformance import check_technique, example_table
from benchmark.data.table import Table
from benchmark.errors import NotConvergedError
from benchmark.techniques import Predictor, get_technique, zafar_2017
from benchmark.techniques.base import Convergence
from benchmark.techniques.constrained_logistic import Design, LogisticLoss
from benchmark.techniques.encoding import Encoding
from benchmark.techniques.zafar_2017 import Zafar2017
from tests.techniques.tables import table

CONSTRAINTS = ["fpr", "fnr", "fpr_fnr"]
SEEDS = [1, 2, 3]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Limit threads as the technique does, for tests that call what is inside of it."""
    with threadpool_limits(1):
        yield


def designed(data: Table) -> Design:
    return Design.of(data, Encoding.of(data, use_sensitive=True, treatment="categorical"), data.y)


def coefficients(data: Table, **parameters: Any) -> np.ndarray:
    return Zafar2017(**parameters)._coefficients(designed(data))[0]


def fitted(data: Table, **parameters: Any) -> Predictor:
    return get_technique("zafar_2017", **parameters).fit(data, None)  # type: ignore[arg-type]


def covariances(data: Table, theta: np.ndarray) -> dict[str, float]:
    """Follow the definition row by row, corners kept: covariance of z and min(0, y theta·x) in each class."""
    design = designed(data)
    scores = design.encoding.scores(design.encoding.codes(data), theta)
    z = (~data.deprived).astype(float)
    mistake = np.minimum(0.0, np.where(data.y, 1, -1) * scores)
    return {
        rate: float(((z - z.mean()) * np.where(data.y == label, mistake, 0.0)).mean())
        for rate, label in (("fpr", False), ("fnr", True))
    }


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_the_bounds_are_kept(constraint: str, seed: int) -> None:
    data = example_table(seed=seed)
    free = covariances(data, coefficients(data, constraint=constraint, threshold=1e9))
    found = covariances(data, coefficients(data, constraint=constraint))
    for rate in constraint.split("_"):
        # The rounded corners are worth 0.00625 at most, for the rows that are in them.
        assert abs(found[rate]) <= 2e-3
        assert abs(found[rate]) < abs(free[rate]) / 5


def test_a_looser_bound_costs_less() -> None:
    data = example_table()
    loss = LogisticLoss(designed(data), 1e-6)
    thetas = [coefficients(data, constraint="fnr", threshold=c) for c in (0.0, 0.01, 0.02, 1e9)]
    losses = [loss.value(theta) for theta in thetas]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] > losses[-1] + 1e-4
    assert abs(covariances(data, thetas[1])["fnr"]) == pytest.approx(0.01, abs=2e-3)


def test_without_a_bound_it_is_plain_logistic_regression() -> None:
    data = example_table()
    plain = get_technique("zafar_2015", threshold=1e9).fit(data, None).predict_score  # type: ignore[arg-type]
    score = fitted(data, threshold=1e9).predict_score
    assert plain is not None
    assert score is not None
    np.testing.assert_allclose(score(data), plain(data), atol=1e-4)


# The procedure


def steps_of(
    monkeypatch: pytest.MonkeyPatch, data: Table, **parameters: Any
) -> list[tuple[Any, np.ndarray, np.ndarray]]:
    """Return problem, start and end of each convex step of a fit."""
    steps = []
    original = zafar_2017.minimize

    def spy(objective: Any, start: np.ndarray, **options: Any) -> tuple[np.ndarray, Any]:
        end, convergence = original(objective, start, **options)
        if isinstance(objective, zafar_2017._Convexified):
            steps.append((objective, start, end))
        return end, convergence

    monkeypatch.setattr(zafar_2017, "minimize", spy)
    coefficients(data, **parameters)
    return steps


def true_objective(problem: Any, theta: np.ndarray) -> float:
    """Return the loss plus tau times the violations of the bounds themselves, without tangents."""
    penalty = 0.0
    for m in problem.mistakes:
        c = m.covariance(theta)
        violations = np.array([-c, c]) - problem.threshold
        penalty += float(zafar_2017._rounded(violations, zafar_2017._CORNER).sum())
    return problem.loss.value(theta) + problem.tau * penalty


@pytest.mark.parametrize("threshold", [0.0, 0.01])
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_each_step_lowers_the_objective_that_it_majorises(
    monkeypatch: pytest.MonkeyPatch, constraint: str, threshold: float
) -> None:
    steps = steps_of(monkeypatch, example_table(), constraint=constraint, threshold=threshold)
    assert len(steps) > 2
    for problem, start, end in steps:
        assert problem.value(start) == pytest.approx(true_objective(problem, start), abs=1e-8)
        assert problem.value(end) >= true_objective(problem, end) - 1e-8
        assert problem.value(end) <= problem.value(start) + 1e-8
        assert true_objective(problem, end) <= true_objective(problem, start) + 1e-8
    assert true_objective(steps[0][0], steps[0][2]) < true_objective(steps[0][0], steps[0][1]) - 1e-3
    taus = [problem.tau for problem, *_ in steps]
    np.testing.assert_allclose(taus, 5.0 * 1.2 ** np.arange(len(taus)))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_each_step_is_no_worse_than_a_general_solver(
    monkeypatch: pytest.MonkeyPatch, constraint: str, seed: int
) -> None:
    steps = steps_of(monkeypatch, example_table(200, seed=seed), constraint=constraint)
    for problem, start, end in steps[:: max(1, len(steps) // 4)]:
        for begin in (start, end):
            found = general_solver(
                problem.value, begin, jac=lambda t, p=problem: p.expansion(t)[0], method="L-BFGS-B"
            )
            assert problem.value(end) <= found.fun + 1e-7


def test_the_gradient_and_the_hessian_are_the_derivatives() -> None:
    design = designed(example_table(80))
    mistakes = tuple(zafar_2017._Mistakes(design, rate) for rate in ("fpr", "fnr"))
    rng = np.random.default_rng(0)
    at, theta = rng.normal(size=(2, len(design.covariance)))
    tangents = tuple(m.tangents(at) for m in mistakes)
    problem = zafar_2017._Convexified(
        LogisticLoss(design, 0.1), mistakes, tangents, 0.01, 3.0, zafar_2017._LossGram(design)
    )
    gradient, hessian = problem.expansion(theta)
    h = 1e-7  # small, so that no corner lies between
    assert np.abs(gradient - LogisticLoss(design, 0.1).expansion(theta)[0]).max() > 0.01  # some bound acts
    for i, unit in enumerate(np.eye(len(theta))):
        low, high = theta - h * unit, theta + h * unit
        assert gradient[i] == pytest.approx((problem.value(high) - problem.value(low)) / (2 * h), abs=1e-6)
        change = (problem.expansion(high)[0] - problem.expansion(low)[0]) / (2 * h)
        np.testing.assert_allclose(hessian[i], change, atol=1e-5)


def test_rounded_corners_are_smooth_and_near_the_corner() -> None:
    x = np.linspace(-0.2, 0.2, 4001)
    for width in (0.05, 0.1):
        rounded = zafar_2017._rounded(x, width)
        assert (rounded >= np.maximum(x, 0) - 1e-15).all()
        assert (rounded - np.maximum(x, 0)).max() == pytest.approx(width / 8, rel=1e-6)
        np.testing.assert_allclose(np.gradient(rounded, x), zafar_2017._rounded_slope(x, width), atol=2e-3)
        far = np.abs(x) > width / 2
        np.testing.assert_allclose(rounded[far], np.maximum(x, 0)[far], atol=1e-15)


def test_the_loss_gram_is_renewed_where_the_scores_have_moved() -> None:
    design = designed(example_table())
    gram, scores = zafar_2017._LossGram(design), np.zeros(len(design.weight))
    first, second = np.random.default_rng(0).random((2, len(scores)))
    np.testing.assert_array_equal(gram.at(scores, first), design.gram(first))
    np.testing.assert_array_equal(gram.at(scores + 0.01, second), design.gram(first))
    np.testing.assert_array_equal(gram.at(scores + 0.1, second), design.gram(second))


# What must not matter, and what must be said


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_swapping_the_groups_changes_nothing(constraint: str) -> None:
    data = example_table()
    two = data.take(data.codes[:, data.schema.sensitive_index] < 2)
    swapped = Table(replace(two.schema, deprived_group="men"), two.codes)
    theta = coefficients(two, constraint=constraint)
    np.testing.assert_allclose(coefficients(swapped, constraint=constraint), theta, atol=1e-4)


def test_calling_the_other_class_positive_exchanges_the_rates() -> None:
    data = example_table()
    score = fitted(data, constraint="fpr").predict_score
    exchanged = fitted(data, constraint="fnr", positive="unfavorable").predict_score
    other = fitted(data, constraint="fnr").predict_score
    assert score is not None
    assert exchanged is not None
    assert other is not None
    np.testing.assert_allclose(exchanged(data), score(data), atol=1e-4)
    assert np.abs(other(data) - score(data)).max() > 0.01


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_the_order_and_the_repetition_of_rows_are_irrelevant(constraint: str) -> None:
    data = example_table()
    theta = coefficients(data, constraint=constraint)
    shuffled = data.take(np.random.default_rng(0).permutation(len(data)))
    np.testing.assert_array_equal(coefficients(shuffled, constraint=constraint), theta)
    doubled = data.take(np.tile(np.arange(len(data)), 2))
    np.testing.assert_allclose(coefficients(doubled, constraint=constraint), theta, atol=1e-4)


@pytest.mark.parametrize("threshold", [0.0, 1e9])
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_small_changes_of_loss_and_cost_end_it_whatever_is_missed(
    monkeypatch: pytest.MonkeyPatch, constraint: str, threshold: float
) -> None:
    data, rule = example_table(), {"constraint": constraint, "threshold": threshold}
    steps = steps_of(monkeypatch, data, **rule, stopping_rule="small_change")
    monkeypatch.undo()
    losses = [steps[0][0].loss.value(steps[0][1]), *(p.loss.value(end) for p, _, end in steps)]
    costs = [np.inf, *(p.value(end) for p, _, end in steps)]
    changes = np.maximum(np.abs(np.diff(losses)), np.abs(np.diff(costs)))
    assert len(steps) >= 2
    assert (changes[:-1] > 1e-3).all()
    theta, convergence = Zafar2017(**rule, stopping_rule="small_change")._coefficients(designed(data))
    np.testing.assert_array_equal(theta, steps[-1][2])
    assert convergence == Convergence(len(steps), pytest.approx(changes[-1]), 1e-3)
    if threshold:
        assert len(steps) == 2
        return
    _, until_met = Zafar2017(**rule)._coefficients(designed(data))
    assert len(steps) < until_met.steps


def test_a_fit_that_does_not_converge_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zafar_2017, "_STEPS", 1)
    with pytest.raises(
        NotConvergedError, match=r"of the convex-concave procedure did not converge in 1 steps"
    ):
        fitted(example_table())


@pytest.mark.parametrize(("positives", "rate"), [((True, False), "fnr"), ((False, True), "fnr")])
def test_a_group_without_rows_of_the_class_leaves_the_other_no_mistakes(
    positives: tuple[bool, bool], rate: str
) -> None:
    data = example_table(positives=positives)
    predicted = fitted(data, constraint=rate).predict(data)
    free = fitted(data, constraint=rate, threshold=1e9).predict(data)
    assert (~free & data.y).sum() > 20
    assert (~predicted & data.y).sum() <= (~free & data.y).sum() / 5


def test_separable_rows_are_no_obstacle() -> None:
    favored = np.arange(400) % 2
    skill = np.arange(400) // 2 % 3
    labels = (skill == 2) | ((skill == 1) & (favored == 1))  # skill 0 is never favorable, skill 2 always
    theta = coefficients(table(1 - favored, labels.astype(int), skill), constraint="fpr_fnr")
    assert np.isfinite(theta).all()
    assert np.abs(theta).max() < 50


@pytest.mark.parametrize(
    "parameters",
    [
        {"constraint": c, "use_sensitive": u, "positive": p}
        for c in CONSTRAINTS
        for u in (True, False)
        for p in ("favorable", "unfavorable")
    ],
    ids=str,
)
def test_every_form_conforms(parameters: dict[str, Any]) -> None:
    results = check_technique(get_technique("zafar_2017", **parameters))
    assert [r for r in results if r.status == "failed"] == []
