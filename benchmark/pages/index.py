"""The runs in a folder, and a page with a list of them."""

import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.columns import MANIFEST_NAME
from benchmark.pages.html import document
from benchmark.pages.run_page import PAGE_NAME
from benchmark.runs.manifest import without_result
from benchmark.text.writing import plain_or_packed, write_atomically
from benchmark.wording import render_values

INDEX_NAME = "index.html"
"""Name of the index in the folder that holds the runs' folders."""

_REPORTED = ("results.csv", "summary.csv", "failures.csv")
_OURS = b'<meta name="generator" content="betabench">', b"<title>Runs in "


@dataclass(frozen=True)
class RunEntry:
    """A run in the index."""

    name: str  # its folder
    title: str  # the name where the manifest has no title
    facts: tuple[str, ...]  # from the manifest, for readers
    has_report: bool
    missing: tuple[str, ...]  # files without which no report can be made
    documents: tuple[str, ...]  # pages in Markdown, relative to the run's folder
    finished: str  # ISO 8601; empty if unknown


def refresh_index(folder: Path) -> Path | None:
    """Write ``index.html`` on the runs in a folder such as ``results``, and return its path.

    It is None, and nothing is written, if the folder has no run, cannot be written to, or has another
    program's ``index.html``.
    """
    folder = folder.resolve()
    index, runs = folder / INDEX_NAME, find_runs(folder)
    if not runs or not os.access(folder, os.W_OK | os.X_OK):
        return None
    if index.exists() and not (index.is_file() and all(mark in index.read_bytes() for mark in _OURS)):
        return None
    return write_atomically(index, index_page(folder.name, runs))


def find_runs(folder: Path) -> list[RunEntry]:
    """Return the runs in the folders directly below, the last finished first.

    Hidden folders and symbolic links are left out.
    """
    runs = [_entry(path) for path in folder.iterdir() if _is_run(path)]
    return sorted(sorted(runs, key=lambda run: run.name), key=lambda run: run.finished, reverse=True)


def _is_run(folder: Path) -> bool:
    if folder.name.startswith(".") or folder.is_symlink() or not (folder / MANIFEST_NAME).is_file():
        return False
    # A name that is not text cannot be part of an address.
    return not any("\ud800" <= character <= "\udfff" for character in folder.name)


def _entry(folder: Path) -> RunEntry:
    pages = folder.glob("*.md")
    documents = [path.name for path in pages if not (path.name.startswith(".") or path.is_symlink())]
    documents += ["statistics/README.md"] if (folder / "statistics" / "README.md").is_file() else []
    try:
        manifest = json.loads((folder / MANIFEST_NAME).read_text(encoding="utf-8"))
        title, finished = str(manifest["experiment"]["title"]), str(manifest.get("finished", ""))
        facts = tuple(_facts(manifest, finished))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        title, finished, facts = folder.name, "", ("its manifest cannot be read",)
    return RunEntry(
        name=folder.name,
        title=title,
        facts=facts,
        has_report=(folder / PAGE_NAME).is_file(),
        missing=tuple(name for name in _REPORTED if not plain_or_packed(folder / name).is_file()),
        documents=tuple(sorted(documents)),
        finished=finished,
    )


def _facts(manifest: Mapping[str, Any], finished: str) -> Iterator[str]:
    """Yield facts from a manifest; an audit has neither cells nor techniques."""
    if finished:
        yield f"finished {finished[:16].replace('T', ' ')}"
    if datasets := list(manifest.get("datasets", ())):
        yield f"{_counted(len(datasets), 'dataset')}: {', '.join(datasets)}"
    if techniques := manifest["experiment"].get("techniques"):
        yield _counted(len(techniques), "technique")
    if cells := manifest.get("cells"):
        yield _counted(cells["planned"], "cell")
        failed = without_result(cells).items()
        counts = ", ".join(f"{n:,} {status.replace('_', ' ')}" for status, n in failed)
        yield f"without a result: {counts}" if counts else "all with a result"


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def index_page(folder: str, runs: Sequence[RunEntry]) -> str:
    """Return an HTML page without scripts that lists the runs of a folder, with relative links."""
    text = render_values(
        "runs",
        folder=folder,
        runs=runs,
        report=PAGE_NAME,
        command=lambda run: shlex.join(["betabench", "report", f"{folder}/{run.name}"]),
        counted=_counted,
    )
    return document(text)
