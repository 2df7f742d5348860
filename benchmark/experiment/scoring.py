"""From predictions of the test rows to metrics, at once or later from what the store kept.

Counts of labels and predictions by group are kept of every cell, and are enough for most metrics. Where an
experiment names a metric that needs more, the predictions and scores of all rows are kept as well. So a
corrected metric never trains a technique again, nor does another one that needs nothing new.
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
from benchmark.experiment.store.cell import MetricValue
from benchmark.experiment.versions import PACKAGE, closure_digest
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
    from benchmark.experiment.draws import Fold

_LONGEST_REASON = 2000

Place: TypeAlias = tuple[int, Test]
"""Number of a fold, and a test."""

_ONLY: Place = (0, ORIGINAL)

NO_TRUE_LABEL = "nobody has a true label of these rows"
"""Why a metric has no value where the group was drawn at random and labels are what people did."""

JOINT = "joint"
"""Beside tests in stored counts: those by several attributes."""

DECISIONS: Mapping[Test, str] = {ORIGINAL: "decisions", TRUTH: "decisions_in_truth"}
"""Beside tests in stored counts: those of decisions on a test, see :class:`Decisions`."""


@dataclass(frozen=True, eq=False)
class Answers:
    """What a technique said of the test rows; all arrays have shape (n_rows,)."""

    predicted: NDArray[np.bool_]  # whether the favorable outcome is
    score: NDArray[np.float64] | None = None  # estimate of P(y+ | x), if the technique has one
    alternated: NDArray[np.float64] | None = None  # scores, else predictions, with the two groups exchanged

    def of(self, rows: NDArray[np.intp]) -> Answers:
        """Return what was said of some of the rows, by their positions."""
        score, alternated = (None if own is None else own[rows] for own in (self.score, self.alternated))
        return Answers(self.predicted[rows], score, alternated)


class Scorer:
    """Scores predictions of a table of test rows with their labels.

    The groups are the states of the sensitive feature; the deprived group is compared with all others.
    ``metrics`` are names of metrics and families, ``strata`` the column to stratify by for those that need
    one, ``attributes`` the columns by whose groups rows are counted besides. Where labels are not ``true``,
    metrics that need them have no value. ``names`` are the metrics, families resolved, but for those
    ``of_decisions``; ``needs_rows`` says whether a metric needs more than counts.
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
        # Those of decisions are measured on their counts: restoration_metrics.
        named = metric_names(metrics)
        self.of_decisions = tuple(name for name in named if get_metric(name).of_run)
        self.names = tuple(name for name in named if name not in self.of_decisions)
        self._needs = needs = {need for name in self.names for need in get_metric(name).needs}
        self.needs_rows = not all(get_metric(name).from_counts for name in self.names)
        self._test = test
        schema = test.schema
        self._groups = schema.groups
        self._values = OneValueEach(self._groups, schema.deprived_codes, self.names)
        self._codes = test.groups
        self._roles = 2 * ~np.isin(self._codes, schema.deprived_codes) + test.y.astype(np.int64)
        self._strata_name = strata
        # Who is of each group and has each label, and how many these are.
        self._labeled = [
            (members := (self._codes == code) & (test.y == favorable), np.count_nonzero(members))
            for code in range(len(self._groups))
            for favorable in (False, True)
        ]
        self._strata = None if strata is None else test.codes[:, schema.index(strata)]
        self._features = _features(test) if "features" in needs else None
        self.attributes = tuple(attributes)
        self._joint: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
        if attributes:
            indices = list(map(schema.index, attributes))
            shape = tuple(schema.cardinalities[indices].tolist())
            joint = np.ravel_multi_index(tuple(test.codes[:, i].astype(np.intp) for i in indices), shape)
            occur, places = np.unique(joint, return_inverse=True)
            self._joint = occur, labeled_groups(places, test.y)

    @property
    def _exchangeable(self) -> bool:
        """Whether two groups could change places by another code of the sensitive feature."""
        return len(self._groups) == 2 and len(self._test.schema.sensitive_features) == 1

    @property
    def n_rows(self) -> int:
        """Number of test rows."""
        return len(self._test)

    def decisions(self, *accepted: NDArray[np.bool_]) -> list[int]:
        """Count rows by group, label, and by who accepts them: clean model, baseline and technique.

        The numbers are in the order of :data:`benchmark.columns.DECISION_COUNTS`.
        """
        places = self._roles
        for own in accepted:
            places = 2 * places + own
        return [int(n) for n in np.bincount(places, minlength=len(DECISION_COUNTS))]

    def told(self, results: MetricResults) -> MetricResults:
        """Return results without the values of metrics that need labels which nobody has."""
        if self._true:
            return results
        unknown = [name for name in results.values if "y_true" in get_metric(name.partition("[")[0]).needs]
        return replace(
            results,
            values={**results.values, **dict.fromkeys(unknown, math.nan)},
            reasons={**results.reasons, **dict.fromkeys(unknown, NO_TRUE_LABEL)},
        )

    def of(self, test: Table) -> Scorer:
        """Return what scores answers for other rows in the same way."""
        return Scorer(test, self.names, self._strata_name, self.attributes, true=self._true)

    def ask(
        self,
        hidden: Table,
        predicted: NDArray[np.bool_],
        score: NDArray[np.float64] | None,
        model: Callable[[Table], NDArray[np.bool_] | NDArray[np.float64]],
    ) -> Answers:
        """Ask a model for whatever the metrics need besides its predictions and scores of the test rows.

        ``hidden`` are these rows as the model sees them, without labels. ``model`` gives scores of other
        rows, or predictions if it has no scores.
        """
        alternated = None
        if "alternated" in self._needs and self._exchangeable:
            recorded = hidden.codes[:, hidden.schema.sensitive_index]
            swapped = hidden.with_column(hidden.schema.sensitive_feature, 1 - recorded)
            alternated = np.asarray(model(swapped), dtype=np.float64)
        kept = None if score is None or not self.needs_rows else np.asarray(score, dtype=np.float64)
        return Answers(predicted, kept, alternated)

    def score(self, answers: Answers) -> Scored:
        """Return metrics, and the counts that they come from; one that fails has that as its reason."""
        # A metric that hides what it needs must not find it here and miss it when it is computed again.
        joint = self._by_attributes(answers.predicted)
        if not self.needs_rows:
            accepted = [np.count_nonzero(members & answers.predicted) for members, _ in self._labeled]
            counted = [(n - own, own) for (_, n), own in zip(self._labeled, accepted, strict=True)]
            rows = np.array(counted, dtype=np.int64).reshape(-1, 2, 2)
            return self._scored(GroupCounts(self._groups, rows.astype(np.float64), rows), None, joint)
        truth = (self._codes, self._groups, self._test.y)
        more = (self._strata, self._features, answers.alternated)
        predictions = Predictions(*truth, answers.predicted, answers.score, *more)
        return self._scored(predictions.counts, predictions, joint)

    def _by_attributes(self, predicted: NDArray[np.bool_]) -> list[list[int]]:
        if self._joint is None:
            return []
        occur, labeled = self._joint
        rows = GroupCounts.of(tuple(map(str, occur)), labeled, predicted).rows
        return [[int(n) for n in one] for one in np.column_stack([occur, rows.reshape(-1, 4)])]

    def _scored(
        self, counts: GroupCounts, rows: Predictions | None, joint: Sequence[Sequence[int]] = ()
    ) -> Scored:
        balanced = functools.partial(self._balanced, counts.rows, rows)
        return Scored(self._measure(counts, rows), balanced, self.attributes, joint)

    def _balanced(self, counts: NDArray[np.int64], rows: Predictions | None) -> MetricResults:
        """Measure with weights by which each group with each label counts alike, all together as before."""
        cells = counts.sum(axis=2)
        filled = np.count_nonzero(cells)
        weights = np.divide(cells.sum(), filled * cells, out=np.zeros(cells.shape), where=cells > 0)
        if rows is not None:
            rows = replace(rows, sample_weight=weights[rows.codes, self._test.y.astype(np.intp)])
        return self._measure(GroupCounts(self._groups, counts * weights[:, :, None], counts), rows)

    def _measure(self, counts: GroupCounts, rows: Predictions | None) -> MetricResults:
        results = self.told(self._values(counts, rows=rows, tolerant=True))
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
        """Return metrics of stored answers, or None if what was stored of them does not suffice.

        ``counts`` are by [group][favorable label][favorable prediction]; ``answers`` are those of the rows,
        if any were stored.
        """
        if not self.needs_rows:
            rows = np.array(counts, dtype=np.int64)
            return self._scored(GroupCounts(self._groups, rows.astype(np.float64), rows), None)
        if answers is None:
            return None
        asked = "alternated" not in self._needs or not self._exchangeable or answers.alternated is not None
        return self.score(answers) if asked else None


