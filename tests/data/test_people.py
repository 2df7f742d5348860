"""Cards of sources that were prepared apart from this program: row by row, they say the same."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark.data.card import list_cards
from benchmark.data.load import load_dataset, read_card
from benchmark.data.source import Sources, read_sources

pytestmark = pytest.mark.real_data

NO_CARD: dict[str, str] = {}
"""Why a prepared source has no card."""

SPELLED = {"Nacionality": "nationality"}
"""Columns that the card spells otherwise."""

SORTED = {"diabetes130": "encounter_id"}
"""Tables that are sorted by a column of the file, which the file is not."""

IDENTIFIERS = {"nhefs": ["id"]}
"""Columns that only number persons, and that a prepared table kept."""

CARDS = {card.name: card for card in list_cards()}


@cache
def manifest(people: Path) -> pd.DataFrame:
    return pd.read_csv(people / "manifest.csv", index_col="name", dtype=str, keep_default_na=False)


@pytest.fixture
def people(data_dir: Path) -> Path:
    if not (data_dir / "people").is_dir():
        pytest.skip("BETABENCH_DATA has no folder people")
    return data_dir / "people"


def one_to_one(ours: pd.Series, theirs: pd.Series, rare: int = 1) -> bool:
    """Return whether each value of the other table has one state of its own; rare ones may share a state."""
    pairs = pd.DataFrame({"ours": ours.to_numpy(), "theirs": theirs.to_numpy()}).value_counts().reset_index()
    own = pairs[pairs["count"] >= rare]
    return bool(pairs["theirs"].is_unique and own["ours"].is_unique)


def cut(numbers: pd.Series, edges: list[float]) -> Iterator[pd.Series]:
    """Yield the bins of numbers by upper edges, -1 if a number is missing.

    Edges have three digits, and files single precision: an edge stands for itself, or for what rounds to it.
    """
    rounded = numbers.map(lambda number: float(f"{number:.3g}"))
    for read in (numbers, numbers.astype(np.float32), rounded):
        bins = np.searchsorted(np.array(edges, dtype=read.dtype), read)
        yield pd.Series(np.where(numbers.isna(), -1, bins))


def test_every_source_has_a_card_or_a_reason(people: Path) -> None:
    assert {*manifest(people).index} - CARDS.keys() == NO_CARD.keys()


@pytest.mark.parametrize("name", CARDS)
def test_a_card_says_the_same_as_the_prepared_table(name: str, people: Path) -> None:
    if name not in manifest(people).index:
        pytest.skip("no prepared table")
    card, facts = CARDS[name], manifest(people).loc[name]
    dataset = load_dataset(card, Sources(people.parent, offline=True))
    theirs = pd.read_csv(
        people / name / "prepared.csv.gz", dtype=str, keep_default_na=False, na_values=["", "NA"]
    )
    ours = dataset.to_frame().astype(str)
    theirs = theirs.drop(columns=IDENTIFIERS.get(name, []))
    if key := SORTED.get(name):
        (source,) = files = read_sources(card, Sources(people.parent, offline=True))
        read = read_card(card, files).lines - 2  # below the header
        keys = pd.read_csv(io.BytesIO(source.content), usecols=[key])[key].iloc[read]
        theirs = theirs.iloc[np.argsort(np.argsort(keys))].reset_index(drop=True)
    names = dict(zip(theirs, ours, strict=True))
    assert names.pop("label") == card.label
    for column, mine in names.items():  # a name that cannot stand in formulas has another one
        assert mine.lower() == SPELLED.get(column, column.lower()) or not column.isidentifier()
    assert len(ours) == len(theirs) == int(facts["rows"])
    # Labels and groups.
    table = dataset.table
    assert card.favorable_label == facts["favorable"]
    assert set(ours[card.label]) == {facts["favorable"], facts["unfavorable"]}
    assert (ours[card.label] == theirs["label"]).all()
    attributes = [facts[f"sensitive_{i}"] for i in (1, 2) if facts[f"sensitive_{i}"]]
    assert card.sensitive_feature == names[attributes[0]]
    assert [*card.sensitive] == ([names[name] for name in attributes] if len(attributes) > 1 else [])
    deprived = theirs[attributes[0]].isin(facts["deprived_1"].split("|"))
    assert (table.deprived == deprived).all()
    assert int(deprived.sum()) == int(facts["rows_deprived_1"])
    for rows, rate in ((table.deprived, "deprived"), (~table.deprived, "others")):
        assert round(table.y[rows].mean(), 4) == float(facts[f"favorable_rate_{rate}_1"])
    # Columns: no feature is what the other table dropped, such as an identifier.
    features = {
        source for column in card.columns if column != card.label for source in card.read_from(column)
    }
    assert not features & {word.strip() for word in re.split("[,;()]", facts["dropped"])}
    columns = json.loads((people / "cards.json").read_text())[name]["columns"]
    for column, mine in names.items():
        states, cells = ours[mine], theirs[column]
        if (edges := columns[column].get("bins (upper edges, value <= edge)")) is None:
            assert one_to_one(states, cells.fillna(""), card.network.min_count), column
        else:
            numbers = cells.astype(float)
            assert any(
                one_to_one(states, binned, card.network.min_count) for binned in cut(numbers, edges)
            ), column


def raw(name: str, people: Path) -> pd.DataFrame:
    """Return a source's CSV file as pandas reads it, apart from this program."""
    return pd.read_csv(people / name / str(CARDS[name].source.files[0].name))


