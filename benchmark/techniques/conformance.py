"""What every technique must do, whoever wrote it.

Each check is a function of a technique that raises :class:`NonconformityError` with what it saw. They run on
a small made-up table, so they are quick and need neither data nor network.

Post-processing draws its held-out rows at random, so that no two of its fits can be compared row by row. Its
adjustment is checked instead, on made-up scores, by the mean shares of favorable answers over several seeds.
A technique that learns from the label column is seen in two ways: its answers change with what hides that
column in the rows to predict, or, if it looks elsewhere there, they are no better than a constant.
Whether a technique tells more than two groups apart is only checked where the classifier does not: elsewhere
a prediction may rightly depend on each state of the sensitive feature.
"""

from __future__ import annotations

import contextlib
import functools
import io
import numbers
import os
import pickle
import random
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Column, Schema, Table
from benchmark.errors import BetabenchError, DeclinedError, TechniqueError, where
from benchmark.techniques.base import (
    Convergence,
    Estimator,
    Predictor,
    Prepared,
    PreProcessing,
    Technique,
    Tools,
)
from benchmark.techniques.post_processing import Adjustment, PostProcessing, Scored

Status = Literal["passed", "warning", "failed", "not applicable"]

# Sums of the same numbers in another order differ by rounding, which shows where a score is this near to 1/2,
# and in the last digits of a weight.
_TOLERANCE = 1e-6

# Mean shares of favorable answers that differ by more do not do so by lot: over so many seeds it is three
# standard errors even in the smallest cell compared, 41 rows, if all its answers were tosses of a coin.
# Answers that are the same row by row under the first seeds need no more of them.
_SEEDS, _SEEDS_IF_ALIKE = 50, 3
_SHARE_TOLERANCE = 0.05

# Learners that take codes for numbers, or drop one state as reference and regularise the others, depend on
# the codes of features. Of twelve such (trees, neighbours, linear models) it was 5 % of the answers to the
# example at most, and 2 % where the two groups swap their codes.
_MOST_BY_CODES = 0.15
_MOST_BY_ROLES = 0.05


class NonconformityError(TechniqueError):
    """A technique breaks a rule that all techniques keep."""


class _CautionError(NonconformityError):
    """What a technique does may be meant, but should be looked at."""


class _NotApplicableError(Exception):
    """The check does not concern this technique; the message says why."""


@dataclass(frozen=True)
class CheckResult:
    """Outcome of one check.

    Parameters
    ----------
    check : str
        The check's name.
    status : {"passed", "warning", "failed", "not applicable"}
        Outcome. A warning breaks no rule: what was seen may be meant.
    detail : str
        What was wrong or seen, or why the check does not apply; empty if it passed.
    """

    check: str
    status: Status
    detail: str = ""


def example_table(
    rows: int = 600, seed: int = 7, positives: tuple[bool, bool] = (True, True), extra_columns: int = 0
) -> Table:
    """Return a made-up table with planted discrimination.

    Parameters
    ----------
    rows : int, default 600
        Number of rows.
    seed : int, default 7
        Of the generator that draws it.
    positives : tuple of bool, default (True, True)
        Whether the favored, and the deprived, group has rows of favorable label.
    extra_columns : int, default 0
        Further columns of 2 to 16 states, alternately ordered and unordered, in which the skill shows.

    Returns
    -------
    Table
        An ordered, two unordered columns (one of them a proxy of the group, one with a state that never
        occurs), a sensitive feature of three states and a label whose favorable state has code 0.
    """
    rng = np.random.default_rng(seed)
    group = rng.choice(3, rows, p=[0.5, 0.35, 0.15])
    deprived = group == 1
    skill = np.clip(rng.normal(3.0 - 0.8 * deprived, 1.4, rows).round(), 0, 6)
    proxy = np.where(rng.random(rows) < 0.7, deprived * 2, rng.integers(0, 4, rows))
    noise = rng.integers(0, 3, rows)
    favorable = rng.random(rows) < 1 / (1 + np.exp(2.6 + 1.1 * deprived - 0.8 * skill))
    favorable &= np.where(deprived, positives[1], positives[0])
    sizes = [2 + 5 * i % 15 for i in range(extra_columns)]
    extra = [(skill * size / 7 + rng.integers(0, size, rows)).astype(int) % size for size in sizes]
    schema = Schema(
        columns=(
            Column("skill", tuple("abcdefg"), ordered=True),
            Column("sex", ("men", "women", "others")),
            Column("proxy", ("north", "east", "south", "west")),
            Column("label", ("hired", "rejected")),
            Column("noise", ("red", "green", "blue", "never")),
            *(
                Column(f"extra{i}", tuple(map(str, range(size))), ordered=i % 2 == 0)
                for i, size in enumerate(sizes)
            ),
        ),
        label="label",
        favorable_label="hired",
        sensitive_feature="sex",
        deprived_group="women",
    )
    codes = np.column_stack([skill, group, proxy, ~favorable, noise, *extra])
    return Table(schema, codes.astype(np.int16))


