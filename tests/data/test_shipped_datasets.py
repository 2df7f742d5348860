"""Every shipped card: complete without the data, and true to them."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark.data.card import Card, list_cards, load_card
from benchmark.data.files import packed_frame, read_sheet
from benchmark.data.load import load_dataset
from benchmark.data.source import Sources, read_sources
from benchmark.declarations import declaration_dir
from tools.sources import count, counted
from website.dataset_pages import dataset_page

CARDS = {card.name: card for card in list_cards()}
every_card = pytest.mark.parametrize("card", CARDS.values(), ids=CARDS.keys())

# First, middle (number n // 2) and last row.
ROWS = {
    "adult": (
        "39-46 State-gov Bachelors Never-married Adm-clerical Not-in-family White Male low zero 40 "
        "United-States <=50K",
        "47-53 Private HS-grad Married-civ-spouse Adm-clerical Husband White Male zero zero 1-39 "
        "United-States <=50K",
        "32-38 Self-emp-inc Bachelors Married-civ-spouse Exec-managerial Husband White Male zero zero 41-99 "
        "United-States >50K",
    ),
    "compas": (
        "Male|25 - 45|African-American|0|0|0|0|F|Low|Low|yes",
        "Male|25 - 45|African-American|0|0|0|1|F|Low|Low|no",
        "Female|25 - 45|African-American|0|0|0|2-3|M|Low|Low|no",
    ),
    "dutch": (
        "1 6 1131 112 1 1 1 5 111 135 1 2_1",
        "2 4 1110 125 1 1 1 2 111 135 1 5_4_9",
        "1 12 1121 112 1 1 1 5 111 137 2 2_1",
    ),
    "kdd_census": (
        "65-90|Not in universe|High school graduate|none recorded|Widowed|Not in universe|White|Female|"
        "Not in universe|zero|zero|zero|Nonfiler|0|0|below 50000",
        "16-24|Not in universe|No diploma|none recorded|Never married|Not in universe|White|Male|"
        "Not in universe|zero|zero|zero|Nonfiler|0|0|below 50000",
        "25-34|Private|High school graduate|none recorded|Never married|Other service|Black|Female|No|"
        "zero|zero|zero|Single|6|52|below 50000",
    ),
    "student_por": (
        "GP|F|18|U|GT3|A|4|4|at_home|teacher|course|mother|2|2|0|yes|no|no|no|yes|yes|no|no|4|3|4|1|1|3|4|"
        "0-6|11|yes",
        "GP|M|18|U|GT3|T|1|2|at_home|other|home|other|2|1|0|no|no|no|no|no|no|yes|no|3|4|4|2|4|4|9-10|10|10|yes",
        "MS|M|18|R|LE3|T|3|2|services|other|course|mother|3|1|0|no|no|no|no|no|yes|yes|no|4|4|1|3|4|5|4|"
        "10|11|yes",
    ),
}

# Cards of files whose official checksums are not known; they say so among their problems.
UNPINNED = {"kdd_census"}

# Names that the other programs' tables use for the same columns.
ORACLES = {
    "adult": ("adult.csv.gz", {"income": "label"}),
    "compas": (
        "compas2.csv.gz",
        {
            "juv_fel_count": "juv_fel",
            "juv_misd_count": "juv_misd",
            "juv_other_count": "juv_other",
            "priors_count": "priors",
            "c_charge_degree": "charge",
        },
    ),
    "dutch": ("dutch.csv.gz", {}),
}


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


def test_what_identifies_a_person_is_dropped_from_compas() -> None:
    for name in ("compas", "compas_leaky", "compas_violent", "compas_zafar"):
        card = CARDS[name]
        (identities,) = [group.columns for group in card.dropped if group.reason == "They identify persons."]
        assert {"name", "first", "last", "dob", "c_case_number", "r_case_number", "vr_case_number"} <= set(
            identities
        )
        assert not {spec.source or column for column, spec in card.columns.items()} & set(identities)


def test_no_name_of_an_audit_and_nothing_after_its_outcome_is_loaded() -> None:
    after = {
        "resume_audit": {"firstname"},
        "ru_audit": {
            *("name", "nameLat", "candidateID", "genderEmp", "notRussianEmp"),
            *("emailContact", "websiteContact", "phoneContact", "rejected"),
        },
    }
    for name, columns in after.items():
        card = CARDS[name]
        assert columns <= {column for group in card.dropped for column in group.columns}
        assert not columns & {spec.source or column for column, spec in card.columns.items()}
        assert any("Nobody has a true label" in problem for problem in card.known_problems)


def test_no_shipped_feature_is_read_from_a_judgement() -> None:
    judged = {card.name: card for card in CARDS.values() if card.judged is not None}
    assert judged.keys() == {"human_recidivism", "school_performance"}
    for card in judged.values():
        assert not {spec.source or name for name, spec in card.columns.items()} & set(card.behind)
        assert "judged" not in card.schema().names


@pytest.mark.real_data
@every_card
def test_card_is_true_to_the_data(card: Card, data_dir: Path) -> None:
    dataset = load_dataset(card, Sources(data_dir, offline=True))
    table, counts = dataset.table, counted()[card.name]
    assert count(dataset) == counts
    if card.name in ROWS:
        frame = dataset.to_frame()
        separator = "|" if "|" in ROWS[card.name][0] else " "
        spots = [separator.join(frame.iloc[row]) for row in (0, len(table) // 2, len(table) - 1)]
        assert spots == list(ROWS[card.name])
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
@every_card
def test_every_column_of_the_files_is_kept_or_dropped(card: Card, data_dir: Path) -> None:
    header: list[str] = []
    files = read_sources(card, Sources(data_dir, offline=True))
    for file in files if card.source.join else files[:1]:
        if card.source.format == "rda":
            header += [*packed_frame(file.content, file.location, "rda").columns]
            continue
        text = file.content if card.source.format == "xlsx" else file.content.decode(card.source.encoding)
        if isinstance(text, bytes):
            header += read_sheet(text, file.location).rows[0][1]
        elif card.source.format == "arff":
            header += [line.split()[1] for line in text.splitlines() if line.startswith("@attribute")]
        else:
            first = next(csv.reader(text.splitlines(), delimiter=card.source.delimiter))
            named = [name.strip() or f"column_{place}" for place, name in enumerate(first, 1)]
            header += card.source.column_names or named
    names = [
        f"{name}.{header[:i].count(name)}" if name in header[:i] else name for i, name in enumerate(header)
    ]
    kept = card.columns_of_file
    dropped = [name for group in card.dropped for name in group.columns]
    if "*" in dropped:
        assert {*kept} <= {*names}
    else:
        assert sorted([*kept, *dropped]) == sorted(names)


@pytest.mark.real_data
@pytest.mark.parametrize(("name", "median"), [("capital_gain", 7298), ("capital_loss", 1887)])
def test_low_capital_ends_at_the_median(data_dir: Path, name: str, median: int) -> None:
    position = (load_card("adult").source.column_names or ()).index(name)
    values = []
    for file in ("adult.data", "adult.test"):
        lines = (data_dir / "adult" / file).read_text().splitlines()
        values += [int(line.split(",")[position]) for line in lines if line.count(",") > 5]
    positive = np.array([value for value in values if value > 0])
    assert np.median(positive) == median
    assert load_card("adult").columns[name].bins[2] == median + 1  # type: ignore[union-attr]


@pytest.mark.real_data
@pytest.mark.oracle
@pytest.mark.parametrize("name", ORACLES)
def test_columns_agree_row_by_row_with_another_preparation(
    name: str, data_dir: Path, oracle_dir: Path
) -> None:
    file, renamed = ORACLES[name]
    theirs = pd.read_csv(oracle_dir / "tables" / file, dtype=str, keep_default_na=False)
    ours = load_dataset(name, Sources(data_dir, offline=True)).to_frame()
    # Their hours are in five bins of equal width; ours are checked against the file's own numbers below.
    for column in ours.columns.drop("hours_per_week", errors="ignore"):
        pairs = pd.DataFrame(
            {"ours": ours[column].astype(str), "theirs": theirs[renamed.get(column, column)]}
        )
        distinct = pairs.drop_duplicates()
        assert distinct["ours"].is_unique, column
        assert distinct["theirs"].is_unique, column


@pytest.mark.real_data
def test_the_grade_behind_the_label_of_the_students_and_their_known_problems(data_dir: Path) -> None:
    dataset = load_dataset("student_por", Sources(data_dir, offline=True))
    raw = pd.read_csv(data_dir / "student" / "student-por.csv")
    score = dataset.score
    assert score.values.tolist() == raw["G3"].tolist()
    assert (score.threshold, score.lowest, score.half_range) == (10, 0, 9.5)
    assert dataset.notes == ()
    passed = raw["G3"] >= 10
    assert round(((raw["G2"] >= 10) == passed).mean(), 3) == 0.897
    assert "| number behind the label | `G3` | 10 and more" in dataset_page(dataset.card, Path("d"), Path())
    zero = raw[raw["G3"] == 0]
    assert (len(zero), (zero["G2"] > 0).sum(), set(zero["absences"])) == (15, 8, {0})


@pytest.mark.real_data
def test_two_loads_are_the_same(data_dir: Path) -> None:
    first, second = (load_dataset("compas", Sources(data_dir, offline=True)) for _ in range(2))
    assert first.digest == second.digest
    assert first.digest != load_dataset("compas_leaky", Sources(data_dir, offline=True)).digest


@pytest.mark.real_data
def test_hours_are_below_at_or_above_forty(data_dir: Path) -> None:
    frame = load_dataset("adult", Sources(data_dir, offline=True)).to_frame()
    # Counted in the raw files with awk, apart from this program.
    counts = frame["hours_per_week"].value_counts().to_dict()
    assert counts == {"1-39": 11_687, "40": 22_803, "41-99": 14_352}


@pytest.mark.real_data
def test_the_known_problems_of_the_kdd_census_are_in_the_file(data_dir: Path) -> None:
    card = load_card("kdd_census")
    (source,) = read_sources(card, Sources(data_dir, offline=True))
    names = list(card.source.column_names or ())
    wanted = ["age", "wage_per_hour", "union_member", "employment_status", "migration_msa", "year", "income"]
    raw = pd.read_csv(
        io.BytesIO(source.content), header=None, names=names, skipinitialspace=True, keep_default_na=False
    )
    assert raw.duplicated().sum() == 3_229
    raw = raw[wanted]
    asked = raw["union_member"] != "Not in universe"
    unpaid = raw["wage_per_hour"] == 0
    assert (round(100 * unpaid.mean(), 1), round(100 * unpaid[asked].mean(), 1)) == (94.3, 40.7)
    assert unpaid[~asked].all()
    positive = raw.loc[~unpaid, "wage_per_hour"]
    assert (asked.sum(), positive.median(), positive.max()) == (19_064, 800, 9_999)
    assert 425 in positive.value_counts().head(10).index
    young = raw[raw["age"] < 16]
    assert (len(young), set(young["income"])) == (50_348, {"- 50000."})
    first_year = raw[raw["year"] == 94]
    assert (len(first_year), set(first_year["employment_status"])) == (99_827, {"Children or Armed Forces"})
    second_year = raw[raw["year"] == 95]
    assert (len(second_year), set(second_year["migration_msa"])) == (99_696, {"?"})


def raw(card: Card, data_dir: Path) -> pd.DataFrame:
    """Return a CSV file as pandas reads it, apart from this program; values that look missing are text."""
    (file,) = card.source.files
    path = data_dir / card.folder / str(file.name)
    return pd.read_csv(path, encoding=card.source.encoding, keep_default_na=False, skipinitialspace=True)


def share(said: pd.Series) -> float:
    return round(100 * float(said.mean()), 1)


@pytest.mark.real_data
def test_the_known_problems_of_credit_and_bank_are_in_the_files(data_dir: Path) -> None:
    german = raw(load_card("german"), data_dir)
    assert set(german.loc[german["sex"] == "female", "marital-status"]) == {"divorced/separated"}
    # 50 men of the original file are divorced (A91), 548 are single (A93).
    assert ((german["sex"] == "male") & (german["marital-status"] == "divorced/separated")).sum() == 50 + 548
    good = german["class-label"] == 1
    by_history = good.groupby(german["credit-history"]).mean().sort_values()
    assert by_history.index[-1] == "critical account"
    assert share(good[german["credit-history"] == "critical account"]) == 82.9
    assert (german["foreign-worker"] == "yes").sum() == 963
    bank = raw(load_card("bank"), data_dir)
    assert len(bank) + 5_207 == 45_211
    assert set(bank["marital"]) == {"married", "single"}
    bought = bank["y"] == "yes"
    quarters = bought.groupby(pd.qcut(bank["duration"], 4)).mean()
    assert [round(100 * x, 1) for x in quarters.iloc[[0, -1]]] == [1.1, 29.0]
    assert (bank["poutcome"] == "unknown").sum() == 32_683
    assert ((bank["poutcome"] == "unknown") != (bank["pdays"] == -1)).sum() == 5
    assert share(bought) == 11.7
    cards = raw(load_card("credit_card"), data_dir)
    paid = cards["default payment"] == 0
    assert (share(paid[cards["SEX"] == 2]), share(paid[cards["SEX"] == 1])) == (79.2, 75.8)
    assert [(cards["PAY_0"] == code).sum() for code in (0, -2)] == [14_737, 2_759]
    assert cards["EDUCATION"].isin([0, 5, 6]).sum() == 345
    assert (cards["MARRIAGE"] == 0).sum() == 54
    assert cards.duplicated().sum() == 35
    late = cards["PAY_0"] >= 2
    assert (round(100 - share(paid[late])), round(100 - share(paid[~late]))) == (70, 17)


@pytest.mark.real_data
def test_the_known_problems_of_schools_are_in_the_files(data_dir: Path) -> None:
    law = raw(load_card("law_school"), data_dir)
    assert share(law["pass_bar"] == 1) == 89.0
    open_university = raw(load_card("oulad"), data_dir)
    assert open_university["id_student"].nunique() == 20_316
    passed = open_university["final_result"] == "Pass"
    women = open_university["gender"] == "F"
    assert (share(passed[women]), share(passed[~women])) == (69.3, 66.8)
    assert (open_university["age_band"] == "55<=").sum() == 154
    mathematics = raw(load_card("student_mat"), data_dir)
    assert share((mathematics["G2"] >= 10) == (mathematics["class"] == "High")) == 91.9
    facts = [*("school", "sex", "age", "address", "famsize", "Pstatus", "Medu", "Fedu", "Mjob", "Fjob")]
    facts += ["reason", "nursery", "internet"]
    portuguese = raw(load_card("student_por"), data_dir)
    both = mathematics[facts].apply(tuple, axis=1).isin(set(portuguese[facts].apply(tuple, axis=1)))
    assert (both.sum(), len(both), len(facts)) == (370, 395, 13)


@pytest.mark.real_data
def test_the_known_problems_of_towns_courts_and_firms_are_in_the_files(data_dir: Path) -> None:
    towns = raw(load_card("communities"), data_dir)
    assert (towns["ViolentCrimesPerPop"] == 1).sum() == 44
    assert ((towns["ViolentCrimesPerPop"] >= 0.7) == (towns["class"] == 1)).all()
    assert (towns["class"].sum(), towns.loc[towns["Black"] == 0, "class"].sum()) == (122, 7)
    assert share(towns["ViolentCrimesPerPop"] >= 0.3) == 28.1
    assert ((towns["racepctblack"] >= 0.06) == (towns["Black"] == 1)).all()
    violent = raw(load_card("compas_violent"), data_dir)
    of_both = violent[violent["race"].isin(["African-American", "Caucasian"])]
    assert (of_both["score_text"] == "N/A").sum() == 4
    kept = of_both[of_both["score_text"] != "N/A"]
    assert share(kept["two_year_recid"] == 0) == 82.9
    late = kept[kept["screening_date"] > "2014-04-01"]
    assert (len(late), set(late["two_year_recid"])) == (175, {1})
    other = raw(load_card("compas"), data_dir)
    joined = kept.merge(other, on=["name", "dob"], how="left")
    assert len(joined) == len(kept)
    assert (joined["two_year_recid_x"] == joined["two_year_recid_y"]).all()
    exams = load_dataset("ricci", Sources(data_dir, offline=True))
    scores = raw(exams.card, data_dir)
    np.testing.assert_allclose(0.6 * scores["Written"] + 0.4 * scores["Oral"], scores["Combine"])
    assert ((scores["Combine"] >= 70) == (scores["Promoted"] == 1)).all()
    assert exams.score.values.tolist() == scores["Combine"].tolist()
    firm = raw(load_card("attrition"), data_dir)
    rates = firm[["DailyRate", "HourlyRate", "MonthlyRate", "MonthlyIncome"]].corr().to_numpy()
    assert abs(rates - np.eye(4)).max() < 0.05


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
        ("human_recidivism", {"judged": {"bins": [0, 40, 100]}}, 0.0651, 0.1988),
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
