"""Checksums of stored cells, which show whether they are as they were written, and errors of damage."""

import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

UNREADABLE = (sqlite3.Error, TypeError, ValueError, OverflowError)
"""Errors of reading a damaged file: SQLite's, and Python's on changed values."""

# Errors of sound files: another process, a full disk, missing permissions. All others mean damage.
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
    """Return whether an error means that a file is damaged, and not only unusable at present."""
    # Text that is no longer UTF-8 is an error of Python without a code.
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF not in _NO_DAMAGE


def checksum(
    cell: Sequence[Any],
    metrics: Iterable[tuple[str, float | None, str]],
    convergence: Sequence[float] | None,
    scoring: str,
) -> int:
    """Return the CRC-32 of a cell's stored data without the predictions of its rows.

    ``cell`` is its row in the table ``cells``. ``metrics`` are rows of name, value and reason in any order.
    ``convergence`` is steps, residual and tolerance. ``scoring`` is the digest of the code that computed the
    metrics. The result is -1, which is no checksum, if damage has turned a number into something else.
    """
    key, dataset, bias, beta, repetition, technique, classifier, status, reason, counts, seconds = cell
    try:
        content = (
            *(key, dataset, bias, _number(beta), int(repetition), technique, classifier),
            *(status, reason, counts, _number(seconds), scoring),
            None if convergence is None else tuple(map(_number, convergence)),
            # The same as _number, without a hundred calls.
            sorted(
                (name, None if value is None or value != value else float(value) + 0.0, why)
                for name, value, why in metrics
            ),
        )
    except (TypeError, ValueError, OverflowError):
        return -1
    return zlib.crc32(repr(content).encode("utf-8", "surrogatepass"))


def _number(value: float | None) -> float | None:
    # SQLite turns NaN into NULL, and minus zero into zero.
    return None if value is None or value != value else float(value) + 0.0


def damage_of(connection: sqlite3.Connection, prefix: str = "") -> str:
    """Return how many cells do not match their checksums, in words; empty if all do.

    ``prefix`` begins the names of the tables.
    """
    n = 0
    # Both tables are read in the order of keys, so that neither is held in memory.
    rows = connection.execute(f"{_METRICS.format(prefix=prefix)} ORDER BY key, metric")
    row = rows.fetchone()
    for *cell, steps, residual, tolerance, digest, written in connection.execute(
        f"{_CELLS.format(prefix=prefix)} ORDER BY key"
    ):
        key = cell[0]
        metrics = []
        while row is not None and row[0] <= key:
            if row[0] == key:
                metrics.append(row[1:])
            row = rows.fetchone()
        convergence = None if steps is None else (steps, residual, tolerance)
        n += checksum(cell, metrics, convergence, digest or "") != written
    return f"{n:,} cell(s) do not match their checksums" if n else ""
