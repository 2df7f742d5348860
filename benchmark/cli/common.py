"""Options and exit codes that commands share."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.file_options import FileOptions

if TYPE_CHECKING:
    from benchmark.data.source import Sources

EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130


class Options:
    """Adds options and arguments to a parser, or to a group of a parser."""

    def __init__(self, parser: Any) -> None:
        self._parser = parser

    def __call__(self, shown: str, text: str, **settings: Any) -> None:
        """Add an option as in help: ``"--output DIR"``; without placeholder and settings it is a flag."""
        name, _, placeholder = shown.partition(" ")
        if placeholder:
            settings["metavar"] = placeholder
        elif not settings:
            settings["action"] = "store_true"
        self._parser.add_argument(name, help=text, **settings)

    def alternatives(self) -> Options:
        """Return an adder of options that exclude one another."""
        return Options(self._parser.add_mutually_exclusive_group())

    def dataset(self) -> None:
        """Add the option that names a card."""
        self("--dataset NAME|FILE", "shipped card, or a card of your own", required=True)

    def file(self, *names: str, optional: bool = False) -> None:
        """Add a file without a card, and options on reading it: all, unless some are named."""
        settings = {"nargs": "?"} if optional else {}
        self("file FILE", "CSV, ARFF, Excel (.xlsx) or Parquet file, gzipped or not", type=Path, **settings)
        for name, placeholder, meaning, kind in FileOptions.said():
            if name in names or not names:
                self(f"--{name.replace('_', '-')} {placeholder}", meaning, type=kind)

    def plugins(self, text: str) -> None:
        """Add the option that names files of plugins."""
        self("--plugin FILE", text, dest="plugins", action="append", default=[])

    def data(self) -> None:
        """Add the options on source files, which :func:`sources_of` reads."""
        self("--data-dir DIR", "look for source files here (or set BETABENCH_DATA)", type=Path)
        self("--offline", "never download")

    def full(self, text: str) -> None:
        """Add ``--full``, which prints more than the answer."""
        self("--full", f"print also {text}")

    def figures(self, text: str, default: str = "paper") -> None:
        """Add ``--figures``, whose help says what it draws, and ``--formats``."""
        from benchmark.text.writing import FIGURES

        kinds: dict[str, Any] = {"choices": FIGURES, "nargs": "?", "const": "all", "default": default}
        self("--figures none|paper|all", f"{text}; --figures alone: all; default: %(default)s", **kinds)
        self("--no-figures", argparse.SUPPRESS, dest="figures", action="store_const", const="none")
        formats = "formats of figures, such as png,pdf,svg; pages show png; default: %(default)s"
        self("--formats FORMATS", formats, default="png")


def file_options(options: argparse.Namespace) -> FileOptions:
    """Return the options on a file that were typed."""
    return FileOptions.of(**{name: getattr(options, name) for name, *_ in FileOptions.said()})


def sources_of(options: argparse.Namespace) -> Sources:
    """Return the sources of files that the options name."""
    from benchmark.data.source import Sources

    return Sources(options.data_dir, options.offline)


def study(name: str) -> Any:
    """Return a module of ``studies/``, which the repository has and the wheel lacks.

    A BetabenchError says so where it is not found.
    """
    from benchmark.errors import BetabenchError

    try:
        return import_module(f"studies.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "studies":
            raise
        raise BetabenchError(
            "Comparisons with papers and the making of an atlas stand in the repository, not in the wheel",
            expected="the folder studies/ of a clone, with betabench installed from it",
            got="an installation without it",
            remedy="clone the repository, and install it: pip install -e .",
        ) from error
