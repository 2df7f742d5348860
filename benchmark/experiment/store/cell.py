"""A cell as the store has it: its result, its metric values, and its status."""

from __future__ import annotations

import functools
import itertools
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from benchmark.columns import ORIGINAL, TEST_TITLES
from benchmark.techniques.base import Convergence

Status = Literal["ok", "skipped", "not_converged", "failed", "timeout", "crashed"]

_WITH_TEST = re.compile(r"([a-z]+)(?:\[([0-9]+)\])?/(.*)", re.DOTALL)

FRONTIER = "unprocessing_"
"""Prefix of the names under which points of a frontier are stored among the metrics."""

_HEAD = (
    *("key", "dataset", "bias", "hidden", "level", "beta", "repetition", "technique", "classifier"),
    *("status", "reason"),
)


class MetricValue(NamedTuple):
    """A metric's value, or None with the ``reason`` why it is undefined."""

    metric: str
    value: float | None
    reason: str = ""
    test: str = ORIGINAL
    fold: int | None = None  # number from 0; None for the whole repetition

    @property
    def stored_name(self) -> str:
        """Its name in the store: ``"accuracy"``, ``"biased/accuracy"`` or ``"original[3]/accuracy"``."""
        if self.fold is not None:
            return f"{self.test}[{self.fold}]/{self.metric}"
        return self.metric if self.test == ORIGINAL else f"{self.test}/{self.metric}"

    @property
    def row(self) -> tuple[str, float | None, str]:
        """Its row in the store: stored name, value and reason."""
        return self.stored_name, self.value, self.reason

    @classmethod
    def stored(cls, name: str, value: float | None, reason: str) -> MetricValue:
        """Return the value from a :attr:`row` of a store."""
        parts = _WITH_TEST.fullmatch(name) if "/" in name else None
        if parts is None or parts[1] not in TEST_TITLES:  # a group's name may have a slash as well
            return cls(sys.intern(name), value, reason)
        fold = None if parts[2] is None else int(parts[2])
        return cls(sys.intern(parts[3]), value, reason, sys.intern(parts[1]), fold)


@dataclass(frozen=True, slots=True)
class CellResult:
    """The result of a cell, with its coordinates in the result table."""

    key: str  # see :mod:`benchmark.experiment.keys`
    dataset: str
    bias: str
    hidden: float  # label gap of bias that was planted before, and counts as original; 0 if there is none
    level: float  # of bias, in the experiment's unit: β or dose
    beta: float  # β as planted
    repetition: int
    technique: str
    classifier: str
    status: Status
    reason: str = ""  # why the status is not ok; else empty
    metrics: tuple[MetricValue, ...] = ()  # empty unless the status is ok
    # Coordinates of the unprocessing frontier, if it is made from this cell; see
    # benchmark.experiment.unprocessing.frontier_values.
    frontier: tuple[MetricValue, ...] = ()
    # By test a list with the counts of each fold: rows by [group][favorable label][favorable prediction];
    # groups are the states of the sensitive feature. Further keys are those of benchmark.experiment.scoring
    # and TUNED. Empty unless the status is ok.
    counts: Mapping[str, Any] = field(default_factory=dict, repr=False)
    seconds: float = 0.0  # wall time of preparation, training and prediction
    convergence: Convergence | None = None  # if the technique optimizes something and reports it
    # Predictions and scores of all test rows, if a metric needs them; see benchmark.experiment.scoring.pack.
    rows: bytes | None = field(default=None, repr=False)
    scoring: str = ""  # digest of the code that computed the metrics; empty if there are none

    @classmethod
    def stored(
        cls,
        row: Sequence[Any],
        values: Iterable[tuple[str, float | None, str]],
        convergence: Sequence[Any] | None,
        **others: Any,
    ) -> CellResult:
        """Return a cell from its rows in the tables ``cells``, ``results`` and ``convergence``."""
        key, dataset, bias, beta, *rest, counts, seconds = row
        head = (key, dataset, bias, 0.0, beta, beta, *rest)  # the plan says level and hidden bias
        metrics: list[MetricValue] = []
        frontier: list[MetricValue] = []
        for value in itertools.starmap(MetricValue.stored, values):
            (frontier if value.metric.startswith(FRONTIER) else metrics).append(value)
        return cls(
            **dict(zip(_HEAD, head, strict=True)),
            metrics=tuple(metrics),
            frontier=tuple(frontier),
            counts=json.loads(counts) if counts else {},
            seconds=seconds,
            convergence=None if convergence is None else Convergence(*convergence),
            **others,
        )

    @property
    def rows_of_values(self) -> list[tuple[str, float | None, str]]:
        """Rows of metrics and frontier in the store."""
        return [value.row for value in (*self.metrics, *self.frontier)]

    @property
    def metric_names(self) -> str:
        """Stored names of its metrics, sorted, separated by blanks; "precision[Female]" is a precision."""
        return _names_of(tuple(m.stored_name for m in self.metrics if m.fold is None))


@functools.lru_cache
def _names_of(values: tuple[str, ...]) -> str:
    """Return the metric names of values; they are cached, because all cells of a run have the same."""
    return " ".join(sorted({value.partition("[")[0] for value in values}))


@dataclass(frozen=True, slots=True)
class Stored:
    """The store's facts about a cell apart from its numbers; fields as in :class:`CellResult`."""

    status: Status
    seconds: float
    scoring: str
    metrics: frozenset[str]  # stored names of metrics with a value or a reason
