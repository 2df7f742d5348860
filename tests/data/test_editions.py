"""One card serves several files of the same form: each edition is a dataset of its own."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from benchmark.data.card import load_card
from benchmark.data.load import load_dataset
from benchmark.data.source import Sources
from benchmark.errors import BetabenchError, CardError, DataError, UnknownNameError
from benchmark.experiment.plan import Experiment

EDITIONS = """
defaults = {{ town = "A", year = "2020" }}

[[editions]]
town = "A"
year = "2020"
folder = "towns"
name = "a.csv"
url = "https://example.org/2020/a.zip"
member = "a.csv"
{digest}
[[editions]]
town = "B"
year = "2020"
folder = "towns"
name = "b.csv"
url = "https://example.org/2020/b.zip"
member = "b.csv"
"""
CARD = """
name = "towns"
title = "Towns"
label = "paid"
favorable_label = "yes"
sensitive_feature = "sex"
deprived_group = "f"
conditions = { age = ["> 16", "< 90"] }
source = { format = "csv", editions = "towns_files.toml" }

[columns.sex]
kind = "numeric"
codes = true
bins = [1, 2, 3]
states = ["m", "f"]

[columns.age]
kind = "numeric"
bins = [17, 40, 89]
states = ["young", "old"]

[columns.paid]
kind = "categorical"
states = ["no", "yes"]

[[dropped]]
columns = ["*"]
reason = "not needed"
"""
ROWS = "sex,age,weight,paid\n{}\n"


def towns(folder: Path, digest: str = "") -> Path:
    """Write a card, its editions and a data folder with an archive of each."""
    (folder / "towns.toml").write_text(CARD)
    (folder / "towns_files.toml").write_text(EDITIONS.format(digest=digest))
    (folder / "data" / "towns").mkdir(parents=True)
    people = {
        "a": ["1,20,7,yes", "02,030,7,no", "2,16,7,yes"],
        "b": ["1,89,7,no", "2,90,7,no", "2,,7,no", "2,50,7,yes"],
    }
    for name, lines in people.items():
        with zipfile.ZipFile(folder / "data" / "towns" / f"{name}.zip", "w") as archive:
            archive.writestr(f"{name}.csv", ROWS.format("\n".join(lines)))
    return folder / "towns.toml"


def loaded(path: Path, edition: str = "") -> Any:
    return load_dataset(f"{path}{edition}", Sources(path.parent / "data", offline=True))


def test_the_edition_decides_which_archive_is_read(tmp_path: Path) -> None:
    path = towns(tmp_path)
    assert loaded(path).to_frame().to_dict("list") == {
        "sex": ["m", "f"], "age": ["young", "young"], "paid": ["yes", "no"]
    }  # fmt: skip
    other = loaded(path, "[town=b]")
    assert other.to_frame()["paid"].tolist() == ["no", "yes"]
    assert not other.unused
    assert not load_card(path).schema().column("sex").ordered
    assert load_card(path).schema().column("age").ordered


def test_a_wrong_archive_is_said(tmp_path: Path) -> None:
    path = towns(tmp_path, f'archive_sha256 = "{"0" * 64}"')
    with pytest.raises(DataError, match=r"checksum of .*a\.zip is wrong"):
        loaded(path)


@pytest.mark.parametrize(
    ("edition", "error", "message"),
    [
        ("[town=C]", UnknownNameError, "town=C; year=2020"),
        ("[street=A]", UnknownNameError, "street"),
        ("[town=A,B]", CardError, "stands for several datasets"),
        ("[town]", CardError, "malformed"),
    ],
)
def test_an_edition_that_is_not_there_is_said(
    tmp_path: Path, edition: str, error: type[BetabenchError], message: str
) -> None:
    with pytest.raises(error, match=message):
        load_card(f"{towns(tmp_path)}{edition}")


def test_a_card_without_editions_takes_no_brackets() -> None:
    with pytest.raises(CardError, match="has no editions"):
        load_card("adult[state=HI]")


def test_a_condition_must_be_one(tmp_path: Path) -> None:
    path = towns(tmp_path)
    path.write_text(CARD.replace("> 16", "about 16"))
    with pytest.raises(CardError, match="must be conditions such as"):
        load_card(path)


def test_an_experiment_lists_editions_as_entries() -> None:
    experiment = Experiment(
        datasets=["acs_income[state=HI,NE; year=2018]", "adult"], bias="label", betas=[0], techniques=["none"]
    )
    assert [entry.name for entry in experiment.datasets] == [
        "acs_income_hi_2018",
        "acs_income_ne_2018",
        "adult",
    ]
    cards = [entry.find_card() for entry in experiment.datasets]
    assert cards[0].digest != cards[1].digest


@pytest.mark.real_data
@pytest.mark.parametrize(("state", "n_rows"), [("DE", 4713), ("NE", 10785), ("WY", 3064)])
def test_incomes_of_each_state_have_the_published_number_of_rows(
    state: str, n_rows: int, data_dir: Path
) -> None:
    assert len(load_dataset(f"acs_income[state={state}]", Sources(data_dir)).table) == n_rows


@pytest.mark.real_data
@pytest.mark.parametrize("edition", ["state=HI; year=2015"])
def test_tasks_are_those_of_the_raw_file(edition: str, data_dir: Path) -> None:
    """Rows and favorable labels by pandas, from the definitions of Ding and others (2021)."""
    state, year = (part.split("=")[1] for part in edition.split("; "))
    with zipfile.ZipFile(data_dir / f"acs_{year}" / f"csv_p{state.lower()}.zip") as archive:
        name = next(name for name in archive.namelist() if name.endswith(".csv"))
        raw = pd.read_csv(archive.open(name), low_memory=False)
    adults = (raw["AGEP"] > 16) & (raw["PWGTP"] >= 1)
    tasks = {
        "acs_income": (adults & (raw["PINCP"] > 100) & (raw["WKHP"] > 0), raw["PINCP"] > 50000),
        "acs_public_coverage": ((raw["AGEP"] < 65) & (raw["PINCP"] <= 30000), raw["PUBCOV"] == 1),
        "acs_mobility": ((raw["AGEP"] > 18) & (raw["AGEP"] < 35), raw["MIG"] == 1),
        "acs_employment": (adults & (raw["AGEP"] < 90), raw["ESR"] == 1),
        "acs_travel_time": (adults & (raw["ESR"] == 1), ~(raw["JWMNP"] > 20)),
    }
    for task, (rows, favorable) in tasks.items():
        table = load_dataset(f"{task}[{edition}]", Sources(data_dir)).table
        women = raw["SEX"] == 2
        assert len(table) == rows.sum()
        assert table.y.sum() == (rows & favorable).sum()
        assert (table.y & table.deprived).sum() == (rows & favorable & women).sum()
