"""Every page of findings is held: those that tools write are those of the committed values."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import tools.findings

RESULTS = Path(__file__).resolve().parents[2] / "results"
STUDIES = sorted(module.name for module in iter_modules(tools.findings.__path__))
BY_HAND = {
    "alternation": "tests/audit/test_alternation.py",
    "legast2025": "tests/findings/test_legast.py",
}
"""Findings whose words and numbers are written by hand, and the tests that hold them."""


LONG = {"learners": pytest.mark.nightly}  # resampling of every pair of learners


@pytest.mark.slow
@pytest.mark.parametrize("study", [pytest.param(name, marks=LONG.get(name, ())) for name in STUDIES])
def test_pages_are_those_of_the_committed_values(study: str) -> None:
    for path, content in import_module(f"tools.findings.{study}").pages().items():
        assert path.read_text(encoding="utf-8") == content.decode(), path


@pytest.mark.nightly
def test_no_findings_are_forgotten() -> None:
    written = {
        path.parent.name
        for study in STUDIES
        for path in import_module(f"tools.findings.{study}").pages()
        if path.name == "FINDINGS.md"
    }
    assert written.isdisjoint(BY_HAND)
    assert written | set(BY_HAND) == {path.parent.name for path in RESULTS.glob("*/FINDINGS.md")}
    for test in BY_HAND.values():
        assert (RESULTS.parent / test).exists()
