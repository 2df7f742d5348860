"""No technique takes from a classifier what is no label or no probability, and none looks at other rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmark.classifiers import make_classifier, naive_bayes_ranker
from benchmark.conformance import example_table, facts_of
from benchmark.errors import DeclinedError, TechniqueError
from benchmark.techniques import Technique, Tools, get_technique, list_techniques

TRAIN, TEST = example_table(300), example_table(200, seed=3)
KNOWN = facts_of(TRAIN)

ENTRIES: dict[str, Technique] = {
    **{name: get_technique(name) for name in list_techniques()},
    # They would ask the classifier more often, not otherwise.
    "exponentiated_gradient": get_technique("exponentiated_gradient", max_iterations=5),
    "grid_search": get_technique("grid_search", grid_size=9),
    "massaging by the classifier": get_technique("massaging", ranker="classifier"),
    "preferential by the classifier": get_technique("preferential_sampling", ranker="classifier"),
    "repair of test rows": get_technique("repair", repair_test=True),
}

Spoil = Callable[[np.ndarray], np.ndarray]


def at(row: int, value: float) -> Spoil:
    def spoil(answers: np.ndarray) -> np.ndarray:
        spoilt = answers.astype(float)
        spoilt[row] = value
        return spoilt

    return spoil


NO_SCORES: dict[str, Spoil] = {
    "all NaN": lambda p: p * np.nan,
    "a NaN": at(-1, np.nan),
    "infinite": at(0, np.inf),
    "minus infinite": at(0, -np.inf),
    "above 1": at(-1, 1.1),
    "below 0": at(-1, -0.1),
    "one column": lambda p: p[:, 1:],
    "one dimension": lambda p: p[:, 1],
    "too few": lambda p: p[1:],
}
NO_LABELS: dict[str, Spoil] = {
    "a NaN": at(-1, np.nan),
    "a two": at(0, 2.0),
    "a sign": at(0, -1.0),
    "texts": lambda label: label.astype(str),
    "one column": lambda label: label[:, None],
    "too few": lambda label: label[1:],
}


class Spoilt:
    """A classifier some of whose answers are spoilt."""

    asked: set[str]

    def __init__(self, cardinalities: np.ndarray, label: Spoil | None, score: Spoil | None) -> None:
        self.classifier = make_classifier("c45").build(cardinalities, 0)
        self.label, self.score = label, score

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Spoilt:
        Spoilt.asked.add("fit")
        self.classifier.fit(X, y, sample_weight=sample_weight)
        return self

    def predict(self, X: Any) -> np.ndarray:
        Spoilt.asked.add("predict")
        answers = np.asarray(self.classifier.predict(X))
        return answers if self.label is None else self.label(answers)

    def predict_proba(self, X: Any) -> np.ndarray:
        answers = np.asarray(self.classifier.predict_proba(X))
        return answers if self.score is None else self.score(answers)


def answered(technique: Technique, label: Spoil | None = None, score: Spoil | None = None) -> None:
    """Ask for everything that a technique has to say of the test rows."""
    Spoilt.asked = set()
    tools = Tools(
        lambda k: Spoilt(k, label, score), naive_bayes_ranker, np.random.default_rng(0), known=KNOWN
    )
    predictor = technique.fit(TRAIN, tools)
    predictor.predict(TEST)
    if predictor.predict_score is not None:
        predictor.predict_score(TEST)


@pytest.fixture(params=ENTRIES)
def technique(request: pytest.FixtureRequest) -> Technique:
    found = ENTRIES[request.param]
    if (reason := found.skip(TRAIN)) is not None:
        pytest.skip(reason)
    return found


def test_scores_that_are_no_probabilities_end_in_an_error(technique: Technique) -> None:
    answered(technique)
    # Every technique asks by one function, so all kinds of wrong answers are tried with one of them.
    for name in NO_SCORES if technique.name == "reject_option" else ["a NaN"]:
        if "fit" not in Spoilt.asked:
            return  # it has no use for the classifier
        with pytest.raises(TechniqueError, match="scores that are no probabilities from Spoilt") as caught:
            answered(technique, score=NO_SCORES[name])
        assert not isinstance(caught.value, DeclinedError), name


def test_predictions_that_are_no_labels_end_in_an_error(technique: Technique) -> None:
    answered(technique)
    for name in NO_LABELS if technique.name == "none" else ["a two"]:
        if "predict" not in Spoilt.asked:
            return  # it decides by scores, or has no use for the classifier
        with pytest.raises(TechniqueError, match="predictions that are no labels from Spoilt") as caught:
            answered(technique, label=NO_LABELS[name])
        assert not isinstance(caught.value, DeclinedError), name


def test_scores_may_miss_their_range_by_rounding() -> None:
    for name in ("none", "equalized_odds", "meta_fair"):
        answered(get_technique(name), score=lambda p: p * (1 + 1e-15) - 1e-15)


def test_answers_do_not_depend_on_how_many_rows_are_asked_about(technique: Technique) -> None:
    if not technique.randomised:
        return
    c45 = make_classifier("c45")
    tools = Tools(lambda k: c45.build(k, 0), naive_bayes_ranker, np.random.default_rng(0), known=KNOWN)
    predictor = technique.fit(TRAIN, tools)
    of_all = predictor.predict(TEST)
    for size in (1, 70):
        np.testing.assert_array_equal(predictor.predict(TEST.take(np.arange(size))), of_all[:size])
