"""Classifiers: C4.5, any scikit-learn classifier by name, and the ranker."""

from benchmark.classifiers.built_in import ClassifierDeclaration
from benchmark.classifiers.factories import (
    ClassifierFactory,
    list_classifiers,
    make_classifier,
    naive_bayes_ranker,
)

__all__ = [
    "ClassifierDeclaration",
    "ClassifierFactory",
    "list_classifiers",
    "make_classifier",
    "naive_bayes_ranker",
]
