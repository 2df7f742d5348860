"""The findings of forty-four sources: what they say is what the committed means give."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmark.columns import EQUALISE, GOAL_METRICS, GOALS, ORIGINAL, RESTORE, TRUTH
from benchmark.data.card import load_card
from tools import source_means
from tools.findings import sources

# Tests over all sources take some seconds.
pytestmark = pytest.mark.slow


def test_every_source_is_one_cluster_and_has_its_means() -> None:
    names = sources.sources()
    assert len(names) == len({load_card(name).cluster for name in names}) == 44
    assert set(sources.DOUBTFUL) < set(names)
    for arm in source_means.ARMS:
        assert set(sources.means(arm).index.get_level_values("dataset")) == set(names), arm


@pytest.mark.parametrize("goal", GOALS)
def test_a_gain_is_the_difference_from_doing_nothing_with_the_same_learner(goal: str) -> None:
    frame = source_means.committed("means_doses")
    assert frame is not None
    frame = frame[(frame["bias"] == "label") & (frame["level"] == 0.1) & (frame["test"] == ORIGINAL)]
    frame = frame[(frame["metric"] == sources.METRICS[goal]) & (frame["dataset"] == "compas")]
    mean = frame.set_index(["technique", "classifier"])["mean"]
    for name, classifier in (("reweighing", "c45"), ("prejudice_remover", "prejudice_remover_learner")):
        own = sources.contrast("doses", goal, name, 0.1).of(["compas"])
        assert own.values == pytest.approx(mean["none", classifier] - mean[name, classifier])


def test_distances_to_equal_acceptance_are_of_single_splits() -> None:
    frame = sources.means("doses")["mean"]
    signed = frame.loc["label", 0.1, ORIGINAL, GOAL_METRICS[EQUALISE]]
    distance = frame.loc["label", 0.1, ORIGINAL, source_means.DISTANCE]
    assert (distance - signed.abs() > -1e-9).all()
    assert (distance - signed.abs()).max() > 0.001


def test_planting_where_nothing_is_hidden_has_doing_nothing_as_the_truth() -> None:
    assert not sources.planting(RESTORE, 0.0, 0.1).regrets["nothing"].any()
    hidden = sources.planting(RESTORE, 0.05, 0.1)
    assert (hidden.regrets["nothing"] >= 0).all()
    assert hidden.regrets["nothing"].max() > 0
    true = sources.ranked(RESTORE, 0.05, 0.0, TRUTH)
    some = sources.reached("doses", 0.1, 0.05)
    best = true.loc[some].min(axis=1)
    assert hidden.regrets["drop"] == pytest.approx((true.loc[some, sources.DROP] - best).to_numpy())


def test_what_is_said_of_doses_holds() -> None:
    text = sources.FINDINGS.read_text(encoding="utf-8")
    assert "depends on how much bias there is" in text
    gains = [sources.contrast("doses", RESTORE, sources.DROP, dose).values.mean() for dose in sources.DOSES]
    assert gains[0] < 0 < gains[-1]
    assert sources.DROP in sources.names_shown("doses", RESTORE, sources.DOSES[-1], 1)
    assert sources.names_shown("doses", RESTORE, sources.DOSES[0], 1) == []
    for dose in sources.DOSES:
        assert set(sources.names_shown("doses", EQUALISE, dose, 1)) == {*sources.compared()} - {"repair"}


def test_intervals_get_narrower_with_more_sources() -> None:
    width, by_number = sources.change_of_widths()
    assert abs(width - by_number) < 0.15


def test_no_source_is_told_twice_in_the_means() -> None:
    for arm in source_means.ARMS:
        frame = source_means.committed(f"means_{arm}")
        assert frame is not None
        assert not frame.duplicated(source_means.WHERE).any()
        assert pd.api.types.is_integer_dtype(frame["n"])
        assert np.isfinite(frame.loc[frame["metric"] == GOAL_METRICS[RESTORE], "n"]).all()
