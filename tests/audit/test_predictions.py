"""Tables of predictions in any form are read alike, and what is not certain is refused with a sentence."""

import gzip
import math
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.audit.predictions import MISSING, read_predictions, select
from benchmark.errors import DataError, ExperimentError, UnknownNameError
from benchmark.report.audit import audit_page
from tests.helpers.audits import audited, prepared

LABEL = [1, 1, 0, 0, 1, 0]
PREDICTION = [1, 0, 1, 0, 1, 0]
SEX = ["f", "f", "f", "m", "m", "m"]
ROLES: dict[str, Any] = {"label": "y", "prediction": "p", "sensitive": "sex"}
SCORED: dict[str, Any] = {"prediction": None, "score": "s"}


def table(**columns: object) -> pd.DataFrame:
    return pd.DataFrame({"y": LABEL, "p": PREDICTION, "sex": SEX, **columns})


# --- reading ----------------------------------------------------------------------------------------------


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_text_of_a_file_and_what_is_odd_about_it(tmp_path: Path) -> None:
    text = '\ufeffzip, "name, first",none\n01,Åsa 女,None\n 1 ,,NA\n'
    frame = read_predictions(write(tmp_path / "a.csv", text))
    assert frame.columns.tolist() == ["zip", "name, first", "none"]
    assert frame["zip"].tolist() == ["01", "1"]
    assert frame.loc[0].tolist() == ["01", "Åsa 女", "None"]
    assert frame.loc[1].isna().tolist() == [False, True, True]
    rows = "".join(f"{i % 2};{i // 2 % 2};{i % 10 / 10};ä\n".replace(".", ",") for i in range(40))
    frame = read_predictions(write(tmp_path / "a.csv", f"y;p;s;sex\n{rows}".encode("latin-1")))
    found = prepared(frame, score="s", **ROLES)
    assert found.predictions["sex"].names == ("ä",)
    assert found.predictions["sex"].y_score[3] == 0.3
    assert [note for note in found.notes if "CP1252, which is a guess" in note]
    assert "Numbers of s: '0,9' is read as 0.9." in found.notes


@pytest.mark.parametrize("name", ["s", "1", "decile score"])
def test_a_name_that_looks_numbered_is_no_repeated_one(name: str, tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", f"y,p,sex,{name},{name}.1\n1,0,f,0.5,0.7\n")
    frame = read_predictions(file, named={"y", "p", "sex", name})
    assert frame[name].tolist() == ["0.5"]
    assert frame.attrs["betabench_remarks"] == ()


@pytest.mark.parametrize("column", ["y", "p", "sex"])
def test_na_in_labels_and_predictions_is_asked_about(column: str, tmp_path: Path) -> None:
    table().astype(str).replace({column: {"1": "NA", "f": "NA"}}).to_csv(tmp_path / "a.csv", index=False)
    found = prepared(read_predictions(tmp_path / "a.csv"), favorable="0", **ROLES)
    assert f"type --known {column}=NA" in "\n".join(found.notes)
    known = read_predictions(tmp_path / "a.csv", known={column: {"NA"}})
    ready = prepared(known, favorable="0", **ROLES)
    assert ready.facts["rows_audited"] == 6
    assert "--known" not in "\n".join(ready.notes)


def test_the_same_table_is_the_same_in_any_file(tmp_path: Path) -> None:
    frame = table(s=[0.1, 0.2, 0.3, np.nan, 0.5, 0.6])
    frame.to_csv(tmp_path / "a.csv.gz", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    pd.testing.assert_frame_equal(read_predictions(tmp_path / "a.parquet"), frame)
    ready = [
        prepared(read_predictions(tmp_path / name), score="s", **ROLES) for name in ("a.csv.gz", "a.parquet")
    ]
    assert ready[0].facts == ready[1].facts
    one, other = (own.predictions["sex"] for own in ready)
    assert np.array_equal(one.counts.rows, other.counts.rows)
    assert np.array_equal(one.y_score, other.y_score)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", None, "There is no file"),
        ("a.csv", b"", "Got: empty"),
        ("a.csv", b"y,p\n", "has no rows"),
        ("a.csv", b"y,p,y\n1,1,0\n", "'y' more than once.*name 'y.1' if"),
        ("a.csv", b"y,p\n1,0,1\n", "no table with columns"),
        ("a.csv", b'y,p\n1,"0\n', "not valid CSV"),
        ("a.csv.gz", gzip.compress(b"y,p\n1,0\n" * 99, mtime=0)[:-9], "truncated or damaged"),
        ("a.parquet", b"PAR1 or not", "a Parquet file"),
        ("a.parquet", pd.DataFrame({"y": [], "p": []}).to_parquet(), "one row per person"),
    ],
)
def test_files_that_cannot_be_used(name: str, content: bytes | None, message: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_predictions(tmp_path / name, named={"y", "p"})


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
    "label",
    [
        pd.Categorical(LABEL, categories=[1, 0, 7]),
        pd.array([bool(y) for y in LABEL], dtype="boolean"),
        pd.array([str(y) for y in LABEL], dtype="string"),
        *(pd.array(LABEL, dtype=kind) for kind in ("Int8", "float32", "int64[pyarrow]")),
    ],
)
def test_outcomes_of_any_dtype(label: Any) -> None:
    found = prepared(table(y=label), **ROLES).predictions["sex"]
    assert found.counts.rows.tolist() == [[[0, 1], [1, 1]], [[2, 0], [0, 1]]]
    assert found.names == ("f", "m")


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
        assert (found.y_true == side).tolist() == [True, True, False] * 2
        assert (found.y_pred == side).tolist() == [False, True, True] * 2


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


