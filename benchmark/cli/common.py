"""What the commands share."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmark.data.source import Sources

EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130


def command(commands: Any, name: str, run: Any, text: str, example: str) -> argparse.ArgumentParser:
    """Add a command to the subparsers of the command line and return its parser.

    ``run`` takes the parsed options and returns the exit code; ``text`` says what it does, in small letters;
    ``example`` is a whole command line that works.
    """
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=text, description=text[0].upper() + text[1:] + ".", epilog=f"example: {example}"
    )
    parser.set_defaults(command=run)
    return parser


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where source files are."""
    parser.add_argument(
        "--data-dir", type=Path, metavar="DIR", help="look for source files here (or set BETABENCH_DATA)"
    )
    parser.add_argument("--offline", action="store_true", help="never download")


def add_figure_options(parser: argparse.ArgumentParser, *, without: str = "write no figures") -> None:
    """Add ``--no-figures``, with what the command does without them, and ``--formats``."""
    parser.add_argument("--no-figures", dest="figures", action="store_false", help=without)
    parser.add_argument(
        "--formats",
        default="png",
        metavar="FORMATS",
        help="of figures, with commas between them: png, pdf, svg; pages show png; default: %(default)s",
    )


def add_dataset_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that names a card."""
    parser.add_argument(
        "--dataset", required=True, metavar="NAME|FILE", help="shipped card, or a card of your own"
    )


def add_plugin_option(parser: argparse.ArgumentParser, text: str) -> None:
    """Add the option that names files of plugins, as ``plugins``."""
    parser.add_argument("--plugin", dest="plugins", action="append", default=[], metavar="FILE", help=text)


def sources_of(options: argparse.Namespace) -> Sources:
    """Return what :func:`add_data_options` has read."""
    from benchmark.data.source import Sources

    return Sources(options.data_dir, options.offline)
