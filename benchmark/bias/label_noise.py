"""Label noise: records that are wrong in either direction."""

from benchmark.bias.base import AKPINAR, BiasKind, Chances, Rows, by_label, register
from benchmark.bias.parameters import ALL, Group, Rate


@register
class LabelNoise(BiasKind):
    """Turn labels with the same probability, whichever they are."""

    name = "label_noise"
    summary = "labels turned with probability β/2, whichever they are"
    reference = AKPINAR
    version = "1"

    # Probability that a label is turned; at one half labels carry no information.
    rate: Rate = Rate("0.5 * beta")
    group: Group = ALL  # the people whose labels are turned

    def chances(self, rows: Rows, beta: float) -> Chances:
        """Return one rate for both labels of the group's rows."""
        rate = self.rate.at(beta)
        return Chances(turned=by_label(self.group.members(rows.table), favorable=rate, unfavorable=rate))
