"""Malicious selection: records in favor of one group and against all others are missing."""

from benchmark.bias.base import BiasKind, Chances, Rows, by_label, register
from benchmark.bias.parameters import DEPRIVED, Group, Rate


@register
class MaliciousSelection(BiasKind):
    """Leave out favorable rows of a group and, with the same probability, unfavorable rows of all others."""

    name = "malicious_selection"
    summary = "favorable rows of the deprived group and unfavorable ones of all others left out, each with β"
    reference = "Legast, Calders and Fouss (2025), Controlled bias, EWAF: malicious selection"
    version = "1"
    acts_beyond_group = True

    rate: Rate = Rate("beta")  # probability that such a row is left out
    group: Group = DEPRIVED  # the people whose favorable rows are left out

    def chances(self, rows: Rows, beta: float) -> Chances:
        """Return one rate, for favorable rows of the group and unfavorable ones of the others."""
        members, rate = self.group.members(rows.table), self.rate.at(beta)
        return Chances(left_out=by_label(members, favorable=rate) + by_label(~members, unfavorable=rate))
