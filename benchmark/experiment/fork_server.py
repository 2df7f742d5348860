"""A server process that forks workers in milliseconds, because it has imported and prepared all they need.

If the run's own process has only imported so far, as a command's has, the server is a fork of it: both import
once. Otherwise the server is a fresh process, because a fork would stop other threads halfway. A server with
threads of its own, which a plugin can start on import, cannot fork. Then workers start without it, as on
systems that cannot fork safely.

Two pipes, which carry no data, tell the processes when to end. The run holds the first one: when it closes,
the server ends with all its workers. The server holds the second one: when it closes, the workers end. So
nothing is left, whatever is killed.

The standard library's ``forkserver``, with the same modules preloaded, cannot be a fork of the run's process,
and each worker makes the handler again. It takes 7 to 9 % more processor time for the paper's experiment. By
medians of three runs in turns, one repetition took 28.4 s instead of 26.3 s, and six took 101.6 s instead of
95.0 s. With each worker's handler frozen, six took 98.6 s instead of 90.4 s.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import itertools
import math
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import reduction, spawn
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NoReturn

from benchmark.errors import BetabenchError
from benchmark.experiment.main_script import main_without_file_not_imported

CAN_FORK = sys.platform == "linux"
"""Whether workers are forked. Libraries of macOS start threads of their own, and Windows has no fork."""

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

Work = Callable[[Connection, Any], None]
"""A worker's main function: it takes the worker's pipe and the object that the server prepared."""

_PATIENCE = 5.0  # seconds that a server has to end by itself before it is killed


class NotStartedError(Exception):
    """The server ended before it had forked a worker; ``code`` is its exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class CannotForkError(Exception):
    """The server has threads after its preparation."""


class Forked:
    """A worker: like a process of multiprocessing, but a child of the server."""

    def __init__(self, pid: int, server: ForkServer, number: int) -> None:
        self.pid, self.number = pid, number  # the number counts the servers
        self._server = server
        self._code: int | None = None

    @property
    def exitcode(self) -> int | None:
        """Exit code: negative for a signal, SIGKILL if the server is lost, None while the worker runs."""
        if self._code is None:
            self._code = self._server.exit_code(self.pid, self.number)
        return self._code

    @property
    def orphaned(self) -> bool:
        """Whether the server ended unasked, which ends the worker as well."""
        return self._server.lost(self.number)

    def kill(self) -> None:
        """End the worker if it runs."""
        if self._code is None:
            with contextlib.suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)

    def join(self) -> None:
        """Wait until the worker has ended."""
        while self.exitcode is None:
            time.sleep(0.002)


