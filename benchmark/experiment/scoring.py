"""From predictions of the test rows to metrics, at once or later from the store.

The store has each cell's counts of labels and predictions by group, which most metrics need alone. If an
experiment names a metric that needs more, the store has the predictions and scores of all rows as well. So a
corrected metric never trains a technique again, nor does a new metric that the stored data suffice for.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import io
import json
import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.columns import BALANCED, BIASED, DECISION_COUNTS, ORIGINAL, TRUTH, Test
from benchmark.data.table import Table
from benchmark.experiment.store import CellResult, MetricValue
from benchmark.experiment.versions import PACKAGE, closure_digest, versions_of
from benchmark.metrics import (
    FAILING,
    GroupCounts,
    MetricResults,
    OneValueEach,
    Predictions,
    get_metric,
    metric_names,
)
from benchmark.metrics.inputs import labeled_groups
from benchmark.metrics.restoration import restoration

if TYPE_CHECKING:
    from benchmark.experiment.draws import Split
    from benchmark.experiment.prepared import PreparedDataset

_LONGEST_REASON = 2000

SplitTest: TypeAlias = tuple[int, Test]
"""Number of a split, and a test."""

_SINGLE: SplitTest = (0, ORIGINAL)

NO_TRUE_LABEL = "these rows have no true labels"
"""Why a metric has no value where the group was drawn at random and labels are decisions of people."""

JOINT = "joint"
"""Key in stored counts, besides the tests, of counts by several attributes."""

DRAWS = "draws"
"""Key in stored counts, besides the tests, of the number of draws of what a technique is told, if several."""

DECISIONS: Mapping[Test, str] = {ORIGINAL: "decisions", TRUTH: "decisions_in_truth"}
"""Keys in stored counts, besides the tests, of :class:`Decisions` on a test."""


@dataclass(frozen=True, eq=False)
class Answers:
    """A technique's answers to the test rows; all arrays have shape (n_rows,)."""

    predicted: NDArray[np.bool_]  # whether the favorable outcome is predicted
    score: NDArray[np.float64] | None = None  # estimate of P(y+ | x), if the technique has one
    alternated: NDArray[np.float64] | None = None  # scores, else predictions, with the two groups exchanged

    def of(self, rows: NDArray[np.intp]) -> Answers:
        """Return the answers to some of the rows, by their positions."""
        score, alternated = (
            None if values is None else values[rows] for values in (self.score, self.alternated)
        )
        return Answers(self.predicted[rows], score, alternated)


