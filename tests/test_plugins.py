"""Techniques from outside of the project: how they are found, and that they harm nobody but themselves."""

import json
import os
from pathlib import Path

import pytest
import sklearn  # noqa: F401  # it sets environment variables of its own when it is first imported

from benchmark.cli import main
from benchmark.data.source import Sources
from benchmark.experiment.engine import LocalEngine
from benchmark.experiment.evaluate import Evaluator
from benchmark.experiment.expand import load_for_run
from benchmark.experiment.keys import planned_cells
from benchmark.experiment.prepare import prepare_experiment
from benchmark.experiment.prepared import PreparedExperiment
from benchmark.experiment.run import compute
from benchmark.experiment.store import Store
from benchmark.techniques import Convergence, list_techniques
from benchmark.techniques import registry as module

ROOT = Path(__file__).resolve().parent.parent

PLUGIN = '''
"""Quotas by a threshold for each group."""

from typing import Annotated

import numpy as np

from benchmark.data import Table
from benchmark.techniques import Interval, Predictor, Technique, Tools, register


@register
class GroupThreshold(Technique):
    """Predict whoever scores above the median of the own group's training rows, moved by a margin."""

    name = "group_threshold"
    stage = "post"
    reference = "an example"
    summary = "A threshold for each group"
    version = "1"
    needs_scores = True

    margin: Annotated[float, Interval(-0.5, 0.5)] = 0.0

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        classifier = tools.classifier(train.feature_schema.cardinalities)
        classifier.fit(train.features, train.y.astype(int))

        def score(table: Table) -> np.ndarray:
            return classifier.predict_proba(table.features)[:, 1]

        medians = [np.median(score(train)[train.deprived == group]) for group in (False, True)]
        thresholds = np.array(medians) + self.margin
        return Predictor(lambda test: score(test) > thresholds[test.deprived.astype(int)], score)
'''

EXPERIMENT = """
name = "plugins"
title = "Beside a plugin"
seed = 2
repetitions = 1
betas = [0.5]
train_rows = 1000
time_limit = {time_limit}
memory_limit = {memory_limit}
[[classifiers]]
classifier = "naive_bayes"
[[datasets]]
card = "compas"
baseline = "massaging"
[[datasets.bias]]
edits = [{{ attribute = "race", group = "African-American" }}]
[[techniques]]
technique = "massaging"
"""

HOSTILE = ROOT / "tools" / "faults" / "hostile.py"

