"""A proxy feature: bias in what is known of people."""

from dataclasses import replace

import numpy as np

from benchmark.bias.base import BiasKind, Planted
from benchmark.bias.registry import register
from benchmark.data.table import Column, Table
from benchmark.errors import BiasError
from benchmark.network.inference import group_rates
from benchmark.network.model import Network
from benchmark.network.sample import sample

_NAME = "proxy"


@register
class ProxyBias(BiasKind):
    """Add a binary feature that tells the label of the deprived group alone, with probability beta.

    It is the toss of a coin, except that each row of the deprived group has its own label in its place with
    probability beta. Labels and all other features stay as they were drawn. The rows that techniques are
    tested on get the feature as well, so that a model may use it: it then serves the one group better.
    """

    name = "proxy"
    summary = "a feature that tells the label of the deprived group alone, with probability β"
    reference = "Demonstration of the AUC-gap guide, Measuring and Mitigating Model Bias"
    version = "1"

    def _plant(self, network: Network, beta: float) -> Planted:
        if _NAME in network.schema.names:
            raise BiasError(
                f"The dataset has a column {_NAME!r} of its own",
                expected="a dataset without a column of that name",
                got=", ".join(network.schema.names),
                remedy="rename the column in the dataset's card",
            )

        def observe(table: Table, rng: np.random.Generator) -> Table:
            proxy = rng.random(len(table)) < 0.5
            copied = table.deprived & (rng.random(len(table)) < beta)
            proxy[copied] = table.y[copied]
            wider = replace(table.schema, columns=(*table.schema.columns, Column(_NAME, ("no", "yes"))))
            return Table(wider, np.column_stack([table.codes, proxy.astype(table.codes.dtype)]))

        def draw(n_rows: int, rng: np.random.Generator) -> Table:
            return observe(sample(network, n_rows, rng), rng)

        favored, deprived = group_rates(network)
        return Planted(network, draw, favored - deprived, observe)
