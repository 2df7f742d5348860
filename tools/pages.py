"""Pages by hand of which some parts are computed, and files of findings."""

from collections.abc import Mapping
from pathlib import Path

from benchmark.text.writing import write_atomically


def with_part(page: str, begin: str, part: str, end: str) -> str:
    """Return a page with other text between two marks; without the marks, as it is."""
    before, first, rest = page.partition(begin)
    _, last, after = rest.partition(end)
    return f"{before}{first}{part}{last}{after}" if last else page


def write_all(files: Mapping[Path, bytes]) -> None:
    """Write the pages and figures of findings, each with its folder."""
    for path, content in files.items():
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, content)
