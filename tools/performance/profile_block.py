"""Where the time of a paper block goes, from drawing the sample to storing the results.

The harness is run as it is, with a stopwatch around the functions that do each of these; what one of them
spends in another counts for the other. Harness overhead is all but sampling, technique with its ranker, and
classifier. Beside the shares stands how often each was called: what several techniques share is done once per
block. Seconds are those of the processor, so that other work on the machine does not count. Waiting is what
the clock on the wall says beyond that: on a quiet machine the commit, which waits until the disk has written;
in a run the workers compute on meanwhile. The blocks of a dataset are stored together, as a run stores what
its workers finish within a second, and each counts an equal share of it.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from benchmark.bias import planting
from benchmark.classifiers.c45 import C45Classifier
from benchmark.experiment import evaluate
from benchmark.experiment.evaluate import Cell, Evaluator
from benchmark.experiment.plan import plan_blocks
from benchmark.experiment.scoring import Scorer
from benchmark.experiment.store import CellResult, Store
from benchmark.techniques.base import PreProcessing
from tools.performance.prepared_inputs import experiment, prepared
from tools.performance.timing import Row

__all__ = ["HARNESS", "STAGES", "WAITING", "Stopwatch", "measure"]

STAGES = ("sampling", "ranking", "technique", "classifier", "prediction", "metrics", "store", "other")
HARNESS = ("metrics", "store", "other")
"""Stages that are overhead."""

WAITING = "waiting"

_BLOCKS = 5
_WATCHED: tuple[tuple[str, Any, str], ...] = (
    ("ranking", evaluate, "naive_bayes_ranker"),
    ("technique", PreProcessing, "_prepared"),
    ("classifier", C45Classifier, "fit"),
    *(("prediction", C45Classifier, name) for name in ("predict", "predict_proba")),
    ("metrics", Scorer, "score"),
    ("metrics", evaluate, "metric_values"),
)


class Stopwatch:
    """Processor seconds and calls by stage; a stage inside of another stops the other's clock."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.calls: Counter[str] = Counter()
        self._stages: list[str] = []
        self._since = 0.0

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Let the clock of a stage run."""
        self._charge()
        self._stages.append(name)
        self.calls[name] += 1
        try:
            yield
        finally:
            self._charge()
            self._stages.pop()

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that counts as a stage."""

        @functools.wraps(function)
        def watched(*args: Any, **keywords: Any) -> Any:
            with self.stage(name):
                return function(*args, **keywords)

        return watched

    def _charge(self) -> None:
        now = time.process_time()
        if self._stages:
            self.seconds[self._stages[-1]] += now - self._since
        self._since = now


def measure(quick: bool) -> Iterator[Row]:
    """Profile blocks of each dataset with half of the bias planted."""
    planned = list(plan_blocks(experiment(quick)))
    number = count()
    with TemporaryDirectory() as folder, Store(Path(folder) / "results.sqlite") as store:
        evaluator = Evaluator(prepared(quick))
        for name in prepared(quick).datasets:
            own = [block for block in planned if block.dataset == name and block.level == 0.5]
            watches = []
            results: list[CellResult] = []
            for block in own[: 2 if quick else _BLOCKS + 1]:
                cells = tuple(Cell(t, c, f"{next(number)}") for t, c in block.cells)
                watches.append(_watched(evaluator, block, cells, results))
                if len(watches) == 1:  # the first block is for compilers and caches
                    store.write(results)
                    results.clear()
            blocks = watches[1:]
            started, elapsed = time.process_time(), time.perf_counter()
            store.write(results)
            writing = (time.process_time() - started) / len(blocks)
            disk = max(0.0, (time.perf_counter() - elapsed) / len(blocks) - writing)
            for repetition, (watch, waiting) in enumerate(blocks, 1):
                watch.seconds["store"] = writing
                for stage in (*STAGES, WAITING):
                    yield {
                        "part": "profile_block",
                        "case": name,
                        "contestant": stage,
                        "size": len(cells),
                        "repetition": repetition,
                        "seconds": waiting + disk if stage == WAITING else watch.seconds[stage],
                        "bytes": "",
                        "note": f"{watch.calls[stage]} calls"
                        if watch.calls[stage] and stage != "other"
                        else "",
                    }


def _watched(
    evaluator: Evaluator, block: Any, cells: tuple[Cell, ...], results: list[CellResult]
) -> tuple[Stopwatch, float]:
    """Compute a block's results; return its stages, and the seconds in which the processor did not work."""
    watch = Stopwatch()
    with contextlib.ExitStack() as stack:
        for stage, owner, name in _WATCHED:
            stack.enter_context(patch.object(owner, name, watch.around(stage, getattr(owner, name))))
        # Sampling is bound to a network when bias is planted, so that planting has to come after the watch.
        stack.enter_context(patch.object(planting, "sample", watch.around("sampling", planting.sample)))
        data = evaluator.prepared.datasets[block.dataset]
        data._planted.clear()
        data.planted(block.bias, block.level)  # done once per level of bias, not once per block
        gc.collect()
        gc.freeze()  # as the workers of a run, which do not look through what was loaded again and again
        started = time.perf_counter()
        with watch.stage("other"):
            results.extend(evaluator(block, cells))
        elapsed = time.perf_counter() - started
        gc.unfreeze()
        data._planted.clear()
    return watch, max(0.0, elapsed - sum(watch.seconds.values()))
