"""Selection bias: records that are missing."""

import numpy as np

from benchmark.bias.base import AKPINAR, BiasKind, Planted
from benchmark.bias.registry import register
from benchmark.data.table import Table
from benchmark.errors import BiasError
from benchmark.network.inference import group_rates
from benchmark.network.model import Network
from benchmark.network.sample import sample


@register
class SelectionBias(BiasKind):
    """Leave out each favorable row of the deprived group with probability beta.

    As many rows are drawn anew as were left out, so that samples keep their size. Every row that is left is
    true; what is wrong is who is among them.
    """

    name = "selection"
    summary = "favorable rows of the deprived group left out with probability β"
    reference = AKPINAR
    version = "1"

    def _plant(self, network: Network, beta: float) -> Planted:
        favored, deprived = group_rates(network)
        if beta * deprived == 1:
            raise BiasError(
                "Selection would leave no rows of the deprived group",
                expected="unfavorable rows of the deprived group as well",
                got="a network in which all of its rows are favorable",
                remedy="plant less than 1",
            )

        def draw(n_rows: int, rng: np.random.Generator) -> Table:
            parts, missing = [], n_rows
            while missing:
                table = sample(network, missing, rng)
                kept = ~(table.deprived & table.y) | (rng.random(missing) >= beta)
                parts.append(table.codes[kept])
                missing -= int(np.count_nonzero(kept))
            return Table(network.schema, np.concatenate(parts))

        return Planted(network, draw, favored - (1 - beta) * deprived / (1 - beta * deprived))
