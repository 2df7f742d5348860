"""Results of cells, and the store: one SQLite file that holds every finished cell, a row each.

Transactions write whole cells, so that a kill at any moment leaves a valid file. Each row has a checksum, so
that a damaged cell is never taken for a result. :mod:`benchmark.experiment.keys` makes the cells' keys.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import sqlite3
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple

import filelock

from benchmark.columns import ORIGINAL, hidden_name
from benchmark.errors import GOES_ON, StoreError
from benchmark.techniques.base import Convergence

Status = Literal["ok", "skipped", "not_converged", "failed", "timeout", "crashed"]


class MetricValue(NamedTuple):
    """A metric's value, or None with the ``reason`` why it is undefined."""

    metric: str
    value: float | None
    reason: str = ""
    test: str = ORIGINAL
    fold: int | None = None  # number from 0; None for the whole repetition


@dataclass(frozen=True, slots=True)
class CellResult:
    """The result of a cell, with its coordinates in the result table."""

    key: str  # see :mod:`benchmark.experiment.keys`
    dataset: str
    bias: str
    hidden: float  # label gap of bias that was planted before, and counts as original; 0 if there is none
    level: float  # of bias, in the experiment's unit: β or dose
    beta: float  # β as planted
    repetition: int
    technique: str
    classifier: str
    status: Status
    reason: str = ""  # why the status is not ok; else empty
    metrics: tuple[MetricValue, ...] = ()  # sorted by name; empty unless the status is ok
    # Coordinates of the unprocessing frontier, if it is made from this cell; see
    # benchmark.experiment.unprocessing.frontier_values.
    frontier: tuple[MetricValue, ...] = ()
    # By test a list with the counts of each fold: rows by [group][favorable label][favorable prediction];
    # groups are the states of the sensitive feature. Further keys are those of benchmark.experiment.scoring
    # and TUNED. Empty unless the status is ok.
    counts: Mapping[str, Any] = field(default_factory=dict, repr=False)
    seconds: float = 0.0  # wall time of preparation, training and prediction
    convergence: Convergence | None = None  # if the technique optimizes something and reports it
    # Predictions and scores of all test rows, if a metric needs them; see benchmark.experiment.scoring.pack.
    rows: bytes | None = field(default=None, repr=False)
    scoring: str = ""  # digest of what the metrics were computed by; empty if there are none

    @property
    def shown_bias(self) -> str:
        """The name of the bias in results, with the gap that is hidden."""
        return hidden_name(self.bias, self.hidden)


FORMAT = "2"

_TABLES = f"""
BEGIN;
PRAGMA user_version = {FORMAT};  -- again, so that one changed byte is no other format
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('format', '{FORMAT}');
CREATE TABLE cells (
    key TEXT PRIMARY KEY,      -- SHA-256 of everything that can change the cell's numbers
    dataset TEXT NOT NULL, bias TEXT NOT NULL, hidden REAL NOT NULL, level REAL NOT NULL, beta REAL NOT NULL,
    repetition INTEGER NOT NULL, technique TEXT NOT NULL, classifier TEXT NOT NULL,
    status TEXT NOT NULL
        CHECK (status IN ('ok', 'skipped', 'not_converged', 'failed', 'timeout', 'crashed')),
    reason TEXT NOT NULL,      -- why it is not ok, else empty
    seconds REAL NOT NULL,     -- wall time of the cell
    scoring TEXT NOT NULL,     -- digest of what its metrics were computed by
    numbers BLOB NOT NULL,     -- compressed JSON: metrics, frontier, counts and convergence
    checksum INTEGER NOT NULL, -- CRC-32 of all other columns
    rows BLOB                  -- predictions and scores of all test rows, where a metric needs them
);
COMMIT;
"""
_MARKS = (b"checksum INTEGER NOT NULL", b"CRC-32 of all")  # in the first bytes of every store of this format
_INSERT = f"INSERT OR REPLACE INTO cells VALUES ({', '.join('?' * 16)})"
_HEAD = (
    *("key", "dataset", "bias", "hidden", "level", "beta", "repetition", "technique", "classifier"),
    *("status", "reason", "seconds", "scoring"),
)

_UNREADABLE = (sqlite3.Error, TypeError, ValueError, OverflowError)
"""Errors of reading a damaged file: SQLite's, and Python's on changed values."""

# Errors of sound files: another process, a full disk, missing permissions. All others mean damage.
_NO_DAMAGE = (
    *(sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM),
    *(sqlite3.SQLITE_READONLY, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_IOERR),
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN),
)


