"""What a release says of itself in several places is the same."""

from __future__ import annotations

import re
from pathlib import Path

import benchmark
from benchmark.release import RELEASED

ROOT = Path(__file__).resolve().parent.parent


def test_package_citation_and_changelog_name_one_version() -> None:
    citation = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)
    released = re.search(
        r"^## (\d\S*) - (\d{4}-\d\d-\d\d)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M
    )
    assert citation is not None
    assert released is not None
    assert citation[1] == released[1] == benchmark.__version__
    assert released[2] == RELEASED


def test_the_newest_release_is_told_in_sixty_lines() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.split(r"(?m)^## (?=\d)", text)[1]
    assert len(newest.strip().splitlines()) <= 60
