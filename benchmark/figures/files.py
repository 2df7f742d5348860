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
from benchmark.figures.fonts import font_family
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
        each = _Processes(write, len(drawings)).results(n_processes)
        next(each)  # they start now, and end with the iterator even if nobody asks it for a path
    return itertools.chain.from_iterable(each)


def _n_cores() -> int:
    """Return how many processes may draw: one where they could not begin with what this one has in memory."""
    if sys.platform != "linux" or multiprocessing.current_process().daemon:
        return 1
    return len(os.sched_getaffinity(0))


class _Processes:
    """Forked processes that write figures, the next one each as soon as it has done with another.

    What they do not deliver, whatever the reason, is written here, so that errors are raised here as well.
    """

    def __init__(self, write: Callable[[int], list[Path]], n: int) -> None:
        self._write, self._n = write, n
        self._context = multiprocessing.get_context("fork")
        self._next = self._context.Value("l", 0)
        self._connections: list[Any] = []

    def results(self, n_processes: int) -> Iterator[list[Path]]:
        """Start processes, yield no paths, and then those of each figure; they end with the iterator."""
        font_family()  # made once for all of them
        processes: list[BaseProcess] = []
        found: dict[int, list[Path]] = {}
        try:
            with warnings.catch_warnings():
                # The threads of linear algebra, of which Python 3.12 and later warn, draw nothing.
                warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
                processes.extend(self._start() for _ in range(n_processes))
            yield []
            for i in range(self._n):
                while i not in found and self._connections:
                    self._receive(found)
                yield found.pop(i) if i in found else self._write(i)
        finally:
            self._next.value = self._n  # nothing more is begun
            for process in processes:
                process.join()
            for connection in self._connections:
                connection.close()

    def _start(self) -> BaseProcess:
        ours, theirs = self._context.Pipe(duplex=False)
        process = self._context.Process(target=self._work, args=(theirs, os.getpid()), daemon=True)
        process.start()
        theirs.close()
        self._connections.append(ours)
        return process

    def _work(self, connection: Connection, parent: int) -> None:
        gc.freeze()  # what was there before is not looked through again and again, nor is a figure half drawn
        gc.disable()
        # An interrupt reaches this process as well as the other, which says so. It ends with the other one.
        with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
            while os.getppid() == parent and (i := self._take()) < self._n:
                with contextlib.suppress(Exception):
                    connection.send((i, self._write(i)))
                gc.collect()

    def _take(self) -> int:
        with self._next.get_lock():
            self._next.value += 1
            return int(self._next.value) - 1

    def _receive(self, found: dict[int, list[Path]]) -> None:
        ready: list[Any] = wait(self._connections)
        for connection in ready:
            try:
                found.update([connection.recv()])
            except EOFError:
                connection.close()
                self._connections.remove(connection)
