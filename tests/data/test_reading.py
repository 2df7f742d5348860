"""How files are read that can be read in two ways: it is said, or asked, and never guessed."""

from __future__ import annotations

import gzip
import operator
import re
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmark.data.card_parts import NumericColumn
from benchmark.data.draft import Draft, draft
from benchmark.data.load import Dataset, load_dataset
from benchmark.data.number_form import NumberForm, forms_of
from benchmark.errors import CardError, DataError, UnknownNameError
from benchmark.file_options import FileOptions
from benchmark.text.words import few
from benchmark.wording import render_values
from tests.helpers.drafts import doubt, drafted, sizes
from tests.helpers.made_up_files import FILES, N, write

WISH = FileOptions("y", "1", "sex", "f")


def read(name: str, folder: Path, **asked: str | None) -> tuple[Draft, Dataset]:
    """Draft one of the made-up files, and load it by its card."""
    return drafted(write(name, folder), replace(WISH, **asked), folder)


def lines(header: str, n: int, row: Callable[[int], str]) -> str:
    """Return a CSV file with so many rows."""
    return "\n".join([header, *map(row, range(n))]) + "\n"


def cells_of(name: str, column: str) -> list[str]:
    """Return the cells of a column, as the text of a file has them."""
    header, *rows = (re.split("[,;]", line) for line in FILES[name]().splitlines())
    return [row[header.index(column)] for row in rows]


def true(name: str, column: str, value: str) -> int:
    return cells_of(name, column).count(value)


def on_side(cell: str, values: str) -> bool:
    if condition := re.fullmatch(r"(<|>=) (\d+)", values):
        return {"<": operator.lt, ">=": operator.ge}[condition[1]](float(cell), float(condition[2]))
    return cell in values.split(",")


def require_true_sides(name: str, wish: FileOptions, folder: Path) -> None:
    """Read a file, whose sides have as many rows as its text tells."""
    made, dataset = drafted(write(name, folder), wish, folder)
    masks = {}
    for column, first, second in ((wish.label, *SIDES[:2]), (wish.sensitive, *SIDES[2:])):
        cells, other = cells_of(name, column), getattr(wish, second)
        none = {"", *(code.removeprefix(f"{column}=") for code in str(wish.missing).split(","))}
        masks[first] = [cell not in none and on_side(cell, getattr(wish, first)) for cell in cells]
        masks[second] = [
            cell not in none and not on and (other in (None, "*") or on_side(cell, other))
            for cell, on in zip(cells, masks[first], strict=True)
        ]
    read = [(a or b) and (c or d) for a, b, c, d in zip(*masks.values(), strict=True)]
    assert sizes(made) == {role: sum(map(operator.and_, mask, read)) for role, mask in masks.items()}
    assert len(dataset.table) == sum(read)


SIDES = ("favorable", "unfavorable", "deprived", "favored")
MIX = {"favorable": "Yes,1.0,1,yes,True", "unfavorable": "NO,No,False,0,no"}
ASKED: list[tuple[str, dict[str, str | None], dict[str, str]]] = [
    # The file, what is asked of it, and the options that the error proposes.
    ("mix.csv", {"favorable": "1,Yes,True"}, MIX),
    ("sexmix.csv", {"deprived": "F,Female,f,female"}, {"favored": "m,Male,male,M"}),
    ("lab9.csv", {}, {"unfavorable": "2,9"}),
    ("lab3.csv", {"favorable": "approved"}, {"unfavorable": "pending,withdrawn,denied"}),
    ("sens9.csv", {"deprived": "2"}, {"favored": "1,9"}),
    ("sens9.csv", {"deprived": None}, {"deprived": "2", "favored": "1,9"}),
    ("m9.csv", {"sensitive": "age", "deprived": "< 25"}, {"missing": "age=-9"}),
    (
        *("m9.csv", {"sensitive": "age", "deprived": None, "missing": "points=99"}),
        {"deprived": "< 41", "missing": "points=99,age=-9"},
    ),
    ("m9.csv", {"sensitive": "age", "deprived": "18"}, {"favored": "*"}),
    ("m9.csv", {"label": "points", "favorable": ">= 10"}, {"missing": "points=99"}),
    ("eu_alone.csv", {}, {"thousands": "income"}),
    ("sensmiss.csv", {"deprived": None}, {"deprived": "m"}),
]