def check_technique(
    technique: Technique,
    *,
    classifier: Callable[[NDArray[np.int64]], Estimator] | None = None,
    ranker: Callable[[Table], NDArray[np.float64]] | None = None,
    seed: int = 0,
) -> list[CheckResult]:
    """Run all checks on a configured technique.

    Parameters
    ----------
    technique : Technique
        What is checked, with its parameters.
    classifier, ranker : callable, optional
        As in :class:`Tools`; naive Bayes if left out.
    seed : int, default 0
        Of the generators handed to the technique.

    Returns
    -------
    list of CheckResult
        One for each check, in the order of :data:`CHECKS`. Of a technique that fails on the example table, or
        declines it, the first check says why, and no other applies.
    """
    bench = _Bench(technique, classifier or _naive_bayes, ranker or _naive_bayes_ranker, seed)
    results: list[CheckResult] = []
    for name, check in CHECKS.items():
        if results and results[0].status != "passed":
            results.append(CheckResult(name, "not applicable", "it does not train on the example table"))
        else:
            results.append(CheckResult(name, *_outcome(check, bench)))
    return results


def _outcome(check: Callable[[_Bench], None], bench: _Bench) -> tuple[Status, str]:
    try:
        with _overheard():  # what a technique writes is quoted by one check, and shown by none
            check(bench)
    except _NotApplicableError as reason:
        return "not applicable", str(reason)
    except NonconformityError as problem:
        return "warning" if isinstance(problem, _CautionError) else "failed", str(problem)
    except (Exception, SystemExit) as problem:  # a technique under test may do anything
        return "failed", described(problem)
    return "passed", ""


def described(problem: BaseException) -> str:
    """Return what an exception says, and on a line of its own where in the technique's file it arose."""
    text = str(problem) if isinstance(problem, BetabenchError) else f"{type(problem).__name__}: {problem}"
    place = where(problem, source=True)
    return f"{text}\nIn {place}" if place else text


@dataclass(frozen=True)
class _Bench:
    """A technique on the workbench."""

    technique: Technique
    classifier: Callable[[NDArray[np.int64]], Estimator]
    ranker: Callable[[Table], NDArray[np.float64]]
    seed: int

    def tools(self) -> Tools:
        return Tools(self.classifier, self.ranker, np.random.default_rng(self.seed))

    def fit(self, train: Table) -> Predictor:
        return self.technique.fit(train, self.tools())

    def predict(self, train: Table, test: Table) -> NDArray[np.bool_]:
        return self.fit(train).predict(test)

    @cached_property
    def trial(self) -> _Trial:
        """A fit on the example table that several checks share, and what was noticed meanwhile."""
        train, test = _train_and_test()
        before = [_content(table) for table in (train, test)]
        with _overheard() as written:
            predictor = self.fit(train)
            predictor.predict(test)
            if predictor.predict_score is not None:
                predictor.predict_score(test)
        return _Trial(predictor, "".join(written), before != [_content(t) for t in (train, test)])

    @cached_property
    def repetition(self) -> tuple[_Answers, bool]:
        """What a second fit answers, and whether a global generator was used meanwhile."""
        _ = self.trial  # first, because libraries may use these generators when they are imported
        with _marked_global_state() as marked:
            answers = _Bench(self.technique, self.classifier, self.ranker, self.seed).answers()
            return answers, _global_state() != marked

    def answers(self, test: Table | None = None) -> _Answers:
        """Ask for all that shows of the fit: predictions, scores and, of pre-processing, prepared data."""
        test = example_table(200, seed=8) if test is None else test
        predict_score = self.fitted.predict_score
        return _Answers(
            self.fitted.predict(test),
            None if predict_score is None else predict_score(test),
            _data(self.prepared, test) if isinstance(self.technique, PreProcessing) else None,
        )

    @property
    def fitted(self) -> Predictor:
        return self.trial.predictor

    @cached_property
    def prepared(self) -> Prepared:
        if not isinstance(self.technique, PreProcessing):
            raise _NotApplicableError("it does not prepare data")
        return self.technique.prepare(example_table(), self.tools())


@dataclass(frozen=True)
class _Trial:
    predictor: Predictor
    written: str
    tables_changed: bool


@dataclass(frozen=True)
class _Data:
    """What a classifier trains on, with its weights, and what it predicts from."""

    rows: NDArray[np.str_]
    weight: NDArray[np.float64]
    shown: NDArray[np.str_]

    def distance(self, other: _Data) -> float:
        """Return which share of the weight lies on other training rows, or of test rows is another.

        The order of the training rows does not count, but for that of rounding.
        """
        _, distinct = np.unique(np.concatenate([self.rows, other.rows]), return_inverse=True)
        here = np.arange(len(distinct)) < len(self.rows)
        first, second = (
            np.bincount(distinct[part], data.weight, distinct.max() + 1)
            for part, data in ((here, self), (~here, other))
        )
        apart = np.abs(first - second)
        apart[apart <= _TOLERANCE * np.maximum(first, second)] = 0.0
        return float(max(apart.sum() / (first + second).sum(), np.mean(self.shown != other.shown)))

    def differences(self, other: _Data) -> list[str]:
        differ = {
            "prepared training rows differ": not np.array_equal(self.rows, other.rows),
            "weights differ": self.weight.shape != other.weight.shape
            or not np.allclose(self.weight, other.weight, rtol=_TOLERANCE),
            "transformed test rows differ": not np.array_equal(self.shown, other.shown),
        }
        return [what for what, seen in differ.items() if seen]


