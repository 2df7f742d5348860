"""The console's table: readable at 80 columns, with all that matters."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from made_up_runs import ADULT, METRICS, Run, many_techniques, sample_run
from rich.console import Console

from benchmark.report.console import print_report


def printed(
    run: Run, *, width: int = 80, output_dir: Path | None = None, written: tuple[Path, ...] = ()
) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False)
    print_report(console, run.results, run.failures, run.description, output_dir=output_dir, written=written)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.fixture(scope="module")
def text() -> str:
    return printed(sample_run(repetitions=5))


def test_all_betas_fit_side_by_side_in_80_columns(text: str) -> None:
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("β=0 ") == text.count("β=1\n") == 3


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


def test_gaps_and_failures_are_counted(text: str) -> None:
    assert text.count("–/–") == 2
    assert "Without a value: 10 failed, 5 undefined (reasons in failures.csv)" in text


def test_many_betas_go_on_below() -> None:
    run = sample_run(datasets=(ADULT,), betas=tuple(i / 10 for i in range(11)), repetitions=2)
    text = printed(run)
    assert max(map(len, text.splitlines())) <= 80
    assert all(f"β={i / 10:g}" in text for i in range(11))
    assert text.count("Massaging") == 3


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
