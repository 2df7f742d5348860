"""Several sensitive columns: who is deprived, what techniques see, and the values of every group."""

import itertools
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmark.bias import Group, make_bias
from benchmark.bias.base import BiasEdit
from benchmark.bias.cpt import deprived_edits
from benchmark.columns import GROUP_COLUMNS
from benchmark.data import Table
from benchmark.data.card import Card, load_card
from benchmark.errors import BetabenchError, BiasError, CardError, DataError, DeclinedError
from benchmark.experiment.draws import draw_splits
from benchmark.experiment.evaluate import Evaluator
from benchmark.experiment.expand import check_experiment
from benchmark.experiment.export import groups_frame
from benchmark.experiment.keys import planned_cells, sample_identity
from benchmark.experiment.plan import Experiment
from benchmark.experiment.prepared import PreparedExperiment
from benchmark.experiment.scoring import JOINT
from benchmark.experiment.store import Store
from benchmark.metrics import GAP, WORST, GroupCounts, measure_by_group, metrics_by_group
from benchmark.network.model import group_rates
from benchmark.runs.analysis import gap_changes
from benchmark.runs.describe import _metrics
from benchmark.runs.finished import read_optional
from benchmark.statistics.cells import Baselines, Resampling
from benchmark.statistics.intervals import NO_FOLDS
from benchmark.techniques import Tools, get_technique, list_techniques
from benchmark.text.writing import csv_text
from tests.helpers.protocol import cells, computed, folds, keys, prepared, values

BOTH = {"sex": "Male", "race": "African-American"}
OTHERS = ("Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other")


def made(card: dict[str, Any] | None = None, **fields: Any) -> PreparedExperiment:
    entry = {"card": "compas", "bias": ["label"], **(card or {})}
    return prepared(datasets=[entry], train_rows=300, **fields)


@pytest.fixture(scope="module")
def adult() -> Card:
    return load_card("adult")


def test_deprived_may_be_several_states_or_an_intersection(adult: Card) -> None:
    several = adult.with_groups(["sex", "race"], "race", ["Black", "Other"])
    again = adult.with_groups(["sex", "race"], "race", {"race": ["Other", "Black"]})
    assert several == again
    assert several.digest == again.digest != adult.digest
    assert several.attributes == ("sex", "race")
    crossed = adult.with_groups(deprived_group={"race": ["Black", "Other"], "sex": "Female"})
    assert crossed.roles["deprived_group"] == "Female and race = Other or Black"
    assert crossed.attributes == ("sex", "race")
    assert {several.rows_digest, crossed.rows_digest} == {adult.rows_digest}
    one = adult.with_groups(["sex"], deprived_group=["Female"])
    assert one.schema() == adult.schema()
    assert repr(one.schema()) == repr(adult.schema())
    listed = Card.model_validate(
        {**adult.model_dump(), "sensitive_feature": ["sex", "race"], "sensitive": ()}
    )
    assert (listed.sensitive_feature, listed.sensitive) == ("sex", ())
    rng = np.random.default_rng(0)
    codes = rng.integers(0, adult.schema().cardinalities, size=(500, len(adult.columns)))
    sex, race = (codes[:, adult.schema().index(name)] for name in ("sex", "race"))
    of_race = np.isin(race, [adult.schema().column("race").code(state) for state in ("Black", "Other")])
    for card, expected, groups in ((several, of_race, race), (crossed, of_race & (sex == 0), None)):
        table = Table(card.schema(), codes)
        assert (table.deprived == expected).all()
        assert (table.groups == (expected if groups is None else groups)).all()
        assert (np.isin(table.groups, table.schema.deprived_codes) == expected).all()
        assert (Group("deprived").members(table) == expected).all()
        assert table.features.shape[1] == len(table.feature_schema.columns)
        with pytest.raises(DeclinedError, match="not a single state"):
            _ = table.schema.deprived_code
    assert Group("deprived").columns(crossed.schema()) == ("sex", "race")


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ({"mitigate": "race"}, "The deprived group of 'race' is not known"),
        ({"sensitive": ["race"]}, "must name the sensitive feature 'sex' among them"),
        ({"sensitive": ["sex", "rase"]}, "did you mean 'race'"),
        ({"sensitive": ["sex", "income"]}, "must not name the label"),
        (
            {"deprived_group": ["Female", "Male"]},
            "must leave at least one state of 'sex' outside the deprived group",
        ),
        ({"deprived_group": {"sex": "Female", "income": ">50K"}}, "must not depend on the label"),
        ({"deprived_group": {"sex": "Female", "race": "Green"}}, "must name a state of 'race'"),
        (
            {"mitigate": "sex", "deprived_group": {"race": "Black"}},
            "must name states of the sensitive feature",
        ),
    ],
)
def test_groups_that_do_not_fit_are_refused(adult: Card, groups: dict[str, Any], said: str) -> None:
    with pytest.raises(CardError, match=said):
        adult.with_groups(**groups)


