"""Reading the folder of a finished run, for comparisons and statistics."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from lzma import LZMAError
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from benchmark import columns
from benchmark.columns import CELL_COLUMNS, DECISION_COUNTS, HIDDEN, ORIGINAL, RESULT_COLUMNS
from benchmark.errors import ReportError
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
from benchmark.statistics.answers import standings
from benchmark.statistics.cells import CELL_KEY, WHERE, Resampling, require_known, to_cells
from benchmark.statistics.intervals import cell_intervals
from benchmark.statistics.restoration import pooled_shares
from benchmark.statistics.unprocessing import FRONTIER_GAP_COLUMNS, best_frontiers, frontier_gaps
from benchmark.text.words import FOLDER_SUFFIX, NOT_REAL, parted_fold
from benchmark.text.writing import from_cell, plain_or_packed

SUMMARY_COLUMNS = (*CELL_KEY, "mean", "std", "ci_low", "ci_high", "n")
"""Columns of the summary."""

RUN_AGAIN = "run the experiment again: stored cells are not computed again"
"""Remedy for a folder without files that this version writes."""

_TEXTS = {
    *("dataset", "bias", "technique", "classifier", "test", "metric", "status", "reason"),
    *("attribute", "group", "note", "of", "chosen_on", "parameters"),
}
_WHOLE = {"table", "n", "repetition", "fold", "settings", "unscored"}
_KEY = list(CELL_KEY)
_OPTIONAL = {
    "folds": (columns.FOLDS_NAME, columns.FOLD_COLUMNS),
    "frontier": (columns.FRONTIER_NAME, columns.FRONTIER_COLUMNS),
    "groups": (columns.GROUPS_NAME, columns.GROUP_COLUMNS),
    "tuning": (columns.TUNING_NAME, columns.TUNING_COLUMNS),
    "decisions": (columns.DECISIONS_NAME, columns.DECISION_COLUMNS),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class FinishedRun:
    """Manifest, means and failures of a run."""

    manifest: Manifest  # with the metrics of the summary, in its order
    summary: pd.DataFrame  # columns :data:`SUMMARY_COLUMNS`
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
        cls, manifest: Manifest, results: pd.DataFrame, failures: pd.DataFrame, **frames: pd.DataFrame | None
    ) -> Self:
        """Return a run from computed frames, which are not checked, with its summary."""
        results = in_described_order(with_failed_cells(results, failures, manifest), manifest)
        return cls(
            manifest=manifest,
            summary=summarise(results, manifest, frames.get("folds"), frames.get("decisions")),
            failures=in_described_order(failures, manifest),
            results=results,
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

    @cached_property
    def frontier_gaps(self) -> pd.DataFrame:
        """Comparisons of techniques with the unprocessing frontiers; empty if the run recorded none."""
        if self.frontier is None or self.frontier.empty:
            return pd.DataFrame(columns=list(FRONTIER_GAP_COLUMNS))
        best, constants = best_frontiers(self.frontier), self.manifest.constant_answers
        return frontier_gaps(self.results, best, constants, self.resampling)

    @cached_property
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
        techniques = tuple(t for t in self.manifest.techniques if t.name not in names)
        experiment = self.manifest.experiment.model_copy(update={"techniques": techniques})
        return replace(self, manifest=self.manifest.model_copy(update={"experiment": experiment}), **rest)


def summarise(
    results: pd.DataFrame,
    manifest: Manifest,
    folds: pd.DataFrame | None = None,
    decisions: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return a summary of each metric of each cell over the repetitions, in described order.

    Columns :data:`SUMMARY_COLUMNS`. A cell without any finite value is a row with ``n = 0``. ``std`` and the
    interval of :func:`cell_intervals` are NaN where ``n < 2``. The results have a row for each expected
    value; ``folds`` are the values of single folds, if any. Shares of ``decisions`` are ratios of sums over
    all repetitions (:func:`pooled_shares`), not means of ratios.
    """
    finite = results["value"].where(np.isfinite(results["value"]))
    rows = finite.groupby([results[column] for column in _KEY], sort=False).agg(["mean", "std", "count"])
    summary = rows.reset_index().rename(columns={"count": "n"})
    resampling = manifest.resampling(folds)
    if len(summary):
        ends = cell_intervals(to_cells(results, resampling)).set_index(_KEY)[["ci_low", "ci_high"]]
        summary = summary.join(ends, on=_KEY)
    summary = summary.reindex(columns=list(SUMMARY_COLUMNS))
    if decisions is not None and len(summary):
        shares = pooled_shares(decisions, resampling).set_index(_KEY)
        shares = shares.reindex(pd.MultiIndex.from_frame(summary[_KEY]))
        pooled = shares["n"].notna().to_numpy()
        for name, column in (("mean", "value"), ("ci_low", "value_low"), ("ci_high", "value_high")):
            summary[name] = summary[name].mask(pooled, shares[column].to_numpy())
    return in_described_order(summary, manifest)


