"""The whole report: which files, the same bytes each time, nothing else touched."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchmark.figures.lists import run_figures
from benchmark.report.folder import write_summary_and_figures
from benchmark.text.writing import FORMATS, write_atomically
from tests.helpers.made_up_runs import BETAS, DUTCH, TECHNIQUES, Run, sample_run


def small_run() -> Run:
    return sample_run(datasets=(DUTCH,), techniques=TECHNIQUES[:5:2], betas=BETAS[::2], repetitions=3)


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write(folder: Path, run: Run, formats: Sequence[str] = FORMATS) -> dict[str, str]:
    frames = run.frames
    list(write_summary_and_figures(folder, frames, list(run_figures(frames)), formats))
    return digests(folder)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    frames = small_run().frames
    folder = tmp_path_factory.mktemp("report")
    return list(write_summary_and_figures(folder, frames, list(run_figures(frames)), FORMATS))


@pytest.fixture(scope="module")
def report(written: list[Path]) -> Path:
    return written[0].parent


def test_all_files_are_written(written: list[Path], report: Path) -> None:
    names = [path.relative_to(report).as_posix() for path in written]
    tables = ["techniques", "table2_baseline", "table3_preprocessing"]
    tables += ["table5_baseline", "table6_preprocessing"]
    figures = ["network/dutch_embedded", "over_beta/dutch_embedded", "tradeoff/dutch_embedded/all"]
    assert names == [
        "summary.csv",
        "tables/notes.txt",
        *(f"tables/{name}.{ending}" for name in tables for ending in ("csv", "tex")),
        *(f"figures/{name}.{ending}" for name in figures for ending in FORMATS),
    ]
    assert sorted(names) == list(digests(report))


def shuffled_run() -> Run:
    run = small_run()
    return replace(run, results=run.results.sample(frac=1, random_state=3))


@pytest.mark.nightly
def test_the_bytes_depend_on_neither_hash_seed_nor_order_nor_the_users_style(
    tmp_path: Path, report: Path
) -> None:
    (tmp_path / "matplotlibrc").write_text("font.size: 20\nlines.linewidth: 7\naxes.grid: False\n")
    code = (
        "import sys; from pathlib import Path\n"
        "from tests.report.test_report_writer import shuffled_run, write\n"
        "write(Path(sys.argv[1]), shuffled_run());"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "2718",
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "MATPLOTLIBRC": str(tmp_path / "matplotlibrc"),
    }
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "out")], check=True, env=environment)
    assert digests(tmp_path / "out") == digests(report)


def test_pdf_text_is_text(report: Path) -> None:
    for path in report.rglob("*.pdf"):
        content = path.read_bytes()
        assert b"/CIDFontType2" in content or b"/TrueType" in content
        assert b"/Type3" not in content
        assert b"CreationDate" not in content


def test_nothing_else_is_touched(tmp_path: Path) -> None:
    mine = [tmp_path / "results.sqlite", tmp_path / "tables" / "own.md", tmp_path / "figures" / "own.png"]
    for path in mine:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    written = list(write_summary_and_figures(tmp_path, small_run().frames))
    assert [path.read_text() for path in mine] == ["mine"] * 3
    assert set(digests(tmp_path)) == {p.relative_to(tmp_path).as_posix() for p in [*mine, *written]}


def test_embedded_data_are_named_in_every_text_file(report: Path) -> None:
    files = [path for path in report.rglob("*") if path.suffix in (".csv", ".txt", ".tex")]
    assert len(files) == 12
    assert all("embedded" in path.read_text() for path in files)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_atomically(tmp_path / "new" / "file.txt", "old\n")

    def fail(self: Path, target: Path) -> Path:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, "new\n")
    assert path.read_bytes() == b"old\n"
    assert list(path.parent.iterdir()) == [path]
