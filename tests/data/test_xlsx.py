"""Workbooks: the first sheet is read as the file stores it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchmark.data.files import read_frame, read_sheet
from benchmark.data.load import load_dataset
from benchmark.errors import DataError, UnknownNameError
from benchmark.file_options import FileOptions
from tests.helpers.drafts import doubt, drafted
from tests.helpers.workbooks import MAIN, PARTS, SHEET, book, sheet

WriteCard = Callable[..., Path]


def test_cells_are_as_the_file_stores_them() -> None:
    assert read_sheet(book(), "toy.xlsx").rows == [
        (1, ["sex", "age", "hired"]),
        (2, ["f", "17", "FALSE"]),
        (4, ["m", "", "TRUE"]),
        (5, ["a, b", "64.5", ""]),
    ]


@pytest.mark.parametrize(
    ("settings", "day"), [("", "2023-05-17"), ('<workbookPr date1904="1"/>', "2027-05-18")]
)
def test_dates_are_no_numbers(settings: str, day: str, tmp_path: Path) -> None:
    formats = ["General", '"days" 0', "[Red]0.00", "yyyy\\-mm\\-dd"]
    own = "".join(f'<numFmt numFmtId="{164 + i}" formatCode="{f}"/>' for i, f in enumerate(formats))
    own = own.replace('"days"', "&quot;days&quot;")
    used = "".join(f'<xf numFmtId="{number}"/>' for number in (0, 14, 21, 164, 165, 166, 167))
    styles = f"<styleSheet {MAIN}><numFmts>{own}</numFmts><cellXfs>{used}</cellXfs></styleSheet>"
    numbers = ("45063", "45063", "0.5", "45063", "45063", "45063", "45063.25")
    cells = "".join(f'<c s="{i}"><v>{number}</v></c>' for i, number in enumerate(numbers))
    first = f'<worksheet {MAIN}><sheetData><row r="1">{cells}</row></sheetData></worksheet>'
    workbook = PARTS["xl/workbook.xml"].replace("<sheets>", f"{settings}<sheets>")
    content = book(first=first, styles=styles, workbook=workbook)
    plain = "45063"
    assert read_sheet(content, "toy.xlsx").rows == [
        (1, [plain, day, "12:00:00", plain, plain, plain, f"{day} 06:00:00"])
    ]


@pytest.mark.parametrize("above", [[], [["Report"], []], [["Report", "2023"], []]])
@pytest.mark.parametrize("last", ["note", ""])
def test_rows_of_a_sheet_end_with_cells_that_are_not_stored(
    above: list[list[str]], last: str, tmp_path: Path
) -> None:
    rows = [["fm"[i % 2], "yn"[i // 2 % 2], "seen" if i % 3 else ""] for i in range(30)]
    header = [*above, ["sex", "hired", last]]
    (tmp_path / "a.xlsx").write_bytes(book(first=sheet([*header, *rows, ["Total"]])))
    frame = read_frame(tmp_path / "a.xlsx", FileOptions(), {"sex", "hired"})
    assert list(frame.columns) == ["sex", "hired", last or "column_3"]
    assert frame.fillna("").to_numpy().tolist() == [*rows, ["Total", "", ""]]


@pytest.mark.parametrize("cover", [[["Bank"], ["Secret"]], [["Report of 2023"]]])
def test_a_first_sheet_without_a_table_is_asked_about(cover: list[list[str]], tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    rows = [["sex", "hired"], *(["fm"[i % 2], "yn"[i // 2 % 2]] for i in range(40))]
    path.write_bytes(book(first=sheet(cover), sheet2=sheet(rows)))
    wish = FileOptions("hired", "y", "sex", "f")
    asked = doubt(path, wish, tmp_path)
    assert re.search(r"no table with columns.*Another sheet may have it: 'two'", str(asked))
    assert asked.options == {"sheet": "two"}
    made, dataset = drafted(path, replace(wish, sheet="two"), tmp_path)
    assert len(dataset.table) == made.reading.rows == 40
    with pytest.raises(UnknownNameError, match="'three'"):
        drafted(path, replace(wish, sheet="three"), tmp_path)
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
    cells = SHEET.replace("a,", "m").replace("<t> b</t>", "<t></t>")
    cells = cells.replace("<v>64.5</v></c>", '<v>64.5</v></c><c t="b"><v>1</v></c>')
    card.with_name("toy.xlsx").write_bytes(book(first=cells))
    frame = load_dataset(card).to_frame()
    assert frame["sex"].tolist() == ["f", "m", "m"]
    assert frame["age"].tolist() == ["minor", "unknown", "adult"]
    assert frame["hired"].tolist() == ["no", "yes", "yes"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"sex,age\n", "not a zip file"),
        (book(workbook=f"<workbook {MAIN}/>"), "list index out of range"),
        (book(first="<worksheet>"), "no element found"),
        (book(first="<!DOCTYPE a [<!ENTITY b 'c'>]>" + SHEET), "declares a document type"),
        (book(sharedStrings=f"<sst {MAIN}/>"), "list index out of range"),
        (book()[:-40], "not a zip file"),
    ],
)
def test_what_is_no_workbook_is_told(content: bytes, words: str) -> None:
    with pytest.raises(DataError, match=r"toy\.xlsx is not a valid Excel workbook") as error:
        read_sheet(content, "toy.xlsx")
    assert words in error.value.got
    assert "save the sheet as CSV" in error.value.remedy


def test_a_sheet_that_unpacks_to_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmark.data.files.LARGEST", 500)
    with pytest.raises(DataError, match="not a valid Excel workbook") as error:
        read_sheet(book(), "toy.xlsx")
    assert "more than 500 bytes" in error.value.got
