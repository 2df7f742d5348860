"""Claims are held or refuted only where the interval of their number has one answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from studies.atlas.comparison import (
    HELD,
    NOT_DECIDED,
    REFUTED,
    cluster_before_kind,
    features_do_not_win,
    other_winner,
)
from tests.helpers.atlases import ATLAS

N = 10
STEADY, NOISY = np.full(N, 0.05), np.array([0.2, -0.1] * (N // 2))


def regrets(**behind: Any) -> pd.DataFrame:
    """Return the regrets of techniques in clusters, by how far they are behind the best one."""
    return pd.DataFrame({name: 0.01 + np.zeros(N) + more for name, more in behind.items()})


@pytest.mark.parametrize(
    ("restore", "equalize", "fate"),
    [
        ({"a": 0, "b": STEADY, "c": STEADY}, {"a": STEADY, "b": 0, "c": STEADY}, HELD),
        ({"a": 0, "b": STEADY, "c": NOISY}, {"a": STEADY, "b": 0, "c": STEADY}, HELD),
        ({"a": 0, "b": STEADY, "c": STEADY}, {"a": NOISY, "b": 0, "c": STEADY}, NOT_DECIDED),
        ({"a": 0, "b": NOISY, "c": STEADY}, {"a": STEADY, "b": 0, "c": STEADY}, NOT_DECIDED),
        ({"a": 0, "b": STEADY, "c": NOISY}, {"a": STEADY, "b": 0, "c": NOISY}, NOT_DECIDED),
        ({"a": 0, "b": STEADY, "c": STEADY}, {"a": 0, "b": STEADY, "c": STEADY}, REFUTED),
        ({"a": 0, "b": NOISY, "c": STEADY}, {"a": 0, "b": STEADY, "c": STEADY}, NOT_DECIDED),
    ],
)
def test_another_winner_needs_each_technique_behind_one_of_both(
    restore: dict[str, Any], equalize: dict[str, Any], fate: str
) -> None:
    frames = {"restore": regrets(**restore), "equalize": regrets(**equalize)}
    of: Any = SimpleNamespace(regret_of=frames.get)
    decided, evidence = other_winner(of)
    assert decided == fate
    assert evidence.startswith("`a` to restore, ")


@pytest.mark.parametrize(
    ("without", "fate"),
    [
        ([0.30, 0.31, 0.33, 0.32, 0.34], HELD),
        ([0.30, 0.31, 0.33, 0.32, -0.20], NOT_DECIDED),
        ([0.30, 0.10, 0.50, 0.32, 0.34], NOT_DECIDED),
    ],
)
def test_shares_of_variance_are_compared_by_a_jackknife(without: list[float], fate: str) -> None:
    def shares(more: float) -> pd.DataFrame:
        effects = ["technique × cluster", "technique × kind"]
        return pd.DataFrame({"goal": "restore", "effect": effects, "share": [0.1 + more, 0.1]})

    of: Any = SimpleNamespace(variance=shares(0.32), shares_without_each=list(map(shares, without)))
    decided, evidence = cluster_before_kind(of)
    assert decided == fate
    assert "The difference is 32 points (" in evidence
    assert "over the 5 sources of data" in evidence


@pytest.mark.parametrize(
    ("contrasts", "fate"),
    [
        ([(0.02, 0.01, 0.03, 0.01), (0.02, 0.01, 0.03, 0.02)], REFUTED),
        ([(0.02, 0.01, 0.03, 0.01), (-0.02, -0.03, -0.01, 0.02)], HELD),
        ([(0.02, 0.01, 0.03, 0.01), (0.00, -0.02, 0.02, 0.9)], NOT_DECIDED),
    ],
)
def test_advice_that_is_neither_better_nor_worse_is_not_decided(
    contrasts: list[tuple[float, ...]], fate: str
) -> None:
    names = ("difference", "difference_low", "difference_high", "p_corrected")
    where = {"goal": "restore", "scenarios": "all", "level": 0.1, "recommender": "data"}
    rows = [
        {**where, "against": other, **dict(zip(names, row, strict=True))}
        for other, row in zip(("drop", "average"), contrasts, strict=True)
    ]
    of: Any = SimpleNamespace(atlas=ATLAS, regrets=pd.DataFrame(rows))
    assert features_do_not_win(of)[0] == fate
