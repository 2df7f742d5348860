"""Text in CSV files: no spreadsheet computes it, no terminal obeys it, and it reads back as it was."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.cli import main
from benchmark.columns import FAILURE_COLUMNS, hidden_name
from benchmark.runs.finished import read_frames, read_run
from benchmark.tables.techniques import Numbers
from benchmark.text.writing import as_cell, csv_text, from_cell
from tests.helpers.latex import table_of
from tests.helpers.made_up_folder import made_up_frames, write_made_up_folder
from tests.helpers.made_up_runs import TECHNIQUES, changed, sample_run

FORMULA = "=cmd|'/C calc'!A0"


@pytest.mark.parametrize(
    "text", ["=1+1", "+1+1", "-a", "@SUM(A1)", "\tx", "'=1", "''-a", FORMULA, "-", "-5 to 3"]
)
def test_what_a_spreadsheet_would_compute_is_a_text_there(text: str) -> None:
    assert as_cell(text) == f"'{text}"
    assert from_cell(f"'{text}") == text


@pytest.mark.parametrize(
    "text", ["-0.5", "+1", "-1e-05", "-.5", "-inf", "a=1", "", "'a'", "–", "0.5", "précis"]
)
def test_numbers_and_other_texts_stay_as_they_are(text: str) -> None:
    assert as_cell(text) == from_cell(text) == text


def test_control_characters_are_gone() -> None:
    assert as_cell("\x1b[31mred\x07\r\n\x9bx\0") == "\ufffd[31mred\ufffd\ufffd\n\ufffdx\ufffd"
    assert as_cell("\r=1") == "'\ufffd=1"


@given(
    st.text(
        st.characters(
            exclude_categories=("Cs",), exclude_characters=[*map(chr, range(32)), *map(chr, range(127, 160))]
        )
    )
)
def test_a_text_reads_back(text: str) -> None:
    assert from_cell(as_cell(text)) == text
    assert not as_cell(text).startswith(("=", "@"))


def test_frames_as_csv() -> None:
    frame = pd.DataFrame(
        {"=name": ["@a", None, "b"], "n": [-1, 2, 3], "x": [-0.123456789, 1.0, float("nan")]}
    )
    assert csv_text(frame) == "'=name,n,x\n'@a,-1,-0.123456789\n,2,1.0\nb,3,\n"
    assert csv_text(frame, "%.3g").splitlines()[1] == "'@a,-1,-0.123"


def test_groups_of_an_audited_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    people = pd.DataFrame({"y": [0, 1] * 60, "yhat": [0, 0, 1] * 40, "who": [FORMULA, "-1", "+a", "b"] * 30})
    people.to_csv("people.csv", index=False)
    assert (
        main(
            [
                "audit",
                "people.csv",
                "--label",
                "y",
                "--prediction",
                "yhat",
                "--sensitive",
                "who",
                "--out",
                "o",
            ]
        )
        == 0
    )
    cells = [
        cell
        for path in Path("o").glob("*.csv")
        for row in csv.reader(io.StringIO(path.read_text()))
        for cell in row
    ]
    assert not any(cell.startswith(("=", "@", "+a")) for cell in cells)
    assert {f"'{FORMULA}", "'+a", "-1", "b"} <= set(cells)


def test_reasons_of_failures_read_back(tmp_path: Path) -> None:
    folder = write_made_up_folder(tmp_path / "run")
    reasons = ["=1+1", "ValueError: \x1b[31mred", "two\nlines", "'=quoted", "plain"]
    failures = made_up_frames()[1]
    failures["reason"] = [reasons[i % len(reasons)] for i in range(len(failures))]
    (folder / "failures.csv").write_text(csv_text(failures[list(FAILURE_COLUMNS)]))
    text = (folder / "failures.csv").read_text()
    assert "\x1b" not in text
    assert ",'=1+1\n" in text
    read = read_run(folder).failures["reason"]
    assert read.tolist() == failures["reason"].str.replace("\x1b", "\ufffd").tolist()


def test_tables_with_hostile_names_and_warnings_of_several_lines() -> None:
    run = sample_run(betas=(0.0,), techniques=TECHNIQUES[:3], repetitions=2)
    hostile = tuple(
        replace(own, title="=1+1\n# no heading", warning="first\n\n- second\r\nthird")
        for own in run.description.datasets
    )
    run = replace(run, description=changed(run.description, datasets=hostile))
    table = table_of(run)
    rows = list(csv.reader(io.StringIO(table.to_csv())))
    assert rows[1][0].startswith("'=1+1")
    assert not any(line.startswith("# no") for line in table.to_markdown().splitlines())
    assert "\n\n" not in table.to_latex()
    notes = Numbers.of_run(run.frames).notes
    assert "first - second third" in notes
    assert not any(line.startswith(("# no", "- second", "third")) for line in notes.splitlines())


@pytest.mark.parametrize("hidden", [False, True])
def test_the_fold_in_a_reason_of_an_earlier_version_is_read_as_a_number(tmp_path: Path, hidden: bool) -> None:
    folder = write_made_up_folder(tmp_path / "run")
    reasons = ["fold 1 of 10: nobody is left", "fold 10 of 10: fold 2 of 3: no", "no fold 3 of 10: here"]
    earlier = made_up_frames()[1].drop(columns="at_fold")
    earlier["reason"] = [reasons[i % len(reasons)] for i in range(len(earlier))]
    if hidden:
        earlier.insert(2, "hidden", 0.0)
    (folder / "failures.csv").write_text(csv_text(earlier))
    read = read_run(folder).failures.head(3)
    assert read["reason"].tolist() == ["nobody is left", "fold 2 of 3: no", "no fold 3 of 10: here"]
    assert read["at_fold"].tolist()[:2] == [0, 9]
    assert read["at_fold"].isna().tolist() == [False, False, True]


def _with_units(frame: pd.DataFrame, unit: str) -> pd.DataFrame:
    """Return a frame as earlier versions wrote it: the level under the name of its unit, a dose before β."""
    frame = frame.rename(columns={"level": unit})
    if unit == "dose":
        frame.insert(list(frame.columns).index("dose") + 1, "beta", 0.7)
    return frame


@pytest.mark.parametrize("unit", ["beta", "dose"])
def test_levels_of_an_earlier_version_are_read(tmp_path: Path, unit: str) -> None:
    now, earlier = (write_made_up_folder(tmp_path / name) for name in ("now", "earlier"))
    for path in earlier.glob("*.csv"):
        frame = _with_units(pd.read_csv(path, dtype=str, keep_default_na=False), unit)
        path.write_text(frame.to_csv(index=False))
    ours, theirs = read_frames(now), read_frames(earlier)
    pd.testing.assert_frame_equal(theirs.results, ours.results)
    pd.testing.assert_frame_equal(theirs.summary, ours.summary)
    pd.testing.assert_frame_equal(theirs.failures, ours.failures)


def test_hidden_bias_in_a_file_is_a_part_of_the_scenario(tmp_path: Path) -> None:
    folder = write_made_up_folder(tmp_path / "run")
    summary = pd.read_csv(folder / "summary.csv", dtype=str, keep_default_na=False)
    for level, gap in (("level", "0.0"), ("dose", "0.05")):
        hiding = summary.rename(columns={"level": level})
        hiding.insert(2, "hidden", gap)
        (folder / "summary.csv").write_text(hiding.to_csv(index=False))
        names = set(read_run(folder).summary["bias"])
        assert names == {hidden_name(bias, float(gap)) for bias in summary["bias"]}
