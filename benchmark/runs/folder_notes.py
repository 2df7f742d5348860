"""Notes on differences between manifests and stores, before one run's files replace another's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python

from benchmark.columns import MANIFEST_NAME, STORE_NAME
from benchmark.errors import ReportError
from benchmark.experiment.plan import Experiment
from benchmark.experiment.store import read_last_run
from benchmark.models import Identity
from benchmark.runs.manifest import ExperimentInRun


def other_experiment(output: Path, experiment: Experiment) -> str:
    """Return a sentence if a folder's tables belong to a different experiment from the one to run."""
    before = _experiment_of(_manifest(output), type(experiment))
    now = _experiment_of({"experiment": ExperimentInRun.of(experiment).settings}, type(experiment))
    differing = _differing(before, now)
    if not differing:
        return ""
    which = repr(before["name"]) + ("" if "name" in differing else f" with other {', '.join(differing)}")
    return (
        f"Note: the tables in {output} belong to the experiment {which}. This run's tables replace them; "
        "the store keeps the numbers of both"
    )


def unfinished_run(folder: Path) -> str:
    """Return a sentence if the last run in a folder ended before it wrote its tables.

    Without tables of an earlier run, this is a ReportError.
    """
    last = read_last_run(folder / STORE_NAME)
    if last is None:
        return ""
    so_far = f"{last.finished:,} of {last.planned:,} cells"
    manifest = _manifest(folder)
    if not manifest:
        raise ReportError(
            f"The run of {last.experiment!r} in {folder} is not finished",
            expected=f"results of {last.planned:,} cells",
            got=so_far,
            remedy=f"start the same 'betabench run' again, with --output {folder}: it computes the rest",
        )
    if last.finished == last.planned and manifest.get("plan", last.plan) == last.plan:
        return ""
    return (
        f"Warning: these are an earlier run's tables. The last run in {folder}, of {last.experiment!r}, "
        f"was cut off at {so_far}; start it again, and its tables replace these"
    )


def unlike_shards(folders: Sequence[Path]) -> list[str]:
    """Return sentences on folders that do not hold shards of one whole.

    The folder that most others agree with is taken as right. Folders without a manifest are passed over.
    """
    manifests = {folder: manifest for folder in folders if (manifest := _manifest(folder))}
    of_cells = {
        folder: {**_experiment_of(manifest), "code": manifest.get("code"), "data": _test_data(manifest)}
        for folder, manifest in manifests.items()
    }
    alike = {
        folder: [name for name, other in of_cells.items() if not _differing(facts, other)]
        for folder, facts in of_cells.items()
    }
    if not alike:
        return []
    usual = max(alike, key=lambda folder: len(alike[folder]))
    warnings = [
        f"Warning: {folder} is no part of the same whole as {usual}. It has another "
        f"{', '.join(_differing(of_cells[folder], of_cells[usual]))}; a run of one cannot use the cells of "
        "the other"
        for folder in manifests
        if folder not in alike[usual]
    ]
    counts = {str(manifests[folder].get("shard")).rpartition("/")[2] for folder in alike[usual]}
    if len(counts) > 1:
        warnings.append(
            f"Warning: these are shards of {' and of '.join(sorted(counts))} parts, which do not make one "
            "whole; 'betabench run' computes what is missing"
        )
    return warnings


def _test_data(manifest: Mapping[str, Any]) -> dict[str, Any]:
    datasets = manifest.get("datasets")
    records = datasets.items() if isinstance(datasets, dict) else ()
    return {name: record.get("test_digest") for name, record in records if isinstance(record, dict)}


def _experiment_of(manifest: Mapping[str, Any], model: type[Experiment] = Experiment) -> dict[str, Any]:
    """Return facts of a manifest that identify the run and its cells; all else may differ between folders."""
    free, experiment = model.fields_of(Identity.FREE), manifest.get("experiment")
    if not experiment:
        return {}
    # A version that did not know an option ran with its default.
    fields = model.model_fields
    options = {name: to_jsonable_python(fields[name].default) for name in model.fields_of(Identity.OPTION)}
    facts = {name: value for name, value in {**options, **experiment}.items() if name not in free}
    # Reference rows follow from all else.
    techniques = facts.get("techniques")
    if isinstance(techniques, list):
        facts["techniques"] = [t for t in techniques if not (isinstance(t, dict) and t.get("refit"))]
    return facts


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / MANIFEST_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) and isinstance(manifest.get("experiment"), dict) else {}


def _differing(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    return [name for name in ours if name in theirs and not _agree(ours[name], theirs[name])]


def _agree(ours: Any, theirs: Any) -> bool:
    """Return whether two parts of manifests agree, as far as both know: new versions add fields."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return all(_agree(ours[name], theirs[name]) for name in ours.keys() & theirs.keys())
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(_agree, ours, theirs))
    return bool(ours == theirs)
