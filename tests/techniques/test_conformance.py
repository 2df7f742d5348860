"""Every registered technique conforms, and the checks catch those that do not."""

import contextlib
import os
import random
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, ClassVar

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

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
from benchmark.techniques.post_processing import (
    Adjustment,
    ErrorRatePostProcessing,
    PostProcessing,
    Scored,
    lottery,
)
from benchmark.techniques.reductions import Reduction
from benchmark.techniques.registry import declaration_flaws
from tests.helpers.techniques import checked

_TREATMENTS = ("schema", "categorical", "ordinal")
_ZAFAR_2017 = [(c, p) for c in ("fpr", "fnr", "fpr_fnr") for p in ("favorable", "unfavorable")]
# By night, besides the defaults.
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    # Each two of the three settings meet: all levels and treatments, in one variant or the other.
    *(("repair", {"variant": ("feldman", "blackbox_auditing")[(i + j) % 2], "level": level,
                  "treatment": treatment, "repair_label": True, "repair_sensitive": True,
                  "repair_test": True})
      for i, level in enumerate((0.0, 0.5, 1.0)) for j, treatment in enumerate(_TREATMENTS)),
    *(("zafar_2015", {"constraint": constraint, "use_sensitive": shown, "treatment": treatment})
      for constraint in ("fairness", "accuracy", "misclassification")
      for shown in (True, False) for treatment in _TREATMENTS),
    *(("zafar_2017", {"constraint": constraint, "use_sensitive": shown, "positive": positive})
      for constraint, positive in _ZAFAR_2017 for shown in (True, False)),
    *(("adversarial", {"constraint": constraint, "hidden": hidden, "epochs": 2})
      for constraint in ("demographic_parity", "equalized_odds") for hidden in (0, 3)),
    ("correlation_remover", {"discretisation": "equal_frequency"}),
    ("gerry_fair", {"fairness_def": "SP", "subgroups": "states"}), ("gerry_fair", {"fairness_def": "FN"}),
    ("meta_fair", {"tau": 1.0}), ("meta_fair", {"constraint": "false_discovery_rate"}),
    ("prejudice_remover", {"eta": 100.0}), ("prejudice_remover", {"treatment": "ordinal", "ridge": 0.01}),
    ("equalized_odds", {"objective": "balanced_accuracy"}), ("calibrated_equalized_odds", {"cost": "fnr"}),
    ("reject_option", {"thresholds": 1, "margins": 1}),
    ("threshold_optimizer", {"constraint": "equalized_odds", "objective": "balanced_accuracy"}),
    ("threshold_optimizer", {"constraint": "true_positive_rate_parity"}),
    ("randomized_threshold_optimizer", {"epsilon": 0.1, "gamma": 2.0}),
]  # fmt: skip
# What is expensive in its default form, which is checked at night; of fairlearn's, one by day.
CHEAPER: dict[str, dict[str, Any]] = {
    "grid_search": {"grid_size": 5},
    "exponentiated_gradient": {"max_iterations": 5},
    "label_bias_weights": {"rounds": 2},
    "lfr": {"prototypes": 2},
}
BY_NIGHT = ("exponentiated_gradient", "threshold_optimizer")
CONFIGURED = [
    *(
        pytest.param(n, CHEAPER.get(n, {}), marks=[pytest.mark.nightly] * (n in BY_NIGHT))
        for n in list_techniques()
    ),
    *(pytest.param(n, p, marks=pytest.mark.nightly) for n, p in [*VARIANTS, *((n, {}) for n in CHEAPER)]),
]


@pytest.mark.parametrize(("name", "parameters"), CONFIGURED, ids=str)
def test_every_registered_technique_conforms(name: str, parameters: dict[str, Any]) -> None:
    technique = get_technique(name, **parameters)
    results = check_technique(technique)
    assert [r.check for r in results] == list(CHECKS)
    # Whoever takes the position of every state for a number depends on the codes, and means to.
    meant = {"coding irrelevant"} if parameters.get("treatment") == "ordinal" and name != "repair" else set()
    assert [r for r in results if r.status in ("failed", "warning") and r.check not in meant] == []


