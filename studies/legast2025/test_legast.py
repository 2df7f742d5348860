"""The committed repetition of Legast, Calders and Fouss (2025): its numbers come out again, as written."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

from benchmark.data.source import Sources
from benchmark.experiment.evaluate import Evaluator
from benchmark.experiment.expand import expand, narrow
from benchmark.experiment.keys import planned_cells
from benchmark.experiment.plan import load_experiment
from benchmark.experiment.prepare import prepare_experiment
from benchmark.text.writing import plain_or_packed
from studies.legast2025 import findings as legast2025
from studies.papers.comparison_files import (
    compare_folder,
    write_comparison,
)
from tests.helpers.recomputed import check_file

FOLDER = Path(__file__).resolve().parents[2] / "results" / "legast2025"
KEYS = ["dataset", "level", "technique", "repetition", "test", "metric"]


@pytest.fixture(scope="module")
def results() -> pd.DataFrame:
    return pd.read_csv(plain_or_packed(FOLDER / "results.csv"))


@pytest.fixture(scope="module")
def comparison() -> pd.DataFrame:
    return pd.read_csv(FOLDER / "comparison.csv")


def test_every_number_is_compared_and_the_tolerances_set_before_the_run_are_met(
    comparison: pd.DataFrame,
) -> None:
    paper = pd.read_csv(FOLDER.parent / "paper" / "comparison.csv", nrows=0).columns
    assert list(comparison.columns) == [c for c in paper if not c.endswith(("_as_read", "_with_hypotheses"))]
    assert comparison["ours"].notna().all()
    assert set(comparison["test_data"]) == {"real data"}
    near, very_near, mean = legast2025.errors(comparison["difference"])
    assert near >= 0.90
    assert very_near >= 0.74
    assert mean <= 0.020


def test_comparing_again_gives_the_committed_files(tmp_path: Path) -> None:
    for name in ("manifest.json", "summary.csv", "failures.csv"):
        shutil.copy(FOLDER / name, tmp_path)
    written = write_comparison(tmp_path, compare_folder(tmp_path), figures=False)
    for path in written:
        if path.suffix == ".csv":
            check_file(path, FOLDER / path.name)


def test_without_bias_both_tests_are_the_same(results: pd.DataFrame) -> None:
    none = results[results["level"] == 0].pivot_table("value", [*KEYS[:4], "metric"], "test", dropna=False)
    assert len(none) > 100
    pd.testing.assert_series_equal(none["original"], none["biased"], check_names=False, check_exact=True)


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("dataset", "beta", "technique"),
    [("student_label", 0.5, "massaging"), ("student_selection", 0.9, "reweighing")],
)
def test_computing_again_gives_the_committed_numbers(
    results: pd.DataFrame, data_dir: Path, dataset: str, beta: float, technique: str
) -> None:
    asked = {"datasets": [dataset], "techniques": ["none", technique], "betas": [beta], "repetitions": 1}
    made = prepare_experiment(
        expand(narrow(load_experiment("legast2025"), **asked)), Sources(data_dir, offline=True)
    )
    committed = results.set_index(KEYS)["value"].sort_index()
    evaluator, compared = Evaluator(made), 0
    for block, cells in planned_cells(made):
        for cell in evaluator(block, cells):
            assert cell.status == "ok"
            for own in cell.metrics:
                if own.fold is None and own.metric in ("accuracy", "discrimination"):
                    key = (dataset, beta, cell.technique, 0, own.test, own.metric)
                    assert own.value == pytest.approx(committed[key], abs=1e-9), key
                    compared += 1
    assert compared == 8


def test_words_of_the_findings_hold() -> None:
    for kind, best, next_best in (
        ("label", "massaging", "drop_sensitive"),
        ("selection", "reweighing", "massaging"),
    ):
        gaps = legast2025.high_bias("discrimination", "original", kind)[0].mean().sort_values()
        assert list(gaps.index[:2]) == [best, next_best]
        assert legast2025.high_bias("accuracy", "original", kind)[0].mean().idxmax() == "drop_sensitive"
    for kind, first, second, is_shown in (
        ("label", "drop_sensitive", "reweighing", True),
        ("selection", "reweighing", "drop_sensitive", False),
        ("selection", "massaging", "drop_sensitive", False),
    ):
        gaps, overlap = legast2025.high_bias("discrimination", "original", kind)
        farther = legast2025.student_estimate((gaps[second] - gaps[first]).to_numpy(), overlap=overlap)
        assert (farther[1] > 0) == is_shown


def test_what_is_said_of_costs_holds() -> None:
    shown = {}
    for kind in ("label", "selection"):
        accuracy, overlap = legast2025.high_bias("accuracy", "original", kind)
        for name in legast2025.TECHNIQUES:
            change = legast2025.student_estimate(
                (accuracy[name] - accuracy["none"]).to_numpy(), overlap=overlap
            )
            shown[kind, name] = change[2] < 0, change[0] < 0
    assert [place for place, (costs, _) in shown.items() if costs] == [("selection", "massaging")]
    assert [place for place, (_, lower) in shown.items() if lower] == [
        ("label", "reweighing"),
        ("selection", "massaging"),
    ]
