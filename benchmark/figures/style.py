"""The style of all figures, their page, and their rendering.

Sizes are in inches. Positions are computed, so that a page is the same on every machine and has room for its
words.
"""

from __future__ import annotations

import io
import math
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import matplotlib.style
import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FixedLocator, FormatStrFormatter, MaxNLocator, NullLocator
from numpy.typing import ArrayLike

Look = dict[str, Any]
"""Keywords of matplotlib: colors, widths, markers."""

FONT = "DejaVu Sans"
"""Comes with matplotlib, so every machine has it."""

_WORLD = (
    *(
        f"Noto Sans {script}"
        for script in ("CJK JP", "CJK SC", "Arabic", "Hebrew", "Devanagari", "Bengali", "Thai")
    ),
    *(
        "Noto Sans JP",
        "Noto Sans SC",
        "Noto Sans KR",
        "Hiragino Sans",
        "Yu Gothic",
        "MS Gothic",
        "IPAexGothic",
    ),
    *(
        "PingFang SC",
        "Microsoft YaHei",
        "SimHei",
        "WenQuanYi Zen Hei",
        "Apple SD Gothic Neo",
        "Malgun Gothic",
    ),
    *("Nirmala UI", "Leelawadee UI", "Arial Unicode MS", "Noto Emoji", "Unifont"),
)
FONTS = [FONT, *(name for name in _WORLD if name in set(fontManager.get_font_names()))]
"""The font, and installed ones for the characters that it lacks."""

SIZES = {"title": 11.0, "subtitle": 8.5, "panel": 9.0, "label": 9.0, "tick": 8.0, "note": 7.5}
"""Sizes of text in points."""

LINE = 1.3 * SIZES["tick"] / 72
"""Height in inches of a line of labels at ticks."""

GREY = "#5A5A5A"
"""Color of secondary text and lines; its contrast with white is 6.9:1."""

FAINT = "#C6C6C6"
"""Color of lines behind others, for comparison."""

RULE: Look = {"color": GREY, "lw": 0.8, "zorder": 1}
DASHED_RULE: Look = {**RULE, "ls": (0, (2, 2))}
"""Looks of the lines at reference values: 0, the ideal, chance."""

STEPS = (1, 2, 2.5, 5, 10)
"""Steps between ticks, times a power of ten."""

_DOTS_PER_INCH = 160
_COLORS = 256  # of a PNG: few enough for a third of the bytes, and more than figures have but for soft edges

_STYLE: Look = {
    "font.family": FONTS,
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
    # An SVG file has no font in it: letters would have another width on each machine, and overlap. Outlines,
    # stored once per letter, are the same everywhere.
    "svg.fonttype": "path",
    "svg.hashsalt": "betabench",  # names within the file depend on the content only
    "text.parse_math": False,  # names come from users: a dollar sign is a dollar sign
    **{f"{axis}tick.color": GREY for axis in "xy"},
    **{f"{axis}tick.labelcolor": "black" for axis in "xy"},
    **{f"{axis}tick.labelsize": SIZES["tick"] for axis in "xy"},
}
_TOO_FINE = re.compile(rb"(\.\d{3})\d+")  # decimals of an SVG file beyond a thousandth of a point

# Without a date the bytes depend on the content only.
_METADATA = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}

# Okabe & Ito (2008) without their yellow, which vanishes on white; then wine, olive and indigo of Tol (2021).
_OKABE_ITO = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
_PALETTE = (*_OKABE_ITO, "#882255", "#999933", "#332288", "#888888")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
_DASHES: tuple[Any, ...] = ("solid", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))

BLUE, ORANGE = _OKABE_ITO[1:3]

# Viridis is even for all kinds of color vision and in grey; its end is too light for dots on white.
BETA_COLORS = ListedColormap(colormaps["viridis"](np.linspace(0.0, 0.9, 256)), name="beta")
"""Color of a level of bias; of β spread over [0, 1], so that figures compare, of doses over the run's."""


def beta_look(limit: float = 1.0) -> Look:
    """Return :data:`BETA_COLORS` as keywords of ``scatter``; ``limit`` is the level of the last color."""
    return {"cmap": BETA_COLORS, "vmin": 0, "vmax": limit}


@contextmanager
def styled() -> Iterator[None]:
    """Apply the style while drawing and saving, whatever the user's own settings are."""
    with matplotlib.style.context(["default", _STYLE]), _boxes_allowed():
        yield


