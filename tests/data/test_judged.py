"""The label as people judged it: read, checked, and never a feature."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmark.data.card import load_card
from benchmark.data.load import load_dataset
from benchmark.errors import CardError, DataError, UnknownNameError

WriteCard = Callable[..., Path]

JUDGED = (
    "[columns.sex]",
    """[judged]
judge = "who"
person = "whom"

[judged.label]
kind = "numeric"
source = "guess"
bins = [0, 50, 100]
states = ["no", "yes"]

[columns.sex]""",
)
ROWS = """sex,age,hired,guess,who,whom
f,17,0,80,b,Q
m,18,1,90,a,P
f,64.5,1,10,b,R
m,70,0,50,b,P
"""


def test_it_is_read_beside_the_table(write_card: WriteCard) -> None:
    dataset = load_dataset(write_card(JUDGED, rows=ROWS))
    judged = dataset.judged
    assert judged.favorable.tolist() == [True, True, False, True]
    assert judged.judges.tolist() == [0, 1, 0, 0]
    assert judged.persons.tolist() == [0, 1, 2, 1]
    assert dataset.table.schema.names == ("sex", "age", "hired")
    assert dataset.notes == ()
    # Whatever people judged, the table is the same.
    rows = ROWS.replace("80,b,Q", "0,z,X").replace("90,a,P", "1,y,Y")
    other = load_dataset(write_card(JUDGED, rows=rows))
    assert other.digest == dataset.digest
    assert other.judged.digest != judged.digest
    card = load_card(write_card())
    assert load_dataset(card).judged is None
    assert (card.behind, card.coded) == ((), card.columns)


@pytest.mark.parametrize(("old", "new"), [("80,b,Q", "8,b,Q"), ("90,a,P", "90,b,P"), ("10,b,R", "10,b,Q")])
def test_its_digest_tells_labels_judges_and_persons(write_card: WriteCard, old: str, new: str) -> None:
    one, other = (
        load_dataset(write_card(JUDGED, rows=rows)).judged for rows in (ROWS, ROWS.replace(old, new))
    )
    assert one.digest != other.digest
    assert one.take(np.array([1, 3])).persons.tolist() == [1, 1]


def test_its_dose_is_signed(write_card: WriteCard) -> None:
    rows = "sex,age,hired,guess,who,whom\n" + "f,17,0,10,a,a\nf,17,1,20,a,b\nm,17,0,90,b,c\nm,17,1,80,b,d\n"
    kinder = rows.replace("10,a", "60,a").replace("20,a", "60,a")
    alike = rows.replace("90,b", "10,b").replace("1,80", "0,80")
    for content, dose in ((rows, 1.0), (kinder, 0.0), (alike, 1.0)):
        dataset = load_dataset(write_card(JUDGED, rows=content))
        assert dataset.judged.dose(dataset.table) == dose
    first = load_dataset(write_card(JUDGED, rows=rows))
    assert first.judged.gap(first.table) == 1.0


def test_an_experiment_can_cut_it_elsewhere(write_card: WriteCard) -> None:
    card = load_card(write_card(JUDGED, rows=ROWS))
    changed = card.with_columns({"judged": {"bins": [0, 60, 100]}})
    judged = load_dataset(changed).judged
    assert judged.favorable.tolist() == [True, True, False, False]
    assert changed.digest != card.digest
    with pytest.raises(UnknownNameError, match="judge"):
        card.with_columns({"judge": {}})


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('source = "guess"\n', "", "needs the 'source'"),
        ('source = "guess"', 'source = "hired"', "names 'hired', which '"),
        (
            'states = ["no", "yes"]',
            'states = ["bad", "good"]',
            "must have the states of the label ('no', 'yes')",
        ),
    ],
)
def test_a_wrong_entry_is_told(write_card: WriteCard, old: str, new: str, words: str) -> None:
    with pytest.raises(CardError, match="judged") as error:
        load_card(write_card((JUDGED[0], JUDGED[1].replace(old, new)), rows=None))
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("90,a", "90, ", r"Nobody is named in line 3 of .*toy\.csv, column 'who'"),
        (
            "90,a",
            "often,a",
            r"'judged' from line 3 of .*'often' \(1 row\)(.|\n)*judged\.label\.states or \.values",
        ),
        ("whom", "person", r"lacks columns\. Expected: 'whom'"),
    ],
)
def test_wrong_judgments_are_told(write_card: WriteCard, old: str, new: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        load_dataset(write_card(JUDGED, rows=ROWS.replace(old, new)))
