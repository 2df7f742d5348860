"""The whole report of a run, written to a folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pandas as pd

from benchmark.experiment.plan import ALWAYS_MEASURED
from benchmark.figures import Drawing
from benchmark.figures.run import run_figures
from benchmark.render.tables import write_tables
from benchmark.runs.descriptions import RunDescription
from benchmark.runs.frames import check_failures, check_results
from benchmark.runs.summary import summarise
from benchmark.tables.paper import build_tables
from benchmark.text.files import FORMATS_WRITTEN, write_atomically
from benchmark.text.spreadsheet import csv_text


def write_report(
    output_dir: Path,
    results: pd.DataFrame,
    failures: pd.DataFrame,
    description: RunDescription,
    *,
    figures: bool | Sequence[str] = True,
    formats: Sequence[str] = FORMATS_WRITTEN,
    folds: pd.DataFrame | None = None,
    frontier: pd.DataFrame | None = None,
    more_figures: Iterable[Drawing] = (),
) -> list[Path]:
    """Write summary, tables and figures.

    The same arguments give the same bytes in every file. Each file appears whole or not at all; files that
    are already there and not part of this report stay as they are.

    Parameters
    ----------
    output_dir : Path
        Made if it does not exist. Gets ``summary.csv`` of the headline metrics, ``metrics_summary.csv`` of
        all others, ``tables/`` and ``figures/``.
    results : DataFrame
        Columns :data:`benchmark.columns.RESULT_COLUMNS`, one value per row, NaN allowed.
    failures : DataFrame
        Columns :data:`benchmark.columns.FAILURE_COLUMNS`: why values are missing.
    description : RunDescription
        What the numbers are of.
    figures : bool or sequence of str, default True
        Whether to draw figures, which takes nearly all of the time, or which kinds: folders of ``figures/``.
    formats : sequence of str, optional
        Of the figures: some of :data:`~benchmark.text.files.FORMATS`; by default PNG alone.
    folds : DataFrame, optional
        Columns :data:`benchmark.columns.FOLD_COLUMNS`: the values of single folds, for intervals.
    frontier : DataFrame, optional
        Columns :data:`benchmark.columns.FRONTIER_COLUMNS`: unprocessing frontiers, for figures.
    more_figures : iterable of (str, callable), optional
        Names and drawing functions of figures to be drawn as well.

    Returns
    -------
    list of Path
        Every file written, in order of writing.

    Raises
    ------
    ReportError
        If a frame is malformed or speaks of something that the description lacks.
    """
    results = check_results(results, description)
    failures = check_failures(failures, description)
    summary = summarise(results, failures, description, folds)
    # The same metrics as in results.csv; those of metrics.csv have a summary of their own.
    main = {*(description.headline or (metric.name for metric in description.metrics)), *ALWAYS_MEASURED}
    is_main = summary["metric"].isin(main)
    drawn: Iterator[Path] = iter(())
    if figures:
        # matplotlib is loaded only when something is drawn.
        from benchmark.figures.files import write_figures

        drawings = [*run_figures(summary, results, failures, description, frontier), *more_figures]
        if figures is not True:
            drawings = [(name, draw) for name, draw in drawings if name.partition("/")[0] in figures]
        # Other processes begin to draw, and this one writes tables meanwhile.
        drawn = write_figures(output_dir / "figures", drawings, formats)
    written = [write_atomically(output_dir / "summary.csv", csv_text(summary[is_main]))]
    if not is_main.all():
        written.append(write_atomically(output_dir / "metrics_summary.csv", csv_text(summary[~is_main])))
    written += write_tables(output_dir / "tables", build_tables(summary, results, failures, description))
    return [*written, *drawn]
