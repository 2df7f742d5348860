"""Synthetic rows for rare labels, and for rare labels of each group (SMOTE and Fair-SMOTE)."""

from typing import Annotated, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import CODE_DTYPE, Table
from benchmark.techniques.base import Interval, Prepared, PreProcessing, Tools, cell_counts, empty_cell
from benchmark.techniques.constrained_logistic import Design, least
from benchmark.techniques.encoding import Encoding
from benchmark.techniques.registry import register

Codes: TypeAlias = NDArray[np.int16]
Rows: TypeAlias = NDArray[np.intp]


@register
class Smote(PreProcessing):
    r"""Make up rows of the rarer label between neighbors until both labels are equally frequent.

    Idea: the nominal variant SMOTE-N. The distance of rows x and z is the value difference metric, here
    :math:`\sum_j (P(y^+ \mid x_j) - P(y^+ \mid z_j))^2`. In each column of a synthetic row, a row and its
    nearest neighbors of the same label vote on the state. A tie goes to the row's state, or to a random one
    if that is not among the tied states. Every row of the rarer label serves equally often, up to one.

    Changes: adds rows; the others stay. Limits: ignores groups, and so may increase discrimination as well as
    reduce it; a baseline for ``fair_smote``.
    """

    name = "smote"
    reference = (
        "Chawla, Bowyer, Hall and Kegelmeyer (2002), SMOTE: Synthetic minority over-sampling technique, "
        "Journal of Artificial Intelligence Research 16"
    )
    summary = "Make up rows of the rarer label from neighbors until both labels are equally frequent"
    version = "1"
    randomised = True

    # Number of neighbors that vote besides the row itself; all, if there are fewer.
    neighbours: Annotated[int, Interval(1, 100)] = 5

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        favorable = int(np.count_nonzero(train.y))
        missing = len(train) - 2 * favorable
        rare = tools.rng.permutation(np.flatnonzero(train.y if missing > 0 else ~train.y))
        nearest = _nearest(train, rare, self.neighbours)
        parents = np.resize(np.arange(len(rare)), abs(missing))
        family = train.codes[np.column_stack([rare, rare[nearest]])[parents]]
        return Prepared(_extended(train, _most_voted(family, train.schema.cardinalities, tools.rng)))


@register
class FairSmote(PreProcessing):
    r"""Make up rows until both labels of both groups are equally frequent, and leave out biased ones.

    Idea: every cell of group and label grows to the size of the largest cell. A synthetic row descends from a
    row p of the cell and its nearest neighbors a and b there, by the distance of ``smote``. Each column
    mutates with probability ``crossover``; the others are p's. An unordered column takes the state of p, a or
    b, each with probability 1/3. An ordered column takes :math:`p + \mathrm{mutation}\,(a - b)`, rounded to a
    state and never beyond the first or last state.

    Situation testing then leaves out rows whose predicted label changes with the group: deprived to the most
    frequent favored state, favored to deprived. A logistic regression on the balanced rows predicts the
    label. Half the squared norm of its coefficients is added to the summed loss.

    Changes: adds rows, and leaves out rows; none is altered. Limits: where many rows are equal, a synthetic
    row is a copy, because a row's nearest neighbors equal it. After situation testing the cells are no longer
    of equal size, and where the group decides much, many rows are left out. Declines a table with an empty
    cell.
    """

    name = "fair_smote"
    reference = (
        "Chakraborty, Majumder and Menzies (2021), Bias in machine learning software: Why? How? What to "
        "do?, ESEC/FSE"
    )
    summary = "Make up rows until all cells of group and label are equally large; leave out biased rows"
    version = "1"
    randomised = True

    crossover: Annotated[float, Interval(0, 1)] = 0.8  # probability that a column mutates
    # Share of the neighbors' difference that is added to an ordered column.
    mutation: Annotated[float, Interval(0, 1)] = 0.8
    situation_testing: bool = True  # whether biased rows are left out

    def skip(self, train: Table) -> str | None:
        """Decline a table with an empty cell: no row there can have children."""
        return empty_cell(cell_counts(train), "and a synthetic row needs a parent")

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        counts = cell_counts(train)
        children = [np.empty((0, len(train.schema.columns)), dtype=CODE_DTYPE)]
        for (d, y), count in np.ndenumerate(counts):
            if count == counts.max():
                continue
            cell = np.flatnonzero((train.deprived == bool(d)) & (train.y == bool(y)))
            rows = tools.rng.permutation(cell)
            parents = np.resize(np.arange(len(rows)), int(counts.max() - count))
            nearest = np.resize(_nearest(train, rows, 2).T, (2, len(rows)))  # a single neighbor is both
            family = train.codes[np.vstack([rows, rows[nearest]])[:, parents]]
            children.append(self._children(family, train, tools.rng))
        balanced = _extended(train, np.vstack(children))
        return Prepared(balanced.take(_unbiased(balanced)) if self.situation_testing else balanced)

    def _children(self, family: Codes, train: Table, rng: np.random.Generator) -> Codes:
        """Return children, shape (n, n_columns), of rows and their two neighbors, shape (3, n, n_columns)."""
        parent, a, b = family
        ordered = train.schema.ordered
        moved = np.rint(parent + self.mutation * (a - b)).clip(0, train.schema.cardinalities - 1)
        picked = np.take_along_axis(family, rng.integers(3, size=(1, *parent.shape)), axis=0)[0]
        mutated = rng.random(parent.shape) < self.crossover
        return np.asarray(np.where(mutated, np.where(ordered, moved, picked), parent), dtype=CODE_DTYPE)


