"""The index lists the runs of a folder, links what lies there, and replaces no page of anybody else."""

from __future__ import annotations

import html
import json
import os
import sys
from pathlib import Path

import pytest

from benchmark.cli import main
from benchmark.pages.index import find_runs, index_page, refresh_index
from benchmark.runs.finished import read_results, read_run
from tests.helpers.made_up_folder import write_made_up_folder

RESULTS = Path(__file__).resolve().parents[2] / "results"
HOSTILE = "<script>alert(1)</script>"
OWN = "manifest.json", "results.csv", "summary.csv", "failures.csv"
ODD = 'odd "name" & #?'


def write_run(folder: Path, title: str = "A run", finished: str = "2026-01-02T03:04:05+00:00") -> Path:
    """Write what an index reads of a run."""
    manifest = {
        "experiment": {"title": title, "techniques": [{}, {}]},
        "datasets": {"adult": {}, "dutch:embedded": {}},
        "cells": {"planned": 1200, "computed_in_this_run": 3, "not_converged": 2},
        "finished": finished,
    }
    folder.mkdir(parents=True)
    for name in OWN:
        (folder / name).write_text("a,b\n")
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "results"
    first = write_run(root / "first", f"First {HOSTILE}")
    (first / "report.html").write_text("<!DOCTYPE html><title>report</title>")
    (first / "FINDINGS.md").write_text("# β")
    (first / "statistics").mkdir()
    (first / "statistics" / "README.md").write_text("statistics")
    write_run(root / ODD, "Second", "2026-03-02T03:04:05+00:00")
    return root


def refreshed(folder: Path) -> str:
    index = refresh_index(folder)
    assert index == folder.resolve() / "index.html"
    return index.read_text(encoding="utf-8")


def test_the_index_says_what_there_is(folder: Path) -> None:
    page = refreshed(folder)
    assert "<title>Runs in results</title>" in page
    assert page.index("Second") < page.index("First"), "the last finished first"
    assert '<a href="./first/report.html">First &lt;script&gt;' in page
    assert HOSTILE not in page
    assert "2 runs" in page
    assert "finished 2026-01-02 03:04" in page
    assert "2 datasets: adult, dutch:embedded · 2 techniques · 1,200 cells · without a result: 2 not" in page
    assert '<a href="./first/FINDINGS.md">' in page
    assert '<a href="./first/statistics/README.md">' in page
    command = f"betabench report 'results/{ODD}'"
    shown = html.unescape(page)
    assert f"No report yet: <code>{command}</code> writes it." in shown
    assert command not in page, "its quotation marks and ampersands are escaped"


def test_compressed_files_are_enough_for_a_report(folder: Path) -> None:
    for name in ("results.csv", "summary.csv", "failures.csv"):
        (folder / ODD / name).rename(folder / ODD / f"{name}.xz")
    assert "No report yet:" in refreshed(folder)


def test_the_index_offers_a_report_of_each_shipped_run_that_has_one() -> None:
    """A run is what ``betabench report`` reads; audits and single tables beside them are not."""
    shipped = {run.name: run.missing for run in find_runs(RESULTS)}
    assert {"paper", "suite", "techniques", "tuning"} <= {
        name for name, missing in shipped.items() if not missing
    }
    assert len(read_results(RESULTS / "paper", read_run(RESULTS / "paper")))


def test_a_new_report_is_linked_once_the_index_is_refreshed(folder: Path) -> None:
    address = "./odd%20%22name%22%20%26%20%23%3F/report.html"
    assert address not in refreshed(folder)
    (folder / ODD / "report.html").write_text("report")
    assert f'<a href="{address}">Second</a>' in refreshed(folder)


def test_an_index_of_others_stays(folder: Path) -> None:
    own = folder / "index.html"
    own.write_text("my own page")
    assert refresh_index(folder) is None
    assert own.read_text() == "my own page"
    own.unlink()
    refreshed(folder)
    assert refreshed(folder) == refreshed(folder)


def test_a_folder_without_runs_has_no_index(tmp_path: Path) -> None:
    write_run(tmp_path / "deeper" / "run")
    assert find_runs(tmp_path) == []
    assert refresh_index(tmp_path) is None
    assert [path.name for path in tmp_path.iterdir()] == ["deeper"]


def test_what_is_no_run_of_an_experiment_is_listed(tmp_path: Path) -> None:
    audit, shard, broken = (tmp_path / name for name in ("audit", "shard", "broken"))
    write_run(audit).joinpath("manifest.json").write_text('{"experiment": {"title": "An audit"}}')
    (audit / "failures.csv").unlink()
    write_run(shard)
    (shard / "results.csv").unlink()
    runs = {run.name: run for run in find_runs(tmp_path)}
    assert runs["audit"].title == "An audit"
    assert runs["audit"].facts == ()
    assert runs["audit"].missing == ("failures.csv",)
    assert runs["shard"].missing == ("results.csv",)
    page = index_page("results", list(runs.values()))
    assert "No report can be made of it: results.csv is not there." in page
    write_run(broken)
    for text in (
        "",
        "[]",
        "{",
        "null",
        '{"experiment": 1}',
        "[" * 100_000,
        '{"experiment": {"title": ""}, "cells": 1}',
    ):
        (broken / "manifest.json").write_text(text)
        run = next(run for run in find_runs(tmp_path) if run.name == "broken")
        assert (run.title, run.facts) == ("broken", ("its manifest cannot be read",))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere all names are text")
def test_names_that_are_no_text_and_links_elsewhere_are_not_listed(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    write_run(tmp_path / os.fsdecode(b"b\xff"))
    write_run(tmp_path / ".hidden")
    (tmp_path / "link").symlink_to(run)
    (run / "own.md").write_text("# Own")
    (run / ".hidden.md").write_text("# Hidden")
    (run / "linked.md").symlink_to("/etc/hostname")
    (found,) = find_runs(tmp_path)
    assert (found.name, found.documents) == ("run", ("own.md",))


def test_a_report_refreshes_the_index_beside_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path / "results" / "other", "Another")
    run = write_made_up_folder(tmp_path / "results" / "run")
    assert main(["report", str(run), "--no-figures"]) == 0
    index = tmp_path / "results" / "index.html"
    assert f"All runs beside it: {index}" in capsys.readouterr().out
    page = index.read_text(encoding="utf-8")
    assert '<a href="./run/report.html">' in page
    assert "Another" in page
    elsewhere = tmp_path / "elsewhere" / "page"
    assert main(["report", str(run), "--no-figures", "--output", str(elsewhere)]) == 0
    assert "All runs beside it" not in capsys.readouterr().out
    assert not (elsewhere.parent / "index.html").exists()
