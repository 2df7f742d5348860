"""Massaging, reweighing and both samplings (Kamiran and Calders 2012): label and group become independent."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.techniques import base
from benchmark.techniques.registry import register

_PUBLICATION = (
    "Kamiran and Calders (2012), Data preprocessing techniques for classification without discrimination, "
    "Knowledge and Information Systems 33(1)"
)
_Pick: TypeAlias = Callable[[NDArray[np.intp], int, bool], NDArray[np.intp]]


def independent_counts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return whole cell sizes under independence, with the same sizes of groups and classes.

    The exact size is P(s) P(y) n. Rounding one cell to the nearest integer fixes the other three, so the
    remaining discrimination is at most half a row in each group.
    """
    n, deprived, favorable = int(counts.sum()), int(counts[1].sum()), int(counts[:, 1].sum())
    both = (2 * deprived * favorable + n) // (2 * n)
    return np.array([[n - deprived - favorable + both, favorable - both], [deprived - both, both]])


@register
class Reweighing(base.PreProcessing):
    """Weight rows so that the label does not depend on the group.

    Idea: a row of group s with label y gets the weight P(s) P(y) / P(s, y). This is its cell's share under
    independence over its observed share. Changes: weights only; the weighted discrimination is 0 and
    the weights sum to the number of rows. Limits: needs a classifier that honors weights. With an empty cell
    some discrimination stays, because no row there can gain weight.
    """

    name = "reweighing"
    reference = f"{_PUBLICATION}, section 5.2"
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

    def _prepare(self, train: Table, tools: base.Tools) -> base.Prepared:
        counts = base.cell_counts(train, tools.weights)
        if self.rate == "common":
            expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
        else:
            expected = counts.astype(np.float64)
            unfavorable, favorable = counts[0]
            expected[1, 1] = counts[1, 0] * favorable / (unfavorable or 1)
        weights = expected / np.where(counts > 0, counts, 1)  # no row reads the weight of an empty cell
        return base.Prepared(train, sample_weight=weights[train.deprived.astype(int), train.y.astype(int)])


@register
class Massaging(base.PreProcessing):
    """Exchange labels of the rows nearest to the decision boundary.

    Idea: there are b deprived rows (b+ of them favorable), w favored rows (w+ favorable) and n in all. A
    ranker orders them. Promote the M = (b w+ - w b+) / n most promising deprived rows of unfavorable label.
    Demote the M least promising favored rows of favorable label. Changes: 2 M labels; features, group sizes
    and the number of favorable labels stay. Ties keep the order of rows. M is rounded to the nearest integer;
    if it is negative, because the favored group is worse off, the groups change places. Limits: as good as
    its ranker; the changed labels are wrong where the data were not.
    """

    name = "massaging"
    reference = f"{_PUBLICATION}, section 5.1"
    summary = "Exchange labels between groups near the ranker's decision boundary"
    version = "1"
    intersections = True

    # Ranker of the rows: naive Bayes on all columns or on all but the sensitive one, or the classifier.
    ranker: base.Ranker = "naive_bayes"

    def _prepare(self, train: Table, tools: base.Tools) -> base.Prepared:
        counts = base.cell_counts(train)
        swaps = int((independent_counts(counts) - counts)[1, 1])
        if swaps == 0:
            return base.Prepared(train)
        gains = train.deprived if swaps > 0 else ~train.deprived
        promotable, demotable = np.flatnonzero(gains & ~train.y), np.flatnonzero(~gains & train.y)
        score = tools.ranked(train, self.ranker)
        y = train.y.copy()
        y[promotable[np.argsort(-score[promotable], kind="stable")[: abs(swaps)]]] = True
        y[demotable[np.argsort(score[demotable], kind="stable")[: abs(swaps)]]] = False
        return base.Prepared(base.with_labels(train, y))


class _Sampling(base.PreProcessing):
    """Rows are copied or left out, in order, until cells of group and label have sizes under independence."""

    intersections = True

    def skip(self, train: Table) -> str | None:
        """Decline a table in which a cell that must grow is empty."""
        counts = base.cell_counts(train)
        return base.empty_cell(counts, "so there is no row to copy", independent_counts(counts) > 0)

    def _prepare(self, train: Table, tools: base.Tools) -> base.Prepared:
        counts, pick = base.cell_counts(train), self._picker(train, tools)
        wanted, chosen = independent_counts(counts), list[NDArray[np.intp]]()
        for (d, y), count in np.ndenumerate(counts):
            if count:
                rows = np.flatnonzero((train.deprived == bool(d)) & (train.y == bool(y)))
                # A cell that must more than double is first copied whole as often as fits.
                copies, rest = divmod(int(wanted[d, y]), int(count))
                chosen += [np.tile(rows, copies), pick(rows, rest, copies > 0)]
        return base.Prepared(train.take(np.sort(np.concatenate(chosen))))

    @abstractmethod
    def _picker(self, train: Table, tools: base.Tools) -> _Pick:
        """Return a function of a cell's rows, a number of them to choose, and whether the cell grows.

        The chosen rows are copied once more if the cell grows, and alone stay if it shrinks.
        """


@register
class PreferentialSampling(_Sampling):
    """Copy and leave out the rows nearest to the decision boundary.

    Idea: as in uniform sampling, each cell of group s and label y gets P(s) P(y) n rows. The rows nearest to
    the boundary are copied or left out: the least promising favorable rows and the most promising unfavorable
    rows, by a ranker. A cell that must more than double is first copied whole as often as
    fits. Changes: how often each row is there; the sizes of groups and classes stay. Ties keep the order of
    rows. Limits: as good as its ranker; declines a table with an empty cell, which leaves no row to copy.
    """

    name = "preferential_sampling"
    reference = f"{_PUBLICATION}, section 5.3"
    summary = "Copy and leave out rows near the ranker's decision boundary"
    version = "1"

    # Ranker of the rows: naive Bayes on all columns or on all but the sensitive one, or the classifier.
    ranker: base.Ranker = "naive_bayes"

    def _picker(self, train: Table, tools: base.Tools) -> _Pick:
        score = tools.ranked(train, self.ranker)
        distance = np.where(train.y, score, -score)  # ascending: nearest to the boundary first

        def pick(rows: NDArray[np.intp], size: int, grows: bool) -> NDArray[np.intp]:
            ordered = rows[np.argsort(distance[rows], kind="stable")]
            return ordered[:size] if grows else ordered[len(rows) - size :]

        return pick


@register
class UniformSampling(_Sampling):
    """Copy and leave out rows at random until label and group are independent.

    Idea: reweighing in whole rows. Each cell of group s and label y gets P(s) P(y) n rows. A cell that is too
    small is copied whole as often as fits; a random draw without replacement fills the rest. A cell that is
    too large keeps a random draw. Changes: how often each row is there; the sizes of groups and classes stay.
    Limits: declines a table with an empty cell, which leaves no row to copy.
    """

    name = "uniform_sampling"
    reference = f"{_PUBLICATION}, section 5.3"
    summary = "Copy and leave out random rows until label and group are independent"
    version = "1"
    randomised = True

    def _picker(self, train: Table, tools: base.Tools) -> _Pick:
        return lambda rows, size, _grows: tools.rng.choice(rows, size, replace=False, shuffle=False)
