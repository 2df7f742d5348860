"""Links that work in the repository, made to work on the site.

A page of the repository links to files where they lie. On the site ``docs/`` is the root, and of all else
only what pages link to is there.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote

__all__ = ["SHOWN", "link_to", "linked_files", "site_address", "with_site_links"]

SHOWN = (".md", ".png", ".svg", ".pdf", ".csv", ".json", ".toml", ".bif", ".cff", ".ipynb")
"""Endings of files that the site takes in where a page links to them; code is in the reference instead."""

_FENCED = re.compile(r"(?ms)^(`{3,}).*?^\1`*$\n?")
# The text is taken whole or not at all: tables of intervals have thousands of brackets that begin no link.
_TEXT = r"(?P<text>[^\[\]\\]*+(?:\\.[^\[\]\\]*+)*+)"
_LINK = re.compile(rf"(?P<image>!?)\[{_TEXT}\]\((?P<target>[^()\s]+)\)")


def link_to(path: Path, folder: Path, root: Path) -> str | None:
    """Return a link from a folder to a file, or None if the folder lies outside of the source tree."""
    start = folder.resolve()
    return quote(Path(os.path.relpath(path, start)).as_posix()) if start.is_relative_to(root) else None


def site_address(path: str) -> str:
    """Return where a file of the repository is on the site: ``docs/tour.md`` is ``tour.md``."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return path if "/" in path else path.lower()


def linked_files(markdown: str, page: str, root: Path) -> Iterator[str]:
    """Yield the files of the repository that a page links to and that the site can show.

    Parameters
    ----------
    markdown : str
        The page.
    page : str
        Where it lies in the repository.
    root : Path
        The repository.
    """
    for text in _outside_code(markdown):
        for found in _LINK.finditer(text):
            path = _target(found["target"], page)
            if path and path.endswith(SHOWN) and (root / path).is_file():
                yield path


def with_site_links(markdown: str, page: str, addresses: Mapping[str, str], root: Path) -> str:
    """Return a page as it is on the site.

    Links to what the site has lead there. Of links to other files and folders of the repository the text is
    left, and so it is where a page of a run's statistics links to files beside it that are not committed.
    Links that lead nowhere stay as they are, for MkDocs to complain.

    Parameters
    ----------
    markdown, page, root
        As for :func:`linked_files`.
    addresses : mapping of str to str
        Addresses on the site of files of the repository, ``page`` among them.
    """
    here = posixpath.dirname(addresses[page])

    def moved(found: re.Match[str]) -> str:
        path = _target(found["target"], page)
        if path is not None and path in addresses:
            fragment = "".join(found["target"].partition("#")[1:])
            link = quote(posixpath.relpath(addresses[path], here or "."))
            return f"{found['image']}[{found['text']}]({link}{fragment})"
        left = path and ((root / path).exists() or (not found["image"] and _written_with(page, path)))
        return found["text"] if left else found[0]

    pieces = _outside_code(markdown)
    fences = (found[0] for found in _FENCED.finditer(markdown))
    return "".join(_LINK.sub(moved, piece) + next(fences, "") for piece in pieces)


def _written_with(page: str, path: str) -> bool:
    """Return whether ``betabench report`` writes a file beside a page of a run's statistics."""
    folder = re.match(r"results/[^/]+/statistics/", page)
    return folder is not None and path.startswith(folder[0])


def _outside_code(markdown: str) -> list[str]:
    """Return what is before, between and after blocks of code."""
    bounds = [0, *(end for found in _FENCED.finditer(markdown) for end in found.span()), len(markdown)]
    return [markdown[start:end] for start, end in zip(bounds[::2], bounds[1::2], strict=True)]


def _target(target: str, page: str) -> str | None:
    """Return the file of the repository that a link means, or None if it means no other file of it."""
    path = unquote(target.partition("#")[0])
    if not path or re.match(r"[a-z][a-z0-9+.-]*:|/", path):
        return None
    joined = posixpath.normpath((PurePosixPath(page).parent / path).as_posix())
    return None if joined.startswith("..") else joined
