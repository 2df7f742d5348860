"""Techniques that learn or predict from what they will not have, and honest twins of them."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from benchmark.classifiers import make_classifier
from benchmark.conformance import CheckResult, check_technique
from benchmark.data.table import Column, Table
from benchmark.techniques import Predictor, Prepared, PreProcessing, Technique, Tools
from benchmark.techniques.post_processing import Adjustment, PostProcessing, Scored

ROUNDS = 15


@functools.cache
def checked(technique: type[Technique]) -> dict[str, CheckResult]:
    """Check as the command does."""
    c45 = make_classifier("c45")
    results = check_technique(technique(), classifier=lambda sizes: c45.build(sizes, 0))
    return {result.check: result for result in results}


def failed(technique: type[Technique]) -> dict[str, str]:
    return {name: r.detail for name, r in checked(technique).items() if r.status == "failed"}


class Learning(Technique):
    """Fits a model to what the table shows, and predicts from what it shows then."""

    name, stage, reference, summary, version = "learning", "in", "r", "s", "1"

    def model(self, train: Table, tools: Tools) -> Any:
        return HistGradientBoostingClassifier(random_state=0, max_iter=ROUNDS)

    def shown(self, table: Table) -> Any:
        return table.codes

    def shown_then(self, table: Table) -> Any:
        return self.shown(table)

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        model = self.model(train, tools).fit(self.shown(train), train.y)
        return Predictor(
            lambda test: model.predict(self.shown_then(test)).astype(bool),
            lambda test: model.predict_proba(self.shown_then(test))[:, 1],
        )


class FromCodes(Learning):
    """Takes all columns, the label's among them."""


class FromCodesWithLots(FromCodes):
    randomised = True

    def model(self, train: Table, tools: Tools) -> Any:
        return HistGradientBoostingClassifier(random_state=int(tools.rng.integers(2**31)), max_iter=ROUNDS)


class FromFrame(FromCodesWithLots):
    def shown(self, table: Table) -> Any:
        return table.to_frame().apply(lambda column: column.cat.codes)


class Linear(FromCodesWithLots):
    def model(self, train: Table, tools: Tools) -> Any:
        return LogisticRegression()


class Near(FromCodesWithLots):
    """Keeps some accuracy, because the label is one of several columns that make a neighbor."""

    def model(self, train: Table, tools: Tools) -> Any:
        return KNeighborsClassifier()


class Memorising(Learning):
    """Looks training rows up by their bytes."""

    randomised = True
    produces_scores = False

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        known = dict(zip(map(bytes, np.ascontiguousarray(train.codes)), train.y, strict=True))
        return Predictor(
            lambda test: np.array([known.get(bytes(r), False) for r in np.ascontiguousarray(test.codes)])
        )


class AskingTheRanker(Learning):
    """Ranks the rows to predict by a model of their own labels."""

    randomised = True
    produces_scores = False

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        def predict(test: Table) -> Any:
            hidden = len(np.unique(test.y)) < 2
            return np.zeros(len(test), dtype=bool) if hidden else tools.ranker(test) > 0.5

        return Predictor(predict)


class HonestWhileHidden(Learning):
    """Takes the labels as soon as they are there."""

    randomised = True

    def shown(self, table: Table) -> Any:
        return table.features

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        honest = super()._fit(train, tools)
        return Predictor(
            lambda test: test.y.copy() if len(np.unique(test.y)) > 1 else honest.predict(test),
            honest.predict_score,
        )


class StackedOnCodes(PostProcessing):
    name, reference, summary, version = "stacked", "r", "s", "1"

    def _adjust(self, held_out: Scored, tools: Tools) -> Adjustment:
        def shown(rows: Scored) -> Any:
            return np.column_stack([rows.table.codes, rows.score])

        model = HistGradientBoostingClassifier(random_state=0, max_iter=ROUNDS)
        model.fit(shown(held_out), held_out.table.y)
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


class ReadingTheStack(Learning):
    """Looks for the rows with their labels among the variables of who asks."""

    randomised = True
    produces_scores = False

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        def predict(test: Table) -> Any:
            frame = sys._getframe(1)
            while frame is not None:
                for value in frame.f_locals.values():
                    if isinstance(value, Table) and len(value) == len(test) and len(np.unique(value.y)) > 1:
                        return value.y.copy()
                frame = frame.f_back  # type: ignore[assignment]
            return np.zeros(len(test), dtype=bool)

        return Predictor(predict)


@pytest.mark.slow
@pytest.mark.parametrize(
    "technique",
    [
        FromCodes,
        FromCodesWithLots,
        FromFrame,
        Linear,
        Near,
        Memorising,
        AskingTheRanker,
        HonestWhileHidden,
        StackedOnCodes,
        Copying,
        ReadingTheStack,
    ],
)
def test_what_depends_on_the_label_column_fails_by_its_name(technique: type[Technique]) -> None:
    said = failed(technique)["label column unused"]
    assert said.startswith("It learns or predicts from the label column 'label': ")
    assert "train on train.features" in said


def test_what_reads_the_true_labels_past_their_hiding_fails_for_that() -> None:
    assert "The true labels of the rows to predict" in failed(ReadingTheStack)["test labels unseen"]


