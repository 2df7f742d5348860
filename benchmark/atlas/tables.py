"""The tables of an atlas: written after each run, and joined with those of its other parts."""

from __future__ import annotations

import hashlib
import io
import json
import lzma
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from benchmark.atlas.features import FEATURE_COLUMNS, LEVEL, part_features
from benchmark.atlas.file import LITE, Atlas, digest_of
from benchmark.atlas.means import MEAN_COLUMNS, part_means
from benchmark.columns import BRITISH, ORIGINAL
from benchmark.errors import ReportError
from benchmark.experiment.prepare import PreparedExperiment
from benchmark.runs.finished import RunFrames
from benchmark.text.writing import PACKED, SIX_DIGITS, csv_text, plain_or_packed, write_atomically, write_json

MEANS, FEATURES, CELLS, MANIFEST = "means.csv", "features.csv", "cells.csv", "atlas.json"
"""Files of an atlas."""

N_CELLS = 50
"""Cells whose values are kept, so that they can be computed again."""

CELL_METRICS = ("restoration_distance", "discrimination", "accuracy")
_CELL = ("dataset", "bias", "beta", "technique", "classifier", "repetition")  # a release keeps its columns
CELL_TABLE = ("version", "part", *_CELL, *CELL_METRICS)
"""Columns of the table of cells."""


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of an atlas."""

    means: pd.DataFrame  # columns :data:`~benchmark.atlas.means.MEAN_COLUMNS`
    features: pd.DataFrame  # columns :data:`~benchmark.atlas.features.FEATURE_COLUMNS`
    cells: pd.DataFrame  # of :data:`N_CELLS` random cells
    manifest: Mapping[str, Any]

    @cached_property
    def atlas(self) -> Atlas:
        """The content of the atlas file, as the manifest holds it."""
        return Atlas.model_validate(dict(self.manifest["atlas"]), strict=False)

    @cached_property
    def dose_rows(self) -> pd.DataFrame:
        """The means that advice is fitted on: planted bias at pooled levels, and the original test."""
        rows = self._pooled(self.advice_parts)
        planted = (rows["unit"] == "dose") & (rows["level"] > 0) & (rows["hidden"] == 0)
        return rows[planted & (rows["test"] == ORIGINAL)]

    @cached_property
    def clean_rows(self) -> pd.DataFrame:
        """The means of the same parts without planted bias, on the original test."""
        rows = self._pooled(self.advice_parts)
        clean = (rows["unit"] == "dose") & (rows["level"] == 0) & (rows["hidden"] == 0)
        return rows[clean & (rows["test"] == ORIGINAL)]

    @property
    def advice_parts(self) -> list[str]:
        """The parts that advice is fitted on and that have rows."""
        present = set(self.means["part"])
        return [name for name in self.atlas.advice or tuple(self.atlas.parts) if name in present] or [LITE]

    @cached_property
    def hidden_rows(self) -> pd.DataFrame:
        """The means of rows with hidden bias, for advice from planting on top."""
        rows = self._pooled(self.atlas.planted)
        return rows[rows["hidden"] > 0]

    def _pooled(self, parts: Collection[str]) -> pd.DataFrame:
        return self.means[self.means["part"].isin(set(parts)) & (self.means["pooled"] == 1)]

    @cached_property
    def _first_features(self) -> pd.DataFrame:
        """The features of each level of bias in the first part of the file that has it."""
        return _by_part(self.features, self.atlas).drop_duplicates(list(LEVEL))

    @cached_property
    def dose_features(self) -> pd.DataFrame:
        """The features of data with planted bias, without hidden bias."""
        rows = self._first_features
        return rows[(rows["hidden"] == 0) & (rows["unit"] == "dose")]

    @cached_property
    def hidden_features(self) -> pd.DataFrame:
        """The features of data with hidden bias alone; the hidden gap is the level."""
        rows = self._first_features
        rows = rows[(rows["hidden"] > 0) & (rows["level"] == 0)]
        return rows.assign(level=rows["hidden"])


def has_tables(folder: Path) -> bool:
    """Return whether a folder has the tables of an atlas."""
    return (folder / MANIFEST).is_file()


def read_tables(folder: Path) -> Tables:
    """Return the tables in a folder; a ReportError says that they are missing."""
    means, features, cells = (
        read_table(folder / name, columns)
        for name, columns in ((MEANS, MEAN_COLUMNS), (FEATURES, FEATURE_COLUMNS), (CELLS, CELL_TABLE))
    )
    with _present(folder / MANIFEST) as path:
        return Tables(means, features, cells, json.loads(path.read_bytes()))


def read_table(file: Path, columns: tuple[str, ...]) -> pd.DataFrame:
    """Return a table of an atlas, from its plain or packed file; a ReportError says that it is missing."""
    with _present(file) as path:
        return _read(plain_or_packed(path), columns)


@contextmanager
def _present(file: Path) -> Iterator[Path]:
    try:
        yield file
    except OSError as error:
        raise ReportError(
            f"{file.parent} has no tables of an atlas",
            expected=file.name,
            got=str(error),
            remedy="run the atlas into this folder: betabench run --experiment atlas --output FOLDER",
        ) from error


TEXTS = frozenset(
    {"version", "part", "dataset", "card", "cluster", "bias", "unit", "classifier", "test", "technique"}
    | {"half", "reason_restore", "reason_equalize", "goal", "scenarios", "clusters", "recommender", "against"}
    | {"chosen", "effect", "claim", "text", "fate", "evidence"}
)
"""Columns of texts."""


def _read(source: Path | io.StringIO, columns: tuple[str, ...]) -> pd.DataFrame:
    spelled = {text: name for name in columns for text in (name, name.replace(BRITISH[1], BRITISH[0]))}
    frame = pd.read_csv(
        source,
        dtype={text: str for text, name in spelled.items() if name in TEXTS},
        keep_default_na=False,
        na_values={text: [""] for text, name in spelled.items() if name not in TEXTS},
    ).rename(columns=spelled)
    if "goal" in frame:
        frame["goal"] = frame["goal"].replace(*BRITISH)
    return frame[list(columns)]


def write_table(file: Path, frame: pd.DataFrame, digits: str | None = SIX_DIGITS) -> Path:
    """Write a table of an atlas, packed if the file's name says so, and return its path."""
    text = csv_text(frame, digits)
    packed = file.suffix == PACKED
    return write_atomically(file, lzma.compress(text.encode(), preset=9) if packed else text)


