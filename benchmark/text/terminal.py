"""Text in a terminal: Markdown, single lines, and the console of a command."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import chain, repeat
from typing import TYPE_CHECKING

from benchmark.text.markdown import parser

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

WIDTH = 100
"""Columns of text at most, and where nothing tells the width: in pipes and files."""

_INDENT = 2
_LONGEST_NAME = 24  # columns of the names in a table; longer ones continue in further lines
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
                yield "around", _table(node, width)
            case "fence" | "code_block":
                code = node.content.rstrip().splitlines()
                yield from (("", Text(" " * 2 * _INDENT + line)) for line in code)
            case "paragraph":
                yield from (("", line) for line in _lines(console, _inline(node), width))


def _lines(console: Console, text: Text, width: int) -> Iterator[Text]:
    """Yield a text's lines, broken between words; a span of code is one word, however long."""
    from rich.cells import cell_len

    for line in text.wrap(console, max(width, *map(cell_len, text.plain.split()))):
        yield _with_spaces(line)


def _with_spaces(text: Text) -> Text:
    """Return a text whose code has its spaces again, without blanks at the end."""
    text.plain = text.plain.rstrip().replace(_SPACE_IN_CODE, " ")
    return text


def _table(node: SyntaxTreeNode, width: int) -> Table:
    from rich.table import Table

    lines = [row.children for part in node.children for row in part.children]
    head, *body = [[_with_spaces(_inline(cell)) for cell in line] for line in lines]
    right = ["right" in str(cell.attrs.get("style", "")) for cell in lines[0]]
    gap = _INDENT if width == WIDTH else 1
    table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="bold")
    for i, (heading, is_right) in enumerate(zip(head, right, strict=True)):
        cells = [row[i] for row in body]
        # A number is never broken, but its heading may be. The last column has the rest of the line.
        words = heading.split(" ") if is_right else [heading]
        widest = max(map(len, (*cells, *words)))
        if is_right and all(right[1:]):  # there is room for the heading in two lines
            widest = max(widest, len(heading) // 2 + 1)
        table.add_column(
            heading,
            justify="right" if is_right else "left",
            width=widest if is_right else None if i or all(right[1:]) else min(widest, _LONGEST_NAME),
            overflow="fold",
        )
    for row in body:
        table.add_row(*row)
    return table


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
