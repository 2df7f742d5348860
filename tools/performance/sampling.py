"""Forward sampling from the biased networks at training size, against pgmpy's two ways to it.

The networks are the same, handed over as pgmpy models beforehand. The samples' joint distribution of group
and label has to be the same within sampling error, or the part stops. pgmpy may use one core, as we do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmark.data.table import Table
from benchmark.network.model import Network, sample
from benchmark.seeding import generator
from tools.performance.prepared_inputs import datasets
from tools.performance.timing import Row, alternate

__all__ = ["measure"]


def measure(quick: bool) -> Iterator[Row]:
    """Time sampling from the network of each dataset, half of the bias planted."""
    for name, data in datasets(quick).items():
        (bias,) = data.biases
        network = data.planted(bias, 0.5).network
        n_rows = data.n_train
        model = network.to_pgmpy()
        contestants: dict[str, Callable[[], Any]] = {
            "betabench": partial(_ours, network, n_rows),
            "betabench, to a data frame": lambda network=network, n=n_rows: _ours(network, n).to_frame(),
            "pgmpy, simulate": partial(_simulate, model, n_rows),
            "pgmpy, BayesianModelSampling": partial(_forward_sample, model, n_rows),
        }
        drawn = {who: run() for who, run in contestants.items()}
        notes = _compared(network, drawn)
        yield from alternate("sampling", name, contestants, size=n_rows, notes=notes, quick=quick)


def _ours(network: Network, n_rows: int) -> Table:
    return sample(network, n_rows, generator(0, purpose="speed of sampling"))


def _simulate(model: Any, n_rows: int) -> Any:
    return model.simulate(n_rows, seed=0, show_progress=False)


def _forward_sample(model: Any, n_rows: int) -> Any:
    from pgmpy.sampling import BayesianModelSampling

    return BayesianModelSampling(model).forward_sample(n_rows, seed=0, show_progress=False, n_jobs=1)


def _compared(network: Network, drawn: dict[str, Any]) -> dict[str, str]:
    """Return each contestant's shares of favorable labels by group; raise if they are not of one network."""
    schema = network.schema
    shares = {}
    for who, rows in drawn.items():
        table = rows if isinstance(rows, Table) else Table.from_frame(rows.astype(str), schema)
        cells = table.deprived.view(np.uint8) * 2 + table.y.view(np.uint8)
        shares[who] = np.bincount(cells, minlength=4) / len(table)
        ours = shares["betabench"]
        # five standard errors of the difference of two shares
        if (np.abs(shares[who] - ours) > 5 * np.sqrt(2 * ours * (1 - ours) / len(table)) + 1e-12).any():
            raise AssertionError(f"{who} draws from another network: {shares[who]} against {ours}")
    return {who: f"P(y+, deprived) = {share[3]:.4f}" for who, share in shares.items()}
