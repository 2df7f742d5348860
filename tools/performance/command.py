"""What whole commands cost in processor time, with all processes that they start.

``fresh`` is the first run of all, which compiles; ``warm`` comes after it. Where ``BETABENCH_EARLIER`` names
a checkout of an earlier version, its commands are run in turn with this one's.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.performance.timing import Row, timed

__all__ = ["COMMANDS", "measure"]

_ROOT = Path(__file__).resolve().parents[2]
_SMOKE = ("run", "--experiment", "smoke", "--offline", "--workers", "2")
_NINE = (
    *("none", "drop_sensitive", "massaging", "reweighing", "uniform_sampling", "preferential_sampling"),
    *("repair_0.25", "repair_0.50", "repair_0.75"),
)

COMMANDS = {
    "list techniques": ("list", "techniques"),
    "smoke": _SMOKE,
    "smoke, no figures": (*_SMOKE, "--figures", "none"),
    "a tenth of the paper's run, nine techniques, no figures": (
        *("run", "--offline", "--workers", "2", "--figures", "none", "--repetitions", "3"),
        *("--techniques", *_NINE),
    ),
}
"""Arguments of the command line by what is measured."""


def measure(quick: bool) -> Iterator[Row]:
    """Run each command, first with nothing compiled; ``smoke`` uses embedded networks."""
    checkouts = {"betabench": _ROOT}
    if earlier := os.environ.get("BETABENCH_EARLIER"):
        checkouts["earlier"] = Path(earlier)
    for case, arguments in dict(list(COMMANDS.items())[:1] if quick else COMMANDS).items():
        with TemporaryDirectory() as folder:
            for repetition in range(2 if quick else 3):
                for who, checkout in checkouts.items():
                    seconds, wall = _cost(checkout, arguments, Path(folder) / who)
                    if repetition or case == "smoke":
                        yield {
                            "part": "command",
                            "case": f"{case}, {'warm' if repetition else 'fresh'}",
                            "contestant": who,
                            "size": "",
                            "repetition": repetition,
                            "seconds": seconds,
                            "bytes": "",
                            "note": f"{wall:.1f} s by the clock",
                        }


def _cost(checkout: Path, arguments: tuple[str, ...], folder: Path) -> tuple[float, float]:
    """Return processor time and wall time of a command; what is compiled is kept in the folder."""
    folder.mkdir(exist_ok=True)
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith("_NUM_THREADS") and not (name == "BETABENCH_DATA" and "smoke" in arguments)
    }
    environment |= {"PYTHONPATH": str(checkout), "NUMBA_CACHE_DIR": str(folder / "compiled")}
    output = ("--output", "results", "--fresh") if arguments[0] == "run" else ()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall, _ = timed(
        lambda: subprocess.run(
            [sys.executable, "-m", "benchmark.cli", *arguments, *output],
            cwd=folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            check=True,
        )
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall
