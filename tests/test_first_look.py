"""From a file that nobody has described to a card and a report."""

from __future__ import annotations

import itertools
import random
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import benchmark
from benchmark import first_look, known_bias
from benchmark.atlas.adviser import Adviser
from benchmark.cli import main
from benchmark.columns import GOALS, RESULT_COLUMNS
from benchmark.data.card import load_card
from benchmark.data.table import CODE_DTYPE, Column, Schema, Table
from benchmark.errors import BetabenchError, BiasError, ExperimentError, UnknownNameError
from benchmark.experiment import first_file
from benchmark.experiment.first_file import (
    TECHNIQUES,
    experiment_text,
    first_experiment,
    require_reachable,
)
from benchmark.experiment.plan import Experiment, load_experiment
from benchmark.registry import load_plugin
from benchmark.statistics import hidden_bias
from benchmark.statistics.cells import Resampling
from tests.helpers.hidden import write_made_up_table
from tests.helpers.made_up_files import write

ROLES = ["--label", "repaid", "--favorable", "1", "--sensitive", "gender"]


@pytest.fixture(autouse=True)
def _rows(here: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    loans().to_csv(here / "my loans.csv", index=False)
    table = write_made_up_table(tmp_path_factory.mktemp("table"))
    monkeypatch.setattr(hidden_bias, "HIDDEN_BIAS_FILE", table)


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


@pytest.mark.parametrize("command", ["new-dataset", "quick", "recommend"])
def test_what_is_missing_is_proposed_in_one_sentence(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "my loans.csv"]) == 2
    line, remedy = capsys.readouterr().err.splitlines()
    assert "--label and --favorable and --sensitive must be named" in line
    assert "'gender' (2 values), 'income' (371 values), 'repaid' (2 values)" in line
    roles = "--label=COLUMN --favorable=VALUE --sensitive=COLUMN"
    assert remedy == f"betabench {command} 'my loans.csv' {roles}"
    assert main([command, "my loans.csv", "--label", "repaid"]) == 2
    assert "'repaid' has the values '1' (270 rows)" in capsys.readouterr().err
    assert list(Path().iterdir()) == [Path("my loans.csv")]


class StoppedError(Exception):
    """A run that a test does not need."""


def stop(*_: object, **__: object) -> None:
    raise StoppedError


def test_another_first_look_gets_a_folder_of_its_own_and_no_rows_are_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a file with other options, and of other rows of a frame; a named folder is refused before that."""
    monkeypatch.setattr(first_look, "run", stop)
    asked: dict[str, Any] = {"label": "repaid", "favorable": 1, "sensitive": "gender", "repetitions": 2}
    for more, folder in (({}, "loans_quick"), ({"accept": 0.1}, "loans_quick_2"), ({}, "loans_quick")):
        with pytest.raises(StoppedError):
            benchmark.quick("my loans.csv", **asked, **more, output=None)
        written = Path("results", "my_" + folder, "experiment.toml").read_text(encoding="utf-8")
        assert ("accept" in written) == bool(more)
    assert {path.name for path in Path("results").iterdir()} == {"my_loans_quick", "my_loans_quick_2"}

    rows, others = loans(), loans().head(300)
    for frame in (rows, others, rows):
        with pytest.raises(StoppedError):
            benchmark.quick(frame, **asked)
    assert len(pd.read_csv("results/data_quick/data.csv")) == len(rows)
    assert len(pd.read_csv("results/data_quick_2/data.csv")) == len(others)
    assert Path("results/data_quick_2/card.toml").is_file()
    assert not Path("results/data_quick_3").exists()
    with pytest.raises(ExperimentError, match=r"data\.csv exists already, with other content.*--output"):
        benchmark.quick(others, **asked, output="results/data_quick")
    assert len(pd.read_csv("results/data_quick/data.csv")) == len(rows)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try two techniques only."""
    monkeypatch.setattr(first_file, "TECHNIQUES", {name: name for name in ("none", "drop_sensitive")})