@pytest.mark.parametrize(
    ("label", "prediction", "favorable", "meant", "said"),
    [
        ([0, 1], [1, 0], 0, 0, []),  # which may be the favorable one
        (["good", "bad"], ["good", "bad"], "good", "good", []),
        (
            *(["no", "yes"], [False, True], "no", False),
            ["label: 'no' is favorable, 'yes' is not", "prediction: 'False' is favorable, 'True' is not"],
        ),
        (
            *(["low", "high", "mid"], ["low", "mid", "mid"], "low", "low"),
            ["label: 'low' is favorable, 2 other values are not: 'high', 'mid'"],
        ),
    ],
)
def test_one_value_is_favorable_and_a_note_says_so_where_it_is_not_plain(
    label: list[Any], prediction: list[Any], favorable: Any, meant: Any, said: list[str]
) -> None:
    frame = table(y=(label * 3)[:6], p=(prediction * 3)[:6])
    ready = prepared(frame, favorable=favorable, **ROLES)
    assert (ready.predictions["sex"].y_true == (frame["y"] == favorable)).all()
    assert (ready.predictions["sex"].y_pred == (frame["p"] == meant)).all()
    assert [note for note in ready.notes if "favorable" in note] == said


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
        ({"y": list("ababab")}, {"favorable": 1, "favorable_prediction": 1}, "favorable value called '1'"),
        ({"sex": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5]}, {"label": "yy"}, "did you mean 'y'"),
        ({}, {"sensitive": "sexx"}, "did you mean 'sex'"),
        ({}, {"sensitive": []}, "no groups"),
        ({}, {"sensitive": "y"}, "two roles"),
        ({}, {"prediction": None}, "not clear who is selected"),
        ({}, {"threshold": 1.0}, "not clear who is selected"),
        (
            {"s": LABEL},
            {**SCORED, "k": 1, "favorable_prediction": 1},
            "no prediction, and so no favorable one",
        ),
        ({"s": [1, 2, 3, 4, 5, np.inf]}, {"score": "s"}, "infinity in 1 of 6 rows"),
        ({"s": list("123x56")}, {"score": "s"}, "'x' among 1 of 6 rows"),
        ({"w": [1, 1, 1, 1, 1, -2]}, {"weight": "w"}, "not negative.*-2"),
        ({"y": [np.nan] * 6}, {}, "No row can be audited"),
        ({"y": [[1], [0]] * 3}, {}, "single values"),
        ({"sex": pd.date_range("2020-01-01", periods=42)}, {}, "42 different dates"),
        ({"sex": range(42)}, {}, r"42 different numbers.*pandas\.cut"),
        ({"s": LABEL}, {**SCORED, "k": 2, "percent": 10.0}, "exactly one of threshold, k and percent"),
    ],
)
def test_what_is_refused(columns: dict[str, Any], options: dict[str, Any], message: str) -> None:
    frame = table().loc[[*range(6)] * 7].reset_index(drop=True)[: max(map(len, columns.values()), default=6)]
    with pytest.raises((DataError, ExperimentError, UnknownNameError), match=message):
        prepared(frame.assign(**columns), **{**ROLES, **options})