@dataclass(frozen=True)
class _Answers:
    """All that shows of a fit."""

    predicted: NDArray[np.bool_]
    score: NDArray[np.float64] | None
    data: _Data | None

    def differences(self, other: _Answers) -> str:
        """Say in what two answers to the same questions differ; nothing if they agree."""
        found = []
        wrong = np.count_nonzero(self.predicted != other.predicted)
        if wrong:
            found.append(f"{wrong} of {len(self.predicted)} predictions differ")
        if self.score is None or other.score is None:
            if self.score is not other.score:
                found.append("only one has scores")
        elif not np.allclose(self.score, other.score, rtol=0, atol=_TOLERANCE):
            found.append(f"scores differ by up to {np.abs(self.score - other.score).max():.3g}")
        if self.data is not None and other.data is not None:
            found.extend(self.data.differences(other.data))
        return ", ".join(found)


def _train_and_test() -> tuple[Table, Table]:
    return example_table(), example_table(200, seed=8)


def _demand(held: bool, what: str, **details: Any) -> None:
    if not held:
        raise NonconformityError(what, **details)


def _demand_fixed(bench: _Bench) -> None:
    if bench.technique.randomised:
        raise _NotApplicableError("it is randomised")


def _trains(bench: _Bench) -> None:
    """Demand that training and prediction end without an error, unless the technique declines."""
    reason = bench.technique.skip(example_table())
    if reason is not None:
        raise _NotApplicableError(f"it declines the example table: {reason}")
    _ = bench.fitted


def _deterministic(bench: _Bench) -> None:
    """Demand the same predictions, scores and prepared data from the same seed."""
    differences = bench.answers().differences(bench.repetition[0])
    _demand(
        not differences,
        "Two runs with one seed differ",
        got=differences,
        remedy="draw every random number from tools.rng, and never iterate over a set",
    )


def _repeatable(bench: _Bench) -> None:
    """Demand the same answer whenever the same rows are asked for, whatever was asked in between."""
    first = bench.answers()
    between = example_table(90, seed=9)
    bench.fitted.predict(between)
    if bench.fitted.predict_score is not None:
        bench.fitted.predict_score(between)
    differences = first.differences(bench.answers())
    _demand(
        not differences,
        "The same rows get another answer when they are asked for again",
        got=differences,
        remedy="draw a seed from tools.rng in fit, and begin a new generator with it in each prediction",
    )


def _batch_irrelevant(bench: _Bench) -> None:
    """Demand the same answer for a row whichever rows come with it; of lots, the same chances."""
    remedy = "learn thresholds and rates in fit, and predict each row by itself"
    unsorted = _scored(example_table(400, seed=8))
    rising = np.argsort(unsorted.score, kind="stable")
    rows = Scored(unsorted.table.take(rising), unsorted.score[rising])
    half = np.arange(len(rising)) >= len(rising) // 2
    cells = 2 * rows.table.deprived + half
    if isinstance(bench.technique, PostProcessing):
        _demand_same_shares(
            _adjusted(
                bench,
                bench.technique,
                lambda adjust: adjust(rows),
                lambda adjust: np.concatenate(
                    [adjust(Scored(rows.table.take(part), rows.score[part])) for part in (~half, half)]
                ),
            ),
            cells,
            "The adjustment of a row depends on the rows that come with it",
            remedy,
        )
        return
    if bench.technique.randomised:
        _demand_same_shares(
            _asked_in_parts(bench.fitted, rows.table, half),
            cells,
            "The chances of a row depend on the rows that come with it",
            remedy,
        )
        return
    test = example_table(200, seed=8)
    whole = bench.fitted.predict(test)
    order = np.random.default_rng(1).permutation(len(test))
    # In another order, in two unequal parts, and the first rows each alone.
    for rows in (order, order[:50], order[50:], *np.arange(12)[:, None]):
        _demand(
            np.array_equal(bench.fitted.predict(test.take(rows)), whole[rows]),
            "The answer for a row depends on the rows that come with it",
            remedy=remedy,
        )


def _input_untouched(bench: _Bench) -> None:
    """Demand that training and test tables stay as they were."""
    _demand(
        not bench.trial.tables_changed,
        "A table was changed in place",
        remedy="work on a copy: table.codes.copy(), table.y.copy()",
    )


def _global_state_untouched(bench: _Bench) -> None:
    """Demand that the global generators of Python and NumPy are neither used nor seeded."""
    _demand(
        not bench.repetition[1],
        "A global random generator was used or seeded",
        remedy="draw every random number from tools.rng",
    )


def _silent(bench: _Bench) -> None:
    """Demand that nothing is written to the standard streams, warnings included."""
    written = bench.trial.written
    _demand(
        not written,
        "It writes to the standard output or error stream",
        got=repr(written if len(written) <= 300 else written[:300] + " ..."),
        remedy="print nothing, and silence a library's warnings around the call that causes them",
    )


