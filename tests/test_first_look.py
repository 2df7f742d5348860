"""From a file that nobody has described to a card and a report."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

import benchmark
from benchmark import api
from benchmark.cli import main
from benchmark.data.card import load_card
from benchmark.errors import DataError, ExperimentError
from benchmark.experiment import engine as engine_module
from benchmark.experiment.first import first_experiment
from benchmark.experiment.plan import load_experiment
from tests.experiment.test_merge import InProcess

ROLES = ["--label", "repaid", "--favorable", "1", "--sensitive", "gender"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, and compute in this process."""
    monkeypatch.setattr(engine_module, "LocalEngine", InProcess)
    monkeypatch.chdir(tmp_path)
    loans().to_csv("my loans.csv", index=False)
    return tmp_path


def loans() -> pd.DataFrame:
    lots, rows = random.Random(1), []
    for _ in range(400):
        gender, income = lots.choice("fm"), lots.randrange(500, 3000)
        rows.append((gender, income, int(lots.random() < (0.6 if gender == "m" else 0.35) + income / 9000)))
    return pd.DataFrame(rows, columns=["gender", "income", "repaid"])


def test_a_drafted_card_is_learned_and_never_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["new-dataset", "my loans.csv", *ROLES, "--deprived", "gender=f"]
    assert main(command) == 0
    assert "my_loans.toml" in capsys.readouterr().out
    assert main(["learn", "--dataset", "my_loans.toml", "--offline"]) == 0
    assert "gender -> repaid" in capsys.readouterr().out
    assert load_card("my_loans.toml").roles["deprived_group"] == "f"
    assert main(command) == 2
    assert "not overwritten" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["new-dataset", "quick"])
def test_what_is_missing_is_proposed_in_a_terminal_and_else_one_sentence(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main([command, "my loans.csv"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--label and --favorable and --sensitive must be named" in line
    assert "'gender', 'income', 'repaid'" in line
    monkeypatch.setattr(Console, "is_terminal", True)
    assert main([command, "my loans.csv"]) == 2
    shown = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
    assert "--label: repaid, gender" in shown
    assert "--sensitive: gender" in shown
    assert main([command, "my loans.csv", "--label", "repaid"]) == 2
    assert "--favorable: of 'repaid', '1' (" in capsys.readouterr().out
    assert list(Path().iterdir()) == [Path("my loans.csv")]


@pytest.mark.slow  # compiles, trains and writes a whole report
def test_a_first_look_at_a_frame_ends_in_a_report_and_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def small(*names: object) -> str:
        text = first_experiment(*names)  # type: ignore[arg-type]
        text = re.sub(r"repetitions = \d+", "repetitions = 2", text)
        return re.sub(r"techniques = .*", 'techniques = ["none", "drop_sensitive"]', text)

    monkeypatch.setattr(api, "first_experiment", small)
    grade = pd.Categorical(
        [("low", "high", "fair")[i % 3] for i in range(400)], ["low", "fair", "high"], True
    )
    frame = loans().assign(grade=grade)
    asked = {"label": "repaid", "favorable": 1, "sensitive": "gender", "output": "out", "figures": False}
    made = benchmark.quick(frame, **asked)
    text = capsys.readouterr().out
    assert "The deprived group was not named: it is gender = 'f'" in text
    assert "What bias does: " in text
    assert "What undoes it at β = 0.5:\n- The baseline, None, leaves" in text
    assert "At β = 0.25: none of 1 technique" in text
    assert "out/data.csv holds your rows" in text.replace("\\", "/")
    for name in ("card.toml", "experiment.toml", "results.csv", "report.html", "statistics/README.md"):
        assert (Path("out") / name).is_file(), name
    assert set(made.results["dataset"]) == {"data"}
    assert load_card("out/card.toml").schema().columns[-1].ordered
    again = benchmark.quick(frame, **asked)
    assert again.outcome is not None
    assert again.outcome.computed == 0
    card = Path("out/card.toml")
    card.write_text(card.read_text(encoding="utf-8") + "# corrected\n", encoding="utf-8")
    with pytest.raises(ExperimentError, match="says something else"):
        benchmark.quick(frame, **asked)


def test_nobody_guesses_what_is_good_for_people() -> None:
    with pytest.raises(DataError, match="Nobody says which value of 'repaid' is good"):
        benchmark.quick(loans(), label="repaid", sensitive="gender", output="out", progress=False)


def test_the_first_experiment_is_the_most_that_ten_samples_are_sure_of() -> None:
    Path("card.toml").write_text("")
    assert "repetitions = 30" in first_experiment("a", "a", "sex", "F", 60, 30)
    text = first_experiment("a", 'a "quoted" title', "sex", 'F "x"', 60_000)
    Path("experiment.toml").write_text(text, encoding="utf-8")
    made = load_experiment("experiment.toml")
    assert (len(made.techniques), made.betas, made.repetitions) == (8, (0.0, 0.25, 0.5), 10)
    assert made.train_rows == 50_000
    assert made.datasets[0].bias[0].to_bias().edits[0].group == 'F "x"'
