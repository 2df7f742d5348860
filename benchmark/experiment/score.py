"""From predictions of the test rows to metrics, at once or later from what the store kept.

Counts of labels and predictions by group are kept of every cell, and are enough for most metrics. Where an
experiment names a metric that needs more, the predictions and scores of all rows are kept as well. So a
corrected metric never trains a technique again, nor does another one that needs nothing new.
"""

from __future__ import annotations

import hashlib
import inspect
import io
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.experiment.versions import PACKAGE, closure_digest
from benchmark.metrics import (
    GroupCounts,
    MetricResults,
    OneValueEach,
    Predictions,
    get_metric,
    metric_names,
)
from benchmark.metrics.groups import labeled_groups


@dataclass(frozen=True, eq=False)
class Answers:
    """What a technique said of the test rows; all arrays have shape (n_rows,)."""

    predicted: NDArray[np.bool_]  # whether the favorable outcome is
    score: NDArray[np.float64] | None = None  # estimate of P(y+ | x), if the technique has one
    alternated: NDArray[np.float64] | None = None  # scores, else predictions, with the two groups exchanged


class Scorer:
    """Scores predictions of a table of test rows with their labels.

    The groups are the states of the sensitive feature; the deprived group is compared with all others.
    ``metrics`` are names of metrics and families, ``strata`` the column to stratify by for those that need
    one. ``names`` are the metrics, families resolved; ``needs_rows`` says whether a metric needs more than
    counts.
    """

    def __init__(self, test: Table, metrics: Iterable[str], strata: str | None = None) -> None:
        self.names = metric_names(metrics)
        self._needs = needs = {need for name in self.names for need in get_metric(name).needs}
        self.needs_rows = not all(get_metric(name).from_counts for name in self.names)
        self._test = test
        schema = test.schema
        self._groups = schema.columns[schema.sensitive_index].states
        self._values = OneValueEach(self._groups, schema.deprived_code, self.names)
        self._codes = test.codes[:, schema.sensitive_index]
        self._labeled = labeled_groups(self._codes, test.y)
        self._strata = None if strata is None else test.codes[:, schema.index(strata)]
        self._features = _features(test) if "features" in needs else None

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
        if "alternated" in self._needs and len(self._groups) == 2:
            swapped = hidden.with_column(hidden.schema.sensitive_feature, 1 - self._codes)
            alternated = np.asarray(model(swapped), dtype=np.float64)
        kept = None if score is None or not self.needs_rows else np.asarray(score, dtype=np.float64)
        return Answers(predicted, kept, alternated)

    def score(self, answers: Answers) -> MetricResults:
        """Return metrics, and the counts that they come from; one that fails has that as its reason."""
        if not self.needs_rows:
            # A metric that hides what it needs must not find it here and miss it when it is computed again.
            return self._measure(GroupCounts.of(self._groups, self._labeled, answers.predicted), None)
        truth = (self._codes, self._groups, self._test.y)
        more = (self._strata, self._features, answers.alternated)
        rows = Predictions(*truth, answers.predicted, answers.score, *more)
        return self._measure(rows.counts, rows)

    def _measure(self, counts: GroupCounts, rows: Predictions | None) -> MetricResults:
        results = self._values(counts, rows=rows, tolerant=True)
        if len(self._groups) == 2:
            return results
        reasons = {
            name: "it is defined for two groups, and there are " + str(len(self._groups))
            for name in results.reasons
            if "alternated" in get_metric(name.partition("[")[0]).needs
        }
        return replace(results, reasons={**results.reasons, **reasons})

    def score_again(self, counts: Sequence[object], packed: bytes | None) -> MetricResults | None:
        """Return metrics of a stored cell, or None if what was stored of it does not suffice.

        ``counts`` are by [group][favorable label][favorable prediction]; ``packed`` are its rows as
        :func:`pack` gives them, if any were stored.
        """
        if not self.needs_rows:
            rows = np.array(counts, dtype=np.int64)
            return self._measure(GroupCounts(self._groups, rows.astype(np.float64), rows), None)
        if packed is None:
            return None
        answers = unpack(packed, len(self._test))
        asked = "alternated" not in self._needs or len(self._groups) != 2 or answers.alternated is not None
        return self.score(answers) if asked else None


def scoring_digest(metrics: Iterable[str], strata: str | None = None) -> str:
    """Return the digest of all that metrics of stored predictions depend on: their code and the strata.

    The code is this package's own and, for metrics of others, their files and what these import from the
    folder that they lie in. An UnknownNameError says that there is no such metric.
    """
    code = closure_digest(
        [*(PACKAGE / "metrics").glob("*.py"), PACKAGE / "experiment" / "score.py"],
        *(
            Path(inspect.getfile(inspect.unwrap(get_metric(name).compute))).resolve()
            for name in metric_names(metrics)
        ),
    )
    return hashlib.sha256(json.dumps([code, strata]).encode()).hexdigest()


def pack(answers: Answers) -> bytes:
    """Return answers as a compressed NumPy archive: scores of trees repeat, and shrink to little."""
    arrays: dict[str, NDArray[np.generic]] = {"predicted": np.packbits(answers.predicted)}
    for name, scores in (("score", answers.score), ("alternated", answers.alternated)):
        if scores is not None:
            values, codes = np.unique(scores, return_inverse=True)
            arrays[f"{name}_values"] = values
            arrays[f"{name}_codes"] = codes.astype(np.min_scalar_type(len(values)))
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def unpack(packed: bytes, n_rows: int) -> Answers:
    """Return what was packed."""
    with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
        score, alternated = (
            arrays[f"{name}_values"][arrays[f"{name}_codes"]] if f"{name}_values" in arrays else None
            for name in ("score", "alternated")
        )
        return Answers(np.unpackbits(arrays["predicted"], count=n_rows).astype(bool), score, alternated)


def _features(test: Table) -> NDArray[np.float64]:
    """Return all columns but label and sensitive feature as numbers.

    The positions of an ordered column's states lie evenly from 0 to 1; two different states of any other
    column are 1 apart as well.
    """
    schema = test.schema
    blocks = []
    for i in schema.feature_indices:
        if i == schema.sensitive_index:
            continue
        column, codes = schema.columns[i], test.codes[:, i]
        if column.ordered:
            blocks.append(codes[:, None] / max(column.cardinality - 1, 1))
        else:
            blocks.append(np.eye(column.cardinality)[codes] / np.sqrt(2))
    return np.hstack(blocks) if blocks else np.zeros((len(test), 0))
