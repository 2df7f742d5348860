"""What an experiment will take, before it is run: cells, time and disk."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from benchmark.columns import STORE_NAME
from benchmark.experiment.engine import open_engine
from benchmark.experiment.plan import WHOLE, Shard, plan_blocks
from benchmark.experiment.run import Progress, compute
from benchmark.experiment.store import Store
from benchmark.experiment.world import World
from benchmark.report.folder import write_run_folder

# The first cell of a technique in a worker also imports and loads what is compiled. So there is one sample of
# each dataset more than workers, one of which computes two of them.
_WORKERS = 2
_SAMPLES = _WORKERS + 1


@dataclass(frozen=True)
class Estimate:
    """What an experiment, or a shard of it, will take: estimated from cells that were computed for it."""

    cells: int
    blocks: int  # training samples, each of them computed by one process
    seconds: float  # of one process, for all cells; reading data and learning networks is not among it
    workers: int
    disk_bytes: int  # store and files without figures
    computed: int  # cells that the estimate rests on

    @property
    def hours(self) -> float:
        """How long the processes together compute."""
        return self.seconds / min(self.workers, self.blocks) / 3600

    def __str__(self) -> str:
        return (
            f"{self.cells:,} cells on {self.blocks:,} samples take about {_duration(self.hours)} on "
            f"{self.workers} worker(s), {_duration(self.seconds / 3600)} in all, and about "
            f"{self.disk_bytes / 1e6:,.1f} MB of disk without figures; {self.computed:,} cells were computed "
            "to estimate it"
        )


def estimate(
    world: World,
    shard: Shard = WHOLE,
    *,
    workers: int,
    progress: Progress = lambda _done, _planned, _seconds: None,
    say: Callable[[str], None] = lambda _: None,
) -> Estimate:
    """Compute the first samples of each dataset at the middle level of bias, and estimate all the others.

    Nothing is kept of them. Of a technique's times on a dataset the shortest counts. Errors are those of
    :func:`~benchmark.experiment.run.compute`.
    """
    experiment = world.experiment
    blocks = shard.of(plan_blocks(experiment))
    few = {
        "betas": (experiment.betas[len(experiment.betas) // 2],),
        "repetitions": min(_SAMPLES, experiment.repetitions),
    }
    sampled = replace(world, experiment=experiment.model_copy(update=few))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with open_engine(workers=min(workers, _WORKERS)) as engine, Store(folder / STORE_NAME) as store:
            outcome = compute(sampled, store, engine=engine, progress=progress, say=say)
        write_run_folder(folder, sampled, outcome, figures=False)
        sizes = {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    shortest: dict[tuple[str, str, str, str], float] = {}
    for cell in outcome.cells:
        key = (cell.dataset, cell.bias, cell.technique, cell.classifier)
        shortest[key] = min(cell.seconds, shortest.get(key, cell.seconds))
    samples = Counter((world.scenes[block.dataset].name, block.bias) for block in blocks)
    cells = sum(len(block.cells) for block in blocks)
    # Store and frames have rows for each cell; what else is written does not grow.
    growing = sum(size for path, size in sizes.items() if path.suffix in (".csv", ".sqlite"))
    return Estimate(
        cells=cells,
        blocks=len(blocks),
        seconds=sum(seconds * samples[key[:2]] for key, seconds in shortest.items()),
        workers=workers,
        disk_bytes=round(growing * cells / len(outcome.cells)) + sum(sizes.values()) - growing,
        computed=len(outcome.cells),
    )


def _duration(hours: float) -> str:
    for unit, count in (("hours", hours), ("minutes", hours * 60)):
        if count >= 1:
            return f"{count:.1f} {unit}"
    return f"{hours * 3600:.0f} seconds"
