"""my_technique (author and year)."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from benchmark.techniques import Adjustment, GroupPostProcessing, Interval, Scored, Tools, register


@register
class MyTechnique(GroupPostProcessing):
    r"""Describe in one line the change of the predictions.

    Idea: why it should work, with the formula. Here the deprived group's threshold moves from 1/2, by the
    share ``strength``, to the threshold of equal rates of positive predictions. Changes: the predictions
    only. Limits: where it fails, and when it declines a table.
    """

    name = "my_technique"
    reference = "Author (year), Title, journal or conference, section or equation"
    summary = "Describe its effect in one line for lists"
    version = "1"  # change it whenever the same input and seed would give another result

    # Its effect, and the meaning of its ends. Here 0 changes nothing.
    strength: Annotated[float, Interval(0, 1)] = 1.0

    def _adjust(self, held_out: Scored, tools: Tools) -> Adjustment:
        # Held-out rows have their labels, held_out.table.y, and scores that estimate P(y+ | x).
        deprived = held_out.table.deprived
        rate = np.mean(held_out.score[~deprived] > 0.5)
        equal = np.quantile(held_out.score[deprived], 1 - rate)
        threshold = 0.5 + self.strength * (equal - 0.5)
        # Rows to predict come with scores, without labels.
        return lambda rows: rows.score > np.where(rows.table.deprived, threshold, 0.5)
