"""Slopes, areas, and where techniques stop helping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from benchmark.errors import StatisticsError, UnknownNameError
from benchmark.statistics import slopes_and_areas, stopping_points
from benchmark.statistics.cells import NO_BASELINE, NO_BETTER_VALUE
from tests.helpers.made_up_results import GOALS, random_results, results

BETAS = (0.0, 0.25, 0.5, 1.0)


def over_beta(
    values: Mapping[str, Sequence[Sequence[float]]], betas: Sequence[float] = BETAS, metric: str = "accuracy"
) -> pd.DataFrame:
    """Return results from a list of repetitions for each level of bias."""
    return pd.concat(
        [
            results({name: own[i] for name, own in values.items()}, beta=beta, metric=metric)
            for i, beta in enumerate(betas)
        ]
    )


@settings(max_examples=20, deadline=None)
@given(npst.arrays(np.float64, (4, 3), elements=st.floats(-1, 1)))
def test_slopes_and_areas_are_those_of_numpy(values: np.ndarray) -> None:
    found = slopes_and_areas(over_beta({"a": values.tolist()})).iloc[0]
    means = values.mean(axis=1)
    assert found["slope"] == pytest.approx(np.polyfit(BETAS, means, 1)[0], abs=1e-9)
    area = sum((b - a) * (x + y) / 2 for a, b, x, y in zip(BETAS, BETAS[1:], means, means[1:], strict=False))
    assert found["area"] == pytest.approx(area, abs=1e-12)
    assert found["n_betas"] == 4


def test_a_line_has_its_slope_and_area() -> None:
    found = slopes_and_areas(
        over_beta({"a": [[0.9 - 0.4 * beta + e for e in (-0.01, 0, 0.01)] for beta in BETAS]})
    ).iloc[0]
    assert (found["slope"], found["area"]) == pytest.approx((-0.4, 0.7))
    assert found["slope_low"] < -0.4 < found["slope_high"]
    assert found["area_low"] < 0.7 < found["area_high"]


def test_intervals_are_over_repetitions_with_a_value_at_every_level() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(0, 0.1, (4, 6)) + np.array(BETAS)[:, None]
    table = over_beta({"a": [[*level[:5], None if i == 2 else level[5]] for i, level in enumerate(values)]})
    found = slopes_and_areas(table).iloc[0]
    slopes = np.polyfit(BETAS, values[:, :5], 1)[0]
    theirs = scipy.stats.ttest_1samp(slopes, 0).confidence_interval(0.95)
    assert found["n"] == 5
    assert found["slope"] == pytest.approx(slopes.mean())
    assert (found["slope_low"], found["slope_high"]) == pytest.approx(tuple(theirs))


def test_what_has_no_slope_has_a_reason() -> None:
    levels = [[0.1, 0.2], [0.2, 0.3], [0.3, 0.5], [0.4, 0.6]]
    gap = [[0.1, 0.2], [0.2, 0.3], [float("nan")] * 2, [0.4, 0.6]]
    once = [[0.1], [0.2], [0.3], [0.5]]
    apart = [[0.1, None], [None, 0.2], [0.3, 0.3], [0.4, 0.4]]
    equal = [[0.5, 0.5]] * 4
    found = slopes_and_areas(
        over_beta({"whole": levels, "gap": gap, "once": once, "apart": apart, "equal": equal})
    ).set_index("technique")
    assert found["reason"].to_dict() == {
        "whole": "",
        "gap": "no value at beta 0.5",
        "once": "one repetition has a value at every beta, so there is no interval",
        "apart": "no repetition has a value at every beta",
        "equal": "all repetitions are equal",
    }
    assert found["n_betas"].tolist() == [4, 3, 4, 4, 4]
    assert found["n"].tolist() == [2, 0, 1, 0, 2]
    assert found.loc["gap", ["slope", "area", "slope_low"]].isna().all()
    assert found.loc["once", "slope"] == pytest.approx(np.polyfit(BETAS, [0.1, 0.2, 0.3, 0.5], 1)[0])
    assert np.isnan(found.loc["once", "slope_low"])
    assert found.loc["equal", ["slope_low", "slope_high"]].tolist() == pytest.approx([0, 0])
    single = slopes_and_areas(results({"a": [0.1, 0.2]})).iloc[0]
    assert single["reason"] == "fewer than two levels of bias"
    assert np.isnan(single["slope"])


def stops(own: Sequence[float]) -> pd.Series:
    """Return where a technique stops whose improvements over a baseline of 0.5 are given, twice each."""
    table = over_beta({"none": [[0.5, 0.5]] * 4, "t": [[0.5 + x - 1e-4, 0.5 + x + 1e-4] for x in own]})
    return stopping_points(table, "none", GOALS).iloc[0]


def test_where_a_technique_stops() -> None:
    assert stops([0.1, 0.1, -0.1, -0.1])["stops_at"] == 0.5
    assert stops([0.1, 0.1, 0.1, -0.1])["stops_at"] == 1
    assert stops([-0.1, -0.1, -0.1, -0.1])["stops_at"] == 0
    assert stops([0.1, 0.1, 0.1, 0.1])["stops_at"] == np.inf
    # What it loses before it wins again does not count.
    assert stops([-0.1, 0.1, -0.1, 0.1])["stops_at"] == np.inf
    assert stops([0.1, -0.1, 0.1, -0.1])["stops_at"] == 1
    sure = stops([0.1, 0.1, -0.1, -0.1])
    assert (sure["reason"], sure["n_betas"]) == ("", 4)


def test_a_draw_beats_nobody() -> None:
    table = over_beta({"none": [[0.5, 0.6]] * 4, "same": [[0.5, 0.6]] * 4})
    found = stopping_points(table, "none", GOALS).iloc[0]
    assert found["stops_at"] == 0


def test_better_means_nearer_to_the_ideal() -> None:
    levels = {"none": [[0.3, 0.3]] * 4, "t": [[-0.1, 0.1], [-0.2, 0.2], [-0.4, 0.4], [0.5, 0.5]]}
    found = stopping_points(over_beta(levels, metric="discrimination"), "none", GOALS).iloc[0]
    assert found["stops_at"] == 0.5


def test_what_stops_nowhere_to_be_told_has_a_reason() -> None:
    levels = [[0.6, 0.7]] * 4
    gap = [[0.6, 0.7], [None, None], [None, 0.7], [0.6, 0.7]]
    single = [[0.6, 0.7], [None, 0.5], [0.6, 0.7], [0.6, 0.7]]
    table = pd.concat(
        [
            over_beta({"none": levels, "gap": gap, "single": single}),
            over_beta({"none": levels, "t": levels}, metric="size"),
        ]
    )
    found = stopping_points(table, "none", GOALS).set_index(["metric", "technique"])
    gone, thin, size = (
        found.loc[key] for key in [("accuracy", "gap"), ("accuracy", "single"), ("size", "t")]
    )
    assert gone["reason"] == "no value at beta 0.25"
    assert np.isnan(gone["stops_at"])
    assert thin["stops_at"] == 0
    assert thin["reason"] == ""
    assert np.isnan(size["stops_at"])
    assert size["reason"] == NO_BETTER_VALUE
    other = results({"t": [0.5, 0.6]}, dataset="two")
    alone = stopping_points(pd.concat([table, other]), "none", GOALS).iloc[-1]
    assert (alone["dataset"], alone["reason"]) == ("two", NO_BASELINE)


def test_impossible_requests_are_refused() -> None:
    table = random_results()
    with pytest.raises(UnknownNameError, match="technique called 'none'"):
        stopping_points(table, "none", GOALS)
    with pytest.raises(UnknownNameError, match="metric called 'accuracy'"):
        stopping_points(table, "a", {})
    with pytest.raises(StatisticsError, match="confidence"):
        slopes_and_areas(table, confidence=0)
