"""A store's record of the last run that wrote to it, which shows whether the run was cut off."""

import contextlib
import json
import sqlite3
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class LastRun:
    """The progress of a run: numbers of finished and of planned cells."""

    experiment: str
    plan: str  # digest of the planned cells' keys
    finished: int
    planned: int

    def text(self) -> str:
        """Return the record as a store has it."""
        return json.dumps(asdict(self))


def read_last_run(path: Path) -> LastRun | None:
    """Return the last run of a store's file; None if there is no record, or it cannot be read."""
    if not path.is_file():
        return None
    with contextlib.suppress(sqlite3.Error, ValueError, TypeError):
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        with contextlib.closing(connection):
            row = connection.execute("SELECT value FROM meta WHERE name = 'last_run'").fetchone()
        return None if row is None else LastRun(**json.loads(row[0]))
    return None
