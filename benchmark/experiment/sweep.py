"""Lists of values in a technique's name: ``"repair[level=0.25,0.5]"`` stands for an entry of each value."""

from __future__ import annotations

import itertools
import re
from typing import Any

from benchmark.declarations import title_of
from benchmark.models import entry_name

_SWEEP = re.compile(r"([A-Za-z0-9_.:+-]+)\[(.*)\]")
_ASSIGNED = re.compile(r" *([A-Za-z_][A-Za-z0-9_]*) *= *([^=\[\]]*[^=\[\], ]) *")
_EXAMPLE = '"repair[level=0.25,0.5,0.75,1]", or "lfr[A_z=1,50; prototypes=5,10]" for each pair'


def swept(named: Any) -> list[Any]:
    """Return the entries that a name in a list of techniques stands for: itself, unless it has values.

    Several parameters, between semicolons, are crossed. A ValueError says that the values are malformed.
    """
    found = _SWEEP.fullmatch(named.strip()) if isinstance(named, str) else None
    if found is None:
        if isinstance(named, str) and "[" in named:
            raise ValueError(f"has malformed values; expected a list such as {_EXAMPLE}")
        return [named]
    technique, lists = found.groups()
    values: dict[str, list[str]] = {}
    for part in lists.split(";"):
        own = _ASSIGNED.fullmatch(part)
        if own is None or own[1] in values:
            raise ValueError(f"has malformed values, {part.strip()!r}; expected a list such as {_EXAMPLE}")
        values[own[1]] = texts = [text.strip() for text in own[2].split(",")]
        if len(set(texts)) < len(texts) or "" in texts:
            raise ValueError(
                f"has a value of {own[1]!r} that is empty or repeats; expected such as {_EXAMPLE}"
            )
    return [
        {
            "technique": technique,
            "name": "_".join((entry_name(technique), *chosen)),
            "title": f"{title_of(entry_name(technique))} {', '.join(chosen)}",
            "parameters": dict(zip(values, map(_value, chosen), strict=True)),
            "sweep": named.strip(),
        }
        for chosen in itertools.product(*values.values())
    ]


def _value(text: str) -> bool | int | float | str:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
