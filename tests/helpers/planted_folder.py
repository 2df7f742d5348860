"""A made-up folder of a finished run with one classifier of each sort that is of no use."""

import itertools
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from benchmark.runs.manifest import GroupSizes
from tests.helpers.made_up_folder import BETAS, made_up_manifest, write_run_folder
from tests.helpers.made_up_runs import Cells, frames_of

PLANTED = {
    "none": "No technique",
    "useful": "Useful",
    "costly": "Useful, at a cost",
    "constant": "Refuses everybody",
    "nearly": "Nearly constant",
    "by_group": "Decides by group",
    "poor": "Worse than a constant",
    "same": "As the baseline",
}
USELESS = {
    "constant": "refuses more than 99 % of everybody",
    "nearly": "accepts more than 99 % of everybody",
    "by_group": "decides by group alone",
}
"""What degenerate techniques do: all but ``nearly`` in every sample."""

GROUPS = GroupSizes(40, 160, 120, 180)
CONSTANT = 340 / 500
REPETITIONS = 12
DATASETS = ("adult", "dutch:embedded")

# Shares of the favorable and of the unfavorable that are accepted, in the deprived and in the favored group.
_RATES = {
    "none": (0.4, 0.1, 0.8, 0.4),
    "useful": (0.7, 0.25, 0.7, 0.2),
    "costly": (0.5, 0.3, 0.6, 0.2),
    "constant": (0.0, 0.0, 0.0, 0.0),
    "nearly": (0.7, 0.25, 0.7, 0.2),
    "by_group": (1.0, 1.0, 0.0, 0.0),
    "poor": (0.4, 0.5, 0.4, 0.5),
    "same": (0.4, 0.1, 0.8, 0.4),
}


def planted_results(repetitions: int = REPETITIONS) -> pd.DataFrame:
    """Return metrics that belong to each other: those of classifiers that accept such shares of each group.

    ``nearly`` accepts everybody in one sample. On the second dataset the baseline itself refuses everybody at
    the greatest level of bias.
    """
    rng = np.random.default_rng(3)
    sizes = np.array([*vars(GROUPS).values()]).reshape(2, 2)

    def cells() -> Cells:
        for dataset, beta, technique, r in itertools.product(DATASETS, BETAS, PLANTED, range(repetitions)):
            rates = np.array(_RATES[technique]).reshape(2, 2)
            if technique == "nearly" and r == 0:
                rates = np.ones((2, 2))
            if technique == "costly":  # now one group is better off, now the other
                rates = rates + np.array([[0.02], [-0.02]]) * (-1) ** r
            if technique == "none" and dataset == DATASETS[1] and beta == BETAS[-1]:
                rates = np.zeros((2, 2))
            if technique in ("none", "same") and rates.any():
                rates = rates + np.array([[-0.1], [0.1]]) * beta
            noise = rng.uniform(-0.02, 0.02, (2, 2)) * ((rates > 0) & (rates < 1))
            accepted = np.clip(rates + noise, 0, 1) * sizes
            shares = accepted.sum(axis=1) / sizes.sum(axis=1)
            right = accepted[:, 0].sum() + (sizes - accepted)[:, 1].sum()
            yield (
                (dataset, "cpt", beta, technique, r),
                {
                    "discrimination": shares[1] - shares[0],
                    "accuracy": right / sizes.sum(),
                    "accepted": accepted.sum() / sizes.sum(),
                    "accepted_deprived": shares[0],
                    "accepted_favored": shares[1],
                },
            )

    return frames_of(cells())[0]


def write_planted_folder(
    folder: Path, repetitions: int = REPETITIONS, groups: Mapping[str, GroupSizes] | None = None
) -> Path:
    """Write the files of such a run, and return the folder.

    With six repetitions, no test can be significant. ``groups`` are test rows of some datasets, in place of
    those that the results are of.
    """
    manifest = made_up_manifest(PLANTED)
    manifest["experiment"] |= {"name": "planted", "title": "Planted", "repetitions": repetitions}
    for entry in manifest["experiment"]["datasets"]:
        entry["baseline"] = "none"
    for name, facts in manifest["datasets"].items():
        facts["test_groups"] = vars((groups or {}).get(name, GROUPS))
        facts["bias"]["cpt"]["acting"] = facts["bias"]["cpt"]["edits"]
    manifest["cells"] = {"planned": len(DATASETS) * len(BETAS) * len(PLANTED) * repetitions}
    return write_run_folder(folder, manifest, planted_results(repetitions))
