"""``betabench quick``: from an unknown file to a first report."""

import argparse
from pathlib import Path

from benchmark.cli.common import EXIT_FAILED, EXIT_OK, Options

HELP = "take a first look at a file: draft its card, plant bias, and try techniques against it"
EXAMPLE = "betabench quick loans.csv --label repaid --favorable yes --sensitive gender --deprived f"


def add_options(option: Options) -> None:
    option.file()
    option(
        "--output DIR",
        "folder of the results; default: results/NAME_quick, or the next of _2, _3, ... without another "
        "first look",
        type=Path,
    )
    option(
        "--bias KIND",
        "kind of bias to plant, without parameters; default: label, which makes favorable labels of the "
        "deprived group unfavorable",
    )
    option(
        "--doses DOSE",
        "by how much the bias widens the label gap, the difference between the groups' shares of favorable "
        "labels; 0 is always added; default: 0.05 0.1",
        nargs="+",
        type=float,
    )
    betas = "levels of bias in place of doses, each above 0 and at most 1; 0 is always added"
    option("--betas BETA", betas, nargs="+", type=float)
    option(
        "--true-rate RATES",
        "shares of each group that should have the favorable label, known from outside the file, such as "
        "F=0.4,M=0.42. The report then begins with the technique that uses them, and what it changes",
    )
    option(
        "--relabel FILE",
        "a sheet of 'betabench sample-refusals' with verdicts, in place of --true-rate",
        type=Path,
    )
    classifier = "one or more models to try techniques with; default: c45"
    option("--classifier NAME", classifier, nargs="+")
    option(
        "--techniques NAME",
        "techniques to compare with no mitigation; default: eight, among them those that 'betabench "
        "recommend' names",
        nargs="+",
    )
    option(
        "--stage STAGE",
        "only techniques that change the data (pre), the training (in), or the predictions (post)",
        choices=("pre", "in", "post"),
    )
    option.plugins("file that registers techniques, classifiers or kinds of bias")
    option(
        "--repetitions N",
        "number of splits into training and test rows; default: 30 if that takes about a minute, else 10",
        type=int,
    )
    option("--seed N", "root of all random numbers; default: 1", type=int)
    option(
        "--accept SHARE",
        "share of the test rows that every technique accepts, those with its highest scores; default: those "
        "that it predicts to be favorable. For files in which one label is rare",
        type=float,
    )
    option("--workers N", "number of processes; default: one per core", type=int)
    option.full("the whole reading of the file, and all levels of bias")
    option.figures(
        "draw no figures, those of the paper (trade-offs, curves over the level of bias), or all, also of "
        "the statistics; the page draws its own",
        default="none",
    )


def execute(options: argparse.Namespace) -> int:
    from benchmark.experiment.engine import fork_workers

    fork_workers(options.workers)  # before the imports below
    from benchmark.first_look import quick
    from benchmark.text.writing import figure_formats

    given = {name: value for name, value in vars(options).items() if value is not None}
    del given["command"]
    finished = quick(given.pop("file"), **{**given, "formats": figure_formats(options.formats)})
    assert finished.outcome is not None
    return EXIT_OK if finished.outcome.ok else EXIT_FAILED
