"""Massaging (Kamiran and Calders 2009, 2012)."""

import numpy as np

from benchmark.data.table import Table
from benchmark.techniques.base import Prepared, PreProcessing, Ranker, Tools, with_labels
from benchmark.techniques.independence import KAMIRAN_CALDERS, cell_counts, independent_counts
from benchmark.techniques.registry import register


@register
class Massaging(PreProcessing):
    """Exchange labels of the rows nearest to the decision boundary.

    Idea: there are b deprived rows (b+ of them favorable), w favored rows (w+ favorable) and n in all. A
    ranker orders them. Promote the M = (b w+ - w b+) / n most promising deprived rows of unfavorable label.
    Demote the M least promising favored rows of favorable label. Changes: 2 M labels; features, group sizes
    and the number of favorable labels stay. Ties keep the order of rows. M is rounded to the nearest integer;
    if it is negative, because the favored group is worse off, the groups change places. Limits: as good as
    its ranker; the changed labels are wrong where the data were not.
    """

    name = "massaging"
    reference = f"{KAMIRAN_CALDERS}, section 5.1"
    summary = "Exchange labels between groups near the ranker's decision boundary"
    version = "1"
    intersections = True

    # Ranker of the rows: naive Bayes on all columns or on all but the sensitive one, or the classifier.
    ranker: Ranker = "naive_bayes"

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        counts = cell_counts(train)
        swaps = int((independent_counts(counts) - counts)[1, 1])
        if swaps == 0:
            return Prepared(train)
        gains = train.deprived if swaps > 0 else ~train.deprived
        promotable, demotable = np.flatnonzero(gains & ~train.y), np.flatnonzero(~gains & train.y)
        score = tools.ranked(train, self.ranker)
        y = train.y.copy()
        y[promotable[np.argsort(-score[promotable], kind="stable")[: abs(swaps)]]] = True
        y[demotable[np.argsort(score[demotable], kind="stable")[: abs(swaps)]]] = False
        return Prepared(with_labels(train, y))
