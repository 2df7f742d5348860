"""The folder of a run: all files that are made from its cells."""

from __future__ import annotations

import contextlib
import json
import lzma
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pandas as pd

from benchmark import columns
from benchmark.experiment import export
from benchmark.experiment.plan import ALWAYS_MEASURED
from benchmark.experiment.prepared import PreparedExperiment
from benchmark.experiment.run import Outcome
from benchmark.figures import Drawing
from benchmark.metrics import metric_names
from benchmark.metrics.restoration import OF_REPETITIONS
from benchmark.runs.describe import describe_run
from benchmark.runs.finished import RunFrames
from benchmark.tables.layout import write_tables
from benchmark.tables.techniques import Numbers, paper_tables, techniques_table
from benchmark.text.writing import (
    FORMATS_WRITTEN,
    PACKED,
    csv_text,
    figure_choice,
    plain_or_packed,
    write_atomically,
)

_FIGURES = "figures"
_OF_THE_PAPER = ("network", "over_beta", "tradeoff")
# What is made from results, and takes minutes: by runs with figures, ``betabench compare`` and ``report``.
_MADE_FROM_RESULTS = (_FIGURES, "comparison.md", "statistics", "report.html")


@dataclass(frozen=True)
class RunFolder:
    """A computed run and its files."""

    run: RunFrames
    written: list[Path]
    prepared: PreparedExperiment
    differs: bool = False  # whether the results are others than the folder had before
    older: tuple[str, ...] = ()  # what was made from the folder's results before, and stays


def write_run_folder(
    output: Path,
    prepared: PreparedExperiment,
    outcome: Outcome,
    *,
    figures: bool | str = "none",
    formats: Sequence[str] = FORMATS_WRITTEN,
) -> RunFolder:
    """Write results, failures, tables, figures and manifest of a run, and return it with the paths.

    An earlier run's other files are removed, but for its figures if none are drawn. Comparison, statistics
    and page stay, and files of other programs. ``figures`` is one of :data:`~benchmark.text.writing.FIGURES`,
    in the given :data:`~benchmark.text.writing.FORMATS`.
    """
    experiment, cells, tests = prepared.experiment, outcome.cells, prepared.experiment.tests
    manifest = describe_run(prepared, outcome)
    main = metric_names((*manifest.headline, *experiment.always_measured))
    measured = [*main, *(name for name in metric_names(experiment.measured) if name not in main)]
    values = export.metrics_frame(cells, measured, tests)
    failures = export.failures_frame(cells, measured, tests)
    # A frontier accepts any share, so it is no yardstick where the share is given.
    fixed = {data.name for data in prepared.datasets.values() if data.entry.accept is not None}
    frames = {
        **({columns.FOLDS_NAME: export.folds_frame(cells, main, tests)} if experiment.folds else {}),
        columns.GROUPS_NAME: export.groups_frame(prepared, cells),
        columns.TUNING_NAME: export.tuning_frame(prepared, cells),
        columns.FRONTIER_NAME: export.frontier_frame(
            (cell for cell in cells if cell.dataset not in fixed), tests
        ),
        columns.DECISIONS_NAME: export.decisions_frame(cells, tests),
        "convergence.csv": export.convergence_frame(cells),
        columns.DOSES_NAME: export.doses_frame(prepared),
    }
    is_main = _metrics_in(values, main)
    frames = {"metrics.csv": values[~is_main], **frames}
    frames = {name: frame for name, frame in frames.items() if len(frame) or name == columns.FOLDS_NAME}
    run = RunFrames.of(
        manifest,
        values[list(columns.RESULT_COLUMNS)],
        failures,
        folds=frames.get(columns.FOLDS_NAME),
        frontier=frames.get(columns.FRONTIER_NAME),
        decisions=frames.get(columns.DECISIONS_NAME),
    )
    frames["failures.csv"] = failures[_metrics_in(failures, ["", *main])]
    before = _files_of_manifest(output)
    drawings = _drawings(run, prepared, figure_choice(figures))
    text = csv_text(manifest.in_files(values.loc[is_main, list(columns.RESULT_COLUMNS)]))
    path, packed = output / "results.csv", output / f"results.csv{PACKED}"
    differs = _content(plain_or_packed(path)) != text.encode()
    written = [
        write_atomically(path, text),
        *write_summary_and_figures(output, run, drawings, formats),
        *(write_atomically(output / name, csv_text(manifest.in_files(f))) for name, f in frames.items()),
    ]
    if packed.exists():
        if _content(packed) != text.encode():
            write_atomically(packed, lzma.compress(text.encode(), preset=9))
        written.append(packed)
    names = sorted(path.relative_to(output).as_posix() for path in written)
    earlier = before - set(names)
    kept = {n for n in earlier if not drawings and n.startswith(f"{_FIGURES}/") and (output / n).is_file()}
    for name in sorted(earlier - kept):
        _remove(output, name)
    manifest = manifest.model_copy(update={"files": tuple(sorted({*names, *kept}))})
    written.append(write_atomically(output / columns.MANIFEST_NAME, manifest.text))
    made = _MADE_FROM_RESULTS[1 if drawings else 0 :]
    older = tuple(name for name in made if (output / name).exists())
    return RunFolder(run, written, prepared, differs, older)


