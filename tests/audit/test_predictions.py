"""Tables of predictions in any form are read alike, and what is not certain is refused with a sentence."""

from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmark.audit.predictions import MISSING, read_predictions
from benchmark.errors import BetabenchError, DataError, ExperimentError, UnknownNameError
from benchmark.report.audit import audit_page
from tests.helpers.audits import audited, prepared

LABEL = [1, 1, 0, 0, 1, 0]
PREDICTION = [1, 0, 1, 0, 1, 0]
SEX = ["f", "f", "f", "m", "m", "m"]
ROLES: dict[str, Any] = {"label": "y", "prediction": "p", "sensitive": "sex"}


def table(**columns: object) -> pd.DataFrame:
    return pd.DataFrame({"y": LABEL, "p": PREDICTION, "sex": SEX, **columns})


# --- reading ----------------------------------------------------------------------------------------------


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_csv_stays_the_text_of_the_file(tmp_path: Path) -> None:
    text = '\ufeffzip, "name, first",none\n01,Åsa 女,None\n 1 ,,NA\n'
    frame = read_predictions(write(tmp_path / "a.csv", text))
    assert frame.columns.tolist() == ["zip", "name, first", "none"]
    assert frame["zip"].tolist() == ["01", "1"]
    assert frame.loc[0].tolist() == ["01", "Åsa 女", "None"]
    assert frame.loc[1].isna().tolist() == [False, True, True]


def test_what_is_odd_about_a_file_is_remarked(tmp_path: Path) -> None:
    rows = "".join(f"{i % 2};{i // 2 % 2};{i % 10 / 10};ä\n".replace(".", ",") for i in range(40))
    frame = read_predictions(write(tmp_path / "a.csv", f"y;p;s;sex\n{rows}".encode("latin-1")))
    found = prepared(frame, score="s", **ROLES)
    assert found.predictions["sex"].names == ("ä",)
    assert found.predictions["sex"].y_score is not None
    assert found.predictions["sex"].y_score[3] == 0.3
    assert [note for note in found.notes if "CP1252, which is a guess" in note]
    assert "Numbers of s: '0,9' is read as 0.9." in found.notes
    plain = read_predictions(write(tmp_path / "b.csv", 'y,p,sex\n1,0,"f"\n0,1,m\n'))
    assert plain.attrs["betabench_remarks"] == ()


@pytest.mark.parametrize("name", ["s", "1", "decile score"])
def test_a_name_that_looks_numbered_is_no_repeated_one(name: str, tmp_path: Path) -> None:
    named, row = {"y", "p", "sex", name}, "1,0,f,0.5,0.7\n"
    frame = read_predictions(write(tmp_path / "a.csv", f"y,p,sex,{name},{name}.1\n{row}"), named=named)
    assert frame[name].tolist() == ["0.5"]
    assert frame.attrs["betabench_remarks"] == ()
    with pytest.raises(DataError, match=f"Got: '{name}' more than once"):
        read_predictions(write(tmp_path / "b.csv", f"y,p,sex,{name},{name}\n{row}"), named=named)
    other = read_predictions(write(tmp_path / "b.csv", f"y,p,sex,{name},{name}\n{row}"), named={"y"})
    assert other.attrs["betabench_remarks"] == (f"Columns of the same name are numbered: {name}.1.",)


@pytest.mark.parametrize("column", ["y", "p", "sex"])
def test_na_in_labels_and_predictions_is_asked_about(column: str, tmp_path: Path) -> None:
    table().astype(str).replace({column: {"1": "NA", "f": "NA"}}).to_csv(tmp_path / "a.csv", index=False)
    found = prepared(read_predictions(tmp_path / "a.csv"), favorable="0", **ROLES)
    assert f"type --known {column}=NA" in "\n".join(found.notes)
    known = read_predictions(tmp_path / "a.csv", known={column: {"NA"}})
    ready = prepared(known, favorable="0", **ROLES)
    assert ready.facts["rows_audited"] == 6
    assert "--known" not in "\n".join(ready.notes)