@pytest.mark.nightly  # trains three times
@pytest.mark.usefixtures("small")
def test_the_same_rows_give_the_same_numbers_under_any_name(here: Path) -> None:
    """In the terminal, under two names, and from Python, where pandas has read the file."""
    loans().assign(income=lambda own: own["income"].mask(own["income"] % 7 == 0)).to_csv("b.csv", index=False)
    Path("another name.csv").write_bytes(Path("b.csv").read_bytes())
    asked = ["--repetitions", "2", "--seed", "5", "--no-figures", "--output"]
    assert main(["quick", "b.csv", *ROLES, *asked, "first"]) == 0
    assert main(["quick", "another name.csv", *ROLES, *asked, "second"]) == 0
    roles = {"label": "repaid", "favorable": 1, "sensitive": "gender"}
    frame = pd.read_csv("b.csv")
    benchmark.quick(frame, **roles, repetitions=2, seed=5, figures=False, output="third", progress=False)
    found = [(here / name / "results.csv").read_bytes() for name in ("first", "second", "third")]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"betas": [20]}, r"0\.2 for 20 %"),
        ({"doses": [0]}, "All levels of bias are 0.*name one with --doses"),
        ({"doses": [5]}, r"0\.05 for 5 %"),
        ({"doses": [0.1], "betas": [0.1]}, "both given.*with --doses.*with --betas"),
        ({"doses": [0.8, 0.9]}, r"No dose can be reached.*at most 0\.\d+.*--doses.*--betas"),
        ({"bias": "label_noise"}, r"Doses cannot be solved.*'betas', in place of 'doses'"),
        ({"true_rate": {"f": 0.4, "x": 0.4}}, "not those of the two groups.*Got: 'f', 'x'"),
        ({"true_rate": "f0.4"}, "cannot be read.*correct --true-rate"),
        ({"bias": "labels"}, "did you mean 'label'"),
        ({"bias": "measurement"}, "needs more than its name.*cpt, label, label_noise"),
        ({"repetitions": 1}, "2 or more.*correct --repetitions"),
        ({"sensitive": "repaid"}, "name another --sensitive"),
        ({"favorable": None}, "--favorable must be named.*'repaid' has the values '1'"),
    ],
)
def test_what_cannot_be_asked_is_said_and_nothing_is_written(asked: dict[str, Any], words: str) -> None:
    roles = {"label": "repaid", "favorable": 1, "sensitive": "gender", "output": "out"}
    with pytest.raises(BetabenchError, match=words):
        benchmark.quick(loans(), **{**roles, **asked}, progress=False)
    assert not list(Path("out").glob("*.toml"))


def _schema(n_columns: int) -> Schema:
    features = tuple(Column(f"x{i}", ("a", "b")) for i in range(n_columns - 2))
    columns = (*features, Column("sex", ("M", 'F "x"')), Column("hired", ("no", "yes")))
    return Schema(columns, "hired", "yes", "sex", 'F "x"')


def made_of(n_rows: int, n_columns: int = 3, **asked: Any) -> Experiment:
    """Return the experiment on so many rows and columns, read from its file."""
    made = first_experiment('a "quoted" name', _schema(n_columns), n_rows, **asked)
    Path("card.toml").write_text("")
    Path("experiment.toml").write_text(experiment_text(made | {"name": "a"}), encoding="utf-8")
    return load_experiment("experiment.toml")


def test_an_experiment_follows_from_rows_values_and_what_is_asked() -> None:
    made = made_of(200)
    assert (made.train, made.folds, made.holdout, made.paired_betas) == ("data", 3, None, True)
    assert (made.betas, made.doses, made.levels) == ((), (0.05, 0.1), (0.0, 0.05, 0.1))
    assert (len(made.techniques), made.datasets[0].name) == (9, "data")
    assert made.datasets[0].true_rates is None
    assert [bias.name for bias in made.datasets[0].bias] == ["label"]
    assert (made.train_rows, made.title) == ("data", 'a "quoted" name, a first look')
    made = made_of(20_000)
    assert (made.folds, made.holdout, made.train_rows, made.repetitions) == (None, 0.3, "data", 30)
    made = made_of(1_000_000)
    assert (made.train_rows, made.folds, made.holdout) == (50_000, None, 0.3)
    assert [made_of(2_000, n_columns=n).repetitions for n in (10, 300)] == [30, 10]
    made = made_of(200, classifiers=("c45", "gradient_boosting"))
    assert made.repetitions == 10
    assert [own.name for own in made.classifiers] == ["c45", "gradient_boosting"]
    made = made_of(200, repetitions=7, betas=(0.4,), seed=3)
    assert (made.repetitions, made.betas, made.seed) == (7, (0.0, 0.4), 3)
    made = made_of(200, doses=(0.2, 0.03))
    assert (made.betas, made.doses) == ((), (0.03, 0.2))