@dataclass(frozen=True, eq=False)
class Scored:
    """Metrics of some answers."""

    results: MetricResults
    balanced: Callable[[], MetricResults]  # the same where each group with each label has the same weight
    attributes: tuple[str, ...] = ()
    # Of each combination of their states that occurs: its number in row-major order of the states, then the
    # rows by [favorable label][favorable prediction].
    joint: Sequence[Sequence[int]] = ()


def scorers_of(folds: Sequence[Fold], common: Scorer, test: Table) -> dict[Place, Scorer]:
    """Return what scores the answers to each test of each fold; ``common`` does for all of a table."""
    return {
        (number, name): common if rows.truth is test else common.of(rows.truth)
        for number, fold in enumerate(folds)
        for name, rows in fold.tests.items()
    }


@dataclass(frozen=True)
class Decisions:
    """Counts of a cell's decisions beside those of two untreated models, on the rows of a test.

    ``reference`` identifies these models; ``folds`` are the :meth:`Scorer.decisions` of each fold, empty
    where one of the models has none, and ``reason`` says why. On original test rows the clean model is
    trained on what is taken for the original, in truth on rows without any bias.
    """

    reference: str
    folds: Sequence[Sequence[int]] = ()
    reason: str = ""
    test: Test = ORIGINAL

    @classmethod
    def stored(cls, counts: object, tests: Iterable[str] = (ORIGINAL,)) -> tuple[Decisions, ...]:
        """Return what stored counts hold of decisions on tests; empty if they hold nothing."""
        kept = counts if isinstance(counts, Mapping) else {}
        found = {test: kept[name] for test, name in DECISIONS.items() if name in kept}
        asked = [test for test in DECISIONS if found and test in tests]
        return tuple(replace(cls(*found[tested_as(test, found)]), test=test) for test in asked)

    def beside(self, counts: Sequence[object] | Mapping[str, Any]) -> dict[str, Any]:
        """Return stored counts with these."""
        kept: dict[str, Any] = {**counts} if isinstance(counts, Mapping) else {ORIGINAL: [counts]}
        own = [self.reference, [list(own) for own in self.folds], self.reason]
        return {**kept, DECISIONS[self.test]: own}

    def metrics(self, scorer: Scorer) -> tuple[MetricValue, ...]:
        """Return the scorer's metrics of the family restoration: of all folds together, then of each."""
        names = scorer.of_decisions
        if not self.folds:
            return tuple(MetricValue(name, None, self.reason, self.test) for name in names)
        parts: list[tuple[int | None, Sequence[int]]] = [(None, np.sum(self.folds, axis=0))]
        if len(self.folds) > 1:
            parts += enumerate(self.folds)
        return tuple(
            MetricValue(name, None if value != value else value, found.reasons.get(name, ""), self.test, fold)
            for fold, people in parts
            for found in [scorer.told(restoration(np.asarray(people), names))]
            for name, value in found.values.items()
        )


