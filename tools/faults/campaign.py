"""Faults: a small run is disturbed in every way, and must lose nothing, repeat nothing and end the same.

Each campaign disturbs a run again and again at random moments or places, lets the same command go on where it
was, and holds what comes out against an undisturbed run, byte for byte. Which cells were finished is not
asked of the store: each says so itself, to a file beside the results, when it is computed.

``python -m tools.faults.campaign --times 50`` runs all of them and writes the table in ``results/faults``;
names behind the command run these alone. The tests run most of them once.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import functools
import importlib.util
import math
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools import slurm
from tools.faults.table import save_rows

__all__ = ["CAMPAIGNS", "ReferenceRun", "Row", "Trial", "campaign"]

ROOT = Path(__file__).resolve().parents[2]

EXPERIMENT = """
name = "faults"
title = "A small run to be disturbed"
seed = 11
repetitions = {repetitions}
betas = {betas}
train_rows = 300
time_limit = {time_limit}
memory_limit = {memory_limit}
[[classifiers]]
classifier = "naive_bayes"
[[datasets]]
card = "compas"
baseline = "none"
[[datasets.bias]]
edits = [{{ attribute = "race", group = "African-American" }}]
[[techniques]]
technique = "none"
[[techniques]]
technique = "massaging"
[[techniques]]
technique = "unhurried"
{more}
"""
WHOLE = {"repetitions": 6, "betas": [0.0, 0.5, 1.0], "time_limit": 60, "memory_limit": 4096, "more": ""}
N_TECHNIQUES = 3
PLANNED = 6 * 3 * N_TECHNIQUES
LONG = 30  # cells of a long block, in which a second is nothing

PLUGIN = '''
"""Techniques that take their time, so that there are moments to be disturbed in, and a note of every cell."""

import os
import time

from benchmark.experiment.evaluate import Evaluator
from benchmark.techniques import PreProcessing, Prepared, register


NOTES = os.environ["FINISHED"]


def noted(compute):
    def _cell(evaluator, block, cell, *others):
        content = compute(evaluator, block, cell, *others)
        with open(NOTES, "a") as file:
            file.write(f"{time.monotonic()} {cell.key}\\n")
        return content

    _cell.noted = True
    return _cell


if not hasattr(Evaluator._cell, "noted"):
    Evaluator._cell = noted(Evaluator._cell)


@register
class Unhurried(PreProcessing):
    name, reference, summary, version = "unhurried", "none", "Wait, and change nothing", "1"

    def _prepare(self, train, tools):
        time.sleep(0.05)
        return Prepared(train)


@register
class Slow(PreProcessing):
    name, reference, summary, version = "slow", "none", "Wait longer, and change nothing", "1"

    def _prepare(self, train, tools):
        time.sleep(float(os.environ["SLOW_SECONDS"]))
        return Prepared(train)
'''

CLUSTER = """
cluster = "LocalCluster"
jobs = 2
[arguments]
n_workers = 0
threads_per_worker = 1
dashboard_address = ":0"
silence_logs = "CRITICAL"
"""

CLOCK = '''
"""A clock that jumps years ahead and back whenever somebody looks at it."""

import random
import time

from benchmark.techniques import PreProcessing, Prepared, register

jump, true_time, true_time_ns = random.Random(0), time.time, time.time_ns
time.time = lambda: true_time() + jump.uniform(-3e8, 3e8)
time.time_ns = lambda: true_time_ns() + jump.randrange(-(10**17), 10**17)


@register
class Timeless(PreProcessing):
    name, reference, summary, version = "timeless", "none", "Change nothing", "1"

    def _prepare(self, train, tools):
        return Prepared(train)
'''

GRACE = 5.0
"""Seconds after which a cell that is finished is not computed again, whatever happens."""

HARMFUL = (
    *("raises", "raises_base_exception", "leaves_politely", "leaves", "sleeps", "eats", "prints", "closes"),
    *("forks", "lingers", "late", "moves", "codes", "weights", "shape", "nothing", "past_the_checks", "skip"),
)
NOT_FAILING = {"prints", "closes", "forks", "lingers", "late", "moves"}  # they disturb, but answer


@dataclass(frozen=True)
class Trial:
    """What one disturbed run and its resumption gave.

    Attributes
    ----------
    finished : int
        Cells that were finished when the disturbance had ended the run.
    again : int
        Those of them that were computed a second time.
    lost : int
        Those of these that had been finished for more than :data:`GRACE` seconds.
    duplicated : int
        Rows of ``results.csv`` that stand there twice.
    same : bool
        Whether all outputs are those of the undisturbed run, byte for byte.
    seen : str
        How the disturbance showed.
    """

    finished: int
    again: int
    lost: int
    duplicated: int
    same: bool
    seen: str


@dataclass
class Row:
    """A campaign's line in the table."""

    name: str
    done: str
    times: int = 0
    finished: int = 0
    again: int = 0
    lost: int = 0
    duplicated: int = 0
    same: int = 0
    seen: Counter[str] = field(default_factory=Counter)

    def add(self, trial: Trial) -> None:
        """Count a trial."""
        self.times += 1
        self.finished += trial.finished
        self.again += trial.again
        self.lost += trial.lost
        self.duplicated += trial.duplicated
        self.same += trial.same
        self.seen[trial.seen] += 1


