"""Recommenders choose from other clusters alone, and the rule finds the truth of made-up worlds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark.atlas.adviser import Adviser
from benchmark.atlas.file import Rules
from benchmark.atlas.recommenders import (
    AVERAGE,
    DATA,
    DROP,
    KIND,
    LETTERS,
    NOTHING,
    ORACLE,
    REGRET_COLUMNS,
    cluster_means,
    verdict,
)
from benchmark.atlas.scenarios import Scenarios, scenarios_of
from benchmark.atlas.tables import RECOMMENDERS, read_table, read_tables
from benchmark.errors import ReportError
from studies.atlas.comparison import compared, components_of, write_comparison
from studies.atlas.regrets import power_of_rule, recommended, regret_table
from tests.helpers.atlases import TOLD, Gain, alike, by_kind, by_rate, write_atlas


def scenarios(folder: Path, gain: Gain, n_clusters: int = 9) -> tuple[Scenarios, pd.DataFrame]:
    tables = read_tables(write_atlas(folder, gain, n_clusters=n_clusters))
    return scenarios_of(tables.dose_rows, "restore"), tables.features


def table_of(folder: Path, gain: Gain) -> pd.DataFrame:
    write_comparison(write_atlas(folder, gain, n_clusters=12, doses=[0.1]))
    return read_table(folder / RECOMMENDERS, REGRET_COLUMNS)


@pytest.mark.parametrize(
    ("gain", "shown"),
    [(by_kind, {KIND, DATA}), (by_rate, {DATA}), (alike, set())],
    ids=["kind", "data", "alike"],
)
def test_the_rule_finds_what_decides(tmp_path: Path, gain: Gain, shown: set[str]) -> None:
    found = verdict(table_of(tmp_path, gain), "restore", Rules())
    assert {name for name, evidence in found.by.items() if evidence.shown} == shown
    assert found.advice in (shown or {DROP})


def test_nothing_is_known_of_few_clusters(tmp_path: Path) -> None:
    write_comparison(write_atlas(tmp_path, by_kind, n_clusters=5, doses=[0.1]))
    table = pd.read_csv(tmp_path / RECOMMENDERS, keep_default_na=False)
    assert list(table.columns) == list(REGRET_COLUMNS)
    found = verdict(table, "restore", Rules())
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
    value[0, :, 1] = value[1, :, 3] = 0.0  # each half has a best technique of its own
    scores = recommended(replace(whole, value=value), features)[ORACLE].score
    np.testing.assert_allclose(scores, 0.1)


def test_a_choice_that_is_not_allowed_counts_as_doing_nothing(tmp_path: Path) -> None:
    whole, features = scenarios(tmp_path, alike)
    allowed = whole.allowed.copy()
    allowed[:, :, 1] = False
    choices = recommended(replace(whole, allowed=allowed), features)
    np.testing.assert_allclose(choices[DROP].score, choices[NOTHING].score)


def test_all_recommenders_are_compared_for_both_goals(tmp_path: Path) -> None:
    parts = list(compared(read_tables(write_atlas(tmp_path, alike))))
    assert [(part.goal, part.kind) for part in parts] == [("restore", "all"), ("equalize", "all")]
    assert [{*part.choices} for part in parts] == [{*LETTERS, "gap"}, {*LETTERS}]


def test_a_state_of_knowledge_counts_where_it_was_run(tmp_path: Path) -> None:
    folder = write_atlas(tmp_path, alike)
    tables = read_tables(folder)
    whole = scenarios_of(tables.dose_rows, "restore")
    lacking = (whole.frame["bias"] == whole.frame["bias"].iloc[0]).to_numpy()
    run, of_gap = whole.run.copy(), whole.knowing("gap")
    run[np.ix_(lacking, of_gap)] = False
    choices = recommended(replace(whole, run=run), tables.features)
    assert np.isnan(choices["gap"].score).tolist() == lacking.tolist()
    regrets = regret_table(whole, choices, tables.atlas, goal="restore").set_index(["recommender", "against"])
    n = regrets["n_scenarios"].groupby(level=0).sum()
    assert n["gap"] / 4 < n[AVERAGE] / 3
    less = choices[AVERAGE].score - choices["gap"].score
    here = whole.frame[~lacking].reset_index(drop=True)
    for dose, own in regrets.loc[("gap", AVERAGE)].groupby("level")["difference"]:
        at_dose = (here["level"] == dose).to_numpy()
        expected = cluster_means(here[at_dose], less[~lacking][at_dose])[0].mean()
        assert own.item() == pytest.approx(expected)


def test_blind_rules_choose_no_technique_that_is_told_something(tmp_path: Path) -> None:
    whole, features = scenarios(tmp_path, alike)
    state = "rates"
    whole = replace(whole, knows=tuple(state if knows == "gap" else knows for knows in whole.knows))
    choices = recommended(whole, features)
    chosen = {name: {*" ".join(choice.chosen).split()} for name, choice in choices.items()}
    assert chosen.keys() == {*LETTERS, state}
    assert chosen.pop(state) == {TOLD}
    assert not any(TOLD in names for names in chosen.values())
    assert choices[state].score.mean() < choices[ORACLE].score.mean() - 0.02
    assert state not in recommended(whole, features, told=False)


def test_the_power_of_the_rule_grows_with_what_advice_takes() -> None:
    regret, difference = np.full(30, 0.02), np.random.default_rng(0).normal(0.0, 0.02, 30)
    power = [power_of_rule(regret, difference, share, Rules()) for share in (0.0, 0.5, 0.75, 2.0)]
    assert power == sorted(power)
    assert power[0] < 0.06
    assert power[-1] > 0.99
    assert power_of_rule(regret[:5], difference[:5], 2.0, Rules()) == 0  # with few clusters nothing is known


def test_the_oracle_takes_no_technique_that_is_not_allowed(tmp_path: Path) -> None:
    whole, _ = scenarios(tmp_path, alike)
    allowed = whole.allowed.copy()
    allowed[0, :, 1:] = False  # in the odd half; there doing nothing is less accurate than all others
    accuracy = whole.accuracy.copy()
    accuracy[:, :, 0] = 0.1
    assert (replace(whole, allowed=allowed, accuracy=accuracy).best(0) == 0).all()


@pytest.mark.parametrize("technique_by_kind", [0.0, 1.0])
def test_shares_of_variance_are_those_of_made_up_effects(technique_by_kind: float) -> None:
    rng = np.random.default_rng(3)
    shape, deviations = (12, 4, 2, 10, 3), {(0,): 1.0, (0, 3): 1.5, (1, 3): 1.0, (0, 1): technique_by_kind}
    found = []
    for _ in range(20):
        cube = rng.normal(0, 0.3, shape)
        for effect, deviation in deviations.items():
            sizes = [size if axis in effect else 1 for axis, size in enumerate(shape)]
            cube = cube + rng.normal(0, deviation, sizes)
        found.append(components_of(cube))
    for effect in ((0,), (0, 3), (1, 3), (0, 1), (0, 2), ()):
        expected = 0.3**2 if effect == () else deviations.get(effect, 0.0) ** 2
        mean = np.mean([components[effect] for components in found])
        assert mean == pytest.approx(expected, rel=0.25, abs=0.02), effect


@pytest.mark.parametrize(
    ("lacking", "reason"),
    [
        ({"half": ["even"]}, "each part has one repetition"),
        ({"dataset": [f"data{i}" for i in range(1, 12)]}, "one independent source of data"),
        ({"unit": ["dose"]}, "no part that advice is fitted on has levels with the unit dose"),
    ],
)
def test_why_nothing_is_compared_is_said(tmp_path: Path, lacking: dict[str, list[str]], reason: str) -> None:
    folder = write_atlas(tmp_path, alike)
    means = pd.read_csv(folder / "means.csv")
    for column, values in lacking.items():
        means = means[~means[column].isin(values)]
    means.to_csv(folder / "means.csv", index=False)
    said: list[str] = []
    assert write_comparison(folder, said.append) == ()
    assert len(said) == 1
    assert said[0].startswith("No comparison of recommenders is written: ")
    assert reason in said[0]
    with pytest.raises(ReportError, match="has no comparison of recommenders") as refused:
        Adviser.of(folder)
    assert reason in str(refused.value)
