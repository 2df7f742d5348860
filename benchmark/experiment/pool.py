"""Worker processes that survive techniques which hang, crash, eat memory or leave a mess behind.

Standard pools cannot end a task that hangs in compiled code, nor tell which task took its process down. So
each worker here is a process of :mod:`multiprocessing` behind a pipe: it reports which cell it starts and
each result. A technique that exceeds its time or memory, or takes the process down, costs one cell and a new
process.

Cells that share a process could disturb one another. Between two cells a worker restores its working
directory, environment, standard streams, alarms, and NumPy's answer to errors of floating point. A worker
with leftover threads or processes is replaced. A crash counts against a cell only if the process served no
other cell before; otherwise a new process tries the cell again. Changes inside shared modules go unnoticed,
such as a replaced function of NumPy.

Standard output belongs to the command, so the output of techniques is discarded.
"""

from __future__ import annotations

import contextlib
import gc
import math
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Literal, NamedTuple, TextIO

import psutil

from benchmark.errors import BetabenchError, ExperimentError

DELIVERY = 1.0
"""Seconds between two deliveries: a kill loses at most this much finished work, and the running cells."""

ONE_THREAD = dict.fromkeys(
    (
        *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"),
        "VECLIB_MAXIMUM_THREADS",
    ),
    "1",
)
"""Variables that give each compiled library one thread; they are read when the library is loaded.

The blocks already use all cores, and the order of floating-point sums must not depend on their number.
"""

PRELOADED = ("benchmark.experiment.run", "numba", "scipy.optimize", "sklearn.naive_bayes")
"""Modules that nearly every worker needs; making the handler imports some of them late or not at all."""

# Seconds between two measurements of the workers' memory; meanwhile they can fill a few hundred MiB.
_MEMORY_CHECK = 0.1
# Largest share of a core for these measurements, which list all processes of the machine.
_CHECK_SHARE = 0.01
# How many workers in a row may be killed while they start before the run stops.
_STARTS = 3
# The thread that changes the environment for a new process holds this lock.
_ENVIRONMENT = threading.Lock()

# Libraries of macOS start threads of their own, so that forks are not safe there, and Windows has no fork.
_CONTEXT = multiprocessing.get_context("forkserver" if sys.platform == "linux" else "spawn")


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
    """The memory of the processes below this one, each with the processes that it has started.

    One measurement serves all workers, and there are fewer of them where each takes longer.
    """

    def __init__(self) -> None:
        self._held: dict[int, float] = {}
        self._due = -math.inf

    def held(self, pid: int) -> float:
        """Return the memory of a process in MiB; 0 if it has ended."""
        if time.monotonic() >= self._due:
            started = time.thread_time()
            self._held = _memory()
            self._due = time.monotonic() + max(_MEMORY_CHECK, (time.thread_time() - started) / _CHECK_SHARE)
        return self._held.get(pid, 0.0)


def _memory() -> dict[int, float]:
    """Return the MiB of each process below this one together with its descendants."""
    held = Counter[int]()
    families: dict[int, tuple[int, ...]] = {}  # each process with its ancestors
    for process in psutil.Process().children(recursive=True):  # parents come before their children
        with contextlib.suppress(psutil.Error):  # it has ended meanwhile
            families[process.pid] = (process.pid, *families.get(process.ppid(), ()))
            held.update(dict.fromkeys(families[process.pid], process.memory_info().rss))
    return {pid: rss / 2**20 for pid, rss in held.items()}


@dataclass
class _Worker:
    process: Any
    connection: Connection
    make_handler: Callable[[], Handler] | None = None  # makes the handler that its process has
    ready: bool = False  # whether its process has made the handler
    task: Task | None = None  # with the cells that remain
    lost: bool = False
    served: int = 0  # results since its process started
    cell_started: float | None = None

    def take(self, task: Task, make_handler: Callable[[], Handler]) -> None:
        """Give its process a task, and the function that makes the handler unless it has it."""
        self.task = task
        new = None if make_handler is self.make_handler else make_handler
        if new is not None:
            self.make_handler, self.ready = new, False
        with contextlib.suppress(OSError):  # the listener notices that the worker has ended
            self.connection.send((new, task))

    def finish(self, result: Any) -> Finished:
        """Return the task's first remaining cell with its result."""
        assert self.task is not None
        cell, *remaining = self.task.cells
        finished = Finished(self.task.block, cell, result)
        self.task = replace(self.task, cells=tuple(remaining)) if remaining else None
        self.cell_started = None
        return finished