@pytest.mark.parametrize(("name", "asked", "options"), ASKED, ids=[f"{own[0]} {own[2]}" for own in ASKED])
def test_what_is_open_is_refused_and_the_proposed_options_clear_it(
    name: str, asked: dict[str, str | None], options: dict[str, str], tmp_path: Path
) -> None:
    error = doubt(write(name, tmp_path), replace(WISH, **asked), tmp_path)
    assert error.options == options
    assert all(f"{name}={value!r}" in str(error) for name, value in options.items())
    require_true_sides(name, replace(WISH, **(asked | options)), tmp_path)


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("clean.csv", {"favored": "m", "unfavorable": "0"}),
        ("lab9.csv", {"missing": "9"}),
        ("lab9.csv", {"unfavorable": "2"}),
        ("sens9.csv", {"deprived": "2", "favored": "1", "missing": "sex=9"}),
        ("m9.csv", {"sensitive": "age", "deprived": "< 25", "favored": ">= 25"}),
        ("eu_alone.csv", {"decimals": "income"}),
    ],
)
def test_another_answer_is_given_by_other_options(
    name: str, asked: dict[str, str | None], tmp_path: Path
) -> None:
    require_true_sides(name, replace(WISH, **asked), tmp_path)


def test_how_the_file_is_read_is_said_first(tmp_path: Path) -> None:
    asked = {"favorable": "approved", "unfavorable": "*", "drop": "town"}
    lines = str(read("lab3.csv", tmp_path, **asked)[0].reading).splitlines()
    n = {word: true("lab3.csv", "y", word) for word in ("approved", "denied", "withdrawn", "pending")}
    assert lines[0] == "How lab3.csv is read, 2,000 of 2,000 rows:"
    assert lines[1] == f"- favorable: y = 'approved': {n['approved']} rows."
    assert all(f"'{word}' ({rows:,})" in lines[2] for word, rows in n.items() if word != "approved")
    assert lines[3].startswith("- deprived: sex = 'f': ")
    assert lines[4].startswith("- favored: sex = 'm': ")
    assert lines[5] == "- town, dropped: named by --drop"


def test_it_is_said_whether_leaving_rows_out_goes_with_the_label(tmp_path: Path) -> None:
    made, _ = read("sensmiss.csv", tmp_path)
    (out,) = made.reading.left_out
    gone = true("sensmiss.csv", "sex", "")
    assert str(out) == (
        f"{gone} rows are left out: no 'sex'; 0 % of them have the favorable label, 55 % of the others. So "
        "leaving them out is associated with the label."
    )
    assert f"Warning: {out}" in str(made.reading).splitlines()
    # Rows that miss at random are said, and not warned of.
    made, _ = read("sens9.csv", tmp_path, deprived="2", missing="9")
    (out,) = made.reading.left_out
    assert out.goes_with == ""
    assert f"- {out}" in str(made.reading).splitlines()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1.234.567", "12"], [1234567, 12]),
        (["1,234.50", "7.25"], [1234.5, 7.25]),
        (["1.234,50", "-7,25"], [1234.5, -7.25]),
        (["1 234", "12"], [1234, 12]),
        (["1'234.5", "12"], [1234.5, 12]),
        (["1\N{NARROW NO-BREAK SPACE}234,5", "12"], [1234.5, 12]),
        (["€ 1.234,50", "€ 7,25"], [1234.5, 7.25]),
        (["-$5", "$7"], [-5, 7]),
        (["12.5", "1,234", "8"], [12.5, 1234, 8]),
        (["0%", "12,5%"], [0, 12.5]),
    ],
)
def test_a_column_says_itself_how_it_writes_numbers(values: list[str], expected: list[float]) -> None:
    (form,) = forms_of(values)
    assert [float(form.plain(value)) for value in values] == expected


