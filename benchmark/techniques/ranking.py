"""Rankers of rows, for techniques that change the rows near the decision boundary."""

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.techniques.base import Tools

Ranker: TypeAlias = Literal["naive_bayes", "naive_bayes_blind", "classifier"]


def rank(train: Table, tools: Tools, ranker: Ranker) -> NDArray[np.float64]:
    """Return a ranker's estimate of P(y+ | x) for each training row, shape (n_rows,).

    The rankers are naive Bayes on all columns, naive Bayes without the sensitive feature, and the classifier
    on all columns. Raises :class:`DeclinedError` if the classifier estimates no probabilities.
    """
    if ranker == "naive_bayes":
        return tools.ranker(train)
    if ranker == "naive_bayes_blind":
        # A column with one value everywhere says nothing about any row.
        blind = train
        for name in train.schema.sensitive_features:
            blind = blind.with_column(name, np.zeros(len(train), dtype=np.int16))
        return tools.ranker(blind)
    return tools.scorer(train, "the ranker")(train)
