"""The result of a run in the terminal."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmark.report.describe import MetricDescription, RunDescription
from benchmark.report.frames import (
    STATUSES,
    Scenario,
    check_failures,
    check_results,
    only_described_metrics,
    scenarios,
)
from benchmark.report.summary import summarise

__all__ = ["print_report"]

SHOWN = ("discrimination", "accuracy")
"""Metrics of the console table; the files hold all."""

_LONGEST_TITLE = 20
_GAP = 2


def print_report(
    console: Console,
    results: pd.DataFrame,
    failures: pd.DataFrame,
    description: RunDescription,
    *,
    output_dir: Path | None = None,
    written: Sequence[Path] = (),
) -> None:
    """Print the means of every technique at every level of bias, what failed, and where the files are.

    Parameters
    ----------
    console : Console
        Where to; levels of bias that do not fit its width come in further tables below.
    results, failures : DataFrame
        As for :func:`benchmark.report.writer.write_report`.
    description : RunDescription
        Order and titles.
    output_dir : Path, optional
        Folder of the written files.
    written : sequence of Path, default ()
        Files below it to list.

    Raises
    ------
    ReportError
        If a frame is malformed or speaks of something that the description lacks.
    """
    description = description.shown
    results = check_results(only_described_metrics(results, description), description)
    failures = check_failures(only_described_metrics(failures, description), description)
    summary = summarise(results, failures, description)
    shown = [metric for name in SHOWN if (metric := description.metric(name)) is not None]
    for scenario in scenarios(results, failures, description):
        pair = shown if len(shown) == len(SHOWN) else description.metrics[:2]
        _print_scenario(console, summary, scenario, pair, description)
    _print_failures(console, failures)
    if output_dir is not None:
        _print_files(console, output_dir, written)


def _print_scenario(
    console: Console,
    summary: pd.DataFrame,
    scenario: Scenario,
    metrics: Sequence[MetricDescription],
    description: RunDescription,
) -> None:
    dataset = scenario.dataset
    shown = "/".join(metric.in_sentence for metric in metrics)
    line = f"[bold]{escape(scenario.heading)}[/bold]: {escape(shown)}, mean of {description.repetitions_text}"
    console.print(line, highlight=False)
    console.print(
        escape(dataset.provenance), style="bold red" if dataset.embedded else "dim", highlight=False
    )
    if dataset.warning:
        console.print(f"Warning: {escape(dataset.warning)}", style="yellow", highlight=False)
    rows = scenario.rows(summary)
    columns = rows[["technique", "beta", "metric", "mean"]].itertuples(index=False)
    means = {(technique, beta, metric): mean for technique, beta, metric, mean in columns}
    techniques = [t for t in description.techniques if (rows["technique"] == t.name).any()]
    entries = {
        (t.name, beta): "/".join(_short(means.get((t.name, beta, m.name))) for m in metrics)
        for t in techniques
        for beta in description.betas
    }
    entry_width = max(map(len, entries.values()), default=0) + _GAP
    title_width = min(_LONGEST_TITLE, max((len(t.title) for t in techniques), default=0))
    per_table = max(1, (console.width - title_width) // entry_width)
    for start in range(0, len(description.betas), per_table):
        betas = description.betas[start : start + per_table]
        table = Table(box=None, padding=(0, 0, 0, _GAP), pad_edge=False, header_style="bold")
        table.add_column("", width=title_width, overflow="fold")
        for beta in betas:
            table.add_column(f"β={beta:g}", justify="right", no_wrap=True)
        for technique in techniques:
            table.add_row(escape(technique.title), *(entries[technique.name, beta] for beta in betas))
        console.print(table)
    console.print()


def _print_failures(console: Console, failures: pd.DataFrame) -> None:
    if failures.empty:
        return
    counts = failures["status"].value_counts()
    parts = [f"{int(counts[status])} {status}" for status in STATUSES if status in counts.index]
    console.print(
        "Without a value: " + ", ".join(parts) + " (reasons in failures.csv)", style="yellow", highlight=False
    )


def _print_files(console: Console, output_dir: Path, written: Sequence[Path]) -> None:
    """Print files by folder: names where there are few, counts by ending where there are many."""
    console.print(f"Written to {escape(str(output_dir))}:", highlight=False, soft_wrap=True)
    for folder in dict.fromkeys(path.parent for path in written):
        files = [path for path in written if path.parent == folder]
        endings = Counter(path.suffix.removeprefix(".") for path in files)
        if len(files) <= 3:
            text = ", ".join(path.name for path in files)
        else:
            text = ", ".join(f"{count} {ending}" for ending, count in endings.items())
        relative = folder.relative_to(output_dir).as_posix()
        prefix = "" if relative == "." else f"{relative}/  "
        console.print(f"  {escape(prefix + text)}", highlight=False, soft_wrap=True)


def _short(value: float | None) -> str:
    """Return three decimals without the zero before the point: five betas have to fit 80 columns."""
    if value is None or math.isnan(value):
        return "–"
    text = f"{value:.3f}"
    text = text.removeprefix("-") if float(text) == 0 else text
    return text.replace("0.", ".", 1) if text.removeprefix("-").startswith("0.") else text
