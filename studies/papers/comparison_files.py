"""``betabench compare``: a finished run beside published numbers, as files and in the terminal."""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmark.declarations import checked, declaration_dir
from benchmark.errors import ReportError
from benchmark.experiment.plan import Experiment
from benchmark.runs.finished import read_frame, read_run
from benchmark.text.writing import FORMATS_WRITTEN, csv_text, write_atomically
from studies.papers.entry import PublishedEntry
from studies.papers.pairing import Comparison, build_comparison
from studies.papers.readings import KEY, read_readings
from studies.papers.text import summary_markdown, table_markdown

PUBLISHED_COLUMNS = (*KEY, "value")
"""Columns of a file of published numbers; ``experiments/published/README.md`` explains them."""

_IN_FOLDER = ("table*.md", "differences.*")


def entry_of(published: dict[str, Any]) -> PublishedEntry:
    """Return the checked table ``[published]`` of an experiment; an ExperimentError says what is wrong."""
    return checked(PublishedEntry, published, "[published]", "see experiments/paper.toml for an example")


def published_path(entry: PublishedEntry) -> Path:
    """Return the path of an experiment's file of published numbers."""
    return declaration_dir("experiments") / entry.file


def read_published(path: Path) -> pd.DataFrame:
    """Return the content of a CSV file of published numbers, with the columns :data:`PUBLISHED_COLUMNS`.

    ``table`` is an integer, ``beta`` and ``value`` are floats. A ReportError means that the file is missing,
    empty or malformed, or that a number is not finite or occurs twice.
    """
    published = read_frame(path, PUBLISHED_COLUMNS, "get it back, or correct 'file' under [published]")
    if published.empty or not np.isfinite(published[["beta", "value"]].to_numpy()).all():
        raise ReportError(
            f"{path} has no number, or a number that is not finite",
            expected="a finite number in every row",
            remedy="correct these rows, or get the file back",
        )
    repeated = published.duplicated(list(KEY))
    if repeated.any():
        raise ReportError(
            f"{path} gives some numbers twice",
            expected="distinct " + ", ".join(KEY),
            got="line " + ", ".join(str(i + 2) for i in np.flatnonzero(repeated)[:5]),
            remedy="keep one row of each",
        )
    return published


def compare_folder(
    folder: Path, *, experiment: Experiment | None = None, allow_embedded: bool = False
) -> Comparison:
    """Return the comparison of the run in a folder with the published numbers that its experiment names.

    The ``[published]`` section of ``experiment``, if given, replaces the run's. Numbers that were not
    measured on real data are compared only with ``allow_embedded``. A ReportError means that the folder holds
    no run, that no published numbers are named or can be read, or that none has a counterpart in the run.
    """
    run = read_run(folder)
    source = experiment or run.manifest.experiment
    if source.published is None:
        raise ReportError(
            f"The experiment {source.name!r} names no published numbers",
            expected="a [published] section, as in experiments/paper.toml",
            got=f"a run in {folder} without one" if experiment is None else "a file without one",
            remedy="name an experiment that has one with --experiment",
        )
    entry = entry_of(source.published)
    path = published_path(entry)
    numbers, readings = read_published(path), read_readings(path)
    return build_comparison(run, entry, numbers, readings=readings, allow_embedded=allow_embedded)


def write_comparison(
    folder: Path, comparison: Comparison, *, figures: bool = True, formats: Sequence[str] = FORMATS_WRITTEN
) -> list[Path]:
    """Write the files of a comparison, and return them in order of writing.

    Equal comparisons give equal bytes, and each file appears whole. The files are ``comparison.csv``,
    ``comparison_summary.csv``, ``comparison_ranks.csv``, ``comparison.md``, ``comparison_variants.csv`` if
    the experiment names variants, and ``comparison/`` with a Markdown table for each published table and a
    heat map of differences, if ``figures``. ``formats`` of the heat map are some of
    :data:`~benchmark.text.writing.FORMATS`, by default PNG alone. Tables and figures of an earlier comparison
    are removed.
    """
    tables = {
        f"comparison/table{number}.md": table_markdown(comparison, number)
        for number in comparison.rows["table"].unique()
    }
    texts = {
        "comparison.csv": csv_text(comparison.rows),
        "comparison_summary.csv": csv_text(comparison.agreement),
        "comparison_ranks.csv": csv_text(comparison.ranks),
        **tables,
    }
    if len(comparison.variants):
        texts["comparison_variants.csv"] = csv_text(comparison.variants)
    written = [write_atomically(folder / name, text) for name, text in texts.items()]
    drawn: list[Path] = []
    if figures:
        # matplotlib is loaded only when something is drawn.
        from benchmark.figures.style import write_figures
        from studies.papers.figure import draw_differences

        drawing = [("differences", functools.partial(draw_differences, comparison))]
        drawn = list(write_figures(folder / "comparison", drawing, formats))
    # The summary links to everything else, so it comes last.
    picture = next((f"comparison/{path.name}" for path in drawn if path.suffix == ".png"), None)
    summary = summary_markdown(comparison, figure=picture)
    written += [*drawn, write_atomically(folder / "comparison.md", summary)]
    for pattern in _IN_FOLDER:
        for path in set((folder / "comparison").glob(pattern)) - set(written):
            path.unlink()
    return written
