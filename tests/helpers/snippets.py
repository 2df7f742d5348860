"""The lines that a report shows, run as a reader runs them."""

from pathlib import Path
from typing import Any

import pytest

from benchmark.data.draft import draft
from benchmark.data.draft_text import card_text
from benchmark.file_options import FileOptions


def run(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run lines in a folder, and return the names that they define."""
    monkeypatch.chdir(folder)
    found: dict[str, Any] = {}
    exec(compile(code, "snippet", "exec"), found)
    return found


def drafted(folder: Path, favorable: str, deprived: str | None = None, sensitive: str = "sex") -> Path:
    """Draft the card of people.csv as quick does, and return its path."""
    file = folder / "people.csv"
    found = draft(file, FileOptions("hired", favorable, sensitive, deprived), folder)
    path = folder / "card.toml"
    path.write_text(card_text(found, file, 5), encoding="utf-8")
    return path
