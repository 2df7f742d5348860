"""The main job as its users meet it: processes, files, exit codes."""

import json
import os
import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark.cli import main
from benchmark.experiment.plan import ALWAYS_MEASURED, PAPER_METRICS
from benchmark.report.statistics_files import write_statistics
from benchmark.runs.analysis import folder_statistics
from tests.helpers.cards import LOANS
from tests.helpers.protocol import file_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
MEASURED = set(PAPER_METRICS) | set(ALWAYS_MEASURED)
TIDY = ["dataset", "bias", "level", "technique", "classifier", "repetition", "test", "metric", "value"]

EXPERIMENT = file_of(  # with enough blocks to be killed in
    name="kill",
    repetitions=29,
    betas=[0.0, 0.5, 1.0],
    paired_betas=True,
    train="data",
    holdout=0.3,
    train_rows=3000,
    datasets=["compas"],
    techniques=["none", "preferential_sampling", "repair"],
)


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, str(ROOT / "run_all.py"), *map(str, arguments)]


def environment(**changes: str) -> dict[str, str]:
    """Return an environment without real data, so that the embedded networks are used."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BETABENCH_")}
    return {**kept, "COLUMNS": "100", **changes}


def run(*arguments: str | Path, **changes: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments, "--offline"), capture_output=True, text=True, cwd=ROOT, env=environment(**changes)
    )


def files(folder: Path) -> dict[str, bytes]:
    """Return every output that must not depend on how it was computed."""
    varying = {"manifest.json", "results.sqlite", "results.sqlite.lock"}
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in varying
    }


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return an empty download cache, so that nothing found by chance counts as real data."""
    return str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory, cache: str) -> tuple[Path, str]:
    """Run the smoke experiment on the embedded networks; return its folder and what it printed."""
    output = tmp_path_factory.mktemp("smoke")
    done = run("--experiment", "smoke", "--output", output, "--workers", "2", BETABENCH_CACHE=cache)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr
    return output, done.stdout


CELLS = 435


@pytest.fixture(scope="module")
def killable(tmp_path_factory: pytest.TempPathFactory, cache: str) -> tuple[Path, dict[str, bytes]]:
    """Return an experiment file, and the outputs of its uninterrupted run with one worker."""
    folder = tmp_path_factory.mktemp("kill")
    file = folder / "kill.toml"
    file.write_text(EXPERIMENT)
    arguments = ("--experiment", file, "--output", folder / "whole", "--workers", "1", "--no-figures")
    done = run(*arguments, BETABENCH_CACHE=cache, PYTHONHASHSEED="1")
    assert done.returncode == 0, done.stdout + done.stderr
    return file, files(folder / "whole")


def test_every_promised_file_is_there(smoke: tuple[Path, str]) -> None:
    output, _ = smoke
    for name in ("results.sqlite", "results.csv", "summary.csv", "failures.csv", "manifest.json"):
        assert (output / name).is_file(), name
    # Tables in the paper's shape belong to the experiment that repeats its numbers.
    tables = {p.name for p in (output / "tables").iterdir()}
    assert tables == {"techniques.csv", "techniques.tex", "notes.txt"}
    figures = [path for path in (output / "figures").rglob("*") if path.is_file()]
    # Of each of three datasets: over beta, and the trade-off of all techniques.
    assert len(figures) == 2 * 3
    assert {path.suffix for path in figures} == {".png"}


def test_results_are_tidy_and_every_value_is_finite_or_explained(smoke: tuple[Path, str]) -> None:
    output, _ = smoke
    results = pd.read_csv(output / "results.csv")
    failures = pd.read_csv(output / "failures.csv", keep_default_na=False)
    assert list(results.columns) == TIDY
    keys = ["dataset", "bias", "level", "technique", "classifier", "repetition"]
    cells = set(map(tuple, results[keys].drop_duplicates().to_numpy()))
    whole = failures[failures["metric"] == ""]
    lost = set(map(tuple, whole[keys].to_numpy()))
    assert not cells & lost
    assert len(cells | lost) == 3 * 3 * 2 * 9
    assert all(sorted(own) == sorted(MEASURED) for own in results.groupby(keys)["metric"].agg(list))
    undefined = results[results["value"].isna()]
    explained = failures[failures["status"] == "undefined"]
    assert len(undefined) == len(explained)
    assert (failures["reason"].str.len() > 10).all()
    assert set(failures["status"]) <= {"skipped", "undefined"}


