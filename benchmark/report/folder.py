"""The folder of a run: everything that is drawn from its cells."""

from __future__ import annotations

import contextlib
import json
import lzma
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pandas as pd

from benchmark.columns import (
    DECISIONS_NAME,
    DOSES_NAME,
    FOLDS_NAME,
    FRONTIER_NAME,
    GROUPS_NAME,
    MANIFEST_NAME,
    RESULT_COLUMNS,
    TEST_ROWS_NAME,
    TUNING_NAME,
)
from benchmark.experiment.export import (
    convergence_frame,
    decisions_frame,
    doses_frame,
    failures_frame,
    folds_frame,
    frontier_frame,
    groups_frame,
    metrics_frame,
    row_noise_frame,
    tuning_frame,
)
from benchmark.experiment.plan import ALWAYS_MEASURED
from benchmark.experiment.prepare import PreparedExperiment
from benchmark.experiment.run import Outcome, headline_metrics
from benchmark.figures import Drawing
from benchmark.figures.dataset_figures import dataset_figures
from benchmark.figures.run_figures import run_figures
from benchmark.metrics import metric_names
from benchmark.metrics.restoration import OF_REPETITIONS
from benchmark.render.tables import write_tables
from benchmark.runs.describe import describe_run
from benchmark.runs.finished import RunFrames
from benchmark.tables.paper import build_tables
from benchmark.text.spreadsheet import csv_text
from benchmark.text.writing import FORMATS_WRITTEN, PACKED, plain_or_packed, write_atomically

# What other commands add to a folder: true of the results that it was made from, and of no others.
_DRAWN_FROM_RESULTS = (
    *("comparison.md", "comparison*.csv", "comparison/*"),
    *("statistics/*", "statistics/tables/*", "statistics/figures/*", "report.html"),
)


@dataclass(frozen=True)
class RunFolder:
    """A run that was computed, and the files that were written of it."""

    run: RunFrames
    written: list[Path]


def write_run_folder(
    output: Path,
    prepared: PreparedExperiment,
    outcome: Outcome,
    *,
    figures: bool = True,
    formats: Sequence[str] = FORMATS_WRITTEN,
) -> RunFolder:
    """Write results, failures, report and manifest of a run.

    Files that an earlier run wrote here and this one did not are removed, and so are comparison,
    statistics and page of other results, so that the folder never shows two runs at once; the store keeps
    their numbers. Files of others are left alone. Figures have the given
    :data:`~benchmark.text.writing.FORMATS`.
    """
    experiment, cells = prepared.experiment, outcome.cells
    manifest = describe_run(prepared, outcome)
    tests = experiment.tests
    measured = metric_names(experiment.measured)
    main = metric_names((*headline_metrics(experiment), *experiment.always_measured))
    others = [name for name in measured if name not in main]
    values = metrics_frame(cells, [*main, *others], tests)
    failures = failures_frame(cells, [*main, *others], tests)
    is_main = _metrics_in(values, main)
    results = values.loc[is_main, list(RESULT_COLUMNS)]
    folds = None if experiment.folds is None else folds_frame(cells, main, tests)
    more = {
        TEST_ROWS_NAME: row_noise_frame(prepared, outcome.counts, measured),
        GROUPS_NAME: groups_frame(prepared, cells),
        TUNING_NAME: tuning_frame(prepared, cells),
        FRONTIER_NAME: frontier_frame(cells, tests),
        DECISIONS_NAME: decisions_frame(cells, tests),
        "convergence.csv": convergence_frame(cells),
        DOSES_NAME: doses_frame(prepared),
    }
    run = RunFrames.of(
        manifest,
        values[list(RESULT_COLUMNS)],
        failures,
        folds=folds,
        frontier=more[FRONTIER_NAME],
        decisions=more[DECISIONS_NAME] if len(more[DECISIONS_NAME]) else None,
    )
    frames = {
        "failures.csv": failures[_metrics_in(failures, ["", *main])],
        **({"metrics.csv": values[~is_main]} if others else {}),
        **({} if folds is None else {FOLDS_NAME: folds}),
        **{name: frame for name, frame in more.items() if len(frame)},
    }
    before = _files_of_manifest(output)
    text = csv_text(manifest.in_files(results))
    if _differs(output / "results.csv", text):
        drawn = (path for pattern in _DRAWN_FROM_RESULTS for path in output.glob(pattern))
        before |= {path.relative_to(output).as_posix() for path in drawn if path.is_file()}
    drawings = [*run_figures(run), *dataset_figures(prepared, manifest)] if figures else []
    if experiment.figures:
        drawings = [(name, draw) for name, draw in drawings if name.partition("/")[0] in experiment.figures]
    written = [
        *_write_results(output / "results.csv", text),
        *write_summary_and_figures(output, run, drawings, formats),
        *(write_atomically(output / name, csv_text(manifest.in_files(f))) for name, f in frames.items()),
    ]
    names = tuple(sorted(path.relative_to(output).as_posix() for path in written))
    for name in sorted(before - set(names)):
        _remove(output, name)
    manifest = manifest.model_copy(update={"files": names})
    written.append(write_atomically(output / MANIFEST_NAME, manifest.text))
    return RunFolder(run, written)


