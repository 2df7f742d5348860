"""Real biases in place of a planted one: labels as people judged them, groups as an audit recorded them."""

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


@register
class AuditedBias(BiasKind):
    """Train on both groups of an audit in which chance decided who belongs to which.

    In an audit the groups differ only in how people treated them, and true labels are unknown. The clean
    model learns from the favored group's rows alone. At β = 1 a model learns from the recorded rows of both
    groups; there is no level between. The kind changes no row: an experiment chooses the training rows, for
    datasets with ``audit = true``.
    """

    name = "audited"
    summary = "a real bias: at β = 1 both groups are trained on as an audit recorded them"
    reference = (
        "Bertrand and Mullainathan (2004), Are Emily and Greg more employable than Lakisha and Jamal?, AER: "
        "names drawn at random"
    )
    version = "1"
    of_audit = True

    def chances(self, rows: Rows, beta: float) -> Chances:
        """Return none: labels and rows stay as they were recorded."""
        return Chances()
