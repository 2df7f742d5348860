"""Adapters of fairlearn's techniques."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.techniques._foreign import (
    CONSTRAINTS,
    COUNT,
    GRADIENT,
    GRID,
    ORDINAL,
    REDUCED,
    SHARE,
    STATES,
    TREATMENT,
    TWO_GROUPS,
    WEIGHT,
    Codes,
    Description,
    Rules,
    enclosed,
    encoded,
    library,
    new_seed,
    recoded,
)
from benchmark.techniques.base import Array, Interval, Predictor, Prepared, Tools, features_of
from benchmark.techniques.post_processing import Adjustment, Scored
from benchmark.techniques.threshold_optimizer import optimized


def _fit(model: Any, X: NDArray[Any], train: Table, seed: int) -> None:
    """Fit a model of the library to features, shape (n_rows, n_features), labels and groups."""
    with enclosed(seed):
        model.fit(X, train.y.astype(int), sensitive_features=train.deprived.astype(int))


def _correlation_remover(technique: Any, train: Table, tools: Tools) -> Prepared:
    encoding = encoded(train, technique.treatment)
    remover_class = library("fairlearn.preprocessing.CorrelationRemover")
    remover = remover_class(sensitive_feature_ids=[0], **technique.options)

    def rows(table: Table) -> Array:
        return np.column_stack([table.deprived, encoding.features(table)])

    with enclosed():
        remover.fit(rows(train))
    return recoded(train, lambda table: remover.transform(rows(table)), technique.states)


def _prototypes(technique: Any, train: Table, tools: Tools) -> Prepared:
    encoding, seed = encoded(train, technique.treatment), new_seed(tools)
    learner_class = library("fairlearn.preprocessing.PrototypeRepresentationLearner")
    learner = learner_class(**technique.options, random_state=seed)
    _fit(learner, encoding.features(train), train, seed)
    return recoded(train, lambda table: learner.transform(encoding.features(table)), technique.states)


def _reduction(name: str) -> Callable[[Any, Table, Tools], Predictor]:
    def run(technique: Any, train: Table, tools: Tools) -> Predictor:
        columns, seed, options = list(train.schema.insensitive_indices), new_seed(tools), technique.options
        bound = options.pop("difference_bound")
        constraints = library(f"fairlearn.reductions.{options.pop('constraints')}")(difference_bound=bound)
        cardinalities = train.schema.cardinalities[columns]
        estimator = Codes(lambda: tools.classifier(cardinalities), technique.name)
        reduction = library(f"fairlearn.reductions.{name}")(estimator, constraints, **options)
        _fit(reduction, features_of(train, columns), train, seed)

        def predict(test: Table) -> NDArray[np.bool_]:
            with enclosed(seed):  # a lottery draws from NumPy's global generator by default
                return np.asarray(np.asarray(reduction.predict(features_of(test, columns))) == 1)

        return Predictor(predict)

    return run


def _threshold_optimizer(technique: Any, held_out: Scored, tools: Tools) -> Adjustment:
    seed = new_seed(tools)
    with enclosed(seed):
        learned = optimized(held_out, seed, **technique.options)

    def adjust(test: Scored) -> NDArray[np.bool_]:
        with enclosed(seed):
            return learned(test)

    return adjust


def _adversarial(technique: Any, train: Table, tools: Tools) -> Predictor:
    from benchmark.techniques.adversarial import one_torch_thread

    torch: Any = import_module("torch")
    encoding = encoded(train, technique.treatment, use_sensitive=True)
    seed, options = new_seed(tools), technique.options
    units = options.pop("units")
    classifier_class = library("fairlearn.adversarial.AdversarialFairnessClassifier")
    classifier = classifier_class(
        backend="torch",
        predictor_model=[units] if units else [],
        adversary_model=[],
        random_state=seed,
        **options,
    )
    state = torch.random.get_rng_state()
    try:
        with one_torch_thread(torch):
            torch.manual_seed(seed)
            _fit(classifier, encoding.features(train), train, seed)
    finally:
        torch.random.set_rng_state(state)

    def predict(test: Table) -> NDArray[np.bool_]:
        with enclosed(seed), one_torch_thread(torch):
            return np.asarray(np.ravel(classifier.predict(encoding.features(test))) == 1)

    return Predictor(predict)


_REDUCTION: Rules = {**CONSTRAINTS, "difference_bound": (Annotated[float, Interval(0.001, 1)], 0.01)}
_REDUCED = {**REDUCED, "needs_sensitive": False}

DESCRIPTIONS: dict[str, Description] = {
    "CorrelationRemover": Description(
        "correlation_remover",
        _correlation_remover,
        "pre",
        {"alpha": (SHARE, 1.0), **TREATMENT, **STATES},
        declares=TWO_GROUPS,
    ),
    "PrototypeRepresentationLearner": Description(
        "lfr",
        _prototypes,
        "pre",
        {
            "n_prototypes": (COUNT, 2),
            "reconstruct_weight": (WEIGHT, 1.0),
            "target_weight": (WEIGHT, 1.0),
            "fairness_weight": (WEIGHT, 1.0),
            "tol": (WEIGHT, 1e-6),
            "max_iter": (COUNT, 1000),
            **ORDINAL,
            **STATES,
        },
        declares={"randomised": True, "needs_sensitive": False, **TWO_GROUPS},
    ),
    "ExponentiatedGradient": Description(
        "exponentiated_gradient",
        _reduction("ExponentiatedGradient"),
        "in",
        {**_REDUCTION, **GRADIENT},
        declares=_REDUCED,
    ),
    "GridSearch": Description(
        "grid_search",
        _reduction("GridSearch"),
        "in",
        {**_REDUCTION, **GRID},
        declares=_REDUCED,
    ),
    "ThresholdOptimizer": Description(
        "threshold_optimizer",
        _threshold_optimizer,
        "post",
        {
            "constraints": (
                Literal[
                    "demographic_parity",
                    "equalized_odds",
                    "false_negative_rate_parity",
                    "false_positive_rate_parity",
                    "selection_rate_parity",
                    "true_negative_rate_parity",
                    "true_positive_rate_parity",
                ],
                "demographic_parity",
            ),
            "objective": (
                Literal[
                    "accuracy_score",
                    "balanced_accuracy_score",
                    "selection_rate",
                    "true_positive_rate",
                    "true_negative_rate",
                ],
                "accuracy_score",
            ),
            "grid_size": (COUNT, 1000),
            "flip": (bool, False),
        },
    ),
    "AdversarialFairnessClassifier": Description(
        "adversarial",
        _adversarial,
        "in",
        {
            "constraints": (Literal["demographic_parity", "equalized_odds"], "demographic_parity"),
            "learning_rate": (Annotated[float, Interval(1e-6, 1)], 0.001),
            "alpha": (WEIGHT, 1.0),
            "epochs": (COUNT, 1),
            "batch_size": (COUNT, 32),
            "shuffle": (bool, False),
            "units": (Annotated[int, Interval(0, 1024)], 0),  # of the predictor's hidden layer
            **TREATMENT,
        },
        needs={"torch": "torch"},
        declares={"randomised": True, "produces_scores": False, **TWO_GROUPS},
    ),
}