class Scorer:
    """Scores predictions of a table of test rows with their labels.

    The groups are the states of the sensitive feature; the deprived group is compared with all others.
    ``metrics`` are names of metrics and families; ``strata`` is the column for metrics that need strata. Rows
    are also counted by the groups of the columns ``attributes``. If labels are not ``true``, metrics that
    need them have no value. ``names`` are the single metrics without those ``of_decisions``. ``needs_rows``
    says whether a metric needs more than counts.
    """

    def __init__(
        self,
        test: Table,
        metrics: Iterable[str],
        strata: str | None = None,
        attributes: Sequence[str] = (),
        *,
        true: bool = True,
    ) -> None:
        self._true = true
        names = metric_names(metrics)
        self.of_decisions = tuple(name for name in names if get_metric(name).of_run)
        self.names = tuple(name for name in names if name not in self.of_decisions)
        self._needs = {need for name in self.names for need in get_metric(name).needs}
        self.needs_rows = not all(get_metric(name).from_counts for name in self.names)
        self._test = test
        schema = test.schema
        self._groups = schema.groups
        self._values = OneValueEach(self._groups, schema.deprived_codes, self.names)
        self._codes = test.groups
        self._roles = 2 * ~np.isin(self._codes, schema.deprived_codes) + test.y.astype(np.int64)
        self._strata_name = strata
        self._strata = None if strata is None else test.codes[:, schema.index(strata)]
        self._features = _features(test) if "features" in self._needs else None
        self._labeled = labeled_groups(self._codes, test.y)
        self.attributes = tuple(attributes)
        self._joint: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
        if attributes:
            indices = list(map(schema.index, attributes))
            shape = tuple(schema.cardinalities[indices].tolist())
            joint = np.ravel_multi_index(tuple(test.codes[:, i].astype(np.intp) for i in indices), shape)
            combinations, codes = np.unique(joint, return_inverse=True)
            self._joint = combinations, labeled_groups(codes, test.y)

    @property
    def _exchangeable(self) -> bool:
        """Whether another code of the one sensitive feature exchanges the two groups."""
        return len(self._groups) == 2 and len(self._test.schema.sensitive_features) == 1

    @property
    def n_rows(self) -> int:
        """Number of test rows."""
        return len(self._test)

    def decisions(self, *accepted: NDArray[np.bool_]) -> list[int]:
        """Count rows by group, label, and the decisions of clean model, baseline and technique.

        The numbers are in the order of :data:`benchmark.columns.DECISION_COUNTS`.
        """
        codes = self._roles
        for decisions in accepted:
            codes = 2 * codes + decisions
        return [int(n) for n in np.bincount(codes, minlength=len(DECISION_COUNTS))]

    def without_unknown(self, results: MetricResults) -> MetricResults:
        """Return results without values of metrics that need true labels, if there are none."""
        if self._true:
            return results
        unknown = [name for name in results.values if "y_true" in get_metric(name.partition("[")[0]).needs]
        return replace(
            results,
            values={**results.values, **dict.fromkeys(unknown, math.nan)},
            reasons={**results.reasons, **dict.fromkeys(unknown, NO_TRUE_LABEL)},
        )

    def of(self, test: Table) -> Scorer:
        """Return a scorer of other rows with the same settings."""
        return Scorer(test, self.names, self._strata_name, self.attributes, true=self._true)

    def ask(
        self,
        seen: Table,
        predicted: NDArray[np.bool_],
        score: NDArray[np.float64] | None,
        model: Callable[[Table], NDArray[np.bool_] | NDArray[np.float64]],
    ) -> Answers:
        """Return a model's answers to the test rows, with all that the metrics need.

        ``seen`` are the rows as the model sees them, without labels; ``predicted`` and ``score`` are its
        answers to them. ``model`` returns scores of other rows, or predictions if it has no scores.
        """
        alternated = None
        if "alternated" in self._needs and self._exchangeable:
            recorded = seen.codes[:, seen.schema.sensitive_index]
            swapped = seen.with_column(seen.schema.sensitive_feature, 1 - recorded)
            alternated = np.asarray(model(swapped), dtype=np.float64)
        needed = None if score is None or not self.needs_rows else np.asarray(score, dtype=np.float64)
        return Answers(predicted, needed, alternated)

    def score(self, answers: Answers) -> Scored:
        """Return metrics with their counts; a metric that fails has the error as its reason."""
        joint: list[list[int]] = []
        if self._joint is not None:
            combinations, labeled = self._joint
            rows = GroupCounts.of(tuple(map(str, combinations)), labeled, answers.predicted).rows
            joint = np.column_stack([combinations, rows.reshape(-1, 4)]).tolist()
        # No metric gets rows that it does not declare, because it would lack them when it is computed again.
        if not self.needs_rows:
            return self._scored(GroupCounts.of(self._groups, self._labeled, answers.predicted), None, joint)
        truth = (self._codes, self._groups, self._test.y)
        optional = (self._strata, self._features, answers.alternated)
        predictions = Predictions(*truth, answers.predicted, answers.score, *optional)
        return self._scored(predictions.counts, predictions, joint)

    def _scored(
        self, counts: GroupCounts, rows: Predictions | None, joint: Sequence[Sequence[int]]
    ) -> Scored:
        balanced = functools.partial(self._balanced, counts.rows, rows)
        return Scored(self._measure(counts, rows), balanced, self.attributes, joint)

    def _balanced(self, counts: NDArray[np.int64], rows: Predictions | None) -> MetricResults:
        """Measure with equal total weight for each group with each label; the sum of weights stays."""
        cells = counts.sum(axis=2)
        filled = np.count_nonzero(cells)
        weights = np.divide(cells.sum(), filled * cells, out=np.zeros(cells.shape), where=cells > 0)
        if rows is not None:
            rows = replace(rows, sample_weight=weights[rows.codes, self._test.y.astype(np.intp)])
        return self._measure(GroupCounts(self._groups, counts * weights[:, :, None], counts), rows)

    def _measure(self, counts: GroupCounts, rows: Predictions | None) -> MetricResults:
        results = self.without_unknown(self._values(counts, rows=rows, tolerant=True))
        if self._exchangeable:
            return results
        several = f"there are {len(self._groups)}" if len(self._groups) != 2 else "this is an intersection"
        reasons = {
            name: f"it is defined for two groups, and {several}"
            for name in results.reasons
            if "alternated" in get_metric(name.partition("[")[0]).needs
        }
        return replace(results, reasons={**results.reasons, **reasons})

    def score_again(self, counts: Sequence[object], answers: Answers | None) -> Scored | None:
        """Return metrics of stored answers, or None if the stored data do not suffice.

        ``counts`` are by [group][favorable label][favorable prediction]; ``answers`` belong to the rows, and
        are None if none were stored.
        """
        if not self.needs_rows:
            rows = np.array(counts, dtype=np.int64)
            return self._scored(GroupCounts(self._groups, rows.astype(np.float64), rows), None, ())
        if answers is None:
            return None
        lacking = "alternated" in self._needs and self._exchangeable and answers.alternated is None
        return None if lacking else self.score(answers)


