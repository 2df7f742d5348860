"""A run in which each of the two goals has another answer."""

import itertools
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from benchmark.experiment.telling import Telling
from benchmark.runs.finished import RunFrames
from benchmark.runs.manifest import (
    DatasetInExperiment,
    GroupSizes,
    MetricDescription,
    PlantedBias,
)
from tests.helpers.made_up_runs import ADULT, SHARES, changed, frames_of, made_up_technique, sample_run

METRICS = ("discrimination", "accuracy", "accepted", "accepted_deprived", "accepted_favored")
DISTANCE = "restoration_distance"
REPETITIONS = 10
CLEAN = (0.15, 0.84, 0.33, 0.26, 0.41, 0.0)
TECHNIQUES = {  # at beta 0.5: the metrics in this order, and the distance to the clean model
    "none": ("Nothing", (0.383, 0.80, 0.38, 0.19, 0.573, 0.20)),
    "undoes": ("Undoes", (0.16, 0.83, 0.33, 0.25, 0.41, 0.02)),
    "evens": ("Evens", (0.01, 0.78, 0.33, 0.325, 0.335, 0.14)),
    "refuses": ("Refuses", (0.001, 0.77, 0.02, 0.02, 0.021, 0.10)),
    "trifle": ("Trifle", (0.382, 0.80, 0.38, 0.19, 0.572, 0.199)),
    "levels": ("Levels", (0.02, 0.80, 0.15, 0.14, 0.16, 0.11)),
}


def run_of(**changes: Any) -> RunFrames:
    """Return the run, its manifest with other fields."""
    rng = np.random.default_rng(28)
    cells = []
    for beta, (name, (_, values)), r in itertools.product((0.0, 0.5), TECHNIQUES.items(), range(REPETITIONS)):
        noisy = np.abs(np.array(CLEAN if beta == 0 else values) + rng.normal(0, 0.0005, 6))
        told = dict(zip((*METRICS, DISTANCE), noisy, strict=True))
        cells.append((("adult", "label", beta, name, r), told))
    dataset = replace(
        ADULT,
        entry=DatasetInExperiment(name="adult", baseline="none"),
        bias=(PlantedBias("label", kind="label", description="labels are turned"),),
        test_groups=GroupSizes(260, 740, 410, 590),
    )
    manifest = changed(
        sample_run(repetitions=2).description,
        **{
            "name": "two_goals",
            "repetitions": REPETITIONS,
            "betas": (0.0, 0.5),
            "techniques": tuple(made_up_technique(name, title) for name, (title, _) in TECHNIQUES.items()),
            "datasets": (dataset,),
            "metrics": (
                *(MetricDescription(name, name.capitalize(), 0.0) for name in METRICS[:2]),
                MetricDescription(DISTANCE, "Distance to the clean model", 0.0),
                *SHARES,
            ),
            "headline": (*METRICS[:2], DISTANCE),
            "paired_betas": True,
            "durations_in_seconds": {"this_run": 1.0, "all_cells": 2.0},
            "platform": {"system": "Linux", "cores": 2},
            **changes,
        },
    )
    manifest.experiment.settings = {}  # those of the sample are of other datasets
    return RunFrames.of(manifest, *frames_of(cells))


def told_run(told: Mapping[str, Telling], only: Collection[str] = (*TECHNIQUES,)) -> RunFrames:
    """Return the run with some of its techniques; those that are told something come last, in this order."""
    names = [*(name for name in only if name not in told), *(name for name in told if name in only)]
    entries = [made_up_technique(name, TECHNIQUES[name][0]) for name in names]
    run = run_of(techniques=tuple(e.model_copy(update={"told": told.get(e.name)}) for e in entries))
    results = run.results[run.results["technique"].isin(names)]
    return RunFrames.of(run.manifest, results, run.failures)
