"""The number behind the label: read, checked, and never a feature."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmark.bias import Rows, Score, make_bias
from benchmark.data.card import load_card
from benchmark.data.load import load_dataset
from benchmark.errors import CardError, DataError

WriteCard = Callable[..., Path]

SCORE = (
    'deprived_group = "f"\n',
    'deprived_group = "f"\nscore = { column = "points", threshold = 10, minimum = 0, maximum = 20 }\n',
)
ROWS = "sex,age,points,hired\nf,17,4,0\nm,18,10,1\nf,64.5,19,1\nm,70,9,0\n"


def test_the_number_is_read_and_is_no_column(write_card: WriteCard) -> None:
    dataset = load_dataset(write_card(SCORE, rows=ROWS))
    assert isinstance(dataset.score, Score)
    assert dataset.score.values.tolist() == [4, 10, 19, 9]
    assert (dataset.score.threshold, dataset.score.half_range, dataset.score.lowest) == (10, 10, 0)
    assert dataset.table.schema.names == ("sex", "age", "hired")
    assert dataset.notes == ()


def test_a_card_without_one_has_none(write_card: WriteCard) -> None:
    assert load_dataset(write_card()).score is None


def test_its_range_is_that_of_the_rows_unless_given(write_card: WriteCard) -> None:
    ranged = (", minimum = 0, maximum = 20", "")
    short = (SCORE[0], SCORE[1].replace(*ranged))
    score = load_dataset(write_card(short, rows=ROWS)).score
    assert score is not None
    assert (score.half_range, score.lowest) == (7.5, 4)


def test_the_label_may_be_cut_from_it(write_card: WriteCard) -> None:
    label = (
        '[columns.hired]\nkind = "categorical"\nstates = ["no", "yes"]\nvalues = { 0 = "no", 1 = "yes" }\n',
        '[columns.hired]\nkind = "numeric"\nsource = "points"\nbins = [0, 10, 20]\nstates = ["no", "yes"]\n',
    )
    dataset = load_dataset(write_card(SCORE, label, rows=ROWS.replace(",hired", ",paid")))
    assert dataset.table.y.tolist() == [False, True, True, False]
    assert dataset.unused == ("paid",)


def test_the_filter_holds_for_it(write_card: WriteCard) -> None:
    kept = ("[columns.age]", '[filter]\nage = ["17", "18", "64.5", "70"]\n[columns.age]')
    score = load_dataset(write_card(SCORE, kept, rows=ROWS + "f,30,none,0\n")).score
    assert score is not None
    assert score.values.tolist() == [4, 10, 19, 9]


def test_its_decimal_mark_is_that_of_the_file(write_card: WriteCard) -> None:
    comma = ('format = "csv"', 'format = "csv"\ndelimiter = ";"\ndecimal = ","')
    rows = ROWS.replace(",", ";").replace(".", ",").replace(";10;", ";10,5;")
    score = load_dataset(write_card(SCORE, comma, rows=rows)).score
    assert score is not None
    assert score.values.tolist() == [4, 10.5, 19, 9]


def test_bias_of_the_score_can_be_planted(write_card: WriteCard) -> None:
    dataset = load_dataset(write_card(SCORE, rows=ROWS))
    bias = make_bias("score")
    biased = bias.plant_in_rows(Rows.of(dataset.table, dataset.score), 0.95, np.random.default_rng(0))
    assert biased.table.y.tolist() == [False, True, False, False]  # 19 - 9.5 is below 10


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('column = "points"', 'column = "age"', "names 'age', which 'columns'"),
        ("threshold = 10", "threshold = 21", "not above its maximum"),
        ("threshold = 10", "threshold = 0", "above its minimum"),
        ("threshold = 10", 'threshold = "10"', "score.threshold"),
        ("threshold = 10, ", "", "is required, but absent"),
        ("minimum", "lowest", "is not a field"),
    ],
)
def test_a_wrong_entry_is_told(write_card: WriteCard, old: str, new: str, words: str) -> None:
    with pytest.raises(CardError, match="score") as error:
        load_card(write_card((SCORE[0], SCORE[1].replace(old, new)), rows=None))
    assert words in str(error.value)


def test_it_is_not_dropped(write_card: WriteCard) -> None:
    dropped = ("[columns.age]", '[[dropped]]\ncolumns = ["points"]\nreason = "The label."\n[columns.age]')
    with pytest.raises(CardError, match="names 'points', which 'score'"):
        load_card(write_card(SCORE, dropped, rows=None))


def test_a_file_without_the_column(write_card: WriteCard) -> None:
    card = write_card(SCORE, rows=ROWS.replace("points", "marks"))
    with pytest.raises(DataError, match="lacks columns") as error:
        load_dataset(card)
    assert "toy.csv" in str(error.value)
    assert "'points'" in error.value.expected


@pytest.mark.parametrize(("raw", "words"), [("", "is none"), ("ten", "is none"), ("21", "out of its range")])
def test_a_row_without_a_number(write_card: WriteCard, raw: str, words: str) -> None:
    with pytest.raises(DataError, match=r"line 3 of .*toy\.csv, column 'points'") as error:
        load_dataset(write_card(SCORE, rows=ROWS.replace("m,18,10", f"m,18,{raw}")))
    assert words in error.value.what
    assert error.value.expected == "a number from 0 to 20"
    assert error.value.got == repr(raw)


def test_a_label_that_it_does_not_decide_is_an_error(write_card: WriteCard) -> None:
    with pytest.raises(DataError, match="not the number behind the label of 'toy'") as error:
        load_dataset(write_card(SCORE, rows=ROWS.replace("64.5,19,1", "64.5,19,0")))
    assert error.value.got == "another label in 1 of 4 rows (25 %)"


def test_a_few_exceptions_are_noted(write_card: WriteCard) -> None:
    dataset = load_dataset(write_card(SCORE, rows=ROWS + "m,30,12,1\n" * 20 + "f,30,12,0\n"))
    (note,) = dataset.notes
    assert note.startswith("the label of 1 of 25 rows (4 %) contradicts the number behind it")


def test_a_number_that_is_the_same_everywhere(write_card: WriteCard) -> None:
    card = write_card((SCORE[0], SCORE[1].replace(", minimum = 0, maximum = 20", "")), rows=ROWS)
    rows = "sex,age,points,hired\n" + "m,18,10,1\nf,18,10,1\n" * 20 + "f,18,10,0\n"
    card.with_name("toy.csv").write_text(rows)
    with pytest.raises(DataError, match="the same in all rows"):
        load_dataset(card)


def test_only_the_digest_of_a_card_with_one_holds_it(write_card: WriteCard) -> None:
    plain = load_card(write_card(rows=None))
    scored = load_card(write_card(SCORE, rows=None))
    other = load_card(write_card((SCORE[0], SCORE[1].replace("threshold = 10", "threshold = 9")), rows=None))
    assert len({plain.digest, scored.digest, other.digest}) == 3
