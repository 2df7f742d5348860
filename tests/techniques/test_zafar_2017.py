"""Zafar's constraints on misclassification rates."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize as general_solver

from benchmark.conformance import example_table
from benchmark.data.table import Table
from benchmark.errors import NotConvergedError
from benchmark.techniques import Predictor, get_technique, zafar_2017
from benchmark.techniques.base import Convergence
from benchmark.techniques.constrained_logistic import Design, LogisticLoss
from benchmark.techniques.encoding import Encoding
from benchmark.techniques.zafar_2017 import Zafar2017
from tests.helpers.tables import table

CONSTRAINTS = ["fpr", "fnr", "fpr_fnr"]
SEEDS = [1, 2]


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
    np.testing.assert_allclose(score(data), plain(data), atol=1e-4)


# The procedure


def steps_of(
    monkeypatch: pytest.MonkeyPatch, data: Table, **parameters: Any
) -> list[tuple[Any, np.ndarray, np.ndarray]]:
    """Return problem, start and end of each convex step of a fit."""
    steps = []
    original = zafar_2017._solved

    def spy(problem: Any, *rest: Any) -> Any:
        found = original(problem, *rest)
        steps.append((problem, problem.start.theta, found[0].theta))
        return found

    monkeypatch.setattr(zafar_2017, "_solved", spy)
    coefficients(data, **parameters)
    return steps


def true_objective(problem: Any, theta: np.ndarray) -> float:
    """Return the loss plus tau times the violations of the bounds themselves, without tangents."""
    sums = problem.mistakes.sums(problem.loss.design.scores(theta))
    violations = sums - sums[problem.mistakes.other] - problem.threshold
    return float(problem.loss.value(theta) + problem.penalty(violations))


def gradient(problem: Any, theta: np.ndarray) -> np.ndarray:
    """Return the gradient of a problem's value: that of a model about the point, which there is exact."""
    model = zafar_2017._Model(problem.loss, problem.mistakes, theta)
    point = model.at(theta)
    violations = problem.violations(point.sums, theta)
    force = problem.tau * np.clip(violations / zafar_2017._CORNER + 0.5, 0, 1)
    return np.asarray(
        model.gradient + force @ (point.gradients - problem.start.gradients[problem.mistakes.other])
    )


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
                problem.value, begin, jac=lambda t, p=problem: gradient(p, t), method="L-BFGS-B"
            )
            assert problem.value(end) <= found.fun + 1e-7


def modelled(constraint: str = "fpr_fnr") -> tuple[zafar_2017._Model, np.ndarray]:
    design = designed(example_table(80))
    theta = np.random.default_rng(0).normal(size=len(design.covariance)) / 3
    mistakes = zafar_2017._Mistakes(design, constraint.split("_"))
    return zafar_2017._Model(LogisticLoss(design, 0.1), mistakes, theta), theta


def test_the_mistakes_are_the_covariances_of_the_definition() -> None:
    data = example_table()
    design = designed(data)
    theta = 100 * np.random.default_rng(0).normal(size=len(design.covariance))  # corners do not matter
    sums = zafar_2017._Mistakes(design, ["fpr", "fnr"]).sums(design.scores(theta))
    expected = covariances(data, theta)
    np.testing.assert_allclose(sums[1] - sums[0], expected["fpr"], atol=0.007)
    np.testing.assert_allclose(sums[3] - sums[2], expected["fnr"], atol=0.007)


def test_gradients_and_curvature_are_the_derivatives() -> None:
    model, theta = modelled()
    point, h, force = model.at(theta), 1e-7, np.array([0.3, 1.0, 2.0, 0.0])  # h so that no corner is between
    assert 0 < len(point.scores) < len(model.scores)  # near rows and far ones
    curvature = model.curvature(point.scores, force)
    for i, unit in enumerate(np.eye(len(theta))):
        low, high = (model.mistakes.sums(model.design.scores(theta + s * h * unit)) for s in (-1, 1))
        np.testing.assert_allclose(point.gradients[:, i], (high - low) / (2 * h), atol=1e-8)
        low, high = (
            model.gradient + model.hessian @ (s * h * unit) + force @ model.at(theta + s * h * unit).gradients
            for s in (-1, 1)
        )
        np.testing.assert_allclose(curvature[i], (high - low) / (2 * h), atol=1e-5)


# What must not matter, and what must be said


def test_calling_the_other_class_positive_exchanges_the_rates() -> None:
    data = example_table()
    score = fitted(data, constraint="fpr").predict_score
    exchanged = fitted(data, constraint="fnr", positive="unfavorable").predict_score
    other = fitted(data, constraint="fnr").predict_score
    np.testing.assert_allclose(exchanged(data), score(data), atol=1e-4)
    assert np.abs(other(data) - score(data)).max() > 0.01


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
    assert convergence == Convergence(len(steps), pytest.approx(changes[-1], abs=1e-8), 1e-3)
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
