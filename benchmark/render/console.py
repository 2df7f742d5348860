"""A section in the terminal."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from benchmark.sections.section import Section

_LAST = 16  # columns at least for the last cell of a row, or as many as it has


def print_section(console: Console, section: Section) -> None:
    """Print the blocks of a section that are not folded; tables with the same headings stand in line.

    Columns that do not fit the width of the console come in further tables below.
    """
    said: Sequence[str] = ()
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
            said = ()
            _print_note(console, note)
        for name, fact in block.facts.items():
            _print_note(console, f"{name}: {fact}")
        if block.table is not None:
            tables = [other.table for other in section.blocks if other.table]
            alike = [
                row for t in tables if t.headings == block.table.headings for row in (t.headings, *t.rows)
            ]
            widths = [max(len(row[i]) for row in alike) for i in range(len(block.table.headings))]
            for part in _fitting(widths, console.width):
                headings, *rows = ([r[i] for i in part] for r in (block.table.headings, *block.table.rows))
                own = [widths[i] for i in part]
                if said != headings:
                    said = headings
                    _print_row(console, [f"[dim]{escape(heading)}[/dim]" for heading in said], own)
                for row in rows:
                    _print_row(console, list(map(escape, row)), own)
        for remark in block.remarks:
            console.print(Padding(escape(remark), (0, 0, 0, 2)), highlight=False)
        if block.code:
            console.print(textwrap.indent(block.code.rstrip(), "    "), highlight=False, markup=False)


def _fitting(widths: Sequence[int], room: int) -> list[list[int]]:
    """Divide columns into as few parts as fit a width, of as many each; all have the first, which names rows.

    The last column of all may go on in further lines.
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
    """Print a row: the last cell has the rest of the line, and goes on in further ones."""
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
    """Yield a section without tables as lines of text, its headings before what they are of."""
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
