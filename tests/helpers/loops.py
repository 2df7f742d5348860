"""Loops that numba compiles, which takes half a minute in a fresh clone."""

import warnings

from benchmark.estimator.fair_classifier import FairClassifier
from tests.helpers.people import people


def compile_all() -> None:
    """Train and ask every model that has such loops, once; their machine code is then on disk."""
    warnings.simplefilter("ignore")
    frame = people(200)
    X, y = frame.drop(columns=["hired", "id"]), frame["hired"]
    for technique in ("none", "reweighing", "lfr", "pfr", "zafar_2017"):
        FairClassifier(technique, sensitive="sex", deprived="f", favorable="yes").fit(X, y).predict(X)
