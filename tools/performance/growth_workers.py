"""What a second worker brings, start included, on half of the paper's grid without Zafar's techniques.

Timed by the clock, with the processor time of the workers and of all other programs beside it, so that a
second core that was not to be had can be told from work that two workers do twice.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from multiprocessing import forkserver
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmark.data.source import Sources
from benchmark.experiment.engine import LocalEngine
from benchmark.experiment.expand import expand, narrow
from benchmark.experiment.plan import Experiment, load_experiment
from benchmark.experiment.prepare import prepare_experiment
from benchmark.experiment.run import compute
from benchmark.experiment.store import Store
from tools.performance.child import in_own_process

__all__ = ["measure", "workers"]

# Zafar's optimiser would take most of the paper's time, and as evenly on one worker as on two.
GRID = (
    *("none", "drop_sensitive", "massaging", "reweighing", "uniform_sampling", "preferential_sampling"),
    *("repair_0.25", "repair_0.50", "repair_0.75"),
)


def measure(quick: bool) -> Iterator[dict[str, Any]]:
    """Compute the grid with one worker and with two, in turn."""
    for repetition in range(1 if quick else 2):
        for count in (1, 2):
            found = in_own_process("growth_workers:workers", count=count, quick=quick)
            for step, seconds in found["seconds"].items():
                yield {
                    "part": "growth_workers",
                    "case": "workers",
                    "contestant": step,
                    "size": count,
                    "repetition": repetition,
                    "seconds": seconds,
                    "bytes": "",
                    "note": found["note"],
                }


def workers(count: int, quick: bool) -> dict[str, Any]:
    """Compute the paper's grid without Zafar's techniques; also count processor time."""
    experiment = _grid(quick)
    prepared = prepare_experiment(expand(experiment), Sources(offline=True))
    others = _busy() - _own_busy()
    with TemporaryDirectory() as folder, Store(Path(folder) / "results.sqlite") as store:
        started = time.perf_counter()
        outcome = compute(prepared, store, engine=LocalEngine(count))
        seconds = time.perf_counter() - started
    if not outcome.ok:
        raise AssertionError(f"cells failed: {outcome.failures}")
    forkserver._forkserver._stop()  # type: ignore[attr-defined]  # the workers' time counts when it has ended
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = children.ru_utime + children.ru_stime
    accuracy = [m.value or 0.0 for cell in outcome.cells for m in cell.metrics if m.metric == "accuracy"]
    return {
        "seconds": {
            "total": seconds,
            "processor time of the workers": spent,
            "processor time of other programs": max(0.0, _busy() - _own_busy() - others),
        },
        "bytes": "",
        "note": f"{len(outcome.cells)} cells, mean accuracy {np.mean(accuracy):.12f}",
    }


def _grid(quick: bool) -> Experiment:
    datasets = ["compas_leaky"] if quick else ["adult", "compas_leaky", "dutch"]
    repetitions, betas = (1, [0.0, 0.5]) if quick else (15, None)
    paper = load_experiment("paper")
    return narrow(paper, datasets=datasets, techniques=GRID, repetitions=repetitions, betas=betas)


def _busy() -> float:
    """Return the processor time of all programs since the machine's start, in seconds; 0 if unknown."""
    stat = Path("/proc/stat")
    if not stat.is_file():
        return 0.0
    user, nice, system, _idle, _wait, irq, soft = map(int, stat.read_text(encoding="ascii").split()[1:8])
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")


def _own_busy() -> float:
    own = os.times()
    return own.user + own.system + own.children_user + own.children_system
