"""Recommenders choose from other clusters alone, and the rule finds the truth of made-up worlds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark.atlas.comparison import RECOMMENDERS, compared, write_comparison
from benchmark.atlas.file import Rules
from benchmark.atlas.recommenders import (
    AVERAGE,
    BOTH,
    DATA,
    DROP,
    KIND,
    LETTERS,
    NOTHING,
    ORACLE,
    PLANTING,
    recommended,
)
from benchmark.atlas.regret import REGRET_COLUMNS, sign_flip_interval, verdict
from benchmark.atlas.scenarios import Scenarios, scenarios_of
from benchmark.atlas.tables import read_tables
from benchmark.statistics.hypothesis_tests import sign_flip_p_values
from tests.helpers.atlases import ATLAS, Gain, alike, by_kind, by_rate, write_atlas


def scenarios(folder: Path, gain: Gain) -> tuple[Scenarios, pd.DataFrame]:
    tables = read_tables(write_atlas(folder, gain))
    return scenarios_of(tables.dose_rows, ATLAS, "restore"), tables.features


def table_of(folder: Path, gain: Gain) -> pd.DataFrame:
    write_comparison(write_atlas(folder, gain))
    return pd.read_csv(folder / RECOMMENDERS, keep_default_na=False, na_values={"regret": [""]})


@pytest.mark.parametrize(
    ("gain", "shown"),
    [(by_kind, {KIND, DATA}), (by_rate, {DATA}), (alike, set())],
    ids=["kind", "data", "alike"],
)
def test_the_rule_finds_what_decides(tmp_path: Path, gain: Gain, shown: set[str]) -> None:
    found = verdict(table_of(tmp_path, gain), "restore", Rules())
    assert {name for name, evidence in found.by.items() if evidence.shown} == shown
    assert found.advice in (shown or {DROP})
    assert found.known


def test_nothing_is_known_of_few_clusters(tmp_path: Path) -> None:
    write_comparison(write_atlas(tmp_path, by_kind, n_clusters=5))
    table = pd.read_csv(tmp_path / RECOMMENDERS, keep_default_na=False)
    assert list(table.columns) == list(REGRET_COLUMNS)
    found = verdict(table, "restore", Rules())
    assert not found.known
    assert not any(evidence.shown for evidence in found.by.values())


@pytest.mark.parametrize("gain", [by_kind, by_rate])
def test_choices_for_a_cluster_do_not_depend_on_its_values(tmp_path: Path, gain: Gain) -> None:
    whole, features = scenarios(tmp_path, gain)
    here = (whole.frame["cluster"] == "data7").to_numpy()
    value = whole.value.copy()
    value[:, here] = np.random.default_rng(0).random(value[:, here].shape)
    changed = replace(whole, value=value)
    before, after = recommended(whole, features), recommended(changed, features)
    for name in (AVERAGE, KIND, DATA):
        chosen = [np.array(choices[name].chosen)[here].tolist() for choices in (before, after)]
        assert chosen[0] == chosen[1], name
    assert before[ORACLE].chosen != after[ORACLE].chosen


def test_the_oracle_is_scored_on_the_half_that_it_did_not_choose_on(tmp_path: Path) -> None:
    whole, features = scenarios(tmp_path, alike)
    value = np.full_like(whole.value, 0.1)
    value[0, :, 1] = value[1, :, 2] = 0.0  # each half has a best technique of its own
    scores = recommended(replace(whole, value=value), features)[ORACLE].score
    np.testing.assert_allclose(scores, 0.1)


def test_a_choice_that_is_not_allowed_counts_as_doing_nothing(tmp_path: Path) -> None:
    whole, features = scenarios(tmp_path, alike)
    allowed = whole.allowed.copy()
    allowed[:, :, 1] = False
    choices = recommended(replace(whole, allowed=allowed), features)
    np.testing.assert_allclose(choices[DROP].score, choices[NOTHING].score)


@pytest.mark.parametrize("seed", range(5))
def test_the_interval_holds_the_centers_that_the_test_does_not_reject(seed: int) -> None:
    values = np.random.default_rng(seed).normal(0.3, 1, 10)
    low, high = sign_flip_interval(values)
    for center in np.linspace(low - 1, high + 1, 201):
        p = sign_flip_p_values((values - center)[None, :], 2**12)[0]
        if low + 0.02 < center < high - 0.02:
            assert p > 0.05
        elif not low - 0.02 < center < high + 0.02:
            assert p <= 0.05


def test_few_values_have_no_interval() -> None:
    assert sign_flip_interval(np.arange(5.0)) == (-np.inf, np.inf)


def test_all_recommenders_are_compared_for_both_goals(tmp_path: Path) -> None:
    parts = list(compared(read_tables(write_atlas(tmp_path, alike))))
    assert [(part.goal, part.kind) for part in parts] == [("restore", "all"), ("equalise", "all")]
    assert {*parts[0].choices} == {*LETTERS} - {PLANTING, BOTH}
