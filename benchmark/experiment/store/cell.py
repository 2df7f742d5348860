"""What a store says of a cell."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from benchmark.techniques.base import Convergence

Status = Literal["ok", "skipped", "not_converged", "failed", "timeout", "crashed"]


class MetricValue(NamedTuple):
    """A metric's value; ``value`` is None where it is undefined, and ``reason`` says why."""

    metric: str
    value: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CellResult:
    """What one cell gave, and where it stands in the result table."""

    key: str  # see :func:`benchmark.experiment.world.cell_key`
    dataset: str
    bias: str
    beta: float
    repetition: int
    technique: str
    classifier: str
    status: Status
    reason: str = ""  # why it did not end well; empty if it did
    metrics: tuple[MetricValue, ...] = ()  # empty unless the status is ok
    # Test rows by [group][favorable label][favorable prediction], the groups being the states of the
    # sensitive feature; empty unless the status is ok.
    counts: Sequence[object] = field(default=(), repr=False)
    seconds: float = 0.0  # wall time of preparation, training and prediction
    convergence: Convergence | None = None  # if the technique optimizes something and says how that went
    # Predictions and scores of all test rows, if a metric needs them; see benchmark.experiment.score.pack.
    rows: bytes | None = field(default=None, repr=False)
    scoring: str = ""  # digest of the code that computed the metrics; empty if none did

    @property
    def metric_names(self) -> str:
        """Names of its metrics, sorted, separated by blanks; "precision[Female]" is a value of precision."""
        return _names_of(tuple(m.metric for m in self.metrics))


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
    metrics: frozenset[str]  # names of those that it has a value or a reason for
