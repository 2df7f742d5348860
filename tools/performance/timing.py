"""Contestants in turn, and the rows in which their times are kept."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any, TypeAlias

__all__ = ["COLUMNS", "Row", "alternate", "missing", "optional", "timed"]

COLUMNS = ("part", "case", "contestant", "size", "repetition", "seconds", "bytes", "note")

Row: TypeAlias = dict[str, Any]
"""A measurement under the names of :data:`COLUMNS`; what was not measured is empty."""

_LEAST, _MOST = 3, 15


def alternate(
    part: str,
    case: str,
    contestants: Mapping[str, Callable[[], object]],
    *,
    size: int,
    notes: Mapping[str, str],
    quick: bool,
    budget: float = 4.0,
) -> Iterator[Row]:
    """Time contestants in turn: A, B, A, B, ..., so that a slow minute of the machine is everybody's.

    Each has run before, so that nobody compiles or imports on the clock.

    Parameters
    ----------
    part, case : str
        What is measured.
    contestants : mapping of str to callable
        What to call, by name; the first is the one that the others are compared with.
    size : int
        How much there is to do: rows, unless the part says otherwise.
    notes : mapping of str to str
        What came out, by contestant, for whoever doubts that they did the same.
    quick : bool
        One round only.
    budget : float, default 4.0
        Seconds after which no other round begins, once there were three.
    """
    started = time.perf_counter()
    for repetition in range(1 if quick else _MOST):
        if repetition >= _LEAST and time.perf_counter() - started > budget:
            return
        for name, run in contestants.items():
            seconds = timed(run)[0]
            yield {
                "part": part,
                "case": case,
                "contestant": name,
                "size": size,
                "repetition": repetition,
                "seconds": seconds,
                "bytes": "",
                "note": notes.get(name, ""),
            }


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Return how many seconds a call takes, and what it returns."""
    started = time.perf_counter()
    result = run()
    return time.perf_counter() - started, result


def missing(part: str, case: str, contestant: str, reason: str) -> Row:
    """Return the row of a contestant that cannot take part."""
    return dict.fromkeys(COLUMNS, "") | {
        "part": part,
        "case": case,
        "contestant": contestant,
        "note": f"not measured: {reason}",
    }


def optional(name: str) -> tuple[ModuleType | None, str]:
    """Return a module and "", or None and why it cannot be imported."""
    try:
        return importlib.import_module(name), ""
    except Exception as problem:  # an old package may fail in any way on a new Python
        return None, f"{type(problem).__name__}: {problem}"
