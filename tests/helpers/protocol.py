"""Small experiments without downloads, computed in this process, and what their cells hold."""

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmark.data.source import Sources
from benchmark.experiment.draws import Split, draw_splits
from benchmark.experiment.evaluate import Evaluator
from benchmark.experiment.expand import load_for_run
from benchmark.experiment.keys import planned_cells
from benchmark.experiment.plan import Block, Experiment
from benchmark.experiment.prepare import prepare_experiment
from benchmark.experiment.prepared import PreparedExperiment
from benchmark.experiment.run import Outcome, compute
from benchmark.experiment.store import CellResult, Store
from benchmark.experiment.tune import TuningEvaluator
from benchmark.text.words import toml
from tests.helpers.engines import InProcess


def file_of(**fields: Any) -> str:
    """Return the content of an experiment file with these fields."""
    given = {"name": "experiment", "title": "Experiment", "seed": 3, **fields}
    return "".join(f"{name} = {toml(value)}\n" for name, value in given.items())


def made(plugins: Iterable[str] = (), **fields: Any) -> PreparedExperiment:
    """Return the experiment of these fields, prepared from what is at hand."""
    return prepare_experiment(load_for_run(Experiment(**fields), plugins), Sources(offline=True))


def prepared(**fields: Any) -> PreparedExperiment:
    """Return the world of a small experiment; its rows are a sample of COMPAS's embedded network."""
    bias = fields.pop("bias", "label")
    given: dict[str, Any] = {
        "datasets": [{"card": "compas", "bias": [{"kind": bias} if isinstance(bias, str) else bias]}],
        "techniques": ["none"],
        "betas": [0, 0.5],
        "repetitions": 1,
        "seed": 3,
    }
    return made(**{**given, **fields})


def computed(of: PreparedExperiment, path: Path | None = None, **options: Any) -> Outcome:
    """Return the results of an experiment, from the store at a path or from one that is then forgotten."""
    with tempfile.TemporaryDirectory() as folder, Store(path or Path(folder, "cells.sqlite")) as store:
        return compute(of, store, **{"engine": InProcess(1), **options})


def cells(of: PreparedExperiment, *techniques: str) -> list[CellResult]:
    """Return the results of all cells, or of those of some techniques, without a store."""
    evaluator = (Evaluator if of.experiment.tune is None else TuningEvaluator)(of)
    chosen = (
        (block, tuple(cell for cell in own if not techniques or cell.technique in techniques))
        for block, own in planned_cells(of)
    )
    return [result for block, own in chosen for result in evaluator(block, own)]


def keys(of: PreparedExperiment) -> dict[tuple[Block, str, str], str]:
    """Return the key of each cell by block, technique and classifier."""
    return {(block, c.technique, c.classifier): c.key for block, own in planned_cells(of) for c in own}


def folds(
    of: PreparedExperiment, level: float = 0.5, repetition: int = 0, bias: str | None = None
) -> list[Split]:
    """Return the folds of the only dataset, with its first bias unless one is named."""
    ((name, data),) = of.datasets.items()
    return list(draw_splits(data, Block(name, bias or next(iter(data.biases)), level, repetition)))


def values(cell: CellResult, test: str = "original", fold: int | None = None) -> dict[str, float | None]:
    return {m.metric: m.value for m in cell.metrics if (m.test, m.fold) == (test, fold)}
