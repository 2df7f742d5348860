"""The lines that pages print run as they are printed, and apply the technique that they name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmark.data.card import load_card
from benchmark.data.draft import draft
from benchmark.data.draft_text import card_text
from benchmark.data.load import load_dataset
from benchmark.errors import DataError
from benchmark.estimator.snippet import card_snippet, snippet
from benchmark.file_options import FileOptions
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


FILES: dict[str, tuple[dict[str, Any], dict[str, str], dict[str, Any]]] = {
    "two spellings each": (
        {"hired": {"yes": ["yes", "later"]}, "sex": {"f": ["f", "woman"]}},
        {},
        {"favorable": "yes,later", "unfavorable": "no", "deprived": "f,woman", "favored": "*"},
    ),
    "a blank behind a label": ({"hired": {"yes": ["yes", "yes "]}}, {}, {}),
    "blanks before all values": (
        {"hired": {"yes": " yes", "no": " no"}, "sex": {"f": " f", "m": " m"}},
        {},
        {},
    ),
    "labels of numbers": ({"hired": {"yes": ["1", " 1", "1.0", "01"], "no": "0"}}, {}, {"favorable": "1"}),
    "a label called None": ({"hired": {"yes": "None"}}, {}, {"favorable": "None"}),
    "a group called None": ({"sex": {"f": "None"}}, {}, {"deprived": "None"}),
    "a group called NA beside others": ({"sex": {"m": ["m", "null"]}}, {}, {"favored": "m"}),
    "names with blanks": ({}, {"skill": " skill ", "hired": "was hired"}, {"label": "was hired"}),
    "semicolons": ({}, {}, {"sep": ";"}),
    "decimal commas": ({}, {}, {"sep": ";", "decimal": ","}),
    "rare values in 20 rows": ({"city": {"Kiel": ["Kiel", "A", "B"]}}, {}, {"min_count": 20}),
    "some rows left out": ({"sex": {"f": ["f", "f", "d"], "m": ["m", "m", "?"]}}, {}, {"favored": "m"}),
    "latin letters": ({"city": {"Ulm": "Köln"}}, {}, {"encoding": "latin-1"}),
    "a cut number": ({}, {}, {"sensitive": "skill", "deprived": "< 0"}),
    "missing by a code": ({"children": {3: -9}}, {}, {"missing": "children=-9"}),
}


@pytest.mark.parametrize("case", FILES)
def test_a_file_is_read_once(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values, names, options = FILES[case]
    frame = people()
    for column, changes in values.items():
        for old, new in changes.items():
            rows, new = np.flatnonzero(frame[column] == old), new if isinstance(new, list) else [new]
            frame[column] = frame[column].astype(object)
            frame.loc[rows, column] = np.array(new, dtype=object)[np.arange(len(rows)) % len(new)]
    written = {name: options[name] for name in ("sep", "decimal", "encoding") if name in options}
    frame.rename(columns=names).to_csv(tmp_path / "people.csv", index=False, **written)
    given = {name: value for name, value in options.items() if name not in written}
    label = given.pop("label", "hired")
    roles = {"favorable": "yes", "sensitive": "sex", "deprived": "f", **given}
    found = draft(tmp_path / "people.csv", FileOptions(label, **{"min_count": 5, **roles}), tmp_path)
    text = card_text(found, tmp_path / "people.csv", roles.get("min_count", 5))
    (tmp_path / "card.toml").write_text(text, encoding="utf-8")
    card = load_card(tmp_path / "card.toml")
    made = run(card_snippet(card, "card.toml", "reweighing"), tmp_path, monkeypatch)
    table = load_dataset(card).table
    model = made["model"]
    np.testing.assert_array_equal(made["y"], table.y)
    assert sum(made["y"]) == found.reading.parts[0].rows
    assert model.schema_.deprived_group == table.schema.deprived_group
    columns = [column for column in table.schema.columns if column.name != label]
    assert list(model.schema_.columns[:-1]) == columns
    # Rows of the file, as text and as pandas reads them, have the same states.
    as_text = pd.read_csv(tmp_path / "people.csv", dtype=str, keep_default_na=False, **written)
    as_read = pd.read_csv(tmp_path / "people.csv", na_values=[""], keep_default_na=False, **written)
    for rows in (as_text, as_read):
        rows.columns = rows.columns.str.strip()
        here = np.logical_and.reduce(
            [
                np.ones(len(rows), bool),
                *(~as_text[name].str.strip().isin(values) for name, values in card.exclude.items()),
            ]
        )
        new = made["dataset"].states(rows[here].drop(columns=label))
        for name in made["X"]:
            assert new[name].tolist() == made["X"][name].astype(object).tolist(), name
        np.testing.assert_array_equal(model.predict(new), made["decisions"])


def test_new_rows_may_have_values_that_the_card_lacks(tmp_path: Path) -> None:
    write_people(tmp_path)
    dataset = load_dataset(drafted(tmp_path, "yes", "f"))
    rows = pd.DataFrame(
        {"sex": ["f", "x"], "skill": ["-99", "much"], "children": [0, True], "city": ["Ulm", None]}
    )
    found = dataset.states(rows.set_axis([7, 9]))
    assert found.index.tolist() == [7, 9]
    first = [
        column.states[0] for column in dataset.table.schema.columns if column.name in ("skill", "children")
    ]
    assert found.loc[7].tolist() == ["f", *first, "Ulm"]
    assert found.loc[9].tolist() == ["x", "much", "1", "missing"]
    with pytest.raises(DataError, match="lack columns"):
        dataset.states(rows.drop(columns="skill"))


@pytest.mark.parametrize("change", [1000, -1])
def test_new_rows_in_another_unit_are_warned_of(change: float, tmp_path: Path) -> None:
    write_people(tmp_path)
    dataset = load_dataset(drafted(tmp_path, "yes", "f"))
    rows = pd.read_csv(tmp_path / "people.csv").assign(skill=lambda f: f["skill"].rank() + 1)
    with pytest.warns(UserWarning, match=r"'skill': all \d+ rows are in .* Have they the unit of the file"):
        dataset.states(rows.assign(skill=change * rows["skill"]))


def test_rows_of_a_file_are_no_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_people(tmp_path)
    card = load_card(drafted(tmp_path, "yes", "f"))
    model = run(card_snippet(card, "card.toml", "none"), tmp_path, monkeypatch)["model"]
    for rows in (pd.read_csv(tmp_path / "people.csv"), pd.read_csv(tmp_path / "people.csv", dtype=str)):
        with pytest.raises(ValueError, match=r"knows no value of the column 'skill'.*states\(X\)"):
            model.predict(rows[["sex", "skill", "children", "city"]])


def test_a_frame_is_read_where_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = FileOptions("hired", "yes", "sex", "f")
    card = card_text(draft(people(), options), Path("data.csv"), 5, "people")
    (tmp_path / "out").mkdir()
    people().to_csv(tmp_path / "out" / "data.csv", index=False)
    (tmp_path / "out" / "card.toml").write_text(card, encoding="utf-8")
    code = card_snippet(load_card(tmp_path / "out" / "card.toml"), "out/card.toml", "reweighing")
    found = run(code, tmp_path, monkeypatch)
    np.testing.assert_array_equal(found["y"], people()["hired"] == "yes")


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
    assert len(blocks) == 4
    found = run("\n".join(blocks), tmp_path, monkeypatch)
    assert len(found["rows"]) == len(found["ready"]) == len(people())
