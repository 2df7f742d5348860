"""The decision rule on frames made by hand: which technique is better, and which is chosen for what."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from benchmark.columns import EQUALIZE, GOALS, RESTORE
from benchmark.statistics.answers import ConstantAnswer, constant_on, unranked
from benchmark.statistics.cells import Baselines, Resampling
from benchmark.statistics.recommendation import Criteria
from benchmark.statistics.restoration import EFFECT_COLUMNS
from tests.helpers.answers import (
    BASELINE,
    Cell,
    Values,
    answers_at,
    answers_of,
    results_of,
)


def noisy(values: Values, size: float = 0.02, tie: int | None = None, as_in: Values = BASELINE) -> Cell:
    """Return values with regular noise; in one repetition the discrimination is that of another cell."""

    def at(repetition: int) -> Values:
        if repetition == tie:
            return (as_in[0], *values[1:])
        return (values[0] + size * (-1) ** repetition, *values[1:])

    return at


USEFUL: Values = (0.1, 0.75, 0.3, 0.25, 0.35)


def verdicts_of(cells: dict[str, Cell], **settings: object) -> dict[str, str]:
    found = answers_of(cells, **settings)  # type: ignore[arg-type]
    return dict(zip(found["technique"], found["outcome"], strict=True))


# The rule.


@pytest.mark.parametrize("repetitions", [10, 30])
def test_a_tie_in_one_repetition_changes_no_verdict(repetitions: int) -> None:
    """With ten sign flips, one tie of ten took any significance away."""
    cells: dict[str, Cell] = {"none": BASELINE, "a": noisy((0.1, 0.8, 0.3, 0.25, 0.35), tie=0)}
    cells |= dict.fromkeys(("b", "c", "d"), (0.4, 0.8, 0.4, 0.2, 0.6))
    found = answers_at({0.5: cells}, repetitions=repetitions)
    assert found["outcome"].to_dict() == {
        ("none", 0.5): "baseline",
        ("a", 0.5): "helps",
        **{(name, 0.5): "not_shown" for name in ("b", "c", "d")},
    }
    assert found["tested"]["a", 0.5]


def test_the_interval_is_bonferronis_over_all_techniques_of_the_level() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 0.03, (3, 8))
    cells: dict[str, Cell] = {"none": BASELINE}
    for i, name in enumerate("abc"):
        cells[name] = lambda r, i=i: (0.2 + noise[i, r], 0.8, 0.3, 0.25, 0.35)
    levels = {0.5: cells, 0.8: {"none": BASELINE, "a": cells["a"]}}
    found = answers_at(levels, repetitions=8)
    for name, beta, m in (("a", 0.5, 3), ("b", 0.5, 3), ("a", 0.8, 1)):
        improvements = 0.4 - (0.2 + noise["abc".index(name)])
        half = student.ppf(1 - 0.05 / (2 * m), 7) * improvements.std(ddof=1) / math.sqrt(8)
        row = found.loc[(name, beta)]
        assert row["improvement"] == pytest.approx(improvements.mean(), abs=1e-12)
        assert row["simultaneous_low"] == pytest.approx(improvements.mean() - half, abs=1e-12)
        assert row["simultaneous_high"] == pytest.approx(improvements.mean() + half, abs=1e-12)
        assert row["splits"] == 8


def test_overlapping_splits_widen_the_interval() -> None:
    cells: dict[str, Cell] = {"none": BASELINE, "a": noisy((0.3, 0.8, 0.3, 0.25, 0.35), 0.04)}
    alone = answers_at({0.5: cells}).loc[("a", 0.5)]
    split = answers_at({0.5: cells}, resampling=Resampling({"set": 3 / 7})).loc[("a", 0.5)]
    widths = [row["simultaneous_high"] - row["simultaneous_low"] for row in (alone, split)]
    assert widths[1] / widths[0] == pytest.approx(math.sqrt((1 / 10 + 3 / 7) * 10), rel=1e-9)


def test_better_and_worse_are_beyond_the_margin_and_everything_else_is_not_shown() -> None:
    cells: dict[str, Cell] = {
        "none": BASELINE,
        "a": noisy((0.385, 0.8, 0.4, 0.2, 0.6), 0.001),
        "b": noisy((0.392, 0.8, 0.4, 0.2, 0.6), 0.001),  # surely less, and by less than the margin
        "c": noisy((0.42, 0.8, 0.4, 0.2, 0.6), 0.001),
        "d": noisy((0.41, 0.8, 0.4, 0.2, 0.6), 0.05),
    }
    found = answers_at({0.5: cells})["outcome"].droplevel("level").to_dict()
    assert found == {"none": "baseline", "a": "helps", "b": "not_shown", "c": "harms", "d": "not_shown"}


def test_folds_of_one_repetition_decide_as_repetitions_do() -> None:
    cells: dict[str, Cell] = {"none": BASELINE, "a": (0.1, 0.8, 0.3, 0.25, 0.35)}
    results = results_of({0.5: cells}, 1)
    folds = pd.concat([results.assign(fold=fold) for fold in range(10)])
    folds["value"] += np.where(folds["technique"] == "a", 0.01, 0.0) * (-1.0) ** folds["fold"]
    resampling = Resampling({"set": 1 / 9}, {"set": 10}, folds)
    found = answers_at({0.5: cells}, repetitions=1, resampling=resampling)
    assert found.loc[("a", 0.5), ["outcome", "splits", "tested"]].tolist() == ["helps", 10, True]
    one = answers_at({0.5: cells}, repetitions=1).loc[("a", 0.5)]
    assert one[["verdict", "reason"]].tolist() == ["promising", "one_sample"]


@pytest.mark.parametrize(("repetitions", "verdict"), [(2, "promising"), (4, "promising"), (5, "helps")])
def test_few_repetitions_decide_by_the_same_rule_and_recommend_nothing(
    repetitions: int, verdict: str
) -> None:
    apart: Cell = [(0.05, 0.75, 0.3, 0.25, 0.35), (0.45, 0.75, 0.3, 0.25, 0.35)]
    cells: dict[str, Cell] = {"none": BASELINE, "a": noisy(USEFUL, 0.001), "b": apart}
    found = answers_of(cells, repetitions=repetitions).set_index("technique")
    assert found["outcome"].to_dict() == {"none": "baseline", "a": verdict, "b": "not_shown"}
    assert found["reason"]["a"] == ("few_repetitions" if verdict == "promising" else "")
    assert found["change"]["b"] < -0.1, "and its interval holds 0"


def test_a_cost_is_shown_by_an_interval_as_well_and_with_one_repetition_none_is_hidden() -> None:
    dear: Cell = [(0.9, 0.8, 0.3, 0.25, 0.35), (0.21, 0.8, 0.3, 0.25, 0.35)]
    assert not answers_of({"none": BASELINE, "a": dear}, repetitions=2)["worse"].any()
    for own in (dear, dear[:1]):
        cells: dict[str, Cell] = {"none": BASELINE, "a": own}
        assert answers_of(cells, repetitions=1 if own is dear else 2)["worse"].any()


def test_one_repetition_makes_candidates_of_what_is_of_use() -> None:
    cells: dict[str, Cell] = {
        **{"none": BASELINE, "a": USEFUL, "b": BASELINE},
        **{"c": (0.1, 0.65, 0.3, 0.25, 0.35), "d": (0.1, 0.75, 0.2, 0.0, 0.35)},
    }
    found = answers_of(cells, repetitions=1)
    assert not found["better"].any()
    assert dict(zip(found["technique"], found["outcome"], strict=True)) == {
        **{"none": "baseline", "a": "promising", "b": "not_shown"},
        **{"c": "below_constant", "d": "one_group"},
    }


def test_a_mostly_constant_baseline_is_compared_with_nothing() -> None:
    for share in (0.005, 0.995):
        refusing = (0.4, 0.8, share, share, share)
        mixed = [refusing, refusing, BASELINE, None]  # two thirds of those with a value
        levels = {0.5: {"none": refusing, "a": USEFUL}, 0.8: {"none": mixed, "a": USEFUL}}
        found = answers_at(levels, repetitions=12)
        assert found["baseline_degenerate"].all()
        assert found["outcome"].xs("a").to_dict() == {0.5: "not_compared", 0.8: "incomplete"}
        assert set(found["level_reason"]) == {"baseline_constant"}
    own = (0.1, 0.75, 0.8, 0.75, 0.85)
    half = [refusing, BASELINE]  # six of twelve are not more than half
    levels = {0.5: {"none": half, "a": own}, 0.8: {"none": (0.4, 0.8, 0.5, 0.0, 1.0), "a": own}}
    found = answers_at(levels, repetitions=12, constant=ConstantAnswer(0.3))
    assert not found["baseline_degenerate"].any()
    assert found["outcome"].xs("a").tolist() == ["helps", "helps"]


def test_nothing_is_recommended_of_which_too_little_is_known() -> None:
    nan = math.nan
    cells: dict[str, Cell] = {"none": (0.4, 0.8, nan, nan, nan), "a": (0.0, 0.9, nan, nan, nan)}
    assert verdicts_of(cells) == {"none": "baseline", "a": "not_recorded"}
    assert verdicts_of({"none": BASELINE, "a": USEFUL}, constant=None)["a"] == "not_recorded"
    assert verdicts_of({"none": [None], "a": USEFUL}) == {"none": "baseline", "a": "not_compared"}
    empty = answers_of({"none": (nan, 0.8, 0.4, nan, 0.4), "a": (nan, 0.9, 0.4, nan, 0.4)})
    assert not (empty["n_degenerate"] > 0).any(), "an empty group is no constant answer"


# Constants.


def test_splits_are_compared_with_the_constant_answer_on_their_own_rows() -> None:
    like: Values = (0.1, 0.72, 0.4, 0.3, 0.5)
    cells: dict[str, Cell] = {"none": BASELINE, "a": like, "b": [like, None]}
    # Three in four are favorable in even repetitions, one in four of all others and of all rows.
    constant = ConstantAnswer(0.25, scored={0.5: [0.75, 0.25] * 6, 0.0: [0.0] * 12})
    rows = answers_of(cells, constant=constant).set_index("technique")
    assert rows["constant_accuracy"].to_dict() == {"none": 0.5, "a": 0.5, "b": 0.75}
    assert rows["below_constant"].to_dict() == {"none": False, "a": False, "b": True}
    whole = answers_of(cells, constant=ConstantAnswer(0.25)).set_index("technique")
    assert whole["below_constant"].to_dict() == {"none": False, "a": True, "b": True}


def test_no_constant_beats_what_is_recommended_on_a_biased_test() -> None:
    cells: dict[str, Cell] = {"none": BASELINE, "a": (0.05, 0.577, 0.3, 0.28, 0.33)}
    known = ConstantAnswer(0.47, biased={"cpt": {0.5: [0.41, 0.406] * 5}})
    found = answers_at({0.5: cells}, test="biased", constant=known).loc[("a", 0.5)]
    assert found["outcome"] == "below_constant"
    assert found["constant_accuracy"] == pytest.approx(0.592)
    enough = ConstantAnswer(0.47, biased={"cpt": {0.5: [0.43] * 10}})
    found = answers_at({0.5: cells}, test="biased", constant=enough).loc[("a", 0.5)]
    assert found["outcome"] == "helps"
    # Of another bias, or of none, is not of this one.
    for unknown in (ConstantAnswer(0.47), ConstantAnswer(0.47, biased={"label": {0.5: [0.43] * 10}})):
        found = answers_at({0.5: cells}, test="biased", constant=unknown)
        assert found["outcome"]["a", 0.5] == "not_recorded"


def test_where_nothing_is_planted_the_biased_test_has_the_verdicts_of_the_original() -> None:
    cells: dict[str, Cell] = {
        "none": BASELINE,
        "a": (0.05, 0.68, 0.35, 0.28, 0.33),
        "b": (0.1, 0.75, 0.35, 0.25, 0.32),
    }
    constant = ConstantAnswer(0.5, scored={0.0: [0.29, 0.31] * 5})
    found = [answers_at({0.0: cells}, test=test, constant=constant) for test in ("original", "biased")]
    pd.testing.assert_frame_equal(found[0].drop(columns="test"), found[1].drop(columns="test"))
    assert found[1]["outcome"]["a", 0.0] == "below_constant"
    assert found[1]["outcome"]["b", 0.0] == "helps"


def test_one_function_knows_the_constant_of_a_scenario_and_level() -> None:
    answer = ConstantAnswer(0.3, scored={0.0: [0.28], 0.5: [0.26]}, biased={"cpt": {0.5: [0.1, None]}})

    def accuracy(*where: object) -> float | None:
        found = constant_on(answer, *where)  # type: ignore[arg-type]
        return None if found is None else round(found.accuracy, 12)

    assert accuracy("original", "cpt", 0.0) == 0.72
    assert accuracy("original", "cpt", 0.5) == 0.74
    assert accuracy("original", "cpt", 0.8) == 0.7
    assert accuracy("original", "cpt") == 0.73
    assert accuracy("biased", "cpt", 0.0) == 0.72
    assert accuracy("biased", "cpt", 0.5) == 0.9
    assert accuracy("biased", "cpt", 0.8) is None
    assert accuracy("biased", "cpt") is None
    assert accuracy("balanced", "cpt", 0.5) == 0.5


# Limits.


LIMITS = {
    (0.22, 0.095, 0.30): "accepts_deprived fewer_deprived",
    (0.22, 0.21, 0.14): "accepts_favored",
    (0.68, 0.7, 0.64): "refuses_deprived",
    (0.19, 0.2, 0.2): "accepts_all",
    (0.25, 0.19, 0.3): "fewer_deprived",
    (0.20, 0.20, 0.15): "",
    (0.62, 0.60, 0.65): "",
}
"""Shares accepted of all, of the deprived and of the favored, and the limits that they miss."""


def test_no_choice_accepts_or_refuses_too_few() -> None:
    levels: dict[float, dict[str, Cell]] = {0.0: {"none": (0.1, 0.8, 0.25, 0.2, 0.3)}}
    levels |= {i: {"none": BASELINE, "a": (0.05, 0.8, *shares)} for i, shares in enumerate(LIMITS, 1)}
    found = answers_at(levels).xs("a").drop(0.0)
    assert set(found["reference"]) == {"baseline"}
    references = ["reference_accepted", "reference_deprived", "reference_favored"]
    np.testing.assert_allclose(found[references], [[0.25, 0.2, 0.3]] * len(LIMITS))
    missed = [*LIMITS.values()]
    assert found["too_few"].tolist() == missed
    assert found["outcome"].tolist() == ["too_few_accepted" if own else "helps" for own in missed]
    assert found["choice"].ne("").tolist() == [not own for own in missed]


def test_limits_of_equal_acceptance_do_not_bind_what_restores() -> None:
    clean: Values = (0.1, 0.8, 0.4, 0.2, 0.6, 0.0)
    before: Values = (0.4, 0.8, 0.3, 0.18, 0.5, 0.2)
    own: Values = (0.05, 0.8, 0.24, 0.17, 0.4, 0.05)
    levels: dict[float, dict[str, Cell]] = {0.0: {"none": clean}, 0.5: {"none": before, "a": own}}
    restored = answers_at(levels, goal=RESTORE).loc[("a", 0.5)]
    assert restored[["too_few", "outcome"]].tolist() == ["", "helps"]
    assert answers_at(levels).loc[("a", 0.5), "too_few"] == "accepts_all fewer_deprived"


def test_without_a_clean_baseline_the_labels_are_the_reference() -> None:
    own: Values = (0.05, 0.8, 0.25, 0.09, 0.3)
    constant: Values = (0.0, 0.7, 0.0, 0.0, 0.0)
    for levels in (
        {0.5: {"none": BASELINE, "a": own}},
        {0.0: {"none": constant}, 0.5: {"none": BASELINE, "a": own}},
    ):
        row = answers_at(levels).loc[("a", 0.5)]
        assert row["reference"] == "labels"
        references = ["reference_accepted", "reference_deprived", "reference_favored"]
        assert row[references].tolist() == [0.3, 0.2, 0.4]
        assert row["outcome"] == "too_few_accepted"
    known: Values = (0.05, 0.8, 0.1, 0.2, 0.3)
    found = answers_at({0.5: {"none": BASELINE, "a": known}}, constant=ConstantAnswer(0.3))
    assert found.loc[("a", 0.5), ["reference", "outcome"]].tolist() == ["", "helps"]


@pytest.mark.parametrize(
    ("clean", "floor"),
    [(0.8, 0.69), (0.65, 0.64), (None, 0.69)],  # .70 is the best constant's
)
def test_the_floor_of_accuracy_is_the_less_of_constant_and_clean_model(
    clean: float | None, floor: float
) -> None:
    levels: dict[float, dict[str, Cell]] = {
        level: {"none": BASELINE, "a": (0.1, floor + more, 0.3, 0.25, 0.35)}
        for level, more in ((0.5, 0.001), (0.8, -0.001))
    }
    if clean is not None:
        levels = {0.0: {"none": (0.1, clean, 0.25, 0.2, 0.3)}} | levels
    found = answers_at(levels).xs("a").drop(0.0, errors="ignore")
    assert found["outcome"].tolist() == ["helps", "below_constant"]
    assert found["accuracy_floor"].tolist() == pytest.approx([floor] * 2)


def test_every_number_of_the_rule_can_be_set() -> None:
    clean: Values = (0.1, 0.8, 0.25, 0.2, 0.3)
    own: Values = (0.30, 0.68, 0.16, 0.2, 0.11)
    levels: dict[float, dict[str, Cell]] = {0.0: {"none": clean}, 0.5: {"none": BASELINE, "a": own}}

    def verdict(**numbers: float) -> str:
        # each is met by a little, and missed where it is as by default, or more strict
        met = {
            "margin": 0.05,
            "least_group_share": 0.3,
            "least_overall_share": 0.6,
            "accuracy_slack": 0.03,
            "least_splits": 3,
        }
        criteria = Criteria(**{**met, **numbers})  # type: ignore[arg-type]
        return str(answers_at(levels, repetitions=4, criteria=criteria)["outcome"]["a", 0.5])

    assert verdict() == "helps"
    assert verdict(margin=0.15) == "not_shown"
    assert verdict(least_group_share=0.5) == "too_few_accepted"
    assert verdict(least_overall_share=0.8) == "too_few_accepted"
    assert verdict(accuracy_slack=0.01) == "below_constant"
    assert verdict(least_splits=5) == "promising"


# Ties.


def test_the_cheap_choice_is_never_outdone() -> None:
    cells: dict[str, Cell] = {
        "none": (0.4, 0.8005, 0.4, 0.2, 0.6),
        "a": (0.1, 0.7895, 0.3, 0.25, 0.35),
        "b": (0.2, 0.7895, 0.3, 0.25, 0.35),
        "c": (0.3, 0.7935, 0.3, 0.25, 0.35),
    }
    found = answers_of(cells).set_index("technique")
    assert found["choice"].to_dict() == {"none": "", "a": "least", "b": "", "c": "cheap"}
    assert found["dominated_by"].to_dict() == {"none": "", "a": "", "b": "a", "c": ""}


def test_the_least_is_nearest_to_0_in_the_mean_distance() -> None:
    either: Cell = [(0.15, 0.8, 0.3, 0.2, 0.35), (-0.15, 0.8, 0.3, 0.35, 0.2)]
    found = answers_of({"none": BASELINE, "a": either, "b": USEFUL}).set_index("technique")
    assert found["choice"].to_dict() == {"none": "", "a": "cheap", "b": "least"}


def test_within_the_margin_of_the_least_the_most_accurate_is_named() -> None:
    cells: dict[str, Cell] = {
        "none": BASELINE,
        "a": (0.017, 0.698, 0.35, 0.25, 0.35),
        "b": (0.018, 0.757, 0.35, 0.25, 0.35),
        "c": (0.027, 0.790, 0.35, 0.25, 0.35),
        "d": (0.060, 0.809, 0.35, 0.25, 0.35),
    }
    constant = ConstantAnswer(0.4, groups=(0.2, 0.4))
    found = answers_at({0.5: cells}, constant=constant)
    assert found["choice"].droplevel("level").to_dict() == {
        **{"none": "", "a": "", "b": ""},
        **{"c": "least cheap", "d": ""},
    }
    # The second and third are as near, and less accurate by more than the margin: the third is not outdone.
    assert found["tied"].droplevel("level").to_dict() == {
        **{"none": "", "d": ""},
        **{"a": "least", "b": "least", "c": "least"},
    }


@pytest.mark.parametrize("change", [-0.002, 0.002])
def test_the_third_decimal_decides_nothing(change: float) -> None:
    cells: dict[str, Cell] = {
        "none": BASELINE,
        "a": (0.019 + change, 0.791, 0.3, 0.25, 0.35),
        "b": (0.020, 0.801, 0.3, 0.25, 0.35),
    }
    found = answers_at({0.5: cells})
    assert found["choice"]["b", 0.5] == "least cheap"
    assert (found["outcome"].drop(("none", 0.5)) == "helps").all()


# To restore, and to equalize.

CLEAN: Values = (0.10, 0.82, 0.35, 0.30, 0.40, 0.0)
BIASED: Values = (0.40, 0.80, 0.40, 0.20, 0.60, 0.20)


def restoring(**more: Cell) -> dict[float, dict[str, Cell]]:
    return {
        0.0: {"none": CLEAN, "a": CLEAN, "b": CLEAN},
        0.5: {
            "none": BIASED,
            "a": (0.00, 0.74, 0.30, 0.30, 0.30, 0.15),  # no difference, at a cost
            "b": (0.12, 0.815, 0.34, 0.29, 0.41, 0.02),  # as it was
            **more,
        },
    }


def verdicts_for(goal: str, levels: dict[float, dict[str, Cell]], **settings: object) -> dict[str, str]:
    found = answers_at(levels, goal=goal, **settings)  # type: ignore[arg-type]
    return {str(name): str(verdict) for name, verdict in found["outcome"].xs(0.5, level="level").items()}


def test_each_goal_has_its_own_winner() -> None:
    restored, equal = (answers_at(restoring(), goal=goal) for goal in (RESTORE, EQUALIZE))
    assert set(restored["level"]) == {0.5}, "at level 0 there is nothing to restore"
    assert restored["choice"].xs(0.5, level="level").to_dict() == {"none": "", "a": "", "b": "least cheap"}
    assert equal["choice"].xs(0.5, level="level").to_dict() == {"none": "", "a": "least", "b": "cheap"}
    row = restored.loc[("b", 0.5)]
    assert row["metric"] == "restoration_distance"
    numbers = row[["value", "distance", "change", "improvement"]].tolist()
    assert numbers == pytest.approx([0.02, 0.02, -0.18, 0.18])


def test_the_useless_is_recommended_for_no_goal() -> None:
    """Three classifiers that had been recommended: 2 % accepted, no effect, both groups levelled down."""
    levels = restoring(
        c=(0.001, 0.72, 0.02, 0.02, 0.021, 0.10),
        d=(0.399, 0.80, 0.40, 0.20, 0.60, 0.199),
        drop=(0.05, 0.80, 0.20, 0.18, 0.23, 0.12),
    )
    for goal in GOALS:
        found = verdicts_for(goal, levels)
        assert {found["c"], found["drop"]} <= {"too_few_accepted", "dominated"}, goal
        assert found["d"] == "not_shown"
    assert verdicts_for(EQUALIZE, levels)["drop"] == "too_few_accepted"


def test_nothing_is_restored_where_there_is_no_measure_of_it() -> None:
    for found in (
        answers_at(restoring(), goal=RESTORE, paired=False),
        answers_at(restoring(), goal=RESTORE, test="balanced"),
        answers_at({0.5: {"none": BASELINE, "a": USEFUL}}, goal=RESTORE),
    ):
        assert found.empty


def test_where_nothing_can_be_restored_no_technique_is_chosen() -> None:
    reason = "no_effect_shown"
    effects = pd.DataFrame(
        [("set", "cpt", "c45", "original", 0.5, "none", "", reason)], columns=list(EFFECT_COLUMNS)
    )
    found = answers_at(restoring(), goal=RESTORE, effects=effects)
    assert found["outcome"].to_dict() == {("none", 0.5): "baseline", ("a", 0.5): reason, ("b", 0.5): reason}
    assert found["role"].tolist() == ["baseline", "technique", "technique"]
    assert found["verdict"].tolist() == ["", "not_shown", "not_shown"]
    assert set(found["reason"]) == {""}
    assert set(found["level_reason"]) == {reason}
    assert not found[["choice", "tied", "dominated_by"]].ne("").any(axis=None)
    assert verdicts_for(EQUALIZE, restoring(), effects=effects)["a"] == "helps"
    other = effects.assign(level=0.8)
    assert verdicts_for(RESTORE, restoring(), effects=other)["b"] == "helps"
    # Of another baseline the same is true.
    assert answers_at(restoring(), goal=RESTORE, effects=effects, baseline="a")["outcome"]["b", 0.5] == reason


def test_what_compares_with_a_clean_model_is_ranked_where_there_is_something_to_restore() -> None:
    columns = ["dataset", "bias", "classifier", "test", "level", "technique", "metric"]
    rows = [
        (beta, test, metric)
        for beta in (0.0, 0.5, 0.8)
        for test in ("original", "biased")
        for metric in ("restoration_distance", "agreement", "discrimination")
    ]
    keys = pd.DataFrame([("set", "cpt", "c45", t, b, "a", m) for b, t, m in rows], columns=columns)
    effects = keys[["dataset", "bias", "classifier", "test", "level"]].drop_duplicates()
    effects = effects.assign(
        baseline="none", technique="", reason=np.where(effects["level"] == 0.8, "nothing_to_undo", "")
    )
    left_out = unranked(keys, Baselines({("set", "c45"): "none"}), effects)
    assert keys[~left_out & (keys["metric"] != "discrimination")][["level", "test"]].to_numpy().tolist() == [
        [0.5, "original"],
        [0.5, "original"],
    ]
    assert not left_out[(keys["metric"] == "discrimination").to_numpy()].any()


# Whom it costs.


def test_who_helps_nobody_is_told_by_unrounded_shares_and_by_both_groups() -> None:
    before: Values = (0.3, 0.8, 0.2, 0.0511, 0.3511)
    levels: dict[float, dict[str, Cell]] = {
        # As many of the deprived as the baseline, fewer of the favored.
        0.4: {"none": BASELINE, "a": (0.1, 0.79, 0.25, 0.2, 0.3)},
        0.5: {"none": before, "a": (0.2, 0.8, 0.2, 0.0511, 0.2511)},
        # The deprived group gains less than half a percent, and the favored one loses most of the difference.
        0.6: {"none": before, "a": (0.2, 0.8, 0.2, 0.0549, 0.2549)},
    }
    found = answers_at(levels, constant=ConstantAnswer(0.3)).xs("a")
    assert set(found["outcome"]) == {"helps"}
    assert found["levels_down"].tolist() == [True, True, False]


def test_a_share_of_just_99_percent_is_not_more_than_that() -> None:
    found = answers_of({"none": BASELINE, "a": (0.1, 0.8, 0.9, 0.89, 0.99)})
    assert not found["one_group"].any()
    assert found["outcome"].tolist() == ["baseline", "helps"]


def test_a_fall_of_the_deprived_group_is_no_choice_to_equalize() -> None:
    cells: dict[str, Cell] = {
        "none": (-0.179, 0.8, 0.4, 0.50, 0.32, 0.3),
        "a": (-0.02, 0.8, 0.4, 0.43, 0.41, 0.1),
    }
    found = answers_at({0.5: cells}, goal=RESTORE)
    assert not found["levels_down"].any(), "the favored group has gained"
    assert found.loc[("a", 0.5), ["accepted_deprived", "baseline_accepted_deprived"]].tolist() == [0.43, 0.5]
    assert answers_at({0.5: cells})["too_few"]["a", 0.5] == "fewer_deprived"


# Doing nothing is no technique.


def test_doing_nothing_has_a_row_of_its_own_before_another_baseline() -> None:
    cells: dict[str, Cell] = {
        "none": (0.05, 0.85, 0.4, 0.3, 0.35),  # it would win
        "drop": BASELINE,
        "a": (0.1, 0.75, 0.3, 0.25, 0.35),
    }
    found = answers_at({0.5: cells}, baseline="drop")
    assert found["outcome"].droplevel("level").to_dict() == {
        **{"none": "reference", "drop": "baseline"},
        **{"a": "helps"},
    }
