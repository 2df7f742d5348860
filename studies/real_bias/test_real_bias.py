"""The findings of ``real_bias``: what they say is what the committed values and the rules give."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from benchmark.columns import CELL_COLUMNS
from benchmark.experiment.plan import load_experiment
from studies.real_bias import findings as real_bias
from studies.real_bias.findings import OPEN, OTHER, SAME, UNDECIDED, Comparison

# A large run takes some seconds to be read.
pytestmark = pytest.mark.slow


def text() -> str:
    return re.sub(r"\s+", " ", real_bias.FINDINGS.read_text(encoding="utf-8"))


def every_comparison() -> list[Comparison]:
    return [own for planted in (True, False) for own in real_bias.comparisons(planted=planted)]


def test_all_cells_of_the_experiment_are_there() -> None:
    experiment = load_experiment("real_bias")
    assert real_bias.run().manifest.repetitions == experiment.repetitions == 12
    cells = real_bias.run().results.drop_duplicates(list(CELL_COLUMNS))
    assert len(cells) == 17_280
    assert len(real_bias.techniques()) == 11
    assert all(real_bias.run().manifest.real_data.values())


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({"low": 0.1, "high": 0.9}, SAME),
        ({"low": -0.1, "high": 0.9}, OPEN),
        ({"low": 0.1, "high": 0.6}, OTHER),
        ({"low": -0.9, "high": 0.6}, OTHER),
        ({"ceiling": 0.49}, UNDECIDED),
        ({"ceiling": np.nan}, UNDECIDED),
        ({"clean_is_degenerate": True}, UNDECIDED),
    ],
)
def test_verdicts_are_those_of_the_rules(fields: dict[str, float], verdict: str) -> None:
    own = Comparison("school", "c45", "label", "restoration_distance", 11, 0.5, 0.2, 0.9, 0.7, False)
    assert replace(own, **fields).verdict == verdict


@pytest.mark.nightly
def test_the_first_sentence_counts_every_comparison_once() -> None:
    found = {planted: list(real_bias.comparisons(planted=planted)) for planted in (True, False)}
    assert (len(found[True]), len(found[False])) == (24, 10)
    for comparisons in found.values():
        counts = real_bias.counted(comparisons)
        assert sum(counts.values()) == len(comparisons)
        decided = counts[OTHER] + counts[SAME]
        assert f"in {counts[OTHER]} of the {decided} comparisons that decide" in text().lower()
    counts = real_bias.counted(found[True])
    assert f"In {counts[SAME]} no difference is shown; {counts[OPEN]} more are open." in text()


def test_an_end_within_the_error_of_drawn_resamples_decides_nothing() -> None:
    own = Comparison("school", "c45", "label", "restoration_distance", 11, 0.5, 0.2, 0.69, 0.7, False)
    assert replace(own, error=0.001).verdict == OTHER
    for high in (0.698, 0.702):
        assert replace(own, high=high, error=0.001).verdict == OPEN
    assert replace(own, high=0.8, low=0.002, error=0.001).verdict == OPEN
    assert replace(own, high=0.8, low=0.004, error=0.001).verdict == SAME


def test_no_verdict_hangs_on_which_resamples_are_drawn() -> None:
    for own in every_comparison():
        if own.verdict != UNDECIDED:
            assert own.error < 0.002
            away = own.high - own.ceiling
            assert abs(away) > real_bias.SURE * own.error
            assert away < 0 or abs(own.low) > real_bias.SURE * own.error


@pytest.mark.nightly
def test_intervals_are_over_single_folds() -> None:
    """The corrected rule's intervals are wider: a fold varies more than the mean of three."""
    for planted in (True, False):
        of_folds, registered = (
            list(real_bias.comparisons(planted=planted, registered=early)) for early in (False, True)
        )
        for own, before in zip(of_folds, registered, strict=True):
            assert (own.tau, own.ceiling) == (before.tau, before.ceiling)
            assert own.verdict == UNDECIDED or own.high - own.low > before.high - before.low - 0.1
    place = "school_12", "judged", "logistic_regression"
    singles = real_bias.folds("agreement", *place, ["massaging"])
    assert singles.shape == (1, 36)
    means = singles.reshape(12, 3).mean(axis=1)
    whole = real_bias.values("agreement", "school_12", "judged", "logistic_regression", "massaging")
    assert means == pytest.approx(whole, abs=0.01)  # folds differ by a row or two


def test_clean_models_are_degenerate_where_it_is_said() -> None:
    found = {
        (dataset, learner)
        for dataset in real_bias.biases()
        for learner in real_bias.LEARNERS
        if real_bias.degenerate(dataset, learner)
    }
    assert found == {
        ("school_10", "c45"),
        ("resume_audit", "c45"),
        ("resume_audit", "logistic_regression"),
    }
    assert (real_bias.clean_acceptance("school_10", "c45") > 0.99).mean() > 0.5
    for learner in real_bias.LEARNERS:
        assert real_bias.clean_acceptance("resume_audit", learner)[0].mean() < 0.01
        assert 0.01 < real_bias.clean_acceptance("ru_audit", learner)[0].mean() < 0.1


def test_a_label_gap_is_not_the_harm() -> None:
    for learner in real_bias.LEARNERS:
        people, least, most, flips = real_bias.harms(learner)["school_12"]
        assert least < most < people < flips


def test_clean_decisions_of_an_audit_do_not_depend_on_the_bias() -> None:
    for learner in real_bias.LEARNERS:
        accepted = [
            real_bias.values("accepted", "ru_audit", bias, learner, "none", 0.0)
            for bias in real_bias.biases()["ru_audit"]
        ]
        for own in accepted[1:]:
            np.testing.assert_array_equal(own, accepted[0])


def test_no_metric_of_an_audit_needs_a_label() -> None:
    results = real_bias.run().results
    audits = results[results["dataset"].isin(["ru_audit", "resume_audit"])]
    for metric in ("accuracy", "restoration_distance"):
        assert audits.loc[audits["metric"] == metric, "value"].isna().all()
    assert {own.metric for own in every_comparison() if "audit" in own.dataset} == {"agreement"}
