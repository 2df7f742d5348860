"""People with several rows, and copies of rows: found in a file without a card, and said first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark.atlas.features import data_features
from benchmark.data.card import load_card
from benchmark.data.draft import Draft, draft
from benchmark.data.load import load_dataset
from benchmark.data.reading import DoubtError
from benchmark.data.row_facts import rows_of_units
from benchmark.errors import CardError, DataError
from benchmark.file_options import FileOptions
from tests.helpers.drafts import doubt
from tests.helpers.drafts import drafted as of_card
from tests.helpers.visits import visits, write_card

WISH = FileOptions("treated", "yes", "sex", "F")


def read(folder: Path, frame: pd.DataFrame, person: str | None = None) -> Draft:
    return of_card(frame, replace(WISH, person=person), folder)[0]


def copies_warned_of(made: Draft) -> str:
    return "".join(warning for warning in made.reading.warnings if "seem to be copies" in warning)


@pytest.mark.parametrize(
    "name", ["patient_nbr", "student_id", "subject", "case", "userId", "Kundennummer", "hash"]
)
def test_a_column_that_names_people_is_asked_for(name: str, tmp_path: Path) -> None:
    frame = visits(name)
    asked = doubt(frame, WISH, tmp_path)
    assert f"'{name}' (200 values in {len(frame):,} rows)" in asked.what
    assert asked.options == {"person": name}
    assert "write --person none" in asked.what
    kept = read(tmp_path, frame, name)
    assert name not in kept.columns
    dataset = load_dataset(tmp_path / "card.toml")
    assert len(dataset.persons) == 200
    assert not dataset.unused
    np.testing.assert_array_equal(dataset.persons.numbers, pd.factorize(frame[name])[0])
    independent = read(tmp_path, frame, "none")
    assert name in independent.dropped
    assert load_dataset(tmp_path / "card.toml").persons is None


def test_people_may_be_text_and_a_panel_has_other_ages_each_year(tmp_path: Path) -> None:
    people = visits("who", people=60).drop_duplicates("who")
    panel = pd.concat([people.assign(year=2000 + i, age=people["age"] + i) for i in range(12)])
    panel["who"] = "P" + panel["who"].astype(str)
    for wish in (WISH, replace(WISH, sensitive="age", deprived="< 40")):
        assert "'who' (60 values in 720 rows)" in str(doubt(panel, wish, tmp_path))


def test_numbers_that_people_share_by_chance_name_nobody(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    n = 600
    frame = visits()[["sex", "treated"]].head(n)
    frame = frame.assign(
        region_id=rng.integers(0, 40, n),
        income=rng.integers(1000, 1200, n),
        number_of_visits=rng.integers(0, 60, n),
        encounter_id=np.arange(n) + 5000,
        family=rng.integers(1, 14, n),
    )
    made = read(tmp_path, frame)
    assert {"income", "number_of_visits", "family"} <= made.columns.keys()
    assert made.person is None


def test_numbers_that_go_with_the_group_name_nobody(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    frame = visits()[["sex", "treated"]]
    n, woman = len(frame), frame["sex"] == "F"
    asked = rng.random(n) < 0.5
    frame = frame.assign(
        pregnancies=np.where(woman & asked, rng.integers(0, 15, n).astype(str), ""),
        charge=np.where(~woman & asked, np.char.add("article ", rng.integers(0, 40, n).astype(str)), ""),
        # Of a survey: weights of women are odd, those of men even.
        weight=2 * rng.integers(1000, 1100, n) + woman,
    )
    made = read(tmp_path, frame)
    assert made.person is None
    assert "pregnancies" in made.columns


@pytest.mark.parametrize("times", [2, 40])
@pytest.mark.parametrize("numbered", [True, False])
def test_copies_are_warned_of_first_and_equal_rows_can_be_kept_together(
    times: int, numbered: bool, tmp_path: Path
) -> None:
    people = visits(people=160).drop_duplicates("patient_nbr").drop(columns="patient_nbr")
    copied = pd.concat([people] * times, ignore_index=True).sample(frac=1, random_state=1)
    if numbered:
        copied.insert(0, "no", range(1, len(copied) + 1))
    made = read(tmp_path, copied)
    first = made.reading.warnings[0]
    assert first.startswith(f"{len(copied) - 160:,} of {len(copied):,} rows")
    assert "--person rows" in first
    assert load_card(tmp_path / "card.toml").known_problems[0] == first
    # Of 160 people no fine number tells the label, though with their copies each seems to.
    assert set(made.columns) == {"sex", "age", "pressure", "weight", "ward", "treated"}
    together = read(tmp_path, copied, "rows")
    assert not copies_warned_of(together)
    persons = load_dataset(tmp_path / "card.toml").persons
    assert len(persons) == 160


@pytest.mark.parametrize("rows", [1000, 100, 30])
def test_copies_are_found_by_one_fine_number_and_do_not_make_it_a_copy_of_the_group(
    rows: int, tmp_path: Path
) -> None:
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], 1000),
            "income": rng.integers(1000, 90_000, 1000),
            "schooling": rng.choice(["a", "b", "c"], 1000),
            "treated": rng.choice(["yes", "no"], 1000),
        }
    )
    assert not copies_warned_of(read(tmp_path, frame))
    made = read(tmp_path, pd.concat([frame, frame.head(rows)]))
    assert copies_warned_of(made).startswith(f"{rows:,} of {1000 + rows:,} rows")
    assert "income" in made.columns


def test_people_who_are_alike_by_chance_are_no_copies(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({f"q{i}": rng.integers(0, 3, 1500) for i in range(4)})
    frame = frame.assign(sex=rng.choice(["F", "M"], 1500), treated=rng.choice(["yes", "no"], 1500))
    assert not copies_warned_of(read(tmp_path, frame))


def test_copies_under_new_numbers_are_found_though_people_are_named(tmp_path: Path) -> None:
    frame = visits()
    people = frame.drop_duplicates("patient_nbr")
    doubled = pd.concat([people, people.assign(patient_nbr=people["patient_nbr"] + 5_000_000)])
    assert not copies_warned_of(read(tmp_path, frame, "patient_nbr"))
    assert copies_warned_of(read(tmp_path, doubled, "patient_nbr"))


def test_rows_of_one_person_have_the_same_features_and_any_label(tmp_path: Path) -> None:
    card = write_card(tmp_path, 'person = "rows"', people=50)
    frame = pd.read_csv(tmp_path / "visits.csv")
    frame["treated"] = np.where(np.arange(len(frame)) % 2, "yes", "no")
    frame.to_csv(tmp_path / "visits.csv", index=False)
    persons = load_dataset(card).persons
    assert len(persons) == 50


@pytest.mark.parametrize(
    ("person", "sentence"),
    [
        ("sex", "'sex' cannot be the sensitive column and the person"),
        ("treated", "cannot be the label column and the person"),
        ("who", "no column 'who'"),
    ],
)
def test_what_cannot_name_people_is_refused(person: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=sentence):
        read(tmp_path, visits(), person)
    with pytest.raises(DataError, match="--person takes it for a word"):
        read(tmp_path, visits("rows"), "rows")


def test_the_person_of_a_card_is_no_feature_and_stands_in_the_file(tmp_path: Path) -> None:
    with pytest.raises(CardError, match="names 'age', which 'columns'"):
        load_card(write_card(tmp_path, 'person = "age"'))
    with pytest.raises(DataError, match=r"lacks columns.*did you mean 'patient_nbr'"):
        load_dataset(write_card(tmp_path, 'person = "patient"'))
    plain = load_card(write_card(tmp_path, ""))
    assert load_card(write_card(tmp_path)).digest != plain.digest


def test_advice_asks_for_people_and_measures_on_others() -> None:
    with pytest.raises(DoubtError):
        draft(visits(), WISH)
    auc = {}
    for person in ("patient_nbr", "none"):
        made = draft(visits(), replace(WISH, person=person))
        assert "patient_nbr" not in made.rows.schema.names
        auc[person] = data_features(made.rows, made.persons).label_auc
    assert auc["none"] > auc["patient_nbr"] + 0.05


def test_rows_without_a_name_are_persons_of_their_own(tmp_path: Path) -> None:
    frame = visits()
    frame["patient_nbr"] = (
        frame["patient_nbr"].astype(str).mask(frame.index < 20, "").mask(frame.index % 40 == 30, "-")
    )
    for person in ("patient_nbr", "rows"):
        made, dataset = of_card(frame, replace(WISH, person=person), tmp_path)
        np.testing.assert_array_equal(pd.factorize(made.persons)[0], dataset.persons.numbers)
        assert person == "rows" or len(np.unique(made.persons[:20])) == 20


def test_units_are_drawn_with_all_their_rows() -> None:
    units = np.array([1, 0, 2, 1, 1])
    assert rows_of_units(units, np.array([1, 2, 1])).tolist() == [0, 3, 4, 2, 0, 3, 4]
    assert rows_of_units(np.arange(5), np.array([4, 0, 4])).tolist() == [4, 0, 4]


def test_shuffled_row_numbers_hide_no_copies_where_rows_are_left_out(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    people = visits().drop_duplicates("patient_nbr").drop(columns="patient_nbr")
    frame = pd.concat([people] * 3, ignore_index=True).assign(number=rng.permutation(600))
    frame.loc[rng.choice(600, 40, replace=False), "treated"] = ""
    made = read(tmp_path, frame)
    assert made.dropped["number"] == "numbers the rows"
    assert "360 of 560 rows" in copies_warned_of(made)
