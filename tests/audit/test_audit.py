"""The audit of a table says the same whatever the order of its rows, and what others say of COMPAS."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmark.audit.predictions import read_predictions
from benchmark.audit.table_audit import AuditResult
from benchmark.errors import DataError, ExperimentError, UnknownNameError
from benchmark.metrics import list_families, list_metrics
from benchmark.seeding import generator
from tests.helpers.audits import audited

ROLES: dict[str, Any] = {"label": "y", "prediction": "p", "sensitive": ["sex", "race"]}


def made_up(n: int = 400) -> pd.DataFrame:
    rng = generator(1, purpose="audit test")
    score = rng.random(n)
    return pd.DataFrame(
        {
            "y": (score + rng.normal(0, 0.3, n) > 0.5).astype(int),
            "p": (score > 0.6).astype(int),
            "s": score,
            "sex": rng.choice(["f", "m"], n, p=[0.3, 0.7]),
            "race": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]),
            "job": rng.choice(["x", "y"], n),
        }
    )


FRAME = made_up()


def disparity(result: AuditResult, attribute: str, group: str, metric: str) -> dict[Any, Any]:
    rows = result.disparities
    [row] = rows[
        rows["attribute"].eq(attribute) & rows["group"].eq(group) & rows["metric"].eq(metric)
    ].to_dict("records")
    return row


def test_an_audit_by_hand() -> None:
    # f: tp 2, fp 1, fn 1, tn 4; m: tp 3, fp 4, fn 1, tn 4
    cells = [(1, 1), (0, 1), (1, 0), (0, 0)] * 2
    rows = np.repeat(
        [(sex, *cell) for sex, cell in zip("ffffmmmm", cells, strict=True)], [2, 1, 1, 4, 3, 4, 1, 4], axis=0
    )
    frame = pd.DataFrame(rows, columns=["sex", "y", "p"])
    result = audited(frame, label="y", prediction="p", sensitive="sex")
    assert "sex: 2 of 2 groups have fewer than 30 rows, too few to be sure" in result.notes
    assert result.groups["false_positive_rate"].tolist() == [1 / 5, 4 / 8]
    row = disparity(result, "sex", "f", "false_positive_rate")
    assert (row["reference"], row["disparity"], row["verdict"]) == ("m", pytest.approx(0.4), False)
    overall = result.parity.set_index("parity")
    assert overall.loc["FPR Parity", "failed"] == "f"
    assert overall["verdict"][["FOR Parity", "FPR Parity"]].tolist() == [True, False]
    value = result.metrics.set_index(["metric", "group"])["value"]
    assert value["discrimination", "f"] == pytest.approx(7 / 12 - 3 / 8)
    assert value["accuracy", ""] == 13 / 20


def test_all_metrics_that_apply_are_computed() -> None:
    def of(**options: Any) -> set[str]:
        return set(audited(FRAME, **{**ROLES, "sensitive": "sex", **options}).metrics["metric"])

    needing = {name: set(item.needs) for name, item in list_metrics().items()}
    assert of() == {n for n, needs in needing.items() if needs <= {"y_true", "y_pred"}}
    assert of(score="s") == {n for n, needs in needing.items() if needs <= {"y_true", "y_pred", "y_score"}}
    assert of(strata="job") - of() == {n for n, needs in needing.items() if "strata" in needs}
    assert of(features=["s"]) - of() == {n for n, needs in needing.items() if "features" in needs}
    assert of(metrics=["paper", "auc_gap"]) == {
        "accuracy", "discrimination", "overestimation", "underestimation", "auc_gap",
    }  # fmt: skip
    asked = audited(FRAME, metrics=["auc_gap"], **ROLES).metrics
    assert asked["value"].isna().all()
    assert set(asked["reason"]) == {"it needs scores, not given"}


def test_order_and_copies_of_rows_change_nothing() -> None:
    order = generator(2, purpose="audit test").permutation(len(FRAME))
    first = audited(FRAME, score="s", strata="job", **ROLES)
    for other, copies in ((FRAME.iloc[order], 1), (pd.concat([FRAME, FRAME, FRAME]), 3)):
        again = audited(other, score="s", strata="job", **ROLES)
        # Differential fairness smooths its shares by a count, which weighs less among more rows.
        smoothed = first.metrics["metric"].str.contains("differential_fairness") & (copies > 1)
        values = (result.metrics.loc[~smoothed, "value"] for result in (again, first))
        np.testing.assert_allclose(*values, atol=1e-12)
        np.testing.assert_allclose(again.disparities["disparity"], first.disparities["disparity"], atol=1e-12)
        assert again.groups["n"].tolist() == (copies * first.groups["n"]).tolist()
        pd.testing.assert_frame_equal(again.parity, first.parity)
        rates = first.groups.columns[first.groups.columns.get_loc("predicted_positive_share") : -1]
        np.testing.assert_allclose(again.groups[rates], first.groups[rates], atol=1e-12)


def test_weights_count_as_copies_do_but_allow_no_test() -> None:
    weight = generator(3, purpose="audit test").integers(0, 4, len(FRAME))
    copied = FRAME.loc[FRAME.index.repeat(weight)]
    weighted = audited(FRAME.assign(w=weight), weight="w", score="s", **ROLES)
    expected = audited(copied, score="s", **ROLES)
    np.testing.assert_allclose(weighted.metrics["value"], expected.metrics["value"], atol=1e-12)
    np.testing.assert_allclose(weighted.disparities["disparity"], expected.disparities["disparity"])
    groups = (own.groups.drop(columns=["n", "small"]) for own in (weighted, expected))
    pd.testing.assert_frame_equal(*groups, check_dtype=False)
    assert weighted.disparities["p_value"].isna().all()
    assert not weighted.disparities["significant"].any()
    assert expected.disparities["p_value"].notna().any()
    assert any("weights" in note for note in weighted.notes)
    nobody = audited(FRAME.assign(w=0), weight="w", label="y", prediction="p", sensitive="sex")
    assert nobody.groups["selection_rate"].isna().all()
    assert nobody.parity["verdict"].isna().all()
    assert (nobody.metrics["reason"].ne("") == nobody.metrics["value"].isna()).all()


@pytest.mark.parametrize("conventions", ["betabench", "clarify"])  # by which 0 / 0 may be the smallest
@pytest.mark.parametrize("reference", ["majority", "minimum", {"sex": "f", "race": "c"}, "sex=f,race=c"])
def test_metrics_and_disparities_have_the_same_reference(reference: Any, conventions: Any) -> None:
    frame = FRAME.assign(p=FRAME["p"].where(FRAME["race"] != "c", 0))
    result = audited(frame, reference=reference, intersections=True, conventions=conventions, **ROLES)
    ours = result.disparities.assign(metric=result.disparities["metric"] + "_disparity")
    keys = ["attribute", "metric", "group"]
    both = ours.merge(result.metrics, on=keys, suffixes=("", "_metric"), validate="one_to_one")
    assert len(both) == len(ours)
    assert (both["reference"] == both["reference_metric"]).all()
    np.testing.assert_allclose(both["disparity"], both["value_metric"])
    if "minimum" != reference != "majority":
        assert result.facts["reference"] == {"sex": "f", "race": "c", "sex × race": "f × c"}
    if reference == "minimum":
        assert (ours["value"] >= ours["reference_value"].fillna(0)).where(ours["value"].notna(), True).all()


def test_references_that_are_not_named_are_the_largest_groups() -> None:
    result = audited(FRAME, reference={"race": "c"}, intersections=True, **ROLES)
    assert result.facts["reference"] == {"sex": "majority", "race": "c", "sex × race": "majority"}
    assert set(result.disparities.query("attribute == 'sex'")["reference"]) == {"m"}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"reference": {"sexx": "m"}}, UnknownNameError, "did you mean 'sex'"),
        ({"reference": {"sex": "mm"}}, UnknownNameError, "did you mean 'm'"),
        ({"reference": "m"}, UnknownNameError, "group called 'm'"),  # of sex, but not of race
        ({"metrics": ["acuracy"]}, UnknownNameError, "did you mean 'accuracy'"),
        ({"conventions": "fairlearn"}, UnknownNameError, "clarify"),
        ({"tau": 0.0}, ExperimentError, "tau"),
    ],
)
def test_what_is_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        audited(FRAME, **{**ROLES, **options})


@pytest.mark.parametrize(
    ("n_of_m", "options", "ratio", "verdict"),
    [
        (0, {"conventions": "aequitas"}, 10.0, False),
        (0, {"conventions": "clarify"}, math.inf, False),
        (0, {}, math.nan, None),
        (14, {}, 0.5 / 0.7, False),
        (14, {"tau": 0.7}, 0.5 / 0.7, True),
    ],
)
def test_conventions_and_tau_decide_values_and_verdicts(
    n_of_m: int, options: dict[str, Any], ratio: float, verdict: bool | None
) -> None:
    frame = pd.DataFrame(
        {"p": [1, 0] * 10 + [1] * n_of_m + [0] * (20 - n_of_m), "sex": ["f"] * 20 + ["m"] * 20}
    )
    result = audited(frame, prediction="p", sensitive="sex", reference={"sex": "m"}, **options)
    row = disparity(result, "sex", "f", "selection_rate")
    assert row["disparity"] == pytest.approx(ratio, nan_ok=True)
    assert row["verdict"] is verdict


def test_one_group_and_one_class_have_reasons_instead_of_numbers() -> None:
    result = audited(FRAME.assign(sex="f", y=1), label="y", prediction="p", sensitive="sex")
    assert "sex: there is one group, and nothing to compare it with" in result.notes
    lacking = result.metrics[result.metrics["value"].isna()].set_index("metric")["reason"]
    assert lacking["discrimination"] == "there is no row of the groups other than 'f'"
    assert lacking["false_positive_rate"] == "there is no row of the group 'f' with an unfavorable label"
    assert {*list_families()["fairlearn"]} <= {*lacking.index}
    assert (result.metrics["reason"].ne("") == result.metrics["value"].isna()).all()
    assert result.disparities["disparity"].isna().all()
    assert result.disparities.set_index("metric").loc["selection_rate", "reason"] == "there is only one group"
    assert result.verdicts["verdict"].isna().all()


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("file", "reference"),
    [
        ("predefined", {"race": "Caucasian", "sex": "Male", "age_cat": "25 - 45"}),
        ("major", "majority"),
        ("min", "minimum"),
    ],
)
def test_compas_as_aequitas_audits_it(oracle_dir: Path, file: str, reference: Any) -> None:
    folder = oracle_dir / "metrics"
    attributes = ["race", "sex", "age_cat"]
    result = audited(
        read_predictions(folder / "compas_input.csv.gz"),
        label="label",
        prediction="prediction",
        sensitive=attributes,
        reference=reference,
        conventions="aequitas",
    )
    theirs = pd.read_csv(folder / f"compas_fairness_{file}.csv", keep_default_na=False, na_values=["nan"])
    answers = theirs.set_index(["attribute", "value", "metric"])["number"]
    ours = result.verdicts.set_index(["attribute", "group", "parity"])["verdict"]
    assert len(ours) == 15 * 11
    for key, verdict in ours.items():
        answer = answers[key]
        assert pd.isna(verdict) if pd.isna(answer) else verdict == bool(answer), key


def test_names_that_could_mean_two_things_are_refused() -> None:
    frame = pd.DataFrame({"p": [0, 1, 0, 1], "a": ["x", "x × y", "x", "x × y"], "b": ["y × z", "z"] * 2})
    with pytest.raises(DataError, match="Crossed groups would have the same name"):
        audited(frame, prediction="p", sensitive=["a", "b"], intersections=True)
    frame["c"] = ["majority", "other"] * 2
    with pytest.raises(ExperimentError, match="can mean two things"):
        audited(frame, prediction="p", sensitive="c", reference={"c": "majority"})
    frame["d"] = ["(missing)", None, "e", "e"]
    with pytest.raises(DataError, match="and missing values"):
        audited(frame, prediction="p", sensitive="d")
    with pytest.raises(ExperimentError, match="No metric is named"):
        audited(frame, prediction="p", sensitive="a", metrics=[])
    by_name = audited(frame, prediction="p", sensitive="a", metrics="paper").metrics
    assert set(by_name["metric"]) == set(list_families()["paper"])
