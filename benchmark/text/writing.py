"""Writing files atomically, so that a reader sees the old file or the new one; choices of figures."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmark.errors import ReportError, UnknownNameError

FORMATS = ("png", "pdf", "svg")
"""Every format in which a figure can be written."""

FORMATS_WRITTEN = FORMATS[:1]
"""Formats of figures by default."""

FIGURES = ("none", "paper", "all")
"""Choices of the figures to draw."""

PACKED = ".xz"
"""Ending of a compressed file: ``results.csv.xz`` stands for ``results.csv``."""


def plain_or_packed(path: Path) -> Path:
    """Return the path of a file, or of its compressed form if only this exists."""
    packed = path.with_name(path.name + PACKED)
    return packed if packed.is_file() and not path.exists() else path


def figure_choice(figures: bool | str) -> str:
    """Return one of :data:`FIGURES`; True stands for all, False for none, and others are a ReportError."""
    if isinstance(figures, bool):
        return "all" if figures else "none"
    if figures not in FIGURES:
        raise UnknownNameError("choice of figures", figures, FIGURES)
    return figures


def figure_formats(text: str) -> tuple[str, ...]:
    """Return the formats that a text names, such as ``"png,svg"``; others are a ReportError."""
    named = tuple(dict.fromkeys(part.strip().lower() for part in text.split(",")))
    if not set(named) <= set(FORMATS):
        raise ReportError(
            "Figures cannot be written in this format",
            expected="one or more of " + ", ".join(FORMATS) + ", with commas between them",
            got=repr(text),
            remedy="correct --formats, or leave figures out with --figures none",
        )
    return named


def require_writable(folder: Path) -> None:
    """Raise a ReportError unless a folder can be written to, or created."""
    nearest = folder.absolute()
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
        return
    raise ReportError(
        f"The folder {folder} cannot be written to",
        expected="a folder, or room for one, with permission to write",
        got=f"{nearest} is {'not writable' if nearest.is_dir() else 'a file'}",
        remedy="choose another folder with --output",
    )


def write_atomically(path: Path, content: bytes | str) -> Path:
    """Write a file under a temporary name in its folder, then rename it; return its path.

    Folders are created as needed. Text is written as UTF-8, line ends as they are.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def write_json(path: Path, facts: Mapping[str, Any]) -> Path:
    """Write facts as indented JSON in UTF-8, in their order, and return the path."""
    return write_atomically(path, json.dumps(facts, indent=2, ensure_ascii=False) + "\n")
