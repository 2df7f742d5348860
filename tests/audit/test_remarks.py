"""An audit asks about tables that are not what they seem: reversed, constant, tied, of several models."""

import shlex
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmark.audit.predictions import rows_where
from benchmark.audit.table_audit import AuditResult
from benchmark.report.audit import audit_page, audit_text
from benchmark.seeding import generator
from benchmark.text.terminal import as_text
from tests.helpers.audits import audited

ROLES: dict[str, Any] = {"label": "y", "prediction": "p", "sensitive": "sex"}


def made_up(n: int = 300, right: float = 0.85, seed: int = 0) -> pd.DataFrame:
    rng = generator(seed, purpose="audit remarks")
    label = rng.integers(0, 2, n)
    predicted = np.where(rng.random(n) < right, label, 1 - label)
    return pd.DataFrame({"y": label, "p": predicted, "s": rng.random(n), "sex": rng.choice(["f", "m"], n)})


FRAME = made_up()


def notes(frame: pd.DataFrame, **options: Any) -> str:
    return "\n".join(audited(frame, **{**ROLES, **options}).notes)


def shown(result: AuditResult) -> str:
    return as_text(audit_text(result))


@pytest.mark.parametrize(
    ("coded", "question", "typed"),
    [
        ({0: 1, 1: 0}, "does '1' mean the same in both columns?", "--favorable-prediction 0"),
        ({0: True, 1: False}, "do '1' and 'True' agree in both columns?", "--favorable-prediction False"),
        ({0: "Yes", 1: "No"}, "do '1' and 'Yes' agree in both columns?", "--favorable-prediction No"),
    ],
)
def test_reversed_predictions_are_asked_about(coded: dict[int, Any], question: str, typed: str) -> None:
    reversed_frame = FRAME.assign(p=FRAME["p"].map(coded))
    said = notes(reversed_frame)
    assert question in said
    assert typed in said
    own = audited(reversed_frame, favorable_prediction=coded[1], **ROLES)
    assert "less accurate" not in "\n".join(own.notes)
    right = audited(FRAME, **ROLES).groups["accuracy_rate"]
    assert own.groups["accuracy_rate"].tolist() == right.tolist()
    assert question in audit_page(audited(reversed_frame, **ROLES)).replace("&#39;", "'")


SELECTED: dict[str, Any] = {"prediction": None, "score": "s"}
WRONG = FRAME.assign(s=FRAME["s"] - 0.5 * FRAME["y"])
ODDS = FRAME.assign(s=np.log(FRAME["s"] / (1 - FRAME["s"])))  # log odds are no shares of 100


@pytest.mark.parametrize(
    ("frame", "options", "said"),
    [
        (FRAME.assign(y=1), {}, "every row has the same label, '1'"),
        (FRAME.round(1), {**SELECTED, "k": 20}, "more rows than asked for are selected: they tie"),
        (FRAME.assign(s=0.5), {**SELECTED, "percent": 10}, "270 more rows than asked for"),
        (FRAME.assign(s=0.5), {**SELECTED, "percent": 10}, "every row has the same score, 0.5"),
        (FRAME.assign(s=FRAME["s"] + 9), {**SELECTED, "threshold": 0.5}, "is 0.5 meant as a share?"),
        (FRAME, {**SELECTED, "threshold": -1}, "every row is selected"),
        (FRAME, {**SELECTED, "threshold": 2}, "every row is left out by the selection"),
        (WRONG.assign(w=1e-6), {"score": "s", "weight": "w"}, "the AUC is below 0.5"),
        (WRONG.assign(w=1e6), {"score": "s", "weight": "w"}, "the AUC is below 0.5"),
        (pd.concat([FRAME, FRAME]), {}, "300 of 600 rows repeat another row"),
        (FRAME.assign(sample_weight=1.5), {}, "type --weight sample_weight"),
        (FRAME.assign(sampleWeight=1), {}, "type --weight sampleWeight"),
        (FRAME.assign(sex=["F", "f", "m"] * 100), {}, "'F', 'f' differ by case alone"),
    ],
)
def test_what_is_odd_is_remarked(frame: pd.DataFrame, options: dict[str, Any], said: str) -> None:
    assert said in notes(frame, **options)


