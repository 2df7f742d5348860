"""Options of ``betabench quick``; the command line reads them, so this module imports nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

DATASET = "data"
"""Name of the dataset in every first look: random numbers depend on it, and not on the file's name."""

BIAS, DOSES, CLASSIFIERS, SEED = "label", (0.05, 0.1), ("c45",), 1
"""The defaults; dose 0, without bias, is always tried as well."""

MOST_ROWS = 50_000  # most rows of a training sample
MOST_REPETITIONS, LEAST_REPETITIONS = 30, 10  # if they take about a minute, and if they take longer

FOLDED_BELOW, FOLDS, HOLDOUT = 10_000, 3, 0.3
"""Tables with fewer rows are tested in folds, so that each row is tested; else the share of rows for testing.

At the same cost, means over folds depend less on chance. With six seeds and 200 rows their standard deviation
is 0.012 with ten times three folds and 0.015 with thirty holdouts; with 2,000 rows it is 0.004 and 0.007.
Holdouts of 200 rows have so few people of a group that in one of thirty nearly half of the techniques give
all rows one answer.
"""

_FAVORED_RATE = {
    "technique": "reweighing",
    "name": "reweighing_favored",
    "title": "Reweighing, favored rate",
    "parameters": {"rate": "favored"},
}
_OTHERS = (
    *("massaging", "preferential_sampling"),
    *("exponentiated_gradient", "equalized_odds", "threshold_optimizer"),
)
TECHNIQUES: Mapping[str, str | Mapping[str, object]] = {
    **{name: name for name in ("none", "drop_sensitive", "reweighing")},
    "reweighing_favored": _FAVORED_RATE,
    **{name: name for name in _OTHERS},
}
"""No mitigation, and eight techniques that are compared with it, among them those that `recommend` names.

The entries of an experiment file, by name.
"""

OTHER_CLASSIFIERS, OTHER_REPETITIONS = ("logistic_regression", "gradient_boosting"), 5
"""Classifiers that may be clearly more accurate than the used one, and the repetitions that show it."""


@dataclass(frozen=True)
class QuickOptions:
    """The options of a first look."""

    bias: str = BIAS
    doses: Sequence[float] | None = None  # by default :data:`DOSES`, unless ``betas`` are given
    betas: Sequence[float] | None = None
    classifiers: Sequence[str] = CLASSIFIERS
    repetitions: int | None = None  # by default as many as the time allows
    seed: int = SEED
    accept: float | None = None  # share of test rows that each technique accepts, by its own scores
    # Right shares of favorable labels, by group as in the file, or as text: "F=0.4,M=0.42".
    true_rates: Mapping[object, float] | str | None = None
    techniques: Sequence[str] | None = None  # by default :data:`TECHNIQUES`
    stage: str | None = None  # only techniques that change the data, the training or the predictions
    plugins: Sequence[str | Path] = ()  # files that register more of all kinds
