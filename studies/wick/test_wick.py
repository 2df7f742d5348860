"""The findings of results/wick: words that studies/wick/findings.py does not compute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from studies.wick.findings import ACCORD, FOLDER, OPEN, STRENGTHS, TENSION, measured, slopes, verdict
from tests.helpers.recomputed import check_again


def verdict_of(dataset: str, bias: str, beta: float, test: str) -> str:
    _, low, high = slopes().loc[(dataset, bias, beta, test)]
    return verdict(low, high)


def test_the_test_decides_on_compas() -> None:
    for bias in ("label", "selection"):
        for beta in (0.25, 0.4):
            assert verdict_of("compas", bias, beta, "biased") == TENSION
            assert verdict_of("compas", bias, beta, "original") == ACCORD
    assert verdict_of("compas", "label", 0.0, "original") == OPEN
    assert verdict_of("compas", "label", 0.1, "original") == OPEN
    label = slopes().loc["compas", "label"].xs("biased", level="test")["slope"]
    assert label.is_monotonic_increasing
    assert all(verdict_of("compas", "label", beta, "biased") == TENSION for beta in (0.1, 0.25, 0.4))
    assert all(verdict_of("alike", "label", beta, "biased") == OPEN for beta in (0.1, 0.25, 0.4))
    assert verdict_of("compas", "label", 0.4, "balanced") == ACCORD


def test_without_enough_bias_a_world_has_no_interval() -> None:
    for beta in (0.0, 0.1):
        assert slopes().loc["alike", "label", beta]["low"].isna().all()


def test_a_slope_is_computed_by_hand() -> None:
    where = ("compas", "label", 0.4, "biased")
    x, y = (measured(metric).loc[where][STRENGTHS].to_numpy() for metric in ("discrimination", "accuracy"))
    x = np.abs(x) - np.abs(x).mean(axis=1, keepdims=True)
    y = y - y.mean(axis=1, keepdims=True)
    assert slopes().loc[where, "slope"] == pytest.approx((x * y).sum() / (x * x).sum())


@pytest.mark.usefixtures("in_this_process")
def test_computing_again_gives_the_committed_numbers(tmp_path: Path) -> None:
    words = ["--experiment", "wick", "--datasets", "alike", "--betas", "0.4"]
    words += ["--techniques", "none", "reweighing", "pr_10"]
    assert check_again(words, tmp_path, FOLDER) >= 2 * 3 * 3 * 7
