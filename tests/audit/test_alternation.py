"""Exchanging the values of an attribute: what the divergence is, what moves, and what cannot move."""

import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmark.audit.alternation import (
    ALTERNATION_COLUMNS,
    VARIANTS,
    alternation_test,
    load_alternation,
    polynomial_regression,
    run_alternation,
    summarize_alternation,
)
from benchmark.cli import main
from benchmark.data.card import load_card
from benchmark.data.source import DataNotFoundError, Sources
from benchmark.declarations import kind_of, list_declarations
from benchmark.errors import BetabenchError, DataError, ExperimentError, UnknownNameError
from benchmark.experiment.plan import load_experiment
from benchmark.metrics.alternation import gaussian_kl
from studies.alternation.findings import CASES, divergences, number

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results" / "alternation"
SHIPPED = [name for name in list_declarations("experiments") if kind_of(name) == "alternation"]


class Fixed:
    """Predicts by a formula, whatever it is trained on; remembers how many rows it was trained on."""

    trained_on: list[int] = []  # noqa: RUF012  # shared by the copies

    def __init__(self, formula: Any) -> None:
        self.formula = formula

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> None:
        self.trained_on.append(len(X))

    def predict(self, X: pd.DataFrame) -> Any:
        return self.formula(X)


def people(n: int = 120, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "race": rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2]),
            "age": rng.integers(18, 70, n).astype(float),
        }
    )
    pay = (
        5 + 0.1 * frame["age"] + 2.0 * (frame["sex"] == "m") + frame["race"].map({"a": 0, "b": -1.5, "c": 3})
    )
    return frame, (pay + rng.normal(0, 0.5, n)).to_numpy()


def sex_pays(X: pd.DataFrame) -> np.ndarray:
    return np.where(X["sex"] == "m", 10 + 2 * X["age"], 4 + X["age"])


# The divergence


@pytest.mark.parametrize(
    ("p", "q", "divergence"),
    [
        # Means 0 and 2, variances 1 and 4: log 2 + (1 + 4) / 8 - 1 / 2; then log 1/2 + (4 + 4) / 2 - 1 / 2.
        ([-1, 1], [0, 4], math.log(2) + 0.125),
        ([0, 4], [-1, 1], -math.log(2) + 3.5),
        # With variance (1 + x) times the other and equal means: (x - log(1 + x)) / 2, about x squared / 4.
        ([-1 - 1e-6, 1 + 1e-6], [-1, 1], 1e-12),
        # Points have the limit.
        ([5, 5], [5, 5], 0),
        ([5, 5], [6, 6], math.inf),
        ([5, 5], [4, 6], math.inf),
        ([4, 6], [5, 5], math.inf),
        ([0.1] * 3, [0.1] * 10, 0),  # the mean of three 0.1 is not 0.1
    ],
)
def test_divergence_of_two_samples(p: list[float], q: list[float], divergence: float) -> None:
    assert gaussian_kl(p, q) == pytest.approx(divergence, rel=1e-5, abs=0)


@pytest.mark.parametrize("bad", [[], [1.0], [1.0, math.nan], [1.0, math.inf], [[1.0, 2.0]]])
def test_what_has_no_divergence_is_refused(bad: list[Any]) -> None:
    for pair in ((bad, [1, 2]), ([1, 2], bad)):
        with pytest.raises(DataError, match="two or more finite numbers"):
            gaussian_kl(*pair)


# The test


def test_each_group_in_each_fold_is_compared_before_and_after() -> None:
    seen: list[pd.DataFrame] = []

    def log(X: pd.DataFrame) -> np.ndarray:
        seen.append(X)
        return sex_pays(X)

    frame, y = people()
    found = alternation_test(frame, y, Fixed(log), ["sex"], n_folds=3)
    assert tuple(found.columns) == ALTERNATION_COLUMNS
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