@dataclass(frozen=True)
class LastRun:
    """The progress of a run: numbers of finished and of planned cells."""

    experiment: str
    plan: str  # digest of the planned cells' keys
    finished: int
    planned: int


def read_last_run(path: Path) -> LastRun | None:
    """Return the last run of a store's file; None if there is no record, or it cannot be read."""
    with contextlib.suppress(sqlite3.Error, ValueError, TypeError), _connection(path) as connection:
        (record,) = connection.execute("SELECT value FROM meta WHERE name = 'last_run'").fetchone()
        return LastRun(**json.loads(record))
    return None


class Stored(NamedTuple):
    """The store's facts about a cell apart from its numbers; fields as in :class:`CellResult`."""

    status: Status
    seconds: float
    scoring: str


class Store:
    """Finished cells of one experiment folder, in an SQLite file that one process locks at a time.

    With ``fresh``, it begins empty. An earlier store is then renamed to ``backup_path``. So is a damaged one,
    whose sound cells are taken over. ``recovery_message`` describes the damage and the rescue when it was
    opened; it is empty without damage.

    A StoreError says that another run has locked the store, that the file is no store, or that another
    format wrote it.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path = path
        self.backup_path: Path | None = None
        self.recovery_message = ""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(path)
        try:
            if fresh and path.exists():
                self.backup_path = _set_aside(path, os.rename)
            self._connection = _opened(path)
            if damage := damage_of(path):
                self._connection.close()
                self._rescue(damage)
                self._connection = _opened(path)
        except BaseException:
            self._lock.release()
            raise

    def _rescue(self, damage: str) -> None:
        """Replace a damaged store by a new one with its sound cells, and keep the old file."""
        part = self.path.with_name(self.path.name + ".rescue")
        part.unlink(missing_ok=True)  # an interrupted rescue may have left it
        with contextlib.closing(_opened(part)) as self._connection, self._transaction() as connection:
            rows = sound_rows(self.path.read_bytes(), part.read_bytes())
            rescued = connection.executemany(_INSERT, rows).rowcount
        self.backup_path = _set_aside(self.path, shutil.copy2)  # a copy: a kill at any moment leaves a store
        _journal(self.path).unlink(missing_ok=True)  # SQLite would play it into the new store
        part.replace(self.path)
        self.recovery_message = (
            f"The store was damaged ({damage}): {rescued:,} cell(s) were rescued, others are computed again"
        )

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
        rows = self._connection.execute("SELECT key, status, seconds, scoring FROM cells")
        return {key: Stored(status, seconds, sys.intern(scoring)) for key, status, seconds, scoring in rows}

    def write(self, cells: Iterable[CellResult], run: LastRun | None = None) -> None:
        """Store cells, and the progress of the run that computed them, in one transaction.

        They replace stored cells with the same keys.
        """
        with self._transaction() as connection:
            if run is not None:
                record = json.dumps(asdict(run))
                connection.execute("INSERT OR REPLACE INTO meta VALUES ('last_run', ?)", (record,))
            connection.executemany(_INSERT, map(_row, cells))

    def read(self, keys: Iterable[str], *, predictions: bool = False) -> Iterator[CellResult]:
        """Yield the stored cells among ``keys``, in that order; only with ``predictions`` those of rows."""
        columns = ", ".join((*_HEAD, "numbers", "rows" if predictions else "NULL"))
        for key in keys:
            row = self._connection.execute(f"SELECT {columns} FROM cells WHERE key = ?", (key,)).fetchone()
            if row is not None:
                yield _cell(*row)

    def merge(self, others: Sequence[Path]) -> int:
        """Take over the cells that other stores have and this one lacks, all or none; return their number.

        The others are only read, one row after another. Stored cells stay. If several stores have a cell, the
        first one's is taken.

        A StoreError says that a file is no store, has another format, is damaged, or is locked by another
        run. Or it says that stores contradict each other in a cell's status, its counts, or a value computed
        by the same code. Times and error messages of a cell may differ.
        """
        taken: dict[str, Path] = {}
        with self._transaction() as connection:
            for other in others:
                if other.resolve() == self.path.resolve():
                    remedy = "name another folder with --output"
                    raise StoreError(f"{other} cannot be merged into itself", remedy=remedy)
                with _read_only(other) as theirs:
                    for row in theirs.execute("SELECT * FROM cells"):
                        ours = connection.execute("SELECT * FROM cells WHERE key = ?", row[:1]).fetchone()
                        if ours is None:
                            connection.execute(_INSERT, row)
                            taken[row[0]] = other
                        elif ours != row:
                            _refuse_contradiction(ours, row, taken.get(row[0], self.path), other)
        return len(taken)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Write all changes inside, or none of them."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection
            self._connection.execute("COMMIT")
        except BaseException as error:
            if self._connection.in_transaction:  # a full disk can have ended it
                self._connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.OperationalError):
                raise StoreError(
                    f"The store {self.path} cannot be written to",
                    got=str(error),
                    remedy=f"make room on the disk or correct its permissions; {GOES_ON}",
                ) from error
            raise


def require_store(path: Path) -> None:
    """Raise an error if there is no file."""
    if not path.is_file():
        raise StoreError(
            f"There is no result store {path}", remedy="name a folder that 'betabench run' wrote results to"
        )


def damage_of(path: Path) -> str:
    """Return how a store's file is damaged, in words; empty if it is sound.

    A StoreError says that the file is no store, has another format, or cannot be read at present.
    """
    try:
        with _connection(path) as connection:
            found = connection.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()
            if found is None:
                raise sqlite3.DatabaseError("its format is not there")
            if FORMAT not in (found[0], str(connection.execute("PRAGMA user_version").fetchone()[0])):
                raise StoreError(
                    f"{path} was written by another version of betabench, which identifies cells otherwise",
                    expected=f"store format {FORMAT}",
                    got=f"format {found[0]}",
                    remedy="compute its cells again by 'betabench run' with --fresh, which keeps it as "
                    f"{_free_name(path).name}, or with another --output; tables and reports beside the file "
                    "stay readable",
                )
            if found[0] != FORMAT or _declarations(connection) != _declarations_here():
                raise sqlite3.DatabaseError("its format or the declarations of its tables are changed")
            (state,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if state != "ok":
                return str(state).rpartition("\n")[2]
            rows = connection.execute("SELECT * FROM cells")
            n = sum(_checksum(row) != row[-2] for row in rows)
            return f"{n:,} cell(s) do not match their checksums" if n else ""
    except _UNREADABLE as error:
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF in _NO_DAMAGE:
            raise StoreError(
                f"{path} cannot be read now",
                got=str(error),
                remedy="start its run again if that was killed, close what else uses the file, or correct "
                "its permissions",
            ) from error
        with path.open("rb") as file:
            start = file.read(1 << 16)
            if not any(mark in start for mark in _MARKS):
                raise StoreError(
                    f"{path} is not a result store",
                    got=str(error),
                    remedy="move the file away, or choose another folder with --output",
                ) from error
        return " ".join(str(error).split())  # SQLite quotes whole declarations


def _declarations(connection: sqlite3.Connection) -> list[Any]:
    return connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()


@functools.cache
def _declarations_here() -> list[Any]:
    """Return the declarations of a new store."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_TABLES)
        return _declarations(connection)


