"""What a comparison or statistics start from: the folder of a finished run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from lzma import LZMAError
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd

from benchmark.columns import (
    CELL_COLUMNS,
    DECISION_COLUMNS,
    DECISION_COUNTS,
    DECISIONS_NAME,
    FAILURE_COLUMNS,
    FOLD_COLUMNS,
    FOLDS_NAME,
    FRONTIER_COLUMNS,
    FRONTIER_NAME,
    GROUP_COLUMNS,
    GROUPS_NAME,
    HIDDEN,
    MANIFEST_NAME,
    METRIC_COLUMNS,
    ORIGINAL,
    RESULT_COLUMNS,
    TEST_ROWS_NAME,
    TUNING_COLUMNS,
    TUNING_NAME,
    hidden_name,
)
from benchmark.errors import ReportError, UnknownNameError
from benchmark.experiment.plan import ALWAYS_MEASURED
from benchmark.metrics.restoration import OF_REPETITIONS
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import (
    Scenario,
    check_read,
    described_scenarios,
    in_described_order,
    with_failed_cells,
)
from benchmark.runs.summary import SUMMARY_COLUMNS, summarise
from benchmark.statistics.answers import standings
from benchmark.statistics.cells import WHERE, Resampling
from benchmark.statistics.row_sampling import ROW_COLUMNS
from benchmark.text.embedded import FOLDER_SUFFIX, NOT_REAL
from benchmark.text.spreadsheet import from_cell
from benchmark.text.writing import plain_or_packed

RUN_AGAIN = "run the experiment again: what is stored is not computed again"
"""Remedy for a folder that lacks what this version writes."""

_TEXTS = {
    *("dataset", "bias", "technique", "classifier", "test", "metric", "status", "reason"),
    *("attribute", "group", "note", "of", "chosen_on", "parameters"),
}
_WHOLE = {"table", "n", "repetition", "fold", "settings", "unscored", *DECISION_COUNTS}


@dataclass(frozen=True, kw_only=True, eq=False)
class FinishedRun:
    """What a run left: its manifest, and its means."""

    manifest: Manifest  # what was done; its metrics are those of the summary, in its order
    # summary, failures: Columns :data:`~benchmark.runs.summary.SUMMARY_COLUMNS` and
    # :data:`~benchmark.columns.FAILURE_COLUMNS`.
    summary: pd.DataFrame
    failures: pd.DataFrame


@dataclass(frozen=True, kw_only=True, eq=False)
class RunFrames(FinishedRun):
    """A run with all of its numbers, as files, console, figures, tables and statistics take it."""

    # Columns :data:`~benchmark.columns.RESULT_COLUMNS`: a row for each value that there should be, NaN where
    # there is none.
    results: pd.DataFrame
    # folds, frontier, groups, tuning, row_noise, decisions: Values of single folds, points of unprocessing
    # frontiers, metrics by group of several attributes, chosen settings, how much metrics vary with the test
    # rows, and counts of decisions beside those of the untreated models; None where the run has none.
    folds: pd.DataFrame | None = None
    frontier: pd.DataFrame | None = None
    groups: pd.DataFrame | None = None
    tuning: pd.DataFrame | None = None
    row_noise: pd.DataFrame | None = None
    decisions: pd.DataFrame | None = None

    @classmethod
    def of(
        cls,
        manifest: Manifest,
        results: pd.DataFrame,
        failures: pd.DataFrame,
        *,
        folds: pd.DataFrame | None = None,
        decisions: pd.DataFrame | None = None,
        **frames: pd.DataFrame | None,
    ) -> Self:
        """Put together what was computed, which is not checked, and summarize it."""
        metrics = [metric.name for metric in manifest.metrics]
        results = with_failed_cells(results, failures, metrics, manifest.tests)
        results = in_described_order(results, manifest)
        return cls(
            manifest=manifest,
            summary=summarise(results, manifest, folds, decisions),
            failures=in_described_order(failures, manifest),
            results=results,
            folds=folds,
            decisions=decisions,
            **frames,
        )

    @cached_property
    def standing(self) -> pd.DataFrame:
        """Which techniques are degenerate or less accurate than a constant answer; see `standings`."""
        return standings(self.results, self.manifest.constant_answers)

    @cached_property
    def scenarios(self) -> tuple[Scenario, ...]:
        """What was tried, in the run's order."""
        return described_scenarios(self.results, self.manifest)

    @cached_property
    def resampling(self) -> Resampling | None:
        """How repetitions overlap, where they are repeated splits of the same rows."""
        return self.manifest.resampling(self.folds)

    @property
    def of_choices(self) -> Self:
        """The same run without what is unchoosable, between which and others nobody has a choice."""
        return self._without(self.manifest.unchoosable)

    @property
    def of_techniques(self) -> Self:
        """The same run without reference rows."""
        return self._without(self.manifest.refits)

    def _without(self, names: Collection[str]) -> Self:
        if not names:
            return self
        frames = {name: getattr(self, name) for name in ("summary", "failures", "results", "groups")}
        known = {name: frame for name, frame in frames.items() if frame is not None}
        some = {name: frame[~frame["technique"].isin(names)] for name, frame in known.items()}
        return replace(self, manifest=self.manifest.without(names), **some)

    @property
    def shown(self) -> Self:
        """The same run with nothing but its headline metrics."""
        manifest = self.manifest.shown
        named = ["", *(metric.name for metric in manifest.metrics)]
        frames = {"summary": self.summary, "results": self.results, "failures": self.failures}
        some = {name: frame[frame["metric"].isin(named)] for name, frame in frames.items()}
        return replace(self, manifest=manifest, **{k: v.reset_index(drop=True) for k, v in some.items()})


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
            f"There is no folder {folder}",
            expected="the folder of a finished run",
            remedy=_folder_beside(folder) or again,
        )
    manifest = Manifest.read(folder / MANIFEST_NAME, again)
    summary = read_frame(folder / "summary.csv", SUMMARY_COLUMNS, again)
    if plain_or_packed(folder / "metrics_summary.csv").exists():
        more = read_frame(folder / "metrics_summary.csv", SUMMARY_COLUMNS, again)
        summary = pd.concat([summary, more], ignore_index=True)
    failures = read_frame(folder / "failures.csv", FAILURE_COLUMNS, again)
    check_read("failures", failures, manifest)
    # Of what was measured, a folder may hold a part.
    manifest = manifest.with_metrics(summary["metric"].unique())
    return FinishedRun(manifest=manifest, summary=summary, failures=failures)


