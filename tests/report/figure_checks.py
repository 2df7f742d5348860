"""Questions about drawn figures, answered by the renderer."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from benchmark.report.style import styled


def boxes(figure: Figure) -> list[tuple[str, Bbox]]:
    """Return every text that is visible, with its place in pixels."""
    with styled():
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        renderer = canvas.get_renderer()
        texts = [*figure.texts, *(text for legend in figure.legends for text in legend.get_texts())]
        for axes in figure.axes:
            texts += axes_texts(axes)
        return [
            (text.get_text(), text.get_window_extent(renderer))
            for text in texts
            if text.get_visible() and text.get_text().strip()
        ]


def axes_texts(axes: Axes) -> list[Text]:
    titles = [axes.title, axes._left_title, axes._right_title]  # type: ignore[attr-defined]
    if not axes.axison:
        return [*titles, *axes.texts]
    ticks = [*tick_texts(axes.xaxis, axes.get_xlim()), *tick_texts(axes.yaxis, axes.get_ylim())]
    return [*titles, *axes.texts, axes.xaxis.label, axes.yaxis.label, *ticks]


def tick_texts(axis: Axis, limits: tuple[float, float]) -> list[Text]:
    low, high = sorted(limits)
    ticks = axis.get_major_ticks()
    shown = [tick for tick in ticks if low <= tick.get_loc() <= high]
    return [t for tick in shown for t in (tick.label1, tick.label2) if t.get_visible()]


def overlapping(figure: Figure) -> list[tuple[str, str]]:
    """Return the pairs of texts that share pixels."""
    # A pixel of tolerance: boxes have an edge that the glyphs do not fill.
    shrunk = [(text, Bbox.from_extents(b.x0 + 1, b.y0 + 1, b.x1 - 1, b.y1 - 1)) for text, b in boxes(figure)]
    return [(a, b) for (a, box_a), (b, box_b) in combinations(shrunk, 2) if box_a.overlaps(box_b)]


def cut_off(figure: Figure) -> list[str]:
    """Return the texts that reach beyond the figure."""
    page = figure.bbox
    return [
        text
        for text, box in boxes(figure)
        if box.x0 < page.x0 or box.y0 < page.y0 or box.x1 > page.x1 or box.y1 > page.y1
    ]


def texts_of(figure: Figure) -> str:
    """Return all visible text, line ends made spaces."""
    return " ".join(" ".join(text.split()) for text, _ in boxes(figure))


def panels(figure: Figure) -> list[Axes]:
    """Return the axes that are no colourbar."""
    return [axes for axes in figure.axes if axes not in colorbars(figure)]


def colorbars(figure: Figure) -> list[Axes]:
    """Return the axes that are a colourbar: their colours lie along y, so x has nothing to show."""
    return [axes for axes in figure.axes if axes.get_xlim() == (0, 1) and not len(axes.get_xticks())]


def legend_overlaps_panels(figure: Figure) -> bool:
    with styled():
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        legends = [legend.get_window_extent(canvas.get_renderer()) for legend in figure.legends]
        return any(legend.overlaps(axes.bbox) for legend in legends for axes in figure.axes)


def grey_levels(colors: np.ndarray) -> np.ndarray:
    """Return the luminance of colours, shape (n, 3 or 4)."""
    return np.asarray(colors)[:, :3] @ np.array([0.2126, 0.7152, 0.0722])
