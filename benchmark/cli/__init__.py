"""The command line: one module for each command.

Modules that compute are imported inside the commands, so that ``--help`` answers at once.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import importlib
import io
import os
import sqlite3
import sys
from collections.abc import Sequence

from benchmark import __version__
from benchmark.cli.common import EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE
from benchmark.errors import BetabenchError
from benchmark.experiment.main_script import leave_if_imported_by_a_worker

__all__ = ["main"]

COMMANDS = (
    *("run", "quick", "merge", "listing", "learn", "sample", "compare", "report"),
    *("audit", "alternation", "check", "new_dataset", "new_technique", "influence"),
)
"""Modules of this package, each with a function ``add(commands)``, in the order of the help."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, by default with the arguments of the process, and return the exit code.

    It is 0 when all went well, 1 when cells of a run or checks failed, 2 when the input was at fault, and 130
    when interrupted.
    """
    leave_if_imported_by_a_worker()
    atexit.register(gc.freeze)  # nothing is left to collect: the system takes it all
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a character shows another
            stream.reconfigure(errors="replace")
    options = _parser().parse_args(arguments)
    try:
        code: int = options.command(options)
    except BetabenchError as error:
        print(f"betabench: {error}", file=sys.stderr)
        return EXIT_USAGE
    except BrokenPipeError:
        # The reader of a pipe has left ("betabench list ... | head"); nothing is left to say to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except (OSError, MemoryError, sqlite3.Error) as error:
        refused = f"The machine refused: {type(error).__name__}: {error}"
        remedy = "What to do: check the path, its permissions, and the room on disk and in memory."
        print(f"betabench: {refused}. {remedy}", file=sys.stderr)
        return EXIT_USAGE
    except KeyboardInterrupt as stop:
        print(f"\nbetabench: {stop if stop.args else 'interrupted'}", file=sys.stderr)
        return EXIT_INTERRUPTED
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="betabench",
        description="Which fairness technique survives which amount of planted bias.",
        epilog="example: betabench run --experiment smoke",
    )
    parser.add_argument("--version", action="version", version=f"betabench {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name in COMMANDS:
        importlib.import_module(f"{__name__}.{name}").add(commands)
    return parser
