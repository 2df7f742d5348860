"""The tables of an atlas: written after each run, and joined with those of its other parts."""

import hashlib
import json
import lzma
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from benchmark.atlas.features import FEATURE_COLUMNS, LEVEL, data_features
from benchmark.atlas.file import LITE, Atlas, digest_of
from benchmark.atlas.means import MEAN_COLUMNS, part_means
from benchmark.atlas.tables import FEATURES, MANIFEST, MEANS, has_tables, read_table
from benchmark.columns import MANIFEST_NAME, ORIGINAL
from benchmark.data.card import load_card
from benchmark.errors import ReportError
from benchmark.experiment.draws import draw_splits
from benchmark.experiment.expand import narrow
from benchmark.experiment.plan import Block, Experiment
from benchmark.experiment.prepared import PreparedExperiment
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import Manifest
from benchmark.text.words import EMBEDDED, few, file_name
from benchmark.text.writing import PACKED, SIX_DIGITS, csv_text, plain_or_packed, write_atomically, write_json

N_CELLS = 50
"""Cells whose values are kept, so that they can be computed again."""


DECIMALS = 5
"""Decimals of means, which are shares: chance over few splits is larger."""


CELLS = "cells.csv"
"""File of these cells."""

CELL_METRICS = ("restoration_distance", "discrimination", "accuracy")
_CELL = ("dataset", "bias", "beta", "technique", "classifier", "repetition")  # a release keeps its columns
CELL_TABLE = ("version", "part", *_CELL, *CELL_METRICS)
"""Columns of the table of cells."""


def write_table(file: Path, frame: pd.DataFrame, digits: str | None = SIX_DIGITS) -> Path:
    """Write a table of an atlas, packed if the file's name says so, and return its path."""
    text = csv_text(frame, digits)
    packed = file.suffix == PACKED
    return write_atomically(file, lzma.compress(text.encode(), preset=9) if packed else text)


def is_piece(place: Path, digest: str) -> bool:
    """Return whether a folder has the tables of one dataset in one part, of the experiment with a digest."""
    return has_tables(place) and json.loads((place / MANIFEST).read_bytes())["digest"] == digest


def is_finished(place: Path, experiment: Experiment) -> bool:
    """Return whether a folder has the whole run of an experiment, which is expanded."""
    if not (place / MANIFEST_NAME).is_file():
        return False
    manifest = Manifest.read(place / MANIFEST_NAME)
    same = digest_of(Experiment.model_validate(manifest.experiment.settings)) == digest_of(experiment)
    return same and plain_or_packed(place / "results.csv").is_file()


def write_piece(
    place: Path, atlas: Atlas, part: str, run: RunFrames, prepared: PreparedExperiment, digest: str
) -> None:
    """Write the tables of one dataset in a part's run; :func:`write_tables` joins them with all others.

    A ReportError says that the prepared data are others than the run's.
    """
    ran, now = (
        [d.name for d in datasets] for datasets in (run.manifest.datasets, prepared.datasets.values())
    )
    if ran != now:
        raise ReportError(
            f"The run in {place} is finished, and its data are not found now",
            expected=few(ran, 3),
            got=few(now, 3),
            remedy="name the folder of the data by --data-dir or BETABENCH_DATA; or compute anew by --fresh",
        )
    write_table(place / f"{MEANS}{PACKED}", part_means(run, part, atlas).round(DECIMALS), None)
    if not atlas.advice or part in (*atlas.advice, LITE):
        write_table(place / FEATURES, part_features(prepared, part, atlas))
    write_table(place / CELLS, _drawn(_cells(run, part, atlas)), None)
    write_json(place / MANIFEST, _facts(run, digest))


def write_tables(folder: Path, atlas: Atlas, ran: Collection[tuple[str, str]] = ()) -> tuple[Path, ...]:
    """Write the tables of all pieces in a folder, in the order of the atlas's file; return the files.

    ``ran`` are parts and datasets that were just run; their experiments may be narrower than in the file.
    Raises a ReportError if the folder has rows without a piece, pieces of another experiment, or pieces with
    other rows of a dataset.
    """
    found: dict[tuple[str, str], Path] = {}
    expected: dict[tuple[str, str], str] = {}
    for part, experiment in atlas.experiments.items():
        for entry in experiment.datasets:
            place = piece_place(folder, part, entry.name)
            if has_tables(place):
                found[part, entry.name] = place
                expected[part, entry.name] = digest_of(narrow(experiment, datasets=[entry.name]))
    facts = {key: json.loads((place / MANIFEST).read_bytes()) for key, place in found.items()}
    _refuse_lost(folder, {*found})
    others = [key for key in found if key not in ran and facts[key]["digest"] != expected[key]]
    if others:
        names = few([f"{dataset} of the part {part}" for part, dataset in others], 3)
        raise ReportError(
            f"{folder} has rows of another atlas",
            expected="parts as the file has them",
            got=f"other experiments: {names}",
            remedy="run these as well, or name another folder by --output",
        )
    _refuse_other_rows(folder, facts)
    means, features, cells = (
        pd.concat([read_table(file, columns) for file in files], ignore_index=True)
        if files
        else pd.DataFrame(columns=list(columns))
        for name, columns in ((MEANS, MEAN_COLUMNS), (FEATURES, FEATURE_COLUMNS), (CELLS, CELL_TABLE))
        for files in [[p / name for p in found.values() if plain_or_packed(p / name).is_file()]]
    )
    for frame in (means, features, cells):
        frame["version"] = atlas.version
    for frame in (means, features):
        frame["cluster"] = frame["card"].map(atlas.cluster_of)
    manifest = {
        "atlas": json.loads(atlas.model_dump_json()),
        "parts": {
            part: _joined([facts[key] for key in found if key[0] == part])
            for part in dict.fromkeys(part for part, _ in found)
        },
    }
    return (
        write_table(folder / f"{MEANS}{PACKED}", means, None),
        write_table(folder / FEATURES, features),
        write_table(folder / CELLS, _drawn(cells), None),
        write_json(folder / MANIFEST, manifest),
    )


