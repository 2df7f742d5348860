"""What is known of a run's answers before it starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from benchmark.classifiers import make_classifier
from benchmark.columns import OWN, UNTREATED
from benchmark.experiment.entries import NOBODY_HAS
from benchmark.experiment.evaluate import classifier_mismatch, configured_techniques
from benchmark.experiment.own import cells_on, own_baselines, unconstrained
from benchmark.experiment.plan import Experiment
from benchmark.experiment.versions import NOT_INSTALLED, versions_of
from benchmark.statistics.few import FEW, few_words
from benchmark.techniques import find_technique, list_techniques
from benchmark.techniques._search import search_space

_EXTRAS = {"torch": "'betabench[adversarial]'"}
"""Packages that an extra of this one brings, by name: pyproject.toml."""


def foreseen(experiment: Experiment) -> Iterator[str]:
    """Yield sentences on what a run of an experiment cannot give, whatever the data."""
    yield from missing_packages(experiment)
    yield from mismatches(experiment)
    if experiment.tune is not None and not any(entry.tuned for entry in experiment.techniques):
        names = [name for name, own in list_techniques().items() if search_space(own)]
        yield (
            "nothing will be tuned, because no technique of the experiment has a parameter to look for that "
            f"the file does not give; these have: {', '.join(names)}."
        )
    yield from other_learners(experiment)
    if experiment.train == "network":  # the t-test of overlapping splits has no smallest p-value
        yield from too_few_repetitions(experiment)


def missing_packages(experiment: Experiment) -> Iterator[str]:
    """Yield a sentence for each package that techniques need and that is not installed."""
    tried = {name for dataset in experiment.datasets for name, _ in cells_on(experiment, dataset)}
    needed: dict[str, list[str]] = {}
    for entry in experiment.techniques:
        technique = find_technique(entry.technique)
        for package in technique.packages if technique is not None and entry.name in tried else ():
            needed.setdefault(package, []).append(entry.name)
    for package, names in needed.items():
        if versions_of([package])[package] == NOT_INSTALLED:
            yield (
                f"{', '.join(names)} cannot run: {package} is not installed; pip install "
                f"{_EXTRAS.get(package, package)}."
            )


def mismatches(experiment: Experiment) -> Iterator[str]:
    """Yield a sentence for each technique and classifier that do not fit: their cells are skipped."""
    techniques = configured_techniques(experiment)
    cells = {dataset.name: set(cells_on(experiment, dataset)) for dataset in experiment.datasets}
    for entry in experiment.techniques:
        for classifier in experiment.classifiers:
            factory = make_classifier(classifier.classifier, classifier.parameters, classifier.encoding)
            asked = [name for name, own in cells.items() if (entry.name, classifier.name) in own]
            found = (classifier_mismatch(techniques[name, entry.name], factory) for name in asked)
            for reason in dict.fromkeys(filter(None, found)):
                yield f"{entry.name} with {classifier.name} will be skipped: {reason}."


def other_learners(experiment: Experiment) -> Iterator[str]:
    """Yield a sentence on techniques whose own learner is compared with another one.

    What the learners differ by is then taken for what the techniques do: Cruz and Hardt (2024), Unprocessing
    seven years of algorithmic fairness, ICLR, find comparisons of unequal base models misleading.
    """
    asked = [d for d in experiment.datasets if d.baseline != OWN]
    tried = {name for dataset in asked for name, _ in cells_on(experiment, dataset)}
    others = {dataset.baseline for dataset in asked}
    found = [
        t.name
        for t in experiment.techniques
        if t.name in tried - others and unconstrained(t.technique) is not None
    ]
    if found:
        yield (
            f"{', '.join(found)}: compared with another learner than the technique's own, so that what the "
            "two differ by counts as what mitigation does (Cruz and Hardt 2024); "
            f'baseline = "{OWN}" compares each with its own learner without mitigation.'
        )


def too_few_repetitions(experiment: Experiment) -> Iterator[str]:
    """Yield a sentence for datasets on which hardly any difference from the baseline can be shown.

    Intervals hold for all techniques at a level of bias together, on one dataset, with one bias and
    classifier. What is tuned on rows that nobody has is not compared.
    """
    untested = {entry.name for entry in experiment.techniques if entry.tuned in NOBODY_HAS}
    found: dict[tuple[int, int], list[str]] = {}
    for dataset in experiment.datasets:
        cells = cells_on(experiment, dataset)
        compared = set(own_baselines(experiment).values()) | {UNTREATED}
        known = compared if dataset.baseline == OWN else {dataset.baseline}
        together = Counter(classifier for name, classifier in cells if name not in known | untested)
        splits = experiment.repetitions * (dataset.folds or experiment.folds or 1)
        for n_techniques in set(together.values()):
            found.setdefault((splits, n_techniques), []).append(dataset.name)
    few = {where: names for where, names in found.items() if where[0] < FEW}
    for (n, n_techniques), datasets in few.items():
        words = few_words(n, n_techniques)
        yield ("" if len(few) == 1 else f"{', '.join(datasets)}: ") + words[0].lower() + words[1:]
