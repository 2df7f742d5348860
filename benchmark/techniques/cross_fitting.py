"""Probabilities of rows by classifiers that were trained without them."""

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.errors import DeclinedError
from benchmark.techniques.base import Array, Tools


def cross_fitted(train: Table, tools: Tools, n_folds: int, technique: str) -> Array:
    """Return estimates of P(y+ | x) by the classifier, trained without the row's fold; shape (n_rows,).

    Raises :class:`DeclinedError` in the technique's name if the classifier estimates no probabilities, or a
    class has fewer than two rows.
    """
    fold = _folds(train.y, n_folds, tools.rng)
    score = np.empty(len(train))
    for part in range(n_folds):
        inside = fold == part
        if inside.any():
            score[inside] = tools.scorer(train.take(np.flatnonzero(~inside)), technique)(
                train.take(np.flatnonzero(inside))
            )
    return score


def _folds(y: NDArray[np.bool_], n_folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the fold of each row, drawn so that each fold has its share of both classes."""
    fold = np.empty(len(y), dtype=np.int64)
    for label in (False, True):
        rows = np.flatnonzero(y == label)
        if len(rows) < 2:
            raise DeclinedError(
                "Too few rows of one class to train without some of them",
                expected="two rows of each class or more",
                got=str(len(rows)),
                remedy="draw a larger sample",
            )
        fold[rng.permutation(rows)] = np.arange(len(rows)) % n_folds
    return fold
