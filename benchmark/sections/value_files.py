"""The files of a run's statistics."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.runs.analysis import RunStatistics
from benchmark.sections.section import Block, Section, TextTable


def section(statistics: RunStatistics, sections: Sequence[Section], tables: Sequence[str]) -> Section:
    """Return the files of statistics; ``tables`` has the paths of tables."""
    words = {name: text for section in sections for name, text in section.files.items()}
    rows = [[f"{name}.csv", words[name]] for name in statistics.frames]
    notes = (
        "betabench report writes these files beside this page, with six significant digits; "
        "results/README.md explains every column.",
        "--figures draws all figures, of which the first of each kind is shown here; --formats png,pdf,svg "
        "adds formats.",
        "The table is CSV, and LaTeX for \\input (packages booktabs and adjustbox); notes.txt explains it.",
    )
    return Section(
        "files",
        "Where the numbers are",
        notes,
        [Block(table=TextTable(["file", "holds"], rows)), Block("Tables", remarks=tables)],
    )
