"""An estimate of an experiment's cells, time and disk, before it is run."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from benchmark.columns import STORE_NAME
from benchmark.experiment.engine import open_engine
from benchmark.experiment.plan import WHOLE, Shard
from benchmark.experiment.pool import Limits
from benchmark.experiment.prepared import PreparedExperiment
from benchmark.experiment.run import Progress, measure
from benchmark.experiment.store import Store
from benchmark.wording import render_plain

SECONDS = 42.0
"""Time from the start of the command until the workers end; the rest is for tables."""

_LEAST_SECONDS = 10.0  # of computing, even if reading data took long
_CELL_SHARE = 0.25  # of the time: the limit of one cell, so that others are measured
# The first cell of a technique in a worker also loads compiled code.
_SAMPLES = 3
_DISK_OF_STORE = 2  # store and tables; measured: 1.3 times the store for 7,050 cells, 3 times for 162

_SORT = [
    "dataset",
    "bias",
    "technique",
    "classifier",
]  # of cells that differ only in sample and level of bias


@dataclass(frozen=True)
class Estimate:
    """Cells, time and disk of an experiment or a shard, estimated from computed cells."""

    cells: int
    blocks: int  # training samples, each computed by one process
    seconds: float  # of one process, for all cells, without reading data and learning networks
    workers: int
    disk_bytes: int  # store and files without figures
    computed: int  # cells computed and stored now
    stored: int  # cells of the plan in the store, the computed ones included
    store: Path
    sorts: int  # of cells: combinations of dataset, bias, technique and classifier
    measured: int  # sorts with a cell whose time is known
    cut_off: int  # cells that took longer than the limit; their sorts count with the limit
    least: float  # seconds that would be no surprise, if sorts were guessed or cells cut off
    most: float

    @property
    def processes(self) -> int:
        """Processes that compute at the same time."""
        return min(self.workers, self.blocks)

    def __str__(self) -> str:
        text = render_plain("estimate", of=self, duration=_duration)
        return " ".join(filter(None, text.splitlines()))


def estimate(
    prepared: PreparedExperiment,
    folder: Path,
    shard: Shard = WHOLE,
    *,
    workers: int,
    until: float = math.inf,
    fresh: bool = False,
    progress: Progress = lambda _done, _planned, _seconds: None,
    say: Callable[[str], None] = lambda _: None,
) -> Estimate:
    """Return an estimate from cells of all sorts, computed until ``until`` by ``time.monotonic()``.

    The cells are stored in ``folder``, and the run does not compute them again. Cells that were stored there
    before count as measured. The shortest time of a sort counts. A sort without a time gets its technique's
    mean. Errors are as in :func:`~benchmark.experiment.run.compute`.
    """
    until = max(until, time.monotonic() + _LEAST_SECONDS)
    experiment = prepared.experiment
    most = min(experiment.time_limit, max(1.0, _CELL_SHARE * (until - time.monotonic())))
    limits = Limits(most, experiment.memory_limit, until)
    with open_engine(workers=workers) as engine, Store(folder / STORE_NAME, fresh=fresh) as store:
        for line in store.opening_messages:
            say(line)
        measured = measure(
            prepared, store, shard, engine=engine, limits=limits, samples=_SAMPLES, progress=progress
        )
        bytes_of_cell = store.path.stat().st_size / max(len(store), 1)
    cells = pd.DataFrame(
        [
            (block.dataset, block.bias, cell.technique, cell.classifier, cell.key)
            for block, of_block in measured.planned
            for cell in of_block
        ],
        columns=[*_SORT, "key"],
    )
    cells["ended"] = cells["key"].map({key: cell.seconds for key, cell in measured.stored.items()})
    cells["late"] = cells["key"].map(measured.cut_off)
    sorts = cells.groupby(_SORT, sort=False).agg(
        n=("key", "size"), ended=("ended", "min"), late=("late", "max")
    )
    seconds = sorts["ended"].fillna(sorts["late"])
    by_technique = seconds.groupby("technique")
    mean = by_technique.transform("mean")
    guessed = (sorts["n"] * mean.fillna(seconds.mean()).fillna(0))[seconds.isna()].sum()
    # A guessed sort may be as far above its technique's mean as any measured one is above its own.
    above = (seconds / mean)[by_technique.transform("count") > 1]
    spread = above.max() if above.notna().any() else 2
    # A cell that was cut off may take all of its time.
    longer = (sorts["n"] * (experiment.time_limit - seconds))[sorts["late"].notna()].sum()
    least = (sorts["n"] * seconds).sum()
    return Estimate(
        cells=len(cells),
        blocks=len(measured.planned),
        seconds=least + guessed,
        workers=workers,
        disk_bytes=round(_DISK_OF_STORE * bytes_of_cell * len(cells)),
        computed=measured.computed,
        stored=cells["ended"].count(),
        store=folder / STORE_NAME,
        sorts=len(sorts),
        measured=seconds.count(),
        cut_off=len(measured.cut_off),
        least=least,
        most=least + spread * guessed + longer,
    )


def _duration(seconds: float) -> str:
    for unit, count in (("hours", seconds / 3600), ("minutes", seconds / 60)):
        if count >= 1:
            return f"{count:.1f} {unit}"
    return f"{seconds:.0f} seconds"
