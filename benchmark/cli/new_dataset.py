"""``betabench new-dataset``: a draft of the card of a file."""

import argparse
from pathlib import Path

from benchmark.cli.common import Options, file_options

HELP = (
    "draft the card of a file (CSV, ARFF, Excel, Parquet), with a comment on each choice, for you to correct"
)
EXAMPLE = "betabench new-dataset loans.csv --label repaid --favorable yes --sensitive gender --deprived f"


def add_options(option: Options) -> None:
    option.file()
    option("--out FILE", "card to write; default: NAME.toml here", type=Path)


def execute(options: argparse.Namespace) -> None:
    from benchmark.data.draft import draft
    from benchmark.data.draft_text import card_text, slug
    from benchmark.errors import CardError
    from benchmark.text.terminal import output_console, print_markdown, say
    from benchmark.text.words import few
    from benchmark.text.writing import write_atomically
    from benchmark.wording import render_values

    console = output_console()
    given = file_options(options)
    out: Path = options.out or Path(f"{slug(options.file.name.partition('.')[0])}.toml")
    if out.exists():
        raise CardError(
            "Existing files are not overwritten", got=str(out), remedy="choose another --out, or move it away"
        )
    drafted = draft(options.file, given, out.parent)
    write_atomically(out, card_text(drafted, options.file, given.min_count))
    print_markdown(console, render_values("reading", reading=drafted.reading, few=few))
    say(console, f"written: {out}. Read its comments, and correct what is wrong.")
    say(console, f"look at it: betabench learn --dataset {out}")
