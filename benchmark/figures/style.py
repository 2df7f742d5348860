"""The style of all figures: colors, sizes of text, ticks, and files."""

import io
import math
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import matplotlib.style
import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FixedLocator, FormatStrFormatter
from numpy.typing import ArrayLike
from PIL import Image

from benchmark.figures import Drawing
from benchmark.text.writing import FORMATS_WRITTEN, write_atomically

Look = dict[str, Any]
"""Keywords of matplotlib: colors, widths, markers."""

FONT = "DejaVu Sans"
"""Comes with matplotlib, so every machine has it."""

_SCRIPTS = ("CJK JP", "CJK SC", "Arabic", "Hebrew", "Devanagari", "Bengali", "Thai", "JP", "SC", "KR")
_WORLD = (
    *(f"Noto Sans {script}" for script in _SCRIPTS),
    *("Hiragino Sans", "Yu Gothic", "MS Gothic", "IPAexGothic", "PingFang SC", "Microsoft YaHei", "SimHei"),
    *("WenQuanYi Zen Hei", "Apple SD Gothic Neo", "Malgun Gothic", "Nirmala UI", "Leelawadee UI"),
    *("Arial Unicode MS", "Noto Emoji", "Unifont"),
)
FONTS = [FONT, *(name for name in _WORLD if name in set(fontManager.get_font_names()))]
"""The font, and installed ones for the characters that it lacks."""

SIZES = {"title": 11.0, "subtitle": 8.5, "panel": 9.0, "label": 9.0, "tick": 8.0, "note": 8.0}
"""Sizes of text in points; none is smaller than 8, which is legible in print."""

LINE = 1.3 * SIZES["tick"] / 72
"""Height in inches of a line of labels at ticks."""

GREY = "#5A5A5A"
"""Color of secondary text and lines; its contrast with white is 6.9:1."""

FAINT = "#C6C6C6"
"""Color of lines behind others, for comparison."""

RULE: Look = {"color": GREY, "lw": 0.8, "zorder": 1}
DASHED_RULE: Look = {**RULE, "ls": (0, (2, 2))}
"""Looks of the lines at reference values: 0, the ideal, chance."""

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
    "legend.borderpad": 0,
    "legend.columnspacing": 1.2,
    "legend.labelspacing": 0.33,
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
"""Color of a level of bias; of β spread over [0, 1], so that figures compare."""


def beta_look(limit: float = 1.0) -> Look:
    """Return :data:`BETA_COLORS` as keywords of ``scatter``; ``limit`` is the level of the last color."""
    return {"cmap": BETA_COLORS, "vmin": 0, "vmax": limit}


@contextmanager
def styled() -> Iterator[None]:
    """Apply the style while drawing and saving, whatever the user's own settings are.

    Characters that no font has are boxes without a warning; :func:`characters_in_no_font` tells them.
    """
    with matplotlib.style.context(["default", _STYLE]), warnings.catch_warnings():
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
        figure.savefig(buffer, format=file_format, metadata=_METADATA.get(file_format))
    if file_format != "png":
        return _TOO_FINE.sub(rb"\1", buffer.getvalue()) if file_format == "svg" else buffer.getvalue()
    image, packed = Image.open(buffer).convert("RGB"), io.BytesIO()
    image = image.quantize(_COLORS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    image.save(packed, "PNG", dpi=(_DOTS_PER_INCH, _DOTS_PER_INCH))
    return packed.getvalue()


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


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width in inches of a line of text of a size in points."""
    font = FontProperties(family=FONTS, size=size, weight="bold" if bold else "normal")
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / 72


def wrap(text: str, width: float, size: float = SIZES["tick"], *, bold: bool = False) -> list[str]:
    """Return text in lines of at most ``width`` inches; only words that are longer are broken."""
    if not text:
        return []
    per_character = text_width(text, size, bold=bold) / len(text)
    for n_characters in range(max(1, min(len(text), math.ceil(1.3 * width / per_character))), 0, -1):
        lines = textwrap.wrap(text.replace(" %", "\u00a0%"), n_characters)
        if all(text_width(line, size, bold=bold) <= width for line in lines):
            break
    return lines


def beta_ticks(betas: Sequence[float], most: int = 6) -> list[float]:
    """Return at most ``most`` levels of bias, evenly picked, because the labels of more would overlap."""
    step = max(1, math.ceil((len(betas) - 1) / (most - 1)))
    return list(betas[::step])


def set_level_ticks(axes: Axes, levels: Sequence[float]) -> None:
    """Set ticks of a panel's x axis at levels of bias; a page leaves out those without room."""
    axes.xaxis.set_major_locator(FixedLocator(levels, nbins=len(levels)))
    axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))


def say_empty(axes: Axes, reason: str) -> None:
    """Write in a panel without values why it has none, in place of the ticks of its x axis."""
    text = textwrap.fill(reason, 20)
    axes.text(
        0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=GREY, size=SIZES["tick"]
    )
    axes.set(xticks=[])


def padded(values: ArrayLike, share: float, least: float, narrowest: float = 0.0) -> tuple[float, float]:
    """Return limits that hold all finite values, or [0, 1] without values, and room at either end.

    The room is a share of the values' span, at least ``least``. The limits are at least ``narrowest`` apart.
    """
    numbers = np.asarray(values, dtype=float)
    numbers = numbers[np.isfinite(numbers)]
    low, high = (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 1.0)
    pad = max(share * (high - low), (narrowest - (high - low)) / 2, least)
    return low - pad, high + pad
