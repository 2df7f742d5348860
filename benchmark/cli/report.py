"""``betabench report``: which technique holds up at which level of bias, and how sure that is, as a page."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import Any

from benchmark.cli.common import EXIT_OK, command


def add(commands: Any) -> None:
    """Add the command."""
    option = command(
        commands,
        "report",
        _report,
        "say which techniques of a finished run hold up at which level of bias, with intervals and tests, "
        "as tables and as one interactive page, FOLDER/report.html; and list it in index.html beside FOLDER",
        "betabench report results/paper",
    )
    option("folder FOLDER", "folder of a finished run", type=Path)
    option(
        "--baseline TECHNIQUE",
        "compare with this technique, not with the baseline that the run declares for each dataset",
    )
    option(
        "--page-baselines TECHNIQUE",
        "baselines to choose from on the page, besides that of the report, those that the run declares, and "
        "doing nothing; at most 5",
        nargs="+",
        default=(),
    )
    option(
        "--metrics METRIC",
        "only these, in this order, also of metrics.csv; by default all of results.csv",
        nargs="+",
        default=(),
    )
    option(
        "--rope DIFFERENCE",
        "difference up to which two techniques are practically equivalent; default: %(default)s",
        type=float,
        default=0.01,
    )
    option("--alpha LEVEL", "level of significance; default: 0.05", type=float, default=0.05)
    option("--output DIR", "write tables and page here, not to FOLDER/statistics and FOLDER", type=Path)
    option.plugins(
        "file that registers metrics of this run; without it, no value of them is better than another"
    )
    option.figures(without="write no figures; the page draws its own")


def _report(options: argparse.Namespace) -> int:
    import gc

    from rich.console import Console

    from benchmark.pages.index import refresh_index
    from benchmark.pages.run_page import PAGE_NAME
    from benchmark.report.statistics_files import print_statistics, write_statistics
    from benchmark.runs.analysis import folder_statistics
    from benchmark.runs.folder_notes import unfinished_run
    from benchmark.statistics.choices import Criteria
    from benchmark.techniques import load_plugin
    from benchmark.text.terminal import say
    from benchmark.text.writing import figure_formats

    with contextlib.chdir(Path.cwd()):  # other paths are relative to here, wherever a plugin goes
        for plugin in options.plugins:
            load_plugin(plugin)
    gc.freeze()  # what is loaded stays, and need not be looked through again and again
    formats = figure_formats(options.formats)
    warning = unfinished_run(options.folder)
    console = Console(emoji=False)

    def step(name: str) -> None:
        say(console, f"{name} ...", "dim")

    asked = {name: getattr(options, name) for name in ("baseline", "metrics", "alpha")}
    criteria = Criteria(margin=options.rope)
    statistics = folder_statistics(options.folder, **asked, criteria=criteria, say=step)
    output = options.output or options.folder / "statistics"
    page = (options.output or options.folder) / PAGE_NAME
    how = {
        "figures": options.figures,
        "formats": formats,
        "page_baselines": options.page_baselines,
        "say": step,
    }
    written = write_statistics(output, statistics, page=page.parent, **how)
    print_statistics(console, statistics, output=output, written=written)
    if warning:
        say(console, warning, "yellow")
    say(console, f"The interactive page: {page}")
    if index := refresh_index(page.parent.absolute().parent):
        say(console, f"All runs beside it: {index}")
    return EXIT_OK
