"""Text in a terminal: Markdown, single lines, and the console of a command."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from benchmark.text.markdown import parser

if TYPE_CHECKING:
    from markdown_it.token import Token
    from rich.console import Console, RenderableType
    from rich.text import Text

WIDTH = 100
"""Columns of text at most, and where nothing tells the width: in pipes and files."""

_INDENT = 2
_LONGEST_NAME = 24  # columns of the names in a table; longer ones continue in further lines
_STYLES = {"strong_open": "bold", "em_open": "italic"}


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
    tokens = parser().parse(markdown)
    width = min(console.width, WIDTH)
    blank = True  # nothing stands above
    for spaced, block in _blocks(tokens, width):
        if spaced and not blank:
            console.print()
        console.print(block, width=width, highlight=False)
        blank = spaced == "around"
        if blank:
            console.print()


def _blocks(tokens: list[Token], width: int) -> Iterator[tuple[str, RenderableType]]:
    """Yield each block with where it takes blank lines: ``"before"``, ``"around"`` or nowhere."""
    from rich.padding import Padding
    from rich.text import Text

    depth, quoted, heading, marker = 0, 0, False, ""
    numbers: list[int | None] = []
    for i, token in enumerate(tokens):
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                numbers.append(int(token.attrs.get("start", 1)) if token.type[0] == "o" else None)
            case "bullet_list_close" | "ordered_list_close":
                numbers.pop()
            case "list_item_open":
                number = numbers[-1]
                marker = "- " if number is None else f"{number}. "
                numbers[-1] = None if number is None else number + 1
            case "blockquote_open":
                quoted += 1
            case "blockquote_close":
                quoted -= 1
            case "heading_open":
                heading = True
            case "heading_close":
                heading = False
            case "table_open":
                depth += 1
                yield "around", _table(tokens, i, width)
            case "table_close":
                depth -= 1
            case "inline" if not depth:
                text = _inline(token)
                if quoted:
                    text.stylize("yellow")
                if heading:
                    text.stylize("bold")
                if numbers:
                    left = _INDENT * (len(numbers) - 1)
                    yield "", _hanging(marker or " " * _INDENT, text, left)
                    marker = ""
                else:
                    yield "before" if heading else "", text
            case "fence" | "code_block":
                yield "", Padding(Text(token.content.rstrip()), (0, 0, 0, 2 * _INDENT))


def _hanging(marker: str, text: Text, left: int) -> RenderableType:
    """Return an entry of a list, whose further lines stand under its first word."""
    from rich.padding import Padding
    from rich.table import Table

    grid = Table.grid()
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(marker, text)
    return Padding(grid, (0, 0, 0, left))


def _table(tokens: list[Token], start: int, width: int) -> RenderableType:
    """Return the table whose first token is at an index."""
    from rich.table import Table

    rows: list[list[Text]] = []
    right: list[bool] = []
    for token, content in zip(tokens[start:], tokens[start + 1 :], strict=False):
        match token.type:
            case "table_close":
                break
            case "tr_open":
                rows.append([])
            case "th_open" | "td_open":
                rows[-1].append(_inline(content))
                if token.type == "th_open":
                    right.append("right" in str(token.attrs.get("style", "")))
    head, *body = rows
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


def _inline(token: Token) -> Text:
    from rich.text import Text

    text, styles = Text(), list[str]()
    for part in token.children or ():
        match part.type:
            case "strong_open" | "em_open":
                styles.append(_STYLES[part.type])
            case "strong_close" | "em_close":
                styles.pop()
            case "softbreak":
                text.append(" ")
            case "hardbreak":
                text.append("\n")
            case _:
                text.append(part.content, " ".join(styles))
    return text
