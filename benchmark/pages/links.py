"""What a run left in its folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

_FOR_READERS = {".csv", ".html", ".json", ".md", ".pdf", ".png", ".svg", ".tex"}

_FOLDERS = ("comparison", "figures", "statistics", "tables")


def files_beside(page: Path) -> list[str]:
    """Return the names of the files that commands wrote beside a page for readers, without the page."""
    # Not all that is below: other things may lie in a folder that was named for the page.
    return _names(page, page.parent.glob("*"))


def files_below(page: Path) -> dict[str, list[str]]:
    """Return the files in folders that commands write beside a page, relative to it, by folder."""
    found = {name: _names(page, (page.parent / name).rglob("*")) for name in _FOLDERS}
    return {name: names for name, names in found.items() if names}


def _names(page: Path, paths: Iterable[Path]) -> list[str]:
    return sorted(
        path.relative_to(page.parent).as_posix()
        for path in paths
        if path.suffix in _FOR_READERS and path != page and path.is_file() and not path.name.startswith(".")
    )
