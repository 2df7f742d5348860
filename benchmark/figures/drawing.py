"""Figures as files, in one format or several, drawn by as many processes as there are cores."""

from __future__ import annotations

import gc
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
from benchmark.figures.style import characters_in_no_font, render
from benchmark.text.writing import FORMATS_WRITTEN, write_atomically

_Written = tuple[list[Path], bool]  # paths of a figure, and whether it has characters of no installed font


def write_figures(
    folder: Path, drawings: Iterable[Drawing], formats: Sequence[str] = FORMATS_WRITTEN
) -> Iterator[Path]:
    """Start to draw figures, and return an iterator over the paths of their files, in order.

    A name may hold folders; each format adds its ending. Closing the iterator ends the processes that draw.
    A last warning says that texts have characters of no installed font.
    """
    drawings = list(drawings)

    def write(i: int) -> _Written:
        name, draw = drawings[i]
        figure = draw()
        paths = [write_atomically(folder / f"{name}.{end}", render(figure, end)) for end in formats]
        return paths, bool(characters_in_no_font(figure))

    n_processes = min(_n_cores(), len(drawings))
    each: Iterator[_Written] = map(write, range(len(drawings)))
    if n_processes > 1:
        each = _in_processes(write, len(drawings), n_processes)
        next(each)  # the processes start now, and end with the iterator even if it is never read
    return _paths(each)


def _paths(each: Iterator[_Written]) -> Iterator[Path]:
    """Yield the paths, and warn at the end of characters that are drawn as boxes."""
    boxes = False
    for paths, has_boxes in each:
        boxes |= has_boxes
        yield from paths
    if boxes:
        warnings.warn(
            "Figures show boxes for characters that no font of this machine has. Install one that has them, "
            "such as Noto Sans CJK.",
            stacklevel=2,
        )


def _n_cores() -> int:
    """Return how many processes may draw: one where they could not share this one's memory."""
    if sys.platform != "linux" or multiprocessing.current_process().daemon:
        return 1
    return len(os.sched_getaffinity(0))


def _in_processes(write: Callable[[int], _Written], n: int, n_processes: int) -> Iterator[_Written]:
    """Start processes that write n figures, yield an empty list, and then the paths of each figure.

    The processes end with the iterator. A figure that they fail to write is written here, so that its error
    is raised here.
    """
    pool = ProcessPoolExecutor(
        n_processes, multiprocessing.get_context("fork"), initializer=_begin, initargs=(write,)
    )
    try:
        with warnings.catch_warnings():
            # Python 3.12 warns of the threads of linear algebra. They draw nothing.
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
            futures = [pool.submit(_write, i) for i in range(n)]
        yield [], False
        for i, future in enumerate(futures):
            try:
                written = future.result()
            except Exception:
                written = write(i)
            yield written
    finally:
        pool.shutdown(cancel_futures=True)


_writes: Callable[[int], _Written]  # inherited by the processes: it cannot be pickled


def _begin(write: Callable[[int], _Written]) -> None:
    global _writes
    _writes = write
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles the interrupt
    threading.Thread(target=_end_with_parent, daemon=True).start()
    gc.freeze()  # the garbage collector skips inherited objects, and figures that are half drawn
    gc.disable()


def _end_with_parent() -> None:
    """End this process when its parent is killed: the executor's processes would wait for it forever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _write(i: int) -> _Written:
    written = _writes(i)
    gc.collect()
    return written