def test_the_known_problems_of_loans_arrests_and_prisons_are_in_the_files(people: Path) -> None:
    loans = raw("boston_hmda", people)
    assert (loans["afam"] == "yes").sum() == 339
    assert ((loans["afam"] == "yes") & (loans["deny"] == "yes")).sum() == 96
    assert ((loans["pirat"] > 1).sum(), (loans["hirat"] > loans["pirat"]).sum()) == (5, 5)
    assert loans.drop(columns="rownames").duplicated().sum() == 3
    arrests = raw("california_arrests", people)
    inside = arrests[arrests["ptime86"] >= 9]
    assert (len(inside), inside["narr86"].sum()) == (70, 0)
    assert (arrests["pcnv"] == 0).sum() == 1_260
    assert not (arrests["black"] & arrests["hispan"]).any()
    copies = arrests[arrests.drop(columns="rownames").duplicated()]
    assert (len(copies), copies["avgsen"].max()) == (206, 0)
    prison = raw("nc_prison", people)
    assert (prison["follow"].min(), prison["follow"].max()) == (70, 81)


def test_the_known_problems_of_pupils_and_young_men_are_in_the_files(people: Path) -> None:
    seniors = raw("hsb1980", people)
    assert (seniors["region"][:3_796] == "other").all()
    assert (seniors["region"][3_796:] == "west").all()
    london = raw("inner_london", people)
    assert (london.groupby("school")["vr"].nunique() == 1).all()
    for score in ("normexam", "standLRT"):
        assert london.groupby("intake")[score].mean().is_monotonic_decreasing  # bottom, middle, top
    assert set(london.loc[london["schgend"] == "girls", "sex"]) == {"F"}
    star = raw("tennessee_star", people)
    tested = star[star["read3"].notna()]
    pupils = tested[tested["ethnicity"].isin(["afam", "cauc"])]
    assert (len(star), len(star) - len(tested)) == (11_598, 5_598)
    assert (tested["ethnicity"].isna().sum(), len(tested) - len(pupils)) == (12, 12 + 29)
    assert (pupils["read3"].median(), pupils["schoolid3"].nunique()) == (614, 74)
    grade_8 = raw("nels88", people)
    unknown, minority = grade_8["hsgrad"].isna(), (grade_8["black"] + grade_8["hispan"]) == 1
    assert (len(grade_8), unknown.sum(), (grade_8["hsgrad"] == 0).sum()) == (7_430, 1_460, 416)
    assert [round(100 * minority[part].mean(), 1) for part in (unknown, ~unknown)] == [11.4, 18.9]
    seniors = raw("nls72", people)
    ranks, scores = seniors["phsrank"] == 50, seniors["stotal"] == 0
    assert (ranks.sum(), scores.sum(), (ranks & scores).sum()) == (1_609, 1_528, 1_203)
    assert seniors["lwage"].notna().all()
    men = raw("nls_young_men", people)
    assert men[["IQ", "fatheduc", "motheduc"]].isna().sum().tolist() == [949, 690, 353]
    assert (men["wage"].median(), (men["married"] == 3).sum()) == (537.5, 3)
    assert (men["south66"] == men["reg665"] + men["reg666"] + men["reg667"]).all()