def test_numbers_in_two_forms_are_text(tmp_path: Path) -> None:
    assert forms_of(["12.5", "3,4", "1"]) == forms_of(["$5", "5%"]) == ()
    pay = ("{}.{}{}", '"{},{}{}"')
    text = lines(
        "y,sex,pay", 400, lambda i: f"{i // 2 % 2},{'fm'[i % 2]},{pay[i % 2].format(i % 89, i % 7, i % 3)}"
    )
    made, _ = drafted(text, WISH, tmp_path)
    assert np.isnan(made.table.columns["pay"].numbers).all()


@pytest.mark.parametrize(
    ("values", "readings"),
    [
        (["1.234", "5"], "1.234 or 1234"),
        (["1,234", "5"], "1.234 or 1234"),
        (["$2,500", "unknown"], "2.5 or 2500"),
    ],
)
def test_a_mark_that_may_separate_thousands_is_asked_about(
    values: list[str], readings: str, tmp_path: Path
) -> None:
    text = lines("y;sex;pay", 80, lambda i: f"{i % 2};{'fm'[i // 2 % 2]};{values[i // 4 % 2]}")
    words = f"'pay' has '.*', which may be {re.escape(readings)}"
    assert re.search(words, str(doubt(text, WISH, tmp_path)))
    assert drafted(text, replace(WISH, drop="pay"), tmp_path)
    decimal, thousand = map(float, readings.split(" or "))
    for option, number in (("decimals", decimal), ("thousands", thousand)):
        made, _ = drafted(text, replace(WISH, **{option: "pay"}), tmp_path)
        assert np.nanmax(made.table.columns["pay"].numbers) == max(number, 5 if "5" in values else 0)
        said = [text for text in made.reading.forms if text.endswith(f"is read as {number:g}.")]
        assert len(said) == ("5" in values)  # not of a category
    with pytest.raises(DataError, match="'pay' is named by --decimals and by --thousands"):
        drafted(text, replace(WISH, decimals="pay", thousands="pay"), tmp_path)


def test_a_decimal_comma_in_a_file_of_semicolons_tells_what_a_point_is(tmp_path: Path) -> None:
    text = lines("y;sex;pay;rate", 80, lambda i: f"{i % 2};{'fm'[i // 2 % 2]};{1 + i % 9}.234;{i % 5},5")
    assert drafted(text, WISH, tmp_path)[0].table.columns["pay"].form == NumberForm(",", ".")
    # An option that a column does not need changes nothing.
    made, _ = drafted(text, replace(WISH, decimals="sex,rate"), tmp_path)
    assert made.table.columns["rate"].numbers[0] == 0.5
    assert "'pay' has" in str(doubt(text.replace(",", "."), WISH, tmp_path))


@pytest.mark.parametrize(
    ("values", "favorable", "other"),
    [
        ("A+ A- B+ B-", "A+", "B+"),
        ("male female", "male", "female"),
        ("1 2 3 4 5", "5", "1"),
        ("1 3 5 7 9", "9", "1"),
        ("A B C D F", "A,B", "F"),
        ("<=50K >50K", ">50K", "<=50K"),
        ("yes no", "no", "yes"),
        ("-1 1", "1", "-1"),
        ("-1 0 1", "1", "-1"),
        ("full-time part-time none", "full-time", "none"),
        ("* A B", "*", "A"),
        ("z=1 z=2 z=3", "z=1", "z=2"),
    ],
)
def test_named_sides_are_the_values_and_all_others(
    values: str, favorable: str, other: str, tmp_path: Path
) -> None:
    words = values.split()
    text = lines("y,sex,z", 400, lambda i: f"{int(i % 7 < 3)},{'fm'[i // 3 % 2]},{words[i % len(words)]}")

    def cleared(**asked: str | None) -> Draft:
        wish = replace(WISH, **asked)
        if len(words) > 2:
            wish = replace(wish, **doubt(text, wish, tmp_path).options)
        return drafted(text, wish, tmp_path)[0]

    made = cleared(label="z", favorable=favorable)
    assert sizes(made)["favorable"] == sum(words[i % len(words)] in favorable.split(",") for i in range(400))
    assert sizes(made)["favorable"] + sizes(made)["unfavorable"] == 400
    assert cleared(sensitive="z", deprived=other).roles["deprived_group"] == other
    assert cleared(sensitive="z", deprived=None)


