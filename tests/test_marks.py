"""A test that needs data says so by its mark; without the mark it sees none, on any machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = """
import os
import pytest

def test_hidden():
    assert "BETABENCH_DATA" not in os.environ

def test_needs_data():
    from benchmark.data.load import load_dataset
    from benchmark.data.source import Sources
    load_dataset("compas", Sources(offline=True))

def test_asks_for_the_folder(data_dir):
    pass

@pytest.mark.real_data
def test_marked_asks_for_the_folder(data_dir):
    assert os.environ["BETABENCH_DATA"] == str(data_dir)

@pytest.mark.real_data
def test_marked():
    assert os.environ["BETABENCH_DATA"]
"""
UNMARKED = {"hidden": "PASSED", "needs_data": "FAILED", "asks_for_the_folder": "ERROR"}


def outcomes(folder: Path, **variables: str) -> tuple[dict[str, str], str]:
    """Run the tests above; return what became of each, and all that was said."""
    (folder / "test_made.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    real_data\n    oracle\n    slow\n")
    command = [sys.executable, "-m", "pytest", "-v", "-rfE", "-p", "conftest", "-p", "no:cacheprovider"]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("BETABENCH_")}
    environment = {
        **inherited,
        "PYTHONPATH": str(ROOT),
        "BETABENCH_CACHE": str(folder / "cache"),
        **variables,
    }
    done = subprocess.run(
        [*command, "test_made.py"], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    words = [line.split() for line in done.stdout.splitlines() if line.startswith("test_made.py::")]
    return {own[0].removeprefix("test_made.py::test_"): own[1] for own in words}, done.stdout


def test_only_marked_tests_see_the_data(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    found, said = outcomes(tmp_path, BETABENCH_DATA=str(tmp_path / "data"))
    assert found == {**UNMARKED, "marked_asks_for_the_folder": "PASSED", "marked": "PASSED"}
    assert "It asks for data_dir, and is not marked real_data" in said
    found, said = outcomes(tmp_path)
    assert found == {**UNMARKED, "marked_asks_for_the_folder": "SKIPPED", "marked": "SKIPPED"}