class Pool:
    """Worker processes, which start when there is work, and stay from one run of tasks to the next."""

    def __init__(self, n_workers: int) -> None:
        self._n_workers = n_workers
        self._workers: list[_Worker] = []
        self._meter = _MemoryMeter()
        self._failed_starts = 0  # in a row

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fork(self) -> None:
        """Start all workers at once as forks of this process, which has one thread and all imports."""
        while len(self._workers) < self._n_workers:
            self._start(multiprocessing.get_context("fork"))

    def run(
        self, tasks: Iterable[Task], make_handler: Callable[[], Handler], limits: Limits
    ) -> Iterator[list[Finished]]:
        """Run tasks and yield finished cells, about every :data:`DELIVERY` seconds.

        Each worker calls ``make_handler`` once; it must be picklable, and so must its handler's results.
        Each list has at least one cell; cells of a task are in order. Leaving before the last list ends the
        workers. A BetabenchError says why a worker cannot start: the handler's own error, or that its
        process ended.
        """
        pending = deque(task for task in tasks if task.cells)
        workers = self._workers
        finished: list[Finished] = []
        due = -math.inf  # when they are delivered
        try:
            while pending or any(w.task for w in workers):
                if time.monotonic() >= limits.until:
                    finished += _cut_off(workers)
                    self.close()
                    break
                while len(workers) < self._n_workers and sum(w.task is None for w in workers) < len(pending):
                    self._start(_CONTEXT)
                for worker in workers:
                    if worker.task is None and pending:
                        worker.take(pending.popleft(), make_handler)
                _await(workers, limits, due if finished else math.inf)
                for worker in workers[:]:
                    finished += self._listen(worker, limits)
                    if worker.lost:
                        workers.remove(worker)
                        _end(worker)
                        if worker.task is not None:  # another process continues with the remaining cells
                            pending.appendleft(worker.task)
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

    def close(self) -> None:
        """End the workers."""
        while self._workers:
            _end(self._workers.pop())

    def _start(self, context: Any) -> None:
        run_end, worker_end = multiprocessing.Pipe()
        others = [w.connection for w in self._workers] if context.get_start_method() == "fork" else []
        process = context.Process(target=_work, args=(worker_end, others), daemon=True)
        with worker_end, _environment():  # closed in this process, so that the pipe ends when the worker does
            with _sigint_ignored():
                if context.get_start_method() == "forkserver":
                    context.set_forkserver_preload(list(PRELOADED))
                    forkserver.ensure_running()
                else:
                    process.start()
            try:
                if process.pid is None:  # this waits for the server's imports, and Ctrl-C interrupts it
                    process.start()
            except (EOFError, ConnectionError):  # the server has been killed
                time.sleep(0.5)  # until the system has noticed, so that the next start has a new one
                self._count_failed_start(-signal.SIGKILL)
                return
        self._workers.append(_Worker(process, run_end))

    def _listen(self, worker: _Worker, limits: Limits) -> Iterator[Finished]:
        """Take a message of a worker, if any, and yield the cell that has ended; mark a lost worker."""
        elapsed = 0.0 if worker.cell_started is None else time.monotonic() - worker.cell_started
        if worker.connection.poll():
            try:
                kind, content = worker.connection.recv()
            except (EOFError, OSError):
                code = _exit_code(worker.process)
                if worker.ready:
                    yield from _lose(worker, f"the worker process ended with {_exit_text(code)}", elapsed)
                else:
                    worker.lost = True
                    self._count_failed_start(code or 0)
                return
            except Exception:  # a technique, or its library, has written into the pipe
                yield from _lose(worker, "it wrote into the pipe of its worker process", elapsed)
                return
            if kind == "refused":
                raise content
            if kind == "ready":
                worker.ready = True
                self._failed_starts = 0
            elif kind == "start":
                worker.cell_started = time.monotonic()
            else:
                result, worker.lost = content
                worker.served += 1
                yield worker.finish(result)
        elif worker.cell_started is not None and elapsed >= limits.seconds:
            reason = f"it took longer than its time limit of {limits.seconds:g} seconds"
            worker.lost = True
            yield worker.finish(Failure("timeout", reason, elapsed))
        elif worker.cell_started is not None and self._meter.held(worker.process.pid) > limits.mebibytes:
            reason = f"it took more memory than its limit of {limits.mebibytes:g} MiB (memory_limit)"
            yield from _lose(worker, reason, elapsed)

    def _count_failed_start(self, code: int) -> None:
        """Raise an error if a worker ended by itself while it started, or several in a row were killed."""
        self._failed_starts += 1
        if code >= 0 or self._failed_starts == _STARTS:
            raise ExperimentError(
                "A worker process could not start",
                got=f"{_exit_text(code)}; its own message, if there is one, is above",
                remedy="run with --workers 1 and look for the first error above this one",
            )


