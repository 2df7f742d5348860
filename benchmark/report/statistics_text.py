"""The pages of a run's statistics in Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchmark.render.markdown import section_markdown
from benchmark.runs.analysis import RunStatistics
from benchmark.sections import Surface, answers, sections_of, value_files
from benchmark.text import markdown
from benchmark.text.words import sentence


def statistics_page(statistics: RunStatistics, tables: Sequence[str], figures: Sequence[str] = ()) -> str:
    """Return a page in Markdown on choices, certainty and files.

    ``tables`` and ``figures`` are paths of Markdown and PNG files, relative to the page.
    """
    run = statistics.run
    sections = sections_of(statistics, Surface.MARKDOWN)
    sections.append(value_files.section(statistics, sections, tables))
    scenarios = answers.headings_of(statistics)
    links = ", ".join(map(_link, [*scenarios, *(section.title for section in sections)]))
    lines = "\n".join(f"- {markdown.plain(line)}" for line in answers.one_line_each(statistics))
    head = "\n\n".join(
        [
            f"# Statistics of {markdown.plain(run.name)}",
            *([lines] if lines else []),
            f"{sentence(markdown.plain(run.title))} Go to: {links}.",
        ]
    )
    return "\n\n".join([head, *(section_markdown(section, figures) for section in sections)]) + "\n"


def _link(heading: str) -> str:
    # GitHub's anchors of headings.
    anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
    return f"[{markdown.plain(heading)}](#{anchor})"


def answers_page(statistics: RunStatistics) -> str:
    """Return the page with every technique at every level of bias, as Markdown."""
    run = statistics.run
    section = section_markdown(answers.section(statistics, None))
    head = f"# {markdown.plain(run.title)}\n\n[README.md](README.md) says how certain this is."
    return f"{head}\n\n{section}\n"
