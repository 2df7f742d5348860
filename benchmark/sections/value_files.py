"""Where the numbers of a run's statistics are."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.runs.analysis import RunStatistics
from benchmark.sections.section import Block, Section, TextTable


def section(statistics: RunStatistics, sections: Sequence[Section], tables: Sequence[str]) -> Section:
    """Return the files that statistics are written to, those of tables given by their paths."""
    words = {name: text for section in sections for name, text in section.files.items()}
    rows = [[f"{name}.csv", words[name]] for name in statistics.frames]
    notes = (
        "betabench report writes these files beside this page, with six significant digits; "
        "results/README.md explains every column.",
        "It draws all figures, of which the first of each kind is shown here, and with --formats png,pdf,svg "
        "in other formats as well.",
        "Each table is there as Markdown, CSV, and LaTeX for \\input (packages booktabs and adjustbox).",
    )
    return Section(
        "files",
        "Where the numbers are",
        notes,
        [Block(table=TextTable(["file", "holds"], rows)), Block("Tables", remarks=tables)],
    )
