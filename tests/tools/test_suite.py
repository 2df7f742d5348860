"""The findings of ``suite``: what they say is what the committed values give."""

from __future__ import annotations

import re

import pytest

from benchmark.experiment.plan import load_experiment, plan_blocks
from benchmark.runs.finished import read_results, read_run
from benchmark.statistics.across import average_ranks, friedman_tests
from tools.suite import (
    DEPENDENT,
    FINDINGS,
    RANKS,
    against_none,
    compared,
    distances,
    over_datasets,
    page,
    with_table,
)

# Tests and Bayesian samples over all pairs of twelve techniques take some seconds.
pytestmark = pytest.mark.slow


def found() -> str:
    return re.sub(r"\s+", " ", FINDINGS.read_text(encoding="utf-8"))


def holding(metric: str, beta: float, sign: int) -> set[str]:
    """Return the techniques whose difference to none is significant over all and over independent ones."""
    both = [against_none(metric, beta, independent) for independent in (False, True)]
    sets = [set(t["technique"][(t["holm"] <= 0.05) & (sign * t["improvement"] > 0)]) for t in both]
    return sets[0] & sets[1]


def test_pages_are_those_of_the_committed_values() -> None:
    assert RANKS.read_text(encoding="utf-8") == page()
    text = FINDINGS.read_text(encoding="utf-8")
    assert with_table(text) == text
    assert len(text.splitlines()) <= 40


def test_every_dataset_counts_once_and_they_are_enough() -> None:
    experiment = load_experiment("suite")
    assert len(list(plan_blocks(experiment))) * len(experiment.techniques) == 5_400
    for independent, n in ((False, 15), (True, 13)):
        tests = friedman_tests(over_datasets(independent))
        assert set(tests["n_blocks"]) == set(tests["n_datasets"]) == {n}
        assert set(tests["n_techniques"]) == {12}
        assert set(tests["warning"]) == {""}
        assert tests.loc[tests["metric"].isin(["discrimination", "accuracy"]), "p_f"].max() < 0.0001
    assert set(DEPENDENT) < {own.name for own in experiment.datasets}


def test_what_is_said_to_hold_holds() -> None:
    eight = holding("discrimination", 0.4, 1)
    assert eight == {
        *("preferential_sampling", "massaging", "reweighing", "reject_option", "uniform_sampling"),
        *("meta_fair", "drop_sensitive", "prejudice_remover"),
    }
    gains = against_none("discrimination", 0.4).set_index("technique")["improvement"][sorted(eight)]
    assert f"by {gains.min():.1f} to {gains.max():.1f} points" in found()
    five = {"massaging", "reweighing", "uniform_sampling", "preferential_sampling", "drop_sensitive"}
    assert holding("discrimination", 0.2, 1) == five
    gains = against_none("discrimination", 0.2).set_index("technique")["improvement"][sorted(five)]
    assert f"{gains.min():.1f} to {gains.max():.1f} points): holds" in found()
    assert holding("discrimination", 0.0, 1) == holding("accuracy", 0.0, 1) == set()
    assert holding("accuracy", 0.0, -1) == {"reject_option", "equalized_odds", "threshold_optimizer"}
    assert holding("accuracy", 0.4, 1) == {"drop_sensitive"}
    assert "repair" not in set().union(*(holding("discrimination", beta, -1) for beta in (0.0, 0.2, 0.4)))
    differ = []
    for independent in (False, True):
        pairs = compared(independent)
        pairs = pairs[(pairs["metric"] == "discrimination") & (pairs["beta"] == 0.4)]
        pairs = pairs[pairs["first"].isin(eight) & pairs["second"].isin(eight)]
        own = pairs[pairs["p_wilcoxon_holm"] <= 0.05]
        differ.append(set(zip(own["first"], own["second"], strict=True)))
    samplings = ("uniform_sampling", "preferential_sampling")
    assert differ[0] & differ[1] == {(own, "prejudice_remover") for own in samplings}


@pytest.mark.parametrize(
    ("metric", "beta", "technique"),
    [
        ("discrimination", 0.0, "reweighing"),
        ("discrimination", 0.0, "uniform_sampling"),
        ("accuracy", 0.0, "reject_option"),
        ("accuracy", 0.0, "equalized_odds"),
        ("accuracy", 0.0, "threshold_optimizer"),
        ("accuracy", 0.4, "drop_sensitive"),
    ],
)
def test_intervals_are_those_of_the_values(metric: str, beta: float, technique: str) -> None:
    row = against_none(metric, beta).set_index("technique").loc[technique]
    low, high = sorted((abs(row["low"]), abs(row["high"])))
    assert re.search(rf"{abs(row['improvement']):.1f} (points )?\[{low:.1f}, {high:.1f}\]", found())


def test_the_cost_that_rests_on_last_places_is_told_as_measured_too() -> None:
    own = read_results(FINDINGS.parent, read_run(FINDINGS.parent))
    own = own[(own["metric"] == "accuracy") & (own["beta"] == 0)]
    means = own.groupby(["technique", "dataset"])["value"].mean()
    cost = 100 * (means["none"] - means["equalized_odds"]).mean()
    assert f"({cost:.1f} as measured)" in found()


def test_last_places_and_last_ranks() -> None:
    own = distances()
    last = own[own["last"] & (own["metric"] == "accuracy") & (own["beta"] == 0.4)]["technique"].value_counts()
    assert (last["equalized_odds"], last["threshold_optimizer"]) == (11, 5)
    ranks = average_ranks(over_datasets())
    ranks = ranks[ranks["metric"] == "discrimination"]
    assert set(ranks.groupby("beta")["mean_rank"].idxmax().map(ranks["technique"])) == {"repair"}