def _nearest(train: Table, rows: Rows, neighbors: int) -> Rows:
    """Return the positions in ``rows`` of each row's nearest other rows, shape (n_rows, k).

    k is ``neighbors``, or the number of other rows if it is less. A single row is its own neighbor.
    """
    from scipy.spatial import KDTree

    if len(rows) == 1:
        return np.zeros((1, 1), dtype=np.intp)
    # The state's rate of favorable labels as coordinate makes the value difference metric Euclidean.
    points = np.empty((len(rows), train.features.shape[1]))
    for column, codes in enumerate(train.features.T):
        count, favorable = np.bincount(codes), np.bincount(codes, train.y)
        points[:, column] = (favorable / np.maximum(count, 1))[codes[rows]]
    k = min(neighbors, len(rows) - 1)
    nearest = np.asarray(KDTree(points).query(points, k + 1)[1], dtype=np.intp)
    others = nearest != np.arange(len(rows))[:, None]
    others[others.all(axis=1), -1] = False  # the row itself is missing: more than k rows equal it
    return np.asarray(nearest[others]).reshape(len(rows), k)


def _most_voted(family: Codes, cardinalities: NDArray[np.int64], rng: np.random.Generator) -> Codes:
    """Return each family's most frequent states, shape (n, n_columns); its first member breaks ties."""
    voted = family[:, 0].copy()
    everyone = np.arange(len(family))
    for i, states in enumerate(cardinalities):
        ballots = (everyone[:, None] * states + family[:, :, i]).ravel()
        votes = np.bincount(ballots, minlength=len(family) * states).reshape(-1, states)
        preference = 0.4 * rng.random(votes.shape)
        preference[everyone, family[:, 0, i]] = 0.5
        voted[:, i] = (votes + preference).argmax(axis=1)
    return voted


def _unbiased(table: Table) -> NDArray[np.bool_]:
    """Return whether a logistic regression gives each row one label in both groups, shape (n_rows,)."""
    encoding = Encoding.of(table, use_sensitive=True, treatment="categorical")
    design = Design.of(table, encoding, table.y)
    theta, _ = least(design, 1 / len(table), "situation testing")
    schema = table.schema
    favored = np.bincount(table.codes[~table.deprived, schema.sensitive_index]).argmax()
    frequent = np.bincount(table.codes[:, schema.sensitive_index], minlength=len(schema.groups))
    deprived = max(schema.deprived_codes, key=frequent.__getitem__)
    exchanged = np.where(table.deprived, favored, deprived)
    counterfactual = table.with_column(schema.sensitive_feature, exchanged)
    labels = [encoding.scores(encoding.codes(t), theta) > 0 for t in (table, counterfactual)]
    return np.asarray(labels[0] == labels[1])


def _extended(table: Table, codes: Codes) -> Table:
    return Table(table.schema, np.vstack([table.codes, codes]))
