"""The paper's grid without Zafar's techniques, against a naive harness; and the whole of it on two workers.

Side by side, on one core: the same randomly chosen blocks (dataset, beta, repetition), once by an evaluator
that writes to a store, once by a naive harness (`tools/performance/naive.py`); either has the learned
networks beforehand. Ours computes some hundred metrics per cell, the naive harness six. The classifiers
differ, and so do the random numbers, so the notes give the mean accuracy and discrimination of both over the
techniques of a block. Then the whole grid, as the command line runs it, from start to report.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.experiment.evaluate import Cell, Evaluator
from benchmark.experiment.plan import Block, plan_blocks
from benchmark.experiment.store import Store
from benchmark.seeding import generator
from tools.performance.prepared_inputs import DATASETS, TECHNIQUES, experiment, prepared
from tools.performance.timing import Row, timed

__all__ = ["GRID", "measure"]

GRID = "whole grid"
_BLOCKS = 2
_WORKERS = 2


def measure(quick: bool) -> Iterator[Row]:
    """Time blocks of each dataset side by side, then the whole grid."""
    yield from _blocks(quick)
    yield _whole_grid(quick)


def _row(
    case: str, contestant: str, size: int, repetition: int, seconds: float, memory: Any, note: str
) -> Row:
    return {
        "part": "grid",
        "case": case,
        "contestant": contestant,
        "size": size,
        "repetition": repetition,
        "seconds": seconds,
        "bytes": memory,
        "note": note,
    }


def _blocks(quick: bool) -> Iterator[Row]:
    planned = list(plan_blocks(experiment(quick)))
    evaluator = Evaluator(prepared(quick))
    number = count()
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "results.sqlite") as store:
        for name, data in prepared(quick).datasets.items():
            own = [block for block in planned if block.dataset == name]
            chosen = generator(2019, purpose="blocks of the naive harness", dataset=name).choice(
                len(own), 1 if quick else _BLOCKS, replace=False
            )
            # One block beforehand, so that nobody compiles on the clock.
            _ours(evaluator, store, own[0], number)
            frame = data.test.to_frame()
            for repetition, block in enumerate(own[i] for i in chosen):
                cells = [t for t, _ in block.cells]
                model = data.planted(block.bias, block.level).network.to_pgmpy()
                seconds, results = timed(partial(_ours, evaluator, store, block, number))
                note = f"beta {block.level}, repetition {block.repetition}: " + _means(results)
                yield _row(name, "betabench", len(cells), repetition, seconds, "", note)
                seconds, (results, parts) = timed(
                    partial(
                        _naive,
                        model,
                        data.n_train,
                        frame,
                        data.test.schema,
                        cells,
                        block.repetition,
                    )
                )
                yield _row(
                    name, "naive harness", len(cells), repetition, seconds, "", _means(results) + parts
                )


def _ours(evaluator: Evaluator, store: Store, block: Block, number: Iterator[int]) -> list[dict[str, float]]:
    cells = tuple(Cell(t, c, f"{next(number)}") for t, c in block.cells)
    results = list(evaluator(block, cells))
    store.write(results)
    failed = [f"{r.technique}: {r.reason}" for r in results if r.status != "ok"]
    if failed:
        raise AssertionError("; ".join(failed))
    return [{m.metric: m.value for m in r.metrics if m.value is not None} for r in results]


def _naive(*block: Any) -> tuple[list[dict[str, float]], str]:
    from tools.performance.naive import naive_block

    found, parts = [], []
    last = time.perf_counter()
    for technique, metrics in naive_block(*block):
        now = time.perf_counter()
        found.append(metrics)
        parts.append(f"{technique} {now - last:.2f}")
        last = now
    return found, f"; seconds, the sample counted with the first: {', '.join(parts)}"


def _means(results: list[dict[str, float]]) -> str:
    names = ("accuracy", "discrimination")
    return ", ".join(f"mean {name} {np.mean([r[name] for r in results]):.3f}" for name in names)


def _whole_grid(quick: bool) -> Row:
    """Run the command in a process of its own, and look at its workers' memory meanwhile."""
    datasets = DATASETS[1:2] if quick else DATASETS
    options = ["--repetitions", "1", "--betas", "0.5"] if quick else []
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        command = [
            *(
                sys.executable,
                "-m",
                "benchmark.cli",
                "run",
                "--experiment",
                "paper",
                "--workers",
                str(_WORKERS),
            ),
            *("--output", folder, "--datasets", *datasets, "--techniques", *TECHNIQUES, *options),
        ]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        peak = 0
        while process.poll() is None:
            peak = max(peak, *map(_peak_memory, _children(process.pid)), 0)
            time.sleep(0.1)
        seconds = time.perf_counter() - started
        if process.returncode:
            raise AssertionError(f"the run ended with exit code {process.returncode}")
        manifest = json.loads((Path(folder) / "manifest.json").read_text(encoding="utf-8"))
    cells, computing = manifest["cells"]["planned"], manifest["durations_in_seconds"]["this_run"]
    return _row(
        GRID,
        f"betabench run, {_WORKERS} workers",
        cells,
        0,
        seconds,
        peak or "",
        f"of these {computing:.1f} s for the cells, {cells / computing / _WORKERS:.1f} per second and core; "
        f"the rest for start, networks, tables and figures; {os.cpu_count()} cores",
    )


def _children(pid: int) -> list[int]:
    try:
        listed = [file.read_text() for file in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:  # no such file system, or no such process any more
        return []
    return [int(child) for text in listed for child in text.split()]


def _peak_memory(pid: int) -> int:
    """Return the most that a process has held, in bytes; 0 where it cannot be known."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)
