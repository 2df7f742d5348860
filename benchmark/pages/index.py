"""The runs in a folder, and a page that lists them."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from benchmark.columns import MANIFEST_NAME
from benchmark.pages.html import render
from benchmark.pages.run_page import PAGE_NAME
from benchmark.text.writing import plain_or_packed, write_atomically

INDEX_NAME = "index.html"
"""Name of the index in the folder that holds the runs' folders."""

_REPORTED = ("results.csv", "summary.csv", "failures.csv")
_COUNTED_ELSEWHERE = ("planned", "computed_in_this_run")
_OURS = '<meta name="generator" content="betabench">'


@dataclass(frozen=True)
class RunEntry:
    """What an index says of a run.

    ``name`` is its folder in the one that was searched, and its title where the manifest has none. ``facts``
    are those of the manifest, for readers; ``finished`` is ISO 8601, and empty where it does not say it.
    ``has_report`` says whether the page was written, and ``missing`` names the files that are not there to
    write it from. ``documents`` are pages in Markdown, relative to the run's folder.
    """

    name: str
    title: str
    facts: tuple[str, ...]
    has_report: bool
    missing: tuple[str, ...]
    documents: tuple[str, ...]
    finished: str


def refresh_index(folder: Path) -> Path | None:
    """Write ``index.html`` on the runs whose folders lie in a folder such as ``results``; return its path.

    None, and nothing is written, where the folder holds no run, cannot be written to, or has an
    ``index.html`` that is not an index of ours.
    """
    folder = folder.resolve()
    index, runs = folder / INDEX_NAME, find_runs(folder)
    if not runs or not os.access(folder, os.W_OK | os.X_OK):
        return None
    if index.exists() and not (index.is_file() and _OURS.encode() in index.read_bytes()):
        return None
    return write_atomically(index, index_page(folder.name, runs))


def find_runs(folder: Path) -> list[RunEntry]:
    """Find the runs whose folders lie in a folder: the last finished first.

    Hidden folders and symbolic links are passed over, and folders below are not searched.
    """
    found = [_entry(place) for place in folder.iterdir() if _is_run(place)]
    return sorted(sorted(found, key=lambda run: run.name), key=lambda run: run.finished, reverse=True)


def _is_run(place: Path) -> bool:
    if place.name.startswith(".") or place.is_symlink() or not (place / MANIFEST_NAME).is_file():
        return False
    # A name that is not text cannot be part of an address.
    return not any("\ud800" <= character <= "\udfff" for character in place.name)


def _entry(place: Path) -> RunEntry:
    own = place.glob("*.md")
    documents = [path.name for path in own if not (path.name.startswith(".") or path.is_symlink())]
    documents += ["statistics/README.md"] if (place / "statistics" / "README.md").is_file() else []
    try:
        manifest = json.loads((place / MANIFEST_NAME).read_text(encoding="utf-8"))
        title, finished = str(manifest["experiment"]["title"]), str(manifest.get("finished", ""))
        facts = tuple(_facts(manifest, finished))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        title, finished, facts = place.name, "", ("its manifest cannot be read",)
    return RunEntry(
        name=place.name,
        title=title,
        facts=facts,
        has_report=(place / PAGE_NAME).is_file(),
        missing=tuple(name for name in _REPORTED if not plain_or_packed(place / name).is_file()),
        documents=tuple(sorted(documents)),
        finished=finished,
    )


def _facts(manifest: Mapping[str, Any], finished: str) -> Iterator[str]:
    """Yield what a manifest says; an audit has neither cells nor techniques."""
    if finished:
        yield f"finished {finished[:16].replace('T', ' ')}"
    if datasets := list(manifest.get("datasets", ())):
        yield f"{_counted(len(datasets), 'dataset')}: {', '.join(datasets)}"
    if techniques := manifest["experiment"].get("techniques"):
        yield _counted(len(techniques), "technique")
    if cells := manifest.get("cells"):
        yield _counted(cells["planned"], "cell")
        lost = {status: n for status, n in cells.items() if status not in _COUNTED_ELSEWHERE}
        counts = ", ".join(f"{n:,} {status.replace('_', ' ')}" for status, n in lost.items())
        yield f"without a result: {counts}" if counts else "all with a result"


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def index_page(folder: str, runs: Sequence[RunEntry]) -> str:
    """Return a page that lists runs with links to their reports, as HTML without scripts.

    Its links are relative: the page lies beside the runs' folders, and works from a disk. ``folder`` is the
    name of the one that was searched.
    """
    return render(
        "index.html",
        folder=folder,
        runs=runs,
        ours=Markup(_OURS),
        report=PAGE_NAME,
        command=lambda run: shlex.join(["betabench", "report", f"{folder}/{run.name}"]),
        counted=_counted,
    )
