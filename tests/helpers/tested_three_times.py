"""A made-up run of two datasets, two biases and three tests, planted so that pooled tests would show."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmark.columns import BALANCED, BIASED, ORIGINAL
from tests.helpers.made_up_folder import made_up_manifest, write_run_folder
from tests.helpers.made_up_runs import Cells, frames_of
from tests.helpers.planted_folder import GROUPS

TESTS = (ORIGINAL, BIASED, BALANCED)
BIASES = ("label", "under")
BETAS = (0.0, 0.5, 1.0)
REPETITIONS = 8
TECHNIQUES = {"none": "None", "massaging": "Massaging", "reweighing": "Reweighing", "gone": "Gone"}
METRICS = ("discrimination", "accuracy", "accepted", "accepted_deprived", "accepted_favored")
# By how much discrimination and accuracy are lower than the baseline's on original rows: elsewhere, higher.
_GAINS = {"none": (0.0, 0.0), "massaging": (0.15, 0.05), "reweighing": (0.05, 0.01), "gone": (0.02, 0.0)}
_LEVELS = {ORIGINAL: (0.0, 0.0), BIASED: (0.2, 0.04), BALANCED: (-0.1, -0.3)}


def frames(tests: Sequence[str] = TESTS) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return results and failures: at β = 1 a technique is skipped, and one balanced value is undefined."""
    rng = np.random.default_rng(0)

    def cells() -> Cells:
        where = ("adult", "dutch:embedded"), BIASES, BETAS, TECHNIQUES, range(REPETITIONS)
        for cell in itertools.product(*where):
            dataset, _, beta, technique, repetition = cell
            if technique == "gone" and beta == BETAS[-1]:
                yield cell, "there is nothing to do"
                continue
            values: dict[Any, Any] = {}
            for test in TESTS:
                sign = 1 if test == ORIGINAL else -1
                noise = rng.normal(0, 0.004, 2)
                left, right = np.array(_LEVELS[test]) - sign * np.array(_GAINS[technique]) + noise
                left, right = left + 0.1 + 0.3 * beta, right + 0.8 - 0.05 * beta
                told = left, right, 0.4, 0.4 - left / 2, 0.4 + left / 2
                values |= {(test, metric): value for metric, value in zip(METRICS, told, strict=True)}
            if (technique, dataset, repetition) == ("reweighing", "adult", 0):
                values[BALANCED, METRICS[0]] = "a group has no weight"
            yield cell, values

    first, second = (f[f["test"].isin(["", *tests])].reset_index(drop=True) for f in frames_of(cells()))
    return first, second


def write_tested_folder(folder: Path, tests: Sequence[str] = TESTS) -> Path:
    """Write the files of a run that was scored on some of the tests, without figures; return the folder."""
    manifest = made_up_manifest(TECHNIQUES)
    manifest["experiment"] |= {"name": "tested", "repetitions": REPETITIONS, "tests": list(tests)}
    for entry in manifest["experiment"]["datasets"]:
        entry |= {"baseline": "none", "bias": [{"name": bias} for bias in BIASES]}
    for name, facts in manifest["datasets"].items():
        own = facts["bias"].pop("cpt")
        facts["bias"] = {bias: own | {"acting": own["edits"]} for bias in BIASES}
        facts |= {"test_groups": vars(GROUPS), "title": name.partition(":")[0].capitalize()}
    ideals = dict(zip(METRICS, (0.0, 1.0, None, None, None), strict=True))
    manifest["metrics"] = [{"name": m, "title": m.capitalize(), "ideal": i} for m, i in ideals.items()]
    manifest["headline"] = list(METRICS[:2])
    manifest["cells"] = {"planned": 2 * len(BIASES) * len(BETAS) * len(TECHNIQUES) * REPETITIONS}
    return write_run_folder(folder, manifest, *frames(tests))