class ReferenceRun:
    """A small experiment, its undisturbed outputs, and the means to run it again.

    Parameters
    ----------
    folder : Path
        An empty folder.
    n_long : int, default 30
        Cells of the long block.
    """

    def __init__(self, folder: Path, n_long: int = LONG) -> None:
        self.folder = folder
        self.n_long = n_long
        self.experiment = self.write("faults.toml", EXPERIMENT.format(**WHOLE))
        self.plugin = self.write("unhurried.py", PLUGIN)
        self.clock = self.write("clock.py", CLOCK)
        self.hostile = Path(__file__).with_name("hostile.py")
        self.whole = folder / "whole"
        started = time.monotonic()
        process = self.start(self.whole)
        self.wait_for_store(process, self.whole)
        self.starting = time.monotonic() - started
        ended(process)
        self.seconds = time.monotonic() - started
        self.expected = outputs(self.whole)
        self.cluster = self.write("cluster.toml", CLUSTER)

    @functools.cached_property
    def long_block(self) -> Path:
        """Experiment of one block whose cells take about a second each; its whole run lies there."""
        names = [f"slow_{number}" for number in range(self.n_long - N_TECHNIQUES)]
        entries = "".join(f'[[techniques]]\ntechnique = "slow"\nname = "{name}"\n' for name in names)
        one = {**WHOLE, "repetitions": 1, "betas": [0.5], "more": entries}
        path = self.write("long.toml", EXPERIMENT.format(**one))
        ended(self.start(self.folder / "long", experiment=path, slow_seconds=0))
        return path

    def write(self, name: str, text: str) -> Path:
        """Write a file beside the others."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def start(
        self,
        output: Path,
        *more: str | Path,
        experiment: Path | None = None,
        where: Sequence[str | Path] = ("--workers", "2"),
        file_limit: int | None = None,
        slow_seconds: float = 1,
    ) -> subprocess.Popen[str]:
        """Start a run in a session of its own; no file of it may grow beyond a limit of bytes, if any.

        The cells of a long block wait for some seconds each, on which no number depends.
        """
        kept = {name: value for name, value in os.environ.items() if not name.startswith("BETABENCH_")}

        def limit() -> None:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # else ignored where this runs in the background
            if file_limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))

        words = ("--experiment", experiment or self.experiment, "--plugin", self.plugin, "--output", output)
        always = (*where, "--offline", "--figures", "none")
        return subprocess.Popen(
            [sys.executable, str(ROOT / "run_all.py"), *map(str, (*words, *always, *more))],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={
                **kept,
                "COLUMNS": "100",
                "BETABENCH_CACHE": str(self.folder / "cache"),
                "FINISHED": str(notes_beside(output)),
                "SLOW_SECONDS": str(slow_seconds),
                "PYTHONPATH": str(ROOT),
            },
            start_new_session=True,
            preexec_fn=limit,
        )

    def wait_for_store(self, process: subprocess.Popen[str], output: Path) -> None:
        """Wait until a run has come so far that there is something to disturb."""
        while not (output / "results.sqlite").exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)

    def wait(self, process: subprocess.Popen[str], output: Path, rng: random.Random) -> None:
        """Wait for a random moment between the making of the store and the run's end."""
        self.wait_for_store(process, output)
        time.sleep(rng.uniform(0, self.seconds - self.starting))

    def finish(
        self,
        output: Path,
        *more: str | Path,
        experiment: Path | None = None,
        where: Sequence[str | Path] = ("--workers", "1"),  # their number changes nothing
    ) -> None:
        """Run to the end, without any waiting: nothing disturbs it."""
        process = self.start(output, *more, experiment=experiment, where=where, slow_seconds=0)
        out, err = process.communicate(timeout=600)
        assert process.returncode == 0, f"the run did not come to its end: {out}{err}"

    def resumed(
        self,
        output: Path,
        seen: str,
        *more: str,
        ended_at: float | None = None,
        stored: set[str] | None = None,
        **how: Any,
    ) -> Trial:
        """Let a disturbed run go on, and judge it by the undisturbed one.

        What was stored then is what is stored now, unless the run itself has gone on.
        """
        ended_at = time.monotonic() if ended_at is None else ended_at
        stored = good_cells(output) if stored is None else stored
        self.finish(output, *more, **how)
        notes = finishes(output)
        finished = {key for key, times in notes.items() if times[0] <= ended_at}
        again = {key for key in finished if len(notes[key]) > 1}
        lost = {key for key in again if key in stored or notes[key][0] < ended_at - GRACE}
        expected = outputs(self.folder / "long") if "experiment" in how else self.expected
        return judged(output, expected, seen, len(finished), len(again), len(lost))


