"""Anybody's file is audited on the command line, and bad input ends with a clear sentence."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from benchmark.audit import PARITIES
from benchmark.cli import main

CSV = "y,yhat,p,sex,race\n" + "".join(
    f"{i % 2},{(i // 3) % 2},{(i % 17) / 16},{'FM'[i % 3 > 0]},{'abc'[i // 2 % 3]}\n" for i in range(240)
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Path("predictions.csv").write_text(CSV)
    return tmp_path


ROLES = "--label y --prediction yhat"


def audit(words: str) -> int:
    return main(["audit", *shlex.split(words)])


def facts() -> dict[str, Any]:
    return json.loads(Path("out/facts.json").read_text(encoding="utf-8"))


def test_the_example_of_the_help_works(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["audit", "--help"])
    assert left.value.code == 0
    shown = capsys.readouterr().out
    assert "default: None" not in shown
    example = " ".join(shown.partition("example: betabench audit ")[2].split())
    assert audit(example) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "written: audit.html" in told
    assert "a rate over no rows has no value." in told
    assert "FDR: share of the selected without it." in told
    assert Path("audit.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_tidy_files_are_written(capsys: pytest.CaptureFixture[str]) -> None:
    words = "predictions.csv --label y --score p --top-percent 25 --sensitive sex,race --intersections"
    assert audit(f"{words} --reference sex=M,race=b --out out --tau 0.9") == 0
    tables = {path.stem: pd.read_csv(path) for path in Path("out").glob("*.csv")}
    assert set(tables) == {"groups", "metrics", "disparities", "parity", "missing"}
    assert tables["groups"]["attribute"].unique().tolist() == ["sex", "race", "sex × race"]
    assert set(tables["disparities"].query("attribute == 'sex × race'")["reference"]) == {"M × b"}
    assert {"p_adjusted", "verdict", "reason"} <= set(tables["disparities"])
    assert (facts()["rows"], facts()["tau"]) == (240, 0.9)
    assert re.fullmatch("p ≥ 0.[0-9]+: [0-9]+ rows", facts()["selection"])
    assert "Compared with M × b." in capsys.readouterr().out
    first = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    assert audit(f"{words} --reference sex=M,race=b --out out --tau 0.9") == 0
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == first


def test_metrics_are_named_and_names_may_hold_commas(capsys: pytest.CaptureFixture[str]) -> None:
    pd.read_csv("predictions.csv").rename(columns={"sex": "sex, as told"}).to_parquet("a.parquet")
    words = f"a.parquet {ROLES} --metrics paper,auc_gap --reference minimum --conventions aequitas"
    assert audit(f"{words} --sensitive '\"sex, as told\",race' --out out") == 0
    assert facts()["conventions"] == "aequitas"
    shown = capsys.readouterr().out
    assert "sex, as told\nCompared with the group in which a rate is smallest." in shown
    assert "underestimation" in shown
    assert "it needs scores, not given: auc_gap" in shown


def test_names_and_groups_may_hold_commas_and_equals_signs(capsys: pytest.CaptureFixture[str]) -> None:
    groups = {"a": "Native Hawaiian or Other, alone", "b": "a=b,sex=M", "c": "White"}
    frame = pd.read_csv("predictions.csv")
    frame.assign(**{"race, told=so": frame["race"].map(groups)}).to_csv("odd.csv", index=False)
    words = f"odd.csv {ROLES} --sensitive 'race, told=so,sex' --intersections --out out"
    for group in groups.values():
        assert audit(f"{words} --reference 'race, told=so={group},sex=M'") == 0
        crossed = {"race, told=so × sex": f"{group} × M"}
        assert facts()["reference"] == {"race, told=so": group, "sex": "M", **crossed}
    capsys.readouterr()
    assert audit(f"{words} --reference 'race, told=so=Whit'") == 2
    assert "race, told=so=White" in capsys.readouterr().err


def test_one_of_several_models_is_audited(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.read_csv("predictions.csv")
    other = frame.assign(yhat=1 - frame["yhat"], **{"model, k": "b=2"})
    pd.concat([frame.assign(**{"model, k": "a,1"}), other]).to_parquet("two.parquet")
    words = f"{ROLES} --sensitive sex --html a.html"
    assert audit(f"two.parquet {words}") == 0
    assert "type --where 'model, k=a,1'" in capsys.readouterr().out
    assert audit(f"two.parquet {words} --where 'model, k=a,1' --out one") == 0
    assert "only rows with model, k = 'a,1' are audited" in Path("a.html").read_text().replace("&#39;", "'")
    assert audit(f"predictions.csv {words} --out all") == 0
    assert Path("one/groups.csv").read_text() == Path("all/groups.csv").read_text()


def test_names_in_any_script_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.read_csv("predictions.csv")
    frame["性別"] = frame["sex"].map({"F": "女", "M": "Männer"})
    frame[["採用", "予測"]] = frame[["y", "yhat"]].replace({1: "はい", 0: "いいえ"})
    frame.to_csv("予測.csv", index=False)
    words = "予測.csv --label 採用 --prediction 予測 --sensitive 性別 --favorable はい --reference 性別=女"
    assert audit(f"{words} --out 結果 --html 結果/頁.html") == 0
    for text in (capsys.readouterr().out, Path("結果/頁.html").read_text(encoding="utf-8")):
        assert all(name in text for name in ("性別", "女", "Männer", "採用", "はい"))
    assert set(pd.read_csv("結果/groups.csv")["group"]) == {"女", "Männer"}
    assert "性別" in Path("結果/facts.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "asked"),
    [("", True), ("--known 'region, told=NA'", False), ("--reference 'region, told=NA'", False)],
)
def test_na_may_be_the_name_of_a_group(words: str, asked: bool, capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.read_csv("predictions.csv")
    frame["region, told"] = frame["race"].map({"a": "NA", "b": "EU", "c": ""})
    frame.to_csv("regions.csv", index=False)
    assert audit(f"regions.csv {ROLES} --sensitive 'region, told' {words} --out out") == 0
    shown = capsys.readouterr().out
    assert ("type --known 'region, told=NA'" in shown) is asked
    groups = pd.read_csv("out/groups.csv", keep_default_na=False)["group"].tolist()
    assert groups == (["(missing)", "EU"] if asked else ["(missing)", "EU", "NA"])
    assert ("Missing: 160 values" in shown) is asked
    frame[["y", "yhat", "sex"]].replace({1: "NA", 0: "EU"}).to_csv("na.csv")
    assert audit(f"na.csv {ROLES} --sensitive sex --favorable NA") == 0
    assert "240 of 240 rows" in capsys.readouterr().out


def test_warnings_of_the_reading_reach_terminal_and_page(capsys: pytest.CaptureFixture[str]) -> None:
    Path("old.csv").write_bytes(CSV.replace("M", "Mädchen").encode("latin-1"))
    assert audit(f"old.csv {ROLES} --sensitive sex --html a.html") == 0
    page = Path("a.html").read_text(encoding="utf-8")
    for text in (capsys.readouterr().out, page):
        assert "CP1252, which is a guess" in text
        assert "Mädchen" in text
    pd.read_csv("predictions.csv").assign(sex=None).to_parquet("a.parquet")
    assert audit(f"a.parquet {ROLES} --sensitive sex,race --html a.html") == 0
    assert "a group of its own, (missing)" in Path("a.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "a table of predictions"),
        (f"predictions.csv {ROLES}", "--sensitive"),
        (f"predictions.csv {ROLES} --sensitive ,", "no groups to compare"),
        ("predictions.csv --label y --score p --top-k 999 --sensitive sex", "from 1 to 240"),
        (f"predictions.csv {ROLES} --sensitive p,sex --tau 2", "tau"),
        (f"predictions.csv {ROLES} --sensitive sex --known sx=NA", "did you mean 'sex'"),
        (f"predictions.csv {ROLES} --sensitive sex --where rase=a", "did you mean 'race'"),
        (f"predictions.csv {ROLES} --sensitive sex --where race=d", "value of race called 'd'"),
        (f"predictions.csv {ROLES} --sensitive sex --reference M", "sex=F, sex=M"),
        (f"predictions.csv {ROLES} --sensitive sex --reference sex=X", "group called 'sex=X'"),
        (f"predictions.csv {ROLES} --sensitive sex --reference age=1", "one of majority, minimum, sex="),
        (f"predictions.csv {ROLES} --sensitive sex --reference sex=M,sex=F", "COLUMN=GROUP"),
    ],
)
def test_bad_input_ends_with_a_sentence(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit(words) == 2
    said = capsys.readouterr().err
    assert said.startswith("betabench: ")
    assert message in said
    assert said.count("\n") == 1


def test_the_guide_prints_every_way_to_metrics_that_matter(capsys: pytest.CaptureFixture[str]) -> None:
    assert audit("--guide") == 0
    shown = capsys.readouterr().out
    found = dict(re.findall(r"-> ([a-z_, ]+) \(([A-Za-z, ]+)\)\. [A-Z]", shown))
    assert shown.count("-> ") == 10
    for metrics, verdicts in found.items():
        for metric, verdict in zip(metrics.split(", "), verdicts.split(", "), strict=True):
            assert PARITIES[verdict] == (metric,)
    assert {*found.values()} == {
        *("Statistical Parity", "Impact Parity"),
        # Saleiro et al. (2018): help for few, or for most; supervision for few; detention before trial.
        *("FOR Parity", "FNR Parity, FOR Parity", "FDR Parity, FOR Parity", "FPR Parity, FDR Parity"),
        *("FDR Parity", "FPR Parity, FDR Parity, FNR Parity, FOR Parity"),
    }


@pytest.mark.nightly
@pytest.mark.oracle
def test_compas_end_to_end(oracle_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = oracle_dir / "metrics" / "compas_input.csv.gz"
    words = "--label label --prediction prediction --score score --sensitive race,sex"
    assert audit(f"{file} {words} --reference race=Caucasian --out out --html compas.html") == 0
    rows = pd.read_csv("out/disparities.csv").set_index(["attribute", "group", "metric"])
    theirs = pd.read_csv(file.with_name("compas_disparity_predefined.csv"), keep_default_na=False)
    answers = theirs.set_index(["attribute", "value", "metric"])["number"].astype(float)
    for ours, name, verdict in (("false_positive_rate", "fpr", False), ("false_discovery_rate", "fdr", True)):
        found = rows.loc[("race", "African-American", ours)]
        assert found["disparity"] == pytest.approx(answers["race", "African-American", f"{name}_disparity"])
        assert found["verdict"] == verdict
    shown = capsys.readouterr().out.splitlines()
    [line] = [line for line in shown if line.startswith("African-American") and "*1.91✗" in line]
    assert " .91✓" in line
    assert "1.91" in Path("compas.html").read_text(encoding="utf-8")


def test_a_mark_with_two_readings_is_refused_with_what_to_type(capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["y;yhat;s;sex", *(f"{i % 2};{i % 3 % 2};{i}.{100 + i};{'fm'[i % 2]}" for i in range(1, 9))]
    Path("a.csv").write_text("\n".join(rows) + "\n")
    words = f"a.csv {ROLES} --score s --sensitive sex"
    assert audit(words) == 2
    line, remedy = capsys.readouterr().err.splitlines()
    assert "'s' has '1.101', which may be 1.101 or 1101" in line
    assert remedy == f"betabench audit {words} --thousands=s"
    assert audit(f"{words} --thousands s") == 0
    assert "'1.101' is read as 1101" in capsys.readouterr().out
    assert audit(f"{words} --thousands score") == 2
    assert "no column called 'score'" in capsys.readouterr().err