def write_summary_and_figures(
    output: Path, run: RunFrames, drawings: Sequence[Drawing] = (), formats: Sequence[str] = FORMATS_WRITTEN
) -> Iterator[Path]:
    """Write summary, tables and figures of a run; yield each file.

    The same run gives the same bytes in every file. Each file appears whole or not at all; files that are
    already there and not part of this report stay as they are.

    Parameters
    ----------
    output : Path
        Made if it does not exist. Gets ``summary.csv`` of the headline metrics, ``metrics_summary.csv`` of
        all others, ``tables/`` and ``figures/``.
    run : RunFrames
        The numbers.
    drawings : sequence of (str, callable), default ()
        Names and drawing functions of the figures.
    formats : sequence of str, optional
        Of the figures: some of :data:`~benchmark.text.writing.FORMATS`; by default PNG alone.
    """
    drawn: Iterable[Path] = ()
    if drawings:
        # matplotlib is loaded only when something is drawn.
        from benchmark.figures.drawing import write_figures

        # Other processes begin to draw, and this one writes tables meanwhile.
        drawn = write_figures(output / "figures", drawings, formats)
    # The same metrics as in results.csv; those of metrics.csv have a summary of their own.
    headline = [metric.name for metric in run.manifest.shown.metrics]
    is_main = run.summary["metric"].isin([*headline, *ALWAYS_MEASURED, *OF_REPETITIONS])
    yield write_atomically(output / "summary.csv", csv_text(run.manifest.in_files(run.summary[is_main])))
    if not is_main.all():
        yield write_atomically(
            output / "metrics_summary.csv", csv_text(run.manifest.in_files(run.summary[~is_main]))
        )
    yield from write_tables(output / "tables", build_tables(run))
    yield from drawn


def _metrics_in(frame: pd.DataFrame, names: Sequence[str]) -> pd.Series[bool]:
    """Return of each row whether its metric, or the one that it is of a group, has one of the names."""
    found = [metric for metric in frame["metric"].unique() if metric.partition("[")[0] in names]
    return frame["metric"].isin(found)


def write_shard_folder(output: Path, prepared: PreparedExperiment, outcome: Outcome) -> Path:
    """Write the manifest of a shard, which has no results of its own to show; return its path."""
    # Had the folder been that of a whole run, its next run still knows which files to remove.
    files = tuple(sorted(_files_of_manifest(output)))
    manifest = describe_run(prepared, outcome).model_copy(update={"files": files})
    return write_atomically(output / MANIFEST_NAME, manifest.text)


def _differs(path: Path, text: str) -> bool:
    path = plain_or_packed(path)
    return not path.exists() or _content(path) != text.encode()


def _content(path: Path) -> bytes:
    content = path.read_bytes()
    if path.suffix != PACKED:
        return content
    try:
        return lzma.decompress(content)
    except lzma.LZMAError:
        return b""  # damaged: whatever is written is something else


def _write_results(path: Path, text: str) -> Iterator[Path]:
    """Write a file, and its compressed form anew where there is one that would say something else."""
    yield write_atomically(path, text)
    packed = path.with_name(path.name + PACKED)
    if packed.exists():
        if _content(packed) != text.encode():
            write_atomically(packed, lzma.compress(text.encode(), preset=9))
        yield packed


def _files_of_manifest(output: Path) -> set[str]:
    try:
        names = json.loads((output / MANIFEST_NAME).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return set()  # the first run in this folder, or a damaged manifest
    return {n for n in names if not PurePosixPath(n).is_absolute() and ".." not in PurePosixPath(n).parts}


def _remove(output: Path, name: str) -> None:
    path = output / name
    with contextlib.suppress(OSError):
        path.unlink()
        for parent in path.relative_to(output).parents[:-1]:
            (output / parent).rmdir()  # refused unless it was the last file
