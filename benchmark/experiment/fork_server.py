"""A process that has imported and prepared what workers need, and forks a worker in milliseconds.

It is a fork of the run's own process where that has done nothing yet but import, as a command's has, so that
both import once. Else it is a fresh process: a fork would leave threads in the middle of what they do. Where
the server has threads itself, which a plugin can start when it is imported, each worker is a server that has
become one, and there is none where the system cannot fork safely: workers import and prepare for themselves
then.

Everything hangs on two pipes without content. The server ends when that of the run does, with all workers;
workers end when that of the server does. So whatever is killed, nothing is left.

The standard library's ``forkserver`` with the same modules preloaded cannot be a fork of the run's process,
and makes the handler in each worker. The paper's experiment took more processor time with it, in turns, as
medians of three: 28.4 s after 26.3 s for one repetition, and for six 101.6 s after 95.0 s, or 98.6 s after
90.4 s with each worker's handler frozen: 7 to 9 %.
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
"""What compiled libraries read when they are loaded. One thread each: the blocks already use all cores, and
the order of floating-point sums must not depend on the machine's number of cores."""

Work = Callable[[Connection, Any], None]
"""What a worker does with its pipe and with what was prepared."""

_PATIENCE = 5.0  # seconds in which a server ends by itself


class NotStartedError(Exception):
    """The server ended before it had forked a worker; ``code`` is its exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class CannotForkError(Exception):
    """The server has threads after what it has prepared."""


class Forked:
    """A worker; like a process of multiprocessing, except that another one is its parent."""

    def __init__(self, pid: int, server: ForkServer, number: int) -> None:
        self.pid, self.number = pid, number  # the number is that of its server
        self._server = server
        self._code: int | None = None

    @property
    def exitcode(self) -> int | None:
        """Exit code, negative for a signal, which is SIGKILL if its server is lost; None while it runs."""
        if self._code is None:
            self._code = self._server.exit_code(self.pid, self.number)
        return self._code

    @property
    def orphaned(self) -> bool:
        """Whether its server has ended without being asked to, which ends it as well."""
        return self._server.lost(self.number)

    def kill(self) -> None:
        """End it, if it runs."""
        if self._code is None:
            with contextlib.suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)

    def join(self) -> None:
        """Wait until it has ended."""
        while self.exitcode is None:
            time.sleep(0.002)


class Unforked(Forked):
    """A worker that a server has become."""

    def __init__(self, server: ForkServer, process: subprocess.Popen[bytes] | _Child) -> None:
        super().__init__(process.pid, server, 0)
        self._process = process

    @property
    def exitcode(self) -> int | None:
        """Exit code, negative for a signal; None while it runs."""
        return self._process.poll()

    @property
    def orphaned(self) -> bool:
        """No: it has no server."""
        return False


class _Child:
    """A fork of this process, asked as a Popen is."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None
        self._lock = threading.Lock()  # it can be waited for once

    def poll(self) -> int | None:
        """Return its exit code, negative for a signal; None while it runs."""
        with self._lock:
            if self._code is None and (ended := os.waitpid(self.pid, os.WNOHANG))[0]:
                self._code = os.waitstatus_to_exitcode(ended[1])
            return self._code

    def wait(self, timeout: float = math.inf) -> int:
        """Wait for its end, and return its exit code; a TimeoutExpired says that it still runs."""
        end = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired("fork", timeout)
            time.sleep(0.002)
        return code


