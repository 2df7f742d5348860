"""How long the commands take that only show something, each in a fresh process, beside a bare interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

__all__ = ["COMMANDS", "measure"]

_LISTS = ("metrics", "datasets", "techniques", "classifiers", "bias-kinds", "experiments")

COMMANDS = {
    "python -c pass": ("-c", "pass"),
    "python -c 'import numpy'": ("-c", "import numpy"),
    "betabench --version": ("-m", "benchmark.cli", "--version"),
    "betabench --help": ("-m", "benchmark.cli", "--help"),
    **{f"betabench list {kind}": ("-m", "benchmark.cli", "list", kind) for kind in _LISTS},
}
"""Arguments of the interpreter by what users call it; two rows without betabench to compare with."""


def measure(quick: bool) -> Iterator[dict[str, Any]]:
    """Time all commands in turn, many times; the first round fills the file cache and is left out."""
    # As a user's shell has it: who measures may have limited the threads of libraries.
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    for repetition in range(-1, 1 if quick else 15):
        for name, arguments in COMMANDS.items():
            started = time.perf_counter()
            subprocess.run(
                [sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True, env=environment
            )
            seconds = time.perf_counter() - started
            if repetition >= 0:
                yield {
                    "part": "startup",
                    "case": "start",
                    "contestant": name,
                    "size": "",
                    "repetition": repetition,
                    "seconds": seconds,
                    "bytes": "",
                    "note": "",
                }
