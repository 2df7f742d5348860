"""What a store says of the last run that wrote to it, so that one that was cut off is known for it."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class LastRun:
    """How far a run came: how many of the cells that it planned are finished."""

    experiment: str
    plan: str  # digest of the keys of these cells
    finished: int
    planned: int

    def text(self) -> str:
        """Return what a store keeps of it."""
        return json.dumps(asdict(self))


def read_last_run(path: Path) -> LastRun | None:
    """Return what a store's file says of its last run; None if that is nothing, or illegible."""
    if not path.is_file():
        return None
    with contextlib.suppress(sqlite3.Error, ValueError, TypeError):
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        with contextlib.closing(connection):
            found = connection.execute("SELECT value FROM meta WHERE name = 'last_run'").fetchone()
        return None if found is None else LastRun(**json.loads(found[0]))
    return None