def test_a_schema_holds_its_groups_to_the_same_rules(adult: Card) -> None:
    schema = adult.schema()
    for states in ((("race", ("Black",)),), (("sex", ("Female", "Male")),), (("sex", ()),)):
        with pytest.raises(DataError, match="does not fit its features"):
            replace(schema, deprived_group="some", deprived_states=states)


def test_bias_acts_on_sets_and_intersections(adult: Card) -> None:
    several = adult.with_groups([], "race", ["Black", "Other"]).schema()
    assert [edit.group for edit in deprived_edits(several)] == ["Other", "Black"]
    crossed = made({"deprived_group": BOTH})
    (data,) = crossed.datasets.values()
    schema = data.test.schema
    with pytest.raises(BiasError, match="intersection"):
        deprived_edits(schema)
    with pytest.raises(BiasError, match="one sensitive feature"):
        make_bias("sensitive_noise").steps[0].check(schema)
    expected = data.planted("label", 0.5).expected
    favored, deprived = group_rates(data.network)
    assert expected.discrimination == pytest.approx(favored - deprived / 2)
    (fold,) = folds(crossed)
    assert fold.train.schema.sensitive_features == ("race", "sex")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.nightly if name == "lfr" else ())
        for name in sorted({*list_techniques()} - {"adversarial"})
    ],
)
def test_every_technique_takes_an_intersection_or_declines_it(name: str) -> None:
    of = made({"deprived_group": BOTH, "baseline": name}, techniques=[name], betas=[0.5])
    (cell,) = cells(of)
    if not get_technique(name).intersections:
        assert cell.status == "skipped"
        assert (
            cell.reason
            == "it takes groups of one column, and the deprived group is an intersection of race and sex"
        )
        return
    assert cell.status in ("ok", "skipped", "not_converged"), cell.reason
    assert get_technique(name).needs_sensitive or cell.status != "ok" or _blind(of, name)


def _blind(of: PreparedExperiment, name: str) -> bool:
    """Return whether predictions stay the same when either column is another."""
    evaluator = Evaluator(of)
    ((block, own),) = planned_cells(of)
    (data,) = of.datasets.values()
    (fold,) = draw_splits(data, block)
    build = evaluator.classifiers[own[0].classifier].build
    tools = Tools(lambda k: build(k, 0), lambda table: np.zeros(len(table)), np.random.default_rng(0))
    predictor = get_technique(name).fit(fold.train, tools)
    test = fold.tests["original"].seen
    others = (
        test.with_column(column, 1 - test.codes[:, test.schema.index(column)])
        for column in test.schema.sensitive_features
    )
    return all((predictor.predict(other) == predictor.predict(test)).all() for other in others)