def tested_as(test: Test, known: Container[str]) -> Test:
    """Return the test that has a test's rows: where nothing is hidden, the original one is that in truth."""
    return ORIGINAL if test == TRUTH and TRUTH not in known else test


def metric_values(scored: Mapping[Place, Scored], tests: Sequence[Test]) -> tuple[MetricValue, ...]:
    """Return metrics as the store keeps them: of each test the means over its folds, then those of each."""
    folds, known = sorted({fold for fold, _ in scored}), {test for _, test in scored}
    found: list[MetricValue] = []
    for test in tests:
        results = [
            scored[fold, ORIGINAL].balanced()
            if test == BALANCED
            else scored[fold, tested_as(test, known)].results
            for fold in folds
        ]
        single = [
            [
                MetricValue(name, value, "", test)
                if value == value
                else MetricValue(name, None, storable(own.reasons.get(name, "")), test)
                for name, value in own.values.items()
            ]
            for own in results
        ]
        if len(single) == 1:
            found += single[0]
            continue
        found += map(_mean, zip(*single, strict=True))
        found += (own._replace(fold=fold) for fold in folds for own in single[fold])
    return tuple(found)


def _mean(values: Sequence[MetricValue]) -> MetricValue:
    """Return the mean over the folds that have a value; a metric that fails in one of them has failed."""
    failing = [own for own in values if own.reason.startswith(FAILING)]
    known = [own.value for own in values if own.value is not None]
    if failing or not known:
        return (failing or values)[0]
    return values[0]._replace(value=math.fsum(known) / len(known), reason="")


