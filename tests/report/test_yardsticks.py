"""A run with unprocessing frontiers, reported: files, signs, rows and curves; and one without, as before."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from benchmark.columns import FRONTIER_COLUMNS, FRONTIER_NAME
from benchmark.facts import facts_of
from benchmark.figures import Choice
from benchmark.figures.tradeoff import draw_pareto, draw_tradeoff
from benchmark.runs.analysis import RunStatistics, folder_statistics
from benchmark.runs.finished import read_frames
from benchmark.statistics.answers import ANSWER_COLUMNS
from benchmark.text.writing import csv_text
from tests.helpers.facts import report_text
from tests.helpers.statistics_folder import write_folder


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> RunStatistics:
    return folder_statistics(write_folder(tmp_path_factory.mktemp("run"), names=("one",), repetitions=6))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, before: RunStatistics) -> Path:
    """Return a folder with a frontier from the baseline to parity, at a cost of 0.01."""
    path = write_folder(tmp_path_factory.mktemp("run"), names=("one",), repetitions=6)
    own = before.everything[before.everything["technique"] == "none"]
    wide = own.pivot(index=["level", "repetition"], columns="metric", values="value")
    rows = [
        ("one", "cpt", beta, "none", "c45", i, "original", r, accuracy - 0.01 * (1 - r), r * gap)
        for (beta, i), accuracy, gap in zip(wide.index, wide["accuracy"], wide["discrimination"], strict=True)
        for r in (1.0, 0.5, 0.0, -0.5)
    ]
    frontier = pd.DataFrame(rows, columns=list(FRONTIER_COLUMNS))
    (path / FRONTIER_NAME).write_text(csv_text(frontier), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def found(folder: Path) -> RunStatistics:
    return folder_statistics(folder)


def test_the_gaps_are_a_file_and_the_answers_are_as_before(
    found: RunStatistics, before: RunStatistics
) -> None:
    assert set(found.frames) - set(before.frames) == {"frontier_gaps"}
    for name, frame in before.frames.items():
        pd.testing.assert_frame_equal(frame, found.frames[name])
    assert tuple(found.frames["answers"].columns) == ANSWER_COLUMNS
    standing = found.answers.set_index(["technique", "level"])["frontier"]
    assert standing["massaging", 0.5] == "inside"
    assert standing["repair_0.5", 0.5] == ""  # it has no value
    assert standing["none", 0.5] == "on"


def test_what_is_inside_is_a_fact_of_it_and_of_the_frontier(
    found: RunStatistics, before: RunStatistics
) -> None:
    facts = facts_of(found)
    (answers,) = facts.scenarios[0].answers
    remarks = {
        (level.level, row.technique)
        for level in answers.levels
        for row in level.techniques
        if "inside_frontier" in {remark.code for remark in row.remarks}
    }
    assert remarks == {(0.5, "massaging")}
    assert {at.level: at.inside for at in facts.scenarios[0].frontier}[0.5] == ("massaging",)
    assert "| one, β = 0.5 | 1: Massaging |" in report_text(found)
    assert "## Which techniques the post-processing frontier dominates" not in report_text(before)
    for statistics, column in ((found, True), (before, False)):
        assert ("frontier" in statistics.answers.columns) is column


def test_an_untreated_learner_of_a_technique_is_not_said_to_be_dominated(
    folder: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copytree(folder, tmp_path / "run"))
    results = pd.read_csv(path / "results.csv")
    own = results[results["technique"] == "none"].assign(classifier="zafar_2015_learner")
    own.loc[own["metric"] == "accuracy", "value"] -= 0.05
    pd.concat([results, own]).to_csv(path / "results.csv", index=False)
    manifest = json.loads((path / "manifest.json").read_text())
    learner = {"classifier": "zafar_2015_learner", "learner_of": "zafar_2015"}
    manifest["experiment"]["classifiers"].append(learner)
    (path / "manifest.json").write_text(json.dumps(manifest))
    (scenario,) = facts_of(folder_statistics(path)).scenarios
    assert "zafar_2015_learner" in scenario.techniques
    assert {at.level: at.inside for at in scenario.frontier}[0.5] == ("massaging",)


def test_trade_off_figures_have_the_curve(found: RunStatistics, before: RunStatistics, folder: Path) -> None:
    def lines(figure: Figure, gid: str) -> int:
        return sum(line.get_gid() == gid for axes in figure.axes for line in axes.get_lines())

    (scenario,) = found.scenarios
    for statistics, n in ((found, 3), (before, 0)):
        figure = draw_pareto(statistics, scenario)
        assert lines(figure, "frontier") == lines(figure, "random") == n
    for curves, n in ((found.frontier, 3), (None, 0)):
        figure = draw_tradeoff(read_frames(folder), scenario, curves, Choice(techniques=["massaging"]))
        assert lines(figure, "frontier") == n
        assert lines(figure, "random") == (n > 0)
