"""``betabench quick``: from an unknown file to a first report."""

import argparse
from dataclasses import fields
from pathlib import Path

from benchmark.cli.common import EXIT_FAILED, EXIT_OK, EXIT_USAGE, Options
from benchmark.experiment.quick_defaults import BIAS, CLASSIFIERS, DOSES, MOST_REPETITIONS, SEED

HELP = "take a first look at a file: draft its card, plant bias, and try techniques against it"
EXAMPLE = "betabench quick loans.csv --label repaid --favorable yes --sensitive gender --deprived f"


def add_options(option: Options) -> None:
    roles(option)
    option(
        "--output DIR",
        "folder of the results; default: results/NAME_quick, or the next of _2, _3, ... without another "
        "first look",
        type=Path,
    )
    option(
        "--bias KIND",
        f"kind of bias to plant, without parameters; default: {BIAS}, which makes favorable labels of the "
        "deprived group unfavorable",
        default=BIAS,
    )
    option(
        "--doses DOSE",
        "by how much the bias widens the label gap, the difference between the groups' shares of favorable "
        f"labels; 0 is always added; default: {' '.join(f'{dose:g}' for dose in DOSES)}",
        nargs="+",
        type=float,
    )
    betas = "levels of bias in place of doses, each above 0 and at most 1; 0 is always added"
    option("--betas BETA", betas, nargs="+", type=float)
    option(
        "--true-rate RATES",
        "shares of each group that should have the favorable label, known from outside the file, such as "
        "F=0.4,M=0.42. The report then shows how much bias the labels hide, and what is known of such bias",
        dest="true_rates",
    )
    classifier = f"one or more models to try techniques with; default: {' '.join(CLASSIFIERS)}"
    option("--classifier NAME", classifier, dest="classifiers", nargs="+", default=CLASSIFIERS)
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
        f"number of splits into training and test rows; default: {MOST_REPETITIONS} if that takes about a "
        "minute, else fewer",
        type=int,
    )
    option("--seed N", f"root of all random numbers; default: {SEED}", type=int, default=SEED)
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


def roles(option: Options, *, optional: bool = False) -> None:
    """Add the options on the columns of a file, which may be optional, and on reading it."""
    settings = {"nargs": "?"} if optional else {}
    option("file FILE", "CSV, ARFF, Excel (.xlsx) or Parquet file, gzipped or not", type=Path, **settings)
    option("--label COLUMN", "column of the outcome")
    option(
        "--favorable VALUE",
        "value of the label that is good for people, as in the file; several as A,B; numbers as '>= 10'; "
        "values with commas in double quotes",
    )
    option(
        "--unfavorable VALUE",
        "the other values, likewise; rows with neither are left out; default: all that are not favorable",
    )
    option("--sensitive COLUMN", "column of the groups")
    option(
        "--deprived GROUP",
        "the deprived group, likewise: F, 'Black,Asian', '< 25'; default: the one with the favorable "
        "label least often",
    )
    option(
        "--favored GROUP", "the other group, likewise; default: all other rows; rows of neither are left out"
    )
    option(
        "--missing VALUES",
        "values that mean missing: of the label and the groups as A,B, and their rows are left out; of "
        "another column as 'age=-9,points=99'; of all columns as '*=-9'",
    )
    option(
        "--person COLUMN",
        "column that names the person of each row: a person's rows stand on one side of every split, and the "
        "column is no feature; 'rows' if equal rows are one person's, 'none' if all rows are independent",
    )
    option("--drop COLUMNS", "columns A,B to leave out")
    option("--keep COLUMNS", "columns A,B to keep that would be left out, or that may be weights")
    option("--thousands COLUMNS", "columns A,B in which the point or comma of 1.234 separates thousands")
    option("--decimals COLUMNS", "columns A,B in which the point or comma of 1.234 separates decimals")
    option("--max-mb N", "largest file, in megabytes of text; default: 500", type=float)
    option(
        "--min-count N",
        "merge values of a feature that fewer than N rows have; default: 5",
        type=int,
        default=5,
    )


def execute(options: argparse.Namespace) -> int:
    from benchmark.experiment.engine import preparing

    with preparing():  # before the imports below, which take long
        from benchmark.cli.new_dataset import asking, file_options, require_roles
        from benchmark.experiment.quick_defaults import QuickOptions
        from benchmark.first_look import first_look
        from benchmark.text.terminal import output_console
        from benchmark.text.writing import figure_formats

        console = output_console()
        if not require_roles(options, console):
            return EXIT_USAGE
        quick_options = QuickOptions(
            **{item.name: getattr(options, item.name) for item in fields(QuickOptions)}
        )
        finished = asking(
            options,
            console,
            lambda: first_look(
                options.file,
                file_options(options),
                quick_options,
                output=options.output,
                workers=options.workers,
                figures=options.figures,
                formats=figure_formats(options.formats),
                console=console,
                full=options.full,
            ),
        )
        assert finished.outcome is not None
        return EXIT_OK if finished.outcome.ok else EXIT_FAILED
