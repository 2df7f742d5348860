"""What processes of a pool compute in tests: a module that loads quickly."""

import contextlib
import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmark.experiment.pool import Finished, Limits, Pool, Task

SETTINGS: set[str] = set()
"""Stands for what cells change in the modules of their process."""


class Handler:
    """Does what a cell says: a number is doubled, a word names a disaster."""

    def __call__(self, block: int, cells: tuple[object, ...]) -> Iterator[object]:
        for cell in cells:
            match cell:
                case "hang":
                    time.sleep(600)
                case "die":
                    os.kill(os.getpid(), signal.SIGKILL)
                case "kill the parent":  # for the tests of Dask, whose workers are parents
                    the_run().kill()
                    time.sleep(600)
                case "random":
                    yield float(np.random.random())  # noqa: NPY002  # what a technique should not do
                case "exit":
                    os._exit(3)
                case "raise":
                    raise RuntimeError("a handler must not raise")
                case "threads":
                    yield os.environ["OMP_NUM_THREADS"]
                case "process":
                    yield os.getpid()
                case "hoard":
                    held = []
                    while True:
                        held.append(b"x" * 2**24)
                case "let others hoard":
                    code = "held = []\nwhile True: held.append(b'x' * 2**24)"
                    subprocess.run([sys.executable, "-c", code])
                case "hold a little":
                    held = [b"x" * 2**24]
                    time.sleep(0.5)
                    yield len(held)
                case "leave a thread":
                    threading.Thread(target=time.sleep, args=(600,)).start()
                    yield os.getpid()
                case "leave a process":
                    yield subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid
                case "start a session":
                    code = "import time; time.sleep(600)"
                    yield subprocess.Popen([sys.executable, "-c", code], start_new_session=True).pid
                case "write into the pipe":
                    for number in range(3, 30):  # whichever is the pipe
                        with contextlib.suppress(OSError):
                            os.write(number, (4).to_bytes(4, "big") + b"none")
                    yield "written"
                case "leave a child":
                    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
                    yield os.getpid()
                case "fork":
                    os.fork()
                    yield "forked"
                case "fork and die":
                    if os.fork() == 0:
                        time.sleep(600)
                    os._exit(4)
                case "make warnings errors":
                    warnings.simplefilter("error")
                    yield os.getpid()
                case "disturb":
                    os.chdir("/")
                    os.environ["DISTURBED"] = "yes"
                    del os.environ["PATH"]
                    np.seterr(all="raise")
                    sys.stdout.close()
                    sys.stderr.close()
                    os.close(1)
                    os.close(2)
                    signal.alarm(1)
                    yield os.getpid()
                case "look round":
                    time.sleep(1.2)  # beyond the alarm
                    print("hello")
                    print("hello", file=sys.stderr)
                    found = Path.cwd(), os.environ.get("DISTURBED"), os.environ.get("PATH")
                    yield os.getpid(), *found, np.geterr()
                case "set a trap":
                    SETTINGS.add("trap")
                    yield os.getpid()
                case "step into it":
                    if "trap" in SETTINGS:
                        os._exit(5)
                    yield os.getpid()
                case "print":
                    print("on standard output")
                    os.write(1, b"past Python")
                    print("on standard error", file=sys.stderr)
                    yield "printed"
                case "interrupt":  # once what it yields has arrived
                    yield cell
                    time.sleep(0.2)
                    the_run().send_signal(signal.SIGINT)
                case ("note", path, number):  # for the tests of Dask: says where that it was computed
                    time.sleep(0.3)
                    with Path(path).open("a") as file:
                        file.write(f"{number}\n")
                    yield number
                case _:
                    yield (block, cell)


def the_run() -> psutil.Process:
    """Return the process that runs tasks, asked in one of its workers."""
    parent = psutil.Process().parent()
    assert parent is not None
    # There is a server between them.
    grandparent = parent.parent() if multiprocessing.get_start_method() == "forkserver" else parent
    assert grandparent is not None
    return grandparent


def by_block(batches: Iterable[list[Finished]]) -> dict[int, list[object]]:
    """Return the results of each block, in the order in which they came."""
    found: dict[int, list[object]] = {}
    for block, _, result in itertools.chain.from_iterable(batches):
        found.setdefault(block, []).append(result)
    return found


def run_tasks(
    tasks: Iterable[Task], make_handler: Callable[[], Any], *, n_workers: int, limits: Limits
) -> Iterator[list[Finished]]:
    """Yield the finished cells of tasks as a pool does, from a pool for these tasks alone."""
    with Pool(n_workers) as pool:
        yield from pool.run(tasks, make_handler, limits)
