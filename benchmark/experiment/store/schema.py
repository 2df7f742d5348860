"""The tables of a store, its lock, and errors about other files."""

import sqlite3
from pathlib import Path

from benchmark.errors import StoreError

FORMAT = 1

TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE cells (
    key TEXT PRIMARY KEY,      -- SHA-256 of everything that can change the cell's numbers
    dataset TEXT NOT NULL, bias TEXT NOT NULL, beta REAL NOT NULL, repetition INTEGER NOT NULL,
    technique TEXT NOT NULL, classifier TEXT NOT NULL,
    status TEXT NOT NULL
        CHECK (status IN ('ok', 'skipped', 'not_converged', 'failed', 'timeout', 'crashed')),
    reason TEXT NOT NULL,      -- why it is not ok, else empty
    counts TEXT NOT NULL,      -- JSON: by test, of each fold, rows by [group][favorable label][prediction]
    seconds REAL NOT NULL      -- wall time of the cell
) WITHOUT ROWID;
CREATE TABLE results (
    key TEXT NOT NULL REFERENCES cells (key), metric TEXT NOT NULL,
    value REAL,                -- NULL where the metric is undefined
    reason TEXT NOT NULL,      -- why it is undefined, else empty
    PRIMARY KEY (key, metric)
) WITHOUT ROWID;
CREATE TABLE convergence (
    key TEXT PRIMARY KEY REFERENCES cells (key),
    steps INTEGER NOT NULL, residual REAL NOT NULL, tolerance REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE scorings (
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL,      -- SHA-256 of the code that computed metrics
    metrics TEXT NOT NULL,     -- their names, separated by blanks
    UNIQUE (digest, metrics)
);
CREATE TABLE scored (
    key TEXT PRIMARY KEY REFERENCES cells (key),
    scoring INTEGER NOT NULL REFERENCES scorings (id)
) WITHOUT ROWID;
CREATE TABLE predictions (
    key TEXT PRIMARY KEY REFERENCES cells (key),
    rows BLOB NOT NULL         -- predictions and scores of all test rows, where a metric needs them
);
CREATE TABLE checks (
    key TEXT PRIMARY KEY REFERENCES cells (key),
    content INTEGER NOT NULL,  -- CRC-32 of what the tables above say of the cell, predictions apart
    rows INTEGER               -- CRC-32 of its predictions, NULL where none are kept
) WITHOUT ROWID;
"""


def check_format(connection: sqlite3.Connection, path: Path) -> None:
    """Raise an error unless this version reads and writes the format of a store."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()
    if row is None or row[0] != str(FORMAT):
        raise StoreError(
            f"{path} was written by another version of betabench",
            expected=f"store format {FORMAT}",
            got=f"format {row[0] if row else 'unknown'}",
            remedy="use that version to read it, or start a new store with --fresh, which keeps this file",
        )


def lock_path(path: Path) -> Path:
    """Return the file whose lock protects a store."""
    return path.with_name(path.name + ".lock")


def held(path: Path) -> StoreError:
    """Return the error for a store that another process has locked."""
    return StoreError(
        f"Another run is writing to {path}",
        expected="one run per store",
        remedy="wait for it to end, stop it, or choose another folder with --output",
    )


def not_a_store(path: Path, error: Exception) -> StoreError:
    """Return the error for a file that SQLite cannot read."""
    return StoreError(
        f"{path} is not a result store",
        got=str(error),
        remedy="move the file away, or choose another folder with --output",
    )
