"""What is said of a run that scored its models on several tests: each by itself, and each by its name."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark.columns import BALANCED, BIASED, ORIGINAL, TEST_TITLES
from benchmark.experiment.export import failures_frame, metrics_frame
from benchmark.experiment.store import CellResult, MetricValue
from benchmark.figures.lists import run_figures, statistics_figures
from benchmark.report.statistics_files import write_statistics
from benchmark.runs.analysis import RunStatistics, folder_statistics
from benchmark.runs.comparison import compare_runs
from benchmark.runs.finished import read_frames, read_run
from benchmark.tables.techniques import Numbers, techniques_table
from tests.helpers.figure_checks import numbers_in
from tests.helpers.tested_three_times import BETAS, BIASES, REPETITIONS, TESTS, frames, write_tested_folder

ALONE = (BIASED, BALANCED)
"""Tests of which each has a run of its own; a run of the original test alone is that of all other files."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tested_folder(tmp_path_factory.mktemp("runs") / "tested")


@pytest.fixture(scope="module")
def statistics(folder: Path) -> RunStatistics:
    return folder_statistics(folder)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunStatistics]:
    """Return the statistics of runs of one test each."""
    base = tmp_path_factory.mktemp("alone")
    return {test: folder_statistics(write_tested_folder(base / test, (test,))) for test in ALONE}


@pytest.mark.parametrize("test", ALONE)
def test_every_frame_has_of_a_test_what_a_run_of_that_test_alone_has(
    statistics: RunStatistics, alone: dict[str, RunStatistics], test: str
) -> None:
    both = (
        {**own.frames, "standing": own.standing, "judged": own.comparisons, "compared": own.compared}
        for own in (statistics, alone[test])
    )
    of_all, of_one = both
    for name, frame in of_all.items():
        part = frame[frame["test"] == test].reset_index(drop=True)
        assert len(part)
        pd.testing.assert_frame_equal(part, of_one[name].reset_index(drop=True), check_dtype=False, obj=name)


def test_the_summary_is_of_one_test(folder: Path) -> None:
    summary = read_run(folder).summary
    results, _ = frames()
    keys = ["dataset", "bias", "level", "technique", "classifier", "test", "metric"]
    expected = results.groupby(keys)["value"].agg(["mean", "count"])
    found = summary.set_index(keys)
    assert found.index.is_unique
    np.testing.assert_allclose(found.loc[expected.index, "mean"], expected["mean"])
    failed = found.drop(expected.index)
    assert len(failed) == 2 * len(BIASES) * len(TESTS) * 5
    assert (failed["n"] == 0).all()


def test_scenarios_are_named_with_their_test(
    statistics: RunStatistics, alone: dict[str, RunStatistics]
) -> None:
    names = [(s.heading, s.file_name) for s in statistics.scenarios]
    assert names[:3] == [
        (f"Adult, label, {TEST_TITLES[test]}", f"adult__label__{test}")
        for test in (ORIGINAL, BIASED, BALANCED)
    ]
    assert len(names) == len(set(names)) == 12
    assert alone[BIASED].scenarios[1].heading == "Adult, under, biased test data"


def test_what_is_written_names_the_test(statistics: RunStatistics, tmp_path: Path) -> None:
    blocks = techniques_table(Numbers.of_statistics(statistics)).blocks
    headings = [rows[0].names[0] for rows in blocks.values()]
    for test in TESTS:
        assert sum(heading.endswith(f", {TEST_TITLES[test]}") for heading in headings) == 4 * len(BETAS)
    write_statistics(tmp_path, statistics, figures=False)
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    details = (tmp_path / "details.md").read_text(encoding="utf-8")
    assert "- Biased test data: test rows with the planted bias of their level." in details
    for bias, test in itertools.product(BIASES, TESTS):
        assert f"| Adult, Dutch (embedded), {bias}, {TEST_TITLES[test]} | Accuracy |" in details
        assert f"### Adult, {bias}, {TEST_TITLES[test]}. " in page


def test_figures_are_of_one_test_and_say_which(statistics: RunStatistics, folder: Path) -> None:
    run = read_frames(folder, [metric.name for metric in read_run(folder).manifest.metrics])
    drawings = dict([*run_figures(run), *statistics_figures(statistics)])
    drawn = [name for name in drawings if not name.startswith("network/")]
    assert all(sum(f"__{test}" in name for test in TESTS) == 1 for name in drawn)
    for name in ("over_beta/adult__label", "heat_accuracy", "ranks_adult__dutch_embedded__label"):
        figure = drawings[f"{name}__{BIASED}"]()
        assert TEST_TITLES[BIASED] in " ".join(text.get_text() for text in figure.texts)
    (axes,) = drawings["heat_discrimination__biased"]().axes[:1]
    shown = set(numbers_in(axes).values())
    assert any(text.startswith(".29") or text.startswith(".30") for text in shown)
    assert not any(text.startswith(("−.0", ".00")) for text in shown)  # those are of balanced rows


def test_two_runs_are_compared_test_by_test(folder: Path, tmp_path: Path) -> None:
    alone = write_tested_folder(tmp_path / "alone", (BIASED,))
    found = compare_runs(alone, folder).differences
    assert (found["identical"] == found["values"]).all()
    assert found["values"].sum() == 2 * len(BIASES) * len(BETAS) * 4 * REPETITIONS * 5


def test_a_dose_is_not_compared_with_a_beta_of_the_same_number(folder: Path, tmp_path: Path) -> None:
    dosed = write_tested_folder(tmp_path / "dosed")
    manifest = json.loads((dosed / "manifest.json").read_text(encoding="utf-8"))
    doses = [beta for beta in BETAS if beta > 0]
    manifest["experiment"] |= {"betas": [], "doses": doses, "paired_betas": True}
    (dosed / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    both, same = compare_runs(dosed, folder), compare_runs(folder, folder)
    assert both.n_cells * len(BETAS) == same.n_cells  # those without planted bias
    assert {sum(own.values()) for own in both.alone.values()} == {same.n_cells - both.n_cells}


def test_rows_are_written_by_test_and_metric_and_only_those_asked_for() -> None:
    values = [
        MetricValue("accuracy", 0.8),
        MetricValue("auc", None, "balanced rows have no order", BALANCED),
        MetricValue("accuracy", 0.6, test=BALANCED),
        MetricValue("accuracy", 0.7, test=BIASED),
        MetricValue("auc", 0.9),
    ]
    done = CellResult("k", "d", "b", 0.0, 0.5, 0.5, 0, "t", "c", "ok", metrics=tuple(values))
    lost = CellResult("l", "d", "b", 0.0, 0.5, 0.5, 1, "t", "c", "failed", "it raised")
    asked = (["auc", "accuracy"], [ORIGINAL, BALANCED])
    found = metrics_frame([done, lost], *asked)
    assert found[["test", "metric"]].to_numpy().tolist() == [
        [ORIGINAL, "auc"],
        [ORIGINAL, "accuracy"],
        [BALANCED, "auc"],
        [BALANCED, "accuracy"],
    ]
    assert metrics_frame([done], ["accuracy"])["value"].tolist() == [0.8]
    assert metrics_frame([done], *asked)["reason"].tolist() == ["", "", "balanced rows have no order", ""]
    failures = failures_frame([done, lost], *asked)
    assert failures[["test", "metric", "status"]].to_numpy().tolist() == [
        [BALANCED, "auc", "undefined"],
        ["", "", "failed"],
    ]
