"""Whether what a store holds is what was written to it: a checksum for each cell, and damage by its cause."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

UNREADABLE = (sqlite3.Error, TypeError, ValueError, OverflowError)
"""What reading a damaged file raises: SQLite's errors, and Python's where a value is not what it was."""

# What a sound file meets, too: another process, a full disk, missing rights. All else speaks of damage.
_NO_DAMAGE = (
    *(sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM),
    *(sqlite3.SQLITE_READONLY, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_IOERR),
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN),
)

_CELLS = """
SELECT c.key, dataset, bias, beta, repetition, technique, classifier, status, c.reason, counts, seconds,
    steps, residual, tolerance, digest, k.content
FROM {prefix}cells AS c LEFT JOIN {prefix}convergence USING (key) LEFT JOIN {prefix}scored USING (key)
    LEFT JOIN {prefix}scorings AS s ON scoring = s.id LEFT JOIN {prefix}checks AS k USING (key)
"""
_METRICS = "SELECT key, metric, value, reason FROM {prefix}results"


def is_damage(error: Exception) -> bool:
    """Return whether an error says that a file is damaged, rather than that it cannot be used just now."""
    # Text that is no UTF-8 any more is met by Python, not by SQLite, and has no code.
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF not in _NO_DAMAGE


def checksum(
    cell: Sequence[Any],
    metrics: Iterable[tuple[str, float | None, str]],
    convergence: Sequence[float] | None,
    scoring: str,
) -> int:
    """Return the CRC-32 of everything that a store says of a cell, the predictions of its rows apart.

    ``cell`` is its row in the table ``cells``; ``metrics`` are name, value and reason of each, in any order;
    ``convergence`` is steps, residual and tolerance; ``scoring`` is the digest of the code that computed the
    metrics. The result is -1, which no checksum is, if damage has made something else of a number.
    """
    key, dataset, bias, beta, repetition, technique, classifier, status, reason, counts, seconds = cell
    try:
        content = (
            *(key, dataset, bias, _number(beta), int(repetition), technique, classifier),
            *(status, reason, counts, _number(seconds), scoring),
            None if convergence is None else tuple(map(_number, convergence)),
            # As _number says, without a call for each of a hundred.
            sorted(
                (name, None if value is None or value != value else float(value) + 0.0, why)
                for name, value, why in metrics
            ),
        )
    except (TypeError, ValueError, OverflowError):
        return -1
    return zlib.crc32(repr(content).encode("utf-8", "surrogatepass"))


def _number(value: float | None) -> float | None:
    # As SQLite keeps it: NaN becomes NULL, and minus zero becomes zero.
    return None if value is None or value != value else float(value) + 0.0


def checksums(
    connection: sqlite3.Connection, among: str = "", prefix: str = ""
) -> Iterator[tuple[str, int, int | None]]:
    """Yield the key of each stored cell, the checksum of what is there, and the one that was written.

    ``among`` is a table with the keys of the cells that are wanted, all if it is empty; the names of the
    tables begin with ``prefix``.
    """
    where = f"WHERE key IN (SELECT key FROM {among})" if among else ""
    # Both tables come in the order of their keys, so that none has to be held in memory.
    rows = connection.execute(f"{_METRICS.format(prefix=prefix)} {where} ORDER BY key, metric")
    row = rows.fetchone()
    for *cell, steps, residual, tolerance, digest, written in connection.execute(
        f"{_CELLS.format(prefix=prefix)} {where} ORDER BY key"
    ):
        key = cell[0]
        metrics = []
        while row is not None and row[0] <= key:
            if row[0] == key:
                metrics.append(row[1:])
            row = rows.fetchone()
        convergence = None if steps is None else (steps, residual, tolerance)
        yield key, checksum(cell, metrics, convergence, digest or ""), written


def damage_of(connection: sqlite3.Connection, prefix: str = "") -> str:
    """Say how many cells do not match their checksums, if any; the tables' names begin with a prefix."""
    n = sum(found != written for _, found, written in checksums(connection, prefix=prefix))
    return f"{n:,} cell(s) do not match their checksums" if n else ""


def add_checks(connection: sqlite3.Connection, among: str = "") -> None:
    """Give cells that were written without checksums those of what the store says of them now."""
    found = [(key, content) for key, content, _ in checksums(connection, among)]
    connection.executemany("INSERT INTO checks VALUES (?, ?, NULL)", found)
    connection.create_function("crc32", 1, zlib.crc32, deterministic=True)
    connection.execute(
        "UPDATE checks SET rows = crc32(predictions.rows) FROM predictions "
        "WHERE checks.key = predictions.key AND checks.rows IS NULL"
    )
