"""Exchanging the values of an attribute: what moves, what cannot move, and what the findings say of it."""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmark.data.card import load_card
from benchmark.data.source import Sources
from benchmark.metrics.alternation import gaussian_kl
from studies.alternation.analysis import (
    COLUMNS,
    FOLDER,
    RULES,
    VARIANTS,
    alternation_test,
    polynomial_regression,
    read_rows,
    results_of,
    rows_of,
    summarize,
)
from studies.alternation.findings import CASES, divergences, number


class Fixed:
    """Predicts by a formula, whatever it is trained on; remembers how many rows it was trained on."""

    trained_on: list[int] = []  # noqa: RUF012  # shared by the copies

    def __init__(self, formula: Any) -> None:
        self.formula = formula

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> None:
        self.trained_on.append(len(X))

    def predict(self, X: pd.DataFrame) -> Any:
        return self.formula(X)


def people(n: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "race": rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2]),
            "age": rng.integers(18, 70, n).astype(float),
        }
    )
    by_race = frame["race"].map({"a": 0, "b": -1.5, "c": 3})
    pay = 5 + 0.1 * frame["age"] + 2.0 * (frame["sex"] == "m") + by_race
    return frame, (pay + rng.normal(0, 0.5, n)).to_numpy()


def sex_pays(X: pd.DataFrame) -> np.ndarray:
    return np.where(X["sex"] == "m", 10 + 2 * X["age"], 4 + X["age"])


def test_each_group_in_each_fold_is_compared_before_and_after() -> None:
    seen: list[pd.DataFrame] = []

    def log(X: pd.DataFrame) -> np.ndarray:
        seen.append(X)
        return sex_pays(X)

    frame, y = people()
    found = alternation_test(frame, y, Fixed(log), ["sex"], n_folds=3)
    assert tuple(found.columns) == COLUMNS
    assert found[["first", "second", "variant"]].drop_duplicates().to_numpy().tolist() == [
        ["f", "m", "predict"]
    ]
    assert sorted(row for fold in seen[:3] for row in fold.index) == list(range(120))
    rows = iter(found.to_dict("records"))
    for fold, (before, after) in enumerate(zip(seen[:3], seen[3:], strict=True)):
        assert after.index.equals(before.index)
        for group in "fm":
            ages = before.loc[before["sex"] == group, "age"].to_numpy()
            low, high = 4 + ages, 10 + 2 * ages
            own, other = (low, high) if group == "f" else (high, low)
            row = next(rows)
            assert (row["fold"], row["group"], row["n"], row["reason"]) == (fold, group, len(ages), "")
            assert row["mean"] == pytest.approx(own.mean())
            assert row["mean_alternated"] == pytest.approx(other.mean())
            assert row["kl"] == pytest.approx(gaussian_kl(own, other))
            assert row["kl_reverse"] == pytest.approx(gaussian_kl(other, own))


def test_every_row_is_held_out_once_and_other_values_are_trained_on() -> None:
    frame, y = people(101)
    Fixed.trained_on.clear()
    found = alternation_test(frame, y, Fixed(sex_pays), ["race"], variants=VARIANTS, n_folds=4)
    # 101 rows are folds of 26, 25, 25, 25: trained on the rest once, and once more for each of three pairs.
    assert sorted(Fixed.trained_on) == sorted([75, 76, 76, 76] * 4)
    counts = frame["race"].value_counts()
    own = found[found["variant"] == "predict"]
    assert own.groupby(["first", "second", "group"])["n"].sum().to_dict() == {
        (*pair, group): counts[group] for pair in itertools.combinations("abc", 2) for group in pair
    }
    assert (found["kl"] == 0).all()  # this model does not look at race


def test_a_model_of_numbers_depends_on_the_order_of_three_values_but_not_of_two() -> None:
    frame, y = people(300)
    model = polynomial_regression(["age", "sex", "race"], encoding="ordinal", degree=1)
    found = alternation_test(frame, y, model, ["sex", "race"], variants=["retrain"], n_folds=3)
    kl = found.groupby(["first", "second"])["kl"]
    # Exchanging a and c turns the order round, which is nothing either; exchanging neighbors is something.
    assert all(kl.max()[pair] < 1e-15 for pair in [("f", "m"), ("a", "c")])
    assert all(kl.min()[pair] > 1e-3 for pair in [("a", "b"), ("b", "c")])