def _drawings(run: RunFrames, prepared: PreparedExperiment, choice: str) -> list[Drawing]:
    """Return the figures of a choice; by default those that the experiment names."""
    if choice == "none":
        return []
    from benchmark.figures.lists import run_figures  # loads matplotlib, as only what draws does

    kinds = prepared.experiment.figures or _OF_THE_PAPER
    return [
        (name, draw) for name, draw in run_figures(run) if choice == "all" or name.partition("/")[0] in kinds
    ]


def write_summary_and_figures(
    output: Path, run: RunFrames, drawings: Sequence[Drawing] = (), formats: Sequence[str] = FORMATS_WRITTEN
) -> Iterator[Path]:
    """Write summary, tables and figures of a run, and yield the path of each file.

    The same run gives the same bytes, and each file appears whole. Other files stay. ``drawings`` are names
    and drawing functions of figures, and ``formats`` some of :data:`~benchmark.text.writing.FORMATS`.
    """
    # The metrics of results.csv. Metrics of metrics.csv have another summary.
    headline = [metric.name for metric in run.manifest.shown.metrics]
    is_main = run.summary["metric"].isin([*headline, *ALWAYS_MEASURED, *OF_REPETITIONS])
    for name, rows in (("summary.csv", is_main), ("metrics_summary.csv", ~is_main)):
        if rows.any() or name == "summary.csv":
            yield write_atomically(output / name, csv_text(run.manifest.in_files(run.summary[rows])))
    numbers = Numbers.of_run(run)
    tables = [techniques_table(numbers), *paper_tables(numbers)]
    yield from write_tables(output / "tables", tables, numbers.notes)
    if drawings:
        from benchmark.figures.style import write_figures

        yield from write_figures(output / "figures", drawings, formats)


def _metrics_in(frame: pd.DataFrame, names: Sequence[str]) -> pd.Series[bool]:
    """Return for each row whether its metric, without a group, has one of the names."""
    return frame["metric"].isin(m for m in frame["metric"].unique() if m.partition("[")[0] in names)


def write_shard_folder(output: Path, prepared: PreparedExperiment, outcome: Outcome) -> Path:
    """Write the manifest of a shard, which has no results, and return its path."""
    # The files of an earlier whole run stay named, so that the next run removes them.
    files = tuple(sorted(_files_of_manifest(output)))
    manifest = describe_run(prepared, outcome).model_copy(update={"files": files})
    return write_atomically(output / columns.MANIFEST_NAME, manifest.text)


def _content(path: Path) -> bytes | None:
    """Return the content of a file that may be compressed; None if it is not there, or damaged."""
    try:
        content = path.read_bytes()
        return lzma.decompress(content) if path.suffix == PACKED else content
    except (FileNotFoundError, lzma.LZMAError):
        return None


def _files_of_manifest(output: Path) -> set[str]:
    try:
        names = json.loads((output / columns.MANIFEST_NAME).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return set()  # the first run in this folder, or a damaged manifest
    return {n for n in names if not PurePosixPath(n).is_absolute() and ".." not in PurePosixPath(n).parts}


def _remove(output: Path, name: str) -> None:
    path = output / name
    with contextlib.suppress(OSError):
        path.unlink()
        for parent in path.relative_to(output).parents[:-1]:
            (output / parent).rmdir()  # refused unless it was the last file