@dataclass(frozen=True, eq=False)
class Scored:
    """Metrics of answers to the rows of a test."""

    results: MetricResults
    balanced: Callable[[], MetricResults]  # with equal total weight for each group with each label
    attributes: tuple[str, ...] = ()
    # For each combination of their states that occurs, its number in row-major order of the states, then the
    # rows by [favorable label][favorable prediction].
    joint: Sequence[Sequence[int]] = ()


def scorer_of(data: PreparedDataset) -> Scorer:
    """Return the scorer of all test rows of a dataset."""
    metrics, attributes = data.experiment.measured, data.card.attributes
    return Scorer(data.test, metrics, data.entry.strata, attributes, true=not data.entry.audit)


def scorers_of(splits: Sequence[Split], common: Scorer, test: Table) -> dict[SplitTest, Scorer]:
    """Return a scorer for each test of each split; ``common`` scores the whole table ``test``."""
    return {
        (number, name): common if rows.truth is test else common.of(rows.truth)
        for number, split in enumerate(splits)
        for name, rows in split.tests.items()
    }


@dataclass(frozen=True)
class Decisions:
    """Counts of a cell's decisions beside the decisions of two untreated models, on the rows of a test."""

    reference: str  # identity of the untreated models
    splits: Sequence[Sequence[int]] = ()  # :meth:`Scorer.decisions` of each; empty if a model cannot decide
    reason: str = ""  # why a model cannot decide
    # The clean model is trained on rows without planted bias; for the test in truth, on true rows.
    test: Test = ORIGINAL

    @classmethod
    def stored(cls, counts: Mapping[str, Any], tests: Iterable[str] = (ORIGINAL,)) -> tuple[Decisions, ...]:
        """Return the decisions on some tests from stored counts; empty if none are stored."""
        stored = {test: counts[name] for test, name in DECISIONS.items() if name in counts}
        wanted = [test for test in DECISIONS if stored and test in tests]
        return tuple(replace(cls(*stored[tested_as(test, stored)]), test=test) for test in wanted)

    def by_split(self, n_draws: int) -> NDArray[Any]:
        """Return counts of each split, shape (n_folds, n_counts), as means over draws of what was told."""
        people = np.asarray(self.splits)
        return (
            people
            if n_draws == 1 or not len(people)
            else people.reshape(-1, n_draws, people.shape[1]).mean(axis=1)
        )

    def beside(self, counts: Mapping[str, Any]) -> dict[str, Any]:
        """Return stored counts with these decisions added."""
        return {**counts, DECISIONS[self.test]: [self.reference, list(map(list, self.splits)), self.reason]}

    def metrics(self, scorer: Scorer, n_draws: int = 1) -> tuple[MetricValue, ...]:
        """Return the scorer's metrics of the family restoration: of all splits together, then of each.

        Each is the mean over ``n_draws`` of what a technique is told.
        """
        names = scorer.of_decisions
        if not self.splits:
            return tuple(MetricValue(name, None, self.reason, self.test) for name in names)
        drawn = np.asarray(self.splits).reshape(-1, n_draws, len(self.splits[0]))  # by split and draw
        parts: list[tuple[int | None, Any]] = [(None, drawn.sum(axis=0))]
        if len(drawn) > 1:
            parts += enumerate(drawn)
        values: list[MetricValue] = []
        for fold, draws in parts:
            results = (scorer.without_unknown(restoration(people, names)) for people in draws)
            values += _over_draws([_metric_values(result, self.test, fold) for result in results])
        return tuple(values)


def decision_metrics(
    counts: Mapping[str, Any], scorer: Scorer, tests: Iterable[str]
) -> tuple[MetricValue, ...]:
    """Return the metrics of decisions on some tests from stored counts."""
    stored, n_draws = Decisions.stored(counts, tests), counts.get(DRAWS, 1)
    return tuple(m for decisions in stored for m in decisions.metrics(scorer, n_draws))


