"""What a comparison or statistics start from: published numbers, and the folder of a finished run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from lzma import LZMAError
from pathlib import Path

import numpy as np
import pandas as pd

from benchmark.columns import FAILURE_COLUMNS, MANIFEST_NAME, METRIC_COLUMNS, RESULT_COLUMNS
from benchmark.declarations import declaration_dir
from benchmark.errors import ReportError, UnknownNameError
from benchmark.experiment.plan import ALWAYS_MEASURED, PublishedEntry
from benchmark.runs.descriptions import RunDescription
from benchmark.runs.frames import with_failed_cells
from benchmark.runs.manifest import Manifest, metric_description
from benchmark.runs.summary import SUMMARY_COLUMNS
from benchmark.text.files import plain_or_packed
from benchmark.text.spreadsheet import from_cell

__all__ = [
    "PUBLISHED_COLUMNS",
    "FinishedRun",
    "published_numbers",
    "read_published",
    "read_results",
    "read_run",
]

PUBLISHED_COLUMNS = ("table", "dataset", "technique", "beta", "metric", "value")
"""Columns of a file of published numbers; ``experiments/published/README.md`` says what each holds."""

_TEXTS = {"dataset", "bias", "technique", "classifier", "metric", "status", "reason"}
_WHOLE = {"table", "n", "repetition"}


@dataclass(frozen=True, kw_only=True)
class FinishedRun(RunDescription):
    """What a run left in its folder: its description and what came of it.

    The metrics are those of the summary, in its order.

    Parameters
    ----------
    summary, failures : DataFrame
        Columns :data:`~benchmark.runs.summary.SUMMARY_COLUMNS` and
        :data:`~benchmark.columns.FAILURE_COLUMNS`.
    facts : Manifest
        The manifest, from which the description was made.
    """

    summary: pd.DataFrame
    failures: pd.DataFrame
    facts: Manifest

    @classmethod
    def of(cls, manifest: Manifest, summary: pd.DataFrame, failures: pd.DataFrame) -> FinishedRun:
        """Put together what the files of a run say."""
        description = manifest.description
        metrics = tuple(
            description.metric(name) or metric_description(name) for name in summary["metric"].unique()
        )
        told = {**vars(description), "metrics": metrics}
        return cls(**told, summary=summary, failures=failures, facts=manifest)


def published_numbers(entry: PublishedEntry) -> pd.DataFrame:
    """Return the numbers that an experiment names; raises as :func:`read_published` does."""
    return read_published(declaration_dir("experiments") / entry.file)


def read_published(path: Path) -> pd.DataFrame:
    """Read and check a file of published numbers.

    Parameters
    ----------
    path : Path
        CSV file with the columns :data:`PUBLISHED_COLUMNS`.

    Returns
    -------
    DataFrame
        Those columns, in the file's order; ``table`` is an integer, ``beta`` and ``value`` are floats.

    Raises
    ------
    ReportError
        If the file is missing, empty or malformed, a number is not finite, or a place is filled twice.
    """
    published = _read_csv(path, PUBLISHED_COLUMNS, "get it back, or correct 'file' under [published]")
    if published.empty or not np.isfinite(published[["beta", "value"]].to_numpy()).all():
        raise ReportError(
            f"{path} has no number, or one that is not finite", expected="a finite number in every row"
        )
    repeated = published.duplicated(list(PUBLISHED_COLUMNS[:-1]))
    if repeated.any():
        raise ReportError(
            f"{path} gives some numbers twice",
            expected="distinct " + ", ".join(PUBLISHED_COLUMNS[:-1]),
            got="line " + ", ".join(str(i + 2) for i in np.flatnonzero(repeated)[:5]),
            remedy="keep one row of each",
        )
    return published


def read_run(folder: Path) -> FinishedRun:
    """Read what ``betabench run`` wrote to a folder.

    Parameters
    ----------
    folder : Path
        Holds ``manifest.json``, ``summary.csv`` and ``failures.csv``, and ``metrics_summary.csv`` if the run
        measured more than its headline metrics. Each CSV file may be compressed: ``summary.csv.xz``.

    Raises
    ------
    ReportError
        If the folder or a file is missing, or a file is not what a run writes.
    """
    again = f"'betabench run' writes it; run the experiment with --output {folder}"
    if not folder.is_dir():
        raise ReportError(
            f"There is no folder {folder}", expected="the folder of a finished run", remedy=again
        )
    manifest = Manifest.read(folder / MANIFEST_NAME, again)
    summary = _read_csv(folder / "summary.csv", SUMMARY_COLUMNS, again)
    if plain_or_packed(folder / "metrics_summary.csv").exists():
        more = _read_csv(folder / "metrics_summary.csv", SUMMARY_COLUMNS, again)
        summary = pd.concat([summary, more], ignore_index=True)
    return FinishedRun.of(manifest, summary, _read_csv(folder / "failures.csv", FAILURE_COLUMNS, again))


def read_results(folder: Path, run: FinishedRun, metrics: Sequence[str] = ()) -> pd.DataFrame:
    """Read the values of a finished run, with a row for each value that it should have and has not.

    Parameters
    ----------
    folder : Path
        Holds ``results.csv``, and ``metrics.csv`` if the run measured more than its headline metrics. Each
        may be compressed: ``results.csv.xz``.
    run : FinishedRun
        What :func:`read_run` read from the same folder.
    metrics : sequence of str, default ()
        Names of the metrics to keep, in this order; by default those of ``results.csv``. Those that are
        always measured are kept in any case.

    Returns
    -------
    DataFrame
        Columns :data:`~benchmark.columns.RESULT_COLUMNS`; sorted by dataset, beta, technique and
        metric as the run names them. A cell that failed has NaN for every metric.

    Raises
    ------
    ReportError
        If a file is missing or malformed, or cells of the run are in no file.
    UnknownNameError
        If a metric has no values in the folder.
    """
    again = f"finish it: run the experiment, or merge its shards, with --output {folder}"
    results = _read_csv(folder / "results.csv", RESULT_COLUMNS, again)
    failed = run.failures[run.failures["metric"] == ""].drop(columns=["metric", "status", "reason"])
    cell = list(RESULT_COLUMNS[:6])
    found = len(pd.concat([results[cell], failed]).drop_duplicates())
    planned = run.facts.cells.get("planned")
    if found < (planned or 0) or not found:
        raise ReportError(
            f"The run in {folder} is not finished",
            expected=f"results or failures of {planned or 'its'} cells",
            got=f"{found}",
            remedy=again,
        )
    if set(metrics) - set(results["metric"]) and plain_or_packed(folder / "metrics.csv").exists():
        more = _read_csv(folder / "metrics.csv", METRIC_COLUMNS, again)
        results = pd.concat([results, more[list(RESULT_COLUMNS)]], ignore_index=True)
    # A run of which every cell failed has no other list of its metrics than its summary.
    known = list(results["metric"].unique()) or [metric.name for metric in run.metrics]
    for metric in metrics:
        if metric not in known:
            raise UnknownNameError("metric", metric, known)
    always = [name for name in ALWAYS_MEASURED if name in known]
    kept = list(dict.fromkeys((*(metrics or known), *always)))
    whole = with_failed_cells(results[results["metric"].isin(kept)], run.failures, kept)
    orders: dict[str, Sequence[object]] = {
        "dataset": [dataset.name for dataset in run.datasets],
        "technique": list(run.titles),
        "metric": kept,
    }
    for column, names in orders.items():
        if unknown := sorted(set(whole[column]) - set(map(str, names))):
            raise ReportError(
                f"The results in {folder} name a {column} that the manifest lacks",
                expected="one of " + ", ".join(map(str, names)),
                got=", ".join(unknown),
                remedy=again,
            )
    return whole.sort_values(
        ["dataset", "bias", "classifier", "beta", "technique", "metric", "repetition"],
        key=lambda column: column.map(orders[str(column.name)].index) if column.name in orders else column,
        kind="stable",
        ignore_index=True,
    )


def _read_csv(path: Path, columns: Sequence[str], remedy: str) -> pd.DataFrame:
    path = plain_or_packed(path)
    try:
        # Names stay text whatever they look like.
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    except OSError as error:
        raise ReportError(f"{path} cannot be read", got=error.strerror, remedy=remedy) from error
    except (ValueError, EOFError, LZMAError) as error:
        raise ReportError(f"{path} is malformed", got=" ".join(str(error).split()), remedy=remedy) from error
    if tuple(frame.columns) != tuple(columns):
        raise ReportError(
            f"{path} has other columns",
            expected=", ".join(columns),
            got=", ".join(map(str, frame.columns)),
            remedy=remedy,
        )
    for column in columns:
        if column in _TEXTS:
            frame[column] = frame[column].map(from_cell)
        else:
            frame[column] = _numbers(frame[column], path, remedy)
    return frame


def _numbers(column: pd.Series, path: Path, remedy: str) -> pd.Series:
    whole = column.name in _WHOLE
    try:
        # Python's float reads back what was written to the last bit, which not every pandas does.
        values = [int(text) if whole else float(text or "nan") for text in column]
    except ValueError as error:
        raise ReportError(
            f"{path} has text in the column {column.name}",
            expected="whole numbers" if whole else "numbers",
            got=str(error),
            remedy=remedy,
        ) from error
    return pd.Series(values, index=column.index, dtype="int64" if whole else "float64")