def test_columns_of_one_name_and_no_rows() -> None:
    twice = pd.concat([table(), table()[["y"]]], axis=1)
    with pytest.raises(DataError, match="'y' more than once"):
        prepared(twice, **ROLES)
    with pytest.raises(DataError, match=r"No row can be audited.*Got: a table without rows"):
        prepared(table().iloc[:0], **ROLES)


SCORES = ["0.9", "0.1", "0.8", "0.8", "", "0.2"]


@pytest.mark.parametrize(
    ("rule", "selected", "told"),
    [
        ({"threshold": 0.8}, [0, 2, 3], "s ≥ 0.8: 3 rows"),
        ({"threshold": 0.95}, [], "s ≥ 0.95: 0 rows"),
        ({"k": 1}, [0], "s ≥ 0.9: 1 rows"),
        ({"k": 2}, [0, 2, 3], "s ≥ 0.8: 3 rows"),  # the second shares its score with one more
        ({"k": 5}, range(5), "s ≥ 0.1: 5 rows"),
        ({"percent": 50}, [0, 2, 3], "s ≥ 0.8: 3 rows"),  # 2.5 rows
        ({"percent": 100}, range(5), "s ≥ 0.1: 5 rows"),
    ],
)
def test_scores_become_predictions(rule: dict[str, float], selected: list[int], told: str) -> None:
    found = prepared(table(s=SCORES), **{**ROLES, **SCORED, "label": None}, **rule)
    assert found.predictions["sex"].given == {"y_pred", "y_score"}
    assert np.flatnonzero(found.predictions["sex"].y_pred).tolist() == list(selected)
    assert found.facts["selection"] == told


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.data())
def test_the_selected_are_the_highest_in_whatever_order(scores: list[int], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(scores)))
    selected, threshold, more = select(np.array(scores), {"k": k})
    assert threshold == sorted(scores, reverse=True)[k - 1]
    assert selected.tolist() == [score >= threshold for score in scores]
    assert selected.sum() == k + more


def test_a_percentage_of_whole_rows_is_whole() -> None:
    for tenths in range(1, 1001):
        assert select(np.arange(1000.0), {"percent": tenths / 10})[0].sum() == tenths


@pytest.mark.parametrize(
    "rule",
    [
        *({"k": k} for k in (0, 6, -1, 2.5)),
        *({"percent": percent} for percent in (0.0, 10.0, 101.0, math.nan)),
        {"threshold": math.nan},
    ],
)
def test_impossible_selections_are_refused(rule: dict[str, float]) -> None:
    with pytest.raises(ExperimentError, match=r"Expected: (from 1 to 5 rows|a score)"):
        select(np.arange(5.0), rule)


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


def test_many_names_are_groups() -> None:
    frame = pd.DataFrame({"y": [0, 1] * 100, "p": [1, 0] * 100})
    # 1_1 is no number, though Python would read it so.
    for n, name in ((200, "g{}"), (200, "{}_1"), (20, "{}")):
        groups = [name.format(i % n) for i in range(200)]
        assert len(prepared(frame.assign(sex=groups), **ROLES).predictions["sex"].names) == n


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
    assert found.strata.tolist() == [0, 1, 0, 1, 0, 1]
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
    read = read_predictions(tmp_path / "a.parquet")
    for typed in (frame, frame.astype({"sex": "category"}), frame.astype({"sex": "string"}), read):
        assert prepared(typed, **ROLES).predictions["sex"].names == (MISSING, "NA", "None", "nan", "null")
    named = table(y=["NA", "EU"] * 3, p=["NA", "EU", "EU"] * 2)
    found = prepared(named, favorable="NA", **ROLES).predictions["sex"]
    assert found.y_true.tolist() == [True, False] * 3
