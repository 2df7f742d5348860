"""``betabench run``: an experiment, from its file to tables and figures."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.cli.common import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, add_data_options, command, sources_of
from benchmark.cli.run_alternation import run_alternation_file

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["add"]

_LINE = 60  # seconds between two lines of progress at most
_TELLING = 2  # seconds of computing after which a rate tells something


def add(commands: Any) -> None:
    """Add the command."""
    parser = command(
        commands,
        "run",
        _run,
        "run an experiment, or go on with one, and write its results",
        "betabench run --experiment paper --datasets adult --techniques none massaging --betas 0 0.5 1",
    )
    option = parser.add_argument
    option(
        "--experiment",
        default="paper",
        metavar="NAME|FILE",
        help="shipped experiment or a TOML file; default: paper",
    )
    option("--datasets", nargs="+", metavar="NAME", help="only these of its datasets")
    option("--techniques", nargs="+", metavar="NAME", help="only these, or others with their defaults")
    option("--classifiers", nargs="+", metavar="NAME|PATH", help="only these, or others with their defaults")
    option("--betas", nargs="+", type=float, metavar="BETA", help="these levels of bias, each from 0 to 1")
    option("--repetitions", type=int, metavar="N", help="this many samples of each kind")
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--workers",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="number of processes; default: one per core",
    )
    where.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="compute on the cluster of this Dask scheduler",
    )
    where.add_argument(
        "--cluster",
        type=Path,
        metavar="FILE",
        help="start the Dask cluster that a TOML file declares, and compute there (docs/cluster.md)",
    )
    option(
        "--shard",
        metavar="I/N",
        help="compute only part I of N of the experiment, into a store of its own for 'betabench merge'",
    )
    option(
        "--output",
        type=Path,
        metavar="DIR",
        help="folder of the results; default: results/EXPERIMENT, "
        "or results/EXPERIMENT_embedded where embedded networks stand in for real data, "
        "followed by _shard_I_of_N for a shard",
    )
    option(
        "--plugin",
        action="append",
        default=[],
        metavar="FILE",
        help="file that registers techniques, metrics, classifiers or kinds of bias, beside those that the "
        "experiment file names",
    )
    option("--fresh", action="store_true", help="start a new store; the old one is renamed, not lost")
    option("--retry-failed", action="store_true", help="compute failed, crashed and timed-out cells again")
    option("--require-real-data", action="store_true", help="stop rather than use embedded networks")
    option("--no-figures", action="store_true", help="write no figures")
    add_data_options(parser)


def _run(options: argparse.Namespace) -> int:
    from rich.console import Console

    from benchmark.audit.alternation_experiment import is_alternation
    from benchmark.experiment.engine import open_engine
    from benchmark.experiment.plan import WHOLE, Shard, load_experiment, narrow, plan_blocks
    from benchmark.experiment.run import STORE_NAME, check_experiment, compute
    from benchmark.experiment.store import Store
    from benchmark.experiment.world import build_world, load_plugins
    from benchmark.report.console import print_report
    from benchmark.report.files import require_writable
    from benchmark.report.folder import write_run_folder, write_shard_folder
    from benchmark.report.foreseen import foreseen
    from benchmark.report.manifests import other_experiment
    from benchmark.techniques import list_techniques

    if is_alternation(options.experiment):
        return run_alternation_file(options)
    started = time.perf_counter()
    console = Console()

    def say(line: str) -> None:
        console.print(line, highlight=False, markup=False, soft_wrap=True)

    shard = WHOLE if options.shard is None else Shard.parse(options.shard)
    whole = load_experiment(options.experiment)
    plugins = load_plugins(whole, options.plugin)
    experiment = narrow(
        whole,
        datasets=options.datasets,
        techniques=options.techniques,
        classifiers=options.classifiers,
        betas=options.betas,
        repetitions=options.repetitions,
        known_techniques=tuple(list_techniques()),
    )
    check_experiment(experiment)
    for note in foreseen(experiment):
        say(f"Note: {note}")
    shard.of(plan_blocks(experiment))
    require_writable(options.output or Path("results") / experiment.name)
    world = build_world(
        experiment,
        sources_of(options),
        require_real_data=options.require_real_data,
        plugins=plugins,
        say=say,
    )
    # Numbers of real data are never replaced by numbers of a network unless the user names their folder.
    suffix = "_embedded" if any(scene.embedded for scene in world.scenes.values()) else ""
    if options.shard is not None:
        suffix += f"_shard_{shard.number}_of_{shard.count}"
    output: Path = options.output or Path("results") / (experiment.name + suffix)
    # Everything that can be wrong with the input is known by now: only then is a store made or set aside.
    with (
        open_engine(workers=options.workers, scheduler=options.scheduler, cluster=options.cluster) as engine,
        Store(output / STORE_NAME, fresh=options.fresh) as store,
    ):
        if store.news:
            say(store.news)
        if store.aside:
            console.print(f"The old store is kept as {store.aside}", highlight=False, soft_wrap=True)
        if note := other_experiment(output, experiment):
            console.print(note, style="yellow", highlight=False, markup=False, soft_wrap=True)
        with _progress(console) as pace:
            try:
                outcome = compute(
                    world,
                    store,
                    engine=engine,
                    shard=shard,
                    retry_failed=options.retry_failed,
                    progress=pace.update,
                    say=say,
                )
            except KeyboardInterrupt:
                so_far = f"{pace.done:,} of {pace.planned:,} cells are stored"
                print(f"\nbetabench: interrupted; {so_far}, and the same command goes on", file=sys.stderr)
                return EXIT_INTERRUPTED
        if options.shard is not None:
            write_shard_folder(output, world, outcome)
            told = f"{output} has shard {shard}; 'betabench merge' joins it with the others"
            console.print(told, highlight=False, soft_wrap=True)
        else:
            folder = write_run_folder(output, world, outcome, figures=not options.no_figures)
            print_report(
                console,
                folder.results,
                folder.failures,
                folder.description,
                output_dir=output,
                written=[store.path, *folder.written],
            )
    if outcome.failures.total() == len(outcome.cells):
        ((reason, number),) = Counter(cell.reason for cell in outcome.cells).most_common(1)
        often = f"{number:,} of {len(outcome.cells):,}"
        text = f"No cell has a result. The most frequent reason, in {often}: {reason}"
        console.print(text, style="bold red", highlight=False, markup=False, soft_wrap=True)
    console.print(
        f"{len(outcome.cells):,} cells, {outcome.computed:,} of them computed now in {outcome.seconds:.1f} s "
        f"on {outcome.engine}; {time.perf_counter() - started:.1f} s in all",
        highlight=False,
    )
    return EXIT_OK if outcome.ok else EXIT_FAILED


class _Pace:
    """How far a run's computing is, how fast it was so far, and how long the rest takes if that stays so.

    Parameters
    ----------
    show : callable(_Pace)
        Shows it; called whenever it has changed.
    """

    def __init__(self, show: Callable[[_Pace], None]) -> None:
        self.done = self.planned = 0
        self._before = -1  # what was stored before, which is no part of this run's rate
        self._seconds = 0.0
        self._show = show

    def update(self, done: int, planned: int, seconds: float) -> None:
        """Take how many cells are finished, of how many, and for how long they have been computed."""
        if self._before < 0:
            self._before = done
        self.done, self.planned, self._seconds = done, planned, seconds
        self._show(self)

    @property
    def text(self) -> str:
        """Mean rate, and remaining time by that same rate; empty before there is much to tell it by."""
        if self._seconds < _TELLING:
            return ""
        rate = (self.done - self._before) / self._seconds
        if self.done == self.planned:
            return _rate_text(rate)
        minutes, seconds = divmod(round((self.planned - self.done) / rate), 60)
        hours, minutes = divmod(minutes, 60)
        left = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
        return f"{_rate_text(rate)}, about {left} left"


def _rate_text(rate: float) -> str:
    """Return cells per second in a unit in which there is at least about one of them."""
    for unit, seconds in (("s", 1), ("min", 60)):
        if rate * seconds >= 1:
            return f"{rate * seconds:.1f}/{unit}"
    return f"{rate * 3600:.1f}/h"


@contextlib.contextmanager
def _progress(console: Console) -> Iterator[_Pace]:
    """Show a bar with rate and remaining time in a terminal, and a line now and then elsewhere."""
    if not console.is_terminal:
        yield _Pace(_Lines(console))
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("cells"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[pace]}"))
    with Progress(*columns, console=console) as bar:

        def show(pace: _Pace) -> None:
            if not bar.tasks:
                bar.add_task("cells", pace="")
            bar.update(bar.tasks[0].id, completed=pace.done, total=pace.planned, pace=pace.text)

        yield _Pace(show)


class _Lines:
    """Prints a line for each tenth of the cells, and at least one a minute while there are new ones."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._tenth, self._due = -1, 0.0

    def __call__(self, pace: _Pace) -> None:
        tenth, now = 10 * pace.done // pace.planned, time.monotonic()
        if tenth == self._tenth and now < self._due:
            return
        self._tenth, self._due = tenth, now + _LINE
        text = ", ".join(filter(None, (f"{pace.done:,} of {pace.planned:,} cells", pace.text)))
        self._console.print(text, highlight=False, soft_wrap=True)
