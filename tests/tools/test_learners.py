"""The findings of ``learners``: what they say is what the committed values give, and come out again."""

from __future__ import annotations

import pandas as pd
import pytest

from benchmark.columns import OWN
from benchmark.experiment.plan import load_experiment, plan_blocks
from benchmark.runs.finished import read_results
from tools import learners
from tools.learners import (
    FINDINGS,
    FOLDER,
    METRICS,
    NUMBERS,
    agreement,
    page,
    shown_on,
    survivors,
    with_tables,
)

pytestmark = pytest.mark.slow
KEYS = ["dataset", "bias", "beta", "technique", "classifier", "repetition", "test", "metric"]


def test_pages_are_those_of_the_committed_values() -> None:
    assert NUMBERS.read_text(encoding="utf-8") == page()
    text = FINDINGS.read_text(encoding="utf-8")
    assert with_tables(text) == text
    assert len(text.splitlines()) <= 80


def test_every_technique_met_every_learner_and_its_own_once() -> None:
    experiment = load_experiment("learners")
    failures = pd.read_csv(FOLDER / "failures.csv", keep_default_na=False)
    results = read_results(FOLDER, learners.run())
    done = results[results["value"].notna()][KEYS[:6]].drop_duplicates()
    assert len(done) + len(failures) >= sum(len(block.cells) for block in plan_blocks(experiment))
    of_own = set(results.loc[results["classifier"] == OWN, "technique"])
    assert {"adversarial", "zafar_2015", "zafar_2017", "prejudice_remover", "gerry_fair"} <= of_own
    assert not of_own & set(results.loc[results["classifier"] != OWN, "technique"])


def test_pairs_of_learners_are_compared_everywhere() -> None:
    found = agreement()
    n = len(learners.learners())
    places = found.groupby(["dataset", "beta", "metric"]).size()
    assert len(places) == 4 * 3 * len(METRICS)
    assert set(places) == {n * (n - 1) // 2}
    assert found["tau"].between(-1, 1).all()


def test_what_the_findings_say_is_so() -> None:
    others = {"c45", "logistic_regression", "random_forest", "gradient_boosting"}
    kept = survivors("discrimination").assign(opposes=lambda t: t["opposite"] / t["shown"])
    among = kept[kept["first"].isin(others) & kept["second"].isin(others)]
    assert not among["opposite"].any()
    assert kept[~kept.index.isin(among.index)]["opposes"].between(0.015, 0.032).all()
    of_c45 = kept[kept["first"] == "c45"]
    assert (of_c45["same"] / of_c45["shown"]).between(0.945, 0.983).all()
    costs = survivors("accuracy").query("second == 'naive_bayes'")
    assert (costs["opposite"] / costs["shown"]).between(0.127, 0.209).all()
    for learner in (*others, "naive_bayes"):
        for technique in ("massaging", "preferential_sampling"):
            assert shown_on("discrimination", 0.4, technique, learner) == (4, 0, 4)
        for beta in learners.run().manifest.levels:
            assert shown_on("discrimination", beta, "calibrated_equalized_odds", learner)[0] == 0
            assert shown_on("discrimination", beta, "repair", learner)[0] == 2 * (learner == "naive_bayes")
    means = (
        read_results(FOLDER, learners.run())
        .groupby(["metric", "technique", "classifier", "beta"])["value"]
        .mean()
    )
    for technique, metric, beside, own in (
        ("zafar_2015", "discrimination", -0.299, -0.264),
        ("zafar_2015", "accuracy", 0.011, 0.003),
        ("prejudice_remover", "discrimination", -0.163, -0.140),
        ("prejudice_remover", "accuracy", 0.017, 0.012),
    ):
        value = means[metric, technique, OWN, 0.4]
        assert value - means[metric, "none", "c45", 0.4] == pytest.approx(beside, abs=5e-4)
        assert value - means[metric, f"{technique}_unconstrained", OWN, 0.4] == pytest.approx(own, abs=5e-4)
