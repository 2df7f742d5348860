"""``betabench compare``: a run's numbers beside published ones, or beside another run's."""

import argparse
from pathlib import Path

from benchmark.cli.common import Options, study

HELP = "put the numbers of a run beside the published ones that it repeats, or beside another run's"
EXAMPLE = "betabench compare results/paper"


def add_options(option: Options) -> None:
    folder = "folder of a finished run, which gets the comparison; default: %(default)s"
    option("folder FOLDER", folder, nargs="?", type=Path, default=Path("results") / "paper")
    other = "folder of another finished run: show which numbers are equal, and how far others differ"
    option("other OTHER", other, nargs="?", type=Path)
    option(
        "--experiment NAME|FILE",
        "take published numbers and their counterparts from this experiment, instead of the run's experiment",
    )
    option("--allow-embedded", "compare a run on embedded networks with published numbers of real data")
    option.figures("draw no heat map of differences, or draw it")


def execute(options: argparse.Namespace) -> None:
    from benchmark.experiment.plan import load_experiment
    from benchmark.runs.comparison import compare_runs
    from benchmark.text.terminal import output_console, print_markdown, say
    from benchmark.text.writing import figure_formats
    from benchmark.wording import render_values

    if options.other is not None:
        runs = compare_runs(options.folder, options.other)
        differs = runs.differences["identical"] < runs.differences["values"]
        rows = runs.differences.assign(differs=differs).to_dict("records")
        print_markdown(output_console(), render_values("two_runs", of=runs, rows=rows))
        return
    formats = figure_formats(options.formats)
    papers, text = study("papers.comparison_files"), study("papers.text")
    comparison = papers.compare_folder(
        options.folder,
        experiment=load_experiment(options.experiment) if options.experiment else None,
        allow_embedded=options.allow_embedded,
    )
    written = papers.write_comparison(
        options.folder, comparison, figures=options.figures != "none", formats=formats
    )
    console = output_console()
    print_markdown(console, text.summary_markdown(comparison, short=True))
    say(console, f"{len(written)} files written to {options.folder}; begin with comparison.md")
