"""A proxy feature: a column that tells the label of one group alone."""

from dataclasses import replace
from typing import Self

import numpy as np

from benchmark.bias.base import BiasKind, register
from benchmark.bias.parameters import DEPRIVED, Group, Rate
from benchmark.data.table import Column, Schema, Table
from benchmark.errors import BiasError


@register
class ProxyBias(BiasKind):
    """Add a binary feature that tells the label of a group alone, with probability beta.

    It is the toss of a coin, except that each row of the group shows its own label instead with probability
    beta. Labels and all other features stay as they were. Test rows get the feature as well, so that a model
    may use it: it then serves the one group better.
    """

    name = "proxy"
    summary = "a feature that tells the label of the deprived group alone, with probability β"
    reference = "Demonstration of the AUC-gap guide, Measuring and Mitigating Model Bias"
    version = "1"
    widens = True

    rate: Rate = Rate("beta")  # probability that the feature tells the label of a row
    group: Group = DEPRIVED  # the group whose label it tells
    column: str = "proxy"  # name of the feature

    @classmethod
    def example(cls, schema: Schema) -> Self:
        """Return a step whose column is new."""
        return cls(column=next(n for n in map("proxy_{}".format, range(99)) if n not in schema.names))

    def check(self, schema: Schema, *, has_score: bool = False) -> None:
        """Raise an error if the dataset has a column of that name."""
        super().check(schema, has_score=has_score)
        if self.column in schema.names:
            raise BiasError(
                f"The dataset has a column {self.column!r} of its own",
                expected="a dataset without a column of that name",
                got=", ".join(schema.names),
                remedy="give the step's 'column' another name, or rename the column in the dataset's card",
            )

    def recorded(self, table: Table, beta: float, rng: np.random.Generator) -> Table:
        """Return the rows with the feature as their last column."""
        proxy = rng.random(len(table)) < 0.5
        copied = self.group.drawn(table, self.rate.at(beta) if beta else 0.0, rng)
        proxy[copied] = table.y[copied]
        columns = (*table.schema.columns, Column(self.column, ("no", "yes")))
        codes = np.column_stack([table.codes, proxy.astype(table.codes.dtype)])
        return Table(replace(table.schema, columns=columns), codes)
