"""Ranking metrics, calibration and loss against hand-made numbers and independent computations."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import log_loss, roc_auc_score, roc_curve

from benchmark.metrics import MetricResults, Predictions, evaluate, list_families, measure

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

RANKING = ("auc", "auc_overall", "auc_gap", "auc_group_min", "abroca")


def random_rows(n_groups: int, *, seed: int = 0, decimals: int = 2, weighted: bool = False) -> Predictions:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_groups, 800)
    y_true = rng.random(800) < 0.4
    y_score = np.clip(rng.normal(0.4 + 0.08 * codes * y_true, 0.2), 0, 1).round(decimals)
    weight = rng.integers(0, 4, 800).astype(float) if weighted else None
    return Predictions(codes, tuple("abcde"[:n_groups]), y_true, y_score > 0.5, y_score, sample_weight=weight)


def values(rows: Predictions, metric: str) -> dict[str, float]:
    return {m.group: m.value for m in measure(rows, [metric])}


def of_two(y_true: Bools, y_score: Floats, deprived: Bools, *metrics: str) -> MetricResults:
    return evaluate(y_true, y_score > 0.5, deprived, metrics=metrics, y_score=y_score)


def parts(rows: Predictions) -> list[tuple[Bools, Floats, Floats | None]]:
    """Return labels, scores and weights of each group."""
    taken = [rows.take(rows.codes == code) for code in range(len(rows.names))]
    return [(own.y_true, own.y_score, own.sample_weight) for own in taken]  # type: ignore[misc]


# ---- ranking


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("decimals", [1, 12])
@pytest.mark.parametrize("n_groups", [2, 5])
def test_auc_is_scikit_learns(n_groups: int, decimals: int, weighted: bool) -> None:
    """With one decimal nearly all scores are tied."""
    rows = random_rows(n_groups, decimals=decimals, weighted=weighted)
    expected = [roc_auc_score(y, s, sample_weight=w) for y, s, w in parts(rows)]
    assert list(values(rows, "auc").values()) == pytest.approx(expected, abs=1e-12)
    overall = roc_auc_score(rows.y_true, rows.y_score, sample_weight=rows.sample_weight)
    assert values(rows, "auc_overall") == {"": pytest.approx(overall, abs=1e-12)}
    assert values(rows, "auc_gap") == {"": pytest.approx(max(expected) - min(expected), abs=1e-12)}
    assert values(rows, "auc_group_min") == {"": pytest.approx(min(expected), abs=1e-12)}


def test_the_guides_example() -> None:
    """The guide's text: Female 0.781, Other 0.617, gap 0.164; its table has another row for Other."""

    def ranked(auc: float) -> tuple[list[bool], list[float]]:
        """Return one favorable score above that share of 1000 others."""
        return [True] + [False] * 1000, [1000 * auc - 0.5, *map(float, range(1000))]

    aucs = {"Female": 0.781, "Male": 0.653, "Other": 0.617, "Unspecified": 0.640}
    labels, scores = zip(*(ranked(auc) for auc in aucs.values()), strict=True)
    rows = Predictions(
        np.repeat(np.arange(4), 1001), tuple(aucs), np.concatenate(labels), y_score=np.concatenate(scores)
    )
    assert values(rows, "auc") == pytest.approx(aucs)
    assert values(rows, "auc_gap") == {"": pytest.approx(0.164)}


def test_auc_is_exact_in_any_order_of_the_rows() -> None:
    """Pairs are whole numbers, so that no machine's order of summation shows."""
    rows = random_rows(1, decimals=3)
    assert rows.y_true is not None
    good, bad = rows.y_score[rows.y_true], rows.y_score[~rows.y_true]
    halves = 2 * (good[:, None] > bad).sum() + (good[:, None] == bad).sum()
    for order in (np.arange(800), np.random.default_rng(0).permutation(800)):
        found = values(rows.take(order), "auc_overall")
        assert found == {"": float(Fraction(int(halves), 2 * len(good) * len(bad)))}


def by_grid(one: tuple[Bools, Floats], other: tuple[Bools, Floats], n: int = 400_000) -> float:
    """Return the area between two ROC curves by the midpoint rule."""
    x = (np.arange(n) + 0.5) / n
    curves = []
    for y, s in (one, other):
        false_positive, true_positive, _ = roc_curve(y, s)
        curves.append(np.interp(x, false_positive, true_positive))
    return float(np.abs(curves[0] - curves[1]).mean())


