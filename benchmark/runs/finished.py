"""Reading the folder of a finished run, for comparisons and statistics."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from lzma import LZMAError
from pathlib import Path
from typing import Any, Self

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
from benchmark.text.embedded import FOLDER_SUFFIX, NOT_REAL
from benchmark.text.spreadsheet import from_cell
from benchmark.text.words import parted_fold
from benchmark.text.writing import plain_or_packed

RUN_AGAIN = "run the experiment again: stored cells are not computed again"
"""Remedy for a folder without files that this version writes."""

_TEXTS = {
    *("dataset", "bias", "technique", "classifier", "test", "metric", "status", "reason"),
    *("attribute", "group", "note", "of", "chosen_on", "parameters"),
}
_WHOLE = {"table", "n", "repetition", "fold", "settings", "unscored", *DECISION_COUNTS}
_OPTIONAL = {
    "folds": (FOLDS_NAME, FOLD_COLUMNS),
    "frontier": (FRONTIER_NAME, FRONTIER_COLUMNS),
    "groups": (GROUPS_NAME, GROUP_COLUMNS),
    "tuning": (TUNING_NAME, TUNING_COLUMNS),
    "decisions": (DECISIONS_NAME, DECISION_COLUMNS),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class FinishedRun:
    """Manifest, means and failures of a run."""

    manifest: Manifest  # with the metrics of the summary, in its order
    summary: pd.DataFrame  # columns :data:`~benchmark.runs.summary.SUMMARY_COLUMNS`
    failures: pd.DataFrame  # columns :data:`~benchmark.columns.FAILURE_COLUMNS`


@dataclass(frozen=True, kw_only=True, eq=False)
class RunFrames(FinishedRun):
    """A run with all of its numbers, for files, console, figures, tables and statistics."""

    # A row for each expected value, NaN if it is missing: :data:`~benchmark.columns.RESULT_COLUMNS`.
    results: pd.DataFrame
    # Optional frames: None where the run has none.
    folds: pd.DataFrame | None = None  # values of single folds
    frontier: pd.DataFrame | None = None  # points of unprocessing frontiers
    groups: pd.DataFrame | None = None  # metrics by group of several attributes
    tuning: pd.DataFrame | None = None  # chosen settings
    decisions: pd.DataFrame | None = None  # counts of decisions beside those of the untreated models

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
        """Return a run from computed frames, which are not checked, with its summary."""
        results = in_described_order(with_failed_cells(results, failures, manifest), manifest)
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
        """Which techniques are degenerate or less accurate than a constant answer; see ``standings``."""
        return standings(self.results, self.manifest.constant_answers, self.decisions)

    @cached_property
    def scenarios(self) -> tuple[Scenario, ...]:
        """The scenarios of the run, in its order."""
        return described_scenarios(self.results, self.manifest)

    @cached_property
    def resampling(self) -> Resampling | None:
        """How repetitions overlap, where they are repeated splits of the same rows."""
        return self.manifest.resampling(self.folds)

    @property
    def of_choices(self) -> Self:
        """The same run with the techniques that can be chosen in practice."""
        return self._without(self.manifest.unchoosable)

    @property
    def of_techniques(self) -> Self:
        """The same run without reference rows."""
        return self._without(self.manifest.refits)

    def _without(self, names: Collection[str]) -> Self:
        if not names:
            return self
        frames = {name: getattr(self, name) for name in ("summary", "failures", "results", "groups")}
        present = {name: frame for name, frame in frames.items() if frame is not None}
        rest = {name: frame[~frame["technique"].isin(names)] for name, frame in present.items()}
        return replace(self, manifest=self.manifest.without(names), **rest)

    @property
    def shown(self) -> Self:
        """The same run with its headline metrics only."""
        manifest = self.manifest.shown
        named = ["", *(metric.name for metric in manifest.metrics)]
        frames = {"summary": self.summary, "results": self.results, "failures": self.failures}
        headline = {name: frame[frame["metric"].isin(named)] for name, frame in frames.items()}
        return replace(self, manifest=manifest, **{k: v.reset_index(drop=True) for k, v in headline.items()})


def read_run(folder: Path) -> FinishedRun:
    """Return the manifest, means and failures that ``betabench run`` wrote to a folder.

    The folder has ``manifest.json``, ``summary.csv`` and ``failures.csv``, and ``metrics_summary.csv`` if the
    run measured more than its headline metrics. Each CSV file may be compressed: ``summary.csv.xz``. A
    ReportError says that the folder or a file is missing, or that a file's content is not a run's.
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
    # A folder may hold some of the measured metrics only.
    manifest = manifest.with_metrics(summary["metric"].unique())
    return FinishedRun(manifest=manifest, summary=summary, failures=failures)


def read_frames(folder: Path, metrics: Sequence[str] = ()) -> RunFrames:
    """Return all frames of a run; parameters and errors as in :func:`read_run` and :func:`read_results`."""
    run = read_run(folder)
    optional: dict[str, Any] = {frame: read_optional(folder, frame) for frame in _OPTIONAL}
    return RunFrames(**vars(run), results=read_results(folder, run, metrics), **optional)


def _folder_beside(folder: Path) -> str:
    """Return a hint at the folder that the same experiment has with data, or without; "" without one."""
    name, whole = folder.name, folder.name.removesuffix(FOLDER_SUFFIX)
    beside, of = (f"{name}{FOLDER_SUFFIX}", NOT_REAL) if name == whole else (whole, "real data")
    if not name or not (folder.parent / beside / MANIFEST_NAME).is_file():
        return ""
    return f"name {folder.parent / beside}, which is of this experiment on {of}"