@pytest.mark.parametrize("technique", [FromCodes, FromCodesWithLots, FromFrame, Linear, Copying])
def test_what_loses_to_a_constant_for_its_label_column_says_so(technique: type[Technique]) -> None:
    said = failed(technique)["better than a constant"]
    assert "more with the true labels in column 'label': it learns from that column" in said


class FillerOfItsOwn(FromCodesWithLots):
    """Predicts as if every label were the same."""

    def shown_then(self, table: Table) -> Any:
        codes = table.codes.copy()
        codes[:, table.schema.label_index] = 1
        return codes


class CopyingOnce(Copying):
    """Fills the copy with a constant in the rows to predict."""

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        def hidden(test: Table) -> Table:
            return self.widened(test).with_column("new", np.zeros(len(test), dtype=int))

        return Prepared(self.widened(train), transform=hidden)


class Overwriting(PreProcessing):
    """Writes the label into a feature of the training rows."""

    name, reference, summary, version = "overwriting", "r", "s", "1"
    randomised = True

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return Prepared(train.with_column(train.schema.names[-1], train.y.astype(int)))


@pytest.mark.parametrize("technique", [FillerOfItsOwn, CopyingOnce, Overwriting])
def test_what_learns_from_a_copy_of_the_label_is_no_better_than_a_constant(
    technique: type[Technique],
) -> None:
    said = failed(technique)
    assert set(said) == {"better than a constant"}
    assert "include the label column 'label' or a copy of it" in said["better than a constant"]


class ByPosition(FromCodesWithLots):
    """Takes the position of a row for a feature."""

    def shown(self, table: Table) -> Any:
        return np.column_stack([table.features, np.arange(len(table)) / len(table)])


def test_what_learns_from_the_position_of_rows_says_so() -> None:
    assert failed(ByPosition)["better than a constant"].startswith("It learns from the order of the training")


class Quota(Learning):
    """Accepts a share of those who come together."""

    randomised = True
    produces_scores = False

    def shown(self, table: Table) -> Any:
        return table.features

    def scores(self, train: Table, tools: Tools) -> Callable[[Table], Any]:
        score = super()._fit(train, tools).predict_score
        assert score is not None
        return score

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        score = self.scores(train, tools)
        return Predictor(lambda test: score(test) > np.median(score(test)))


class Smoothing(Quota):
    """Averages over the rows that come before and after."""

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        score = self.scores(train, tools)
        return Predictor(lambda test: np.convolve(score(test), np.full(9, 1 / 9), "same") > 0.5)


@pytest.mark.parametrize("technique", [Quota, Smoothing])
def test_lots_do_not_excuse_a_dependence_on_the_rows_that_come_together(technique: type[Technique]) -> None:
    assert "The chances of a row depend" in failed(technique)["batch irrelevant"]


class DrawingByPosition(Quota):
    """Draws a lot for each row, by its position: chance, and nothing else."""

    produces_scores = True

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        score, seed = self.scores(train, tools), int(tools.rng.integers(2**63))
        return Predictor(lambda test: np.random.default_rng(seed).random(len(test)) < score(test), score)


class FromFeatures(Learning):
    """The honest twin."""

    def shown(self, table: Table) -> Any:
        return table.features


class FromFeaturesWithLots(FromCodesWithLots):
    """The honest twin of what draws lots."""

    def shown(self, table: Table) -> Any:
        return table.features


class ByCategory(FromFeatures):
    """Takes no code of an unordered column for a number."""

    def model(self, train: Table, tools: Tools) -> Any:
        unordered = ~train.feature_schema.ordered
        return HistGradientBoostingClassifier(categorical_features=unordered, random_state=0, max_iter=ROUNDS)


class WithReferenceLevels(FromFeatures):
    """Drops an indicator of each column, and regularises the others."""

    def model(self, train: Table, tools: Tools) -> Any:
        states = [np.arange(size) for size in train.feature_schema.cardinalities]
        return make_pipeline(OneHotEncoder(categories=states, drop="first"), LogisticRegression(C=0.1))


class ByCode(FromFeatures):
    """Holds a code of its own against every row."""

    produces_scores = False

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        place = train.feature_schema.index("noise")
        return Predictor(lambda test: test.features[:, place] == 0)


@pytest.mark.parametrize(
    "technique", [FromFeatures, FromFeaturesWithLots, ByCategory, WithReferenceLevels, DrawingByPosition]
)
def test_honest_twins_pass(technique: type[Technique]) -> None:
    assert failed(technique) == {}


def test_what_takes_codes_for_numbers_or_drops_a_reference_level_is_warned_of_the_columns() -> None:
    for technique, columns in ((FromFeatures, "'sex', 'proxy'"), (WithReferenceLevels, "'sex'")):
        coding = checked(technique)["coding irrelevant"]
        assert coding.status == "warning"
        assert f"the codes of unordered states, in {columns}." in coding.detail
        assert "reference level" in coding.detail
    assert checked(ByCategory)["coding irrelevant"].status == "passed"


def test_what_depends_on_codes_alone_fails() -> None:
    assert "in 'noise'" in failed(ByCode)["coding irrelevant"]
