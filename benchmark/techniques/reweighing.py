"""Reweighing (Kamiran and Calders 2012)."""

from typing import Literal

import numpy as np

from benchmark.data.table import Table
from benchmark.techniques.base import Prepared, PreProcessing, Tools
from benchmark.techniques.independence import KAMIRAN_CALDERS, cell_counts
from benchmark.techniques.registry import register


@register
class Reweighing(PreProcessing):
    """Weight rows so that the label does not depend on the group.

    Idea: a row of group s with label y gets the weight P(s) P(y) / P(s, y). This is its cell's share under
    independence over its observed share. Changes: weights only; the weighted discrimination is 0 and
    the weights sum to the number of rows. Limits: needs a classifier that honors weights. With an empty cell
    some discrimination stays, because no row there can gain weight.
    """

    name = "reweighing"
    reference = f"{KAMIRAN_CALDERS}, section 5.2"
    summary = "Weight rows so that label and group become independent"
    version = "1"
    intersections = True
    needs_weights = True
    takes_weights = True

    # The rate of favorable rows that groups get: ``common`` gives all groups the rate of all rows.
    # ``favored`` gives the deprived group the favored group's rate, by the weight of its favorable rows
    # alone. This is the re-weighting of Blum and Stangl 2020, Recovering from biased data, FORC, where
    # nothing is told: both groups are taken to have the same true rate. ``blum_stangl`` is told both rates.
    rate: Literal["common", "favored"] = "common"

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        counts = cell_counts(train, tools.weights)
        if self.rate == "common":
            expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
        else:
            expected = counts.astype(np.float64)
            unfavorable, favorable = counts[0]
            expected[1, 1] = counts[1, 0] * favorable / (unfavorable or 1)
        weights = expected / np.where(counts > 0, counts, 1)  # no row reads the weight of an empty cell
        return Prepared(train, sample_weight=weights[train.deprived.astype(int), train.y.astype(int)])
