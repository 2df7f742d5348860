"""``betabench sample-refusals``: rows of a file for people to judge again."""

import argparse
from pathlib import Path

from benchmark.cli.common import EXIT_OK, Options, file_options

HELP = "draw refused people of the deprived group for others to judge again"
EXAMPLE = (
    "betabench sample-refusals people.csv -m 50 --label hired --favorable yes --sensitive sex --deprived F"
)


def add_options(option: Options) -> None:
    option.file()
    option("-m N", "number of people to draw; default: 50", type=int, default=50)
    option("--seed N", "seed of the draw; default: 1", type=int, default=1)
    option("--output FILE", "the sheet to write; default: refusals.csv", type=Path, default="refusals.csv")


def execute(options: argparse.Namespace) -> int:
    from benchmark.known_bias import sample_refusals

    settings = {"seed": options.seed, "output": options.output, **file_options(options)}
    print(sample_refusals(options.file, options.m, **settings))
    return EXIT_OK