class _Child:
    """A fork of this process, with the methods of a Popen."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None
        self._lock = threading.Lock()  # the system tells the exit code once

    def poll(self) -> int | None:
        with self._lock:
            if self._code is None and (ended := os.waitpid(self.pid, os.WNOHANG))[0]:
                self._code = os.waitstatus_to_exitcode(ended[1])
            return self._code

    def wait(self, timeout: float = math.inf) -> int:
        end = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired("fork", timeout)
            time.sleep(0.002)
        return code


class ForkServer:
    """A server, which starts at once and imports while the caller does something else.

    ``work`` runs in each worker and is pickled by name. ``preload`` lists modules to import. Several threads
    may ask for workers. A lost server is replaced when the next worker is asked for. With ``fork``, the first
    server is a fork of this process, which must have imported with :data:`ONE_THREAD` and have no threads.
    """

    def __init__(self, work: Work, preload: Sequence[str] = (), *, fork: bool = False) -> None:
        self._work, self._preload, self._fork = work, tuple(preload), fork
        self._lock = threading.RLock()
        self._closed = False
        self._number = 0  # how many servers were started
        self._process: subprocess.Popen[bytes] | _Child
        self._prepared: Callable[[], Any] | None
        self._requests = itertools.count()
        self._launch()

    def fork(self, connection: Connection, prepare: Callable[[], Any]) -> Forked:
        """Return a new worker that has the given end of a pipe and the object that ``prepare`` returned.

        The same ``prepare`` object is called once. A BetabenchError that it raises is raised here; any other
        error ends the server. A NotStartedError says that the server has ended, a CannotForkError that
        forking is not safe after the preparation.
        """
        with self._lock:
            if self._process.poll() is not None and not self._closed:
                self._launch()
            try:
                if prepare is not self._prepared:
                    self._ask("prepare", pickle.dumps(prepare))
                    self._prepared = prepare
                answer = self._ask("fork", None, connection.fileno())
            except (EOFError, OSError):
                raise NotStartedError(self._ended()) from None
            if isinstance(answer, BetabenchError):
                raise answer
            if answer is None:
                raise CannotForkError
            return Forked(answer, self, self._number)

    def exit_code(self, pid: int, number: int) -> int | None:
        """Return a worker's exit code: None while it runs, SIGKILL if its server is lost."""
        with self._lock:
            if number == self._number and not self._closed:
                try:
                    code: int | None = self._ask("exit code", pid)
                    return code
                except (EOFError, OSError):
                    self._ended()  # a killed server closes its pipes before it has ended
        return -signal.SIGKILL

    def _ask(self, action: str, content: object, handle: int | None = None) -> Any:
        request = next(self._requests)
        self._control.send((request, action, content))
        if handle is not None:
            reduction.send_handle(self._control, handle, self._process.pid)
        while True:
            answered, answer = self._control.recv()
            if answered == request:  # Ctrl-C can leave the answer to an earlier request unread
                return answer

    def lost(self, number: int) -> bool:
        """Return whether the server of that number ended unasked."""
        return not self._closed and (number != self._number or self._process.poll() is not None)

    def close(self) -> None:
        """End the server with all its workers, and wait for it."""
        self._closed = True  # without the lock, which a thread that waits for an answer holds
        self._life.close()
        self._ended()
        with self._lock:
            self._control.close()

    def _launch(self) -> None:
        self._number += 1
        self._prepared = None
        self._control, control = multiprocessing.Pipe()
        life, self._life = multiprocessing.Pipe(duplex=False)
        if self._fork:
            self._fork = False  # when a replacement is needed, this process may have threads
            if (pid := os.fork()) == 0:
                os.setsid()  # as below
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                self._control.close()
                self._life.close()
                _serve(control, life)
            self._process = _Child(pid)
        else:
            self._process = self._fresh(control, life)
        control.close()
        life.close()
        with contextlib.suppress(OSError):  # the next request notices that the server has ended
            self._control.send((self._work, self._preload))

    def _fresh(self, control: Connection, life: Connection) -> subprocess.Popen[bytes]:
        with main_without_file_not_imported():
            data = spawn.get_preparation_data("betabench")
        data["authkey"] = bytes(data["authkey"])
        # The server finds its first modules where this process found them, whatever the server's folder is.
        program = (
            f"import sys; sys.path[:] = {[p for p in data['sys_path'] if isinstance(p, str)]!r}; "
            f"from {__name__} import _begin; _begin({control.fileno()}, {life.fileno()})"
        )
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        process = subprocess.Popen(
            [spawn.get_executable(), *flags, "-c", program],
            env={**os.environ, **ONE_THREAD},
            stdin=subprocess.DEVNULL,
            pass_fds=(control.fileno(), life.fileno()),
            start_new_session=True,  # Ctrl-C in a terminal is for the run alone
        )
        with contextlib.suppress(OSError):
            self._control.send(data)
        return process

    def _ended(self) -> int:
        """Return the exit code of a server that ends; end a server that does not."""
        try:
            return self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)  # its workers notice
            return self._process.wait()


