"""A proxy feature: bias in what is known of people."""

from __future__ import annotations

import numpy as np

from benchmark.bias.base import BiasKind, Planted
from benchmark.bias.registry import register
from benchmark.data.table import Column, Schema, Table
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
            return _with_column(table, proxy)

        favored, deprived = group_rates(network)
        return Planted(
            network,
            lambda n_rows, rng: observe(sample(network, n_rows, rng), rng),
            favored - deprived,
            observe,
        )


def _with_column(table: Table, values: np.ndarray) -> Table:
    schema = table.schema
    wider = Schema(
        columns=(*schema.columns, Column(_NAME, ("no", "yes"))),
        label=schema.label,
        favorable_label=schema.favorable_label,
        sensitive_feature=schema.sensitive_feature,
        deprived_group=schema.deprived_group,
    )
    return Table(wider, np.column_stack([table.codes, values.astype(table.codes.dtype)]))
