"""Text, code and tables as Markdown, whatever characters they hold."""

import re
from collections.abc import Iterable, Sequence


def plain(text: str) -> str:
    """Write a text on one line, escaping what Markdown, HTML in it or a dollar sign would make of it."""
    line = re.sub(r"\s+", " ", text).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*_\[\]$~|])", r"\\\1", line)


def code(value: object) -> str:
    """Write a value in the type of code, back quotes in it included."""
    text = " ".join(str(value).split())
    if "`" not in text:
        return f"`{text}`"
    fence = "`" * (max(map(len, re.findall("`+", text))) + 1)
    return f"{fence} {text} {fence}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, named: int | None = None) -> str:
    """Return a table of headings and rows of cells, all of them Markdown already.

    Of the columns, the first ``named`` hold names; the others are numbers and aligned to the right. Without
    it, none is aligned.
    """
    rule = ["---"] * len(head) if named is None else [":--"] * named + ["--:"] * (len(head) - named)
    lines = [head, rule, *([re.sub(r"(?<!\\)\|", r"\|", cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
