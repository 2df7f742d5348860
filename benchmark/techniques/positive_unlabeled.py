"""The deprived group's refusals as unlabeled rows (Elkan and Noto 2008)."""

from typing import Annotated

import numpy as np

from benchmark.data.table import Table
from benchmark.techniques.base import Interval, Prepared, Tools
from benchmark.techniques.cross_fitting import cross_fitted
from benchmark.techniques.registry import register
from benchmark.techniques.restoring import Restorer, wrong_given_unlabeled


@register
class PositiveUnlabeled(Restorer):
    r"""Count the deprived group's refusals with both labels, as rows of which nobody knows the label.

    Idea: favorable labels of the group are right, and of the truly favorable a share c has one, whoever they
    are. The recorded probability of a favorable label is p' = c p. Where a favorable label is sure, p' is c,
    so c is estimated by the mean of p' over the group's favorable rows. A refusal is wrong with the
    probability

    .. math:: q = \frac{1 - c}{c} \cdot \frac{p'}{1 - p'},

    and counts with the weight q as favorable and 1 - q as unfavorable. Then the expected label of each row is
    the true one, and a model accepts where the true probability is at least 1/2. Classifiers that were
    trained without the row estimate p'.

    Changes: rows of doubtful labels count twice; weights sum to the number of rows. If the bias is told to
    add favorable labels, these are the doubtful ones. If it is told to leave rows out, no label is doubtful,
    and rows stay as they are. Limits: c is too small unless every truly favorable row is sure to be one, and
    then too many refusals count as wrong. The classifier must estimate probabilities.
    """

    name = "positive_unlabeled"
    reference = (
        "Elkan and Noto (2008), Learning classifiers from only positive and unlabeled data, KDD, section 3: "
        "weights of unlabeled examples, with the estimator e1 of c"
    )
    summary = "Count the deprived group's refusals both ways, as rows without a label"
    version = "1"
    knows = ("direction", "kind")
    randomised = True
    needs_scores = True
    takes_weights = False

    folds: Annotated[int, Interval(2, 20)] = 5  # parts of the rows; a classifier is trained without each

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        sure = train.deprived & (train.y == tools.known.direction)
        doubtful = np.flatnonzero(train.deprived & ~sure)
        if tools.known.kind == "selection" or not sure.any():
            return Prepared(train, features=self.seen(train))
        score = cross_fitted(train, tools, self.folds, self.name)
        score = score if tools.known.direction else 1 - score
        kept = float(score[sure].mean())
        if kept <= 0:
            return Prepared(train, features=self.seen(train))
        return self.relabeled(train, doubtful, wrong_given_unlabeled(score[doubtful], kept))
