"""Figures as files, in one format or several."""

from __future__ import annotations

import functools
import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from benchmark.experiment.pool import Handler, Limits, Pool, Task
from benchmark.figures.fonts import keep_font_in
from benchmark.figures.style import render
from benchmark.text.files import FORMATS_WRITTEN, write_atomically

Drawing = tuple[str, Callable[[], Figure]]
"""Name of a figure, which may begin with folders, and what draws it."""

MakePool = Callable[[Callable[[], Handler], Limits], Pool]
"""Returns new processes for a handler."""


def write_figures(
    folder: Path, figures: Iterable[tuple[str, Figure]], formats: Sequence[str] = FORMATS_WRITTEN
) -> Iterator[Path]:
    """Write figures as they are drawn, each in some formats, and yield the path of each file.

    Names may begin with folders, and get the ending of each format.
    """
    for name, figure in figures:
        for file_format in formats:
            yield write_atomically(folder / f"{name}.{file_format}", render(figure, file_format))


def draw_figures(
    folder: Path,
    drawings: Iterable[Drawing],
    formats: Sequence[str] = FORMATS_WRITTEN,
    make_pool: MakePool | None = None,
) -> Iterator[Path]:
    """Draw and write figures as :func:`write_figures` does, in processes if there are some to be had.

    What draws has to be picklable then. The files come in the order of the drawings.
    """
    drawings = list(drawings)
    found: dict[int, list[bytes]] = {}
    if make_pool is not None and len(drawings) > 1:
        with tempfile.TemporaryDirectory(prefix="betabench-font-") as font:
            make = functools.partial(_Draw, [draw for _, draw in drawings], tuple(formats), Path(font))
            with make_pool(make, Limits(math.inf)) as pool:
                tasks = [Task(None, (number,)) for number in range(len(drawings))]
                for finished in pool.run(tasks):
                    found |= {number: drawn for _, number, drawn in finished if isinstance(drawn, list)}
    for number, (name, draw) in enumerate(drawings):
        if number not in found:  # also where it could not be drawn, so that the error is raised here
            yield from write_figures(folder, [(name, draw())], formats)
        for content, file_format in zip(found.get(number, ()), formats, strict=False):
            yield write_atomically(folder / f"{name}.{file_format}", content)


class _Draw:
    """Draws in the processes of a pool: figures by their numbers; None for one that cannot be drawn."""

    def __init__(self, drawings: Sequence[Callable[[], Figure]], formats: Sequence[str], font: Path) -> None:
        self.drawings, self.formats = drawings, formats
        keep_font_in(font)

    def __call__(self, _: object, numbers: tuple[int, ...]) -> Iterator[list[bytes] | None]:
        for number in numbers:
            try:
                figure = self.drawings[number]()
                yield [render(figure, file_format) for file_format in self.formats]
            except Exception:
                yield None