def is_alone() -> bool:
    """Return whether this process has only one thread; threads of compiled libraries count."""
    names = [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]
    # pandas loads the allocator of Apache Arrow, which supports forks beside its own thread.
    return len([name for name in names if name != "jemalloc_bg_thd"]) == 1


def refuse_import_by_workers() -> None:
    """End a worker process that would start the run again by importing the user's script."""
    # multiprocessing marks a process while it imports the script, and shows no error then.
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        print(
            "betabench: Each worker process imports this script, which would start the run again. "
            'What to do: put the line if __name__ == "__main__": above the code that starts it.',
            file=sys.stderr,
            flush=True,
        )
        os._exit(1)


def _await(workers: list[_Worker], limits: Limits, due: float) -> None:
    """Wait for a worker's message, the end of a cell's time, or the next memory check, at most until due."""
    started = [w.cell_started for w in workers if w.cell_started is not None]
    patience = min([due, limits.until, *(start + limits.seconds for start in started)]) - time.monotonic()
    if started and math.isfinite(limits.mebibytes):
        patience = min(patience, _MEMORY_CHECK)
    wait([w.connection for w in workers], max(0.0, patience) if math.isfinite(patience) else None)


def _cut_off(workers: Iterable[_Worker]) -> Iterator[Finished]:
    """Yield the cells that are being computed as timed out."""
    for worker in workers:
        if worker.cell_started is not None:
            elapsed = time.monotonic() - worker.cell_started
            yield worker.finish(Failure("timeout", "all time is up", elapsed))


def _lose(worker: _Worker, reason: str, elapsed: float) -> Iterator[Finished]:
    worker.lost = True
    # An earlier cell may be at fault if a used process crashes: only a new process tells for sure.
    if worker.task is not None and worker.served == 0:
        yield worker.finish(Failure("crashed", reason, elapsed))


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


def _end(worker: _Worker) -> None:
    """End a worker's process and all that it has started."""
    # Before the group: children with a group of their own can be found only while their parent lives.
    with contextlib.suppress(psutil.Error):  # it has ended
        for process in psutil.Process(worker.process.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                process.kill()
    if hasattr(os, "killpg"):
        with contextlib.suppress(OSError):  # it does not lead a group yet
            os.killpg(worker.process.pid, signal.SIGKILL)
    worker.process.kill()
    worker.process.join()
    worker.connection.close()  # after the kill: a worker that still starts would report the closed pipe


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
def _environment() -> Iterator[None]:
    """Let processes started inside have one thread per library, and import no program of standard input."""
    main = sys.modules["__main__"]
    with _ENVIRONMENT:
        before = {name: os.environ[name] for name in ONE_THREAD if name in os.environ}
        os.environ.update(ONE_THREAD)
        file = getattr(main, "__file__", None)
        if file is not None and not Path(file).exists():
            del main.__file__  # "<stdin>"
        try:
            yield
        finally:
            if file is not None:
                main.__file__ = file
            for name in ONE_THREAD:
                os.environ.pop(name, None)
            os.environ.update(before)


def _work(connection: Connection, others: Sequence[Connection]) -> None:
    """Run as the main function of a worker: take tasks until the pipe ends; a fork closes others' pipes."""
    for other in others:
        other.close()
    worker_id = os.getpid()
    if hasattr(os, "setsid"):
        os.setsid()  # it leads a group, so that processes of techniques end with it
        os.register_at_fork(after_in_child=connection.close)  # else the pipe would not end with the worker
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    os.environ.update(ONE_THREAD)  # another part of the user's program may have started the server
    state = _ProcessState()
    while True:
        try:
            make_handler, task = connection.recv()
            if make_handler is not None:
                handler = make_handler()
        except (EOFError, ConnectionResetError):
            return
        except BetabenchError as error:  # the run shows it; any other error goes to standard error
            connection.send(("refused", error))
            return
        if make_handler is not None:
            gc.freeze()  # the collector need not search again and again what stays
            if (numpy := sys.modules.get("numpy")) is not None:
                numpy.random.seed()  # after a fork, Python reseeds only its own generator
            state.remember()
            connection.send(("ready", None))
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


def _end_with(sentinel: int) -> None:
    """Wait until the run's process ends; then end this process and all that it has started."""
    wait([sentinel])
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


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
        self._numpy = sys.modules.get("numpy")
        self._floating = {} if self._numpy is None else self._numpy.geterr()

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
        if self._numpy is not None:
            self._numpy.seterr(**self._floating)
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
