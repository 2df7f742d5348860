"""Reject option based classification (Kamiran, Karim and Zhang 2012)."""

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from benchmark.techniques._search import Search
from benchmark.techniques.base import Interval, Tools
from benchmark.techniques.post_processing import Adjustment, GroupPostProcessing, Scored
from benchmark.techniques.registry import register


@register
class RejectOption(GroupPostProcessing):
    r"""Decide for the deprived group where the classifier is uncertain.

    Idea: discrimination happens in close cases. Scores in the critical region :math:`(t - m, t + m]` around
    the threshold t give the deprived the favorable answer and the favored the unfavorable one. Outside,
    scores above t are favorable. A grid has thresholds from 0.01 to 0.99 and margins from 0 to
    :math:`\min(t, 1 - t)`. The technique takes the pair of best balanced accuracy whose statistical parity
    difference :math:`P(\hat y{+} \mid \text{deprived}) - P(\hat y{+} \mid \text{favored})` on the held-out
    rows is within the bound. If no pair is, it takes the one nearest to the bound. Ties go to the lowest
    threshold, then to the smallest margin.

    Changes: predictions. Limits: members of the two groups with equal scores get different answers. The
    paper's threshold is 1/2; a chosen threshold lets the rate of favorable answers move.
    """

    name = "reject_option"
    reference = (
        "Kamiran, Karim and Zhang (2012), Decision theory for discrimination-aware classification, ICDM: "
        "reject option based classification"
    )
    summary = "Favor the deprived group in a region of uncertain scores"
    version = "1"
    intersections = True
    may_lose_to_constant = (
        "it prefers a pair within the bound to an accurate pair, even one that accepts nearly all rows or "
        "none"
    )

    # Largest statistical parity difference, in absolute value.
    bound: Annotated[float, Interval(0, 1)] = 0.05
    thresholds: Annotated[int, Interval(1, 10_000)] = 100  # number of thresholds on the grid
    margins: Annotated[int, Interval(1, 10_000)] = 50  # number of margins on the grid

    search_space = (Search("bound", 0.0, 0.3),)

    def _adjust(self, held_out: Scored, tools: Tools) -> Adjustment:
        threshold, margin = critical_region(held_out, self.bound, self.thresholds, self.margins)

        def adjust(test: Scored) -> NDArray[np.bool_]:
            return test.score > np.where(test.table.deprived, threshold - margin, threshold + margin)

        return adjust


def critical_region(held_out: Scored, bound: float, thresholds: int, margins: int) -> tuple[float, float]:
    """Return the best threshold and margin of the grid; parameters as of :class:`RejectOption`."""
    threshold = np.linspace(0.01, 0.99, thresholds)
    margin = np.linspace(0, np.minimum(threshold, 1 - threshold), margins, axis=1)
    threshold = np.broadcast_to(threshold[:, None], margin.shape)
    members, y = held_out.table.deprived, held_out.table.y
    rows, favorable = np.empty((2, 2)), np.empty((2, 2, *margin.shape))  # by group and label
    for group, cut in enumerate((threshold + margin, threshold - margin)):
        for label in (0, 1):
            scores = np.sort(held_out.score[(members == group) & (y == label)])
            rows[group, label] = len(scores)
            # One search in sorted scores counts rows for the whole grid.
            favorable[group, label] = len(scores) - np.searchsorted(scores, cut, side="right")
    # Products of counts are exact, so rounding decides between no equally good pairs.
    groups, labels = rows.sum(axis=1), rows.sum(axis=0)
    selected, decided = favorable.sum(axis=1), favorable.sum(axis=0)
    difference = selected[1] * groups[0] - selected[0] * groups[1]
    excess = (np.abs(difference) - bound * groups.prod()).clip(0)
    balanced_accuracy = decided[1] * labels[0] - decided[0] * labels[1]
    best = np.lexsort((-balanced_accuracy.ravel(), excess.ravel()))[0]
    return float(threshold.flat[best]), float(margin.flat[best])
