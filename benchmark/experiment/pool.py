"""Worker processes that survive techniques which hang, crash, eat memory or leave a mess behind.

Standard pools cannot end a task that hangs in compiled code, nor tell which task took its process down, so
each worker here is a process of its own behind a pipe: it says which cell it starts and what came out. A
technique that exceeds its time or memory or takes the process down costs one cell and a new process, which is
forked where the system allows it (:mod:`benchmark.experiment.fork_server`).

Cells that share a process could disturb one another. Between two cells a worker puts back what can be put
back (working directory, environment, standard streams, alarms); one that is left with threads or processes
still running is replaced. A crash counts against a cell only in a process that served no other cell before;
otherwise the cell is tried again in a new one. What a technique changes inside the modules it shares with
others, such as functions of NumPy that it replaces, is not noticed.

Standard output belongs to the command, so what techniques print there goes nowhere.
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

# Held by the thread that has changed the environment for a process that it starts.
_ENVIRONMENT = threading.Lock()
# Seconds between two looks at the memory of a working process, which can fill some hundred MiB meanwhile.
_MEMORY_CHECK = 0.1
# Share of a core that may be spent on looking who has started whom.
_CHECK_SHARE = 0.01
_MESSAGES = ("refused", "ready", "start", "result")
# How many workers in a row may be killed while they start before it is taken for a rule, and how often what
# starts them may be killed while they work.
_STARTS = 3


@dataclass(frozen=True)
class Task:
    """A block's cells that one worker computes in a row; what they share, the handler makes once."""

    block: Any
    cells: tuple[Any, ...]


@dataclass(frozen=True)
class Limits:
    """What one cell may take before its process is killed, and all of them together."""

    seconds: float
    # Memory that its process may hold, that of Python and its libraries (about 400) and of processes that it
    # starts included.
    mebibytes: float = math.inf
    until: float = math.inf  # when all workers are ended, by time.monotonic(); cells not begun are left out


@dataclass(frozen=True)
class Failure:
    """Why a cell has no result of its own: it exceeded its time or memory, or took its process down."""

    status: Literal["timeout", "crashed"]
    reason: str
    seconds: float


class Finished(NamedTuple):
    """A cell, its block, and what came out of it: what the handler yielded, or a :class:`Failure`."""

    block: Any
    cell: Any
    result: Any


Handler = Callable[[Any, tuple[Any, ...]], Iterator[Any]]
"""What a worker runs: takes a block and its cells, and yields one result per cell, in order."""


class _MemoryMeter:
    """Say how much memory workers hold, their child processes included.

    Who has started whom is known only from a look at every process of the machine, which takes milliseconds
    where there are hundreds. So one look serves all workers, and the longer it takes, the rarer it is.
    """

    def __init__(self) -> None:
        self._descendants: dict[int, list[psutil.Process]] = {}
        self._due = -math.inf

    def held(self, pid: int) -> float:
        """Return what a worker and its processes hold, in MiB; 0 if it has ended."""
        if time.monotonic() >= self._due:
            started = time.thread_time()
            self._descendants = _descendants()
            self._due = time.monotonic() + max(_MEMORY_CHECK, (time.thread_time() - started) / _CHECK_SHARE)
        held = 0
        with contextlib.suppress(psutil.Error):
            held = psutil.Process(pid).memory_info().rss
        for process in self._descendants.get(pid, ()):
            with contextlib.suppress(psutil.Error):  # it has ended meanwhile
                held += process.memory_info().rss
        return held / 2**20


@dataclass
class _Worker:
    process: Any
    connection: Connection
    meter: _MemoryMeter
    task: Task | None = None  # with the cells that are left to do
    finished: list[Finished] = field(default_factory=list)
    ready: bool = False
    sent: bool = False  # whether it knows its task
    lost: bool = False
    startup_exit_code: int | None = None  # if it ended before it was ready
    served: int = 0  # results since its process started
    cell_started: float | None = None
    measured: float = 0.0

    def finish(self, result: Any) -> None:
        """Take a result for that of the first cell that is left."""
        assert self.task is not None
        cell, *left = self.task.cells
        self.finished.append(Finished(self.task.block, cell, result))
        self.task = replace(self.task, cells=tuple(left)) if left else None

    def overdue(self, time_limit: float) -> bool:
        return self.cell_started is not None and time.monotonic() - self.cell_started >= time_limit

    def over_memory(self, memory_limit: float) -> bool:
        now = time.monotonic()
        if self.cell_started is None or now - self.measured < _MEMORY_CHECK:
            return False
        self.measured = now
        return self.meter.held(self.process.pid) > memory_limit