def test_groups_without_a_variance_say_why() -> None:
    frame, y = people(40)
    frame["race"] = "a"
    frame.loc[0, "race"] = "b"
    found = alternation_test(frame, y, Fixed(sex_pays), ["race"], n_folds=2)
    rare = found[found["group"] == "b"].set_index("n")
    assert rare[["kl", "kl_reverse"]].isna().all(axis=None)
    assert rare["reason"].to_dict() == {0: "no row", 1: "one row: no variance"}
    assert rare["mean"].isna().to_dict() == {0: True, 1: False}
    assert (found.loc[found["group"] == "a", "reason"] == "").all()


def test_polynomial_regression_is_ridge_on_all_monomials() -> None:
    frame, y = people(80)
    age = ((frame["age"] - frame["age"].mean()) / frame["age"].std(ddof=0)).to_numpy()
    marks = [(frame["sex"] == sex).to_numpy(float) for sex in "fm"]
    basis = [age, *marks]
    basis += [a * b for a, b in itertools.combinations_with_replacement(basis, 2)]
    phi = np.column_stack(basis)
    centered = phi - phi.mean(axis=0)
    weights = np.linalg.solve(centered.T @ centered + 0.7 * np.eye(9), centered.T @ (y - y.mean()))
    model = polynomial_regression(["age", "sex"], penalty=0.7)
    model.fit(frame, y)
    assert model.predict(frame) == pytest.approx(centered @ weights + y.mean())


def test_summary_of_three_folds() -> None:
    head = {"case": "x", "attribute": "sex", "first": "f", "second": "m", "variant": "predict"}
    folds = [(0, 3, 1.0, 2.0, 0.5, 0.1), (1, 1, 4.0, 3.0, math.nan, math.nan), (2, 4, 4.0, 8.0, 1.5, 0.3)]
    rows = [(*head.values(), fold, "f", *numbers, "") for fold, *numbers in folds]
    (row,) = summarize(pd.DataFrame(rows, columns=["case", *COLUMNS])).to_dict("records")
    assert row == {
        **{**head, "group": "f", "n": 8, "folds": 3, "mean": 3.0, "mean_alternated": 4.333333},
        **{"change": 1.333333, "folds_up": 2, "folds_down": 1, "kl_folds": 2, "kl": 1.0},
        **{"kl_min": 0.5, "kl_max": 1.5, "kl_reverse": 0.2},
    }


# The committed results


def committed(name: str) -> pd.DataFrame:
    return pd.read_csv(FOLDER / name, keep_default_na=False, na_values=[""])


def test_the_committed_results_are_those_of_the_cases() -> None:
    manifest = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))
    declared = manifest["experiment"]
    assert {name: declared[name] for name in RULES if name != "cases"} == {
        name: value for name, value in RULES.items() if name != "cases"
    }
    for case, own in zip(RULES["cases"], declared["cases"], strict=True):
        assert {name: own[name] for name in case} == case
    results = committed("results.csv")
    for case in RULES["cases"]:
        own = results[results["case"] == case["name"]]
        assert len(own) == (1 + 10) * len(case.get("variants", VARIANTS)) * RULES["folds"] * 2
        women_and_men = own[(own["attribute"] == "sex") & (own["variant"] == "predict")]
        assert women_and_men["n"].sum() == manifest["rows"][case["name"]]
    pd.testing.assert_frame_equal(summarize(results), committed("summary.csv"), check_dtype=False, atol=2e-6)


def test_the_committed_results_hold_the_equivalence_of_the_variants() -> None:
    """To a model of categories, and of two values, names are nothing."""
    results = committed("results.csv")
    results = results[
        (results["case"] == "ten") | ((results["case"] == "ordinal") & (results["attribute"] == "sex"))
    ]
    retrained = results[results["variant"] == "retrain"]
    assert (retrained["kl"].dropna() == 0).all()
    key = ["case", "attribute", "first", "second", "fold", "group"]
    values = ["mean", "mean_alternated", "kl", "kl_reverse"]
    trained, predicted = (
        results[results["variant"] == variant].set_index(key)[values] for variant in ("train", "predict")
    )
    pd.testing.assert_frame_equal(trained, predicted, atol=2e-6)


