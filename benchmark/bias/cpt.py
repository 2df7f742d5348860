"""The paper's bias: a changed world."""

from typing import Self

import numpy as np

from benchmark.bias.base import BiasKind, Chances, Rows, register
from benchmark.bias.edits import BiasEdit, active_edits, apply_bias, check_edits, deprived_edits
from benchmark.data.table import Schema
from benchmark.errors import BiasError
from benchmark.network.model import Network

NOTHING_ACTS = "none, because no edited attribute is a parent of the label"
"""Description of a bias whose edits have no effect in a network."""


@register
class CptBias(BiasKind):
    """Scale the outcome's conditional probabilities in the network by (1 - beta).

    The outcome's descendants are drawn from the changed outcome: the world changes, not only its records.
    See :func:`benchmark.bias.edits.apply_bias`. On real rows, each label that an edit acts on is turned with
    probability beta, and the features stay as they are.
    """

    name = "cpt"
    summary = "the outcome's conditional probabilities scaled by 1 - β"
    reference = "Cardoso, Meira, Almeida and Zaki (2019), equation 4"
    version = "1"
    edits_network = True

    edits: tuple[BiasEdit, ...] = ()  # the probabilities to scale; at least one

    @classmethod
    def example(cls, schema: Schema) -> Self:
        """Return the paper's edit: of the deprived group's probability of the favorable label."""
        return cls(edits=deprived_edits(schema))

    def check(self, schema: Schema, *, has_score: bool = False) -> None:
        """Raise an error unless there are edits, and their columns and states exist."""
        if not self.edits:
            raise BiasError(
                "The bias kind 'cpt' needs edits",
                expected="at least one edit",
                got="none",
                remedy="docs/adding/experiment.md shows some",
            )
        check_edits(schema, self.edits)

    def edited(self, network: Network, beta: float) -> Network:
        """Return the network with scaled probabilities."""
        return apply_bias(network, self.edits, beta)

    def chances(self, rows: Rows, beta: float) -> Chances:
        """Return the chances that change P(y+) in the labels as the edits do in a network."""
        table = rows.table
        favorable = np.tile([0.0, 1.0], (len(table), 1))  # P(y+) after the edits, by the label before
        for edit in self.edits:
            code = table.schema.column(edit.attribute).code(edit.group)
            acts = table.codes[:, table.schema.index(edit.attribute)] == code
            if edit.direction == "deprive":
                favorable[acts] *= 1 - beta
            else:
                favorable[acts] = 1 - (1 - favorable[acts]) * (1 - beta)
        return Chances(turned=np.column_stack([favorable[:, 0], 1 - favorable[:, 1]]))

    def looks_at(self, schema: Schema) -> tuple[str, ...]:
        """Return the edited attributes."""
        return tuple(edit.attribute for edit in self.edits)

    def acting_edits(self, network: Network) -> tuple[BiasEdit, ...]:
        """Return the edits whose attribute is a parent of the outcome."""
        return active_edits(network, self.edits)

    def description(self, network: Network | None) -> str:
        """Return the probabilities that are scaled, or that decide which labels of real rows are turned."""
        if network is None:
            return "labels turned with probability β: " + ", ".join(map(str, self.edits))
        return ", ".join(map(str, self.acting_edits(network))) or NOTHING_ACTS
