"""The findings of forty-four sources: what they say is what the committed means give."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmark.columns import EQUALIZE, GOAL_METRICS, GOALS, ORIGINAL, RESTORE, TRUTH
from benchmark.data.card import load_card
from benchmark.statistics.hypothesis_tests import holm
from studies import source_means
from studies.estimates import three, told
from studies.sources import findings as sources

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
    signed = frame.loc["label", 0.1, ORIGINAL, GOAL_METRICS[EQUALIZE]]
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


def test_the_gain_of_dropping_at_each_dose_is_as_it_is_said() -> None:
    own = [sources.contrast("doses", RESTORE, sources.DROP, dose) for dose in sources.DOSES]
    assert [one.p < 0.05 / 3 for one in own] == [False, False, True]
    cells = " | ".join(told(one.estimate, three) for one in own)
    assert f"| `{sources.DROP}` † | {cells} \\* |" in page_text()


@pytest.mark.nightly
def test_what_is_said_of_doses_holds() -> None:
    text = sources.FINDINGS.read_text(encoding="utf-8")
    assert "depends on how much bias there is" in text
    gains = [sources.contrast("doses", RESTORE, sources.DROP, dose).values.mean() for dose in sources.DOSES]
    assert gains[0] < 0 < gains[-1]
    assert sources.DROP in sources.names_shown("doses", RESTORE, sources.DOSES[-1], 1)
    assert sources.names_shown("doses", RESTORE, sources.DOSES[0], 1) == []
    for dose in sources.DOSES:
        assert set(sources.names_shown("doses", EQUALIZE, dose, 1)) == {*sources.compared()} - {"repair"}


@pytest.mark.nightly
def test_intervals_get_narrower_with_more_sources() -> None:
    widths, by_number = sources.change_of_widths()
    assert abs(np.median(widths) - np.median(by_number)) < 0.15
    assert widths.max() < 1


@pytest.mark.nightly
def test_what_could_not_be_shown_by_few_sources_is_said() -> None:
    """Of eight sources, the least p-value is 1/128: corrected for eight techniques, it is above .05."""
    now, gone, beyond_reach = sources.turned()
    assert beyond_reach == sum(" at .20" in own and "reweighing" not in own for own in now) == 12
    assert f"{beyond_reach} of these cannot be shown" in page_text()
    assert gone == []


@pytest.mark.nightly
def test_all_is_told_without_the_doubtful_sources_too() -> None:
    assert sources.without_them() == "the same is shown"
    assert "Without `framingham` and `georgia_parole`, the same is shown" in page_text()
    text = sources.NUMBERS.read_text(encoding="utf-8")
    levels = [
        *(f"Dose .{dose}" for dose in ("05", "10", "20")),
        "β = 0.2",
        "β = 0.4",
        "Roles exchanged, dose .10",
    ]
    for level in levels:
        assert f"## {level}, without `framingham` and `georgia_parole`" in text


@pytest.mark.nightly
def test_agreement_and_degenerate_models_stand_beside_gains() -> None:
    high = sources.DOSES[-1]
    best = sources.names_shown("doses", RESTORE, high, 1)
    lows = [sources.contrast("doses", sources.AGREEMENT, name, high).estimate[1] for name in best]
    assert max(lows) <= 0
    assert "A gain in agreement with it is shown for none." in page_text()
    assert sources.degenerate("doses", "equalized_odds", high) == 35
    assert "`equalized_odds` answers nearly all alike on 35 sources at .20" in page_text()


def test_planting_is_set_beside_the_best_fixed_choice_too() -> None:
    for hidden in sources.HIDDEN[1:]:
        _, low, high = sources.estimated(sources.less_regret(EQUALIZE, hidden, sources.DOSE, other="fixed"))
        assert low < 0 < high
    assert "To equalize, it is not shown to have less than always `threshold_optimizer`" in page_text()


def test_changes_with_exchanged_roles_are_corrected_together() -> None:
    every = sources.sources()
    changes = [sources.with_exchanged_roles(RESTORE, name, every)[-1].p for name in sources.NAMED]
    corrected = holm(np.array(changes))
    row = next(
        line for line in sources.roles(sources.sources()).splitlines() if "restore | `reweighing`" in line
    )
    assert row.endswith(f"| {sources.p_text(corrected[1])} |")
    assert corrected[1] == pytest.approx(2 * changes[1])


def page_text() -> str:
    """Return the committed findings, on one line."""
    return " ".join(sources.FINDINGS.read_text(encoding="utf-8").split())


def test_no_source_is_told_twice_in_the_means() -> None:
    for arm in source_means.ARMS:
        frame = source_means.committed(f"means_{arm}")
        assert frame is not None
        assert not frame.duplicated(source_means.WHERE).any()
        assert pd.api.types.is_integer_dtype(frame["n"])
        assert np.isfinite(frame.loc[frame["metric"] == GOAL_METRICS[RESTORE], "n"]).all()
