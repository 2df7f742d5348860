"""Preferential sampling (Kamiran and Calders 2010, 2012)."""

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.techniques.base import Prepared, PreProcessing, Ranker, Tools
from benchmark.techniques.independence import KAMIRAN_CALDERS, missing_members, resample
from benchmark.techniques.registry import register


@register
class PreferentialSampling(PreProcessing):
    """Copy and leave out the rows nearest to the decision boundary.

    Idea: as in uniform sampling, each cell of group s and label y gets P(s) P(y) n rows. The rows nearest to
    the boundary are copied or left out: the least promising favorable rows and the most promising unfavorable
    rows, by a ranker. A cell that must more than double is first copied whole as often as
    fits. Changes: how often each row is there; the sizes of groups and classes stay. Ties keep the order of
    rows. Limits: as good as its ranker; declines a table with an empty cell, which leaves no row to copy.
    """

    name = "preferential_sampling"
    reference = f"{KAMIRAN_CALDERS}, section 5.3"
    summary = "Copy and leave out rows near the ranker's decision boundary"
    version = "1"
    intersections = True

    # Ranker of the rows: naive Bayes on all columns or on all but the sensitive one, or the classifier.
    ranker: Ranker = "naive_bayes"

    def skip(self, train: Table) -> str | None:
        """Decline a table in which a cell that must grow is empty."""
        return missing_members(train)

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        score = tools.ranked(train, self.ranker)
        distance = np.where(train.y, score, -score)  # ascending: nearest to the boundary first

        def pick(rows: NDArray[np.intp], size: int, grows: bool) -> NDArray[np.intp]:
            ordered = rows[np.argsort(distance[rows], kind="stable")]
            return ordered[:size] if grows else ordered[len(rows) - size :]

        return Prepared(resample(train, pick))
