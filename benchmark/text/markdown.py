"""Text, code and tables as Markdown, whatever characters they hold; one set of rules for all templates."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from benchmark.text.words import printable

if TYPE_CHECKING:
    from jinja2 import Environment
    from markdown_it import MarkdownIt


@functools.cache
def parser() -> MarkdownIt:
    """Return the parser of Markdown with tables; HTML in it is text."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table")


def plain(text: str) -> str:
    """Return a text on one line, printable, escaped for Markdown, HTML in it and dollar signs."""
    line = printable(re.sub(r"\s+", " ", text)).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*_\[\]$~|#])", r"\\\1", line)


def code(value: object) -> str:
    """Return a value as code, back quotes in it included."""
    text = printable(" ".join(str(value).split()))
    if "`" not in text:
        return f"`{text}`"
    fence = "`" * (max(map(len, re.findall("`+", text))) + 1)
    return f"{fence} {text} {fence}"


def address(path: str) -> str:
    """Return a relative path as an address, whatever bytes it has."""
    return quote(os.fsencode(path))


def block(text: str, language: str = "") -> str:
    """Return lines as a block of code, back quotes in it included."""
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
    return f"{fence}{language}\n{text.strip()}\n{fence}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, named: int | None = None) -> str:
    """Return a table of headings and rows of cells, all of them Markdown already.

    The first ``named`` columns hold names; the others hold numbers and are aligned to the right. Without
    ``named``, no column is aligned.
    """
    rule = ["---"] * len(head) if named is None else [":--"] * named + ["--:"] * (len(head) - named)
    lines = [head, rule, *([re.sub(r"(?<!\\)\|", r"\|", cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def environment(package: str, **settings: Any) -> Environment:
    """Return an environment for the templates of a package, in which a missing value is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(package),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **settings,
    )
