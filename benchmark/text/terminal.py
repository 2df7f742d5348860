"""Text in a terminal: Markdown, single lines, the console of a command, and its steps and progress."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import chain, repeat
from typing import TYPE_CHECKING

from benchmark.text.markdown import parser

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode
    from rich.console import Console
    from rich.status import Status
    from rich.table import Table
    from rich.text import Text

WIDTH = 100
"""Columns of text at most, and where nothing tells the width: in pipes and files."""

_INDENT = 2
_LONGEST_NAME = 24  # columns of the names in a table; longer ones continue in further lines
_SHORTEST_NAME = 12  # that is left to names before numbers go to a table of their own
_SPACE_IN_CODE = "\ue000"  # of Unicode's private use: it breaks no line
_STYLES = {"strong": "bold", "em": "italic"}


def output_console(*, quiet: bool = False) -> Console:
    """Return the console of a command: as wide as the terminal, else :data:`WIDTH` columns."""
    from rich.console import Console

    told = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(emoji=False, width=None if told else WIDTH, quiet=quiet)


def say(console: Console, line: str, style: str = "") -> None:
    """Print a line as it is: no markup, no colors of its own, no line breaks."""
    console.print(line, style=style, highlight=False, markup=False, soft_wrap=True)


def as_text(markdown: str, width: int = WIDTH) -> str:
    """Return Markdown as lines of plain text."""
    from rich.console import Console

    console = Console(width=width, color_system=None, emoji=False, force_terminal=False)
    with console.capture() as captured:
        _print(console, markdown)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"


def print_markdown(console: Console, markdown: str) -> None:
    """Print Markdown in at most :data:`WIDTH` columns; a quoted block is a warning.

    Blank lines stand around tables, and before headings. Other blocks follow line by line.
    """
    if not console.is_terminal:  # without the blanks that fill up lines
        say(console, as_text(markdown, console.width).rstrip("\n"))
        return
    _print(console, markdown)


def _print(console: Console, markdown: str) -> None:
    from markdown_it.tree import SyntaxTreeNode

    width = min(console.width, WIDTH)
    blank = True  # nothing stands above
    for spaced, block in _blocks(console, SyntaxTreeNode(parser().parse(markdown)), width):
        if spaced and not blank:
            console.print()
        # Lines are broken already, and a command that is longer than a line stays whole.
        console.print(block, width=width, highlight=False, soft_wrap=spaced != "around")
        blank = spaced == "around"
        if blank:
            console.print()


def _blocks(console: Console, parent: SyntaxTreeNode, width: int) -> Iterator[tuple[str, Table | Text]]:
    """Yield tables and lines with where they take blank lines: ``"before"``, ``"around"`` or nowhere."""
    from rich.text import Text

    for node in parent.children:
        match node.type:
            case "bullet_list" | "ordered_list":
                for number, item in enumerate(node.children, int(node.attrs.get("start", 1))):
                    marker = "- " if node.type == "bullet_list" else f"{number}. "
                    for _, block in _blocks(console, item, width - len(marker)):
                        yield "", Text(marker) + block if isinstance(block, Text) else block
                        marker = " " * len(marker)  # further lines stand under the first word
            case "blockquote":
                for _, block in _blocks(console, node, width):
                    if isinstance(block, Text):
                        block.stylize("yellow")
                    yield "", block
            case "heading":
                title = _inline(node)
                title.stylize("bold")
                yield from zip(chain(["before"], repeat("")), _lines(console, title, width), strict=False)
            case "table":
                yield from (("around", table) for table in _tables(node, width))
            case "fence" | "code_block":
                code = node.content.rstrip().splitlines()
                yield from (("", Text(" " * 2 * _INDENT + line)) for line in code)
            case "paragraph":
                yield from (("", line) for line in _lines(console, _inline(node), width))


def _lines(console: Console, text: Text, width: int) -> Iterator[Text]:
    """Yield a text's lines, broken between words; a span of code is one word, however long."""
    from rich.cells import cell_len

    for line in text.wrap(console, max([width, *map(cell_len, text.plain.split())])):
        yield _with_spaces(line)


def _with_spaces(text: Text) -> Text:
    """Return a text whose code has its spaces again, without blanks at the end."""
    text.plain = text.plain.rstrip().replace(_SPACE_IN_CODE, " ")
    return text


