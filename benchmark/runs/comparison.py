"""Differences between two runs: of their manifests and stores, and of all of their numbers."""

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
from pydantic_core import to_jsonable_python

from benchmark.columns import CELL_COLUMNS, MANIFEST_NAME, ORIGINAL, STORE_NAME, TRUTH, parted_name
from benchmark.errors import ExperimentError, ReportError
from benchmark.experiment.entries import DatasetEntry, TechniqueEntry
from benchmark.experiment.plan import Experiment
from benchmark.experiment.store import read_last_run
from benchmark.models import Identifying, Identity
from benchmark.runs.finished import read_results, read_run
from benchmark.runs.manifest import Manifest, settings_of

# Each value of a manifest by the names that lead to it, such as ("datasets", "adult", "test_rows").
_Path: TypeAlias = tuple[str, ...]

# Tables whose names are an experiment's own: no version adds any, so that one that is missing differs.
_OPEN = ("parameters", "columns")


@dataclass(frozen=True)
class Earlier:
    """The results in a folder, compared with the run that is to write there."""

    folder: Path
    name: str  # of their experiment
    differing: tuple[str, ...]  # what else they have than the run: "other betas", "another baseline"
    lost: bool  # whether the run's tables would lack some of their numbers
    rebased: bool = False  # whether the run compares techniques with another baseline

    @property
    def which(self) -> str:
        """The results' experiment, and how it differs from the run's."""
        return repr(self.name) + (f" with {', '.join(self.differing)}" if self.differing else "")

    @property
    def is_stored(self) -> bool:
        """Whether the folder has the cells that the tables were made from: committed results have none."""
        return (self.folder / STORE_NAME).is_file()

    @property
    def note(self) -> str:
        """A sentence for a run that replaces their tables, or "" if the experiments are the same."""
        if not self.differing and not self.lost:
            return ""
        return (
            f"the tables in {self.folder} belong to the experiment {self.which}. This run's tables "
            "replace them; the store keeps the numbers of both"
        )

    def refusal(self) -> ExperimentError:
        """Return the error of a run into their folder that would lose some of them."""
        return ExperimentError(
            f"This run's tables would replace other results in {self.folder}",
            expected="a folder without results, or with results of the same experiment or of a part of it",
            got=f"results of the experiment {self.which}",
            remedy="name another folder with --output, or replace these results with --fresh",
        )


def earlier_results(folder: Path, experiment: Experiment, real: Mapping[str, bool]) -> Earlier | None:
    """Return the results in a folder as ``experiment`` would find them, or None if there are none.

    ``real`` says for each dataset whether this run has its real data.
    """
    manifest = _manifest(folder)
    if not manifest:
        return None
    declared, now = manifest["experiment"], settings_of(experiment)
    if declared["name"] != experiment.name or "techniques" not in declared:  # as of an alternation
        return Earlier(folder, declared["name"], (), True)
    losses = _losses(*(_facts(settings, type(experiment)) for settings in (declared, now)))
    had_real = manifest.get("real_data", {})
    if any(had_real.get(name) and not now_real for name, now_real in real.items()):
        losses["real data, where this run has embedded networks"] = True
    return Earlier(
        folder, declared["name"], tuple(losses), any(losses.values()), "another baseline" in losses
    )


def folder_of_its_own(
    first: Path, experiment: Experiment, real: Mapping[str, bool], *, fresh: bool = False
) -> tuple[Path, list[Earlier]]:
    """Return the first of FIRST, FIRST_2, FIRST_3, ... in which a run loses no results, and those before it.

    Results are lost if the run lacks some of their numbers or has another baseline, or if their cells are
    not stored. ``fresh`` replaces stored ones.
    """
    passed: list[Earlier] = []

    def loses_nothing(folder: Path) -> bool:
        earlier = earlier_results(folder, experiment, real)
        if earlier is None or (earlier.is_stored and (fresh or not (earlier.lost or earlier.rebased))):
            return True
        passed.append(earlier)
        return False

    return first_folder(first, loses_nothing), passed


def first_folder(first: Path, acceptable: Callable[[Path], bool]) -> Path:
    """Return the first acceptable one of the folders FIRST, FIRST_2, FIRST_3 and so on."""
    others = (first.with_name(f"{first.name}_{number}") for number in itertools.count(2))
    return next(filter(acceptable, itertools.chain([first], others)))


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
    of_cells = {folder: _cell_facts(manifest) for folder, manifest in manifests.items()}
    if not of_cells:
        return []

    def differing(folder: Path, other: Path) -> list[str]:
        return list(dict.fromkeys(path[0] for path in _differing(of_cells[folder], of_cells[other])))

    usual = min(of_cells, key=lambda folder: sum(bool(differing(folder, other)) for other in of_cells))
    others = {folder: differing(folder, usual) for folder in of_cells}
    warnings = [
        f"Warning: {folder} is no part of the same whole as {usual}. It has another {', '.join(words)}; "
        "a run of one cannot use the cells of the other"
        for folder, words in others.items()
        if words
    ]
    shards = [str(manifests[folder].get("shard")) for folder, words in others.items() if not words]
    counts = {shard.rpartition("/")[2] for shard in shards}
    if len(counts) > 1:
        warnings.append(
            f"Warning: these are shards of {' and of '.join(sorted(counts))} parts, which do not make one "
            "whole; 'betabench run' computes what is missing"
        )
    return warnings


