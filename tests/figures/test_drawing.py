"""Figures as files: the bytes are the same each time."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, get_font

from benchmark.figures import Drawing, style
from benchmark.figures.page import Page
from benchmark.figures.style import FONT, characters_in_no_font, render, styled, write_figures


def draw(title: str) -> Figure:
    with styled():
        return Page(1, 1, panel=(1.5, 1.0), title=title, subtitle="").fit()


def drawings(n: int) -> list[Drawing]:
    return [(f"folder/{i}", partial(draw, f"Figure {i}")) for i in range(n)]


def test_figures_are_written_in_order_and_the_same_again(tmp_path: Path) -> None:
    written = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        paths = list(write_figures(folder, drawings(2), ("png", "svg")))
        names = [f"folder/{i}.{end}" for i in range(2) for end in ("png", "svg")]
        assert [path.relative_to(folder).as_posix() for path in paths] == names
        written.append([path.read_bytes() for path in paths])
    assert written[0] == written[1]


def test_one_warning_tells_of_characters_in_no_font(tmp_path: Path) -> None:
    nobody = "\U0010fffe"  # will never be a character
    for figure in (f"Figure {nobody}", "Figure β ≥ τ"):
        every = [(f"{i}", partial(draw, figure)) for i in range(3)]
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            assert len(list(write_figures(tmp_path, every, ("png",)))) == 3
        assert [str(one.message)[:18] for one in found] == ["Figures show boxes"] * (nobody in figure)


def test_a_character_that_the_font_lacks_comes_from_another(monkeypatch: pytest.MonkeyPatch) -> None:
    def charmap(name: str) -> set[int]:
        return {*get_font(findfont(name)).get_charmap()}

    other = "STIXNonUnicode"  # comes with matplotlib
    letter = chr(min(charmap(other) - charmap(FONT)))
    monkeypatch.setattr(style, "FONTS", [FONT])
    assert characters_in_no_font(draw(letter)) == {letter}
    box = render(draw(letter), "png")
    monkeypatch.setattr(style, "FONTS", [FONT, other])
    monkeypatch.setitem(style._STYLE, "font.family", [FONT, other])
    assert characters_in_no_font(draw(letter)) == set()
    assert render(draw(letter), "png") != box
