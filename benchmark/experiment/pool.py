"""Worker processes that survive techniques which hang or crash.

Standard pools cannot end a task that hangs in compiled code, nor tell which task took its process down, so
each worker here is a process of its own behind a pipe: it says which cell it starts and what came out, and
whoever exceeds its time or takes the process down costs one cell and a new process.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from typing import Any, Literal, Protocol

from benchmark.errors import ExperimentError

__all__ = ["Failure", "Task", "run_tasks"]

# Compiled libraries read these when they are loaded. One thread each: the blocks already use all cores, and
# the order of floating-point sums must not depend on the machine's number of cores.
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)


@dataclass(frozen=True)
class Task:
    """A block's cells that one worker computes in a row.

    Attributes
    ----------
    block : object
        What the cells share; the handler makes it once.
    cells : tuple
        What is left to do.
    """

    block: Any
    cells: tuple[Any, ...]


@dataclass(frozen=True)
class Failure:
    """Why a cell has no result of its own: it exceeded its time, or took its process down."""

    status: Literal["timeout", "crashed"]
    reason: str
    seconds: float


class Handler(Protocol):
    """What a worker runs: yields one result per cell of the task, in order."""

    def __call__(self, block: Any, cells: tuple[Any, ...]) -> Iterator[Any]:
        """Yield a result for each cell."""


@dataclass
class _Worker:
    process: Any
    connection: Connection
    task: Task | None = None
    results: list[Any] = field(default_factory=list)
    ready: bool = False
    cell_started: float | None = None


def run_tasks(
    tasks: Sequence[Task],
    make_handler: Callable[[], Handler],
    *,
    n_workers: int,
    time_limit: float,
) -> Iterator[tuple[Task, list[Any]]]:
    """Run tasks in worker processes and yield each as it is finished, in no particular order.

    Parameters
    ----------
    tasks : sequence of Task
        What to do.
    make_handler : callable
        Called once in each worker; must be picklable, and so must its handler's results.
    n_workers : int
        Number of processes.
    time_limit : float
        Seconds that one cell may take before its process is killed.

    Yields
    ------
    task : Task
        As given.
    results : list
        One per cell, in order: what the handler yielded, or a :class:`Failure`.

    Raises
    ------
    ExperimentError
        If a worker process cannot start.
    """
    context = multiprocessing.get_context("spawn")
    pending = deque(tasks)
    # A task whose worker was lost: what is left of it, and the results so far, before anything new starts.
    resumed: deque[tuple[Task, list[Any]]] = deque()
    workers: list[_Worker] = []
    with _one_thread_each():
        try:
            while pending or resumed or any(w.task for w in workers):
                while len(workers) < min(n_workers, len(pending) + len(resumed) + len(workers)):
                    workers.append(_start(context, make_handler))
                for worker in workers:
                    if worker.ready and worker.task is None:
                        _assign(worker, pending, resumed)
                for worker in _awaken(workers, time_limit):
                    failure = _listen(worker, time_limit)
                    if failure is not None:
                        workers.remove(worker)
                        _stop(worker)
                        if worker.task is None:
                            continue
                        worker.results.append(failure)
                        if len(worker.results) < len(worker.task.cells):
                            resumed.append((worker.task, worker.results))
                            continue
                    if worker.task is not None and len(worker.results) == len(worker.task.cells):
                        yield worker.task, worker.results
                        worker.task = None
        finally:
            for worker in workers:
                _stop(worker)


def _start(context: Any, make_handler: Callable[[], Handler]) -> _Worker:
    here, there = context.Pipe()
    process = context.Process(target=_work, args=(there, make_handler), daemon=True)
    with _sigint_ignored():
        process.start()
    there.close()  # so that the pipe ends when the worker does
    return _Worker(process, here)


def _assign(worker: _Worker, pending: deque[Task], resumed: deque[tuple[Task, list[Any]]]) -> None:
    if resumed:
        worker.task, worker.results = resumed.popleft()
    elif pending:
        worker.task, worker.results = pending.popleft(), []
    else:
        return
    worker.cell_started = None
    left = replace(worker.task, cells=worker.task.cells[len(worker.results) :])
    with contextlib.suppress(OSError):  # a worker that died meanwhile is noticed by the listener
        worker.connection.send(left)


def _awaken(workers: list[_Worker], time_limit: float) -> list[_Worker]:
    """Wait until a worker has something to say or has run out of time."""
    deadlines = [w.cell_started + time_limit for w in workers if w.cell_started is not None]
    patience = max(0.0, min(deadlines) - time.monotonic()) if deadlines else None
    speaking = wait([w.connection for w in workers], patience)
    now = time.monotonic()
    return [
        w
        for w in workers
        if w.connection in speaking or (w.cell_started is not None and now - w.cell_started >= time_limit)
    ]


def _listen(worker: _Worker, time_limit: float) -> Failure | None:
    """Take one message; return why the worker is lost, if it is."""
    elapsed = 0.0 if worker.cell_started is None else time.monotonic() - worker.cell_started
    if worker.connection.poll():
        try:
            kind, content = worker.connection.recv()
        except (EOFError, OSError):
            worker.process.join(5)
            code = worker.process.exitcode
            if not worker.ready:
                raise ExperimentError(
                    "A worker process could not start",
                    got=f"exit code {code}; its own message is above",
                    remedy="run with --workers 1 and look for the first error above this one",
                ) from None
            return Failure("crashed", f"the worker process ended with {_exit_text(code)}", elapsed)
        if kind == "ready":
            worker.ready = True
        elif kind == "start":
            worker.cell_started = time.monotonic()
        else:
            worker.cell_started = None
            worker.results.append(content)
        return None
    return Failure("timeout", f"it took longer than its time limit of {time_limit:g} seconds", elapsed)


def _exit_text(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"


def _stop(worker: _Worker) -> None:
    worker.connection.close()
    worker.process.kill()
    worker.process.join()


@contextlib.contextmanager
def _sigint_ignored() -> Iterator[None]:
    """Let a process started inside be born deaf to Ctrl-C, which is the parent's to handle."""
    if threading.current_thread() is not threading.main_thread():  # only there can signals be set
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """Let processes started inside inherit one thread per library."""
    before = {name: os.environ.get(name) for name in _THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _work(connection: Connection, make_handler: Callable[[], Handler]) -> None:
    """Run in the worker: take tasks until the pipe ends."""
    threading.Thread(target=_die_with_parent, daemon=True).start()
    handler = make_handler()
    connection.send(("ready", None))
    while True:
        try:
            task: Task = connection.recv()
        except EOFError:
            return
        results = handler(task.block, task.cells)
        for _ in task.cells:
            connection.send(("start", None))
            connection.send(("result", next(results)))


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
