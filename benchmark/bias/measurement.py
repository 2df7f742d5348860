"""Measurement bias: a feature that is measured wrongly for a group."""

import numpy as np

from benchmark.bias.base import AKPINAR, BiasKind, register, require_feature, require_order
from benchmark.bias.parameters import DEPRIVED, Group, Rate
from benchmark.data.table import Schema, Table


@register
class MeasurementBias(BiasKind):
    """Shift a feature of a group by some states, or redraw it."""

    name = "measurement"
    summary = "a feature of the deprived group shifted by some states, or redrawn, with probability β"
    reference = f"{AKPINAR}: measurement bias"
    version = "1"

    column: str = ""  # the feature; it must be given
    # Number of states of an ordered column; a shift stops at the last state. With 0 the state is redrawn,
    # each state with the same probability.
    shift: int = 0
    rate: Rate = Rate("beta")  # probability that a row is measured wrongly
    group: Group = DEPRIVED  # the group that is measured wrongly

    def check(self, schema: Schema, *, has_score: bool = False) -> None:
        """Raise an error unless the column is a feature, with an order if it is to be shifted."""
        super().check(schema, has_score=has_score)
        require_feature(schema, self.column, self.name)
        if self.shift:
            require_order(schema, self.column)

    def recorded(self, table: Table, beta: float, rng: np.random.Generator) -> Table:
        """Return the rows with the measured feature."""
        codes = table.codes[:, table.schema.index(self.column)].copy()
        wrong = self.group.drawn(table, self.rate.at(beta), rng)
        states = table.schema.column(self.column).cardinality
        redrawn = rng.integers(states, size=len(table))
        shift = max(-states, min(self.shift, states))  # more would not fit the codes' type
        shifted = np.clip(codes + shift, 0, states - 1) if shift else redrawn
        return table.with_column(self.column, np.where(wrong, shifted, codes))
