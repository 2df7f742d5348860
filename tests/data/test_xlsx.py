"""Workbooks: the first sheet is read as Excel shows it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time
from pathlib import Path

import pytest

from benchmark.data.files import read_frame, read_sheet
from benchmark.data.load import load_dataset
from benchmark.errors import DataError, UnknownNameError
from benchmark.file_options import FileOptions
from tests.helpers.drafts import doubt, drafted
from tests.helpers.workbooks import book

WriteCard = Callable[..., Path]


def test_cells_are_text_and_blank_rows_are_left_out() -> None:
    day = [date(2023, 5, 17), datetime(2023, 5, 17, 6), time(8, 30), 45063, 0.1]
    assert read_sheet(
        book([["sex", "age", "hired"], ["f", 17, False], [], ["m", "", True], day]), ""
    ).rows == [
        (1, ["sex", "age", "hired"]),
        (2, ["f", "17", "FALSE"]),
        (4, ["m", "", "TRUE"]),
        (5, ["2023-05-17", "2023-05-17 06:00:00", "08:30:00", "45063", "0.1"]),
    ]


@pytest.mark.parametrize("above", [[], [["Report"], []], [["Report", "2023"], []]])
@pytest.mark.parametrize("last", ["note", ""])
def test_rows_of_a_sheet_end_with_cells_that_are_not_stored(
    above: list[list[str]], last: str, tmp_path: Path
) -> None:
    rows = [["fm"[i % 2], "yn"[i // 2 % 2], "seen" if i % 3 else ""] for i in range(30)]
    (tmp_path / "a.xlsx").write_bytes(book([*above, ["sex", "hired", last], *rows, ["Total"]]))
    frame = read_frame(tmp_path / "a.xlsx", FileOptions(), {"sex", "hired"})
    assert list(frame.columns) == ["sex", "hired", last or "column_3"]
    assert frame.fillna("").to_numpy().tolist() == [*rows, ["Total", "", ""]]


@pytest.mark.parametrize("cover", [[["Bank"], ["Secret"]], [["Report of 2023"]]])
def test_a_first_sheet_without_a_table_is_asked_about(cover: list[list[str]], tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(book(cover, [["sex", "hired"], *(["fm"[i % 2], "yn"[i // 2 % 2]] for i in range(40))]))
    wish = FileOptions("hired", "y", "sex", "f")
    asked = doubt(path, wish, tmp_path)
    assert re.search(r"no table with columns.*Another sheet may have it: 'two'", str(asked))
    assert asked.options == {"sheet": "two"}
    made, dataset = drafted(path, FileOptions("hired", "y", "sex", "f", sheet="two"), tmp_path)
    assert len(dataset.table) == made.reading.rows == 40
    with pytest.raises(UnknownNameError, match="'three'"):
        read_frame(path, FileOptions(sheet="three"))
    assert len(read_frame(path, FileOptions(sheet="two"))) == 40


def test_a_card_reads_a_workbook(write_card: WriteCard) -> None:
    card = write_card(
        ('format = "csv"', 'format = "xlsx"'),
        ("toy.csv", "toy.xlsx"),
        ("{ 0 =", "{ FALSE ="),
        (", 1 =", ", TRUE ="),
        ("required_edges", "missing = { state = 'unknown', columns = ['age'] }\nrequired_edges"),
        rows=None,
    )
    rows = [["sex", "age", "hired"], ["f", 17, False], ["m", "", True], ["m", 64.5, True]]
    card.with_name("toy.xlsx").write_bytes(book(rows))
    frame = load_dataset(card).to_frame()
    assert frame["sex"].tolist() == ["f", "m", "m"]
    assert frame["age"].tolist() == ["minor", "unknown", "adult"]
    assert frame["hired"].tolist() == ["no", "yes", "yes"]


@pytest.mark.parametrize("content", [b"sex,age\n", book([["a"]])[:-40], book([["a"]])[:500]])
def test_what_is_no_workbook_is_told(content: bytes) -> None:
    with pytest.raises(DataError, match=r"toy\.xlsx is not a valid Excel workbook.*save the sheet as CSV"):
        read_sheet(content, "toy.xlsx")


def test_a_sheet_that_unpacks_to_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmark.data.files.LARGEST", 500)
    with pytest.raises(DataError, match=r"not a valid Excel workbook.*more than 500 bytes"):
        read_sheet(book([["a"]]), "toy.xlsx")