def _cell_facts(manifest: Mapping[str, Any]) -> dict[_Path, Any]:
    """Return what a run's cells depend on; what is measured of them is no part of that."""
    datasets = manifest.get("datasets", {})
    data = {name: described.get("test_digest") for name, described in datasets.items()}
    facts = _facts(manifest["experiment"]) | dict(_flat({"code": manifest.get("code"), "data": data}))
    return {path: value for path, value in facts.items() if path != ("metrics",)}


def _facts(experiment: Mapping[str, Any], model: type[Experiment] = Experiment) -> dict[_Path, Any]:
    """Return the facts that identify a manifest's experiment, as its file declares them, and its metrics.

    Entries that follow from the rest are left out: refits, tuned settings, own learners that are baselines,
    and hidden bias. So are folders of cards, and fields that no number depends on.
    """
    # A version that did not know an option ran with its default.
    options = {n: to_jsonable_python(model.model_fields[n].default) for n in model.fields_of(Identity.OPTION)}
    entries = experiment.get("techniques", ())
    techniques = [entry for entry in entries if not (entry.get("refit") or entry.get("tuned"))]
    names = [entry["name"] for entry in techniques]
    datasets = [
        {
            **_identifying(entry, DatasetEntry),
            "card": Path(entry["card"]).name,
            "techniques": [name for name in entry.get("techniques") or names if name in names],
            # Each bias is there once for each hidden gap.
            "bias": [{**b, "name": parted_name(b["name"])[0], "hidden": 0} for b in entry.get("bias", ())],
        }
        for entry in experiment.get("datasets", ())
    ]
    declared = {
        **options,
        **_identifying(experiment, model),
        "metrics": experiment.get("metrics", []),
        "tests": [test for test in experiment.get("tests", [ORIGINAL]) if test != TRUTH],
        "techniques": [_identifying(entry, TechniqueEntry) for entry in techniques],
        "classifiers": [e for e in experiment.get("classifiers", ()) if not e.get("learner_of")],
        "datasets": datasets,
    }
    declared.pop("knows", None)  # each technique has what it is told
    return dict(_flat(declared))


def _identifying(entry: Mapping[str, Any], model: type[Identifying]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name not in model.fields_of(Identity.FREE)}


def _flat(value: Any, path: _Path = ()) -> Iterator[tuple[_Path, Any]]:
    """Yield each value by its path; a table stands empty before its parts, and a list of tables as names."""
    if path and path[-1] in _OPEN:
        yield path, value
        return
    if isinstance(value, list) and any(isinstance(entry, dict) and "name" in entry for entry in value):
        value = {entry["name"]: entry for entry in value}
        yield path, sorted(value)
    elif isinstance(value, dict):
        yield path, {}
    else:
        yield path, value
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _flat(part, (*path, name))


def _losses(before: Mapping[_Path, Any], now: Mapping[_Path, Any]) -> dict[str, bool]:
    """Return whether numbers would be lost, by the name of each difference: longer lists lose nothing."""
    losses: dict[str, bool] = {}
    for path in _differing(before, now):
        ours, theirs = before[path], now[path]
        of_entry = path[0] in ("datasets", "techniques", "classifiers") and len(path) > 2
        word = path[2] if of_entry else path[0]
        listed = isinstance(ours, list) and isinstance(theirs, list) and len(path) == (3 if of_entry else 1)
        contained = listed and all(value in theirs for value in ours)
        if of_entry and word == "techniques" and contained:
            continue  # they are among the experiment's as well
        # No number depends on the baseline.
        kept = contained or word == "baseline" or (word == "repetitions" and ours < theirs)
        word = {"hidden": "hidden gaps", "bias": "kinds of bias"}.get(word, word)
        other = f"{'other' if word.endswith('s') else 'another'} {word}"
        losses[other] = losses.get(other, False) or not kept
    return losses


def _differing(before: Mapping[_Path, Any], now: Mapping[_Path, Any]) -> list[_Path]:
    """Return the paths of what differs, as far as both have it: new versions add fields."""
    return [path for path in before if path in now and before[path] != now[path]]


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / MANIFEST_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) and isinstance(manifest.get("experiment"), dict) else {}


_UNIT = "unit of the level"
_CELL = [*CELL_COLUMNS, _UNIT]


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
    for frame, run in zip((ours, theirs), runs, strict=True):  # a dose of 0.05 is not a β of 0.05
        frame[_UNIT] = run.manifest.unit
        frame.loc[frame["level"] == 0, _UNIT] = ""
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