def test_values_of_groups_are_margins_of_one_count() -> None:
    rng = np.random.default_rng(1)
    rows = rng.integers(20, 60, size=(3, 2, 2))
    rows[2] = 1
    counts = GroupCounts(("a", "b", "few"), rows.astype(float), rows)
    names = metrics_by_group(["discrimination", "accuracy", "accepted", "rates", "auc_gap"])
    assert {"discrimination", "selection_rate", "f1_score"} <= {*names}
    assert not {"accuracy", "accepted_deprived", "auc_gap"} & {*names}
    found = {(m.metric, m.group): m for m in measure_by_group(counts, names, smallest=30)}
    rate = {name: own[:, 1].sum() / own.sum() for name, own in zip(counts.names, rows, strict=True)}
    assert found["selection_rate", "a"].value == pytest.approx(rate["a"])
    assert math.isnan(found["selection_rate", "few"].value)
    assert found["selection_rate", "few"].reason == "fewer than 30 rows"
    gap = found["selection_rate", GAP]
    assert gap.value == pytest.approx(abs(rate["a"] - rate["b"]))
    assert gap.reason in ("a to b", "b to a")
    # Against all others, small groups among them.
    rest = rows[1:].sum(axis=0)
    assert found["discrimination", "a"].value == pytest.approx(rest[:, 1].sum() / rest.sum() - rate["a"])
    worst = found["false_positive_rate", WORST]
    assert worst.value == max(found["false_positive_rate", name].value for name in "ab")
    assert worst.reason in "ab"
    alone = list(measure_by_group(GroupCounts(("a",), rows[:1].astype(float), rows[:1]), ["selection_rate"]))
    assert [m.group for m in alone] == ["a"]  # there is nothing to compare
    # A large group may have few people of a label.
    rows[0] = [[100, 100], [10, 15]]
    few = GroupCounts(counts.names, rows.astype(float), rows)
    found = {(m.metric, m.group): m for m in measure_by_group(few, names, smallest=30)}
    assert math.isnan(found["true_positive_rate", "a"].value)
    assert found["true_positive_rate", "a"].reason == "fewer than 30 rows with a favorable label"
    assert found["selection_rate", "a"].value == 115 / 225
    rows[0] = [[10, 100], [15, 100]]
    few = GroupCounts(counts.names, rows.astype(float), rows)
    found = {(m.metric, m.group): m for m in measure_by_group(few, names, smallest=30)}
    reason = "fewer than 30 rows that are predicted unfavorable"
    assert found["false_omission_rate", "a"].reason == reason
    rows[0], rows[2] = [[15, 100], [15, 100]], [[7, 8], [7, 8]]  # 30 are enough
    enough = GroupCounts(counts.names, rows.astype(float), rows)
    found = {(m.metric, m.group): m for m in measure_by_group(enough, names, smallest=30)}
    assert found["false_omission_rate", "a"].value == 15 / 30
    assert found["selection_rate", "few"].value == 16 / 30


@pytest.mark.parametrize(
    "protocol",
    [{}, {"train": "data", "holdout": 0.3, "tests": ["original", "biased"]}, {"train": "data", "folds": 3}],
)
def test_sensitive_columns_leave_all_else_as_it_is(protocol: dict[str, Any], tmp_path: Path) -> None:
    plain, several = (
        made(card, betas=[0.5], techniques=["none", "massaging"], smallest_group=40, **protocol)
        for card in ({}, {"sensitive": ["race", "sex"]})
    )
    assert keys(plain) == keys(several)
    path = tmp_path / "cells.sqlite"
    before = computed(plain, path)
    # What was stored without groups is computed again for them, and then no more.
    first, second = (computed(several, path) for _ in range(2))
    fresh = computed(several, tmp_path / "fresh.sqlite")
    back = computed(plain, path)
    with Store(tmp_path / "fresh.sqlite") as store:
        stored = [*store.read(keys(several).values())]
    assert (first.computed, second.computed, back.computed) == (2, 0, 0)
    assert [cell.metrics for cell in before.cells] == [cell.metrics for cell in fresh.cells]
    assert [cell.metrics for cell in back.cells] == [cell.metrics for cell in fresh.cells]
    frame = groups_frame(several, fresh.cells)
    assert csv_text(frame) == csv_text(groups_frame(several, second.cells))
    assert groups_frame(plain, before.cells).empty
    assert tuple(frame.columns) == GROUP_COLUMNS
    assert [*frame["attribute"].unique()] == ["race", "sex", "race × sex"]
    assert set(frame["test"]) == set(several.experiment.tests)
    (data,) = several.datasets.values()
    for cell, kept in zip(fresh.cells, stored, strict=True):
        own = frame[(frame["technique"] == cell.technique) & (frame["test"] == "original")]
        value = own.set_index(["attribute", "group", "metric"])["value"]
        if "folds" not in protocol:  # there, values are means over the folds
            assert value["race", "African-American", "discrimination"] == values(cell)["discrimination"]
        n = own[own["metric"] == "selection_rate"].set_index(["attribute", "group"])["n"]
        states = (data.test.schema.column(name).states for name in ("race", "sex"))
        crossed = sum(n.get(("race × sex", " × ".join(pair)), 0) for pair in itertools.product(*states))
        assert (
            crossed
            == n["race"].loc[["African-American", "Caucasian"]].sum()
            == n["sex", "Male"] + n["sex", "Female"]
        )
        assert kept.counts[JOINT][0] == ["race", "sex"]
    (tmp_path / "groups.csv").write_text(csv_text(frame), encoding="utf-8")
    read = read_optional(tmp_path, "groups")
    assert csv_text(read) == csv_text(frame)
    assert read_optional(tmp_path / "nowhere", "groups") is None