def judged(
    output: Path, expected: dict[str, bytes], seen: str, finished: int = 0, again: int = 0, lost: int = 0
) -> Trial:
    """Hold a finished folder against the outputs of an undisturbed run."""
    rows = (output / "results.csv").read_text(encoding="utf-8").splitlines()
    where = [row.rpartition(",")[0] for row in rows]
    duplicated = len(where) - len(set(where))
    return Trial(finished, again, lost, duplicated, outputs(output) == expected, seen)


def notes_beside(output: Path) -> Path:
    """Return the file in which the cells of all runs into a folder say that they are finished."""
    return output.with_name(output.name + ".finished")


def finishes(output: Path) -> dict[str, list[float]]:
    """Return the moments at which cells were finished in a folder's runs, by their keys."""
    notes: dict[str, list[float]] = {}
    if (path := notes_beside(output)).exists():
        for line in path.read_text().splitlines():
            moment, key = line.split()
            notes.setdefault(key, []).append(float(moment))
    return notes


def wait_for_cells(process: subprocess.Popen[str], output: Path, number: int) -> None:
    """Wait until so many cells of a run are finished, or it has ended."""
    while process.poll() is None and len(finishes(output)) < number:
        time.sleep(0.02)


def outputs(folder: Path) -> dict[str, bytes]:
    """Return every output that must not depend on how it was computed."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "manifest.json" and ".sqlite" not in path.name
    }


def good_cells(folder: Path) -> set[str]:
    """Return the keys of the good cells in a folder's store."""
    path = folder / "results.sqlite"
    if not path.exists():
        return set()
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as connection:
        try:
            found = connection.execute("SELECT key FROM cells WHERE status = 'ok'").fetchall()
        except sqlite3.OperationalError:  # the table is not there yet
            return set()
    return {key for (key,) in found}


def ended(process: subprocess.Popen[str]) -> str:
    """Wait for a run and say how it ended; a traceback, or more than a line of error, is no way to end."""
    _, err = process.communicate(timeout=600)
    said = [line for line in err.splitlines() if line.strip()]
    assert "Traceback" not in err, err
    assert len(said) <= 1, err
    return f"exit code {process.returncode}"


# --------------------------------------------------------------------------------------------- the processes


def kill_coordinator(reference: ReferenceRun, output: Path, rng: random.Random) -> Trial:
    """Kill the coordinator (SIGKILL) at a random moment."""
    process = reference.start(output)
    reference.wait(process, output, rng)
    return killed(reference, output, process)


def kill_midway(reference: ReferenceRun, output: Path, rng: random.Random) -> Trial:
    """Kill the coordinator (SIGKILL) when a random number of cells is finished."""
    process = reference.start(output)
    wait_for_cells(process, output, rng.randrange(1, PLANNED))
    time.sleep(rng.uniform(0, 0.05))
    return killed(reference, output, process)