def _tables(node: SyntaxTreeNode, width: int) -> Iterator[Table]:
    """Yield a table; columns of numbers without room stand in further tables, beside the same names."""
    from rich.table import Table

    lines = [row.children for part in node.children for row in part.children]
    rows = [[_with_spaces(_inline(cell)) for cell in line] for line in lines]
    right = ["right" in str(cell.attrs.get("style", "")) for cell in lines[0]]
    only_numbers, gap = all(right[1:]), _INDENT if width == WIDTH else 1
    # A number is never broken, but its heading may be. The last column has the rest of the line.
    widest = [
        max(map(len, (*cells, *(heading.split(" ") if is_right else [heading]))))
        for is_right, (heading, *cells) in zip(right, zip(*rows, strict=True), strict=True)
    ]
    if only_numbers:  # there is room for the heading in two lines
        widest[1:] = [max(own, len(rows[0][i]) // 2 + 1) for i, own in enumerate(widest[1:], 1)]
    parts, room = [[0]], 0
    for i, own in enumerate(widest[1:], 1):
        if only_numbers and own + gap > room:
            parts.append([0])
            room = width - min(widest[0], _SHORTEST_NAME) - gap
        parts[-1].append(i)
        room -= own + gap
    for part in parts if len(parts) == 1 else parts[1:]:
        table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="bold")
        for i in part:
            table.add_column(
                rows[0][i],
                justify="right" if right[i] else "left",
                width=widest[i] if right[i] else None if i or only_numbers else min(widest[i], _LONGEST_NAME),
                overflow="fold",
            )
        for row in rows[1:]:
            table.add_row(*(row[i] for i in part))
        yield table


def _inline(node: SyntaxTreeNode, style: str = "") -> Text:
    from rich.text import Text

    text = Text()
    for part in node.children:
        if part.children:
            text.append_text(_inline(part, f"{style} {_STYLES.get(part.type, '')}".strip()))
        else:
            content = part.content.replace(" ", _SPACE_IN_CODE if part.type == "code_inline" else " ")
            text.append({"softbreak": " ", "hardbreak": "\n"}.get(part.type, content), style)
    return text


_LINE = 600  # seconds between two lines of progress at most, where lines stay
_SETTLED = 2  # seconds of computing after which the rate is shown


def pace(computed: int, left: int, seconds: float) -> str:
    """Return the mean rate of computing cells, and the remaining time at that rate; empty at first."""
    if seconds < _SETTLED or not computed:
        return ""
    rate = computed / seconds
    # The first unit with at least one cell, or hours.
    units = (("s", 1), ("min", 60), ("h", 3600))
    unit, length = next((own for own in units if rate * own[1] >= 1), units[-1])
    remaining = f", about {timedelta(seconds=round(left / rate))} left" if left else ""
    return f"{rate * length:.1f}/{unit}{remaining}"


class Steps:
    """The steps of a command: in a terminal or a notebook a line that vanishes, elsewhere a few short lines.

    As a context, it removes the line at its end. If ``brief``, notes are left out, and lines that stay are on
    the progress of cells alone.
    """

    def __init__(self, console: Console, *, brief: bool = False) -> None:
        self._console, self._brief = console, brief
        self._line: Status | None = None
        self._half, self._due = -1, 0.0
        self._before: int | None = None  # cells stored before, which do not count for this run's rate
        self.done = self.planned = 0  # cells

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, *_: object) -> None:
        if self._line is not None:
            self._line.stop()
            self._line = None

    def step(self, name: str) -> None:
        """Show what begins now."""
        if self._console.is_terminal:
            self._show(f"{name} ...")
        elif not self._brief:
            say(self._console, f"{name} ...", "dim")

    def note(self, text: str) -> None:
        """Print a note, which stays."""
        if not self._brief:
            say(self._console, f"Note: {text}", "yellow")

    def _show(self, text: str) -> None:
        from rich.text import Text

        if self._line is None:
            self._line = self._console.status("")
            self._line.start()
        self._line.update(Text(text))

    def update(self, done: int, planned: int, seconds: float) -> None:
        """Show the numbers of finished and planned cells, given the seconds of computing."""
        self.done, self.planned = done, planned
        self._before = done if self._before is None else self._before
        rate = pace(done - self._before, planned - done, seconds)
        text = ", ".join(filter(None, (f"{done:,} of {planned:,} cells", rate)))
        if self._console.is_terminal:
            self._show(text)
            return
        half, now = 2 * done // planned, time.monotonic()
        if (half == self._half and now < self._due) or (done and done == planned):
            return
        self._half, self._due = half, now + _LINE
        say(self._console, text)
