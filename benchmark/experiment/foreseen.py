"""What is known of a run's answers before it starts."""

from __future__ import annotations

from collections.abc import Iterator

from benchmark.classifiers import make_classifier
from benchmark.experiment.evaluate import classifier_mismatch, configured_techniques
from benchmark.experiment.plan import Experiment
from benchmark.statistics.across import repetitions_needed


def foreseen(experiment: Experiment) -> Iterator[str]:
    """Yield sentences on what a run of an experiment cannot give, whatever the data."""
    yield from mismatches(experiment)
    if experiment.train == "network":  # the t-test of overlapping splits has no smallest p-value
        yield from too_few_repetitions(experiment)


def mismatches(experiment: Experiment) -> Iterator[str]:
    """Yield a sentence for each technique and classifier that do not fit: their cells are skipped."""
    techniques = configured_techniques(experiment)
    for entry in experiment.techniques:
        asked = [d for d in experiment.datasets if not d.techniques or entry.name in d.techniques]
        for classifier in experiment.classifiers:
            factory = make_classifier(classifier.classifier, classifier.parameters, classifier.encoding)
            found = (classifier_mismatch(techniques[dataset.name, entry.name], factory) for dataset in asked)
            for reason in dict.fromkeys(filter(None, found)):
                yield f"{entry.name} with {classifier.name} will be skipped: {reason}."


def too_few_repetitions(experiment: Experiment) -> Iterator[str]:
    """Yield a sentence for datasets on which no difference from the baseline can become significant.

    A family of tests are all techniques at all levels of bias on one dataset, with one bias, classifier and
    metric.
    """
    families: dict[int, list[str]] = {}
    for dataset in experiment.datasets:
        own = [
            t.name for t in experiment.techniques if not dataset.techniques or t.name in dataset.techniques
        ]
        if n_tests := sum(name != dataset.baseline for name in own) * len(experiment.betas):
            families.setdefault(n_tests, []).append(dataset.name)
    n = experiment.repetitions
    for n_tests, datasets in families.items():
        if n >= (needed := repetitions_needed(n_tests)):
            continue
        yield (
            ("" if len(families) == 1 else f"{', '.join(datasets)}: ")
            + f"with {n} repetition{'s' * (n != 1)} no difference from the baseline can be significant, "
            f"because Holm's correction takes {n_tests} test{'s' * (n_tests != 1)} together; {needed} "
            "repetitions would do."
        )
