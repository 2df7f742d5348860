"""The blocks of code on a page: ``python -m tools.blocks README.md 1`` prints the first one of commands.

A block without a language is commands, one with a title is a file of that name.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Block(NamedTuple):
    """A fenced block: the language and the title that its first line names, or "", and its lines."""

    language: str
    title: str
    content: str


def blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of a page in Markdown, from top to bottom."""
    pattern = r'(?ms)^```(\w*)(?: title="([^"]+)")?\n(.*?)^```$'
    for found in re.findall(pattern, page.read_text(encoding="utf-8")):
        yield Block(*found)


def commands(page: Path) -> list[str]:
    """Return the contents of the blocks of commands."""
    return [block.content for block in blocks(page) if not block.language]


if __name__ == "__main__":
    print(commands(Path(sys.argv[1]))[int(sys.argv[2]) - 1].strip())
