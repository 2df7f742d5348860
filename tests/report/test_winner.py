"""Reports end with the lines that apply what they recommend; these run as they are printed."""

from __future__ import annotations

import html
import io
import itertools
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rich.console import Console

import benchmark
from benchmark.columns import EQUALISE, RESTORE
from benchmark.pages.run_page import write_page
from benchmark.report.statistics_text import statistics_page
from benchmark.sections.use import NO_LINES, TITLE, winner
from benchmark.statistics import hidden_bias
from benchmark.text.words import share
from tests.helpers.hidden import write_made_up_table
from tests.helpers.people import people, write_people
from tests.helpers.snippets import drafted, run

EXPERIMENT = """
name = "people"
title = "People"
seed = 1
repetitions = 12
betas = [0.0, 0.6]
train = "data"
holdout = 0.3
techniques = ["none", "{technique}"]
classifiers = [{{ classifier = "naive_bayes", parameters = {{ alpha = 2.0 }} }}]
[[datasets]]
card = "card.toml"
bias = "label"
"""


@pytest.fixture(autouse=True)
def _people(here: Path) -> None:
    """Work in a folder with people.csv and its card."""
    write_people(here, 900)
    drafted(here, "yes", "f")


def made(technique: str) -> benchmark.Run:
    Path("people.toml").write_text(EXPERIMENT.format(technique=technique))
    return benchmark.run("people.toml", output="out", offline=True, progress=False)


@pytest.mark.parametrize(
    ("entry", "name", "parameters"),
    [
        ("reweighing[rate=favored]", "reweighing", {"rate": "favored"}),
        ("reject_option", "reject_option", None),
    ],
)
def test_a_report_ends_with_lines_that_apply_what_it_recommends(
    entry: str, name: str, parameters: dict[str, Any] | None, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statistics = made(entry).statistics()
    (place, said), lines = winner(statistics)
    assert "is recommended" in place
    assert said.startswith("These lines apply")
    page = statistics_page(statistics, [])
    assert f"## {TITLE}\n" in page
    (printed,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert printed == lines
    found = run(printed, here, monkeypatch)
    model = found["model"]
    assert model.technique_.name == name
    assert {**model.technique_.parameters} == {**model.technique_.parameters, **(parameters or {})}
    assert model.classifier == {"classifier": "naive_bayes", "parameters": {"alpha": 2.0}}
    assert (model.schema_.sensitive_feature, model.schema_.deprived_group) == ("sex", "f")
    assert found["y"].tolist() == (people(900)["hired"] == "yes").tolist()
    assert list(found["X"].columns) == ["sex", "skill", "children", "city"]  # not the identifier
    assert html.escape(lines, quote=True) in write_page(here, statistics).read_text()


def test_where_nothing_is_recommended_a_sentence_says_so(here: Path) -> None:
    statistics = made("uniform_sampling").statistics()
    nothing = replace(
        statistics, answers=statistics.answers.assign(verdict="not_shown", reason="", choice="")
    )
    assert winner(nothing) == ([NO_LINES], "")
    page = statistics_page(nothing, [])
    assert NO_LINES in page
    assert "- people (card), at every level of bias: no recommendation.\n" in page


def test_a_card_that_is_not_at_hand_is_named(here: Path) -> None:
    statistics = made("reweighing[rate=favored]").statistics()
    (dataset,) = {scenario.dataset for scenario in statistics.scenarios}
    object.__setattr__(dataset.entry, "columns", {"city": {"ordered": True}})
    (_, said), lines = winner(statistics)
    assert "the experiment reads columns otherwise than the card" in said
    assert lines == ""
    (here / "card.toml").unlink()
    (_, said), lines = winner(statistics)
    assert (said, lines) == ("No lines of Python are shown: the dataset's card is missing.", "")


@pytest.mark.nightly
def test_quick_ends_with_the_lines(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hidden_bias, "HIDDEN_BIAS_FILE", write_made_up_table(here))
    console = Console(record=True, width=200, quiet=False, emoji=False, file=io.StringIO())
    options: dict[str, Any] = {
        "repetitions": 6,
        "betas": [0.6],
        "figures": False,
        "classifier": "naive_bayes",
    }
    benchmark.quick(
        "people.csv",
        label="hired",
        favorable="yes",
        sensitive="sex",
        deprived="f",
        console=console,
        **options,
    )
    said = console.export_text()
    after = said[said.index("Lines of Python:") :].splitlines()[1:]
    lines = [line.removeprefix("    ") for line in itertools.takewhile(_is_code, after)]
    found = run("\n".join(lines), here, monkeypatch)
    assert len(found["decisions"]) == 900


def _is_code(line: str) -> bool:
    return not line.strip() or line.startswith("    ")


def test_what_restores_is_named_before_what_equalises(here: Path) -> None:
    statistics = made("reweighing").statistics()
    equal = statistics.answers[statistics.answers["goal"] == EQUALISE]
    others = equal["technique"] == "reweighing"
    recommended = equal.assign(choice=others.map({True: "least", False: ""}))
    recommended["verdict"] = recommended["verdict"].mask(others, "helps")
    candidate = recommended.assign(verdict=recommended["verdict"].mask(others, "promising"))

    def places(restored: pd.DataFrame, equalised: pd.DataFrame) -> tuple[list[str], str]:
        answers = pd.concat([restored.assign(goal=RESTORE), equalised], ignore_index=True)
        (*found, said), _ = winner(replace(statistics, answers=answers))
        return [place.partition(": ")[2] for place in found], said

    found, said = places(recommended, candidate)
    assert found == [
        "Reweighing is recommended to restore decisions.",
        "betabench recommends none of the techniques to equalize acceptance.",
    ]
    assert said.startswith("These lines apply Reweighing to people (card), to restore decisions.")
    found, said = places(candidate, recommended)
    assert found == [
        "betabench recommends none of the techniques to restore decisions.",
        "Reweighing is recommended to equalize acceptance.",
    ]
    assert said.startswith("These lines apply Reweighing to people (card), to equalize acceptance.")


def test_the_cost_is_said_where_nothing_is_planted_as_the_lines_apply_it(here: Path) -> None:
    statistics = made("reweighing").statistics()
    answers = statistics.answers
    others = answers["technique"] == "reweighing"
    answers = answers.assign(choice=others.map({True: "least", False: ""}))
    answers["verdict"] = answers["verdict"].mask(others, "helps")
    (*_, said), _ = winner(replace(statistics, answers=answers))
    clean = answers[(answers["beta"] == 0) & (answers["goal"] == EQUALISE)].set_index("technique")
    row, nothing = clean.loc["reweighing"], clean.loc["none"]
    assert f"Where nothing is planted, it changes accuracy by {row['accuracy_change']:+.3f}" in said
    for group, name in (("deprived", "deprived group"), ("favored", "favored")):
        own, before = share(row[f"accepted_{group}"]), share(nothing[f"accepted_{group}"])
        assert f"{own} of the {name} ({statistics.run.titles['none']}: {before})" in said