def killed(reference: ReferenceRun, output: Path, process: subprocess.Popen[str]) -> Trial:
    """Kill a coordinator now, and let the same command go on."""
    ended_at = time.monotonic()  # to end takes time on a busy machine, and so do the workers
    process.kill()
    process.communicate()
    stored = len(good_cells(output))
    if process.returncode == 0:
        when = "after its end"
    else:
        when = (
            "with all cells stored"
            if stored == PLANNED
            else "with some cells stored"
            if stored
            else "before any cell was stored"
        )
    return reference.resumed(output, f"killed {when}", ended_at=ended_at)


def kill_in_long_block(reference: ReferenceRun, output: Path, rng: random.Random) -> Trial:
    """Kill all processes of a run (SIGKILL) at a random moment of a block of 30 cells of a second each."""
    return killed_in_long_block(reference, output, rng, ("--workers", "2"))


def kill_in_long_block_on_dask(reference: ReferenceRun, output: Path, rng: random.Random) -> Trial:
    """Do the same on a Dask cluster of two workers, scheduler included."""
    return killed_in_long_block(reference, output, rng, ("--cluster", reference.cluster))


def killed_in_long_block(
    reference: ReferenceRun, output: Path, rng: random.Random, where: Sequence[str | Path]
) -> Trial:
    how = {"experiment": reference.long_block, "where": where}
    process = reference.start(output, **how)
    wait_for_cells(process, output, rng.randrange(1, reference.n_long))
    time.sleep(rng.uniform(0, 1))
    all_processes, ended_at = [process.pid, *descendants(process.pid)], time.monotonic()
    for pid in rng.sample(all_processes, len(all_processes)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.communicate()
    when = "in its midst" if process.returncode else "after its end"
    return reference.resumed(output, f"killed {when}", ended_at=ended_at, **how)


def descendants(pid: int) -> list[int]:
    """Return the processes that a process has started, and those that these have."""
    with contextlib.suppress(OSError):  # it has ended meanwhile
        files = Path(f"/proc/{pid}/task").glob("*/children")
        children = [int(child) for file in files for child in file.read_text().split()]
        return [one for child in children for one in (child, *descendants(child))]
    return []


def kill_workers(reference: ReferenceRun, output: Path, rng: random.Random) -> Trial:
    """Kill three workers of a run (SIGKILL) at random moments; go on with `--retry-failed`."""
    process = reference.start(output)
    reference.wait(process, output, rng)
    left = 3
    while process.poll() is None and left:
        time.sleep(rng.uniform(0, 0.5))
        if found := workers_of(process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(rng.choice(found), signal.SIGKILL)
                left -= 1
    _, err = process.communicate(timeout=600)
    assert process.returncode in {0, 1, 2}, err
    # Nobody can know that it was not the cell: one that began in a new process is recorded as crashed.
    seen = {0: "unnoticed", 1: "cells recorded as crashed", 2: "stopped: a worker could not start"}
    how = "over before a worker was killed" if left == 3 else seen[process.returncode]
    return reference.resumed(output, how, "--retry-failed")


def workers_of(pid: int) -> list[int]:
    """Return the worker processes that a coordinator has just now, with what they are forked from.

    That is a process of its own, or forked off the coordinator, whose command line it has then.
    """
    found = descendants(pid)
    with contextlib.suppress(OSError):  # one of them has just ended
        own, *lines = (Path(f"/proc/{one}/cmdline").read_bytes() for one in (pid, *found))
        theirs = zip(found, lines, strict=True)
        return [one for one, line in theirs if line == own or b"forkserver" in line or b"spawn_main" in line]
    return []


def cancel_job_on_slurm(reference: ReferenceRun, output: Path, rng: random.Random) -> Trial:
    """Cancel one of two jobs of a run on SLURM (scancel) when a random number of cells is finished."""
    if slurm.missing() or importlib.util.find_spec("dask_jobqueue") is None:
        return reference.resumed(output, "not tried: SLURM or dask-jobqueue is not installed")
    with slurm.slurm() as cluster:
        process = reference.start(output, where=("--cluster", cluster))
        wait_for_cells(process, output, rng.randrange(1, PLANNED))
        jobs = slurm.running_jobs()
        if jobs:
            slurm.cancel(rng.choice(jobs))
        ended_at, stored = time.monotonic(), good_cells(output)
        out, err = process.communicate(timeout=600)
        assert process.returncode == 0, out + err
        seen = f"cancelled one of {len(jobs)} jobs"
        return reference.resumed(output, seen, ended_at=ended_at, stored=stored)


def interrupt(reference: ReferenceRun, output: Path, rng: random.Random) -> Trial:
    """Interrupt coordinator and workers (SIGINT) when some cells are finished, as Ctrl-C does."""
    process = reference.start(output)
    wait_for_cells(process, output, rng.randrange(PLANNED))
    ended_at = time.monotonic()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    return reference.resumed(output, ended(process), ended_at=ended_at)


def two_at_once(reference: ReferenceRun, output: Path, rng: random.Random) -> Trial:
    """Start a second coordinator on the same store."""
    first = reference.start(output)
    time.sleep(rng.uniform(0, reference.seconds - reference.starting))
    second = reference.start(output)
    said = [process.communicate(timeout=600) for process in (first, second)]
    codes = sorted(process.returncode for process in (first, second))
    assert codes in ([0, 2], [0, 0]), said
    if codes == [0, 0]:  # one had ended before the other came to the store
        assert any("cells, 0 of them computed now" in out for out, _ in said), said
        return reference.resumed(output, "one after the other")
    assert any("Another run is writing" in err for _, err in said), said
    return reference.resumed(output, "one of them refused")


def clock_jumps(reference: ReferenceRun, output: Path, _rng: random.Random) -> Trial:
    """Let the clock jump years ahead or back at every look, in coordinator and workers."""
    own = ("--plugin", str(reference.clock), "--without", "timeless")
    return reference.resumed(output, "unnoticed", *own, ended_at=math.inf)


def harmful_techniques(reference: ReferenceRun, output: Path, _rng: random.Random) -> Trial:
    """Put 18 techniques beside good ones: they raise, crash, hang, leak, print, fork, answer garbage."""
    entries = "".join(f'[[techniques]]\ntechnique = "{name}"\n' for name in HARMFUL)
    small = {"repetitions": 1, "betas": [0.5], "time_limit": 6, "memory_limit": 1000, "more": entries}
    experiment = reference.write("harmful.toml", EXPERIMENT.format(**small))
    process = reference.start(output, "--plugin", reference.hostile, experiment=experiment)
    assert ended(process) == "exit code 1"
    with (output / "failures.csv").open(newline="") as file:
        failed = {row["technique"] for row in csv.DictReader(file)}
    expected = set(reference.expected["results.csv"].splitlines())
    good = [
        line
        for line in (output / "results.csv").read_bytes().splitlines()
        if line.split(b",")[3] in {b"none", b"massaging", b"unhurried"}
    ]
    n_expected = sum(b",0.5,massaging," in line and b",0," in line for line in expected) * N_TECHNIQUES
    same = expected.issuperset(good) and failed == set(HARMFUL) - NOT_FAILING and n_expected <= len(good)
    notes = finishes(output)
    again = sum(len(times) > 1 for times in notes.values())
    return Trial(
        len(notes), again, again, len(good) - len(set(good)), same, f"{len(failed)} rows of failures"
    )


# -------------------------------------------------------------------------------------------------- the disk


@contextlib.contextmanager
def disk(folder: Path, size: int) -> Iterator[bool]:
    """Mount a small file system of its own, if that is permitted; yield whether it was."""
    folder.mkdir(parents=True)
    try:
        mounted = not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)],
            capture_output=True,
            check=False,
        ).returncode
    except OSError:  # no such command
        mounted = False
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


