"""Missing values: a feature that is unknown for some people."""

from dataclasses import replace

import numpy as np

from benchmark.bias.base import BiasKind, register, require_feature
from benchmark.bias.parameters import ALL, Group, Rate
from benchmark.data.table import Schema, Table


@register
class MissingValues(BiasKind):
    """Replace the states of a feature by the state "missing".

    By default values are missing completely at random. With a ``group`` of certain states in other columns
    they are missing at random, given these. With ``states`` of the feature itself: not at random.
    """

    name = "missing"
    summary = "a feature missing with probability β: of everybody, of a group, or of some of its states"
    reference = (
        "Shades-of-Null (2024), arXiv:2409.07510; Rubin (1976), Inference and missing data: missing "
        "completely at random, at random, not at random"
    )
    version = "1"

    column: str = ""  # the feature; it must be given
    rate: Rate = Rate("beta")  # probability that its value is missing
    group: Group = ALL  # the people whose value may be missing
    states: tuple[str, ...] = ()  # the states that may be missing; all if none is named
    # The state that stands for a missing value. A column that lacks it gets it, and loses its order.
    state: str = "missing"

    def check(self, schema: Schema, *, has_score: bool = False) -> None:
        """Raise an error unless the column is a feature that has the states."""
        super().check(schema, has_score=has_score)
        require_feature(schema, self.column, self.name)
        for state in self.states:
            schema.column(self.column).code(state)

    def recorded(self, table: Table, beta: float, rng: np.random.Generator) -> Table:
        """Return the rows with some values of the feature missing."""
        schema, index = table.schema, table.schema.index(self.column)
        column = schema.columns[index]
        lost = self.group.drawn(table, self.rate.at(beta), rng)
        if self.states:
            lost &= np.isin(table.codes[:, index], [column.code(state) for state in self.states])
        if self.state not in column.states:
            # The new state has no place in the order of the others.
            column = replace(column, states=(*column.states, self.state), ordered=False)
            columns = (*schema.columns[:index], column, *schema.columns[index + 1 :])
            table = Table(replace(schema, columns=columns), table.codes)
        codes = np.where(lost, column.code(self.state), table.codes[:, index])
        return table.with_column(self.column, codes)
