"""Every registered technique conforms, and the checks catch those that do not."""

from __future__ import annotations

import contextlib
import os
import random
import re
import sys
import warnings
from dataclasses import replace
from typing import Annotated, Any, ClassVar

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from benchmark.classifiers import make_classifier
from benchmark.conformance import CHECKS, check_technique, example_table, facts_of
from benchmark.data.table import Column, Table
from benchmark.errors import TechniqueError
from benchmark.techniques import (
    Convergence,
    Interval,
    Predictor,
    Prepared,
    PreProcessing,
    Search,
    Technique,
    Tools,
    get_technique,
    list_techniques,
)
from benchmark.techniques.knowledge import FACTS
from benchmark.techniques.post_processing import Adjustment, PostProcessing, Scored
from benchmark.techniques.registry import declaration_flaws

_LEVELS, _TREATMENTS = (0.0, 0.5, 1.0), ("schema", "categorical", "ordinal")
VARIANTS: dict[str, list[dict[str, Any]]] = {
    # Each two of the three settings meet: all levels and treatments, in one variant or the other.
    "repair": [
        {"variant": ("feldman", "blackbox_auditing")[(i + j) % 2], "level": level, "treatment": treatment,
         "repair_label": True, "repair_sensitive": True, "repair_test": True}
        for i, level in enumerate(_LEVELS)
        for j, treatment in enumerate(_TREATMENTS)
    ]
}  # fmt: skip
# What is expensive in its default form, which is checked at night.
CHEAPER: dict[str, dict[str, Any]] = {
    "grid_search": {"grid_size": 9},
    "exponentiated_gradient": {"max_iterations": 5},
}
# Defaults by day, variants by night.
CONFIGURED = [
    *(pytest.param(n, CHEAPER.get(n, {})) for n in list_techniques()),
    *(pytest.param(n, p, marks=pytest.mark.nightly) for n in list_techniques() for p in VARIANTS.get(n, [])),
]


def conforms(technique: Technique) -> None:
    results = check_technique(technique)
    assert [r.check for r in results] == list(CHECKS)
    assert [r for r in results if r.status in ("failed", "warning")] == []


@pytest.mark.parametrize(("name", "parameters"), CONFIGURED, ids=str)
def test_every_registered_technique_conforms(name: str, parameters: dict[str, Any]) -> None:
    conforms(get_technique(name, **parameters))


@pytest.mark.nightly
@pytest.mark.parametrize("name", CHEAPER)
def test_what_is_expensive_conforms_as_it_is(name: str) -> None:
    conforms(get_technique(name))


@pytest.mark.nightly
@pytest.mark.parametrize("name", list_techniques())
def test_every_registered_technique_conforms_with_the_classifier_of_the_command(name: str) -> None:
    c45 = make_classifier("c45")
    results = check_technique(
        get_technique(name, **CHEAPER.get(name, {})),
        classifier=lambda sizes: c45.build(sizes, 0),
    )
    assert [r for r in results if r.status in ("failed", "warning")] == []


class Good(PreProcessing):
    name, reference, summary, version = "good", "r", "s", "1"

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return Prepared(train)


