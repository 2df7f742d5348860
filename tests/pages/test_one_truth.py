"""What the page is given, Markdown, terminal and answers.csv say the same, for each baseline."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import benchmark
from benchmark.columns import TEST_TITLES, TRUTH
from benchmark.pages.payload import page_numbers
from benchmark.report.statistics_files import print_statistics, write_statistics
from benchmark.runs.analysis import folder_statistics
from benchmark.sections.choices import answer_counts
from benchmark.sections.goals import by_goal
from benchmark.statistics.answer_record import by_level
from tests.helpers.marks import nightly_but

pytestmark = pytest.mark.slow

COMPAS = {"card": "compas", "bias": [{"kind": "label"}]}
NATIVE = ["none", "reweighing", "massaging", "drop_sensitive"]
REAL = {"train": "data", "train_rows": 500}

RUNS: dict[str, dict[str, Any]] = {
    "network": {
        "datasets": [COMPAS, {"card": "adult", "baseline": "drop_sensitive", "bias": [{"kind": "label"}]}],
        "techniques": NATIVE,
        "repetitions": 13,
        "train_rows": 300,
        "tests": [test for test in TEST_TITLES if test != TRUTH],
    },
    "holdout": {
        "datasets": [COMPAS],
        "techniques": NATIVE,
        "repetitions": 4,
        "holdout": 0.3,
        "tests": [test for test in TEST_TITLES if test != TRUTH],
        **REAL,
    },
    "folds": {"datasets": [COMPAS], "techniques": NATIVE, "repetitions": 3, "folds": 3, **REAL},
    "tuned": {
        "datasets": [COMPAS],
        "techniques": ["none", "reweighing", "exponentiated_gradient"],
        "repetitions": 3,
        "train_rows": 300,
        "tune": {"trials": 2},
    },
    "groups": {
        "datasets": [{**COMPAS, "sensitive": ["sex", "race"]}],
        "techniques": NATIVE,
        "repetitions": 3,
        "train_rows": 300,
        "baseline": "own",
    },
}


def lines_of(text: str) -> str:
    """Return Markdown or the terminal's text without escapes and line breaks."""
    return " ".join(text.replace("\\", "").split())


def rows_of(scenario: dict[str, Any]) -> list[dict[str, str]]:
    """Return the rows that the page writes as ``answers.csv`` of a scenario."""
    rows: list[dict[str, str]] = []
    for shown in scenario["against"]["goals"].values():
        fields = shown["fields"]
        n = sum("at" in row for level in shown["levels"] for row in level["rows"])
        columns = {name: [own] * n if isinstance(own, str) else own for name, own in fields.items()}
        rows += [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return rows


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("kind", nightly_but("holdout", RUNS))
def test_every_surface_says_the_same(kind: str, tmp_path: Path) -> None:
    fields = {"name": kind, "title": kind, "seed": 3, "betas": [0, 0.5], "classifiers": ["naive_bayes"]}
    given = {**fields, **RUNS[kind]}
    if given.pop("baseline", None):
        given["datasets"] = [{**own, "baseline": "own"} for own in given["datasets"]]
        given["techniques"] = [*given["techniques"], {"technique": "zafar_2015", "name": "zafar"}]
    experiment = benchmark.Experiment.model_validate(given)
    made = benchmark.run(experiment, output=tmp_path, offline=True, progress=False, figures=False)
    for baseline in (None, "reweighing"):
        statistics = folder_statistics(made.folder, baseline=baseline)
        shown = page_numbers(statistics)["scenarios"]
        written = tmp_path / str(baseline)
        write_statistics(written, statistics, figures=False)
        said = io.StringIO()
        print_statistics(Console(file=said, width=80, emoji=False), statistics, output=written, written=[])
        terminal = lines_of(said.getvalue())
        markdown = lines_of((written / "answers.md").read_text(encoding="utf-8"))
        with (written / "answers.csv").open(encoding="utf-8", newline="") as file:
            answers = list(csv.DictReader(file))
        for scenario, there in zip(statistics.scenarios, shown, strict=True):
            own = [row for row in answers if tuple(row[name] for name in SCENARIO) == scenario.key]
            assert own == rows_of(there)
            telling = scenario.telling_levels(statistics.run.levels)
            counts = {
                (rows[0].goal, beta): answer_counts(rows)
                for _, answers in by_goal(scenario.rows(statistics.answers))
                for _, beta, rows in by_level(answers)
            }
            levels = [
                (goal, beta, level)
                for goal, shown in there["against"]["goals"].items()
                for beta, level in zip(telling, shown["levels"], strict=True)
                if level["rows"]
            ]
            for goal, beta, level in levels:
                assert f"β = {beta:g}: {counts[goal, beta]}" in terminal
                for sentence in level["told"]:
                    assert sentence in markdown
                for row in level["rows"]:
                    title, value, change, accuracy, cost, *shares, remark = row["cells"]
                    numbers = [value, " ".join(change), accuracy, " ".join(cost)]
                    accepts = " / ".join(filter(None, shares))
                    line = " | ".join([title, *numbers, accepts, remark])
                    assert " ".join(f"| {line} |".split()) in markdown


SCENARIO = ("dataset", "bias", "classifier", "test")
