"""Techniques that undo a bias from what they are told of it, by weights of rows in the groups."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.techniques.base import Array, Prepared, PreProcessing, Tools, cell_counts, with_labels
from benchmark.techniques.knowledge import Kind

_LEAST = 0.005  # rates are kept this far from 0 and 1, so that weights stay finite
_MOST_TURNED = 0.95  # greatest share of labels that is taken for turned


def turned_shares(recorded: float, true: float) -> tuple[float, float]:
    """Return which shares of a group's truly unfavorable and truly favorable labels were turned.

    ``recorded`` and ``true`` are rates of favorable labels. One of the shares is 0: noise that goes in both
    directions cannot be told from rates.
    """
    recorded, true = (min(max(rate, _LEAST), 1 - _LEAST) for rate in (recorded, true))
    if true < recorded:
        return min((recorded - true) / (1 - true), _MOST_TURNED), 0.0
    return 0.0, min((true - recorded) / true, _MOST_TURNED)


def boundary_weight(recorded: float, true: float, kind: Kind) -> tuple[float, float]:
    """Return the weights of a group's unfavorable and favorable rows that put its boundary back.

    ``recorded`` and ``true`` are rates of favorable labels, in [0, 1]. With a greater true rate favorable
    rows weigh more than 1, with a smaller one unfavorable rows.
    """
    if kind == "selection":
        recorded, true = (min(max(rate, _LEAST), 1 - _LEAST) for rate in (recorded, true))
        ratio = true / (1 - true) * (1 - recorded) / recorded  # of odds
        return max(1 / ratio, 1.0), max(ratio, 1.0)
    unfavorable, favorable = turned_shares(recorded, true)
    return (1 + unfavorable) / (1 - unfavorable), (1 + favorable) / (1 - favorable)


class Restorer(PreProcessing):
    """A technique that weights rows by group and label, by what it is told.

    Weights by group treat groups unequally in training; some law forbids that even where the purpose is to
    undo a bias.
    """

    intersections = True
    needs_weights = True
    takes_weights = True

    # Whether the classifier does without the group, so that new people are decided on without it. Weights
    # depend on the group of training rows all the same.
    hide_group: bool = False

    def by_rates(
        self, train: Table, tools: Tools, kind: Kind, deprived: float | None, favored: float | None = None
    ) -> Prepared:
        """Return rows with the weights that true rates of groups ask for; without one, rows keep theirs."""
        cells = np.ones((2, 2))
        for group, recorded, true in group_rates(train, tools, deprived, favored):
            cells[group] = boundary_weight(recorded, true, kind)
        return self.weighted(train, cells[train.deprived.astype(int), train.y.astype(int)], tools)

    def by_gap(self, train: Table, tools: Tools, gap: float, kind: Kind) -> Prepared:
        """Return rows with the weights that ask for a rate of the deprived group greater by a gap."""
        recorded = recorded_rates(train, tools)[1]
        true = None if recorded is None else recorded + gap
        return self.by_rates(train, tools, kind, true)

    def weighted(self, train: Table, weights: Array, tools: Tools) -> Prepared:
        """Return rows with weights whose mean is 1, which a learner may count as rows."""
        own = np.ones(len(train)) if tools.weights is None else tools.weights
        scale = own.sum() / (own @ weights)
        return Prepared(train, sample_weight=weights * scale, features=self.seen(train))

    def relabeled(self, train: Table, doubtful: NDArray[np.intp], wrong: Array) -> Prepared:
        """Return rows of which some count with both labels; weights sum to the number of rows.

        ``wrong`` is the probability that the label of each ``doubtful`` row is wrong, shape (n_doubtful,). It
        is the weight of the row with the other label, and with its own the row has the rest.
        """
        weights = np.concatenate([np.ones(len(train)), wrong])
        weights[doubtful] -= wrong
        labels = np.concatenate([train.y, ~train.y[doubtful]])
        rows = np.concatenate([np.arange(len(train)), doubtful])
        counted = np.flatnonzero(weights > 0)
        table = with_labels(train.take(rows[counted]), labels[counted])
        return Prepared(table, sample_weight=weights[counted], features=self.seen(train))

    def seen(self, train: Table) -> tuple[str, ...] | None:
        """Return the columns that the classifier sees; None for all."""
        if not self.hide_group:
            return None
        return tuple(train.schema.names[i] for i in train.schema.insensitive_indices)


def recorded_rates(train: Table, tools: Tools) -> tuple[float | None, float | None]:
    """Return the rates of favorable labels of all other rows and of the deprived group; None without rows."""
    rates = [float(row[1] / row.sum()) if row.any() else None for row in cell_counts(train, tools.weights)]
    return rates[0], rates[1]


def group_rates(
    train: Table, tools: Tools, deprived: float | None, favored: float | None
) -> Iterator[tuple[int, float, float]]:
    """Yield each group with rows and a true rate, 1 for the deprived one: its recorded and its true rate."""
    pairs = zip(recorded_rates(train, tools), (favored, deprived), strict=True)
    for group, (recorded, true) in enumerate(pairs):
        if recorded is not None and true is not None:
            yield group, recorded, true


def examined_mean(values: Array, rows: NDArray[np.intp], tools: Tools) -> float | None:
    """Return the mean of values of training rows, by position, each as often as its row counts.

    It is None if no row counts.
    """
    weights = np.ones(len(rows)) if tools.weights is None else tools.weights[rows]
    return float(np.average(values, weights=weights)) if weights.any() else None


def wrong_given_unlabeled(score: Array, kept: float) -> Array:
    """Return P(true label favorable | x, recorded label unfavorable), shape (n_rows,).

    Of truly favorable labels a share ``kept`` was recorded as favorable, whoever has them, and no other. With
    the recorded probability s(x) = kept p(x) of a favorable label, the estimate ``score``, it is

        (p - s) / (1 - s) = (1 - kept) / kept * s / (1 - s),

    which Elkan and Noto (2008) give in section 3. It is at most 1, however far scores exceed ``kept``.
    """
    turned, unfavorable = (1 - kept) / kept * score, 1 - score
    sure = (turned > 0).astype(float)  # where the quotient would be 1 or more
    return np.asarray(np.divide(turned, unfavorable, out=sure, where=turned < unfavorable))
