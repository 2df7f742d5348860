"""Random selection: records of a group that are missing, whatever their label."""

from benchmark.bias.base import BiasKind, Chances, Rows, by_label, register
from benchmark.bias.parameters import DEPRIVED, Group, Rate


@register
class RandomSelection(BiasKind):
    """Leave out rows of a group at random: the group is small, and no row of it is wrong."""

    name = "random_selection"
    summary = "rows of the deprived group left out with probability 0.95 β, whatever their label"
    reference = (
        "Legast, Calders and Fouss (2025), Controlled bias, EWAF; Bias on Demand (Baumann, Castelnovo, "
        "Crupi, Inverardi and Regoli 2023), FAccT: representation bias"
    )
    version = "1"

    rate: Rate = Rate("0.95 * beta")  # probability that a row is left out
    group: Group = DEPRIVED  # the people whose rows are left out

    def chances(self, rows: Rows, beta: float) -> Chances:
        """Return one rate for both labels of the group's rows."""
        rate = self.rate.at(beta)
        return Chances(left_out=by_label(self.group.members(rows.table), favorable=rate, unfavorable=rate))
