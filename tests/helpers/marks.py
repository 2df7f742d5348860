"""Which variants of a test run by day."""

from collections.abc import Iterable
from typing import Any

import pytest


def nightly_but(daily: object, variants: Iterable[object]) -> list[Any]:
    """Return variants of a figure as parameters: one is for each day, the rest are for the night."""
    return [pytest.param(own, marks=() if own == daily else pytest.mark.nightly) for own in variants]
