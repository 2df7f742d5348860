"""What ``betabench quick`` asks unless told otherwise: a first look at data that nobody has tried.

The command line reads it, so that it imports nothing; :mod:`benchmark.experiment.first_file` makes the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

DATASET = "data"
"""Name of the dataset in every first look: random numbers hang on it, and must not on a file's name."""

BIAS, DOSES, CLASSIFIERS, SEED = "label", (0.05, 0.1), ("c45",), 1
"""What is tried unless something else is asked for; dose 0, nothing planted, always is."""

MOST_ROWS = 50_000
"""Rows of a training sample, of a larger table."""

MOST_REPETITIONS, LEAST_REPETITIONS = 30, 10
"""Repetitions where they take about a minute; where they take longer, fewer, but not below the least."""

FOLDED_BELOW, FOLDS, HOLDOUT = 10_000, 3, 0.3
"""Rows below which every one is tested on, in so many folds; of more rows, the share kept for testing.

At the same cost, means over folds hang less on chance: of 200 rows and six seeds their standard deviation is
0.012 with ten times three folds and 0.015 with thirty holdouts, of 2,000 rows 0.004 and 0.007. Holdouts of
200 rows have so few people of a group that in one of thirty nearly half of the techniques answer all alike.
"""

TECHNIQUES = (
    *("none", "drop_sensitive", "reweighing", "massaging", "preferential_sampling"),
    *("exponentiated_gradient", "equalized_odds", "threshold_optimizer"),
)
"""Doing nothing, and seven techniques that are compared with it."""


@dataclass(frozen=True)
class Asked:
    """What is asked of a first look; without repetitions, the time that they take decides.

    Levels of bias are ``doses``, by default :data:`DOSES`, or ``betas``. ``true_rates`` are shares of people
    who should have the favorable label, by group in the words of the file.
    """

    bias: str = BIAS
    doses: tuple[float, ...] | None = None
    betas: tuple[float, ...] | None = None
    classifiers: tuple[str, ...] = CLASSIFIERS
    repetitions: int | None = None
    seed: int = SEED
    true_rates: Mapping[str, float] | None = None