def test_thousands_of_values_that_remain_are_not_listed_in_the_card(tmp_path: Path) -> None:
    wish = replace(WISH, sensitive="income", deprived="< 2000", missing="-9", thousands="income")
    made, dataset = drafted(FILES["us.csv"]() + "f,clerk,3,north,1,-9\n" * 20, wish, tmp_path)
    assert made.exclude == {"income": ["-9"]}
    assert len(dataset.table) == N


def test_python_takes_lists_and_tables() -> None:
    given = FileOptions.of(
        label=0, favorable=["1", "Yes"], missing={"age": -9, "points": [99, 98]}, drop=None
    )
    assert given.missing == ("age=-9", "points=99", "points=98")
    assert given == FileOptions("0", ("1", "Yes"), missing=given.missing)
    with pytest.raises(UnknownNameError, match="did you mean 'favorable'"):
        FileOptions.of(favourable="yes")


def test_a_packed_file_of_any_size_takes_bounded_memory(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.csv.gz"
    with gzip.open(bomb, "wb", compresslevel=9) as file:
        file.write(b"sex,y\n")
        for _ in range(60):
            file.write(b"f,1\nm,0\n" * 125_000)
    assert bomb.stat().st_size < 1_000_000
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"at most 10,000,000 bytes.*--max-mb"):
            draft(bomb, replace(WISH, max_mb=10), tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 40_000_000
    finally:
        tracemalloc.stop()
    plain = write("clean.csv", tmp_path)
    with pytest.raises(DataError, match=r"larger than it may be.*--max-mb"):
        draft(plain, replace(WISH, max_mb=0.01), tmp_path)


def test_the_card_of_a_large_packed_file_says_how_large_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the loader unpacks so much only where the card says so."""
    for module in ("source", "files"):
        monkeypatch.setattr(f"benchmark.data.{module}.LARGEST", 10_000)
    path = tmp_path / "clean.csv.gz"
    path.write_bytes(gzip.compress(FILES["clean.csv"]().encode()))
    assert len(drafted(path, WISH, tmp_path)[1].table) == N
    card = tmp_path / "card.toml"
    card.write_text(re.sub(r", size = \d+", "", card.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(DataError, match=r"larger than it may be.*size = "):
        load_dataset(card)


def test_a_card_says_of_a_column_how_it_writes_numbers_and_which_rows_go(tmp_path: Path) -> None:
    _, dataset = read("usd.csv", tmp_path, thousands="income")
    spec = dataset.card.columns["income"]
    assert isinstance(spec, NumericColumn)
    assert (spec.thousands, spec.unit) == (",", "$")
    # Another way to read numbers, or other rows, is another dataset.
    changed = dataset.card.with_columns({"years": {"unit": "%"}})
    without = dataset.card.model_copy(update={"exclude": {"years": ("0",)}})
    assert len({dataset.card.digest, changed.digest, without.digest}) == 3
    text = (tmp_path / "card.toml").read_text(encoding="utf-8")
    wrong = text.replace('thousands = ","', 'thousands = ","\ndecimal = ","')
    (tmp_path / "card.toml").write_text(wrong, encoding="utf-8")
    with pytest.raises(CardError, match="must differ from its 'decimal'"):
        load_dataset(tmp_path / "card.toml")
    gone = text.replace("required_edges", 'exclude = { years = ["0"] }\nrequired_edges', 1)
    (tmp_path / "card.toml").write_text(gone, encoding="utf-8")
    assert len(load_dataset(tmp_path / "card.toml").table) == N - true("usd.csv", "years", "0")


@pytest.mark.parametrize(("n", "chance"), [(20, True), (2000, False)])
def test_a_deprived_group_by_default_has_its_share_and_chance_said(
    n: int, chance: bool, tmp_path: Path
) -> None:
    text = lines("sex,y", 10 * n, lambda i: f"{'fm'[i % 2]},{int(i // 2 % 10 < 4 + 2 * (i % 2))}")
    (note,) = drafted(text, replace(WISH, deprived=None), tmp_path)[0].reading.warnings
    shares = "least often (40 % against 60 %)"
    assert note.endswith(f"{shares}; this may be chance." if chance else f"{shares}.")


def test_no_mark_of_missing_values_is_proposed_for_a_side(tmp_path: Path) -> None:
    text = lines("sex,y", 210, lambda i: f"{'fm?'[i % 3]},{['1', '0', 'NA'][i * i % 7 % 3]}")
    asked = doubt(text, replace(WISH, deprived=None), tmp_path)
    assert asked.options["unfavorable"] == "0"
    assert {asked.options["deprived"], asked.options["favored"]} == {"f", "m"}
    assert "all other values but 'NA': take out" in str(asked)


@pytest.mark.parametrize(("code", "levels"), [(-99, 6), (9, 5), (-9, 7)])
def test_a_code_beside_few_numbers_is_asked_about_under_a_condition(
    code: int, levels: int, tmp_path: Path
) -> None:
    values = [code if i % 3 == 0 else 1 + i * i % 11 % levels for i in range(400)]
    text, wish = lines("sex,y", 400, lambda i: f"{'fm'[i % 2]},{values[i]}"), replace(WISH, favorable=">= 3")
    asked = doubt(text, wish, tmp_path)
    assert asked.options == {"missing": f"y={code}"}
    made, _ = drafted(text, replace(wish, **asked.options), tmp_path)
    assert sizes(made)["favorable"] + sizes(made)["unfavorable"] == sum(i % 3 != 0 for i in range(400))


def test_a_scale_around_zero_has_no_codes(tmp_path: Path) -> None:
    text = lines("sex,y", 400, lambda i: f"{'fm'[i % 2]},{i * i % 11 % 7 - 3}")
    made, _ = drafted(text, replace(WISH, favorable=">= 0"), tmp_path)
    assert sizes(made)["favorable"] + sizes(made)["unfavorable"] == 400


def test_an_account_shows_names_as_the_file_has_them(tmp_path: Path) -> None:
    made, _ = read("sens9.csv", tmp_path, deprived="2", favored="1")
    (out,) = made.reading.left_out
    named = replace(made.reading, left_out=(replace(out, why="no 'a*b|c*'"), out))
    account = render_values("reading", reading=named, few=few)
    assert r"left out: no 'a\*b\|c\*'" in account
    assert f"- {out.rows} of the rows that are left out are counted twice." in account


@pytest.mark.parametrize(
    ("asked", "open_"),
    [
        ({"favorable": "1"}, {"unfavorable": "?"}),
        ({"favorable": "?"}, {}),
        ({"favorable": "1", "unfavorable": "?"}, {}),
        ({"favorable": "1", "unfavorable": "?", "deprived": None}, {"deprived": "f", "favored": "NA"}),
    ],
)
def test_a_mark_is_the_other_of_two_values_only_if_that_is_said(
    asked: dict[str, str | None], open_: dict[str, str], tmp_path: Path
) -> None:
    text = lines("sex,y", 210, lambda i: f"{('f', 'NA')[i % 2]},{'1?'[i // 2 % 3 // 2]}")
    wish = replace(WISH, **{"favored": "NA" if "deprived" not in asked else None, **asked})
    if open_:
        assert doubt(text, wish, tmp_path).options == open_
    else:
        assert len(drafted(text, wish, tmp_path)[1].table) == 210
