"""Labels that cross-fitted probabilities make doubtful are left out, turned, or count both ways."""

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.errors import DeclinedError
from benchmark.techniques.base import Array, Interval, Prepared, PreProcessing, Tools, with_labels
from benchmark.techniques.registry import register
from benchmark.techniques.restoring import Restorer, group_rates, turned_shares, wrong_given_unlabeled

_ELKAN_NOTO = (
    "Elkan and Noto (2008), Learning classifiers from only positive and unlabeled data, KDD, section 3"
)


class _Doubting(PreProcessing):
    """A technique that doubts labels by cross-fitted probabilities."""

    intersections = True
    randomised = True
    needs_scores = True

    folds: Annotated[int, Interval(2, 20)] = 5  # parts of the rows; a classifier is trained without each

    def _scores(self, train: Table, tools: Tools) -> Array:
        """Return estimates of P(y+ | x) by the classifier, trained without the row's fold; shape (n_rows,).

        Raises :class:`DeclinedError` if the classifier estimates no probabilities, or a class has fewer than
        two rows.
        """
        fold = self._drawn_folds(train.y, tools.rng)
        score = np.empty(len(train))
        for part in range(self.folds):
            inside = fold == part
            if inside.any():
                scored = tools.scorer(train.take(np.flatnonzero(~inside)), self.name)
                score[inside] = scored(train.take(np.flatnonzero(inside)))
        return score

    def _drawn_folds(self, y: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the fold of each row, drawn so that each fold has its share of both classes."""
        fold = np.empty(len(y), dtype=np.int64)
        for label in (False, True):
            rows = np.flatnonzero(y == label)
            if len(rows) < 2:
                raise DeclinedError(
                    "Too few rows of one class to train without some of them",
                    expected="two rows of each class or more",
                    got=str(len(rows)),
                    remedy="draw a larger sample",
                )
            fold[rng.permutation(rows)] = np.arange(len(rows)) % self.folds
        return fold


@register
class ConfidentLearning(_Doubting):
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

    # Whether a row of doubted label is left out, as in the publication, or its label turned.
    action: Literal["prune", "turn"] = "prune"
    by_group: bool = True  # whether each group has thresholds of its own

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        score = self._scores(train, tools)
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


@register
class NoiseRelabeling(_Doubting, Restorer):
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
    reference = f"{_ELKAN_NOTO}, in each group, with noise rates that are told"
    summary = "Count doubtful labels both ways, by true rates of both groups that are told"
    version = "1"
    knows = ("rates",)
    takes_weights = False

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        score = self._scores(train, tools)
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


@register
class PositiveUnlabeled(_Doubting, Restorer):
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
    reference = f"{_ELKAN_NOTO}: weights of unlabeled examples, with the estimator e1 of c"
    summary = "Count the deprived group's refusals both ways, as rows without a label"
    version = "1"
    knows = ("direction", "kind")
    takes_weights = False

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        sure = train.deprived & (train.y == tools.known.direction)
        doubtful = np.flatnonzero(train.deprived & ~sure)
        if tools.known.kind == "selection" or not sure.any():
            return Prepared(train, features=self.seen(train))
        score = self._scores(train, tools)
        score = score if tools.known.direction else 1 - score
        kept = float(score[sure].mean())
        if kept <= 0:
            return Prepared(train, features=self.seen(train))
        return self.relabeled(train, doubtful, wrong_given_unlabeled(score[doubtful], kept))
