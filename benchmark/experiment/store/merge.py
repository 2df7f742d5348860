"""Joining stores: a store takes over the cells of others, unless they contradict it."""

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import filelock

from benchmark.errors import StoreError
from benchmark.experiment.store.checksums import UNREADABLE, damage_of, is_damage
from benchmark.experiment.store.schema import check_format, held, lock_path, not_a_store

_STAGED = ("cells", "results", "convergence", "scorings", "scored", "predictions", "checks")
# The first cell that differs in a staged store ("their" tables), and how. Values are compared only if the
# same code computed them: other code may compute other values.
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
    """Add the cells of other stores to an open store; return the number of new cells.

    The caller opens the transaction; see :meth:`Store.merge`.
    """
    new = 0
    for number, other_path in enumerate(others):
        if other_path.resolve() == path.resolve():
            raise StoreError(
                f"{other_path} cannot be merged into itself", remedy="name another folder with --output"
            )
        with _reading(other_path) as other:
            _stage(connection, other, other_path)
        if damage := damage_of(connection, prefix="their_"):
            raise _damaged(other_path, damage)
        _refuse_contradiction(connection, other_path, path, others[:number])
        new += _take_staged(connection)
    return new


def _stage(connection: sqlite3.Connection, other: sqlite3.Connection, path: Path) -> None:
    """Copy another store into temporary tables, kept on disk by SQLite."""
    for table in _STAGED:
        connection.execute(f"DROP TABLE IF EXISTS temp.their_{table}")
        connection.execute(f"CREATE TEMP TABLE their_{table} AS SELECT * FROM {table} LIMIT 0")
        try:
            rows = other.execute(f"SELECT * FROM {table}")
            values = ", ".join("?" for _ in rows.description)
            connection.executemany(f"INSERT INTO their_{table} VALUES ({values})", rows)
        except UNREADABLE as error:
            if not is_damage(error):  # for example a full disk
                raise
            raise _damaged(path, str(error)) from error
    for table in ("results", "convergence", "scored", "checks"):
        connection.execute(f"CREATE INDEX temp.their_{table}_key ON their_{table} (key)")


def _damaged(path: Path, details: str) -> StoreError:
    return StoreError(
        f"{path} is damaged",
        got=details,
        remedy="start its run again, which rescues what is sound, or merge without it; nothing was merged",
    )


def _refuse_contradiction(
    connection: sqlite3.Connection, other: Path, path: Path, merged: Sequence[Path]
) -> None:
    row = connection.execute(_CONTRADICTION).fetchone()
    if row is None:
        return
    key, quantity, ours, theirs = row
    names = ("dataset", "bias", "beta", "repetition", "technique", "classifier")
    cell = connection.execute(f"SELECT {', '.join(names)} FROM cells WHERE key = ?", (key,)).fetchone()
    first = next((earlier for earlier in merged if _has_cell(earlier, key)), path)
    raise StoreError(
        f"{first} and {other} contradict each other in the cell "
        + ", ".join(f"{name} {value}" for name, value in zip(names, cell, strict=True)),
        expected=f"the same {quantity} in both",
        got=f"{ours} and {theirs}",
        remedy="find out which is right, and merge without the other; nothing was merged",
    )


def _take_staged(connection: sqlite3.Connection) -> int:
    """Add the staged cells that the store lacks; return their number."""
    execute = connection.execute
    execute("DROP TABLE IF EXISTS temp.fresh")
    execute("CREATE TEMP TABLE fresh (key TEXT PRIMARY KEY) WITHOUT ROWID")
    execute("INSERT INTO fresh SELECT key FROM their_cells EXCEPT SELECT key FROM main.cells")
    for table in ("cells", "results", "convergence", "predictions", "checks"):
        execute(f"INSERT INTO {table} SELECT * FROM their_{table} WHERE key IN (SELECT key FROM fresh)")
    execute("INSERT OR IGNORE INTO scorings (digest, metrics) SELECT digest, metrics FROM their_scorings")
    # Each store numbers its scorings in its own way.
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
    """Open another store's file for reading alone, while no run writes to it."""
    require_store(path)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(filelock.FileLock(lock_path(path), timeout=0))
        except filelock.Timeout:
            raise held(path) from None
        except OSError:
            pass  # nobody can write to a folder without permission to write
        journal = path.with_name(path.name + "-journal")
        if journal.exists() and journal.stat().st_size:  # reading would play it back, which changes the file
            raise StoreError(
                f"The run of {path} was killed while it wrote",
                remedy="start that run again, which repairs its store",
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
