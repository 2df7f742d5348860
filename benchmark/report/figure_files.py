"""Figures as files, in every format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from matplotlib.figure import Figure

from benchmark.report.files import write_atomically
from benchmark.report.style import FORMATS, render

__all__ = ["write_figures"]


def write_figures(folder: Path, figures: Iterable[tuple[str, Figure]]) -> Iterator[Path]:
    """Write figures as they are drawn, and yield the path of each file.

    Parameters
    ----------
    folder : Path
        Made if it does not exist.
    figures : iterable of (str, Figure)
        Name, which may begin with folders, and figure; the name gets the ending of each of
        :data:`~benchmark.report.style.FORMATS`.
    """
    for name, figure in figures:
        for file_format in FORMATS:
            yield write_atomically(folder / f"{name}.{file_format}", render(figure, file_format))
