"""The page of a kind of bias explains its parameters."""

from __future__ import annotations

import pytest

from benchmark.bias import list_bias_kinds
from benchmark.text.markdown import code
from website.bias_pages import parameter_rows


@pytest.mark.parametrize("name", list_bias_kinds())
def test_every_parameter_has_a_meaning(name: str) -> None:
    kind = list_bias_kinds()[name]
    rows = list(parameter_rows(kind))
    assert [row[0] for row in rows] == [code(parameter) for parameter in kind.model_fields]
    assert all(meaning for *_, meaning in rows)