@contextmanager
def _boxes_allowed() -> Iterator[None]:
    """Allow boxes for characters that no font has; :func:`characters_in_no_font` tells them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from", UserWarning)
        yield


def characters_in_no_font(figure: Figure) -> set[str]:
    """Return the characters of a figure's texts that are drawn as boxes."""
    texts = {text for drawn in figure.findobj(Text) for text in drawn.get_text()}
    rare = {character for character in texts if not character.isspace() and not character.isascii()}
    charmaps = [get_font(findfont(name)).get_charmap() for name in FONTS] if rare else []
    return {character for character in rare if not any(ord(character) in charmap for charmap in charmaps)}


def line_style(index: int) -> Look:
    """Return color, marker and dashes of the technique at a position.

    11 colors, 9 markers and 4 kinds of dashes have no common divisor. So the first 36 techniques differ in
    gray as well, by marker and dashes.
    """
    return {
        "color": _PALETTE[index % len(_PALETTE)],
        "marker": _MARKERS[index % len(_MARKERS)],
        "linestyle": _DASHES[index % len(_DASHES)],
    }


def render(figure: Figure, file_format: str) -> bytes:
    """Return a figure as a PNG of 160 dots per inch, a PDF or an SVG: same figure, same bytes."""
    buffer = io.BytesIO()
    with styled():
        if file_format == "png":
            _save_png(figure, buffer)
        else:
            figure.savefig(buffer, format=file_format, metadata=_METADATA[file_format])
    return _TOO_FINE.sub(rb"\1", buffer.getvalue()) if file_format == "svg" else buffer.getvalue()


