import contextlib
import dataclasses
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from benchmark.errors import StoreError
from benchmark.experiment.store import MetricValue, Store, Stored
from benchmark.techniques import Convergence
from tests.helpers.cells import cell


def test_what_was_written_comes_back_exactly_and_in_the_asked_order(tmp_path: Path) -> None:
    cells = [cell("a"), cell("b", status="failed", reason="no", metrics=(), counts={}), cell("c")]
    with Store(tmp_path / "x" / "s.sqlite") as store:
        store.write(cells[:2])
        store.write(cells[2:])
        assert [*store.read(["c", "unknown", "a", "b"])] == [cells[2], cells[0], cells[1]]
        assert store.statuses() == {
            "a": Stored("ok", 0.5, ""),
            "b": Stored("failed", 0.5, ""),
            "c": Stored("ok", 0.5, ""),
        }
    with Store(tmp_path / "x" / "s.sqlite") as store:
        assert [*store.read(["a"])] == [cells[0]]


def test_a_cell_that_is_written_again_is_replaced_with_its_metrics(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        store.write([cell("a")])
        again = cell("a", metrics=(MetricValue("accuracy", 0.9),), convergence=Convergence(1, 0.0, 1e-6))
        store.write([again])
        store.write([again])
        assert [*store.read(["a"])] == [again]


def test_it_is_known_what_scored_a_cell(tmp_path: Path) -> None:
    each = cell("b", metrics=(MetricValue("precision[f]", 0.5), MetricValue("precision[m]", 0.6)))
    with Store(tmp_path / "s.sqlite") as store:
        store.write([cell("a", scoring="one"), dataclasses.replace(each, scoring="two")])
        store.write([cell("a", scoring="two")])
        assert store.statuses() == {
            "a": Stored("ok", 0.5, "two"),
            "b": Stored("ok", 0.5, "two"),
        }
        assert [*store.read(["a"])] == [cell("a", scoring="two")]


def test_predictions_of_rows_are_kept_apart_and_replaced_with_their_cell(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        store.write([cell("a", rows=b"1"), cell("b")])
        assert [*store.read(["a"])] == [cell("a")]
        assert [*store.read(["a", "b"], predictions=True)] == [cell("a", rows=b"1"), cell("b")]
        store.write([cell("a")])
        assert [*store.read(["a"], predictions=True)] == [cell("a")]


def test_a_transaction_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        with pytest.raises(sqlite3.IntegrityError):
            store.write([cell("a"), cell("b", status="nonsense")])
        assert store.statuses() == {}
        store.write([cell("a")])
        assert list(store.statuses()) == ["a"]


def test_a_second_run_on_one_store_is_refused_until_the_first_ends(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with Store(path), pytest.raises(StoreError, match="Another run is writing"):
        Store(path)
    Store(path).close()


def test_a_killed_process_leaves_no_lock_and_no_half_block(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    script = f"""
import sys, time
sys.path.insert(0, {str(Path(__file__).resolve().parents[2])!r})
from pathlib import Path
from benchmark.experiment.store import Store
from tests.helpers.cells import cell
store = Store(Path({str(path)!r}))
store.write([cell("a"), cell("b")])
store._connection.execute("BEGIN IMMEDIATE")
store._connection.execute("DELETE FROM cells")
print("ready", flush=True)
time.sleep(600)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    with pytest.raises(StoreError, match="Another run"):
        Store(path)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    with Store(path) as store:
        assert list(store.statuses()) == ["a", "b"]


def test_a_fresh_store_sets_the_old_one_aside(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    for number in (1, 2):
        with Store(path) as store:
            store.write([cell(f"run {number}")])
        with Store(path, fresh=True) as store:
            assert store.statuses() == {}
            assert store.backup_path == tmp_path / f"s.{number}.sqlite"
        with Store(tmp_path / f"s.{number}.sqlite") as old:
            assert list(old.statuses()) == [f"run {number}"]


def test_a_fresh_store_takes_the_journal_of_the_old_one_along(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    script = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).resolve().parents[2])!r})
from pathlib import Path
from benchmark.experiment.store import Store
from tests.helpers.cells import cell
store = Store(Path({str(path)!r}))
store.write([cell(str(i)) for i in range(400)])
store._connection.execute("PRAGMA cache_size = 2")
store._connection.execute("BEGIN IMMEDIATE")
store._connection.execute("UPDATE cells SET status = 'failed'")
os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", script], check=False)
    assert (tmp_path / "s.sqlite-journal").exists(), "the kill came too early to prove anything"
    with Store(path, fresh=True) as store:
        assert store.statuses() == {}
    with Store(tmp_path / "s.1.sqlite") as old:
        assert {stored.status for stored in old.statuses().values()} == {"ok"}
        assert len(old.statuses()) == 400


def test_a_store_that_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s.sqlite").mkdir()
    with pytest.raises(StoreError, match="cannot be opened"):
        Store(tmp_path / "s.sqlite")


def test_files_that_are_no_stores_are_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "text.sqlite"
    text.write_text("this is a letter, not a database, and it is long enough to be read as a header " * 5)
    with pytest.raises(StoreError, match="not a result store"):
        Store(text)
    assert text.read_text().startswith("this is a letter")
    foreign = tmp_path / "foreign.sqlite"
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE notes (text)")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="not a result store"):
        Store(foreign)


@pytest.mark.parametrize("tables", ["cells", "cells, results"])
def test_a_store_of_another_format_is_refused_with_the_way_out(tables: str, tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript("CREATE TABLE meta (name, value); INSERT INTO meta VALUES ('format', '1')")
        for table in tables.split(", "):
            connection.execute(f"CREATE TABLE {table} (key TEXT PRIMARY KEY)")
    before = path.read_bytes()
    (tmp_path / "s.1.sqlite").touch()  # a name that is taken
    with pytest.raises(StoreError, match=r"format 1\..*--fresh, which keeps it as s\.2\.sqlite"):
        Store(path)
    assert path.read_bytes() == before
    with Store(path, fresh=True) as store:
        assert len(store) == 0
    assert (tmp_path / "s.2.sqlite").read_bytes() == before


def test_anybody_can_look_into_a_store(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        store.write([cell("a", level=0.1), cell("b", status="failed", reason="no", metrics=())])
    query = "SELECT dataset, bias, hidden, level, beta, repetition, technique, classifier, status FROM cells"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute(f"{query} ORDER BY key").fetchall() == [
            ("adult", "cpt", 0.0, 0.1, 0.25, 3, "massaging", "c45", "ok"),
            ("adult", "cpt", 0.0, 0.25, 0.25, 3, "massaging", "c45", "failed"),
        ]
