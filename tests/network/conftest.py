"""Small networks for the network tests."""

from __future__ import annotations

import numpy as np
import pytest

from benchmark.data import Column, Schema
from benchmark.network.model import Network


@pytest.fixture
def toy() -> Network:
    """Return the paper's Table 1: a label whose only parent is the sensitive feature."""
    schema = Schema(
        (Column("s", ("favored", "deprived")), Column("y", ("-", "+"))), "y", "+", "s", "deprived"
    )
    return Network(schema, ((), (0,)), (np.array([[0.5, 0.5]]), np.array([[0.63, 0.37], [0.80, 0.20]])))
