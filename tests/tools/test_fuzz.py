"""Damaged input never ends in a traceback; `python -m tools.faults.fuzz` gives many more of it."""

from __future__ import annotations

import numpy as np
import pytest

from tools.faults.fuzz import ROWS, TARGETS, damaged, fuzz


@pytest.mark.nightly
@pytest.mark.parametrize("name", TARGETS)
def test_damaged_input_is_read_or_refused_in_words(name: str) -> None:
    report = fuzz(name, 60)
    assert not report.escaped, report.escaped[0]
    assert report.refused > 0, "nothing was damaged enough to prove anything"


def test_the_damage_is_that_of_the_seed() -> None:
    one, same, other = (damaged(ROWS, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert one == same != other


def test_a_reader_that_lets_an_error_out_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(text: str, _folder: object) -> None:
        text.encode("ascii")
        raise KeyError("x")

    monkeypatch.setitem(TARGETS, "careless", (lambda: ["text"], careless))
    assert len(fuzz("careless", 20).escaped) == 20
