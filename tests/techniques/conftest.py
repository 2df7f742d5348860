"""Techniques and what is inside of them are tested in one thread of linear algebra."""

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Limit threads as techniques do, and spare small models the cost of threads."""
    with threadpool_limits(1):
        yield
