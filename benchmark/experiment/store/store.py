"""The store itself."""

from __future__ import annotations

import contextlib
import itertools
import json
import shutil
import sqlite3
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

import filelock

from benchmark.errors import GOES_ON, StoreError
from benchmark.experiment.store import schema
from benchmark.experiment.store.cell import FRONTIER, CellResult, MetricValue, Stored
from benchmark.experiment.store.checksums import UNREADABLE, add_checks, checksum, damage_of, is_damage
from benchmark.experiment.store.last_run import LastRun
from benchmark.experiment.store.merge import take_over
from benchmark.experiment.store.rescue import is_store, read_damaged
from benchmark.techniques.base import Convergence

_FORMAT_ASKED = "SELECT 1 FROM meta WHERE name = 'format'"
_OF_A_CELL = ("cells", "results", "convergence", "scored", "predictions", "checks")
_ASKED_AT_ONCE = 500  # SQLite takes as many parameters anywhere
_RESCUED_AT_ONCE = 1000
_HEAD = ("key", "dataset", "bias", "beta", "repetition", "technique", "classifier", "status", "reason")


class Store:
    """Finished cells of one experiment folder, in an SQLite file that one process holds at a time.

    With ``fresh``, it begins empty, and one that is there is renamed, never deleted. ``backup_path`` is the
    new name of the store that was there before, if a fresh one was asked for or it was damaged.
    ``recovery_message`` says what was found damaged when it was opened, and what became of it; it is empty if
    nothing was.

    A StoreError says that another run holds the store, that the file is no store, or that another format
    wrote it.
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
            self._lock.release()
            raise

    def _check(self) -> None:
        """Complete the tables, and raise an error if the file or a cell in it is damaged."""
        with self._damage_noticed():
            (state,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
            if state != "ok":
                raise _DamagedError(state.rpartition("\n")[2])
            self._connection.executescript(schema.LATER_TABLES)
            if not self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'checks'").fetchone():
                with self._transaction():
                    self._connection.execute(schema.CHECKS)
                    add_checks(self._connection)
            if damage := damage_of(self._connection):
                # One damaged key is enough to have cells written in vain, so none is mended in place.
                raise _DamagedError(damage)

    def _rescue(self, damage: str) -> None:
        """Set a damaged store aside, in favor of a new one with what can still be read of it."""
        part = self.path.with_name(self.path.name + ".rescue")
        part.unlink(missing_ok=True)  # of a rescue that was interrupted
        self._connection = self._open(part)
        self._check()
        n_rescued = 0
        cells = read_damaged(self.path, part)
        while batch := list(itertools.islice(cells, _RESCUED_AT_ONCE)):
            self.write(map(_rescued, batch))
            n_rescued += len(batch)
        self._connection.close()
        self.backup_path = _free_name(self.path)
        shutil.copy2(
            self.path, self.backup_path
        )  # so that there is a store at every moment, whatever is killed
        journal = _journal(self.path)
        if journal.exists():  # it would be played into the new store
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
                if 0 < path.stat().st_size < 512:  # SQLite takes it for a new one
                    raise sqlite3.DatabaseError("file is not a database")
                connection.executescript(
                    f"BEGIN; {schema.TABLES} INSERT INTO meta VALUES ('format', '{schema.FORMAT}'); COMMIT;"
                )
            elif "cells" in tables and not connection.execute(_FORMAT_ASKED).fetchone():
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
        """Close the file and let others have it."""
        self._connection.close()
        self._lock.release()

    @property
    def opening_messages(self) -> list[str]:
        """What is to be said of how it was opened: what was found damaged, and where the old store is."""
        kept = f"The old store is kept as {self.backup_path}" if self.backup_path else ""
        return [line for line in (self.recovery_message, kept) if line]

    def __len__(self) -> int:
        count: int = self._connection.execute("SELECT count(*) FROM cells").fetchone()[0]
        return count

    def statuses(self) -> dict[str, Stored]:
        """Return what is known of every stored cell by key."""
        known = self._connection.execute("SELECT id, digest, metrics FROM scorings")
        scorings = {number: (digest, frozenset(metrics.split())) for number, digest, metrics in known}
        query = "SELECT key, status, seconds, scoring FROM cells LEFT JOIN scored USING (key)"
        rows = self._connection.execute(query)
        return {
            key: Stored(status, seconds, *scorings.get(scoring, ("", frozenset())))
            for key, status, seconds, scoring in rows
        }

    def write(self, cells: Iterable[CellResult], run: LastRun | None = None) -> None:
        """Store cells in one transaction, and how far the run that writes has come with them.

        A cell that is there already is replaced.
        """
        cells = list(cells)
        heads = [
            (
                *(c.key, c.dataset, c.bias, c.beta, c.repetition, c.technique, c.classifier),
                *(c.status, c.reason, json.dumps(c.counts, separators=(",", ":")), c.seconds),
            )
            for c in cells
        ]
        scorings = [(c.scoring, c.metric_names) for c in cells]
        values = [c.rows_of_values for c in cells]
        rows: dict[str, list[tuple[Any, ...]]] = {
            "cells": heads,
            "results": [(c.key, *row) for c, own in zip(cells, values, strict=True) for row in own],
            "convergence": [(c.key, *astuple(c.convergence)) for c in cells if c.convergence is not None],
            "predictions": [(c.key, c.rows) for c in cells if c.rows is not None],
            "checks": [
                (c.key, _checksum(head, c, own), None if c.rows is None else zlib.crc32(c.rows))
                for head, c, own in zip(heads, cells, values, strict=True)
            ],
        }
        with self._transaction():
            many = self._connection.executemany
            if run is not None:
                self._connection.execute("INSERT OR REPLACE INTO meta VALUES ('last_run', ?)", (run.text(),))
            for table in _OF_A_CELL:
                many(f"DELETE FROM {table} WHERE key = ?", [(c.key,) for c in cells])
            for table, own in rows.items():
                self._insert(table, own)
            many("INSERT OR IGNORE INTO scorings (digest, metrics) VALUES (?, ?)", sorted(set(scorings)))
            many(
                "INSERT INTO scored SELECT ?, id FROM scorings WHERE digest = ? AND metrics = ?",
                [(cell.key, *scoring) for cell, scoring in zip(cells, scorings, strict=True)],
            )

    def _insert(self, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        # Many rows of one statement take two thirds of the time of as many statements.
        at_once = _ASKED_AT_ONCE // len(rows[0]) if rows else 1
        for batch in (rows[start : start + at_once] for start in range(0, len(rows), at_once)):
            places = ", ".join([f"({', '.join('?' * len(batch[0]))})"] * len(batch))
            values = list(itertools.chain.from_iterable(batch))
            self._connection.execute(f"INSERT INTO {table} VALUES {places}", values)

    def merge(self, others: Sequence[Path]) -> int:
        """Take over what other stores have and this one has not, all of it or nothing; return how many cells.

        The others are only read, and never held in memory. What is stored already is kept, and so of a cell
        that several stores have, the first.

        A StoreError says that a file is no store or of another format, that another run holds it, or that two
        stores contradict each other: the same cell with another status, other counts, or another value that
        the same code computed. How long a cell took, and what it said when it failed, may differ.
        """
        with self._transaction():
            return take_over(self._connection, self.path, others)

    def read(self, keys: Sequence[str], *, counts: bool = True) -> list[CellResult]:
        """Return the stored cells among ``keys``, in that order, without the predictions of their rows.

        Metrics come sorted by name. Cells that do not match their checksums are left out. Counts, which take
        half of the memory, are empty unless they are asked for.
        """
        cells: dict[str, CellResult] = {}
        for start in range(0, len(keys), _ASKED_AT_ONCE):
            cells |= self._read(keys[start : start + _ASKED_AT_ONCE], counts)
        return [cells[key] for key in keys if key in cells]

    def _read(self, keys: Sequence[str], with_counts: bool) -> dict[str, CellResult]:
        def rows(query: str) -> sqlite3.Cursor:
            return self._connection.execute(f"{query} WHERE key IN ({', '.join('?' * len(keys))})", keys)

        # Names are the same in many cells: held once, a million cells take two fifths less memory.
        metrics: dict[str, list[MetricValue]] = {}
        for key, metric, value, reason in rows("SELECT key, metric, value, reason FROM results"):
            metrics.setdefault(key, []).append(MetricValue.stored(metric, value, reason))
        steps = rows("SELECT key, steps, residual, tolerance FROM convergence")
        convergence = {key: Convergence(*figures) for key, *figures in steps}
        scorings = {
            key: sys.intern(digest)
            for key, digest in rows("SELECT key, digest FROM scored JOIN scorings ON scoring = scorings.id")
        }
        written = dict(rows("SELECT key, content FROM checks").fetchall())
        cells = {}
        for *head, counts, seconds in rows("SELECT * FROM cells"):
            key = head[0]
            shared: list[Any] = [sys.intern(value) if type(value) is str else value for value in head]
            cell = _cell(
                (*shared, counts if with_counts else "", seconds),
                metrics.get(key, ()),
                convergence=convergence.get(key),
                scoring=scorings.get(key, ""),
            )
            if _checksum((*head, counts, seconds), cell, cell.rows_of_values) == written.get(key):
                cells[key] = cell
        return cells

    def having(self, name: str, keys: Sequence[str]) -> set[str]:
        """Return those of some keys whose stored cells have a value of this name, defined or not."""
        found: set[str] = set()
        for start in range(0, len(keys), _ASKED_AT_ONCE):
            asked = keys[start : start + _ASKED_AT_ONCE]
            query = f"SELECT key FROM results WHERE metric = ? AND key IN ({', '.join('?' * len(asked))})"
            found.update(key for (key,) in self._connection.execute(query, (name, *asked)))
        return found

    def rows(self, key: str) -> bytes | None:
        """Return the packed predictions of a cell's test rows, or None if they are damaged or not there."""
        found = self._connection.execute(
            "SELECT predictions.rows, checks.rows FROM predictions JOIN checks USING (key) WHERE key = ?",
            (key,),
        ).fetchone()
        return found[0] if found is not None and zlib.crc32(found[0]) == found[1] else None


