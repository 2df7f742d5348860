"""The store: one SQLite file that holds every finished cell.

It is written in one transaction per block, so that a kill at any moment leaves a valid file without half a
block in it. Each cell has a checksum: what a failing disk has changed is never taken for a result. What a
cell's key covers is decided in :mod:`benchmark.experiment.world`.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import filelock

from benchmark.errors import StoreError
from benchmark.experiment.store_check import checksum, checksums, is_damage
from benchmark.experiment.store_rescue import is_store, read_damaged
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
_CHECKS = """
CREATE TABLE checks (
    key TEXT PRIMARY KEY REFERENCES cells (key),
    content INTEGER NOT NULL,  -- CRC-32 of what the tables above say of the cell, predictions apart
    rows INTEGER               -- CRC-32 of its predictions, NULL where none are kept
) WITHOUT ROWID;
"""
_OF_A_CELL = ("results", "convergence", "scored", "predictions", "checks")
_BATCH = 1000  # cells that are copied or deleted together
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
        New name of the store that was there before, if a fresh one was asked for or it was damaged.
    news : str
        What was found damaged when it was opened, and what became of it; empty if nothing was.

    Raises
    ------
    StoreError
        If another run holds the store, the file is no store, or another format wrote it.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path = path
        self.aside: Path | None = None
        self.news = ""
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
            try:
                self._connection = self._open(path)
                self._check()
            except _DamagedError as damage:
                self._rescue(str(damage))
        except BaseException:
            self._lock.release()
            raise

    def _check(self) -> None:
        """Complete the tables, and raise an error if the file or a cell in it is damaged."""
        with self._damage_noticed():
            self._connection.executescript(_LATER_TABLES)
            if not self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'checks'").fetchone():
                _add_checks(self._connection)
            (state,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
            if state != "ok":
                raise _DamagedError(state.rpartition("\n")[2])
            if n := sum(found != written for _, found, written in checksums(self._connection)):
                # One damaged key is enough to have cells written in vain, so none is mended in place.
                raise _DamagedError(f"{n:,} cell(s) do not match their checksums")

    def _rescue(self, damage: str) -> None:
        """Set a damaged store aside, in favour of a new one with what can still be read of it."""
        part = self.path.with_name(self.path.name + ".rescue")
        part.unlink(missing_ok=True)  # of a rescue that was interrupted
        self._connection = self._open(part)
        self._check()
        n_rescued = 0
        cells = read_damaged(self.path, part)
        while batch := list(itertools.islice(cells, _BATCH)):
            self.write(map(_rescued, batch))
            n_rescued += len(batch)
        self._connection.close()
        self.aside = _set_aside(self.path)
        self._connection = self._open(part.rename(self.path))
        self.news = (
            f"The store was damaged ({damage}): {n_rescued:,} cell(s) were rescued, others are computed again"
        )

    @contextlib.contextmanager
    def _damage_noticed(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, _DamagedError) as error:
            self._connection.close()
            if isinstance(error, sqlite3.Error) and not is_damage(error):
                raise
            raise _DamagedError(str(error)) from error

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """Let all that is written inside be there, or nothing of it."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")
        except BaseException as error:
            if self._connection.in_transaction:  # a full disk can have ended it
                self._connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.OperationalError) and not is_damage(error):
                raise StoreError(
                    f"The store {self.path} cannot be written to",
                    got=str(error),
                    remedy="make room on the disk or correct its permissions; what was finished before is "
                    "stored, and the same command goes on",
                ) from error
            raise

    def _open(self, path: Path) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(path, isolation_level=None)
        except sqlite3.Error as error:
            raise StoreError(
                f"The store {path} cannot be opened",
                expected="a file in a folder that can be written to",
                got=str(error),
                remedy="choose another folder with --output",
            ) from error
        try:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            if not tables:
                if 0 < path.stat().st_size < 512:  # SQLite takes it for a new one
                    raise sqlite3.DatabaseError("file is not a database")
                connection.executescript(
                    f"BEGIN; {_TABLES} INSERT INTO meta VALUES ('format', '{FORMAT}'); COMMIT;"
                )
            found = connection.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()
            if found is None and "cells" in tables:
                raise sqlite3.DatabaseError("its format is not there")
        except sqlite3.DatabaseError as error:
            connection.close()
            if not is_damage(error):
                raise
            if is_store(path):
                raise _DamagedError(str(error)) from error
            raise StoreError(
                f"{path} is not a result store",
                got=str(error),
                remedy="move the file away, or choose another folder with --output",
            ) from error
        if found is None or found[0] != str(FORMAT):
            connection.close()
            raise StoreError(
                f"{path} was written by another version of betabench",
                expected=f"store format {FORMAT}",
                got=f"format {found[0] if found else 'unknown'}",
                remedy="use that version to read it, or start a new store with --fresh (the old one is kept)",
            )
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
        heads = [
            (
                *(c.key, c.dataset, c.bias, c.beta, c.repetition, c.technique, c.classifier),
                *(c.status, c.reason, json.dumps(c.counts, separators=(",", ":")), c.seconds),
            )
            for c in cells
        ]
        with self._transaction():
            for table in _OF_A_CELL:
                self._connection.executemany(f"DELETE FROM {table} WHERE key = ?", [(c.key,) for c in cells])
            self._connection.executemany(
                "INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                heads,
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
            self._connection.executemany(
                "INSERT INTO checks VALUES (?, ?, ?)",
                [
                    (c.key, _checksum(head, c), None if c.rows is None else zlib.crc32(c.rows))
                    for head, c in zip(heads, cells, strict=True)
                ],
            )

    def read(self, keys: Sequence[str]) -> list[CellResult]:
        """Return the stored cells among ``keys``, in that order, without the predictions of their rows.

        Metrics come sorted by name. Cells that do not match their checksums are left out.
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
        written = dict(self._connection.execute("SELECT key, content FROM checks").fetchall())
        cells: dict[str, CellResult] = {}
        for *head, counts, seconds in self._connection.execute("SELECT * FROM cells"):
            key = head[0]
            if key in wanted:
                cell = CellResult(
                    **dict(zip(_HEAD, head, strict=True)),
                    metrics=tuple(metrics.get(key, ())),
                    counts=json.loads(counts),
                    seconds=seconds,
                    convergence=convergence.get(key),
                    scoring=scorings.get(key, ""),
                )
                if _checksum((*head, counts, seconds), cell) == written.get(key):
                    cells[key] = cell
        return [cells[key] for key in keys if key in cells]

    def rows(self, key: str) -> bytes | None:
        """Return the packed predictions of a cell's test rows, or None if they are damaged or not there."""
        found = self._connection.execute(
            "SELECT predictions.rows, checks.rows FROM predictions JOIN checks USING (key) WHERE key = ?",
            (key,),
        ).fetchone()
        return found[0] if found is not None and zlib.crc32(found[0]) == found[1] else None


class _DamagedError(Exception):
    """A file that is a store, but not all of it can be read."""


def _checksum(head: Sequence[Any], cell: CellResult) -> int:
    told = cell.convergence
    return checksum(
        head,
        [(m.metric, m.value, m.reason) for m in cell.metrics],
        None if told is None else (told.steps, told.residual, told.tolerance),
        cell.scoring,
    )


def _add_checks(connection: sqlite3.Connection) -> None:
    """Give the cells of a store that had no checksums yet those of what it says now."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(_CHECKS)
    rows = {key: zlib.crc32(rows) for key, rows in connection.execute("SELECT key, rows FROM predictions")}
    found = [(key, content, rows.get(key)) for key, content, _ in checksums(connection)]
    connection.executemany("INSERT INTO checks VALUES (?, ?, ?)", found)
    connection.execute("COMMIT")


def _rescued(found: Mapping[str, Any]) -> CellResult:
    *head, counts, seconds = found["cell"]
    return CellResult(
        **dict(zip(_HEAD, head, strict=True)),
        metrics=tuple(MetricValue(*metric) for metric in found["metrics"]),
        counts=json.loads(counts),
        seconds=seconds,
        convergence=None if found["convergence"] is None else Convergence(*found["convergence"]),
        rows=found["rows"],
        scoring=found["scoring"],
    )


def _set_aside(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.stem}.{number}{path.suffix}")).exists():
        number += 1
    # A journal belongs to its database: without it, what a killed run left half-written could not be undone.
    journal = path.with_name(path.name + "-journal")
    if journal.exists():
        journal.rename(aside.with_name(aside.name + "-journal"))
    return path.rename(aside)
