"""Figures as files, in one format or several, drawn by as many processes as there are cores."""

from __future__ import annotations

import gc
import itertools
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmark.figures import Drawing
from benchmark.figures.style import render
from benchmark.text.writing import FORMATS_WRITTEN, write_atomically


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

    The processes end with the iterator. What they do not deliver, whatever the reason, is written here, so
    that errors are raised here as well.
    """
    pool = ProcessPoolExecutor(
        n_processes, multiprocessing.get_context("fork"), initializer=_begin, initargs=(write,)
    )
    try:
        with warnings.catch_warnings():
            # The threads of linear algebra, of which Python 3.12 and later warn, draw nothing.
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
            futures = [pool.submit(_write, i) for i in range(n)]
        yield []
        for i, future in enumerate(futures):
            try:
                paths = future.result()
            except Exception:
                paths = write(i)
            yield paths
    finally:
        pool.shutdown(cancel_futures=True)


_writes: Callable[[int], list[Path]]  # of a process that draws: inherited, because it cannot be pickled


def _begin(write: Callable[[int], list[Path]]) -> None:
    """Prepare a process that draws."""
    global _writes
    _writes = write
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other process hears of it as well, and says so
    threading.Thread(target=_end_with_parent, daemon=True).start()
    gc.freeze()  # what was there before is not looked through again and again, nor is a figure half drawn
    gc.disable()


def _end_with_parent() -> None:
    """End this process when its parent is killed: the executor's processes would wait for it forever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _write(i: int) -> list[Path]:
    paths = _writes(i)
    gc.collect()
    return paths