def test_the_interval_of_a_mean_is_one_in_summary_and_statistics(
    smoke: tuple[Path, str], tmp_path: Path
) -> None:
    output, _ = smoke
    write_statistics(tmp_path, folder_statistics(output), figures=False)
    keys = ["dataset", "bias", "level", "technique", "classifier", "test", "metric"]
    both = pd.read_csv(output / "summary.csv").merge(
        pd.read_csv(tmp_path / "intervals.csv", keep_default_na=False, na_values=[""]),
        on=keys,
        suffixes=("", "_again"),
    )
    assert both["ci_low"].notna().sum() > 300
    for name in ("mean", "ci_low", "ci_high"):
        # The statistics have six digits.
        np.testing.assert_allclose(both[f"{name}_again"], both[name], rtol=6e-6, atol=1e-12)


def test_an_embedded_run_says_so_everywhere(smoke: tuple[Path, str]) -> None:
    output, printed = smoke
    assert "NOT REAL DATA: embedded networks stand in for" in printed
    assert printed.count("(embedded)") >= 3
    for name in ("results.csv", "summary.csv", "failures.csv"):
        frame = pd.read_csv(output / name)
        assert frame["dataset"].str.endswith(":embedded").all(), name
    for path in (output / "tables").iterdir():
        assert "embedded" in path.read_text(encoding="utf-8").lower(), path
    facts = json.loads((output / "manifest.json").read_text())
    assert not any(facts["real_data"].values())
    assert all(d["embedded"] for d in facts["datasets"].values())


def test_the_manifest_names_versions_digests_seeds_and_settings(smoke: tuple[Path, str]) -> None:
    output, _ = smoke
    facts = json.loads((output / "manifest.json").read_text())
    assert facts["experiment"]["seed"] == 1
    assert {"python", "betabench", "numpy", "scikit-learn", "numba"} <= facts["versions"].keys()
    assert facts["cells"]["planned"] == 162
    for dataset in facts["datasets"].values():
        assert len(dataset["test_digest"]) == 64
        assert len(dataset["network"]["digest"]) == 64
        planted = list(dataset["bias"]["cpt"]["network_discrimination_by_beta"].values())
        assert planted == sorted(planted)
        assert planted[-1] > planted[0] + 0.1
    assert str(ROOT) not in (output / "manifest.json").read_text()


def test_a_second_start_computes_nothing_and_changes_nothing(smoke: tuple[Path, str], cache: str) -> None:
    output, _ = smoke
    before = files(output)  # figures too: a run that draws none leaves them
    done = run("--experiment", "smoke", "--output", output, "--no-figures", BETABENCH_CACHE=cache)
    assert done.returncode == 0
    assert "162 cells, 0 of them computed now" in done.stdout
    assert files(output) == before


def test_killed_at_random_moments_and_resumed_the_bytes_are_the_same(
    killable: tuple[Path, dict[str, bytes]], tmp_path: Path, cache: str
) -> None:
    file, expected = killable
    rng = random.Random(0)
    arguments = ("--experiment", file, "--output", tmp_path, "--workers", "2", "--no-figures", "--offline")
    stored = in_between = 0
    for kill in range(2):
        process = subprocess.Popen(
            command(*arguments),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            env=environment(BETABENCH_CACHE=cache, PYTHONHASHSEED=str(kill + 2)),
        )
        # Wait for more cells than last time, then for a moment that nobody chose. Cells are written together,
        # the first soon and others a moment later: who waits for several may wait for all.
        goal = stored + 1
        deadline = time.monotonic() + 120
        while process.poll() is None and count_cells(tmp_path) < goal and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(rng.random() * 0.05)
        process.kill()
        process.communicate()
        # Whoever writes may undo what the kill left half-written; a mere reader may not.
        stored = count_cells(tmp_path, mode="rw")
        in_between += 0 < stored < CELLS
        if stored == CELLS:  # on a busy machine a run can be over before its killer's turn comes
            break
    assert in_between
    done = run(*arguments[:-1], BETABENCH_CACHE=cache, PYTHONHASHSEED="99")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{CELLS - stored} of them computed now" in done.stdout
    assert files(tmp_path) == expected