@pytest.mark.parametrize("deprived", [True, False])
def test_rows_of_one_group_are_declined_with_the_reason_that_a_technique_declares(deprived: bool) -> None:
    rows = example_table()
    rows = rows.take(rows.deprived == deprived)
    for name, kind in list_techniques().items():
        technique = kind()
        reason = technique.skip(rows)
        if name == "adversarial" and reason and "not installed" in reason:
            continue
        if isinstance(technique, ErrorRatePostProcessing) or name == "fair_smote":
            group = "favored" if deprived else "deprived"
            assert str(reason).startswith(f"no training row is ({group}, "), name
        elif isinstance(technique, Reduction):
            assert "nothing to compare" in str(reason), name
        elif kind.needs_two_groups:
            n = len(rows)
            members = n * deprived
            assert reason == f"{members} of {n} rows are of the deprived group: {kind.needs_two_groups}"
        else:
            assert reason is None, name


@pytest.mark.nightly
@pytest.mark.parametrize("name", list_techniques())
def test_every_registered_technique_conforms_with_the_classifier_of_the_command(name: str) -> None:
    results = checked(get_technique(name, **CHEAPER.get(name, {})), classifier="c45").values()
    assert [r for r in results if r.status in ("failed", "warning")] == []


class Good(PreProcessing):
    name, reference, summary, version = "good", "r", "s", "1"

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        return Prepared(train)


