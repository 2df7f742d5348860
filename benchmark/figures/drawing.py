"""Figures as files, in one format or several."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmark.figures import Drawing
from benchmark.figures.style import characters_in_no_font, render
from benchmark.text.writing import FORMATS_WRITTEN, write_atomically


def write_figures(
    folder: Path, drawings: Iterable[Drawing], formats: Sequence[str] = FORMATS_WRITTEN
) -> Iterator[Path]:
    """Draw figures one after the other, and yield the paths of their files.

    A name may hold folders; each format adds its ending. A last warning says that texts have characters of
    no installed font.
    """
    boxes = False
    for name, draw in drawings:
        figure = draw()
        boxes |= bool(characters_in_no_font(figure))
        for end in formats:
            yield write_atomically(folder / f"{name}.{end}", render(figure, end))
    if boxes:
        warnings.warn(
            "Figures show boxes for characters that no font of this machine has. Install one that has them, "
            "such as Noto Sans CJK.",
            stacklevel=2,
        )
