"""Writing files so that a reader sees the old one or the new one, never half of one."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmark.errors import ReportError

__all__ = ["require_writable", "write_atomically", "write_json"]


def require_writable(folder: Path) -> None:
    """Raise an error unless a folder can be written to, or can be made where it is not there yet.

    Raises
    ------
    ReportError
        If it cannot.
    """
    there = folder.absolute()
    while not there.exists() and there != there.parent:
        there = there.parent
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        return
    raise ReportError(
        f"The folder {folder} cannot be written to",
        expected="a folder, or room for one, with permission to write",
        got=f"{there} is {'not writable' if there.is_dir() else 'a file'}",
        remedy="choose another folder with --output",
    )


def write_atomically(path: Path, content: bytes | str) -> Path:
    """Write a file under a temporary name beside its own, then rename it.

    Parameters
    ----------
    path : Path
        Where to; folders are made as needed.
    content : bytes or str
        Text is written as UTF-8, line ends as they are.

    Returns
    -------
    Path
        ``path``.
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
