"""The class :class:`Store`, and its record of the last run, which shows whether that was cut off."""

from __future__ import annotations

import contextlib
import itertools
import json
import shutil
import sqlite3
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

import filelock

from benchmark.errors import GOES_ON, StoreError
from benchmark.experiment.store import schema
from benchmark.experiment.store.cell import CellResult, Stored
from benchmark.experiment.store.checksums import UNREADABLE, checksum, damage_of, is_damage
from benchmark.experiment.store.merge import take_over
from benchmark.experiment.store.rescue import is_store, read_damaged

_FORMAT_QUERY = "SELECT 1 FROM meta WHERE name = 'format'"
_TABLES_OF_CELLS = ("cells", "results", "convergence", "scored", "predictions", "checks")
_PARAMETERS = 500  # of a statement; SQLite takes as many in every build
_RESCUED_AT_ONCE = 1000


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


class Store:
    """Finished cells of one experiment folder, in an SQLite file that one process locks at a time.

    With ``fresh``, it begins empty. An earlier store is then renamed to ``backup_path``, as is a damaged one.
    ``recovery_message`` describes the damage and the rescue when it was opened; it is empty without damage.

    A StoreError says that another run has locked the store, that the file is no store, or that another
    format wrote it.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path = path
        self.backup_path: Path | None = None
        self.recovery_message = ""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = filelock.FileLock(schema.lock_path(path))
        try:
            self._lock.acquire(timeout=0)
        except filelock.Timeout:
            raise schema.held(path) from None
        try:
            if fresh and path.exists():
                self.backup_path = _set_aside(path)
            try:
                self._connection = self._open(path)
                self._check()
            except _DamagedError as damage:
                self._rescue(str(damage))
        except BaseException:
            if hasattr(self, "_connection"):
                self._connection.close()
            self._lock.release()
            raise

    def _check(self) -> None:
        """Raise an error if the file or a cell is damaged."""
        with self._damage_noticed():
            (state,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
            if state != "ok":
                raise _DamagedError(state.rpartition("\n")[2])
            if damage := damage_of(self._connection):
                # With one damaged key, cells could be written in vain, so nothing is mended in place.
                raise _DamagedError(damage)

    def _rescue(self, damage: str) -> None:
        """Replace a damaged store by a new one with its sound cells, and keep the old file."""
        part = self.path.with_name(self.path.name + ".rescue")
        part.unlink(missing_ok=True)  # an interrupted rescue may have left it
        self._connection = self._open(part)
        self._check()
        n_rescued = 0
        cells = read_damaged(self.path, part)
        while batch := list(itertools.islice(cells, _RESCUED_AT_ONCE)):
            self.write(batch)
            n_rescued += len(batch)
        self._connection.close()
        self.backup_path = _free_name(self.path)
        shutil.copy2(self.path, self.backup_path)  # a copy: a kill at any moment leaves a store
        journal = _journal(self.path)
        if journal.exists():  # SQLite would play it into the new store
            shutil.copy2(journal, _journal(self.backup_path))
            journal.unlink()
        part.replace(self.path)
        self._connection = self._open(self.path)
        damage = " ".join(damage.split())  # SQLite quotes whole declarations
        self.recovery_message = (
            f"The store was damaged ({damage}): {n_rescued:,} cell(s) were rescued, others are computed again"
        )

    @contextlib.contextmanager
    def _damage_noticed(self) -> Iterator[None]:
        try:
            yield
        except (*UNREADABLE, _DamagedError) as error:
            self._connection.close()
            if not is_damage(error):
                raise
            raise _DamagedError(str(error)) from error

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """Write all changes inside, or none of them."""
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
                    remedy=f"make room on the disk or correct its permissions; {GOES_ON}",
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
                if 0 < path.stat().st_size < 512:  # SQLite takes it for a new database
                    raise sqlite3.DatabaseError("file is not a database")
                connection.executescript(
                    f"BEGIN; {schema.TABLES} INSERT INTO meta VALUES ('format', '{schema.FORMAT}'); COMMIT;"
                )
            elif "cells" in tables and not connection.execute(_FORMAT_QUERY).fetchone():
                raise sqlite3.DatabaseError("its format is not there")
            schema.check_format(connection, path)
        except UNREADABLE as error:
            connection.close()
            if not is_damage(error):
                raise
            if is_store(path):
                raise _DamagedError(str(error)) from error
            raise schema.not_a_store(path, error) from error
        except BaseException:
            connection.close()
            raise
        return connection

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close and unlock the file."""
        self._connection.close()
        self._lock.release()

    @property
    def opening_messages(self) -> list[str]:
        """Messages about its opening: the damage, and the file of the old store."""
        backup = f"The old store is kept as {self.backup_path}" if self.backup_path else ""
        return [line for line in (self.recovery_message, backup) if line]

    def __len__(self) -> int:
        count: int = self._connection.execute("SELECT count(*) FROM cells").fetchone()[0]
        return count

    def statuses(self) -> dict[str, Stored]:
        """Return the facts about every stored cell by key."""
        rows = self._connection.execute("SELECT id, digest, metrics FROM scorings")
        scorings = {number: (digest, frozenset(metrics.split())) for number, digest, metrics in rows}
        query = "SELECT key, status, seconds, scoring FROM cells LEFT JOIN scored USING (key)"
        return {
            key: Stored(status, seconds, *scorings.get(scoring, ("", frozenset())))
            for key, status, seconds, scoring in self._connection.execute(query)
        }

    def write(self, cells: Iterable[CellResult], run: LastRun | None = None) -> None:
        """Store cells, and the progress of the run that computed them, in one transaction.

        They replace stored cells with the same keys.
        """
        cells = list(cells)
        scorings = [(c.scoring, c.metric_names) for c in cells]
        rows: dict[str, list[tuple[Any, ...]]] = {
            "cells": [],
            "results": [],
            "convergence": [(c.key, *astuple(c.convergence)) for c in cells if c.convergence is not None],
            "predictions": [(c.key, c.rows) for c in cells if c.rows is not None],
            "checks": [],
        }
        for c in cells:
            head = (
                *(c.key, c.dataset, c.bias, c.beta, c.repetition, c.technique, c.classifier),
                *(c.status, c.reason, json.dumps(c.counts, separators=(",", ":")), c.seconds),
            )
            rows["cells"].append(head)
            rows["results"] += ((c.key, *value) for value in c.rows_of_values)
            rows["checks"].append((c.key, _checksum(head, c), None if c.rows is None else zlib.crc32(c.rows)))
        with self._transaction():
            many = self._connection.executemany
            if run is not None:
                self._connection.execute("INSERT OR REPLACE INTO meta VALUES ('last_run', ?)", (run.text(),))
            for table in _TABLES_OF_CELLS:
                many(f"DELETE FROM {table} WHERE key = ?", [(c.key,) for c in cells])
            for table, table_rows in rows.items():
                self._insert(table, table_rows)
            many("INSERT OR IGNORE INTO scorings (digest, metrics) VALUES (?, ?)", sorted(set(scorings)))
            many(
                "INSERT INTO scored SELECT ?, id FROM scorings WHERE digest = ? AND metrics = ?",
                [(cell.key, *scoring) for cell, scoring in zip(cells, scorings, strict=True)],
            )

    def _insert(self, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        # One statement with many rows takes two thirds of the time of as many statements.
        at_once = _PARAMETERS // len(rows[0]) if rows else 1
        for batch in (rows[start : start + at_once] for start in range(0, len(rows), at_once)):
            parameters = ", ".join([f"({', '.join('?' * len(batch[0]))})"] * len(batch))
            values = list(itertools.chain.from_iterable(batch))
            self._connection.execute(f"INSERT INTO {table} VALUES {parameters}", values)

    def merge(self, others: Sequence[Path]) -> int:
        """Take over the cells that other stores have and this one lacks, all or none; return their number.

        The others are only read, and never held in memory. Stored cells stay. If several stores have a cell,
        the first one's is taken.

        A StoreError says that a file is no store, has another format, or is locked by another run. Or it says
        that stores contradict each other in a cell's status, its counts, or a value computed by the same
        code. Times and error messages of a cell may differ.
        """
        with self._transaction():
            return take_over(self._connection, self.path, others)

    def read(self, keys: Sequence[str]) -> list[CellResult]:
        """Return the stored cells among ``keys``, in that order, without the predictions of their rows.

        Metrics are sorted by name. Cells with wrong checksums are left out.
        """
        cells: dict[str, CellResult] = {}
        for start in range(0, len(keys), _PARAMETERS):
            cells |= self._read(keys[start : start + _PARAMETERS])
        return [cells[key] for key in keys if key in cells]

    def _read(self, keys: Sequence[str]) -> dict[str, CellResult]:
        def rows(query: str) -> sqlite3.Cursor:
            return self._connection.execute(f"{query} WHERE key IN ({', '.join('?' * len(keys))})", keys)

        metrics: dict[str, list[tuple[str, float | None, str]]] = {}
        for row in rows("SELECT key, metric, value, reason FROM results"):
            metrics.setdefault(row[0], []).append(row[1:])
        convergence = {
            key: row for key, *row in rows("SELECT key, steps, residual, tolerance FROM convergence")
        }
        scorings = {
            key: sys.intern(digest)
            for key, digest in rows("SELECT key, digest FROM scored JOIN scorings ON scoring = scorings.id")
        }
        written = dict(rows("SELECT key, content FROM checks").fetchall())
        cells = {}
        for row in rows("SELECT * FROM cells"):
            key = row[0]
            # Names are the same in many cells: held once, a million cells take two fifths less memory.
            shared = [sys.intern(value) if type(value) is str else value for value in row[:-2]]
            values, scoring = metrics.get(key, ()), scorings.get(key, "")
            cell = CellResult.stored((*shared, *row[-2:]), values, convergence.get(key), scoring=scoring)
            if _checksum(row, cell) == written.get(key):
                cells[key] = cell
        return cells

    def having(self, name: str, keys: Sequence[str]) -> set[str]:
        """Return the keys whose stored cells have a value of the given name, defined or not."""
        having: set[str] = set()
        for start in range(0, len(keys), _PARAMETERS):
            batch = keys[start : start + _PARAMETERS]
            query = f"SELECT key FROM results WHERE metric = ? AND key IN ({', '.join('?' * len(batch))})"
            having.update(key for (key,) in self._connection.execute(query, (name, *batch)))
        return having

    def rows(self, key: str) -> bytes | None:
        """Return the packed predictions of a cell's test rows, or None if they are damaged or missing."""
        query = "SELECT predictions.rows, checks.rows FROM predictions JOIN checks USING (key) WHERE key = ?"
        row = self._connection.execute(query, (key,)).fetchone()
        return row[0] if row is not None and zlib.crc32(row[0]) == row[1] else None


class _DamagedError(Exception):
    """A store that cannot be read completely."""


def _checksum(head: Sequence[Any], cell: CellResult) -> int:
    convergence = None if cell.convergence is None else astuple(cell.convergence)
    return checksum(head, cell.rows_of_values, convergence, cell.scoring)


def _free_name(path: Path) -> Path:
    number = 1
    while (free := path.with_name(f"{path.stem}.{number}{path.suffix}")).exists():
        number += 1
    return free


def _set_aside(path: Path) -> Path:
    aside = _free_name(path)
    # A journal belongs to its database, and without it the unfinished writes of a killed run would stay.
    if _journal(path).exists():
        _journal(path).rename(_journal(aside))
    return path.rename(aside)


def _journal(path: Path) -> Path:
    return path.with_name(path.name + "-journal")