@pytest.mark.parametrize(
    ("frame", "options", "unsaid"),
    [
        (made_up(right=0.48), {}, "less accurate"),  # by chance, or in one group
        (FRAME.assign(p=FRAME["p"].where(FRAME["sex"] == "f", 1 - FRAME["p"])), {}, "less accurate"),
        (FRAME.assign(p=0), {}, "less accurate"),
        (ODDS, {**SELECTED, "threshold": 0.5}, "meant as a share"),
        (pd.concat([FRAME, FRAME]).drop(columns="s"), {}, "repeat"),
        (FRAME.assign(w=2, weight=2), {"weight": "w"}, "--weight"),
        (FRAME.assign(overweight=1, Lightweight=1), {}, "--weight"),
        (FRAME.assign(city=["a", "b", "c"] * 100, row=range(300)), {}, "several models"),
    ],
)
def test_what_is_not_odd_is_not(frame: pd.DataFrame, options: dict[str, Any], unsaid: str) -> None:
    assert unsaid not in notes(frame, **options)


@pytest.mark.parametrize("value", [0, 1])
def test_constant_predictions_are_remarked_and_leave_reasons(value: int) -> None:
    result = audited(FRAME.assign(p=value), **ROLES)
    assert f"every row has the same prediction, '{value}'" in "\n".join(result.notes)
    # What has no value is a sentence with a reason, and no row or column of dashes.
    text = shown(result)
    assert "–" not in text
    assert "No verdict: " in text
    assert "No verdict: " in audit_page(result)
    line, *_ = [line for line in text.splitlines() if line.startswith("group ")]
    assert ("FOR" in line) is (value == 0)


def test_scores_that_rank_by_chance_are_not_called_reversed() -> None:
    by_chance = [audited(made_up(seed=seed), score="s", **ROLES) for seed in range(12)]
    assert not any(result.notes for result in by_chance)
    assert any((result.groups["auc"] < 0.5).all() for result in by_chance)


def several(name: str, values: list[Any], **columns: Any) -> pd.DataFrame:
    parts = [made_up(right=0.7 + i / 20).assign(y=FRAME["y"], sex=FRAME["sex"]) for i in range(len(values))]
    return pd.concat(
        [part.assign(**{name: value, **columns}) for part, value in zip(parts, values, strict=True)]
    )


@pytest.mark.parametrize(
    ("frame", "typed"),
    [
        (several("model", ["tree", "net", "logit"]).sample(frac=1, random_state=1), "--where model="),
        (several("run id", [1, 2]), "--where 'run id=1'"),
        (several("run", [1.0, 2.0]), "--where run=1"),
        (several("how", ["x=1", "y,2"]), "--where how=x=1"),
        (several("by", ["a", "b"], person=range(300)).sample(frac=1, random_state=2), "--where by="),
    ],
)
def test_predictions_of_several_models_are_remarked(frame: pd.DataFrame, typed: str) -> None:
    said = notes(frame)
    assert "predictions of several models" in said
    assert typed in said
    [condition] = shlex.split(said.partition("--where ")[2])
    assert len(rows_where(frame, condition)) == len(FRAME)


@pytest.mark.parametrize("known", [120, 40])
def test_rows_without_a_group_are_no_reference(known: int) -> None:
    frame = FRAME.assign(sex=FRAME["sex"].where(np.arange(300) < known), race=["a", "b", None] * 100)
    largest = frame["sex"].value_counts().index[0]
    result = audited(frame, **{**ROLES, "sensitive": ["sex", "race"], "intersections": True})
    references = result.disparities.groupby("attribute")["reference"].unique().map(list).to_dict()
    assert references["sex"] == [largest]
    assert references["race"] == ["a"]
    assert "(missing)" not in references["sex × race"][0]
    for text in (shown(result), audit_page(result)):
        assert f"Compared with {largest}, the largest group whose value is known." in text
    least = audited(frame.assign(p=frame["p"].where(frame["sex"].notna(), 0)), reference="minimum", **ROLES)
    assert "(missing)" not in set(least.disparities["reference"])
    named = audited(frame, reference={"sex": "(missing)"}, **ROLES)
    assert set(named.disparities["reference"]) == {"(missing)"}
    alone = audited(frame.assign(sex=None), **ROLES)
    assert set(alone.disparities["reference"]) == {"(missing)"}


def test_equal_numbers_are_named_so() -> None:
    result = audited(FRAME, **ROLES)
    named = "equal numbers selected (Aequitas: Statistical Parity)"
    for text in (audit_text(result), audit_page(result)):
        assert named in text
        assert "statistical parity" not in text.replace("statistical or demographic parity", "")
    assert "Statistical Parity" in set(result.parity["parity"])
