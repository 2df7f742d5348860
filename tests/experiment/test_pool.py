import functools
import itertools
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing import forkserver, resource_tracker
from pathlib import Path

import numpy as np
import psutil
import pytest

from benchmark.errors import ExperimentError
from benchmark.experiment import pool
from benchmark.experiment.pool import Failure, Finished, Limits, Pool, Task
from tests.helpers.marks import nightly_but
from tests.helpers.pool import Handler, by_block, run_tasks

posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


FORKS = sys.platform == "linux"

OTHERS: set[psutil.Process] = set()
"""What tests of other files have left running, and what starts workers."""


@pytest.fixture(scope="module", autouse=True)
def _own_server() -> Iterator[None]:
    """Fork workers from a server that has imported what they do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "PRELOADED", ("tests.helpers.pool",))
        forkserver._forkserver._stop()
        resource_tracker.ensure_running()
        OTHERS.update(psutil.Process().children(recursive=True))
        yield
        forkserver._forkserver._stop()  # it waits until all workers have ended


@pytest.fixture
def written(capfd: pytest.CaptureFixture[str]) -> Iterator[pytest.CaptureFixture[str]]:
    """Fork workers from a server that writes where the test does."""
    forkserver._forkserver._stop()
    yield capfd
    forkserver._forkserver._stop()


def nothing_is_left() -> bool:
    """Return whether all processes that these tests started have ended and were waited for."""
    left = set(psutil.Process().children(recursive=True)) - OTHERS
    return all("multiprocessing.forkserver" in " ".join(one.cmdline()) and not one.children() for one in left)


class Unstartable:
    def __init__(self) -> None:
        raise ImportError("no such library")


def run(
    tasks: list[Task], *, n_workers: int = 2, time_limit: float = 30, memory_limit: float = math.inf
) -> dict[int, list[object]]:
    return by_block(run_tasks(tasks, Handler, n_workers=n_workers, limits=Limits(time_limit, memory_limit)))


@pytest.mark.parametrize("n_workers", [1, 3])
def test_every_task_comes_back_once_with_its_results_in_order(n_workers: int) -> None:
    tasks = [Task(b, tuple(range(b % 4 + 1))) for b in range(9)]
    assert run(tasks, n_workers=n_workers) == {t.block: [(t.block, c) for c in t.cells] for t in tasks}


def test_a_crash_costs_one_cell_and_says_how_the_process_ended() -> None:
    results = run([Task(0, (1, "die", 2)), Task(1, (1, "exit")), Task(2, ("raise", 5))], n_workers=1)
    assert results[0][0] == (0, 1)
    assert results[0][2] == (0, 2)
    for block, place, text in ((0, 1, "SIGKILL"), (1, 1, "exit code 3"), (2, 0, "exit code 1")):
        failure = results[block][place]
        assert isinstance(failure, Failure)
        assert failure.status == "crashed"
        assert text in failure.reason
    assert results[2][1] == (2, 5)


def test_a_hanging_cell_is_cut_off_and_the_rest_goes_on() -> None:
    results = run([Task(0, (1, "hang", 2)), Task(1, (7,))], time_limit=1.0)
    failure = results[0][1]
    assert isinstance(failure, Failure)
    assert failure.status == "timeout"
    assert "time limit of 1 seconds" in failure.reason
    assert results[0][0] == (0, 1)
    assert results[0][2] == (0, 2)
    assert results[1] == [(1, 7)]
    assert nothing_is_left()


def test_workers_use_one_thread_and_the_parents_environment_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert run([Task(0, ("threads",))]) == {0: ["1"]}
    assert os.environ["OMP_NUM_THREADS"] == "3"


def test_workers_that_cannot_start_are_an_error_not_a_thousand_crashes(
    written: pytest.CaptureFixture[str],
) -> None:
    tasks = [Task(0, (1,))]
    with pytest.raises(ExperimentError, match="could not start"):
        list(run_tasks(tasks, functools.partial(Unstartable), n_workers=1, limits=Limits(5)))
    assert "no such library" in written.readouterr().err
    assert nothing_is_left()


def test_what_is_finished_is_delivered_while_a_later_cell_of_its_block_runs() -> None:
    running = run_tasks([Task(0, (1, 2, "hang"))], Handler, n_workers=1, limits=Limits(600))
    assert list(itertools.islice(itertools.chain.from_iterable(running), 2)) == [
        Finished(0, 1, (0, 1)),
        Finished(0, 2, (0, 2)),
    ]
    running.close()
    assert nothing_is_left()


@pytest.fixture
def ctrl_c_is_heard() -> Iterator[None]:
    """Let Ctrl-C interrupt this process, also where the shell that started it has made it deaf to it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@posix
