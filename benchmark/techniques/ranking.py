"""Rankers: who is near the decision boundary, for techniques that change the rows there."""

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.techniques._checks import scorer_of
from benchmark.techniques.base import Tools

Ranker: TypeAlias = Literal["naive_bayes", "naive_bayes_blind", "classifier"]


def rank(train: Table, tools: Tools, ranker: Ranker) -> NDArray[np.float64]:
    """Estimate P(y+ | x) for each training row, shape (n_rows,).

    By naive Bayes on all columns; by naive Bayes that does not see the sensitive feature; or by the
    classifier itself, on all columns, trained on the same rows. Raises :class:`DeclinedError` if the
    classifier is asked and estimates no probabilities.
    """
    if ranker == "naive_bayes":
        return tools.ranker(train)
    if ranker == "naive_bayes_blind":
        # A column with one value everywhere says nothing about any row.
        blind = train
        for name in train.schema.sensitive_features:
            blind = blind.with_column(name, np.zeros(len(train), dtype=np.int16))
        return tools.ranker(blind)
    classifier, features = tools.learner(train)
    X = features(train)
    classifier.fit(X, train.y.astype(np.int64))
    return scorer_of(classifier, "the ranker")(X)
