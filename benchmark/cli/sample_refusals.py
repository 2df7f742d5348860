"""``betabench sample-refusals``: rows of a file for people to judge again."""

import argparse
from pathlib import Path

from benchmark.cli.common import Options, file_options

HELP = "draw refused people of the deprived group for others to judge again"
EXAMPLE = (
    "betabench sample-refusals people.csv -m 50 --label hired --favorable yes --sensitive sex --deprived F"
)


def add_options(option: Options) -> None:
    option.file()
    option("-m N", "number of people to draw; default: 50", type=int, default=50)
    option("--seed N", "seed of the draw; default: 1", type=int, default=1)
    option("--output FILE", "the sheet to write; default: refusals.csv", type=Path, default="refusals.csv")


def execute(options: argparse.Namespace) -> None:
    from benchmark.data.draft import draft
    from benchmark.data.reading import typed
    from benchmark.data.refusals import refusals, write_sheet
    from benchmark.text.words import few
    from benchmark.wording import render_plain

    said = file_options(options)
    drafted = draft(options.file, said)
    n = write_sheet(options.output, drafted, options.m, options.seed)
    command = typed("quick", str(options.file), said, f"--relabel={options.output}")
    values = {"parts": drafted.reading.parts, "n": n, "left": len(refusals(drafted)), "few": few}
    print(render_plain("refusals", **values, path=str(options.output), command=command))
