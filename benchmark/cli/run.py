"""``betabench run``: from an experiment's file to its tables and figures."""

import argparse
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmark.cli.common import EXIT_FAILED, EXIT_OK, Options, study

HELP = "run or continue an experiment, and write its results"
EXAMPLE = "betabench run --experiment paper --datasets adult --techniques none massaging --betas 0 0.5 1"


def add_options(option: Options) -> None:
    option("--experiment NAME|FILE", "shipped experiment or a TOML file; default: paper", default="paper")
    datasets = "only these datasets of the experiment, or others by the files of their cards"
    option("--datasets NAME|FILE", datasets, nargs="+")
    techniques = "only these techniques of the experiment; any other technique runs with its default settings"
    option("--techniques NAME", techniques, nargs="+")
    option("--without TECHNIQUE", "all techniques but these", nargs="+")
    classifiers = (
        "only these classifiers of the experiment; any other classifier runs with its default settings"
    )
    option("--classifiers NAME|PATH", classifiers, nargs="+")
    option("--betas BETA", "these levels of bias, each from 0 to 1", nargs="+", type=float)
    option("--doses DOSE", "these label gaps that bias adds, if the file has doses", nargs="+", type=float)
    option("--repetitions N", "this many samples of each kind", type=int)
    option("--seed N", "root of all random numbers; default: the experiment's", type=int)
    alternatively = option.alternatives()
    alternatively("--workers N", "number of processes; default: one per core", type=int)
    alternatively("--scheduler ADDRESS", "compute on the cluster of this Dask scheduler")
    cluster = "start the Dask cluster that a TOML file declares, and compute there (docs/cluster.md)"
    alternatively("--cluster FILE", cluster, type=Path)
    option("--shard I/N", "compute only part I of N, into a separate store for 'betabench merge'")
    option(
        "--output DIR",
        "folder of the results; default: results/EXPERIMENT, or results/EXPERIMENT_embedded if embedded "
        "networks stand in for real data, followed by _shard_I_of_N for a shard. Where the run would replace "
        "other results, _2, _3, ... follows; into a named folder with such results it does not start",
        type=Path,
    )
    option.plugins(
        "file that registers techniques, metrics, classifiers or kinds of bias. Its techniques join the "
        "experiment's, unless --techniques chooses"
    )
    option(
        "--lite",
        "a trial: all datasets and techniques, but two small samples at the lowest and the highest bias, "
        "into results/EXPERIMENT_lite; of an atlas, its part [lite]",
    )
    option(
        "--dry-run",
        "compute for at most a minute, and estimate the run's cells, time and disk space. Computed cells are "
        "stored, and the run continues from there",
    )
    option("--part NAME", "only these experiments of an atlas", nargs="+")
    option("--fresh", "start a new store; the old store is renamed, not lost")
    option("--retry-failed", "compute failed, crashed and timed-out cells again")
    option("--require-real-data", "stop rather than use embedded networks")
    option.full("all levels of bias")
    option.figures(
        "draw no figures, those of the paper (trade-offs, curves over the level of bias, networks; or the "
        "kinds that the experiment names), or all"
    )
    option.data()


def execute(options: argparse.Namespace) -> int:
    from benchmark.experiment.engine import fork_workers

    if not (options.scheduler or options.cluster):
        fork_workers(options.workers)  # before the imports below
    from benchmark.api import run
    from benchmark.atlas.file import KIND as ATLAS
    from benchmark.declarations import kind_of
    from benchmark.errors import ExperimentError, ReportError
    from benchmark.facts import first_facts
    from benchmark.text.terminal import output_console, print_markdown, say
    from benchmark.text.writing import figure_formats
    from benchmark.wording import answer_text

    started = time.perf_counter()
    console = output_console()
    # All other options have the names of the function's parameters.
    parameters = {name: value for name, value in vars(options).items() if name not in ("command", "formats")}
    parameters |= {"formats": figure_formats(options.formats), "console": console}
    parts, full = parameters.pop("part"), parameters.pop("full")
    if kind_of(options.experiment) == ATLAS:
        return _execute_atlas(parameters, parts)
    if parts:
        raise ExperimentError(
            f"The experiment {options.experiment} has no parts",
            expected="an atlas with --part",
            got=f"--part {' '.join(parts)}",
            remedy="leave --part out",
        )
    finished = run(**parameters)
    if finished.estimate is not None:
        say(console, str(finished.estimate))
        return EXIT_OK
    outcome, run_folder = finished.outcome, finished.run_folder
    assert outcome is not None
    if run_folder is None:
        say(console, f"{finished.folder} has shard {options.shard}; 'betabench merge' joins the shards")
    else:
        try:
            facts = first_facts(run_folder.run)
        except ReportError as error:  # the run is whole, but its baseline was left out
            say(console, f"There is no answer. {error}", "yellow")
        else:
            folder = str(finished.folder)
            print_markdown(console, answer_text(facts, width=console.width, folder=folder, full=full))
    n_cells = len(outcome.cells)
    if outcome.failures.total() == n_cells:
        ((reason, number),) = Counter(cell.reason for cell in outcome.cells).most_common(1)
        text = f"No cell has a result. The most frequent reason, in {number:,} of {n_cells:,}: {reason}"
        say(console, text, "bold red")
    computed = f"{outcome.computed:,} of them computed now in {outcome.seconds:.1f} s on {outcome.engine}"
    in_all = f"{time.perf_counter() - started:.1f} s in all"
    console.print(f"{n_cells:,} cells, {computed}; {in_all}", highlight=False)
    return EXIT_OK if outcome.ok else EXIT_FAILED


def _execute_atlas(parameters: dict[str, Any], parts: list[str] | None) -> int:
    """Run an atlas, print a line for each part, and return the exit code."""
    from benchmark.text.terminal import say

    console = parameters["console"]
    making = study("atlas.making")
    finished = making.run_atlas(parameters.pop("experiment"), parts=parts or (), **parameters)
    for part, estimate in finished.estimates.items():
        say(console, f"{part}: {estimate}")
    counts: dict[str, Counter[str]] = {}
    for (part, _), numbers in finished.ran.items():
        counts.setdefault(part, Counter()).update(numbers)
    for part, numbers in counts.items():
        done = f"{numbers['planned']:,} cells, {numbers['computed_in_this_run']:,} of them computed now"
        console.print(f"{part}: {done if numbers else 'finished before'}", highlight=False)
    for path in finished.written:
        console.print(f"written: {path}", highlight=False)
    accidents = {"failed", "crashed", "timeout"}
    return EXIT_FAILED if any(accidents & numbers.keys() for numbers in counts.values()) else EXIT_OK
