"""An estimate of an experiment's cells, time and disk, before it is run."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from benchmark.columns import STORE_NAME
from benchmark.experiment.engine import open_engine
from benchmark.experiment.plan import WHOLE, Shard
from benchmark.experiment.pool import Limits
from benchmark.experiment.prepare import PreparedExperiment
from benchmark.experiment.run import Measured, Progress, measure
from benchmark.experiment.store import Store
from benchmark.wording import render_plain

SECONDS = 42.0
"""Time from the start of the command until the workers end; the rest is for tables."""

_LEAST_SECONDS = 10.0  # of computing, even if reading data took long
_CELL_SHARE = 0.25  # of the time: the limit of one cell, so that others are measured
# The first cell of a technique in a worker also loads compiled code.
_SAMPLES = 3
_DISK_OF_STORE = 2  # the tables take about half as much as the store, or as much

Sort = tuple[str, str, str, str]
"""Dataset, bias, technique and classifier of cells that differ only in sample and level of bias."""


@dataclass(frozen=True)
class Estimate:
    """Cells, time and disk of an experiment or a shard, estimated from computed cells."""

    cells: int
    blocks: int  # training samples, each computed by one process
    seconds: float  # of one process, for all cells, without reading data and learning networks
    workers: int
    disk_bytes: int  # store and files without figures
    computed: int  # cells computed and stored now
    stored: int = 0  # cells of the plan in the store, the computed ones included
    store: Path | None = None
    sorts: int = 0  # of cells, see Sort
    measured: int = 0  # sorts with a cell whose time is known
    cut_off: int = 0  # cells that took longer than the limit; their sorts count with the limit
    least: float = 0.0  # seconds that would be no surprise, if sorts were guessed or cells cut off
    most: float = 0.0

    @property
    def processes(self) -> int:
        """Processes that compute at the same time."""
        return min(self.workers, self.blocks)

    @property
    def hours(self) -> float:
        """The hours for all processes together."""
        return self.seconds / self.processes / 3600

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
        keys_of = _keys_by_sort(measured)
        bytes_of_cell = store.path.stat().st_size / max(len(store), 1)
    shortest = {sort: min(times) for sort, times in _times(measured, keys_of).items() if times}
    of_technique = defaultdict[str, list[float]](list)
    for (_, _, technique, _), time_of_sort in shortest.items():
        of_technique[technique].append(time_of_sort)
    everything = list(shortest.values()) or [0.0]
    guessed = {
        sort: len(keys) * fmean(of_technique.get(sort[2], everything))
        for sort, keys in keys_of.items()
        if sort not in shortest
    }
    # A guessed sort may be as far above its technique's mean as any measured one is above its own.
    spread = max((max(times) / fmean(times) for times in of_technique.values() if len(times) > 1), default=2)
    # A cell that was cut off may take all of its time.
    longer = sum(
        len(keys) * (experiment.time_limit - shortest[sort])
        for sort, keys in keys_of.items()
        if not measured.cut_off.keys().isdisjoint(keys)
    )
    least = sum(len(keys_of[sort]) * seconds for sort, seconds in shortest.items())
    cells = sum(len(block_cells) for _, block_cells in measured.planned)
    return Estimate(
        cells=cells,
        blocks=len(measured.planned),
        seconds=least + sum(guessed.values()),
        workers=workers,
        disk_bytes=round(_DISK_OF_STORE * bytes_of_cell * cells),
        computed=measured.computed,
        stored=sum(key in measured.stored for keys in keys_of.values() for key in keys),
        store=folder / STORE_NAME,
        sorts=len(keys_of),
        measured=len(shortest),
        cut_off=len(measured.cut_off),
        least=least,
        most=least + spread * sum(guessed.values()) + longer,
    )


def _keys_by_sort(measured: Measured) -> dict[Sort, list[str]]:
    keys: defaultdict[Sort, list[str]] = defaultdict(list)
    for block, cells in measured.planned:
        for cell in cells:
            keys[block.dataset, block.bias, cell.technique, cell.classifier].append(cell.key)
    return keys


def _times(measured: Measured, keys_of: Mapping[Sort, Iterable[str]]) -> dict[Sort, list[float]]:
    """Return the seconds of each sort's ended cells; without any, the longest time of a cut-off cell."""
    times = {}
    for sort, keys in keys_of.items():
        ended = [measured.stored[key].seconds for key in keys if key in measured.stored]
        cut_off = [measured.cut_off[key] for key in keys if key in measured.cut_off]
        times[sort] = ended or sorted(cut_off)[-1:]
    return times


def _duration(seconds: float) -> str:
    for unit, count in (("hours", seconds / 3600), ("minutes", seconds / 60)):
        if count >= 1:
            return f"{count:.1f} {unit}"
    return f"{seconds:.0f} seconds"
