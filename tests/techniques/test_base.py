"""The contract holds, whatever a technique tries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from benchmark.conformance import example_table
from benchmark.data.table import Table
from benchmark.errors import DeclinedError, TechniqueError
from benchmark.techniques import Interval, Predictor, Prepared, PreProcessing, Technique, Tools
from benchmark.techniques.base import parameter_rules
from benchmark.techniques.registry import declaration_flaws

TRAIN, TEST = example_table(), example_table(50, seed=3)


class Memory:
    """A classifier that remembers what it was given and predicts from its first feature."""

    seen: dict[str, Any]

    def __init__(self, cardinalities: np.ndarray) -> None:
        self.cardinalities = cardinalities

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: Any = None) -> Memory:
        Memory.seen = {"X": X, "y": y, "sample_weight": sample_weight, "cardinalities": self.cardinalities}
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return (X[:, 0] > 3).astype(int)


class Scoring(Memory):
    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return np.column_stack([1 - X[:, 0] / 6, X[:, 0] / 6])


def tools(classifier: Any = Memory) -> Tools:
    return Tools(classifier, lambda table: np.zeros(len(table)), np.random.default_rng(0))


class Custom(PreProcessing):
    """Prepares whatever the test wants."""

    name, reference, summary, version = "custom", "none", "for tests", "1"

    @classmethod
    def doing(cls, action: Callable[[Table], Prepared]) -> Technique:
        return type("Doing", (cls,), {"_prepare": lambda self, train, tools: action(train)})()


class Parametrised(Custom):
    level: Annotated[float, Interval(0, 1)] = 0.5
    count: Annotated[int, Interval(1, 9)] = 2
    kind: Literal["a", "b"] = "a"
    flag: bool = False

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return Prepared(train)


def test_parameters_have_defaults_and_are_normalized() -> None:
    assert Parametrised().parameters == {"count": 2, "flag": False, "kind": "a", "level": 0.5}
    assert list(Parametrised().parameters) == ["count", "flag", "kind", "level"]
    assert Parametrised(level=1) == Parametrised(level=1.0)
    assert type(Parametrised(level=np.float32(1)).level) is float
    with pytest.raises(AttributeError):
        Parametrised().level = 0.1


@pytest.mark.parametrize(
    ("parameter", "value", "expected"),
    [
        ("level", 1.01, r"a number in \[0, 1\]"),
        ("level", -0.01, r"a number in \[0, 1\]"),
        ("level", float("nan"), r"a number in \[0, 1\]"),
        ("level", True, r"a number in \[0, 1\]"),
        ("level", "0.5", r"a number in \[0, 1\]"),
        ("count", 0, r"an integer in \[1, 9\]"),
        ("count", 2.0, r"an integer in \[1, 9\]"),
        ("kind", "c", "one of 'a', 'b'"),
        ("flag", 1, "True or False"),
    ],
)
def test_parameters_outside_their_range_are_refused(parameter: str, value: object, expected: str) -> None:
    with pytest.raises(
        TechniqueError, match=f"The '{parameter}' parameter of Parametrised must be {expected}"
    ):
        Parametrised(**{parameter: value})


def test_the_classifier_gets_codes_favorable_as_one_and_no_label() -> None:
    Custom.doing(Prepared).fit(TRAIN, tools())
    seen = Memory.seen
    np.testing.assert_array_equal(seen["X"], TRAIN.codes[:, [0, 1, 2, 4]])
    np.testing.assert_array_equal(seen["y"], TRAIN.codes[:, 3] == 0)
    np.testing.assert_array_equal(seen["cardinalities"], [7, 3, 4, 4])
    assert seen["X"].dtype == np.int16
    assert seen["X"].flags.f_contiguous
    assert seen["sample_weight"] is None


def test_features_are_seen_in_their_declared_order_and_weights_are_passed_on() -> None:
    weight = np.arange(len(TRAIN), dtype=float)
    Custom.doing(lambda t: Prepared(t, weight, ("noise", "skill"))).fit(TRAIN, tools())
    np.testing.assert_array_equal(Memory.seen["X"], TRAIN.codes[:, [4, 0]])
    np.testing.assert_array_equal(Memory.seen["sample_weight"], weight)


def test_predictions_are_bool_and_scores_exist_if_the_classifier_has_them() -> None:
    technique = Custom.doing(Prepared)
    predictor = technique.fit(TRAIN, tools())
    np.testing.assert_array_equal(predictor.predict(TEST), TEST.codes[:, 0] > 3)
    assert predictor.predict_score is None
    scores = technique.fit(TRAIN, tools(Scoring)).predict_score
    np.testing.assert_allclose(scores(TEST), TEST.codes[:, 0] / 6)


def test_test_rows_are_transformed_before_prediction() -> None:
    def all_top(test: Table) -> Table:
        return test.with_column("skill", np.full(len(test), 6))

    assert Custom.doing(lambda t: Prepared(t, transform=all_top)).fit(TRAIN, tools()).predict(TEST).all()


@pytest.mark.parametrize(
    "transform",
    [
        lambda t: t.take(np.arange(10)),
        lambda t: t.with_column("label", np.ones(len(t))),
        lambda t: Table(replace(t.schema, deprived_group="men"), t.codes),
    ],
)
def test_a_transform_that_breaks_test_rows_is_refused(transform: Callable[[Table], Table]) -> None:
    predictor = Custom.doing(lambda t: Prepared(t, transform=transform)).fit(TRAIN, tools())
    with pytest.raises(TechniqueError, match="transformed test rows wrongly"):
        predictor.predict(TEST)


@pytest.mark.parametrize(
    ("prepared", "flaw"),
    [
        (lambda t: Prepared(t.take(np.arange(0))), "no rows"),
        (lambda t: Prepared(t, sample_weight=np.ones(3)), r"weights of shape \(3,\)"),
        (lambda t: Prepared(t, sample_weight=np.full(len(t), -1.0)), "negative or not finite"),
        (lambda t: Prepared(t, sample_weight=np.full(len(t), np.nan)), "negative or not finite"),
        (lambda t: Prepared(t, features=("sex", "sex")), "which repeat"),
        (lambda t: Prepared(t, features=("sex", "label")), "the label 'label' among the features"),
        (lambda t: Prepared(Table(replace(t.schema, deprived_group="men"), t.codes)), "a different schema"),
    ],
)
def test_prepared_data_that_cannot_be_trained_on_is_refused(
    prepared: Callable[[Table], Prepared], flaw: str
) -> None:
    with pytest.raises(TechniqueError, match=flaw) as caught:
        Custom.doing(prepared).fit(TRAIN, tools())
    assert not isinstance(caught.value, DeclinedError)


@pytest.mark.parametrize(
    ("prepared", "shortage"),
    [
        (lambda t: Prepared(t.take(t.y)), "one class only"),
        (lambda t: Prepared(t, sample_weight=t.y.astype(float)), "one class only"),
        (lambda t: Prepared(t, sample_weight=np.zeros(len(t))), "one class only"),
        (lambda t: Prepared(t, features=()), "no features"),
    ],
)
def test_where_nothing_is_left_to_learn_from_is_a_reason_and_no_failure(
    prepared: Callable[[Table], Prepared], shortage: str
) -> None:
    with pytest.raises(DeclinedError, match=f"leaves nothing to learn from.*{shortage}"):
        Custom.doing(prepared).fit(TRAIN, tools())


def test_training_rows_of_one_class_are_declined() -> None:
    with pytest.raises(DeclinedError, match="rows of one class: 205 of 205 are favorable"):
        Custom.doing(Prepared).fit(TRAIN.take(TRAIN.y), tools())
    with pytest.raises(DeclinedError, match="rows of one class: 0 of 0"):
        Custom.doing(Prepared).fit(TRAIN.take(np.arange(0)), tools())


def test_test_rows_of_another_schema_are_refused() -> None:
    predictor = Custom.doing(Prepared).fit(TRAIN, tools())
    with pytest.raises(TechniqueError, match="a different schema"):
        predictor.predict(Table(replace(TEST.schema, deprived_group="men"), TEST.codes))


class InProcessing(Technique):
    name, stage, reference, summary, version = "in_processing", "in", "none", "for tests", "1"

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        return self.predictor


def in_processing(predict: Callable[[Table], Any], score: Callable[[Table], Any] | None = None) -> Predictor:
    technique = type("Fitted", (InProcessing,), {"predictor": Predictor(predict, score)})()
    return technique.fit(TRAIN, tools())


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_linear_algebra_has_one_thread_in_fit_and_prediction_and_gets_its_own_back() -> None:
    seen: list[set[int]] = []

    def noticed(result: Any) -> Any:
        seen.append(blas_threads())
        return result

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        Custom.doing(lambda train: noticed(Prepared(train))).fit(TRAIN, tools())
        fitted = in_processing(lambda t: noticed(t.y), lambda t: noticed(np.zeros(len(t))))
        fitted.predict(TEST)
        fitted.predict_score(TEST)
        assert blas_threads() == before
    assert before == {2}
    assert seen == [{1}] * 3


def test_labels_never_reach_a_technique() -> None:
    predictor = in_processing(lambda t: t.codes[:, 3] == 1, lambda t: t.codes[:, 3].astype(float))
    assert not predictor.predict(TEST).any()
    assert not predictor.predict_score(TEST).any()


@pytest.mark.parametrize(
    "output", [np.zeros(50), np.zeros(49, bool), np.zeros((50, 1), bool), [0] * 50], ids=str
)
def test_malformed_predictions_are_refused(output: Any) -> None:
    with pytest.raises(TechniqueError, match=r"Expected: bool array of shape \(50,\)"):
        in_processing(lambda t: output).predict(TEST)


@pytest.mark.parametrize("output", [np.zeros(50, bool), np.full(50, np.nan), np.zeros(3)], ids=str)
def test_malformed_scores_are_refused(output: Any) -> None:
    score = in_processing(lambda t: t.y, lambda t: output).predict_score
    with pytest.raises(TechniqueError, match="finite float array"):
        score(TEST)


def test_a_parameter_without_a_range_or_default_is_a_flaw() -> None:
    class NoRange(Parametrised):
        depth: float = 1.0

    class NoDefault(Parametrised):
        depth: Annotated[float, Interval(0, 1)]

    assert "declares no valid range" in " ".join(declaration_flaws(NoRange))
    assert "has no default" in " ".join(declaration_flaws(NoDefault))
    with pytest.raises(TechniqueError, match="What to do: annotate it as one of these"):
        parameter_rules(NoRange)
    with pytest.raises(TechniqueError, match=r"What to do: declare it as 'depth: ... = value'"):
        parameter_rules(NoDefault)
    assert declaration_flaws(Parametrised) == []
