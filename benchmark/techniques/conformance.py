"""What every technique must do, whoever wrote it.

Each check is a function of a technique that raises :class:`NonconformityError` with what it saw. They run on
a small made-up table, so they are quick and need neither data nor network.

Post-processing draws its held-out rows at random, so that no two of its fits can be compared row by row. Its
adjustment is checked instead, on made-up scores, by the mean shares of favorable answers over several seeds.
Whether a technique tells more than two groups apart is only checked where the classifier does not: elsewhere
a prediction may rightly depend on each state of the sensitive feature.
"""

from __future__ import annotations

import contextlib
import io
import numbers
import os
import pickle
import random
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Column, Schema, Table
from benchmark.errors import TechniqueError
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

__all__ = ["CHECKS", "CheckResult", "NonconformityError", "check_technique", "example_table"]

Status = Literal["passed", "failed", "not applicable"]

# Sums of the same numbers in another order differ by rounding, which shows where a score is this near to 1/2,
# and in the last digits of a weight.
_TOLERANCE = 1e-6

# Mean shares of favorable answers that differ by more do not do so by lot: over so many seeds it is three
# standard errors even in the smallest cell compared, 41 rows, if all its answers were tosses of a coin.
# Answers that are the same row by row under the first seeds need no more of them.
_SEEDS, _SEEDS_IF_ALIKE = 50, 3
_SHARE_TOLERANCE = 0.05


class NonconformityError(TechniqueError):
    """A technique breaks a rule that all techniques keep."""


class _NotApplicableError(Exception):
    """The check does not concern this technique; the message says why."""


@dataclass(frozen=True)
class CheckResult:
    """Outcome of one check.

    Parameters
    ----------
    check : str
        The check's name.
    status : {"passed", "failed", "not applicable"}
        Outcome.
    detail : str
        What was wrong, or why the check does not apply; empty if it passed.
    """

    check: str
    status: Status
    detail: str = ""


