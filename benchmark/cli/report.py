"""``betabench report``: which technique holds up at which level of bias, and how sure that is."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmark.cli.common import EXIT_OK, command

__all__ = ["add"]


def add(commands: Any) -> None:
    """Add the command."""
    parser = command(
        commands,
        "report",
        _report,
        "say which techniques of a finished run hold up at which level of bias, with intervals and tests",
        "betabench report results/paper",
    )
    option = parser.add_argument
    option("folder", type=Path, metavar="FOLDER", help="folder of a finished run")
    option(
        "--baseline",
        metavar="TECHNIQUE",
        help="compare with this technique, not with the baseline that the run declares for each dataset",
    )
    option(
        "--metrics",
        nargs="+",
        metavar="METRIC",
        default=(),
        help="only these, in this order, also of metrics.csv; by default all of results.csv",
    )
    option(
        "--rope",
        type=float,
        default=0.01,
        metavar="DIFFERENCE",
        help="difference up to which two techniques are practically equivalent; default: %(default)s",
    )
    option(
        "--alpha",
        type=float,
        default=0.05,
        metavar="LEVEL",
        help="level of significance; default: %(default)s",
    )
    option("--output", type=Path, metavar="DIR", help="write here, not to FOLDER/statistics")
    option("--no-figures", action="store_true", help="write no figures")


def _report(options: argparse.Namespace) -> int:
    from rich.console import Console

    from benchmark.report.statistics_files import print_statistics, write_statistics
    from benchmark.report.statistics_numbers import folder_statistics

    statistics = folder_statistics(
        options.folder,
        baseline=options.baseline,
        metrics=options.metrics,
        alpha=options.alpha,
        rope=options.rope,
    )
    output = options.output or options.folder / "statistics"
    written = write_statistics(output, statistics, figures=not options.no_figures)
    print_statistics(Console(), statistics, output=output, written=written)
    return EXIT_OK