class Pool:
    """Worker processes that stay from one run of tasks to the next.

    ``make_handler`` is called once in the process that workers are forked from, or in each worker where they
    are not; it must be picklable, and so must its handler's results. A process starts when there is work for
    it. A ``server`` that is given does :func:`work`, and stays; otherwise the pool has its own.
    """

    def __init__(
        self,
        make_handler: Callable[[], Handler],
        *,
        n_workers: int,
        limits: Limits,
        server: ForkServer | None = None,
    ) -> None:
        self._server, self._own_server = server, server is None
        self._forks = True
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
        """Run tasks and yield what is finished, about every :data:`DELIVERY` seconds.

        Cells that were finished since the last time come together, at least one, those of a task in order.
        Leaving before the last one ends the workers. A BetabenchError says that a worker cannot start: the
        handler's own error, or that its process ended.
        """
        pending = deque(task for task in tasks if task.cells)
        workers = self._workers
        finished: list[Finished] = []
        due = -math.inf  # when they are delivered, if there are any
        try:
            while pending or any(w.task for w in workers):
                if time.monotonic() >= self._limits.until:
                    finished += _cut_off(workers)
                    self.close()
                    break
                if self._stopped:
                    what = "The workers were stopped from outside"
                    raise ExperimentError(what, remedy="start the run again")
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
                    elif worker.lost:  # a new process goes on where this one was lost
                        self._start(worker.task)
                if finished and time.monotonic() >= due:
                    yield finished
                    finished, due = [], time.monotonic() + DELIVERY
            if finished:
                yield finished
        except KeyboardInterrupt:
            self.close()
            if finished:
                yield finished
            raise
        except BaseException:
            self.close()
            raise

    def stop(self) -> None:
        """End the workers from another thread; the one that runs tasks gets an error."""
        self._stopped = True
        for worker in self._workers[:]:
            _kill(worker)

    def close(self) -> None:
        """End the workers."""
        while self._workers:
            _end(self._workers.pop())
        if self._own_server and self._server is not None:
            self._server.close()
            self._server = None

    def _raise_if_start_failed(self, code: int | None) -> None:
        """Raise an error if workers end while they start: by themselves, or killed again and again."""
        if code is None:
            return
        if code == UNGUARDED:
            raise ExperimentError(
                "The script that started this run would start it again in each of its worker processes",
                expected='what it does below the line if __name__ == "__main__":',
                got="a script that does it when it is imported, as worker processes do",
                remedy="put that line before it, and indent what follows",
            )
        self._failed_starts += 1
        if code >= 0 or self._failed_starts == _STARTS:
            raise ExperimentError(
                "A worker process could not start",
                got=f"{_exit_text(code)}; its own message, if there is one, is above",
                remedy="run with --workers 1 and look for the first error above this one",
            )

    def _raise_if_orphaned(self, worker: _Worker) -> None:
        """Raise an error if what starts workers is killed again and again, by a cell or from outside."""
        if isinstance(worker.process, Forked) and worker.process.orphaned:
            self._lost_servers.add(worker.process.number)
            if len(self._lost_servers) == _STARTS:
                raise ExperimentError(
                    f"The process that starts the workers was killed {_STARTS} times",
                    remedy=f"look for what ends processes here, such as too little memory; {GOES_ON}",
                )

    def _start(self, task: Task | None = None) -> None:
        here, there = multiprocessing.Pipe()
        with there:  # closed on this side, so that the pipe ends when the worker does
            process: Any = None
            if CAN_FORK:
                process = self._fork(there)
            else:
                spawn = multiprocessing.get_context("spawn")
                process = spawn.Process(target=_work_spawned, args=(there,), daemon=True)
                with _one_thread_each(), _sigint_ignored(), main_without_file_not_imported():
                    process.start()
        if not CAN_FORK:
            # Not as an argument of the process: multiprocessing holds both ends of the pipe for arguments,
            # and waits forever where these are long and the process is killed before it has read them.
            with contextlib.suppress(OSError):  # noticed by the listener
                here.send(self._make_handler)
        self._workers.append(_Worker(process, here, self._meter, task))

    def _fork(self, connection: Connection) -> Forked:
        """Return a new worker of the server, which is started if need be, or a server that becomes one."""
        while True:
            try:
                if not self._forks:
                    return ForkServer(work).become(connection, self._make_handler)
                if self._server is None:
                    self._server = ForkServer(work)
                return self._server.fork(connection, self._make_handler)
            except CannotForkError:
                self._forks = False
            except NotStartedError as failed:
                self._raise_if_start_failed(failed.code)


