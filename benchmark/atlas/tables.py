"""The tables of an atlas: written after each run, and joined with those of its other parts."""

from __future__ import annotations

import hashlib
import io
import json
import lzma
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from benchmark.atlas.features import FEATURE_COLUMNS, part_features
from benchmark.atlas.file import Atlas, digest_of
from benchmark.atlas.means import MEAN_COLUMNS, part_means
from benchmark.columns import CELL_COLUMNS, ORIGINAL
from benchmark.errors import ReportError
from benchmark.experiment.prepare import PreparedExperiment
from benchmark.runs.finished import RunFrames
from benchmark.text.spreadsheet import csv_text
from benchmark.text.writing import plain_or_packed, write_atomically, write_json

MEANS, FEATURES, CELLS, MANIFEST = "means.csv", "features.csv", "cells.csv", "atlas.json"
"""Files of an atlas."""

N_CELLS = 50
"""Cells whose values are kept, so that they can be computed again."""

CELL_METRICS = ("restoration_distance", "discrimination", "accuracy")
_CELL_TABLE = ("version", "part", *CELL_COLUMNS, *CELL_METRICS)
_DIGITS = "%.6g"


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of an atlas."""

    means: pd.DataFrame  # columns :data:`~benchmark.atlas.means.MEAN_COLUMNS`
    features: pd.DataFrame  # columns :data:`~benchmark.atlas.features.FEATURE_COLUMNS`
    cells: pd.DataFrame  # of :data:`N_CELLS` random cells
    manifest: Mapping[str, Any]


def read_tables(folder: Path) -> Tables:
    """Return the tables in a folder; a ReportError says that they are missing."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        return Tables(
            _read(plain_or_packed(folder / MEANS), MEAN_COLUMNS),
            _read(plain_or_packed(folder / FEATURES), FEATURE_COLUMNS),
            _read(plain_or_packed(folder / CELLS), _CELL_TABLE),
            manifest,
        )
    except OSError as error:
        raise ReportError(
            f"{folder} has no tables of an atlas",
            expected=f"{MEANS}, {FEATURES}, {CELLS} and {MANIFEST}",
            got=str(error),
            remedy="run the atlas into this folder: betabench run --experiment atlas --output FOLDER",
        ) from error


_TEXTS = frozenset(
    {"version", "part", "dataset", "card", "cluster", "bias", "unit", "classifier", "test", "technique"}
    | {"half", "reason_restore", "reason_equalise"}
)


def _read(source: Path | io.StringIO, columns: tuple[str, ...]) -> pd.DataFrame:
    frame = pd.read_csv(
        source,
        dtype=dict.fromkeys(_TEXTS.intersection(columns), str),
        keep_default_na=False,
        na_values={name: [""] for name in columns if name not in _TEXTS},
    )
    return frame[list(columns)]


def write_tables(
    folder: Path,
    atlas: Atlas,
    runs: Mapping[str, RunFrames],
    prepare: Callable[[str], PreparedExperiment],
    say: Callable[[str], None] = lambda _: None,
) -> tuple[Path, ...]:
    """Write the tables of some parts' runs, joined with those of other parts in the folder; return the files.

    ``prepare`` returns a part with its data, for the features. Raises a ReportError if the folder has rows of
    a part whose experiment has changed since, or of another version of the atlas.
    """
    before = _tables_before(folder, atlas, runs)
    means, features, cells = [before.means], [before.features], [before.cells]
    parts = dict(before.manifest.get("parts", {}))
    computed = {*before.features[["dataset", "bias", "hidden", "level"]].itertuples(index=False, name=None)}
    for name, run in runs.items():
        say(f"{name}: means of {len(run.results):,} values ...")
        means.append(_rounded(part_means(run, name, atlas)))
        cells.append(_random_cells(run, name, atlas))
        say(f"{name}: features of the data ...")
        new = part_features(prepare(name), atlas, computed)
        computed |= {*new[["dataset", "bias", "hidden", "level"]].itertuples(index=False, name=None)}
        features.append(new)
        parts[name] = _facts(run, digest_of(atlas.experiments[name]))
    order = {name: i for i, name in enumerate(atlas.experiments)}
    joined = pd.concat([frame for frame in means if len(frame)], ignore_index=True)
    joined = joined.sort_values("part", key=lambda column: column.map(order), kind="stable")
    described = pd.concat([frame for frame in features if len(frame)], ignore_index=True)
    chosen = pd.concat([frame for frame in cells if len(frame)], ignore_index=True)
    ranks = chosen.apply(_lot, axis=1)
    chosen = chosen.loc[ranks.sort_values().index[:N_CELLS]]
    manifest = {
        "atlas": json.loads(atlas.model_dump_json()),
        "parts": {name: parts[name] for name in order if name in parts},
    }
    return (
        write_atomically(folder / f"{MEANS}.xz", lzma.compress(csv_text(joined, _DIGITS).encode(), preset=9)),
        write_atomically(
            folder / FEATURES, csv_text(described.sort_values(list(FEATURE_COLUMNS[1:7])), _DIGITS)
        ),
        write_atomically(folder / CELLS, csv_text(chosen.sort_values(list(_CELL_TABLE[:8])))),
        write_json(folder / MANIFEST, manifest),
    )


