"""Forward sampling into code matrices."""

import numpy as np
from numpy.typing import NDArray

from benchmark.compiling import compiled
from benchmark.data.table import CODE_DTYPE, Table
from benchmark.errors import NetworkError
from benchmark.network.model import Network


def _draw(
    cumulative: NDArray[np.float64],
    codes: NDArray[np.int16],
    parents: NDArray[np.int64],
    radix: NDArray[np.int64],
    u: NDArray[np.float64],
    column: int,
) -> None:
    """Fill one column of ``codes`` (n_columns, n_rows) by inverting each row's distribution function."""
    last = cumulative.shape[1] - 1
    for row in range(u.shape[0]):
        configuration = 0
        for k in range(parents.shape[0]):
            configuration = configuration * radix[k] + codes[parents[k], row]
        state = 0
        while state < last and u[row] >= cumulative[configuration, state]:
            state += 1
        codes[column, row] = state


def sample(network: Network, n_rows: int, rng: np.random.Generator) -> Table:
    """Return ``n_rows`` independent rows drawn from a network, at least 1.

    Columns are drawn parents first, each from one uniform number per row. So the result depends only on the
    network, the number of rows and the generator's state, which is advanced. A NetworkError means that
    ``n_rows`` is not a positive integer.
    """
    if not isinstance(n_rows, int | np.integer) or n_rows < 1:
        raise NetworkError("Cannot draw that many rows", expected="a positive integer", got=repr(n_rows))
    cardinalities = network.schema.cardinalities
    # Rows of this matrix are the table's columns: each is contiguous, and the transpose is column-major.
    codes = np.empty((len(cardinalities), n_rows), dtype=CODE_DTYPE)
    for i in network.topological_order:
        parents = np.array(network.parents[i], dtype=np.int64)
        compiled(_draw)(
            _cumulative(network.cpts[i]), codes, parents, cardinalities[parents], rng.random(n_rows), i
        )
    codes.flags.writeable = False  # handed over: the table need not copy it
    return Table(network.schema, codes.T)


def _cumulative(cpt: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return row-wise distribution functions that never draw a state of probability zero.

    Rounding may leave the sum of a row's possible states slightly below 1. So everything from the last
    possible state on is raised to 1, and no draw reaches an impossible state.
    """
    cumulative = np.cumsum(cpt, axis=1)
    last_possible = cpt.shape[1] - 1 - np.argmax(cpt[:, ::-1] > 0, axis=1)
    cumulative[np.arange(cpt.shape[1])[None, :] >= last_possible[:, None]] = 1.0
    return cumulative