@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_what_is_finished_is_delivered_when_ctrl_c_comes_before_its_time() -> None:
    running = run_tasks([Task(0, (1, 2, 3, "interrupt", "hang"))], Handler, n_workers=1, limits=Limits(600))
    delivered: list[object] = []
    with pytest.raises(KeyboardInterrupt):
        delivered.extend(finished.cell for batch in running for finished in batch)
    assert delivered == [1, 2, 3, "interrupt"]
    assert nothing_is_left()


@pytest.mark.parametrize("hoard", nightly_but("let others hoard", ["hoard", "let others hoard"]))
def test_a_cell_that_eats_memory_is_cut_off_at_the_limit_and_the_rest_goes_on(hoard: str) -> None:
    results = run([Task(0, (1, "hold a little", hoard, 2)), Task(1, (7,))], memory_limit=300)
    failure = results[0][2]
    assert isinstance(failure, Failure)
    assert failure.status == "crashed"
    assert "more memory than its limit of 300 MiB" in failure.reason
    assert [*results[0][:2], results[0][3]] == [(0, 1), 1, (0, 2)]
    assert results[1] == [(1, 7)]


def test_what_cells_print_goes_nowhere_and_what_they_complain_of_is_seen(
    written: pytest.CaptureFixture[str],
) -> None:
    assert run([Task(0, ("print",))]) == {0: ["printed"]}
    out, err = written.readouterr()
    assert out == ""
    assert err == "on standard error\n"


@posix
def test_folder_environment_streams_and_alarms_are_put_back(written: pytest.CaptureFixture[str]) -> None:
    ((before, (after, *seen)),) = run([Task(0, ("disturb", "look round"))]).values()
    assert before == after, "what can be put back costs no process"
    assert seen == [Path.cwd(), None, os.environ["PATH"], np.geterr()]
    assert written.readouterr() == ("", "hello\n")


@pytest.mark.nightly
@pytest.mark.parametrize(
    "mess", ["leave a thread", pytest.param("leave a child", marks=posix), "make warnings errors"]
)
def test_a_process_that_cannot_be_tidied_serves_no_other_cell(mess: str) -> None:
    (before, after, again) = run([Task(0, (mess, "process", "process"))], n_workers=1)[0]
    assert before != after == again
    assert nothing_is_left()


@pytest.mark.nightly
@posix
def test_processes_that_a_cell_starts_end_with_it() -> None:
    (child, value) = run([Task(0, ("leave a process", 3))])[0]
    assert value == (0, 3)
    assert isinstance(child, int)
    wait_until_ended(child)


def wait_until_ended(*pids: int) -> None:
    deadline = time.monotonic() + 30
    while any(map(alive, pids)):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.nightly
@posix
def test_a_fork_that_comes_back_gives_no_second_answer(written: pytest.CaptureFixture[str]) -> None:
    assert run([Task(0, ("fork", 1, "fork", 2))], n_workers=1)[0] == ["forked", (0, 1), "forked", (0, 2)]
    assert written.readouterr() == ("", "")


@pytest.mark.nightly
@posix
def test_a_forked_child_does_not_hide_that_its_worker_died() -> None:
    failure, value = run([Task(0, ("fork and die", 2))], n_workers=1, time_limit=60)[0]
    assert isinstance(failure, Failure)
    assert (failure.status, failure.reason) == ("crashed", "the worker process ended with exit code 4")
    assert failure.seconds < 30
    assert value == (0, 2)


