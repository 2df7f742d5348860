"""Results of cells: a status, the values of metrics, and the counts that they are computed from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from benchmark.columns import ORIGINAL
from benchmark.techniques.base import Convergence

Status = Literal["ok", "skipped", "not_converged", "failed", "timeout", "crashed"]


class MetricValue(NamedTuple):
    """A metric's value, or None with the ``reason`` why it is undefined."""

    metric: str
    value: float | None
    reason: str = ""
    test: str = ORIGINAL
    fold: int | None = None  # number from 0; None for the whole repetition


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
    metrics: tuple[MetricValue, ...] = ()  # sorted by name; empty unless the status is ok
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
    scoring: str = ""  # digest of what the metrics were computed by; empty if there are none