def _randomness_declared(bench: _Bench) -> None:
    """Demand that the seed is irrelevant unless the technique says that chance decides."""
    _demand_fixed(bench)
    differences = bench.answers().differences(replace(bench, seed=bench.seed + 1).answers())
    _demand(
        not differences, "Results depend on the seed", got=differences, remedy="declare randomised = True"
    )


def _sensitive_declared(bench: _Bench) -> None:
    """Demand that the sensitive feature of test rows is irrelevant if it is said not to be needed."""
    if bench.technique.needs_sensitive:
        raise _NotApplicableError("it declares that it may use the sensitive feature of the rows to predict")
    test = example_table(200, seed=8)
    group = np.random.default_rng(1).permutation(test.codes[:, test.schema.sensitive_index])
    other = test.with_column(test.schema.sensitive_feature, group)
    same = np.array_equal(bench.fitted.predict(test), bench.fitted.predict(other))
    if bench.fitted.predict_score is not None:
        same &= np.array_equal(bench.fitted.predict_score(test), bench.fitted.predict_score(other))
    _demand(
        same,
        "Predictions or scores depend on the sensitive feature of the rows to predict",
        remedy="declare needs_sensitive = True, or leave the feature out of what predicts",
    )


def _weights_declared(bench: _Bench) -> None:
    """Demand that it works with a classifier without weights unless it says that it needs them."""
    if bench.technique.needs_weights:
        raise _NotApplicableError("it declares that the classifier has to take weights")

    _demand_works_with(bench, _Weightless, "whose fit takes no weights", "needs_weights")


def _need_of_scores_declared(bench: _Bench) -> None:
    """Demand that it works with a classifier without scores unless it says that it needs them."""
    if bench.technique.needs_scores:
        raise _NotApplicableError("it declares that the classifier has to estimate probabilities")
    _demand_works_with(bench, _Scoreless, "that estimates no probabilities", "needs_scores")


def _demand_works_with(bench: _Bench, lacking: Callable[[Any], Any], what: str, declaration: str) -> None:
    """Demand a result with classifiers that lack something, or name what declares that it is needed."""

    def build(cardinalities: NDArray[np.int64]) -> Any:
        return lacking(bench.classifier(cardinalities))

    try:
        replace(bench, classifier=build).predict(*_train_and_test())
    except Exception as problem:
        raise NonconformityError(
            f"It fails with a classifier {what}",
            got=described(problem),
            remedy=f"declare {declaration} = True",
        ) from problem


def _scores_declared(bench: _Bench) -> None:
    """Demand scores from 0 to 1 if it says that it estimates them, and none otherwise."""
    train, test = _train_and_test()
    classifier = bench.classifier(train.feature_schema.cardinalities)
    if not hasattr(classifier, "predict_proba"):
        raise _NotApplicableError("the classifier estimates no probabilities")
    predict_score = bench.fitted.predict_score
    if not bench.technique.produces_scores:
        _demand(
            predict_score is None,
            "It estimates scores, but declares that it does not",
            remedy="declare produces_scores = True",
        )
        return
    if predict_score is None:
        raise NonconformityError(
            "It declares that it estimates scores, but does not",
            remedy="return Predictor(predict, predict_score), or declare produces_scores = False",
        )
    scores = predict_score(test)
    _demand(
        scores.shape == (len(test),) and bool(((scores >= 0) & (scores <= 1)).all()),
        "Its scores are no estimates of a probability",
        expected=f"{len(test)} numbers from 0 to 1",
        got=f"shape {scores.shape} from {scores.min()} to {scores.max()}",
        remedy="put distances to the boundary through the logistic function",
    )


def _labels_unseen(bench: _Bench) -> None:
    """Demand that nothing goes round the hiding of the labels of test rows."""
    test = example_table(200, seed=8)
    differences = bench.answers(test).differences(bench.answers(_flipped(test)))
    _demand_repeatable(bench)
    _demand(
        not differences,
        f"The true labels of the rows to predict, column {test.schema.label!r}, change the answers",
        got=f"with the opposite labels {differences}",
        remedy="predict from what predict() is given, and override neither fit() nor learn()",
    )


def _label_column_unused(bench: _Bench) -> None:
    """Demand the same answers whatever the label column of the rows to predict is filled with."""
    test = example_table(200, seed=8)
    label = test.schema.label
    fillers = {
        "1 in place of 0": test.with_column(label, np.ones(len(test), dtype=np.int16)),
        "the true labels": test,
        "the opposite of the true labels": _flipped(test),
    }
    hidden = bench.answers(test)
    _demand_repeatable(bench)
    for filler, filled in fillers.items():
        differences = hidden.differences(bench.answers(_Shown(filled.schema, filled.codes)))
        _demand(
            not differences,
            f"It learns or predicts from the label column {label!r}: answers change with what hides that "
            "column in the rows to predict",
            expected="the same answers whatever that column is filled with there",
            got=f"{differences}, if it is filled with {filler}",
            remedy=_WITHOUT_LABEL,
        )