def read_results(folder: Path, run: FinishedRun, metrics: Sequence[str] = ()) -> pd.DataFrame:
    """Return the values of a finished run, with a row for each missing value.

    The folder has ``results.csv``, and ``metrics.csv`` if the run measured more than its headline metrics.
    Each may be compressed: ``results.csv.xz``. ``run`` is from :func:`read_run`, for the same folder.
    ``metrics`` are kept in this order, by default those of ``results.csv``; metrics that are always measured
    are always kept.

    The result has the columns :data:`~benchmark.columns.RESULT_COLUMNS`, and is sorted by dataset, test,
    beta, technique and metric as the run names them. A cell that failed has NaN for every metric. A
    ReportError says that a file is missing or malformed, or that cells of the run are in no file. An
    UnknownNameError says that a metric has no values in the folder.
    """
    again = f"finish it: run the experiment, or merge its shards, with --output {folder}"
    results = read_frame(folder / "results.csv", RESULT_COLUMNS, again)
    cell = list(CELL_COLUMNS)
    failed = run.failures.loc[run.failures["metric"] == "", cell]
    n_cells = len(pd.concat([results[cell], failed]).drop_duplicates())
    manifest = run.manifest
    planned = manifest.cells.get("planned")
    if n_cells < (planned or 0) or not n_cells:
        raise ReportError(
            f"The run in {folder} is not finished",
            expected=f"results or failures of {planned or 'its'} cells",
            got=f"{n_cells}",
            remedy=again,
        )
    if set(metrics) - set(results["metric"]) and plain_or_packed(folder / "metrics.csv").exists():
        more = read_frame(folder / "metrics.csv", METRIC_COLUMNS, again)
        results = pd.concat([results, more[list(RESULT_COLUMNS)]], ignore_index=True)
    # If every cell failed, only the summary lists the run's metrics.
    measured = list(results["metric"].unique()) or [metric.name for metric in manifest.metrics]
    for metric in metrics:
        if metric not in measured:
            raise UnknownNameError("metric", metric, measured)
    always = [name for name in (*ALWAYS_MEASURED, *OF_REPETITIONS) if name in measured]
    names = list(dict.fromkeys((*(metrics or measured), *always)))
    manifest = manifest.with_metrics(names)
    whole = with_failed_cells(results[results["metric"].isin(names)], run.failures, manifest)
    check_read("results", whole, manifest)
    return in_described_order(whole, manifest, (*WHERE, "metric", "repetition"))


def read_optional(folder: Path, frame: str) -> pd.DataFrame | None:
    """Return an optional frame of :class:`RunFrames` by its name, or None if the folder lacks its file."""
    name, columns = _OPTIONAL[frame]
    path = plain_or_packed(folder / name)
    return read_frame(path, columns, RUN_AGAIN) if path.exists() else None


def read_frame(path: Path, columns: Sequence[str], remedy: str) -> pd.DataFrame:
    """Return the frame of a CSV file, such as ``results.csv`` or, compressed, ``results.csv.xz``.

    Names of columns decide whether they hold text, floats or integers. A file that is missing, malformed or
    has other columns is a ReportError with the given remedy.
    """
    path = plain_or_packed(path)
    kinds = {
        column: "int64" if column in _WHOLE else "float64" for column in {*columns, "dose", HIDDEN} - _TEXTS
    }
    missing = {column: [""] for column, kind in kinds.items() if kind == "float64"}
    try:
        # Names stay text even if they look like numbers. Texts that repeat are converted once.
        texts = dict.fromkeys(kinds, object) | dict.fromkeys(_TEXTS, "category")
        frame = pd.read_csv(path, dtype=texts, keep_default_na=False, na_values=missing)
        # Python's float reads a written number back to the last bit; not every pandas does.
        frame = frame.astype({column: kind for column, kind in kinds.items() if column in frame.columns})
    except OSError as error:
        raise ReportError(f"{path} cannot be read", got=error.strerror, remedy=remedy) from error
    except (ValueError, EOFError, LZMAError) as error:
        raise ReportError(f"{path} is malformed", got=" ".join(str(error).split()), remedy=remedy) from error
    if "dose" in frame.columns:  # the dose is the level of bias there, and stands before its β
        frame = frame.drop(columns="beta", errors="ignore").rename(columns={"dose": "beta"})
    if HIDDEN in frame.columns:  # a bias and the bias hidden behind it name a scenario together
        frame["bias"] = list(map(hidden_name, frame["bias"], frame.pop(HIDDEN)))
    if "test" in columns and "test" not in frame.columns and DECISION_COUNTS[0] in frame.columns:
        frame.insert(columns.index("test"), "test", ORIGINAL)
    if "at_fold" in columns and "at_fold" not in frame and "reason" in frame:  # of an earlier version
        parted = [parted_fold(reason) for reason in frame["reason"]]
        frame["reason"] = [reason for _, reason in parted]
        frame.insert(columns.index("at_fold"), "at_fold", [float(fold) for fold, _ in parted])
    if tuple(frame.columns) != tuple(columns):
        got = ", ".join(map(str, frame.columns))
        raise ReportError(f"{path} has other columns", expected=", ".join(columns), got=got, remedy=remedy)
    for column in _TEXTS.intersection(columns):
        frame[column] = frame[column].map(from_cell).astype(object)
    return frame