def read_run(folder: Path) -> FinishedRun:
    """Return the manifest, means and failures that ``betabench run`` wrote to a folder.

    Each CSV file may be compressed: ``summary.csv.xz``. A ReportError says that the folder or a file is
    missing, or that a file's content is not a run's.
    """
    again = f"'betabench run' writes it; run the experiment with --output {folder}"
    if not folder.is_dir():
        raise ReportError(
            f"There is no folder {folder}",
            expected="the folder of a finished run",
            remedy=_folder_beside(folder) or again,
        )
    manifest = Manifest.read(folder / columns.MANIFEST_NAME, again)
    summary = read_frame(folder / "summary.csv", SUMMARY_COLUMNS, again)
    if plain_or_packed(folder / "metrics_summary.csv").exists():
        more = read_frame(folder / "metrics_summary.csv", SUMMARY_COLUMNS, again)
        summary = pd.concat([summary, more], ignore_index=True)
    failures = read_frame(folder / "failures.csv", columns.FAILURE_COLUMNS, again)
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
    if not name or not (folder.parent / beside / columns.MANIFEST_NAME).is_file():
        return ""
    return f"name {folder.parent / beside}, which is of this experiment on {of}"


def read_results(folder: Path, run: FinishedRun, metrics: Sequence[str] = ()) -> pd.DataFrame:
    """Return the values of a finished run, with a row for each missing value.

    ``run`` is from :func:`read_run`, for the same folder. ``metrics`` are kept in this order, by default
    those of ``results.csv``; ``metrics.csv`` has others. Metrics that are always measured are always kept.

    The result has the columns :data:`~benchmark.columns.RESULT_COLUMNS`, and is sorted by dataset, test,
    beta, technique and metric as the run names them. A ReportError says that a file is missing or malformed,
    or that cells of the run are in no file; an UnknownNameError that a metric has no values in the folder.
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
        more = read_frame(folder / "metrics.csv", columns.METRIC_COLUMNS, again)
        results = pd.concat([results, more[list(RESULT_COLUMNS)]], ignore_index=True)
    # If every cell failed, only the summary lists the run's metrics.
    measured = list(results["metric"].unique()) or [metric.name for metric in manifest.metrics]
    require_known("metric", metrics, pd.Series(measured))
    always = [name for name in (*ALWAYS_MEASURED, *OF_REPETITIONS) if name in measured]
    names = list(dict.fromkeys((*(metrics or measured), *always)))
    manifest = manifest.with_metrics(names)
    whole = with_failed_cells(results[results["metric"].isin(names)], run.failures, manifest)
    check_read("results", whole, manifest)
    return in_described_order(whole, manifest, (*WHERE, "metric", "repetition"))


def read_optional(folder: Path, frame: str) -> pd.DataFrame | None:
    """Return an optional frame of :class:`RunFrames` by its name, or None if the folder lacks its file."""
    name, expected = _OPTIONAL[frame]
    path = plain_or_packed(folder / name)
    return read_frame(path, expected, RUN_AGAIN) if path.exists() else None


def read_frame(path: Path, expected: Sequence[str], remedy: str) -> pd.DataFrame:
    """Return the frame of a CSV file, such as ``results.csv`` or, compressed, ``results.csv.xz``.

    Names of columns decide whether they hold text, floats or integers. A file that is missing, malformed or
    has other columns is a ReportError with the given remedy.
    """
    path = plain_or_packed(path)
    numbers = {*expected, "beta", "dose", HIDDEN} - _TEXTS
    kinds = {column: "int64" if column in _WHOLE else "float64" for column in numbers}
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
    frame = _in_present_form(frame, expected)
    if tuple(frame.columns) != tuple(expected):
        got = ", ".join(map(str, frame.columns))
        raise ReportError(f"{path} has other columns", expected=", ".join(expected), got=got, remedy=remedy)
    for column in _TEXTS.intersection(expected):
        frame[column] = frame[column].map(from_cell).astype(object)
    return frame


def _in_present_form(frame: pd.DataFrame, expected: Sequence[str]) -> pd.DataFrame:
    """Return a frame of a file with the columns of frames, also if an earlier version wrote the file."""
    if "level" in expected:
        if "level" not in frame.columns:  # levels were named by their unit
            frame = frame.rename(columns={"dose" if "dose" in frame.columns else "beta": "level"})
        frame = frame.drop(columns="beta", errors="ignore")  # solved for a dose
    if columns.KNOWS not in expected:  # the manifest has it
        frame = frame.drop(columns=columns.KNOWS, errors="ignore")
    if HIDDEN in frame.columns:  # a bias and the gap behind it name a scenario together
        frame["bias"] = list(map(columns.hidden_name, frame["bias"], frame.pop(HIDDEN)))
    if "test" in expected and "test" not in frame.columns and DECISION_COUNTS[0] in frame.columns:
        frame.insert(expected.index("test"), "test", ORIGINAL)
    if "at_fold" in expected and "at_fold" not in frame.columns and "reason" in frame.columns:
        parted = [parted_fold(reason) for reason in frame["reason"]]
        frame["reason"] = [reason for _, reason in parted]
        frame.insert(expected.index("at_fold"), "at_fold", [float(fold) for fold, _ in parted])
    return frame
