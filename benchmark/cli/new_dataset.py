"""``betabench new-dataset``: a draft of the card of a file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from benchmark.cli.common import EXIT_OK, EXIT_USAGE, Options
from benchmark.cli.quick import roles
from benchmark.text.terminal import say
from benchmark.text.words import in_list

if TYPE_CHECKING:
    from rich.console import Console

    from benchmark.data.doubts import DoubtError
    from benchmark.data.draft import FileOptions

HELP = (
    "draft the card of a file (CSV, ARFF, Excel, Parquet), with a comment on each choice, for you to correct"
)
EXAMPLE = "betabench new-dataset loans.csv --label repaid --favorable yes --sensitive gender --deprived f"


def add_options(option: Options) -> None:
    roles(option)
    option("--out FILE", "card to write; default: NAME.toml here", type=Path)


_NEEDED = ("label", "favorable", "sensitive")
# An answer is added to these options, and replaces others.
_ADDED = ("missing", "drop", "keep", "thousands", "decimals")
_Result = TypeVar("_Result")


def require_roles(options: argparse.Namespace, console: Console) -> bool:
    """Return whether all roles are named; else propose some in a terminal, or raise a DataError."""
    from benchmark.data.proposals import missing_roles, proposals
    from benchmark.data.sniff import MOST_MB, sniff

    named = {name: getattr(options, name) for name in _NEEDED}
    if all(named.values()):
        return True
    columns = {name for name in (options.label, options.sensitive) if name}
    table = sniff(options.file, Path(), most_mb=options.max_mb or MOST_MB, named=columns)
    if not console.is_terminal:
        raise missing_roles(table, named)
    for line in proposals(table, named):
        say(console, line)
    remedy = "Name these columns and values with options, and run the command again."
    say(console, f"Nothing was written. {remedy}")
    return False


def asking(options: argparse.Namespace, console: Console, act: Callable[[], _Result]) -> _Result:
    """Return the result of ``act``; in a terminal, questions on the file are asked, and options set."""
    from benchmark.data.doubts import DoubtError

    answered: list[str] = []
    while True:
        try:
            result = act()
        except DoubtError as doubt:
            if not (console.is_terminal and sys.stdin.isatty()):
                raise
            answered.append(_answer(options, console, doubt))
        else:
            if answered:
                say(console, f"To avoid the questions next time, type: {' '.join(answered)}")
            return result


def _answer(options: argparse.Namespace, console: Console, doubt: DoubtError) -> str:
    """Ask the first question, set the options that the answer stands for, and return them as typed."""
    question = doubt.questions[0]
    say(console, question.text + ".", "yellow")
    for number, answer in enumerate(question.answers, 1):
        say(console, f"  {number}: {answer.words[0].upper()}{answer.words[1:]}. ({answer.typed})")
    try:
        chosen = console.input("Number of the answer (Enter ends): ", markup=False).strip()
    except EOFError:
        chosen = ""
    if chosen not in map(str, range(1, len(question.answers) + 1)):
        raise doubt
    answer = question.answers[int(chosen) - 1]
    for name, value in answer.options.items():
        if name in _ADDED:  # as typed
            value = ",".join(filter(None, (getattr(options, name), in_list(value))))
        setattr(options, name, value)
    return answer.typed


def file_options(options: argparse.Namespace) -> FileOptions:
    """Return the options on reading a file."""
    from benchmark.data.draft import FileOptions

    names = [item.name for item in fields(FileOptions) if hasattr(options, item.name)]
    values = {name: getattr(options, name) for name in names}
    return FileOptions(
        **{name: value for name, value in values.items() if value is not None or name in _NEEDED}
    )


def execute(options: argparse.Namespace) -> int:
    from rich.console import Console

    from benchmark.data.draft import draft
    from benchmark.data.draft_text import card_text, slug, summary_lines
    from benchmark.errors import CardError
    from benchmark.text.writing import write_atomically

    console = Console(emoji=False)
    if not require_roles(options, console):
        return EXIT_USAGE
    out: Path = options.out or Path(f"{slug(options.file.name.partition('.')[0])}.toml")
    if out.exists():
        raise CardError(
            "Existing files are not overwritten", got=str(out), remedy="choose another --out, or move it away"
        )
    drafted = asking(options, console, lambda: draft(options.file, file_options(options), out.parent))
    write_atomically(out, card_text(drafted, options.file, options.min_count))
    assert drafted.reading is not None
    for warning in drafted.reading.warnings:
        say(console, f"Warning: {warning}", "yellow")
    for line in summary_lines(drafted):
        say(console, line)
    say(console, f"written: {out}. Read its comments, and correct what is wrong.")
    say(console, f"look at it: betabench learn --dataset {out}")
    return EXIT_OK
