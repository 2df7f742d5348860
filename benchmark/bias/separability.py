"""Separability: a group whose features say less about its labels."""

import numpy as np

from benchmark.bias.base import BiasKind, register, require_feature
from benchmark.bias.parameters import DEPRIVED, Group, Rate
from benchmark.data.table import Schema, Table


@register
class Separability(BiasKind):
    """Give rows of a group the features of another of its rows, so that the group is harder to predict.

    Labels, groups and the distribution of the features within the group stay as they are; the association
    between features and labels fades. Test rows are treated alike.
    """

    name = "separability"
    summary = (
        "features of the deprived group exchanged between its rows with probability β, so that they say less"
    )
    reference = "Jesus et al. (2022), Turning the tables: Bank account fraud, NeurIPS: separability, inverted"
    version = "1"

    rate: Rate = Rate("beta")  # probability that a row has the features of another one
    group: Group = DEPRIVED  # the group that becomes harder to predict
    # The features that are exchanged, together; all but the sensitive one if none is named.
    columns: tuple[str, ...] = ()

    def check(self, schema: Schema, *, has_score: bool = False) -> None:
        """Raise an error unless the columns are features."""
        super().check(schema, has_score=has_score)
        for column in self.columns:
            require_feature(schema, column, self.name)

    def recorded(self, table: Table, beta: float, rng: np.random.Generator) -> Table:
        """Return the rows with exchanged features."""
        schema = table.schema
        roles = {schema.label, *schema.sensitive_features}
        exchanged = [schema.index(name) for name in self.columns or schema.names if name not in roles]
        members = self.group.members(table)
        chosen = np.flatnonzero(members & (rng.random(len(table)) < self.rate.at(beta)))
        donors = rng.choice(np.flatnonzero(members), size=len(chosen)) if len(chosen) else chosen
        codes = table.codes.copy(order="F")
        for column in exchanged:
            codes[chosen, column] = table.codes[donors, column]
        return Table(schema, codes)