PLUGIN = """
from benchmark.techniques import PreProcessing, Prepared, register

@register
class Nothing(PreProcessing):
    \"\"\"Change nothing.\"\"\"

    name = "nothing_at_all"
    reference = "an example"
    summary = "Change nothing"
    version = "1"

    def _prepare(self, train, tools):
        return Prepared(train)
"""


def test_techniques_stage_and_plugins_can_be_chosen(tmp_path: Path) -> None:
    def names(**asked: Any) -> list[str]:
        return [own.name for own in made_of(200, **asked).techniques]

    assert names(techniques=("massaging", "reweighing_favored")) == [
        "none",
        "massaging",
        "reweighing_favored",
    ]
    assert names(stage="post") == ["none", "equalized_odds", "threshold_optimizer"]
    assert names(stage="in") == ["none", "exponentiated_gradient"]
    assert names(techniques=("none", "repair", "equalized_odds"), stage="pre") == ["none", "repair"]
    with pytest.raises(UnknownNameError, match=r"massage.*did you mean 'massaging'"):
        made_of(200, techniques=("massage",))
    with pytest.raises(ExperimentError, match=r"No technique is left to try.*--stage in"):
        made_of(200, techniques=("massaging",), stage="in")
    plugin = tmp_path / "mine" / "nothing.py"
    plugin.parent.mkdir()
    plugin.write_text(PLUGIN)
    load_plugin(plugin)
    made = made_of(200, techniques=("nothing_at_all",), plugins=(str(plugin),))
    assert made.plugins == (plugin.resolve().as_posix(),)
    assert names(techniques=("nothing_at_all",), plugins=(str(plugin),)) == ["none", "nothing_at_all"]


@pytest.mark.slow  # reads the whole atlas
@pytest.mark.parametrize("goal", GOALS)
def test_quick_tries_what_the_advice_names(goal: str) -> None:
    adviser = Adviser.of()
    entry = TECHNIQUES["reweighing_favored"]
    assert isinstance(entry, dict)
    for learner, bias in itertools.product(adviser.learners, (None, "label", "selection")):
        advice = adviser.advise(goal, bias=bias, learner=learner)
        assert advice.technique in TECHNIQUES
        assert "--techniques" not in str(advice)
    assert adviser.tables.entries[str(entry["name"])].parameters == entry["parameters"]


