"""The study of what must be known: its estimands on made-up tables, and its pages."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from benchmark.atlas.file import load_atlas
from benchmark.experiment.expand import expand
from benchmark.statistics.restoration import AGREEMENT, RESTORATION_DISTANCE
from studies.told import estimands as study_of
from studies.told import findings as told
from studies.told.estimands import BLIND, DOSE, DOSES, KINDS, LEARNERS, NOTHING, REFIT, TREE, Study

# Made-up studies take about a second each.
pytestmark = pytest.mark.slow

RATES = [f"rate_weights_{signs}_{error}" for error in ("05", "10") for signs in study_of.CORNERS]
LEFT = {
    NOTHING: ("nothing", 1.0),
    REFIT: ("nothing", 0.3),
    "drop_sensitive": ("nothing", 0.9),
    "reweighing": ("nothing", 0.8),
}
LEFT |= {"positive_unlabeled": ("kind", 0.75), "gap_weights_half": ("half_gap", 0.6)}
LEFT |= {"gap_weights": ("gap", 0.4), "gap_weights_more": ("gap", 0.7)}
LEFT |= {"gap_weights_twice": ("gap", 1.3), "gap_weights_wrong": ("gap", 0.9)}
LEFT |= dict.fromkeys(study_of.FEARED.values(), ("feared_0.1", 0.8))
LEFT |= {f"refusal_weights_{m}": ("refusals", 0.4 + 4 / m) for m in study_of.M}
LEFT |= {f"refusal_weights_50_err{e}": ("refusals", 0.5 + int(e) / 100) for e in ("05", "10")}
LEFT |= {"rate_bounds": ("bounds_0.05", 0.7), "rate_weights": ("rates", 0.4), "blum_stangl": ("rates", 0.5)}
LEFT |= {name: ("rates", 0.5 if name.endswith("05") else 1.2 if "mm" in name else 0.9) for name in RATES}
LEFT |= {
    f"{name}_{m}": ("clean_rows", 0.7) for name in ("audited_rows", "prediction_powered") for m in (50, 200)
}
LEFT |= dict.fromkeys(study_of.UNSEEN, ("refusals", 0.5))
"""What each technique is told, and the share of the bias that it leaves."""

Change = Callable[[pd.DataFrame], pd.Series | float]
"""Share of the bias that is left in addition, in each row of a table."""


def made_up(n_sources: int = 4, change: Change = lambda table: 0.0) -> Study:
    """Return a study in which techniques leave what :data:`LEFT` says."""
    sources, doses = [f"source{i}" for i in range(n_sources)], (0.0, *DOSES)
    places = [*itertools.product(sources, KINDS, doses, LEARNERS, LEFT, ("odd", "even"))]
    where = ["cluster", "bias", "level", "classifier", "technique", "half"]
    table = pd.DataFrame(places, columns=where).assign(part="trees", pooled=1)
    people = [*itertools.product(("school", "court"), ("a", "b"), (1.0,), LEARNERS, LEFT, ("odd", "even"))]
    people_table = pd.DataFrame(people, columns=where).assign(part="people", pooled=0)
    table = pd.concat([table, people_table], ignore_index=True)
    table = table.assign(card=table["cluster"], dataset=table["cluster"], n=3, missing=0)
    table.loc[table["part"] == "people", "dataset"] += "_" + table["bias"]
    table["knows"], share = (
        table["technique"].map({name: own[i] for name, own in LEFT.items()}) for i in (0, 1)
    )
    size = table["level"].where(table["part"] != "people", 0.2)
    left = size * (share + change(table) * (table["technique"] != NOTHING))
    # Chance moves all but doing nothing where nothing is planted.
    left = left.where((size > 0) | (table["technique"] == NOTHING), 0.02 * share)
    values = {AGREEMENT: 1 - left, RESTORATION_DISTANCE: left, "accuracy": 0.8 - left / 2}
    return Study(table.assign(**values, accepted_deprived=0.4 + left / 2))


def of_source(table: pd.DataFrame) -> pd.Series:
    """Return a change that differs between sources and techniques."""
    rng = np.random.default_rng(2)
    places = table["cluster"] + table["technique"] + table["bias"]
    return places.map({place: rng.normal(0, 0.1) for place in sorted(set(places))})


def test_every_technique_of_the_study_is_in_the_run() -> None:
    trees = {entry.name for entry in expand(load_atlas("atlas").experiments["trees"]).experiment.techniques}
    named = {
        *study_of.PRIMARY,
        *study_of.GAPS,
        *study_of.FEARED.values(),
        *study_of.EXAMINERS,
        *study_of.UNSEEN,
        *RATES,
    }
    named |= {f"refusal_weights_{m}" for m in study_of.M} | {
        NOTHING,
        REFIT,
        study_of.DROP,
        "gap_weights_wrong",
    }
    assert named <= trees
    assert trees - {"refit_biased"} >= LEFT.keys()


def test_knowledge_is_told_apart_by_fact_and_number() -> None:
    states = made_up().states
    assert [*states][:4] == [BLIND, "the kind", "half the gap", "the gap"]
    assert states[BLIND].techniques == ("drop_sensitive", NOTHING, "reweighing")
    assert states["both rates"].techniques == ("blum_stangl", "rate_weights")
    assert states["50 refusals"].techniques == ("refusal_weights_50",)
    assert states["50 clean rows"].techniques == ("audited_rows_50", "prediction_powered_50")


def test_a_gain_is_the_difference_over_kinds_and_learners() -> None:
    study = made_up(change=of_source)
    gains = study.gains(AGREEMENT, "gap_weights", NOTHING, DOSE)
    own = study.frame.query("cluster == 'source1' and level == 0.1").groupby("technique")[AGREEMENT].mean()
    assert gains["source1"] == pytest.approx(own["gap_weights"] - own[NOTHING])
    nearer = study.gains(RESTORATION_DISTANCE, "gap_weights", NOTHING, DOSE)
    assert nearer["source1"] == pytest.approx(gains["source1"])


def test_the_best_that_knows_nothing_is_chosen_on_the_other_sources() -> None:
    def only_there(table: pd.DataFrame) -> pd.Series:
        return -0.5 * ((table["technique"] == "drop_sensitive") & (table["cluster"] == "source0"))

    study = made_up(8, only_there)
    chosen = study.chosen(AGREEMENT, study.states[BLIND].techniques)[TREE]
    assert chosen["source0"] == "reweighing"
    assert study.values(RESTORATION_DISTANCE, BLIND, DOSE)["source0"] == pytest.approx(0.08)


def test_the_best_is_chosen_by_each_measure_for_itself() -> None:
    study = made_up()
    study.frame.loc[study.frame["technique"] == "drop_sensitive", AGREEMENT] += 0.05
    for measure, name in ((AGREEMENT, "drop_sensitive"), (RESTORATION_DISTANCE, "reweighing")):
        assert set(study.chosen(measure, study.states[BLIND].techniques)) == {name}


def test_splits_without_a_model_count_as_doing_nothing() -> None:
    study = made_up()
    failed = (study.frame["technique"] == "gap_weights") & (study.frame["half"] == "odd")
    study.frame.loc[failed, ["n", "missing"]] = 0, 3
    study.frame.loc[failed, [AGREEMENT, RESTORATION_DISTANCE]] = np.nan
    assert study.values(RESTORATION_DISTANCE, "gap_weights", DOSE).mean() == pytest.approx((0.1 + 0.04) / 2)


def test_a_dose_beyond_reach_is_not_counted() -> None:
    study = made_up()
    study.frame.loc[(study.frame["cluster"] == "source2") & (study.frame["level"] == 0.2), "pooled"] = 0
    assert [*study.values(AGREEMENT, NOTHING, 0.2).index] == ["source0", "source1", "source3"]
    assert len(study.sources()) == 4


def test_a_primary_contrast_needs_both_measures_and_the_least_gains() -> None:
    both = study_of.primaries(made_up(8, of_source))
    assert all(one.shown for one in both.values())
    study = made_up(8, of_source)
    told_refusals = study.frame["technique"] == "refusal_weights_50"
    study.frame.loc[told_refusals, AGREEMENT] = 0.5
    one = study_of.primaries(study)["refusal_weights_50"]
    assert one.p == 1
    assert not one.shown
    small = study_of.primaries(made_up(8, lambda table: 0.17 * table["technique"].str.endswith("half")))
    assert small["gap_weights_half"].p < 0.05
    assert not small["gap_weights_half"].shown


def test_power_at_the_smallest_difference_is_that_of_its_definition() -> None:
    values = np.random.default_rng(1).normal(0, 1, 30)
    assert study_of.power(values, told.smallest_difference(values)) == pytest.approx(0.8, abs=1e-3)


def test_break_even_is_where_the_gain_over_doing_nothing_ends() -> None:
    study = made_up(change=of_source)
    one = {name: study.gains(AGREEMENT, name, NOTHING, DOSE, KINDS, (TREE,)).mean() for name in study_of.GAPS}
    mean, low, high = study_of.break_even(study, AGREEMENT, DOSE)
    more = one["gap_weights_more"]
    assert mean == pytest.approx(1.5 + 0.5 * more / (more - one["gap_weights_twice"]))
    assert low < mean < high
    assert study_of.crossing([0.5, 1, 2], [1, 1, 1], 1.0) == np.inf
    assert study_of.crossing([0.5, 1, 2], [1, -1, 1], 1.0) == 1.0


def test_doing_nothing_is_better_below_the_true_gap_at_which_a_told_one_gains_nothing() -> None:
    study = made_up()
    name, learner = "gap_weights_feared_10", (TREE,)
    gains = [study.gains(AGREEMENT, name, NOTHING, gap, KINDS[:1], learner).mean() for gap in (0.0, 0.05)]
    mean, low, high = study_of.least_gap(study, AGREEMENT, DOSE)
    assert gains[0] < 0 < gains[1]
    assert mean == pytest.approx(0.05 * -gains[0] / (gains[1] - gains[0]))
    assert low <= mean <= high


def test_a_feared_gap_is_a_multiple_of_the_dose() -> None:
    assert study_of.told_gaps(0.05)[4.0] == "gap_weights_feared_20"
    assert study_of.told_gaps(0.10)[2.0] == "gap_weights_twice"
    assert study_of.told_gaps(0.20)[0.25] == "gap_weights_feared_05"


def test_rates_may_err_until_the_worst_direction_gains_nothing() -> None:
    error = study_of.rates_break_even(made_up(), AGREEMENT, DOSE)
    assert error == pytest.approx(0.05 + 0.05 * 0.5 / 0.7)


def test_harm_is_what_exceeds_the_refit() -> None:
    own = study_of.harm(made_up(), "gap_weights_feared_10", TREE)
    assert own[AGREEMENT][0] == pytest.approx(0.016)
    assert own[study_of.BEYOND][0] == pytest.approx(0.016 - 0.006)
    assert own["accuracy"][0] == pytest.approx(0.008)


def test_the_least_number_of_refusals_has_its_intervals_above_the_least_gains() -> None:
    def enough(table: pd.DataFrame) -> pd.Series:
        """Refusals below 100 lose distance to reweighing."""
        few = table["technique"].isin([f"refusal_weights_{m}" for m in study_of.M if m < 100])
        return of_source(table) * 0.01 + 0.6 * few

    assert study_of.least_m(made_up(8, enough)) == 100
    assert study_of.least_m(made_up(8, lambda table: 2.0 * (table["technique"] != REFIT))) is None


def test_boosting_is_told_apart_by_each_measure() -> None:
    study = made_up(8, of_source)
    assert told.boosted(study) == ""
    boosting = study.frame[study.frame["classifier"] == TREE].assign(classifier=study_of.BOOSTING)
    best, told_refusals = (boosting["technique"] == name for name in ("reweighing", "refusal_weights_50"))
    boosting.loc[best | told_refusals, AGREEMENT] = 0.95
    boosting.loc[best, RESTORATION_DISTANCE] = 0.01
    both = Study(pd.concat([study.frame, boosting], ignore_index=True))
    assert "they are not shown to agree more: .000 [" in told.boosted(both)
    assert "They end farther: -" in told.boosted(both)
    assert told.hindsight(both) == "reweighing"


def test_people_are_told_by_file() -> None:
    study = made_up()
    assert study_of.on_people(study, AGREEMENT, "rate_weights") == pytest.approx(
        {"court": 0.12, "school": 0.12}
    )
    assert not any(study_of.dropped(study).values())
    study.frame.loc[(study.frame["card"] == "court"), RESTORATION_DISTANCE] *= -1
    assert study_of.dropped(study)["true rates harm on people's labels"]


def test_the_page_of_a_made_up_study_says_what_it_shows() -> None:
    study = made_up(30, of_source)
    page = told.findings(study)
    assert page.split("\n\n")[1].startswith(
        "**Knowing 50 re-examined refusals or half the gap is shown to bring"
    )
    assert told.draw(study).startswith(b"\x89PNG")


def test_the_answer_says_which_contrast_is_shown() -> None:
    does = "bring decisions nearer to those of clean rows than the best technique that knows nothing"
    both = told.answer(made_up(12, of_source))
    assert both.startswith(f"**Knowing 50 re-examined refusals or half the gap is shown to {does}.**")
    study = made_up(12, lambda table: 0.5 * table["technique"].str.contains("refusal_weights"))
    text = told.answer(study)
    assert (
        f"Knowing half the gap is shown to {does}. Knowing 50 re-examined refusals is not shown to.**" in text
    )
    neither = told.answer(made_up(12, lambda table: 0.5 * (table["technique"] != REFIT)))
    assert neither.startswith(f"**Knowing 50 re-examined refusals or half the gap is not shown to {does}.**")


def test_the_table_of_the_package_has_a_row_for_each_learner_dose_and_fact() -> None:
    table = study_of.shipped(made_up(6, of_source))
    assert [*table.columns] == [*study_of.COLUMNS]
    assert not table.duplicated(["learner", "dose", "fact", "m", "factor"]).any()
    assert set(table["fact"]) == {"gap", "rates", "refusals", "clean_rows"}
    row = table.query("learner == 'c45' and dose == 0.1 and m == 50 and fact == 'refusals'").iloc[0]
    assert row["agreement_gain"] == pytest.approx(row["agreement_told"] - row["agreement_nothing"])
    assert row["distance_gain_low"] < row["distance_gain"] < row["distance_gain_high"]


def test_the_answer_of_the_page_is_that_of_the_committed_means() -> None:
    study = told.read()
    assert min(len(own) for one in study_of.primaries(study).values() for own in one.gains.values()) >= 30
    page = " ".join(told.FINDINGS.read_text(encoding="utf-8").split())
    assert " ".join(told.answer(study).split()) in page