def _save_png(figure: Figure, buffer: io.BytesIO) -> None:
    # Pillow comes with matplotlib, and is loaded only when something is drawn.
    from PIL import Image

    raw = io.BytesIO()
    figure.savefig(raw, format="rgba")
    width, height = (int(inches * _DOTS_PER_INCH) for inches in figure.get_size_inches())
    image = Image.frombuffer("RGBA", (width, height), raw.getvalue(), "raw", "RGBA", 0, 1).convert("RGB")
    reduced = image.quantize(_COLORS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    reduced.save(buffer, "PNG", compress_level=6, dpi=(_DOTS_PER_INCH, _DOTS_PER_INCH))


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width in inches of a line of text of a size in points."""
    font = FontProperties(family=FONTS, size=size, weight="bold" if bold else "normal")
    with _boxes_allowed():
        width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / 72


def widest(lines: Iterable[str]) -> float:
    """Return the width in inches of the widest line, in the size of labels at ticks; 0 without lines."""
    return max((text_width(line, SIZES["tick"]) for line in lines), default=0.0)


def wrap(text: str, width: float, size: float = SIZES["tick"], *, bold: bool = False) -> list[str]:
    """Return text in lines of at most ``width`` inches; only words that are longer are broken."""
    if not text:
        return []
    per_character = text_width(text, size, bold=bold) / len(text)
    n_characters = max(1, min(len(text), math.ceil(1.3 * width / per_character)))
    lines = textwrap.wrap(text, n_characters)
    while n_characters > 1 and any(text_width(line, size, bold=bold) > width for line in lines):
        n_characters -= 1
        lines = textwrap.wrap(text, n_characters)
    return lines


class RowLabels:
    """Names of rows at the left of panels, each in one or more lines."""

    def __init__(self, labels: Sequence[Sequence[str]]) -> None:
        self.texts = ["\n".join(lines) for lines in labels]
        self.width = widest(line for lines in labels for line in lines)  # inches
        self.tallest = max(map(len, labels), default=1)  # lines of the tallest label

    def __len__(self) -> int:
        return len(self.texts)

    def write(self, axes: Axes, n_rows: int | None = None, *, named: bool = True) -> None:
        """Write the labels at a panel's rows, the first on top; ``n_rows`` may exceed the labels.

        Without ``named`` the rows have the same heights, but no labels.
        """
        axes.set_ylim(max(1, n_rows or len(self)) - 0.5, -0.5)
        axes.set_yticks(range(len(self)) if named else [], labels=self.texts if named else [])
        axes.tick_params(axis="y", length=0)


class Page:
    """A figure of panels under a header and above notes, all sizes in inches.

    Parameters
    ----------
    n_panels, columns : int
        The number of panels, and of panels per row.
    panel : (float, float or sequence of float)
        Width and height of a panel's axes; heights of each row of panels where they differ.
    title, subtitle : str
        The header, which is wrapped.
    notes : sequence of str
        Small print below the panels; wrapped.
    left, right, below : float
        Room beside and below the panels for labels, colorbars and legends.
    gap : (float, float)
        Room between panels, across and down.
    panel_titles : sequence of str, optional
        One title per panel; wrapped to the panel's width.
    titles_stay : bool, default False
        Whether titles ignore factors above axes. It saves time where no axis has a factor.
    """

    edge = 0.14

    def __init__(
        self,
        n_panels: int,
        columns: int,
        *,
        panel: tuple[float, float | Sequence[float]],
        title: str,
        subtitle: str,
        notes: Sequence[str] = (),
        left: float = 0.66,
        right: float = 0.2,
        below: float = 0.56,
        gap: tuple[float, float] = (0.2, 0.26),
        panel_titles: Sequence[str] = (),
        titles_stay: bool = False,
    ) -> None:
        self.columns, self.n_panels = columns, n_panels
        self.n_rows = math.ceil(n_panels / columns)
        (panel_width, height), (across, down) = panel, gap
        heights = [height] * self.n_rows if isinstance(height, float | int) else list(height)
        self.width = left + columns * panel_width + (columns - 1) * across + right
        # Letters that are fitted to pixels can be some hundredths wider than designed.
        writable = 0.98 * (self.width - 2 * self.edge)
        header = [(line, "title", "bold") for line in wrap(title, writable, SIZES["title"], bold=True)]
        header += [(line, "subtitle", "normal") for line in wrap(subtitle, writable, SIZES["subtitle"])]
        footer = [line for note in notes for line in wrap(note, writable, SIZES["note"])]
        titles = [wrap(text, panel_width + across / 2, SIZES["panel"]) for text in panel_titles]
        title_room = max((len(lines) for lines in titles), default=0) * _line_height("panel") + 0.06
        header_room = sum(_line_height(size) for _, size, _ in header) + self.edge + 0.04
        footer_room = len(footer) * _line_height("note") + self.edge
        grid_height = sum(heights) + self.n_rows * title_room + (self.n_rows - 1) * down
        self.height = header_room + grid_height + below + footer_room
        self.figure = Figure(figsize=(self.width, self.height))
        y = self.height - self.edge
        for line, size, weight in header:
            self._write(line, self.edge, y, size, weight=weight, gid="header")
            y -= _line_height(size)
        y = footer_room - 0.02
        for line in footer:
            self._write(line, self.edge, y, "note", color=GREY, gid="footer")
            y -= _line_height("note")
        self.axes: list[Axes] = []
        for i in range(n_panels):
            row, column = divmod(i, columns)
            x = left + column * (panel_width + across)
            above = sum(heights[: row + 1]) + (row + 1) * title_room + row * down
            y = self.height - header_room - above
            axes = self.figure.add_axes(self.fractions(x, y, panel_width, heights[row]))
            if titles:
                axes.set_title("\n".join(titles[i]), loc="left", pad=4, y=1.0 if titles_stay else None)
            self.axes.append(axes)
        self.grid_left, self.grid_right = left, self.width - right
        self.grid_bottom = footer_room + below
        self.grid_top = self.height - header_room - title_room

    def _write(self, text: str, x: float, y: float, size: str, **look: Any) -> None:
        self.figure.text(x / self.width, y / self.height, text, size=SIZES[size], va="top", **look)

    def fractions(self, x: float, y: float, width: float, height: float) -> tuple[float, float, float, float]:
        """Return inches from the lower left corner as fractions of the figure."""
        return x / self.width, y / self.height, width / self.width, height / self.height

    def list_below(self, entries: Sequence[str], *, top: float) -> None:
        """Write lines in columns of equal width, from ``top`` inches below the panels downwards.

        :func:`list_room` returns their height.
        """
        columns, n_rows = _list_shape(entries, self.width)
        step = (self.width - 2 * self.edge) / columns
        for i, text in enumerate(entries):
            column, row = divmod(i, n_rows)
            y = self.grid_bottom - top - row * _line_height("tick")
            self._write(text, self.edge + column * step, y, "tick", gid="list")

    def legend(self, x: float, y: float, handles: Sequence[Any], **look: Any) -> Legend:
        """Add a legend with its upper left corner at a position in inches, and the labels of the handles."""
        return self.figure.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(x / self.width, y / self.height),
            borderaxespad=0,
            **look,
        )

    def legend_below(self, handles: Sequence[Any], top: float, **look: Any) -> None:
        """Add a legend of two columns at the left edge, ``top`` inches below the panels."""
        look = {"borderpad": 0, "ncol": 2, "columnspacing": 1.6, **look}
        self.legend(self.edge, self.grid_bottom - top, handles, **look)

    def legend_beside(self, panel: Axes, handles: Sequence[Any], title: str = "") -> None:
        """Add a legend at the right of all panels, at the upper end of one of them."""
        self.legend(
            self.grid_right + 0.16,
            panel.get_position().y1 * self.height,
            handles,
            borderpad=0,
            handlelength=3.2,
            labelspacing=0.35,
            title=title or None,
            title_fontproperties={"size": SIZES["tick"], "weight": "bold"},
            alignment="left",
        )

    def add_colorbar(self, colors: ScalarMappable, *, shift: float = 0.0, **look: Any) -> Any:
        """Add and return a colorbar at the right of the panels, ``shift`` inches farther off."""
        height = min(self.grid_top - self.grid_bottom, 3.2)
        corners = self.fractions(self.grid_right + 0.16 + shift, self.grid_top - height, 0.12, height)
        bar = self.figure.colorbar(colors, cax=self.figure.add_axes(corners), **look)
        bar.outline.set_visible(False)
        return bar

    def nothing_below(self, index: int) -> bool:
        """Whether a panel is the lowest of its column."""
        return index + self.columns >= self.n_panels

    def first_in_row(self, index: int) -> bool:
        """Whether a panel is the leftmost of its row."""
        return index % self.columns == 0

    def name_axes(self, x_label: str, y_label: str) -> None:
        """Name the x axes of the lowest panels and the y axes of the leftmost."""
        for i, axes in enumerate(self.axes):
            if self.nothing_below(i):
                axes.set_xlabel(x_label)
            if self.first_in_row(i):
                axes.set_ylabel(y_label)


def add_beta_colorbar(
    page: Page,
    betas: Sequence[float],
    *,
    shift: float = 0.0,
    limit: float = 1.0,
    label: str = "planted bias β",
) -> None:
    """Add the legend of :data:`BETA_COLORS` at the right of the panels, ``shift`` inches farther off.

    ``limit`` is the level of the last color, ``label`` the name of levels.
    """
    bar = page.add_colorbar(ScalarMappable(Normalize(0, limit), BETA_COLORS), shift=shift)
    ticks = beta_ticks([beta for beta in betas if beta <= limit])  # some doses may be out of reach
    bar.set_ticks(ticks, labels=[f"{beta:g}" for beta in ticks])
    bar.ax.yaxis.set_minor_locator(NullLocator())
    bar.set_label(label)


def list_room(entries: Sequence[str], width: float) -> float:
    """Return the height in inches of a list that :meth:`Page.list_below` writes on a page of a width."""
    return _list_shape(entries, width)[1] * _line_height("tick")


def _list_shape(entries: Sequence[str], width: float) -> tuple[int, int]:
    columns = max(1, min(len(entries), int((width - 2 * Page.edge) / (widest(entries) + 0.25))))
    n_rows = math.ceil(len(entries) / columns)
    # Equal columns, so that the last column is nearly as full as the others.
    return math.ceil(len(entries) / max(1, n_rows)) or 1, n_rows


def _line_height(size: str) -> float:
    return 1.4 * SIZES[size] / 72


def beta_ticks(betas: Sequence[float], most: int = 6) -> list[float]:
    """Return at most ``most`` levels of bias, evenly picked, because the labels of more would overlap."""
    step = max(1, math.ceil((len(betas) - 1) / (most - 1)))
    return list(betas[::step])


def set_ticks(axes: Axes, *, x: int | None = None, y: int | None = None) -> None:
    """Set ticks of a panel at round numbers, with at most ``x`` and ``y`` steps between them."""
    for axis, n_steps in ((axes.xaxis, x), (axes.yaxis, y)):
        if n_steps is not None:
            axis.set_major_locator(MaxNLocator(nbins=n_steps, steps=STEPS))


def set_level_ticks(axes: Axes, levels: Sequence[float]) -> None:
    """Set ticks of a panel's x axis at levels of bias."""
    axes.xaxis.set_major_locator(FixedLocator(beta_ticks(levels)))
    axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))


def say_empty(axes: Axes, reason: str) -> None:
    """Write in a panel without values why it has none, in place of its ticks."""
    width = axes.get_position().width * axes.figure.get_size_inches()[0]  # type: ignore[union-attr]
    text = "\n".join(wrap(reason, 0.92 * width))
    axes.text(
        0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=GREY, size=SIZES["tick"]
    )
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(FixedLocator([]))


def guide_rows(axes: Axes, n_rows: int) -> None:
    """Draw faint lines along the rows of a panel in place of its grid."""
    axes.grid(visible=False, axis="y")
    axes.hlines(
        range(n_rows), 0, 1, color="#EFEFEF", lw=0.6, zorder=0.4, transform=axes.get_yaxis_transform()
    )


def padded(values: ArrayLike, share: float, least: float, narrowest: float = 0.0) -> tuple[float, float]:
    """Return limits that hold all finite values, or [0, 1] without values, and room at either end.

    The room is a share of the values' span, at least ``least``. The limits are at least ``narrowest`` apart.
    """
    numbers = np.asarray(values, dtype=float)
    numbers = numbers[np.isfinite(numbers)]
    low, high = (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 1.0)
    pad = max(share * (high - low), (narrowest - (high - low)) / 2, least)
    return low - pad, high + pad
