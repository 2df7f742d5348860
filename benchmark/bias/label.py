"""Label bias: records that lie about the deprived group."""

import numpy as np

from benchmark.bias.base import AKPINAR, BiasKind, Planted
from benchmark.bias.registry import register
from benchmark.data.table import Table
from benchmark.network.inference import group_rates
from benchmark.network.model import Network
from benchmark.network.sample import sample


@register
class LabelBias(BiasKind):
    """Turn each favorable label of the deprived group into an unfavorable one with probability beta.

    All features stay as they were drawn, those that depend on the outcome included, which is what sets this
    apart from ``cpt``: there the world is another one, here the label alone is wrong.
    """

    name = "label"
    summary = "favorable labels of the deprived group turned unfavorable with probability β"
    reference = AKPINAR
    version = "1"

    def _plant(self, network: Network, beta: float) -> Planted:
        favored, deprived = group_rates(network)

        def draw(n_rows: int, rng: np.random.Generator) -> Table:
            table = sample(network, n_rows, rng)
            flipped = table.deprived & table.y & (rng.random(n_rows) < beta)
            labels = table.codes[:, table.schema.label_index].copy()
            labels[flipped] = 1 - table.schema.favorable_code
            return table.with_column(table.schema.label, labels)

        return Planted(network, draw, favored - (1 - beta) * deprived)
