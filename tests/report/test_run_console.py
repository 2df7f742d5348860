"""The console's table: readable at 80 columns, with all that matters."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

from benchmark.columns import FAILURE_COLUMNS
from benchmark.report.run_console import print_report
from benchmark.runs.descriptions import MetricDescription, PlantedBias
from benchmark.statistics.repetitions import few_words
from tests.helpers.made_up_runs import ADULT, METRICS, TECHNIQUES, Run, changed, many_techniques, sample_run


def printed(
    run: Run, *, width: int = 80, output_dir: Path | None = None, written: tuple[Path, ...] = ()
) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False)
    print_report(console, run.frames, output_dir, written)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.fixture(scope="module")
def text() -> str:
    return printed(sample_run(repetitions=5, shares=True))


def test_all_fits_80_columns_as_many_betas_in_each_table_as_do(text: str) -> None:
    assert max(map(len, text.splitlines())) <= 80
    headings = [line.split() for line in text.splitlines() if line.lstrip().startswith("β=")]
    assert headings == 3 * [["β=0", "β=0.25", "β=0.5"], ["β=0.75", "β=1"]]


def test_embedded_data_and_warnings_are_said(text: str) -> None:
    assert "EMBEDDED NETWORK, NOT REAL DATA" in text
    assert "Dutch (embedded)" in text
    assert "Warning: the column event follows" in text


def test_entries_are_discrimination_and_accuracy() -> None:
    run = sample_run(datasets=(ADULT,), techniques=many_techniques(1), betas=(0.5,), repetitions=3)
    means = run.results.groupby("metric")["value"].mean()
    expected = f"{means['discrimination']:.3f}/{means['accuracy']:.3f}".replace("0.", ".")
    assert expected in printed(run)


def test_extreme_values_are_written_out() -> None:
    run = sample_run(
        datasets=(ADULT,), techniques=many_techniques(1), betas=(0.5,), repetitions=1, metrics=METRICS[:2]
    )
    results = run.results.assign(value=[-1e-9, 1.0])
    assert ".000/1.000" in printed(Run(results, run.failures, run.description))
    assert "-.250/" in printed(Run(run.results.assign(value=[-0.25, 1.0]), run.failures, run.description))


def test_the_legend_says_how_little_few_repetitions_show_at_one_level() -> None:
    run = sample_run(datasets=(ADULT,), repetitions=2, shares=True)
    text = " ".join(printed(run).split())
    # Seven techniques and doing nothing are compared at each level of bias.
    assert few_words(2, 8) in text
    assert text.count("hardly any difference can be shown") == 1


def test_gaps_and_failures_are_counted(text: str) -> None:
    assert text.count("–/–/–") == 2
    assert "Without a value: 10 failed, 5 undefined (reasons in failures.csv)" in text


@pytest.mark.parametrize(
    ("metric", "beta"), [("given_back", 0.0), ("given_back_deprived", 0.0), ("paid", 0.5)]
)
def test_values_that_cannot_exist_without_bias_are_told_apart(metric: str, beta: float) -> None:
    own = sample_run(datasets=(ADULT,), betas=(0.0, 0.5), repetitions=2, techniques=TECHNIQUES[:2])
    row = ("adult", "paper", beta, "none", "c45", 0, "original", metric, "undefined", float("nan"), "nobody")
    failures = pd.DataFrame([row], columns=list(FAILURE_COLUMNS))
    metrics = (*METRICS, MetricDescription(metric, metric, 1.0))
    shown = tuple(own.name for own in metrics)
    run = Run(own.results, failures, changed(own.description, metrics=metrics, headline=shown))
    text = printed(run, width=200)
    assert "Without a value: 1 undefined" in text
    assert ("1 of these are of given back at β = 0" in text) == (beta == 0)


def test_many_betas_go_on_below() -> None:
    run = sample_run(datasets=(ADULT,), betas=tuple(i / 10 for i in range(11)), repetitions=2)
    text = printed(run)
    assert max(map(len, text.splitlines())) <= 80
    assert all(f"β={i / 10:g}" in text for i in range(11))
    tables, _, _ = text.partition("what to choose")
    assert tables.count("Massaging") == 3


@pytest.mark.parametrize(("betas", "n"), [((0.0, 0.5), 1), ((0.5,), 0)])
def test_levels_without_effect_are_said_to_be_alike_where_there_are_several(
    betas: tuple[float, ...], n: int
) -> None:
    inert = replace(ADULT, bias=(PlantedBias("paper", kind="cpt", edits=("P",)),))
    run = sample_run(datasets=(inert,), techniques=many_techniques(2), betas=betas, repetitions=2)
    assert printed(run).count("The bias has no effect as planted here: columns differ only") == n


def test_other_metrics_serve_where_the_usual_are_missing() -> None:
    run = sample_run(datasets=(ADULT,), metrics=METRICS[2:], repetitions=2)
    assert "overestimation/underestimation" in printed(run)


def test_written_files_are_listed_by_folder(tmp_path: Path) -> None:
    tables = tuple(tmp_path / "tables" / f"table{i}.{ending}" for i in range(4) for ending in ("csv", "md"))
    text = printed(
        sample_run(datasets=(ADULT,), repetitions=1),
        output_dir=tmp_path,
        written=(tmp_path / "summary.csv", *tables),
    )
    assert "\n  summary.csv\n" in text
    assert "tables/  4 csv, 4 md" in text


def test_each_beta_says_what_to_choose_at_what_cost_and_whom_it_accepts(text: str) -> None:
    lines = text.splitlines()
    start = lines.index(next(line for line in lines if line.startswith("β = 1:")))
    counts = " ".join(lines[start : start + 2])
    assert "β = 1: 2 of 7 techniques recommended; 4 dominated; 1 less accurate than the best" in counts
    start += 1
    # Of the six, Uniform sampling leaves the least discrimination and is the most accurate.
    assert re.fullmatch(
        r"choose +\.2\d\d +\.80\d \(\+\.\d{3}±\.\d{3}\) +40 % +\d\d % +\d\d % +Uniform sampling",
        lines[start + 1].rstrip(),
    )
    # Doing nothing comes before another baseline.
    for line, what in ((2, r"nothing +\.\d{3} +\.\d{3} \(.*\)"), (3, r"baseline +\.\d{3} +\.\d{3}")):
        assert re.match(
            what + r" +\d+ % +\d+ % +\d+ % +(No technique|Sensitive feature)", lines[start + line]
        )


def test_one_repetition_has_no_interval_and_no_test() -> None:
    text = " ".join(printed(sample_run(datasets=(ADULT,), repetitions=1, shares=True)).split())
    assert "±" not in text
    assert " candidate ." in text
    assert "Fewer than 5 repetitions give candidates only." in text


def test_techniques_that_answer_nearly_everybody_the_same_are_counted_not_shown() -> None:
    run = sample_run(datasets=(ADULT,), betas=(0.5,), repetitions=5, shares=True)
    refusing = run.results["technique"].eq("uniform_sampling") & run.results["metric"].str.startswith("acc")
    text = printed(replace(run, results=run.results.assign(value=run.results["value"].mask(refusing, 0.005))))
    assert re.search(r"Uniform sampling +\S+/0\.5‡", text)
    note = " ".join(text.partition("\n‡ ")[2].partition("Goal: ")[0].split())
    assert "the same answer for nearly everybody, or for each group, in some sample" in note
    _, choice = text.split("Technique to choose: ")
    assert "1 degenerate (the same answer for nearly everybody" in " ".join(choice.split())
    assert "Uniform" not in choice


def test_a_degenerate_baseline_is_compared_with_nothing() -> None:
    run = sample_run(datasets=(ADULT,), betas=(0.5,), repetitions=5, shares=True)
    own = run.results["technique"].eq("drop_sensitive") & run.results["metric"].str.startswith("accepted")
    text = printed(replace(run, results=run.results.assign(value=run.results["value"].mask(own, 1.0))))
    assert "because the baseline accepts" in " ".join(text.split())
    once = own & (run.results["repetition"] == 0)
    shown = " ".join(
        printed(replace(run, results=run.results.assign(value=run.results["value"].mask(once, 1.0)))).split()
    )
    assert "because the baseline" not in shown
    assert re.search(r"β = 0.5: (\d|none) of 7 techniques recommended", shown)
    assert "Sensitive feature dropped: accepts more than 99 % of everybody in 1 of 5 samples." in shown
