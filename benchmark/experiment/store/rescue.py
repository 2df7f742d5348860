"""Reading the sound cells of a damaged store.

SQLite reads nothing if a file's first page is damaged or states a length that is not the file's. It stops at
the first damaged page of a table. So the file is read into memory, and its first bytes are corrected. Then
each table is read in ranges of keys, and a range that cannot be read is divided. Even then values may be
wrong, so only cells with a correct checksum are taken.
"""

import contextlib
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmark.experiment.store.cell import CellResult
from benchmark.experiment.store.checksums import UNREADABLE, checksum, is_damage

_MAGIC = b"SQLite format 3\0"
_MARKS = (b"CREATE TABLE cells", b"REFERENCES cells (key)")
_DIGITS = "0123456789abcdef"
_DEEPEST = 3  # number of digits that the keys of the smallest range share
_FIXED = 24  # number of first bytes that are the same in all stores

Columns = dict[str, list[tuple[Any, ...]]]


def is_store(path: Path) -> bool:
    """Return whether a file that SQLite cannot read is, or begins like, a store."""
    with path.open("rb") as file:
        start = file.read(1 << 16)
    return any(mark in start for mark in _MARKS) or (len(start) < 4096 and start[:16] == _MAGIC[: len(start)])


def read_damaged(path: Path, model: Path) -> Iterator[CellResult]:
    """Yield the cells of a damaged store with a correct checksum; ``model`` is a sound store."""
    content, sound = path.read_bytes(), model.read_bytes()
    yielded = set()
    # If its list of tables is damaged, too, the sound store's list is tried, which is mostly the same.
    for first in (sound[:_FIXED] + content[_FIXED : _page_size(sound)], sound[: _page_size(sound)]):
        with contextlib.closing(_in_memory(first, content)) as connection:
            for cell in _sound_cells(connection):
                if cell.key not in yielded:
                    yielded.add(cell.key)
                    yield cell


def _page_size(store: bytes) -> int:
    return int.from_bytes(store[16:18], "big")


def _in_memory(first: bytes, content: bytes) -> sqlite3.Connection:
    """Open a damaged database with another first page, whose number of pages is corrected."""
    size = _page_size(first)
    n_pages = max(1, -(-len(content) // size))
    pages = bytearray(content.ljust(n_pages * size, b"\0"))
    pages[: len(first)] = first
    pages[28:32] = n_pages.to_bytes(4, "big")
    pages[92:96] = pages[24:28]  # else SQLite takes that number for out of date
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.deserialize(bytes(pages))
    connection.text_factory = lambda text: text.decode("utf-8", "replace")
    return connection


def _sound_cells(connection: sqlite3.Connection) -> Iterator[CellResult]:
    metrics = _by_key(connection, "key, metric, value, reason", "results")
    convergence = _by_key(connection, "key, steps, residual, tolerance", "convergence")
    scored = _by_key(connection, "key, scoring", "scored")
    checks = _by_key(connection, "key, content, rows", "checks")
    scorings: dict[Any, Any] = {}
    with _damage_skipped():
        scorings = dict(connection.execute("SELECT id, digest FROM scorings"))
    for key, cells in _by_key(connection, "key, *", "cells").items():
        steps, scoring = convergence.get(key, [None])[0], scored.get(key, [(None,)])[0][0]
        (content, rows_sum), values = checks.get(key, [(None, None)])[0], metrics.get(key, [])
        digest = scorings.get(scoring, "")
        if checksum(cells[0], values, steps, digest) == content:
            rows = None if rows_sum is None else _rows(connection, key, rows_sum)
            yield CellResult.stored(cells[0], values, steps, scoring=digest, rows=rows)


def _rows(connection: sqlite3.Connection, key: str, expected: int) -> bytes | None:
    with _damage_skipped():
        for (rows,) in connection.execute("SELECT rows FROM predictions WHERE key = ?", (key,)):
            if isinstance(rows, bytes) and zlib.crc32(rows) == expected:
                return rows
    return None


def _by_key(connection: sqlite3.Connection, columns: str, table: str) -> Columns:
    rows: Columns = {}
    with _damage_skipped():
        connection.execute(f"SELECT {columns} FROM {table} LIMIT 0")
        for key, *row in _range(connection, f"SELECT {columns} FROM {table} WHERE key >= ? AND key < ?", ""):
            rows.setdefault(key, []).append(tuple(row))
    return rows


def _range(connection: sqlite3.Connection, query: str, prefix: str) -> list[tuple[Any, ...]]:
    """Return the readable rows whose keys begin with the given digits."""
    with _damage_skipped():
        return connection.execute(query, (prefix, prefix + "g")).fetchall()
    if len(prefix) == _DEEPEST:
        return []
    return [row for digit in _DIGITS for row in _range(connection, query, prefix + digit)]


@contextlib.contextmanager
def _damage_skipped() -> Iterator[None]:
    try:
        yield
    except UNREADABLE as error:
        if not is_damage(error):
            raise
