"""Coded tables: what learns is given, and what stays out of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmark.conformance import example_table
from benchmark.data.table import Table


def moved(table: Table, position: int) -> Table:
    """Put the label column at another position."""
    order = list(table.schema.feature_indices)
    order.insert(position, table.schema.label_index)
    schema = replace(table.schema, columns=tuple(table.schema.columns[i] for i in order))
    return Table(schema, table.codes[:, order])


@pytest.mark.parametrize("position", [0, 2, 4])
def test_features_are_the_codes_without_the_label_wherever_it_is(position: int) -> None:
    table = moved(example_table(50), position)
    assert table.schema.label_index == position
    features, schema = table.features, table.feature_schema
    np.testing.assert_array_equal(features, np.delete(table.codes, position, axis=1))
    assert features is table.features
    assert features.dtype == np.int16
    assert features.flags.f_contiguous
    assert schema.names == ("skill", "sex", "proxy", "noise")
    assert schema.cardinalities.tolist() == [7, 3, 4, 4]
    assert schema.ordered.tolist() == [True, False, False, False]
    assert schema.column("proxy").states == ("north", "east", "south", "west")
    deprived = features[:, schema.sensitive_index] == schema.deprived_code
    np.testing.assert_array_equal(deprived, table.deprived)


@pytest.mark.parametrize("position", [0, 2, 4])
def test_features_cannot_be_written_to(position: int) -> None:
    table = moved(example_table(50), position)
    with pytest.raises(ValueError, match="read-only"):
        table.features[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        table.schema.ordered[0] = False
