"""Noise in the sensitive feature: records that put people into the wrong group."""

import numpy as np

from benchmark.bias.base import BiasKind, register
from benchmark.bias.parameters import ALL, Group, Rate
from benchmark.data.table import Schema, Table
from benchmark.errors import BiasError


@register
class SensitiveNoise(BiasKind):
    """Record another group, each of the others with the same probability, in training and in test rows.

    Techniques see the wrong group; metrics use the true groups.
    """

    name = "sensitive_noise"
    summary = "another group recorded with probability β/2; metrics go by the true ones"
    reference = (
        "Ghosh, Kvitca and Wilson (2023), When fair classification meets noisy protected attributes, AIES"
    )
    version = "1"

    rate: Rate = Rate("0.5 * beta")  # probability that the recorded group is wrong
    group: Group = ALL  # the people whose group may be recorded wrongly

    def check(self, schema: Schema, *, has_score: bool = False) -> None:
        """Raise an error if several columns define the deprived group: it is unclear which is noisy."""
        super().check(schema, has_score=has_score)
        if len(schema.sensitive_features) > 1:
            raise BiasError(
                "The bias kind 'sensitive_noise' acts on one sensitive feature",
                expected="a deprived group of one column",
                got="an intersection of " + " and ".join(schema.sensitive_features),
                remedy="plant another kind of bias",
            )

    def recorded(self, table: Table, beta: float, rng: np.random.Generator) -> Table:
        """Return the rows with the recorded groups."""
        schema = table.schema
        states = schema.columns[schema.sensitive_index].cardinality
        wrong = self.group.drawn(table, self.rate.at(beta), rng)
        codes = table.codes[:, schema.sensitive_index]
        other_groups = (codes + rng.integers(1, states, size=len(table))) % states
        return table.with_column(schema.sensitive_feature, np.where(wrong, other_groups, codes))