def _better_than_constant(bench: _Bench) -> None:
    """Demand more right answers than a constant has where one feature tells the label.

    The same is demanded after training on rows that are sorted by their labels, as those to predict are not:
    what learns from the position of a row fails there.
    """
    technique = bench.technique
    if technique.may_lose_to_constant:
        raise _NotApplicableError(f"it declares that it may not: {technique.may_lose_to_constant}")
    train, test = _told_by_skill(600, seed=7, wrong=0.05), _told_by_skill(1000, seed=8)
    label = test.schema.label
    constant = float(max(np.mean(test.y), np.mean(~test.y)))

    def right(predictor: Predictor, rows: Table = test) -> float:
        return float(np.mean(predictor.predict(rows) == test.y))

    try:
        predictor = bench.fit(train)
    except DeclinedError as declined:
        raise _NotApplicableError(f"it declines the table: {declined}") from declined
    reached = right(predictor)
    if reached <= constant:
        leaks = right(predictor, _Shown(test.schema, test.codes)) > constant
        raise NonconformityError(
            "It is no better than a constant answer where one feature tells the label",
            expected=f"more than {constant:.3f} of the answers right",
            got=f"{reached:.3f}"
            + (
                f"; more with the true labels in column {label!r}: it learns from that column"
                if leaks
                else ""
            ),
            remedy=_WITHOUT_LABEL
            if leaks
            else f"see whether what it trains on holds the label column {label!r} or a copy of it "
            "(train.features does not), or declare may_lose_to_constant = 'the reason'",
        )
    sorted_by_label = right(bench.fit(train.take(np.argsort(train.y, kind="stable"))))
    _demand(
        sorted_by_label > constant,
        "It learns from the order of the training rows: sorted by their labels they make it no better than a "
        "constant answer where one feature tells the label",
        expected=f"more than {constant:.3f} of the answers right",
        got=f"{sorted_by_label:.3f}, and {reached:.3f} with the same rows in another order",
        remedy="use the position of a row nowhere",
    )


def _valid_weights(bench: _Bench) -> None:
    """Demand weights that are finite, not negative and one for each row."""
    weight = bench.prepared.sample_weight
    if weight is None:
        raise _NotApplicableError("it does not weight rows")
    _demand(
        weight.shape == (len(bench.prepared.table),)
        and bool(np.isfinite(weight).all() and (weight >= 0).all()),
        "Weights are invalid",
        got=f"shape {weight.shape} from {weight.min()} to {weight.max()}",
    )


def _valid_convergence(bench: _Bench) -> None:
    """Demand a count of steps and a residual within its tolerance, if it says how its fit converged."""
    reported = bench.fitted.convergence
    if reported is None:
        raise _NotApplicableError("it reports no convergence")
    figures = (reported.residual, reported.tolerance)
    _demand(
        isinstance(reported, Convergence)
        and isinstance(reported.steps, numbers.Integral)
        and reported.steps >= 0
        and all(isinstance(f, numbers.Real) and np.isfinite(f) for f in figures)
        and 0 <= reported.residual <= reported.tolerance,
        "The figures of its convergence are invalid",
        expected="Convergence(steps, residual, tolerance), 0 or more steps, 0 <= residual <= tolerance",
        got=str(reported),
        remedy="raise NotConvergedError if the residual exceeds the tolerance",
    )


def _row_order_irrelevant(bench: _Bench) -> None:
    """Demand the same result from a shuffled table, unless chance decides."""
    _demand_fixed(bench)
    train, test = _train_and_test()
    shuffled = train.take(np.random.default_rng(1).permutation(len(train)))
    _demand(
        _difference(bench, (train, test), (shuffled, test)) == 0,
        "The result depends on the order of the training rows",
        remedy="declare randomised = True if chance decides, or break ties by what rows hold",
    )


def _names_irrelevant(bench: _Bench) -> None:
    """Demand that renaming columns and states changes no prediction."""
    train, test = _train_and_test()
    _demand(
        np.array_equal(bench.fitted.predict(test), bench.predict(_renamed(train), _renamed(test))),
        "Predictions depend on the names of columns or states",
        remedy="use the roles of the schema, never names",
    )


def _coding_irrelevant(bench: _Bench) -> None:
    """Demand the same result whichever codes unordered states have, unless chance decides.

    The codes of roles must not matter. Those of features may to some extent, with a warning: see
    :data:`_MOST_BY_CODES`.
    """
    effect = _effect(bench, _recoded)
    if effect == 0:
        return
    schema = example_table().schema
    label, sensitive = schema.label, schema.sensitive_feature
    by_label = _effect(bench, functools.partial(_recoded, names=[label]))
    _demand(
        by_label <= _MOST_BY_ROLES,
        f"The result depends on which code the favorable label has, in column {label!r}",
        got=f"{by_label:.1%} of it is another if the two labels swap their codes",
        remedy="take it from table.y or schema.favorable_code, not from code 0 or 1; and learn from "
        "train.features, which leave the label column out",
    )
    by_group = _effect(bench, _swapped, before=_merged)
    _demand(
        by_group <= _MOST_BY_ROLES,
        f"The result depends on which code the deprived group has, in column {sensitive!r}",
        got=f"{by_group:.1%} of it is another if the two groups swap their codes",
        remedy="take it from table.deprived or schema.deprived_code, not from code 0 or 1",
    )
    unordered = [column.name for column in schema.columns if not column.ordered]
    alone = [name for name in unordered if _effect(bench, functools.partial(_recoded, names=[name])) > 0]
    error = NonconformityError if effect > _MOST_BY_CODES else _CautionError
    raise error(
        f"The result depends on the codes of unordered states, in {', '.join(map(repr, alone or unordered))}",
        got=f"{effect:.1%} of it is another if states swap their codes",
        remedy="nothing, if it is meant; else take no code for a number (train.feature_schema.ordered says "
        "which columns have an order), and give each state an indicator of its own: where coefficients are "
        "regularised, it matters which state is dropped as the reference level",
    )


