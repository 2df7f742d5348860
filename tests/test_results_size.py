"""What is committed of results: what a run measured, pages, and the pictures that pages show."""

from __future__ import annotations

import posixpath
import re
import subprocess
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parent.parent

MOST_BYTES, MOST_FILES = 32_000_000, 400
"""Of all results."""

MOST_BYTES_OF_A_RUN, MOST_FILES_OF_A_RUN = 4_000_000, 26
"""Besides its pictures."""

_LINK = re.compile(r"!?\[(?:\\.|[^\[\]\\])*\]\(([^()\s]+)\)")
_IMAGE = re.compile(r"!\[(?:\\.|[^\[\]\\])*\]\(([^()\s]+)\)")


def tracked(*paths: str) -> list[str]:
    """Return the files below some paths that are committed, or are about to be."""
    if not (ROOT / ".git").exists():
        pytest.skip("no repository, but a copy of its files")
    run = subprocess.run(
        ["git", "ls-files", "-z", "--", *paths], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [name for name in run.stdout.split("\0") if name]


def size(name: str) -> int:
    return (ROOT / name).stat().st_size


def targets(page: str, pattern: re.Pattern[str]) -> set[str]:
    """Return the files of the repository that a page links to or shows."""
    text = (ROOT / page).read_text(encoding="utf-8")
    text = re.sub(r"(?ms)^(`{3,}).*?^\1`*$", "", text)
    found = (unquote(target.partition("#")[0]) for target in pattern.findall(text))
    here = posixpath.dirname(page)
    return {posixpath.normpath(posixpath.join(here, path)) for path in found if path and ":" not in path}


def test_results_stay_small() -> None:
    files = tracked("results")
    assert len(files) <= MOST_FILES
    assert sum(map(size, files)) <= MOST_BYTES


def test_each_run_stays_small() -> None:
    files = tracked("results")
    runs = {posixpath.dirname(name) for name in files if re.fullmatch(r"results/[^/]+/manifest\.json", name)}
    assert {"results/paper", "results/techniques"} < runs
    for run in runs:
        own = [name for name in files if name.startswith(f"{run}/") and not name.endswith(".png")]
        assert len(own) <= MOST_FILES_OF_A_RUN, run
        assert sum(map(size, own)) <= MOST_BYTES_OF_A_RUN, run


def test_pictures_are_committed_if_and_only_if_a_page_shows_them() -> None:
    shown = set().union(*(targets(page, _IMAGE) for page in tracked("*.md")))
    committed = {name for name in tracked("results") if name.endswith(".png")}
    assert committed == {name for name in shown if name.startswith("results/")}


def test_what_commands_write_again_is_not_committed() -> None:
    again = re.compile(r".*\.(tex|pdf|svg|html|sqlite.*)|.*/statistics/.*\.csv|.*/comparison/table.*\.csv")
    assert [name for name in tracked("results") if again.fullmatch(name)] == []


def test_pages_link_to_what_is_committed() -> None:
    """Those that commands write as well: a file that git ignores is a dead link for every reader."""
    files = set(tracked("."))
    folders = {folder for name in files for folder in Path(name).parents}
    for page in tracked("*.md"):
        for target in targets(page, _LINK):
            assert target in files or Path(target) in folders, f"{page}: {target}"
