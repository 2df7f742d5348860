"""C4.5 on categories against scikit-learn's tree on one-hot columns, trained on the same rows.

The trees are not the same: C4.5 splits on all states of a column at once and prunes, scikit-learn's tree
splits on single indicators and grows until its leaves are pure. Their accuracies stand beside the times. The
one-hot encoding is timed both in and out; where it is out, the encoded matrices were made beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmark.classifiers.c45 import C45Classifier
from benchmark.techniques.base import features_of
from tools.performance.prepared_inputs import biased_sample, datasets
from tools.performance.timing import Row, alternate

__all__ = ["measure"]


def measure(quick: bool) -> Iterator[Row]:
    """Time training, and training with prediction, on each dataset."""
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    for name, data in datasets(quick).items():
        train, test = biased_sample(name, quick), data.test
        columns = list(train.schema.feature_indices)
        cardinalities = train.schema.cardinalities[columns]
        X, y, X_test = features_of(train, columns), train.y.astype(np.int64), features_of(test, columns)
        categories = [np.arange(k) for k in cardinalities]

        def encoder(sparse: bool, categories: Any = categories) -> Any:
            return OneHotEncoder(categories=categories, sparse_output=sparse, dtype=np.float32)

        dense, dense_test = encoder(False).fit_transform(X), encoder(False).fit_transform(X_test)

        def ours(X: Any = X, y: Any = y, categories: Any = cardinalities) -> Any:
            return C45Classifier(categories=categories).fit(X, y)

        def theirs(X: Any = dense, y: Any = y) -> Any:
            return DecisionTreeClassifier(random_state=0).fit(X, y)

        # What closes over the loop's variables is used before they change, and binds them all the same.
        def encoded(sparse: bool, X: Any = X, encoder: Any = encoder, theirs: Any = theirs) -> Any:
            return theirs(encoder(sparse).fit_transform(X))

        def predicted(sparse: bool, X: Any = X_test, encoder: Any = encoder, encoded: Any = encoded) -> Any:
            return encoded(sparse).predict(encoder(sparse).fit_transform(X))

        fit: dict[str, Callable[[], Any]] = {
            "betabench, C4.5": ours,
            "scikit-learn, encoded beforehand": theirs,
            "scikit-learn, encoding included": partial(encoded, False),
            "scikit-learn, sparse encoding included": partial(encoded, True),
        }
        predict: dict[str, Callable[[], Any]] = {
            "betabench, C4.5": lambda ours=ours, X=X_test: ours().predict(X),
            "scikit-learn, encoded beforehand": lambda theirs=theirs, X=dense_test: theirs().predict(X),
            "scikit-learn, encoding included": partial(predicted, False),
            "scikit-learn, sparse encoding included": partial(predicted, True),
        }
        notes = {who: f"accuracy {np.mean(run() == test.y):.4f}" for who, run in predict.items()}
        size = len(train)
        yield from alternate("trees", f"{name}, fit", fit, size=size, notes=notes, quick=quick)
        yield from alternate(
            "trees", f"{name}, fit and predict", predict, size=size, notes=notes, quick=quick
        )
