"""The command line: one module for each command.

Commands import modules that compute only when they run, so that ``--help`` answers at once.
"""

import argparse
import atexit
import gc
import importlib
import io
import os
import re
import shlex
import sqlite3
import sys
from collections.abc import Sequence

from benchmark.cli.common import EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, Options
from benchmark.errors import BetabenchError
from benchmark.release import VERSION

__all__ = ["main"]

COMMANDS = (
    *("run", "quick", "sample-refusals", "recommend", "atlas"),
    *("merge", "list", "learn", "sample", "compare", "report"),
    *("audit", "alternation", "check", "new-dataset", "new-technique", "influence"),
)
"""Commands in the order of the help.

Each has a module. Its ``HELP`` and ``EXAMPLE`` are texts of the help. Its function ``add_options`` adds
options to an :class:`~benchmark.cli.common.Options`; ``execute`` takes them parsed, and returns the exit
code, or None after success.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code of a command line, by default of the arguments of this process.

    It is 0 after success, 1 if cells of a run or checks failed, 2 if the input was at fault, and 130 if
    interrupted.
    """
    atexit.register(gc.freeze)  # the end of the process frees all memory faster than the collector
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # "?" for characters that the terminal lacks
            stream.reconfigure(errors="replace")
    parser = _parser()
    typed = _joined(sys.argv[1:] if arguments is None else arguments)
    options, unknown = parser.parse_known_args(typed)
    if unknown:
        is_name = hasattr(options, "experiment") and not unknown[0].startswith("-")
        hint = f"; name an experiment with --experiment {unknown[0]}" if is_name else ""
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    try:
        return int(options.command(options) or EXIT_OK)
    except BetabenchError as error:
        from benchmark.data.reading import DoubtError  # takes long

        command = ""
        if isinstance(error, DoubtError):
            error.remedy = "decide what is right, correct this proposal, and type it"
            command = f"\nbetabench {shlex.join(typed)} {error.typed}"  # a line to paste
        print(f"betabench: {error}{command}", file=sys.stderr)
        return EXIT_USAGE
    except BrokenPipeError:
        # The reader of a pipe has ended ("betabench list ... | head"), so the rest is not written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except (OSError, MemoryError, sqlite3.Error) as error:
        remedy = "What to do: check the path, its permissions, and the room on disk and in memory."
        print(f"betabench: An operation failed: {type(error).__name__}: {error}. {remedy}", file=sys.stderr)
        return EXIT_USAGE
    except KeyboardInterrupt as stop:
        print(f"\nbetabench: {stop if stop.args else 'interrupted'}", file=sys.stderr)
        return EXIT_INTERRUPTED


def _joined(arguments: Sequence[str]) -> list[str]:
    """Return arguments with a value such as ``-9,-8`` or ``-none`` joined to its option.

    Alone it looks like an option.
    """
    joined: list[str] = []
    for argument in arguments:
        if joined and re.fullmatch(r"--[a-z-]+", joined[-1]) and re.match("-(?!-|h$).", argument):
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="betabench",
        description="Which fairness technique survives which amount of planted bias.",
        epilog="example: betabench run --experiment smoke",
    )
    parser.add_argument("--version", action="version", version=f"betabench {VERSION}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name in COMMANDS:
        module_name = "listing" if name == "list" else name.replace("-", "_")
        module = importlib.import_module(f"{__name__}.{module_name}")
        about = module.HELP[0].upper() + module.HELP[1:] + "."
        example = f"example: {module.EXAMPLE}"
        command = commands.add_parser(name, help=module.HELP, description=about, epilog=example)
        command.set_defaults(command=module.execute)
        module.add_options(Options(command))
    return parser
