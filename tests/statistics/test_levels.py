"""What planted bias changes: against the same repetitions without it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmark.statistics.cells import Resampling
from benchmark.statistics.intervals import level_changes

KEY = {"dataset": "d", "bias": "label", "classifier": "c45", "test": "original", "metric": "discrimination"}
CLEAN, BIASED = np.array([0.10, 0.14, 0.21, 0.12]), np.array([0.30, 0.29, 0.44, 0.33])


def rows(values: np.ndarray, beta: float, **more: object) -> pd.DataFrame:
    return pd.DataFrame(
        {**KEY, "technique": "none", "level": beta, "repetition": range(len(values)), "value": values, **more}
    )


def test_changes_are_of_the_same_repetitions() -> None:
    results = pd.concat([rows(CLEAN, 0.0), rows(BIASED, 0.2), rows(CLEAN, 0.2, technique="repair")])
    (own,) = level_changes(results, "none").itertuples(index=False)
    low, high = stats.ttest_1samp(BIASED - CLEAN, 0).confidence_interval(0.95)
    assert (own.level, own.n, own.change) == (0.2, 4, pytest.approx((BIASED - CLEAN).mean()))
    assert (own.change_low, own.change_high) == (pytest.approx(low), pytest.approx(high))
    overlapping = level_changes(results, "none", Resampling({"d": 0.5}))
    wide = float(overlapping["change_high"].iloc[0] - own.change)
    assert wide == pytest.approx((high - own.change) * np.sqrt((1 / 4 + 0.5) / (1 / 4)))


def test_of_folds_the_interval_is_of_single_folds() -> None:
    results = pd.concat([rows(CLEAN[:2], 0.0), rows(BIASED[:2], 0.2)])
    folds = pd.concat(
        [
            rows(values, beta, fold=[0, 1, 0, 1]).assign(repetition=[0, 0, 1, 1])
            for values, beta in ((CLEAN, 0.0), (BIASED, 0.2))
        ]
    )
    (own,) = level_changes(results, "none", Resampling({"d": 1.0}, {"d": 2}, folds)).itertuples(index=False)
    changes = BIASED - CLEAN
    half = stats.t.ppf(0.975, 3) * changes.std(ddof=1) * np.sqrt(1 / 4 + 1.0)
    assert own.change == pytest.approx(changes[:2].mean())
    assert own.change_high - own.change_low == pytest.approx(2 * half)


def test_without_level_0_nothing_is_said() -> None:
    assert level_changes(rows(BIASED, 0.2), "none").empty
