"""Refusals to look at again: which rows are drawn, what is written, and which sheets are refused."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmark.cli import main
from benchmark.data.draft import Draft, draft
from benchmark.data.reading import DoubtError
from benchmark.data.refusals import read_verdicts, refusals, write_sheet
from benchmark.errors import DataError
from benchmark.file_options import FileOptions

ROLES: dict[str, Any] = {"label": "hired", "favorable": "yes", "sensitive": "sex", "deprived": "f"}
TYPED = [f"--{name}={value}" for name, value in ROLES.items()]
SHEET = Path("refusals.csv")


@pytest.fixture(autouse=True)
def _rows(here: Path) -> None:
    people().to_csv(here / "people.csv", index=False)


def people() -> pd.DataFrame:
    """Return 300 people: some without a label, one column of numbers, one of words, and an identifier."""
    lots = random.Random(3)
    rows = [
        (
            f"n{i:03}",
            lots.choice("fm"),
            lots.randrange(1000) / 100,
            lots.choice(["=a", "b"]),
            lots.choice(["yes", "no", "no"]),
        )
        for i in range(300)
    ]
    frame = pd.DataFrame(rows, columns=["id", "sex", "score", "place", "hired"])
    frame.loc[frame.index % 10 == 0, "hired"] = ""
    return frame


def drafted() -> Draft:
    return draft("people.csv", FileOptions.of(**ROLES))


def judged(verdicts: object = "right") -> pd.DataFrame:
    write_sheet(SHEET, drafted(), 20, 1)
    return pd.read_csv(SHEET, dtype=str, keep_default_na=False).assign(verdict=verdicts)


def test_the_sheet_has_refusals_of_the_group_without_label_and_group(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["sample-refusals", "people.csv", *TYPED, "-m", "20"]) == 0
    text = capsys.readouterr().out
    frame, sheet = people(), pd.read_csv(SHEET, dtype=str, keep_default_na=False)
    all_refusals = set(frame.index[(frame["sex"] == "f") & (frame["hired"] == "no")] + 1)
    rows = sheet["row"].astype(int)
    assert list(sheet.columns) == ["row", "score", "place", "verdict"], "neither the identifier"
    assert len(set(rows)) == 20
    assert set(rows) < all_refusals
    assert sheet["verdict"].eq("").all()
    found = frame.loc[rows - 1]
    assert sheet["score"].astype(float).tolist() == found["score"].tolist()
    assert sheet["place"].tolist() == found["place"].replace({"=a": "'=a"}).tolist(), "no formula"
    assert f"20 of the {len(all_refusals)} refusals of sex = f" in text
    assert f"betabench quick people.csv {' '.join(TYPED)} --relabel=refusals.csv" in text
    assert "Two people judge each row" in text
    assert "wrong, if this person should have hired = yes; else right. Or write yes for wrong, and no" in text
    for unseen in ("missing from the file", "wrong acceptances", "the other group"):
        assert unseen in text


def test_draws_repeat_by_seed_and_have_each_refusal_as_often() -> None:
    first = judged()["row"]
    assert judged()["row"].tolist() == first.tolist()
    write_sheet(Path("other.csv"), drafted(), 20, 2)
    other = pd.read_csv("other.csv", dtype=str)["row"]
    assert set(other) != set(first)
    n = len(refusals(drafted()))
    assert write_sheet(Path("all.csv"), drafted(), 1000, 1) == len(pd.read_csv("all.csv")) == n


def test_a_sheet_with_verdicts_is_never_overwritten() -> None:
    judged().to_csv(SHEET, index=False)
    written = SHEET.read_bytes()
    for seed in (1, 2):
        with pytest.raises(DataError, match=r"exists already.*verdicts may be in it.*another --output"):
            write_sheet(SHEET, drafted(), 20, seed)
    assert SHEET.read_bytes() == written


def test_verdicts_come_back_in_either_words_and_as_spreadsheets_save_them() -> None:
    sheet = judged()
    wrong = np.arange(20) % 3 == 0
    for words, separator in ((("right", "wrong"), ","), (("no", "yes"), ","), (("Right", "WRONG"), ";")):
        saved = sheet.assign(verdict=np.where(wrong, words[1], words[0]))
        if separator == ";":  # by a program that writes decimal commas, and numbers as short as they are
            saved["score"] = [f"{float(own):g}".replace(".", ",") for own in saved["score"]]
        saved.to_csv(SHEET, index=False, sep=separator, encoding="utf-8-sig")
        assert read_verdicts(SHEET, drafted()).tolist() == wrong.tolist()


def test_blank_rows_and_the_numbers_that_they_turn_into_fractions_change_no_verdict() -> None:
    sheet, blank = judged("wrong"), pd.DataFrame([dict.fromkeys(judged().columns, "")])
    for end in (".0", ",0"):
        rows = pd.concat([sheet[:5], blank, sheet[5:], blank])
        rows["row"] = [f"{row}{end}" if row else "" for row in rows["row"]]
        rows.to_csv(SHEET, index=False, sep=";" if end == ",0" else ",")
        assert read_verdicts(SHEET, drafted()).tolist() == [True] * 20
        SHEET.unlink()


def test_a_note_below_the_rows_of_a_sheet_proposes_no_option_of_the_data() -> None:
    SHEET.write_text(judged("right").to_csv(index=False) + "judged by Ann\n")
    with pytest.raises(DataError, match=r"Line 22 of refusals.csv does not fit.*correct the sheet") as caught:
        read_verdicts(SHEET, drafted())
    assert not isinstance(caught.value, DoubtError)


def test_a_sheet_of_a_file_with_decimal_commas_and_signs_comes_back_as_it_was_written() -> None:
    frame = people()
    scores = [f"{own - 5:.2f}".replace(".", ",") for own in frame["score"]]
    frame.assign(score=scores).to_csv("people.csv", index=False, sep=";")
    sheet = judged()
    assert sheet["score"].str.startswith("'-").any(), "no formula"
    sheet.to_csv(SHEET, index=False)
    assert not read_verdicts(SHEET, drafted()).any()
    sheet.assign(score="'-9,99").to_csv(SHEET, index=False)
    with pytest.raises(DataError, match="the file or the sheet has changed since"):
        read_verdicts(SHEET, drafted())


def test_the_sheets_words_count_where_labels_are_named_right_and_wrong(
    capsys: pytest.CaptureFixture[str],
) -> None:
    frame = people()
    frame["hired"] = frame["hired"].replace({"yes": "Right", "no": "Wrong"})
    frame.to_csv("people.csv", index=False)
    named = {**ROLES, "favorable": "Right"}
    assert main(["sample-refusals", "people.csv", *(f"--{name}={own}" for name, own in named.items())]) == 0
    assert "Or write" not in capsys.readouterr().out
    sheet = pd.read_csv(SHEET, dtype=str, keep_default_na=False)
    sheet.assign(verdict=["Wrong", *["right"] * (len(sheet) - 1)]).to_csv(SHEET, index=False)
    assert read_verdicts(SHEET, draft("people.csv", FileOptions.of(**named))).sum() == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda own: own.drop(columns="verdict"), "no column 'verdict'.*name it so.*sample-refusals"),
        (
            lambda own: own.assign(row=["301", *own["row"][1:]]),
            "line 1 below the header names no row of people.csv.*from 1 to 300. Got: 301",
        ),
        (lambda own: own.assign(row=["x", *own["row"][1:]]), "names no row of.*Got: x.*as it was drawn"),
        (lambda own: own.assign(row=[own["row"][1], *own["row"][1:]]), "is another one in people.csv|twice"),
        (lambda own: pd.concat([own, own.head(1)]), "stands there twice.*take one"),
        (lambda own: own.assign(row=["1", *own["row"][1:]]), "row 1 of people.csv is no refusal of sex = f"),
        (lambda own: own.assign(score=["99", *own["score"][1:]]), "changed since.*score = .*99.0"),
        (
            lambda own: own.assign(verdict=["", *own["verdict"][1:]]),
            "has verdicts on 19 of 20 rows.*wrong, right, no, yes.*Got: no verdict in row .*judge all",
        ),
        (
            lambda own: own.assign(verdict=["maybe", *own["verdict"][1:]]),
            "an unknown verdict.*Got: maybe.*write wrong if this person should",
        ),
    ],
)
def test_a_sheet_that_does_not_fit_is_an_error_that_says_why(change: Any, words: str) -> None:
    change(judged()).to_csv(SHEET, index=False)
    with pytest.raises(DataError, match=words):
        read_verdicts(SHEET, drafted())


def test_what_cannot_be_drawn_is_said() -> None:
    with pytest.raises(DataError, match=r"written as CSV.*Got: a.xlsx. What to do: --output a.csv"):
        write_sheet(Path("a.xlsx"), drafted(), 20, 1)
    with pytest.raises(DataError, match=r"Nobody can be drawn.*1 or more.*-m 0"):
        write_sheet(SHEET, drafted(), 0, 1)
    people().rename(columns={"place": "verdict"}).to_csv("people.csv", index=False)
    with pytest.raises(DataError, match=r"needs the column name 'verdict'.*--drop verdict"):
        write_sheet(SHEET, drafted(), 20, 1)
    write_sheet(SHEET, draft("people.csv", FileOptions.of(**ROLES, drop="verdict")), 20, 1)
    assert list(pd.read_csv(SHEET).columns) == ["row", "score", "verdict"]
