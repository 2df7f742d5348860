"""Small results whose statistics can be told by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmark.columns import RESULT_COLUMNS


@dataclass(frozen=True)
class Aim:
    """What is good for a metric."""

    ideal: float | None
    direction: str


GOALS = {
    "accuracy": Aim(1.0, "higher"),
    "discrimination": Aim(0.0, "closer_to_ideal"),
    "loss": Aim(0.0, "lower"),
    "size": Aim(None, "none"),
}


def results(
    values: Mapping[str, Sequence[float]],
    *,
    dataset: str = "one",
    beta: float = 0.0,
    metric: str = "accuracy",
    test: str = "original",
) -> pd.DataFrame:
    """Return one value for each technique and repetition; a repetition that is None has no row."""
    rows = [
        (dataset, "cpt", beta, technique, "c45", repetition, test, metric, value)
        for technique, own in values.items()
        for repetition, value in enumerate(own)
        if value is not None
    ]
    return pd.DataFrame(rows, columns=list(RESULT_COLUMNS))


def random_results(seed: int = 0, n: int = 6) -> pd.DataFrame:
    """Return two datasets, three levels of bias, three techniques and two metrics with random values."""
    rng = np.random.default_rng(seed)
    return pd.concat(
        [
            results(
                {
                    name: (level + rng.normal(0, 0.05, n)).tolist()
                    for level, name in enumerate("abc", start=1)
                },
                dataset=dataset,
                beta=beta,
                metric=metric,
            )
            for dataset in ("one", "two")
            for beta in (0.0, 0.5, 1.0)
            for metric in ("accuracy", "discrimination")
        ],
        ignore_index=True,
    )
