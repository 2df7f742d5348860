"""What an experiment will take, before it is run: cells, time and disk."""

from __future__ import annotations

import math
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev

from benchmark.columns import STORE_NAME
from benchmark.experiment.counts import CountsOfCells
from benchmark.experiment.engine import open_engine
from benchmark.experiment.evaluate import Cell
from benchmark.experiment.plan import WHOLE, Block, Shard
from benchmark.experiment.pool import Limits
from benchmark.experiment.prepare import PreparedExperiment
from benchmark.experiment.run import Measured, Outcome, Progress, measure
from benchmark.experiment.store import CellResult, Store
from benchmark.report.folder import write_run_folder

SECONDS = 42.0
"""How long it may take, from the start of the command until workers are ended; the rest is for tables."""

_LEAST_SECONDS = 10.0  # of computing, even where reading data has taken long
_CELL_SHARE = 0.25  # of the time: one cell may take no more, so that others are measured
# The first cell of a technique in a worker also loads what is compiled.
_SAMPLES = 3

Sort = tuple[str, str, str, str]
"""Dataset, bias, technique and classifier: cells that differ in sample and level of bias alone."""


@dataclass(frozen=True)
class Estimate:
    """What an experiment, or a shard of it, will take: estimated from cells that were computed for it."""

    cells: int
    blocks: int  # training samples, each of them computed by one process
    seconds: float  # of one process, for all cells; reading data and learning networks is not among it
    workers: int
    disk_bytes: int  # store and files without figures
    computed: int  # cells that were computed now, and stored
    stored: int = 0  # cells of the plan that the store has, these among them
    store: Path | None = None
    sorts: int = 0  # of cells, see Sort
    measured: int = 0  # of these, how many have a cell whose time is known
    cut_off: int = 0  # cells that took longer than there was time: their sorts are taken to take just that
    least: float = 0.0  # seconds that would be no surprise, where sorts were guessed or cells cut off
    most: float = 0.0

    @property
    def hours(self) -> float:
        """How long the processes together compute."""
        return self._hours(self.seconds)

    def _hours(self, seconds: float) -> float:
        return seconds / min(self.workers, self.blocks) / 3600

    def __str__(self) -> str:
        return " ".join(filter(None, (self._total, self._roughness, self._kept)))

    @property
    def _total(self) -> str:
        return (
            f"{self.cells:,} cells on {self.blocks:,} samples take about {_duration(self.hours)} on "
            f"{self.workers} worker(s), {_duration(self.seconds / 3600)} in all, and about "
            f"{self.disk_bytes / 1e6:,.1f} MB of disk without figures."
        )

    @property
    def _roughness(self) -> str:
        said = []
        if self.measured < self.sorts or self.cut_off:
            least, most = (_duration(self._hours(own)) for own in (self.least, self.most))
            said.append(f"This is rough: anything from {least} to {most} would be no surprise.")
        if self.measured < self.sorts:
            said.append(
                f"There was time to measure {self.measured:,} of {self.sorts:,} combinations of dataset, "
                "bias, technique and classifier; the others are guessed from the same technique elsewhere."
            )
        if self.cut_off:
            said.append(f"{self.cut_off:,} cell(s) were cut off before they ended, and may take much longer.")
        return " ".join(said)

    @property
    def _kept(self) -> str:
        if self.store is None:
            return ""
        before = self.stored - self.computed
        known = f"{self.computed:,} cells were computed to estimate it"
        known += f", {before:,} were stored before." if before else "."
        return f"{known} They are kept in {self.store}; the run goes on from there."


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
    """Compute cells of all sorts until time is up, by ``time.monotonic()``, and estimate all the others.

    They are stored in the folder of the run, which need not compute them again, and cells that are stored
    there count as measured. Of the times of a sort the shortest counts. A sort without any takes as long as
    the mean of its technique's. Errors are those of :func:`~benchmark.experiment.run.compute`.
    """
    until = max(until, time.monotonic() + _LEAST_SECONDS)
    experiment = prepared.experiment
    most = min(experiment.time_limit, max(1.0, _CELL_SHARE * (until - time.monotonic())))
    limits = Limits(most, experiment.memory_limit, until)
    with open_engine(workers=workers) as engine, Store(folder / STORE_NAME, fresh=fresh) as store:
        for line in store.opening_messages:
            say(line)
        found = measure(
            prepared, store, shard, engine=engine, limits=limits, samples=_SAMPLES, progress=progress
        )
        known = _keys_by_sort(found)
        growing, fixed = _sizes(prepared, store, found)
        growing += store.path.stat().st_size / max(len(store), 1)
    shortest = {sort: min(times) for sort, times in _times(found, known).items() if times}
    guess = _Guess(shortest)
    guessed = {sort: len(keys) for sort, keys in known.items() if sort not in shortest}
    spread = 2 * guess.error(guessed)
    # What was cut off may take all of its time.
    longer = sum(
        len(keys) * (experiment.time_limit - shortest[sort])
        for sort, keys in known.items()
        if not found.cut_off.keys().isdisjoint(keys)
    )
    cells = sum(len(own) for _, own in found.planned)
    seconds = sum(len(keys) * shortest.get(sort, guess(sort)) for sort, keys in known.items())
    return Estimate(
        cells=cells,
        blocks=len(found.planned),
        seconds=seconds,
        workers=workers,
        disk_bytes=round(growing * cells + fixed),
        computed=found.computed,
        stored=sum(key in found.stored for keys in known.values() for key in keys),
        store=folder / STORE_NAME,
        sorts=len(known),
        measured=len(shortest),
        cut_off=len(found.cut_off),
        least=max(sum(len(known[sort]) * own for sort, own in shortest.items()), seconds - spread),
        most=seconds + spread + longer,
    )


def _keys_by_sort(found: Measured) -> dict[Sort, list[str]]:
    keys: defaultdict[Sort, list[str]] = defaultdict(list)
    for block, cells in found.planned:
        for cell in cells:
            keys[_sort(block, cell)].append(cell.key)
    return keys


def _sort(block: Block, cell: Cell) -> Sort:
    return block.dataset, block.bias, cell.technique, cell.classifier


def _times(found: Measured, known: Mapping[Sort, Iterable[str]]) -> dict[Sort, list[float]]:
    """Return the seconds of each sort's cells, if any has ended; else those after which one was cut off."""
    times = {}
    for sort, keys in known.items():
        ended = [found.stored[key].seconds for key in keys if key in found.stored]
        cut_off = [found.cut_off[key] for key in keys if key in found.cut_off]
        times[sort] = ended or sorted(cut_off)[-1:]
    return times


class _Guess:
    """Guesses how long a cell takes from measured ones: of its technique, or else from all."""

    def __init__(self, measured: Mapping[Sort, float]) -> None:
        self._all = list(measured.values())
        self._of: defaultdict[str, list[float]] = defaultdict(list)
        for (_, _, technique, _), seconds in measured.items():
            self._of[technique].append(seconds)
        several = [own for own in self._of.values() if len(own) > 1 and fmean(own) > 0]
        # Relative spread within a technique, for those of which one sort was measured.
        self._relative = fmean(stdev(own) / fmean(own) for own in several) if several else 1.0

    def __call__(self, sort: Sort) -> float:
        """Return the seconds of a cell of a sort that was not measured."""
        known = self._known(sort[2])
        return fmean(known) if known else 0.0

    def error(self, guessed: Mapping[Sort, int]) -> float:
        """Return the standard error of the sum of sorts that are guessed, with so many cells each."""
        variance, sums = 0.0, dict[str, int]()
        for sort, cells in guessed.items():
            variance += (cells * self._spread(sort[2])) ** 2
            sums[sort[2]] = sums.get(sort[2], 0) + cells
        for technique, cells in sums.items():  # sorts of a technique share the error of their mean
            variance += (cells * self._spread(technique)) ** 2 / max(len(self._known(technique)), 1)
        return math.sqrt(variance)

    def _known(self, technique: str) -> list[float]:
        return self._of.get(technique) or self._all

    def _spread(self, technique: str) -> float:
        known = self._known(technique)
        if len(known) > 1:
            return stdev(known)
        return self._relative * known[0] if known else 0.0


def _sizes(prepared: PreparedExperiment, store: Store, found: Measured) -> tuple[float, float]:
    """Return the bytes of tables for each cell, and of what does not grow with them.

    They are those of a run of one sample at one level of bias, in which a cell that is not known has the
    numbers of another one of its dataset.
    """
    stored = {key for key, own in found.stored.items() if own.status == "ok"}
    of: dict[str, CellResult] = {}
    for block, cells in found.planned:
        key = next((cell.key for cell in cells if cell.key in stored), None)
        if key is not None and block.dataset not in of:
            of[block.dataset] = store.read([key])[0]
    if not of:
        return 0.0, 0.0
    experiment, beta = prepared.experiment, prepared.experiment.levels[0]
    small = experiment.model_copy(
        update={
            "betas": (beta,),
            "doses": (),
            "repetitions": 1,
            "datasets": tuple(entry for entry in experiment.datasets if entry.name in of),
        }
    )
    sampled = replace(prepared, experiment=small, datasets={name: prepared.datasets[name] for name in of})
    first = {(block.dataset, block.bias): (block, cells) for block, cells in reversed(found.planned)}
    results = [
        replace(
            *(of[block.dataset],),
            **{"bias": block.bias, "beta": beta, "repetition": 0},
            **{"technique": cell.technique, "classifier": cell.classifier},
        )
        for entry in small.datasets
        for bias in entry.bias
        if (entry.name, bias.name) in first
        for block, cells in [first[entry.name, bias.name]]
        for cell in cells
    ]
    counts = CountsOfCells()
    outcome = Outcome(list(counts.taken_from(results)), 0, 0.0, "", counts=counts.means)
    with tempfile.TemporaryDirectory() as name:
        write_run_folder(Path(name), sampled, outcome, figures=False)
        sizes = {path: path.stat().st_size for path in Path(name).rglob("*") if path.is_file()}
    # Frames have rows for each cell; what else is written does not grow.
    growing = sum(size for path, size in sizes.items() if path.suffix == ".csv")
    return growing / max(len(results), 1), sum(sizes.values()) - growing


def _duration(hours: float) -> str:
    for unit, count in (("hours", hours), ("minutes", hours * 60)):
        if count >= 1:
            return f"{count:.1f} {unit}"
    return f"{hours * 3600:.0f} seconds"
