"""What `import benchmark` offers: a run from Python is the run of the command line."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import benchmark
from benchmark import api
from benchmark.cli import main
from benchmark.errors import BetabenchError, StoreError, UnknownNameError
from benchmark.experiment import engine as engine_module
from benchmark.experiment.store import Store
from benchmark.report.estimate import Estimate
from benchmark.report.folder import RunFolder
from tests.helpers.engines import InProcess
from tests.helpers.protocol import file_of

ROOT = Path(__file__).resolve().parent.parent

MADE = {
    "datasets": ["compas"],
    "techniques": ["none", "massaging", {"technique": "repair", "parameters": {"level": 0.5}}],
    "betas": [0, 0.5],
    "repetitions": 3,
    "train_rows": 300,
}


pytestmark = pytest.mark.usefixtures("here")


def run(output: str = "out", **more: object) -> benchmark.Run:
    made = benchmark.Experiment.model_validate(MADE)
    return benchmark.run(made, output=output, offline=True, progress=False, **more)


def test_the_answer_is_text_and_a_comparison_can_be_short(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = run()
    capsys.readouterr()
    text = made.answer()
    assert capsys.readouterr().out == ""
    assert "\nAt β = 0.5, " in text
    assert max(map(len, text.splitlines())) <= 100
    short, whole = made.compare(short=True), made.compare()
    assert list(short.columns)[:4] == ["level", "technique", "goal", "value"]
    assert list(made._means().columns.names) == ["metric", "level"]
    pd.testing.assert_frame_equal(short, whole[list(short.columns)])
    assert len(made.compare("massaging", short=True)) == len(short)


@pytest.mark.parametrize(
    "levels", [{"betas": [0, 0.5]}, {"betas": [], "doses": [0.05, 0.1], "paired_betas": True}]
)
def test_frames_have_the_columns_and_values_of_the_files(levels: dict[str, Any], here: Path) -> None:
    experiment = benchmark.Experiment.model_validate({**MADE, "repetitions": 2, **levels})
    made = benchmark.run(experiment, output="out", offline=True, progress=False)
    made.report()
    frames = {
        "results": made.results.dropna(subset="value"),
        "summary": made.summary,
        "failures": made.failures,
        "statistics/answers": made.compare(),
        **{f"statistics/{name}": frame for name, frame in made.statistics().frames.items()},
    }
    for name, frame in frames.items():
        written = pd.read_csv(here / "out" / f"{name}.csv", keep_default_na=False)
        assert list(frame.columns) == list(written.columns), name
        assert len(frame) == len(written), name
        for column in {"level", "beta"} & {*frame.columns}:
            numbers = pd.to_numeric(written[column]).to_numpy()
            np.testing.assert_allclose(frame[column].astype(float), numbers, rtol=1e-5, err_msg=name)
    assert ("beta" in made.results) == ("doses" in levels)
    if "doses" in levels:
        solved = made.results.drop_duplicates("level").set_index("level")["beta"]
        assert solved[0.0] == 0 < solved[0.05] < solved[0.1] < 1


def test_a_comparison_names_what_the_report_names(here: Path) -> None:
    experiment = benchmark.Experiment.model_validate({**MADE, "paired_betas": True})
    made = benchmark.run(experiment, output="out", offline=True, progress=False)
    compared, reported = made.compare(), made.statistics().answers
    shown = ["technique", "level", "goal", "value", "verdict", "choice", "tied"]
    pd.testing.assert_frame_equal(compared[shown], reported[shown])


def test_a_dry_run_estimates_and_keeps_what_it_computed(here: Path) -> None:
    found = run(dry_run=True, workers=3, betas=[0, 0.25, 0.5, 1]).estimate
    assert (found.cells, found.blocks, found.computed, found.workers) == (36, 12, 9, 3)
    assert (found.sorts, found.measured, found.cut_off) == (3, 3, 0)
    assert found.least == found.seconds == found.most
    assert found.processes == 3
    made = run(workers=3, betas=[0, 0.25, 0.5, 1])
    assert made.outcome.computed == 27
    assert made.estimate is None
    disk = sum(path.stat().st_size for path in made.folder.rglob("*") if path.is_file())
    assert disk / 4 < found.disk_bytes < disk * 4
    assert "36 cells on 12 samples take about" in str(found)
    shard = run("shard", dry_run=True, shard="1/4").estimate
    assert shard.cells == 6


def test_an_estimate_is_the_shortest_time_of_each_technique_times_its_samples(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Of each of three techniques three samples, which take turns; there are 6 samples.
    found = estimated(monkeypatch, [1, 5, 3, 4, 2, 9, 7, 8, 6])
    assert found.seconds == 6 * (1 + 2 + 3)
    assert "on 4 worker(s), 36 seconds in all" in str(found)
    assert replace(found, workers=100).processes == 6, "no more processes than samples"


def estimated(monkeypatch: pytest.MonkeyPatch, seconds: list[float], **more: Any) -> Estimate:
    """Return an estimate for which so many cells were computed as there are times."""

    class Timed(InProcess):
        def run(self, tasks: Any, make_handler: Any, limits: Any) -> Any:
            computed = super().run(tasks, make_handler, limits)
            for (one, *_), took in zip(computed, seconds, strict=False):
                yield [one._replace(result=replace(one.result, seconds=took))]

    monkeypatch.setattr(engine_module, "LocalEngine", Timed)
    return run(dry_run=True, workers=4, **more).estimate


def test_what_was_not_measured_is_guessed_from_the_same_technique(monkeypatch: pytest.MonkeyPatch) -> None:
    found = estimated(monkeypatch, [1, 10, 100, 3], classifiers=["naive_bayes", "c45"])
    # Three techniques with either classifier; the first one with both.
    assert (found.sorts, found.measured, found.computed) == (6, 4, 4)
    assert found.seconds == 6 * (1 + 3 + 2 * 10 + 2 * 100)
    # Two sorts of 6 cells are guessed. Of the first technique's two, the slower is 1.5 times their mean.
    assert found.most == found.least + 1.5 * 6 * (10 + 100)
    assert found.least == 6 * (1 + 3 + 10 + 100), "no less than what was measured"
    assert "This is rough: anything from 2.9 minutes to" in str(found)
    # What is missing comes first the next time, before further samples of what was measured.
    again = estimated(monkeypatch, [1, 1], classifiers=["naive_bayes", "c45"])
    assert (again.measured, again.computed, again.stored) == (6, 2, 6)
    assert again.least == again.seconds == again.most


def test_a_lite_run_has_the_same_columns(here: Path) -> None:
    whole, small = (
        run(),
        benchmark.run("smoke", lite=True, repetitions=1, offline=True, progress=False, techniques=["none"]),
    )
    assert small.finished.manifest.repetitions == 1, "what is asked for beside lite goes before"
    assert small.folder == Path("results", "smoke_lite_embedded")
    assert (
        small.finished.manifest.title == "Smoke test: small samples, two repetitions (tried on small samples)"
    )
    for name in ("results.csv", "summary.csv", "failures.csv"):
        assert list(pd.read_csv(small.folder / name)) == list(pd.read_csv(whole.folder / name))
    assert small.finished.manifest.levels == (0.0, 1.0)


def test_every_name_is_there_and_nothing_else_is_shown() -> None:
    assert all(getattr(benchmark, name) is not None for name in benchmark.__all__)
    assert set(dir(benchmark)) == {*benchmark.__all__, "__version__"}
    with pytest.raises(AttributeError, match="no attribute 'runs_of'"):
        _ = benchmark.runs_of


def test_importing_it_loads_nothing_else() -> None:
    code = "import sys, benchmark; print([m for m in sys.modules if m.startswith('benchmark')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "['benchmark']"


def test_the_package_has_the_name_of_the_distribution_as_well() -> None:
    code = """