class _DamagedError(Exception):
    """A file that is a store, but not all of it can be read."""


def _checksum(head: Sequence[Any], cell: CellResult, values: Iterable[tuple[str, float | None, str]]) -> int:
    convergence = None if cell.convergence is None else astuple(cell.convergence)
    return checksum(head, values, convergence, cell.scoring)


def _cell(row: Sequence[Any], values: Iterable[MetricValue], **others: Any) -> CellResult:
    """Return a cell from its row in the table ``cells``, counts or none, and what other tables say of it."""
    *head, counts, seconds = row
    named = dict(zip(_HEAD, head, strict=True))
    found: tuple[list[MetricValue], list[MetricValue]] = ([], [])
    for value in values:
        found[value.metric.startswith(FRONTIER)].append(value)
    others |= dict(zip(("metrics", "frontier"), map(tuple, found), strict=True))
    return CellResult(**named, counts=json.loads(counts) if counts else (), seconds=seconds, **others)


def _rescued(found: Mapping[str, Any]) -> CellResult:
    return _cell(
        found["cell"],
        (MetricValue.stored(*metric) for metric in found["metrics"]),
        convergence=None if found["convergence"] is None else Convergence(*found["convergence"]),
        rows=found["rows"],
        scoring=found["scoring"],
    )


def _free_name(path: Path) -> Path:
    number = 1
    while (free := path.with_name(f"{path.stem}.{number}{path.suffix}")).exists():
        number += 1
    return free


def _set_aside(path: Path) -> Path:
    aside = _free_name(path)
    # A journal belongs to its database: without it, what a killed run left half-written could not be undone.
    if _journal(path).exists():
        _journal(path).rename(_journal(aside))
    return path.rename(aside)


def _journal(path: Path) -> Path:
    return path.with_name(path.name + "-journal")
