"""Small experiments on the embedded networks, prepared, and what their cells hold."""

from __future__ import annotations

from typing import Any

from benchmark.data.source import Sources
from benchmark.experiment.evaluate import Evaluator
from benchmark.experiment.expand import expand
from benchmark.experiment.keys import planned_cells
from benchmark.experiment.plan import Experiment
from benchmark.experiment.prepare import PreparedExperiment, prepare_experiment
from benchmark.experiment.store import CellResult


def prepared(**fields: Any) -> PreparedExperiment:
    """Return the world of a small experiment; its rows are a sample of COMPAS's embedded network."""
    bias = fields.pop("bias", "label")
    given: dict[str, Any] = {
        "datasets": [{"card": "compas", "bias": [{"kind": bias} if isinstance(bias, str) else bias]}],
        "techniques": ["none"],
        "betas": [0, 0.5],
        "repetitions": 1,
        "seed": 3,
        **fields,
    }
    return prepare_experiment(expand(Experiment(**given)), Sources(offline=True))


def cells(made: PreparedExperiment) -> list[CellResult]:
    evaluator = Evaluator(made)
    return [result for block, own in planned_cells(made) for result in evaluator(block, own)]


def values(cell: CellResult, test: str = "original", fold: int | None = None) -> dict[str, float | None]:
    return {m.metric: m.value for m in cell.metrics if (m.test, m.fold) == (test, fold)}
