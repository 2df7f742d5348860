"""Tables of any kind of file: CSV, ARFF, Excel, Parquet and R hold the same people."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmark.data.card_parts import Source, SourceFile
from benchmark.data.draft import draft
from benchmark.data.draft_text import card_text
from benchmark.data.files import as_csv, read_frame, read_rows, read_table, rows_of_frame
from benchmark.data.load import load_dataset
from benchmark.errors import DataError
from benchmark.file_options import FileOptions
from tests.helpers.drafts import doubt, drafted, file_of
from tests.helpers.made_up_files import people, text
from tests.helpers.workbooks import book

WISH, PLAIN = FileOptions("y", "1", "sex", "f"), FileOptions()
ROWS = [{name: str(value) for name, value in row.items()} for row in people(300)]
TEXT = text(ROWS)  # type: ignore[arg-type]


def read(content: Path | str, folder: Path, wish: FileOptions = WISH) -> pd.DataFrame:
    """Return the rows that the card of a file reads."""
    return drafted(content, wish, folder)[1].to_frame()


def arff(rows: list[dict[str, str]]) -> str:
    """Return rows as Weka writes them, with quotes and escapes where they are needed."""

    def cell(value: str) -> str:
        if value.isalnum():
            return value
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"

    names = [f"@attribute {cell(name)} string" for name in rows[0]]
    lines = [",".join(map(cell, row.values())) for row in rows]
    return "\n".join(["% people", "", "@RELATION 'made up'", *names, "@Data", "% rows", *lines, ""])


def excel(change: Callable[[Any], object] = lambda book: None) -> bytes:
    rows = [[*ROWS[0]], *([*row.values()] for row in ROWS)]
    return book(rows, rows, change=change)


WRITERS: dict[str, Callable[[Path], object]] = {
    "a.csv": lambda path: path.write_text(TEXT),
    "a.arff": lambda path: path.write_text(arff(ROWS)),
    "a.arff.gz": lambda path: path.write_bytes(gzip.compress(arff(ROWS).encode())),
    "a.xlsx": lambda path: path.write_bytes(excel()),
    "a.parquet": lambda path: pd.DataFrame(ROWS).to_parquet(path),
    "indexed.parquet": lambda path: pd.DataFrame(ROWS).set_index("sex").to_parquet(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_file_gives_the_same_rows(name: str, tmp_path: Path) -> None:
    WRITERS[name](tmp_path / name)
    frame = read(tmp_path / name, tmp_path)
    assert frame["sex"].tolist() == [row["sex"] for row in ROWS]
    reading = str(draft(tmp_path / name, WISH, tmp_path).reading)
    assert ("- Of 2 sheets the first, 'one', is read." in reading) == (name == "a.xlsx")
    assert frame["job"].tolist() == [row["job"] for row in ROWS]
    assert (frame["y"] == "1").tolist() == [row["y"] == "1" for row in ROWS]
    assert read_frame(tmp_path / name, PLAIN, {"sex"}).equals(pd.DataFrame(ROWS))


def hide_rows(book: Any) -> None:
    book["one"].row_dimensions[1].hidden = book["one"].row_dimensions[3].hidden = True


def hide_a_column(book: Any) -> None:
    book["one"].column_dimensions["C"].hidden = True


def merge(book: Any) -> None:
    for cells in ("A1:B1", "C2:C3", "AA4:AB9"):
        book["one"].merge_cells(cells)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (hide_rows, "Hidden rows and columns of the sheet are read as well: 2."),
        (hide_a_column, "Hidden rows and columns of the sheet are read as well: 1."),
        (merge, "Of 2 cells merged"),
        (lambda _: None, ""),
    ],
)
def test_cells_that_excel_shows_otherwise_are_said(change: Any, words: str, tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(excel(change))
    made, _ = drafted(tmp_path / "a.xlsx", WISH, tmp_path)
    assert made.reading.rows == len(ROWS)
    said = [form for form in made.reading.forms if "Hidden" in form or "merged" in form]
    assert [form[: len(words)] for form in said] == [words] * bool(words)


def r_file(path: Path, **objects: object) -> bytes:
    import rdata  # an extra, which few tests need

    rdata.write_rda(path, objects, compression=None)
    return path.read_bytes()


R = Source(files=(SourceFile(path="a.rda"),), format="rda")


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_a_file_of_r_gives_the_rows_of_its_table(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "age": [20.0, np.nan, 31.5],
            "children": pd.array([0, None, 2], dtype="Int32"),
            "married": pd.array([True, None, False], dtype="boolean"),
            "sex": pd.Categorical(["f", "m", None], ["m", "f"]),
            "job": ["clerk", "none", "NA"],
        },
        index=[7, 9, 11],
    )
    content = r_file(tmp_path / "a.rda", people=frame)
    # R writes its smallest integer where a category is missing; rdata's writer writes 0.
    written, of_r = (np.array([2, 1, last], dtype=">i4").tobytes() for last in (0, -(2**31)))
    assert content.count(written) == 1
    rows = read_rows(pack(content.replace(written, of_r)), R, R.files[0], "a.rda")
    read = {name: [column.values[code] for code in column.rows] for name, column in rows.columns.items()}
    assert read == {
        "age": ["20.0", "", "31.5"],
        "children": ["0", "", "2"],
        "married": ["True", "", "False"],
        "sex": ["f", "m", ""],
        "job": ["clerk", "none", "NA"],
    }


def test_a_file_of_r_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import rdata

    table = pd.DataFrame({"a": [1.0, 2.0]})
    rdata.write_rds(tmp_path / "a.rds", table)
    assert len(read_rows((tmp_path / "a.rds").read_bytes(), R, R.files[0], "a.rds").lines) == 2
    content = r_file(tmp_path / "a.rda", people=table)
    damaged = {
        "cut.rda": content[:-4],
        "cut in its bz2.rda": bz2.compress(content)[:-4],
        "cut in its xz.rda": lzma.compress(content)[:-4],
        "text.rda": b"sex,y\nf,1\n",
        "two.rda": r_file(tmp_path / "two.rda", people=table, places=table),
        "no table.rda": r_file(tmp_path / "list.rda", people=[1, 2]),
    }
    for name, broken in damaged.items():
        with pytest.raises(DataError, match=f"{name} cannot be read"):
            read_rows(broken, R, R.files[0], name)
    monkeypatch.setitem(sys.modules, "rdata", None)
    with pytest.raises(DataError, match=r"R data files need the package rdata.*betabench\[rda\]"):
        read_rows(content, R, R.files[0], "a.rda")


@pytest.mark.parametrize(
    ("line", "values"),
    [
        (r"'\'(-inf-40]\'','it\'s late',M,no", ["'(-inf-40]'", "it's late", "M", "no"]),
        (r'"very small", "a,b" ,F,\'', ["very small", "a,b", "F", "\\'"]),
        (r"'a\\b','per\u0020cent\%','',?", ["a\\b", "per cent%", "", "?"]),
        ("it's, 5 ,'x','y' ", ["it's", "5", "x", "y"]),
    ],
)
def test_arff_is_unescaped(line: str, values: list[str], tmp_path: Path) -> None:

    path = tmp_path / "a.arff"
    path.write_text(
        "@relation r\n" + "".join(f"@attribute 'c \\'{i}' string\n" for i in range(4)) + f"@data\n{line}\n"
    )
    columns = read_table(path, tmp_path, PLAIN).columns
    assert list(columns) == [f"c '{i}" for i in range(4)]
    assert [column.values[0] for column in columns.values()] == values


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("{0 f, 1 3}\n", "Line 5 .* is a sparse row.*SparseToNonSparse"),
        ("'f,3\n", "a quote does not enclose"),
    ],
)
def test_arff_that_cannot_be_read_is_a_sentence(data: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "a.arff"
    path.write_text(f"@relation r\n@attribute sex {{f,m}}\n@attribute y numeric\n@data\n{data}")
    with pytest.raises(DataError, match=words):
        draft(path, WISH, tmp_path)


@pytest.mark.parametrize(
    "names", ["[sex],[y],[job]", "% f,ok,job", "{a},{b},c", "#sex,@y,job", "@relation,y,job"]
)
def test_a_header_may_begin_with_any_sign(names: str, tmp_path: Path) -> None:
    text = f"{names}\n" + "".join(f"{row['sex']},{row['y']},{row['job']}\n" for row in ROWS)
    sex, y, job = names.split(",")
    frame = read(text, tmp_path, FileOptions(y, "1", sex, "f"))
    assert frame[sex].tolist() == [row["sex"] for row in ROWS]
    assert list(frame) == [sex, y, job]


@pytest.mark.parametrize("json", ['[{"a": 1}]', '{"a": 1}\n{"a": 2}\n', "[1, 2]\n[3, 4]\n"])
def test_json_is_no_table(json: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no table with columns|has no rows|has no column 'y'"):
        drafted(json, WISH, tmp_path)


def test_a_file_without_a_header_has_columns_by_place(tmp_path: Path) -> None:
    header, _, lines = TEXT.partition("\n")
    places = {name: f"column_{i}" for i, name in enumerate(header.split(","), 1)}
    content, wish = f"|a remark\n{lines}", FileOptions(places["y"], "1", places["sex"], "f")
    with pytest.raises(DataError, match=r"no column 'y'.*name columns by their place, as column_1"):
        drafted(content, WISH, tmp_path)
    made, dataset = drafted(content, wish, tmp_path)
    assert list(made.table.columns) == [*places.values()]
    assert dataset.to_frame()[places["job"]].tolist() == [row["job"] for row in ROWS]


def test_types_of_a_frame_are_believed(tmp_path: Path) -> None:
    n = 240
    frame = pd.DataFrame(
        {
            "y": [i % 2 == 0 for i in range(n)],
            "sex": ["fm"[i // 2 % 2] for i in range(n)],
            "zip": [f"{i % 30:05}" for i in range(n)],
            "pay": [1000.5 + 7919 * i % 997 if i % 10 else None for i in range(n)],
            "grade": pd.Categorical([3 - i % 3 for i in range(n)], [3, 2, 1], ordered=True),
            "written": [("NA", "1.234", "-9")[i % 3] for i in range(n)],
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta([i % 4 for i in range(n)], unit="D"),
            "mixed": pd.Series([1, 2.5, None] * (n // 3), dtype=object),
        }
    )
    columns = rows_of_frame(frame, "").columns
    numeric = {name for name, column in columns.items() if not np.isnan(column.numbers).all()}
    assert numeric == {"pay", "mixed"}
    assert {name for name, column in columns.items() if column.missing.any()} == {"pay", "mixed"}
    made = draft(frame, FileOptions("y", "True", "sex", "f", keep="day,zip"), tmp_path)
    assert not list(tmp_path.iterdir())
    kinds = {name: column.entry["kind"] for name, column in made.columns.items()}
    assert {name for name, kind in kinds.items() if kind == "numeric"} == {"pay", "mixed"}
    assert made.columns["grade"].entry["states"] == ["3", "2", "1"]
    # The card reads the same rows from the frame's CSV.
    (tmp_path / "card.toml").write_text(card_text(made, Path("data.csv"), 5, "data"), encoding="utf-8")
    (tmp_path / "data.csv").write_text(as_csv(frame), encoding="utf-8")
    assert load_dataset(tmp_path / "card.toml").digest == made.rows.digest


@pytest.mark.parametrize(
    "above", ["# made, by, hand, and, more", "sep=,", "Export\nby us, for you", "2020, 2021", '"a, b"\n']
)
def test_the_header_is_the_line_with_the_named_columns(above: str, tmp_path: Path) -> None:
    path = file_of(f"{above}\n{TEXT}", tmp_path)
    frame = read(path, tmp_path)
    assert frame["sex"].tolist() == [row["sex"] for row in ROWS]
    assert (frame["y"] == "1").tolist() == [row["y"] == "1" for row in ROWS]
    assert read_frame(path, PLAIN, {"sex", "y"}).equals(pd.DataFrame(ROWS))


def test_a_named_column_that_is_there_twice_is_refused_if_values_differ(tmp_path: Path) -> None:
    content = "sex,y,y\n" + "f,1,0\nf,0,1\nm,0,1\nm,1,1\n" * 20
    asked = doubt(content, WISH, tmp_path)
    assert re.search(r"2 columns 'y', .* write --label y\.1", str(asked))
    assert asked.options == {"drop": "y.1"}
    first = read(content, tmp_path, replace(WISH, drop="y.1"))
    second = read(content, tmp_path, replace(WISH, label="y.1"))
    assert first["y"].tolist() == ["1", "0", "0", "1"] * 20
    assert second["y.1"].tolist() == ["0", "1", "1", "1"] * 20
    same = read("sex,y,sex\n" + "f,1,f\nm,0,m\nm,1,m\n" * 20, tmp_path)
    assert same["sex"].tolist() == ["f", "m", "m"] * 20


def test_leading_zeros_that_do_not_count_are_told(tmp_path: Path) -> None:
    # Of places, one in eight is no number: they are a category, and keep their zeros.
    places = [f"{i // 5 % 20:02}" if i % 8 else "2A" for i in range(400)]
    rows = [f"{'fm'[i % 2]},{i // 2 % 2},{i // 3 % 40:05},{i * i % 29},{places[i]}" for i in range(400)]
    made, _ = drafted("sex,y,zip,age,place\n" + "\n".join(rows) + "\n", WISH, tmp_path)
    assert made.reading.forms == ("Numbers of zip: '00039' is read as 39.",)
