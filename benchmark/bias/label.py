"""Label bias: records that lie about a group."""

from benchmark.bias.base import AKPINAR, BiasKind, Chances, Rows, by_label, register
from benchmark.bias.parameters import DEPRIVED, Group, Rate


@register
class LabelBias(BiasKind):
    """Turn labels of a group, favorable and unfavorable ones each with a probability of its own.

    All features stay as they were, including features that depend on the outcome. Here the label alone is
    wrong; with ``cpt`` those features follow the changed outcome.
    """

    name = "label"
    summary = "favorable labels of the deprived group turned unfavorable with probability β"
    reference = f"{AKPINAR}; Blum and Stangl (2020), Recovering from biased data, FORC: labeling bias"
    version = "1"

    rate: Rate = Rate("beta")  # probability that a favorable label becomes unfavorable
    rate_unfavorable: Rate = Rate(0)  # probability that an unfavorable label becomes favorable
    group: Group = DEPRIVED  # the people whose labels are turned

    def chances(self, rows: Rows, beta: float) -> Chances:
        """Return both rates for the group's rows."""
        members = self.group.members(rows.table)
        turned = by_label(members, favorable=self.rate.at(beta), unfavorable=self.rate_unfavorable.at(beta))
        return Chances(turned=turned)
