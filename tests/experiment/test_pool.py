import functools
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator

import pytest

from benchmark.errors import ExperimentError
from benchmark.experiment.pool import Failure, Task, run_tasks


class Handler:
    """Does what a cell says: a number is doubled, a word names a disaster."""

    def __call__(self, block: int, cells: tuple[object, ...]) -> Iterator[object]:
        for cell in cells:
            match cell:
                case "hang":
                    time.sleep(600)
                case "die":
                    os.kill(os.getpid(), signal.SIGKILL)
                case "exit":
                    os._exit(3)
                case "raise":
                    raise RuntimeError("a handler must not raise")
                case "threads":
                    yield os.environ["OMP_NUM_THREADS"]
                case _:
                    yield (block, cell)


class Unstartable:
    def __init__(self) -> None:
        raise ImportError("no such library")


def run(tasks: list[Task], *, n_workers: int = 2, time_limit: float = 30) -> dict[int, list[object]]:
    found = run_tasks(tasks, Handler, n_workers=n_workers, time_limit=time_limit)
    return {task.block: results for task, results in found}


@pytest.mark.parametrize("n_workers", [1, 3])
def test_every_task_comes_back_once_with_its_results_in_order(n_workers: int) -> None:
    tasks = [Task(b, tuple(range(b % 4 + 1))) for b in range(9)]
    assert run(tasks, n_workers=n_workers) == {t.block: [(t.block, c) for c in t.cells] for t in tasks}


def test_nothing_to_do_starts_nothing() -> None:
    assert run([]) == {}
    assert not multiprocessing.active_children()


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
    assert not multiprocessing.active_children()


def test_workers_use_one_thread_and_the_parents_environment_is_left_alone() -> None:
    before = os.environ.get("OMP_NUM_THREADS")
    assert run([Task(0, ("threads",))]) == {0: ["1"]}
    assert os.environ.get("OMP_NUM_THREADS") == before


def test_workers_that_cannot_start_are_an_error_not_a_thousand_crashes(
    capfd: pytest.CaptureFixture[str],
) -> None:
    tasks = [Task(0, (1,))]
    with pytest.raises(ExperimentError, match="could not start"):
        list(run_tasks(tasks, functools.partial(Unstartable), n_workers=1, time_limit=5))  # type: ignore[arg-type]
    assert "no such library" in capfd.readouterr().err
    assert not multiprocessing.active_children()


def test_leaving_early_ends_the_workers() -> None:
    running = run_tasks([Task(b, (1,)) for b in range(50)], Handler, n_workers=2, time_limit=30)
    next(iter(running))
    running.close()  # type: ignore[attr-defined]
    assert not multiprocessing.active_children()
