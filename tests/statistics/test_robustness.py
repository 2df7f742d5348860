"""Slopes, areas, and where techniques stop helping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from benchmark.errors import StatisticsError, UnknownNameError
from benchmark.statistics import cell_intervals, slopes_and_areas, stopping_points
from benchmark.statistics.bootstrap import interval_of_sum, resampled_shares, resamples
from tests.statistics.made_up import GOALS, random_results, results

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
    found = slopes_and_areas(over_beta({"a": values.tolist()}), n_resamples=20).iloc[0]
    means = values.mean(axis=1)
    assert found["slope"] == pytest.approx(np.polyfit(BETAS, means, 1)[0], abs=1e-9)
    area = sum((b - a) * (x + y) / 2 for a, b, x, y in zip(BETAS, BETAS[1:], means, means[1:], strict=False))
    assert found["area"] == pytest.approx(area, abs=1e-12)
    assert found["n_betas"] == 4


def test_a_line_has_its_slope_and_area() -> None:
    found = slopes_and_areas(
        over_beta({"a": [[0.9 - 0.4 * beta + e for e in (-0.01, 0, 0.01)] for beta in BETAS]}), n_resamples=99
    ).iloc[0]
    assert (found["slope"], found["area"]) == pytest.approx((-0.4, 0.7))
    assert found["slope_low"] < -0.4 < found["slope_high"]
    assert found["area_low"] < 0.7 < found["area_high"]
    assert found["slope_interval"] == found["area_interval"] == "bca"


def test_intervals_resample_each_level_by_itself() -> None:
    rng = np.random.default_rng(2)
    samples = [rng.normal(beta, 0.1, n) for beta, n in zip(BETAS, (5, 4, 5, 5), strict=True)]
    found = slopes_and_areas(over_beta({"a": [s.tolist() for s in samples]}), n_resamples=500, seed=4).iloc[0]
    shares = [resampled_shares(resamples(len(s), 500, 4, stratum=i)) for i, s in enumerate(samples)]
    centred = np.array(BETAS) - np.mean(BETAS)
    weights = centred / (centred**2).sum()
    expected = interval_of_sum([s[None] for s in samples], weights.tolist(), shares, 0.95)
    assert (found["slope_low"], found["slope_high"]) == pytest.approx((expected.low[0], expected.high[0]))
    # The standard error of independent means, within what 500 resamples can tell.
    error = np.sqrt(sum(w**2 * s.var() / len(s) for w, s in zip(weights, samples, strict=True)))
    assert found["slope_high"] - found["slope_low"] == pytest.approx(2 * 1.96 * error, rel=0.2)


def test_what_has_no_slope_has_a_reason() -> None:
    levels = [[0.1, 0.2], [0.2, 0.3], [0.3, 0.5], [0.4, 0.6]]
    gap = [[0.1, 0.2], [0.2, 0.3], [float("nan")] * 2, [0.4, 0.6]]
    once = [[0.1], [0.2], [0.3], [0.5]]
    equal = [[0.5, 0.5]] * 4
    found = slopes_and_areas(
        over_beta({"whole": levels, "gap": gap, "once": once, "equal": equal}), n_resamples=50
    ).set_index("technique")
    assert found["reason"].to_dict() == {
        "whole": "",
        "gap": "no value at beta 0.5",
        "once": "fewer than two repetitions at a level of bias, so there is no interval",
        "equal": "all values are equal",
    }
    assert found["n_betas"].tolist() == [4, 3, 4, 4]
    assert found.loc["gap", ["slope", "area", "slope_low"]].isna().all()
    assert found.loc["gap", "slope_interval"] == ""
    assert found.loc["once", "slope"] == pytest.approx(np.polyfit(BETAS, [0.1, 0.2, 0.3, 0.5], 1)[0])
    assert np.isnan(found.loc["once", "slope_low"])
    assert found.loc["equal", ["slope_low", "slope_high"]].tolist() == pytest.approx([0, 0])
    single = slopes_and_areas(results({"a": [0.1, 0.2]}), n_resamples=20).iloc[0]
    assert single["reason"] == "fewer than two levels of bias"
    assert np.isnan(single["slope"])


def test_the_first_level_shares_its_resamples_with_the_cells_intervals() -> None:
    table = random_results()
    cells = cell_intervals(table, n_resamples=100)
    lines = slopes_and_areas(table, n_resamples=100)
    assert len(lines) == len(cells) / 3


def stops(own: Sequence[float], **settings: object) -> pd.Series:
    """Return where a technique stops whose improvements over a baseline of 0.5 are given, twice each."""
    table = over_beta({"none": [[0.5, 0.5]] * 4, "t": [[0.5 + x - 1e-4, 0.5 + x + 1e-4] for x in own]})
    return stopping_points(table, "none", GOALS, n_resamples=200, **settings).iloc[0]  # type: ignore[arg-type]


def test_where_a_technique_stops() -> None:
    assert stops([0.1, 0.1, -0.1, -0.1])["stops_at"] == 0.5
    assert stops([0.1, 0.1, 0.1, -0.1])["stops_at"] == 1
    assert stops([-0.1, -0.1, -0.1, -0.1])["stops_at"] == 0
    assert stops([0.1, 0.1, 0.1, 0.1])["stops_at"] == np.inf
    # What it loses before it wins again does not count.
    assert stops([-0.1, 0.1, -0.1, 0.1])["stops_at"] == np.inf
    assert stops([0.1, -0.1, 0.1, -0.1])["stops_at"] == 1
    sure = stops([0.1, 0.1, -0.1, -0.1])
    assert (sure["probability"], sure["stops_low"], sure["stops_high"]) == (1, 0.5, 0.5)
    assert (sure["reason"], sure["n_betas"]) == ("", 4)


def test_a_draw_beats_nobody() -> None:
    table = over_beta({"none": [[0.5, 0.6]] * 4, "same": [[0.5, 0.6]] * 4})
    found = stopping_points(table, "none", GOALS, n_resamples=20).iloc[0]
    assert (found["stops_at"], found["probability"]) == (0, 1)


def test_the_uncertainty_of_where_it_stops() -> None:
    rng = np.random.default_rng(7)
    gains = [rng.normal(mean, 0.1, 6) for mean in (0.3, 0.03, -0.02, -0.3)]
    table = over_beta({"none": [[0.5] * 6] * 4, "t": [(0.5 + g).tolist() for g in gains]})
    found = stopping_points(table, "none", GOALS, n_resamples=400, seed=5).iloc[0]
    draws = [resamples(6, 400, 5, stratum=i) for i in range(4)]
    levels = []
    for b in range(400):
        means = [g[draw[b]].mean() for g, draw in zip(gains, draws, strict=True)]
        level = np.inf
        for beta, mean in zip(BETAS[::-1], means[::-1], strict=True):
            if mean > 0:
                break
            level = beta
        levels.append(level)
    assert len(set(levels)) > 1
    assert found["probability"] == pytest.approx(np.mean(np.array(levels) == found["stops_at"]))
    ordered = np.sort(levels)
    assert (found["stops_low"], found["stops_high"]) == (ordered[9], ordered[389])  # 2.5 % and 97.5 % of 400


def test_better_means_nearer_to_the_ideal() -> None:
    levels = {"none": [[0.3, 0.3]] * 4, "t": [[-0.1, 0.1], [-0.2, 0.2], [-0.4, 0.4], [0.5, 0.5]]}
    found = stopping_points(over_beta(levels, metric="discrimination"), "none", GOALS, n_resamples=20).iloc[0]
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
    found = stopping_points(table, "none", GOALS, n_resamples=20).set_index(["metric", "technique"])
    gone, thin, size = (
        found.loc[key] for key in [("accuracy", "gap"), ("accuracy", "single"), ("size", "t")]
    )
    assert gone["reason"] == "no value at beta 0.25"
    assert np.isnan(gone["stops_at"])
    assert thin["stops_at"] == 0
    assert np.isnan(thin["probability"])
    assert thin["reason"] == "fewer than two pairs at a level of bias, so there is no interval"
    assert np.isnan(size["stops_at"])
    assert size["reason"] == "no value of the metric is better than another"
    other = results({"t": [0.5, 0.6]}, dataset="two")
    alone = stopping_points(pd.concat([table, other]), "none", GOALS, n_resamples=20).iloc[-1]
    assert (alone["dataset"], alone["reason"]) == ("two", "the baseline has no results here")


def test_impossible_requests_are_refused() -> None:
    table = random_results()
    with pytest.raises(UnknownNameError, match="technique called 'none'"):
        stopping_points(table, "none", GOALS)
    with pytest.raises(UnknownNameError, match="metric called 'accuracy'"):
        stopping_points(table, "a", {})
    with pytest.raises(StatisticsError, match="confidence"):
        slopes_and_areas(table, confidence=0)
