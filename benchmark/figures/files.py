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
    """Write figures as they are drawn, and yield the path of each file.

    Parameters
    ----------
    folder : Path
        Made if it does not exist.
    figures : iterable of (str, Figure)
        Name, which may begin with folders, and figure; the name gets the ending of each format.
    formats : sequence of str, optional
        Some of :data:`~benchmark.text.files.FORMATS`; by default PNG alone.
    """
    for name, figure in figures:
        for file_format in formats:
            yield write_atomically(folder / f"{name}.{file_format}", render(figure, file_format))
