"""Rankers: who is near the decision boundary, for techniques that change the rows there."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.errors import TechniqueError
from benchmark.techniques.base import Tools

__all__ = ["Ranker", "rank"]

Ranker: TypeAlias = Literal["naive_bayes", "naive_bayes_blind", "classifier"]


def rank(train: Table, tools: Tools, ranker: Ranker) -> NDArray[np.float64]:
    """Estimate P(y+ | x) for each training row.

    Parameters
    ----------
    train : Table
        Training rows with their labels.
    tools : Tools
        Classifier and naive Bayes ranker.
    ranker : {"naive_bayes", "naive_bayes_blind", "classifier"}
        Naive Bayes on all columns; naive Bayes that does not see the sensitive feature; or the classifier
        itself, on all columns, trained on the same rows.

    Returns
    -------
    ndarray of float, shape (n_rows,)
        The estimates.

    Raises
    ------
    TechniqueError
        If the classifier is asked and gives no probabilities.
    """
    if ranker == "naive_bayes":
        return tools.ranker(train)
    if ranker == "naive_bayes_blind":
        # A column with one value everywhere tells nothing about anybody.
        return tools.ranker(
            train.with_column(train.schema.sensitive_feature, np.zeros(len(train), dtype=np.int16))
        )
    classifier = tools.classifier(train.feature_schema.cardinalities)
    classifier.fit(train.features, train.y.astype(np.int64))
    if not hasattr(classifier, "predict_proba"):
        raise TechniqueError(
            "The classifier cannot serve as ranker",
            expected="one that gives probabilities",
            got=f"{type(classifier).__name__} without predict_proba",
            remedy="choose another ranker or classifier",
        )
    return np.asarray(classifier.predict_proba(train.features), dtype=np.float64)[:, 1]
