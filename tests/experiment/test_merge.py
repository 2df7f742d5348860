import contextlib
import dataclasses
import hashlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from benchmark.cli import main
from benchmark.errors import StoreError
from benchmark.experiment.store import CellResult, MetricValue, Store
from benchmark.techniques import Convergence
from tests.helpers.cells import cell as plain_cell
from tests.helpers.protocol import file_of

# Six samples of two datasets, kept scores, and a technique without any.
EXPERIMENT = file_of(
    name="parts",
    repetitions=3,
    betas=[0.0, 0.5],
    train_rows=500,
    metrics=["paper", "auc_gap", "auc"],
    headline=["discrimination", "auc_gap"],
    datasets=["compas", "dutch"],
    techniques=["none", {"technique": "repair", "parameters": {"level": 0.5}}, "reject_option"],
)


def cell(key: str, **changes: object) -> CellResult:
    return plain_cell(key, **{"convergence": Convergence(1, 0.0, 1e-6), "scoring": "code", **changes})


def failed(key: str, reason: str = "no") -> CellResult:
    return cell(key, status="failed", reason=reason, metrics=(), counts={}, convergence=None, scoring="")


def stored(path: Path, *cells: CellResult) -> Path:
    with Store(path) as store:
        store.write(cells)
    return path


def state(path: Path) -> tuple[str, int]:
    return hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns


def test_what_is_missing_is_taken_over_whole_and_the_first_is_kept(tmp_path: Path) -> None:
    one = stored(tmp_path / "1.sqlite", cell("a", rows=b"a"), failed("b"))
    # Scorings have other numbers here, and one cell is in both.
    other = cell("c", scoring="else", rows=b"c", metrics=(MetricValue("accuracy", 0.25),))
    two = stored(tmp_path / "2.sqlite", other, cell("a", seconds=9.0, rows=b"a"), failed("b", "no, at 0x7f"))
    before = state(one), state(two)
    with Store(tmp_path / "all.sqlite") as store:
        assert store.merge([one, two]) == 3
        assert len(store) == 3
        assert store.merge([two, one, two]) == 0
        expected = [cell("a"), failed("b"), dataclasses.replace(other, rows=None)]
        assert [*store.read(["a", "b", "c"])] == expected
        assert [found.rows for found in store.read("abc", predictions=True)] == [b"a", None, b"c"]
    assert (state(one), state(two)) == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"status": "failed", "reason": "no", "metrics": (), "counts": []},
            "same status.*Got: ok and failed",
        ),
        ({"counts": [[[1, 2], [3, 4]], [[5, 6], [8, 7]]]}, "same counts"),
        (
            {
                "metrics": (
                    MetricValue("accuracy", 0.3),
                    MetricValue("discrimination", None, "nobody is deprived"),
                )
            },
            r"same accuracy in both. Got: 0\.3\d+ and 0\.3\.",
        ),
        ({"metrics": (MetricValue("discrimination", 0.0),)}, r"discrimination.*nobody is deprived and 0\.0"),
        ({"metrics": (MetricValue("discrimination", None, "else"),)}, "nobody is deprived and else"),
    ],
)
def test_contradictions_are_refused_and_nothing_is_merged(
    changes: dict[str, object], message: str, tmp_path: Path
) -> None:
    one = stored(tmp_path / "1.sqlite", cell("a"))
    two = stored(tmp_path / "2.sqlite", cell("b"))
    three = stored(tmp_path / "3.sqlite", cell("c"), cell("b", **changes))
    with Store(tmp_path / "all.sqlite") as store:
        with pytest.raises(StoreError, match=message) as refused:
            store.merge([one, two, three])
        cell_named = "bias cpt, hidden 0.0, level 0.25, beta 0.25, repetition 3, technique massaging"
        assert cell_named in str(refused.value)
        assert f"{two} and {three} contradict each other" in str(refused.value)
        assert len(store) == 0
        assert store.merge([one, two]) == 2
        with pytest.raises(StoreError, match=message) as refused:
            store.merge([three])
        assert f"{store.path} and {three} contradict each other" in str(refused.value)
        assert [*store.read(["a", "b", "c"])] == [cell("a"), cell("b")]


