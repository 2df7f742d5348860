"""The user's main program, which Python imports into each process that is started from it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

UNGUARDED = 75
"""Exit code of a process in which the script that it imports would have started the run once more."""


def leave_if_imported_by_a_worker() -> None:
    """End this process if it has only come here by importing the user's script.

    A script which starts a run without asking whether it is the main program would do so in every process
    that is started for the run. The process that waits for it says what to do.
    """
    # A process that multiprocessing has not prepared imports no script.
    known = sys.modules.get("multiprocessing.process")
    if known is not None and getattr(known.current_process(), "_inheriting", False):
        os._exit(UNGUARDED)


@contextlib.contextmanager
def main_without_file_not_imported() -> Iterator[None]:
    """Keep processes started inside from importing a main program that came from standard input."""
    main = sys.modules["__main__"]
    name = getattr(main, "__file__", None)
    if name is None or Path(name).exists():
        yield
        return
    del main.__file__  # "<stdin>"; without it, there is nothing to be imported
    try:
        yield
    finally:
        main.__file__ = name
