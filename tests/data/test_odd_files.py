"""Files that were once misread in silence: each is read rightly, or it is asked or said what to type."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark.cli import main
from benchmark.data.association import PROXY, cramers_v
from benchmark.data.card import load_card
from benchmark.data.card_parts import MISSING_MARKS
from benchmark.data.draft import Draft, draft
from benchmark.data.draft_text import card_text
from benchmark.data.files import as_csv
from benchmark.data.load import load_dataset
from benchmark.errors import DataError
from benchmark.file_options import FileOptions
from tests.helpers.drafts import doubt, drafted, drawn, file_of, sizes, spread, table

WISH = FileOptions("hired", "yes", "sex", "F")


def of_frame(folder: Path, frame: pd.DataFrame, wish: FileOptions = WISH) -> Draft:
    made = draft(frame, wish, folder)
    (folder / "data.csv").write_text(as_csv(frame), encoding="utf-8")
    card = card_text(made, folder / "data.csv", wish.min_count, "data")
    (folder / "card.toml").write_text(card, encoding="utf-8")
    assert load_dataset(folder / "card.toml").digest == made.rows.digest
    return made


def said(made: Draft) -> str:
    return str(made.reading)


@pytest.mark.parametrize("mark", ["NA", "None", "null", "N/A", "-"])
def test_a_mark_of_missing_values_is_a_value_of_label_and_groups(mark: str, tmp_path: Path) -> None:
    frame = table(region=lambda i: (mark, "EU", "APAC")[i * 7 % 3], tried=lambda i: (mark, "yes")[i * 5 % 2])
    n = int((frame["region"] == mark).sum())
    made, dataset = drafted(frame, replace(WISH, sensitive="region", deprived=mark, favored="*"), tmp_path)
    assert (sizes(made)["deprived"], len(dataset.table)) == (n, 600)
    assert dataset.table.deprived.tolist() == (frame["region"] == mark).tolist()
    said_missing = f"{mark!r} counts as missing" in made.columns["tried"].reason
    assert said_missing == (mark in MISSING_MARKS)
    made, dataset = drafted(frame, replace(WISH, label="tried", favorable=mark), tmp_path)
    assert dataset.table.y.tolist() == (frame["tried"] == mark).tolist()
    wish = replace(WISH, sensitive="region", deprived="EU")
    asked = doubt(frame, wish, tmp_path)
    # A user decides whether it is a value: no proposal puts it on a side.
    assert {*asked.options["favored"].split(",")} == {"APAC", mark}.difference(MISSING_MARKS)
    assert sizes(drafted(frame, replace(wish, favored=f"APAC,{mark}"), tmp_path)[0])["favored"] == 400
    assert sizes(drafted(frame, replace(wish, missing=f"region={mark}"), tmp_path)[0])["favored"] == 200
    assert sizes(drafted(frame, replace(wish, favored="APAC"), tmp_path)[0])["favored"] == 200


def test_in_a_frame_only_missing_values_are_missing(tmp_path: Path) -> None:
    frame = table(
        region=lambda i: ("NA", "EU", None)[i * 7 % 3], cellar=lambda i: ("NA", None, "None", "?")[i % 4]
    )
    made = of_frame(tmp_path, frame, replace(WISH, sensitive="region", deprived="NA"))
    assert len(made.rows) == 400
    columns = {column.name: column.states for column in made.rows.schema.columns}
    assert columns["region"] == ("NA", "EU")
    assert columns["cellar"] == ("?", "NA", "None", "missing")
    kept = frame[frame["region"].notna()]
    assert made.rows.deprived.tolist() == (kept["region"] == "NA").tolist()


@pytest.mark.parametrize("names", [("2019", "2020"), ("1", "2"), ("0.5", "1e3")])
def test_a_line_with_a_named_column_is_the_header(names: tuple[str, str], tmp_path: Path) -> None:
    frame = table(**{name: lambda i, k=k: spread(i + 300 * k) for k, name in enumerate(names)})
    made, dataset = drafted(frame, WISH, tmp_path)
    assert list(dataset.card.columns) == [*frame.columns]
    assert made.reading.rows == len(frame)
    integers = frame.set_axis([*frame.columns[:3], 0, 1], axis=1)  # and of a frame all names are known
    assert of_frame(tmp_path, integers).rows.schema.names[-2:] == ("0", "1")
    numbered = of_frame(tmp_path, frame.set_axis(range(5), axis=1), FileOptions("1", "yes", "0", "F"))
    assert len(numbered.rows) == len(frame)


def test_columns_of_a_frame_have_names_that_differ_as_text(tmp_path: Path) -> None:
    assert list(of_frame(tmp_path, table().rename(columns={"job": " "})).columns)[2] == "column_3"
    frame = table(a=lambda i: i % 2, b=lambda i: i % 3).set_axis(["sex", "hired", "job", 0, "0"], axis=1)
    with pytest.raises(DataError, match="'0' more than once"):
        of_frame(tmp_path, frame)


@pytest.mark.parametrize("name", ["Islander, alone", "A or B", 'the "old", ones'])
def test_values_with_commas_stay_whole(name: str, tmp_path: Path) -> None:
    frame = table(race=lambda i: (name, "Black", "White")[i * 7 % 3]).replace({"yes": "yes, hired"})
    wish = replace(WISH, favorable="yes, hired", sensitive="race", favored="White")
    true = frame["race"].isin([name, "Black"]).tolist()
    for deprived in (f"{name},Black", ("Black", name), FileOptions.of(deprived=[name, "Black"]).deprived):
        _, dataset = drafted(frame, replace(wish, deprived=deprived), tmp_path)
        assert dataset.table.deprived.tolist() == true
        assert dataset.table.y.sum() == (frame["hired"] == "yes, hired").sum()


def test_columns_that_look_like_weights_are_said(tmp_path: Path) -> None:
    weights = ["weight", "sample_weight", "fnlwgt", "PWGTP", "finalwt", "PERWT", "survey.wgt", "rowWeight"]
    names = [*weights, "WTMEC2YR", "weight_2020", "X_LLCPWT", "growth", "weighted", "height_cm"]
    frame = table(**{name: lambda i, k=k: (i * (7919 + k) % 997) / 50 for k, name in enumerate(names)})
    columns = drafted(frame, WISH, tmp_path)[0].columns.values()
    assert [c.name for c in columns if "named like weights" in c.reason] == names[:-3]


def test_columns_are_dropped_and_kept_as_named(tmp_path: Path) -> None:
    frame = table(day=lambda i: f"2020-01-{i % 28 + 1:02}", one=lambda _: 1, **{"a,b": lambda i: i % 2})
    made, _ = drafted(frame, replace(WISH, drop='"a,b",job', keep="day"), tmp_path)
    assert list(made.columns) == ["sex", "hired", "day"]
    assert made.dropped["job"] == made.dropped["a,b"] == "named by --drop"
    assert "day" in drafted(frame, WISH, tmp_path)[0].dropped
    assert made.columns["day"].read_as == "category"
    for wish, words in (
        ({"drop": "jb"}, "no column 'jb'.*did you mean 'job'.*--drop"),
        ({"keep": ("x",)}, "no column 'x'.*--keep"),
        ({"drop": "sex"}, "'sex' is named by --drop, and is needed"),
        ({"drop": "job", "keep": "job"}, "'job' is named by --drop, and is needed"),
    ):
        with pytest.raises(DataError, match=words):
            drafted(frame, replace(WISH, **wish), tmp_path)


def test_a_code_is_missing_in_all_columns(tmp_path: Path) -> None:
    def coded(step: int) -> Callable[[int], object]:
        return lambda i: -9 if i % 10 == step else -8 if i % 10 == step + 1 else 20 + i * 7919 % 41

    frame = table(age=coded(1), visits=coded(3), points=lambda i: 999 if i % 9 == 0 else i * 7919 % 21)
    made, _ = drafted(frame, WISH, tmp_path)
    (typed,) = re.findall(r"If these do, add --missing=([^ ]*)\.", said(made))
    assert typed.split(",") == ["age=-8", "age=-9", "visits=-8", "visits=-9", "points=999"]
    made, dataset = drafted(frame, replace(WISH, missing="*=-9,*=-8,points=999"), tmp_path)
    assert not made.reading.warnings
    lacking = (dataset.to_frame()[["age", "visits", "points"]] == "missing").sum()
    assert lacking.tolist() == [120, 120, 67]
    with pytest.raises(DataError, match=r"--missing names by '\*=-7'.*those of all as \*=A"):
        drafted(frame, replace(WISH, missing="*=-9,*=-7"), tmp_path)


def test_a_list_of_negative_codes_is_no_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table(sex=lambda i: [-9, -8, 1, 2][i * 7 % 4]).to_csv("people.csv", index=False)
    command = ["new-dataset", "people.csv", "--label", "hired", "--favorable", "yes", "--sensitive", "sex"]
    assert main([*command, "--missing", "-9,-8", "--deprived", "1"]) == 0
    assert {*load_card("people.toml").exclude["sex"]} == {"-9", "-8"}
    assert main([*command, "--deprived", "-9,-8", "--favored", "*", "--out", "two.toml"]) == 0
    assert load_card("two.toml").deprived_group == "-9 or -8"


@pytest.mark.parametrize(
    ("low", "high", "numbers"),
    [
        ("<1", ">20", range(1, 21)),
        ("under 18", "65+", range(18, 65)),
        ("5 or less", "40 and more", range(6, 40)),
        ("≤0", "more than 3", range(1, 4)),
        ("<=0", "over 20 years", range(1, 21)),
        ("less than 18 years", "65 or more years", range(18, 65)),
    ],
)
def test_numbers_with_open_classes_keep_their_order(
    low: str, high: str, numbers: range, tmp_path: Path
) -> None:
    values = [low, *map(str, numbers), high]
    frame = table(1200, years=lambda i: drawn(values)(i))
    _, dataset = drafted(frame, WISH, tmp_path)
    column = dataset.table.schema.columns[dataset.table.schema.index("years")]
    assert column.ordered
    codes = dataset.table.codes[:, dataset.table.schema.index("years")]
    means = [float(codes[frame["years"] == value].mean()) for value in values]
    assert means == sorted(means)
    assert (means[0], means[-1]) == (0, len(column.states) - 1)
    # A condition places them, or says that it cannot.
    wish = replace(WISH, sensitive="years", deprived=f"< {numbers[1]}")
    _, dataset = drafted(frame, wish, tmp_path)
    assert dataset.table.deprived.tolist() == frame["years"].isin(values[:2]).tolist()
    asked = doubt(frame, replace(wish, deprived=f"> {numbers[-1] + 30}"), tmp_path)
    assert asked.options == {"missing": f"years={high}"}


def test_words_among_numbers_are_on_no_side_of_a_condition(tmp_path: Path) -> None:
    frame = table(age=lambda i: "many" if i % 40 == 0 else 18 + i * 7919 % 50)
    wish = replace(WISH, sensitive="age", deprived="< 25")
    assert re.search(r"'many' \(15 rows\).*add missing='age=many", str(doubt(frame, wish, tmp_path)))
    for more in ({"missing": "age=many"}, {"favored": ">= 25"}):
        made, dataset = drafted(frame, replace(wish, **more), tmp_path)
        assert made.reading.rows == len(dataset.table) == 585
    assert "15 rows are left out: a 'age' on neither side ('many')" in said(made)


def test_codes_of_places_are_proxies_by_their_values(tmp_path: Path) -> None:
    lots = random.Random(1)
    frame = table(3000)
    places = {"F": range(60600, 60630), "M": range(60630, 60660)}
    frame["zip"] = [
        lots.choice(places[sex if lots.random() < 0.95 else "FM".replace(sex, "")]) for sex in frame["sex"]
    ]
    frame["noise"] = [lots.randrange(500) for _ in range(3000)]
    (shown,) = re.findall(
        r"zip, number: proxy of sex: Cramér's V ([\d.]+)", said(drafted(frame, WISH, tmp_path)[0])
    )
    assert float(shown) == pytest.approx(0.9, abs=0.04)


@pytest.mark.parametrize(("n", "values"), [(600, 500), (400, 400), (3000, 40)])
def test_values_by_chance_are_no_proxy(n: int, values: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(20):
        member = rng.random(n) < 0.3
        assert cramers_v(rng.integers(values, size=n), member) < PROXY
    assert cramers_v(2 * rng.integers(4, size=n) + member, member) == pytest.approx(1, abs=0.01)


COPIES: dict[str, Callable[[int], object]] = {
    "race_code": lambda i: "BWA".index(RACE[i]) + 1,
    "race_black": lambda i: int(RACE[i] == "B"),
    "race_asian": lambda i: int(RACE[i] == "A"),
    "origin": lambda i: RACE[i] if RACE[i] != "B" else ("North", "South")[i % 2],
    "nearly": lambda i: "B" if i == 1 else RACE[i],
}
RACE = random.Random(8).choices("BWA", weights=(3, 5, 1), k=1000)


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_of_the_sensitive_column_is_no_feature_in_silence(name: str, tmp_path: Path) -> None:
    frame = table(1000, race=lambda i: RACE[i], **{name: COPIES[name]})
    wish = replace(WISH, sensitive="race", deprived="B", favored="*")
    made, dataset = drafted(frame, wish, tmp_path)
    assert name not in dataset.card.columns
    assert f"Warning: {name} is left out: it goes with the sensitive column 'race' in nearly" in said(made)
    assert name in drafted(frame, replace(wish, keep=name), tmp_path)[1].card.columns
    # So it is the other way round, where the copy is named.
    if name in ("race_code", "nearly"):
        swapped = replace(WISH, sensitive=name, deprived=str(frame[name][0]), favored="*")
        assert "race" not in drafted(frame, swapped, tmp_path)[1].card.columns


def test_bands_of_the_sensitive_numbers_are_copies(tmp_path: Path) -> None:
    frame = table(age=drawn(range(18, 78)))
    frame["band"] = frame["age"] // 20
    frame["kin"] = [random.Random(-i).randrange(4) for i in range(600)]
    made, _ = drafted(frame, replace(WISH, sensitive="age", deprived="< 25"), tmp_path)
    assert list(made.dropped) == ["band"]
    # Nor do finer numbers, or dates, behind the groups name people.
    frame["born"] = [f"{2020 - age}-0{1 + age % 9}-11" for age in frame["age"]]
    frame["band"] = frame["band"].map(lambda k: f"band {k}")
    made, _ = drafted(frame, replace(WISH, sensitive="band", deprived="band 0", favored="*"), tmp_path)
    assert set(made.dropped) == {"age", "born"}


@pytest.mark.parametrize("min_count", [1, 5, 50])
def test_a_rare_group_is_on_the_side_that_names_it(min_count: int, tmp_path: Path) -> None:
    frame = table(sex=lambda i: "x" if i % 150 == 0 else "FM"[i % 2])
    wish = replace(WISH, min_count=min_count)
    made, dataset = drafted(frame, replace(wish, favored="M,x"), tmp_path)
    assert dataset.table.deprived.tolist() == (frame["sex"] == "F").tolist()
    assert "'x' (4)" in said(made)
    made, dataset = drafted(frame, replace(wish, favored="M"), tmp_path)
    assert len(dataset.table) == 596
    assert "4 rows are left out: a 'sex' on neither side ('x')" in said(made)


def test_groups_of_many_values_are_not_merged_into_a_named_one(tmp_path: Path) -> None:
    lands = ["other", "A or B", "A", "B", *(f"land {k}" for k in range(14))]
    frame = table(1000, land=drawn(lands))
    for deprived in ("other", ("A", "B"), ("land 3",)):
        _, dataset = drafted(frame, replace(WISH, sensitive="land", deprived=deprived, favored="*"), tmp_path)
        named = [deprived] if isinstance(deprived, str) else deprived
        assert dataset.table.deprived.tolist() == frame["land"].isin(named).tolist()


@pytest.mark.parametrize("favorable", ["1", "01", "1.0", " 1 "])
def test_numbers_and_blanks_have_one_meaning_that_is_said(favorable: str, tmp_path: Path) -> None:
    ones, zeros = ["1", "1.0", "01", " 1"], ["0", "0 ", "00", "0.0"]
    frame = table(won=lambda i: (ones if i * 7 % 5 < 2 else zeros)[i * 31 % 4])
    frame = frame.replace({"yes": "yes "}).rename(columns={"won": " won "})
    frame.loc[::2, "hired"] = frame.loc[::2, "hired"].str.strip()
    wish = replace(WISH, label="won ", favorable=favorable)
    made, dataset = drafted(frame, wish, tmp_path, quoting=2)
    assert dataset.table.y.tolist() == frame[" won "].isin(ones).tolist()
    text = said(made)
    assert "won: blanks around values do not count, so that ' 1' is '1'" in text
    assert "hired: blanks around values do not count, so that 'yes ' is 'yes'" in text
    assert all(f"'{value.strip()}' (" in text for value in ones + zeros)


def test_names_and_values_in_any_letters_stay(tmp_path: Path) -> None:
    frame = table().replace({"F": "女", "M": "男", "yes": "はい", "no": "いいえ"})
    frame = frame.set_axis(["性別", "採用", "学歴 Ü"], axis=1)
    _, dataset = drafted(frame, FileOptions("採用", "はい", "性別", "女"), tmp_path)
    assert dataset.to_frame().astype(str).equals(frame)
    assert (dataset.card.favorable_label, dataset.card.deprived_group) == ("はい", "女")


def test_numbers_that_few_rows_share_are_no_proxy(tmp_path: Path) -> None:
    # Two rows share each number and mostly the group, as weights of a survey; so do those of 60 districts.
    frame = table(
        4000,
        sex=lambda i: "FM"[(i // 2 + (i % 7 == 0)) % 2],
        share=lambda i: i // 2 * 7919 % 2000 + 10_000,
        district=lambda i: 2 * (i * 31 % 30) + i // 2 % 2 + 60_601,
    )
    made, _ = drafted(frame, WISH, tmp_path)
    assert "Cramér's V" in made.columns["district"].reason
    assert not made.columns["share"].reason


def test_few_numbers_are_states_that_differ_and_many_are_merged(tmp_path: Path) -> None:
    large = {f"from {first}": first for first in (1_234_567, 10**12, 10**15)}
    frame = table(
        1000,
        rate=lambda i: (0.12345671, 0.12345672, 0.12345673)[i % 3],
        band=lambda i: f"{i * 7919 % 17 * 5}-{i * 7919 % 17 * 5 + 4}",
        rownames=lambda i: i * 7919 % 9973,
        **{name: lambda i, first=first: first + i * 7919 % 5 for name, first in large.items()},
    )
    made, _ = drafted(frame, WISH, tmp_path)
    assert made.columns["rate"].states == ("0.123457", "0.12345672", "0.12345673")
    assert made.columns["band"].merged == 351
    assert [*made.dropped] == ["rownames"]
    for name, first in large.items():
        assert made.columns[name].states == tuple(str(first + k) for k in range(5))


@pytest.mark.parametrize(
    ("row", "place"),
    [
        ("Total,600,,", 601),
        ("sex,hired,job,age", 300),
        ("(text),(text),(text),(years)", 1),
        ('What is your sex?,"Were you hired?\n(2020)",,', 1),
    ],
)
def test_a_row_that_is_no_person_is_asked_about(row: str, place: int, tmp_path: Path) -> None:
    lines = table(age=drawn(range(18, 80))).to_csv(index=False).splitlines()
    lines.insert(place, row)
    text = "\n".join(lines) + "\n"
    asked = doubt(text, WISH, tmp_path)
    assert asked.options == {"unfavorable": "no", "favored": "M"}  # a single row is on no side
    made, _ = drafted(text, replace(WISH, **asked.options), tmp_path)
    assert made.reading.rows == 600
    assert "1 row is left out: " in said(made)


def test_rows_that_end_with_a_separator_have_no_names(tmp_path: Path) -> None:
    frame = table()
    text = frame.to_csv(index=False).replace("\n", ";\n").replace(",", ";").replace(";\n", "\n", 1)
    made, _ = drafted(text, WISH, tmp_path)
    assert list(made.columns) == [*frame.columns]
    assert made.dropped == {"column_4": "has no value in any row"}


@pytest.mark.parametrize("favorable", ["yes, now", ("yes, now",)])
def test_values_that_differ_by_case_are_proposed_on_one_side(
    favorable: str | tuple[str, ...], tmp_path: Path
) -> None:
    frame = table(sex=drawn(["F", "f", "M", "m", "x"])).replace({"yes": "yes, now"})
    frame.loc[::3, "hired"] = frame.loc[::3, "hired"].str.title()
    wish = replace(WISH, favorable=favorable, deprived=None)
    asked = doubt(frame, wish, tmp_path)
    assert "all other values, and 'Yes, Now' for --favorable: take out" in str(asked)
    _, dataset = drafted(frame, replace(wish, **asked.options), tmp_path)
    assert dataset.table.y.tolist() == (frame["hired"].str.lower() == "yes, now").tolist()
    groups = frame["sex"].str.lower()[dataset.table.deprived]
    assert len(dataset.table) == 600
    assert groups.nunique() == 1
    assert len(groups) == (frame["sex"].str.lower() == groups.iloc[0]).sum()


@pytest.mark.parametrize("groups", ["FM", "FMX"])
def test_all_others_of_nothing_named_are_asked_about_once(groups: str, tmp_path: Path) -> None:
    frame, wish = table(sex=drawn(groups)), replace(WISH, deprived=None, favored="*")
    asked = doubt(frame, wish, tmp_path)
    made, _ = drafted(frame, replace(wish, **asked.options), tmp_path)
    assert made.reading.rows == 600


def test_a_header_below_a_row_of_separators_alone_is_found(tmp_path: Path) -> None:
    text = table(pay=lambda i: f"{i % 90},5").to_csv(index=False, sep=";")
    made, _ = drafted(f"Staff of 2023;;;\n;;;\n{text}", WISH, tmp_path)
    assert (list(made.columns), made.reading.rows) == (["sex", "hired", "job", "pay"], 600)


@pytest.mark.parametrize(
    ("frame", "wish", "words"),
    [
        (table().replace({"no": None}), WISH, "Got: 'yes' .* and rows without a value.* write a word into"),
        (table(sex=lambda i: "FM"[i < 597]), WISH, "3 rows are deprived.*add --min-count 3"),
        (
            table(sex=lambda i: f"{1900 + i % 150}-01-01"),
            replace(WISH, deprived=None),
            "none is in 5 rows.*name another column, or several values with --deprived and --favored",
        ),
        (table().set_axis(["sex", "hired", "7"], axis=1), FileOptions(), "by their place, as column_1"),
        (
            table(hired=lambda i: "?" if i < 60 else "yn"[i % 2], one=lambda _: 7),
            FileOptions("hired"),
            r"'hired' \(3 values\).*'one' \(1 value\)\. 'hired' has the values .*'\?' \(60 rows\)",
        ),
    ],
)
def test_what_no_command_clears_says_what_to_do(
    frame: pd.DataFrame, wish: FileOptions, words: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=words):
        drafted(frame, wish, tmp_path)


def test_a_last_column_without_a_name_is_not_the_label(tmp_path: Path) -> None:
    frame = table(
        sex=lambda i: i % 2, hired=lambda i: i // 2 % 2, job=lambda i: i // 3 % 2, more=lambda i: i // 5 % 2
    )
    text = frame.to_csv(index=False).replace(",more", "")
    with pytest.raises(DataError, match=r"Line 2 of .* does not fit.*Expected: 3 values\. Got: 4 values"):
        drafted(text, FileOptions("hired", "1", "sex", "0"), tmp_path)


@pytest.mark.parametrize(
    "codes", [["123456789012345678", "123456789012345679"], [2**53, 2**53 + 1], [10**17 + 1, 10**17 + 2]]
)
def test_codes_of_many_digits_stay_apart(codes: Sequence[object], tmp_path: Path) -> None:
    values = sorted(map(str, codes))
    frame = table(branch=lambda i: values[i // 2 % 2], sex=lambda i: values[i % 2])
    made, dataset = drafted(frame, replace(WISH, deprived=values[1]), tmp_path)
    assert sizes(made)["deprived"] == 300
    assert dataset.to_frame()["branch"].tolist() == frame["branch"].tolist()
    numbers = frame.assign(branch=frame["branch"].astype("int64"))
    assert of_frame(tmp_path, numbers, replace(WISH, deprived=values[1])).columns["branch"].states == (
        *values,
    )


@pytest.mark.parametrize(
    ("encoding", "values"),
    [("cp932", ("表", "年収◎")), ("gb18030", ("女丂", "男亐")), ("cp850", ("Müller", "ÉTÉ"))],
)
def test_an_encoding_that_nothing_tells_is_asked_for(
    encoding: str, values: tuple[str, str], tmp_path: Path
) -> None:
    frame = table(job=lambda i: values[i % 2])
    asked = doubt(frame, WISH, tmp_path, encoding=encoding)
    assert "people.csv is neither UTF-8 nor CP1252" in str(asked)
    assert asked.options == {"encoding": "NAME"}
    made, dataset = drafted(frame, replace(WISH, encoding=encoding), tmp_path, encoding=encoding)
    assert dataset.to_frame()["job"].tolist() == frame["job"].tolist()
    assert "guess" not in said(made)
    with pytest.raises(DataError, match=r"not text in its encoding.*or --encoding"):
        drafted(frame, replace(WISH, encoding="NAME"), tmp_path, encoding=encoding)


def test_an_audit_reads_an_encoding_that_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("性別,p\n".encode("cp932") + "女,1\n男,0\n".encode("cp932") * 9)
    command = ["audit", str(path), "--prediction", "p", "--sensitive", "性別"]
    assert main(command) == 2
    assert capsys.readouterr().err.rstrip().endswith("--encoding=NAME")
    assert main([*command, "--encoding", "cp932"]) == 0
    assert "女" in capsys.readouterr().out


@pytest.mark.parametrize("below", [["Total"], ["Source: office", "2023, by us"], ["a;b", "", "c"]])
def test_lines_that_are_no_rows_are_left_out_by_what_is_proposed(below: list[str], tmp_path: Path) -> None:
    whole = table()
    header, *lines = whole.to_csv(index=False).splitlines()
    path = file_of("\n".join([header, "Sex,Hired at all?,Job", *lines, *below]) + "\n", tmp_path)
    asked = doubt(path, WISH, tmp_path)
    numbers = [str(603 + i) for i, line in enumerate(below) if line]
    assert asked.options == {"without_lines": ",".join(numbers)}
    assert asked.typed == f"--without-lines={','.join(numbers)}"
    wish = replace(WISH, without_lines=["2", *numbers])
    made, dataset = drafted(path, wish, tmp_path)
    assert made.reading.rows == len(whole) == len(dataset.table)
    assert f"Lines that are left out: 2, {', '.join(numbers)}." in made.reading.forms
    with pytest.raises(DataError, match="names no lines"):
        draft(path, replace(WISH, without_lines="last"), tmp_path)
    with pytest.raises(DataError, match=r"cannot be left out(.|\n)*Got: 1, 9999"):
        draft(path, replace(wish, without_lines=["1", "2", "9999", *numbers]), tmp_path)
