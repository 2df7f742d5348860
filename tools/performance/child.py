"""Measuring in a process of its own, whose memory and processor time are nobody else's."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["in_own_process", "own_peak"]

_ROOT = Path(__file__).resolve().parents[2]
_ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)  # as in a worker


def in_own_process(function: str, **arguments: Any) -> Any:
    """Call a function in a fresh process and return what it returns.

    Parameters
    ----------
    function : str
        Module of this package and name in it: ``"growth:rows"``.
    **arguments
        Its arguments; these and the result are whatever JSON can hold.
    """
    program = "import sys; from tools.performance.child import _serve; _serve(*sys.argv[1:])"
    run = subprocess.run(
        [sys.executable, "-c", program, function, json.dumps(arguments)],
        cwd=_ROOT,
        env={**os.environ, **dict.fromkeys(_ONE_THREAD, "1")},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return json.loads(run.stdout.splitlines()[-1])


def own_peak() -> int | str:
    """Return the most memory that this process has held so far, in bytes; "" where nobody can say.

    The system's file knows it better than ``getrusage``, which on Linux counts what the parent held as well.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return ""
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), "")


def _serve(function: str, arguments: str) -> None:
    module, _, name = function.partition(":")
    call = getattr(importlib.import_module(f"tools.performance.{module}"), name)
    print(json.dumps(call(**json.loads(arguments))))