def piece_place(folder: Path, part: str, dataset: str) -> Path:
    """Return the folder of one dataset in one part, of its run and of its tables."""
    return folder / part / file_name(dataset)


def _refuse_lost(folder: Path, pieces: set[tuple[str, str]]) -> None:
    """Raise a ReportError if a folder's tables have rows of datasets whose pieces it lacks, as in a clone."""
    if not has_tables(folder):
        return
    parts = json.loads((folder / MANIFEST).read_bytes())["parts"]
    rows = {(part, name) for part, facts in parts.items() for name in facts["data"]}
    if lost := sorted(rows - {(part, name + end) for part, name in pieces for end in ("", EMBEDDED)}):
        raise ReportError(
            f"{folder} has rows that are not computed in it",
            expected="a folder for each part and dataset of its tables",
            got=f"none for {few([f'{dataset} of the part {part}' for part, dataset in lost], 3)}",
            remedy="name another folder by --output, or run these as well",
        )


def _refuse_other_rows(folder: Path, facts: Mapping[tuple[str, str], Mapping[str, Any]]) -> None:
    """Raise a ReportError if two parts have other rows of a dataset."""
    known: dict[str, tuple[str, str]] = {}
    for (part, _), piece in facts.items():
        for name, data in piece["data"].items():
            other, digest = known.setdefault(name, (part, data["rows_digest"]))
            if digest != data["rows_digest"]:
                raise ReportError(
                    f"The part {part} has other rows of {name} than the part {other} in {folder}",
                    expected="the same rows, with the same label and groups, in all parts",
                    got=f"rows {data['rows_digest'][:12]}, and {digest[:12]}",
                    remedy=f"run both on the same card and files: --part {part} {other} --datasets "
                    f"{name.removesuffix(EMBEDDED)} --fresh; or name another folder by --output",
                )


def _joined(pieces: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the facts of a part from those of its datasets: sums, and what any of them names."""
    sums: dict[str, Counter[str]] = {"cells": Counter(), "seconds": Counter()}
    for piece in pieces:
        for name, total in sums.items():
            total.update(piece[name])
    merged = {
        name: {key: value for piece in pieces for key, value in piece[name].items()}
        for name in ("versions", "entries", "data")
    }
    processors = [kind for piece in pieces for kind in piece["processors"]]
    distinct = [kind for i, kind in enumerate(processors) if kind not in processors[:i]]
    return {**{name: dict(total) for name, total in sums.items()}, "processors": distinct, **merged}


def _drawn(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with the lowest lots, in the order of their names."""
    lots = cells.apply(_lot, axis=1).sort_values()
    return cells.loc[lots.index[:N_CELLS]].sort_values(list(CELL_TABLE[:8]))


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
    """Return facts on the run of one dataset in a part: its cells, times and versions, and its data."""
    manifest = run.manifest
    return {
        "digest": digest,
        "cells": manifest.cells,
        "seconds": manifest.durations_in_seconds,
        "versions": manifest.versions,
        "processors": list(manifest.processors),
        "entries": {t.name: t.model_dump(mode="json") for t in manifest.techniques if not t.refit},
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


N_SPLITS = 2
"""Splits over which features are averaged: the first odd one and the first even one."""


def part_features(prepared: PreparedExperiment, part: str, atlas: Atlas) -> pd.DataFrame:
    """Return the features of a part's training rows at each level of bias, columns :data:`FEATURE_COLUMNS`.

    Rows are sorted by :data:`LEVEL`.
    """
    rows = [{"part": part, **row} for row in _rows(prepared, atlas)]
    return pd.DataFrame(rows, columns=list(FEATURE_COLUMNS)).sort_values(list(LEVEL), ignore_index=True)


def _rows(prepared: PreparedExperiment, atlas: Atlas) -> Iterator[dict[str, Any]]:
    experiment = prepared.experiment
    for data in prepared.datasets.values():
        card = load_card(data.entry.card).name
        for bias, level in product(data.biases, experiment.levels):
            key = (data.name, bias, level, experiment.unit)
            if not data.reaches(bias, level):
                continue
            blocks = (
                Block(data.entry.name, bias, level, split)
                for split in range(min(N_SPLITS, experiment.repetitions))
            )
            first_folds = (next(draw_splits(data, block)) for block in blocks)
            samples = [asdict(data_features(fold.train)) for fold in first_folds]
            yield {
                **{"version": atlas.version, "card": card, "cluster": atlas.cluster_of(card)},
                **dict(zip(LEVEL, key, strict=True)),
                **{str(name): mean for name, mean in pd.DataFrame(samples).mean().items()},
            }
