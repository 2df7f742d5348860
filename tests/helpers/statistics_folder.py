"""The folder of a run whose statistics are known."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.runs.manifest import GroupSizes
from tests.helpers.made_up_folder import write_run_folder
from tests.helpers.made_up_runs import Cells, facts_of_run, frames_of

TITLES = {"none": "None", "massaging": "Massaging", "reweighing": "Reweighing", "repair_0.5": "Repair 0.5"}
BETAS = (0.0, 0.5, 1.0)
GROUPS = vars(GroupSizes(20, 80, 50, 50))

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

    def cells() -> Cells:
        for dataset, (level, beta), r in itertools.product(names, enumerate(BETAS), range(repetitions)):
            sample = rng.normal(0, 0.01, 2)
            for technique in (tried or {}).get(dataset, tuple(TITLES)):
                where = (dataset, "cpt", beta, technique, r)
                if technique == "repair_0.5" and (dataset == names[-1] or (beta == 0 and r < 2)):
                    yield where, "there is nothing to repair"
                    continue
                shift, cost = SHIFTS[technique][level]
                own = 0.0 if technique == "none" else 0.0001 * (1 + r // 2) * (-1) ** r
                noise = 0.0 if cost == 0 else rng.normal(0, 0.001)
                gap = 0.3 + 0.4 * beta + sample[0] + shift + own
                values = {"discrimination": gap, "accuracy": 0.8 - 0.1 * beta + sample[1] + cost + noise}
                accepted = {"accepted": 0.5, "accepted_deprived": 0.5 - gap / 2}
                yield where, values | (accepted | {"accepted_favored": 0.5 + gap / 2} if shares else {})

    results, failures = frames_of(cells())
    planned = len(results) // (5 if shares else 2) + len(failures)
    given = {"cells": {"planned": planned}, "versions": {"betabench": "0.1.0", "numpy": "2.4.6"}, **changes}
    datasets = {name: {"test_groups": GROUPS} for name in names}
    experiment = {"repetitions": repetitions, "betas": BETAS}
    facts = facts_of_run(datasets, TITLES, experiment=experiment) | given
    return write_run_folder(folder, facts, results, failures)