def run_tasks(
    tasks: Iterable[Task], make_handler: Callable[[], Handler], *, n_workers: int, limits: Limits
) -> Iterator[list[Finished]]:
    """Run tasks in a :class:`Pool` of their own, and yield what :meth:`Pool.run` yields."""
    with Pool(make_handler, n_workers=n_workers, limits=limits) as pool:
        yield from pool.run(tasks)


def _assign(worker: _Worker, pending: deque[Task]) -> None:
    if not worker.ready or worker.sent:
        return
    if worker.task is None:
        if not pending:
            return
        worker.task = pending.popleft()
    worker.sent = True
    with contextlib.suppress(OSError):  # a worker that died meanwhile is noticed by the listener
        worker.connection.send(worker.task)


def _await(workers: list[_Worker], limits: Limits, due: float) -> None:
    """Wait until a worker says something, has run out of time or may hold too much, but not beyond a time."""
    started = [w.cell_started for w in workers if w.cell_started is not None]
    patience = min([due, limits.until, *(start + limits.seconds for start in started)]) - time.monotonic()
    if started and math.isfinite(limits.mebibytes):
        patience = min(patience, _MEMORY_CHECK)
    wait([w.connection for w in workers], max(0.0, patience) if math.isfinite(patience) else None)


def _listen(worker: _Worker, limits: Limits) -> None:
    """Take one message if there is one; note a worker that is lost, and the failure that is its cell's."""
    elapsed = 0.0 if worker.cell_started is None else time.monotonic() - worker.cell_started
    if worker.connection.poll():
        try:
            kind, content = worker.connection.recv()
            if kind not in _MESSAGES:
                raise ValueError(kind)
        except (EOFError, OSError):
            code = _exit_code(worker.process)
            if worker.ready and isinstance(worker.process, Forked) and worker.process.orphaned:
                worker.lost = True  # by nobody's fault that is known
            elif worker.ready:
                reason = f"the worker process ended with {_exit_text(code)}"
                _lose(worker, Failure("crashed", reason, elapsed))
            else:
                worker.lost, worker.startup_exit_code = True, code or 0
            return
        except Exception:  # a technique, or a library of it, has written into the pipe
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
    elif worker.overdue(limits.seconds):
        reason = f"it took longer than its time limit of {limits.seconds:g} seconds"
        _lose(worker, Failure("timeout", reason, max(elapsed, limits.seconds)))
    elif worker.over_memory(limits.mebibytes):
        reason = f"it took more memory than its limit of {limits.mebibytes:g} MiB (memory_limit)"
        _lose(worker, Failure("crashed", reason, elapsed))


def _cut_off(workers: Iterable[_Worker]) -> Iterator[Finished]:
    """Yield the cells that are being computed, as far as they have come."""
    for worker in workers:
        if worker.task is not None and worker.cell_started is not None:
            elapsed = time.monotonic() - worker.cell_started
            yield Finished(
                worker.task.block, worker.task.cells[0], Failure("timeout", "all time is up", elapsed)
            )


def _lose(worker: _Worker, failure: Failure) -> None:
    worker.lost = True
    # What came down in a used process may be the fault of an earlier cell: only a new one tells for sure.
    if worker.task is not None and (failure.status == "timeout" or worker.served == 0):
        worker.finish(failure)


