"""Two finished runs beside each other: which numbers are identical, and how far the others differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from benchmark.columns import CELL_COLUMNS
from benchmark.errors import ReportError
from benchmark.runs.finished import read_results, read_run
from benchmark.runs.manifest import Manifest

DIFFERENCE_COLUMNS = ("technique", "metric", "values", "identical", "one_sided", "largest")
"""Columns of :attr:`RunsComparison.differences`."""

_CELL = list(CELL_COLUMNS)


@dataclass(frozen=True, eq=False)
class RunsComparison:
    """Differences between two runs."""

    # Columns DIFFERENCE_COLUMNS, for each technique and metric, over the cells in both runs. Values that are
    # missing in both are identical, those missing in one are one-sided. The largest difference is absolute.
    differences: pd.DataFrame
    n_cells: int  # in both runs
    # Numbers of cells that only the run in a folder has, by dataset and technique.
    alone: Mapping[Path, Mapping[Any, int]]
    made_with: dict[str, tuple[str, str]]  # possible reasons by name: versions of packages, processors


def compare_runs(folder: Path, other: Path) -> RunsComparison:
    """Return the differences between all numbers of the runs in two folders.

    A ReportError says that a folder holds no finished run, or that they have no cell in common.
    """
    runs = read_run(folder), read_run(other)
    ours, theirs = (
        read_results(where, run, [m.name for m in run.manifest.metrics])
        for where, run in zip((folder, other), runs, strict=True)
    )
    cells = [frame[_CELL].drop_duplicates() for frame in (ours, theirs)]
    sides = cells[0].merge(cells[1], how="outer", indicator="side")
    n_cells = int((sides["side"] == "both").sum())
    if not n_cells:
        raise ReportError(
            f"The runs in {folder} and {other} have no cell in common",
            expected="runs of the same datasets, biases, levels, techniques and classifiers",
            got=" and ".join(", ".join(f"{k} {v}" for k, v in own.iloc[0].items()) for own in cells),
            remedy="name the folders of two runs of one experiment",
        )
    both = ours.merge(theirs, on=[*_CELL, "test", "metric"], suffixes=("", "_other"))
    both["difference"] = (both["value"] - both["value_other"]).abs()
    missing, missing_other = both["value"].isna(), both["value_other"].isna()
    both["identical"] = (both["value"] == both["value_other"]) | (missing & missing_other)
    both["one_sided"] = missing ^ missing_other
    differences = (
        both.groupby(["technique", "metric"], sort=False)
        .agg(
            values=("value", "size"),
            identical=("identical", "sum"),
            one_sided=("one_sided", "sum"),
            largest=("difference", "max"),
        )
        .fillna({"largest": 0.0})
        .reset_index()
    )
    return RunsComparison(
        differences=differences[list(DIFFERENCE_COLUMNS)],
        n_cells=n_cells,
        alone={
            place: sides[sides["side"] == side].value_counts(["dataset", "technique"], sort=False).to_dict()
            for place, side in ((folder, "left_only"), (other, "right_only"))
        },
        made_with=dict(_made_with(*(run.manifest for run in runs))),
    )


def _made_with(run: Manifest, other: Manifest) -> Iterator[tuple[str, tuple[str, str]]]:
    for name in run.versions:
        pair = run.versions[name], other.versions.get(name, "unknown")
        if pair[0] != pair[1]:
            yield name, pair
    processors = _processors_text(run.processors), _processors_text(other.processors)
    if processors[0] != processors[1]:
        yield "processor", processors


def _processors_text(kinds: Sequence[Mapping[str, Any]]) -> str:
    texts = (
        f"{kind['cpu']} ({', '.join((*kind['blas'], 'numpy ' + '+'.join(kind['numpy'])))})" for kind in kinds
    )
    return "; ".join(texts) or "unknown"
