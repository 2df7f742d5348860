"""What `betabench run` says while it runs and beforehand, and what other commands say of its folder."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rich.console import Console

from benchmark.cli import main
from benchmark.errors import ReportError
from benchmark.experiment import engine as engine_module
from benchmark.experiment import prepare
from benchmark.experiment.pool import Failure, Finished, Limits, Task
from benchmark.experiment.store import Store
from benchmark.text.terminal import Steps, pace
from benchmark.text.writing import figure_formats
from tests.helpers.engines import InProcess
from tests.helpers.protocol import file_of

ROOT = Path(__file__).resolve().parent.parent


def experiment(name: str = "first", other: str = "massaging", seed: int = 3) -> str:
    """Return an experiment of twelve cells."""
    return file_of(
        name=name,
        seed=seed,
        repetitions=3,
        betas=[0.0, 0.5],
        train_rows=300,
        classifiers=["naive_bayes"],
        datasets=["compas"],
        techniques=["none", other],
    )


BAD = """
from benchmark.techniques import PreProcessing, Prepared, register

@register
class Bad(PreProcessing):
    name, reference, summary, version = "bad", "none", "Fail", "1"

    def _prepare(self, train, tools):
        raise ZeroDivisionError("a bug")
"""


@pytest.fixture(autouse=True)
def _wide(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def run(name: str = "first", *more: str, other: str = "massaging", seed: int = 3, output: str = "out") -> int:
    Path(f"{name}.toml").write_text(experiment(name, other, seed))
    words = ["run", "--experiment", f"{name}.toml", "--offline", "--no-figures", "--output", output]
    return main([*words, *more])


# --------------------------------------------------------------------------------------------------- progress


def test_rate_and_remaining_time_are_one_estimate_from_the_whole_run() -> None:
    assert pace(5, 995, 1.0) == ""
    assert pace(10, 990, 2.0) == "5.0/s, about 0:03:18 left"
    assert pace(15, 985, 3.0) == "5.0/s, about 0:03:17 left"
    assert pace(1, 9, 1200.0) == "3.0/h, about 3:00:00 left"
    assert pace(10, 0, 20.0) == "30.0/min"


def test_what_was_stored_before_is_no_part_of_the_rate() -> None:
    out = io.StringIO()
    with Steps(Console(file=out, width=100, force_terminal=True)) as steps:
        steps.update(900, 1000, 0.0)
        steps.update(910, 1000, 10.0)
    assert "910 of 1,000 cells, 1.0/s, about 0:01:30 left" in out.getvalue()


def test_on_a_pipe_there_are_a_few_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.monotonic", iter(range(10**6)).__next__)
    cells = ["0 of 1,000 cells", "500 of 1,000 cells, 1.0/s, about 0:08:20 left"]
    for brief, before in ((True, []), (False, ["reading ...", "Note: it is small"])):
        out = io.StringIO()
        with Steps(Console(file=out, width=100), brief=brief) as steps:
            steps.step("reading")
            steps.note("it is small")
            for done in range(1001):
                steps.update(done, 1000, float(done))
        assert out.getvalue().splitlines() == [*before, *cells]


# ------------------------------------------------------------------------------------------ small, and dry


@pytest.mark.usefixtures("unread")
def test_a_dry_run_says_what_a_run_would_take_and_computes_nothing_twice(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("first", "--dry-run") == 0
    said, store = capsys.readouterr().out, Path("out", "results.sqlite")
    found = r"12 cells on 6 samples take about .* on \d+ worker\(s\), .* in all, and about [\d.]+ MB of disk"
    assert re.search(found, said)
    assert (
        f"6 cells were computed to estimate it. They are kept in {store}; the run goes on from there" in said
    )
    assert "rough" not in said
    assert {path.name for path in (here / "out").iterdir()} <= {"results.sqlite", "results.sqlite.lock"}
    assert run("first", "--dry-run") == 0
    assert "0 cells were computed to estimate it, 6 were stored before." in capsys.readouterr().out
    assert run() == 0
    assert "12 cells, 6 of them computed now" in capsys.readouterr().out
    assert run(output="fresh") == 0
    tables = [Path(folder, "results.csv").read_bytes() for folder in ("out", "fresh")]
    assert tables[0] == tables[1]


class OneCell(InProcess):
    """An engine whose time is up after one cell, while another one is being computed."""

    def run(self, tasks: Sequence[Task], make_handler: Any, limits: Limits) -> Iterator[list[Finished]]:
        assert time.monotonic() < limits.until < time.monotonic() + 60
        yield from super().run(tasks[:1], make_handler, limits)
        late = tasks[1]
        yield [Finished(late.block, late.cells[0], Failure("timeout", "all time is up", 7.0))]


def test_a_dry_run_that_could_not_measure_all_says_how_rough_it_is(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "LocalEngine", OneCell)
    assert run("first", "--dry-run", "--classifiers", "naive_bayes", "c45") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "24 cells on 6 samples take about" in said
    # The cell that was cut off may take 300 seconds, its time limit, in each of 6 samples.
    (most,) = re.findall(r"This is rough: anything from .* to (.*) would be no surprise\.", said)
    assert most.endswith(("minutes", "hours"))
    assert "There was time to measure 2 of 4 combinations of dataset, bias, technique and classifier" in said
    assert "1 cell(s) were cut off before they ended, and may take longer." in said
    assert "1 cells were computed to estimate it." in said
    with Store(Path("out/results.sqlite")) as store:
        assert [own.status for own in store.statuses().values()] == ["ok"]


# ------------------------------------------------------------------------------------------ no result, no end


def test_a_run_in_which_every_cell_failed_is_written_and_said(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "bad.py").write_text(BAD)
    assert run("bad", "--plugin", "bad.py", "--techniques", "bad", other="bad") == 1
    said = capsys.readouterr().out
    assert "No cell has a result. The most frequent reason, in 6 of 6: ZeroDivisionError: a bug" in said
    header = "dataset,bias,level,technique,classifier,repetition,test,metric,value\n"
    assert (here / "out" / "results.csv").read_text() == header
    assert len(pd.read_csv(here / "out" / "failures.csv")) == 6
    assert json.loads((here / "out" / "manifest.json").read_text())["cells"]["failed"] == 6
    assert main(["report", "out"]) == 2
    error = capsys.readouterr().err
    assert "has no result to report" in error
    assert "6 failed" in error


def test_cells_that_failed_are_counted_and_tried_again_on_request(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "bad.py").write_text(BAD)
    for more, computed in ((), 12), ((), 0), (("--retry-failed",), 6):
        assert run("bad", "--plugin", "bad.py", *more, other="bad") == 1
        said = capsys.readouterr().out
        assert f"12 cells, {computed} of them computed now" in said
        assert "6 of 12 results are missing; failures.csv has the reasons." in said


class Stopped(InProcess):
    """An engine that is interrupted after a few cells."""

    def run(self, tasks: Sequence[Task], *given: Any) -> Iterator[list[Finished]]:
        yield from super().run(tasks[:2], *given)
        raise KeyboardInterrupt


@pytest.mark.usefixtures("unread")
def test_of_an_interrupted_run_it_is_said_how_far_it_came(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(engine_module, "LocalEngine", Stopped)
        assert run() == 130
    assert "interrupted; 4 of 12 cells are stored, and the same command continues" in capsys.readouterr().err
    assert main(["report", "out"]) == 2
    error = capsys.readouterr().err
    assert "The run of 'first' in out is not finished" in error
    assert "Got: 4 of 12 cells. What to do: start the same 'betabench run' again" in error
    assert run() == 0
    assert "12 cells, 8 of them computed now" in capsys.readouterr().out
    assert main(["report", "out", "--no-figures"]) == 0
    assert "Warning: these are an earlier run" not in capsys.readouterr().out


# ------------------------------------------------------------------------------------- said before it happens


def content(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder but for the store, which may grow."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith("results.sqlite")
    }


@pytest.mark.usefixtures("unread", "in_this_process")
def test_a_run_into_a_named_folder_loses_no_results(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("first", "--repetitions", "2") == 0
    assert run("first", "--repetitions", "2") == 0
    assert "Note: the tables" not in capsys.readouterr().out
    out = here / "out"
    reports = {"statistics/README.md": b"one", "report.html": b"two", "comparison.md": b"three"}
    for name, text in reports.items():
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_bytes(text)
    before = content(out)
    assert run("first", "--betas", "0", "--repetitions", "2") == 2
    error = capsys.readouterr().err
    assert "'first' with other betas." in error
    assert "--output" in error
    assert "--fresh" in error
    assert run("second", seed=4) == 2
    assert "results of the experiment 'first'." in capsys.readouterr().err
    assert content(out) == before
    # With more repetitions and techniques nothing is lost, and nothing is computed twice.
    assert run("first", "--techniques", "none", "massaging", "repair") == 0
    said = capsys.readouterr().out
    assert "the experiment 'first' with other repetitions, other techniques" in said
    assert "18 cells, 10 of them computed now" in said
    assert "Note: comparison.md, statistics, report.html in out show earlier results" in said
    assert reports.items() <= content(out).items()
    assert run("second", "--fresh") == 0
    (out / "manifest.json").write_text('{"experiment": []}')
    assert run("second") == 0


@pytest.mark.usefixtures("unread", "in_this_process")
def test_a_part_of_an_experiment_gets_a_folder_of_its_own(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Numbers are taken over from the folder that it left alone, unless that has none: as committed ones."""
    Path("first.toml").write_text(experiment())
    words = ["run", "--experiment", "first.toml", "--offline", "--no-figures"]
    results = Path("results")
    for more, where, computed in (
        ((), "first_embedded", 12),
        (("--betas", "0"), "first_embedded_2", 0),
        (("--techniques", "none", "repair", "--betas", "0"), "first_embedded_3", 3),
        (("--betas", "0"), "first_embedded_2", 0),
        (("--repetitions", "4"), "first_embedded", 4),
    ):
        before = {path.name: content(path) for path in results.glob("*") if path.name != where}
        assert main([*words, *more]) == 0
        said = capsys.readouterr().out
        assert f"{computed} of them computed now" in said
        assert (f"Note: the results of this run are in {results / where}" in said) == (where[-1] != "d")
        assert before == {path.name: content(path) for path in results.glob("*") if path.name != where}
    whole = results / "first_embedded"
    (whole / "results.sqlite").unlink()
    before = {"whole": content(whole)}
    assert main([*words, "--seed", "5", "--betas", "0"]) == 0
    assert "first_embedded_4" in capsys.readouterr().out
    assert before == {"whole": content(whole)}