import betabench, benchmark
from betabench.techniques.kamiran_calders import Massaging
import benchmark.techniques.kamiran_calders as module
assert betabench is benchmark and module.Massaging is Massaging
assert module.__spec__.name == module.__name__ == "benchmark.techniques.kamiran_calders"
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_a_run_from_python_leaves_the_files_of_the_command(here: Path) -> None:
    (here / "experiment.toml").write_text(file_of(**MADE, seed=0))
    words = "run --experiment experiment.toml --offline --no-figures --output command"
    assert main(words.split()) == 0
    run("python")
    ours, theirs = (
        {p.relative_to(d): p.read_bytes() for p in d.rglob("*") if p.suffix in {".csv", ".md", ".tex"}}
        for d in (here / "python", here / "command")
    )
    assert ours == theirs
    assert {Path("results.csv"), Path("summary.csv"), Path("failures.csv")} <= set(ours)


def test_frames_comparison_figures_and_report(here: Path) -> None:
    made = run()
    assert set(made.results["technique"]) == {"none", "massaging", "repair"}
    assert len(made.summary) == 2 * 3 * made.results["metric"].nunique()
    assert made.failures.empty
    opened = benchmark.open_run("out")
    pd.testing.assert_frame_equal(opened.results, made.results)
    compared = opened.compare()
    cell = compared[(compared["technique"] == "massaging") & (compared["level"] == 0.5)].iloc[0]
    means = made.summary.query("metric == 'discrimination' and level == 0.5").set_index("technique")["mean"]
    assert cell["change"] == pytest.approx(means["massaging"] - means["none"], abs=1e-12)
    assert (opened.compare("massaging")["baseline"] == "massaging").all()
    figure = opened.figure("heat_discrimination")
    assert figure.axes
    assert opened.report() == Path("out/report.html")
    assert (here / "out" / "statistics" / "README.md").is_file()
    shown = opened._repr_html_()
    assert "Massaging" not in shown
    assert "massaging" in shown
    assert f"{means['massaging']:.3f}" in shown
    with pytest.raises(UnknownNameError, match="figure"):
        opened.figure("heat")
    with pytest.raises(UnknownNameError, match="technique"):
        opened.compare("massage")


