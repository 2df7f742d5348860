"""Every shipped card: complete without the data, and true to them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark.data.card import Card, list_cards, load_card
from benchmark.data.load import load_dataset
from benchmark.data.source import Sources
from benchmark.declarations import declaration_dir
from tools.sources import count, counted
from website.dataset_pages import dataset_page

CARDS = {card.name: card for card in list_cards()}
every_card = pytest.mark.parametrize("card", CARDS.values(), ids=CARDS.keys())

# Cards of files whose official checksums are not known; they say so among their problems.
UNPINNED = {"kdd_census"}


def test_every_card_is_counted() -> None:
    """``python -m tools.sources NAME`` counts a new one."""
    assert {name: sum(counts[:4]) for name, counts in counted().items()} == {
        name: card.rows for name, card in CARDS.items()
    }


@every_card
def test_card_is_complete(card: Card) -> None:
    assert card.path == (declaration_dir("datasets") / f"{card.name}.toml").resolve()
    for text in (card.description, card.citation, card.licence):
        assert len(text.strip()) > 5
    assert card.homepage.startswith("https://")
    assert dataset_page(card, Path("d"), Path()).startswith(f"# {card.title}\n")
    assert re.search(r"@\w+\{\w+,", card.bibtex)
    assert card.bibtex.count("{") == card.bibtex.count("}")
    assert len(card.known_problems) >= 3
    assert all(problem.endswith((".", ")")) for problem in card.known_problems)
    assert all((card.field, card.country, card.years))
    assert card.not_for.endswith(".")
    for file in card.source.all_files:
        assert (file.url is None) == bool(card.source.instructions)
        if card.name in UNPINNED:
            assert any("not pinned" in problem for problem in card.known_problems)
            assert file.sha256 is file.size is file.archive_sha256 is None
            continue
        assert file.sha256 is not None
        assert file.size is not None
        assert (file.archive_sha256 is None) == (not file.member)


@every_card
def test_schema_needs_no_data(card: Card) -> None:
    schema = card.schema()
    assert schema.names == tuple(card.columns)
    assert schema.names[-1] == schema.label
    assert all(column.cardinality >= 2 for column in schema.columns)


@every_card
def test_names_can_stand_in_files_and_formulas(card: Card) -> None:
    for column in card.schema().columns:
        assert column.name.isidentifier()
        for state in column.states:
            assert re.fullmatch(r"[ -~]+", state)
            assert not set(state) & set(",;\"'\\{}|")


def test_the_leaky_card_differs_from_the_clean_one_only_by_the_leak() -> None:
    clean, leaky = CARDS["compas"], CARDS["compas_leaky"]
    assert leaky.warning is not None
    assert "event" in leaky.warning
    assert all(card.warning is None for card in CARDS.values() if card is not leaky)
    assert (clean.required_edges, leaky.required_edges) == ((("race", "two_year_recid"),), ())
    assert {name: spec for name, spec in leaky.columns.items() if name != "event"} == clean.columns
    assert leaky.source.files == clean.source.files
    assert (leaky.filter, leaky.network, leaky.folder) == (clean.filter, clean.network, clean.folder)


def test_the_five_feature_card_differs_from_the_full_one_only_by_its_columns() -> None:
    full, five = CARDS["compas"], CARDS["compas_zafar"]
    assert set(five.columns) == {
        *("age_cat", "race", "sex", "priors_count", "c_charge_degree"),
        "two_year_recid",
    }
    assert all(full.columns[name] == spec for name, spec in five.columns.items())
    assert five.required_edges == ()
    assert five.source.files == full.source.files
    assert (five.filter, five.network, five.folder) == (full.filter, full.network, full.folder)


IDENTITIES = {"name", "first", "last", "dob", "c_case_number", "r_case_number", "vr_case_number"}
NEVER_READ = {
    **dict.fromkeys(("compas", "compas_leaky", "compas_violent", "compas_zafar"), IDENTITIES),
    "resume_audit": {"firstname"},
    "ru_audit": {
        *("name", "nameLat", "candidateID", "genderEmp", "notRussianEmp"),
        *("emailContact", "websiteContact", "phoneContact", "rejected"),
    },
}


@pytest.mark.parametrize("name", NEVER_READ)
def test_what_identifies_a_person_or_follows_the_outcome_is_dropped(name: str) -> None:
    card = CARDS[name]
    assert NEVER_READ[name] <= {column for group in card.dropped for column in group.columns}
    assert not NEVER_READ[name] & {spec.source or column for column, spec in card.columns.items()}


def test_no_shipped_feature_is_read_from_a_judgement() -> None:
    judged = {card.name: card for card in CARDS.values() if card.judged is not None}
    assert judged.keys() == {"human_recidivism", "school_performance"}
    for card in judged.values():
        assert not {spec.source or name for name, spec in card.columns.items()} & set(card.behind)
        assert "judged" not in card.schema().names


MOST_VALUES = 200_000  # of a table that is read by day


@pytest.mark.real_data
@pytest.mark.parametrize(
    "card",
    [
        pytest.param(
            card,
            id=card.name,
            marks=[pytest.mark.nightly] * ((card.rows or 0) * len(card.columns) > MOST_VALUES),
        )
        for card in CARDS.values()
    ],
)
def test_card_is_true_to_the_data(card: Card, data_dir: Path) -> None:
    dataset = load_dataset(card, Sources(data_dir, offline=True))
    table, counts = dataset.table, counted()[card.name]
    assert count(dataset) == counts  # the digest of all rows among them
    # Every state occurs: an impossible one would cost the network's score parameters.
    for i, column in enumerate(table.schema.columns):
        rarest = np.bincount(table.codes[:, i], minlength=column.cardinality).min()
        assert rarest >= card.network.min_count, column.name
    assert dataset.unused == ()
    better_off = any("better off in these labels" in problem for problem in card.known_problems)
    assert [note for note in dataset.notes if "better off" not in note] == []
    assert (counts.rates[0] > counts.rates[1]) == better_off == bool(dataset.notes)
    assert dataset.source.startswith("data directory: ")


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "file", "number", "facts"),
    [
        ("student_por", "student/student-por.csv", "G3", (10, 9.5, 0)),
        ("ricci", "ricci/ricci_race.csv", "Combine", None),
    ],
)
def test_the_number_behind_a_label_is_that_of_the_file(
    name: str, file: str, number: str, facts: tuple[float, float, float] | None, data_dir: Path
) -> None:
    score = load_dataset(name, Sources(data_dir, offline=True)).score
    assert score.values.tolist() == pd.read_csv(data_dir / file)[number].tolist()
    assert facts in (None, (score.threshold, score.half_range, score.lowest))


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "columns", "gap", "true"),
    [
        ("school_performance", {}, 0.1495, 0.035),
        (
            "school_performance",
            {"passed": {"bins": [0, 12, 20]}, "judged": {"bins": [0, 12, 20]}},
            0.1682,
            0.0631,
        ),
        ("human_recidivism", {}, 0.0674, 0.1988),
        ("human_recidivism", {"judged": {"bins": [0, 60, 100]}}, 0.0644, 0.1988),
    ],
)
def test_what_people_judged_is_true_to_the_files(
    data_dir: Path, name: str, columns: dict[str, dict[str, list[float]]], gap: float, true: float
) -> None:
    dataset = load_dataset(load_card(name).with_columns(columns), Sources(data_dir, offline=True))
    judged, table = dataset.judged, dataset.table
    assert round(judged.gap(table), 4) == gap
    assert round(judged.gap(table) - judged.dose(table), 4) == true
    persons = np.unique(judged.persons, return_counts=True)[1]
    judges = np.unique(judged.judges, return_counts=True)[1]
    if name == "school_performance":
        assert (len(persons), persons.max()) == (856, 1)
        assert (len(judges), *set(judges)) == (107, 8)
        return
    assert (len(persons), persons.max(), len(judges)) == (999, 28, 173)
    assert 4 * persons.max() < dataset.card.network.min_count
    assert (np.unique([judged.judges, judged.persons], axis=1, return_counts=True)[1] > 1).sum() == 500
    # A person is the same in all rows, in truth as well.
    codes = np.column_stack([judged.persons, table.codes])
    assert len(np.unique(codes, axis=0)) == 999
    # The join, by another program.
    rows = pd.read_csv(data_dir / name / "df_response.csv", dtype={"individual_id": str})
    vignettes = pd.read_csv(data_dir / name / "compas_vignettes.csv", dtype={"id": str})
    merged = rows.merge(vignettes, left_on="individual_id", right_on="id")
    assert merged["outcome"].eq(0).tolist() == table.y.tolist()
    assert merged["race"].eq(2).tolist() == table.deprived.tolist()
    if not columns:
        assert merged["predicted_decision"].lt(50).tolist() == judged.favorable.tolist()
