"""Any section is shown on every surface, as text whatever characters it holds."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from benchmark.render.console import print_section, section_lines
from benchmark.render.markdown import section_markdown
from benchmark.runs.analysis import RunStatistics, folder_statistics
from benchmark.sections import Surface, sections_of
from benchmark.sections.answers import NOT_TESTED
from benchmark.sections.section import Block, Section, TextTable
from tests.helpers.made_up_folder import write_made_up_folder

MADE_UP = Section(
    "made_up",
    "Who is <b>first</b>",
    ("A note of [red]it.", "Warning, of it."),
    [
        Block("Of all", table=TextTable(["name", "β"], [["a|b", "0.1"], ["<i>c", "0.25"]]), remarks=["So."]),
        Block("Of some", facts={"seed": "1"}, code="x = 1\n"),
        Block("Hidden", table=TextTable(["other"], [["unseen"]]), fold="Others"),
    ],
)


@pytest.fixture(scope="module")
def statistics(tmp_path_factory: pytest.TempPathFactory) -> RunStatistics:
    return folder_statistics(write_made_up_folder(tmp_path_factory.mktemp("run") / "run"))


def test_markdown_and_terminal_show_what_is_not_folded() -> None:
    markdown = section_markdown(MADE_UP)
    for part in ("## Who is &lt;b>first", "### Of all", "| a\\|b | 0.1 |", "- So.", "- seed: 1", "x = 1"):
        assert part in markdown
    said = io.StringIO()
    print_section(Console(file=said, width=80, color_system=None), MADE_UP)
    lines = [line.rstrip() for line in said.getvalue().splitlines()]
    assert lines[:3] == ["Who is <b>first</b>", "A note of [red]it.", "Warning, of it."]
    assert lines[3:8] == ["Of all", "name β", "a|b  0.1", "<i>c 0.25", "  So."]
    assert "    x = 1" in lines
    assert "seed: 1" in lines
    assert list(section_lines(MADE_UP))[:2] == ["Who is <b>first</b>. A note of [red]it.", "Warning, of it."]
    for text in (markdown, said.getvalue()):
        assert "unseen" not in text


def test_columns_that_do_not_fit_the_terminal_stand_below() -> None:
    cells = [f"{i} % / 100 %" for i in range(10, 17)]
    wide = TextTable(["name", *map(str, range(7))], [["a technique of some length", *cells]])
    said = io.StringIO()
    console = Console(file=said, width=80, color_system=None)
    print_section(console, Section("wide", "", (), [Block(table=wide)]))
    lines = said.getvalue().splitlines()
    assert [line.split(maxsplit=1)[0] for line in lines] == ["name", "a"] * 2
    assert all(cell in said.getvalue() for cell in cells)
    assert max(map(len, lines)) <= 80


def test_each_file_of_the_statistics_belongs_to_a_section(statistics: RunStatistics) -> None:
    for surface in Surface:
        keys = [section.key for section in sections_of(statistics, surface)]
        assert len(keys) == len(set(keys))
    files = [name for section in sections_of(statistics, Surface.MARKDOWN) for name in section.files]
    assert sorted(files) == sorted(statistics.frames)


def test_page_and_markdown_say_that_recommended_ones_are_not_compared(statistics: RunStatistics) -> None:
    for surface in (Surface.PAGE, Surface.MARKDOWN):
        sections = sections_of(statistics, surface)
        blocks = [block for section in sections for block in section.blocks]
        texts = [text for block in blocks for text in (*block.notes, *block.facts.values())]
        assert any(NOT_TESTED in text for text in texts), surface