def count_cells(folder: Path, mode: str = "ro") -> int:
    path = folder / "results.sqlite"
    if not path.exists():
        return 0
    connection = sqlite3.connect(f"file:{path}?mode={mode}", uri=True, timeout=5)
    try:
        found = connection.execute("SELECT count(*) FROM cells").fetchone()
    except sqlite3.OperationalError:  # the table is not there yet
        return 0
    finally:
        connection.close()
    return int(found[0])


OWN = """
name = "own"
title = "Data of one's own"
seed = 1
repetitions = 2
betas = [0.0, 1.0]
[[datasets]]
card = "loans.toml"
[[datasets.bias]]
name = "deprive"
edits = [{ attribute = "gender", group = "f" }]
[[datasets.bias]]
name = "favor"
edits = [{ attribute = "gender", group = "m", direction = "favor" }]
[[classifiers]]
classifier = "c45"
[[classifiers]]
classifier = "logistic_regression"
parameters = { C = 0.5 }
[[techniques]]
technique = "none"
[[techniques]]
technique = "reweighing"
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Write a card, its data and an experiment of the user's own; return the experiment file."""
    rng = random.Random(4)
    lines = ["gender,income,repaid"]
    for _ in range(600):
        gender, income = rng.choice("fm"), rng.randrange(31)
        repaid = rng.random() < (0.2 + income / 50 + 0.1 * (gender == "m"))
        lines.append(f"{gender},{income},{'yes' if repaid else 'no'}")
    (tmp_path / "loans.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "loans.toml").write_text(LOANS)
    (tmp_path / "own.toml").write_text(OWN)
    return tmp_path / "own.toml"


@pytest.mark.usefixtures("in_this_process")
def test_data_biases_and_classifiers_of_ones_own(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")  # the card's path is relative to the experiment file, not to where one stands
    out = tmp_path / "out"
    assert (
        main(["run", "--experiment", str(own), "--output", str(out), "--no-figures", "--workers", "1"]) == 0
    )
    results = pd.read_csv(out / "results.csv")
    assert set(results["dataset"]) == {"loans"}
    assert set(results["bias"]) == {"deprive", "favor"}
    assert set(results["classifier"]) == {"c45", "logistic_regression"}
    assert len(results) == 2 * 2 * 2 * 2 * 2 * len(MEASURED)
    mean = (
        results[results["metric"] == "discrimination"].groupby(["technique", "bias", "level"])["value"].mean()
    )
    for bias in ("deprive", "favor"):
        assert mean["none", bias, 1.0] > mean["none", bias, 0.0] + 0.3
    facts = json.loads((out / "manifest.json").read_text())
    assert facts["real_data"] == {"loans": True}
    assert set(facts["files"]) == set(files(out))


def test_an_own_card_of_a_shipped_name_never_gets_the_shipped_network(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "compas.toml").write_text(LOANS.replace('name = "loans"', 'name = "compas"'))
    out = tmp_path / "x.csv"
    assert main(["sample", "--dataset", str(tmp_path / "compas.toml"), "--out", str(out)]) == 0
    facts = json.loads((tmp_path / "x.csv.json").read_text())
    assert facts["network"].startswith("learned from")
    assert facts["rows"] == 600
    assert facts["edits"] == ["P(y+ | gender = f) × (1 - β)"]
    (tmp_path / "loans.csv").unlink()
    own.write_text(OWN.replace("loans.toml", "compas.toml"))
    assert main(["run", "--experiment", str(own), "--output", str(tmp_path / "out"), "--offline"]) == 2
    assert "neither real data nor an embedded network" in capsys.readouterr().err


@pytest.mark.usefixtures("in_this_process")
def test_bad_input_leaves_a_store_alone(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = ["run", "--experiment", str(own), "--output", str(out), "--no-figures", "--workers", "1"]
    assert main([*words, "--repetitions", "1"]) == 0
    for text, message in (
        (OWN.replace("C = 0.5", "c = 0.5"), "no parameter 'c'"),
        (OWN.replace('group = "m"', 'group = "x"'), "no state of column 'gender' called 'x'"),
    ):
        own.write_text(text)
        assert main([*words, "--fresh"]) == 2
        assert message in capsys.readouterr().err
    assert sorted(p.name for p in out.glob("*.sqlite")) == ["results.sqlite"]
    assert count_cells(out) == 16