@pytest.mark.parametrize("decimals", [1, 2, 12])
@pytest.mark.parametrize("seed", range(3))
def test_abroca_is_the_area_between_the_curves(seed: int, decimals: int) -> None:
    rows = random_rows(3, seed=seed, decimals=decimals)
    for code, (name, ours) in enumerate(values(rows, "abroca").items()):
        own, rest = rows.codes == code, rows.codes != code
        pair = [(rows.y_true[mask], rows.y_score[mask]) for mask in (own, rest)]
        assert ours == pytest.approx(by_grid(*pair), abs=1e-5), name
        apart = roc_auc_score(*pair[0]) - roc_auc_score(*pair[1])
        assert ours >= abs(apart) - 1e-12


def test_abroca_of_curves_that_cross_within_their_segments() -> None:
    """Curves are named by their corners; those of the first two pairs do not cross.

    Those of the third do, between corners: their difference is .6 - .36 = .24 at .2 and .675 - .9 = -.225 at
    .5, so it is 0 at .2 + .3 x .24 / .465 = 11/31.
    """

    def rows(*corners: tuple[float, float]) -> tuple[list[bool], list[float]]:
        """Return 100 of either label whose ROC curve has these corners."""
        labels: list[bool] = []
        scores: list[float] = []
        for step, ((x, y), (x_next, y_next)) in enumerate(pairwise([(0.0, 0.0), *corners, (1.0, 1.0)])):
            for label, share in ((False, x_next - x), (True, y_next - y)):
                labels += [label] * round(100 * share)
                scores += [-float(step)] * round(100 * share)
        return labels, scores

    def area(one: tuple[list[bool], list[float]], other: tuple[list[bool], list[float]]) -> float:
        y_true, y_score = np.array(one[0] + other[0]), np.array(one[1] + other[1])
        deprived = np.arange(len(y_true)) < len(one[0])
        return of_two(y_true, y_score, deprived, "abroca").values["abroca"]

    assert area(rows((0.25, 0.75)), rows((0.75, 0.25))) == pytest.approx(0.5)
    assert area(rows((0.4, 0.8)), rows()) == pytest.approx(0.2)
    crossing = 11 / 31
    corners = [(0.0, 0.0), (0.2, 0.24), (crossing, 0.0), (0.5, -0.225), (0.6, -0.22), (1.0, 0.0)]
    expected = sum((x1 - x0) * (abs(d0) + abs(d1)) / 2 for (x0, d0), (x1, d1) in pairwise(corners))
    assert area(rows((0.2, 0.6), (0.6, 0.7)), rows((0.5, 0.9))) == pytest.approx(expected)


def test_abroca_where_a_curve_rises_straight_up() -> None:
    """A perfect ranking against an inverted one fills the square; against itself it leaves nothing."""
    y_true = np.array([1, 1, 0, 0] * 2, dtype=bool)
    deprived = np.arange(8) < 4
    perfect, inverted = [4.0, 3.0, 2.0, 1.0], [1.0, 2.0, 3.0, 4.0]
    assert of_two(y_true, np.array(perfect + inverted), deprived, "abroca").values == {"abroca": 1}
    assert of_two(y_true, np.array(perfect + perfect), deprived, "abroca").values == {"abroca": 0}


cases = st.lists(
    st.tuples(st.booleans(), st.integers(-3, 3), st.booleans()), min_size=1, max_size=40
)  # label, score, whether deprived


@given(cases)
def test_ranking_depends_on_nothing_but_the_order(cells: list[tuple[bool, int, bool]]) -> None:
    y_true, score, deprived = (np.array(column) for column in zip(*cells, strict=True))
    found = of_two(y_true, score.astype(float), deprived, *RANKING)
    stretched = of_two(y_true, np.exp(3.0 * score) - 7, deprived, *RANKING)
    assert stretched.values == pytest.approx(dict(found.values), nan_ok=True)
    assert stretched.reasons == found.reasons
    turned = of_two(~y_true, -score.astype(float), deprived, "auc", "auc_gap").values
    assert turned == pytest.approx({name: found.values[name] for name in turned}, nan_ok=True)
    assert all(math.isnan(value) or 0 <= value <= 1 + 1e-12 for value in found.values.values())