@pytest.mark.nightly
@posix
def test_a_process_in_a_session_of_its_own_is_ended_too() -> None:
    pid, failure = run([Task(0, ("start a session", "hang"))], n_workers=1, time_limit=2)[0]
    assert isinstance(failure, Failure)
    wait_until_ended(pid)


@pytest.mark.nightly
@posix
def test_what_is_written_into_the_pipe_costs_its_cell_alone() -> None:
    failure, value = run([Task(0, ("write into the pipe", 2))], n_workers=1, time_limit=60)[0]
    assert isinstance(failure, Failure)
    assert (failure.status, value) == ("crashed", (0, 2))


def test_a_crash_in_a_used_process_convicts_nobody() -> None:
    (culprit, victim, other) = run([Task(0, ("set a trap", "step into it", 1))], n_workers=1)[0]
    assert isinstance(victim, int)
    assert victim != culprit
    assert other == (0, 1)


forking = pytest.mark.skipif(not FORKS, reason="workers are not forked here")


@forking
def test_what_workers_are_forked_from_may_be_killed_and_no_cell_is_to_blame() -> None:
    cells = (1, "hold a little", 2, "die", 3)
    running = run_tasks([Task(0, cells), Task(1, (4,))], Handler, n_workers=1, limits=Limits(60))
    found = list(next(iter(running)))
    os.kill(forkserver._forkserver._forkserver_pid, signal.SIGKILL)
    found += [finished for batch in running for finished in batch]
    (*before, died, after), *others = by_block([found]).values()
    assert isinstance(died, Failure)
    assert [*before, after, *others] == [(0, 1), 1, (0, 2), (0, 3), [(1, 4)]]
    assert nothing_is_left()


FORKED = """
import os, psutil, sys
from benchmark.experiment.pool import Limits, Pool, Task
from tests.helpers.pool import Handler
tasks = [Task(block, ("hold a little", "threads")) for block in range(3)]
with Pool(3) as pool:
    pool.fork()
    workers = psutil.Process().children()
    assert {worker.cmdline()[-1] for worker in workers} == {psutil.Process().cmdline()[-1]}
    found = [one.result for batch in pool.run(tasks, Handler, Limits(60)) for one in batch]
    assert sorted(map(str, found)) == ["1"] * 6, found
    if sys.argv[1:]:
        print(*[worker.pid for worker in workers], flush=True)
        input()
assert not psutil.Process().children()
"""


@pytest.mark.nightly
@forking
def test_workers_may_be_forks_of_the_run_and_end_with_it() -> None:
    command = [sys.executable, "-c", FORKED]
    subprocess.run(command, check=True)
    with subprocess.Popen([*command, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as one:
        workers = list(map(int, one.stdout.readline().split()))
        assert all(map(alive, workers))
        one.kill()
    wait_until_ended(*workers)


def test_a_pool_keeps_its_processes_and_handlers_from_one_run_to_the_next() -> None:
    with Pool(1) as pool:
        for number in (1, 4):
            found = by_block(pool.run([Task(0, ("process", number))], Handler, Limits(30)))
            (worker,) = pool._workers
            assert found == {0: [worker.process.pid, (0, number)]}
    assert nothing_is_left()


@forking
def test_workers_draw_different_random_numbers_where_nothing_is_seeded() -> None:
    first, second = (run([Task(0, ("random",))], n_workers=1)[0] for _ in range(2))
    tasks = [Task(b, ("random", "die")) for b in range(2)]
    both = run(tasks, n_workers=1)
    assert len({*first, *second, both[0][0], both[1][0]}) == 4


def test_when_all_time_is_up_workers_end_and_say_what_they_were_at() -> None:
    tasks = [Task(0, (1, 2)), Task(1, ("hang", 3)), Task(2, (4,))]
    found: list[Finished] = []
    with Pool(1) as workers:
        for finished in workers.run(tasks, Handler, Limits(math.inf, until=time.monotonic() + 3)):
            found += finished
        assert not workers._workers
    assert [one.result for one in found[:2]] == [(0, 1), (0, 2)]
    ((block, cell, result),) = found[2:]
    assert (block, cell) == (1, "hang")
    assert isinstance(result, Failure)
    assert (result.status, result.reason) == ("timeout", "all time is up")
    assert result.seconds > 0
