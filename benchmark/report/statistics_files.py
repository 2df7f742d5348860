"""``betabench report``: the statistics of a finished run, as files and in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from benchmark.figures.statistics import statistics_figures
from benchmark.pages.run_page import prepare_page
from benchmark.render.console import print_section
from benchmark.render.tables import write_tables
from benchmark.report.statistics_text import answers_page, statistics_page
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.other_baselines import require_choosable
from benchmark.sections import Surface, sections_of
from benchmark.sections.answers import ANSWERS_PAGE
from benchmark.sections.tuning import tuning_table
from benchmark.tables.significance import statistics_tables
from benchmark.text.embedded import NOT_REAL_LOUD
from benchmark.text.spreadsheet import SIX_DIGITS, csv_text
from benchmark.text.writing import FORMATS_WRITTEN, write_atomically

PAGE = "README.md"

_EARLIER = (
    *("tables/significance_*", "tables/robustness_*"),
    *("figures/heat_*", "figures/forest_*", "figures/pareto_*", "figures/ranks_*"),
    *("tables/tuning.*", "figures/regret.*", "regret.csv"),
    *("fairea.csv", "hypervolume.csv"),
)
_FIGURES_A_LINE = 10


def write_statistics(
    output: Path,
    statistics: RunStatistics,
    *,
    figures: bool = True,
    formats: Sequence[str] = FORMATS_WRITTEN,
    page: Path | None = None,
    page_baselines: Sequence[str] = (),
    say: Callable[[str], None] = lambda _step: None,
) -> list[Path]:
    """Write a CSV file for each frame, ``tables/``, ``figures/`` and ``README.md``, and return their paths.

    The same statistics give the same bytes, and each file appears whole. Tables and figures of earlier
    statistics are removed. Figures have the given :data:`~benchmark.text.writing.FORMATS`; pages show PNG.
    ``page`` is the folder of the interactive page, which comes last and is not returned. ``page_baselines``
    can be chosen there. ``say`` gets the name of each step before it begins.
    """
    require_choosable(statistics, page_baselines)
    say("writing tables")
    written = [
        write_atomically(output / f"{name}.csv", csv_text(frame, SIX_DIGITS))
        for name, frame in statistics.frames.items()
    ]
    tables = statistics_tables(statistics)
    tables += [tuning_table(statistics)] if statistics.tuning is not None else []
    written += write_tables(output / "tables", tables)
    drawings = list(statistics_figures(statistics)) if figures else []
    drawing: Iterator[Path] = iter(())
    if drawings:
        from benchmark.figures.drawing import write_figures

        say(f"drawing {len(drawings)} figures")
        drawing = write_figures(output / "figures", drawings, formats)
    # While other processes draw, this one writes the pages.
    written.append(write_atomically(output / ANSWERS_PAGE, answers_page(statistics)))
    images = [f"figures/{name}.png" for name, _ in drawings if "png" in formats]
    text = statistics_page(statistics, [f"tables/{table.name}.md" for table in tables], images)
    say("making the page")
    finish_page = prepare_page(statistics, page_baselines) if page is not None else None
    drawn = []
    for path in drawing:
        drawn.append(path)
        if len(drawn) % (_FIGURES_A_LINE * len(formats)) == 0:
            say(f"{len(drawn) // len(formats)} of {len(drawings)} figures are drawn")
    written += [*drawn, write_atomically(output / PAGE, text)]
    for pattern in _EARLIER:
        for path in set(output.glob(pattern)) - set(written):
            path.unlink()
    if page is not None and finish_page is not None:
        finish_page(page)  # last, because it links the other files
    return written


def print_statistics(
    console: Console, statistics: RunStatistics, *, output: Path, written: Sequence[Path]
) -> None:
    """Print the choices, their limits and the names of files, in 80 columns."""
    run = statistics.run
    for dataset in run.datasets:
        if dataset.embedded:
            text = f"{escape(dataset.heading)}: {NOT_REAL_LOUD}"
            console.print(text, style="bold red", highlight=False)
    for section in sections_of(statistics, Surface.CONSOLE):
        print_section(console, section)
    text = f"{len(written)} files written to {escape(str(output))}; begin with {PAGE}"
    console.print(text, highlight=False, soft_wrap=True)