def write_tables(
    folder: Path,
    atlas: Atlas,
    part: str,
    run: RunFrames,
    prepared: PreparedExperiment,
    *,
    digest: str,
    replaced: Collection[str] = (),
    say: Callable[[str], None] = lambda _: None,
) -> tuple[Path, ...]:
    """Write the tables of a part's run, joined with the rows of other parts in the folder; return the files.

    ``digest`` is of the experiment that was run. If it is not as in the file, later runs of other parts are
    not joined with it. ``replaced`` are parts whose rows may be out of date, because they are run next.
    Raises a ReportError if the folder has rows of another part whose experiment has changed since, of another
    version, or of a dataset with other rows.
    """
    before = _tables_before(folder, atlas, {part}, {*replaced})
    before = _of_same_rows(before, folder, part, run, {*replaced})
    say(f"{part}: means of {len(run.results):,} values ...")
    means = _by_part(_joined(before.means, _rounded(part_means(run, part, atlas))), atlas)
    cells = _joined(before.cells, _cells(run, part, atlas))
    features = before.features
    if not atlas.advice or part in (*atlas.advice, *atlas.planted, LITE):
        say(f"{part}: features of the data ...")
        features = _by_part(_joined(features, part_features(prepared, part, atlas)), atlas)
    parts = {**before.manifest["parts"], part: _facts(run, digest)}
    cells = cells.loc[cells.apply(_lot, axis=1).sort_values().index[:N_CELLS]]
    manifest = {
        "atlas": json.loads(atlas.model_dump_json()),
        "parts": {name: parts[name] for name in atlas.experiments if name in parts},
    }
    return (
        write_table(folder / f"{MEANS}{PACKED}", means),
        write_table(folder / FEATURES, features),
        write_table(folder / CELLS, cells.sort_values(list(CELL_TABLE[:8])), None),
        write_json(folder / MANIFEST, manifest),
    )


