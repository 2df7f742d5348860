"""The figures' font: the part of matplotlib's own that figures use."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

import matplotlib
from fontTools import subset
from matplotlib.font_manager import fontManager

_SOURCES = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")  # come with matplotlib, so every machine has them
_FAMILY = "Betabench Sans"
# Latin, Greek, punctuation, arrows and mathematical signs.
_CHARACTERS = [*range(0x20, 0x250), *range(0x370, 0x400), *range(0x2000, 0x2070), *range(0x2190, 0x2270)]
_FAMILY_IDS, _FULL_NAME_ID, _POSTSCRIPT_ID = (1, 16), 4, 6  # of the name table


@cache
def font_family() -> tuple[str, ...]:
    """Register the font and return the families to draw with, the first that has a character winning.

    Every PDF embeds the part of its fonts that it uses, and finding that part costs time for every character
    and ligature the font has. Cutting the font down once makes a PDF three times as fast. Characters outside
    the cut come from the whole font.
    """
    folder = Path(tempfile.mkdtemp(prefix="betabench-font-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in _SOURCES:
        _cut(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name, folder / name)
        fontManager.addfont(folder / name)
    return _FAMILY, "DejaVu Sans"


def _cut(source: Path, target: Path) -> None:
    options = subset.Options(layout_features=[], glyph_names=True)
    options.drop_tables += ["FFTM", "GDEF", "GPOS", "GSUB"]  # a time stamp, and the layout of other scripts
    with subset.load_font(source, options) as font:
        cutter = subset.Subsetter(options)
        cutter.populate(unicodes=_CHARACTERS)
        cutter.subset(font)
        # A changed font needs a name of its own, for matplotlib to tell it apart and by its licence.
        for record in font["name"].names:
            if record.nameID in _FAMILY_IDS:
                record.string = _FAMILY
            elif record.nameID in (_FULL_NAME_ID, _POSTSCRIPT_ID):
                record.string = source.stem.replace("DejaVuSans", _FAMILY.replace(" ", ""))
        font.save(target)