def test_mitigating_another_column_changes_who_is_deprived() -> None:
    of = made({"sensitive": ["race", "sex"], "mitigate": "sex", "deprived_group": "Male"})
    (data,) = of.datasets.values()
    plain = made()
    block = planned_cells(plain)[0][0]
    assert (data.test.schema.sensitive_feature, data.test.schema.deprived_group) == (
        "sex",
        "Male",
    )
    assert (data.test.codes == next(iter(plain.datasets.values())).test.codes).all()
    assert sample_identity(of, block) != sample_identity(plain, block)
    assert data.card.attributes == ("race", "sex")
    with pytest.raises(BetabenchError, match="is not known"):
        made({"mitigate": "sex"})


def test_the_manifest_describes_the_metrics_of_an_intersection() -> None:
    of = made({"deprived_group": BOTH}, techniques=["none"], betas=[0.5], metrics=["selection_rate"])
    (cell,) = cells(of)
    assert {metric.metric for metric in cell.metrics} == {metric.name for metric in _metrics(of)}


@pytest.mark.parametrize("card", ["adult", "compas", "dutch"])
def test_the_default_bias_does_not_depend_on_whose_groups_are_told_apart(card: str) -> None:
    both = [
        load_card(card).sensitive_feature,
        next(c for c in load_card(card).columns if c != load_card(card).sensitive_feature),
    ]
    given = {"techniques": ["none"], "betas": [0.5]}
    one, other = (
        Experiment(datasets=[entry], **given) for entry in ({"card": card}, {"card": card, "sensitive": both})
    )
    check_experiment(other)
    assert one.datasets[0].bias == other.datasets[0].bias


def test_the_default_bias_is_of_groups_as_the_entry_reads_them() -> None:
    columns = {"race": {"states": ["White", "others"], "values": dict.fromkeys(OTHERS, "others")}}
    entry = {"card": "adult", "columns": columns, "mitigate": "race", "deprived_group": "others"}
    (dataset,) = Experiment(datasets=[entry], techniques=["none"], betas=[0.5]).datasets
    assert dataset.bias[0].to_bias().edits == (BiasEdit("race", "others"),)


def against(baseline: str) -> Baselines:
    return Baselines({("compas:embedded", "c45"): baseline})


def test_gaps_are_compared_with_those_of_the_baseline() -> None:
    of = made({"sensitive": ["race", "sex"]}, techniques=["none", "massaging"], betas=[0.5], repetitions=3)
    frame = groups_frame(of, cells(of))
    changes = gap_changes(frame, against("none"))
    own = frame[
        (frame["group"] == GAP) & (frame["metric"] == "selection_rate") & (frame["attribute"] == "sex")
    ]
    gaps = own.pivot_table("value", "repetition", "technique")
    row = changes.set_index(["technique", "attribute", "metric"]).loc["massaging", "sex", "selection_rate"]
    assert row["gap"] == pytest.approx(gaps["massaging"].mean())
    assert row["difference"] == pytest.approx((gaps["massaging"] - gaps["none"]).mean())
    assert row["wider"] == pytest.approx((gaps["massaging"] > gaps["none"]).mean())
    assert row["difference_low"] <= row["difference"] <= row["difference_high"]
    assert changes[changes["technique"] == "none"]["difference"].isna().all()
    assert gap_changes(frame, against("another")).empty
    # Repetitions of folds are of the same rows: their spread says nothing of other rows.
    splits, folds = (
        gap_changes(frame, against("none"), Resampling(dict.fromkeys(frame["dataset"], 0.5), n_folds))
        for n_folds in (None, dict.fromkeys(frame["dataset"], 3))
    )
    assert splits["difference"].equals(folds["difference"])
    assert splits["difference_low"].notna().any()
    assert folds[["difference_low", "difference_high", "p_value"]].isna().all(axis=None)
    assert NO_FOLDS in set(folds["reason"])
    assert gap_changes(frame[frame["group"] != GAP], against("none")).empty
