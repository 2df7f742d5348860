"""The user's main program, which Python imports into each process that it starts."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

UNGUARDED = 75
"""Exit code of a process whose import of the user's script would have started the run once more."""


def leave_if_imported_by_a_worker() -> None:
    """End this process if it is a worker that would start the run again by importing the user's script.

    That happens without ``if __name__ == "__main__":`` in the script. The run's process tells the user.
    """
    # multiprocessing marks a process while it imports the script.
    module = sys.modules.get("multiprocessing.process")
    if module is not None and getattr(module.current_process(), "_inheriting", False):
        os._exit(UNGUARDED)


@contextlib.contextmanager
def main_without_file_not_imported() -> Iterator[None]:
    """Keep processes that start inside from importing a main program that came from standard input."""
    main = sys.modules["__main__"]
    name = getattr(main, "__file__", None)
    if name is None or Path(name).exists():
        yield
        return
    del main.__file__  # "<stdin>"; without it, they import nothing
    try:
        yield
    finally:
        main.__file__ = name
