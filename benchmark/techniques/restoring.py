"""Techniques that undo a bias from what they are told of it, by weights of rows in the groups."""

from __future__ import annotations

import numpy as np

from benchmark.data.table import Table
from benchmark.techniques.base import Array, Prepared, PreProcessing, Tools
from benchmark.techniques.independence import cell_counts
from benchmark.techniques.knowledge import Kind

_LEAST = 0.005  # rates are kept this far from 0 and 1, so that weights stay finite
_MOST_TURNED = 0.95  # greatest share of labels that is taken for turned


def boundary_weight(recorded: float, true: float, kind: Kind) -> tuple[float, float]:
    """Return the weights of a group's unfavorable and favorable rows that put its boundary back.

    ``recorded`` and ``true`` are rates of favorable labels, in [0, 1]. With a greater true rate favorable
    rows weigh more than 1, with a smaller one unfavorable rows.
    """
    recorded, true = (min(max(rate, _LEAST), 1 - _LEAST) for rate in (recorded, true))
    if true < recorded:
        favorable, unfavorable = boundary_weight(1 - recorded, 1 - true, kind)
        return unfavorable, favorable
    if kind == "selection":
        return 1.0, true / (1 - true) * (1 - recorded) / recorded
    turned = min((true - recorded) / true, _MOST_TURNED)
    return 1.0, (1 + turned) / (1 - turned)


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
        self,
        train: Table,
        tools: Tools,
        *,
        deprived: float | None = None,
        favored: float | None = None,
        kind: Kind,
    ) -> Prepared:
        """Return rows with the weights that true rates of groups ask for; without one, rows keep theirs."""
        counts = cell_counts(train, tools.weights).astype(float)
        cells = np.ones((2, 2))
        for group, true in enumerate((favored, deprived)):
            if true is not None and counts[group].sum():
                cells[group] = boundary_weight(counts[group, 1] / counts[group].sum(), true, kind)
        return self.weighted(train, cells[train.deprived.astype(int), train.y.astype(int)], tools)

    def by_gap(self, train: Table, tools: Tools, gap: float, kind: Kind) -> Prepared:
        """Return rows with the weights that ask for a rate of the deprived group greater by a gap."""
        unfavorable, favorable = cell_counts(train, tools.weights)[1]
        members = unfavorable + favorable
        true = None if not members else favorable / members + gap
        return self.by_rates(train, tools, deprived=true, kind=kind)

    def weighted(self, train: Table, weights: Array, tools: Tools) -> Prepared:
        """Return rows with weights whose mean is 1, which a learner may count as rows."""
        own = np.ones(len(train)) if tools.weights is None else tools.weights
        scale = own.sum() / (own @ weights)
        return Prepared(train, sample_weight=weights * scale, features=self.seen(train))

    def seen(self, train: Table) -> tuple[str, ...] | None:
        """Return the columns that the classifier sees; None for all."""
        if not self.hide_group:
            return None
        schema = train.schema
        return tuple(schema.names[i] for i in schema.feature_indices if i not in schema.sensitive_indices)