def test_a_run_of_one_repetition_has_figures_of_its_own_and_none_of_statistics() -> None:
    made = run(techniques=["none"], repetitions=1, figures="paper")
    names = ["network/compas_embedded", "over_beta/compas_embedded", "tradeoff/compas_embedded/all"]
    assert made.figures == names
    folder = made.folder / "figures"
    assert sorted(p.relative_to(folder).with_suffix("").as_posix() for p in folder.rglob("*.*")) == names
    assert made.figure("over_beta/compas_embedded").axes


@pytest.mark.parametrize("choice", ["papers", "every"])
def test_another_choice_of_figures_is_an_error_before_anything_is_computed(here: Path, choice: str) -> None:
    with pytest.raises(UnknownNameError, match="choice of figures"):
        run(figures=choice)
    assert not (here / "out").exists()


def test_it_goes_on_where_it_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    write = Store.write
    count = 0

    def interrupted(self: Store, *args: object, **named: object) -> None:
        nonlocal count
        write(self, *args, **named)
        count += 1
        if count == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Store, "write", interrupted)
        with pytest.raises(KeyboardInterrupt, match=r"of 18 cells are stored"):
            run()
    resumed = run()
    assert 0 < resumed.outcome.computed < 18
    again = run().outcome
    assert again.computed == 0


def test_an_interruption_before_the_first_cell_counts_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "compute", interrupted)
    with pytest.raises(KeyboardInterrupt, match="interrupted before the first cell; the same command starts"):
        run()


def test_workers_have_ended_when_files_are_written_and_the_store_is_still_locked(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []

    class Ending(InProcess):
        def __exit__(self, *_: object) -> None:
            events.append("engine ended")

    real = api.write_run_folder

    def write(*given: Any, **options: Any) -> RunFolder:
        with pytest.raises(StoreError, match="another"):
            Store(here / "out" / "results.sqlite")
        events.append("files")
        return real(*given, **options)

    monkeypatch.setattr(engine_module, "LocalEngine", Ending)
    monkeypatch.setattr(api, "write_run_folder", write)
    run()
    assert events == ["engine ended", "files"]


def test_shards_and_folders_that_hold_no_run_are_refused(here: Path) -> None:
    part = run("part", shard="1/2")
    assert len(part.outcome.cells) == 9
    with pytest.raises(BetabenchError, match="summary"):
        _ = part.results
    with pytest.raises(BetabenchError, match="There is no folder"):
        benchmark.open_run(here / "nothing")


def test_a_sample_is_the_command_s(here: Path) -> None:
    frame = benchmark.sample("compas", beta=0.5, rows=200, seed=4)
    words = "sample --dataset compas --beta 0.5 --rows 200 --seed 4 --out out.csv"
    assert main(words.split()) == 0
    written = pd.read_csv(here / "out.csv", dtype=str, keep_default_na=False)
    assert frame.astype(str).equals(written)
    assert frame.attrs["deprived_group"] == "African-American"


def test_names_and_the_default_bias_in_a_file(here: Path) -> None:
    folder = here / "elsewhere"
    folder.mkdir()
    shutil.copy(ROOT / "docs" / "courts.toml", folder)
    entries = 'datasets = ["courts.toml", "adult"]\ntechniques = ["none"]\nclassifiers = ["c45"]\n'
    head = 'name = "file"\ntitle = "File"\nseed = 1\nrepetitions = 1\nbetas = [0.5]\n'
    (folder / "file.toml").write_text(head + entries)
    courts, adult = benchmark.load_experiment(folder / "file.toml").datasets
    assert (courts.name, adult.name) == ("courts", "adult")
    assert [(edit.attribute, edit.group) for edit in courts.bias[0].to_bias().edits] == [
        ("race", "African-American")
    ]
    assert [edit.group for edit in adult.bias[0].to_bias().edits] == ["Wife", "Husband"]
    (folder / "file.toml").write_text(f'{head}{entries}bias = ["label"]\n')
    assert [
        own.bias[0].steps[0].kind for own in benchmark.load_experiment(folder / "file.toml").datasets
    ] == ["label"] * 2
