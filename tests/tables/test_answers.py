"""Sentences on which technique to choose: each is true of what was made up, whatever is missing."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pytest

from benchmark.columns import RESULT_COLUMNS
from benchmark.runs.verdicts import results_answers
from benchmark.statistics.answers import ConstantAnswer
from benchmark.statistics.frames import Baselines
from benchmark.tables.answers import (
    answer_counts,
    answer_rows,
    answer_sentences,
    baseline_notes,
    choice_row,
    in_order,
    mark_notes,
    remarks,
)
from benchmark.tables.choice_words import change_text
from benchmark.text.words import number, share

TITLES = {"none": "None", "a": "Alpha", "b": "Beta, with a comma", "c": "Gamma", "d": "Delta"}
REFUSING = ConstantAnswer(favorable=30, unfavorable=70)

# Discrimination, accuracy, and the shares accepted of all, of the deprived and of the favored.
Values = tuple[float, float, float, float, float]
BASELINE: Values = (0.4, 0.8, 0.4, 0.2, 0.6)


def answers_of(
    values: Mapping[str, Values | Sequence[Values | None]],
    *,
    repetitions: int = 12,
    constant: ConstantAnswer | None = REFUSING,
    baseline: str = "none",
) -> pd.DataFrame:
    """Return the answers of one dataset at one β; noise makes every difference to the baseline regular."""
    metrics = ("discrimination", "accuracy", "accepted", "accepted_deprived", "accepted_favored")
    rows: list[tuple[object, ...]] = []
    for (technique, own), repetition in itertools.product(values.items(), range(repetitions)):
        single = own if isinstance(own, list) else [own]
        found = single[repetition % len(single)]
        noise = 0.0 if technique == "none" else 0.0001 * (1 + repetition // 2) * (-1) ** repetition
        for i, metric in enumerate(metrics):
            value = np.nan if found is None else found[i] + (noise if i < 2 else 0)
            rows.append(("set", "cpt", 0.5, technique, "c45", repetition, "original", metric, value))
    results = pd.DataFrame(rows, columns=list(RESULT_COLUMNS))
    constants = {"set": constant} if constant else {}
    baselines = Baselines({("set", "c45"): baseline})
    return in_order(results_answers(results, baselines, constants, paired_levels=False))


def said(answers: pd.DataFrame) -> str:
    return " ".join(answer_sentences(answers, TITLES, rope=0.01))


def test_splits_are_compared_with_the_constant_answer_on_their_own_rows() -> None:
    missing = [(0.1, 0.72, 0.4, 0.3, 0.5), None]
    values = {"none": BASELINE, "a": (0.1, 0.72, 0.4, 0.3, 0.5), "b": missing}
    # Three in four are favorable in even repetitions, one in four of all others and of all rows.
    constant = ConstantAnswer(25, 75, scored={0.5: [0.75, 0.25] * 6, 0.0: [0.0] * 12})
    rows = answers_of(values, constant=constant).set_index("technique")
    assert rows["constant_accuracy"].to_dict() == {"none": 0.5, "a": 0.5, "b": 0.75}
    assert rows["constant_answer"].to_dict()["b"] == "accepting everybody"
    assert rows["below_constant"].to_dict() == {"none": False, "a": False, "b": True}
    whole = answers_of(values, constant=ConstantAnswer(25, 75)).set_index("technique")
    assert whole["below_constant"].tolist() == [False, True, True]


def test_gain_and_cost_are_named_with_intervals_and_whom_it_accepts() -> None:
    text = said(
        answers_of({"none": BASELINE, "a": (0.1, 0.75, 0.3, 0.25, 0.35), "b": (0.2, 0.82, 0.4, 0.3, 0.5)})
    )
    assert text.startswith("The baseline, None, leaves a discrimination of 0.400 at accuracy 0.800.")
    assert (
        "2 of 2 techniques are recommended: they leave less discrimination than the baseline by more than "
        "0.01, shown by intervals that hold for all of them together, and are at least as accurate as "
        "refusing everybody."
    ) in text
    assert (
        "Recommended for least discrimination is Alpha: 0.100 (change -0.300 [-0.300, -0.300]) at accuracy "
        "0.750 (change -0.050 ["
    ) in text
    assert "it accepts 25 % of the deprived group and 35 % of the favored." in text
    assert (
        "Recommended at a cost of at most 0.01 of accuracy (cheap) is Beta, with a comma: "
        "0.200 (change -0.200 ["
    ) in text
    assert "at accuracy 0.820 (change +0.020 [" in text
    assert "Not recommended" not in text
    assert "outdone" not in text


def test_a_technique_that_costs_too_much_is_not_cheap() -> None:
    found = answers_of({"none": BASELINE, "a": (0.1, 0.75, 0.3, 0.25, 0.35)})
    text = said(found)
    assert "1 of 1 technique is recommended: it leaves less discrimination than the baseline by" in text
    assert "for least discrimination is Alpha: 0.100" in text
    assert "Every one of them loses more than 0.01 of accuracy; Alpha loses the least, 0.050." in text
    text = said(answers_of({"none": BASELINE, "a": (0.1, 0.7896, 0.3, 0.25, 0.35)}))
    assert "more than 0.01 of accuracy; Alpha loses the least, 0.0104." in text
    assert choice_row(0.5, found, TITLES) == [
        *("0.5", "None: 0.400, accuracy 0.800", "Alpha: 0.100, accuracy 0.750 (-0.050)", "none")
    ]


def test_the_least_may_be_cheap_as_well() -> None:
    found = answers_of({"none": BASELINE, "a": (0.1, 0.79, 0.3, 0.25, 0.35)})
    assert "It costs at most 0.01 of accuracy, so that it is the cheap choice as well." in said(found)
    assert choice_row(0.5, found, TITLES)[2:] == ["Alpha: 0.100, accuracy 0.790 (-0.010)", "the same"]
    assert answer_rows(found, TITLES)[0][-1] == "least; cheap"


def test_techniques_that_others_outdo_come_after_them_and_say_so() -> None:
    values = {
        "none": BASELINE,
        "a": (0.2, 0.75, 0.3, 0.25, 0.35),  # leaves more than c, and is less accurate
        "b": (0.3, 0.82, 0.3, 0.25, 0.35),
        "c": (0.1, 0.76, 0.3, 0.25, 0.35),
        "d": (0.11, 0.76, 0.3, 0.25, 0.35),  # c's twin, within the margin
    }
    found = answers_of(values)
    assert found["technique"].tolist() == ["c", "d", "b", "a", "none"]
    assert dict(zip(found["technique"], found["outdone_by"], strict=True)) == {
        **{"c": "", "b": "", "none": "", "d": ""},
        **{"a": "c"},
    }
    assert "3 of 4 techniques are recommended" in said(found)
    assert (
        "Not recommended: 1 is outdone by a recommended one, which in the mean is better in discrimination "
        "or accuracy, and no worse in the other (Alpha)."
    ) in said(found)
    assert "Tied for least within 0.01: Gamma; Delta (0.110 from 0, accuracy 0.760)." in said(found)
    assert answer_counts(found) == "3 of 4 techniques recommended; 1 outdone"
    assert [row[-1] for row in answer_rows(found, TITLES)][:5] == [
        *("least", "tied for least", "cheap", "baseline", "the best constant answer")
    ]
    assert answer_rows(found, TITLES)[5][-1] == "outdone by Gamma"
    assert dict(zip(found["technique"], found["choice"], strict=True)) == {
        **{"c": "least", "b": "cheap"},
        **{"d": "", "a": "", "none": ""},
    }


def test_what_is_not_recommended_is_counted_by_reason() -> None:
    found = answers_of(
        {
            "none": BASELINE,
            "a": [(0.0, 0.7, 0.001, 0.001, 0.001), (0.1, 0.75, 0.3, 0.25, 0.35)],
            "b": (0.1, 0.6, 0.3, 0.25, 0.35),
            "c": [(0.1, 0.75, 0.3, 0.25, 0.35)] * 11 + [None],
            "d": (0.4, 0.9, 0.4, 0.2, 0.6),
        }
    )
    text = said(found)
    assert "No technique is recommended." in text
    assert (
        "Not recommended: 1 that answers nearly everybody, or each group, the same in at least one sample "
        "(Alpha); 1 that is less accurate than refusing everybody (Beta, with a comma); 1 not compared in "
        "every sample (Gamma); 1 not shown to leave less discrimination by more than 0.01."
    ) in text
    assert answer_counts(found) == (
        "none of 4 techniques recommended; 1 ‡; 1 †; 1 not compared in every sample; 1 not shown to be less"
    )
    rows = {row.technique: row for row in found.itertuples(index=False)}
    assert remarks(rows["a"], TITLES) == "refuses more than 99 % of everybody in 6 of 12 samples"
    assert remarks(rows["b"], TITLES) == "less accurate than refusing everybody"
    assert remarks(rows["c"], TITLES) == "a value in 11 of 12 samples"
    assert remarks(rows["d"], TITLES) == "not shown to be less"
    assert in_order(found)["technique"].tolist() == ["none", "d", "b", "c", "a"]
    notes = mark_notes(found)
    assert [note[0] for note in notes] == ["‡", "†"]
    assert "less accurate than refusing everybody: never recommended" in notes[1]


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ((0.005, 0.0, 0.01), "refuses more than 99 % of everybody"),
        ((0.995, 1.0, 0.99), "accepts more than 99 % of everybody"),
    ],
)
def test_nothing_is_compared_with_a_constant_baseline(shares: tuple[float, float, float], words: str) -> None:
    found = answers_of({"none": (0.4, 0.8, *shares), "a": (0.1, 0.9, 0.3, 0.25, 0.35)})
    text = said(found)
    assert f"It {words} in 12 of 12 samples: no technique is compared with it here" in text
    assert "Alpha" not in text
    assert "1 not compared with the baseline" in text
    assert not (found["verdict"] == "recommended").any()
    assert answer_counts(found) == (
        f"none of 1 technique recommended, because the baseline ‡ {words} in 12 of 12 samples; 1 not compared"
    )


@pytest.mark.parametrize(
    ("values", "words"),
    [
        # Six of twelve samples are not more than half of them.
        ([(0.4, 0.8, 0.995, 1.0, 0.99), BASELINE], "accepts more than 99 % of everybody in 6 of 12 samples"),
        ([(0.4, 0.8, 0.5, 0.0, 1.0)], "decides by group alone in 12 of 12 samples"),
    ],
)
def test_a_baseline_that_is_not_mostly_constant_is_compared_with_and_marked(
    values: list[Values | None], words: str
) -> None:
    found = answers_of({"none": values, "a": (0.1, 0.9, 0.3, 0.25, 0.35)})
    text = said(found)
    assert f"‡ It {words}; techniques are compared with it nevertheless." in text
    assert "for least discrimination is Alpha: 0.100" in text
    assert answer_counts(found) == "1 of 1 technique recommended"
    baseline = next(row for row in found.itertuples(index=False) if row.technique == "none")
    assert remarks(baseline, TITLES) == f"baseline; {words}"
    assert not found["baseline_degenerate"].any()


def test_half_of_the_samples_are_those_with_a_value() -> None:
    refusing = (0.4, 0.8, 0.0, 0.0, 0.0)
    found = answers_of({"none": [refusing, refusing, BASELINE, None], "a": (0.1, 0.9, 0.3, 0.25, 0.35)})
    assert found["baseline_degenerate"].all()
    assert "It refuses more than 99 % of everybody in 6 of 9 samples: no technique" in said(found)


def test_notes_on_baselines_say_what_is_true_of_each_level() -> None:
    own = [(0.0, 3, False), (0.5, 12, True), (1.0, 12, True)]
    words = "refuses more than 99 % of everybody in"
    standing = pd.DataFrame(
        [("none", beta, n, f"{words} {n} of 12 samples", mostly) for beta, n, mostly in own],
        columns=["technique", "beta", "n_degenerate", "degenerate", "mostly_constant"],
    )
    assert baseline_notes(standing, {"none": "None"}) == [
        f"‡ The baseline, None, {words} 3 of 12 samples at β = 0; techniques are compared with it "
        "nevertheless.",
        f"At β = 0.5, 1 nothing is compared with the baseline, None: it {words} 12 of 12 samples.",
    ]


def test_a_baseline_below_the_constant_answer_is_said_to_be() -> None:
    text = said(answers_of({"none": (0.4, 0.65, 0.4, 0.2, 0.6), "a": (0.1, 0.71, 0.3, 0.25, 0.35)}))
    assert "at accuracy 0.650, less accurate than refusing everybody (0.700)." in text
    assert "discrimination is Alpha" in text


def test_a_deprived_group_that_is_better_off_is_said_to_be() -> None:
    text = said(answers_of({"none": BASELINE, "a": (-0.1, 0.75, 0.3, 0.35, 0.25)}))
    assert "is Alpha: -0.100 (change -0.500 [-0.500, -0.500]) at" in text
    better = said(answers_of({"none": (-0.03, 0.8, 0.4, 0.5, 0.47), "a": (0.01, 0.8, 0.4, 0.4, 0.4)}))
    assert "leaves a discrimination of -0.030 (the deprived group is better off) at accuracy" in better
    assert "0.010 (change +0.040 [" in better


def test_discrimination_of_either_sign_is_not_hidden_by_its_mean() -> None:
    either = [(0.15, 0.8, 0.3, 0.2, 0.35), (-0.15, 0.8, 0.3, 0.35, 0.2)]
    found = answers_of({"none": BASELINE, "a": either, "b": (0.1, 0.75, 0.3, 0.25, 0.35)})
    text = said(found)
    assert "Recommended for least discrimination is Beta, with a comma: 0.100 (" in text
    assert "is Alpha: 0.000 (of either sign, on average 0.150 from 0; change -0.400 [" in text
    assert choice_row(0.5, found, TITLES)[-1] == "Alpha: 0.000 (0.150 from 0), accuracy 0.800 (0.000)"
    rows = {row.technique: row for row in found.itertuples(index=False)}
    assert remarks(rows["a"], TITLES) == "cheap; of either sign, on average 0.150 from 0"
    assert remarks(rows["b"], TITLES) == "least"


def test_two_repetitions_decide_by_the_same_rule_and_say_how_few_they_are() -> None:
    values = {"none": BASELINE, "a": (0.1, 0.75, 0.3, 0.25, 0.35), "b": (0.395, 0.8, 0.4, 0.2, 0.6)}
    text = said(answers_of(values, repetitions=2))
    assert "1 of 2 techniques is recommended: it leaves less discrimination than the baseline by" in text
    assert "1 not shown to leave less discrimination by more than 0.01." in text
    assert text.endswith(
        "With 2 repetitions hardly any difference can be shown: only one that is 18 times its standard "
        "deviation over repetitions. It takes at least 9 repetitions to show one as large as its "
        "standard deviation."
    )
    assert "hardly any difference" not in said(answers_of(values, repetitions=5))


def test_an_interval_with_0_recommends_nothing() -> None:
    apart = [(0.05, 0.75, 0.3, 0.25, 0.35), (0.45, 0.75, 0.3, 0.25, 0.35)]
    found = answers_of({"none": BASELINE, "a": apart}, repetitions=2)
    row = found.set_index("technique").loc["a"]
    assert row["change"] < -0.1
    assert row["change_low"] < 0 < row["change_high"]
    assert not row["better"]
    assert row["verdict"] == "no_less"
    assert "No technique is recommended. Not recommended: 1 not shown to leave less" in said(found)
    # A cost is shown by an interval as well; with one repetition, none is hidden.
    dear: list[Values | None] = [(0.1, 0.6, 0.3, 0.25, 0.35), (0.1, 0.81, 0.3, 0.25, 0.35)]
    assert not answers_of({"none": BASELINE, "a": dear}, repetitions=2)["less_accurate"].any()
    assert answers_of({"none": BASELINE, "a": dear[:1]}, repetitions=2)["less_accurate"].any()
    assert answers_of({"none": BASELINE, "a": dear}, repetitions=1)["less_accurate"].any()


def test_one_repetition_has_no_interval() -> None:
    text = said(answers_of({"none": BASELINE, "a": (0.1, 0.75, 0.3, 0.25, 0.35)}, repetitions=1))
    assert (
        "1 of 1 technique is a candidate, and none is recommended: it leaves less discrimination by more "
        "than 0.01 (one sample, no interval), and is at least as accurate as refusing everybody."
    ) in text
    assert "[" not in text
    assert (
        "Candidate for least discrimination is Alpha (one sample, no interval): 0.100 (change -0.300) "
        "at accuracy 0.750 (change -0.050); it accepts"
    ) in text
    found = answers_of({"none": BASELINE, "a": (0.1, 0.75, 0.3, 0.25, 0.35), "b": BASELINE}, repetitions=1)
    assert answer_counts(found) == (
        "none of 2 techniques recommended; 1 candidate (one sample, no interval); 1 not shown to be less"
    )
    assert not found["better"].any()
    assert found["verdict"].tolist() == ["candidate", "baseline", "no_less"]
    assert choice_row(0.5, found, TITLES)[2] == "candidate: Alpha: 0.100, accuracy 0.750 (-0.050)"
    assert in_order(found)["technique"].tolist() == ["a", "none", "b"]
    rows = {row.technique: row for row in found.itertuples(index=False)}
    assert remarks(rows["a"], TITLES) == "least; candidate: one sample, no interval"
    # What is of no use is no candidate either.
    poor = answers_of({"none": BASELINE, "a": (0.1, 0.65, 0.3, 0.25, 0.35)}, repetitions=1)
    assert poor["verdict"].tolist() == ["baseline", "below_constant"]
    own = answers_of({"none": BASELINE, "a": (0.1, 0.75, 0.2, 0.0, 0.35)}, repetitions=1)
    assert own["verdict"].tolist() == ["baseline", "one_group"]
    assert "1 gives one of the groups nearly always the same answer (Alpha)" in said(own)
    assert remarks(next(own.iloc[1:].itertuples()), TITLES) == "refuses more than 99 % of the deprived group"


def test_unknown_shares_recommend_nothing() -> None:
    nan = float("nan")
    found = answers_of({"none": (0.4, 0.8, nan, nan, nan), "a": (0.0, 0.9, nan, nan, nan)})
    text = said(found)
    assert "Who is accepted is not recorded in these results" in text
    assert "No technique is recommended." in text
    assert "Alpha" not in text
    assert set(found["verdict"]) == {"baseline", "unknown"}


def test_nothing_is_recommended_where_the_constant_answer_is_unknown() -> None:
    found = answers_of({"none": BASELINE, "a": (0.1, 0.75, 0.3, 0.25, 0.35)}, constant=None)
    assert "What a constant answer would score on these rows is not recorded." in said(found)
    assert "No technique is recommended." in said(found)
    assert [row[0] for row in answer_rows(found, TITLES)] == ["None", "Alpha"]
    assert found["verdict"].tolist() == ["baseline", "unknown"]


def test_baselines_without_values_or_rows() -> None:
    found = answers_of({"none": [None], "a": (0.1, 0.75, 0.3, 0.25, 0.35)})
    assert said(found) == (
        "The baseline, None, has no value here: nothing is compared with it. Not recommended: 1 not compared "
        "with the baseline."
    )
    found = answers_of({"a": (0.1, 0.75, 0.3, 0.25, 0.35)})
    assert said(found).startswith("The baseline was not run")
    assert "because the baseline was not run" in answer_counts(found)
    found = answers_of({"none": [None], "a": (0.1, 0.75, 0.3, 0.25, 0.35)})
    assert answer_counts(found) == (
        "none of 1 technique recommended, because the baseline has no value to compare with; 1 not compared"
    )
    assert said(answers_of({"none": BASELINE})).endswith("No other technique was run.")


def test_an_empty_group_is_no_reason_to_call_a_classifier_constant() -> None:
    nan = float("nan")
    found = answers_of({"none": (nan, 0.8, 0.4, nan, 0.4), "a": (nan, 0.9, 0.4, nan, 0.4)})
    assert not (found["n_degenerate"] > 0).any()
    assert "has no value here" in said(found)


def test_long_tables_keep_what_others_are_measured_by() -> None:
    values: dict[str, Values] = {"none": BASELINE, "x": (0.38, 0.9, 0.4, 0.2, 0.6)}
    values |= {f"t{i}": (0.1 + 0.02 * i, 0.75, 0.3, 0.25, 0.35) for i in range(10)}
    found = answers_of(values)
    titles = {name: name for name in values}
    names = [row[0] for row in answer_rows(found, titles, most=5)]
    assert names == ["t0", "x", "none", "Refusing everybody", "t1"], "x is the cheap one"
    assert len(answer_rows(found, titles)) == len(values) + 1


def test_numbers_are_never_rounded_to_another_meaning() -> None:
    assert [share(value) for value in (0, 0.0001, 0.004, 0.123, 0.994, 0.9999, 1)] == [
        *("0 %", "<0.1 %", "0.4 %", "12 %", "99.4 %", ">99.9 %", "100 %")
    ]
    assert [number(-1e-9), number(float("nan"))] == ["0.000", "–"]
    assert change_text(0.02, float("nan"), float("nan")) == "+0.020"
    assert change_text(-0.0001, -0.0002, 0.0001) == "0.000 [0.000, 0.000]"


def test_who_helps_nobody_is_marked() -> None:
    values: dict[str, Values] = {
        "none": BASELINE,
        "a": (0.1, 0.79, 0.25, 0.2, 0.3),  # as many of the deprived as the baseline, fewer of the favored
        "b": (0.2, 0.8, 0.35, 0.25, 0.45),
    }
    found = answers_of(values)
    assert dict(zip(found["technique"], found["levels_down"], strict=True)) == {
        "a": True,
        "b": False,
        "none": False,
    }
    assert answer_rows(found, TITLES)[0][0] == "Alpha ↓"
    assert choice_row(0.5, found, TITLES)[2].startswith("Alpha ↓: 0.100")
    assert "it accepts 20 % of the deprived group (no more than doing nothing) and 30 % of the" in said(found)
    assert "accepts no more of the deprived group than doing nothing (20 %), and fewer of the favored" in str(
        answer_rows(found, TITLES)
    )
    assert mark_notes(found)[0].startswith("↓ accepts no more of the deprived group than the baseline")


def test_who_helps_nobody_is_told_by_unrounded_shares_and_by_both_groups() -> None:
    def marked(baseline: Values, own: Values) -> bool:
        found = answers_of({"none": baseline, "a": own}).set_index("technique")
        assert found["verdict"]["a"] == "recommended"
        return bool(found["levels_down"]["a"])

    # The deprived group gains less than half a percent, and the favored one loses most of the difference.
    assert not marked((0.3, 0.8, 0.2, 0.0511, 0.3511), (0.2, 0.8, 0.2, 0.0549, 0.2549))
    assert marked((0.3, 0.8, 0.2, 0.0511, 0.3511), (0.2, 0.8, 0.2, 0.0511, 0.2511))
    # The deprived group was ahead, and the favored one has gained.
    assert not marked((-0.3, 0.8, 0.4, 0.6, 0.3), (-0.05, 0.8, 0.52, 0.55, 0.5))


def test_the_cheap_choice_is_never_outdone() -> None:
    values: dict[str, Values] = {
        "none": (0.4, 0.8005, 0.4, 0.2, 0.6),
        "a": (0.1, 0.7895, 0.3, 0.25, 0.35),
        "b": (0.2, 0.7895, 0.3, 0.25, 0.35),
        "c": (0.3, 0.7935, 0.3, 0.25, 0.35),
    }
    found = answers_of(values).set_index("technique")
    assert found["choice"].to_dict() == {"none": "", "a": "least", "b": "", "c": "cheap"}
    assert found["outdone_by"].to_dict() == {"none": "", "a": "", "b": "a", "c": ""}


def test_the_mean_of_the_baseline_hides_nothing_either() -> None:
    either: list[Values | None] = [(0.2, 0.8, 0.4, 0.3, 0.5), (-0.2, 0.8, 0.4, 0.5, 0.3)]
    text = said(answers_of({"none": either, "a": (0.05, 0.79, 0.4, 0.375, 0.425)}))
    assert "leaves a discrimination of 0.000 (of either sign, on average 0.200 from 0) at accuracy" in text


def test_a_share_of_just_99_percent_is_not_more_than_that() -> None:
    found = answers_of({"none": BASELINE, "a": (0.1, 0.8, 0.9, 0.89, 0.99)})
    assert not found["one_group"].any()
    assert found["verdict"].tolist() == ["recommended", "baseline"]


def test_one_answer_for_a_group_is_marked_wherever_it_is_named() -> None:
    found = answers_of({"none": (0.6, 0.75, 0.4, 0.0, 0.6), "a": (0.1, 0.75, 0.3, 0.25, 0.35)})
    assert "leaves a discrimination of 0.600 at accuracy 0.750; it refuses more than 99 % of the" in said(
        found
    )
    assert choice_row(0.5, found, TITLES)[1] == "None ¶: 0.600, accuracy 0.750"
    assert mark_notes(found)[-1].startswith("¶ refuses or accepts more than 99 % of one of the groups")