def stored_counts(scored: Mapping[Place, Scored]) -> list[object] | dict[str, list[object]]:
    """Return counts as the store keeps them; see :attr:`benchmark.experiment.store.CellResult.counts`."""
    counts = {place: own.results.counts.rows.tolist() for place, own in scored.items()}
    attributes = next(iter(scored.values())).attributes
    if list(counts) == [_ONLY] and not attributes:
        return list(counts[_ONLY])
    stored = _by_test(counts)
    joint = {place: own.joint for place, own in scored.items()}
    return {**stored, JOINT: [[*attributes], _by_test(joint)]} if attributes else stored


def _by_test(found: Mapping[Place, Any]) -> dict[str, list[object]]:
    return {test: [own for (_, name), own in found.items() if name == test] for _, test in found}


def counts_by_place(stored: Sequence[object] | Mapping[str, Sequence[object]]) -> dict[Place, Any]:
    """Return stored counts by fold and test."""
    if not isinstance(stored, Mapping):
        return {_ONLY: stored}
    tests: tuple[Test, ...] = (ORIGINAL, BIASED, TRUTH)
    return {(fold, test): own for test in tests for fold, own in enumerate(stored.get(test, ()))}


def joint_counts(
    stored: Sequence[object] | Mapping[str, Any], attributes: Sequence[str], tests: Iterable[Test] = ()
) -> dict[str, Any]:
    """Return stored counts by attributes, of each fold by test; see :attr:`Scored.joint`.

    They are empty where none are stored of just these attributes. Of ``tests`` that in truth is added where
    it is the original one.
    """
    own, by_test = stored.get(JOINT, ([], {})) if isinstance(stored, Mapping) else ([], {})
    found = dict(by_test) if own == [*attributes] else {}
    return {**found, TRUTH: found[tested_as(TRUTH, found)]} if found and TRUTH in tests else found


def scoring_digest(metrics: Iterable[str], strata: str | None = None, attributes: Sequence[str] = ()) -> str:
    """Return the digest of all that metrics of stored predictions depend on: their code and the columns.

    The code is this package's own and, for metrics of others, their files and what these import from the
    folder that they lie in. An UnknownNameError says that there is no such metric.
    """
    code = closure_digest(
        [*(PACKAGE / "metrics").glob("*.py"), PACKAGE / "experiment" / "scoring.py"],
        *(
            Path(inspect.getfile(inspect.unwrap(get_metric(name).compute))).resolve()
            for name in metric_names(metrics)
        ),
    )
    columns = [strata, *([[*attributes]] if attributes else [])]
    return hashlib.sha256(json.dumps([code, *columns]).encode()).hexdigest()


def scoring_of(digest: str, reference: str) -> str:
    """Return what the store keeps of how a cell was scored: :func:`scoring_digest` and its reference."""
    return f"{digest}/{reference}" if reference else digest


def pack(answers: Mapping[Place, Answers]) -> bytes:
    """Return answers as a compressed NumPy archive: scores of trees repeat, and shrink to little."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for place, own in answers.items():
        prefix = _prefix(place)
        arrays[f"{prefix}predicted"] = np.packbits(own.predicted)
        for name, scores in (("score", own.score), ("alternated", own.alternated)):
            if scores is not None:
                values, codes = np.unique(scores, return_inverse=True)
                arrays[f"{prefix}{name}_values"] = values
                arrays[f"{prefix}{name}_codes"] = codes.astype(np.min_scalar_type(len(values)))
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def unpack(packed: bytes, n_rows: Mapping[Place, int]) -> dict[Place, Answers]:
    """Return what was packed, of the places that are there; ``n_rows`` are predicted in each."""
    found = {}
    with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
        for place, n in n_rows.items():
            prefix = _prefix(place)
            if f"{prefix}predicted" in arrays:
                score, alternated = (
                    arrays[f"{name}_values"][arrays[f"{name}_codes"]] if f"{name}_values" in arrays else None
                    for name in (f"{prefix}score", f"{prefix}alternated")
                )
                predicted = np.unpackbits(arrays[f"{prefix}predicted"], count=n).astype(bool)
                found[place] = Answers(predicted, score, alternated)
    return found


def _prefix(place: Place) -> str:
    return "" if place == _ONLY else "{}_{}_".format(*place)


def storable(text: str, end: str = "") -> str:
    """Return text that every file and database takes, whatever a plugin put into its message."""
    shortened = (text if len(text) <= _LONGEST_REASON else text[:_LONGEST_REASON] + " ...") + end
    return shortened.encode("utf-8", "replace").decode().replace("\0", "?")


def _features(test: Table) -> NDArray[np.float64]:
    """Return all columns but label and sensitive feature as numbers.

    The positions of an ordered column's states lie evenly from 0 to 1; two different states of any other
    column are 1 apart as well.
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
