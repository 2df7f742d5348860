"""Groups of techniques whose lines can be told apart in one panel."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from benchmark.runs.descriptions import STAGES, TechniqueDescription

_MOST_LINES = 9  # that the eye distinguishes

Shown: TypeAlias = Sequence[tuple[TechniqueDescription, int]]
"""Techniques, each with the position of its look."""


def technique_groups(
    shown: Shown, baseline: str, techniques: Sequence[TechniqueDescription]
) -> Iterator[tuple[str, Shown]]:
    """Yield title and techniques of each row of panels: all techniques, or one stage where there are many.

    Each stage has the baseline, if it is shown. A technique's look follows from its position among all
    ``techniques`` of its stage, so it is the same on all datasets of a run.
    """
    if len(shown) <= _MOST_LINES:
        yield "", shown
        return
    names = {technique.name for technique, _ in shown}
    first = [(technique, 0) for technique, _ in shown if technique.name == baseline]
    for stage, title in STAGES.items():
        of_stage = [technique for technique in techniques if technique.stage == stage]
        n_parts = math.ceil(len(of_stage) / (_MOST_LINES - 1))
        for part in range(n_parts):
            # The sizes of parts differ by one at most.
            members = of_stage[part * len(of_stage) // n_parts : (part + 1) * len(of_stage) // n_parts]
            lines = [(t, i) for i, t in enumerate(members, 1) if t.name in names - {baseline}]
            if lines:
                yield title + (f" ({part + 1} of {n_parts})" if n_parts > 1 else ""), [*first, *lines]
