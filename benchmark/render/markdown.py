"""Sections as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchmark.sections.section import Block, Section, TextTable
from benchmark.text import markdown


def section_markdown(section: Section, images: Sequence[str] = ()) -> str:
    """Return a section as Markdown, without folded blocks.

    The first of its figures of each kind is shown, and all that are among ``images`` are named.
    """
    parts = [f"## {markdown.plain(section.title)}", "\n".join(_bullets(section.notes))]
    parts += _images(section, images)
    for block in section.open_blocks:
        parts += _block(block)
    return "\n\n".join(filter(None, parts))


def _block(block: Block) -> Iterator[str]:
    heading = ": ".join(filter(None, [block.fold, block.heading]))
    yield f"### {markdown.plain(heading)}" if heading else ""
    yield "\n".join(_bullets(block.notes))
    yield "\n".join(_bullets(f"{name}: {fact}" for name, fact in block.facts.items()))
    yield _table(block.table) if block.table is not None else ""
    yield "\n".join(_bullets(block.remarks))
    yield f"```python\n{block.code}```" if block.code else ""


def _images(section: Section, images: Sequence[str]) -> Iterator[str]:
    # Not linked: in betabench's own repository only the pictures that the page shows are kept.
    for kind, title in section.figures.items():
        if paths := [path for path in images if path.startswith((f"figures/{kind}_", f"figures/{kind}."))]:
            yield f"![{title}]({paths[0]})"
            yield f"Figures: {', '.join(f'`{path}`' for path in paths)}."


def _bullets(notes: Iterable[str]) -> Iterator[str]:
    return (f"- {markdown.plain(note)}" for note in notes)


def _table(table: TextTable) -> str:
    return markdown.table(
        list(map(markdown.plain, table.headings)), [list(map(markdown.plain, row)) for row in table.rows]
    )
