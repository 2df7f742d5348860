"""The lines that pages print run as they are printed, and apply the technique that they name."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from benchmark.data.card import load_card
from benchmark.estimator.snippet import card_snippet, snippet
from benchmark.techniques import list_techniques
from tests.helpers.people import people, write_people
from tests.helpers.snippets import drafted, run

ROOT = Path(__file__).resolve().parent.parent.parent
PEOPLE = {"label": "hired", "favorable": "yes", "sensitive": "sex", "deprived": "f"}
STAGES = ("reweighing", "massaging", "exponentiated_gradient", "reject_option")


@pytest.mark.parametrize("technique", STAGES)
def test_the_lines_run_as_printed(technique: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_people(tmp_path)
    code = snippet(technique, "people.csv", **PEOPLE)
    assert len(code.splitlines()) <= 13
    assert max(map(len, code.splitlines())) <= 100
    found = run(code, tmp_path, monkeypatch)
    model = found["model"]
    assert model.technique_.name == technique
    assert model.schema_.deprived_group == "f"
    assert len(found["decisions"]) == len(people())
    hired = people()["hired"] == "yes"
    assert ((found["decisions"] == hired).mean()) > 0.6
    assert ("weights" in found) == (model.technique_.stage == "pre")
    assert "weights" not in found or len(found["rows"]) == len(found["labels"]) == len(found["weights"])


@pytest.mark.nightly
@pytest.mark.parametrize("technique", list_techniques())
def test_the_lines_of_every_technique_run(
    technique: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_people(tmp_path, 300)
    if technique == "adversarial":
        pytest.importorskip("torch")
    assert len(run(snippet(technique, "people.csv", **PEOPLE), tmp_path, monkeypatch)["decisions"]) == 300


@pytest.mark.nightly
def test_they_run_in_a_process_of_their_own(tmp_path: Path) -> None:
    write_people(tmp_path)
    code = snippet("reweighing", "people.csv", **PEOPLE)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)


def test_a_file_is_read_as_its_card_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = people()
    frame.loc[:30, "sex"] = "woman"
    frame.loc[31:60, "hired"] = "later"
    frame.loc[61:70, "sex"] = "?"
    frame.to_csv(tmp_path / "people.csv", index=False, sep=";")
    card = load_card(drafted(tmp_path, "yes,later", "f,woman"))
    code = card_snippet(card, "card.toml", "reweighing", parameters={"rate": "favored"})
    found = run(code, tmp_path, monkeypatch)
    assert found["model"].technique_.parameters == {"rate": "favored"}
    kept = frame[frame["sex"] != "?"]
    assert list(found["X"].columns) == ["sex", "skill", "children", "city"]
    assert found["y"].tolist() == kept["hired"].isin(["yes", "later"]).tolist()
    assert found["model"].schema_.groups == ("f or woman", "m")
    assert 'sep=";"' in code


@pytest.mark.parametrize(("sensitive", "deprived"), [("skill", "< 0"), ("sex", "f")])
def test_what_a_file_does_not_say_its_card_does(
    sensitive: str, deprived: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_people(tmp_path)
    card = load_card(drafted(tmp_path, "yes", deprived, sensitive))
    by_card = sensitive == "skill"  # cut into two groups, whose names are in no file
    code = card_snippet(card, "card.toml", "reweighing")
    assert ("load_dataset" in code) == by_card
    found = run(code, tmp_path, monkeypatch)
    assert found["model"].schema_.deprived_group == ("below 0" if by_card else "f")


def test_a_file_with_numbers_that_only_its_card_reads_is_read_by_the_card(tmp_path: Path) -> None:
    people().assign(skill=lambda frame: frame["skill"].mask(frame.index < 20, 99)).to_csv(
        tmp_path / "people.csv", index=False
    )
    path = drafted(tmp_path, "yes", "f")
    assert "read_csv" in card_snippet(load_card(path), "card.toml", "none")
    text = path.read_text(encoding="utf-8")
    assert text.count("[columns.skill]\n") == 1
    path.write_text(text.replace("[columns.skill]\n", '[columns.skill]\nthousands = ","\n'), encoding="utf-8")
    assert "load_dataset" in card_snippet(load_card(path), "card.toml", "none")


def test_shipped_datasets_are_read_by_their_cards() -> None:
    code = card_snippet(load_card("adult"), "adult", "repair", parameters={"level": 0.5})
    ast.parse(code)
    assert 'load_dataset("adult")' in code
    assert 'parameters={"level": 0.5}' in code


def test_an_intersection_of_columns_has_no_lines() -> None:
    card = load_card("adult").with_groups(("sex", "race"), None, {"sex": "Female", "race": "Black"})
    assert card_snippet(card, "adult", "reweighing") == ""


def test_awkward_names_stay_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = people().rename(columns={"sex": 'se"x\\', "hired": "hired?"}).replace({"f": "f'\""})
    frame.to_csv(tmp_path / 'pe"ople.csv', index=False)
    roles = {"label": "hired?", "favorable": ["yes"], "sensitive": 'se"x\\', "deprived": ["f'\""]}
    found = run(snippet("none", 'pe"ople.csv', **roles), tmp_path, monkeypatch)
    assert isinstance(found["frame"], pd.DataFrame)
    assert found["model"].schema_.deprived_group == "f'\""


def test_the_page_on_use_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_people(tmp_path)
    page = (ROOT / "docs" / "use.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert snippet("reweighing", "people.csv", **PEOPLE).startswith(blocks[0])
    assert len(blocks) == 3
    found = run("\n".join(blocks), tmp_path, monkeypatch)
    assert len(found["rows"]) == len(found["ready"]) == len(people())