def test_compressed_csv_and_parquet_hold_the_same(tmp_path: Path) -> None:
    frame = table(s=[0.1, 0.2, 0.3, np.nan, 0.5, 0.6])
    frame.to_csv(tmp_path / "a.csv.gz", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    pd.testing.assert_frame_equal(read_predictions(tmp_path / "a.parquet"), frame)
    ready = [
        prepared(read_predictions(tmp_path / name), score="s", **ROLES) for name in ("a.csv.gz", "a.parquet")
    ]
    assert ready[0].facts == ready[1].facts
    rows = "".join(
        f"{row.y},{row.p},{row.sex},{'?' if np.isnan(row.s) else row.s}\n" for row in frame.itertuples()
    )
    names = "".join(f"@attribute {name} string\n" for name in ("y", "p", "sex", "s"))
    write(tmp_path / "a.arff", f"@relation made_up\n{names}@data\n{rows}")
    assert prepared(read_predictions(tmp_path / "a.arff"), score="s", **ROLES).facts == ready[0].facts
    for one, other in zip(*(list(r.predictions.values()) for r in ready), strict=True):
        assert np.array_equal(one.counts.rows, other.counts.rows)
        assert np.array_equal(one.y_score, other.y_score)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xlsx", b"", "Got: empty"),
        ("a.csv", b"", "Got: empty"),
        ("a.csv", b"y,p\n", "has no rows"),
        ("a.csv", b"y,p,y\n1,1,0\n", "'y' more than once.*name 'y.1' if"),
        ("a.csv", b"y,p\n1,0,1\n", "no table with columns"),
        ("a.csv", b'y,p\n1,"0\n', "not valid CSV"),
        ("a.csv.gz", gzip.compress(b"y,p\n1,0\n" * 99, mtime=0)[:-9], "truncated or damaged"),
        ("a.parquet", b"PAR1 or not", "a Parquet file"),
    ],
)
def test_files_that_cannot_be_used(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        read_predictions(write(tmp_path / name, content), named={"y", "p"})


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There is no file"):
        read_predictions(tmp_path / "nowhere.csv")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such file names")
def test_a_file_name_may_be_in_another_encoding(tmp_path: Path) -> None:
    path = write(tmp_path / os.fsdecode("prévisions.csv".encode("latin-1")), "y,p,sex\n1,0,f\n")
    assert read_predictions(path)["sex"].tolist() == ["f"]


def test_parquet_without_its_package_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def without(*_: object, **__: object) -> None:
        raise ImportError("pyarrow")

    monkeypatch.setattr(pd, "read_parquet", without)
    with pytest.raises(DataError, match=r"betabench\[parquet\]"):
        read_predictions(write(tmp_path / "a.parquet", b"PAR1"))


# --- outcomes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "as_type",
    [
        lambda v: v,
        lambda v: [bool(x) for x in v],
        lambda v: [float(x) for x in v],
        lambda v: [str(x) for x in v],
        lambda v: [f"{x}.0" for x in v],
        lambda v: [("No", "YES")[x] for x in v],
        lambda v: [("false", "True")[x] for x in v],
        lambda v: pd.Categorical(v, categories=[1, 0, 7]),
        lambda v: pd.array(v, dtype="Int8"),
        lambda v: pd.array([bool(x) for x in v], dtype="boolean"),
        lambda v: pd.array([str(x) for x in v], dtype="string"),
        lambda v: np.array(v, dtype=np.float32),
        lambda v: pd.array(v, dtype="int64[pyarrow]"),
    ],
)
def test_outcomes_of_any_dtype(as_type: Any) -> None:
    found = prepared(table(y=as_type(LABEL)), **ROLES).predictions["sex"]
    assert found.y_true is not None
    assert found.y_true.astype(int).tolist() == LABEL
    assert found.counts.rows.tolist() == [[[0, 1], [1, 1]], [[2, 0], [0, 1]]]
    assert found.names == ("f", "m")


def test_the_favorable_value_is_named() -> None:
    frame = table(y=["good", "bad", "good", "bad", "bad", "bad"], p=["bad"] * 5 + ["good"])
    found = prepared(frame, favorable="good", **ROLES).predictions["sex"]
    assert (found.y_true == (frame["y"] == "good")).all()
    assert (found.y_pred == (frame["p"] == "good")).all()
    # 0 may be the favorable one.
    found = prepared(table(), favorable=0, **ROLES).predictions["sex"]
    assert found.y_true is not None
    assert (~found.y_true).astype(int).tolist() == LABEL


CODINGS: list[Any] = [
    [0, 1], [False, True], [0.0, 1.0], ["0", "1"], ["0.0", "1.0"], ["no", "yes"], ["No", "YES"],
    ["FALSE", "TRUE"], ["False", "True"],
]  # fmt: skip