def sound_rows(content: bytes, empty: bytes) -> Iterator[tuple[Any, ...]]:
    """Yield the rows with correct checksums in the content of a damaged store; ``empty`` is a new store's.

    SQLite reads nothing if a file's first page is damaged or states a length that is not the file's. So the
    first page is the new store's, with the length of the file. SQLite stops at the first damaged page of a
    table, or goes round in circles. So reading begins again behind it, each time with a wider step.
    """
    size = int.from_bytes(empty[16:18], "big")  # of a page
    n_pages = -(-len(content) // size)
    length = n_pages.to_bytes(4, "big")
    pages = empty[:28] + length + empty[32:size] + content[size:].ljust((n_pages - 1) * size, b"\0")
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(pages)
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        last, step = 0, 1
        while step < 1 << 40:
            try:
                for number, *row in connection.execute("SELECT rowid, * FROM cells WHERE rowid > ?", (last,)):
                    if number <= last:
                        raise sqlite3.DatabaseError("rows are not in their order")
                    if _checksum(row) == row[-2]:
                        yield tuple(row)
                    last, step = number, 1
                return
            except _UNREADABLE:
                last, step = last + step, 2 * step


def _row(cell: CellResult) -> tuple[Any, ...]:
    """Return a cell's row, with numbers as SQLite gives them back."""
    numbers: dict[str, Any] = {
        # By name, so that the order of metrics in an experiment changes no file.
        "metrics": sorted(cell.metrics, key=attrgetter("metric")),
        "frontier": cell.frontier,
        "counts": cell.counts,
        "convergence": None if cell.convergence is None else astuple(cell.convergence),
    }
    row = (
        *(cell.key, cell.dataset, cell.bias, _real(cell.hidden), _real(cell.level), _real(cell.beta)),
        *(int(cell.repetition), cell.technique, cell.classifier, cell.status, cell.reason),
        *(_real(cell.seconds), cell.scoring, zlib.compress(json.dumps(numbers).encode())),
    )
    return (*row, _checksum((*row, None, cell.rows)), cell.rows)


def _real(number: float) -> float:
    return float(number) + 0.0  # SQLite turns minus zero into zero


def _checksum(row: Sequence[Any]) -> int:
    """Return the CRC-32 of a row's columns but the checksum."""
    return zlib.crc32(repr((*row[:-2], row[-1])).encode("utf-8", "surrogatepass"))


def _cell(*row: Any) -> CellResult:
    """Return the cell of a row without its checksum."""
    *head, numbers, rows = row
    # Names are the same in many cells: held once, a million cells take two fifths less memory.
    shared: list[Any] = [sys.intern(own) if type(own) is str else own for own in head]
    content = json.loads(zlib.decompress(numbers))
    metrics, frontier = (
        tuple(
            MetricValue(sys.intern(metric), value, reason, sys.intern(test), fold)
            for metric, value, reason, test, fold in content[name]
        )
        for name in ("metrics", "frontier")
    )
    convergence = None if content["convergence"] is None else Convergence(*content["convergence"])
    return CellResult(
        **dict(zip(_HEAD, shared, strict=True)),
        metrics=metrics,
        frontier=frontier,
        counts=content["counts"],
        convergence=convergence,
        rows=rows,
    )


def _refuse_contradiction(our_row: Sequence[Any], their_row: Sequence[Any], path: Path, other: Path) -> None:
    ours, theirs = (_cell(*row[:-2], None) for row in (our_row, their_row))
    compared: list[tuple[str, object, object]] = [
        ("status", ours.status, theirs.status),
        ("counts", ours.counts, theirs.counts),
    ]
    if ours.scoring == theirs.scoring:  # other code may compute other values
        values, their_values = (
            {
                (m.metric, m.test, m.fold): m.reason if m.value is None else m.value
                for m in (*own.metrics, *own.frontier)
            }
            for own in (ours, theirs)
        )
        compared += [(name[0], own, their_values.get(name, own)) for name, own in values.items()]
    for quantity, own, their in compared:
        if own != their:
            names = ("dataset", "bias", "hidden", "level", "beta", "repetition", "technique", "classifier")
            raise StoreError(
                f"{path} and {other} contradict each other in the cell "
                + ", ".join(f"{name} {getattr(ours, name)}" for name in names),
                expected=f"the same {quantity} in both",
                got=f"{own} and {their}",
                remedy="find out which is right, and merge without the other; nothing was merged",
            )


@contextlib.contextmanager
def _connection(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a file without writing to it."""
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    with contextlib.closing(connection):
        yield connection


@contextlib.contextmanager
def _read_only(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a sound store that no run holds."""
    require_store(path)
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # nobody can write to a folder without permission to write
            stack.callback(_locked(path).release)
        if damage := damage_of(path):
            raise StoreError(
                f"{path} is damaged",
                got=damage,
                remedy="start its run again, which rescues what is sound, or merge without it; nothing was "
                "merged",
            )
        yield stack.enter_context(_connection(path))


def _opened(path: Path) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(path, isolation_level=None)
        with contextlib.suppress(*_UNREADABLE):
            connection.execute("SELECT 1 FROM sqlite_master")  # undoes what a killed run was writing
        if not path.stat().st_size:
            connection.executescript(_TABLES)
    except sqlite3.Error as error:
        raise StoreError(
            f"The store {path} cannot be opened",
            expected="a file in a folder that can be written to",
            got=str(error),
            remedy="make room on the disk, or choose another folder with --output",
        ) from error
    return connection


def _locked(path: Path) -> filelock.BaseFileLock:
    lock = filelock.FileLock(path.with_name(path.name + ".lock"))
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise StoreError(
            f"Another run is writing to {path}",
            expected="one run per store",
            remedy="wait for it to end, stop it, or choose another folder with --output",
        ) from None
    return lock


def _free_name(path: Path) -> Path:
    number = 1
    while (free := path.with_name(f"{path.stem}.{number}{path.suffix}")).exists():
        number += 1
    return free


def _set_aside(path: Path, put: Callable[[Path, Path], object]) -> Path:
    """Rename or copy a store's file to a free name."""
    aside = _free_name(path)
    # A journal belongs to its database, and without it the unfinished writes of a killed run would stay.
    for own, other in ((_journal(path), _journal(aside)), (path, aside)):
        if own.exists():
            put(own, other)
    return aside


def _journal(path: Path) -> Path:
    return path.with_name(path.name + "-journal")