@pytest.mark.parametrize("attribute", ["sex", "race"])
def test_to_a_model_of_categories_names_are_nothing(attribute: str) -> None:
    frame, y = people(300)
    model = polynomial_regression(["age"], ["sex", "race"])
    found = alternation_test(frame, y, model, [attribute], variants=VARIANTS, n_folds=3)
    rows = {variant: own.reset_index(drop=True) for variant, own in found.groupby("variant")}
    for column in ("mean", "mean_alternated", "kl"):
        assert rows["train"][column].to_numpy() == pytest.approx(rows["predict"][column].to_numpy())
    assert (rows["predict"]["kl"] > 1e-3).all()
    assert (rows["retrain"]["kl"] < 1e-15).all()
    assert rows["retrain"]["mean_alternated"].to_numpy() == pytest.approx(rows["retrain"]["mean"].to_numpy())


def test_a_model_of_numbers_depends_on_the_order_of_three_values_but_not_of_two() -> None:
    frame, y = people(300)
    model = polynomial_regression(["age"], ["sex", "race"], encoding="ordinal", degree=1)
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


def test_folds_depend_on_the_seed_and_on_nothing_else() -> None:
    frame, y = people()
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    first, again, other = (
        alternation_test(frame, y, Fixed(sex_pays), ["sex"], seed=seed) for seed in (1, 1, 2)
    )
    pd.testing.assert_frame_equal(first, again)
    assert not first["mean"].equals(other["mean"])
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"attributes": ["constant"]}, DataError, "two or more different values.*'x' in all rows"),
        ({"n_folds": 121}, ExperimentError, "at most 120 folds.*Got: 121"),
    ],
)
def test_what_cannot_be_tested_is_refused(
    change: dict[str, Any], error: type[BetabenchError], text: str
) -> None:
    frame, y = people()
    frame["constant"] = "x"
    words = {"features": frame, "target": y, "model": Fixed(sex_pays), "attributes": ["sex"], **change}
    with pytest.raises(error, match=text):
        alternation_test(**words)


def test_polynomial_regression_is_ridge_on_all_monomials() -> None:
    frame, y = people(80)
    age = ((frame["age"] - frame["age"].mean()) / frame["age"].std(ddof=0)).to_numpy()
    marks = [(frame["sex"] == sex).to_numpy(float) for sex in "fm"]
    basis = [age, *marks]
    basis += [a * b for a, b in itertools.combinations_with_replacement(basis, 2)]
    phi = np.column_stack(basis)
    centered = phi - phi.mean(axis=0)
    weights = np.linalg.solve(centered.T @ centered + 0.7 * np.eye(9), centered.T @ (y - y.mean()))
    model = polynomial_regression(["age"], ["sex"], penalty=0.7)
    model.fit(frame, y)
    assert model.predict(frame) == pytest.approx(centered @ weights + y.mean())


def test_summary_of_three_folds() -> None:
    head = {"case": "x", "attribute": "sex", "first": "f", "second": "m", "variant": "predict"}
    folds = [(0, 3, 1.0, 2.0, 0.5, 0.1), (1, 1, 4.0, 3.0, math.nan, math.nan), (2, 4, 4.0, 8.0, 1.5, 0.3)]
    rows = [(*head.values(), fold, "f", *numbers, "") for fold, *numbers in folds]
    results = pd.DataFrame(rows, columns=["case", *ALTERNATION_COLUMNS])
    (row,) = summarize_alternation(results).to_dict("records")
    assert row == pytest.approx(
        {
            **{**head, "group": "f", "n": 8, "folds": 3, "mean": 3.0, "mean_alternated": 13 / 3},
            **{"change": 4 / 3, "folds_up": 2, "folds_down": 1, "kl_folds": 2, "kl": 1.0},
            **{"kl_min": 0.5, "kl_max": 1.5, "kl_reverse": 0.2},
        }
    )


# The experiment file

CARD = """
name = "shop"
title = "Shop"
label = "old"
favorable_label = "yes"
sensitive_feature = "sex"
deprived_group = "f"
[source]
format = "csv"
files = [{ name = "shop.csv" }]
[columns.sex]
kind = "categorical"
states = ["f", "m"]
[columns.pay]
kind = "numeric"
bins = [0, 10, inf]
states = ["low", "high"]
source = "wage"
[columns.age]
kind = "numeric"
bins = [0, 40, inf]
states = ["young", "old"]
[columns.old]
kind = "categorical"
states = ["no", "yes"]
"""