class Broken(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        raise ZeroDivisionError("a bug")


class Leaving(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        sys.exit("no more")


class Moody(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        rng = np.random.default_rng()
        return Prepared(train.with_column("skill", rng.permutation(train.codes[:, 0])))


class MoodyWeights(Good):
    """Its weights are too much alike to change a prediction."""

    needs_weights = True

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return Prepared(train, sample_weight=1 + 1e-4 * np.random.default_rng().random(len(train)))


class MoodyTransform(Good):
    """Shows the classifier another thing each time, of which it makes nothing."""

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        rng = np.random.default_rng(0)

        def transform(test: Table) -> Table:
            return test.with_column("noise", rng.integers(0, 3, len(test)))

        return Prepared(train.with_column("noise", np.zeros(len(train), dtype=int)), transform=transform)


class SecretlyRandomWeights(Good):
    needs_weights = True

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return Prepared(train, sample_weight=1 + 1e-4 * tools.rng.random(len(train)))


class Vandal(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        train.codes.flags.writeable = True
        train.codes[0, 0] = 6 - train.codes[0, 0]
        return Prepared(train)


class Meddler(Good):
    """Writes to what the table derives from its codes, which is not read-only."""

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        changed = Prepared(train.take(np.arange(len(train))))
        train.y[train.deprived] = True
        return changed


class Seeder(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        np.random.seed(0)  # noqa: NPY002
        return Prepared(train)


class Dice(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        random.random()
        return Prepared(train)


class Printing(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        print(f"{len(train)} rows")
        return Prepared(train)


class PrintingPastPython(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        os.write(2, b"a library speaks")
        return Prepared(train)


class PrintingPastTheRedirection(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        print("still here", file=sys.__stderr__)
        return Prepared(train)


class Warning(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        with warnings.catch_warnings():  # shown, not raised, whatever the tests say
            warnings.simplefilter("default")
            print(warnings.formatwarning("deprecated", FutureWarning, "f.py", 1), file=sys.stderr)
        return Prepared(train)


class ClosingItsStream(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        sys.stdout.close()
        return Prepared(train)


class SecretlyRandom(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return Prepared(train.with_column("skill", tools.rng.permutation(train.codes[:, 0])))


class Unaware(Good):
    """Shows the classifier the sensitive feature, and says that nobody needs it."""

    needs_sensitive = False


class Weighing(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return Prepared(train, sample_weight=np.ones(len(train)))


class OrderBound(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return Prepared(train.take(np.arange(300)))


class NameBound(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        names = [n for n in sorted(train.schema.names) if n != train.schema.label]
        return Prepared(train, features=(names[0],))


class CodeBound(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        group = train.codes[:, train.schema.sensitive_index]
        return Prepared(train, sample_weight=1.0 + group.astype(np.float64))


class Widened(Good):
    """Adds a column of its own, by the role of what it is made of."""

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return Prepared(self.widened(train), transform=self.widened)

    def widened(self, table: Table) -> Table:
        column = Column("new", ("deprived", "favored"))
        schema = replace(table.schema, columns=(column, *table.schema.columns))
        return Table(schema, np.column_stack([self.new(table), table.codes]))

    def new(self, table: Table) -> np.ndarray:
        return ~table.deprived


class WidenedByCode(Widened):
    def new(self, table: Table) -> np.ndarray:
        return table.codes[:, table.schema.sensitive_index] > 0


class WidenedByOrder(Widened):
    """Treats training rows alike and test rows by what the first training row holds."""

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        def transform(test: Table) -> Table:
            return self.widened(test.with_column(test.schema.names[0], np.full(len(test), train.y[0])))

        return Prepared(self.widened(train), transform=transform)


class Negative(Good):
    def prepare(self, train: Table, tools: Tools) -> Prepared:
        return Prepared(train, sample_weight=np.where(train.y, 1.0, -1.0))

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        return Predictor(lambda test: np.zeros(len(test), dtype=bool))


class Fragile(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        if not train.y[train.deprived].any():
            raise ZeroDivisionError("no positives")
        return Prepared(train)


class BeyondRange(Good):
    share: Annotated[float, Interval(0, 1)] = 0.5

    search_space = (Search("share", 0.0, 2.0),)


class BrokenAtItsEnd(Good):
    share: Annotated[float, Interval(0, 1)] = 0.5

    search_space = (Search("share", 0.0, 1.0),)

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        assert self.share < 1, "all rows are left out"
        return Prepared(train)


def skill(table: Table) -> np.ndarray:
    return np.asarray(table.codes[:, 0] / 6)


class Skilled(Technique):
    """The skilled are hired: an in-processing technique that conforms."""

    name, stage, reference, summary, version = "skilled", "in", "r", "s", "1"
    needs_sensitive = False

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        return Predictor(lambda test: skill(test) > 0.5, skill, Convergence(3, 0.0, 1e-6))


class Peeking(Skilled):
    """Overrides the public method, which is the only way round the hiding of labels."""

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        return Predictor(lambda test: test.y)

    def fit(self, train: Table, tools: Tools) -> Predictor:
        return self._fit(train, tools)


class Fickle(Skilled):
    randomised = True

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        return Predictor(lambda test: tools.rng.random(len(test)) < 0.5, skill)


class MoodyScores(Skilled):
    def _fit(self, train: Table, tools: Tools) -> Predictor:
        share = np.random.default_rng().random()
        return Predictor(lambda test: skill(test) > 0.5, lambda test: share * skill(test))


class FickleScores(Skilled):
    randomised = True

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        return Predictor(lambda test: skill(test) > 0.5, lambda test: tools.rng.random(len(test)))


class DicedScores(Skilled):
    def _fit(self, train: Table, tools: Tools) -> Predictor:
        return Predictor(
            lambda test: skill(test) > 0.5,
            lambda test: np.random.random(len(test)),  # noqa: NPY002
        )


class SecretlyRandomScores(Skilled):
    def _fit(self, train: Table, tools: Tools) -> Predictor:
        share = tools.rng.random()
        return Predictor(lambda test: skill(test) > 0.5, lambda test: share * skill(test))


class CodeOne(Skilled):
    """Takes the state of code 1 for the deprived group, which has it in the example."""

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        return Predictor(lambda test: test.codes[:, test.schema.sensitive_index] == 1, skill)


class GroupCounting(Skilled):
    def _fit(self, train: Table, tools: Tools) -> Predictor:
        groups = len(np.unique(train.codes[:, train.schema.sensitive_index]))
        return Predictor(lambda test: skill(test) > 0.3 * groups, skill)


class GroupWeighing(Good):
    needs_weights = True

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        group = train.codes[:, train.schema.sensitive_index]
        names = [train.schema.names[i] for i in train.schema.feature_indices]
        names.remove(train.schema.sensitive_feature)
        return Prepared(train, 1.0 / np.bincount(group)[group], tuple(names))


class Scoring(Good):
    """Keeps the rows that the classifier is sure of, and does not say that it takes scores for it."""

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        classifier = tools.classifier(train.feature_schema.cardinalities)
        classifier.fit(train.features, train.y.astype(np.int64))
        sure = np.abs(classifier.predict_proba(train.features)[:, 1] - 0.5) > 0.1
        return Prepared(train.take(np.flatnonzero(sure)))


class ScoringByTheBook(Good):
    """The same by means of the package, which declines where there are no scores."""

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        sure = np.abs(tools.ranked(train, "classifier") - 0.5) > 0.1
        return Prepared(train.take(np.flatnonzero(sure)))


class NeedingScoresForNothing(Good):
    needs_scores = True


class Adjusting(PostProcessing):
    """Lowers the threshold of the deprived group: a post-processing technique that conforms."""

    name, reference, summary, version = "adjusting", "r", "s", "1"

    def _adjust(self, held_out: Scored, tools: Tools) -> Adjustment:
        cut = float(np.median(held_out.score[held_out.table.y]))
        return lambda test: test.score > np.where(test.table.deprived, cut / 2, cut)


class DrawingLots(Adjusting):
    """Conforms as well, but for chance."""

    may_lose_to_constant = "lots decide alone"

    def _adjust(self, held_out: Scored, tools: Tools) -> Adjustment:
        seed = int(tools.rng.integers(2**63))

        def adjust(test: Scored) -> np.ndarray:
            lot = np.random.default_rng(seed).random(len(test.table))
            return np.asarray(lot < np.where(test.table.deprived, 0.6, 0.5))

        return adjust


class UnexcusedLots(DrawingLots):
    may_lose_to_constant = ""


class AdjustingCodeOne(Adjusting):
    def _adjust(self, held_out: Scored, tools: Tools) -> Adjustment:
        def adjust(test: Scored) -> np.ndarray:
            deprived = test.table.codes[:, test.table.schema.sensitive_index] == 1
            return np.asarray(test.score > np.where(deprived, 0.2, 0.5))

        return adjust


class AdjustingLabelZero(Adjusting):
    def _adjust(self, held_out: Scored, tools: Tools) -> Adjustment:
        favorable = held_out.table.codes[:, held_out.table.schema.label_index] == 0
        cut = float(np.median(held_out.score[favorable]))
        return lambda test: test.score > cut


class AdjustingQuota(Adjusting):
    def _adjust(self, held_out: Scored, tools: Tools) -> Adjustment:
        return lambda test: test.score > np.median(test.score)


class AdjustingEachState(Adjusting):
    def _adjust(self, held_out: Scored, tools: Tools) -> Adjustment:
        sensitive = held_out.table.schema.sensitive_index
        group = held_out.table.codes[:, sensitive]
        cut = 1.3 * np.bincount(group, minlength=3) / len(group)
        return lambda test: test.score > cut[test.table.codes[:, sensitive]]


@pytest.mark.parametrize("technique", [Adjusting, DrawingLots])
def test_adjustments_are_checked_though_the_rows_held_out_are_drawn(technique: type[Technique]) -> None:
    results = {r.check: r for r in check_technique(technique())}
    assert [r for r in results.values() if r.status == "failed"] == []
    for check in ("batch irrelevant", "coding irrelevant", "groups declared"):
        assert results[check].status == "passed"


class Quota(Skilled):
    def _fit(self, train: Table, tools: Tools) -> Predictor:
        return Predictor(lambda test: skill(test) > np.quantile(skill(test), 0.7), skill)


class FirstCome(Skilled):
    def _fit(self, train: Table, tools: Tools) -> Predictor:
        asked = 0.7 if train.y[0] else 0.2
        return Predictor(lambda test: skill(test) > asked, skill)


class FirstState(Skilled):
    def _fit(self, train: Table, tools: Tools) -> Predictor:
        return Predictor(lambda test: test.codes[:, test.schema.sensitive_index] == 0, skill)


class Snooping(Good):
    """Finds out whether there is something to be known, and says nothing of it."""

    knows = ("kind",)

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        with contextlib.suppress(TechniqueError):
            _ = tools.known.gap
        assert tools.known.kind == "label"
        return Prepared(train)


class Credulous(Good):
    knows = ("gap",)

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return Prepared(train.take(range(round(tools.known.gap) * len(train), len(train))))


class Overinformed(Good):
    knows = ("gap", "rates")

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        assert tools.known.gap < 2
        return Prepared(train)


class Undeclared(Technique):
    name = "undeclared"
    stage = "in"
    reference = "none"
    summary = "Trains a learner of its own"
    version = "1"

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        model = DecisionTreeClassifier(random_state=0).fit(train.features, train.y)
        return Predictor(lambda test: model.predict(test.features).astype(bool))


class Misnamed(Undeclared):
    unconstrained: ClassVar = {"strength": 0.0}


class Borrowing(Good):
    """Declares a learner of its own, and trains the classifier."""

    unconstrained: ClassVar = {}


class BorrowingUnconstrained(Undeclared):
    """Trains the classifier where nothing is constrained."""

    unconstrained: ClassVar = {"constrained": False}

    constrained: bool = True

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        if not self.constrained:
            tools.classifier(train.feature_schema.cardinalities)
        return super()._fit(train, tools)


class Scoreless(Skilled):
    def _fit(self, train: Table, tools: Tools) -> Predictor:
        return Predictor(lambda test: skill(test) > 0.5)


class SecretlyScoring(Skilled):
    produces_scores = False


class Distances(Skilled):
    def _fit(self, train: Table, tools: Tools) -> Predictor:
        return Predictor(lambda test: skill(test) > 0.5, lambda test: skill(test) - 0.5)


class Sloppy(Skilled):
    def _fit(self, train: Table, tools: Tools) -> Predictor:
        return Predictor(lambda test: skill(test) > 0.5, skill, Convergence(100, 1e-2, 1e-6))


class Stepless(Skilled):
    def _fit(self, train: Table, tools: Tools) -> Predictor:
        return Predictor(lambda test: skill(test) > 0.5, skill, Convergence(None, 0.0, 1e-6))  # type: ignore[arg-type]


class Undefined(Skilled):
    def _fit(self, train: Table, tools: Tools) -> Predictor:
        return Predictor(lambda test: skill(test) > 0.5, skill, Convergence(1, float("nan"), 1e-6))


@pytest.mark.parametrize(
    ("technique", "check"),
    [
        (Broken, "trains on the example"),
        (Leaving, "trains on the example"),
        (Moody, "deterministic under a seed"),
        (MoodyWeights, "deterministic under a seed"),
        (MoodyScores, "deterministic under a seed"),
        (Fickle, "answers repeatable"),
        (FickleScores, "answers repeatable"),
        (MoodyTransform, "answers repeatable"),
        (Quota, "batch irrelevant"),
        (AdjustingQuota, "batch irrelevant"),
        (Vandal, "input not mutated"),
        (Meddler, "input not mutated"),
        (Seeder, "global random state untouched"),
        (Dice, "global random state untouched"),
        (DicedScores, "global random state untouched"),
        (Printing, "silent"),
        (PrintingPastPython, "silent"),
        (PrintingPastTheRedirection, "silent"),
        (Warning, "silent"),
        (ClosingItsStream, "silent"),
        (SecretlyRandom, "randomness declared"),
        (SecretlyRandomWeights, "randomness declared"),
        (SecretlyRandomScores, "randomness declared"),
        (Snooping, "knowledge declared"),
        (Credulous, "strange knowledge"),
        (Unaware, "sensitive feature declared"),
        (Weighing, "weights declared"),
        (Scoring, "need of scores declared"),
        (ScoringByTheBook, "need of scores declared"),
        (Scoreless, "scores declared"),
        (SecretlyScoring, "scores declared"),
        (Borrowing, "learner declared"),
        (BorrowingUnconstrained, "learner declared"),
        (Misnamed, "learner declared"),
        (Distances, "scores declared"),
        (OrderBound, "row order irrelevant"),
        (WidenedByOrder, "row order irrelevant"),
        (FirstCome, "row order irrelevant"),
        (NameBound, "names irrelevant"),
        (CodeBound, "coding irrelevant"),
        (WidenedByCode, "coding irrelevant"),
        (FirstState, "coding irrelevant"),
        (CodeOne, "coding irrelevant"),
        (AdjustingCodeOne, "coding irrelevant"),
        (AdjustingLabelZero, "coding irrelevant"),
        (GroupCounting, "groups declared"),
        (GroupWeighing, "groups declared"),
        (AdjustingEachState, "groups declared"),
        (Negative, "weights valid"),
        (Sloppy, "convergence valid"),
        (Stepless, "convergence valid"),
        (Undefined, "convergence valid"),
        (Fragile, "a group without positives"),
        (Peeking, "test labels unseen"),
        (Peeking, "label column unused"),
        (UnexcusedLots, "better than a constant"),
        (BeyondRange, "search space valid"),
        (BrokenAtItsEnd, "search space valid"),
    ],
)
def test_each_check_catches_its_offender(technique: type[Technique], check: str) -> None:
    failed = {r.check: r.detail for r in check_technique(technique()) if r.status == "failed"}
    assert check in failed
    assert failed[check]


def test_a_learner_of_its_own_that_is_not_declared_is_a_warning() -> None:
    found = {r.check: (r.status, r.detail) for r in check_technique(Undeclared())}["learner declared"]
    assert found[0] == "warning"
    assert "never calls tools.classifier" in found[1]
    assert "doing nothing with that learner" in found[1]
    declared = check_technique(get_technique("prejudice_remover"))
    assert {r.check: r.status for r in declared}["learner declared"] == "passed"


def test_knowledge_that_is_declared_and_not_read_is_a_warning() -> None:
    found = {r.check: (r.status, r.detail) for r in check_technique(Overinformed())}["knowledge declared"]
    assert found[0] == "warning"
    assert found[1].startswith("It declares to know rates of the bias, and does not read it")


@pytest.mark.parametrize("knows", ["gap", ("gapp",), ["gap"]])
def test_knowledge_of_no_fact_is_not_registered(knows: Any) -> None:
    (flaw,) = declaration_flaws(type("Wrong", (Good,), {"name": "wrong", "knows": knows, "__module__": "m"}))
    assert flaw.startswith(
        "its class attribute 'knows' is no tuple of facts about the bias: direction, kind, gap"
    )


def test_a_technique_that_wants_several_states_of_knowledge_is_not_registered() -> None:
    fields = {"name": "wrong", "knows": ("gap", "kind", "refusals"), "__module__": "m"}
    (flaw,) = declaration_flaws(type("Wrong", (Good,), fields))
    assert "has several facts, gap, refusals: a technique is told one, besides direction and kind" in flaw


def test_the_facts_of_the_example_are_those_of_its_table() -> None:
    train = example_table()
    known = facts_of(train)
    assert known.told == FACTS
    assert 0 < known.gap == pytest.approx(known.rates[0] - train.y[train.deprived].mean())
    assert known.rates[1] == train.y[~train.deprived].mean()
    assert 0 < known.refusals.favorable.mean() < 1
    assert (train.deprived & ~train.y)[known.refusals.rows].all()
    shuffled = train.take(np.random.default_rng(0).permutation(len(train)))
    assert facts_of(shuffled).gap == pytest.approx(known.gap)
    assert len(facts_of(shuffled).clean_rows) == len(known.clean_rows)


def test_every_check_has_an_offender() -> None:
    marks = test_each_check_catches_its_offender.pytestmark  # type: ignore[attr-defined]
    assert {check for _, check in marks[0].args[1]} == set(CHECKS)


@pytest.mark.parametrize("technique", [Scoring, ScoringByTheBook])
def test_a_need_of_scores_that_is_not_declared_is_told_how(technique: type[Technique]) -> None:
    detail = {r.check: r.detail for r in check_technique(technique())}["need of scores declared"]
    assert detail.startswith("It fails with a classifier that estimates no probabilities. Got: ")
    assert detail.endswith("What to do: declare needs_scores = True.")


@pytest.mark.parametrize("technique", [Good, Widened, Skilled, NeedingScoresForNothing])
def test_what_conforms_passes(technique: type[Technique], capfd: pytest.CaptureFixture[str]) -> None:
    assert [r for r in check_technique(technique()) if r.status == "failed"] == []
    assert capfd.readouterr() == ("", "")


def test_what_is_printed_is_quoted_and_not_shown(capfd: pytest.CaptureFixture[str]) -> None:
    said = {r.check: r.detail for r in check_technique(PrintingPastPython())}["silent"]
    assert "'a library speaks'" in said
    print("streams are back")
    os.write(2, b"both of them")
    shown = capfd.readouterr()
    assert shown.out == "streams are back\n"
    assert shown.err == "both of them"


def test_rounding_at_the_threshold_is_no_dependence_on_the_order_of_rows() -> None:
    def leaning(size: float) -> Technique:
        class Leaning(Skilled):
            def _fit(self, train: Table, tools: Tools) -> Predictor:
                shift = size if train.y[0] else -size
                return Predictor(lambda t: skill(t) + shift > 0.5, lambda t: np.clip(skill(t) + shift, 0, 1))

        return Leaning()

    train = example_table()
    assert not train.y[0]
    # The check's own shuffling brings a hired one to the front; a skill of 3 out of 6 is a score of 1/2.
    assert train.take(np.random.default_rng(1).permutation(len(train))).y[0]
    for size, status in ((1e-9, "passed"), (1e-3, "failed")):
        assert {r.check: r.status for r in check_technique(leaning(size))}["row order irrelevant"] == status


def test_weights_may_differ_by_rounding() -> None:
    class Rounding(Good):
        needs_weights = True

        def _prepare(self, train: Table, tools: Tools) -> Prepared:
            return Prepared(train, sample_weight=np.full(len(train), 1 + 1e-12 * train.y[0]))

    results = {r.check: r.status for r in check_technique(Rounding())}
    assert results["row order irrelevant"] == "passed"


def test_a_technique_that_fails_or_declines_at_once_says_so_once() -> None:
    class Declining(Good):
        def skip(self, train: Table) -> str | None:
            return "it never runs on a Friday"

    first, *rest = check_technique(Declining())
    assert (first.status, first.detail) == (
        "not applicable",
        "it declines the example table: it never runs on a Friday",
    )
    assert {r.status for r in rest} == {"not applicable"}
    first, *rest = check_technique(Broken())
    assert first.status == "failed"
    what, place = first.detail.splitlines()
    assert what == "ZeroDivisionError: a bug"
    assert re.fullmatch(r'In file test_conformance\.py, line \d+: raise ZeroDivisionError\("a bug"\)', place)
    assert {r.status for r in rest} == {"not applicable"}


def test_scores_are_not_asked_for_where_the_classifier_has_none() -> None:
    class Hard:
        def __init__(self, cardinalities: np.ndarray) -> None:
            pass

        def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: Any = None) -> None:
            pass

        def predict(self, X: np.ndarray) -> np.ndarray:
            return (X[:, 0] > 3).astype(int)

    results = {r.check: r for r in check_technique(Good(), classifier=Hard)}
    assert results["scores declared"].status == "not applicable"
    assert [r for r in results.values() if r.status == "failed"] == []


def test_the_wide_example_holds_the_narrow_one() -> None:
    narrow, wide = example_table(), example_table(extra_columns=7)
    assert len(wide.schema.columns) == 12
    np.testing.assert_array_equal(wide.codes[:, :5], narrow.codes)
    assert {wide.schema.columns[i].ordered for i in range(5, 12)} == {False, True}
    assert wide.schema.cardinalities[5:].min() >= 2
    assert wide.schema.cardinalities[5:].max() > 10
    for i in range(5, 12):
        assert len(np.unique(wide.codes[:, i])) == wide.schema.cardinalities[i]


def test_a_stated_reason_is_a_valid_answer() -> None:
    class Reasoned(Fragile):
        def skip(self, train: Table) -> str | None:
            return None if train.y[train.deprived].any() else "the deprived group has no positives"

    results = {r.check: r.status for r in check_technique(Reasoned())}
    assert results["a group without positives"] == "passed"
    with pytest.raises(TechniqueError, match="has no positives"):
        Reasoned().fit(example_table(positives=(True, False)), None)  # type: ignore[arg-type]