# Status and reason of each.
HARM = {
    "raises": ("failed", "ValueError: a bug"),
    "raises_at_length": ("failed", "ValueError: xxx"),
    "raises_unreadably": ("failed", "Unreadable: (its message cannot be read)"),
    "raises_keyboard_interrupt": ("failed", "KeyboardInterrupt"),
    "raises_base_exception": ("failed", "OutOfTheOrdinary: unusual"),
    "leaves_politely": ("failed", "SystemExit: goodbye"),
    "asks_for_too_much": ("failed", "MemoryError: Unable to allocate"),
    "codes": ("failed", "Codes lie outside their column's states"),
    "weights": ("failed", "weights that are negative or not finite"),
    "shape": ("failed", "Expected: bool array of shape (6150,). Got: bool array of shape (6151,)"),
    "dtype": ("failed", "Got: <U3 array"),
    "nothing": ("failed", "returned no Predictor"),
    "past_the_checks": ("failed", "Got: float64 array"),
    "convergence": ("failed", "Expected: a finite residual"),
    "odd_convergence": ("ok", ""),
    "skip": ("failed", "its skip() returned 7"),
    "writes": ("failed", "read-only"),
    "forces": ("failed", "cannot set WRITEABLE flag to True"),
    "meddles": ("failed", "read-only"),
    "widens": ("failed", "read-only"),
    "widens_features": ("failed", "read-only"),
    "writes_features": ("failed", "read-only"),
    "moves": ("ok", ""),
    "prints": ("ok", ""),
    "closes": ("ok", ""),
    "late": ("ok", ""),
}
# What costs a process: each of the first meets a new one, and need not be tried twice.
COSTLY = {
    "lingers": ("ok", ""),
    "leaves": ("crashed", "the worker process ended with exit code 7"),
    "eats": ("crashed", "more memory than its limit of 1000 MiB"),
    "sleeps": ("timeout", "time limit of 12 seconds"),
    "forks": ("ok", ""),
}


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let each test add to a copy of the registry, and find no real data."""
    list_techniques()
    monkeypatch.setattr(module._REGISTRY, "_items", dict(module._REGISTRY._items))


def experiment(folder: Path, more: str = "", time_limit: float = 60, memory_limit: float = 4096) -> Path:
    file = folder / "plugins.toml"
    file.write_text(EXPERIMENT.format(time_limit=time_limit, memory_limit=memory_limit) + more)
    return file


def prepared(file: Path, *plugins: Path) -> PreparedExperiment:
    return prepare_experiment(load_for_run(file, map(str, plugins)), Sources(offline=True))


# --------------------------------------------------------------------------------------- how they are found


@pytest.mark.usefixtures("unread")
def test_an_experiment_file_names_its_plugins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "thresholds.py").write_text(PLUGIN)
    file = experiment(tmp_path, '[[techniques]]\ntechnique = "group_threshold"\n')
    words = ["run", "--experiment", str(file), "--offline", "--no-figures", "--workers", "2", "--output"]
    assert main([*words, str(tmp_path / "out")]) == 2
    assert "registered by a plugin? name its file with plugins = [...]" in capsys.readouterr().err
    file.write_text('plugins = ["own/thresholds.py"]\n' + file.read_text())
    monkeypatch.chdir(tmp_path / "own")  # paths are relative to the experiment file, not to here
    assert main([*words, str(tmp_path / "out")]) == 0
    results = (tmp_path / "out" / "results.csv").read_bytes()
    assert b"group_threshold" in results
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["experiment"]["plugins"] == manifest["code"]["plugins"] == ["thresholds.py"]
    capsys.readouterr()
    assert main([*words, str(tmp_path / "out"), "--plugin", "thresholds.py"]) == 0
    assert "2 cells, 0 of them computed now" in capsys.readouterr().out
    assert (tmp_path / "out" / "results.csv").read_bytes() == results
    file.write_text(file.read_text().replace("own/thresholds.py", "thresholds.py"))
    assert main([*words, str(tmp_path / "out")]) == 2
    assert "thresholds.py' cannot be loaded" in capsys.readouterr().err


# -------------------------------------------------------------------------------------------- what they harm


def neighbour(number: int) -> str:
    """Return the entry of an honest technique, each with a level of its own."""
    return (
        f'[[techniques]]\ntechnique = "repair"\nname = "honest_{number}"\n'
        f"parameters = {{ level = {0.5 + number / 100} }}\n"
    )


def assert_harmless(harm: dict[str, tuple[str, str]], between: int, folder: Path, **limits: float) -> None:
    """Run hostile techniques, an honest one after every few, and compare those with a run of them alone."""
    alone = prepared(experiment(folder, "".join(map(neighbour, range(0, len(harm), between)))))
    ((block, planned),) = planned_cells(alone)
    honest = list(Evaluator(alone)(block, planned))
    module.load_plugin(HOSTILE)
    entries = [f'[[techniques]]\ntechnique = "{name}"\n' for name in harm]
    for number in range(0, len(harm), between):
        entries[number + between - 1] += neighbour(number)
    with Store(folder / "results.sqlite") as store:
        outcome = compute(
            prepared(experiment(folder, "".join(entries), **limits), HOSTILE), store, engine=LocalEngine(1)
        )
        stored = [*store.read([cell.key for cell in outcome.cells])]
    cells = {cell.technique: cell for cell in stored}
    assert len(cells) == len(harm) + len(honest)
    for name, (status, reason) in harm.items():
        assert cells[name].status == status, (name, cells[name].reason)
        assert reason in cells[name].reason, name
        assert len(cells[name].reason) < 3000
    for expected in honest:
        found = cells[expected.technique]
        assert (found.status, found.reason) == (expected.status, expected.reason) == ("ok", "")
        assert found.counts == expected.counts, expected.technique
        assert set(found.metrics) == set(expected.metrics), expected.technique
    told = cells.get("odd_convergence")
    assert told is None or told.convergence == Convergence(3, 0.0, 1.0)


@pytest.mark.slow
@pytest.mark.nightly
def test_what_goes_wrong_inside_a_process_harms_no_neighbour(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    here, environment = Path.cwd(), dict(os.environ)
    assert_harmless(HARM, 1, tmp_path)
    assert capfd.readouterr() == ("", "")
    assert Path.cwd() == here
    assert set(os.environ.items()) ^ set(environment.items()) == set()


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc and fork")
def test_what_takes_its_process_down_or_spoils_it_harms_no_neighbour(tmp_path: Path) -> None:
    assert_harmless(COSTLY, 5, tmp_path, time_limit=12, memory_limit=1000)


WRONG = """
import os
from benchmark.techniques import PreProcessing, Prepared, register

print("loading")

class Wrong(PreProcessing):
    summary, reference, version = "Goes wrong", "none", "1"

@register
class Leaves(Wrong):
    name = "leaves"
    def _prepare(self, train, tools):
        os._exit(7)

@register
class NameBound(Wrong):
    name = "name_bound"
    def _prepare(self, train, tools):
        return Prepared(train, features=(max(set(train.schema.names) - {train.schema.label}),))
"""


@pytest.mark.nightly
def test_hostile_techniques_do_not_take_the_check_down(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(WRONG)
    assert main(["check", str(file), "--classifier", "naive_bayes", "--json"]) == 1
    leaves, bound = json.loads(capsys.readouterr().out)
    assert (leaves["technique"], bound["technique"]) == ("leaves", "name_bound")
    assert leaves["verdict"] == bound["verdict"] == "breaks rules"
    assert [check["detail"] for check in leaves["checks"]] == ["the worker process ended with exit code 7"]
    assert leaves["fit"]["status"] == "failed"
    failed = {check["check"]: check["detail"] for check in bound["checks"] if check["status"] == "failed"}
    assert set(failed) == {"names irrelevant"}
    assert "use the roles of the schema" in failed["names irrelevant"]
    assert bound["fit"]["status"] == "passed"
