"""Under-representation: records of a group that are missing, by their label."""

from benchmark.bias.base import BiasKind, Chances, Rows, by_label, register
from benchmark.bias.parameters import DEPRIVED, Group, Rate


@register
class UnderRepresentation(BiasKind):
    """Keep rows of a group with one probability for favorable and another for unfavorable ones."""

    name = "under_representation"
    summary = "rows of the deprived group kept with probability 1 - β if favorable, always if not"
    reference = (
        "Blum and Stangl (2020), Recovering from biased data, FORC, section 2: under-representation bias"
    )
    version = "1"

    keep_favorable: Rate = Rate("1 - beta")  # probability that a favorable row is kept
    keep_unfavorable: Rate = Rate(1)  # probability that an unfavorable row is kept
    group: Group = DEPRIVED  # the group whose rows may be left out

    def chances(self, rows: Rows, beta: float) -> Chances:
        """Return the probability that a row of the group is not kept, by its label."""
        left_out = by_label(
            self.group.members(rows.table),
            favorable=1 - self.keep_favorable.at(beta),
            unfavorable=1 - self.keep_unfavorable.at(beta),
        )
        return Chances(left_out=left_out)
