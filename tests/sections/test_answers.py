"""The words of answers, each sentence once; what is decided is tested on frames, in ``tests/statistics``."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd
import pytest

from benchmark.sections.answers import answer_lines, choice_row, reading
from benchmark.sections.choices import answer_counts, answer_sentences, change_text, remarks
from benchmark.sections.first_look import doubts
from benchmark.sections.signs import baseline_notes
from benchmark.text.words import number, share
from tests.helpers.answers import BASELINE, TITLES, Cell, Values, answers_of, level_of, said
from tests.helpers.made_up_runs import sample_run

USEFUL: Values = (0.1, 0.75, 0.3, 0.25, 0.35)
NAN = math.nan


def row_of(found: pd.DataFrame, technique: str) -> str:
    """Return the remarks on a technique."""
    return next(remarks(row, TITLES) for row in level_of(found) if row.technique == technique)


def cells_of(found: pd.DataFrame, titles: Mapping[str, str], most: int | None = None) -> list[list[str]]:
    """Return the table of a level of bias."""
    return [line.cells for line in answer_lines(level_of(found), titles, most)]


def test_gain_and_cost_are_named_with_intervals_and_whom_it_accepts() -> None:
    found = answers_of({"none": BASELINE, "a": USEFUL, "b": (0.2, 0.82, 0.4, 0.3, 0.5)})
    assert set(answer_sentences(level_of(found), TITLES)) == {
        "The baseline, None, leaves a discrimination of 0.400 at accuracy 0.800.",
        "2 of 2 techniques are recommended. Over their whole intervals, they are nearer to 0 than the "
        "baseline by more than 0.01. Intervals that hold for all techniques together show it.",
        "To equalize acceptance, Alpha is recommended. It leaves a discrimination of 0.100 (change -0.300 "
        "[-0.300, -0.300]) at accuracy 0.750 (change -0.050 [-0.050, -0.050]). It accepts 25 % of the "
        "deprived group and 35 % of the favored.",
        "To equalize acceptance at a cost of at most 0.01 of accuracy, Beta is recommended. It "
        "leaves a discrimination of 0.200 (change -0.200 [-0.200, -0.200]) at accuracy 0.820 (change +0.020 "
        "[+0.020, +0.020]). It accepts 30 % of the deprived group and 50 % of the favored.",
    }
    assert answer_counts(level_of(found)) == "2 of 2 techniques recommended"


@pytest.mark.parametrize(("accuracy", "cost"), [(0.75, "0.050"), (0.7896, "0.0104")])
def test_a_technique_that_costs_too_much_is_not_cheap(accuracy: float, cost: str) -> None:
    found = answers_of({"none": BASELINE, "a": (0.1, accuracy, 0.3, 0.25, 0.35)})
    assert f"It loses {cost} of accuracy, more than 0.01." in said(found)
    assert choice_row(0.5, level_of(found), TITLES)[-1] == "none"


def test_a_gain_of_accuracy_is_not_called_a_cost() -> None:
    found = answers_of({"none": BASELINE, "a": (0.1, 0.844, 0.3, 0.25, 0.35)})
    assert "On average it gains 0.044 of accuracy." in said(found)
    assert "costs" not in said(found)


def test_the_least_may_be_cheap_as_well() -> None:
    found = answers_of({"none": BASELINE, "a": (0.1, 0.79, 0.3, 0.25, 0.35)})
    assert "On average it costs at most 0.01 of accuracy." in said(found)
    assert choice_row(0.5, level_of(found), TITLES) == [
        *("0.5", "None: 0.400, accuracy 0.800", "Alpha: 0.100, accuracy 0.790 (-0.010)", "the same")
    ]
    assert cells_of(found, TITLES)[0][-1] == "recommended: least discrimination, at little cost"


def test_what_is_not_recommended_is_counted_by_reason() -> None:
    cells: dict[str, Cell] = {
        "none": BASELINE,
        "a": [(0.0, 0.7, 0.001, 0.001, 0.001), USEFUL],
        "b": (0.1, 0.6, 0.3, 0.25, 0.35),
        "c": [*[USEFUL] * 11, None],
        "d": (0.4, 0.9, 0.4, 0.2, 0.6),
    }
    found = answers_of(cells)
    assert said(found).startswith(
        "betabench recommends none of the 4 techniques to equalize acceptance. The baseline, None,"
    )
    assert said(found).endswith(
        "Not recommended: 1 is degenerate: it answers "
        "nearly everybody, or each group, the same in at least one sample (Alpha); 1 is less accurate than "
        "refusing everybody, below the floor of 0.690 (Beta); 1 not compared in every sample (Gamma); 1 not "
        "shown to leave less discrimination by more than 0.01."
    )
    assert answer_counts(level_of(found)) == (
        "none of 4 techniques recommended; 1 degenerate (the same answer for nearly everybody, or for each "
        "group); 1 less accurate than the best constant answer; 1 not compared in every sample; 1 not shown "
        "to leave less"
    )
    assert {name: row_of(found, name) for name in cells} == {
        "none": "baseline",
        "a": "refuses more than 99 % of everybody in 6 of 12 samples",
        "b": "less accurate than refusing everybody, below the floor of 0.690",
        "c": "a value in 11 of 12 samples",
        "d": "not shown to be less",
    }


def test_dominated_techniques_say_so() -> None:
    found = answers_of(
        {
            "none": BASELINE,
            "a": (0.2, 0.75, 0.3, 0.25, 0.35),
            "b": (0.3, 0.82, 0.3, 0.25, 0.35),
            "c": (0.1, 0.76, 0.3, 0.25, 0.35),
            "d": (0.11, 0.76, 0.3, 0.25, 0.35),
        }
    )
    assert (
        "Not recommended: 1 is dominated: on average, a recommended technique is nearer to the goal or more "
        "accurate, and no worse in the other (Alpha)."
    ) in said(found)
    assert answer_counts(level_of(found)) == "3 of 4 techniques recommended; 1 dominated"
    assert [row[-1] for row in cells_of(found, TITLES)] == [
        "recommended: least discrimination",
        "recommended: tied for least discrimination",
        "recommended: least discrimination at little cost",
        *("baseline", "the best constant answer", "dominated by Gamma"),
    ]


def test_a_constant_baseline_is_compared_with_nothing() -> None:
    found = answers_of({"none": (0.4, 0.8, 0.995, 1.0, 0.99), "a": USEFUL})
    words = "accepts more than 99 % of everybody in 12 of 12 samples"
    assert f"It {words}: nothing is compared with it here." in said(found)
    assert answer_counts(level_of(found)) == (
        f"1 technique, not recommended, because the baseline {words}; 1 not compared"
    )


def test_a_baseline_that_is_seldom_constant_is_marked() -> None:
    found = answers_of({"none": (0.4, 0.8, 0.5, 0.0, 1.0), "a": USEFUL})
    words = "decides by group alone in 12 of 12 samples"
    assert f"It {words}; techniques are compared with it nevertheless." in said(found)
    assert row_of(found, "none") == f"baseline; {words}"


def test_notes_on_baselines_say_what_is_true_of_each_level() -> None:
    rows = [
        ("none", beta, n, f"{n} of 12", mostly) for beta, n, mostly in ((0.0, 3, 0), (0.5, 12, 1), (1, 12, 1))
    ]
    columns = ["technique", "beta", "n_degenerate", "degenerate", "mostly_constant"]
    assert baseline_notes(pd.DataFrame(rows, columns=columns), {"none": "None"}) == [
        "‡ The baseline, None, 3 of 12 at β = 0; techniques are compared with it nevertheless.",
        "At β = 0.5, 1 nothing is compared with the baseline, None: it 12 of 12.",
    ]


@pytest.mark.parametrize(
    ("baseline", "words"),
    [
        ((0.4, 0.65, 0.4, 0.2, 0.6), "at accuracy 0.650, less accurate than refusing everybody (0.700)."),
        ((-0.03, 0.8, 0.4, 0.5, 0.47), "discrimination of -0.030 (the deprived group is better off) at"),
        (
            [(0.2, 0.8, 0.4, 0.3, 0.5), (-0.2, 0.8, 0.4, 0.5, 0.3)],
            "discrimination of 0.000 (of either sign, on average 0.200 from 0) at",
        ),
        ((0.6, 0.75, 0.4, 0.0, 0.6), "at accuracy 0.750; it refuses more than 99 % of the deprived group"),
    ],
)
def test_what_a_baseline_lacks_is_said(baseline: Cell, words: str) -> None:
    assert words in said(answers_of({"none": baseline, "a": USEFUL}))


def test_discrimination_of_either_sign_is_not_hidden_by_its_mean() -> None:
    either = [(0.15, 0.8, 0.3, 0.2, 0.35), (-0.15, 0.8, 0.3, 0.35, 0.2)]
    found = answers_of({"none": BASELINE, "a": either, "b": USEFUL})
    assert "a discrimination of 0.000 (of either sign, on average 0.150 from 0; change -0.400 [" in said(
        found
    )
    assert (
        choice_row(0.5, level_of(found), TITLES)[-1] == "Alpha: 0.000 (0.150 from 0), accuracy 0.800 (0.000)"
    )
    assert row_of(found, "a") == (
        "recommended: least discrimination at little cost; of either sign, on average 0.150 from 0"
    )


def test_few_repetitions_say_how_few_they_are() -> None:
    text = said(answers_of({"none": BASELINE, "a": USEFUL, "b": (0.395, 0.8, 0.4, 0.2, 0.6)}, repetitions=2))
    assert text.endswith(
        "With 2 repetitions hardly any difference can be shown: only one that is 18 times its standard "
        "deviation over repetitions. It takes at least 9 repetitions to show one as large as its "
        "standard deviation."
    )


def test_one_repetition_has_no_interval() -> None:
    found = answers_of({"none": BASELINE, "a": USEFUL, "b": BASELINE}, repetitions=1)
    text = said(found)
    assert "[" not in text
    assert (
        "1 of 2 techniques is a candidate. In the one sample, it is nearer to 0 than the baseline by more "
        "than 0.01. A recommendation takes at least 5 repetitions."
    ) in text
    assert (
        "To equalize acceptance, Alpha is a candidate (one sample, no interval). It leaves a discrimination "
        "of 0.100 (change -0.300) at accuracy 0.750 (change -0.050). It accepts"
    ) in text
    assert answer_counts(level_of(found)) == (
        "none of 2 techniques recommended; 1 candidate (one sample, no interval); 1 not shown to leave less"
    )
    assert choice_row(0.5, level_of(found), TITLES)[2] == "candidate: Alpha: 0.100, accuracy 0.750 (-0.050)"
    assert row_of(found, "a") == "candidate (one sample, no interval): least discrimination"


@pytest.mark.parametrize(
    ("cells", "start", "counted"),
    [
        (
            {"none": [None], "a": USEFUL},
            "The baseline, None, has no value here: nothing is compared with it.",
            ", because the baseline has no value to compare with; 1 not compared",
        ),
        ({"a": USEFUL}, "The baseline was not run", ", because the baseline was not run; 1 not compared"),
    ],
)
def test_baselines_without_values_or_rows(cells: Mapping[str, Cell], start: str, counted: str) -> None:
    found = answers_of(cells)
    none = "betabench does not recommend Alpha to equalize acceptance. "
    assert said(found).startswith(none + start)
    assert answer_counts(level_of(found)) == f"1 technique, not recommended{counted}"
    assert said(answers_of({"none": BASELINE})).endswith("No other technique was run.")


def test_what_is_not_recorded_is_said() -> None:
    found = answers_of({"none": (0.4, 0.8, NAN, NAN, NAN), "a": (0.0, 0.9, NAN, NAN, NAN)})
    assert "Selection rates are not recorded in these results" in said(found)
    found = answers_of({"none": BASELINE, "a": USEFUL}, constant=None)
    assert "The accuracy of a constant answer on these rows is not recorded." in said(found)
    assert [row[0] for row in cells_of(found, TITLES)] == ["None", "Alpha"]


def test_long_tables_keep_what_others_are_measured_by() -> None:
    values: dict[str, Cell] = {"none": BASELINE, "x": (0.38, 0.9, 0.4, 0.2, 0.6)}
    values |= {f"t{i}": (0.1 + 0.02 * i, 0.75, 0.3, 0.25, 0.35) for i in range(10)}
    found = answers_of(values)
    titles = {name: name for name in values}
    names = [row[0] for row in cells_of(found, titles, most=5)]
    assert names == ["t0", "x", "none", "Refusing everybody", "t1"], "x is the cheap one"
    assert len(cells_of(found, titles)) == len(values) + 1


def test_numbers_are_never_rounded_to_another_meaning() -> None:
    assert [share(value) for value in (0, 0.0001, 0.004, 0.123, 0.994, 0.9999, 1)] == [
        *("0 %", "<0.1 %", "0.4 %", "12 %", "99.4 %", ">99.9 %", "100 %")
    ]
    assert [number(-1e-9), number(NAN)] == ["0.000", "–"]
    assert change_text(0.02, NAN, NAN) == "+0.020"
    assert change_text(-0.0001, -0.0002, 0.0001) == "0.000 [0.000, 0.000]"


@pytest.mark.parametrize(
    ("baseline", "words"),
    [
        ((0.002, 0.75, 0.004, 0.003, 0.005), "refuses more than 99 % of everybody in 12 of 12 samples"),
        ((0.002, 0.65, 0.004, 0.003, 0.005), "is no more accurate than refusing everybody (accuracy 0.700)"),
        (BASELINE, ""),
    ],
)
def test_a_nearly_constant_model_is_not_called_less_accurate_than_it_is(baseline: Cell, words: str) -> None:
    (model,) = level_of(answers_of({"none": baseline}))
    said_of_it = " ".join(doubts(model))
    assert said_of_it.startswith(f"This model {words}. ") if words else not said_of_it
    assert ("--accept 0.1" in said_of_it) == bool(words)


def test_a_model_that_hardly_does_better_than_lots_is_said() -> None:
    (model,) = level_of(answers_of({"none": BASELINE}))
    for gain, hardly in ((0.003, True), (0.02, False)):
        by_lot = model._replace(
            constant_answer="accepting 60 % by lot", constant_accuracy=model.accuracy - gain
        )
        words = "hardly more accurate than accepting 60 % by lot"
        assert any(words in sentence for sentence in doubts(by_lot)) == hardly


def test_leveling_down_is_named() -> None:
    found = answers_of({"none": BASELINE, "a": (0.1, 0.79, 0.25, 0.2, 0.3)})
    words = "leveling down: accepts no more of the deprived group than doing nothing (20 %), "
    words += "and fewer of the favored"
    assert choice_row(0.5, level_of(found), TITLES)[2].startswith(f"Alpha ({words}): 0.100")
    assert "It accepts 20 % of the deprived group (no more than doing nothing) and 30 % of the" in said(found)
    assert row_of(found, "a").endswith(words)


def test_one_answer_for_a_group_is_named() -> None:
    found = answers_of({"none": (0.6, 0.75, 0.4, 0.0, 0.6), "a": (0.1, 0.75, 0.2, 0.0, 0.35)})
    assert "1 gives one of the groups nearly always the same answer (Alpha)" in said(found)
    assert choice_row(0.5, level_of(found), TITLES)[1] == (
        "None (refuses more than 99 % of the deprived group): 0.600, accuracy 0.750"
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ((0.034, 0.011, 0.057), "not shown to be less or greater: counting all techniques, the improvement"),
        ((-0.034, -0.057, -0.011), "not shown to be less: counting all techniques, the improvement"),
        ((0.01, -0.02, 0.04), "not shown to be less"),
    ],
)
def test_where_the_shown_interval_does_not_decide_the_one_that_does_stands_beside_it(
    change: tuple[float, float, float], words: str
) -> None:
    rows = level_of(answers_of({"none": BASELINE, "a": BASELINE, "b": BASELINE}))
    row = next(row for row in rows if row.technique == "a")
    assert row.verdict == "not_shown"
    middle, low, high = change
    row = row._replace(
        change=middle, change_low=low, change_high=high, simultaneous_low=-0.065, simultaneous_high=-0.003
    )
    text = remarks(row, TITLES)
    assert words in text
    assert ("is in [-0.065, -0.003]" in text) == (low > 0 or high < 0)


def test_the_interval_of_a_recommendation_is_wider_with_several_techniques_only() -> None:
    varying: Cell = [(0.1, *USEFUL[1:]), (0.12, *USEFUL[1:])]
    widths = {}
    for names in ("a", "ab"):
        rows = level_of(answers_of({"none": BASELINE, **dict.fromkeys(names, varying)}))
        row = next(row for row in rows if row.technique == "a")
        shown = row.change_high - row.change_low
        widths[names] = (row.simultaneous_high - row.simultaneous_low) / shown
    assert widths["a"] == pytest.approx(1)
    assert widths["ab"] > 1.1
    assert "with several, it is wider than the shown ones" in " ".join(reading(sample_run().description, []))