@pytest.mark.parametrize(
    ("accuracies", "named"),
    [
        ({"c45": 0.62, "logistic_regression": 0.65, "gradient_boosting": 0.64}, "logistic_regression"),
        ({"c45": 0.62, "logistic_regression": 0.60, "gradient_boosting": 0.66}, "gradient_boosting"),
        ({"c45": 0.62, "logistic_regression": 0.625, "gradient_boosting": 0.60}, ""),
    ],
)
def test_a_clearly_more_accurate_classifier_is_named(
    accuracies: dict[str, float], named: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made_of(200)
    asked: list[Experiment] = []
    rng = np.random.default_rng(3)
    rows = [
        ("data", "label", 0.0, technique, classifier, r, "original", "accuracy", level + noise)
        for r, noise in enumerate(rng.normal(0, 0.002, 5))
        for classifier, level in accuracies.items()
        for technique in ("none",)
    ]
    results = pd.DataFrame(rows, columns=list(RESULT_COLUMNS))
    results["value"] += rng.normal(0, 0.001, len(results))

    def run(experiment: Experiment, **_: Any) -> benchmark.Run:
        asked.append(experiment)
        return benchmark.Run(tmp_path)

    frames = SimpleNamespace(results=results, resampling=Resampling({"data": 0.5}))
    monkeypatch.setattr(known_bias, "run", run)
    monkeypatch.setattr(known_bias, "read_frames", lambda _folder: frames)
    better = first_look._better_classifier(Path(), ["c45"], (), 1)
    (experiment,) = asked
    assert [entry.name for entry in experiment.techniques] == ["none"]
    assert (experiment.levels, experiment.repetitions) == ((0.0,), 5)
    if not named:
        assert better is None
        return
    assert better["technique"] == named
    assert better["improvement"] == pytest.approx(accuracies[named] - accuracies["c45"], abs=0.003)
    assert better["improvement_low"] < better["improvement"] < better["improvement_high"]


def test_outside_rates_stand_in_the_file_and_change_no_cell() -> None:
    rates = {"deprived": 0.4, "favored": 0.42}
    (dataset,) = made_of(200, true_rates=rates).datasets
    assert dataset.true_rates.model_dump() == rates
    with pytest.raises(ExperimentError, match="true_rates"):
        made_of(200, true_rates={**rates, "favored": 1.42})


def _labelled(deprived: int, favored: int) -> Table:
    """Return a hundred rows of each group, of which so many have the favorable label."""
    groups = np.repeat([1, 0], 100)
    labels = np.concatenate([np.arange(100) < deprived, np.arange(100) < favored])
    codes = np.column_stack([np.zeros(200), groups, labels]).astype(CODE_DTYPE)
    return Table(_schema(3), codes)


@pytest.mark.parametrize(
    ("asked", "deprived", "reached"),
    [
        ({}, 7, True),  # 0.05 is in reach, 0.1 is not
        ({}, 3, False),
        ({"betas": (0.3,)}, 3, True),
        ({"bias": "cpt", "doses": (0.1,)}, 40, True),
        ({"bias": "borderline", "doses": (0.4,)}, 40, False),
    ],
)
def test_a_dose_that_no_level_reaches_is_refused(asked: dict[str, Any], deprived: int, reached: bool) -> None:
    made, table = first_experiment("a", _schema(3), 200, **asked), _labelled(deprived, 60)
    if reached:
        require_reachable(made, table)
        return
    with pytest.raises(BiasError, match=r"No dose can be reached.*at most 0\.\d+.*--doses.*--betas"):
        require_reachable(made, table)


def test_a_bias_that_changes_the_world_draws_rows_from_the_network() -> None:
    made = made_of(60_000, bias="cpt")
    assert (made.train, made.splits, made.train_rows) == ("network", False, 50_000)
    (edit,) = made.datasets[0].bias[0].to_bias().edits
    assert (edit.attribute, edit.group) == ("sex", 'F "x"')
    made = made_of(60_000, bias="selection")
    assert (made.train, made.datasets[0].bias[0].name) == ("data", "selection")


def test_what_a_file_leaves_open_is_refused_with_what_to_type(capsys: pytest.CaptureFixture[str]) -> None:
    write("sens9.csv", Path())
    command = ["new-dataset", "sens9.csv", "--label", "y", "--favorable", "1", "--sensitive", "sex"]
    assert main([*command, "--deprived", "2"]) == 2
    error = capsys.readouterr().err
    assert "'sex' has 3 values: '1' (975 rows), '2' (975 rows), '9' (50 rows)" in error
    assert "Proposed are all other values: take out those of neither side" in error
    assert "decide what is right" in error
    assert not Path("sens9.toml").exists()
    remedy = error.splitlines()[-1]
    assert remedy == f"betabench {shlex.join(command)} --deprived 2 --favored=1,9"
    assert main(shlex.split(remedy.replace("1,9", "1"))[1:]) == 0
    assert load_card("sens9.toml").exclude == {"sex": ("9",)}
    assert main([*shlex.split(remedy)[1:], "--out", "both.toml"]) == 0
    assert load_card("both.toml").exclude == {}
