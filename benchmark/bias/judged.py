"""Judged bias: labels as people judged them, a real bias in place of a planted one."""

import numpy as np

from benchmark.bias.base import BiasKind, Chances, Rows, lacking, register
from benchmark.bias.parameters import Rate


@register
class JudgedBias(BiasKind):
    """Replace the true label by the label that people judged, where both are known.

    A label that differs from the judged label is turned with probability β: at β = 1 every label is the
    judged one. The amount of bias is not chosen; :meth:`benchmark.data.row_facts.Judged.dose` measures it. It
    needs real rows of a dataset whose card names both labels.
    """

    name = "judged"
    summary = "labels replaced with probability β by those that people judged"
    reference = (
        "Lenders and Calders (2023), Real-life performance of fairness interventions, SAC: "
        "people's label beside the true one"
    )
    version = "1"
    needs_judged = True

    rate: Rate = Rate("beta")  # probability that a label is turned if it differs from the judged label
    # Whether chance decides whose labels are wrong. A row's label is then turned with probability β times the
    # share of misjudged rows in its group and true label. The label gap changes as much as with the judged
    # labels.
    at_random: bool = False

    def chances(self, rows: Rows, beta: float) -> Chances:
        """Return the rate for each label that differs from the judged one, or the rate times their share."""
        if rows.judged is None:
            raise lacking(self.name, "judged")
        if self.at_random:
            before = rows.before.take(rows.positions)
            turned = np.zeros((len(before), 2))
            positions, label = np.arange(len(before)), before.y.astype(np.intp)
            turned[positions, label] = rows.judged.shares(before)[before.deprived.astype(np.intp), label]
            return Chances(turned=self.rate.at(beta) * turned)
        favorable = rows.judged.favorable
        return Chances(turned=self.rate.at(beta) * np.column_stack([favorable, ~favorable]))