def example_table(
    rows: int = 600,
    seed: int = 7,
    positives: tuple[bool, bool] = (True, True),
    extra_columns: int = 0,
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
        return "failed", str(problem)
    except (Exception, SystemExit) as problem:  # a technique under test may do anything
        return "failed", f"{type(problem).__name__}: {problem}"
    return "passed", ""


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

    def answers(self) -> _Answers:
        """Ask for all that shows of the fit: predictions, scores and, of pre-processing, prepared data."""
        test = example_table(200, seed=8)
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

    def sorted(self) -> _Data:
        """Return the same in an order of the training rows that depends on nothing but them."""
        order = np.lexsort((self.weight, self.rows))
        return replace(self, rows=self.rows[order], weight=self.weight[order])

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
    """Demand the same answer for a row whichever rows come with it, unless chance decides."""
    remedy = "learn thresholds and rates in fit, and predict each row by itself"
    if isinstance(bench.technique, PostProcessing):
        unsorted = _scored(example_table(400, seed=8))
        rising = np.argsort(unsorted.score, kind="stable")
        rows = Scored(unsorted.table.take(rising), unsorted.score[rising])
        half = np.arange(len(rising)) >= len(rising) // 2
        _demand_same_adjustment(
            bench,
            bench.technique,
            lambda adjust: adjust(rows),
            lambda adjust: np.concatenate(
                [adjust(Scored(rows.table.take(part), rows.score[part])) for part in (~half, half)]
            ),
            cells=2 * rows.table.deprived + half,
            what="The adjustment of a row depends on the rows that come with it",
            remedy=remedy,
        )
        return
    _demand_fixed(bench)
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
        not differences,
        "Results depend on the seed",
        got=differences,
        remedy="declare randomised = True",
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

    def weightless(cardinalities: NDArray[np.int64]) -> Any:
        return _Weightless(bench.classifier(cardinalities))

    try:
        replace(bench, classifier=weightless).predict(*_train_and_test())
    except Exception as problem:
        raise NonconformityError(
            "It fails with a classifier whose fit takes no weights",
            got=f"{type(problem).__name__}: {problem}",
            remedy="declare needs_weights = True",
        ) from problem


def _scores_declared(bench: _Bench) -> None:
    """Demand scores from 0 to 1 if it says that it estimates them, and none otherwise."""
    train, test = _train_and_test()
    classifier = bench.classifier(train.schema.cardinalities[list(train.schema.feature_indices)])
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
    """Demand that predictions do not depend on the labels of the test rows."""
    test = example_table(200, seed=8)
    flipped = test.with_column("label", 1 - test.codes[:, test.schema.label_index])
    _demand(
        np.array_equal(bench.fitted.predict(test), bench.fitted.predict(flipped)),
        "Predictions depend on test labels",
        remedy="predict from the features only",
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
        _same_result(bench, shuffled, test),
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
    """Demand the same result whichever codes unordered states have, unless chance decides."""
    _demand_irrelevant(
        bench,
        _recoded,
        "The result depends on the codes of unordered states",
        "take the favorable label and the deprived group from the schema, not from code 0 or 1",
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
    _demand_irrelevant(
        # Rows are ranked by a model that sees every state, unless it is kept from it.
        replace(bench, ranker=lambda table: bench.ranker(_merged(table))),
        _merged,
        "The result depends on the states of the sensitive feature besides the deprived group",
        "declare multi_group = True, or tell groups apart by table.deprived",
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
    "scores declared": _scores_declared,
    "test labels unseen": _labels_unseen,
    "weights valid": _valid_weights,
    "convergence valid": _valid_convergence,
    "row order irrelevant": _row_order_irrelevant,
    "names irrelevant": _names_irrelevant,
    "coding irrelevant": _coding_irrelevant,
    "groups declared": _groups_declared,
    "a group without positives": _group_without_positives,
}
"""All checks by name, in the order in which they run."""


class _Weightless:
    """A classifier whose ``fit`` takes no weights."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def fit(self, X: NDArray[np.int16], y: NDArray[np.int64]) -> _Weightless:
        self._estimator.fit(X, y)
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._estimator, name)


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


def _content(table: Table) -> tuple[bytes, bool, bytes, bytes]:
    return table.codes.tobytes(), table.codes.flags.writeable, table.y.tobytes(), table.deprived.tobytes()


def _same_result(bench: _Bench, train: Table, test: Table) -> bool:
    """Compare what changed tables lead to with what the example leads to: prepared data, or predictions."""
    example = example_table(200, seed=8)
    if isinstance(bench.technique, PreProcessing):
        other = _data(bench.technique.prepare(train, bench.tools()), test)
        return not _data(bench.prepared, example).sorted().differences(other.sorted())
    differ = bench.fitted.predict(example) != bench.predict(train, test)
    if differ.any() and bench.fitted.predict_score is not None:
        differ &= np.abs(bench.fitted.predict_score(example) - 0.5) > _TOLERANCE
    return not differ.any()


def _demand_irrelevant(bench: _Bench, change: Callable[[Table], Table], what: str, remedy: str) -> None:
    """Demand the same result from changed tables, unless chance decides."""
    if isinstance(bench.technique, PostProcessing):
        rows = _scored(example_table(400, seed=8))
        changed = Scored(change(rows.table).hide_label(), rows.score)
        _demand_same_adjustment(
            bench,
            bench.technique,
            lambda adjust: adjust(rows),
            lambda adjust: adjust(changed),
            change=change,
            cells=rows.table.codes[:, rows.table.schema.sensitive_index],
            what=what,
            remedy=remedy,
        )
        return
    _demand_fixed(bench)
    train, test = _train_and_test()
    _demand(_same_result(bench, change(train), change(test)), what, remedy=remedy)


def _scored(table: Table) -> Scored:
    """Return the example's rows, labels hidden, with made-up scores by which the deprived are behind."""
    return Scored(table.hide_label(), _made_up_scores(table))


def _made_up_scores(table: Table) -> NDArray[np.float64]:
    skill = table.codes[:, table.schema.index("skill")]
    chance = np.random.default_rng(3).normal(0.0, 0.8, len(table))
    return np.asarray(1 / (1 + np.exp(2.6 + 0.6 * table.deprived - 0.8 * skill - chance)))


def _demand_same_adjustment(
    bench: _Bench,
    technique: PostProcessing,
    first: Callable[[Adjustment], NDArray[np.bool_]],
    second: Callable[[Adjustment], NDArray[np.bool_]],
    *,
    change: Callable[[Table], Table] | None = None,
    cells: NDArray[np.integer],
    what: str,
    remedy: str,
) -> None:
    """Demand that two ways to ask for the same rows give the same mean shares of favorable answers.

    The adjustment asked the second way is learned from changed held-out rows, if a change is given, with the
    same scores. The shares are those of each cell of the rows.
    """
    held_out = example_table()
    score = _made_up_scores(held_out)
    excess, alike = np.zeros(len(cells)), True
    for i in range(_SEEDS):
        seeded = replace(bench, seed=bench.seed + i)
        adjust = technique._adjust(Scored(held_out, score), seeded.tools())
        other = adjust
        if change is not None:
            other = technique._adjust(Scored(change(held_out), score), seeded.tools())
        answers, others = first(adjust), second(other)
        alike = alike and np.array_equal(answers, others)
        if alike and i + 1 == _SEEDS_IF_ALIKE:
            return
        excess += answers.astype(float) - others
    largest = np.abs(np.bincount(cells, excess) / np.bincount(cells)).max() / _SEEDS
    _demand(
        bool(largest <= _SHARE_TOLERANCE),
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


def _recoded(table: Table) -> Table:
    """Move the codes of all unordered columns on by one, the label's and the sensitive feature's included.

    No state keeps its code, as the middle one of three would if they were reversed.
    """
    columns = tuple(
        c if c.ordered else replace(c, states=c.states[-1:] + c.states[:-1]) for c in table.schema.columns
    )
    codes = table.codes.copy(order="F")
    for i, column in enumerate(columns):
        if not column.ordered:
            codes[:, i] = (codes[:, i] + 1) % column.cardinality
    return Table(replace(table.schema, columns=columns), codes)


def _merged(table: Table) -> Table:
    """Give everybody outside of the deprived group one state of the sensitive feature."""
    schema = table.schema
    other = 0 if schema.deprived_code != 0 else 1
    return table.with_column(
        schema.sensitive_feature, np.where(table.deprived, schema.deprived_code, other).astype(np.int16)
    )


def _naive_bayes(cardinalities: NDArray[np.int64]) -> Estimator:
    from sklearn.naive_bayes import CategoricalNB

    estimator: Estimator = CategoricalNB(min_categories=cardinalities)
    return estimator


def _naive_bayes_ranker(table: Table) -> NDArray[np.float64]:
    columns = list(table.schema.feature_indices)
    model: Any = _naive_bayes(table.schema.cardinalities[columns])
    model.fit(table.codes[:, columns], table.y)
    return np.asarray(model.predict_proba(table.codes[:, columns])[:, 1])
