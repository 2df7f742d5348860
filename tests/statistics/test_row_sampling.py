"""The variation of test rows, and intervals that hold it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from benchmark.metrics import GroupCounts, OneValueEach
from benchmark.statistics import cell_intervals
from benchmark.statistics.row_sampling import row_deviations, with_test_rows
from tests.helpers.made_up_results import results

COUNTS = np.array([[[120.0, 30.0], [25.0, 75.0]], [[60.0, 15.0], [30.0, 45.0]]])
METRICS = ("accuracy", "discrimination", "overestimation", "underestimation", "precision")


def measured(counts: np.ndarray) -> np.ndarray:
    measure = OneValueEach(("a", "b"), 1, METRICS)
    found = measure(GroupCounts(("a", "b"), counts, np.ceil(counts).astype(np.int64)))
    return np.array(list(found.values.values()), dtype=float)


def test_the_deviation_is_that_of_rows_drawn_again() -> None:
    rng = np.random.default_rng(1)
    n = int(COUNTS.sum())
    drawn = rng.multinomial(n, COUNTS.ravel() / n, size=4000).reshape(-1, *COUNTS.shape)
    expected = np.std([measured(own.astype(float)) for own in drawn], axis=0)
    assert row_deviations(COUNTS, measured) == pytest.approx(expected, rel=0.06)


def test_that_of_accuracy_is_a_binomials() -> None:
    n, right = COUNTS.sum(), COUNTS[:, 0, 0].sum() + COUNTS[:, 1, 1].sum()
    share = right / n
    assert row_deviations(COUNTS, measured)[0] == pytest.approx(np.sqrt(share * (1 - share) / n), rel=1e-4)


def test_an_undefined_metric_has_none() -> None:
    empty = COUNTS.copy()
    empty[1] = 0
    assert np.isnan(row_deviations(empty, measured)[1])


def noise(sd: float) -> pd.DataFrame:
    keys = cell_intervals(results({"a": [0.1, 0.2, 0.3, 0.2]})).iloc[:, :7]
    return keys.assign(sd_test_rows=sd)


def test_without_test_rows_both_is_students_interval() -> None:
    own = cell_intervals(results({"a": [0.1, 0.2, 0.3, 0.2]}))
    found = with_test_rows(own, noise(0.0)).iloc[0]
    assert (found["both_low"], found["both_high"]) == pytest.approx((found["ci_low"], found["ci_high"]))


def test_both_variances_add_and_the_rows_cost_no_degrees_of_freedom() -> None:
    values = np.array([0.1, 0.2, 0.3, 0.2])
    found = with_test_rows(cell_intervals(results({"a": values.tolist()})), noise(0.05)).iloc[0]
    training = values.var(ddof=1) / 4
    both = training + 0.05**2
    df = both**2 / (training**2 / 3)
    assert found["both_high"] - found["mean"] == pytest.approx(scipy.stats.t.ppf(0.975, df) * np.sqrt(both))


def test_where_all_samples_are_equal_the_rows_are_all_that_varies() -> None:
    found = with_test_rows(cell_intervals(results({"a": [0.2] * 4})), noise(0.05)).iloc[0]
    assert found["both_high"] - 0.2 == pytest.approx(scipy.stats.norm.ppf(0.975) * 0.05, rel=1e-6)


def test_what_is_unknown_stays_empty() -> None:
    found = with_test_rows(cell_intervals(results({"a": [0.1, 0.2]})), None)
    assert found[["sd_test_rows", "both_low", "both_high"]].isna().all(axis=None)
