"""A file whose columns are added to the rows of the others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark.data.card import load_card
from benchmark.data.load import load_dataset
from benchmark.errors import CardError, DataError

WriteCard = Callable[..., Path]

JOIN = (
    "[columns.sex]",
    '[source.join]\ncolumn = "of"\nkey = "id"\nfile = { path = "people.csv" }\n\n[columns.sex]',
)
SOURCE = ('[columns.hired]\nkind = "categorical"', '[columns.hired]\nsource = "id.1"\nkind = "categorical"')
ROWS = "id,of,age\n0,p,17\n1,q,18\n0,r,30\n1,p,70\n"
PEOPLE = "id,sex,id\np,f,0\nq,m,1\ns,m,1\n"


@pytest.fixture
def joined(write_card: WriteCard) -> Callable[..., Path]:
    def write(people: str = PEOPLE, rows: str = ROWS, *changes: tuple[str, str]) -> Path:
        card = write_card(JOIN, SOURCE, *changes, rows=rows)
        card.with_name("people.csv").write_text(people)
        return card

    return write


def test_rows_get_the_columns_of_their_key(joined: Callable[..., Path]) -> None:
    card = joined()
    dataset = load_dataset(card)
    frame = dataset.to_frame()
    assert frame["sex"].tolist() == ["f", "m", "f"]  # nobody is called r
    assert frame["age"].tolist() == ["minor", "adult", "senior"]
    assert frame["hired"].tolist() == ["no", "yes", "no"]
    assert dataset.unused == ("id", "of", "id.2")
    assert str(card.with_name("people.csv")) in dataset.source


@pytest.mark.parametrize(
    ("people", "words"),
    [
        (PEOPLE + "p,m,0\n", "'p' for the second time"),
        (PEOPLE + "t,m\n", "2 values"),
    ],
)
def test_a_row_that_cannot_be_joined(joined: Callable[..., Path], people: str, words: str) -> None:
    with pytest.raises(DataError, match=r"Line 5 of .*people\.csv (cannot be joined|does not fit)") as error:
        load_dataset(joined(people))
    assert error.value.got == words


def test_a_file_without_its_key(joined: Callable[..., Path]) -> None:
    for people, rows in ((PEOPLE.replace("id", "no"), ROWS), (PEOPLE, ROWS.replace("of", "for"))):
        with pytest.raises(DataError, match=r"lacks columns\. Expected: '(id|of)'"):
            load_dataset(joined(people, rows))


def test_the_digest_holds_it(joined: Callable[..., Path], write_card: WriteCard) -> None:
    card = load_card(joined())
    other = load_card(joined(PEOPLE, ROWS, ('key = "id"', 'key = "id.1"')))
    shorter = load_card(joined(PEOPLE, ROWS, ('people.csv" }', 'people.csv", without_lines = [4] }')))
    alone = load_card(write_card(SOURCE, rows=None))
    assert len({own.digest for own in (card, other, shorter, alone)}) == 4
    with pytest.raises(CardError, match=r"source\.join\.key"):
        load_card(joined(PEOPLE, ROWS, ('key = "id"\n', "")))