def _groups_declared(bench: _Bench) -> None:
    """Demand that everybody outside of the deprived group is one unless it tells more groups apart."""
    technique = bench.technique
    if technique.multi_group:
        raise _NotApplicableError("it declares that it tells more than two groups apart")
    if isinstance(technique, PreProcessing):
        _demand_fixed(bench)
        seen = bench.prepared.table.schema.sensitive_index in bench.prepared.feature_indices
    else:
        # The scores that post-processing changes are the same whatever the classifier sees.
        seen = technique.needs_sensitive and not isinstance(technique, PostProcessing)
    if seen:
        raise _NotApplicableError("what predicts may see the sensitive feature, and so every state of it")
    # Rows are ranked by a model that sees every state, unless it is kept from it.
    blind = replace(bench, ranker=lambda table: bench.ranker(_merged(table)))
    effect = _effect(blind, _merged)
    _demand(
        effect == 0,
        "The result depends on the states of the sensitive feature besides the deprived group",
        got=f"{effect:.1%} of it is another if these states are one",
        remedy="declare multi_group = True, or tell groups apart by table.deprived",
    )


def _group_without_positives(bench: _Bench) -> None:
    """Demand a result or a stated reason where one group never has the favorable label."""
    for positives in ((True, False), (False, True)):
        train = example_table(positives=positives)
        reason = bench.technique.skip(train)
        if reason is not None:
            _demand(bool(reason.strip()), "The technique declines without a reason")
            continue
        try:
            bench.predict(train, example_table(200, seed=8))
        except TechniqueError as problem:
            _demand(bool(problem.what.strip()), "The technique fails without a reason")


CHECKS: dict[str, Callable[[_Bench], None]] = {
    "trains on the example": _trains,
    "deterministic under a seed": _deterministic,
    "answers repeatable": _repeatable,
    "batch irrelevant": _batch_irrelevant,
    "input not mutated": _input_untouched,
    "global random state untouched": _global_state_untouched,
    "silent": _silent,
    "randomness declared": _randomness_declared,
    "sensitive feature declared": _sensitive_declared,
    "weights declared": _weights_declared,
    "need of scores declared": _need_of_scores_declared,
    "scores declared": _scores_declared,
    "test labels unseen": _labels_unseen,
    "label column unused": _label_column_unused,
    "better than a constant": _better_than_constant,
    "weights valid": _valid_weights,
    "convergence valid": _valid_convergence,
    "row order irrelevant": _row_order_irrelevant,
    "names irrelevant": _names_irrelevant,
    "coding irrelevant": _coding_irrelevant,
    "groups declared": _groups_declared,
    "a group without positives": _group_without_positives,
}
"""All checks by name, in the order in which they run."""


_WITHOUT_LABEL = (
    "train on train.features and predict from test.features, which leave the label column out; codes and "
    "to_frame() hold it"
)


class _Shown(Table):
    """Rows whose labels are not hidden, though everything that predicts hides them."""

    def hide_label(self) -> Table:
        return self


class _Weightless:
    """A classifier whose ``fit`` takes no weights."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def fit(self, X: NDArray[np.int16], y: NDArray[np.int64]) -> _Weightless:
        self._estimator.fit(X, y)
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._estimator, name)


class _Scoreless:
    """A classifier that estimates no probabilities."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def fit(self, X: NDArray[np.int16], y: NDArray[np.int64], sample_weight: Any = None) -> _Scoreless:
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        self._estimator.fit(X, y, **weights)
        return self

    def predict(self, X: NDArray[np.int16]) -> NDArray[np.int64]:
        return np.asarray(self._estimator.predict(X))


@contextlib.contextmanager
def _overheard() -> Iterator[list[str]]:
    """Collect what is written to the standard streams, by Python or past it, instead of showing it."""
    written: list[str] = []
    by_python = io.StringIO()
    real = [stream for stream in (sys.__stdout__, sys.__stderr__) if stream is not None]
    with tempfile.TemporaryFile() as file, warnings.catch_warnings():  # a warning is shown again inside
        for stream in real:
            stream.flush()
        kept = {descriptor: os.dup(descriptor) for descriptor in (1, 2)}
        try:
            for descriptor in kept:
                os.dup2(file.fileno(), descriptor)
            with contextlib.redirect_stdout(by_python), contextlib.redirect_stderr(by_python):
                yield written
        finally:
            for stream in real:
                stream.flush()
            for descriptor, copy in kept.items():
                os.dup2(copy, descriptor)
                os.close(copy)
            file.seek(0)
            written.append("a closed stream" if by_python.closed else by_python.getvalue())
            written.append(file.read().decode(errors="replace"))


