"""What a store says of a cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from benchmark.techniques.base import Convergence

Status = Literal["ok", "skipped", "not_converged", "failed", "timeout", "crashed"]


@dataclass(frozen=True, slots=True)
class MetricValue:
    """A metric's value; ``value`` is None where it is undefined, and ``reason`` says why."""

    metric: str
    value: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CellResult:
    """What one cell gave.

    Attributes
    ----------
    key : str
        Identity of the cell; see :func:`benchmark.experiment.world.cell_key`.
    dataset, bias, beta, repetition, technique, classifier
        Where it stands in the result table.
    status : {"ok", "skipped", "not_converged", "failed", "timeout", "crashed"}
        How it ended.
    reason : str
        Why it did not end well; empty if it did.
    metrics : tuple of MetricValue
        Empty unless the status is ok.
    counts : tuple
        Test rows by [group][favorable label][favorable prediction], the groups being the states of the
        sensitive feature; empty unless the status is ok.
    seconds : float
        Wall time of preparation, training and prediction.
    convergence : Convergence or None
        How the fit converged, if the technique optimises something and says so.
    rows : bytes or None
        Predictions and scores of all test rows (:func:`benchmark.experiment.score.pack`), if a metric needs
        them.
    scoring : str
        Digest of the code that computed the metrics; empty if none did.
    """

    key: str
    dataset: str
    bias: str
    beta: float
    repetition: int
    technique: str
    classifier: str
    status: Status
    reason: str = ""
    metrics: tuple[MetricValue, ...] = ()
    counts: Sequence[object] = field(default=(), repr=False)
    seconds: float = 0.0
    convergence: Convergence | None = None
    rows: bytes | None = field(default=None, repr=False)
    scoring: str = ""

    @property
    def metric_names(self) -> str:
        """Names of its metrics, sorted, separated by blanks; "precision[Female]" is a value of precision."""
        return " ".join(sorted({m.metric.partition("[")[0] for m in self.metrics}))


@dataclass(frozen=True, slots=True)
class Stored:
    """What the store knows of a cell, its numbers apart.

    Attributes
    ----------
    status : str
        As in :class:`CellResult`.
    seconds : float
        That it took.
    scoring : str
        Digest of the code that computed its metrics.
    metrics : frozenset of str
        Names of the metrics that it has a value or a reason for.
    """

    status: Status
    seconds: float
    scoring: str
    metrics: frozenset[str]
