"""Reweighing (Kamiran and Calders 2012)."""

import numpy as np

from benchmark.data.table import Table
from benchmark.techniques.base import Prepared, PreProcessing, Tools
from benchmark.techniques.independence import KAMIRAN_CALDERS, cell_counts
from benchmark.techniques.registry import register


@register
class Reweighing(PreProcessing):
    """Weight rows so that the label does not depend on the group.

    Idea: a row of group s with label y gets the weight P(s) P(y) / P(s, y), the ratio of its cell's share
    under independence to its observed share. Changes: weights only; the weighted discrimination is 0 and
    the weights sum to the number of rows. Limits: needs a classifier that honors weights; a cell without
    rows cannot be weighted up, so that discrimination stays there.
    """

    name = "reweighing"
    reference = f"{KAMIRAN_CALDERS}, section 5.2"
    summary = "Weight rows so that label and group become independent"
    version = "1"
    needs_weights = True

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        counts = cell_counts(train)
        expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / len(train)
        weights = expected / np.maximum(counts, 1)  # no row reads the weight of an empty cell
        return Prepared(train, sample_weight=weights[train.deprived.astype(int), train.y.astype(int)])
