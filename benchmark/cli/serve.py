"""``betabench serve``: the reports of all runs in a folder, in the browser of this machine."""

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
        "serve",
        _serve,
        "show the reports of all runs in a folder, at an address that only this machine can reach",
        "betabench serve results --open",
    )
    option = parser.add_argument
    option(
        "folder",
        type=Path,
        nargs="?",
        default=Path("results"),
        metavar="FOLDER",
        help="runs are looked for in it and below; default: %(default)s",
    )
    option(
        "--port",
        type=int,
        default=8321,
        metavar="N",
        help="listen here; 0 takes a free port; default: %(default)s",
    )
    option("--open", action="store_true", help="open the browser")


def _serve(options: argparse.Namespace) -> int:
    import webbrowser

    from benchmark.report.serve import ReportServer, address_of

    with ReportServer(options.folder, options.port) as server:
        address = address_of(server)
        print(f"The reports of {options.folder}: {address} (Ctrl-C ends it)", flush=True)
        if options.open:
            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("\nbetabench: no longer served")
    return EXIT_OK
