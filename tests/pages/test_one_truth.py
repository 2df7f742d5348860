"""Page, Markdown, terminal and answers.csv say the same of every row, for every baseline to choose."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import benchmark
from benchmark.columns import TEST_TITLES
from benchmark.pages.run import write_page
from benchmark.report.statistics_files import print_statistics, write_statistics
from benchmark.runs.analysis import folder_statistics
from benchmark.tables.answers import answer_counts, spots
from tests.pages.test_page_browser import (
    Visits,
    browser,
    shown_answers,
    table,
    told_as_in_python,
    visit,
    visits,
)

__all__ = ["browser", "visit", "visits"]  # fixtures

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
        "tests": list(TEST_TITLES),
    },
    "holdout": {
        "datasets": [COMPAS],
        "techniques": NATIVE,
        "repetitions": 4,
        "holdout": 0.3,
        "tests": list(TEST_TITLES),
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


@pytest.mark.parametrize("kind", RUNS)
def test_every_surface_says_the_same(visit: Visits, kind: str, tmp_path: Path) -> None:
    fields = {"name": kind, "title": kind, "seed": 3, "betas": [0, 0.5], "classifiers": ["naive_bayes"]}
    given = {**fields, **RUNS[kind]}
    if given.pop("baseline", None):
        given["datasets"] = [{**own, "baseline": "own"} for own in given["datasets"]]
        given["techniques"] = [*given["techniques"], {"technique": "zafar_2015", "name": "zafar"}]
    made = benchmark.run(
        benchmark.Experiment.model_validate(given),
        output=tmp_path / "out",
        offline=True,
        progress=False,
        workers=1,
        figures=False,
    )
    page = visit.open(write_page(tmp_path, folder_statistics(made.folder), ["reweighing"]))
    offered: list[list[str]] = page.evaluate("run.scenarios.map(s => Object.keys(s.against))")
    baselines = list(dict.fromkeys(name for own in offered for name in own))
    assert {"none", "reweighing"} <= set(baselines) or "own" in baselines
    n_rows = 0
    for baseline in baselines:
        statistics = folder_statistics(made.folder, baseline=None if baseline == "own" else baseline)
        written = tmp_path / baseline
        write_statistics(written, statistics, figures=False)
        said = io.StringIO()
        print_statistics(Console(file=said, width=80, emoji=False), statistics, output=written, written=[])
        terminal = lines_of(said.getvalue())
        markdown = lines_of((written / "answers.md").read_text(encoding="utf-8"))
        for sentence in told_as_in_python(page, statistics, baseline):
            assert sentence in markdown
        with (written / "answers.csv").open(encoding="utf-8", newline="") as file:
            answers = list(csv.DictReader(file))
        for place, scenario in enumerate(statistics.scenarios):
            if baseline not in offered[place]:
                continue
            own = [row for row in answers if tuple(row[name] for name in SCENARIO) == scenario.key]
            assert own == page.evaluate(ROWS, [place, baseline])
            n_rows += len(own)
            for _, beta, rows in spots(scenario.rows(statistics.answers)):
                if beta not in scenario.telling_levels(statistics.run.betas):
                    continue
                assert f"β = {beta:g}: {answer_counts(rows)}" in terminal
                page.evaluate(SHOW, [place, baseline, str(beta)])
                for title, *numbers, shares, deprived, favored, remark in shown_answers(page):
                    cells = [text.replace("–", "") for text in numbers]
                    accepts = " / ".join(filter(None, (shares, deprived, favored)))
                    told = remark.removeprefix("✔ ").replace("recommended", "")
                    line = " ".join(f"| {' | '.join([title, *cells, accepts, told])} |".split())
                    assert line in markdown
    n_techniques: list[int] = page.evaluate("run.scenarios.map(s => s.techniques.length)")
    assert n_rows == sum(2 * len(own) * n for own, n in zip(offered, n_techniques, strict=True))
    assert table(page, "table")


SCENARIO = ("dataset", "bias", "classifier", "test")

ROWS = """([place, baseline]) => {
  const scenario = run.scenarios[place];
  const lines = scenario.against[baseline].levels.flatMap((level) => level.rows);
  const fields = (line) => run.columns.map((name) => [name, fieldOf(scenario, baseline, line, name)]);
  const own = lines.filter((line) => line.technique !== undefined).sort((a, b) => a.at - b.at);
  return own.map((line) => Object.fromEntries(fields(line)));
}"""

SHOW = """([place, baseline, at]) => {
  state = defaults(run.scenarios[place]);
  change({ baseline, at: String(Number(at)) }, { figures: false });
}"""