def _content(table: Table) -> tuple[bytes | bool, ...]:
    codes, features = table.codes, table.features
    written = (codes, features, table.y, table.deprived)
    return *(array.tobytes() for array in written), codes.flags.writeable, features.flags.writeable


def _difference(bench: _Bench, first: tuple[Table, Table], second: tuple[Table, Table]) -> float:
    """Return which share of the result differs between two pairs of training and test rows.

    That is the share of prepared data, or of predictions where scores do not say that rounding decided.
    """
    if isinstance(bench.technique, PreProcessing):
        data, other = (
            _data(bench.technique.prepare(train, bench.tools()), test) for train, test in (first, second)
        )
        return data.distance(other)
    fits = [bench.fit(train) for train, _ in (first, second)]
    differ = fits[0].predict(first[1]) != fits[1].predict(second[1])
    if differ.any() and fits[0].predict_score is not None:
        differ &= np.abs(fits[0].predict_score(first[1]) - 0.5) > _TOLERANCE
    return float(np.mean(differ))


def _effect(
    bench: _Bench, change: Callable[[Table], Table], before: Callable[[Table], Table] = lambda table: table
) -> float:
    """Return which share of the result a change of the tables changes, unless chance decides.

    Of post-processing it is the largest change of a group's share of favorable answers, if lots do not
    explain it.
    """
    if isinstance(bench.technique, PostProcessing):
        rows = _scored(before(example_table(400, seed=8)))
        changed = Scored(change(rows.table).hide_label(), rows.score)
        pairs = _adjusted(
            bench,
            bench.technique,
            lambda adjust: adjust(rows),
            lambda adjust: adjust(changed),
            held_out=before(example_table()),
            change=change,
        )
        largest = _share_difference(pairs, rows.table.codes[:, rows.table.schema.sensitive_index])
        return largest if largest > _SHARE_TOLERANCE else 0.0
    _demand_fixed(bench)
    train, test = map(before, _train_and_test())
    return _difference(bench, (train, test), (change(train), change(test)))


def _demand_repeatable(bench: _Bench) -> None:
    if bench.answers().differences(bench.answers()):
        raise _NotApplicableError("it gives the same rows another answer each time")


def _scored(table: Table) -> Scored:
    """Return the example's rows, labels hidden, with made-up scores by which the deprived are behind."""
    return Scored(table.hide_label(), _made_up_scores(table))


def _made_up_scores(table: Table) -> NDArray[np.float64]:
    skill = table.codes[:, table.schema.index("skill")]
    chance = np.random.default_rng(3).normal(0.0, 0.8, len(table))
    return np.asarray(1 / (1 + np.exp(2.6 + 0.6 * table.deprived - 0.8 * skill - chance)))


_Answered = Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]
"""Answers for the same rows in the same order, asked in two ways, by one lot after another."""


def _adjusted(
    bench: _Bench,
    technique: PostProcessing,
    first: Callable[[Adjustment], NDArray[np.bool_]],
    second: Callable[[Adjustment], NDArray[np.bool_]],
    *,
    held_out: Table | None = None,
    change: Callable[[Table], Table] | None = None,
) -> _Answered:
    """Ask an adjustment in two ways, seed after seed.

    The adjustment asked the second way is learned from changed held-out rows, if a change is given, with the
    same scores.
    """
    held_out = example_table() if held_out is None else held_out
    score = _made_up_scores(held_out)
    for i in range(_SEEDS):
        seeded = replace(bench, seed=bench.seed + i)
        adjust = technique._adjust(Scored(held_out, score), seeded.tools())
        other = adjust
        if change is not None:
            other = technique._adjust(Scored(change(held_out), score), seeded.tools())
        yield first(adjust), second(other)


def _asked_in_parts(predictor: Predictor, rows: Table, part: NDArray[np.bool_]) -> _Answered:
    """Ask for rows at once and in two parts, each time in another order, so that each has other lots."""
    rng = np.random.default_rng(1)
    for _ in range(_SEEDS):
        order = rng.permutation(len(rows))
        at_once, apart = (np.empty(len(rows), dtype=np.bool_) for _ in range(2))
        at_once[order] = predictor.predict(rows.take(order))
        for mine in (order[part[order]], order[~part[order]]):
            apart[mine] = predictor.predict(rows.take(mine))
        yield at_once, apart


def _share_difference(pairs: _Answered, cells: NDArray[np.integer]) -> float:
    """Return by how much the mean shares of favorable answers differ in the cell where they do so most."""
    excess, alike = np.zeros(len(cells)), True
    for i, (answers, others) in enumerate(pairs):
        alike = alike and np.array_equal(answers, others)
        if alike and i + 1 == _SEEDS_IF_ALIKE:
            return 0.0
        excess += answers.astype(float) - others
    members = np.bincount(cells)
    return float(np.abs(np.bincount(cells, excess)[members > 0] / members[members > 0]).max() / _SEEDS)


def _demand_same_shares(pairs: _Answered, cells: NDArray[np.integer], what: str, remedy: str) -> None:
    largest = _share_difference(pairs, cells)
    _demand(
        largest <= _SHARE_TOLERANCE,
        what,
        expected=f"shares of favorable answers that differ by at most {_SHARE_TOLERANCE}",
        got=f"a difference of {largest:.3f}",
        remedy=remedy,
    )


