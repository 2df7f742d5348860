"""Every page of findings has the committed values, and one shape."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from studies.__main__ import STUDIES

RESULTS = Path(__file__).resolve().parents[1] / "results"
FINDINGS = sorted(RESULTS.glob("*/FINDINGS.md"))

# Resampling of every pair of learners, a hundred thousand draws for each comparison with people's bias, and
# exact intervals over all sources.
LONG = dict.fromkeys(
    ("blum_stangl", "fairness_cost", "learners", "real_bias", "sources", "suite", "told"), pytest.mark.nightly
)


@pytest.mark.slow
@pytest.mark.parametrize("study", [pytest.param(name, marks=LONG.get(name, ())) for name in STUDIES])
def test_pages_are_those_of_the_committed_values(study: str) -> None:
    for path, content in import_module(f"studies.{study}.findings").FILES.items():
        assert path.suffix == ".png" or path.read_text(encoding="utf-8") == content(), path


@pytest.mark.nightly
def test_no_findings_are_forgotten() -> None:
    written = {
        path.parent.name
        for study in STUDIES
        for path in import_module(f"studies.{study}.findings").FILES
        if path.name == "FINDINGS.md"
    }
    assert written == {path.parent.name for path in FINDINGS}


@pytest.mark.parametrize("path", FINDINGS, ids=lambda path: path.parent.name)
def test_findings_have_one_shape(path: Path) -> None:
    """The answer, a figure, a table, and what would change our mind, on one screen."""
    text = re.sub(r"(?m)^<!--.*\n", "", path.read_text(encoding="utf-8"))
    title, answer, picture, *rest = text.strip().split("\n\n")
    assert title.startswith("# ")
    assert answer.startswith("**")
    assert re.fullmatch(r"!\[[^\]]+\]\([^)]+\.png\)", picture)
    *tables, reading = rest
    assert tables
    assert all(table.startswith("|") for table in tables)
    assert reading.rpartition("\n- ")[2].startswith("**What would change our mind.**")
    lines = text.splitlines()
    assert len(lines) <= 40
    assert max(len(line) for line in lines if not line.startswith(("|", "!"))) <= 125
