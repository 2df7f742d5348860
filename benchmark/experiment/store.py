"""The store: one SQLite file that holds every finished cell.

It is written in one transaction per block, so that a kill at any moment leaves a valid file without half a
block in it. What a cell's key covers is decided in :mod:`benchmark.experiment.world`.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
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
_ASKED_AT_ONCE = 500  # SQLite takes as many parameters anywhere

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
_CONTENT = ("cells", "results", "convergence", "scorings", "scored", "predictions")
# The first cell of which a staged store ("their" tables) says something else, and what. Values are compared
# where the same code computed them: another one may well find others.
_CONTRADICTION = """
SELECT key, 'status', ours.status, theirs.status
    FROM their_cells AS theirs JOIN main.cells AS ours USING (key) WHERE ours.status <> theirs.status
UNION ALL
SELECT key, 'counts', ours.counts, theirs.counts
    FROM their_cells AS theirs JOIN main.cells AS ours USING (key) WHERE ours.counts <> theirs.counts
UNION ALL
SELECT key, metric, ifnull(ours.value, ours.reason), ifnull(theirs.value, theirs.reason)
    FROM their_results AS theirs JOIN main.results AS ours USING (key, metric)
    WHERE (ours.value IS NOT theirs.value OR ours.reason <> theirs.reason)
    AND (SELECT digest FROM main.scored JOIN main.scorings ON scoring = id WHERE scored.key = ours.key)
        IS (SELECT digest FROM their_scored JOIN their_scorings ON scoring = id
            WHERE their_scored.key = theirs.key)
