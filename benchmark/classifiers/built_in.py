"""The classifiers that have a short name. A declaration is part of its classifier's cell keys alone."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ClassifierDeclaration:
    """A classifier that has a short name."""

    name: str
    path: str  # dotted path of the class
    summary: str  # one line for lists
    # The class's parameter for the numbers of states, shape (n_features,), if it reads codes as categories;
    # otherwise codes are one-hot encoded.
    cardinality_parameter: str | None = None
    settings: tuple[tuple[str, Any], ...] = ()  # parameters that differ from the class's defaults
    extra: str = ""  # the optional part of this package that brings the class, if any


BUILT_IN = (
    ClassifierDeclaration(
        "c45",
        "benchmark.classifiers.c45.C45Classifier",
        "C4.5 decision tree with pruning and subtree raising, as Weka's J48",
        "categories",
    ),
    ClassifierDeclaration(
        "naive_bayes", "sklearn.naive_bayes.CategoricalNB", "Naive Bayes on categories", "min_categories"
    ),
    ClassifierDeclaration(
        "logistic_regression",
        "sklearn.linear_model.LogisticRegression",
        "Logistic regression on one-hot columns",
    ),
    ClassifierDeclaration(
        "linear_svm", "sklearn.svm.LinearSVC", "Linear support vector machine on one-hot columns"
    ),
    ClassifierDeclaration(
        "decision_tree", "sklearn.tree.DecisionTreeClassifier", "CART decision tree on one-hot columns"
    ),
    ClassifierDeclaration(
        "random_forest", "sklearn.ensemble.RandomForestClassifier", "Random forest on one-hot columns"
    ),
    ClassifierDeclaration(
        "gradient_boosting",
        "sklearn.ensemble.HistGradientBoostingClassifier",
        "Histogram gradient boosting on one-hot columns",
    ),
    ClassifierDeclaration(
        "lightgbm",
        "lightgbm.LGBMClassifier",
        "Gradient boosting of LightGBM on one-hot columns (pip install 'betabench[lightgbm]')",
        # The same trees on every machine, whatever its number of cores, and no messages.
        settings=(("deterministic", True), ("force_row_wise", True), ("n_jobs", 1), ("verbose", -1)),
        extra="lightgbm",
    ),
)
"""This package's classifiers, in the order of registration."""
