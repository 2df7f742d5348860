"""``betabench report``: a page on which technique holds up at which level of bias, and how sure that is."""

import argparse
import gc
from pathlib import Path

from benchmark.cli.common import Options

HELP = (
    "show which techniques of a finished run hold up at which level of bias, with intervals and tests. "
    "It writes tables and an interactive page, FOLDER/report.html"
)
EXAMPLE = "betabench report results/paper"


def add_options(option: Options) -> None:
    option("folder FOLDER", "folder of a finished run", type=Path)
    option("--baseline TECHNIQUE", "compare with this technique, not with each dataset's declared baseline")
    metrics = "only these metrics, in this order, also of metrics.csv; default: all of results.csv"
    option("--metrics METRIC", metrics, nargs="+", default=())
    columns = (
        "columns of the table of all techniques: metrics, and 'accepted' for the shares accepted; default: "
        "the metrics of both goals, accuracy and accepted"
    )
    option("--columns COLUMN", columns, nargs="+", default=())
    rope = "difference up to which two techniques are practically equivalent; default: %(default)s"
    option("--rope DIFFERENCE", rope, type=float, default=0.01)
    option("--alpha LEVEL", "level of significance; default: 0.05", type=float, default=0.05)
    option("--output DIR", "write tables and page here, not to FOLDER/statistics and FOLDER", type=Path)
    option.plugins(
        "file that registers this run's metrics; without it, the report does not know which values of these "
        "metrics are better"
    )
    option.full("all levels of bias")
    option.figures("draw no figures, as the page draws its own, or all", default="none")


def execute(options: argparse.Namespace) -> None:
    from benchmark.facts import facts_of
    from benchmark.pages.run_page import PAGE_NAME
    from benchmark.report.statistics_files import write_statistics
    from benchmark.runs.analysis import folder_statistics
    from benchmark.runs.comparison import unfinished_run
    from benchmark.statistics.recommendation import Criteria
    from benchmark.techniques import load_plugin
    from benchmark.text.terminal import Steps, output_console, print_markdown, say
    from benchmark.text.writing import figure_formats
    from benchmark.wording import answer_text

    for plugin in options.plugins:
        load_plugin(plugin)
    gc.freeze()  # imported modules stay, so the collector need not search them again and again
    formats = figure_formats(options.formats)
    warning = unfinished_run(options.folder)
    console = output_console()
    output = options.output or options.folder / "statistics"
    page = (options.output or options.folder) / PAGE_NAME
    with Steps(console) as steps:
        statistics = folder_statistics(
            options.folder,
            baseline=options.baseline,
            metrics=options.metrics,
            alpha=options.alpha,
            criteria=Criteria(margin=options.rope),
            say=steps.step,
        )
        facts = facts_of(statistics)
        write_statistics(
            output,
            statistics,
            facts,
            page=page.parent,
            figures=options.figures != "none",
            formats=formats,
            columns=options.columns,
            say=steps.step,
        )
    answer = answer_text(facts, width=console.width, page=str(page), full=options.full)
    print_markdown(console, answer)
    if warning:
        say(console, warning, "yellow")
