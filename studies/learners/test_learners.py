"""The findings of ``learners``: what they say is what the committed values give, and come out again."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from benchmark.experiment.plan import load_experiment, plan_blocks
from benchmark.runs.finished import read_results
from studies.learners import findings as learners
from studies.learners.findings import (
    FINDINGS,
    FOLDER,
    FOUR,
    LESS,
    METRICS,
    NEARER,
    agreement,
    everywhere,
    levels,
    moves,
    nowhere,
    part_of_learner,
    shown_on,
    survivors,
    tau_over_datasets,
)

pytestmark = pytest.mark.slow
KEYS = ["dataset", "bias", "level", "technique", "classifier", "repetition", "test", "metric"]


def text() -> str:
    return re.sub(r"\s+", " ", FINDINGS.read_text(encoding="utf-8"))


def test_every_technique_met_every_learner_and_its_own_once() -> None:
    experiment = load_experiment("learners")
    failures = pd.read_csv(FOLDER / "failures.csv", keep_default_na=False)
    results = read_results(FOLDER, learners.run())
    done = results[results["value"].notna()][KEYS[:6]].drop_duplicates()
    assert len(done) + len(failures) >= sum(len(block.cells) for block in plan_blocks(experiment))
    is_own = results["classifier"].str.endswith("_learner")
    of_own = set(results.loc[is_own, "technique"]) - {"none", "refit_clean", "refit_biased"}
    assert {"adversarial", "zafar_2015", "zafar_2017", "prejudice_remover", "gerry_fair"} <= of_own
    assert not of_own & set(results.loc[~is_own, "technique"])


@pytest.mark.nightly
def test_pairs_of_learners_are_compared_everywhere() -> None:
    found = agreement()
    n = len(learners.learners())
    places = found[found["metric"] != NEARER].groupby(["dataset", "level", "metric"]).size()
    assert len(places) == 4 * 3 * (len(METRICS) - 1)
    assert set(places) == {n * (n - 1) // 2}
    assert found["tau"].dropna().between(-1, 1).all()


def test_four_learners_do_not_contradict_each_other() -> None:
    kept = survivors(LESS)
    among = kept[kept["first"].isin(FOUR) & kept["second"].isin(FOUR)]
    assert len(among) == 12
    assert among["shown"].sum() > 0
    assert not among["opposite"].any()
    assert "No change of discrimination that is shown with C4.5" in text()


def test_what_is_said_of_restoring_holds() -> None:
    nearer, farther, n = moves(NEARER)
    assert 0 < nearer < farther < n
    assert everywhere(NEARER, 0.1) == []
    own = [tau_over_datasets(NEARER, *pair) for pair in learners.pairs()]
    assert {n_datasets for *_, n_datasets in own} == {2, 3}
    assert sum(low < 0 for _, low, *_ in own) > len(own) / 2


def test_what_is_said_of_techniques_holds() -> None:
    left_out = set(learners.of_any_learner()) - set(everywhere(LESS, 0.1))
    assert left_out == {"drop_sensitive", "repair", "smote", "fair_smote", "calibrated_equalized_odds"}
    for learner in learners.learners():
        assert shown_on(LESS, 0.1, "pfr", {learner}) == (3, 0, 3)
        for beta in levels(LESS):
            assert shown_on(LESS, beta, "calibrated_equalized_odds", {learner})[0] == 0
    assert nowhere(LESS) == ["smote", "calibrated_equalized_odds"]


def test_a_part_of_the_gain_is_the_learners() -> None:
    """By hand from the files, over the datasets on which the dose does not take nearly all there is."""
    results = read_results(FOLDER, learners.run())
    own = results[(results["dataset"] != "bank") & (results["level"] == 0.1) & (results["metric"] == LESS)]
    means = own.groupby(["technique", "classifier"])["value"].mean()
    value = means["zafar_2015", "zafar_2015_learner"]
    expected = value - means["none", "c45"], value - means["none", "zafar_2015_learner"]
    assert part_of_learner("zafar_2015", LESS, 0.1) == pytest.approx(expected)
