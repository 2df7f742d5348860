"""Worker processes that survive techniques which hang, crash, eat memory or leave a mess behind.

Standard pools cannot end a task that hangs in compiled code, nor tell which task took its process down. So
each worker here is a process behind a pipe: it reports which cell it starts and each result. A technique that
exceeds its time or memory, or takes the process down, costs one cell and a new process. The new process is
forked where the system allows it (:mod:`benchmark.experiment.fork_server`).

Cells that share a process could disturb one another. Between two cells a worker restores its working
directory, environment, standard streams and alarms. A worker with leftover threads or processes is replaced.
A crash counts against a cell only if the process served no other cell before; otherwise a new process tries
the cell again. Changes inside shared modules go unnoticed, such as a replaced function of NumPy.

Standard output belongs to the command, so the output of techniques is discarded.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Literal, NamedTuple, TextIO

import psutil

from benchmark.errors import GOES_ON, BetabenchError, ExperimentError
from benchmark.experiment.fork_server import (
    CAN_FORK,
    ONE_THREAD,
    CannotForkError,
    Forked,
    ForkServer,
    NotStartedError,
    end_with,
)
from benchmark.experiment.main_script import UNGUARDED, main_without_file_not_imported

DELIVERY = 1.0
"""Seconds between two deliveries: a kill loses at most this much finished work, and the running cells."""

# The thread that changes the environment for a new process holds this lock.
_ENVIRONMENT = threading.Lock()
# Seconds between two measurements of a worker's memory; meanwhile it can fill a few hundred MiB.
_MEMORY_CHECK = 0.1
# Largest share of a core for listing the processes that workers have started.
_CHECK_SHARE = 0.01
_MESSAGES = ("refused", "ready", "start", "result")
# How many workers in a row may be killed while they start, or servers while they work, before the run stops.
_STARTS = 3


@dataclass(frozen=True)
class Task:
    """A block's cells, which one worker computes in a row; the handler makes their shared objects once."""

    block: Any
    cells: tuple[Any, ...]


@dataclass(frozen=True)
class Limits:
    """The limits of one cell, whose process is killed beyond them, and of all cells together."""

    seconds: float
    # Memory of the cell's process and of the processes that it starts. Python and its libraries take about
    # 400 MiB of it.
    mebibytes: float = math.inf
    until: float = math.inf  # when all workers end, by time.monotonic(); cells not begun are left out


@dataclass(frozen=True)
class Failure:
    """Why a cell has no result: it exceeded its time or memory, or took its process down."""

    status: Literal["timeout", "crashed"]
    reason: str
    seconds: float


class Finished(NamedTuple):
    """A finished cell with its block and its result, which the handler yielded, or a :class:`Failure`."""

    block: Any
    cell: Any
    result: Any


Handler = Callable[[Any, tuple[Any, ...]], Iterator[Any]]
"""A worker's function: it takes a block and its cells, and yields one result per cell, in order."""


class _MemoryMeter:
    """The memory of workers with their child processes.

    Finding these means listing all processes of the machine, which takes milliseconds if there are hundreds.
    So one list serves all workers, and it is made less often if it takes longer.
    """

    def __init__(self) -> None:
        self._descendants: dict[int, list[psutil.Process]] = {}
        self._due = -math.inf

    def held(self, pid: int) -> float:
        """Return the memory of a worker and its processes in MiB; 0 if the worker has ended."""
        if time.monotonic() >= self._due:
            started = time.thread_time()
            self._descendants = _descendants()
            self._due = time.monotonic() + max(_MEMORY_CHECK, (time.thread_time() - started) / _CHECK_SHARE)
        held = 0
        with contextlib.suppress(psutil.Error):
            held = psutil.Process(pid).memory_info().rss
        for process in self._descendants.get(pid, ()):
            with contextlib.suppress(psutil.Error):
                held += process.memory_info().rss
        return held / 2**20


@dataclass
class _Worker:
    process: Any
    connection: Connection
    meter: _MemoryMeter
    task: Task | None = None  # with the cells that remain
    finished: list[Finished] = field(default_factory=list)
    ready: bool = False
    sent: bool = False  # whether its process has the task
    lost: bool = False
    startup_exit_code: int | None = None  # if it ended before it was ready
    served: int = 0  # results since its process started
    cell_started: float | None = None
    measured: float = 0.0

    def finish(self, result: Any) -> None:
        """Record the result of the task's first remaining cell."""
        assert self.task is not None
        cell, *remaining = self.task.cells
        self.finished.append(Finished(self.task.block, cell, result))
        self.task = replace(self.task, cells=tuple(remaining)) if remaining else None

    def over_memory(self, memory_limit: float) -> bool:
        now = time.monotonic()
        if self.cell_started is None or now - self.measured < _MEMORY_CHECK:
            return False
        self.measured = now
        return self.meter.held(self.process.pid) > memory_limit


