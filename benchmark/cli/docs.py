"""``betabench docs``: the pages of all techniques or metrics."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmark.cli.common import EXIT_OK, command

__all__ = ["add"]


def add(commands: Any) -> None:
    """Add the command."""
    parser = command(
        commands,
        "docs",
        _docs,
        "write the pages of all techniques or metrics from their docstrings and declarations",
        "betabench docs metrics",
    )
    parser.add_argument("kind", choices=("techniques", "metrics"), help="what to write about")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder of the pages; default: docs/KIND")


def _docs(options: argparse.Namespace) -> int:
    from benchmark.report.metric_pages import write_metric_pages
    from benchmark.report.technique_pages import write_technique_pages

    write = {"techniques": write_technique_pages, "metrics": write_metric_pages}[options.kind]
    written = write(options.out or Path("docs") / options.kind)
    print(f"{len(written)} pages, the first of them {written[0]}")
    return EXIT_OK
