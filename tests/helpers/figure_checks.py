"""Questions about drawn figures, answered by the renderer."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from benchmark.figures.style import styled


def boxes(figure: Figure) -> list[tuple[str, Bbox]]:
    """Return every text that is visible, with its place in pixels."""
    with styled():
        renderer = _laid_out(figure)
        legends = legends_of(figure)
        texts = [*figure.texts, *(text for legend in legends for text in legend.get_texts())]
        texts += [legend.get_title() for legend in legends]
        for axes in figure.axes:
            texts += axes_texts(axes)
        return [
            # Of an annotation only its words, not the line that leads to them.
            (text.get_text(), Text.get_window_extent(text, renderer))
            for text in texts
            if text.get_visible() and text.get_text().strip()
        ]


def legends_of(figure: Figure) -> list[Legend]:
    """Return the legends of a figure and of its panels."""
    found = [axes.get_legend() for axes in figure.axes]
    return [*figure.legends, *(legend for legend in found if legend is not None)]


def _laid_out(figure: Figure) -> RendererAgg:
    """Give everything in a figure its place, without painting it; return what measures texts."""
    canvas = FigureCanvasAgg(figure)
    if figure.stale:  # or it has been done, and nothing has changed since
        figure.draw_without_rendering()
    return canvas.get_renderer()


def numbers_in(axes: Axes) -> dict[tuple[int, int], str]:
    """Return the texts in a heat map's cells by column and row."""
    cells = [text for text in axes.texts if text.get_gid() == "cell"]
    return {(int(x), int(y)): text.get_text() for text in cells for x, y in [text.get_position()]}


def axes_texts(axes: Axes) -> list[Text]:
    titles = [axes.title, axes._left_title, axes._right_title]  # type: ignore[attr-defined]
    if not axes.axison:
        return [*titles, *axes.texts]
    ticks = [*tick_texts(axes.xaxis, axes.get_xlim()), *tick_texts(axes.yaxis, axes.get_ylim())]
    return [*titles, *axes.texts, axes.xaxis.label, axes.yaxis.label, *ticks]


def tick_texts(axis: Axis, limits: tuple[float, float]) -> list[Text]:
    low, high = sorted(limits)
    ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
    shown = [tick for tick in ticks if low <= tick.get_loc() <= high]
    return [t for tick in shown for t in (tick.label1, tick.label2) if t.get_visible()]


def flaws(figure: Figure) -> list[str]:
    """Return what is wrong with where a figure's texts are, having drawn it once."""
    found = boxes(figure)
    return [
        *(f"{a!r} overlaps {b!r}" for a, b in _overlaps(found)),
        *(f"{text!r} is cut off" for text in _beyond(figure, found)),
        *(["the legend overlaps a panel"] if legend_overlaps_panels(figure) else []),
    ]


def overlapping(figure: Figure) -> list[tuple[str, str]]:
    """Return the pairs of texts that share pixels."""
    return _overlaps(boxes(figure))


def _overlaps(found: list[tuple[str, Bbox]]) -> list[tuple[str, str]]:
    # A pixel of tolerance: boxes have an edge that the glyphs do not fill.
    corners = np.array([[b.x0 + 1, b.y0 + 1, b.x1 - 1, b.y1 - 1] for _, b in found]).reshape(-1, 4)
    low, high = corners[:, None, :2], corners[:, None, 2:]
    together = ((low < corners[None, :, 2:]) & (corners[None, :, :2] < high)).all(axis=2)
    return [(found[i][0], found[j][0]) for i, j in np.argwhere(np.triu(together, 1))]


def cut_off(figure: Figure) -> list[str]:
    """Return the texts that reach beyond the figure."""
    return _beyond(figure, boxes(figure))


def _beyond(figure: Figure, found: list[tuple[str, Bbox]]) -> list[str]:
    page = figure.bbox
    return [
        text
        for text, box in found
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
        renderer = _laid_out(figure)
        legends = [legend.get_window_extent(renderer) for legend in legends_of(figure)]
        return any(legend.overlaps(axes.bbox) for legend in legends for axes in figure.axes)
