"""How all figures look, and how they become bytes.

Sizes are in inches and places are computed, not fitted: a page of panels is laid out in no time, comes out
the same on every machine, and has room for its words by construction.
"""

from __future__ import annotations

import io
import math
import re
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import matplotlib.style
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from matplotlib.ticker import NullLocator

from benchmark.figures.fonts import font_family

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZES = {"title": 11.0, "subtitle": 8.5, "panel": 9.0, "label": 9.0, "tick": 8.0, "note": 7.5}
"""Sizes of text in points."""

GREY = "#5A5A5A"
"""Colour of secondary text and lines; 6.9:1 against white."""

STEPS = (1, 2, 2.5, 5, 10)
"""Steps between ticks, times a power of ten."""

FAINT = "#C6C6C6"
"""Colour of what stands behind, for comparison."""

_DOTS_PER_INCH = 160
_COLORS = 256  # of a PNG: few enough for a third of the bytes, and more than figures have but for soft edges

_STYLE: dict[str, Any] = {
    "font.size": SIZES["label"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.labelsize": SIZES["label"],
    "axes.titlesize": SIZES["panel"],
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "legend.fontsize": SIZES["tick"],
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 5.0,
    "pdf.fonttype": 42,  # text stays text: searchable, editable, accepted by publishers
    "savefig.dpi": _DOTS_PER_INCH,
    # An SVG file has no font in it: as text its letters would be of another width on each machine, and no
    # longer clear of each other. As outlines, kept once per letter, they are the same everywhere.
    "svg.fonttype": "path",
    "svg.hashsalt": "betabench",  # names within the file depend on the content only
    "text.parse_math": False,  # names come from users: a dollar sign is a dollar sign
    "xtick.color": GREY,
    "xtick.labelcolor": "black",
    "xtick.labelsize": SIZES["tick"],
    "ytick.color": GREY,
    "ytick.labelcolor": "black",
    "ytick.labelsize": SIZES["tick"],
}
_TOO_FINE = re.compile(rb"(\.\d{3})\d+")  # decimals of an SVG file beyond a thousandth of a point

# Without a date the bytes depend on the content only.
_SAVING: dict[str, dict[str, Any]] = {
    "pdf": {"metadata": {"CreationDate": None}},
    "svg": {"metadata": {"Date": None}},
}

# Okabe & Ito (2008) without their yellow, which vanishes on white; then wine, olive and indigo of Tol (2021).
_OKABE_ITO = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
_PALETTE = (*_OKABE_ITO, "#882255", "#999933", "#332288", "#888888")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
_DASHES: tuple[Any, ...] = ("solid", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))

LineStyle = dict[str, Any]
"""Colour, marker and dashes of a technique's line, as keywords of matplotlib."""


def _beta_colors() -> ListedColormap:
    from matplotlib import colormaps

    # Viridis is even for all kinds of colour vision and in grey; its end is too light for dots on white.
    return ListedColormap(colormaps["viridis"](np.linspace(0.0, 0.9, 256)), name="beta")


BETA_COLORS = _beta_colors()
"""Colour of a level of bias; always spread over [0, 1], so that figures compare."""


@contextmanager
def styled() -> Iterator[None]:
    """Apply the style while drawing and saving, whatever the user's own settings are."""
    style = matplotlib.style.context(["default", _STYLE, {"font.family": list(font_family())}])
    with style, warnings.catch_warnings():
        # Names are the user's: what the font lacks is drawn as a box, and said in no other place.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from", UserWarning)
        yield


def line_style(index: int) -> LineStyle:
    """Return colour, marker and dashes of the technique at a position.

    11 colours, 9 markers and 4 kinds of dashes have no common divisor, so the first 36 techniques differ in
    grey as well, by marker and dashes alone.
    """
    return {
        "color": _PALETTE[index % len(_PALETTE)],
        "marker": _MARKERS[index % len(_MARKERS)],
        "linestyle": _DASHES[index % len(_DASHES)],
    }


