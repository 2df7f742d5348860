"""``betabench run``: an experiment, from its file to tables and figures."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmark.cli.common import (
    EXIT_FAILED,
    EXIT_OK,
    add_data_options,
    add_figure_options,
    add_plugin_option,
    command,
)


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
    where.add_argument("--workers", type=int, metavar="N", help="number of processes; default: one per core")
    where.add_argument("--scheduler", metavar="ADDRESS", help="compute on the cluster of this Dask scheduler")
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
    add_plugin_option(
        parser,
        "file that registers techniques, metrics, classifiers or kinds of bias, beside those that the "
        "experiment file names",
    )
    option("--fresh", action="store_true", help="start a new store; the old one is renamed, not lost")
    option("--retry-failed", action="store_true", help="compute failed, crashed and timed-out cells again")
    option("--require-real-data", action="store_true", help="stop rather than use embedded networks")
    add_figure_options(parser)
    add_data_options(parser)


def _run(options: argparse.Namespace) -> int:
    from rich.console import Console

    from benchmark.api import run
    from benchmark.experiment.run import STORE_NAME
    from benchmark.report.console import print_report
    from benchmark.text.console import say
    from benchmark.text.files import figure_formats

    started = time.perf_counter()
    console = Console()
    # All other options are called as the parameters of the function are.
    asked = {name: value for name, value in vars(options).items() if name not in ("command", "formats")}
    finished = run(**asked, formats=figure_formats(options.formats), console=console)
    outcome, made = finished.outcome, finished.made
    assert outcome is not None
    if made is None:
        text = f"{finished.folder} has shard {options.shard}; 'betabench merge' joins it with the others"
        say(console, text)
    else:
        print_report(
            console,
            made.results,
            made.failures,
            made.description,
            output_dir=finished.folder,
            written=[finished.folder / STORE_NAME, *made.written],
        )
    if outcome.failures.total() == len(outcome.cells):
        ((reason, number),) = Counter(cell.reason for cell in outcome.cells).most_common(1)
        often = f"{number:,} of {len(outcome.cells):,}"
        text = f"No cell has a result. The most frequent reason, in {often}: {reason}"
        say(console, text, "bold red")
    computed = f"{outcome.computed:,} of them computed now in {outcome.seconds:.1f} s on {outcome.engine}"
    in_all = f"{time.perf_counter() - started:.1f} s in all"
    console.print(f"{len(outcome.cells):,} cells, {computed}; {in_all}", highlight=False)
    return EXIT_OK if outcome.ok else EXIT_FAILED
