"""Loading: text to codes, and every way in which a file can be wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.data.card import load_card
from benchmark.data.card_parts import CategoricalColumn, NumericColumn
from benchmark.data.load import Coder, Dataset, load_dataset
from benchmark.data.source import DataNotFoundError
from benchmark.errors import DataError

WriteCard = Callable[..., Path]

ARFF = """% A comment
@RELATION toy
@attribute 'sex' {f, m}
@attribute age\tnumeric
@attribute "hired" {0, 1}

@data
f,17,0
% Another, with a 'quote
m, 18 ,'1'

f,64.5,1
m,70,0
"""


def states(dataset: Dataset) -> list[list[str]]:
    return dataset.to_frame().astype(str).to_numpy().tolist()


TOY = [["f", "minor", "no"], ["m", "adult", "yes"], ["f", "adult", "yes"], ["m", "senior", "no"]]


def test_a_dataset_of_ones_own(write_card: WriteCard, tmp_path: Path) -> None:
    dataset = load_dataset(write_card())
    assert (
        load_dataset(load_card(write_card())).digest
        == load_dataset(str(write_card())).digest
        == dataset.digest
    )
    assert len(repr(dataset)) < 200
    assert f"{len(dataset.table)} rows" in repr(dataset)
    assert states(dataset) == TOY
    assert dataset.source == f"own file: {tmp_path / 'toy.csv'}"
    assert dataset.table.y.tolist() == [False, True, True, False]
    assert dataset.table.deprived.tolist() == [True, False, True, False]
    assert dataset.digest == dataset.table.digest
    assert dataset.card == load_card(write_card())


def test_the_frame_knows_states_order_and_roles(write_card: WriteCard) -> None:
    frame = load_dataset(write_card()).to_frame()
    assert list(frame.columns) == ["sex", "age", "hired"]
    assert list(frame["age"].cat.categories) == ["minor", "adult", "senior"]
    assert (frame["age"].cat.ordered, frame["sex"].cat.ordered) == (True, False)
    assert frame.attrs == {
        "label": "hired",
        "favorable_label": "yes",
        "sensitive_feature": "sex",
        "deprived_group": "f",
    }


@pytest.mark.parametrize(
    ("replacements", "rows"),
    [
        (
            [('format = "csv"', 'format = "csv"\ndelimiter = ";"')],
            "sex;age;hired\nf;17;0\nm;18;1\nf;64.5;1\nm;70;0",
        ),
        ([], '\ufeffsex , "age",hired\r\nf, "17",0\r\n"m",18,1\r\n\r\n  \r\nf,64.5,1\r\nm,70,0\r\n\r\n'),
        ([], "id,hired,age,sex\n1,0,17,f\n2,1,18,m\n3,yes,64.5,f\n4,no,7e1,m\n"),
        (
            [("[columns.sex]", '[columns.sex]\nsource = "gender"')],
            "gender,age,hired\nf,17,0\nm,18,1\nf,64.5,1\nm,70,0",
        ),
        (
            [('"toy.csv"', '"toy.csv", skip_lines = 2')],
            "a\n\nsex,age,hired\nf,17,0\nm,18,1\nf,64.5,1\nm,70,0",
        ),
        (
            [('format = "csv"', 'format = "csv"\ncolumn_names = ["age", "sex", "hired"]')],
            "17,f,0\n18,m,1\n64.5,f,1\n70,m,0",
        ),
        (
            [("[columns.sex]", '[filter]\nland = ["A", "B"]\n[columns.sex]')],
            "sex,age,hired,land\nf,17,0,A\nm,18,1,B \nx,?,?,C\nf,64.5,1,A\nm,70,0,A",
        ),
        ([('format = "csv"', 'format = "arff"')], ARFF),
    ],
    ids=[
        "delimiter",
        "quotes and blanks",
        "other columns",
        "renamed",
        "skipped",
        "no header",
        "filter",
        "arff",
    ],
)
def test_forms_of_a_file(write_card: WriteCard, replacements: list[tuple[str, str]], rows: str) -> None:
    assert states(load_dataset(write_card(*replacements, rows=rows))) == TOY


def test_repeated_header_names_are_numbered(write_card: WriteCard) -> None:
    rows = "age,sex,age,hired,age\n1,f,17,0,70\n1,m,18,1,70\n"
    ages = []
    for source in ("age", "age.1", "age.2"):
        card = write_card(("[columns.age]", f'[columns.age]\nsource = "{source}"'), rows=rows)
        ages.append(states(load_dataset(card))[0][1])
    assert ages == ["minor", "minor", "senior"]
    assert states(load_dataset(card))[1][1] == "senior"


def test_several_files_follow_each_other(write_card: WriteCard, tmp_path: Path) -> None:
    (tmp_path / "more.csv").write_text("hired,sex,age\n1,m,1\n")
    card = write_card(('{ path = "toy.csv" }', '{ path = "toy.csv" }, { path = "more.csv" }'))
    dataset = load_dataset(card)
    assert states(dataset) == [*TOY, ["m", "minor", "yes"]]
    assert dataset.source == f"own file: {tmp_path / 'toy.csv'}, {tmp_path / 'more.csv'}"


EDGES = st.lists(st.floats(allow_nan=False, width=32), min_size=2, max_size=6, unique=True).map(sorted)


@given(edges=EDGES, numbers=st.lists(st.floats(allow_nan=False, width=32), max_size=5))
def test_bins_are_numpys(edges: list[float], numbers: list[float]) -> None:
    spec = NumericColumn(kind="numeric", bins=tuple(edges), states=tuple(map(str, range(len(edges) - 1))))
    coder = Coder(spec)
    inside = [number for number in [*edges, *numbers] if edges[0] <= number <= edges[-1]]
    for number in inside:
        # numpy.histogram itself refuses infinite ranges, but its rule is that of digitize with a closed end.
        expected = min(int(np.digitize(number, edges)), len(edges) - 1) - 1
        assert coder[repr(number)] == expected
        assert edges[expected] <= number <= edges[expected + 1]
    for number in set(numbers) - set(inside):
        assert coder[repr(number)] == -1


def test_values_that_have_no_state() -> None:
    numeric = Coder(NumericColumn(kind="numeric", bins=(0, 1), states=("a", "b"), values={"?": "b"}))
    assert [numeric[raw] for raw in ("0", " 1 ", "1.01", "-1", "nan", "inf", "", "a", "?", " ? ")] == [
        0, 0, -1, -1, -1, -1, -1, -1, 1, 1,
    ]  # fmt: skip
    text = Coder(CategoricalColumn(kind="categorical", states=("a", "b"), values={"": "b", "a": "b"}))
    assert [text[raw] for raw in ("a", " b ", "", "A", "c")] == [1, 1, 1, -1, -1]
    chapters = NumericColumn(
        kind="numeric",
        bins=(1, 140, 240, 280),
        bin_states=("other", "tumor", "other"),
        states=("tumor", "other", "letters"),
        others="letters",
    )
    codes = [Coder(chapters)[raw] for raw in ("1", "139.9", "140", "250.83", "280", "V57")]
    assert ([chapters.states[code] for code in codes], chapters.ordered) == (
        ["other", "other", "tumor", "other", "other", "letters"],
        False,
    )


HEAD = "sex,age,hired\n"
ROWS = HEAD + "f,17,0\nm,18,1\nf,64.5,1\nm,70,0\n"


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (HEAD + "f,1,0\nx,1,0\ny,1,0\nx,1,0\n", r"'sex' from line 3.*'x' \(2 rows\).*; expected 'f', 'm'"),
        (HEAD + "f,1,0\n\nm,old,1\n", r"'age' from line 4.*'old'.*expected a number from 0 to inf"),
        (HEAD + "f,1,0\nm,-1,1\n", r"'age' from line 3.*'-1'"),
        (HEAD + "f,1,0\nm,,1\n", r"'age' from line 3.*''"),
        (HEAD + "f,1,0\nm,1,2\n", r"'hired' from line 3.*'2'.*'no', 'yes', '0', '1'.*columns\.NAME"),
        ("sex,Age,hired\nf,1,0\n", r"lacks columns\. Expected: 'age'\. Got: only 'sex', 'Age'.*mean 'Age'"),
        (HEAD + "f,1,0\nm,1\n", r"Line 3 of .*toy\.csv does not fit.*3 values.*2 values.*truncated"),
        (HEAD + "f,1,0\nm,1,0,9\n", r"Line 3 of .*4 values"),
        (HEAD + 'f,1,0\n"m,1', "not valid CSV"),
        ("", "is empty"),
        (HEAD, "has no row in the deprived group sex = 'f'"),
        (HEAD + "m,1,0\nm,1,1\n", "has no row in the deprived group sex = 'f'"),
        (HEAD + "f,1,0\nf,1,1\n", "has no row in the favored group sex other than 'f'"),
        (HEAD + "f,1,0\nm,1,0\n", "has no row with the favorable label hired = 'yes'"),
        (HEAD + "f,1,1\nm,1,1\n", "has no row with the unfavorable label"),
    ],
)  # fmt: skip
def test_wrong_content(write_card: WriteCard, rows: str, words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        load_dataset(write_card(rows=rows))
    assert not isinstance(caught.value, DataNotFoundError)


FILTER = "[columns.sex]", "[filter]\n{}\n[columns.sex]"
IN_ARFF = 'format = "csv"', 'format = "arff"'


@pytest.mark.parametrize(
    ("old", "new", "rows", "words"),
    [
        (
            *('"toy.csv"', '"toy.csv", skip_lines = 1'),
            '# first\nsex,age,hired,note\nf,1,0,"a\nb"\nx,1,1,c\n',
            "line 5",
        ),
        (*IN_ARFF, ARFF + "x,1,1\n", "line 14"),
        (*IN_ARFF, ARFF[:80], "not valid ARFF"),
        (
            *('title = "Toy"', 'title = "Toy"\nrows = 1005'),
            ROWS,
            r"wrong number.* Expected: 1,005\. Got: 4\.",
        ),
        (FILTER[0], FILTER[1].format('age = ["99"]'), ROWS, "none among 0 rows"),
        (FILTER[0], FILTER[1].format('land = ["A"]'), ROWS, r"lacks columns\. Expected: 'land'"),
    ],
)
def test_what_a_card_says_and_a_file_is_not(
    write_card: WriteCard, old: str, new: str, rows: str, words: str
) -> None:
    with pytest.raises(DataError, match=words):
        load_dataset(write_card((old, new), rows=rows))


def test_wrong_encoding(write_card: WriteCard, tmp_path: Path) -> None:
    card = write_card()
    (tmp_path / "toy.csv").write_bytes("sex,age,hired,né\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"utf-8-sig.*correct source\.encoding"):
        load_dataset(card)


# ------------------------------------------------------------------------------- what a card could say


def refusal(card: Path) -> str:
    with pytest.raises(DataError) as caught:
        load_dataset(card)
    return str(caught.value)


def test_decimal_commas(write_card: WriteCard) -> None:
    rows = "sex;age;hired\nf;17,9;0\nm;18,0;1\nf;64,5;1\nm;70;0\n"
    semicolons = ('format = "csv"', 'format = "csv"\ndelimiter = ";"')
    assert "if numbers of 'age' are written in another form, set 'decimal'" in refusal(
        write_card(semicolons, rows=rows)
    )
    commas = (semicolons[0], semicolons[1] + '\ndecimal = ","')
    assert states(load_dataset(write_card(commas, rows=rows))) == TOY
    quoted = HEAD + 'f,"17,9",0\nm,18,1\nf,"64,5",1\nm,70,0\n'
    assert (
        states(load_dataset(write_card((semicolons[0], 'format = "csv"\ndecimal = ","'), rows=quoted))) == TOY
    )
    # A point among decimal commas is none: 1.234 would be 1234.
    pointed = refusal(write_card(commas, rows=rows.replace("64,5", "64.5")))
    assert "'64.5' (1 row)" in pointed


def test_unknown_values_of_all_columns_and_files_at_once(write_card: WriteCard, tmp_path: Path) -> None:
    (tmp_path / "more.csv").write_text("hired,sex,age\n1,m,1\n0,?,2\n")
    files = ('{ path = "toy.csv" }', '{ path = "toy.csv" }, { path = "more.csv" }')
    text = refusal(write_card(files, rows=HEAD + "f,1,0\nx,old,0\nm,,2\nm,old,1\n"))
    first, second, third = text.splitlines()[1:]
    place = f"'sex' from line 3 of {tmp_path / 'toy.csv'}"
    assert first == f"  {place}: '?' (1 row), 'x' (1 row); expected 'f', 'm'"
    assert "'age' from line 3 of" in second
    assert "'old' (2 rows), '' (1 row); expected a number from 0 to inf" in second
    assert "'2' (1 row); expected 'no', 'yes', '0', '1'" in third
    assert 'missing = { state = "unknown", columns = ["sex", "age"] } at the top of the card' in third


MISSING = HEAD + "f,17,0\nm,?,1\nf,,1\nm,70,0\n"


RACE = """states = ["black", "hispanic", "white"]
indicators = { black = "black", hispan = "hispanic" }
others = "white"
"""


def race_card(write_card: WriteCard, rows: str, race: str = RACE, top: str = "") -> Path:
    """Write the toy card with a race that two columns of the file tell."""
    head = "sex,age,hired,black,hispan\n"
    changes = (('title = "Toy"', f"\n{top}"), ("[columns.hired]", f"{race}\n"))
    return write_card(*changes, rows=head + rows)


def test_indicators_tell_the_states_of_one_column(write_card: WriteCard) -> None:
    race = f'[columns.race]\nkind = "categorical"\n{RACE}'
    rows = "f,17,0,1,0\nm,18,1,FALSE,TRUE\nf,64.5,1,no,No\nm,70,0,0.0,1.0\n"
    dataset = load_dataset(race_card(write_card, rows, race))
    assert dataset.to_frame()["race"].tolist() == ["black", "hispanic", "white", "hispanic"]
    assert dataset.unused == ()
    new = pd.DataFrame({"sex": "f", "age": 20, "black": [True, False, False], "hispan": [0.0, 1.0, 0.0]})
    assert dataset.states(new)["race"].tolist() == ["black", "hispanic", "white"]
    with pytest.raises(DataError, match=r"lack columns\. Expected: 'hispan'"):
        dataset.states(new.drop(columns="hispan"))
    # A column may have the name of one of its indicators, and equal rows are told by what the file has.
    path = race_card(write_card, rows, race.replace("columns.race", "columns.black"), 'person = "rows"')
    assert load_dataset(path).to_frame()["black"].tolist() == ["black", "hispanic", "white", "hispanic"]
    gaps = "f,17,0,NA,0\nm,18,1,,1\nf,64.5,1,0,0\nm,70,0,0,\n"
    path = race_card(write_card, gaps, race, 'missing = { state = "unknown", columns = ["race"] }')
    assert load_dataset(path).to_frame()["race"].tolist() == ["unknown", "hispanic", "white", "unknown"]


@pytest.mark.parametrize(
    ("row", "race", "words"),
    [
        ("1,1", RACE, "line 3 of .*toy.csv. Expected: 1, true or yes in at most one of them"),
        ("2,0", RACE, "Got: black = '2', hispan = '0'"),
        ("NA,1", RACE, "Got: black = 'NA', hispan = '1'"),
        ("0,0", RACE.replace('others = "white"', ""), "in exactly one of them"),
    ],
)
def test_indicators_that_tell_no_state(write_card: WriteCard, row: str, race: str, words: str) -> None:
    race = f'[columns.race]\nkind = "categorical"\n{race}'
    path = race_card(write_card, f"f,17,0,1,0\nm,18,1,{row}\nf,64.5,1,0,1\nm,70,0,0,1\n", race)
    with pytest.raises(DataError, match=f"The indicators of 'race' tell no state in .*{words}"):
        load_dataset(path)


def test_of_a_persons_rows_only_the_first_counts(write_card: WriteCard) -> None:
    change = ('title = "Toy"', 'title = "Toy"\nfirst_of = "id"\nexclude = { hired = ["9"] }')
    rows = "id,sex,age,hired\n7,f,17,9\n7,f,18,1\n8,m,18,1\n,f,64.5,1\n,f,64.5,1\n8,m,70,0\n9,m,70,0\n"
    dataset = load_dataset(write_card(change, rows=rows))
    assert states(dataset) == [["m", "adult", "yes"], *[["f", "adult", "yes"]] * 2, ["m", "senior", "no"]]
    assert dataset.unused == ()
    with pytest.raises(DataError, match=r"lacks columns\. Expected: 'id'"):
        load_dataset(write_card(change))


def test_missing_values_of_all_columns_by_one_line(write_card: WriteCard) -> None:
    advice = 'missing = { state = "unknown", columns = ["age"] } at the top of the card'
    assert advice in refusal(write_card(rows=MISSING))
    dataset = load_dataset(write_card(('title = "Toy"', 'title = "Toy"\nmissing = "unknown"'), rows=MISSING))
    assert [row[1] for row in states(dataset)] == ["minor", "unknown", "unknown", "senior"]
    assert [column.states for column in dataset.card.schema().columns] == [
        ("f", "m"),
        ("minor", "adult", "senior", "unknown"),
        ("no", "yes"),
    ]
    by_hand = (
        ('"senior"]', '"senior", "unknown"]\nvalues = { "" = "unknown", "?" = "unknown" }'),
        ('title = "Toy"', 'title = "Toy"\nmissing = { state = "unknown", values = ["", "?"] }'),
    )
    cards = [load_card(write_card(*changes, rows=MISSING)) for changes in (by_hand[:1], by_hand[1:], by_hand)]
    assert {card.digest for card in cards} == {cards[0].digest}, "it is short for what each column could say"
    several = ('sensitive_feature = "sex"', 'sensitive_feature = ["sex", "age"]')
    assert load_card(write_card(several, by_hand[1], rows=MISSING)).columns == cards[0].columns


def test_missing_values_of_named_columns_and_by_named_values(write_card: WriteCard) -> None:
    line = 'title = "Toy"\nmissing = { state = "none", values = ["-"], columns = ["sex"] }'
    dataset = load_dataset(write_card(('title = "Toy"', line), rows=HEAD + "f,17,0\nm,18,1\n-,20,1\nf,3,0\n"))
    assert dataset.card.columns["sex"].states == ("f", "m", "none")
    assert dataset.card.columns["age"].states == ("minor", "adult", "senior")
    assert states(dataset)[2] == ["none", "adult", "yes"]
    text = refusal(write_card(('title = "Toy"', line), rows=HEAD + "f,17,0\nm,?,1\n"))
    assert """name "age" in 'columns' of 'missing', too""" in text
    assert "rows without 'hired' can be left out by [filter]" in refusal(
        write_card(rows=HEAD + "f,1,0\nm,1,?\n")
    )


def test_what_a_column_says_of_a_value_goes_before_missing(write_card: WriteCard) -> None:
    changes = (
        ('title = "Toy"', 'title = "Toy"\nmissing = "unknown"'),
        ('"senior"]', '"senior", "NA"]\nvalues = { "NA" = "NA", "" = "minor" }'),
    )
    dataset = load_dataset(write_card(*changes, rows=HEAD + "f,NA,0\nm,,1\nf,?,1\nm,70,0\n"))
    assert [row[1] for row in states(dataset)] == ["NA", "minor", "unknown", "senior"]


def test_blanks_around_the_states_of_a_card_count_as_little_as_in_the_file(write_card: WriteCard) -> None:
    changes = (
        ('states = ["f", "m"]', 'states = ["f ", " m"]'),
        ('deprived_group = "f"', 'deprived_group = " f"'),
        ('{ 0 = "no", 1 = "yes" }', '{ " 0" = "no ", 1 = "yes" }'),
    )
    dataset = load_dataset(write_card(*changes))
    assert states(dataset) == TOY
    assert dataset.digest == load_dataset(write_card()).digest


def test_columns_that_a_card_does_not_mention_are_named(write_card: WriteCard) -> None:
    rows = "id,sex,note,age,hired,id\n1,f,x,17,0,2\n2,m,y,18,1,1\n"
    assert load_dataset(write_card(rows=rows)).unused == ("id", "note", "id.1")
    dropped = ("[columns.age]", '[[dropped]]\ncolumns = ["note"]\nreason = "Text."\n[columns.age]')
    filtered = ("[columns.age]", '[filter]\nid = ["1", "2"]\n[columns.age]')
    assert load_dataset(write_card(dropped, filtered, rows=rows)).unused == ("id.1",)
    assert load_dataset(write_card()).unused == ()


@pytest.mark.parametrize(("deprived", "notes"), [("f", 0), ("m", 1)])
def test_a_deprived_group_that_is_better_off_is_noted(
    write_card: WriteCard, deprived: str, notes: int
) -> None:
    rows = HEAD + "f,17,0\nf,18,1\nf,18,0\nf,18,0\nm,70,0\nm,20,1\n"
    dataset = load_dataset(write_card(('deprived_group = "f"', f'deprived_group = "{deprived}"'), rows=rows))
    assert len(dataset.notes) == notes
    if notes:
        assert dataset.notes[0].startswith(
            "the deprived group sex = 'm' is better off by 0.250 in these data: 0.500 of it have hired = "
            "'yes', 0.250 of the others."
        )
