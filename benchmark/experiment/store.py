"""The store: one SQLite file that holds every finished cell.

It is written in one transaction per block, so that a kill at any moment leaves a valid file without half a
block in it. What a cell's key covers is decided in :mod:`benchmark.experiment.world`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Literal

import filelock

from benchmark.errors import StoreError
from benchmark.techniques.base import Convergence

__all__ = ["CellResult", "MetricValue", "Status", "Store", "Stored"]

Status = Literal["ok", "skipped", "not_converged", "failed", "timeout", "crashed"]

FORMAT = 1

_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE cells (
    key TEXT PRIMARY KEY,      -- SHA-256 of everything that can change the cell's numbers
    dataset TEXT NOT NULL, bias TEXT NOT NULL, beta REAL NOT NULL, repetition INTEGER NOT NULL,
    technique TEXT NOT NULL, classifier TEXT NOT NULL,
    status TEXT NOT NULL
        CHECK (status IN ('ok', 'skipped', 'not_converged', 'failed', 'timeout', 'crashed')),
    reason TEXT NOT NULL,      -- why it is not ok, else empty
    counts TEXT NOT NULL,      -- JSON: test rows by [group][favorable label][favorable prediction]
    seconds REAL NOT NULL      -- wall time of the cell
) WITHOUT ROWID;
CREATE TABLE results (
    key TEXT NOT NULL REFERENCES cells (key), metric TEXT NOT NULL,
    value REAL,                -- NULL where the metric is undefined
    reason TEXT NOT NULL,      -- why it is undefined, else empty
    PRIMARY KEY (key, metric)
) WITHOUT ROWID;
"""
# Not among the tables above, which every store has: stores are also read that were written without it.
_LATER_TABLES = """
CREATE TABLE IF NOT EXISTS convergence (
    key TEXT PRIMARY KEY REFERENCES cells (key),
    steps INTEGER NOT NULL, residual REAL NOT NULL, tolerance REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS scorings (
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL,      -- SHA-256 of the code that computed metrics
    metrics TEXT NOT NULL,     -- their names, separated by blanks
    UNIQUE (digest, metrics)
);
CREATE TABLE IF NOT EXISTS scored (
    key TEXT PRIMARY KEY REFERENCES cells (key),
    scoring INTEGER NOT NULL REFERENCES scorings (id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS predictions (
    key TEXT PRIMARY KEY REFERENCES cells (key),
    rows BLOB NOT NULL         -- predictions and scores of all test rows, where a metric needs them
);
"""
_HEAD = ("key", "dataset", "bias", "beta", "repetition", "technique", "classifier", "status", "reason")


@dataclass(frozen=True)
class MetricValue:
    """A metric's value; ``value`` is None where it is undefined, and ``reason`` says why."""

    metric: str
    value: float | None
    reason: str = ""


@dataclass(frozen=True)
class CellResult:
    """What one cell gave.

    Attributes
    ----------
    key : str
        Identity of the cell; see :func:`benchmark.experiment.world.cell_key`.
    dataset, bias, beta, repetition, technique, classifier
        Where it stands in the result table.
    status : {"ok", "skipped", "not_converged", "failed", "timeout", "crashed"}
        How it ended.
    reason : str
        Why it did not end well; empty if it did.
    metrics : tuple of MetricValue
        Empty unless the status is ok.
    counts : tuple
        Test rows by [group][favorable label][favorable prediction], the groups being the states of the
        sensitive feature; empty unless the status is ok.
    seconds : float
        Wall time of preparation, training and prediction.
    convergence : Convergence or None
        How the fit converged, if the technique optimises something and says so.
    rows : bytes or None
        Predictions and scores of all test rows (:func:`benchmark.experiment.score.pack`), if a metric needs
        them.
    scoring : str
        Digest of the code that computed the metrics; empty if none did.
    """

    key: str
    dataset: str
    bias: str
    beta: float
    repetition: int
    technique: str
    classifier: str
    status: Status
    reason: str = ""
    metrics: tuple[MetricValue, ...] = ()
    counts: Sequence[object] = field(default=(), repr=False)
    seconds: float = 0.0
    convergence: Convergence | None = None
    rows: bytes | None = field(default=None, repr=False)
    scoring: str = ""

    @property
    def metric_names(self) -> str:
        """Names of its metrics, sorted, separated by blanks; "precision[Female]" is a value of precision."""
        return " ".join(sorted({m.metric.partition("[")[0] for m in self.metrics}))


@dataclass(frozen=True)
class Stored:
    """What the store knows of a cell, its numbers apart.

    Attributes
    ----------
    status : str
        As in :class:`CellResult`.
    seconds : float
        That it took.
    scoring : str
        Digest of the code that computed its metrics.
    metrics : frozenset of str
        Names of the metrics that it has a value or a reason for.
    """

    status: Status
    seconds: float
    scoring: str
    metrics: frozenset[str]


