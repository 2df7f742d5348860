"""Techniques that bring a learner of their own: what they are compared with, and which cells there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from benchmark.columns import OWN
from benchmark.declarations import title_of
from benchmark.experiment.entries import DatasetEntry, TechniqueEntry
from benchmark.techniques import Technique, find_technique, get_technique

if TYPE_CHECKING:
    from benchmark.experiment.plan import Experiment


def unconstrained(technique: str) -> Mapping[str, Any] | None:
    """Return the parameters at which a technique is its own learner, or None if it takes a classifier."""
    found = find_technique(technique)
    return None if found is None else found.unconstrained


def is_own_learner(technique: Technique) -> bool:
    """Whether a configured technique is a learner of its own, without mitigation."""
    own = technique.unconstrained
    return own is not None and technique.parameters == {**technique.parameters, **own}


def is_unconstrained(entry: TechniqueEntry) -> bool:
    """Whether an entry of an experiment is a learner of a technique's own, without mitigation."""
    return _brings(entry) and is_own_learner(get_technique(entry.technique, **entry.parameters))


def own_baselines(experiment: Experiment) -> dict[str, str]:
    """Return what each technique with a learner of its own is compared with on datasets that ask for that.

    Both are names of entries; empty where no dataset asks.
    """
    if not any(dataset.baseline == OWN for dataset in experiment.datasets):
        return {}
    # Of equal ones the first.
    found = {_learner(e): e.name for e in reversed(experiment.techniques) if is_unconstrained(e)}
    return {e.name: found[_learner(e)] for e in experiment.techniques if _brings(e) and _learner(e) in found}


def with_own_baselines(experiment: Experiment) -> Experiment:
    """Return an experiment with an entry for each learner that techniques bring, where datasets ask for it.

    It stands before the first technique that is compared with it; a learner that has an entry already is not
    added. Raises what :func:`benchmark.techniques.get_technique` does.
    """
    known, names = own_baselines(experiment), {entry.name for entry in experiment.techniques}
    if not any(dataset.baseline == OWN for dataset in experiment.datasets):
        return experiment
    entries: list[TechniqueEntry] = []
    added: dict[Technique, str] = {}
    for entry in experiment.techniques:
        if _brings(entry) and entry.name not in known and (learner := _learner(entry)) not in added:
            short = f"{entry.technique}_unconstrained"
            first = short not in names
            added[learner] = name = short if first else f"{entry.name}_unconstrained"
            names.add(name)
            title = f"{title_of(entry.technique) if first else entry.title} unconstrained"
            parameters = {**entry.parameters, **(unconstrained(entry.technique) or {})}
            entries.append(
                TechniqueEntry(technique=entry.technique, name=name, title=title, parameters=parameters)
            )
        entries.append(entry)
    whole = experiment.model_copy(update={"techniques": tuple(entries)})
    baselines = own_baselines(whole)
    given = tuple(entry.name for entry in experiment.techniques)

    def techniques_on(dataset: DatasetEntry) -> tuple[str, ...]:
        if dataset.baseline == OWN:
            own = dataset.techniques
            return tuple(dict.fromkeys((*own, *(baselines[name] for name in own if name in baselines))))
        return dataset.techniques or (given if added else ())

    datasets = tuple(d.model_copy(update={"techniques": techniques_on(d)}) for d in experiment.datasets)
    return whole.model_copy(update={"datasets": datasets})


def cells_on(experiment: Experiment, dataset: DatasetEntry) -> tuple[tuple[str, str], ...]:
    """Return names of technique and classifier of each cell of a block, in the experiment's order.

    Techniques with a learner of their own have one cell where they are compared with that.
    """
    classifiers = [classifier.name for classifier in experiment.classifiers]
    return tuple(
        (entry.name, classifier)
        for entry in experiment.techniques
        if not dataset.techniques or entry.name in dataset.techniques
        for classifier in ([OWN] if dataset.baseline == OWN and _brings(entry) else classifiers)
    )


def _brings(entry: TechniqueEntry) -> bool:
    return unconstrained(entry.technique) is not None


def _learner(entry: TechniqueEntry) -> Technique:
    return get_technique(entry.technique, **{**entry.parameters, **(unconstrained(entry.technique) or {})})
