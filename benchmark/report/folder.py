"""The folder of a run: everything that is drawn from its cells."""

from __future__ import annotations

import contextlib
import json
import lzma
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from benchmark.columns import (
    FOLDS_NAME,
    FRONTIER_NAME,
    GROUPS_NAME,
    MANIFEST_NAME,
    TEST_ROWS_NAME,
    TUNING_NAME,
)
from benchmark.experiment.export import (
    convergence_frame,
    failures_frame,
    folds_frame,
    frontier_frame,
    groups_frame,
    metrics_frame,
    results_frame,
    row_noise_frame,
    tuning_frame,
)
from benchmark.experiment.plan import ALWAYS_MEASURED
from benchmark.experiment.prepare import World
from benchmark.experiment.run import Outcome, headline_metrics
from benchmark.figures.world import world_figures
from benchmark.metrics import metric_names
from benchmark.report.writer import write_report
from benchmark.runs.descriptions import RunDescription
from benchmark.runs.manifest import Manifest, describe_run
from benchmark.text.files import FORMATS_WRITTEN, PACKED, plain_or_packed, write_atomically
from benchmark.text.spreadsheet import csv_text

if TYPE_CHECKING:
    import pandas as pd

# What other commands add to a folder: true of the results that it was made from, and of no others.
_DRAWN_FROM_RESULTS = (
    *("comparison.md", "comparison*.csv", "comparison/*"),
    *("statistics/*", "statistics/tables/*", "statistics/figures/*", "report.html"),
)


@dataclass(frozen=True)
class RunFolder:
    """The files that were written, and the frames behind the CSV files of the same names.

    Those of metrics hold the headline metrics and those always measured.
    """

    results: pd.DataFrame
    failures: pd.DataFrame
    description: RunDescription
    written: list[Path]
    folds: pd.DataFrame | None = None
    frontier: pd.DataFrame | None = None


def write_run_folder(
    output: Path,
    world: World,
    outcome: Outcome,
    *,
    figures: bool = True,
    formats: Sequence[str] = FORMATS_WRITTEN,
) -> RunFolder:
    """Write results, failures, report and manifest of a run.

    Files that an earlier run wrote here and this one did not are removed, and so are comparison,
    statistics and page of other results, so that the folder never shows two runs at once; the store keeps
    their numbers. Files of others are left alone. Figures have the given
    :data:`~benchmark.text.files.FORMATS`.
    """
    metrics = metric_names(world.experiment.measured)
    main = metric_names((*headline_metrics(world.experiment), *ALWAYS_MEASURED))
    description = describe_run(world, outcome)
    results = results_frame(outcome.cells, main, description.tests)
    failures = failures_frame(outcome.cells, main, description.tests)
    others = [name for name in metrics if name not in main]
    reported = (results, failures)
    if others:
        reported = (
            results_frame(outcome.cells, metrics, description.tests),
            failures_frame(outcome.cells, metrics, description.tests),
        )
    folds = None
    if world.experiment.folds is not None:
        folds = folds_frame(outcome.cells, main, description.tests)
    frontier = frontier_frame(outcome.cells, description.tests)
    before = _files_of_manifest(output)
    text = csv_text(results)
    if _differs(output / "results.csv", text):
        drawn = (path for pattern in _DRAWN_FROM_RESULTS for path in output.glob(pattern))
        before |= {path.relative_to(output).as_posix() for path in drawn if path.is_file()}
    written = [
        *_write_results(output / "results.csv", text),
        write_atomically(output / "failures.csv", csv_text(failures)),
        *write_report(
            output,
            *reported,
            description,
            figures=(world.experiment.figures or True) if figures else False,
            formats=formats,
            folds=folds,
            frontier=frontier,
            more_figures=world_figures(world, description),
        ),
    ]
    more = {"metrics.csv": metrics_frame(outcome.cells, others, description.tests)} if others else {}
    if folds is not None:
        more[FOLDS_NAME] = folds
    if len(deviations := row_noise_frame(world, outcome.counts, metrics)):
        more[TEST_ROWS_NAME] = deviations
    if len(groups := groups_frame(world, outcome.cells)):
        more[GROUPS_NAME] = groups
    if len(tuning := tuning_frame(world, outcome.cells)):
        more[TUNING_NAME] = tuning
    if len(frontier):
        more[FRONTIER_NAME] = frontier
    if len(convergence := convergence_frame(outcome.cells)):
        more["convergence.csv"] = convergence
    written += [write_atomically(output / name, csv_text(frame)) for name, frame in more.items()]
    names = sorted(path.relative_to(output).as_posix() for path in written)
    for name in sorted(before - set(names)):
        _remove(output, name)
    manifest = Manifest.of(world, outcome, names)
    written.append(write_atomically(output / MANIFEST_NAME, manifest.text))
    return RunFolder(results, failures, description, written, folds, frontier)


def write_shard_folder(output: Path, world: World, outcome: Outcome) -> Path:
    """Write the manifest of a shard, which has no results of its own to show; return its path."""
    # Had the folder been that of a whole run, its next run still knows which files to remove.
    manifest = Manifest.of(world, outcome, sorted(_files_of_manifest(output)))
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