def test_the_known_problems_of_patients_and_respondents_are_in_the_files(people: Path) -> None:
    (file,) = read_sources(CARDS["diabetes130"], Sources(people.parent, offline=True))
    stays = pd.read_csv(io.BytesIO(file.content), dtype=str, keep_default_na=False)
    assert stays["encounter_id"].astype(int).groupby(stays["patient_nbr"]).is_monotonic_increasing.all()
    first = stays.drop_duplicates("patient_nbr")
    alive = first[~first["discharge_disposition_id"].isin(["11", "13", "14", "19", "20", "21"])]
    assert (len(first), len(first) - len(alive), (alive["race"] == "?").sum()) == (71_518, 1_545, 1_918)
    assert ((alive["gender"] == "Unknown/Invalid") & (alive["race"] != "?")).sum() == 1
    ill = raw("support2", people).dropna(subset="race")
    assert [(ill[name] == 0).sum() for name in ("meanbp", "hrt", "resp")] == [50, 82, 64]
    known = ill.groupby(ill["income"].notna())["hospdead"].mean()
    assert [round(100 * known[answer], 1) for answer in (True, False)] == [23.9, 29.8]
    once = ["scoma", "sps", "aps", "meanbp", "hrt", "resp", "temp", "sod"]
    assert (ill[once].isna().sum() == 1).all()
    women = raw("indonesia_contraception", people)
    assert ((women["religion"] == 0).sum(), women.duplicated().sum()) == (220, 48)
    names = CARDS["drug_consumption"].source.column_names
    users = pd.read_csv(people / "drug_consumption" / "drug_consumption.data", names=names)
    assert ((users["semer"] != "CL0").sum(), (users["ethnicity"] != -0.31685).sum()) == (8, 165)


def test_the_known_problems_of_releases_claims_and_students_are_in_the_files(people: Path) -> None:
    releases = pd.read_csv(next((people / "iowa_prison").glob("3-Year*")), dtype=str)
    groups, year = releases[["Race - Ethnicity", "Sex"]], releases["Fiscal Year Released"]
    unknown = groups.isna().any(axis=1)
    assert (unknown.sum(), {*year[unknown]}, {*releases.loc[unknown, "Return to Prison"]}) == (
        33,
        {"2012"},
        {"No"},
    )
    assert releases[~unknown].duplicated().sum() == 7_146
    assert {*releases.loc[year == "2014", "Release Type"].dropna()} == {"Parole"}
    claims = pd.read_csv(people / "penn_unemployment" / "penn_jae.dat", sep=r"\s+")
    weeks, black = claims["inuidur1"], claims["black"] == 1
    assert ((weeks >= 26).sum(), (weeks == 27).sum(), claims["othrace"].sum()) == (3_350, 2_510, 80)
    assert [round(100 * (weeks[part] < 13).mean(), 1) for part in (black, ~black)] == [60.0, 54.8]
    students = pd.read_csv(people / "portugal_dropout" / "data2.csv", sep=";", encoding="utf-8-sig")
    graduate, course = students["Target"] == "Graduate", students["Course"]
    fees = graduate[students["Tuition fees up to date"] == 0]
    assert round(100 * fees.mean(), 1) == 5.5
    for part, ends in ((students["Gender"] == 0, [4, 95]), (graduate, [8, 72])):
        shares = 100 * part.groupby(course).mean()
        assert [round(shares.min()), round(shares.max())] == ends
    nations = students["Nacionality"].value_counts()
    assert ((nations < 5).sum(), len(nations)) == (15, 21)
    assert ((students["Nacionality"] != 1) == students["International"]).all()