class Pool:
    """Worker processes that stay from one run of tasks to the next.

    The server that forks workers calls ``make_handler`` once; without forks each worker calls it. It must be
    picklable, and so must its handler's results. A process starts when there is work for it. A given
    ``server`` runs :func:`work`, and outlives the pool; otherwise the pool has its own.
    """

    def __init__(
        self,
        make_handler: Callable[[], Handler],
        *,
        n_workers: int,
        limits: Limits,
        server: ForkServer | None = None,
    ) -> None:
        self._server, self._owns_server = server, server is None
        self._forks = CAN_FORK
        self._make_handler = make_handler
        self._n_workers = n_workers
        self._limits = limits
        self._workers: list[_Worker] = []
        self._meter = _MemoryMeter()
        self._stopped = False
        self._failed_starts = 0  # in a row
        self._lost_servers: set[int] = set()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, tasks: Iterable[Task]) -> Iterator[list[Finished]]:
        """Run tasks and yield finished cells, about every :data:`DELIVERY` seconds.

        Each list has at least one cell; cells of a task are in order. Leaving before the last list ends the
        workers. A BetabenchError says why a worker cannot start: the handler's own error, or that its process
        ended.
        """
        pending = deque(task for task in tasks if task.cells)
        workers = self._workers
        finished: list[Finished] = []
        due = -math.inf  # when they are delivered
        try:
            while pending or any(w.task for w in workers):
                if time.monotonic() >= self._limits.until:
                    finished += _cut_off(workers)
                    self.close()
                    break
                if self._stopped:
                    raise ExperimentError(
                        "The workers were stopped from outside", remedy="start the run again"
                    )
                while len(workers) < self._n_workers and sum(w.task is None for w in workers) < len(pending):
                    self._start()
                for worker in workers:
                    _assign(worker, pending)
                _await(workers, self._limits, due if finished else math.inf)
                for worker in workers[:]:
                    was_ready = worker.ready
                    _listen(worker, self._limits)
                    if worker.ready and not was_ready:
                        self._failed_starts = 0
                    if worker.lost:
                        workers.remove(worker)
                        _end(worker)
                        self._raise_if_start_failed(worker.startup_exit_code)
                        self._raise_if_orphaned(worker)
                    finished += worker.finished
                    worker.finished = []
                    if worker.task is None:
                        worker.sent = False
                    elif worker.lost:  # a new process continues with the remaining cells
                        self._start(worker.task)
                if finished and time.monotonic() >= due:
                    yield finished
                    finished, due = [], time.monotonic() + DELIVERY
            if finished:
                yield finished
        except BaseException as error:
            self.close()
            if finished and isinstance(error, KeyboardInterrupt):
                yield finished
            raise

    def stop(self) -> None:
        """End the workers from another thread; the thread that runs tasks gets an error."""
        self._stopped = True
        for worker in self._workers[:]:
            _kill(worker)

    def close(self) -> None:
        """End the workers."""
        while self._workers:
            _end(self._workers.pop())
        if self._owns_server and self._server is not None:
            self._server.close()
            self._server = None

    def _raise_if_start_failed(self, code: int | None) -> None:
        """Raise an error if a worker ended by itself while it started, or several in a row were killed."""
        if code is None:
            return
        if code == UNGUARDED:
            raise ExperimentError(
                "The script that started this run would start it again in each of its worker processes",
                expected='a script that starts it below the line if __name__ == "__main__":',
                got="a script that starts it whenever it is imported, and each worker process imports it",
                remedy="put that line above the code that starts the run, and indent this code",
            )
        self._failed_starts += 1
        if code >= 0 or self._failed_starts == _STARTS:
            raise ExperimentError(
                "A worker process could not start",
                got=f"{_exit_text(code)}; its own message, if there is one, is above",
                remedy="run with --workers 1 and look for the first error above this one",
            )

    def _raise_if_orphaned(self, worker: _Worker) -> None:
        """Raise an error if several servers of the pool were killed, by a cell or from outside."""
        if isinstance(worker.process, Forked) and worker.process.orphaned:
            self._lost_servers.add(worker.process.number)
            if len(self._lost_servers) == _STARTS:
                raise ExperimentError(
                    f"The process that starts the workers was killed {_STARTS} times",
                    remedy=f"look for what ends processes here, such as too little memory; {GOES_ON}",
                )

    def _start(self, task: Task | None = None) -> None:
        run_end, worker_end = multiprocessing.Pipe()
        with worker_end:  # closed in this process, so that the pipe ends when the worker does
            process: Any = self._fork(worker_end)
            if process is None:
                spawn = multiprocessing.get_context("spawn")
                process = spawn.Process(target=_work_spawned, args=(worker_end,), daemon=True)
                with _one_thread_each(), _sigint_ignored(), main_without_file_not_imported():
                    process.start()
        if not self._forks:
            # Not as an argument of the process: multiprocessing holds both ends of the pipe for arguments.
            # With long arguments it would wait forever if the process is killed before it has read them.
            with contextlib.suppress(OSError):  # the listener notices that the worker has ended
                run_end.send(self._make_handler)
        self._workers.append(_Worker(process, run_end, self._meter, task))

    def _fork(self, connection: Connection) -> Forked | None:
        """Return a new worker of the server, which is started if necessary; None if it cannot fork safely."""
        while self._forks:
            try:
                if self._server is None:
                    self._server = ForkServer(work)
                return self._server.fork(connection, self._make_handler)
            except CannotForkError:
                self._forks = False
            except NotStartedError as failed:
                self._raise_if_start_failed(failed.code)
        return None


