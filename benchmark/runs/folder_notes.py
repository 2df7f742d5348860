"""Notes on differences between manifests and stores, before one run's files replace another's."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python

from benchmark.columns import MANIFEST_NAME, ORIGINAL, STORE_NAME, TRUTH, parted_name
from benchmark.errors import ExperimentError, ReportError
from benchmark.experiment.entries import DatasetEntry, TechniqueEntry
from benchmark.experiment.plan import Experiment
from benchmark.experiment.store import read_last_run
from benchmark.models import Identifying, Identity
from benchmark.runs.manifest import ExperimentInRun


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
    declared = manifest["experiment"]
    if declared["name"] != experiment.name or "techniques" not in declared:  # as of an alternation
        return Earlier(folder, declared["name"], (), True)
    before, now = (
        _declared(facts, type(experiment)) for facts in (declared, ExperimentInRun.of(experiment).settings)
    )
    losses: dict[str, bool] = {}
    for word, lost in _differences(before, now):
        other = _other(word)
        losses[other] = losses.get(other, False) or lost
    had_real = manifest.get("real_data", {})
    if any(had_real.get(name) and not now_real for name, now_real in real.items()):
        losses["real data, where this run has embedded networks"] = True
    return Earlier(folder, before["name"], tuple(losses), any(losses.values()), _other(_BASELINE) in losses)


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


_BASELINE = "baseline"  # a field of a dataset; no number depends on it

# Fields of an experiment that list what its tables show: more of them lose nothing.
_LISTS = ("betas", "doses", "hidden", "tests", "metrics")


def _declared(experiment: Mapping[str, Any], model: type[Experiment]) -> dict[str, Any]:
    """Return a manifest's experiment as its file declares it, without entries that follow from the rest.

    These are refits, tuned settings, own learners that are baselines, and hidden bias. What cannot change
    numbers or tables is left out, and so are folders of cards.
    """
    facts = _experiment_of({"experiment": experiment}, model)
    techniques = [t for t in facts["techniques"] if not t.get("tuned")]
    names = [t["name"] for t in techniques]
    datasets = []
    for entry in facts["datasets"]:
        # Each bias is there once for each hidden gap.
        biases = {parted_name(b["name"])[0]: b for b in entry.get("bias", [])}
        datasets.append(
            {
                **_without_free(entry, DatasetEntry),
                "card": Path(entry["card"]).name,
                "techniques": [name for name in entry.get("techniques") or names if name in names],
                "bias": [{**bias, "name": name, "hidden": 0} for name, bias in biases.items()],
            }
        )
    return {
        **facts,
        "metrics": experiment.get("metrics", []),
        "tests": [test for test in facts.get("tests", [ORIGINAL]) if test != TRUTH],
        "techniques": [_without_free(entry, TechniqueEntry) for entry in techniques],
        "classifiers": [entry for entry in facts["classifiers"] if not entry.get("learner_of")],
        "datasets": datasets,
    }


def _other(word: str) -> str:
    word = {"hidden": "hidden gaps", "bias": "kinds of bias"}.get(word, word)
    return f"{'other' if word.endswith('s') else 'another'} {word}"


def _without_free(entry: Mapping[str, Any], model: type[Identifying]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name not in model.fields_of(Identity.FREE)}


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield each difference of two declared experiments, as a word, and whether numbers would be lost."""
    for field in filter(now.__contains__, before):
        ours, theirs = before[field], now[field]
        if field in ("datasets", "techniques", "classifiers"):
            yield from _differing_entries(field, *({e["name"]: e for e in own} for own in (ours, theirs)))
        elif not _agree(ours, theirs):
            contained = {*ours} <= {*theirs} if field in _LISTS else field == "repetitions" and ours < theirs
            yield field, not contained


def _differing_entries(
    field: str, before: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[tuple[str, bool]]:
    if before.keys() != now.keys():
        yield field, not before.keys() <= now.keys()
    for name in filter(now.__contains__, before):
        for part in _differing(before[name], now[name]):
            ours, theirs = before[name][part], now[name][part]
            lists = isinstance(ours, list) and isinstance(theirs, list)
            contained = part == _BASELINE or (lists and all(value in theirs for value in ours))
            if part != "techniques" or not contained:  # one that is added is among the experiment's
                yield part, not contained


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
