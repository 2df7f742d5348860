"""``python -m tools.performance [PART ...]``: measure, and write the report from all that was measured."""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import os
import pkgutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import tools.performance
from tools.performance.timing import COLUMNS, Row

__all__ = ["main", "parts"]

ROOT = Path(__file__).resolve().parents[2]

# Compiled libraries read these when they are loaded: everybody has one core, as the workers of a run have.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def parts() -> dict[str, Callable[[bool], Iterator[Row]]]:
    """Return what can be measured, by name: the modules beside this one that have a ``measure``."""
    names = sorted(m.name for m in pkgutil.iter_modules(tools.performance.__path__) if m.name != "__main__")
    # Two modules name their contestants when they are imported, and are no parts.
    modules = {
        name: importlib.import_module(f"tools.performance.{name}") for name in names if name != "naive"
    }
    return {name: module.measure for name, module in modules.items() if hasattr(module, "measure")}


def main(arguments: list[str] | None = None) -> None:
    """Measure the named parts, write ``<part>.csv`` for each, and rewrite the report."""
    parser = argparse.ArgumentParser(prog="python -m tools.performance", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="what to measure; default: everything")
    parser.add_argument("--quick", action="store_true", help="as little as possible: whether it works at all")
    parser.add_argument("--report", action="store_true", help="measure nothing, rewrite the report only")
    parser.add_argument("--output", type=Path, default=ROOT / "results" / "performance", metavar="DIR")
    options = parser.parse_args(arguments)
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    from tools.performance.machine import describe_machine
    from tools.performance.report import write_report

    known = parts()
    if unknown := sorted(set(options.parts) - known.keys()):
        parser.error(f"there is no part {', '.join(unknown)}; there are {', '.join(known)}")
    options.output.mkdir(parents=True, exist_ok=True)
    for name in () if options.report else options.parts or known:
        started = time.perf_counter()
        machine = describe_machine(options.quick)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other packages' own
            rows = list(known[name](options.quick))
        machine["seconds"] = round(time.perf_counter() - started, 1)
        with (options.output / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        text = json.dumps(machine, indent=2) + "\n"
        (options.output / f"{name}.machine.json").write_text(text, encoding="utf-8")
        print(f"{name}: {len(rows)} rows in {machine['seconds']} s", file=sys.stderr)
    for path in write_report(options.output):
        print(path.name, file=sys.stderr)


if __name__ == "__main__":
    main()
