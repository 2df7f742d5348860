"""An estimate of an experiment's cells, time and disk, before it is run."""

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
from benchmark.experiment.counts import FavorableShares
from benchmark.experiment.engine import open_engine
from benchmark.experiment.plan import WHOLE, Shard
from benchmark.experiment.pool import Limits
from benchmark.experiment.prepare import PreparedExperiment
from benchmark.experiment.run import Measured, Outcome, Progress, measure
from benchmark.experiment.store import CellResult, Store
from benchmark.report.folder import write_run_folder

SECONDS = 42.0
"""Time from the start of the command until the workers end; the rest is for tables."""

_LEAST_SECONDS = 10.0  # of computing, even if reading data took long
_CELL_SHARE = 0.25  # of the time: the limit of one cell, so that others are measured
# The first cell of a technique in a worker also loads compiled code.
_SAMPLES = 3

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
    def hours(self) -> float:
        """The hours for all processes together."""
        return self._hours(self.seconds)

    def _hours(self, seconds: float) -> float:
        return seconds / min(self.workers, self.blocks) / 3600

    def __str__(self) -> str:
        if self.sorts and not self.measured:
            return (
                f"{self.cells:,} cells on {self.blocks:,} samples. There was no time to compute one, so that "
                "their time is not known. Run a part of the experiment, or this command on a faster machine."
            )
        return " ".join(filter(None, (self._total, self._roughness, self._in_store)))

    @property
    def _total(self) -> str:
        return (
            f"{self.cells:,} cells on {self.blocks:,} samples take about {_duration(self.hours)} on "
            f"{self.workers} worker(s), {_duration(self.seconds / 3600)} in all, and about "
            f"{self.disk_bytes / 1e6:,.1f} MB of disk without figures."
        )

    @property
    def _roughness(self) -> str:
        sentences = []
        if self.measured < self.sorts or self.cut_off:
            least, most = (_duration(self._hours(seconds)) for seconds in (self.least, self.most))
            sentences.append(f"This is rough: anything from {least} to {most} would be no surprise.")
        if self.measured < self.sorts:
            sentences.append(
                f"There was time to measure {self.measured:,} of {self.sorts:,} combinations of dataset, "
                "bias, technique and classifier; the others are guessed from the same technique elsewhere."
            )
        if self.cut_off:
            sentences.append(f"{self.cut_off:,} cell(s) were cut off before they ended, and may take longer.")
        return " ".join(sentences)

    @property
    def _in_store(self) -> str:
        if self.store is None:
            return ""
        before = self.stored - self.computed
        cells = f"{self.computed:,} cells were computed to estimate it"
        cells += f", {before:,} were stored before." if before else "."
        return f"{cells} They are kept in {self.store}; the run goes on from there."


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
        growing, fixed = _sizes(prepared, store, measured)
        growing += store.path.stat().st_size / max(len(store), 1)
    shortest = {sort: min(times) for sort, times in _times(measured, keys_of).items() if times}
    guess = _Guess(shortest)
    guessed = {sort: len(keys) for sort, keys in keys_of.items() if sort not in shortest}
    spread = 2 * guess.error(guessed)
    # A cell that was cut off may take all of its time.
    longer = sum(
        len(keys) * (experiment.time_limit - shortest[sort])
        for sort, keys in keys_of.items()
        if not measured.cut_off.keys().isdisjoint(keys)
    )
    cells = sum(len(block_cells) for _, block_cells in measured.planned)
    seconds = sum(len(keys) * shortest.get(sort, guess(sort)) for sort, keys in keys_of.items())
    return Estimate(
        cells=cells,
        blocks=len(measured.planned),
        seconds=seconds,
        workers=workers,
        disk_bytes=round(growing * cells + fixed),
        computed=measured.computed,
        stored=sum(key in measured.stored for keys in keys_of.values() for key in keys),
        store=folder / STORE_NAME,
        sorts=len(keys_of),
        measured=len(shortest),
        cut_off=len(measured.cut_off),
        least=max(sum(len(keys_of[sort]) * time for sort, time in shortest.items()), seconds - spread),
        most=seconds + spread + longer,
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


class _Guess:
    """Guesses the seconds of a cell from measured cells of its technique, or else from all."""

    def __init__(self, measured: Mapping[Sort, float]) -> None:
        self._all = list(measured.values())
        self._by_technique: defaultdict[str, list[float]] = defaultdict(list)
        for (_, _, technique, _), seconds in measured.items():
            self._by_technique[technique].append(seconds)
        several = [times for times in self._by_technique.values() if len(times) > 1 and fmean(times) > 0]
        # Relative spread within a technique, for techniques with one measured sort.
        self._relative = fmean(stdev(times) / fmean(times) for times in several) if several else 1.0

    def __call__(self, sort: Sort) -> float:
        """Return the seconds of a cell of a sort that was not measured."""
        times = self._times(sort[2])
        return fmean(times) if times else 0.0

    def error(self, guessed: Mapping[Sort, int]) -> float:
        """Return the standard error of the total time of guessed sorts, given with their numbers of cells."""
        variance, sums = 0.0, dict[str, int]()
        for sort, cells in guessed.items():
            variance += (cells * self._spread(sort[2])) ** 2
            sums[sort[2]] = sums.get(sort[2], 0) + cells
        for technique, cells in sums.items():  # sorts of a technique share the error of their mean
            variance += (cells * self._spread(technique)) ** 2 / max(len(self._times(technique)), 1)
        return math.sqrt(variance)

    def _times(self, technique: str) -> list[float]:
        return self._by_technique.get(technique) or self._all

    def _spread(self, technique: str) -> float:
        times = self._times(technique)
        if len(times) > 1:
            return stdev(times)
        return self._relative * times[0] if times else 0.0


def _sizes(prepared: PreparedExperiment, store: Store, measured: Measured) -> tuple[float, float]:
    """Return the bytes of tables for each cell, and the bytes of other files.

    They are measured on a run of one sample at one level of bias. Cells that were not computed have the
    numbers of another cell of their dataset.
    """
    stored = {key for key, result in measured.stored.items() if result.status == "ok"}
    of: dict[str, CellResult] = {}
    for block, cells in measured.planned:
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
    first = {(block.dataset, block.bias): (block, cells) for block, cells in reversed(measured.planned)}
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
    outcome = Outcome(list(FavorableShares().taken_from(results)), 0, 0.0, "")
    with tempfile.TemporaryDirectory() as name:
        write_run_folder(Path(name), sampled, outcome, figures=False)
        sizes = {path: path.stat().st_size for path in Path(name).rglob("*") if path.is_file()}
    # Frames have rows for each cell; other files do not grow.
    growing = sum(size for path, size in sizes.items() if path.suffix == ".csv")
    return growing / max(len(results), 1), sum(sizes.values()) - growing


def _duration(hours: float) -> str:
    for unit, count in (("hours", hours), ("minutes", hours * 60)):
        if count >= 1:
            return f"{count:.1f} {unit}"
    return f"{hours * 3600:.0f} seconds"