def read_frames(folder: Path, metrics: Sequence[str] = ()) -> RunFrames:
    """Read all frames of a run; parameters and errors as for :func:`read_run` and :func:`read_results`."""
    run = read_run(folder)
    return RunFrames(
        **vars(run),
        results=read_results(folder, run, metrics),
        folds=_read_if_there(folder / FOLDS_NAME, FOLD_COLUMNS),
        frontier=_read_if_there(folder / FRONTIER_NAME, FRONTIER_COLUMNS),
        groups=read_groups(folder),
        tuning=read_tuning(folder),
        # A run writes it anew when it is started again, from what its store holds.
        row_noise=_read_if_there(folder / TEST_ROWS_NAME, ROW_COLUMNS),
        decisions=_read_if_there(folder / DECISIONS_NAME, DECISION_COLUMNS),
    )


def _folder_beside(folder: Path) -> str:
    """Name the folder that the same experiment has with data, or without; "" where there is none."""
    name, whole = folder.name, folder.name.removesuffix(FOLDER_SUFFIX)
    beside, of = (f"{name}{FOLDER_SUFFIX}", NOT_REAL) if name == whole else (whole, "real data")
    if not name or not (folder.parent / beside / MANIFEST_NAME).is_file():
        return ""
    return f"name {folder.parent / beside}, which is of this experiment on {of}"


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
        Columns :data:`~benchmark.columns.RESULT_COLUMNS`; sorted by dataset, test, beta,
        technique and metric as the run names them. A cell that failed has NaN for every metric.

    Raises
    ------
    ReportError
        If a file is missing or malformed, or cells of the run are in no file.
    UnknownNameError
        If a metric has no values in the folder.
    """
    again = f"finish it: run the experiment, or merge its shards, with --output {folder}"
    results = read_frame(folder / "results.csv", RESULT_COLUMNS, again)
    cell = list(CELL_COLUMNS)
    failed = run.failures.loc[run.failures["metric"] == "", cell]
    found = len(pd.concat([results[cell], failed]).drop_duplicates())
    manifest = run.manifest
    planned = manifest.cells.get("planned")
    if found < (planned or 0) or not found:
        raise ReportError(
            f"The run in {folder} is not finished",
            expected=f"results or failures of {planned or 'its'} cells",
            got=f"{found}",
            remedy=again,
        )
    if set(metrics) - set(results["metric"]) and plain_or_packed(folder / "metrics.csv").exists():
        more = read_frame(folder / "metrics.csv", METRIC_COLUMNS, again)
        results = pd.concat([results, more[list(RESULT_COLUMNS)]], ignore_index=True)
    # A run of which every cell failed has no other list of its metrics than its summary.
    known = list(results["metric"].unique()) or [metric.name for metric in manifest.metrics]
    for metric in metrics:
        if metric not in known:
            raise UnknownNameError("metric", metric, known)
    always = [name for name in (*ALWAYS_MEASURED, *OF_REPETITIONS) if name in known]
    kept = list(dict.fromkeys((*(metrics or known), *always)))
    whole = with_failed_cells(results[results["metric"].isin(kept)], run.failures, kept, manifest.tests)
    manifest = manifest.with_metrics(kept)
    check_read("results", whole, manifest)
    return in_described_order(whole, manifest, (*WHERE, "metric", "repetition"))


def read_groups(folder: Path) -> pd.DataFrame | None:
    """Read metrics by group of several attributes, or None where the run told no such groups apart."""
    return _read_if_there(folder / GROUPS_NAME, GROUP_COLUMNS)


def read_tuning(folder: Path) -> pd.DataFrame | None:
    """Read what tuning chose, or None where the run tuned no technique."""
    return _read_if_there(folder / TUNING_NAME, TUNING_COLUMNS)


def _read_if_there(path: Path, columns: Sequence[str]) -> pd.DataFrame | None:
    if not plain_or_packed(path).exists():
        return None
    return read_frame(path, columns, RUN_AGAIN)


def read_frame(path: Path, columns: Sequence[str], remedy: str) -> pd.DataFrame:
    """Read a CSV file, such as ``results.csv`` or, compressed, ``results.csv.xz``, and check its columns.

    Their names decide whether they hold text, floats or integers. A file that is missing, malformed or has
    other columns is a ReportError with the given remedy.
    """
    path = plain_or_packed(path)
    try:
        # Names stay text whatever they look like. What repeats is read, and converted, once.
        kinds = {column: "category" if column in _TEXTS else object for column in (*columns, "dose", HIDDEN)}
        frame = pd.read_csv(path, dtype=kinds, keep_default_na=False)
    except OSError as error:
        raise ReportError(f"{path} cannot be read", got=error.strerror, remedy=remedy) from error
    except (ValueError, EOFError, LZMAError) as error:
        raise ReportError(f"{path} is malformed", got=" ".join(str(error).split()), remedy=remedy) from error
    if "dose" in frame.columns:  # which is the level of bias there, and stands before its β
        frame = frame.drop(columns="beta", errors="ignore").rename(columns={"dose": "beta"})
    if "test" in columns and "test" not in frame.columns and DECISION_COUNTS[0] in frame.columns:
        frame.insert(columns.index("test"), "test", pd.Series(ORIGINAL, frame.index, dtype="category"))
    if HIDDEN in frame.columns:  # a bias with what is hidden behind it is a scenario of its own
        frame["bias"] = _with_hidden(frame, path, remedy)
        frame = frame.drop(columns=HIDDEN)
    if tuple(frame.columns) != tuple(columns):
        got = ", ".join(map(str, frame.columns))
        raise ReportError(f"{path} has other columns", expected=", ".join(columns), got=got, remedy=remedy)
    for column in columns:
        if column in _TEXTS:
            texts = np.array(list(map(from_cell, frame[column].cat.categories)), dtype=object)
            frame[column] = pd.Series(texts[frame[column].cat.codes], index=frame.index, dtype=object)
            continue
        is_whole = column in _WHOLE
        try:
            values = list(map(int if is_whole else _number, frame[column]))
        except ValueError as error:
            raise ReportError(
                f"{path} has text in the column {column}",
                expected="whole numbers" if is_whole else "numbers",
                got=str(error),
                remedy=remedy,
            ) from error
        frame[column] = pd.Series(values, index=frame.index, dtype="int64" if is_whole else "float64")
    return frame


def _with_hidden(frame: pd.DataFrame, path: Path, remedy: str) -> pd.Series:
    try:
        named = [
            hidden_name(bias, _number(gap)) for bias, gap in zip(frame["bias"], frame[HIDDEN], strict=True)
        ]
    except ValueError as error:
        got = str(error)
        raise ReportError(
            f"{path} has text in the column {HIDDEN}", expected="numbers", got=got, remedy=remedy
        ) from error
    return pd.Series(named, frame.index, dtype="category")


def _number(text: str) -> float:
    # Python's float reads back what was written to the last bit, which not every pandas does.
    return float(text or "nan")
