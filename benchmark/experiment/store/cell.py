"""What a store says of a cell."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from benchmark.columns import ORIGINAL, TEST_TITLES
from benchmark.techniques.base import Convergence

Status = Literal["ok", "skipped", "not_converged", "failed", "timeout", "crashed"]


_NOT_OF_THE_ORIGINAL = re.compile(r"([a-z]+)(?:\[([0-9]+)\])?/(.*)", re.DOTALL)


FRONTIER = "unprocessing_"
"""How the names begin under which the store keeps the points of a frontier among the metrics."""


class MetricValue(NamedTuple):
    """A metric's value; ``value`` is None where it is undefined, and ``reason`` says why.

    ``fold`` numbers the part of the rows that it is of, from 0; None for all of a repetition.
    """

    metric: str
    value: float | None
    reason: str = ""
    test: str = ORIGINAL
    fold: int | None = None

    @property
    def stored_name(self) -> str:
        """What the store calls it: ``"accuracy"``, ``"biased/accuracy"`` or ``"original[3]/accuracy"``."""
        if self.fold is not None:
            return f"{self.test}[{self.fold}]/{self.metric}"
        return self.metric if self.test == ORIGINAL else f"{self.test}/{self.metric}"

    @property
    def row(self) -> tuple[str, float | None, str]:
        """What the store keeps of it: its name there, value and reason."""
        if self.fold is None and self.test == ORIGINAL:
            return self[:3]
        return self.stored_name, self.value, self.reason

    @classmethod
    def stored(cls, name: str, value: float | None, reason: str) -> MetricValue:
        """Return what a store says under a name of :attr:`stored_name`."""
        found = _NOT_OF_THE_ORIGINAL.fullmatch(name) if "/" in name else None
        if found is None or found[1] not in TEST_TITLES:  # a group's name may have a slash as well
            return cls(sys.intern(name), value, reason)
        fold = None if found[2] is None else int(found[2])
        return cls(sys.intern(found[3]), value, reason, sys.intern(found[1]), fold)


@dataclass(frozen=True, slots=True)
class CellResult:
    """What one cell gave, and where it stands in the result table."""

    key: str  # see :func:`benchmark.experiment.prepare.cell_key`
    dataset: str
    bias: str
    beta: float
    repetition: int
    technique: str
    classifier: str
    status: Status
    reason: str = ""  # why it did not end well; empty if it did
    metrics: tuple[MetricValue, ...] = ()  # empty unless the status is ok
    # Coordinates of the unprocessing frontier, if it is made from this cell; see
    # benchmark.experiment.unprocessing.frontier_values.
    frontier: tuple[MetricValue, ...] = ()
    # Test rows by [group][favorable label][favorable prediction], the groups being the states of the
    # sensitive feature; where there are folds, further tests or attributes, a list of these for each fold, by
    # test, and beside the tests those by attributes (benchmark.experiment.scoring.joint_counts). Empty unless
    # the status is ok.
    counts: Sequence[object] | Mapping[str, Sequence[object]] = field(default=(), repr=False)
    seconds: float = 0.0  # wall time of preparation, training and prediction
    convergence: Convergence | None = None  # if the technique optimizes something and says how that went
    # Predictions and scores of all test rows, if a metric needs them; see benchmark.experiment.scoring.pack.
    rows: bytes | None = field(default=None, repr=False)
    scoring: str = ""  # digest of the code that computed the metrics; empty if none did

    @property
    def rows_of_values(self) -> list[tuple[str, float | None, str]]:
        """What the store keeps of metrics and frontier."""
        return [own.row for own in (*self.metrics, *self.frontier)]

    @property
    def metric_names(self) -> str:
        """Stored names of its metrics, sorted, separated by blanks; "precision[Female]" is a precision."""
        return _names_of(tuple(m.stored_name for m in self.metrics if m.fold is None))


@functools.lru_cache
def _names_of(values: tuple[str, ...]) -> str:
    """Return the names of the metrics of values, which are the same in all cells of a run."""
    return " ".join(sorted({value.partition("[")[0] for value in values}))


@dataclass(frozen=True, slots=True)
class Stored:
    """What the store knows of a cell, its numbers apart; fields as in :class:`CellResult`."""

    status: Status
    seconds: float
    scoring: str
    metrics: frozenset[str]  # stored names of those that it has a value or a reason for
