"""The number behind the label: read, checked, and never a feature."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmark.data.card import load_card
from benchmark.data.load import load_dataset
from benchmark.data.row_facts import Score
from benchmark.errors import CardError, DataError

WriteCard = Callable[..., Path]

SCORE = (
    'deprived_group = "f"\n',
    'deprived_group = "f"\nscore = { column = "points", threshold = 10, minimum = 0, maximum = 20 }\n',
)
ROWS = "sex,age,points,hired\nf,17,4,0\nm,18,10,1\nf,64.5,19,1\nm,70,9,0\n"


UNRANGED = SCORE[0], SCORE[1].replace(", minimum = 0, maximum = 20", "")
COMMAS = 'format = "csv"', 'format = "csv"\ndelimiter = ";"\ndecimal = ","'
KEPT = "[columns.age]", '[filter]\nage = ["17", "18", "64.5", "70"]\n[columns.age]'


@pytest.mark.parametrize(
    ("changes", "rows", "values", "half_range", "lowest"),
    [
        ([SCORE], ROWS, [4, 10, 19, 9], 10, 0),
        ([UNRANGED], ROWS, [4, 10, 19, 9], 7.5, 4),
        ([SCORE, KEPT], ROWS + "f,30,none,0\n", [4, 10, 19, 9], 10, 0),
        (
            [SCORE, COMMAS],
            ROWS.replace(",", ";").replace(".", ",").replace(";10;", ";10,5;"),
            *([4, 10.5, 19, 9], 10, 0),
        ),
    ],
)
def test_the_number_is_read_and_is_no_column(
    write_card: WriteCard, changes: Any, rows: str, values: list[float], half_range: float, lowest: float
) -> None:
    dataset = load_dataset(write_card(*changes, rows=rows))
    assert isinstance(dataset.score, Score)
    assert dataset.score.values.tolist() == values
    found = dataset.score.threshold, dataset.score.half_range, dataset.score.lowest
    assert found == (10, half_range, lowest)
    assert dataset.table.schema.names == ("sex", "age", "hired")
    assert dataset.notes == ()
    assert load_dataset(write_card()).score is None


def test_the_label_may_be_cut_from_it(write_card: WriteCard) -> None:
    label = (
        '[columns.hired]\nkind = "categorical"\nstates = ["no", "yes"]\nvalues = { 0 = "no", 1 = "yes" }\n',
        '[columns.hired]\nkind = "numeric"\nsource = "points"\nbins = [0, 10, 20]\nstates = ["no", "yes"]\n',
    )
    dataset = load_dataset(write_card(SCORE, label, rows=ROWS.replace(",hired", ",paid")))
    assert dataset.table.y.tolist() == [False, True, True, False]
    assert dataset.unused == ("paid",)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('column = "points"', 'column = "age"', "names 'age', which 'columns'"),
        ("threshold = 10", "threshold = 21", "not above its maximum"),
        ("threshold = 10", "threshold = 0", "above its minimum"),
    ],
)
def test_a_wrong_entry_is_told(write_card: WriteCard, old: str, new: str, words: str) -> None:
    with pytest.raises(CardError, match="score") as error:
        load_card(write_card((SCORE[0], SCORE[1].replace(old, new)), rows=None))
    assert words in str(error.value)
    dropped = "[columns.age]", '[[dropped]]\ncolumns = ["points"]\nreason = "The label."\n[columns.age]'
    with pytest.raises(CardError, match="names 'points', which 'score'"):
        load_card(write_card(SCORE, dropped, rows=None))


SAME = "sex,age,points,hired\n" + "m,18,10,1\nf,18,10,1\n" * 20 + "f,18,10,0\n"
PLACE = r"{} in line 3 of .*toy\.csv, column 'points'\. Expected: a number from 0 to 20\. Got: '{}'"


@pytest.mark.parametrize(
    ("change", "rows", "words"),
    [
        (SCORE, ROWS.replace("points", "marks"), r"toy\.csv lacks columns\. Expected: 'points'"),
        (SCORE, ROWS.replace("18,10", "18,"), PLACE.format("is none", "")),
        (SCORE, ROWS.replace("18,10", "18,ten"), PLACE.format("is none", "ten")),
        (SCORE, ROWS.replace("18,10", "18,21"), PLACE.format("is out of its range", "21")),
        (
            SCORE,
            ROWS.replace("19,1", "19,0"),
            r"not the number behind the label of 'toy'.*Got: another label in 1 of 4 rows \(25 %\)",
        ),
        (UNRANGED, SAME, "the same in all rows"),
    ],
)
def test_wrong_numbers_are_told(write_card: WriteCard, change: Any, rows: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        load_dataset(write_card(change, rows=rows))


def test_a_few_exceptions_are_noted(write_card: WriteCard) -> None:
    dataset = load_dataset(write_card(SCORE, rows=ROWS + "m,30,12,1\n" * 20 + "f,30,12,0\n"))
    (note,) = dataset.notes
    assert note.startswith("the label of 1 of 25 rows (4 %) contradicts the number behind it")
