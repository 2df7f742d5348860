"""``betabench atlas``: the answer of an atlas, and its page."""

import argparse
import itertools
from pathlib import Path

from benchmark.cli.common import Options

HELP = "print the answer of the shipped atlas, or write its page"
EXAMPLE = "betabench atlas --html atlas.html"


def add_options(option: Options) -> None:
    option("folder DIR", "folder of an atlas; default: the shipped one", nargs="?", type=Path)
    option("--html FILE", "write the page, one file without other files or addresses", type=Path)
    option(
        "--add FILE", "compute the cells of a plugin's techniques, beside those that know as much", type=Path
    )
    option("--datasets NAME", "with --add: only these sources; default: all", nargs="+")
    option("--doses DOSE", "with --add: these doses; default: 0.1", nargs="+", type=float)
    option("--repetitions N", "with --add: splits of each source; default: 2", type=int)
    option("--workers N", "with --add: number of processes; default: one per core", type=int)
    option("--output DIR", "with --add: folder of the runs; default: results/FILE_in_atlas", type=Path)
    option.data()


def execute(options: argparse.Namespace) -> None:
    from rich.console import Console

    from benchmark.atlas.adviser import WORDS, Adviser
    from benchmark.columns import GOALS
    from benchmark.text.terminal import say

    if options.add is not None:
        _add(options)
        return
    console, adviser = Console(emoji=False), Adviser.of(options.folder)
    for goal in GOALS:
        say(console, f"Goal: {goal}", "bold")
        for sentence in adviser.advise(goal).sentences:
            say(console, sentence)
        for (kind, heading), dose in itertools.product(WORDS["regret"].items(), adviser.doses):
            if lines := adviser.comparison(goal, kind, dose):
                say(console, f"{heading}, dose {dose:g}", "bold")
                for line in lines:
                    say(console, line)
    if options.html is not None:
        from benchmark.pages.atlas_page import atlas_page
        from benchmark.text.writing import write_atomically

        say(console, f"written: {write_atomically(options.html, atlas_page(adviser))}")


def _add(options: argparse.Namespace) -> None:
    from benchmark.entrants import enter
    from benchmark.text.terminal import output_console, print_markdown

    names = ("datasets", "doses", "repetitions", "workers", "output", "data_dir")
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    print_markdown(output_console(), str(enter(options.add, atlas=options.folder, **given)))
