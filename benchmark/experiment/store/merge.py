"""Joining stores: what others have is taken over, unless it contradicts what is there."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import filelock

from benchmark.errors import StoreError
from benchmark.experiment.store.checksums import UNREADABLE, add_checks, damage_of, is_damage
from benchmark.experiment.store.schema import check_format, held, lock_path, not_a_store

_STAGED = ("cells", "results", "convergence", "scorings", "scored", "predictions", "checks")
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


def take_over(connection: sqlite3.Connection, path: Path, others: Sequence[Path]) -> int:
    """Add the cells of other stores to the one of a connection and a file; return how many of them are new.

    It is done within a transaction; see :meth:`Store.merge`.
    """
    new = 0
    for number, other_path in enumerate(others):
        if other_path.resolve() == path.resolve():
            what = f"{other_path} cannot be merged into itself"
            raise StoreError(what, remedy="name another folder with --output")
        with _reading(other_path) as other:
            has_checks = _stage(connection, other, other_path)
        if has_checks and (damage := damage_of(connection, prefix="their_")):
            raise _damaged(other_path, damage)
        _refuse_contradiction(connection, other_path, path, others[:number])
        new += _take_staged(connection)
        if not has_checks:
            add_checks(connection, among="temp.fresh")
    return new


def _stage(connection: sqlite3.Connection, other: sqlite3.Connection, path: Path) -> bool:
    """Copy the tables of another store into temporary ones, which SQLite keeps on disk.

    Returns whether it has checksums.
    """
    theirs = {name for (name,) in other.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table in _STAGED:
        connection.execute(f"DROP TABLE IF EXISTS temp.their_{table}")
        connection.execute(f"CREATE TEMP TABLE their_{table} AS SELECT * FROM {table} LIMIT 0")
        if table in theirs:
            rows = other.execute(f"SELECT * FROM {table}")
            places = ", ".join("?" for _ in rows.description)
            try:
                connection.executemany(f"INSERT INTO their_{table} VALUES ({places})", rows)
            except UNREADABLE as error:
                if not is_damage(error):  # no room on the disk, say
                    raise
                raise _damaged(path, str(error)) from error
    for table in ("results", "convergence", "scored", "checks"):
        connection.execute(f"CREATE INDEX temp.their_{table}_key ON their_{table} (key)")
    return "checks" in theirs


def _damaged(path: Path, how: str) -> StoreError:
    return StoreError(
        f"{path} is damaged",
        got=how,
        remedy="start its run again, which rescues what is sound, or merge without it; nothing was merged",
    )


def _refuse_contradiction(
    connection: sqlite3.Connection, other: Path, path: Path, merged: Sequence[Path]
) -> None:
    found = connection.execute(_CONTRADICTION).fetchone()
    if found is None:
        return
    key, what, ours, theirs = found
    names = ("dataset", "bias", "beta", "repetition", "technique", "classifier")
    where = connection.execute(f"SELECT {', '.join(names)} FROM cells WHERE key = ?", (key,)).fetchone()
    first = next((earlier for earlier in merged if _has_cell(earlier, key)), path)
    raise StoreError(
        f"{first} and {other} contradict each other in the cell "
        + ", ".join(f"{name} {value}" for name, value in zip(names, where, strict=True)),
        expected=f"the same {what} in both",
        got=f"{ours} and {theirs}",
        remedy="find out which of them is right, and merge without the other; nothing was merged",
    )


def _take_staged(connection: sqlite3.Connection) -> int:
    """Add those of the staged cells that are not there; return their number."""
    execute = connection.execute
    execute("DROP TABLE IF EXISTS temp.fresh")
    execute("CREATE TEMP TABLE fresh (key TEXT PRIMARY KEY) WITHOUT ROWID")
    execute("INSERT INTO fresh SELECT key FROM their_cells EXCEPT SELECT key FROM main.cells")
    for table in ("cells", "results", "convergence", "predictions", "checks"):
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


def require_store(path: Path) -> None:
    """Raise an error if there is no such file."""
    if not path.is_file():
        expected = "the folder of a run, or its results.sqlite"
        raise StoreError(f"There is no result store {path}", expected=expected, remedy="correct the path")


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open another store's file, of which nothing is changed, while no run writes to it."""
    require_store(path)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(filelock.FileLock(lock_path(path), timeout=0))
        except filelock.Timeout:
            raise held(path) from None
        except OSError:
            pass  # a folder that cannot be written to has no writer either
        journal = path.with_name(path.name + "-journal")
        if journal.exists() and journal.stat().st_size:  # reading it would finish it, which is a change
            raise StoreError(
                f"{path} was left by a run that was killed while it wrote",
                remedy="start that run again, which puts its store in order",
            )
        try:
            connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
            stack.callback(connection.close)
            check_format(connection, path)
            connection.execute("SELECT 1 FROM cells, results LIMIT 1")
        except UNREADABLE as error:
            if is_damage(error):
                raise not_a_store(path, error) from error
            raise StoreError(
                f"{path} cannot be read now",
                got=str(error),
                remedy="close what else uses the file, or correct its permissions; nothing was merged",
            ) from error
        yield connection


def _has_cell(path: Path, key: str) -> bool:
    with _reading(path) as other:
        return other.execute("SELECT 1 FROM cells WHERE key = ?", (key,)).fetchone() is not None