def _begin(control_handle: int, life_handle: int) -> NoReturn:
    """Run as the main function of a server that is a fresh process."""
    _serve(Connection(control_handle), Connection(life_handle, writable=False), fresh=True)


def _serve(control: Connection, life: Connection, *, fresh: bool = False) -> NoReturn:
    """Run as the main function of every server."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    process = multiprocessing.current_process()
    try:
        with _leaving_with(life):
            if fresh:
                data = control.recv()
                process._inheriting = True  # type: ignore[attr-defined]  # multiprocessing's own mark
                spawn.prepare(data)
                del process._inheriting  # type: ignore[attr-defined]
            process.daemon = True  # so that workers start no pools of processes, joblib's among them
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # a plugin may print while it is imported
            work, preload = control.recv()
            for name in preload:
                importlib.import_module(name)
        _answer(control, life, work)
        os.killpg(0, signal.SIGKILL)  # with all processes that a plugin may have started
    except BaseException:
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(1)


def _answer(control: Connection, life: Connection, work: Work) -> None:
    """Answer the requests of the run until it ends; then end all workers."""
    prepared: Any = None
    refused: BetabenchError | None = None
    workers_life, servers_end = multiprocessing.Pipe(duplex=False)
    workers: set[int] = set()
    try:
        while life not in wait([control, life]):
            request, action, content = control.recv()
            answer: Any = None
            if action == "prepare":
                prepared = refused = None
                with _leaving_with(life):
                    try:
                        prepared = pickle.loads(content)()
                    except BetabenchError as error:
                        refused = error
                gc.collect()
                gc.freeze()  # the collector would touch, and so copy, the memory that workers share
            elif action == "exit code":
                ended, status = os.waitpid(content, os.WNOHANG)
                if ended:
                    workers.discard(content)
                    answer = os.waitstatus_to_exitcode(status)
            else:
                connection = Connection(reduction.recv_handle(control))
                if refused is not None:
                    answer = refused
                elif is_alone():
                    sys.stdout.flush()
                    sys.stderr.flush()
                    if (answer := os.fork()) == 0:
                        for pipe in (control, life, servers_end):
                            pipe.close()
                        _run(work, connection, prepared, workers_life)
                    workers.add(answer)
                connection.close()
            control.send((request, answer))
    except (EOFError, OSError):
        pass  # the run has ended
    finally:
        for pid in workers:
            with contextlib.suppress(OSError):
                os.killpg(pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)  # it may not lead a group yet
        for pid in workers:
            os.waitpid(pid, 0)


def is_alone() -> bool:
    """Return whether this process has only one thread; threads of compiled libraries count."""
    names = [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]
    # pandas loads the allocator of Apache Arrow, which supports forks beside its own thread.
    return len([name for name in names if name != "jemalloc_bg_thd"]) == 1


def _run(work: Work, connection: Connection, prepared: Any, life: Connection) -> NoReturn:
    """Run as the main function of a forked worker."""
    code = 1
    try:
        os.setsid()  # it leads a group, so that processes of techniques end with it
        threading.Thread(target=end_with, args=([life],), daemon=True).start()
        if (numpy := sys.modules.get("numpy")) is not None:
            numpy.random.seed()  # after a fork, Python reseeds only its own generator
        work(connection, prepared)
        code = 0
    except BaseException:
        traceback.print_exc()
    with contextlib.suppress(Exception):  # a technique has closed it
        sys.stderr.flush()
    os._exit(code)


def end_with(ends: Sequence[Any]) -> None:
    """Wait until one of the pipes or processes ends; then end this process and all that it has started."""
    wait(ends)
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


@contextlib.contextmanager
def _leaving_with(life: Connection) -> Iterator[None]:
    """End this process if the run ends meanwhile; the watching thread ends with the context."""
    done, stop = multiprocessing.Pipe(duplex=False)

    def watch() -> None:
        if life in wait([life, done]):
            end_with([life])

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.close()
        thread.join()
        done.close()
