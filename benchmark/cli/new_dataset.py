"""``betabench new-dataset``: a draft of the card of a CSV file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.cli.common import EXIT_OK, EXIT_USAGE, command
from benchmark.cli.quick import roles

if TYPE_CHECKING:
    from rich.console import Console


def add(commands: Any) -> None:
    """Add the command."""
    option = command(
        commands,
        "new-dataset",
        _new_dataset,
        "draft the card of a CSV file, with a comment at every choice, to be read and corrected",
        "betabench new-dataset loans.csv --label repaid --favorable yes --sensitive gender --deprived f",
    )
    roles(option)
    option("--out FILE", "card to write; default: NAME.toml here", type=Path)


def require_roles(options: argparse.Namespace, console: Console) -> bool:
    """Return whether all roles are named; else propose some in a terminal, or raise a DataError."""
    from benchmark.data.draft import missing_roles, proposals
    from benchmark.data.sniff import sniff
    from benchmark.text.console import say

    asked = {name: getattr(options, name) for name in ("label", "favorable", "sensitive")}
    if all(asked.values()):
        return True
    table = sniff(options.file, Path())
    if not console.is_terminal:
        raise missing_roles(table, asked)
    for line in proposals(table, asked):
        say(console, line)
    return False


def _new_dataset(options: argparse.Namespace) -> int:
    from rich.console import Console

    from benchmark.data.draft import Wish, draft
    from benchmark.data.draft_text import card_text, slug, summary_lines
    from benchmark.errors import CardError
    from benchmark.text.console import say
    from benchmark.text.files import write_atomically

    console = Console(emoji=False)
    if not require_roles(options, console):
        return EXIT_USAGE
    out: Path = options.out or Path(f"{slug(options.file.name.partition('.')[0])}.toml")
    if out.exists():
        raise CardError(
            "Existing files are not overwritten", got=str(out), remedy="choose another --out, or move it away"
        )
    wish = Wish(options.label, options.favorable, options.sensitive, options.deprived, options.min_count)
    drafted = draft(options.file, wish, out.parent)
    write_atomically(out, card_text(drafted, options.file, options.min_count))
    for line in summary_lines(drafted):
        say(console, line, "yellow" if line.startswith(("Note", "Warning")) else "")
    say(console, f"written: {out}. Read its comments, and correct what is wrong.")
    say(console, f"look at it: betabench learn --dataset {out}")
    return EXIT_OK
