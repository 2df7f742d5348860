"""What is known of a run's answers before it starts."""

from __future__ import annotations

from collections.abc import Iterator

from benchmark.experiment.plan import Experiment
from benchmark.statistics.across import repetitions_needed

__all__ = ["too_few_repetitions"]


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
