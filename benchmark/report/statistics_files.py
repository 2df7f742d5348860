"""``betabench report``: the statistics of a finished run, as files and in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmark.figures.statistics import draw_statistics
from benchmark.report.answers_console import print_answers, print_reading
from benchmark.report.statistics_text import (
    ANSWERS_PAGE,
    NOT_COMPARED,
    answers_page,
    incomplete_survivors,
    is_compared,
    left_out_notes,
    statistics_page,
    survivor_text,
    survivors,
)
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.summary import csv_text
from benchmark.tables.markup import MARKUPS
from benchmark.tables.significance import compared_metrics, pair_notes, scenarios_of, statistics_tables
from benchmark.text.embedded import NOT_REAL_LOUD
from benchmark.text.files import FORMATS_WRITTEN, write_atomically

PAGE = "README.md"

_EARLIER = (
    *("tables/significance_*", "tables/robustness_*"),
    *("figures/heat_*", "figures/forest_*", "figures/pareto_*", "figures/ranks_*"),
)
_MOST_SHOWN = 4
_DIGITS = "%.6g"  # more than resampling tells
_FILES_A_LINE = 15


def write_statistics(
    output: Path,
    statistics: RunStatistics,
    *,
    figures: bool = True,
    formats: Sequence[str] = FORMATS_WRITTEN,
    say: Callable[[str], None] = lambda _step: None,
) -> list[Path]:
    """Write statistics: the same ones give the same bytes, and each file appears whole.

    Tables and figures of earlier statistics that are not among these are removed.

    Parameters
    ----------
    output : Path
        Folder; made if it does not exist. Gets a CSV file for each frame, ``tables/``, ``figures/`` and
        ``README.md``.
    statistics : RunStatistics
        From :func:`~benchmark.runs.analysis.folder_statistics`.
    figures : bool, default True
        Whether to draw figures.
    formats : sequence of str, optional
        Of the figures: some of :data:`~benchmark.text.files.FORMATS`; by default PNG alone, the only ones
        that the page shows.
    say : callable(str), optional
        Called with the name of each step before it is taken.

    Returns
    -------
    list of Path
        Every file written, in order of writing; the page comes last.
    """
    say("writing tables")
    written = [
        write_atomically(output / f"{name}.csv", csv_text(frame, _DIGITS))
        for name, frame in statistics.frames.items()
    ]
    tables = statistics_tables(statistics)
    for table in tables:
        for ending, markup in MARKUPS.items():
            written.append(write_atomically(output / "tables" / (table.name + ending), markup(table)))
    drawn: list[Path] = []
    if figures:
        from benchmark.figures.files import write_figures

        say("drawing figures")
        for path in write_figures(output / "figures", draw_statistics(statistics), formats):
            drawn.append(path)
            if len(drawn) % _FILES_A_LINE == 0:
                say(f"drawing figures: {len(drawn)} files written")
    written += drawn
    images = [path.relative_to(output).as_posix() for path in drawn if path.suffix == ".png"]
    written.append(write_atomically(output / ANSWERS_PAGE, answers_page(statistics)))
    page = statistics_page(statistics, [f"tables/{table.name}.md" for table in tables], images)
    written.append(write_atomically(output / PAGE, page))
    for pattern in _EARLIER:
        for path in set(output.glob(pattern)) - set(written):
            path.unlink()
    return written


def print_statistics(
    console: Console, statistics: RunStatistics, *, output: Path, written: Sequence[Path]
) -> None:
    """Print which techniques to choose and which hold up longest, what that lacks, and where the files are.

    Parameters
    ----------
    console : Console
        Where to; fits 80 columns.
    statistics : RunStatistics
        From :func:`~benchmark.runs.analysis.folder_statistics`.
    output : Path
        Folder of the files.
    written : sequence of Path
        Files below it.
    """
    run, found, incomplete = statistics.run, survivors(statistics), incomplete_survivors(statistics)
    for scenario in scenarios_of(statistics):
        own = scenario.rows(statistics.answers)
        if len(own):
            print_answers(console, scenario.heading, own, run.titles)
            notes = [scenario.dataset.warning, scenario.dataset.inert_warnings.get(scenario.bias)]
            for note in filter(None, notes):
                console.print(f"Warning: {escape(note)}", style="yellow", highlight=False)
            console.print()
    if len(statistics.answers):
        print_reading(console, statistics.answers, rope=statistics.rope)
        console.print()
    console.print(
        f"[bold]{escape(run.name)}[/bold]: techniques that beat the baseline, by the greatest β at which "
        "they do",
        highlight=False,
    )
    grid = Table(box=None, padding=(0, 0, 0, 2), pad_edge=False, header_style="bold")
    for heading in ("dataset", "metric", "β", "techniques"):
        grid.add_column(heading, overflow="fold", justify="right" if heading == "β" else "left")
    for scenario, metric in compared_metrics(statistics):
        own = scenario.rows(found[found["metric"] == metric])
        level, names = _longest(own, statistics)
        if own.empty and not is_compared(statistics, scenario, metric):
            names = NOT_COMPARED
        if gaps := len(scenario.rows(incomplete[incomplete["metric"] == metric])):
            names += f"; {gaps} incomplete"
        grid.add_row(escape(scenario.heading), escape(statistics.title(metric)), level, names)
    console.print(grid)
    if len(incomplete):
        console.print(
            "Incomplete: better at some β, but without all values there or at a smaller β", highlight=False
        )
    for note in left_out_notes(statistics):
        console.print(escape(note), highlight=False)
    if found["tested"].any():
        console.print(
            f"Sign-flip permutation test, Holm's correction, level {statistics.alpha:g}", highlight=False
        )
    if not found["tested"].all():
        console.print(
            f"~ no test can be significant with so few repetitions: better on average by more than "
            f"{statistics.rope:g}, with an interval without 0",
            style="yellow",
            highlight=False,
        )
    for note in pair_notes(statistics):
        console.print(escape(note), highlight=False)
    for warning in statistics.warnings:
        console.print(f"Warning, {escape(warning)}", style="yellow", highlight=False)
    for dataset in run.datasets:
        if dataset.embedded:
            console.print(
                f"{escape(dataset.heading)}: {NOT_REAL_LOUD}",
                style="bold red",
                highlight=False,
            )
    console.print(
        f"{len(written)} files written to {escape(str(output))}; begin with {PAGE}",
        highlight=False,
        soft_wrap=True,
    )


def _longest(rows: pd.DataFrame, statistics: RunStatistics) -> tuple[str, str]:
    """Return the greatest level of bias, and the techniques that hold up to it."""
    if rows.empty:
        return "–", "none"
    longest = rows[rows["up_to"] == rows["up_to"].max()]
    titles = [
        survivor_text(statistics.run.titles[technique], not_at, below)
        for technique, not_at, below in zip(
            *(longest[name] for name in ("technique", "not_at", "below_constant_at")), strict=True
        )
    ]
    shown = "; ".join(titles[:_MOST_SHOWN])
    more = f"; and {len(titles) - _MOST_SHOWN} more" if len(titles) > _MOST_SHOWN else ""
    mark = "" if longest["tested"].iloc[0] else " ~"
    return f"{longest['up_to'].iloc[0]:g}{mark}", escape(shown + more)
