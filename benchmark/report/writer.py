"""The whole report of a run, written to a folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from benchmark.experiment.plan import ALWAYS_MEASURED
from benchmark.runs.descriptions import RunDescription
from benchmark.runs.frames import (
    Scenario,
    check_failures,
    check_results,
    only_described_metrics,
    scenarios,
)
from benchmark.runs.summary import csv_text, summarise
from benchmark.statistics.answers import standings
from benchmark.tables.markup import MARKUPS
from benchmark.tables.paper import build_tables
from benchmark.text.files import FORMATS_WRITTEN, write_atomically
from benchmark.text.words import file_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["write_report"]


def write_report(
    output_dir: Path,
    results: pd.DataFrame,
    failures: pd.DataFrame,
    description: RunDescription,
    *,
    figures: bool = True,
    formats: Sequence[str] = FORMATS_WRITTEN,
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
    figures : bool, default True
        Whether to draw figures, which takes nearly all of the time.
    formats : sequence of str, optional
        Of the figures: some of :data:`~benchmark.text.files.FORMATS`; by default PNG alone.

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
    summary = summarise(results, failures, description)
    # The same metrics as in results.csv; those of metrics.csv have a summary of their own.
    main = {*(description.headline or (metric.name for metric in description.metrics)), *ALWAYS_MEASURED}
    is_main = summary["metric"].isin(main)
    written = [write_atomically(output_dir / "summary.csv", csv_text(summary[is_main]))]
    if not is_main.all():
        written.append(write_atomically(output_dir / "metrics_summary.csv", csv_text(summary[~is_main])))
    if figures:
        from benchmark.figures.files import write_figures

        pages = _draw_auc(summary, results, failures, description)
        written += write_figures(output_dir / "figures", pages, formats)
    for table in build_tables(summary, results, failures, description):
        for ending, markup in MARKUPS.items():
            written.append(write_atomically(output_dir / "tables" / (table.name + ending), markup(table)))
    everything, description = results, description.shown
    summary, results, failures = (
        only_described_metrics(frame, description) for frame in (summary, results, failures)
    )
    if figures:
        standing = standings(everything, description.constant_answers)
        pages = _draw_figures(summary, results, failures, standing, description)
        written += write_figures(output_dir / "figures", pages, formats)
    return written


def _draw_figures(
    summary: pd.DataFrame,
    results: pd.DataFrame,
    failures: pd.DataFrame,
    standing: pd.DataFrame,
    description: RunDescription,
) -> Iterator[tuple[str, Figure]]:
    # matplotlib is loaded only when something is drawn.
    from benchmark.figures.network import draw_network
    from benchmark.figures.over_beta import draw_over_beta

    for dataset in description.datasets:
        yield f"network/{file_name(dataset.name)}", draw_network(dataset)
    for scenario in scenarios(results, failures, description):
        figure = draw_over_beta(summary, failures, standing, scenario, description)
        yield f"over_beta/{scenario.file_name}", figure
        yield from _draw_tradeoffs(summary, results, failures, standing, scenario, description)


def _draw_auc(
    summary: pd.DataFrame, results: pd.DataFrame, failures: pd.DataFrame, description: RunDescription
) -> Iterator[tuple[str, Figure]]:
    """Yield figures of AUC by group, if the run measured that."""
    if not any(metric.name.startswith("auc[") for metric in description.metrics):
        return
    from benchmark.figures.auc import auc_rows, draw_auc

    for scenario in scenarios(results, failures, description):
        for beta in description.betas:
            rows = auc_rows(summary, failures, scenario, beta, description)
            if len(rows):
                title = f"{scenario.heading}, β = {beta:g}"
                yield f"auc/{scenario.file_name}__beta_{beta:g}", draw_auc(rows, title)


def _draw_tradeoffs(
    summary: pd.DataFrame,
    results: pd.DataFrame,
    failures: pd.DataFrame,
    standing: pd.DataFrame,
    scenario: Scenario,
    description: RunDescription,
) -> Iterator[tuple[str, Figure]]:
    from benchmark.figures.tradeoff import TRADEOFF, draw_tradeoff, tradeoff_limits, tradeoff_points

    if any(description.metric(name) is None for name in TRADEOFF):
        return
    points = tradeoff_points(results, scenario)
    limits = tradeoff_limits(points, scenario.dataset.constant_accuracy)
    tried = frozenset(scenario.rows(summary)["technique"])
    techniques = [technique for technique in description.techniques if technique.name in tried]
    folder = f"tradeoff/{scenario.file_name}"
    more = (failures, standing, scenario, description)
    yield f"{folder}/all", draw_tradeoff(points, limits, techniques, *more)
    for technique in techniques:
        figure = draw_tradeoff(points, limits, [technique], *more)
        yield f"{folder}/technique_{file_name(technique.name)}", figure