def remount(folder: Path, option: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{option}", str(folder)], check=True)


def full_disk(reference: ReferenceRun, output: Path, rng: random.Random) -> Trial:
    """Let the disk become full at a random place (a small tmpfs, or else a limit on file sizes)."""
    needed = (reference.whole / "results.sqlite").stat().st_size
    size = rng.randrange(8_192, needed)
    with disk(output, size) as mounted:
        process = reference.start(output, file_limit=None if mounted else size)
        end = ended(process)
        if mounted:
            remount(output, "size=100m")
        return reference.resumed(output, f"{end}, {'tmpfs' if mounted else 'file size limit'}")


def read_only(reference: ReferenceRun, output: Path, rng: random.Random) -> Trial:
    """Make the folder read-only after a kill (a tmpfs mounted anew)."""
    with disk(output, 100_000_000) as mounted:
        process = reference.start(output)
        reference.wait(process, output, rng)
        process.kill()
        process.communicate()
        if not mounted:
            return reference.resumed(output, "not tried: mounting is not permitted")
        remount(output, "ro")
        end = ended(reference.start(output))
        remount(output, "rw")
        return reference.resumed(output, end)


def truncate(reference: ReferenceRun, output: Path, rng: random.Random) -> Trial:
    """Cut the finished store off at a random place."""
    content = (reference.whole / "results.sqlite").read_bytes()
    return damage(reference, output, content[: rng.randrange(1, len(content))])


def flip_bits(reference: ReferenceRun, output: Path, rng: random.Random) -> Trial:
    """Flip one to five random bits of the finished store."""
    content = bytearray((reference.whole / "results.sqlite").read_bytes())
    for _ in range(rng.randint(1, 5)):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return damage(reference, output, bytes(content))


def damage(reference: ReferenceRun, output: Path, content: bytes) -> Trial:
    """Let a run go on with a damaged store: it must say so, or find every cell as it was."""
    output.mkdir()
    (output / "results.sqlite").write_bytes(content)
    process = reference.start(output)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, out + err
    found = re.search(r"The store was damaged .*: ([\d,]+) cell\(s\) were rescued", out)
    kept = re.search(r"kept as", out)
    computed = re.search(r"cells, ([\d,]+) of them computed now", out)
    assert computed is not None
    assert (found is None) == (kept is None) == (int(computed[1]) == 0 and found is None), out
    seen = "nothing in use was hit" if found is None else "named; the old store kept, sound cells rescued"
    return judged(output, reference.expected, seen, PLANNED, int(computed[1]), int(computed[1]))


Campaign = Callable[[ReferenceRun, Path, random.Random], Trial]
CAMPAIGNS: dict[str, Campaign] = {
    function.__name__: function
    for function in (
        *(
            kill_coordinator,
            kill_midway,
            kill_in_long_block,
            kill_in_long_block_on_dask,
            kill_workers,
            cancel_job_on_slurm,
            interrupt,
            two_at_once,
            full_disk,
            read_only,
            truncate,
            flip_bits,
        ),
        *(clock_jumps, harmful_techniques),
    )
}
"""What can be done to a run, by name."""


def campaign(
    reference: ReferenceRun, name: str, times: int, seed: int = 0, minutes: float = float("inf")
) -> Row:
    """Disturb a run again and again.

    Parameters
    ----------
    bench : ReferenceRun
        What is disturbed.
    name : str
        One of :data:`CAMPAIGNS`.
    times : int
        How often.
    seed : int, default 0
        Of the moments and places.
    minutes : float, default inf
        No trial begins later than this.
    """
    row = Row(name, (CAMPAIGNS[name].__doc__ or "").rstrip("."))
    deadline = time.monotonic() + 60 * minutes
    for number in range(times):
        if time.monotonic() > deadline:
            break
        output = reference.folder / f"{name}_{number}"
        row.add(CAMPAIGNS[name](reference, output, random.Random(f"{name} {seed} {number}")))
        shutil.rmtree(output)
        notes_beside(output).unlink(missing_ok=True)
    return row


def main() -> int:
    """Run campaigns and write their rows; return 1 if a run ended with other bytes or a cell twice."""
    parser = argparse.ArgumentParser(prog="python -m tools.faults.campaign", description="Disturb runs.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"any of {', '.join(CAMPAIGNS)}; default: all"
    )
    parser.add_argument("--times", type=int, default=50, metavar="N", help="trials of each; default: 50")
    parser.add_argument("--minutes", type=float, default=float("inf"), metavar="M", help="at most, for each")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        reference = ReferenceRun(Path(folder))
        spoiled = False
        for name in options.names or CAMPAIGNS:
            row = campaign(reference, name, options.times, minutes=options.minutes)
            save_rows("campaigns", {name: vars(row)})
            print(row, flush=True)
            spoiled |= row.same < row.times or row.duplicated > 0
    return int(spoiled)


if __name__ == "__main__":
    sys.exit(main())
