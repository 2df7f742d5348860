"""Lines in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def tell(console: Console, line: str) -> None:
    """Print a line as :func:`say` does, with notes and warnings in yellow."""
    say(console, line, "yellow" if line.startswith(("Note", "Warning")) else "")


def say(console: Console, line: str, style: str = "") -> None:
    """Print a line as it is: no markup, no colors of its own, no line breaks."""
    console.print(line, style=style, highlight=False, markup=False, soft_wrap=True)