class ForkServer:
    """Starts a server at once, which imports while the caller does something else.

    ``work`` runs in each worker, and is found by its name; ``preload`` are modules to import. Several threads
    may ask for workers. A server that is lost is replaced when the next one is asked for. With ``fork``, the
    first one is a fork of this process, which must have imported with :data:`ONE_THREAD` and have no threads.
    """

    def __init__(self, work: Work, preload: Sequence[str] = (), *, fork: bool = False) -> None:
        self._work, self._preload, self._fork = work, tuple(preload), fork
        self._lock = threading.RLock()
        self._closed = False
        self._number = 0  # of servers that were started
        self._process: subprocess.Popen[bytes] | _Child
        self._prepared: Callable[[], Any] | None
        self._questions = itertools.count()
        self._launch()

    def fork(self, connection: Connection, prepare: Callable[[], Any]) -> Forked:
        """Return a new worker that has one end of a pipe, and what ``prepare`` returned in the server.

        Where it is the same object as before, nothing is prepared again.

        Raises
        ------
        NotStartedError
            If the server has ended.
        CannotForkError
            If forking is not safe after the preparation.
        BetabenchError
            What the preparation has raised; any other error ends the server.
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

    def become(self, connection: Connection, prepare: Callable[[], Any]) -> Unforked:
        """Let the server itself be a worker, where it cannot fork; it starts while the caller goes on.

        It sends the message ``("refused", error)`` where the preparation has raised a BetabenchError.
        """
        with self._lock, contextlib.suppress(OSError):  # the end of the pipe says that it has ended
            self._control.send((next(self._questions), "prepare", pickle.dumps(prepare)))
            self._control.send((next(self._questions), "become", None))
            reduction.send_handle(self._control, connection.fileno(), self._process.pid)
        return Unforked(self, self._process)

    def exit_code(self, pid: int, number: int) -> int | None:
        """Return how a worker has ended, or None if it runs; SIGKILL where its server is lost."""
        with self._lock:
            if number == self._number and not self._closed:
                try:
                    code: int | None = self._ask("exit code", pid)
                    return code
                except (EOFError, OSError):
                    self._ended()  # a killed process closes its pipes before it has ended, and is lost
        return -signal.SIGKILL

    def _ask(self, what: str, content: object, handle: int | None = None) -> Any:
        question = next(self._questions)
        self._control.send((question, what, content))
        if handle is not None:
            reduction.send_handle(self._control, handle, self._process.pid)
        while True:
            answered, answer = self._control.recv()
            if answered == question:  # not one that Ctrl-C has kept from being heard
                return answer

    def lost(self, number: int) -> bool:
        """Return whether a server, by its number, has ended without being asked to."""
        return not self._closed and (number != self._number or self._process.poll() is not None)

    def close(self) -> None:
        """End the server and all its workers, and wait for it."""
        self._closed = True  # without the lock, for a thread that waits for an answer
        self._life.close()
        self._ended()
        with self._lock:
            self._control.close()

    def _launch(self) -> None:
        """Start a server; it hears of what to prepare later."""
        self._number += 1
        self._prepared = None
        self._control, control = multiprocessing.Pipe()
        life, self._life = multiprocessing.Pipe(duplex=False)
        if self._fork:
            self._fork = False  # those that replace it come too late for that
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
        with contextlib.suppress(OSError):  # noticed when a worker is asked for
            self._control.send((self._work, self._preload))

    def _fresh(self, control: Connection, life: Connection) -> subprocess.Popen[bytes]:
        with main_without_file_not_imported():
            data = spawn.get_preparation_data("betabench")
        data["authkey"] = bytes(data["authkey"])
        # Its first modules are found where those of this process were, whatever its own folder is.
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
        """Return the exit code of a server that ends, and end it if it does not."""
        try:
            return self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)  # its workers notice
            return self._process.wait()


def _begin(control_handle: int, life_handle: int) -> NoReturn:
    """Run in a server that is a fresh process."""

    def prepare() -> None:
        data = control.recv()
        process = multiprocessing.current_process()
        process._inheriting = True  # type: ignore[attr-defined]  # as multiprocessing marks its own
        spawn.prepare(data)
        del process._inheriting  # type: ignore[attr-defined]

    control = Connection(control_handle)
    _serve(control, Connection(life_handle, writable=False), prepare)


def _serve(control: Connection, life: Connection, prepare: Callable[[], None] = lambda: None) -> NoReturn:
    """Run in the server."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    code = 1
    try:
        with _leaving_with(life):
            prepare()
            process = multiprocessing.current_process()
            process.daemon = True  # workers are no place for pools of processes, joblib's among them
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is prepared may be a plugin that prints
            work, preload = control.recv()
            for name in preload:
                importlib.import_module(name)
        _answer(control, life, work)
        os.killpg(0, signal.SIGKILL)  # with what a plugin may have started
    except BaseException:
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(code)


def _answer(control: Connection, life: Connection, work: Work) -> None:
    """Do what the run asks for until it ends; then end all workers."""
    prepared: Any = None
    refused: BetabenchError | None = None
    workers_life, own_life = multiprocessing.Pipe(duplex=False)
    workers: set[int] = set()
    try:
        while life not in wait([control, life]):
            question, what, content = control.recv()
            answer: Any = None
            if what == "prepare":
                prepared = refused = None
                with _leaving_with(life):
                    try:
                        prepared = pickle.loads(content)()
                    except BetabenchError as error:
                        refused = error
                gc.collect()
                gc.freeze()  # the collector would touch, and so copy, what workers share
            elif what == "exit code":
                answer = _exit_code(content, workers)
            else:
                connection = Connection(reduction.recv_handle(control))
                if what == "become":
                    if refused is None:
                        _run(work, connection, prepared, life)
                    connection.send(("refused", refused))
                elif refused is not None:
                    answer = refused
                elif is_alone():
                    sys.stdout.flush()
                    sys.stderr.flush()
                    if (answer := os.fork()) == 0:
                        for pipe in (control, life, own_life):
                            pipe.close()
                        _run(work, connection, prepared, workers_life)
                    workers.add(answer)
                connection.close()
            control.send((question, answer))
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
    """Return whether this process has one thread, those of compiled libraries included."""
    names = [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]
    # The allocator of Apache Arrow, which pandas loads, is made to be forked beside its thread.
    return len([name for name in names if name != "jemalloc_bg_thd"]) == 1


def _exit_code(pid: int, workers: set[int]) -> int | None:
    ended, status = os.waitpid(pid, os.WNOHANG)
    if not ended:
        return None
    workers.discard(pid)
    return os.waitstatus_to_exitcode(status)


def _run(work: Work, connection: Connection, prepared: Any, life: Connection) -> NoReturn:
    """Run in a worker."""
    code = 1
    try:
        if os.getsid(0) != os.getpid():
            os.setsid()  # leads a group, so that whatever techniques start can be ended with it
        threading.Thread(target=end_with, args=([life],), daemon=True).start()
        if (numpy := sys.modules.get("numpy")) is not None:
            numpy.random.seed()  # Python's own generator does so by itself
        work(connection, prepared)
        code = 0
    except BaseException:
        traceback.print_exc()
    with contextlib.suppress(Exception):  # a technique has closed it
        sys.stderr.flush()
    os._exit(code)


def end_with(ends: Sequence[Any]) -> None:
    """Wait until one of some pipes or processes ends, and end this process with all that it has started."""
    wait(ends)
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


@contextlib.contextmanager
def _leaving_with(life: Connection) -> Iterator[None]:
    """End this process if the run ends meanwhile; no thread is left for what comes after."""
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
