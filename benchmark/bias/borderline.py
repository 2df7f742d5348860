"""Borderline bias: labels near the boundary between accepting and refusing are wrong."""

import numpy as np

from benchmark.bias.base import Array, BiasKind, Chances, Rows, by_label, lacking, register
from benchmark.bias.parameters import DEPRIVED, Group, Rate
from benchmark.data.table import Table
from benchmark.errors import BiasError

_FOLDS = 5
_WIDTH = 0.25  # of ranks, as a fraction of all rows, within which rows are near the boundary


@register
class BorderlineBias(BiasKind):
    """Turn a group's favorable labels, with a probability that rises toward the decision boundary.

    A label is turned with the probability rate × nearness; :func:`nearness_to_boundary` defines nearness,
    from 0 to 1. It is computed once for all rows before anything is planted, so that rows keep it in
    every training sample and in the biased test. It needs real rows.
    """

    name = "borderline"
    summary = (
        "favorable labels of the deprived group turned with probability β at the decision boundary of a "
        "logistic regression, and less far from it"
    )
    reference = (
        "Kamiran and Calders (2012), Data preprocessing techniques for classification without "
        "discrimination: the people whom massaging takes to be wronged"
    )
    version = "1"
    needs_boundary = True

    rate: Rate = Rate("beta")  # probability at the boundary that a favorable label becomes unfavorable
    group: Group = DEPRIVED  # the people whose labels are turned

    def chances(self, rows: Rows, beta: float) -> Chances:
        """Return the rate times the nearness for the group's favorable labels."""
        if rows.boundary is None:
            raise lacking(self.name, "boundary")
        chance = self.rate.at(beta) * rows.boundary  # at most 1, as either is
        return Chances(turned=by_label(self.group.members(rows.table), favorable=1.0) * chance[:, None])


def nearness_to_boundary(table: Table, rng: np.random.Generator) -> Array:
    """Return each row's nearness to the boundary between both labels, from 0 to 1, shape (n_rows,).

    A logistic regression on all features and the groups, each state a column of 0 and 1, gives each row the
    probability of the favorable label. The model of a row is fitted to the four other fifths of the rows.
    Probabilities are ranked as a fraction from 0 to 1, ties averaged. The boundary is their quantile at 1 -
    base rate: as many rows are above it as have the favorable label. A row at the boundary has nearness 1,
    which falls in a straight line to 0 at a distance of .25 in ranks.

    ``table`` has all rows before anything is planted; ``rng`` divides them into fifths. A BiasError means
    that four fifths of the rows have one label only.
    """
    from scipy.stats import rankdata
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import OneHotEncoder

    schema, y = table.schema, table.y
    columns = [i for i in range(len(schema.columns)) if i != schema.label_index]
    states = [np.arange(schema.columns[i].cardinality) for i in columns]
    # Sparse products are summed row by row: equal rows of a fifth tie. Newton's method reaches the optimum up
    # to rounding. Other solvers stop near it, at points that depend on the processor, which changes ranks.
    features = OneHotEncoder(categories=states).fit_transform(table.codes[:, columns])
    log_odds = np.empty(len(table))  # ranked like probabilities, without their rounding near 0 and 1
    fifth = np.empty(len(table), dtype=np.intp)
    fifth[rng.permutation(len(table))] = np.arange(len(table)) % _FOLDS
    for number in range(_FOLDS):
        training = fifth != number
        if training.all():
            continue  # there are fewer rows than parts
        if y[training].all() or not y[training].any():
            raise BiasError(
                "The bias kind 'borderline' cannot tell where the decision boundary is",
                expected="rows of both labels in any four fifths of all rows, to fit a model to",
                got=f"{np.count_nonzero(y)} favorable labels among {len(y):,} rows",
                remedy="use another kind on this dataset",
            )
        model = LogisticRegression(solver="newton-cholesky", tol=1e-9).fit(features[training], y[training])
        log_odds[~training] = model.decision_function(features[~training])
    ranks = (rankdata(log_odds) - 1) / (len(table) - 1)
    # Ranks rise as probabilities do: their quantile is the rank of the probabilities' quantile.
    distance = np.abs(ranks - np.quantile(ranks, 1 - y.mean()))
    return np.asarray(np.maximum(0.0, 1 - distance / _WIDTH))
