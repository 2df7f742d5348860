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
    labels, favorable = (
        theirs["label"].str.replace(",", ""),
        facts["favorable"].replace(",", ""),
    )  # as in a state
    assert card.favorable_label == favorable
    assert set(ours[card.label]) == {favorable, facts["unfavorable"]}
    assert (ours[card.label] == labels).all()
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


def converted(name: str, people: Path) -> pd.DataFrame:
    """Return the CSV file that lies beside a file of R, or the only raw file, as pandas reads it."""
    (file,) = (path for path in (people / name).glob("*.csv*") if path.name != "prepared.csv.gz")
    return pd.read_csv(file, keep_default_na=False, na_values=[""])


def test_the_known_problems_of_tests_and_hearts_are_in_the_files(people: Path) -> None:
    pupils = converted("dutch_pupils", people)
    tested = pupils[pupils["lpo"].notna()]
    assert (len(pupils), len(pupils) - len(tested), tested["lpo"].median()) == (4_106, 204, 42)
    assert (tested["sch"].nunique(), pupils["sch"].is_monotonic_increasing) == (211, True)
    for column, missing in (("ssi", 603), ("den", 246)):
        assert tested[column].isna().sum() == missing
        assert tested.groupby("sch")[column].nunique().max() == 1
    exams = converted("framingham", people)
    first = exams[exams["PERIOD"] == 1]
    well = first[(first["PREVCHD"] == 0) & (first["PREVSTRK"] == 0)]
    assert len(first) - len(well) == 219
    assert (well[["PREVAP", "PREVMI", "TIME"]] == 0).all(axis=None)
    spared = well[well["CVD"] == 0]
    assert (int(spared["DEATH"].sum()), int(spared["ANGINA"].sum())) == (753, 239)
    assert well[["HDLC", "LDLC"]].isna().all(axis=None)
    hearts = converted("heart_uci", people)
    unmeasured = hearts[hearts["chol"] == 0]["site"].value_counts()
    assert (unmeasured.to_dict(), (hearts["trestbps"] == 0).sum()) == ({"switzerland": 123, "va": 49}, 1)
    ill = (hearts["num"] > 0).groupby(hearts["site"]).mean()
    assert [round(100 * ill[site]) for site in ("switzerland", "hungarian")] == [93, 36]
    assert hearts.loc[hearts["site"] == "cleveland", ["ca", "thal"]].isna().sum().tolist() == [4, 2]
    assert hearts.duplicated().sum() == 2


def test_the_known_problems_of_incomes_and_parole_are_in_the_files(people: Path) -> None:
    workers = converted("cps2012_wages", people)
    assert (workers["lnw"] == workers["lnw"].median()).sum() == 553
    assert round(workers["lnw"].median(), 5) == 2.77454
    assert np.exp(workers["lnw"].min()) < 0.01
    asked = converted("gss_income", people)
    earning = asked[asked["realrinc"].notna()]
    assert (len(asked), len(asked) - len(earning)) == (61_697, 23_810)
    assert (earning["realrinc"].median(), (earning["realrinc"] == 16_563).sum()) == (16_563, 64)
    lacking = asked["realrinc"].isna().groupby(asked["gender"]).mean()
    assert [round(100 * lacking[gender]) for gender in ("Female", "Male")] == [46, 29]
    part = earning.loc[earning["wrkstat"] == "Part-Time", "gender"] == "Female"
    assert (earning["realrinc"].nunique(), round(100 * part.mean())) == (602, 68)
    assert (earning["age"].max(), earning["childs"].max(), earning["maritalcat"].isna().sum()) == (89, 8, 4)
    youth = converted("nlsy79_income", people)
    assert ((youth["income06"] == 0).sum(), youth["income06"].median()) == (683, 3.3483)
    assert youth["race"].nunique() == 29
    assert (youth["age"].min(), youth["age"].max()) == (14, 22)
    assert youth["grade90"].isin(["3RD GRADE", "4TH GRADE", "5TH GRADE"]).sum() == 6
    answers = converted("sf_bay_income", people)
    rare, silent = answers["Ethnic"].isin([1, 4, 6, 8]), answers["Ethnic"].isna()
    assert (rare.sum(), silent.sum()) == (496, 68)
    kept = answers[~rare & ~silent]
    assert ((kept["Age"] == 1).sum(), kept.duplicated().sum()) == (806, 659)
    assert (kept["Householdu18"] >= kept["Household"]).sum() == 85
    parole = converted("georgia_parole", people)
    assert (parole["Supervision_Risk_Score_First"] == 0).sum() == 472
    unrecorded = {
        start: parole.filter(regex=f"^{start}_").sum(axis=1) == 0
        for start in ("Gang_Affiliated", "Supervision_Level_First", "Prison_Offense")
    }
    assert [int(rows.sum()) for rows in unrecorded.values()] == [3_152, 1_716, 3_264]
    assert (unrecorded["Gang_Affiliated"] == (parole["Gender_F"] == 1)).all()
