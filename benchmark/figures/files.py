"""Figures as files, in one format or several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from benchmark.figures.style import render
from benchmark.text.files import FORMATS_WRITTEN, write_atomically


def write_figures(
    folder: Path, figures: Iterable[tuple[str, Figure]], formats: Sequence[str] = FORMATS_WRITTEN
) -> Iterator[Path]:
    """Write figures as they are drawn, each in some formats, and yield the path of each file.

    Names may begin with folders, and get the ending of each format.
    """
    for name, figure in figures:
        for file_format in formats:
            yield write_atomically(folder / f"{name}.{file_format}", render(figure, file_format))