def run_tasks(
    tasks: Iterable[Task], make_handler: Callable[[], Handler], *, n_workers: int, limits: Limits
) -> Iterator[list[Finished]]:
    """Yield the finished cells of tasks as :meth:`Pool.run` does, from a pool for these tasks alone."""
    with Pool(make_handler, n_workers=n_workers, limits=limits) as pool:
        yield from pool.run(tasks)


def _assign(worker: _Worker, pending: deque[Task]) -> None:
    if worker.ready and worker.task is None and pending:
        worker.task = pending.popleft()
    if worker.ready and worker.task is not None and not worker.sent:
        worker.sent = True
        with contextlib.suppress(OSError):  # the listener notices that the worker has ended
            worker.connection.send(worker.task)


def _await(workers: list[_Worker], limits: Limits, due: float) -> None:
    """Wait for a worker's message, the end of a cell's time, or the next memory check, at most until due."""
    started = [w.cell_started for w in workers if w.cell_started is not None]
    patience = min([due, limits.until, *(start + limits.seconds for start in started)]) - time.monotonic()
    if started and math.isfinite(limits.mebibytes):
        patience = min(patience, _MEMORY_CHECK)
    wait([w.connection for w in workers], max(0.0, patience) if math.isfinite(patience) else None)


def _listen(worker: _Worker, limits: Limits) -> None:
    """Take a message of a worker, if any; note whether the worker is lost, and its cell's failure."""
    elapsed = 0.0 if worker.cell_started is None else time.monotonic() - worker.cell_started
    if worker.connection.poll():
        try:
            kind, content = worker.connection.recv()
            if kind not in _MESSAGES:
                raise ValueError(kind)
        except (EOFError, OSError):
            code = _exit_code(worker.process)
            if worker.ready and isinstance(worker.process, Forked) and worker.process.orphaned:
                worker.lost = True  # no cell is known to be at fault
            elif worker.ready:
                reason = f"the worker process ended with {_exit_text(code)}"
                _lose(worker, Failure("crashed", reason, elapsed))
            else:
                worker.lost, worker.startup_exit_code = True, code or 0
            return
        except Exception:  # a technique, or its library, has written into the pipe
            _lose(worker, Failure("crashed", "it wrote into the pipe of its worker process", elapsed))
            return
        if kind == "refused":
            raise content
        if kind == "ready":
            worker.ready = True
        elif kind == "start":
            worker.cell_started = time.monotonic()
        else:
            result, worker.lost = content
            worker.cell_started = None
            worker.served += 1
            worker.finish(result)
    elif worker.cell_started is not None and elapsed >= limits.seconds:
        reason = f"it took longer than its time limit of {limits.seconds:g} seconds"
        _lose(worker, Failure("timeout", reason, elapsed))
    elif worker.over_memory(limits.mebibytes):
        reason = f"it took more memory than its limit of {limits.mebibytes:g} MiB (memory_limit)"
        _lose(worker, Failure("crashed", reason, elapsed))


def _cut_off(workers: Iterable[_Worker]) -> Iterator[Finished]:
    """Yield the cells that are being computed as timed out."""
    for worker in workers:
        if worker.task is not None and worker.cell_started is not None:
            elapsed = time.monotonic() - worker.cell_started
            yield Finished(
                worker.task.block, worker.task.cells[0], Failure("timeout", "all time is up", elapsed)
            )


def _lose(worker: _Worker, failure: Failure) -> None:
    worker.lost = True
    # An earlier cell may be at fault if a used process crashes: only a new process tells for sure.
    if worker.task is not None and (failure.status == "timeout" or worker.served == 0):
        worker.finish(failure)


def _exit_code(process: Any) -> int | None:
    # Joining would wait for the children as well: they hold open the pipe that shows the process is alive.
    deadline = time.monotonic() + 5
    while process.exitcode is None and time.monotonic() < deadline:
        time.sleep(0.005)
    code: int | None = process.exitcode
    return code