@pytest.mark.parametrize("further", [0, 1, 3, 4])
@pytest.mark.parametrize("number", range(len(CODINGS)))
def test_label_and_prediction_are_matched_by_side(number: int, further: int) -> None:
    of_label, of_prediction = CODINGS[number], CODINGS[(number + further) % len(CODINGS)]
    frame = table(y=[of_label[i] for i in LABEL], p=[of_prediction[i] for i in PREDICTION])
    for side, favorable in [
        (1, None),
        *((i, coding[i]) for i in (0, 1) for coding in (of_label, of_prediction)),
    ]:
        ready = prepared(frame, favorable=favorable, **ROLES)
        found = ready.predictions["sex"]
        assert found.y_true is not None
        assert found.y_pred is not None
        assert (found.y_true == (np.array(LABEL) == side)).all()
        assert (found.y_pred == (np.array(PREDICTION) == side)).all()
        for role, coding in (("label", of_label), ("prediction", of_prediction)):
            assert [str(value).lower() for value in ready.facts["favorable"][role]] == [
                str(coding[side]).lower().removesuffix(".0")
            ]


def test_a_column_may_mix_clear_codings() -> None:
    mixed = table(y=["1", "true", "No"] * 2, p=pd.Series([0, True, "yes"] * 2, dtype=object))
    for favorable, side in ((None, True), (1, True), ("no", False)):
        found = prepared(mixed, favorable=favorable, **ROLES).predictions["sex"]
        assert found.y_true is not None
        assert found.y_pred is not None
        assert (found.y_true == side).tolist() == [True, True, False] * 2
        assert (found.y_pred == side).tolist() == [False, True, True] * 2


def test_another_coding_of_the_prediction_is_named() -> None:
    ready = prepared(table(y=["no", "yes"] * 3, p=[False, True] * 3), favorable="no", **ROLES)
    assert "label: 'no' is favorable, 'yes' is not" in ready.notes
    assert "prediction: 'False' is favorable, 'True' is not" in ready.notes
    assert not any("favorable" in note for note in prepared(table(), favorable=0, **ROLES).notes)


@pytest.mark.parametrize(
    ("label", "prediction", "favorable", "typed"),
    [
        (["good", "bad"], [0, 1], "good", "--favorable good --favorable-prediction 1"),
        ([1, 2], [0, 1], 1, "--favorable 1 --favorable-prediction 0"),
        (["a b", "c"], ["A+B", "C+"], "a b", "--favorable 'a b' --favorable-prediction A+B"),
        ([0, 1], ["good", "bad"], "good", "--favorable 0 --favorable-prediction good"),
        # Whether 1 of 1 and 2 means yes differs from file to file.
        ([1, 2], ["no", "yes"], "yes", "--favorable 1 --favorable-prediction yes"),
        (["TRUE", "FALSE"], [2, 1], "true", "--favorable FALSE --favorable-prediction 1"),
        ([0, 1, 2], ["yes", "no"], 1, "--favorable 1 --favorable-prediction no"),
    ],
)
def test_codings_that_cannot_be_matched_are_asked_for(
    label: list[Any], prediction: list[Any], favorable: Any, typed: str
) -> None:
    frame = table(y=(label * 3)[:6], p=prediction * 3)
    with pytest.raises(DataError, match="mean the same") as raised:
        prepared(frame, favorable=favorable, **ROLES)
    assert typed in str(raised.value)
    for mine in (0, 1):
        own = prepared(frame, favorable=label[0], favorable_prediction=prediction[mine], **ROLES)
        assert (own.predictions["sex"].y_true == (frame["y"] == label[0])).all()
        assert (own.predictions["sex"].y_pred == (frame["p"] == prediction[mine])).all()


