"""How planning, storing, going on and reporting grow with the number of cells, at next to no cost per cell.

The engine hands out results that one real cell gave, so that all that is left is what a run does around
its cells. Each step is a process of its own: the first run, a second start that finds every cell, and the
folder of results. They are timed by the clock, because waiting for the disk counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from benchmark.columns import STORE_NAME
from benchmark.data.source import Sources
from benchmark.experiment.engine import LocalEngine
from benchmark.experiment.entries import TechniqueEntry
from benchmark.experiment.evaluate import Evaluator, cell_result
from benchmark.experiment.expand import expand, narrow
from benchmark.experiment.plan import Experiment, load_experiment
from benchmark.experiment.pool import Finished, Handler, Limits, Task
from benchmark.experiment.prepare import prepare_experiment
from benchmark.experiment.prepared import PreparedExperiment
from benchmark.experiment.run import compute
from benchmark.experiment.store import CellResult, LastRun, Store, Stored
from benchmark.report.folder import write_run_folder
from tools.performance.child import in_own_process, own_peak

__all__ = ["first_run", "folder_of_results", "measure", "second_start"]

T = TypeVar("T")

CELLS = (100, 1_000, 10_000, 100_000, 1_000_000)
PER_BLOCK = 100
"""Cells: ten times the paper's, so that a million of them are not half an hour of waiting for the disk."""


def measure(quick: bool) -> Iterator[dict[str, Any]]:
    """Measure first run, second start and folder at every size, on one store."""
    for cells in CELLS[:2] if quick else CELLS:
        with TemporaryDirectory() as folder:
            for case in ("first_run", "second_start", "folder_of_results"):
                found = in_own_process(f"growth_cells:{case}", cells=cells, folder=folder)
                for step, seconds in found["seconds"].items():
                    yield {
                        "part": "growth_cells",
                        "case": case.replace("_", " "),
                        "contestant": step,
                        "size": cells,
                        "repetition": 0,
                        "seconds": seconds,
                        "bytes": found["bytes"] if step == "total" else "",
                        "note": found["note"],
                    }


def first_run(cells: int, folder: str) -> dict[str, Any]:
    """Plan and store all cells, read them back, and write down what the store cost as it grew."""
    prepared = _prepared(cells)
    engine = _Canned(prepared)
    store = _TimedStore(Path(folder) / STORE_NAME)
    with store:
        seconds, outcome = _timed(lambda: compute(prepared, store, engine=engine))
        size = store.path.stat().st_size
    if len(outcome.cells) != cells or outcome.computed != cells:
        raise AssertionError(f"{outcome.computed} of {cells} cells were stored")
    tenth = len(store.writes) // 10 or 1
    steps = {
        "total": seconds,
        "planning": engine.asked - store.opened - store.spent["statuses"],
        "writing": sum(store.writes),
        "reading back": store.spent["read"],
        "writing, first tenth": sum(store.writes[:tenth]),
        "writing, last tenth": sum(store.writes[-tenth:]),
    }
    return {"seconds": steps, "bytes": own_peak(), "note": f"file of {size / 2**20:.1f} MiB"}


def second_start(cells: int, folder: str) -> dict[str, Any]:
    """Start again with all cells stored."""
    prepared = _prepared(cells)
    Evaluator(prepared)  # imports and compiles, which the number of cells has no part in
    opening, store = _timed(lambda: _TimedStore(Path(folder) / STORE_NAME))
    with store:
        seconds, outcome = _timed(lambda: compute(prepared, store, engine=LocalEngine(1)))
    if outcome.computed or len(outcome.cells) != cells:
        raise AssertionError(f"{outcome.computed} cells were computed again")
    steps = {
        "total": opening + seconds,
        "opening": opening,
        "looking what is there": store.spent["statuses"],
        "reading back": store.spent["read"],
        "planning and comparing": seconds - sum(store.spent.values()),
    }
    return {"seconds": steps, "bytes": own_peak(), "note": ""}


def folder_of_results(cells: int, folder: str) -> dict[str, Any]:
    """Write tables and report of a run whose cells are all stored; figures are left out."""
    prepared = _prepared(cells)
    with Store(Path(folder) / STORE_NAME) as store:
        outcome = compute(prepared, store, engine=LocalEngine(1))
        before = own_peak()
        seconds, written = _timed(
            lambda: write_run_folder(Path(folder) / "results", prepared, outcome, figures=False)
        )
    held = f"{before / 2**20:.0f} MiB" if isinstance(before, int) else "unknown"
    note = f"{len(written.run.results)} rows of results; peak before: {held}"
    return {"seconds": {"total": seconds}, "bytes": own_peak(), "note": note}


class _TimedStore(Store):
    """A store that knows how long it took."""

    def __init__(self, path: Path) -> None:
        self.writes: list[float] = []
        self.spent = {"statuses": 0.0, "read": 0.0}
        super().__init__(path)
        self.opened = time.perf_counter()

    def write(self, cells: Iterable[CellResult], run: LastRun | None = None) -> None:
        """Write and note how long it took."""
        self.writes.append(_timed(lambda: super(_TimedStore, self).write(cells, run))[0])

    def statuses(self) -> dict[str, Stored]:
        """Look what is there and note how long it took."""
        self.spent["statuses"], found = _timed(super().statuses)
        return found

    def read(self, keys: Iterable[str], *, predictions: bool = False) -> Iterator[CellResult]:
        """Read and note how long it took."""
        seconds, found = _timed(lambda: list(super(_TimedStore, self).read(keys, predictions=predictions)))
        self.spent["read"] += seconds
        return iter(found)


class _Canned:
    """An engine whose every result is that of the first cell, under the right key and place."""

    name, processors = "canned results", ()

    def __init__(self, prepared: PreparedExperiment) -> None:
        self.prepared, self.asked = prepared, 0.0
        self._evaluate = Evaluator(prepared)  # imports and compiles before anything is timed

    def run(
        self,
        tasks: Sequence[Task],
        make_handler: Callable[[], Handler],
        limits: Limits,
    ) -> Iterator[list[Finished]]:
        """Yield every task with copies of one result."""
        self.asked = time.perf_counter()
        first = tasks[0]
        (one,) = self._evaluate(first.block, first.cells[:1])
        if one.status != "ok":
            raise AssertionError(one.reason)
        for task in tasks:
            data = self.prepared.datasets[task.block.dataset]
            content = {name: getattr(one, name) for name in ("metrics", "counts", "seconds", "scoring")}
            yield [
                Finished(task.block, cell, cell_result(data, task.block, cell, "ok", **content))
                for cell in task.cells
            ]


def _prepared(cells: int) -> PreparedExperiment:
    return prepare_experiment(expand(_experiment(cells)), Sources(offline=True))


def _experiment(cells: int) -> Experiment:
    """Return an experiment of so many cells: many names of doing nothing, and many repetitions."""
    paper = narrow(load_experiment("paper"), datasets=["compas_leaky"], betas=[0.0])
    names = [f"none_{number}" for number in range(PER_BLOCK)]
    dataset = paper.datasets[0].model_copy(update={"baseline": names[0], "techniques": ()})
    return paper.model_copy(
        update={
            "datasets": (dataset,),
            "techniques": tuple(TechniqueEntry(technique="none", name=name) for name in names),
            "repetitions": cells // PER_BLOCK,
            "metrics": ("paper",),
            "published": None,
        }
    )


def _timed(call: Callable[[], T]) -> tuple[float, T]:
    started = time.perf_counter()
    result = call()
    return time.perf_counter() - started, result