def render(figure: Figure, file_format: str) -> bytes:
    """Return a figure as a file's bytes: same figure, same bytes.

    Parameters
    ----------
    figure : Figure
        Drawn within :func:`styled`.
    file_format : {"png", "pdf", "svg"}
        PNG has 160 dots per inch.
    """
    buffer = io.BytesIO()
    with styled():
        if file_format == "png":
            _save_png(figure, buffer)
        else:
            figure.savefig(buffer, format=file_format, **_SAVING[file_format])
    return _TOO_FINE.sub(rb"\1", buffer.getvalue()) if file_format == "svg" else buffer.getvalue()


def _save_png(figure: Figure, buffer: io.BytesIO) -> None:
    # Pillow comes with matplotlib, and is loaded only when something is drawn.
    from PIL import Image

    raw = io.BytesIO()
    figure.savefig(raw, format="rgba")
    width, height = (int(inches * _DOTS_PER_INCH) for inches in figure.get_size_inches())
    image = Image.frombuffer("RGBA", (width, height), raw.getvalue(), "raw", "RGBA", 0, 1).convert("RGB")
    few = image.quantize(_COLORS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.save(buffer, "PNG", compress_level=6, dpi=(_DOTS_PER_INCH, _DOTS_PER_INCH))


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width in inches of a line of text of a size in points."""
    font = FontProperties(family=list(font_family()), size=size, weight="bold" if bold else "normal")
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / 72


def wrap(text: str, width: float, size: float, *, bold: bool = False) -> list[str]:
    """Break text into lines of at most ``width`` inches, within words only where one is longer."""
    if not text:
        return []
    per_character = text_width(text, size, bold=bold) / len(text)
    n_characters = max(1, min(len(text), math.ceil(1.3 * width / per_character)))
    lines = textwrap.wrap(text, n_characters)
    while n_characters > 1 and any(text_width(line, size, bold=bold) > width for line in lines):
        n_characters -= 1
        lines = textwrap.wrap(text, n_characters)
    return lines


class Page:
    """A figure of equal panels under a header and above notes, all sizes in inches.

    Parameters
    ----------
    n_panels : int
        How many panels.
    columns : int
        Panels per row.
    panel : (float, float)
        Width and height of a panel's axes.
    title : str
        First line of the header.
    subtitle : str
        What is shown and of what; wrapped.
    notes : sequence of str
        Small print below the panels; wrapped.
    left, right, below : float
        Room at the sides of the panels and below them, for labels, colourbars and legends.
    gap : (float, float)
        Room between panels, across and down.
    panel_titles : sequence of str, optional
        One title per panel; wrapped to the panel's width.
    """

    edge = 0.14

    def __init__(
        self,
        n_panels: int,
        columns: int,
        *,
        panel: tuple[float, float],
        title: str,
        subtitle: str,
        notes: Sequence[str] = (),
        left: float = 0.66,
        right: float = 0.2,
        below: float = 0.56,
        gap: tuple[float, float] = (0.2, 0.26),
        panel_titles: Sequence[str] = (),
    ) -> None:
        self.columns, self.n_panels = columns, n_panels
        self.n_rows = math.ceil(n_panels / columns)
        (panel_width, panel_height), (across, down) = panel, gap
        self.width = left + columns * panel_width + (columns - 1) * across + right
        # Letters that are fitted to pixels can be some hundredths wider than they are by design.
        writable = 0.98 * (self.width - 2 * self.edge)
        header = [(line, "title", True) for line in wrap(title, writable, SIZES["title"], bold=True)]
        header += [(line, "subtitle", False) for line in wrap(subtitle, writable, SIZES["subtitle"])]
        footer = [line for note in notes for line in wrap(note, writable, SIZES["note"])]
        titles = [wrap(text, panel_width + across / 2, SIZES["panel"]) for text in panel_titles]
        title_room = max((len(lines) for lines in titles), default=0) * _line_height("panel") + 0.06
        header_room = sum(_line_height(size) for _, size, _ in header) + self.edge + 0.04
        footer_room = len(footer) * _line_height("note") + self.edge
        grid_height = self.n_rows * (panel_height + title_room) + (self.n_rows - 1) * down
        self.height = header_room + grid_height + below + footer_room
        self.figure = Figure(figsize=(self.width, self.height))
        self._write_header(header)
        self._write_footer(footer, footer_room)
        self.axes: list[Axes] = []
        for i in range(n_panels):
            row, column = divmod(i, columns)
            x = left + column * (panel_width + across)
            y = self.height - header_room - (row + 1) * (panel_height + title_room) - row * down
            axes = self.figure.add_axes(self.place(x, y, panel_width, panel_height))
            if titles:
                axes.set_title("\n".join(titles[i]), loc="left", pad=4)
            self.axes.append(axes)
        self.grid_left, self.grid_right = left, self.width - right
        self.grid_bottom = footer_room + below
        self.grid_top = self.height - header_room - title_room

    def place(self, x: float, y: float, width: float, height: float) -> tuple[float, float, float, float]:
        """Turn inches from the lower left corner into fractions of the figure."""
        return x / self.width, y / self.height, width / self.width, height / self.height

    def list_below(self, entries: Sequence[str], *, top: float, size: str = "tick") -> None:
        """Write short texts below the panels, in columns of equal width that are read downwards.

        Parameters
        ----------
        entries : sequence of str
            One line each; :func:`list_room` says how much of ``below`` they take.
        top : float
            Inches from the lowest panels to the first line.
        size : str, default "tick"
            Key of :data:`SIZES`.
        """
        columns, n_rows = _list_shape(entries, self.width - 2 * self.edge, size)
        step = (self.width - 2 * self.edge) / columns
        for i, text in enumerate(entries):
            column, row = divmod(i, n_rows)
            x = self.edge + column * step
            y = self.grid_bottom - top - row * _line_height(size)
            self.figure.text(x / self.width, y / self.height, text, size=SIZES[size], va="top", gid="list")

    def nothing_below(self, index: int) -> bool:
        """Whether a panel is the lowest of its column."""
        return index + self.columns >= self.n_panels

    def first_in_row(self, index: int) -> bool:
        """Whether a panel is the leftmost of its row."""
        return index % self.columns == 0

    def _write_header(self, lines: Sequence[tuple[str, str, bool]]) -> None:
        y = self.height - self.edge
        for text, size, bold in lines:
            self.figure.text(
                self.edge / self.width,
                y / self.height,
                text,
                size=SIZES[size],
                weight="bold" if bold else "normal",
                va="top",
                gid="header",
            )
            y -= _line_height(size)

    def _write_footer(self, lines: Sequence[str], room: float) -> None:
        y = room - 0.02
        for text in lines:
            place = (self.edge / self.width, y / self.height)
            self.figure.text(*place, text, size=SIZES["note"], color=GREY, va="top", gid="footer")
            y -= _line_height("note")


def add_beta_colorbar(page: Page, betas: Sequence[float], *, shift: float = 0.0) -> None:
    """Add the legend of :data:`BETA_COLORS` at the right of the panels, farther off by ``shift`` inches."""
    height = min(page.grid_top - page.grid_bottom, 3.2)
    place = page.place(page.grid_right + 0.16 + shift, page.grid_top - height, 0.12, height)
    axes = page.figure.add_axes(place)
    bar = page.figure.colorbar(ScalarMappable(Normalize(0, 1), BETA_COLORS), cax=axes)
    bar.set_ticks(beta_ticks(betas), labels=[f"{beta:g}" for beta in beta_ticks(betas)])
    bar.ax.yaxis.set_minor_locator(NullLocator())
    bar.outline.set_visible(False)
    bar.set_label("planted bias β")


def list_room(entries: Sequence[str], width: float, size: str = "tick") -> float:
    """Return the height in inches of texts that :meth:`Page.list_below` writes on a page of a width."""
    return _list_shape(entries, width - 2 * Page.edge, size)[1] * _line_height(size)


def _list_shape(entries: Sequence[str], width: float, size: str) -> tuple[int, int]:
    widest = max((text_width(text, SIZES[size]) for text in entries), default=0.0) + 0.25
    columns = max(1, min(len(entries), int(width / widest)))
    n_rows = math.ceil(len(entries) / columns)
    # Equal columns: the last one is not left with a single entry while the others are full.
    return math.ceil(len(entries) / max(1, n_rows)) or 1, n_rows


def _line_height(size: str) -> float:
    return 1.4 * SIZES[size] / 72


def beta_ticks(betas: Sequence[float], most: int = 6) -> list[float]:
    """Return at most so many levels of bias, evenly picked: more would overlap."""
    step = max(1, math.ceil((len(betas) - 1) / (most - 1)))
    return list(betas[::step])
