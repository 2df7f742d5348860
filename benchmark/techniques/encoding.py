"""Coded columns as features of linear and other numeric methods."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.techniques.base import Array

Codes: TypeAlias = NDArray[np.intp]
Treatment: TypeAlias = Literal["categorical", "schema", "ordinal"]
"""Columns that enter as one number, the position of the state: none, the schema's ordered columns, or all."""


@dataclass(frozen=True, eq=False)
class Encoding:
    """A map from the columns of a table to the features of a linear model."""

    columns: tuple[int, ...]  # positions of the visible columns
    cardinalities: tuple[int, ...]  # their numbers of states; n_indicators = 1 (intercept) + their sum
    matrix: Array  # features of the intercept and of each state, shape (n_indicators, n_features)
    widths: tuple[int, ...]  # number of features of each visible column

    @classmethod
    def of(cls, train: Table, *, use_sensitive: bool, treatment: Treatment) -> Self:
        """Return the encoding of a training table's visible columns.

        A categorical column has an indicator for each state; with two states, only for the second. An ordered
        column has one feature, the position of the state, scaled to mean 0 and variance 1 over the training
        rows.
        """
        from scipy.linalg import block_diag

        schema = train.schema
        columns = schema.feature_indices if use_sensitive else schema.insensitive_indices
        blocks = [np.ones((1, 1))]
        for i in columns:
            numeric = treatment == "ordinal" or (treatment == "schema" and schema.columns[i].ordered)
            states = np.arange(schema.columns[i].cardinality, dtype=np.float64)
            indicators = np.eye(len(states))[:, len(states) == 2 :]
            blocks.append(_scaled(states, train.codes[:, i]) if numeric else indicators)
        cardinalities, widths = zip(*(block.shape for block in blocks[1:]), strict=True)
        return cls(columns, cardinalities, block_diag(*blocks), widths)

    @cached_property
    def blocks(self) -> tuple[slice, ...]:
        """Positions of the indicators of each visible column."""
        ends = np.cumsum([1, *self.cardinalities]).tolist()
        return tuple(slice(start, end) for start, end in pairwise(ends))

    @cached_property
    def spans(self) -> tuple[slice, ...]:
        """Positions of the features of each visible column, the intercept left out."""
        ends = np.cumsum([0, *self.widths]).tolist()
        return tuple(slice(start, end) for start, end in pairwise(ends))

    def codes(self, table: Table) -> Codes:
        """Return the codes of the visible columns, shape (n_columns, n_rows)."""
        return np.ascontiguousarray(table.codes.T[list(self.columns)], dtype=np.intp)

    def features(self, table: Table) -> Array:
        """Return the features of each row, the intercept left out, shape (n_rows, n_features - 1)."""
        features = np.empty((len(table), sum(self.widths)))
        for block, span, column in zip(self.blocks, self.spans, self.codes(table), strict=True):
            features[:, span] = self.matrix[block, span.start + 1 : span.stop + 1].take(column, axis=0)
        return features

    def scores(self, codes: Codes, theta: Array) -> Array:
        """Return each row's signed distance to the boundary, shape (n_rows,), from its visible codes."""
        effects = self.matrix @ theta
        scores = np.full(codes.shape[1], effects[0])
        for block, column in zip(self.blocks, codes, strict=True):
            scores += effects[block].take(column)
        return scores


def _scaled(states: Array, codes: NDArray[np.int16]) -> Array:
    spread = codes.std()
    scaled: Array = (states - codes.mean()) / (spread if spread > 0 else 1.0)
    return scaled[:, None]
