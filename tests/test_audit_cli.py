"""Anybody's file is audited on the command line, and bad input ends with a clear sentence."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from benchmark.audit import QUESTIONS
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


def audit(words: str) -> int:
    return main(["audit", *shlex.split(words)])


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


def test_tidy_files_are_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "predictions.csv --label y --score p --top-percent 25 --sensitive sex,race --intersections"
    assert audit(f"{words} --reference sex=M,race=b --out out --tau 0.9") == 0
    tables = {path.stem: pd.read_csv(path) for path in Path("out").glob("*.csv")}
    assert set(tables) == {"groups", "metrics", "disparities", "parity", "missing"}
    assert tables["groups"]["attribute"].unique().tolist() == ["sex", "race", "sex × race"]
    assert set(tables["disparities"].query("attribute == 'sex × race'")["reference"]) == {"M × b"}
    assert {"p_adjusted", "verdict", "reason"} <= set(tables["disparities"])
    facts = json.loads(Path("out/facts.json").read_text(encoding="utf-8"))
    assert facts["rows"] == 240
    assert facts["tau"] == 0.9
    assert re.fullmatch("p ≥ 0.[0-9]+: [0-9]+ rows", facts["selection"])
    assert "Compared with M × b." in capsys.readouterr().out
    first = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    assert audit(f"{words} --reference sex=M,race=b --out out --tau 0.9") == 0
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == first


def test_metrics_are_named_and_names_may_hold_commas(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.read_csv("predictions.csv").rename(columns={"sex": "sex, as told"})
    frame.to_parquet("a.parquet")
    words = "a.parquet --label y --prediction yhat --metrics paper,auc_gap --reference minimum"
    assert audit(f"{words} --sensitive '\"sex, as told\",race' --conventions aequitas --out out") == 0
    assert json.loads(Path("out/facts.json").read_text(encoding="utf-8"))["conventions"] == "aequitas"
    shown = capsys.readouterr().out
    assert "sex, as told\nCompared with the group in which a rate is smallest." in shown
    assert "underestimation" in shown
    assert "it needs scores, not given: auc_gap" in shown


def test_names_and_groups_may_hold_commas_and_equals_signs(capsys: pytest.CaptureFixture[str]) -> None:
    groups = ["Native Hawaiian or Other Pacific Islander, alone", "a=b,sex=M", "White"]
    frame = pd.read_csv("predictions.csv")
    frame = frame.assign(**{"race, told=so": frame["race"].map(dict(zip("abc", groups, strict=True)))})
    frame.to_csv("odd.csv", index=False)
    words = "odd.csv --label y --prediction yhat --sensitive 'race, told=so,sex' --intersections --out out"
    for group in groups:
        assert audit(f"{words} --reference 'race, told=so={group},sex=M'") == 0
        facts = json.loads(Path("out/facts.json").read_text(encoding="utf-8"))
        crossed = "race, told=so × sex"
        assert facts["reference"] == {"race, told=so": group, "sex": "M", crossed: f"{group} × M"}
    capsys.readouterr()
    assert audit(f"{words} --reference 'race, told=so=Whit'") == 2
    assert "race, told=so=White" in capsys.readouterr().err


def test_one_of_several_models_is_audited(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.read_csv("predictions.csv")
    other = frame.assign(yhat=1 - frame["yhat"], **{"model, k": "b=2"})
    pd.concat([frame.assign(**{"model, k": "a,1"}), other]).to_parquet("two.parquet")
    words = "two.parquet --label y --prediction yhat --sensitive sex --html a.html"
    assert audit(words) == 0
    shown = capsys.readouterr().out
    assert "type --where 'model, k=a,1'" in shown
    assert audit(f"{words} --where 'model, k=a,1' --out one") == 0
    assert "only rows with model, k = 'a,1' are audited" in Path("a.html").read_text().replace("&#39;", "'")
    assert audit("predictions.csv --label y --prediction yhat --sensitive sex --out all") == 0
    assert Path("one/groups.csv").read_text() == Path("all/groups.csv").read_text()
    capsys.readouterr()
    for where, message in (
        ("model, k=c", "value of model, k called 'c'"),
        ("modle=c", "no column called 'modle'"),
    ):
        assert audit(f"{words} --where '{where}'") == 2
        assert message in capsys.readouterr().err


def test_names_in_any_script_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.read_csv("predictions.csv")
    frame["性別"] = frame["sex"].map({"F": "女", "M": "Männer"})
    frame["採用"] = frame["y"].map({1: "はい", 0: "いいえ"})
    frame["予測"] = frame["yhat"].map({1: "はい", 0: "いいえ"})
    frame.to_csv("予測.csv", index=False)
    words = "予測.csv --label 採用 --prediction 予測 --sensitive 性別 --favorable はい --reference 性別=女"
    assert audit(f"{words} --out 結果 --html 結果/頁.html") == 0
    shown = capsys.readouterr().out
    page = Path("結果/頁.html").read_text(encoding="utf-8")
    for name in ("性別", "女", "Männer", "採用", "はい"):
        assert name in shown
        assert name in page
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
    assert audit(f"regions.csv --label y --prediction yhat --sensitive 'region, told' {words} --out out") == 0
    shown = capsys.readouterr().out
    assert ("type --known 'region, told=NA'" in shown) is asked
    groups = pd.read_csv("out/groups.csv", keep_default_na=False)["group"].tolist()
    assert groups == (["(missing)", "EU"] if asked else ["(missing)", "EU", "NA"])
    assert ("Missing: 160 values" in shown) is asked
    frame.assign(y=frame["y"].map({1: "NA", 0: "EU"}), yhat=frame["yhat"].map({1: "NA", 0: "EU"})).to_csv(
        "na.csv"
    )
    assert audit("na.csv --label y --prediction yhat --sensitive sex --favorable NA") == 0
    assert "240 of 240 rows" in capsys.readouterr().out


def test_warnings_of_the_reading_reach_terminal_and_page(capsys: pytest.CaptureFixture[str]) -> None:
    Path("old.csv").write_bytes(CSV.replace("M", "Mädchen").encode("latin-1"))
    assert audit("old.csv --label y --prediction yhat --sensitive sex --html a.html") == 0
    page = Path("a.html").read_text(encoding="utf-8")
    for text in (capsys.readouterr().out, page):
        assert "CP1252, which is a guess" in text
        assert "Mädchen" in text
    pd.read_csv("predictions.csv").assign(sex=None).to_parquet("a.parquet")
    assert audit("a.parquet --label y --prediction yhat --sensitive sex,race --html a.html") == 0
    assert "a group of its own, (missing)" in Path("a.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "a table of predictions"),
        ("predictions.csv --label y --prediction yhat", "--sensitive"),
        ("predictions.csv --label y --prediction yhat --sensitive sxe", "did you mean 'sex'"),
        ("predictions.csv --label y --prediction yhat --sensitive ,", "no groups to compare"),
        ("predictions.csv --label y --score p --top-k 999 --sensitive sex", "from 1 to 240"),
        ("predictions.csv --label p --prediction yhat --sensitive sex", "divide it into two classes"),
        ("predictions.csv --label race --prediction yhat --sensitive sex", "--favorable"),
        ("predictions.csv --label y --prediction yhat --sensitive p,sex --tau 2", "tau"),
        ("predictions.csv --label y --prediction yhat --sensitive sex --reference M", "sex=F, sex=M"),
        ("predictions.csv --label y --prediction yhat --sensitive sex --known sx=NA", "did you mean 'sex'"),
        (
            "predictions.csv --label y --prediction yhat --sensitive sex --reference sex=X",
            "group called 'sex=X'",
        ),
        (
            "predictions.csv --label y --prediction yhat --sensitive sex --reference age=1",
            "one of majority, minimum, sex=",
        ),
        (
            "predictions.csv --label y --prediction yhat --sensitive sex --reference sex=M,sex=F",
            "COLUMN=GROUP",
        ),
    ],
)
def test_bad_input_ends_with_a_sentence(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit(words) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("betabench: ")
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_without_a_terminal_the_guide_prints_the_whole_tree(capsys: pytest.CaptureFixture[str]) -> None:
    assert audit("--guide") == 0
    shown = capsys.readouterr().out
    assert shown.startswith(QUESTIONS["labels"]["text"])
    assert shown.count("-> ") == 10
    assert "-> false_positive_rate, false_discovery_rate\n" in shown


def test_on_a_terminal_the_guide_asks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: Iterator[str] = iter(["perhaps", "yes", "2", "punitive", "1"])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda _: next(given))
    assert audit("--guide") == 0
    shown = capsys.readouterr().out
    assert "Please answer 1, no, 2, yes." in shown
    assert shown.endswith(
        "Metrics that matter: false_discovery_rate\nTheir verdicts in an audit: FDR Parity\n"
    )

    def nobody(_: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", nobody)
    assert audit("--guide") == 130


@pytest.mark.nightly
@pytest.mark.oracle
def test_compas_end_to_end(oracle_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = oracle_dir / "metrics" / "compas_input.csv.gz"
    words = (
        "--label label --prediction prediction --score score --sensitive race,sex --reference race=Caucasian"
    )
    assert audit(f"{file} {words} --out out --html compas.html") == 0
    shown = capsys.readouterr().out
    rows = pd.read_csv("out/disparities.csv").set_index(["attribute", "group", "metric"])
    theirs = pd.read_csv(file.with_name("compas_disparity_predefined.csv"), keep_default_na=False)
    answers = theirs.set_index(["attribute", "value", "metric"])["number"].astype(float)
    for ours, name in (("false_positive_rate", "fpr"), ("false_discovery_rate", "fdr")):
        found = rows.loc[("race", "African-American", ours)]
        assert found["disparity"] == pytest.approx(answers["race", "African-American", f"{name}_disparity"])
    assert rows.loc[("race", "African-American", "false_positive_rate"), "disparity"] == pytest.approx(
        1.912, abs=1e-3
    )
    assert not rows.loc[("race", "African-American", "false_positive_rate"), "verdict"]
    assert rows.loc[("race", "African-American", "false_discovery_rate"), "verdict"]
    line = next(x for x in shown.splitlines() if x.startswith("African-American") and "*1.91✗" in x)
    assert " .91✓" in line
    assert "1.91" in Path("compas.html").read_text(encoding="utf-8")


def test_a_mark_with_two_readings_is_refused_with_what_to_type(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.csv"
    rows = ["y;p;s;sex", *(f"{i % 2};{i % 3 % 2};{i}.{100 + i};{'fm'[i % 2]}" for i in range(1, 9))]
    file.write_text("\n".join(rows) + "\n")
    command = ["audit", str(file), "--label", "y", "--prediction", "p", "--score", "s", "--sensitive", "sex"]
    assert main(command) == 2
    line, remedy = capsys.readouterr().err.splitlines()
    assert "'s' has '1.101', which may be 1.101 or 1101" in line
    assert remedy == f"betabench {shlex.join(command)} --thousands=s"
    assert main([*command, "--thousands", "s"]) == 0
    assert "'1.101' is read as 1101" in capsys.readouterr().out
    assert main([*command, "--thousands", "score"]) == 2
    assert "no column called 'score'" in capsys.readouterr().err
