"""Formulas as MathML, which browsers show by themselves, and the font that has their signs."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterable
from importlib import metadata

__all__ = ["math_font", "with_mathml"]

# What pymdownx.arithmatex leaves where a formula stood.
_FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\(?P<open>[(\[])(?P<tex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)
_NUMBER = re.compile(r"\\tag\{(\w+)\}")

# TeX's spelling of what Markdown would have taken for its own; see website.technique_pages.
_SPELLED = {"lt": "<", "gt": ">", "ast": "*", "cr": r"\\", "thinspace": r"\,", "negthinspace": r"\!"}

_STYLED = range(0x1D400, 0x1D800)
"""Letters as mathematics writes them: a browser takes them for the plain ones of a formula."""


def with_mathml(page: str) -> str:
    """Return a page of HTML with MathML in place of its formulas in TeX."""
    return _FORMULA.sub(_mathml, page)


def _mathml(found: re.Match[str]) -> str:
    from latex2mathml.converter import convert

    names = rf"\\({'|'.join(_SPELLED)})\b"
    spelled = re.sub(names, lambda name: _SPELLED[name[1]], html.unescape(found["tex"])).strip()
    if found["open"] == "(":
        return str(convert(spelled))
    number = "".join(f"<span>({name})</span>" for name in _NUMBER.findall(spelled))
    math = convert(_NUMBER.sub("", spelled), display="block")
    return f'<div class="formula" tabindex="0">{math}{number}</div>'


def math_font(pages: Iterable[str]) -> bytes:
    """Return STIX Two Math, cut down to what the formulas of these pages need, in WOFF.

    Without a font that has a table of mathematics, browsers put indices on the line.
    """
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont

    formulas = "".join(math for page in pages for math in re.findall(r"<math.*?</math>", page, re.DOTALL))
    used = {ord(sign) for sign in html.unescape(re.sub(r"<[^>]*>", "", formulas))}
    # Found without importing the package that carries it.
    file = metadata.distribution("ziamath").locate_file("ziamath/fonts/STIXTwoMath-Regular.ttf")
    with TTFont(str(file)) as font:
        subsetter = Subsetter(Options(hinting=False, layout_features=["ssty"], drop_tables=["DSIG"]))
        subsetter.populate(unicodes=used | set(_STYLED) | {ord("ℎ")})
        subsetter.subset(font)
        font.flavor = "woff"
        file_of_font = io.BytesIO()
        font.save(file_of_font)
    return file_of_font.getvalue()
