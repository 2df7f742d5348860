"""Figures as files, in one format or several, drawn by as many processes as there are cores."""

from __future__ import annotations

import contextlib
import gc
import itertools
import multiprocessing
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from benchmark.figures import Drawing
from benchmark.figures.style import render
from benchmark.text.files import FORMATS_WRITTEN, write_atomically


def write_figures(
    folder: Path, drawings: Iterable[Drawing], formats: Sequence[str] = FORMATS_WRITTEN
) -> Iterator[Path]:
    """Begin to draw figures and write each in some formats; the paths come in order, as they are written.

    Names may begin with folders, and get the ending of each format. Leaving the iterator before its end ends
    the processes that draw.
    """
    drawings = list(drawings)

    def write(i: int) -> list[Path]:
        name, draw = drawings[i]
        figure = draw()
        return [write_atomically(folder / f"{name}.{end}", render(figure, end)) for end in formats]

    n_processes = min(_n_cores(), len(drawings))
    each: Iterator[list[Path]] = map(write, range(len(drawings)))
    if n_processes > 1:
        each = _in_processes(write, len(drawings), n_processes)
        next(each)  # they start now, and end with the iterator even if nobody asks it for a path
    return itertools.chain.from_iterable(each)


def _n_cores() -> int:
    """Return how many processes may draw: one where they could not begin with what this one has in memory."""
    if sys.platform != "linux" or multiprocessing.current_process().daemon:
        return 1
    return len(os.sched_getaffinity(0))


def _in_processes(write: Callable[[int], list[Path]], n: int, n_processes: int) -> Iterator[list[Path]]:
    """Start processes that write n figures, yield no paths, and then those of each figure.

    Each process writes the next figure as soon as it has done with another; they end with the iterator. What
    they do not deliver, whatever the reason, is written here, so that errors are raised here as well.
    """
    context, parent = multiprocessing.get_context("fork"), os.getpid()
    begun = context.Value("l", 0)

    def take() -> int:
        with begun.get_lock():
            begun.value += 1
            return int(begun.value) - 1

    def work(connection: Connection) -> None:
        gc.freeze()  # what was there before is not looked through again and again, nor is a figure half drawn
        gc.disable()
        # An interrupt reaches this process as well as the other, which says so. It ends with the other one.
        with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
            while os.getppid() == parent and (i := take()) < n:
                with contextlib.suppress(Exception):
                    connection.send((i, write(i)))
                gc.collect()

    processes: list[BaseProcess] = []
    connections: list[Any] = []
    written: dict[int, list[Path]] = {}
    try:
        with warnings.catch_warnings():
            # The threads of linear algebra, of which Python 3.12 and later warn, draw nothing.
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
            for _ in range(n_processes):
                ours, theirs = context.Pipe(duplex=False)
                connections.append(ours)
                with theirs:  # closed on this side, so that the pipe ends when the process does
                    started = context.Process(target=work, args=(theirs,), daemon=True)
                    started.start()
                processes.append(started)
        yield []
        for i in range(n):
            while i not in written and connections:
                ready: list[Any] = wait(connections)
                for connection in ready:
                    try:
                        written.update([connection.recv()])
                    except EOFError:
                        connection.close()
                        connections.remove(connection)
            yield written.pop(i) if i in written else write(i)
    finally:
        begun.value = n  # nothing more is begun
        for process in processes:
            process.join()
        for connection in connections:
            connection.close()
