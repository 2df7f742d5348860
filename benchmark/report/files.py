"""Writing files so that a reader sees the old one or the new one, never half of one."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["write_atomically"]


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
