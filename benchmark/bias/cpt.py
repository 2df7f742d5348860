"""The paper's bias: a changed world."""

from functools import partial

from benchmark.bias.base import NOTHING_ACTS, BiasKind, Planted
from benchmark.bias.edits import BiasEdit, active_edits, apply_bias
from benchmark.bias.registry import register
from benchmark.network.inference import discrimination
from benchmark.network.model import Network
from benchmark.network.sample import sample


@register
class CptBias(BiasKind):
    """Scale the outcome's conditional probabilities in the network by (1 - beta).

    The outcome's descendants are drawn from the changed outcome: a world in which things are so, rather
    than records that say so. See :func:`benchmark.bias.edits.apply_bias`.
    """

    name = "cpt"
    summary = "the outcome's conditional probabilities scaled by 1 - β"
    reference = "Cardoso, Meira, Almeida and Zaki (2019), equation 4"
    version = "1"
    takes_edits = True

    def _plant(self, network: Network, beta: float) -> Planted:
        biased = apply_bias(network, self.edits, beta)
        return Planted(biased, partial(sample, biased), discrimination(biased))

    def acting_edits(self, network: Network) -> tuple[BiasEdit, ...]:
        """Return the edits whose attribute is a parent of the outcome."""
        return active_edits(network, self.edits)

    def description(self, network: Network) -> str:
        """Name the probabilities that are scaled."""
        return ", ".join(map(str, self.acting_edits(network))) or NOTHING_ACTS