def test_words_of_the_findings_hold() -> None:
    with_wage = CASES[:3]
    for case in CASES:
        women, men = divergences(case)
        assert women < men
        assert number(case, "White", "Black", "change") < 0 < number(case, "Black", "White", "change")
        assert number(case, "Black", "White", "folds_up") == 10
        assert number(case, "Black", "Asian", "change") > 0
        assert all(
            number(case, "American Indian", other, "change") < 0 for other in ("White", "Black", "Asian")
        )
    turned = [case for case in CASES if np.greater(*divergences(case, "kl_reverse"))]
    assert turned == ["ordinal", "six"]
    assert len({np.sign(number(case, "Asian", "Black", "change")) for case in with_wage}) == 2
    for case in with_wage:
        assert number(case, "Female", "Male", "folds_up") == 10
        assert number(case, "Male", "Female", "folds_up") == 0
    assert number("ten", "Other", "White", "change", "retrain") == pytest.approx(0, abs=1e-6)
    assert number("ordinal", "Other", "White", "change", "retrain") > 100
    rows = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))["rows"]
    assert rows == dict.fromkeys(with_wage, 8_414) | {"zeros": 14_864}


@pytest.mark.nightly
@pytest.mark.real_data
def test_computing_again_gives_the_committed_numbers(data_dir: Path) -> None:
    case = next(case for case in RULES["cases"] if case["name"] == "ordinal") | {"variants": ["predict"]}
    rows = read_rows(Sources(data_dir, offline=True))
    assert len(rows_of(case, rows)) == 8_414
    again = results_of(case, rows, ["sex"]).assign(reason=np.nan)  # empty in the file
    results = committed("results.csv")
    expected = results[(results["case"] == "ordinal") & (results["attribute"] == "sex")]
    expected = expected[expected["variant"] == "predict"].reset_index(drop=True)
    pd.testing.assert_frame_equal(again, expected, check_dtype=False, atol=2e-6)


@pytest.mark.real_data
def test_the_choices_of_rows_that_the_file_tells_have_its_numbers(data_dir: Path) -> None:
    places = ["father_birth_country", "mother_birth_country", "birth_country", "previous_state"]
    # No other column holds a "?".
    gaps = [*places, "migration_msa", "migration_region", "migration_within_region", "migration_sunbelt"]
    used = ["education", "union_member", "wage_per_hour", "weeks_worked", "employment_status", "sex", *gaps]
    rows = pd.read_csv(
        data_dir / "kdd_census" / "census-income.data.gz",
        names=list(load_card("kdd_census").source.column_names or ()),
        usecols=used,
        skipinitialspace=True,
        dtype=str,
        keep_default_na=False,
    )
    keep = RULES["keep"]
    rows = rows[rows["education"].isin(keep["education"])]
    asked, paid = rows["union_member"].isin(keep["union_member"]), rows["wage_per_hour"] != "0"
    counts = [
        len(rows),
        (rows["weeks_worked"] != "0").sum(),
        (rows["employment_status"] == "Full-time schedules").sum(),
        asked.sum(),
        paid.sum(),
        (paid & (rows[places] != "?").all(axis=1)).sum(),
        (paid & (rows[gaps] != "?").all(axis=1)).sum(),
    ]
    told = Path(__file__).with_name("cases.toml").read_text(encoding="utf-8").replace(",", "")
    assert [int(n) for n in re.findall(r"^# +(\d+) (?:the five|and) ", told, re.MULTILINE)] == counts
    assert (asked & paid).sum() == paid.sum()
    wages = rows["wage_per_hour"].astype(int)
    means = [wages[chosen].groupby(rows["sex"]).mean().round().tolist() for chosen in (asked, paid)]
    assert means == [[527, 618], [888, 1148]]
    assert (asked & ~paid).sum() == 6450
