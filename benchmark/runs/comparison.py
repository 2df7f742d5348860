"""Two finished runs beside each other: which numbers are identical, and how far the others differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from benchmark.columns import CELL_COLUMNS
from benchmark.errors import ReportError
from benchmark.runs.finished import read_results, read_run
from benchmark.runs.manifest import Manifest

_CELL = list(CELL_COLUMNS)


@dataclass(frozen=True, eq=False)
class RunsComparison:
    """Differences between two runs."""

    # For each technique and metric, over the cells in both runs: numbers of values, and how many of them are
    # identical, as those that are missing in both, or one-sided, missing in one; and the largest difference.
    differences: pd.DataFrame
    n_cells: int  # in both runs
    # Numbers of cells that only the run in a folder has, by dataset and technique.
    alone: Mapping[Path, Mapping[Any, int]]
    other_rows: dict[str, tuple[int, int]]  # numbers of rows, of datasets whose test rows differ
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
    cells = [pd.MultiIndex.from_frame(frame[_CELL]).unique() for frame in (ours, theirs)]
    n_cells = len(cells[0].intersection(cells[1]))
    if not n_cells:
        raise ReportError(
            f"The runs in {folder} and {other} have no cell in common",
            expected="runs of the same datasets, biases, levels, techniques and classifiers",
            got=" and ".join(", ".join(map(str, own[0])) for own in cells),
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
        differences=differences,
        n_cells=n_cells,
        alone={
            place: cells[i]
            .difference(cells[1 - i], sort=False)
            .to_frame(index=False)
            .value_counts(["dataset", "technique"], sort=False)
            .to_dict()
            for i, place in enumerate((folder, other))
        },
        other_rows={
            data.name: (data.test_rows, same.test_rows)
            for data, same in product(*(run.manifest.datasets for run in runs))
            if data.name == same.name and data.test_digest != same.test_digest
        },
        made_with=_made_with(*(run.manifest for run in runs)),
    )


def _made_with(run: Manifest, other: Manifest) -> dict[str, tuple[str, str]]:
    ours, theirs = ({**m.versions, "processor": _processors_text(m.processors)} for m in (run, other))
    pairs = {name: (value, theirs.get(name, "unknown")) for name, value in ours.items()}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _processors_text(kinds: Sequence[Mapping[str, Any]]) -> str:
    texts = (
        f"{kind['cpu']} ({', '.join((*kind['blas'], 'numpy ' + '+'.join(kind['numpy'])))})" for kind in kinds
    )
    return "; ".join(texts) or "unknown"
