"""What is known of a bias in a file: what a report then begins with, and what is refused."""

from __future__ import annotations

import random
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import benchmark
from benchmark import known_bias
from benchmark.cli import main
from benchmark.data.draft import Draft, draft
from benchmark.data.refusals import write_sheet
from benchmark.errors import DataError, ExperimentError
from benchmark.experiment import first_file
from benchmark.file_options import FileOptions
from benchmark.known_bias import KnownBias, known_text, look_again
from benchmark.statistics import true_gap

ROLES: dict[str, Any] = {"label": "hired", "favorable": "yes", "sensitive": "sex", "deprived": "f"}
TYPED = [f"--{name}={value}" for name, value in ROLES.items()]
N, LOST = 1500, 0.35


@pytest.fixture(autouse=True)
def _rows(here: Path) -> None:
    people()[0].to_csv(here / "people.csv", index=False)


def people() -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Return people whose score decides, and true labels, of which a third is lost among women."""
    lots, rows, truth = random.Random(5), [], []
    for _ in range(N):
        sex, score = lots.choice("fm"), lots.randrange(100)
        true = lots.random() < (0.9 if score >= 50 else 0.1)
        recorded = true and not (sex == "f" and lots.random() < LOST)
        rows.append((sex, score, lots.choice("abc"), "yes" if recorded else "no"))
        truth.append(true)
    return pd.DataFrame(rows, columns=["sex", "score", "place", "hired"]), np.array(truth)


def judged(m: int = 50) -> Path:
    """Return a sheet with true verdicts."""
    _, truth = people()
    write_sheet(Path("refusals.csv"), drafted(), m, 1)
    sheet = pd.read_csv("refusals.csv")
    sheet["verdict"] = np.where(truth[sheet["row"] - 1], "wrong", "right")
    sheet.to_csv("refusals.csv", index=False)
    return Path("refusals.csv")


def drafted(**more: Any) -> Draft:
    return draft("people.csv", FileOptions.of(**ROLES, **more))


def known(**given: Any) -> KnownBias:
    return known_bias.known_bias(drafted(), given.get("relabel"), given.get("true_rate"))


def test_verdicts_and_rates_tell_the_same_gap() -> None:
    frame, truth = people()
    women = (frame["sex"] == "f").to_numpy()
    true = {sex: float(truth[frame["sex"] == sex].mean()) for sex in "fm"}
    recorded = float((frame["hired"] == "yes")[women].mean())
    by_verdicts, by_rates = known(relabel=judged()), known(true_rate=true)
    whole = known(relabel=judged_all())
    assert whole.gap.gap == pytest.approx((true["f"] - recorded,) * 3)
    assert by_rates.gap.gap.value == pytest.approx(true["f"] - recorded)
    assert by_verdicts.gap.gap.low <= true["f"] - recorded <= by_verdicts.gap.gap.high
    assert by_rates.rates == {"deprived": true["f"], "favored": true["m"]}
    assert by_verdicts.rates["favored"] == pytest.approx(true["m"]), "which has only right labels"


def judged_all() -> Path:
    Path("refusals.csv").unlink()
    return judged(N)


def change(mean: float) -> SimpleNamespace:
    return SimpleNamespace(difference=mean, difference_low=mean - 0.05, difference_high=mean + 0.05)


TOLD = {
    "before": {"accepted_deprived": 0.2, "discrimination": 0.3, "accuracy": 0.8},
    "changes": {
        "accepted_deprived": change(0.25),
        "discrimination": change(-0.25),
        "accuracy": change(-0.02),
    },
    "ends": (0.3, 0.6),
}


def text(of: KnownBias, told: Any = TOLD, whole: bool = True) -> str:
    return known_text(of, told, "c45", drafted(), "out/card.toml", whole)


def test_the_report_begins_with_the_rate_the_technique_and_what_it_changes() -> None:
    found = known(relabel=judged())
    said = text(found)
    assert re.search(r"\*\*Of 50 refusals of sex = f, \d+ were wrong: the true rate is \.\d\d \[", said)
    assert "If 5 % of the verdicts are wrong, the gap is " in said
    assert "**Technique: `rate_weights`**, told these rates, with the weights of `refusal_weights`." in said
    assert "On held-out rows c45 accepts 45 % of this group in place of 20 %: +.25 [+.20, +.30]" in said
    assert "Told the gap's ends: 30 % and 60 %" in said
    assert "The others' lead: .30, then .05" in said
    assert "accuracy changes by -.020 against the recorded labels" in said
    assert "Not seen: missing people, wrong acceptances, the other group" in said
    assert 'load_dataset("out/card.toml")' in said
    assert "doing nothing is better, by our study of other files" in said
    assert f'"f": {found.gap.true.value:.4g}' in said.split('told={"rates": {')[1].split("}}")[0]
    short = text(found, whole=False)
    assert "load_dataset" not in short
    assert "model = FairClassifier(" in short
    assert "It has no result with c45 on this file" in text(found, None)


def test_what_may_be_nothing_or_the_reverse_is_said() -> None:
    recorded = float((people()[0].query("sex == 'f'")["hired"] == "yes").mean())
    near = text(known(true_rate={"f": recorded + 0.005, "m": 0.5}))
    assert "The gap may be 0. Recorded rates of so few rows differ so much by chance" in near
    below = text(known(true_rate={"f": recorded - 0.1, "m": 0.5}))
    assert "The told rate is below the recorded one" in below
    assert "favorable labels were lost" not in below
    just_below = text(known(true_rate={"f": recorded - 0.005, "m": 0.5}))
    assert "The gap may be 0" in just_below
    assert "labels favor the deprived group" not in just_below


def test_rates_of_the_others_are_told_as_well() -> None:
    frame, _ = people()
    hired = (frame["hired"] == "yes").groupby(frame["sex"]).mean()
    said = text(known(true_rate={"f": hired["f"], "m": hired["m"] - 0.1}))
    assert re.search(r"in place of \.\d\d, and the others \.\d\d in place of \.\d\d\.\*\*", said)
    assert "**Technique: `rate_weights`**" in said
    assert "Nothing is shown to be wrong" not in said
    assert "If people are missing instead, `blum_stangl` fits, told the same" in said
    assert "Nothing is shown to be wrong" in text(known(true_rate=dict(hired)), None)


def test_rows_of_one_person_do_not_count_as_people() -> None:
    rates = {"f": 0.5, "m": 0.5}
    rows, persons = (known_bias.known_bias(drafted(**more), None, rates) for more in ({}, {"person": "rows"}))
    assert persons.gap.gap.value == rows.gap.gap.value
    assert persons.gap.gap.low < rows.gap.gap.low
    assert persons.gap.gap.high > rows.gap.gap.high


def test_as_many_as_people_err_about_may_be_mistakes() -> None:
    sheet = judged()
    pd.read_csv(sheet).assign(verdict=["wrong"] * 2 + ["right"] * 48).to_csv(sheet, index=False)
    assert "If 5 % of the verdicts are wrong, the gap may be 0." in text(known(relabel=sheet))


def test_break_even_and_evidence_come_from_the_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = pd.read_csv(true_gap.TOLD_FILE).columns
    study = {"learner": "c45", "dose": 0.1, "sources": 31, "agreement_gain": 0.017}
    ends = {"agreement_gain_low": 0.009, "agreement_gain_high": 0.025}
    rows = [
        {**study, **ends, "fact": "gap", "factor": 1.0, "break_even": 0.05, "break_even_high": 0.07},
        {**study, **ends, "fact": "refusals", "m": 50},
    ]
    pd.DataFrame(rows).reindex(columns=columns).to_csv(tmp_path / "told.csv", index=False)
    monkeypatch.setattr(true_gap, "TOLD_FILE", tmp_path / "told.csv")
    recorded = float((people()[0].query("sex == 'f'")["hired"] == "yes").mean())
    said = text(known(true_rate={"f": recorded + 0.1, "m": 0.5}))
    better = "doing nothing is better, by our study of other files."
    assert f"Below a true gap of .05, perhaps .07, {better}" in said
    hint = look_again(drafted(), "my people.csv", FileOptions.of(**ROLES), "c45")
    assert "look at 50 refusals of f again" in hint
    assert "On 31 other files with a planted gap of .10 and correct verdicts, agreement with" in hint
    assert "changed by +.017 [+.009, +.025]" in hint
    assert f"betabench sample-refusals 'my people.csv' {' '.join(TYPED)}" in hint


@pytest.mark.parametrize(("learner", "shown"), [("c45", True), ("gradient_boosting", False)])
def test_refusals_that_gain_no_more_than_knowing_nothing_are_not_praised(learner: str, shown: bool) -> None:
    hint = look_again(None, "people.csv", FileOptions.of(**ROLES), learner)
    assert ("not shown to be more than the best technique that is told nothing" not in hint) is shown


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"true_rate": {"f": 0.4, "m": 0.5}}, ExperimentError, "both given.*--true-rate or --relabel"),
        ({"verdict": ""}, DataError, "has verdicts on 0 of 50 rows.*judge all"),
        ({"without": "f"}, DataError, "is no refusal of sex = m.*sample-refusals"),
    ],
)
def test_what_cannot_be_known_is_said_before_anything_is_written(
    asked: dict[str, Any], error: type[Exception], words: str
) -> None:
    sheet = judged()
    if "verdict" in asked:
        pd.read_csv(sheet).assign(verdict="").to_csv(sheet, index=False)
    roles = {**ROLES, "deprived": "m"} if "without" in asked else ROLES
    with pytest.raises(error, match=words):
        benchmark.quick(
            "people.csv",
            **roles,
            relabel=sheet,
            true_rate=asked.get("true_rate"),
            output="out",
            progress=False,
        )
    assert not Path("out", "card.toml").exists()


@pytest.mark.slow  # two first looks with two techniques
def test_a_told_model_gives_back_what_was_taken_and_the_page_begins_with_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(first_file, "TECHNIQUES", {name: name for name in ("none", "drop_sensitive")})
    frame, truth = people()
    judged()
    asked = ["quick", "people.csv", *TYPED, "--repetitions", "3", "--output", "out"]
    assert main([*asked, "--relabel", "refusals.csv"]) == 0
    said = capsys.readouterr().out
    lines = [line for line in said.splitlines() if " cells" not in line]
    assert len(lines) <= 28
    assert lines[0].startswith("Of 50 refusals of sex = f, ")
    assert "all numbers, tests, and all lines of Python: out/report.html" in said
    plain = " ".join(said.split())
    follows = plain.index("What follows plants more bias on top.")
    assert plain.index("95 % intervals.") < follows < plain.index("Read:")
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert page.index("Of 50 refusals of sex = f, ") < page.index('id="choices"')
    accepted = re.search(r"accepts (\d+) % of\s+this group in\s+place of (\d+) %", said)
    true = 100 * truth[frame["sex"] == "f"].mean()
    told, untold = map(int, accepted.groups())
    assert untold < told
    assert abs(told - true) < abs(untold - true)
    # The same folder without what is known: nothing of it is left.
    assert main(asked) == 0
    said = capsys.readouterr().out
    assert "look at 50 refusals of f again" in said
    assert "Of 50 refusals" not in Path("out/report.html").read_text(encoding="utf-8")


def test_where_no_refusal_was_wrong_nothing_is_to_be_done() -> None:
    sheet = judged()
    pd.read_csv(sheet).assign(verdict="right").to_csv(sheet, index=False)
    said = text(known(relabel=sheet), None)
    assert "Of 50 refusals of sex = f, 0 were wrong" in said
    assert "Nothing is shown to be wrong, so do nothing" in said
    assert "FairClassifier" not in said