FILE = """
kind = "alternation"
name = "shop_pay"
title = "Pay in a shop"
card = "shop.toml"
target = "pay"
numeric = ["age"]
attributes = ["sex"]
folds = 3
seed = 5
[keep]
old = ["no", "yes"]
[[cases]]
name = "all"
title = "All rows"
positive_target = false
features = ["sex", "age"]
[[cases]]
name = "paid"
title = "Paid rows"
features = ["sex", "age", "old"]
encoding = "ordinal"
variants = ["predict"]
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    frame, y = people(90)
    rows = [
        f"{sex},{0 if i % 9 == 0 else pay:.2f},{age:g}, {'yes' if age > 40 else 'no'}"
        for i, (sex, pay, age) in enumerate(zip(frame["sex"], y, frame["age"], strict=True))
    ]
    rows.append("m,99,30,unknown")  # which 'keep' leaves out
    (tmp_path / "shop.csv").write_text("sex,wage,age,old\n" + "\n".join(rows) + "\n")
    (tmp_path / "shop.toml").write_text(CARD)
    (tmp_path / "pay.toml").write_text(FILE)
    return tmp_path


def run(folder: Path, output: str, *words: str) -> int:
    file = str(folder / "pay.toml")
    where = ["--data-dir", str(folder), "--output", str(folder / output), "--offline"]
    return main(["alternation", file, *where, *words])


def test_the_command_writes_its_results_and_replaces_none(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shop)
    for _ in range(2):
        assert main(["alternation", "pay.toml", "--data-dir", ".", "--offline", "--no-figures"]) == 0
    assert "all, predict: f -> m: mean" in capsys.readouterr().out
    first, second = (Path("results") / name for name in ("shop_pay", "shop_pay_2"))
    files = sorted(path.name for path in first.iterdir())
    assert files == ["manifest.json", "results.csv", "summary.csv"]
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in files)
    manifest = json.loads((first / "manifest.json").read_text())
    assert manifest["rows"] == {"all": 90, "paid": 80}
    results = pd.read_csv(first / "results.csv", keep_default_na=False)
    assert results.groupby("case")["variant"].unique().map(list).to_dict() == {
        "all": list(VARIANTS),
        "paid": ["predict"],
    }
    retrained = results[results["variant"] == "retrain"]
    assert (retrained["mean"] == retrained["mean_alternated"]).all()
    assert retrained["kl"].astype(float).eq(0).all()


def test_each_command_names_the_other_for_its_files(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(shop / "pay.toml")
    assert main(["run", "--experiment", file, "--output", str(shop / "one")]) == 2
    said = capsys.readouterr().err
    assert f"The experiment file {file} is of another kind" in said
    assert f"Got: kind = 'alternation'. What to do: betabench alternation {file}" in said
    assert main(["alternation", "smoke", "--output", str(shop / "one")]) == 2
    said = capsys.readouterr().err
    assert "Expected: kind = 'alternation'. Got: no field 'kind'" in said
    assert "betabench run --experiment smoke" in said
    assert not (shop / "one").exists()
    with pytest.raises(ExperimentError, match="betabench alternation alternation"):
        load_experiment("alternation")


def test_without_data_the_run_says_that_no_network_can_stand_in(tmp_path: Path) -> None:
    experiment = load_alternation("alternation")
    (tmp_path / "empty").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BETABENCH_CACHE", str(tmp_path / "empty"))
        with pytest.raises(DataNotFoundError, match=r"network cannot replace.*'wage_per_hour', not"):
            run_alternation(experiment, Sources(tmp_path / "empty", offline=True))


@pytest.mark.parametrize(
    ("old", "new", "error", "text"),
    [
        ('target = "pay"', 'target = "pay"\nfold = 3', ExperimentError, "fold: is not a field"),
        ("folds = 3", "folds = 1", ExperimentError, "folds: .*greater than or equal to 2"),
        ('attributes = ["sex"]', 'attributes = ["age"]', ExperimentError, "'age' is numeric"),
        ('["sex", "age"]', '["age"]', ExperimentError, "'all' lacks the attribute 'sex'"),
        ('["sex", "age"]', '["sex", "pay"]', ExperimentError, "target 'pay' among its features"),
        ('name = "paid"', 'name = "all"', ExperimentError, "'all' is used twice"),
        ('["predict"]', '["repeat"]', ExperimentError, "variants"),
        ("seed = 5", "seed =", ExperimentError, "not valid TOML"),
        # Files that do not fit their data.
        ('numeric = ["age"]', 'numeric = ["agge"]', UnknownNameError, "called 'agge'.*did you mean 'age'"),
        ('old = ["no", "yes"]', 'old = ["never"]', DataError, "No row of the dataset 'shop' is left"),
        ('numeric = ["age"]', 'numeric = ["age", "old"]', DataError, "holds other values.*numbers in pay"),
    ],
)
def test_a_wrong_file_is_refused(
    shop: Path, old: str, new: str, error: type[BetabenchError], text: str
) -> None:
    (shop / "pay.toml").write_text(FILE.replace(old, new, 1))
    with pytest.raises(error, match=text):
        run_alternation(load_alternation(shop / "pay.toml"), Sources(shop, offline=True))


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_file_is_valid_and_named_like_its_file(name: str) -> None:
    assert load_alternation(name).name == name


# The committed results


def committed(name: str) -> pd.DataFrame:
    return pd.read_csv(RESULTS / name, keep_default_na=False, na_values=[""])


def test_the_committed_results_are_those_of_the_shipped_file() -> None:
    experiment = load_alternation("alternation")
    manifest = json.loads((RESULTS / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["experiment"] == experiment.model_dump(mode="json")
    results = committed("results.csv")
    for case in experiment.cases:
        own = results[results["case"] == case.name]
        assert len(own) == (1 + 10) * len(case.variants) * experiment.folds * 2
        women_and_men = own[(own["attribute"] == "sex") & (own["variant"] == "predict")]
        assert women_and_men["n"].sum() == manifest["rows"][case.name]
    again = summarize_alternation(results).round(6)
    pd.testing.assert_frame_equal(again, committed("summary.csv"), check_dtype=False, atol=2e-6)


def test_the_committed_results_hold_the_equivalence_of_the_variants() -> None:
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
    for case in ("ten", "ordinal"):
        for pair in (("Female", "Male"), ("Male", "Female")):
            for column in ("change", "kl"):
                same = number(case, *pair, column, "train")
                assert same == pytest.approx(number(case, *pair, column), abs=1e-6)
            assert number(case, *pair, "change", "retrain") == pytest.approx(0, abs=1e-6)
    assert number("ten", "Other", "White", "change", "retrain") == pytest.approx(0, abs=1e-6)
    assert number("ordinal", "Other", "White", "change", "retrain") > 100
    rows = json.loads((RESULTS / "manifest.json").read_text(encoding="utf-8"))["rows"]
    assert rows == dict.fromkeys(with_wage, 8_414) | {"zeros": 14_864}


@pytest.mark.nightly
@pytest.mark.real_data
def test_computing_again_gives_the_committed_numbers(data_dir: Path) -> None:
    experiment = load_alternation("alternation")
    (case,) = (case for case in experiment.cases if case.name == "ordinal")
    quick = case.model_copy(update={"variants": ("predict",)})
    small = experiment.model_copy(update={"cases": (quick,), "attributes": ("sex",)})
    outcome = run_alternation(small, Sources(data_dir, offline=True))
    results = committed("results.csv")
    expected = results[(results["case"] == "ordinal") & (results["attribute"] == "sex")]
    expected = expected[expected["variant"] == "predict"].reset_index(drop=True)
    again = outcome.results.assign(reason=np.nan)  # empty in the file
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
    keep = load_alternation("alternation").keep
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
    told = (ROOT / "experiments" / "alternation.toml").read_text(encoding="utf-8").replace(",", "")
    assert [int(n) for n in re.findall(r"^# +(\d+) (?:the five|and) ", told, re.MULTILINE)] == counts
    assert (asked & paid).sum() == paid.sum()
    wages = rows["wage_per_hour"].astype(int)
    means = [wages[chosen].groupby(rows["sex"]).mean().round().tolist() for chosen in (asked, paid)]
    assert means == [[527, 618], [888, 1148]]
    assert (asked & ~paid).sum() == 6450
