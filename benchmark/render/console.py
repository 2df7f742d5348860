"""Sections in the terminal."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from benchmark.sections.section import Section

_LAST = 16  # columns at least for the last cell of a row, or its width if that is less


def print_section(console: Console, section: Section) -> None:
    """Print the blocks of a section that are not folded; tables with the same headings are aligned.

    Columns that do not fit the console's width follow in further tables below.
    """
    last_headings: Sequence[str] = ()
    if section.title:
        console.print(f"[bold]{escape(section.title)}[/bold]", highlight=False)
    for note in section.notes:
        _print_note(console, note)
    for i, block in enumerate(section.open_blocks):
        if i and block.notes:
            console.print()
        if block.heading:
            console.print(f"[bold]{escape(block.heading)}[/bold]", highlight=False)
        for note in block.notes:
            last_headings = ()
            _print_note(console, note)
        for name, fact in block.facts.items():
            _print_note(console, f"{name}: {fact}")
        if block.table is not None:
            alike = [t for b in section.blocks if (t := b.table) and t.headings == block.table.headings]
            columns = zip(*(row for t in alike for row in (t.headings, *t.rows)), strict=True)
            widths = [max(map(len, column)) for column in columns]
            for part in _fitting(widths, console.width):
                headings, *rows = ([r[i] for i in part] for r in (block.table.headings, *block.table.rows))
                sizes = [widths[i] for i in part]
                if last_headings != headings:
                    last_headings = headings
                    _print_row(console, [f"[dim]{escape(heading)}[/dim]" for heading in headings], sizes)
                for row in rows:
                    _print_row(console, list(map(escape, row)), sizes)
        for remark in block.remarks:
            console.print(Padding(escape(remark), (0, 0, 0, 2)), highlight=False)
        if block.code:
            console.print(textwrap.indent(block.code.rstrip(), "    "), highlight=False, markup=False)


def _fitting(widths: Sequence[int], room: int) -> list[list[int]]:
    """Divide columns into as few parts of equal size as fit a width; each part has the first, with names.

    The last column of all may continue in further lines.
    """
    needed = [*widths[:-1], min(widths[-1], _LAST)]
    first, *others = range(len(widths))
    parts = [[first]]
    for n_parts in range(1, len(others) + 1):
        size = math.ceil(len(others) / n_parts)
        parts = [[first, *others[i : i + size]] for i in range(0, len(others), size)]
        if all(sum(needed[i] + 1 for i in part) <= room for part in parts):
            break
    return parts


def _print_row(console: Console, cells: Sequence[str], widths: Sequence[int]) -> None:
    """Print a row: the last cell has the rest of the line, and continues in further lines."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    for width in widths[:-1]:
        grid.add_column(width=width, no_wrap=True)
    rest = console.width - sum(widths[:-1]) - len(widths)
    grid.add_column(width=max(min(widths[-1], _LAST), rest), overflow="fold")
    grid.add_row(*cells)
    console.print(grid)


def _print_note(console: Console, note: str) -> None:
    style = "yellow" if note.startswith(("Note", "Warning")) else None
    console.print(escape(note), style=style, highlight=False)


def section_lines(section: Section) -> Iterator[str]:
    """Yield a section without tables as lines of text, with each heading before its notes."""
    blocks = [
        (section.title, section.notes, (), ""),
        *((b.heading, b.notes, b.remarks, b.code) for b in section.blocks),
    ]
    for heading, notes, remarks, code in blocks:
        lines = [*notes]
        if heading and not code:
            lines = [f"{heading}. {notes[0]}", *notes[1:]] if notes else [f"{heading}:"]
        yield from lines
        yield from (f"- {remark}" for remark in remarks)
        if code:
            yield f"{heading}:"
            yield textwrap.indent(code.rstrip(), "    ")
