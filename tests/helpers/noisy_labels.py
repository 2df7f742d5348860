"""A population of known probabilities, biases of known size, and a learner that makes no error but noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmark.data.table import Table
from benchmark.techniques import Knowledge, Tools
from tests.helpers.tables import table

TRUE = np.array([0.1, 0.3, 0.45, 0.55, 0.7, 0.9])
"""True probability of a favorable label at each value of the only feature, in both groups."""


class Lookup:
    """The weighted share of favorable labels at each combination of features."""

    def __init__(self, cardinalities: Any = None) -> None:
        self.share: dict[tuple[int, ...], float] = {}

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Lookup:
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        for features in {*map(tuple, X.tolist())}:
            here = (np.array(features) == X).all(axis=1)
            self.share[features] = float(np.average(y[here], weights=weight[here]))
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        favorable = np.array([self.share[features] for features in map(tuple, X.tolist())])
        return np.column_stack([1 - favorable, favorable])

    def predict(self, X: np.ndarray) -> np.ndarray:
        return (self.predict_proba(X)[:, 1] >= 0.5).astype(int)


def tools(known: Knowledge | None = None, classifier: Callable[[Any], Any] = Lookup, **more: Any) -> Tools:
    given = {} if known is None else {"known": known}
    return Tools(classifier, None, np.random.default_rng(0), **given, **more)  # type: ignore[arg-type]


def population(
    deprived: Sequence[float] | np.ndarray = TRUE, favored: Sequence[float] | np.ndarray = TRUE, n: int = 200
) -> Table:
    """Return rows of both groups, n at each value of x0, with exactly these shares of favorable labels."""
    group, x, label = [], [], []
    for of_group, shares in enumerate((favored, deprived)):
        for value, share in enumerate(shares):
            favorable = round(n * float(share))
            group += [of_group] * n
            x += [value] * n
            label += [1] * favorable + [0] * (n - favorable)
    return table(group, label, x, states=len(deprived))


def one_of_each(data: Table) -> Table:
    """Return the first row of each group and value of x0, favored first."""
    return data.take(np.unique(data.codes[:, :2], axis=0, return_index=True)[1])


def rates(data: Table) -> tuple[float, float]:
    """Return the rates of favorable labels of the deprived and of all others."""
    return float(data.y[data.deprived].mean()), float(data.y[~data.deprived].mean())
