"""Selection bias: favorable records of a group that are missing."""

from benchmark.bias.base import AKPINAR, BiasKind, Chances, Rows, by_label, register
from benchmark.bias.parameters import DEPRIVED, Group, Rate


@register
class SelectionBias(BiasKind):
    """Leave out each favorable row of a group with probability beta.

    A network replaces the rows that are left out by new draws, so that samples keep their size. Every
    remaining row is true; only the selection of rows is wrong.
    """

    name = "selection"
    summary = "favorable rows of the deprived group left out with probability β"
    reference = AKPINAR
    version = "1"

    rate: Rate = Rate("beta")  # probability that a favorable row is left out
    group: Group = DEPRIVED  # the people whose rows are left out

    def chances(self, rows: Rows, beta: float) -> Chances:
        """Return the rate for favorable rows of the group."""
        return Chances(left_out=by_label(self.group.members(rows.table), favorable=self.rate.at(beta)))
