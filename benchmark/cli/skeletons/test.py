"""my_technique keeps the rules of all techniques, and its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmark.conformance import check_technique
from benchmark.techniques import get_technique, list_techniques, load_plugin

if "my_technique" not in list_techniques():  # it is, once its file lies in benchmark/techniques
    load_plugin(Path(__file__).with_name("my_technique.py"))


@pytest.mark.parametrize("strength", [0.0, 0.5, 1.0])
def test_it_conforms(strength: float) -> None:
    """At both ends of the valid range and between, all checks pass."""
    results = check_technique(get_technique("my_technique", strength=strength))
    assert [result for result in results if result.status == "failed"] == []


# Next, add your own tests: an example by hand, properties that hold on every table, the technique's limits.