class Store:
    """Finished cells of one experiment folder, held by one process at a time.

    Parameters
    ----------
    path : Path
        The SQLite file; it is made if it does not exist.
    fresh : bool, default False
        Begin with an empty store. One that is there is renamed, never deleted.

    Attributes
    ----------
    aside : Path or None
        New name of the store that was there before, if a fresh one was asked for.

    Raises
    ------
    StoreError
        If another run holds the store, the file is no store, or another format wrote it.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path = path
        self.aside: Path | None = None
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = filelock.FileLock(path.with_name(path.name + ".lock"))
        try:
            self._lock.acquire(timeout=0)
        except filelock.Timeout:
            raise StoreError(
                f"Another run is writing to {path}",
                expected="one run per store",
                remedy="wait for it to end, stop it, or choose another folder with --output",
            ) from None
        try:
            if fresh and path.exists():
                self.aside = _set_aside(path)
            self._connection = self._open()
        except BaseException:
            self._lock.release()
            raise

    def _open(self) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(self.path, isolation_level=None)
        except sqlite3.Error as error:
            raise StoreError(
                f"The store {self.path} cannot be opened",
                expected="a file in a folder that can be written to",
                got=str(error),
                remedy="choose another folder with --output",
            ) from error
        try:
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if tables == 0:
                connection.executescript(
                    f"BEGIN; {_TABLES} INSERT INTO meta VALUES ('format', '{FORMAT}'); COMMIT;"
                )
            found = connection.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()
        except sqlite3.DatabaseError as error:
            connection.close()
            raise StoreError(
                f"{self.path} is not a result store",
                got=str(error),
                remedy="move the file away, or choose another folder with --output",
            ) from error
        if found is None or found[0] != str(FORMAT):
            connection.close()
            raise StoreError(
                f"{self.path} was written by another version of betabench",
                expected=f"store format {FORMAT}",
                got=f"format {found[0] if found else 'unknown'}",
                remedy="use that version to read it, or start a new store with --fresh (the old one is kept)",
            )
        connection.executescript(_LATER_TABLES)
        return connection

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and let others have it."""
        self._connection.close()
        self._lock.release()

    def statuses(self) -> dict[str, Stored]:
        """Return what is known of every stored cell by key."""
        scorings = {
            number: (digest, frozenset(metrics.split()))
            for number, digest, metrics in self._connection.execute(
                "SELECT id, digest, metrics FROM scorings"
            )
        }
        rows = self._connection.execute(
            "SELECT key, status, seconds, scoring FROM cells LEFT JOIN scored USING (key)"
        )
        return {
            key: Stored(status, seconds, *scorings.get(scoring, ("", frozenset())))
            for key, status, seconds, scoring in rows
        }

    def write(self, cells: Iterable[CellResult]) -> None:
        """Store cells in one transaction; a cell that is there already is replaced."""
        cells = list(cells)
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            for table in ("results", "convergence", "scored", "predictions"):
                self._connection.executemany(f"DELETE FROM {table} WHERE key = ?", [(c.key,) for c in cells])
            self._connection.executemany(
                "INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        *(c.key, c.dataset, c.bias, c.beta, c.repetition, c.technique, c.classifier),
                        *(c.status, c.reason, json.dumps(c.counts, separators=(",", ":")), c.seconds),
                    )
                    for c in cells
                ],
            )
            self._connection.executemany(
                "INSERT INTO results VALUES (?, ?, ?, ?)",
                [(c.key, m.metric, m.value, m.reason) for c in cells for m in c.metrics],
            )
            self._connection.executemany(
                "INSERT INTO convergence VALUES (?, ?, ?, ?)",
                [
                    (c.key, c.convergence.steps, c.convergence.residual, c.convergence.tolerance)
                    for c in cells
                    if c.convergence is not None
                ],
            )
            scorings = [(c.scoring, c.metric_names) for c in cells]
            self._connection.executemany(
                "INSERT OR IGNORE INTO scorings (digest, metrics) VALUES (?, ?)", sorted(set(scorings))
            )
            self._connection.executemany(
                "INSERT INTO scored SELECT ?, id FROM scorings WHERE digest = ? AND metrics = ?",
                [(cell.key, *scoring) for cell, scoring in zip(cells, scorings, strict=True)],
            )
            self._connection.executemany(
                "INSERT INTO predictions VALUES (?, ?)",
                [(c.key, c.rows) for c in cells if c.rows is not None],
            )
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def read(self, keys: Sequence[str]) -> list[CellResult]:
        """Return the stored cells among ``keys``, in that order, without the predictions of their rows.

        Metrics come sorted by name.
        """
        wanted = set(keys)
        metrics: dict[str, list[MetricValue]] = {}
        for key, *row in self._connection.execute("SELECT key, metric, value, reason FROM results"):
            if key in wanted:
                metrics.setdefault(key, []).append(MetricValue(*row))
        convergence = {
            key: Convergence(*figures)
            for key, *figures in self._connection.execute(
                "SELECT key, steps, residual, tolerance FROM convergence"
            )
        }
        scorings = dict(
            self._connection.execute(
                "SELECT key, digest FROM scored JOIN scorings ON scoring = scorings.id"
            ).fetchall()
        )
        cells: dict[str, CellResult] = {}
        for *head, counts, seconds in self._connection.execute("SELECT * FROM cells"):
            key = head[0]
            if key in wanted:
                cells[key] = CellResult(
                    **dict(zip(_HEAD, head, strict=True)),
                    metrics=tuple(metrics.get(key, ())),
                    counts=json.loads(counts),
                    seconds=seconds,
                    convergence=convergence.get(key),
                    scoring=scorings.get(key, ""),
                )
        return [cells[key] for key in keys if key in cells]

    def rows(self, key: str) -> bytes | None:
        """Return the packed predictions of a cell's test rows, or None if they were not kept."""
        found = self._connection.execute("SELECT rows FROM predictions WHERE key = ?", (key,)).fetchone()
        return None if found is None else found[0]


def _set_aside(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.stem}.{number}{path.suffix}")).exists():
        number += 1
    # A journal belongs to its database: without it, what a killed run left half-written could not be undone.
    journal = path.with_name(path.name + "-journal")
    if journal.exists():
        journal.rename(aside.with_name(aside.name + "-journal"))
    return path.rename(aside)