def _exit_code(process: Any) -> int | None:
    # Not by joining it: that waits for its children as well, which keep the pipe open that shows it is alive.
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
    """Return by the id of each process that came of this one those that came of it."""
    descendants: dict[int, list[psutil.Process]] = {}
    above: dict[int, tuple[int, ...]] = {}
    for process in psutil.Process().children(recursive=True):  # parents come before their children
        with contextlib.suppress(psutil.Error):  # it has ended meanwhile
            parent = process.ppid()
            above[process.pid] = (*above.get(parent, ()), parent)
            for ancestor in above[process.pid]:
                descendants.setdefault(ancestor, []).append(process)
    return descendants


def _end(worker: _Worker) -> None:
    _kill(worker)  # first: a worker that still starts would report that its pipe was reset
    worker.process.join()
    worker.connection.close()


def _kill(worker: _Worker) -> None:
    # Before its group, because what has made itself a group of its own is known only as long as it lives.
    with contextlib.suppress(psutil.Error):  # it has ended
        for process in psutil.Process(worker.process.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                process.kill()
    if hasattr(os, "killpg"):
        with contextlib.suppress(OSError):  # it has not come to lead a group yet
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
        before = {name: os.environ.get(name) for name in ONE_THREAD}
        os.environ.update(ONE_THREAD)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


def _work_spawned(connection: Connection) -> None:
    """Run in a worker that was not forked: take what makes the handler, make it, and work."""
    if hasattr(os, "setsid"):
        os.setsid()  # leads a group, so that whatever techniques start can be ended with it
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=end_with, args=([parent.sentinel],), daemon=True).start()
    room = _Room()
    try:
        make_handler: Callable[[], Handler] = connection.recv()
        handler = make_handler()
    except (EOFError, ConnectionResetError):
        return
    except BetabenchError as error:  # it says what is wrong; any other goes to standard error
        connection.send(("refused", error))
        return
    work(connection, handler, room)


def work(connection: Connection, handler: Handler, room: _Room | None = None) -> None:
    """Run in a worker: take tasks until the pipe ends."""
    home = os.getpid()
    if hasattr(os, "register_at_fork"):  # else the pipe would not end with the worker
        os.register_at_fork(after_in_child=connection.close)
    room = room or _Room()
    room.remember()
    connection.send(("ready", None))
    while True:
        try:
            task: Task = connection.recv()
        except (EOFError, ConnectionResetError):
            return
        results = handler(task.block, task.cells)
        for _ in task.cells:
            connection.send(("start", None))
            with room.guarded():
                result = next(results)
            if os.getpid() != home:  # a technique's fork has come back here
                os._exit(1)
            leftovers = room.left_behind()
            connection.send(("result", (result, leftovers)))
            if leftovers:  # whose are known as long as this process lives, which is ended with them
                threading.Event().wait()


class _Room:
    """What the cells of a process share, and how it was before they came."""

    def __init__(self) -> None:
        self._nowhere = os.open(os.devnull, os.O_RDWR)
        self._errors = os.dup(2)
        os.dup2(self._nowhere, 1)

    def remember(self) -> None:
        """Take the present state for the right one."""
        self._folder = Path.cwd()
        self._environment = dict(os.environ)
        self._threads = set(threading.enumerate())
        self._children = _has_children()
        self._filters = list(warnings.filters)

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Let a cell in, with streams of its own, and tidy up after it."""
        self._tidy()
        with _stream(1) as out, _stream(2) as err:
            try:
                with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                    yield
            finally:
                self._tidy()

    def _tidy(self) -> None:
        os.dup2(self._nowhere, 1)
        os.dup2(self._errors, 2)
        with contextlib.suppress(OSError):  # it was removed
            os.chdir(self._folder)
        if os.environ != self._environment:
            os.environ.clear()
            os.environ.update(self._environment)
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)

    def left_behind(self) -> bool:
        """Return whether something was left behind that only the end of the process removes."""
        return (
            not self._threads.issuperset(threading.enumerate())
            or (_has_children() and not self._children)
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
