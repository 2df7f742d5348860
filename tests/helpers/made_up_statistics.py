"""Statistics of made-up runs."""

import itertools
from functools import cache

import numpy as np

from benchmark.runs.analysis import RunStatistics, run_statistics
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import DatasetInExperiment, GroupSizes, metric_description
from tests.helpers.made_up_runs import (
    HOSTILE_TITLES,
    frames_of,
    made_up_dataset,
    made_up_technique,
    manifest_of,
)

BETAS = (0.0, 0.5, 1.0)
METRICS = ("discrimination", "accuracy")
WARNING = "2 datasets are too few for a claim beyond them"


@cache
def statistics(n_techniques: int, repetitions: int = 4) -> RunStatistics:
    """Return the statistics of a made-up run of two datasets; the last technique fails at the last level."""
    rng = np.random.default_rng(n_techniques)
    names = [f"technique_{i}" for i in range(n_techniques)]
    cells = []
    for dataset, beta, (i, name) in itertools.product(("one", "two"), BETAS, enumerate(names)):
        level = np.array([0.2 + 0.5 * beta - 0.02 * (i % 9), 0.85 - 0.1 * beta - 0.01 * (i % 5)])
        gone = i == n_techniques - 1 > 1 and beta == 1
        for repetition, own in enumerate(level + rng.normal(0, 0.01, (repetitions, 2))):
            values = dict(zip(METRICS, own * np.nan if gone else own, strict=True))
            cells.append(((dataset, "cpt", beta, name, repetition), values))
    run = manifest_of(
        name="made_up",
        title="A made-up run",
        repetitions=repetitions,
        betas=BETAS,
        techniques=[
            made_up_technique(name, HOSTILE_TITLES[i % len(HOSTILE_TITLES)] + f" {i}")
            for i, name in enumerate(names)
        ],
        classifiers=("c45",),
        metrics=[metric_description(name) for name in METRICS],
        datasets=[
            made_up_dataset(
                name,
                warning="beware" if name == "two" else None,
                entry=DatasetInExperiment(name=name, baseline=names[0]),
                test_groups=GroupSizes(20, 80, 50, 50),
            )
            for name in ("one", "two")
        ],
    )
    return run_statistics(RunFrames.of(run, *frames_of(cells)))