def _exit_text(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"


def _descendants() -> dict[int, list[psutil.Process]]:
    """Map the id of each process below this one to that process's own descendants."""
    descendants: dict[int, list[psutil.Process]] = {}
    ancestors: dict[int, tuple[int, ...]] = {}
    for process in psutil.Process().children(recursive=True):  # parents come before their children
        with contextlib.suppress(psutil.Error):  # it has ended meanwhile
            parent = process.ppid()
            ancestors[process.pid] = (*ancestors.get(parent, ()), parent)
            for ancestor in ancestors[process.pid]:
                descendants.setdefault(ancestor, []).append(process)
    return descendants


def _end(worker: _Worker) -> None:
    _kill(worker)  # before the pipe closes: a worker that still starts would report the closed pipe
    worker.process.join()
    worker.connection.close()


def _kill(worker: _Worker) -> None:
    # Before the group: children with a group of their own can be found only while their parent lives.
    with contextlib.suppress(psutil.Error):  # it has ended
        for process in psutil.Process(worker.process.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                process.kill()
    if hasattr(os, "killpg"):
        with contextlib.suppress(OSError):  # it does not lead a group yet
            os.killpg(worker.process.pid, signal.SIGKILL)
    worker.process.kill()


@contextlib.contextmanager
def _sigint_ignored() -> Iterator[None]:
    """Start child processes with SIGINT ignored; the parent handles Ctrl-C."""
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
    with _ENVIRONMENT:
        before = {name: os.environ[name] for name in ONE_THREAD if name in os.environ}
        os.environ.update(ONE_THREAD)
        try:
            yield
        finally:
            for name in ONE_THREAD:
                os.environ.pop(name, None)
            os.environ.update(before)


def _work_spawned(connection: Connection) -> None:
    """Run as the main function of a worker that was not forked: make the handler, and work."""
    if hasattr(os, "setsid"):
        os.setsid()  # it leads a group, so that processes of techniques end with it
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=end_with, args=([parent.sentinel],), daemon=True).start()
    state = _ProcessState()
    try:
        make_handler: Callable[[], Handler] = connection.recv()
        handler = make_handler()
    except (EOFError, ConnectionResetError):
        return
    except BetabenchError as error:  # the run shows it; any other error goes to standard error
        connection.send(("refused", error))
        return
    work(connection, handler, state)


def work(connection: Connection, handler: Handler, state: _ProcessState | None = None) -> None:
    """Run as the main function of a worker: take tasks until the pipe ends."""
    worker_id = os.getpid()
    if hasattr(os, "register_at_fork"):  # else the pipe would not end with the worker
        os.register_at_fork(after_in_child=connection.close)
    state = state or _ProcessState()
    state.remember()
    connection.send(("ready", None))
    while True:
        try:
            task: Task = connection.recv()
        except (EOFError, ConnectionResetError):
            return
        results = handler(task.block, task.cells)
        for _ in task.cells:
            connection.send(("start", None))
            with state.restored():
                result = next(results)
            if os.getpid() != worker_id:  # this is a fork by a technique, which has returned
                os._exit(1)
            leftovers = state.has_leftovers()
            connection.send(("result", (result, leftovers)))
            if leftovers:  # stay alive, so that the parent can find and kill this process's children
                threading.Event().wait()


class _ProcessState:
    """The state of a process that its cells share; it is restored after each cell."""

    def __init__(self) -> None:
        self._devnull = os.open(os.devnull, os.O_RDWR)
        self._errors = os.dup(2)
        os.dup2(self._devnull, 1)

    def remember(self) -> None:
        """Take the present state for the one to restore."""
        self._folder = Path.cwd()
        self._environment = dict(os.environ)
        self._threads = set(threading.enumerate())
        self._had_children = _has_children()
        self._filters = list(warnings.filters)

    @contextlib.contextmanager
    def restored(self) -> Iterator[None]:
        """Give a cell fresh standard streams, and restore the state before and after it."""
        self._restore()
        with _stream(1) as out, _stream(2) as err:
            try:
                with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                    yield
            finally:
                self._restore()

    def _restore(self) -> None:
        os.dup2(self._devnull, 1)
        os.dup2(self._errors, 2)
        with contextlib.suppress(OSError):  # the folder was removed
            os.chdir(self._folder)
        if os.environ != self._environment:
            os.environ.clear()
            os.environ.update(self._environment)
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)

    def has_leftovers(self) -> bool:
        """Return whether a cell left something that only the end of the process removes."""
        return (
            not self._threads.issuperset(threading.enumerate())
            or (_has_children() and not self._had_children)
            or any(entry[0] == "error" and entry not in self._filters for entry in warnings.filters)
        )


def _stream(descriptor: int) -> TextIO:
    return open(descriptor, "w", encoding="utf-8", errors="backslashreplace", closefd=False)


def _has_children() -> bool:
    if not hasattr(os, "waitid"):
        return False
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
