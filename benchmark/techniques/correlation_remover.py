"""Features without their correlation with the sensitive feature."""

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.seeding import lots_of_rows
from benchmark.techniques._search import Search
from benchmark.techniques.base import Array, Interval, Prepared, PreProcessing, Tools, features_of
from benchmark.techniques.encoding import (
    between_extremes,
    equal_frequency_edges,
    new_features,
    with_features,
)
from benchmark.techniques.registry import register


@register
class CorrelationRemover(PreProcessing):
    r"""Subtract from every feature what a linear regression on the sensitive feature predicts.

    Idea: an ordered column is a number, the position of its state. An unordered column has an indicator for
    each state; with two states, only for the rarer. Let :math:`\bar x` be the mean of such a feature, and
    :math:`\bar x_s` its mean among the rows of sensitive state s. Regression on the indicators of s predicts
    :math:`\bar x_s`, and a row of state s gets

    .. math:: x - \alpha\,(\bar x_s - \bar x) ,

    which at :math:`\alpha = 1` correlates with no indicator of s. fairlearn's ``CorrelationRemover`` gives
    the same values for the same features and indicators. The benchmark's classifiers take states, so the
    values become states of a new column (see ``discretisation``). Groups are all states of the sensitive
    feature. A group without training rows is not shifted.

    Changes: the features of training and test rows; the classifier does not see the sensitive feature.
    Features that become constant are left out. Limits: removes only the linear dependence of single features;
    other moments and combinations may tell the group. A feature has one value for each state and group.
    Although the values correlate with no group, fine pieces of equal frequency tell the group, and coarse
    pieces are the original states. A classifier of such states gains little fairness; a classifier that adds
    up the columns, like naive Bayes, may predict by the group alone. Random rounding avoids this, but loses
    accuracy. Rows to predict that differ only in the group share their random numbers. So equal rows get
    equal answers, whatever other rows come with them. Columns with few combinations of states have few random
    numbers, whose effects may not cancel out.
    """

    name = "correlation_remover"
    reference = (
        "Weerts, Dudík, Edgar, Jalali, Lutz and Madaio (2023), Fairlearn: Assessing and improving fairness "
        "of AI systems, Journal of Machine Learning Research 24"
    )
    summary = "Subtract from every feature what a linear regression on the sensitive feature predicts"
    version = "2"
    intersections = True
    randomised = True
    multi_group = True

    alpha: Annotated[float, Interval(0, 1)] = 1.0  # share of the prediction that is subtracted
    # ``random_rounding`` rounds a value to the least or the largest value, with the value as expectation. Two
    # states that correlate with no group are independent of it, so no single column tells the group. For a
    # row to predict, the random numbers depend only on its other features and the seed. ``equal_frequency``
    # cuts values into pieces of about equal frequency.
    discretisation: Literal["random_rounding", "equal_frequency"] = "random_rounding"
    bins: Annotated[int, Interval(2, 100)] = 10  # largest number of pieces of equal frequency

    search_space = (Search("alpha", 0.0, 1.0),)

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        schema = train.schema
        # The source of each new column, and its code by group and state; fractions are rounded at random.
        plan: list[tuple[int, Array]] = []
        columns = []
        for i in schema.insensitive_indices:
            counts = _counts(train, i)
            values = residuals(counts, schema.columns[i].ordered, self.alpha)
            for number, value in enumerate(np.moveaxis(values, 2, 0)):
                if self.discretisation == "equal_frequency":
                    edges = equal_frequency_edges(value, counts, self.bins)
                    code, states = np.searchsorted(edges, value).astype(np.float64), len(edges) + 1
                else:
                    code, states = between_extremes(value, counts), 2
                if len(np.unique(code[counts > 0])) > 1:
                    plan.append((i, code))
                    columns.append((f"{schema.columns[i].name} {number}", states))
        changed = new_features(schema, columns)

        def redrawn(table: Table, lots: Array) -> Table:
            group, planned = table.groups, zip(plan, lots, strict=True)
            codes = [np.floor(code[group, table.codes[:, i]] + lot) for (i, code), lot in planned]
            return with_features(table, changed, codes)

        seed = int(tools.rng.integers(2**63))  # drawn once, so that each call answers alike
        others = list(schema.insensitive_indices)

        def transform(table: Table) -> Table:
            return redrawn(table, lots_of_rows(features_of(table, others), seed, len(plan)).T)

        table = redrawn(train, tools.rng.random((len(plan), len(train))))
        return Prepared(
            table, features=changed.names[1 + len(schema.sensitive_indices) :], transform=transform
        )


def residuals(counts: NDArray[np.int64], ordered: bool, alpha: float) -> Array:
    """Return a column's features less the group's prediction, shape (n_groups, n_states, n_features).

    ``counts`` are training rows by group and state, shape (n_groups, n_states). The only feature of an
    ordered column is the position of the state. Otherwise states have indicators, from the most frequent to
    the rarest, so that the result does not depend on the states' codes. ``alpha``, from 0 to 1, is the share
    of the prediction that is subtracted.
    """
    states = counts.shape[1]
    if ordered:
        features = np.arange(states, dtype=np.float64)[:, None]
    else:
        falling = np.argsort(-counts.sum(axis=0), kind="stable")
        features = np.eye(states)[:, falling[states == 2 :]]
    size = counts.sum(axis=1, keepdims=True)
    mean = counts.sum(axis=0) @ features / size.sum()
    shift = np.where(size > 0, counts @ features / np.maximum(size, 1) - mean, 0.0)
    return np.asarray(features - alpha * shift[:, None])


def _counts(table: Table, i: int) -> NDArray[np.int64]:
    """Return the number of rows by group and state of column ``i``, shape (n_groups, n_states)."""
    shape = len(table.schema.groups), table.schema.columns[i].cardinality
    cell = table.groups.astype(np.intp) * shape[1] + table.codes[:, i]
    return np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
