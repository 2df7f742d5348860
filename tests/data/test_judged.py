"""The label as people judged it: read, checked, and never a feature."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmark.data.card import load_card
from benchmark.data.load import load_dataset
from benchmark.errors import CardError, DataError, UnknownNameError
from benchmark.estimator.snippet import card_snippet

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
    assert judged is not None
    assert judged.favorable.tolist() == [True, True, False, True]
    assert judged.judges.tolist() == [0, 1, 0, 0]
    assert judged.persons.tolist() == [0, 1, 2, 1]
    assert dataset.table.schema.names == ("sex", "age", "hired")
    assert dataset.notes == ()


def test_a_card_without_one_has_none(write_card: WriteCard) -> None:
    card = load_card(write_card())
    assert load_dataset(card).judged is None
    assert card.behind == ()
    assert card.coded == card.columns


def test_whatever_people_judged_the_table_is_the_same(write_card: WriteCard) -> None:
    one, other = (
        load_dataset(write_card(JUDGED, rows=rows))
        for rows in (ROWS, ROWS.replace("80,b,Q", "0,z,X").replace("90,a,P", "1,y,Y"))
    )
    assert one.digest == other.digest
    assert one.judged is not None
    assert other.judged is not None
    assert one.judged.digest != other.judged.digest
    assert not one.judged.favorable.all()


@pytest.mark.parametrize(("old", "new"), [("80,b,Q", "8,b,Q"), ("90,a,P", "90,b,P"), ("10,b,R", "10,b,Q")])
def test_its_digest_tells_labels_judges_and_persons(write_card: WriteCard, old: str, new: str) -> None:
    one, other = (
        load_dataset(write_card(JUDGED, rows=rows)).judged for rows in (ROWS, ROWS.replace(old, new))
    )
    assert one is not None
    assert other is not None
    assert one.digest != other.digest
    assert one.take(np.array([1, 3])).persons.tolist() == [1, 1]


def test_its_dose_is_signed(write_card: WriteCard) -> None:
    rows = "sex,age,hired,guess,who,whom\n" + "f,17,0,10,a,a\nf,17,1,20,a,b\nm,17,0,90,b,c\nm,17,1,80,b,d\n"
    dataset = load_dataset(write_card(JUDGED, rows=rows))
    assert dataset.judged is not None
    assert dataset.judged.gap(dataset.table) == 1.0
    assert dataset.judged.dose(dataset.table) == 1.0
    kinder = load_dataset(write_card(JUDGED, rows=rows.replace("10,a", "60,a").replace("20,a", "60,a")))
    assert kinder.judged is not None
    assert kinder.judged.dose(kinder.table) == 0.0
    alike = load_dataset(write_card(JUDGED, rows=rows.replace("90,b", "10,b").replace("1,80", "0,80")))
    assert alike.judged is not None
    assert alike.judged.dose(alike.table) == 1.0


def test_an_experiment_can_cut_it_elsewhere(write_card: WriteCard) -> None:
    card = load_card(write_card(JUDGED, rows=ROWS))
    changed = card.with_columns({"judged": {"bins": [0, 60, 100]}})
    judged = load_dataset(changed).judged
    assert judged is not None
    assert judged.favorable.tolist() == [True, True, False, False]
    assert changed.digest != card.digest
    with pytest.raises(UnknownNameError, match="judge"):
        card.with_columns({"judge": {}})


def test_only_the_digest_of_a_card_with_one_holds_it(write_card: WriteCard) -> None:
    plain, judged = (load_card(write_card(*change, rows=None)) for change in ((), (JUDGED,)))
    other = load_card(write_card((JUDGED[0], JUDGED[1].replace('"who"', '"whose"')), rows=None))
    assert len({plain.digest, judged.digest, other.digest}) == 3


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('source = "guess"\n', "", "needs the 'source'"),
        ('source = "guess"', 'source = "age"', "names 'age', which '"),
        ('source = "guess"', 'source = "hired"', "names 'hired', which '"),
        ('judge = "who"', 'judge = "sex"', "names 'sex', which '"),
        ('person = "whom"', 'person = "who"', "names 'who', which 'judged'"),
        ('person = "whom"\n', "", "is required, but absent"),
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


def test_it_is_not_dropped_and_no_column_has_its_name(write_card: WriteCard) -> None:
    dropped = ("[columns.age]", '[[dropped]]\ncolumns = ["whom"]\nreason = "A name."\n[columns.age]')
    with pytest.raises(CardError, match="names 'whom', which '"):
        load_card(write_card(JUDGED, dropped, rows=None))
    with pytest.raises(CardError, match="beside a column of the name 'judged'"):
        load_card(write_card(JUDGED, ("[columns.age]", '[columns.judged]\nsource = "age"'), rows=None))


def test_a_row_without_judge_or_judgement_is_told(write_card: WriteCard) -> None:
    with pytest.raises(DataError, match=r"Nobody is named in line 3 of .*toy\.csv, column 'who'"):
        load_dataset(write_card(JUDGED, rows=ROWS.replace("90,a", "90, ")))
    with pytest.raises(DataError, match="'judged' from line 3 of") as error:
        load_dataset(write_card(JUDGED, rows=ROWS.replace("90,a", "often,a")))
    assert "'often' (1 row)" in error.value.what
    assert "(judged.label.states or .values)" in error.value.remedy


def test_a_file_without_its_columns(write_card: WriteCard) -> None:
    with pytest.raises(DataError, match=r"lacks columns\. Expected: 'whom'"):
        load_dataset(write_card(JUDGED, rows=ROWS.replace("whom", "person")))


def test_printed_lines_of_python_leave_it_out(write_card: WriteCard) -> None:
    ages = ('bins = [0, 18, 65, inf]\nstates = ["minor"', 'bins = [0, 18, 65, inf]\nstates = ["minor"')
    card = load_card(write_card(JUDGED, ages, rows=ROWS))
    assert "load_dataset" in card_snippet(card, "toy.toml", "reweighing")
    assert not {"guess", "who", "whom"} & {*load_dataset(card).to_frame()}
