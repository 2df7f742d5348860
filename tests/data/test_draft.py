"""Drafting cards of unknown files: twenty awkward tables, each with its sentence or its result."""

import gzip
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from benchmark.data.draft import Draft, draft
from benchmark.data.load import Dataset, load_dataset
from benchmark.errors import BetabenchError
from benchmark.file_options import FileOptions
from benchmark.network.learn import learn_network
from tests.helpers.drafts import doubt, drafted, spread

WISH = FileOptions("y", "yes", "sex", "F")
BASE = {"sex": "FM", "y": ["yes", "no"], "job": ["clerk", "cook", "smith"]}


def rows(n: int = 200, **more: Callable[[int], object]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of a made-up table; ``more`` makes the value of a row of a further column."""
    lots = random.Random(5)
    cells = [[*(lots.choice(states) for states in BASE.values())] for _ in range(n)]
    return [*BASE, *more], [[*own, *(str(make(i)) for make in more.values())] for i, own in enumerate(cells)]


def text(table: tuple[list[str], list[list[str]]], separator: str = ",") -> str:
    header, cells = table
    return "\n".join(separator.join(row) for row in [header, *cells]) + "\n"


def wide() -> str:
    lots = random.Random(6)
    return text(rows(200, **{f"c{k}": lambda _: lots.randrange(4) for k in range(37)}))


def of(column: str, *states: str) -> Callable[[Draft, Dataset], bool]:
    return lambda _, dataset: dataset.card.columns[column].states == states


def of_bins(column: str, edge: str) -> Callable[[Draft, Dataset], bool]:
    return lambda made, _: float(edge) in made.columns[column].entry["bins"]


def without(column: str, reason: str) -> Callable[[Draft, Dataset], bool]:
    return lambda made, _: reason in made.dropped[column]


def found(words: str) -> Callable[[Draft, Dataset], bool]:
    return lambda made, _: words in " ".join(made.table.remarks)


AWKWARD: dict[str, tuple[str | bytes, Callable[[Draft, Dataset], bool]]] = {
    "40 columns, 200 rows": (wide(), lambda made, _: len(made.columns) == 40),
    "5,000 states": (text(rows(6000, code=lambda i: f"k{i % 5000}")), without("code", "5,000 different")),
    "12 people": (
        text(rows(400, kin=lambda i: "rare" if i < 12 else "common")),
        of("kin", "common", "rare"),
    ),
    "3 people": (text(rows(400, kin=lambda i: "rare" if i < 3 else "ab"[i % 2])), of("kin", "a", "b")),
    "nothing in a column": (text(rows(none=lambda _: "NA")), without("none", "no value")),
    "mixed types": (
        text(rows(mixed=lambda i: "many" if i % 20 == 0 else spread(i))),
        of("mixed", "below 200", "200 to 399", "400 to 599", "600 to 799", "800 and more", "other"),
    ),
    "European decimals": (
        text(rows(size=lambda i: f"{spread(i)},5"), ";"),
        lambda made, dataset: dataset.card.columns["size"].decimal == ","
        and "200 to below 400" in made.columns["size"].states,
    ),
    "thousands": (text(rows(pay=lambda i: f'"1,{spread(i):03}.5"')), of_bins("pay", "1200")),
    "repeated names": (
        text(rows(a=lambda i: i % 2, b=lambda i: i % 3)).replace(",a,b\n", ",a,a\n"),
        lambda _, dataset: list(dataset.card.columns)[-2:] == ["a", "a.1"],
    ),
    "the same twice": (
        text(rows(a=lambda i: i % 3, b=lambda i: "xyz"[i % 3])),
        lambda made, _: {"a", "b"} <= made.columns.keys(),
    ),
    "UTF-16": (text(rows(a=lambda i: "äöü"[i % 3])).encode("utf-16"), of("a", "ä", "ö", "ü")),
    "Latin-1": (text(rows(a=lambda i: "äöü"[i % 3])).encode("latin-1"), found("which is a guess")),
    "byte order mark": (b"\xef\xbb\xbf" + text(rows()).encode(), of("sex", "F", "M")),
    "a title above, tabs": ("Exported in May\n\n" + text(rows(), "\t"), found("header is line 3")),
    "no name for the index": (
        text(rows(i=lambda i: i)).replace(",i\n", ",\n"),
        without("column_4", "numbers the rows"),
    ),
    "dates, free text, a constant": (
        text(
            rows(
                day=lambda i: f"2020-01-{i % 28 + 1:02}",
                words=lambda i: f"the answer of person {i}",
                one=lambda _: 1,
            )
        ),
        lambda made, _: list(made.dropped) == ["day", "words", "one"],
    ),
    "zeros": (
        text(rows(gain=lambda i: 0 if i % 3 else spread(i) + 1000)),
        lambda made, _: made.columns["gain"].entry["states"][0] == "0",
    ),
    "odd names": (
        text(rows(a=lambda i: i % 2)).replace(",a\n", ',"a ""b"" [c] = ""\n'.replace('""\n', '"\n')),
        lambda _, dataset: list(dataset.card.columns)[-1] == 'a "b" [c] =',
    ),
    "missing marks": (
        text(rows(a=lambda i: ("?", "NA", "", "u", "v")[i % 5])),
        of("a", "u", "v", "missing"),
    ),
    "line breaks in quotes": (text(rows(a=lambda i: '"x\ny"' if i % 2 else "z")), of("a", "x\ny", "z")),
}  # fmt: skip


@pytest.mark.parametrize("what", AWKWARD)
def test_an_awkward_table_is_drafted_and_learned(what: str, tmp_path: Path) -> None:
    content, expected = AWKWARD[what]
    made, dataset = drafted(content, WISH, tmp_path)
    assert expected(made, dataset)
    card = dataset.card
    assert (card.network.score, card.network.equivalent_sample_size) == ("bdeu", 1000)
    network = learn_network(dataset.table, card.network, required_edges=card.required_edges)
    assert ("sex", "y") in network.edges


def test_the_line_that_keeps_numbers_beside_bins_is_there_to_be_uncommented(tmp_path: Path) -> None:
    wished = FileOptions("y", "yes", "age", "< 400")
    for content, wish, lines in ((text(rows(gain=spread)), WISH, 1), (text(rows(age=spread)), wished, 0)):
        drafted(content, wish, tmp_path)
        card = (tmp_path / "card.toml").read_text(encoding="utf-8")
        assert card.count("\n# numbers = true  # ") == lines
        (tmp_path / "card.toml").write_text(card.replace("\n# numbers", "\nnumbers"), encoding="utf-8")
        loaded = load_dataset(tmp_path / "card.toml", numbers=True).numbers
        assert (loaded is None) == (lines == 0)


@pytest.mark.parametrize(
    ("content", "wish", "sentence"),
    [
        ("", WISH, "Got: empty"),
        ("sex,y\n", WISH, "has no rows"),
        ("word\n" * 9, WISH, "Expected: two columns or more"),
        (b"PK\x03\x04rest", WISH, "no table with columns"),
        (b"a,b\0\n", WISH, "no text: it has bytes of value 0"),
        (gzip.compress(b"sex,y\n", mtime=0)[:-9], WISH, "truncated or damaged"),
        (text(rows()) + "F,yes\n", WISH, "Line 202"),
        (text(rows()), FileOptions("Y", "yes", "sex"), "did you mean 'y'?"),
        (text(rows()), FileOptions("y", "Yes", "sex"), "did you mean 'yes'?"),
        (text(rows()), FileOptions("y", None, "sex"), "--favorable must be named"),
        (text(rows()), FileOptions("y", "yes", "y"), "cannot be the label column and the sensitive column"),
        (text(rows()), FileOptions("y", ">= 3", "sex"), "is no condition for the column 'y'"),
        (text(rows()), FileOptions("y", "yes,no", "sex"), "0 rows are unfavorable"),
        (text(rows()), FileOptions("y", "yes", "sex", "X"), "The column 'sex' has no value 'X'"),
        (text(rows(n=8)), FileOptions("y", "yes", "sex", "F"), "Expected: 5 or more"),
        (text(rows(num=spread)), FileOptions("num", "high", "sex"), "write --favorable '>= 10'"),
        (text(rows(c=lambda _: 1)), FileOptions("y", "yes", "c"), "column 'c' has one value"),
        (text(rows()), replace(WISH, unfavorable="yes"), "cannot be favorable as well as unfavorable"),
        (text(rows()), replace(WISH, missing="17"), "No column has the value that --missing names by '17'"),
        (text(rows()), replace(WISH, missing="job=x"), "the value that --missing names by 'job=x'"),
        (text(rows()), replace(WISH, thousands="jab"), "The file has no column 'jab'"),
    ],
)  # fmt: skip
def test_what_cannot_be_drafted_is_a_sentence(
    content: str | bytes, wish: FileOptions, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(BetabenchError) as raised:
        drafted(content, wish, tmp_path)
    assert sentence in str(raised.value)


@pytest.mark.parametrize(
    ("label", "favorable", "sensitive", "deprived", "roles", "others"),
    [
        ("flag", "1", "sex", "sex=F", ("1", "F"), {}),
        ("truth", "TRUE", "sex", "F", ("TRUE", "F"), {}),
        ("grade", "A,B", "sex", "F", ("A or B", "F"), {"unfavorable": "C,D"}),
        ("grade", "*", "sex", "F", ("A or B or C", "F"), {"unfavorable": "D"}),
        ("points", ">= 10", "age", "< 25", ("10 and more", "below 25"), {}),
        ("points", "> 10", "age", "<= 25", ("above 10", "up to 25"), {}),
        ("points", "> 10", "age", None, ("above 10", "up to 25"), {"favored": "> 25"}),
        ("y", "yes", "job", "job=clerk,cook", ("yes", "clerk or cook"), {"favored": "job=smith"}),
        ("y", "yes", "job", "clerk", ("yes", "clerk"), {"favored": "*"}),
        ("y", "yes", "twelve", "z", ("yes", "z"), {}),
        ("sign", "+", "sex", "F", ("+", "F"), {}),
    ],
)
def test_roles_are_values_of_the_file_numbers_or_conditions(
    label: str,
    favorable: str,
    sensitive: str,
    deprived: str | None,
    roles: tuple[str, str],
    others: dict[str, str],
    tmp_path: Path,
) -> None:
    content = text(
        rows(
            300,
            flag=lambda i: ("0.0", "1.0", "1")[spread(i) % 3],
            truth=lambda i: ("TRUE", "FALSE")[spread(i) % 2],
            grade=lambda i: "ABCD"[spread(i) % 4],
            points=lambda i: spread(i) % 21,
            age=lambda i: 18 + spread(i + 9) % 50,
            sign=lambda i: "+-"[spread(i) % 2],
            twelve=lambda i: "z" if i % 25 == 0 else "other",
        )
    )
    _, dataset = drafted(content, FileOptions(label, favorable, sensitive, deprived, **others), tmp_path)
    card = dataset.card
    assert len(dataset.table) == 300
    assert (card.favorable_label, card.deprived_group) == roles
    assert len(card.columns[label].states) == 2


def test_leaks_proxies_and_the_group_are_named(tmp_path: Path) -> None:
    header, cells = rows(500)
    header += ["paid", "wears"]
    for i, row in enumerate(cells):
        row += ["done" if row[1] == "yes" or i % 50 == 0 else "open", row[0].lower() if i % 9 else "m"]
    made, dataset = drafted(text((header, cells)), FileOptions("y", "yes", "sex"), tmp_path)
    assert "paid" not in dataset.card.columns
    assert "suspected leak" in made.dropped["paid"]
    assert "proxy of sex: Cramér's V 0.8" in made.columns["wears"].reason
    assert any("The deprived group was not named" in note for note in made.reading.warnings)
    assert any("paid is left out" in note for note in made.reading.warnings)
    _, kept = drafted(text((header, cells)), FileOptions("y", "yes", "sex", keep="paid"), tmp_path)
    assert "paid" in kept.card.columns


def test_rows_without_group_or_label_are_left_out_and_rare_values_are_not_listed(tmp_path: Path) -> None:
    table = text(rows(400, town=lambda i: "big" if i % 3 else f"village{i}"))
    odd = "X,yes,cook,big\n,no,cook,big\nF,?,cook,big\n"
    assert doubt(table + odd, WISH, tmp_path).options == {"unfavorable": "no", "favored": "M"}
    made, dataset = drafted(table + odd, replace(WISH, unfavorable="no", favored="M,X"), tmp_path)
    assert len(dataset.table) == 401
    assert dataset.card.exclude == {"y": ("?",), "sex": ("",)}
    assert [str(out) for out in made.reading.left_out] == [
        "1 row is left out: a 'y' on neither side ('?'); 100 % of them are in the deprived group, 55 % of "
        "the others.",
        "1 row is left out: no 'sex'; 0 % of them have the favorable label, 49 % of the others.",
    ]
    assert dataset.card.columns["sex"].states == ("F", "M or X")
    (favored,) = [part for part in made.reading.parts if part.role == "favored"]
    assert dict(favored.values)["X"] == 1
    assert dataset.card.columns["town"].others == "other"
    assert "village" not in (tmp_path / "card.toml").read_text(encoding="utf-8")
    town = made.columns["town"]
    assert (town.read_as, town.states, town.missing, town.merged) == ("category", ("big", "other"), 0, 134)


def test_a_number_of_each_row_is_no_feature_where_rows_are_left_out(tmp_path: Path) -> None:
    header, cells = rows(patient=lambda i: i * 37 % 200 + 1)  # in no order
    for own in cells[::11]:
        own[0] = "?"
    made, _ = drafted(text((header, cells)), replace(WISH, favored="M"), tmp_path)
    assert made.dropped == {"patient": "numbers the rows"}
    (line,) = [own for own in str(made.reading).splitlines() if "are left out" in own]
    assert line.startswith("- 19 rows are left out: a 'sex' on neither side ('?')")


def test_a_category_keeps_the_order_that_is_known(tmp_path: Path) -> None:
    """As that of a data frame is; one with states that nobody ordered stays without."""
    header, cells = rows(level=lambda i: ["low", "mid", "high"][i % 3], odd=lambda i: "ab"[i % 2])
    frame = pd.DataFrame(cells, columns=header)
    frame["level"] = pd.Categorical(frame["level"], ["low", "mid", "high"], ordered=True)
    frame.loc[::9, "level"] = None
    frame["odd"] = pd.Categorical(frame["odd"], ["b", "a", "c"], ordered=True)
    frame["job"] = pd.Categorical(frame["job"], ["smith", "cook", "clerk"])
    found = draft(frame, FileOptions("y", "yes", "sex", "F"))
    columns = {column.name: (column.states, column.ordered) for column in found.rows.schema.columns}
    assert columns["level"] == (("low", "mid", "high", "missing"), True)
    assert columns["odd"] == (("b", "a"), True)
    assert columns["job"] == (("clerk", "cook", "smith"), False)