LIMIT 1
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
        self._lock = filelock.FileLock(_lock_path(path))
        try:
            self._lock.acquire(timeout=0)
        except filelock.Timeout:
            raise _held(path) from None
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
            with _as_store(self.path):
                if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                    connection.executescript(
                        f"BEGIN; {_TABLES} INSERT INTO meta VALUES ('format', '{FORMAT}'); COMMIT;"
                    )
                _check_format(connection, self.path)
        except BaseException:
            connection.close()
            raise
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

    def __len__(self) -> int:
        count: int = self._connection.execute("SELECT count(*) FROM cells").fetchone()[0]
        return count

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

    def merge(self, others: Sequence[Path]) -> int:
        """Take over what other stores have and this one has not: all of it, or nothing.

        The others are only read, and never held in memory. What is stored already is kept, and so of a cell
        that several stores have, the first.

        Parameters
        ----------
        others : sequence of Path
            Their files.

        Returns
        -------
        int
            Number of cells that are new here.

        Raises
        ------
        StoreError
            If a file is no store or of another format, or another run holds it; or if two stores contradict
            each other: the same cell with another status, other counts, or another value that the same code
            computed. How long a cell took, and what it said when it failed, may differ.
        """
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            new = 0
            for number, path in enumerate(others):
                if path.resolve() == self.path.resolve():
                    raise StoreError(
                        f"{path} cannot be merged into itself", remedy="name another folder with --output"
                    )
                with _reading(path) as other:
                    self._stage(other, path)
                self._refuse_contradiction(path, others[:number])
                new += self._take_staged()
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")
        return new

    def read(self, keys: Sequence[str]) -> list[CellResult]:
        """Return the stored cells among ``keys``, in that order, without the predictions of their rows.

        Metrics come sorted by name.
        """
        cells: dict[str, CellResult] = {}
        for start in range(0, len(keys), _ASKED_AT_ONCE):
            cells |= self._read(keys[start : start + _ASKED_AT_ONCE])
        return [cells[key] for key in keys if key in cells]

    def _read(self, keys: Sequence[str]) -> dict[str, CellResult]:
        def rows(query: str) -> sqlite3.Cursor:
            return self._connection.execute(f"{query} WHERE key IN ({', '.join('?' * len(keys))})", keys)

        metrics: dict[str, list[MetricValue]] = {}
        for key, *row in rows("SELECT key, metric, value, reason FROM results"):
            metrics.setdefault(key, []).append(MetricValue(*row))
        steps = rows("SELECT key, steps, residual, tolerance FROM convergence")
        convergence = {key: Convergence(*figures) for key, *figures in steps}
        scorings = dict(
            rows("SELECT key, digest FROM scored JOIN scorings ON scoring = scorings.id").fetchall()
        )
        return {
            head[0]: CellResult(
                **dict(zip(_HEAD, head, strict=True)),
                metrics=tuple(metrics.get(head[0], ())),
                counts=json.loads(counts),
                seconds=seconds,
                convergence=convergence.get(head[0]),
                scoring=scorings.get(head[0], ""),
            )
            for *head, counts, seconds in rows("SELECT * FROM cells")
        }

    def _stage(self, other: sqlite3.Connection, path: Path) -> None:
        """Copy the tables of another store into temporary ones, which SQLite keeps on disk."""
        theirs = {name for (name,) in other.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for table in _CONTENT:
            self._connection.execute(f"DROP TABLE IF EXISTS temp.their_{table}")
            self._connection.execute(f"CREATE TEMP TABLE their_{table} AS SELECT * FROM {table} LIMIT 0")
            if table in theirs:
                rows = other.execute(f"SELECT * FROM {table}")
                places = ", ".join("?" for _ in rows.description)
                try:
                    self._connection.executemany(f"INSERT INTO their_{table} VALUES ({places})", rows)
                except sqlite3.OperationalError:  # no room on disk, which is not the file's fault
                    raise
                except sqlite3.DatabaseError as error:
                    raise StoreError(
                        f"{path} is damaged",
                        got=str(error),
                        remedy="compute it again, or merge without it; nothing was merged",
                    ) from error
        self._connection.execute("CREATE INDEX temp.their_scored_key ON their_scored (key)")

    def _refuse_contradiction(self, path: Path, merged: Sequence[Path]) -> None:
        found = self._connection.execute(_CONTRADICTION).fetchone()
        if found is None:
            return
        key, what, ours, theirs = found
        where = self._connection.execute(
            "SELECT dataset, bias, beta, repetition, technique, classifier FROM cells WHERE key = ?", (key,)
        ).fetchone()
        names = ("dataset", "bias", "beta", "repetition", "technique", "classifier")
        first = next((earlier for earlier in merged if _has_cell(earlier, key)), self.path)
        raise StoreError(
            f"{first} and {path} contradict each other in the cell "
            + ", ".join(f"{name} {value}" for name, value in zip(names, where, strict=True)),
            expected=f"the same {what} in both",
            got=f"{ours} and {theirs}",
            remedy="find out which of them is right, and merge without the other; nothing was merged",
        )

    def _take_staged(self) -> int:
        """Add those of the staged cells that are not there; return their number."""
        execute = self._connection.execute
        execute("DROP TABLE IF EXISTS temp.fresh")
        execute("CREATE TEMP TABLE fresh (key TEXT PRIMARY KEY) WITHOUT ROWID")
        execute("INSERT INTO fresh SELECT key FROM their_cells EXCEPT SELECT key FROM main.cells")
        for table in ("cells", "results", "convergence", "predictions"):
            execute(f"INSERT INTO {table} SELECT * FROM their_{table} WHERE key IN (SELECT key FROM fresh)")
        execute("INSERT OR IGNORE INTO scorings (digest, metrics) SELECT digest, metrics FROM their_scorings")
        # Numbers of scorings are each store's own.
        execute(
            "INSERT INTO scored SELECT key, scorings.id FROM their_scored "
            "JOIN their_scorings ON their_scored.scoring = their_scorings.id "
            "JOIN scorings USING (digest, metrics) WHERE key IN (SELECT key FROM fresh)"
        )
        count: int = execute("SELECT count(*) FROM fresh").fetchone()[0]
        return count

    def rows(self, key: str) -> bytes | None:
        """Return the packed predictions of a cell's test rows, or None if they were not kept."""
        found = self._connection.execute("SELECT rows FROM predictions WHERE key = ?", (key,)).fetchone()
        return None if found is None else found[0]


@contextlib.contextmanager
def _as_store(path: Path) -> Iterator[None]:
    """Say of a file that it is none of ours, in place of what SQLite says."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"{path} is not a result store",
            got=str(error),
            remedy="move the file away, or choose another folder with --output",
        ) from error


def _check_format(connection: sqlite3.Connection, path: Path) -> None:
    found = connection.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()
    if found is None or found[0] != str(FORMAT):
        raise StoreError(
            f"{path} was written by another version of betabench",
            expected=f"store format {FORMAT}",
            got=f"format {found[0] if found else 'unknown'}",
            remedy="use that version to read it, or start a new store with --fresh (the old one is kept)",
        )


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open another store's file, of which nothing is changed, while nobody writes to it."""
    if not path.is_file():
        raise StoreError(
            f"There is no result store {path}",
            expected="the folder of a run, or its results.sqlite",
            remedy="correct the path",
        )
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(filelock.FileLock(_lock_path(path), timeout=0))
        except filelock.Timeout:
            raise _held(path) from None
        except OSError:
            pass  # a folder that cannot be written to has no writer either
        journal = path.with_name(path.name + "-journal")
        if journal.exists() and journal.stat().st_size:  # reading it would finish it, which is a change
            raise StoreError(
                f"{path} was left by a run that was killed while it wrote",
                remedy="start that run again, which puts its store in order",
            )
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        stack.callback(connection.close)
        with _as_store(path):
            _check_format(connection, path)
        yield connection


def _lock_path(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def _held(path: Path) -> StoreError:
    return StoreError(
        f"Another run is writing to {path}",
        expected="one run per store",
        remedy="wait for it to end, stop it, or choose another folder with --output",
    )


def _has_cell(path: Path, key: str) -> bool:
    with _reading(path) as other:
        return other.execute("SELECT 1 FROM cells WHERE key = ?", (key,)).fetchone() is not None


def _set_aside(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.stem}.{number}{path.suffix}")).exists():
        number += 1
    # A journal belongs to its database: without it, what a killed run left half-written could not be undone.
    journal = path.with_name(path.name + "-journal")
    if journal.exists():
        journal.rename(aside.with_name(aside.name + "-journal"))
    return path.rename(aside)