class Broken(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        raise ZeroDivisionError("a bug")


class Fragile(Good):
    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        if not train.y[train.deprived].any():
            raise ZeroDivisionError("no positives")
        return Prepared(train)


def preparing(action: Callable[[Table, Tools], Prepared], **declared: Any) -> type[Technique]:
    """Return a technique that prepares by a function."""
    return type(
        "Preparing", (Good,), {**declared, "_prepare": lambda self, train, tools: action(train, tools)}
    )


def moody_transform(train: Table, tools: Tools) -> Prepared:
    """Show the classifier another thing each time, of which it makes nothing."""
    rng = np.random.default_rng(0)
    constant = train.with_column("noise", np.zeros(len(train), dtype=int))
    return Prepared(constant, transform=lambda t: t.with_column("noise", rng.integers(0, 3, len(t))))


def vandalized(train: Table, tools: Tools) -> Prepared:
    train.codes.flags.writeable = True
    train.codes[0, 0] = 6 - train.codes[0, 0]
    return Prepared(train)


def meddled(train: Table, tools: Tools) -> Prepared:
    """Write to what the table derives from its codes, which is not read-only."""
    changed = Prepared(train.take(np.arange(len(train))))
    train.y[train.deprived] = True
    return changed


def after(action: Callable[..., object], *arguments: Any, **keywords: Any) -> type[Technique]:
    """Return a technique that does something before it prepares nothing."""

    def prepared(train: Table, tools: Tools) -> Prepared:
        action(*arguments, **keywords)
        return Prepared(train)

    return preparing(prepared)


def warned() -> None:
    with warnings.catch_warnings():  # shown, not raised, whatever the tests say
        warnings.simplefilter("default")
        print(warnings.formatwarning("deprecated", FutureWarning, "f.py", 1), file=sys.stderr)


PrintingPastPython = after(os.write, 2, b"a library speaks")


def by_name(train: Table, tools: Tools) -> Prepared:
    names = [n for n in sorted(train.schema.names) if n != train.schema.label]
    return Prepared(train, features=(names[0],))


def by_code(train: Table, tools: Tools) -> Prepared:
    return Prepared(train, sample_weight=1.0 + train.codes[:, train.schema.sensitive_index].astype(float))


def by_size_of_group(train: Table, tools: Tools) -> Prepared:
    group = train.codes[:, train.schema.sensitive_index]
    names = [train.schema.names[i] for i in train.schema.insensitive_indices]
    return Prepared(train, 1.0 / np.bincount(group)[group], tuple(names))


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


class BeyondRange(Good):
    share: Annotated[float, Interval(0, 1)] = 0.5

    search_space = (Search("share", 0.0, 2.0),)


class BrokenAtItsEnd(Good):
    share: Annotated[float, Interval(0, 1)] = 0.5

    search_space = (Search("share", 0.0, 1.0),)

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        assert self.share < 1, "all rows are left out"
        return Prepared(train)


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


def snooped(train: Table, tools: Tools) -> Prepared:
    """Find out whether there is something to be known, and say nothing of it."""
    with contextlib.suppress(TechniqueError):
        _ = tools.known.gap
    assert tools.known.kind == "label"
    return Prepared(train)


class Overinformed(Good):
    knows = ("gap", "rates")

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        assert tools.known.gap < 2
        return Prepared(train)


def skill(table: Table) -> np.ndarray:
    return np.asarray(table.codes[:, 0] / 6)


def hired(table: Table) -> np.ndarray:
    return np.asarray(skill(table) > 0.5)


class Skilled(Technique):
    """The skilled are hired: an in-processing technique that conforms."""

    name, stage, reference, summary, version = "skilled", "in", "r", "s", "1"
    needs_sensitive = False

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        return Predictor(hired, skill, Convergence(3, 0.0, 1e-6))


def predicting(predictor: Callable[[Table, Tools], Predictor], **declared: Any) -> type[Technique]:
    """Return a technique of a predictor that a function makes."""
    fit = {"_fit": lambda self, train, tools: predictor(train, tools)}
    return type("Predicting", (Skilled,), {**declared, **fit})


def converged(steps: Any, residual: float) -> type[Technique]:
    return predicting(lambda train, tools: Predictor(hired, skill, Convergence(steps, residual, 1e-6)))


def scoring(
    score: Callable[[Table, Tools], Callable[[Table], np.ndarray]], **declared: Any
) -> type[Technique]:
    """Return a technique that hires the skilled, and scores by a function that another one makes."""
    return predicting(lambda train, tools: Predictor(hired, score(train, tools)), **declared)


def shared(share: float) -> Callable[[Table], np.ndarray]:
    return lambda test: share * skill(test)


class Peeking(Skilled):
    """Overrides the public method, which is the only way round the hiding of labels."""

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        return Predictor(lambda test: test.y)

    def fit(self, train: Table, tools: Tools) -> Predictor:
        return self._fit(train, tools)


def of_first_row(train: Table, tools: Tools) -> Predictor:
    asked = 0.7 if train.y[0] else 0.2
    return Predictor(lambda test: skill(test) > asked, skill)


def of_state(code: int) -> type[Technique]:
    """Return a technique that hires one state: the deprived group of the example has code 1."""
    return predicting(
        lambda train, tools: Predictor(lambda t: t.codes[:, t.schema.sensitive_index] == code, skill)
    )


def of_number_of_groups(train: Table, tools: Tools) -> Predictor:
    groups = len(np.unique(train.codes[:, train.schema.sensitive_index]))
    return Predictor(lambda test: skill(test) > 0.3 * groups, skill)


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
        return lottery(lambda test: np.where(test.table.deprived, 0.6, 0.5), tools)


class UnexcusedLots(DrawingLots):
    may_lose_to_constant = ""


def adjusting(adjustment: Callable[[Scored], Adjustment]) -> type[Technique]:
    """Return a technique of an adjustment that a function makes of rows held out."""
    return type("Adjusted", (Adjusting,), {"_adjust": lambda self, held_out, tools: adjustment(held_out)})


def by_code_one(held_out: Scored) -> Adjustment:
    sensitive = held_out.table.schema.sensitive_index
    return lambda test: test.score > np.where(test.table.codes[:, sensitive] == 1, 0.2, 0.5)


def by_label_zero(held_out: Scored) -> Adjustment:
    favorable = held_out.table.codes[:, held_out.table.schema.label_index] == 0
    cut = float(np.median(held_out.score[favorable]))
    return lambda test: test.score > cut


def by_each_state(held_out: Scored) -> Adjustment:
    sensitive = held_out.table.schema.sensitive_index
    group = held_out.table.codes[:, sensitive]
    cut = 1.3 * np.bincount(group, minlength=3) / len(group)
    return lambda test: test.score > cut[test.table.codes[:, sensitive]]


class Undeclared(Technique):
    name, stage, reference, version = "undeclared", "in", "none", "1"
    summary = "Trains a learner of its own"

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


def weighted(rng: Callable[[Tools], np.random.Generator]) -> type[Technique]:
    """Return a technique of weights that are too much alike to change a prediction."""
    return preparing(
        lambda train, tools: Prepared(train, sample_weight=1 + 1e-4 * rng(tools).random(len(train))),
        needs_weights=True,
    )


def permuted(rng: Callable[[Tools], np.random.Generator]) -> type[Technique]:
    return preparing(
        lambda train, tools: Prepared(train.with_column("skill", rng(tools).permutation(train.codes[:, 0])))
    )


def any_rng(tools: Tools) -> np.random.Generator:
    return np.random.default_rng()


def own_rng(tools: Tools) -> np.random.Generator:
    return tools.rng


LOTS = {"randomised": True}
OFFENDERS: list[tuple[str, type[Technique]]] = [
    ("trains on the example", Broken),
    ("trains on the example", after(sys.exit, "no more")),
    ("deterministic under a seed", permuted(any_rng)),
    ("deterministic under a seed", weighted(any_rng)),
    ("deterministic under a seed", scoring(lambda train, tools: shared(any_rng(tools).random()))),
    (
        "answers repeatable",
        predicting(lambda train, tools: Predictor(lambda t: tools.rng.random(len(t)) < 0.5, skill), **LOTS),
    ),
    ("answers repeatable", scoring(lambda train, tools: lambda t: tools.rng.random(len(t)), **LOTS)),
    ("answers repeatable", preparing(moody_transform)),
    (
        "batch irrelevant",
        predicting(lambda *_: Predictor(lambda t: skill(t) > np.quantile(skill(t), 0.7), skill)),
    ),
    ("batch irrelevant", adjusting(lambda held_out: lambda test: test.score > np.median(test.score))),
    ("input not mutated", preparing(vandalized)),
    ("input not mutated", preparing(meddled)),
    ("global random state untouched", after(np.random.seed, 0)),
    ("global random state untouched", after(random.random)),
    ("global random state untouched", scoring(lambda *_: lambda t: np.random.random(len(t)))),  # noqa: NPY002
    ("silent", after(lambda: print("600 rows"))),
    ("silent", PrintingPastPython),
    ("silent", after(lambda: print("still here", file=sys.__stderr__))),
    ("silent", after(warned)),
    ("silent", after(lambda: sys.stdout.close())),
    ("randomness declared", permuted(own_rng)),
    ("randomness declared", weighted(own_rng)),
    ("randomness declared", scoring(lambda train, tools: shared(tools.rng.random()))),
    ("knowledge declared", preparing(snooped, knows=("kind",))),
    (
        "strange knowledge",
        preparing(
            lambda t, tools: Prepared(t.take(range(round(tools.known.gap) * len(t), len(t)))), knows=("gap",)
        ),
    ),
    ("sensitive feature declared", type("Unaware", (Good,), {"needs_sensitive": False})),
    (
        "weights declared",
        preparing(lambda train, tools: Prepared(train, sample_weight=np.ones(len(train)))),
    ),
    ("need of scores declared", Scoring),
    ("need of scores declared", ScoringByTheBook),
    ("scores declared", predicting(lambda *_: Predictor(hired))),
    ("scores declared", type("SecretlyScoring", (Skilled,), {"produces_scores": False})),
    ("scores declared", scoring(lambda *_: lambda test: skill(test) - 0.5)),
    ("learner declared", Borrowing),
    ("learner declared", BorrowingUnconstrained),
    ("learner declared", Misnamed),
    ("row order irrelevant", preparing(lambda train, tools: Prepared(train.take(np.arange(300))))),
    ("row order irrelevant", WidenedByOrder),
    ("row order irrelevant", predicting(of_first_row)),
    ("names irrelevant", preparing(by_name)),
    ("coding irrelevant", preparing(by_code)),
    ("coding irrelevant", WidenedByCode),
    ("coding irrelevant", of_state(0)),
    ("coding irrelevant", of_state(1)),
    ("coding irrelevant", adjusting(by_code_one)),
    ("coding irrelevant", adjusting(by_label_zero)),
    ("groups declared", predicting(of_number_of_groups)),
    ("groups declared", preparing(by_size_of_group, needs_weights=True)),
    ("groups declared", adjusting(by_each_state)),
    ("weights valid", Negative),
    ("convergence valid", converged(100, 1e-2)),
    ("convergence valid", converged(None, 0.0)),
    ("convergence valid", converged(1, float("nan"))),
    ("a group without positives", Fragile),
    ("test labels unseen", Peeking),
    ("label column unused", Peeking),
    ("better than a constant", UnexcusedLots),
    ("search space valid", BeyondRange),
    ("search space valid", BrokenAtItsEnd),
]


@pytest.mark.parametrize(("check", "technique"), OFFENDERS)
def test_each_check_catches_its_offender(check: str, technique: type[Technique]) -> None:
    found = checked(technique(), check)[check]
    assert found.status == "failed"
    assert found.detail


def test_a_learner_of_its_own_that_is_not_declared_is_a_warning() -> None:
    found = checked(Undeclared(), "learner declared")["learner declared"]
    assert found.status == "warning"
    assert "never calls tools.classifier" in found.detail
    declared = checked(get_technique("prejudice_remover"), "learner declared")
    assert declared["learner declared"].status == "passed"


def test_knowledge_that_is_declared_and_not_read_is_a_warning() -> None:
    found = checked(Overinformed(), "knowledge declared")["knowledge declared"]
    assert found.status == "warning"
    assert found.detail.startswith("It declares to know rates of the bias, and does not read it")


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
    assert {check for check, _ in OFFENDERS} == set(CHECKS)


@pytest.mark.parametrize(
    "technique", [Good, Widened, Skilled, NeedingScoresForNothing, Adjusting, DrawingLots]
)
def test_what_conforms_passes(technique: type[Technique], capfd: pytest.CaptureFixture[str]) -> None:
    results = checked(technique())
    assert [r for r in results.values() if r.status == "failed"] == []
    if technique.stage == "post":  # they are checked though the rows held out are drawn
        for check in ("batch irrelevant", "coding irrelevant", "groups declared"):
            assert results[check].status == "passed"
    assert capfd.readouterr() == ("", "")


def test_what_is_printed_is_quoted_and_not_shown(capfd: pytest.CaptureFixture[str]) -> None:
    assert "'a library speaks'" in checked(PrintingPastPython(), "silent")["silent"].detail
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
        found = checked(leaning(size), "row order irrelevant")["row order irrelevant"]
        assert found.status == status


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


def test_a_stated_reason_is_a_valid_answer() -> None:
    class Reasoned(Fragile):
        def skip(self, train: Table) -> str | None:
            return None if train.y[train.deprived].any() else "the deprived group has no positives"

    results = checked(Reasoned(), "a group without positives")
    assert results["a group without positives"].status == "passed"
    with pytest.raises(TechniqueError, match="has no positives"):
        Reasoned().fit(example_table(positives=(True, False)), None)  # type: ignore[arg-type]
