"""Label-noise correction by confident learning (Northcutt, Jiang and Chuang 2021), in each group."""

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.techniques.base import Array, Interval, Prepared, PreProcessing, Tools, with_labels
from benchmark.techniques.cross_fitting import cross_fitted
from benchmark.techniques.registry import register


@register
class ConfidentLearning(PreProcessing):
    r"""Leave out rows whose label cross-fitted probabilities contradict, or turn their labels.

    Idea: each row gets the probability of its label from a classifier that was trained without the row. The
    threshold of a class is the mean probability of that class among the rows that carry its label,

    .. math:: t_j = E[\hat p(j \mid x) \mid \tilde y = j].

    A row is probably mislabeled if the other class reaches its threshold and is the more probable one, or
    the only one to reach it. With ``by_group`` the thresholds are of the deprived group and of all other
    rows, because a bias against one group makes its labels noisier.

    Changes: labels, or the rows themselves. Limits: hard cases look like wrong labels, and a bias that
    follows the features looks like a rule. Where a classifier hardly tells the classes apart in a group, the
    thresholds are close together and many labels are doubted. The classifier must estimate probabilities.
    """

    name = "confident_learning"
    reference = (
        "Northcutt, Jiang and Chuang (2021), Confident learning: estimating uncertainty in dataset labels, "
        "Journal of Artificial Intelligence Research 70, section 3: the confident joint"
    )
    summary = "Leave out rows whose labels cross-fitted probabilities contradict, with thresholds by group"
    version = "1"
    intersections = True
    randomised = True
    needs_scores = True

    # Whether a row of doubted label is left out, as in the publication, or its label turned.
    action: Literal["prune", "turn"] = "prune"
    by_group: bool = True  # whether each group has thresholds of its own
    folds: Annotated[int, Interval(2, 20)] = 5  # parts of the rows; a classifier is trained without each

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        score = cross_fitted(train, tools, self.folds, self.name)
        groups = train.deprived if self.by_group else np.zeros(len(train), dtype=bool)
        doubted = doubted_labels(score, train.y, groups)
        if self.action == "turn":
            return Prepared(with_labels(train, train.y ^ doubted))
        return Prepared(train.take(np.flatnonzero(~doubted)))


def doubted_labels(score: Array, y: NDArray[np.bool_], groups: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which labels are probably wrong, shape (n_rows,).

    ``score`` estimates P(y+ | x) by models that have not seen the row. Each of the two ``groups`` has
    thresholds of its own; in a group that lacks a class, no label is doubted.
    """
    doubted = np.zeros(len(y), dtype=bool)
    for group in (False, True):
        favorable, unfavorable = (np.flatnonzero((groups == group) & (y == label)) for label in (True, False))
        if not len(favorable) or not len(unfavorable):
            continue
        least = score[favorable].mean()  # of the favorable class
        most = score[unfavorable].mean()  # of the same probability, in the unfavorable class
        for rows, label in ((favorable, True), (unfavorable, False)):
            p = score[rows]
            reaches = {True: p >= least, False: p <= most}
            likelier = p > 0.5 if not label else p < 0.5
            doubted[rows] = reaches[not label] & (likelier | ~reaches[label])
    return doubted