def test_values_that_other_code_computed_are_no_contradiction(tmp_path: Path) -> None:
    one = stored(tmp_path / "1.sqlite", cell("a"))
    two = stored(
        tmp_path / "2.sqlite", cell("a", scoring="corrected", metrics=(MetricValue("accuracy", 0.5),))
    )
    with Store(tmp_path / "all.sqlite") as store:
        assert store.merge([one, two]) == 1
        assert [*store.read(["a"])] == [cell("a")]


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    good = stored(tmp_path / "good.sqlite", cell("a"))
    other = stored(tmp_path / "other.sqlite", cell("a"))
    with sqlite3.connect(other) as connection:
        connection.execute("UPDATE meta SET value = '99'")
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    text = tmp_path / "text.sqlite"
    text.write_text("no database at all, but long enough to be looked at as one" * 20)
    (tmp_path / "empty.sqlite").touch()
    with Store(tmp_path / "all.sqlite") as store:
        for path, message in (
            (other, "store format 2. Got: format 99"),
            (text, "is not a result store"),
            (tmp_path / "empty.sqlite", "is not a result store"),
            (tmp_path / "nowhere", "There is no result store"),
            (store.path, "into itself"),
        ):
            with pytest.raises(StoreError, match=message) as refused:
                store.merge([good, path])
            assert path.name in str(refused.value)
        assert len(store) == 0


@pytest.mark.parametrize("damage", ["cut short", "overwritten"])
def test_a_damaged_store_is_named_and_nothing_is_merged(damage: str, tmp_path: Path) -> None:
    path = stored(tmp_path / "1.sqlite", *(cell(f"{number:064}") for number in range(500)))
    with path.open("r+b") as file:
        middle = path.stat().st_size // 2 // 4096 * 4096
        if damage == "cut short":
            file.truncate(middle)
        else:
            file.seek(middle)
            file.write(bytes(4096))
    with Store(tmp_path / "all.sqlite") as store:
        with pytest.raises(StoreError, match=r"1\.sqlite is damaged.*(malformed|error code 11)"):
            store.merge([path])
        assert len(store) == 0


@pytest.mark.parametrize("known", [[], ["b"]])
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE cells SET beta = 0.5 WHERE key = 'b'",
        "UPDATE cells SET numbers = (SELECT numbers FROM cells WHERE key = 'c') WHERE key = 'b'",
        "PRAGMA ignore_check_constraints = 1; UPDATE cells SET status = 'nk' WHERE key = 'b'",
    ],
)
def test_a_changed_value_in_a_store_is_damage(change: str, known: list[str], tmp_path: Path) -> None:
    path = stored(tmp_path / "1.sqlite", cell("a"), cell("b"), cell("c", metrics=()))
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(change)
    with Store(tmp_path / "all.sqlite") as store:
        store.write(map(cell, known))
        with pytest.raises(StoreError, match=r"1\.sqlite is damaged.*1 cell\(s\) do not match"):
            store.merge([path])
        assert len(store) == len(known)
    Store(path).close()  # rescues the other one
    with Store(tmp_path / "all.sqlite") as store:
        assert store.merge([path]) == 2


def test_a_file_without_cells_and_a_locked_one_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "1.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript("CREATE TABLE meta (name, value); INSERT INTO meta VALUES ('format', '2')")
    held = stored(tmp_path / "2.sqlite", cell("a"))
    with Store(tmp_path / "all.sqlite") as store, contextlib.closing(sqlite3.connect(held)) as other:
        with pytest.raises(StoreError, match=r"is not a result store.*declarations of its tables"):
            store.merge([path])
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match=r"cannot be read now.*locked"):
            store.merge([held])


def test_a_store_that_a_run_holds_is_refused(tmp_path: Path) -> None:
    with (
        Store(tmp_path / "1.sqlite") as held,
        Store(tmp_path / "all.sqlite") as store,
        pytest.raises(StoreError, match="Another run is writing"),
    ):
        store.merge([held.path])


