"""Optimized pre-processing (Calmon et al. 2017)."""

from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.errors import DeclinedError
from benchmark.techniques._search import Search
from benchmark.techniques.base import Array, Interval, Prepared, PreProcessing, Tools
from benchmark.techniques.registry import register

Cells: TypeAlias = NDArray[np.intp]

_ROUNDING = 1e-12  # of rates
_LARGEST = 500  # combinations of states; more take minutes
_PREFER_NEAR = 1e-3  # weight of the mean distortion, which chooses among equally good mappings


@register
class OptimizedPreprocessing(PreProcessing):
    r"""Redraw features and labels by the randomized mapping that changes their distribution least.

    Idea: a row of group s with features x and label y becomes :math:`(\hat x, \hat y)` with probability
    :math:`p(\hat x, \hat y \mid s, x, y)`. With training frequencies for probabilities the mapping minimizes
    the total variation distance between the distributions of :math:`(\hat x, \hat y)` and (x, y), subject to

    - discrimination: :math:`|P(\hat y \mid s) / P(y{=}\hat y) - 1| \le` ``epsilon`` for both groups and
      labels;
    - distortion: the distance of :math:`(\hat x, \hat y)` from (x, y) never exceeds ``max_distortion``, and
      its expectation for each s, x and y is at most ``mean_distortion``. The distance is the steps between
      states of ordered columns, plus 1 for each other changed column and for a changed label.

    With this distance of distributions the problem is a linear program. Of equally good mappings, the
    mapping of least mean distortion is taken. Rows to predict are redrawn by :math:`p(\hat x \mid s, x)`,
    the mapping averaged over the labels of training rows of that s and x. Rows with an s and x that no
    training row has stay.

    Changes: labels and some features of training rows, and the same features of rows to predict. Limits: the
    mapping grows with the square of the combinations of states. So only the ``n_features`` columns of most
    mutual information with the label take part; the others may tell what changed. Total variation is blind to
    the group, so swapping labels between groups costs only distortion. Declines a table with too many
    combinations, or with bounds that contradict each other.
    """

    name = "optimized_preprocessing"
    reference = (
        "Calmon, Wei, Vinzamuri, Natesan Ramamurthy and Varshney (2017), Optimized pre-processing for "
        "discrimination prevention, NIPS"
    )
    summary = "Redraw features and labels by the least change that bounds discrimination and distortion"
    needs_two_groups = "no second one to compare"
    version = "1"
    intersections = True
    randomised = True

    # Number of columns that take part; the sensitive feature never does.
    n_features: Annotated[int, Interval(1, 4)] = 2
    # Largest relative deviation of a group's rate of either label from the overall rate.
    epsilon: Annotated[float, Interval(0, 1)] = 0.05
    mean_distortion: Annotated[float, Interval(0)] = 0.5  # largest expected distortion of any row
    max_distortion: Annotated[float, Interval(1)] = 2.0  # largest distortion of any row

    search_space = (Search("epsilon", 0.01, 0.5, log=True),)

    def skip(self, train: Table) -> str | None:
        """Decline a table of one group, of too many combinations, or whose bounds contradict each other."""
        reason = super().skip(train)
        if reason is not None:
            return reason
        size = len(np.unique(_keys(train, most_informative(train, self.n_features))))
        if size > _LARGEST:
            return f"{self.n_features} columns have {size} combinations of states, more than {_LARGEST}"
        # A changed label alone has a distance of 1, so this share of labels may change.
        changed = min(1.0, self.mean_distortion)
        low, high = allowed_rates(float(train.y.mean()), self.epsilon)
        for group, name in ((~train.deprived, "favored"), (train.deprived, "deprived")):
            rate = float(train.y[group].mean())
            least, most = rate * (1 - changed), rate + (1 - rate) * changed
            if least > high + _ROUNDING or most < low - _ROUNDING:
                return (
                    f"a mean distortion of {self.mean_distortion:g} leaves the {name} group a rate of "
                    f"favorable labels of {least:.3f} to {most:.3f}, an epsilon of {self.epsilon:g} wants "
                    f"{low:.3f} to {high:.3f}"
                )
        return None

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        schema = train.schema
        columns = most_informative(train, self.n_features)
        keys, combination = np.unique(_keys(train, columns), return_inverse=True)
        k = len(keys)
        states = np.column_stack(np.unravel_index(keys, tuple(schema.cardinalities[columns])))
        distance: Array = np.zeros((k, k))
        for i, column in zip(columns, states.T, strict=True):
            apart = np.abs(np.subtract.outer(column, column))
            distance += np.asarray(apart if schema.columns[i].ordered else apart > 0)
        cell = (train.deprived * k + combination) * 2 + train.y
        counts = np.bincount(cell, minlength=4 * k).reshape(2, k, 2)
        bounds = (self.epsilon, self.mean_distortion, self.max_distortion)
        mapping = optimal_mapping(counts, distance, *bounds)
        drawn = _drawn(mapping.reshape(4 * k, 2 * k), cell, tools.rng)
        codes = train.codes.copy(order="F")
        codes[:, columns] = states[drawn // 2]
        codes[:, schema.label_index] = np.where(drawn % 2, schema.favorable_code, 1 - schema.favorable_code)

        share = counts / np.maximum(counts.sum(axis=2, keepdims=True), 1)
        blind = np.einsum("sxy,sxyzl->sxz", share, mapping).reshape(2 * k, k)
        seed = int(tools.rng.integers(2**63))  # drawn once, so that each call answers alike

        def transform(test: Table) -> Table:
            row_keys = _keys(test, columns)
            nearest = np.minimum(np.searchsorted(keys, row_keys), k - 1)
            cell = test.deprived * k + nearest
            trained = (keys[nearest] == row_keys) & blind[cell].any(axis=1)
            moved = test.codes.copy(order="F")
            rng = np.random.default_rng(seed)
            moved[np.ix_(trained, columns)] = states[_drawn(blind, cell[trained], rng)]
            return Table(test.schema, moved)

        return Prepared(Table(schema, codes), transform=transform)


def most_informative(train: Table, n: int) -> list[int]:
    """Return the positions of the columns of most mutual information with the label, most first."""
    schema = train.schema
    information = {}
    for i in schema.insensitive_indices:
        cell = train.codes[:, i].astype(np.intp) * 2 + train.y
        joint = np.bincount(cell, minlength=2 * schema.columns[i].cardinality).reshape(-1, 2) / len(train)
        independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        occurs = joint > 0
        information[i] = float(joint[occurs] @ np.log(joint[occurs] / independent[occurs]))
    return sorted(information, key=lambda i: -information[i])[:n]


def allowed_rates(rate: float, epsilon: float) -> tuple[float, float]:
    """Return the least and the largest rate of favorable labels within ``epsilon`` of ``rate``."""
    return (
        max((1 - epsilon) * rate, 1 - (1 + epsilon) * (1 - rate)),
        min((1 + epsilon) * rate, 1 - (1 - epsilon) * (1 - rate)),
    )


def optimal_mapping(
    counts: NDArray[np.int64], distance: Array, epsilon: float, mean_distortion: float, max_distortion: float
) -> Array:
    """Return the best mapping: probabilities of new combination and label, shape (2, k, 2, k, 2).

    They are given group (1 deprived), combination of states and label (1 favorable), and are 0 where no row
    is. ``counts`` are the rows by these, shape (2, k, 2). ``distance`` is the distortion between
    combinations, shape (k, k), to which a changed label adds 1. Raises :class:`DeclinedError` if no mapping
    meets the bounds.
    """
    from scipy.optimize import linprog
    from scipy.sparse import block_array, coo_array, eye_array

    k = counts.shape[1]
    group, combination, label = np.nonzero(counts)
    probability = counts[group, combination, label] / counts.sum()
    joint = (counts.sum(axis=0) / counts.sum()).ravel()
    flipped = label[:, None] != np.tile([0, 1], k)
    distortion = np.repeat(distance[combination], 2, axis=1) + flipped
    # One unknown for each cell and target within reach: the cell's probability of moving there.
    cell, target = np.nonzero(distortion <= max_distortion)
    moves = np.arange(len(cell))
    shape = (len(probability), len(cell))
    leaves = coo_array((np.ones(len(cell)), (cell, moves)), shape=shape)
    distorts = coo_array((distortion[cell, target], (cell, moves)), shape=shape)
    arrives = coo_array((probability[cell], (target, moves)), shape=(2 * k, len(cell)))
    size = np.bincount(group, probability, minlength=2)
    favorable = coo_array(
        ((probability / size[group])[cell] * (target % 2), (group[cell], moves)), shape=(2, len(cell))
    )
    # Further unknowns: the absolute change of each probability of combination and label.
    low, high = allowed_rates(float(joint[1::2].sum()), epsilon)
    apart = -eye_array(2 * k)
    blocks: list[list[Any]] = [[arrives, apart], [-arrives, apart], [distorts, None]]
    bounded: Any = block_array([*blocks, [favorable, None], [-favorable, None]])
    certain: Any = block_array([[leaves, coo_array((len(probability), 2 * k))]])
    solution = linprog(
        np.concatenate([_PREFER_NEAR * (probability[cell] * distortion[cell, target]), np.full(2 * k, 0.5)]),
        A_ub=bounded.tocsr(),
        b_ub=np.concatenate(
            [joint, -joint, np.full(len(probability), mean_distortion), [high, high, -low, -low]]
        ),
        A_eq=certain.tocsr(),
        b_eq=np.ones(len(probability)),
        method="highs-ds",
    )
    if solution.x is None:
        raise DeclinedError(
            "No mapping keeps the bounds",
            expected=f"discrimination within {epsilon:g}, mean distortion within {mean_distortion:g}",
            got=solution.message,
            remedy="raise epsilon or mean_distortion",
        )
    probabilities = solution.x[: len(cell)]
    mapping = np.zeros((2, k, 2, 2 * k))
    # Less than 1e-9 is rounding.
    mapping[group[cell], combination[cell], label[cell], target] = np.where(
        probabilities > 1e-9, probabilities, 0.0
    )
    return mapping.reshape(2, k, 2, k, 2)


def _keys(table: Table, columns: list[int]) -> NDArray[np.int64]:
    """Return the number of each row's combination of states in some columns, shape (n_rows,)."""
    codes = tuple(table.codes[:, i].astype(np.int64) for i in columns)
    return np.asarray(np.ravel_multi_index(codes, tuple(table.schema.cardinalities[columns])))


def _drawn(mapping: Array, cell: Cells, rng: np.random.Generator) -> Cells:
    """Return a target for each row, drawn from its cell's row of a mapping, shape (n_rows,)."""
    ends = mapping.cumsum(axis=1)
    ends /= np.maximum(ends[:, -1:], 1e-300)
    # One sorted line for all cells: cell c from c to c + 1.
    line = (ends + np.arange(len(ends))[:, None]).ravel()
    position = np.searchsorted(line, cell + rng.random(len(cell)), side="right")
    return np.asarray(np.clip(position - cell * mapping.shape[1], 0, mapping.shape[1] - 1))
