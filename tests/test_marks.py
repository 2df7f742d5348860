"""A test that needs data says so by its mark; without the mark it sees none, on any machine."""

from __future__ import annotations

import os
import re
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


def test_only_marked_tests_see_the_data(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "test_made.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    real_data\n    oracle\n    slow\n")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("BETABENCH_")}
    own = {"PYTHONPATH": str(ROOT), "BETABENCH_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-rfE", "-p", "conftest", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**inherited, **own, "BETABENCH_DATA": str(tmp_path / "data")},
        capture_output=True,
        text=True,
    )
    assert dict(re.findall(r"^test_made\.py::test_(\w+) (\w+)", done.stdout, re.MULTILINE)) == {
        "hidden": "PASSED",
        "needs_data": "FAILED",
        "asks_for_the_folder": "ERROR",
        "marked_asks_for_the_folder": "PASSED",
        "marked": "PASSED",
    }
    assert "It asks for data_dir, and is not marked real_data" in done.stdout
