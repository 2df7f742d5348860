"""Techniques in groups of as many lines as can be told apart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from benchmark.runs.descriptions import STAGES, TechniqueDescription

_MOST_LINES = 9  # more cannot be distinguished by eye

Shown: TypeAlias = Sequence[tuple[TechniqueDescription, int]]
"""Techniques, each with the position of its look."""


def technique_groups(
    shown: Shown, baseline: str, techniques: Sequence[TechniqueDescription]
) -> Iterator[tuple[str, Shown]]:
    """Yield title and techniques of each row of panels: all, or, where they are many, those of each stage.

    Each stage is shown with the baseline, if that is shown. A technique looks the same on all datasets of a
    run: its position is that among all ``techniques`` of its stage, whichever of them a dataset lacks.
    """
    if len(shown) <= _MOST_LINES:
        yield "", shown
        return
    names = {technique.name for technique, _ in shown}
    first = [(technique, 0) for technique, _ in shown if technique.name == baseline]
    for stage, title in STAGES.items():
        own = [technique for technique in techniques if technique.stage == stage]
        n_parts = math.ceil(len(own) / (_MOST_LINES - 1))
        for part in range(n_parts):
            # Parts of equal size, give or take one.
            members = own[part * len(own) // n_parts : (part + 1) * len(own) // n_parts]
            others = [(t, i) for i, t in enumerate(members, 1) if t.name in names - {baseline}]
            if others:
                yield title + (f" ({part + 1} of {n_parts})" if n_parts > 1 else ""), [*first, *others]
