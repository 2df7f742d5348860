"""``betabench quick``: from an unknown CSV file to a first report."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmark.cli.common import EXIT_FAILED, EXIT_OK, EXIT_USAGE, Options, command
from benchmark.experiment.first import REPETITIONS


def add(commands: Any) -> None:
    """Add the command."""
    option = command(
        commands,
        "quick",
        _quick,
        "take a first look at a CSV file: draft its card, try eight techniques at three levels of bias",
        "betabench quick loans.csv --label repaid --favorable yes --sensitive gender --deprived f",
    )
    roles(option)
    option("--output DIR", "folder of the results; default: results/NAME_quick", type=Path)
    option(
        "--repetitions N",
        f"samples at each level of bias; default: {REPETITIONS}, as few as tests need; more show smaller "
        "differences",
        type=int,
        default=REPETITIONS,
    )
    option("--workers N", "number of processes; default: one per core", type=int)
    option.figures()


def roles(option: Options) -> None:
    """Add the options that say what a CSV file's columns are."""
    option("file FILE", "CSV file, gzipped or not", type=Path)
    option("--label COLUMN", "column of the outcome")
    option(
        "--favorable VALUE",
        "value of the label that is good for people, as the file has it; several as A,B; of numbers '>= 10'",
    )
    option("--sensitive COLUMN", "column of the groups")
    option(
        "--deprived GROUP",
        "the deprived group, likewise: F, 'Black,Asian', '< 25'; default: the one with the favorable "
        "label least often",
    )
    option("--min-count N", "merge values that fewer rows have; default: 5", type=int, default=5)


def _quick(options: argparse.Namespace) -> int:
    from benchmark.experiment.engine import preparing

    with preparing():
        return _answered(options)


def _answered(options: argparse.Namespace) -> int:
    from rich.console import Console

    from benchmark.api import quick
    from benchmark.cli.new_dataset import require_roles
    from benchmark.text.console import say
    from benchmark.text.files import figure_formats

    console = Console(emoji=False)
    if not require_roles(options, console):
        return EXIT_USAGE
    made = quick(
        options.file,
        label=options.label,
        favorable=options.favorable,
        sensitive=options.sensitive,
        deprived=options.deprived,
        output=options.output,
        repetitions=options.repetitions,
        min_count=options.min_count,
        workers=options.workers,
        figures=options.figures,
        formats=figure_formats(options.formats),
        console=console,
    )
    say(console, f"The report: {made.folder / 'report.html'}")
    assert made.outcome is not None
    return EXIT_OK if made.outcome.ok else EXIT_FAILED
