"""Pages by hand of which some parts are computed, and files of findings."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import fill

from benchmark.text.writing import write_atomically

Files = Mapping[Path, Callable[[], str | bytes]]
"""The pages, tables and figures of a study, and functions that return their content anew."""

CLAIMS = Path(__file__).resolve().parents[1] / "docs" / "claims.md"

_WIDTH = 125
WORDS = (
    *("none", "one", "two", "three", "four", "five", "six", "seven"),
    *("eight", "nine", "ten", "eleven", "twelve", "thirteen"),
)
"""Words of numbers, from 0."""


def with_part(page: str, begin: str, part: str, end: str) -> str:
    """Return a page with other text between two marks; without the marks, as it is."""
    before, first, rest = page.partition(begin)
    _, last, after = rest.partition(end)
    return f"{before}{first}{part}{last}{after}" if last else page


def finding(title: str, answer: str, picture: str, tables: Iterable[str], lines: Iterable[str]) -> str:
    """Return a page of findings: the answer, a figure, tables, and points to read them by.

    The last point says what would change our mind. Lines have at most 125 characters.
    """
    return "\n\n".join([f"# {title}", fill(answer, _WIDTH), picture, *tables, points(lines)]) + "\n"


def points(lines: Iterable[str]) -> str:
    """Return a list in Markdown, a point for each text; lines have at most 125 characters."""
    return "\n".join(fill(f"- {line}", _WIDTH, subsequent_indent="  ") for line in lines)


def sections(parts: Mapping[str, str]) -> str:
    """Return a page of texts under their headings, the first of which is the title."""
    texts = [f"{'#' * (1 + (i > 0))} {title}\n\n{text}" for i, (title, text) in enumerate(parts.items())]
    return "\n\n".join(texts) + "\n"


def listed(texts: Sequence[str]) -> str:
    """Return texts with commas and an "and"; "none" if there is none."""
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else "".join(texts) or WORDS[0]


def named(names: Sequence[str]) -> str:
    """Return names as code, as :func:`listed` does."""
    return listed([f"`{name}`" for name in names])


def with_claims(study: str, claims: Mapping[str, Mapping[str, str]]) -> str:
    """Return the page of claims with those of a study anew: texts by name, by title."""
    texts = [
        f"### {title}\n\n{points(f'**{name}.** {text}' for name, text in claim.items())}"
        for title, claim in claims.items()
    ]
    part = "\n\n".join(("", *texts, ""))
    page = CLAIMS.read_text(encoding="utf-8")
    return with_part(page, f"<!-- {study}: python -m studies {study} -->", part, f"<!-- {study} end")


def write_all(files: Files) -> None:
    """Write the files of a study, each with its folder."""
    for path, content in files.items():
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, content())
