"""Techniques that learn or predict from what they will not have, and honest twins of them."""

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from benchmark.data.table import Column, Table
from benchmark.techniques import Predictor, Prepared, PreProcessing, Technique, Tools
from benchmark.techniques.post_processing import Adjustment, PostProcessing, Scored
from tests.helpers.techniques import checked

ROUNDS = 15


def failed(technique: type[Technique], *checks: str) -> dict[str, str]:
    """Check as the command does, and return what failed."""
    results = checked(technique(), *checks, classifier="c45")
    return {name: result.detail for name, result in results.items() if result.status == "failed"}


def boosted(train: Table, tools: Tools) -> Any:
    return HistGradientBoostingClassifier(random_state=0, max_iter=ROUNDS)


def boosted_by_lot(train: Table, tools: Tools) -> Any:
    return HistGradientBoostingClassifier(random_state=int(tools.rng.integers(2**31)), max_iter=ROUNDS)


def codes(table: Table) -> Any:
    """Return all columns, the label's among them."""
    return table.codes


def features(table: Table) -> Any:
    return table.features


def learning(
    shown: Callable[[Table], Any],
    model: Callable[[Table, Tools], Any] = boosted,
    shown_then: Callable[[Table], Any] | None = None,
) -> type[Technique]:
    """Return a technique that fits a model to what it is shown, and predicts from what it is shown then."""
    then = shown_then or shown

    def _fit(self: Technique, train: Table, tools: Tools) -> Predictor:
        fitted = model(train, tools).fit(shown(train), train.y)
        return Predictor(
            lambda test: fitted.predict(then(test)).astype(bool),
            lambda test: fitted.predict_proba(then(test))[:, 1],
        )

    declared = {"name": "learning", "stage": "in", "reference": "r", "summary": "s", "version": "1"}
    return type("Learning", (Technique,), {**declared, "randomised": model is not boosted, "_fit": _fit})


FromCodes = learning(codes)
FromCodesWithLots = learning(codes, boosted_by_lot)
FromFeatures = learning(features)  # the honest twin, and the twin of what draws lots
FromFeaturesWithLots = learning(features, boosted_by_lot)


def predicting(predict: Callable[[Table, Tools], Callable[[Table], Any]]) -> type[Technique]:
    """Return a technique of a function that makes its prediction; chance may decide."""

    def _fit(self: Technique, train: Table, tools: Tools) -> Predictor:
        return Predictor(predict(train, tools))

    return type("Predicting", (FromFeaturesWithLots,), {"produces_scores": False, "_fit": _fit})


def score_of(train: Table, tools: Tools) -> Callable[[Table], Any]:
    """Return the honest score of rows."""
    return FromFeaturesWithLots()._fit(train, tools).predict_score  # type: ignore[return-value]


def by_memory(train: Table, tools: Tools) -> Callable[[Table], Any]:
    """Look training rows up by their bytes."""
    known = dict(zip(map(bytes, np.ascontiguousarray(train.codes)), train.y, strict=True))
    return lambda test: np.array([known.get(bytes(r), False) for r in np.ascontiguousarray(test.codes)])


def by_the_ranker(train: Table, tools: Tools) -> Callable[[Table], Any]:
    """Rank the rows to predict by a model of their own labels."""

    def predict(test: Table) -> Any:
        hidden = len(np.unique(test.y)) < 2
        return np.zeros(len(test), dtype=bool) if hidden else tools.ranker(test) > 0.5

    return predict


def by_the_stack(train: Table, tools: Tools) -> Callable[[Table], Any]:
    """Look for the rows with their labels among the variables of who asks."""

    def predict(test: Table) -> Any:
        frame = sys._getframe(1)
        while frame is not None:
            for value in frame.f_locals.values():
                if isinstance(value, Table) and len(value) == len(test) and len(np.unique(value.y)) > 1:
                    return value.y.copy()
            frame = frame.f_back  # type: ignore[assignment]
        return np.zeros(len(test), dtype=bool)

    return predict


ReadingTheStack = predicting(by_the_stack)


class StackedOnCodes(PostProcessing):
    name, reference, summary, version = "stacked", "r", "s", "1"

    def _adjust(self, held_out: Scored, tools: Tools) -> Adjustment:
        def shown(rows: Scored) -> Any:
            return np.column_stack([rows.table.codes, rows.score])

        model = boosted(held_out.table, tools).fit(shown(held_out), held_out.table.y)
        return lambda rows: model.predict(shown(rows)).astype(bool)