@pytest.mark.skipif(not hasattr(os, "kill"), reason="needs signals")
def test_a_store_that_was_killed_while_it_wrote_is_left_as_it_is(tmp_path: Path) -> None:
    path = stored(tmp_path / "1.sqlite", cell("a"))
    script = (
        "import os, sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('PRAGMA cache_size = 1'); c.execute('BEGIN')\n"
        "c.execute('UPDATE cells SET reason = hex(zeroblob(90000))')\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)])
    assert done.returncode == -signal.SIGKILL
    assert path.with_name("1.sqlite-journal").stat().st_size
    before = state(path)
    with Store(tmp_path / "all.sqlite") as store:
        with pytest.raises(StoreError, match="start its run again if that was killed"):
            store.merge([path])
        assert state(path) == before
        Store(path).close()
        with Store(path) as again:
            assert [*again.read(["a"])] == [cell("a")]
        assert store.merge([path]) == 1


# --------------------------------------------------------------------------------------------- command line


@pytest.fixture
def quick(here: Path, unread: None) -> Path:
    """Return the experiment's file in an empty folder."""
    file = here / "parts.toml"
    file.write_text(EXPERIMENT)
    return file


HIDDEN = """doses = [0.05]
hidden = [0.0, 0.05]
paired_betas = true
train = "data"
holdout = 0.3"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("levels", "cells"),
    [
        ("betas = [0.0, 0.5]", (24, 36, 12)),
        pytest.param(HIDDEN, (80, 120, 40), marks=pytest.mark.nightly),
    ],
)
def test_merged_shards_are_the_whole_run_byte_for_byte(
    levels: str, cells: tuple[int, int, int], quick: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quick.write_text(EXPERIMENT.replace("betas = [0.0, 0.5]", levels))
    run = ["run", "--experiment", str(quick), "--offline", "--no-figures", "--workers", "1"]
    assert main([*run, "--output", "whole"]) == 0
    shards = [f"results/parts_embedded_shard_{number}_of_3" for number in (1, 2, 3)]
    for number, folder in enumerate(shards, 1):
        assert main([*run, "--shard", f"{number}/3"]) == 0
        names = {path.name for path in Path(folder).iterdir()}
        assert names == {"results.sqlite", "results.sqlite.lock", "manifest.json"}
        assert f'"shard": "{number}/3"' in (Path(folder) / "manifest.json").read_text()
    before = [state(Path(folder) / "results.sqlite") for folder in shards]
    capsys.readouterr()
    assert main(["merge", *shards[1:], "--output", "merged"]) == 0
    assert f"{cells[0]} cells, {cells[0]} of them new" in capsys.readouterr().out
    assert main(["merge", shards[0], f"{shards[1]}/results.sqlite", "--output", "merged"]) == 0
    assert f"{cells[1]} cells, {cells[2]} of them new" in capsys.readouterr().out
    assert before == [state(Path(folder) / "results.sqlite") for folder in shards]
    assert main([*run, "--output", "merged"]) == 0
    assert f"{cells[1]} cells, 0 of them computed now" in capsys.readouterr().out
    varying = {"manifest.json", "results.sqlite", "results.sqlite.lock"}
    for path in (p for p in Path("whole").rglob("*") if p.is_file() and p.name not in varying):
        assert (Path("merged") / path.relative_to("whole")).read_bytes() == path.read_bytes(), path
    for name in ("results.csv", "summary.csv", "failures.csv", "metrics.csv"):
        assert len((Path("merged") / name).read_bytes().splitlines()) > 1, name


def test_a_shard_in_the_folder_of_a_run_forgets_none_of_its_files(quick: Path) -> None:
    run = ["run", "--experiment", str(quick), "--offline", "--no-figures", "--workers", "1"]
    run += ["--output", "out"]
    small = ["--datasets", "compas", "--techniques", "none"]
    assert main([*run, *small]) == 0
    tables = set(Path("out/tables").iterdir())
    assert main([*run, *small, "--shard", "1/2"]) == 0
    assert set(Path("out/tables").iterdir()) == tables
    shutil.copy("out/manifest.json", "shard.json")
    assert main([*run, "--datasets", "dutch", "--techniques", "none", "--fresh"]) == 0
    assert not [path for path in Path("out/tables").iterdir() if "compas" in path.name]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--shard", "4/3"], "a number from 1 to the count"),
        (["run", "--shard", "third"], "such as 3/10"),
        (["run", "--shard", "1/13"], "at most 12 shards"),
        (["merge", "nowhere", "--output", "merged"], "There is no result store nowhere"),
    ],
)
def test_bad_input_ends_with_a_message_and_code_2(
    arguments: list[str], message: str, quick: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--experiment", str(quick), "--offline"] if arguments[0] == "run" else []
    assert main([*arguments, *more]) == 2
    assert message in capsys.readouterr().err
    assert not Path("results").exists()