def test_a_folder_that_cannot_be_written_to_is_said_before_data_are_read(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: object, **__: object) -> None:
        raise AssertionError("data were read")

    monkeypatch.setattr(prepare, "load_dataset", read)
    (here / "file").touch()
    assert run(output="file/out") == 2
    error = capsys.readouterr().err
    assert "The folder file/out cannot be written to" in error
    assert "--output" in error
    assert "stored" not in error
    monkeypatch.setattr("os.access", lambda *_: False)  # root may write wherever it wants
    assert run(output="new/out") == 2
    assert "is not writable" in capsys.readouterr().err


@pytest.mark.usefixtures("unread")
def test_a_card_of_ones_own_is_a_dataset_by_its_path(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("first", "--datasets", "own/mine.toml") == 2
    assert "There is no dataset file 'own/mine.toml'" in capsys.readouterr().err
    assert run("first", "--datasets", "mine") == 2
    assert "by the path of its file, which ends in .toml" in capsys.readouterr().err
    Path("own").mkdir()
    for name in ("mine", "compas"):
        shutil.copy(ROOT / "datasets" / "student_por.toml", f"own/{name}.toml")
    assert run("first", "--datasets", "own/mine.toml") == 0
    assert set(pd.read_csv("out/results.csv")["dataset"]) == {"mine:embedded"}
    manifest = json.loads(Path("out/manifest.json").read_text(encoding="utf-8"))
    assert manifest["experiment"]["datasets"][0]["bias"], "the default bias is planted"
    capsys.readouterr()
    assert run("first", "--datasets", "own/compas.toml") == 2
    assert "would have one name" in capsys.readouterr().err


@pytest.mark.usefixtures("unread")
def test_unlike_shards_are_named_when_they_are_merged(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("first", "--shard", "1/3", output="one") == 0
    assert run("first", "--shard", "2/3", output="two") == 0
    assert run("first", "--shard", "3/3", output="three", seed=4) == 0
    assert run("first", "--shard", "2/2", output="half") == 0
    capsys.readouterr()
    assert main(["merge", "one", "two", "--output", "all"]) == 0
    assert "Warning" not in capsys.readouterr().out
    assert main(["merge", "three", "one", "two", "--output", "all"]) == 0
    said = capsys.readouterr().out
    assert "Warning: three is no part of the same whole as one. It has another seed, data; a run of" in said
    assert said.count("Warning") == 1
    assert main(["merge", "one", "half", "--output", "all"]) == 0
    assert "Warning: these are shards of 2 and of 3 parts" in capsys.readouterr().out


class Mixed(InProcess):
    """An engine that has met two kinds of processors."""

    processors = ({"cpu": "abacus"}, {"cpu": "slide rule"})


@pytest.mark.nightly
@pytest.mark.usefixtures("unread")
def test_a_cluster_that_mixes_processors_says_so(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "LocalEngine", Mixed)
    assert run() == 0
    assert capsys.readouterr().out.count("Note: the workers have several kinds") == 1
    facts = json.loads((here / "out" / "manifest.json").read_text())
    assert facts["processors"] == [{"cpu": "abacus"}, {"cpu": "slide rule"}]
    assert facts["platform"]["python"] == "CPython"


UNGUARDED = """
from benchmark.cli import main
main(["run", "--experiment", "first.toml", "--offline", "--no-figures", "--workers", "1", "--output", "out"])
"""


def python(*words: str, script: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        input=script,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=600,
    )


@pytest.mark.nightly
def test_an_unguarded_script_is_told_what_to_do(here: Path) -> None:
    (here / "first.toml").write_text(experiment(other="repair"))
    (here / "script.py").write_text("import numpy" + UNGUARDED)  # else workers would be forked off the script
    error = python("script.py").stderr
    told, ended = error.splitlines()
    assert "imports this script, which would start the run again" in told
    assert 'if __name__ == "__main__":' in told
    assert "A worker process could not start" in ended


@pytest.mark.nightly
@pytest.mark.parametrize("how", [("-",), ("-c", UNGUARDED)], ids=["stdin", "-c"])
def test_a_script_without_a_file_runs(here: Path, how: tuple[str, ...]) -> None:
    (here / "first.toml").write_text(experiment(other="repair"))
    done = python(*how, script=UNGUARDED)
    assert done.stderr == ""
    assert "12 cells, 12 of them computed now" in done.stdout


@pytest.mark.nightly
@pytest.mark.usefixtures("unread")
def test_groups_whose_names_differ_by_case_alone_have_files_of_their_own(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Adult's states are Male and Female, those of credit card owners male and female."""
    Path("case.toml").write_text(
        'name = "case"\ntitle = "Case"\nseed = 3\nbetas = [0, 0.5]\nrepetitions = 2\n'
        'datasets = ["adult", "credit_card"]\ntechniques = ["none", "massaging"]\n'
        'classifiers = ["naive_bayes"]\nmetrics = ["paper", "true_positive_rate"]\n'
    )
    words = ["--offline", "--no-figures", "--lite", "--output", "out"]
    assert main(["run", "--experiment", "case.toml", *words]) == 0
    both = [f"true_positive_rate[{state}]" for state in ("Male", "male")]
    assert main(["report", "out", "--no-figures", "--metrics", *both]) == 0
    titles = Path("out/statistics/tables/techniques.csv").read_text().splitlines()[0]
    assert ["[Male] value" in titles, "[male] value" in titles] == [True, True]


# ------------------------------------------------------------------------------------------------- comparison


@pytest.mark.usefixtures("unread")
def test_two_runs_are_compared(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(output="one") == 0
    assert (
        run("first", "--repetitions", "2", "--techniques", "none", "massaging", "repair", output="two") == 0
    )
    capsys.readouterr()
    assert main(["compare", "one", "one"]) == 0
    assert capsys.readouterr().out == "12 cells in both: all 84 values are identical\n"
    assert main(["compare", "one", "two"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "8 cells in both: all 56 values are identical",
        "Only in one: 4 cells (compas:embedded none 2, compas:embedded massaging 2)",
        "Only in two: 4 cells (compas:embedded repair 4)",
    ]
    results = pd.read_csv("two/results.csv")
    changed = (results["technique"] == "massaging") & (results["metric"] == "accuracy")
    results.loc[changed.idxmax(), "value"] += 0.25
    results.loc[changed[::-1].idxmax(), "value"] = None
    results.to_csv("two/results.csv", index=False)
    facts = json.loads(Path("two/manifest.json").read_text())
    facts["versions"]["numpy"] = "0.1"
    facts["datasets"]["compas:embedded"].update(test_digest="other rows", test_rows=7)
    facts["processors"] = [{"cpu": "abacus", "blas": ["beads"], "numpy": ["none"]}]
    Path("two/manifest.json").write_text(json.dumps(facts))
    assert main(["compare", "one", "two"]) == 0
    warning, *lines = capsys.readouterr().out.splitlines()
    told = r"The runs have other test data of compas:embedded: [\d,]+ and 7 rows\. .*too\."
    assert re.fullmatch(told, warning)
    assert " ".join(lines[:2]) == (
        "8 cells in both: 54 of 56 values are identical, the others differ by at most 0.25; "
        "1 are missing in one of the runs"
    )
    start = lines.index("technique  accuracy")
    assert lines[start + 1].split() == ["massaging", "0.25+"]
    assert "Identical in all: none" in lines
    assert any(line.startswith("Made with numpy") and line.endswith("and 0.1") for line in lines)
    assert any("abacus (beads, numpy none)" in line for line in lines)
    assert run("second", "--techniques", "repair", "none", "--classifiers", "c45", output="three") == 0
    assert main(["compare", "one", "three"]) == 2
    assert "have no cell in common" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["run"], ["report", "out"], ["compare", "out"]])
def test_a_format_that_figures_do_not_have_is_refused_before_anything_is_done(
    command: list[str], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--formats", "png,gif"]) == 2
    told = capsys.readouterr().err
    assert "one or more of png, pdf, svg" in told
    assert "'png,gif'" in told
    assert not list(here.iterdir())


def test_formats_are_named_once_each_in_any_case() -> None:
    assert figure_formats("SVG, png,svg") == ("svg", "png")
    assert figure_formats("pdf") == ("pdf",)
    with pytest.raises(ReportError, match="cannot be written"):
        figure_formats("")


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ('kind = "label", ratee = 0.3', "ratee: is not a field"),
        ('kind = "score"', r"dataset 'compas', bias 'b': The bias kind 'score' needs .* \[score\]"),
        ('kind = "random_selection", rate = 1.0', "bias 'b': .* leaves no rows of the deprived group"),
    ],
)
def test_a_wrong_bias_is_named_with_file_and_field(
    step: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(
        'name = "wrong"\ntitle = "Wrong"\nseed = 1\nrepetitions = 1\nbetas = [0, 0.5]\ntrain = "data"\n'
        'holdout = 0.3\ntechniques = ["none"]\n'
        f'datasets = [{{ card = "compas", bias = {{ name = "b", steps = [{{ {step} }}] }} }}]\n'
    )
    words = ["run", "--experiment", str(file), "--offline", "--output", str(tmp_path / "out")]
    assert main(words) == 2
    message = capsys.readouterr().err
    assert re.search(f"wrong.toml.*{said}", message, re.DOTALL)
    assert "What to do" in message
    assert "cpt" not in message  # nothing is said of a bias that nobody named