def tested_as(test: Test, tests: Container[str]) -> Test:
    """Return the test with the same rows: the original test, where nothing else is the truth."""
    return ORIGINAL if test == TRUTH and TRUTH not in tests else test


def _metric_values(results: MetricResults, test: Test, fold: int | None = None) -> list[MetricValue]:
    return [
        MetricValue(name, value, "", test, fold)
        if value == value
        else MetricValue(name, None, storable(results.reasons.get(name, "")), test, fold)
        for name, value in results.values.items()
    ]


def metric_values(
    scored: Mapping[SplitTest, Scored], tests: Sequence[Test], n_draws: int = 1
) -> tuple[MetricValue, ...]:
    """Return metrics as the store has them: for each test the means over its splits, then those of each.

    Each split stands in ``scored`` once for each draw of what a technique is told, and its values are means
    over them.
    """
    drawn, scored_tests = sorted({number for number, _ in scored}), {test for _, test in scored}
    splits = range(len(drawn) // n_draws)
    values: list[MetricValue] = []
    for test in tests:
        by_draw = [
            _metric_values(
                scored[number, ORIGINAL].balanced()
                if test == BALANCED
                else scored[number, tested_as(test, scored_tests)].results,
                test,
                number // n_draws if len(splits) > 1 else None,
            )
            for number in drawn
        ]
        by_split = [_over_draws(by_draw[n_draws * fold : n_draws * (fold + 1)]) for fold in splits]
        if len(splits) > 1:
            values += map(_mean, zip(*by_split, strict=True))
        values += (value for split_values in by_split for value in split_values)
    return tuple(values)


def _over_draws(values: Sequence[list[MetricValue]]) -> list[MetricValue]:
    """Return the means over draws of what a technique is told, as values of the same split."""
    return (
        values[0]
        if len(values) == 1
        else [_mean(drawn, drawn[0].fold) for drawn in zip(*values, strict=True)]
    )


def _mean(values: Sequence[MetricValue], fold: int | None = None) -> MetricValue:
    """Return the mean over the splits that have a value; a metric that fails in one split has failed."""
    failing = [value for value in values if value.reason.startswith(FAILING)]
    defined = [value.value for value in values if value.value is not None]
    if failing or not defined:
        return (failing or values)[0]._replace(fold=fold)
    return values[0]._replace(value=math.fsum(defined) / len(defined), reason="", fold=fold)


def stored_counts(scored: Mapping[SplitTest, Scored], n_draws: int = 1) -> dict[str, Any]:
    """Return counts as the store has them; see :attr:`benchmark.experiment.store.CellResult.counts`.

    Counts of a split stand once for each draw of what a technique is told.
    """
    stored = _by_test({key: result.results.counts.rows.tolist() for key, result in scored.items()})
    if attributes := next(iter(scored.values())).attributes:
        stored[JOINT] = [[*attributes], _by_test({key: result.joint for key, result in scored.items()})]
    return stored if n_draws == 1 else {**stored, DRAWS: n_draws}


def _by_test(counts: Mapping[SplitTest, Any]) -> dict[str, Any]:
    return {
        test: [split_counts for (_, counted), split_counts in counts.items() if counted == test]
        for _, test in counts
    }


def counts_by_split(stored: Mapping[str, Any]) -> dict[SplitTest, Any]:
    """Return stored counts by split and test."""
    tests: tuple[Test, ...] = (ORIGINAL, BIASED, TRUTH)
    return {(number, test): counts for test in tests for number, counts in enumerate(stored.get(test, ()))}


def joint_counts(
    stored: Mapping[str, Any], attributes: Sequence[str], tests: Iterable[Test] = ()
) -> dict[str, Any]:
    """Return stored counts by attributes, for each test a list by split; see :attr:`Scored.joint`.

    The dict is empty if counts by exactly these attributes are not stored. If ``tests`` has the test in
    truth, the dict has it as well, as the original test where nothing else is the truth.
    """
    columns, by_test = stored.get(JOINT, ([], {}))
    counts = dict(by_test) if columns == [*attributes] else {}
    return {**counts, TRUTH: counts[tested_as(TRUTH, counts)]} if counts and TRUTH in tests else counts


def scored_again(
    scorers: Mapping[SplitTest, Scorer], common: Scorer, cell: CellResult
) -> dict[SplitTest, Scored] | None:
    """Return metrics of a stored cell; None if its stored data do not suffice."""
    if common.attributes and not joint_counts(cell.counts, common.attributes):
        return None
    counts, n_draws = counts_by_split(cell.counts), cell.counts.get(DRAWS, 1)
    of = {(number, test): scorers[number // n_draws, test] for number, test in counts}
    answers = {} if cell.rows is None else unpack(cell.rows, {key: of[key].n_rows for key in counts})
    rescored = {key: of[key].score_again(tallied, answers.get(key)) for key, tallied in counts.items()}
    complete = {key: scored for key, scored in rescored.items() if scored is not None}
    return complete if len(complete) == len(rescored) else None


def scoring_digest(
    metrics: Iterable[str],
    strata: str | None = None,
    attributes: Sequence[str] = (),
    tests: Sequence[str] = (),
) -> str:
    """Return the digest of all that metrics of stored predictions depend on: names, tests, code and columns.

    The code is this package's metrics, the files of other metrics, and all that these files import from
    their folder. An UnknownNameError says that there is no such metric.
    """
    names = metric_names(metrics)
    code = closure_digest(
        [
            *(PACKAGE / "metrics").glob("*.py"),
            PACKAGE / "experiment" / "scoring.py",
            *(Path(inspect.getfile(inspect.unwrap(get_metric(name).compute))).resolve() for name in names),
        ]
    )
    content = versions_of(["betabench"]), code, sorted(names), [strata, *attributes], [*tests]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def scoring_identity(data: PreparedDataset) -> str:
    """Return the :func:`scoring_digest` of a dataset's cells."""
    experiment = data.experiment
    return scoring_digest(experiment.measured, data.entry.strata, data.card.attributes, experiment.tests)


def scoring_of(digest: str, reference: str) -> str:
    """Return a cell's stored identity of scoring: of its :func:`scoring_digest` and its reference."""
    return hashlib.sha256(f"{digest}{reference}".encode()).hexdigest()[:16]


def pack(answers: Mapping[SplitTest, Answers]) -> bytes:
    """Return answers as a compressed NumPy archive, small because scores of trees repeat."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for split_test, given in answers.items():
        prefix = _prefix(split_test)
        arrays[f"{prefix}predicted"] = np.packbits(given.predicted)
        for name, scores in (("score", given.score), ("alternated", given.alternated)):
            if scores is not None:
                values, codes = np.unique(scores, return_inverse=True)
                arrays[f"{prefix}{name}_values"] = values
                arrays[f"{prefix}{name}_codes"] = codes.astype(np.min_scalar_type(len(values)))
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def unpack(packed: bytes, n_rows: Mapping[SplitTest, int]) -> dict[SplitTest, Answers]:
    """Return the answers that were packed, by split and test; ``n_rows`` has their numbers of rows."""
    answers = {}
    with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
        for split_test, n in n_rows.items():
            prefix = _prefix(split_test)
            if f"{prefix}predicted" in arrays:
                score, alternated = (
                    arrays[f"{name}_values"][arrays[f"{name}_codes"]] if f"{name}_values" in arrays else None
                    for name in (f"{prefix}score", f"{prefix}alternated")
                )
                predicted = np.unpackbits(arrays[f"{prefix}predicted"], count=n).astype(bool)
                answers[split_test] = Answers(predicted, score, alternated)
    return answers


def _prefix(split_test: SplitTest) -> str:
    return "" if split_test == _SINGLE else "{}_{}_".format(*split_test)


def storable(text: str, end: str = "") -> str:
    """Return a plugin's text, shortened, without characters that files or databases refuse."""
    shortened = (text if len(text) <= _LONGEST_REASON else text[:_LONGEST_REASON] + " ...") + end
    return shortened.encode("utf-8", "replace").decode().replace("\0", "?")


def _features(test: Table) -> NDArray[np.float64]:
    """Return all columns but label and sensitive feature as numbers, shape (n_rows, n_features).

    The states of an ordered column are numbers evenly from 0 to 1; two different states of any other column
    are at distance 1.
    """
    schema = test.schema
    blocks = []
    for i in schema.feature_indices:
        if i in schema.sensitive_indices:
            continue
        column, codes = schema.columns[i], test.codes[:, i]
        if column.ordered:
            blocks.append(codes[:, None] / max(column.cardinality - 1, 1))
        else:
            blocks.append(np.eye(column.cardinality)[codes] / np.sqrt(2))
    return np.hstack(blocks) if blocks else np.zeros((len(test), 0))