def _joined(*frames: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([frame for frame in frames if len(frame)], ignore_index=True)


def _by_part(frame: pd.DataFrame, atlas: Atlas) -> pd.DataFrame:
    """Return rows in the order of the atlas's parts."""
    order = {name: i for i, name in enumerate(atlas.experiments)}
    return frame.sort_values("part", key=lambda column: column.map(order), kind="stable")


def _tables_before(folder: Path, atlas: Atlas, run: set[str], replaced: set[str]) -> Tables:
    """Return the rows in a folder that stay: those of parts that are not run, or have not changed."""
    if not has_tables(folder):
        means, features, cells = (
            pd.DataFrame(columns=list(columns)) for columns in (MEAN_COLUMNS, FEATURE_COLUMNS, CELL_TABLE)
        )
        return Tables(means, features, cells, {"parts": {}})
    tables = read_tables(folder)
    version = tables.manifest["atlas"]["version"]
    kept = {name: facts for name, facts in tables.manifest["parts"].items() if name not in run}
    changed = [
        name
        for name, facts in kept.items()
        if version != atlas.version
        or any(
            tables.atlas.cluster_of(card, finer=finer) != atlas.cluster_of(card, finer=finer)
            for card in tables.means["card"].unique()
            for finer in (False, True)
        )
        or name not in atlas.experiments
        or facts["digest"] != digest_of(atlas.experiments[name])
    ]
    if refused := [name for name in changed if name not in replaced]:
        raise ReportError(
            f"{folder} has rows of another atlas",
            expected=f"version {atlas.version}, and parts as the file has them",
            got=f"version {version}, with other experiments in {', '.join(refused)}",
            remedy="run these parts as well, or name another folder by --output",
        )
    return _of_parts(tables, {name: facts for name, facts in kept.items() if name not in changed})


def _of_parts(tables: Tables, parts: Mapping[str, Any]) -> Tables:
    """Return the rows of some parts; ``parts`` are their facts."""
    means, features, cells = (
        frame[frame["part"].isin(list(parts))] for frame in (tables.means, tables.features, tables.cells)
    )
    return Tables(means, features, cells, {"parts": parts})


def _of_same_rows(tables: Tables, folder: Path, part: str, run: RunFrames, replaced: set[str]) -> Tables:
    """Return tables without the parts in ``replaced`` that have other rows of a dataset than the run.

    Raises a ReportError if another part has.
    """
    rows = {dataset.name: dataset.test_digest for dataset in run.manifest.datasets}
    parts = tables.manifest["parts"]
    differing = {
        name: [
            d for d, data in facts["data"].items() if rows.get(d, data["rows_digest"]) != data["rows_digest"]
        ]
        for name, facts in parts.items()
    }
    refused = {name: datasets for name, datasets in differing.items() if datasets and name not in replaced}
    if refused:
        name, datasets = next(iter(refused.items()))
        raise ReportError(
            f"The part {part} has other rows of {datasets[0]} than the part {name} in {folder}",
            expected="the same rows, with the same label and groups, in all parts",
            got=f"rows {rows[datasets[0]][:12]}, and {parts[name]['data'][datasets[0]]['rows_digest'][:12]}",
            remedy=f"run all parts on the same card and files: --part {' '.join([part, *refused])}; or name "
            "another folder by --output",
        )
    return _of_parts(tables, {name: facts for name, facts in parts.items() if not differing[name]})


def _rounded(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame as it is read back, so that joined tables do not depend on the order of runs."""
    return _read(io.StringIO(csv_text(frame, SIX_DIGITS)), tuple(frame.columns))


def _cells(run: RunFrames, part: str, atlas: Atlas) -> pd.DataFrame:
    """Return a part's cells with their values on the original test."""
    results = run.of_techniques.of_choices.results
    results = results.rename(columns={"level": "beta"})
    results = results[(results["test"] == ORIGINAL) & results["metric"].isin(CELL_METRICS)]
    cells = results.pivot(index=list(_CELL), columns="metric", values="value").reindex(
        columns=list(CELL_METRICS)
    )
    return cells.reset_index().assign(part=part, version=atlas.version)[list(CELL_TABLE)]


def _lot(cell: pd.Series) -> str:
    """Return a lot that depends on the names of the cell alone."""
    names = (cell["part"], *(str(cell[name]) for name in _CELL))
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
