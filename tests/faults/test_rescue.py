"""Whatever happens to the file of a store: what comes back was written to it, and the rest is missing."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmark.errors import StoreError
from benchmark.experiment.store import CellResult, MetricValue, Store
from benchmark.techniques import Convergence

PAGE = 4096


def cell(number: int) -> CellResult:
    """Return a made-up cell; every third has predictions, every fifth converged, every seventh failed."""
    rng = random.Random(number)
    made = CellResult(
        hashlib.sha256(str(number).encode()).hexdigest(),
        "compas",
        "cpt",
        0.0,
        level := rng.random(),
        level,
        number,
        rng.choice(["none", "massaging"]),
        "c45",
        "ok",
        metrics=(MetricValue("accuracy", rng.random()), MetricValue("discrimination", None, "nobody")),
        counts={"original": [[[[rng.randrange(99) for _ in range(2)] for _ in range(2)] for _ in range(2)]]},
        seconds=rng.random(),
        convergence=Convergence(number, rng.random(), 1e-6) if number % 5 == 0 else None,
        rows=rng.randbytes(300) if number % 3 == 0 else None,
        scoring="d" * 64,
    )
    failed = {"status": "failed", "reason": "ValueError: ä", "metrics": (), "counts": [], "rows": None}
    return dataclasses.replace(made, **failed) if number % 7 == 0 else made  # type: ignore[arg-type]


CELLS = {made.key: made for made in map(cell, range(400))}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the file of a store that holds all cells."""
    path = tmp_path_factory.mktemp("sound") / "s.sqlite"
    cells = list(CELLS.values())
    with Store(path) as store:
        for start in range(0, len(cells), 10):
            store.write(cells[start : start + 10])
    return path.read_bytes()


def read_back(path: Path) -> tuple[int, str]:
    """Open a store, hold everything that it says against what was written, and return how much that is."""
    with Store(path) as store:
        known, found = store.statuses(), [*store.read(CELLS, predictions=True)]
        assert set(known) == {c.key for c in found}, (
            "a cell that is not read back would never be computed again"
        )
        for back in found:
            written = CELLS[back.key]
            assert back == written
            assert known[back.key].status == written.status
        missing = [c for key, c in CELLS.items() if key not in known]
        store.write(missing)
        assert len([*store.read(list(CELLS))]) == len(CELLS)
        news = store.recovery_message
    with Store(path) as again:
        assert again.recovery_message == ""
        assert [*again.read(CELLS, predictions=True)] == [*CELLS.values()]
    return len(found), news


def flip(content: bytes, rng: random.Random) -> bytes:
    """Change one bit, a byte, a run of bytes or a page."""
    damaged = bytearray(content)
    where, length = rng.randrange(len(content)), rng.choice([1, 1, 1, 8, 512, PAGE])
    if length == 1:
        damaged[where] ^= 1 << rng.randrange(8)
    else:
        damaged[where : where + length] = rng.choice([bytes(length), rng.randbytes(length)])[
            : len(content) - where
        ]
    return bytes(damaged)


@pytest.mark.slow
def test_a_flipped_bit_anywhere_is_harmless_or_found(sound: bytes, tmp_path: Path) -> None:
    path, rng = tmp_path / "s.sqlite", random.Random(1)
    read, told = [], 0
    for _ in range(24):
        path.write_bytes(flip(sound, rng))
        n_read, news = read_back(path)
        assert news or n_read == len(CELLS), "what is lost is said"
        read.append(n_read)
        told += bool(news)
    assert told > 12, "too little was damaged to prove anything"
    assert np.mean(read) > 0.8 * len(CELLS), "one damaged place costs a part of the store, not most of it"
    kept = sorted(tmp_path.glob("s.*.sqlite"))
    assert kept, "a store that is damaged throughout is kept"


@pytest.mark.slow
def test_what_is_left_of_a_truncated_store_is_rescued(sound: bytes, tmp_path: Path) -> None:
    path, rng = tmp_path / "s.sqlite", random.Random(2)
    read = {}
    for length in [PAGE - 1, PAGE, len(sound) - 1, *(rng.randrange(PAGE, len(sound)) for _ in range(6))]:
        path.write_bytes(sound[:length])
        read[length], news = read_back(path)
        assert "cell(s) were rescued" in news
    assert read[len(sound) - 1] > 0.8 * len(CELLS)
    assert sum(map(bool, read.values())) > 2


