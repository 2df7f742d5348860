"""Omitted variables: features that were not recorded."""

from dataclasses import replace
from typing import Self

import numpy as np

from benchmark.bias.base import AKPINAR, BiasKind, register, require_feature, some_feature
from benchmark.data.table import Schema, Table
from benchmark.errors import BiasError


@register
class OmittedVariables(BiasKind):
    """Hide features, in training and in test rows, at every level above 0."""

    name = "omitted"
    summary = "features hidden from training and test rows, at every β above 0"
    reference = f"{AKPINAR}: omitted variable bias"
    version = "1"

    columns: tuple[str, ...] = ()  # the features to hide: at least one, and not all

    @classmethod
    def example(cls, schema: Schema) -> Self:
        """Return a step that hides some feature."""
        return cls(columns=(some_feature(schema),))

    def check(self, schema: Schema, *, has_score: bool = False) -> None:
        """Raise an error unless the columns are features, and not all of them."""
        for column in self.columns or ("",):
            require_feature(schema, column, self.name)
        if len(schema.names) - len(set(self.columns)) < 3:
            raise BiasError(
                "The bias hides all features but the sensitive one",
                expected="at least one feature that stays",
                got=", ".join(self.columns),
                remedy="name fewer 'columns'",
            )

    def recorded(self, table: Table, beta: float, rng: np.random.Generator) -> Table:
        """Return the rows without the columns."""
        visible = [i for i, name in enumerate(table.schema.names) if name not in self.columns]
        columns = tuple(table.schema.columns[i] for i in visible)
        return Table(replace(table.schema, columns=columns), table.codes.T[visible].T)
