"""``betabench report``: the statistics of a finished run, as files and in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from benchmark.facts import facts_of
from benchmark.figures.statistics import statistics_figures
from benchmark.pages.run_page import prepare_page
from benchmark.render.console import print_section
from benchmark.report.statistics_text import answers_page, statistics_page
from benchmark.runs.analysis import RunStatistics
from benchmark.sections import Surface, sections_of
from benchmark.sections.answers import ANSWERS_PAGE
from benchmark.tables.layout import write_tables
from benchmark.tables.numbers import Numbers
from benchmark.tables.techniques import techniques_table
from benchmark.text.embedded import NOT_REAL_LOUD
from benchmark.text.spreadsheet import SIX_DIGITS, csv_text
from benchmark.text.writing import FORMATS_WRITTEN, write_atomically

PAGE = "README.md"

_EARLIER = (
    *("tables/significance_*", "tables/robustness_*", "tables/tuning.*", "tables/*.md"),
    *("agreement.csv", "recovery.csv", "regret.csv", "robustness.csv", "fairea.csv", "hypervolume.csv"),
)
_EARLIER_FIGURES = tuple(
    f"figures/{kind}" for kind in ("heat_*", "forest_*", "pareto_*", "ranks_*", "recovery_*", "regret.*")
)
_OLDER_FIGURES = "Figures in `figures/` are of an earlier report, and none of this one are drawn.\n"
_FIGURES_A_LINE = 10


def write_statistics(
    output: Path,
    statistics: RunStatistics,
    *,
    figures: bool = False,
    formats: Sequence[str] = FORMATS_WRITTEN,
    page: Path | None = None,
    columns: Sequence[str] = (),
    say: Callable[[str], None] = lambda _step: None,
) -> list[Path]:
    """Write a CSV file for each frame, ``tables/``, ``figures/`` and ``README.md``, and return their paths.

    The same statistics give the same bytes, and each file appears whole. Tables of earlier statistics are
    removed, and figures if others are drawn. Else the page shows earlier figures of the same statistics, and
    says of others that they are there. Figures have the given :data:`~benchmark.text.writing.FORMATS`; pages
    show PNG. ``page`` is the folder of the interactive page, which comes last and is not returned.
    ``columns`` are those of :func:`~benchmark.tables.techniques.techniques_table`. ``say`` gets the name of
    each step before it begins.
    """
    numbers = Numbers.of_statistics(statistics)
    tables = [techniques_table(numbers, columns)]
    say("writing tables")
    contents = {
        output / f"{name}.csv": csv_text(frame, SIX_DIGITS) for name, frame in statistics.frames.items()
    }
    same = all(path.is_file() and path.read_bytes() == text.encode() for path, text in contents.items())
    written = [write_atomically(path, text) for path, text in contents.items()]
    written += write_tables(output / "tables", tables, numbers.notes)
    drawings = list(statistics_figures(statistics)) if figures else []
    drawing: Iterator[Path] = iter(())
    if drawings:
        from benchmark.figures.drawing import write_figures

        say(f"drawing {len(drawings)} figures")
        drawing = write_figures(output / "figures", drawings, formats)
    # While other processes draw, this one writes the pages.
    written.append(write_atomically(output / ANSWERS_PAGE, answers_page(statistics)))
    there = not drawings and any(output.glob("figures/*"))
    older = there and not (same and _OLDER_FIGURES not in _text_of(output / PAGE))
    shown = statistics_figures(statistics) if there and not older else drawings
    images = [f"figures/{name}.png" for name, _ in shown]
    images = [n for n in images if ("png" in formats if drawings else (output / n).is_file())]
    text = statistics_page(statistics, [f"tables/{table.name}.csv" for table in tables], images)
    text += f"\n{_OLDER_FIGURES}" * older
    say("making the page")
    finish_page = prepare_page(facts_of(statistics)) if page is not None else None
    drawn = []
    for path in drawing:
        drawn.append(path)
        if len(drawn) % (_FIGURES_A_LINE * len(formats)) == 0:
            say(f"{len(drawn) // len(formats)} of {len(drawings)} figures are drawn")
    written += [*drawn, write_atomically(output / PAGE, text)]
    for pattern in (*_EARLIER, *(_EARLIER_FIGURES if drawings else ())):
        for path in set(output.glob(pattern)) - set(written):
            path.unlink()
    if page is not None and finish_page is not None:
        finish_page(page)  # last, because it links the other files
    return written


def _text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


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
