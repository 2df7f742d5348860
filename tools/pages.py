"""Pages by hand of which some parts are computed, and files of findings."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from textwrap import fill

from benchmark.text.writing import write_atomically

_WIDTH = 125


def with_part(page: str, begin: str, part: str, end: str) -> str:
    """Return a page with other text between two marks; without the marks, as it is."""
    before, first, rest = page.partition(begin)
    _, last, after = rest.partition(end)
    return f"{before}{first}{part}{last}{after}" if last else page


def finding(title: str, answer: str, picture: str, tables: Iterable[str], lines: Iterable[str]) -> str:
    """Return a page of findings: the answer, a figure, tables, and points to read them by.

    The last point says what would change our mind. Lines have at most 125 characters.
    """
    reading = "\n".join(fill(f"- {line}", _WIDTH, subsequent_indent="  ") for line in lines)
    return "\n\n".join([f"# {title}", fill(answer, _WIDTH), picture, *tables, reading]) + "\n"


def write_all(files: Mapping[Path, bytes]) -> None:
    """Write the pages and figures of findings, each with its folder."""
    for path, content in files.items():
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, content)
