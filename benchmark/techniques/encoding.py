"""Coded columns as features of linear and other numeric methods, and numbers as new coded columns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import CODE_DTYPE, Column, Schema, Table
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


def equal_frequency_edges(values: Array, weight: NDArray[np.number], bins: int) -> Array:
    """Return the cuts of at most ``bins`` pieces of about equal frequency, shape (n_pieces - 1,).

    ``values`` and their frequencies ``weight`` have equal shapes. The cuts are midpoints between values that
    occur. The middle of a distinct value's rows decides on its piece. A single value has no cuts.
    """
    # Rounded, so that values that are equal but for the last digits stay together.
    distinct, inverse = np.unique(values[weight > 0].round(9), return_inverse=True)
    frequency = np.bincount(inverse, weight[weight > 0])
    middle = (frequency.cumsum() - frequency / 2) / frequency.sum()
    cut = np.flatnonzero(np.diff(np.floor(bins * middle + 1e-9)))
    return np.asarray((distinct[cut] + distinct[cut + 1]) / 2)


def between_extremes(values: Array, weight: NDArray[np.number]) -> Array:
    """Return values, shape as given, scaled so that the least one that occurs is 0 and the largest 1."""
    least, largest = values[weight > 0].min(), values[weight > 0].max()
    if largest - least < 1e-9:  # equal but for the last digits
        return np.zeros_like(values)
    return np.asarray(((values - least) / (largest - least)).clip(0.0, 1.0))


def new_features(schema: Schema, columns: Sequence[tuple[str, int]]) -> Schema:
    """Return a schema of the label, the sensitive feature and new ordered columns, in this order.

    ``columns`` are the names, all different, and numbers of states of the new columns.
    """
    roles = [schema.columns[i] for i in (schema.label_index, *schema.sensitive_indices)]
    # The longest name as prefix, so that no new name equals one of these.
    prefix = max((column.name for column in roles), key=len)
    new = (Column(f"{prefix}: {name}", tuple(map(str, range(k))), ordered=True) for name, k in columns)
    return replace(schema, columns=(*roles, *new))


def with_features(table: Table, schema: Schema, codes: Sequence[NDArray[Any]]) -> Table:
    """Return rows in a schema of :func:`new_features`; ``codes`` have shape (n_rows,) or (n_rows, n)."""
    roles = table.codes[:, [table.schema.label_index, *table.schema.sensitive_indices]]
    return Table(schema, np.column_stack([roles, *codes]).astype(CODE_DTYPE))