def _tables_before(folder: Path, atlas: Atlas, runs: Mapping[str, RunFrames]) -> Tables:
    """Return the rows in a folder that stay: those of parts that are not among the runs."""
    if not (folder / MANIFEST).is_file():
        means, features, cells = (
            pd.DataFrame(columns=list(columns)) for columns in (MEAN_COLUMNS, FEATURE_COLUMNS, _CELL_TABLE)
        )
        return Tables(means, features, cells, {})
    tables = read_tables(folder)
    kept = {name: facts for name, facts in tables.manifest["parts"].items() if name not in runs}
    version = tables.manifest["atlas"]["version"]
    changed = [
        name
        for name, facts in kept.items()
        if name not in atlas.experiments or facts["digest"] != digest_of(atlas.experiments[name])
    ]
    if changed or (kept and version != atlas.version):
        raise ReportError(
            f"{folder} has rows of another atlas",
            expected=f"version {atlas.version}, and parts as the file has them",
            got=f"version {version}" + f", with other experiments in {', '.join(changed)}" * bool(changed),
            remedy="run these parts as well, or name another folder by --output",
        )
    return Tables(
        tables.means[tables.means["part"].isin(kept)],
        tables.features,
        tables.cells[tables.cells["part"].isin(kept)],
        {"parts": kept},
    )


def _rounded(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame as it is read back, so that joined tables do not depend on the order of runs."""
    return _read(io.StringIO(csv_text(frame, _DIGITS)), tuple(frame.columns))


def _random_cells(run: RunFrames, part: str, atlas: Atlas) -> pd.DataFrame:
    """Return a part's cells with the smallest lots, and their values on the original test."""
    results = run.of_techniques.of_choices.results
    results = results[(results["test"] == ORIGINAL) & results["metric"].isin(CELL_METRICS)]
    cells = results.pivot(index=list(CELL_COLUMNS), columns="metric", values="value").reindex(
        columns=list(CELL_METRICS)
    )
    cells = cells.reset_index().assign(part=part, version=atlas.version)[list(_CELL_TABLE)]
    lots = cells.apply(_lot, axis=1)
    return cells.loc[lots.sort_values().index[:N_CELLS]]


def _lot(cell: pd.Series) -> str:
    """Return a lot that depends on the names of the cell alone."""
    names = (cell["part"], *(str(cell[name]) for name in CELL_COLUMNS))
    return hashlib.sha256("|".join(names).encode()).hexdigest()


def _facts(run: RunFrames, digest: str) -> dict[str, Any]:
    """Return facts on the run of a part: its cells, times and versions, and its data."""
    manifest = run.manifest
    return {
        "digest": digest,
        "cells": manifest.cells,
        "seconds": manifest.durations_in_seconds,
        "versions": manifest.versions,
        "processors": list(manifest.processors),
        "data": {
            dataset.name: {
                "card_digest": dataset.card_digest,
                "rows_digest": dataset.test_digest,
                "rows": dataset.test_rows,
                "real": not dataset.embedded,
            }
            for dataset in manifest.datasets
        },
    }
