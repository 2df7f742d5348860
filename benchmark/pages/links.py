"""What a run left in its folder, as links."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

from benchmark.text.words import printable

__all__ = ["KINDS", "files_section"]

KINDS = {
    ".csv": "text/csv; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".md": "text/plain; charset=utf-8",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".tex": "text/plain; charset=utf-8",
}
"""Kinds of files that commands write to a run's folder for readers, with their media types."""

_FOLDERS = ("comparison", "figures", "statistics", "tables")


def files_section(folder: Path, page: Path) -> str:
    """Return links to the files beside and below a page; nothing where it stands alone.

    Parameters
    ----------
    folder : Path
        Folder of the page.
    page : Path
        The page, which does not link to itself.
    """
    # Not all that is below: nobody knows what else lies in a folder that was named for the page.
    beside = _names(folder, folder.glob("*"), page)
    below = {name: _names(folder, (folder / name).rglob("*"), page) for name in _FOLDERS}
    if not beside and not any(below.values()):
        return ""
    return (
        "<h3>Files of this run</h3><p>They lie beside this page; where the page was sent alone, the links "
        "lead nowhere.</p>"
        + _links(beside)
        + "".join(
            f"<details><summary>{name}: {len(names)} file{'s' if len(names) > 1 else ''}</summary>"
            f"{_links(names)}</details>"
            for name, names in below.items()
            if names
        )
    )


def _names(folder: Path, paths: Iterable[Path], page: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix()
        for path in paths
        if path.suffix in KINDS and path != page and path.is_file() and not path.name.startswith(".")
    )


def _links(names: Sequence[str]) -> str:
    # A name with a colon would be an address of its own without the dot before it.
    items = (
        f'<li><a href="./{quote(os.fsencode(name))}">{html.escape(printable(name))}</a></li>'
        for name in names
    )
    return f'<ul class="files">{"".join(items)}</ul>' if names else ""
