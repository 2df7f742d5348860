"""The unprocessing frontier: chosen on training rows as brute force would, scored on test rows, kept."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark.data import Table
from benchmark.data.table import Column, Schema
from benchmark.experiment.draws import TestRows
from benchmark.experiment.export import folds_frame, frontier_frame, metrics_frame
from benchmark.experiment.scoring import Answers
from benchmark.experiment.store import CellResult, Store
from benchmark.experiment.unprocessing import RELAXATIONS, Thresholds, frontier_points, frontier_values
from tests.helpers.marks import nightly_but
from tests.helpers.protocol import cells, computed, prepared, values

SCHEMA = Schema((Column("s", ("a", "b", "c")), Column("y", ("no", "yes"))), "y", "yes", "s", "a")


def people(seed: int, n: int = 14, levels: int = 5) -> tuple[Table, np.ndarray]:
    """Return rows of a deprived and two other groups, and scores of few levels."""
    rng = np.random.default_rng(seed)
    group = np.concatenate([[0, 1, 2], rng.integers(0, 3, n - 3)])
    score = rng.integers(0, levels + 1, n) / levels
    y = rng.random(n) < (0.5 * score + 0.35 * (group > 0))
    return Table(SCHEMA, np.column_stack([group, y]).astype(np.int16)), score


def of_thresholds(table: Table, score: np.ndarray) -> list[list[tuple[float, float]]]:
    """Return acceptance rate and correct answers of each threshold, for the deprived and the others."""
    found = []
    for own in (table.deprived, ~table.deprived):
        accepted = [score[own] > t for t in (-1, *np.unique(score))]
        found.append([(a.mean(), float((a == table.y[own]).sum())) for a in accepted])
    return found


def brute_force(table: Table, score: np.ndarray, gap: float) -> float:
    """Return the most correct answers of all pairs of thresholds, one of which may be drawn by lot."""
    best = -np.inf
    deprived, favored = of_thresholds(table, score)
    for pure, mixed, sign in ((deprived, favored, 1), (favored, deprived, -1)):
        for (rate, right), low, high in itertools.product(pure, mixed, mixed):
            asked = rate + sign * gap
            if low[0] - 1e-9 <= asked <= high[0] + 1e-9:
                share = 0.0 if high[0] == low[0] else (asked - low[0]) / (high[0] - low[0])
                best = max(best, right + (1 - share) * low[1] + share * high[1])
    return best


@pytest.mark.parametrize("seed", range(12))
def test_thresholds_are_the_best_of_all_pairs(seed: int) -> None:
    table, score = people(seed)
    rules = Thresholds.chosen(table, score)
    own = [(score[rows] > 0.5).mean() for rows in (table.deprived, ~table.deprived)]
    # The training rows take the place of test rows: what is expected there is what was optimized.
    rows = TestRows(table.hide_label(), table)
    accuracy, discrimination = rules.points(rows, Answers(score > 0.5, score))
    assert accuracy[0] == pytest.approx(((score > 0.5) == table.y).mean())
    for relaxation, right, gap in zip(RELAXATIONS[1:], accuracy[1:], discrimination[1:], strict=True):
        assert gap == pytest.approx(relaxation * (own[1] - own[0]))
        assert right * len(table) == pytest.approx(brute_force(table, score, gap))
    assert discrimination[RELAXATIONS.index(0)] == pytest.approx(0)


def test_labels_of_test_rows_choose_nothing() -> None:
    (train, score), (test, tested) = people(3, 40), people(4, 30)
    poisoned = Table(SCHEMA, np.column_stack([test.codes[:, 0], 1 - test.codes[:, 1]]))
    said = Answers(tested > 0.5, tested)
    rules = Thresholds.chosen(train, score)
    found = [rules.points(TestRows(own.hide_label(), own), said) for own in (test, poisoned)]
    np.testing.assert_array_equal(found[0][1], found[1][1])
    np.testing.assert_allclose(found[0][0], 1 - found[1][0])


def test_expected_values_are_means_over_lots() -> None:
    (train, score), (test, tested) = people(5, 40), people(6, 30, levels=9)
    rules = Thresholds.chosen(train, score)
    accuracy, discrimination = rules.points(
        TestRows(test.hide_label(), test), Answers(tested > 0.5, tested), balanced=False
    )
    for i, rates in enumerate(rules.rates.T, 1):
        accept = np.zeros(len(test))
        for curve, rate, own in zip(rules.curves, rates, (test.deprived, ~test.deprived), strict=True):
            (upper,) = np.flatnonzero(curve.rates >= rate)[:1]
            lower = max(upper - 1, 0)
            share = 1.0 if upper == lower else (rate - curve.rates[lower]) / np.diff(curve.rates)[lower]
            above = [tested[own] > curve.thresholds[j] for j in (lower, upper)]
            accept[own] = (1 - share) * above[0] + share * above[1]
        right = np.where(test.y, accept, 1 - accept).mean()
        assert accuracy[i] == pytest.approx(right)
        gap = accept[~test.deprived].mean() - accept[test.deprived].mean()
        assert discrimination[i] == pytest.approx(gap)


def test_one_group_has_no_frontier() -> None:
    table, score = people(1)
    own = np.flatnonzero(table.deprived)
    rows = TestRows(table.hide_label(), table)
    fold = (table.take(own), score[own], {"original": rows}, {"original": Answers(score > 0.5, score)})
    assert frontier_values([fold], ["original"]) == ()
    assert frontier_values([], ["original"]) == ()


TESTS = ["original", "biased", "balanced"]


@pytest.fixture(scope="module")
def found() -> list[CellResult]:
    of = {
        "techniques": ["none", "massaging"],
        "classifiers": ["naive_bayes", "linear_svm"],
    }
    return cells(prepared(train="data", folds=2, tests=TESTS, betas=[0.5], train_rows=300, **of))


def test_it_begins_at_the_model_itself_on_every_test(found: list[CellResult]) -> None:
    with_one = [cell for cell in found if cell.frontier]
    assert [(cell.technique, cell.classifier) for cell in with_one] == [("none", "naive_bayes")]
    for test in TESTS:
        measured = values(with_one[0], test)
        points = {point[0]: point for point in frontier_points(with_one[0], test)}
        assert tuple(points) == RELAXATIONS
        assert points[1] == pytest.approx((1, measured["accuracy"], measured["discrimination"]))
        assert abs(points[0][2] or 0) < abs(points[1][2] or 0)
    assert all(cell.status == "ok" for cell in found)


def test_it_is_kept_beside_the_metrics_and_not_among_them(found: list[CellResult], tmp_path: Path) -> None:
    former = [replace(cell, key=f"{cell.key}0", frontier=()) for cell in found]  # before there was one
    with Store(tmp_path / "a.sqlite") as store:
        store.write([*found, *former])
        read = [*store.read([cell.key for cell in found])]
        assert not any(cell.frontier for cell in store.read([cell.key for cell in former]))
    frames = [frontier_frame(own, TESTS) for own in (found, read)]
    assert frames[0].equals(frames[1])
    assert len(frames[0]) == len(TESTS) * len(RELAXATIONS)
    assert frontier_frame(former, TESTS).empty
    names = {value.metric for cell in read for value in cell.metrics}
    assert names == set(metrics_frame(found, sorted(names), TESTS)["metric"])
    assert not any(name.startswith("unprocessing") for name in names)


def test_it_outlives_new_metrics(tmp_path: Path) -> None:
    given = {"betas": [0.5], "train_rows": 200}
    one = computed(prepared(**given), tmp_path / "a.sqlite")
    more = computed(prepared(metrics=["paper", "selection_rate"], **given), tmp_path / "a.sqlite")
    assert more.computed == 0
    assert len(more.cells[0].metrics) > len(one.cells[0].metrics)
    assert more.cells[0].frontier == one.cells[0].frontier != ()


ASKED = [["original", *more] for n in range(3) for more in itertools.combinations(TESTS[1:], n)]
PROTOCOLS: dict[str, dict[str, object]] = {
    "network": {},
    "holdout": {"train": "data", "holdout": 0.3},
    "folds": {"train": "data", "folds": 2},
    "learned": {"train": "network", "holdout": 0.3},
}


@pytest.mark.parametrize("protocol", nightly_but("folds", PROTOCOLS))
def test_what_a_run_returns_does_not_depend_on_the_tests_asked_for_before(
    protocol: str, tmp_path: Path
) -> None:
    def frames(tests: list[str], path: Path) -> list[pd.DataFrame]:
        classifiers = ["naive_bayes", "linear_svm"]
        given = {"betas": [0.5], "train_rows": 200, "repetitions": 1, "classifiers": classifiers}
        asked = prepared(**given, **PROTOCOLS[protocol], tests=tests)
        found, metrics = computed(asked, path).cells, asked.experiment.measured
        written = (metrics_frame, folds_frame)
        return [*(frame(found, metrics, tests) for frame in written), frontier_frame(found, tests)]

    fresh = []
    for i, tests in enumerate(ASKED):
        fresh.append(frames(tests, tmp_path / f"fresh{i}.sqlite"))
        assert len(fresh[-1][-1]) == len(tests) * len(RELAXATIONS)
    for before, after in ((0, 3), (3, 0), (1, 2), (2, 1)):  # of those that are ASKED
        path = tmp_path / f"{before}{after}.sqlite"
        frames(ASKED[before], path)
        for found, expected in zip(frames(ASKED[after], path), fresh[after], strict=True):
            pd.testing.assert_frame_equal(found, expected, check_exact=True)