def test_a_missing_label_leaves_a_reason() -> None:
    y_true, y_score = np.array([1, 1, 1, 0], dtype=bool), np.array([0.1, 0.2, 0.3, 0.4])
    rows = Predictions(np.array([0, 0, 1, 1]), ("a", "b"), y_true, y_score=y_score)
    for name in ("auc", "auc_gap", "auc_group_min", "abroca"):
        assert measure(rows, [name])[0].reason == "there is no row of the group 'a' with an unfavorable label"
    assert values(rows, "auc")["b"] == 0
    found = of_two(y_true, y_score, np.array([1, 1, 0, 0], dtype=bool), "auc_gap", "abroca")
    assert set(found.reasons.values()) == {"there is no row of the deprived group with an unfavorable label"}
    nobody = of_two(y_true, y_score, np.zeros(4, dtype=bool), "abroca").reasons
    assert "abroca" in nobody


# ---- groups that overlap


# ---- probabilities


def by_bins(y: Bools, s: Floats) -> float:
    total = 0.0
    for number in range(10):
        last = number == 9
        inside = (s >= number / 10) & ((s <= 1) if last else (s < (number + 1) / 10))
        if inside.any():
            total += inside.mean() * abs(s[inside].mean() - y[inside].mean())
    return total


@pytest.mark.parametrize("n_groups", [2, 5])
def test_calibration_within_groups(n_groups: int) -> None:
    rows = random_rows(n_groups, decimals=12)
    expected = [by_bins(y, s) for y, s, _ in parts(rows)]
    assert list(values(rows, "calibration_error").values()) == pytest.approx(expected, abs=1e-12)
    assert values(rows, "calibration_gap") == {"": pytest.approx(max(expected), abs=1e-12)}


def test_calibration_by_hand() -> None:
    """0.05 and 0.05 with no favorable label, 0.95 and 1 with one of two: 2/4 of 0.05 and 2/4 of 0.475."""
    y_true, y_score = np.array([0, 0, 1, 0]) == 1, np.array([0.05, 0.05, 0.95, 1.0])
    rows = Predictions(np.zeros(4, int), ("all",), y_true, y_score=y_score)
    assert values(rows, "calibration_error") == {"all": pytest.approx((0.05 + 0.475) / 2)}
    edges = Predictions(np.zeros(2, int), ("all",), np.array([True, False]), y_score=np.array([0.1, 0.19]))
    assert values(edges, "calibration_error") == {"all": pytest.approx(0.5 - 0.145)}


@pytest.mark.parametrize("weighted", [False, True])
def test_log_loss_is_scikit_learns_at_0_and_1_too(weighted: bool) -> None:
    rows = random_rows(5, decimals=1, weighted=weighted)
    assert {0.0, 1.0} <= set(rows.y_score)
    expected = [log_loss(y, s, sample_weight=w) for y, s, w in parts(rows)]
    assert list(values(rows, "log_loss").values()) == pytest.approx(expected, abs=1e-9)
    assert values(rows, "log_loss_group_max") == {"": pytest.approx(max(expected), abs=1e-9)}


def test_predictions_as_scores_give_the_ordinary_rates() -> None:
    rows = random_rows(5)
    certain = Predictions(rows.codes, rows.names, rows.y_true, rows.y_pred, rows.y_pred.astype(float))
    for kind in ("true_positive", "false_positive", "true_negative", "false_negative"):
        assert values(certain, f"generalized_{kind}_rate") == pytest.approx(values(rows, f"{kind}_rate"))
    odds = values(certain, "generalized_equalized_odds_difference")
    assert odds == pytest.approx(values(rows, "equalized_odds_difference"))


@pytest.mark.parametrize("name", sorted({*list_families()["scores"]} - {*RANKING}))
@pytest.mark.parametrize("score", [-0.5, 1.7])
def test_scores_that_are_no_probabilities(name: str, score: float) -> None:
    """The scores of group a alone could be probabilities."""
    y_true = np.array([1, 0, 1, 0], dtype=bool)
    rows = Predictions(np.array([0, 0, 1, 1]), ("a", "b"), y_true, y_score=np.array([0.2, 0.3, score, 0.5]))
    for found in measure(rows, [name]):
        assert math.isnan(found.value)
        assert found.reason == f"it needs scores in [0, 1], not {score}"


def test_probabilities_beyond_the_ends_by_rounding() -> None:
    """A lottery's shares may sum to more than 1, and differences of probabilities to less than 0."""
    y_true, y_score = np.arange(4) % 2 == 0, np.array([1 + 4e-16, 0.5, 0.25, -4e-16])
    inside = Predictions(np.zeros(4, int), ("all",), y_true, y_score=y_score.clip(0, 1))
    beyond = Predictions(np.zeros(4, int), ("all",), y_true, y_score=y_score)
    for metric in ("calibration_error", "log_loss", "generalized_true_positive_rate"):
        assert values(beyond, metric) == values(
            inside, metric
        )  # NaN, were there no value, is not equal to itself
