"""Labels that noise of known rates makes doubtful count both ways (Elkan and Noto 2008)."""

from typing import Annotated

import numpy as np

from benchmark.data.table import Table
from benchmark.techniques.base import Interval, Prepared, Tools
from benchmark.techniques.cross_fitting import cross_fitted
from benchmark.techniques.registry import register
from benchmark.techniques.restoring import Restorer, group_rates, turned_shares, wrong_given_unlabeled


@register
class NoiseRelabeling(Restorer):
    r"""Count rows whose label may be wrong with both labels, by told true rates of both groups.

    Idea: labels of a group are wrong in one direction. With a recorded rate r below the true rate t, a share
    b = (t - r) / t of the favorable labels was turned, whoever has them. Favorable labels are then right. An
    unfavorable label is wrong with the probability

    .. math:: q = \frac{b}{1 - b} \cdot \frac{p'}{1 - p'},

    where p' is the recorded probability of a favorable label at x. Classifiers that were trained without the
    row estimate it. The row has the weight q with the favorable label, and 1 - q with its own. Its expected
    label is the true one, so a model accepts where the true probability is at least 1/2. With r above t,
    the labels change places. These are the weights of Elkan and Noto for positive and unlabeled rows. The
    share of labels that stay, which they estimate, is told here.

    Changes: rows of doubtful labels count twice; weights sum to the number of rows. In each group q is scaled
    to the told number of wrong labels, where scores miss it. Limits: needs scores that are probabilities.
    """

    name = "noise_relabeling"
    reference = (
        "Elkan and Noto (2008), Learning classifiers from only positive and unlabeled data, KDD, section 3, "
        "in each group, with noise rates that are told"
    )
    summary = "Count doubtful labels both ways, by true rates of both groups that are told"
    version = "1"
    knows = ("rates",)
    randomised = True
    needs_scores = True
    takes_weights = False

    folds: Annotated[int, Interval(2, 20)] = 5  # parts of the rows; a classifier is trained without each

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        score = cross_fitted(train, tools, self.folds, self.name)
        wrong = np.zeros(len(train))
        for group, recorded, true in group_rates(train, tools, *tools.known.rates):
            shares = turned_shares(recorded, true)
            label = shares[1] == 0  # the label that may be wrong
            doubtful = (train.deprived == group) & (train.y == label)
            wrong[doubtful] = wrong_given_unlabeled(
                1 - score[doubtful] if label else score[doubtful], 1 - max(shares)
            )
            told = abs(true - recorded) * np.count_nonzero(train.deprived == group)
            if (found := wrong[doubtful].sum()) > 0:
                wrong[doubtful] = np.minimum(wrong[doubtful] * told / found, 1.0)
        rows = np.flatnonzero(wrong > 0)
        return self.relabeled(train, rows, wrong[rows])