def _data(prepared: Prepared, test: Table) -> _Data:
    rows = _in_words(prepared, prepared.table, label=True)
    weight = np.ones(len(rows)) if prepared.sample_weight is None else prepared.sample_weight
    shown = test if prepared.transform is None else prepared.transform(test.hide_label())
    return _Data(rows, weight, _in_words(prepared, shown, label=False))


def _in_words(prepared: Prepared, table: Table, *, label: bool) -> NDArray[np.str_]:
    """Return the states of each row's features by name, which say the same whatever the codes are."""
    columns = [*prepared.feature_indices, *([table.schema.label_index] if label else [])]
    states = [np.array(table.schema.columns[i].states)[table.codes[:, i]] for i in columns]
    return np.array(["|".join(row) for row in zip(*states, strict=True)])


@contextlib.contextmanager
def _marked_global_state() -> Iterator[bytes]:
    """Give the global generators a state that nobody else does, so that seeding shows every time."""
    original = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        random.seed("conformance")
        np.random.seed(list(b"conformance"))  # noqa: NPY002
        yield _global_state()
    finally:
        random.setstate(original[0])
        np.random.set_state(original[1])  # noqa: NPY002


def _global_state() -> bytes:
    return pickle.dumps((random.getstate(), np.random.get_state()))  # noqa: NPY002


def _reversed_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return new names whose alphabetical order is the reverse of the old names'."""
    backwards = sorted(names, reverse=True)
    return tuple(f"renamed {backwards.index(name):03d}" for name in names)


def _renamed(table: Table) -> Table:
    schema = table.schema
    columns = tuple(
        Column(name, _reversed_names(column.states), column.ordered)
        for name, column in zip(_reversed_names(schema.names), schema.columns, strict=True)
    )
    label, sensitive = columns[schema.label_index], columns[schema.sensitive_index]
    renamed = Schema(
        columns,
        label.name,
        label.states[schema.favorable_code],
        sensitive.name,
        sensitive.states[schema.deprived_code],
    )
    return Table(renamed, table.codes)


def _recoded(table: Table, names: Iterable[str] | None = None) -> Table:
    """Move the codes of unordered columns on by one: of those named, or of all, roles included.

    No state keeps its code, as the middle one of three would if they were reversed.
    """
    columns = table.schema.columns
    for name in [c.name for c in columns if not c.ordered] if names is None else names:
        states = table.schema.column(name).cardinality
        table = _permuted(table, name, (np.arange(states) + 1) % states)
    return table


def _swapped(table: Table) -> Table:
    """Exchange the codes of the deprived group and of the other group that :func:`_merged` leaves."""
    schema = table.schema
    codes = np.arange(schema.column(schema.sensitive_feature).cardinality)
    pair = [schema.deprived_code, _other_code(schema)]
    codes[pair] = codes[pair[::-1]]
    return _permuted(table, schema.sensitive_feature, codes)


def _permuted(table: Table, name: str, new: NDArray[np.integer]) -> Table:
    """Give each state of a column a new code, shape (n_states,)."""
    schema = table.schema
    i, column = schema.index(name), schema.column(name)
    states = tuple(column.states[old] for old in np.argsort(new))
    columns = (*schema.columns[:i], replace(column, states=states), *schema.columns[i + 1 :])
    codes = table.codes.copy(order="F")
    codes[:, i] = new[codes[:, i]]
    return Table(replace(schema, columns=columns), codes)


def _flipped(table: Table) -> Table:
    """Give every row the other label."""
    return table.with_column(table.schema.label, 1 - table.codes[:, table.schema.label_index])


def _told_by_skill(rows: int, seed: int, wrong: float = 0.0) -> Table:
    """Return the example with another label, which the skill tells, and a skill that all groups have alike.

    Where some labels are wrong, a copy of the label says more of it than the skill does.
    """
    table, rng = example_table(rows, seed), np.random.default_rng(seed)
    schema = table.schema
    skill = rng.permutation(table.codes[:, schema.index("skill")])
    favorable = (skill >= 3) ^ (rng.random(rows) < wrong)
    label = np.where(favorable, schema.favorable_code, 1 - schema.favorable_code)
    return table.with_column("skill", skill).with_column(schema.label, label)


def _merged(table: Table) -> Table:
    """Give everybody outside of the deprived group one state of the sensitive feature."""
    schema = table.schema
    return table.with_column(
        schema.sensitive_feature, np.where(table.deprived, schema.deprived_code, _other_code(schema))
    )


def _other_code(schema: Schema) -> int:
    return 0 if schema.deprived_code != 0 else 1


def _naive_bayes(cardinalities: NDArray[np.int64]) -> Estimator:
    from sklearn.naive_bayes import CategoricalNB

    estimator: Estimator = CategoricalNB(min_categories=cardinalities)
    return estimator


def _naive_bayes_ranker(table: Table) -> NDArray[np.float64]:
    model: Any = _naive_bayes(table.feature_schema.cardinalities)
    model.fit(table.features, table.y)
    return np.asarray(model.predict_proba(table.features)[:, 1])