class Copying(PreProcessing):
    """Adds a column that holds the label."""

    name, reference, summary, version = "copying", "r", "s", "1"
    randomised = True

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return Prepared(self.widened(train), transform=self.widened)

    def widened(self, table: Table) -> Table:
        schema = replace(table.schema, columns=(*table.schema.columns, Column("new", ("a", "b"))))
        return Table(schema, np.column_stack([table.codes, table.codes[:, table.schema.label_index]]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "technique",
    [
        FromCodes,
        FromCodesWithLots,
        predicting(by_memory),
        predicting(by_the_ranker),
        StackedOnCodes,
        Copying,
        ReadingTheStack,
    ],
)
def test_what_depends_on_the_label_column_fails_by_its_name(technique: type[Technique]) -> None:
    said = failed(technique, "label column unused")["label column unused"]
    assert said.startswith("It learns or predicts from the label column 'label': ")
    assert "train on train.features" in said


def test_what_reads_the_true_labels_past_their_hiding_fails_for_that() -> None:
    said = failed(ReadingTheStack, "test labels unseen")
    assert "The true labels of the rows to predict" in said["test labels unseen"]


@pytest.mark.parametrize("technique", [FromCodes, Copying])
def test_what_loses_to_a_constant_for_its_label_column_says_so(technique: type[Technique]) -> None:
    said = failed(technique, "better than a constant")["better than a constant"]
    assert "more with the true labels in column 'label': it learns from that column" in said


def with_one_label(table: Table) -> Any:
    """Return all columns as if every label were the same."""
    return table.with_column(table.schema.label, np.ones(len(table), dtype=int)).codes


FillerOfItsOwn = learning(codes, boosted_by_lot, with_one_label)


class CopyingOnce(Copying):
    """Fills the copy with a constant in the rows to predict."""

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        def hidden(test: Table) -> Table:
            return self.widened(test).with_column("new", np.zeros(len(test), dtype=int))

        return Prepared(self.widened(train), transform=hidden)


@pytest.mark.parametrize("technique", [FillerOfItsOwn, CopyingOnce])
def test_what_learns_from_a_copy_of_the_label_is_no_better_than_a_constant(
    technique: type[Technique],
) -> None:
    said = failed(technique)
    assert set(said) == {"better than a constant"}
    assert "include the label column 'label' or a copy of it" in said["better than a constant"]


def test_what_learns_from_the_position_of_rows_says_so() -> None:
    placed = learning(lambda t: np.column_stack([t.features, np.arange(len(t)) / len(t)]), boosted_by_lot)
    said = failed(placed, "better than a constant")["better than a constant"]
    assert said.startswith("It learns from the order of the training")


def quota(train: Table, tools: Tools) -> Callable[[Table], Any]:
    """Accept a share of those who come together."""
    score = score_of(train, tools)
    return lambda test: score(test) > np.median(score(test))


def test_lots_do_not_excuse_a_dependence_on_the_rows_that_come_together() -> None:
    said = failed(predicting(quota), "batch irrelevant")
    assert "The chances of a row depend" in said["batch irrelevant"]


def by_category(train: Table, tools: Tools) -> Any:
    """Take no code of an unordered column for a number."""
    unordered = ~train.feature_schema.ordered
    return HistGradientBoostingClassifier(categorical_features=unordered, random_state=0, max_iter=ROUNDS)


def with_reference_levels(train: Table, tools: Tools) -> Any:
    """Drop an indicator of each column, and regularize the others."""
    states = [np.arange(size) for size in train.feature_schema.cardinalities]
    return make_pipeline(OneHotEncoder(categories=states, drop="first"), LogisticRegression(C=0.1))


def by_lots_of_positions(train: Table, tools: Tools) -> Callable[[Table], Any]:
    """Draw a lot for each row, by its position: chance, and nothing else."""
    score, seed = score_of(train, tools), int(tools.rng.integers(2**63))
    return lambda test: np.random.default_rng(seed).random(len(test)) < score(test)


def by_a_code(train: Table, tools: Tools) -> Callable[[Table], Any]:
    """Hold a code of its own against every row."""
    place = train.feature_schema.index("noise")
    return lambda test: test.features[:, place] == 0


def fixed(technique: type[Technique]) -> type[Technique]:
    """Return the technique, which says that chance decides nothing."""
    return type("Fixed", (technique,), {"randomised": False})


ByCategory, WithReferenceLevels = (
    fixed(learning(features, model)) for model in (by_category, with_reference_levels)
)


LotsOfPositions = predicting(by_lots_of_positions)


@pytest.mark.parametrize(
    "technique", [FromFeatures, FromFeaturesWithLots, ByCategory, WithReferenceLevels, LotsOfPositions]
)
def test_honest_twins_pass(technique: type[Technique]) -> None:
    assert failed(technique) == {}


def test_what_takes_codes_for_numbers_or_drops_a_reference_level_is_warned_of_the_columns() -> None:
    for technique, columns in ((FromFeatures, "'sex', 'proxy'"), (WithReferenceLevels, "'sex'")):
        coding = checked(technique(), "coding irrelevant", classifier="c45")["coding irrelevant"]
        assert coding.status == "warning"
        assert f"the codes of unordered states, in {columns}." in coding.detail
        assert "reference level" in coding.detail
    found = checked(ByCategory(), "coding irrelevant")["coding irrelevant"]
    assert found.status == "passed"


def test_what_depends_on_codes_alone_fails() -> None:
    said = failed(fixed(predicting(by_a_code)), "coding irrelevant")
    assert "in 'noise'" in said["coding irrelevant"]