@pytest.mark.parametrize("length", [1, 15, 16, 100, 511, 512])
def test_a_few_first_bytes_of_a_store_are_left_alone(length: int, sound: bytes, tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    path.write_bytes(sound[:length])
    with pytest.raises(StoreError, match="not a result store"):
        Store(path)
    assert path.read_bytes() == sound[:length]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: bytes(16) + content[16:],
        lambda content: b"\xff" * 100 + content[100:],
        lambda content: bytes(PAGE) + content[PAGE:],
        lambda content: content.replace(b"CREATE TABLE meta", b"CREATE TABLE metb"),
        lambda content: content.replace(b"CREATE TABLE meta", b"CREATE\x00\xff\xffBLE meta"),
        lambda content: content.replace(b"NULL,     -- wall", b"NULL, \xa0   -- wall"),
        lambda content: content.replace(b"'crashed'", b"'craxhed'"),
        lambda content: content.replace(b"INTEGER NOT NULL, -- CRC", b"INTEGER NOT\xfeNULL, -- CRC"),
        lambda content: content.replace(b"format2", b"format3"),
    ],
    ids=[
        *("magic", "header", "first page", "schema", "bytes in the schema", "bytes in SQLite's message"),
        *("a status", "the mark of a store", "the format"),
    ],
)
def test_a_damaged_first_page_costs_no_cell(
    sound: bytes, tmp_path: Path, damage: Callable[[bytes], bytes], request: pytest.FixtureRequest
) -> None:
    path = tmp_path / "s.sqlite"
    path.write_bytes(damage(sound))
    if request.node.callspec.id == "first page":
        with pytest.raises(StoreError, match="not a result store"):  # nothing says that it ever was one
            Store(path)
        assert path.read_bytes() == damage(sound)
        return
    n_read, news = read_back(path)
    assert n_read == len(CELLS)
    assert "400 cell(s) were rescued" in news
    assert "\n" not in news
    assert (tmp_path / "s.1.sqlite").read_bytes() == damage(sound)


def test_damaged_words_of_the_schema_are_no_traceback(sound: bytes, tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    for where in range(sound.index(b"CREATE TABLE"), PAGE, 61):
        damaged = bytearray(sound)
        damaged[where] ^= 0x80
        path.write_bytes(damaged)
        with Store(path) as store:
            assert len(store) == len(CELLS)


def test_a_changed_value_is_noticed_where_sqlite_notices_nothing(sound: bytes, tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    changes = {
        1: "UPDATE cells SET beta = beta + 1e-15 WHERE key = ?",
        2: "UPDATE cells SET status = 'crashed' WHERE key = ?",
        3: "UPDATE cells SET numbers = CAST(numbers || ' ' AS BLOB) WHERE key = ?",
        4: "UPDATE cells SET numbers = 'x' WHERE key = ?",
        5: "UPDATE cells SET checksum = checksum + 1 WHERE key = ?",
        6: "UPDATE cells SET beta = 'x' WHERE key = ?",
        8: "UPDATE cells SET scoring = 'e' || substr(scoring, 2) WHERE key = ?",
        9: "UPDATE cells SET rows = zeroblob(300) WHERE key = ?",
        10: "UPDATE cells SET key = 'f' || substr(key, 2) WHERE key = ?",
    }
    path.write_bytes(sound)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        for number, change in changes.items():
            done = connection.execute(change, (cell(number).key,))
            assert done.rowcount > 0, change
    n_read, news = read_back(path)
    assert n_read == len(CELLS) - len(changes)
    assert "(9 cell(s) do not match their checksums): 391 cell(s) were rescued" in news


@pytest.mark.parametrize(
    "value", [-0.0, 1, np.float64(0.1), float("nan"), float("inf"), 1e-320, 10**17, True]
)
def test_numbers_that_sqlite_keeps_in_another_form_are_no_damage(value: float, tmp_path: Path) -> None:
    made = dataclasses.replace(
        cell(1), beta=value if value == value else 0, seconds=abs(value) if value == value else 0,
        repetition=np.int64(3), metrics=(MetricValue("b", value), MetricValue("a", 0.5)),
    )  # fmt: skip
    with Store(tmp_path / "s.sqlite") as store:
        store.write([dataclasses.replace(made, repetition=int(made.repetition))])
    with Store(tmp_path / "s.sqlite") as store:
        assert store.recovery_message == ""
        assert len([*store.read([made.key])]) == 1


def test_a_key_that_is_no_text_any_more_is_damage(sound: bytes, tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    path.write_bytes(sound)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        last = connection.execute("SELECT max(key) FROM cells").fetchone()[0]
        connection.execute("UPDATE cells SET key = CAST(key AS BLOB) WHERE key = ?", (last,))
    n_read, news = read_back(path)
    assert n_read == len(CELLS) - 1
    assert "were rescued" in news


def test_a_rescue_that_is_killed_before_its_end_is_done_again(
    sound: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.sqlite"
    path.write_bytes(sound[: -3 * PAGE])

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            Store(path)
    n_read, news = read_back(path)
    assert n_read > 0
    assert "were rescued" in news


def test_an_interrupted_rescue_is_begun_again(
    sound: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.sqlite"
    damaged = sound[: -3 * PAGE]
    path.write_bytes(damaged)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("shutil.copy2", full)
        with pytest.raises(OSError, match="No space"):
            Store(path)
    assert path.read_bytes() == damaged
    assert read_back(path)[0] > 0
    assert not list(tmp_path.glob("*.rescue"))
