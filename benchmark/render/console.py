"""A section in the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from benchmark.sections.section import Section

_LAST = 10  # columns at least for the last cell of a row


def print_section(console: Console, section: Section) -> None:
    """Print the blocks of a section that are not folded; tables with the same headings stand in line."""
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
            if said != block.table.headings:
                said = block.table.headings
                _print_row(console, [f"[dim]{escape(heading)}[/dim]" for heading in said], widths)
            for row in block.table.rows:
                _print_row(console, list(map(escape, row)), widths)
        for remark in block.remarks:
            console.print(Padding(escape(remark), (0, 0, 0, 2)), highlight=False)
        if block.code:
            console.print(textwrap.indent(block.code.rstrip(), "    "), highlight=False, markup=False)


def _print_row(console: Console, cells: Sequence[str], widths: Sequence[int]) -> None:
    """Print a row: the last cell has the rest of the line, and goes on in further ones."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    for width in widths[:-1]:
        grid.add_column(width=width, no_wrap=True)
    grid.add_column(width=max(_LAST, console.width - sum(widths[:-1]) - len(widths)), overflow="fold")
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
        if heading and lines:
            lines[0] = f"{heading}. {lines[0]}"
        elif heading:
            lines = [f"{heading}:"]
        yield from lines
        yield from (f"- {remark}" for remark in remarks)
        if code:
            yield textwrap.indent(code.rstrip(), "    ")