def test_of_several_classes_one_is_favorable_and_the_note_says_so() -> None:
    frame = table(
        y=["low", "high", "mid", "low", "high", "mid"], p=["low", "mid", "mid", "low", "mid", "mid"]
    )
    found = prepared(frame, favorable="low", **ROLES)
    assert found.predictions["sex"].counts.rows.sum(axis=(0, 2)).tolist() == [4, 2]
    assert "label: 'low' is favorable, 2 other values are not: 'high', 'mid'" in found.notes


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"y": ["good", "bad"] * 3}, {}, "'bad', 'good'.*--favorable"),
        ({"y": list("abcabc")}, {}, "3 values, and rates need two.*--favorable"),
        ({"y": [1, 2, 1, 2, 1, 2]}, {}, "the favorable value is not clear"),
        ({"y": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}, {"favorable": 0.1}, "a quantity.*divide it into two classes"),
        ({"p": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}, {}, "--score"),
        ({"y": ["good", "bad"] * 3}, {"favorable": "goood"}, "did you mean 'good'"),
        ({"y": ["good", "bad"] * 3, "p": ["bad"] * 6}, {"favorable": "good"}, "No row is predicted 'good'"),
        ({"p": [1] * 6}, {"favorable": 0}, "No row is predicted '0'"),
        ({"p": [False] * 6}, {"favorable": 1}, "No row is predicted '1'"),
        ({"y": ["good", "Good", "bad"] * 2, "p": ["good", "bad"] * 3}, {"favorable": "good"}, "several ways"),
        ({}, {"favorable_prediction": "yes"}, "favorable prediction called 'yes'"),
        (
            {"y": ["good", "bad"] * 3},
            {"favorable": 1, "favorable_prediction": 1},
            "favorable value called '1'",
        ),
        ({"sex": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5]}, {"label": "yy"}, "did you mean 'y'"),
        ({}, {"sensitive": "sexx"}, "did you mean 'sex'"),
        ({}, {"sensitive": []}, "no groups"),
        ({}, {"sensitive": "y"}, "two roles"),
        ({}, {"prediction": None}, "not clear who is selected"),
        ({}, {"threshold": 1.0}, "not clear who is selected"),
        (
            {"s": LABEL},
            {"prediction": None, "score": "s", "k": 1, "favorable_prediction": 1},
            "no prediction, and so no favorable one",
        ),
        ({"s": [1, 2, 3, 4, 5, np.inf]}, {"score": "s"}, "infinity in 1 of 6 rows"),
        ({"s": list("123x56")}, {"score": "s"}, "'x' among 1 of 6 rows"),
        ({"w": [1, 1, 1, 1, 1, -2]}, {"weight": "w"}, "not negative.*-2"),
        ({"y": [np.nan] * 6}, {}, "No row can be audited"),
        ({"y": [[1], [0]] * 3}, {}, "single values"),
    ],
)
def test_what_is_refused(columns: dict[str, Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(BetabenchError, match=message) as raised:
        prepared(table(**columns), **{**ROLES, **options})
    assert isinstance(raised.value, DataError | ExperimentError | UnknownNameError)


def test_columns_of_one_name_and_no_rows() -> None:
    twice = pd.concat([table(), table()[["y"]]], axis=1)
    with pytest.raises(DataError, match="'y' more than once"):
        prepared(twice, **ROLES)
    with pytest.raises(DataError, match=r"No row can be audited.*Got: a table without rows"):
        prepared(table().iloc[:0], **ROLES)


def test_scores_become_predictions() -> None:
    frame = table(s=["0.9", "0.1", "0.8", "0.8", "", "0.2"])
    roles = {**ROLES, "prediction": None, "score": "s"}
    for options in ({"threshold": 0.8}, {"k": 2}, {"percent": 50}):
        found = prepared(frame, **{**roles, **options})
        assert found.predictions["sex"].y_pred is not None
        assert found.predictions["sex"].y_pred.tolist() == [True, False, True, True, False]
        assert found.facts["selection"] == "s ≥ 0.8: 3 rows"
    without_label = prepared(frame, **{**roles, "label": None, "k": 2})
    assert without_label.predictions["sex"].given == {"y_pred", "y_score"}


# --- groups and missing values ----------------------------------------------------------------------------


def test_missing_values_are_counted_and_groups_of_their_own() -> None:
    frame = table(
        y=[1, None, 0, 0, 1, 0],
        sex=["f", "f", None, " ", "m", "m"],
        w=[1.0, 2.0, np.nan, 4.0, 5.0, 6.0],
        c=pd.array([1, 2, None, 1, 2, 1], dtype="Int64"),
    )
    found = prepared(frame, weight="w", **{**ROLES, "sensitive": ["sex", "c"]})
    assert found.missing.set_index("column")["missing"].to_dict() == {
        "y": 1,
        "p": 0,
        "w": 1,
        "sex": 2,
        "c": 1,
    }
    assert found.missing["share"].tolist() == pytest.approx([1 / 6, 0, 1 / 6, 2 / 6, 1 / 6])
    assert found.facts["rows_audited"] == 4
    assert "2 of 6 rows are left out: a value is missing" in found.notes
    assert found.predictions["sex"].names == (MISSING, "f", "m")
    assert found.predictions["c"].names == ("1", "2")
    assert found.predictions["sex"].weights.tolist() == [1, 4, 5, 6]


def test_groups_are_text_whatever_they_were() -> None:
    for values, names in (
        ([1.0, 2.0, np.nan, 1.0, 2.0, 2.0], (MISSING, "1", "2")),
        ([True, False] * 3, ("False", "True")),
        (pd.Categorical(["b", "a"] * 3, categories=["c", "b", "a"]), ("a", "b")),
        (pd.to_datetime(["2020-01-01"] * 6), ("2020-01-01 00:00:00",)),
    ):
        assert prepared(table(sex=values), **ROLES).predictions["sex"].names == names


def test_a_quantity_is_no_group_but_many_names_are() -> None:
    frame = pd.DataFrame({"y": [0, 1] * 100, "p": [1, 0] * 100, "sex": range(200)})
    with pytest.raises(DataError, match=r"200 different numbers.*pandas\.cut"):
        prepared(frame, **ROLES)
    named = frame.assign(sex=[f"g{i}" for i in range(200)])
    assert len(prepared(named, **ROLES).predictions["sex"].names) == 200
    joined = frame.assign(sex=[f"{i}_1" for i in range(200)])  # no numbers, though Python would read them so
    assert len(prepared(joined, **ROLES).predictions["sex"].names) == 200
    assert len(prepared(frame.assign(sex=frame["sex"] % 20), **ROLES).predictions["sex"].names) == 20


def test_attributes_are_crossed() -> None:
    found = prepared(
        table(race=["a", "b", "a", "b", None, "b"]),
        intersections=True,
        **{**ROLES, "sensitive": ["sex", "race"]},
    )
    assert list(found.predictions) == ["sex", "race", "sex × race"]
    assert found.predictions["sex × race"].names == ("f × a", "f × b", f"m × {MISSING}", "m × b")


def test_strata_and_features_reach_the_metrics() -> None:
    found = prepared(
        table(c=list("xyxyxy"), a=range(6), b=[str(i / 2) for i in range(6)]),
        strata="c",
        features=["a", "b"],
        **ROLES,
    ).predictions["sex"]
    assert found.strata is not None
    assert found.strata.tolist() == [0, 1, 0, 1, 0, 1]
    assert found.features is not None
    assert found.features[3].tolist() == [3, 1.5]


def test_nothing_is_changed_and_the_digest_tells_tables_apart() -> None:
    frame = table()
    before = frame.copy()
    digest = prepared(frame, **ROLES).facts["digest"]
    pd.testing.assert_frame_equal(frame, before)
    assert prepared(frame.assign(other=1), **ROLES).facts["digest"] == digest
    assert prepared(frame.assign(p=1), **ROLES).facts["digest"] != digest


def test_columns_have_names_of_any_kind() -> None:
    frame = table(race=["a", "b"] * 3)
    expected = audited(frame, intersections=True, **{**ROLES, "sensitive": ["sex", "race"]})
    names: list[list[Any]] = [
        [0, 1, 2, 3],
        [("o", "y"), ("o", "p"), ("g", "sex"), ("g", "race")],
        [" y ", "p=1,0", "sex × race", "race, told"],
    ]
    for y, p, sex, race in names:
        renamed = frame.set_axis(pd.Index([y, p, sex, race], tupleize_cols=False), axis=1)
        result = audited(
            renamed, label=y, prediction=p, sensitive=[sex, race], intersections=True, reference={sex: "m"}
        )
        assert result.groups["group"].tolist() == expected.groups["group"].tolist()
        assert result.groups["accuracy_rate"].tolist() == expected.groups["accuracy_rate"].tolist()
        assert result.facts["reference"][str(sex)] == "m"
        one = audited(renamed, label=y, prediction=p, sensitive=sex)
        assert one.groups["attribute"].unique().tolist() == [str(sex)]
        assert str(race) in audit_page(result).replace("&#39;", "'")


def test_values_of_a_typed_frame_are_believed(tmp_path: Path) -> None:
    frame = table(sex=["NA", "None", "nan", "NA", None, "null"])
    frame.to_parquet(tmp_path / "a.parquet")
    for given in (frame, frame.astype({"sex": "category"}), frame.astype({"sex": "string"})):
        assert prepared(given, **ROLES).predictions["sex"].names == (MISSING, "NA", "None", "nan", "null")
    read = read_predictions(tmp_path / "a.parquet")
    assert prepared(read, **ROLES).predictions["sex"].names == (MISSING, "NA", "None", "nan", "null")
    named = table(y=["NA", "EU"] * 3, p=["NA", "EU", "EU"] * 2)
    found = prepared(named, favorable="NA", **ROLES).predictions["sex"]
    assert found.y_true is not None
    assert found.y_true.tolist() == [True, False] * 3


def test_dates_are_no_groups() -> None:
    frame = pd.DataFrame({"y": [0, 1] * 20, "p": [1, 0] * 20, "sex": pd.date_range("2020-01-01", periods=40)})
    with pytest.raises(DataError, match="40 different dates"):
        prepared(frame, **ROLES)
