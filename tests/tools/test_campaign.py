"""What campaigns of faults stand on; `python -m tools.faults.campaign` runs them and writes the table."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmark.errors import ExperimentError
from benchmark.experiment.pool import Limits, Task
from tests.helpers.pool import run_tasks
from tools.faults.campaign import ReferenceRun, judged, workers_of

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc and POSIX signals"),
]


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> ReferenceRun:
    return ReferenceRun(tmp_path_factory.mktemp("faults"), n_long=12)


def test_a_worse_ending_is_noticed(reference: ReferenceRun, tmp_path: Path) -> None:
    output = tmp_path / "spoiled"
    for name, content in reference.expected.items():
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        (output / name).write_bytes(content)
    assert judged(output, reference.expected, "").same
    rows = (output / "results.csv").read_text().splitlines(keepends=True)
    (output / "results.csv").write_text("".join([*rows, rows[-1]]))
    trial = judged(output, reference.expected, "")
    assert (trial.same, trial.duplicated) == (False, 1)


class Echo:
    """A handler that is larger than a pipe holds."""

    def __init__(self, ballast: bytes) -> None:
        self.ballast = ballast

    def __call__(self, block: object, cells: tuple[object, ...]) -> Iterator[object]:
        yield from cells


@contextlib.contextmanager
def workers_killed_at_birth(most: float) -> Iterator[set[int]]:
    """Kill at most some of the workers of this process as soon as they are there; give those killed."""
    done, killed = threading.Event(), set[int]()

    def kill() -> None:
        while not done.is_set():
            for worker in workers_of(os.getpid()):
                if worker not in killed and len(killed) < most:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(worker, signal.SIGKILL)
                    killed.add(worker)
            time.sleep(0.001)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield killed
    finally:
        done.set()
        killer.join()


def echoes() -> list[object]:
    make_handler = functools.partial(Echo, bytes(10**7))
    batches = run_tasks([Task(0, (1, 2))], make_handler, n_workers=1, limits=Limits(60))
    return [finished.result for batch in batches for finished in batch]


def test_a_worker_that_is_killed_at_its_birth_is_replaced() -> None:
    with workers_killed_at_birth(most=2) as killed:
        assert echoes() == [1, 2]
    assert len(killed) == 2


def test_workers_that_are_all_killed_at_their_birth_are_an_error_and_not_waited_for() -> None:
    with (
        workers_killed_at_birth(most=math.inf) as killed,
        pytest.raises(ExperimentError, match=r"could not start.*SIGKILL"),
    ):
        echoes()
    assert 3 <= len(killed) <= 6, "each time the worker, what it would be forked from, or both"
