"""The folder of a run whose statistics are known."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmark.columns import FAILURE_COLUMNS, RESULT_COLUMNS
from tests.helpers.made_up_folder import write_run_folder
from tests.helpers.made_up_runs import made_up_facts

TITLES = {"none": "None", "massaging": "Massaging", "reweighing": "Reweighing", "repair_0.5": "Repair 0.5"}
BETAS = (0.0, 0.5, 1.0)
GROUPS = {
    "deprived_favorable": 20,
    "deprived_unfavorable": 80,
    "favored_favorable": 50,
    "favored_unfavorable": 50,
}


# By how much a technique's discrimination and accuracy are above the baseline's, at each level of bias. The
# signs of what is added to them alternate with the repetition, so that its mean is 0.
SHIFTS: dict[str, list[tuple[float, float]]] = {
    "none": [(0, 0), (0, 0), (0, 0)],
    "massaging": [(-0.1, 0), (-0.2, -0.05), (0.0, 0)],
    "reweighing": [(0.05, 0), (-0.05, 0), (-0.05, 0)],
    "repair_0.5": [(-0.05, 0.02), (-0.05, 0.02), (-0.05, 0.02)],
}


def write_folder(
    folder: Path,
    *,
    names: tuple[str, ...] = ("one", "two"),
    repetitions: int = 10,
    tried: dict[str, tuple[str, ...]] | None = None,
    shares: bool = True,
    **changes: Any,
) -> Path:
    """Write what a run leaves: on the last dataset repair is skipped, on the first it fails twice at 0.

    Without ``shares``, it is one of a version that did not measure who is accepted.
    """
    rng = np.random.default_rng(7)
    results: list[tuple[object, ...]] = []
    failures: list[tuple[object, ...]] = []
    for dataset, (level, beta), repetition in itertools.product(names, enumerate(BETAS), range(repetitions)):
        sample = rng.normal(0, 0.01, 2)
        for technique in (tried or {}).get(dataset, tuple(TITLES)):
            cell = (dataset, "cpt", beta, technique, "c45", repetition)
            if technique == "repair_0.5" and (dataset == names[-1] or (beta == 0 and repetition < 2)):
                failures.append((*cell, "", "", "skipped", float("nan"), "there is nothing to repair"))
                continue
            shift, cost = SHIFTS[technique][level]
            own = 0.0 if technique == "none" else 0.0001 * (1 + repetition // 2) * (-1) ** repetition
            noise = 0.0 if cost == 0 else rng.normal(0, 0.001)
            discrimination = 0.3 + 0.4 * beta + sample[0] + shift + own
            results.append((*cell, "original", "discrimination", discrimination))
            results.append((*cell, "original", "accuracy", 0.8 - 0.1 * beta + sample[1] + cost + noise))
            if shares:
                results.append((*cell, "original", "accepted", 0.5))
                results.append((*cell, "original", "accepted_deprived", 0.5 - discrimination / 2))
                results.append((*cell, "original", "accepted_favored", 0.5 + discrimination / 2))
    entries = [
        {"card": dataset, "name": dataset, "baseline": "none", "bias": [{"name": "cpt"}]} for dataset in names
    ]
    manifest = {
        "experiment": {
            "name": "made_up",
            "title": "A made-up run",
            "seed": 1,
            "repetitions": repetitions,
            "betas": BETAS,
            "techniques": [
                {"technique": name.partition("_0")[0], "name": name, "title": title}
                for name, title in TITLES.items()
            ],
            "classifiers": [{"classifier": "c45", "name": "c45"}],
            "datasets": entries,
        },
        "datasets": {
            dataset: made_up_facts(dataset, test_groups=GROUPS, bias={"cpt": {}}) for dataset in names
        },
        "cells": {"planned": len(results) // (5 if shares else 2) + len(failures)},
        "versions": {"betabench": "0.1.0", "numpy": "2.4.6"},
        **changes,
    }
    frames = (
        pd.DataFrame(rows, columns=list(columns))
        for rows, columns in ((results, RESULT_COLUMNS), (failures, FAILURE_COLUMNS))
    )
    return write_run_folder(folder, manifest, *frames)
