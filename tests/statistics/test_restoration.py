"""Who gets a place back, and who pays: answers told by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from benchmark.columns import DECISION_COLUMNS, DECISION_COUNTS
from benchmark.statistics.cells import WHERE, Baselines, Resampling
from benchmark.statistics.restoration import (
    BY_CHANCE,
    EFFECT_COLUMNS,
    NO_EFFECT_SHOWN,
    NO_REFERENCE,
    NOTHING_TO_UNDO,
    RESTORATION_COLUMNS,
    SHARES,
    TOO_FEW_SPLITS,
    clean_model_shares,
    effect_table,
    pooled_shares,
    restoration_table,
)
from tests.helpers.made_up_results import results

BASELINES = Baselines({("one", "c45"): "none"})
REFITS = {"none": ("refit_clean", "refit_biased")}

People = Mapping[str, int]

# Of each name the digits are label, clean model, biased baseline and technique.
FORTY: People = {
    **{"deprived_1101": 3, "deprived_1100": 1, "deprived_1111": 5, "deprived_1110": 2},
    **{"deprived_0001": 1, "deprived_0000": 6, "deprived_0111": 2},
    **{"favored_1111": 8, "favored_1110": 1, "favored_1100": 2, "favored_1001": 1},
    **{"favored_0000": 4, "favored_0011": 3, "favored_0101": 1},
}


def counts(people: People) -> list[int]:
    assert set(people) <= set(DECISION_COUNTS)
    return [people.get(name, 0) for name in DECISION_COUNTS]


def decisions(
    techniques: Mapping[str, Sequence[People | None]], *, beta: float = 0.5, fold: int = 0
) -> pd.DataFrame:
    """Return a row for each technique and repetition; a repetition that is None has none."""
    rows = [
        ("one", "cpt", beta, technique, "c45", repetition, "original", fold, *counts(people))
        for technique, repetitions in techniques.items()
        for repetition, people in enumerate(repetitions)
        if people is not None
    ]
    return pd.DataFrame(rows, columns=list(DECISION_COLUMNS))


def given_back(share: int, among: int) -> People:
    """Return people whom the biased baseline refuses, some of whom the technique gives their place back."""
    return {"deprived_1101": share, "deprived_1100": among - share}


def signed(levels: Mapping[float, Mapping[str, Sequence[float]]]) -> pd.DataFrame:
    """Return discriminations by level of bias and technique."""
    return pd.concat(
        [results(values, beta=beta, metric="discrimination") for beta, values in levels.items()],
        ignore_index=True,
    )


def of_metric(table: pd.DataFrame, metric: str, technique: str = "t") -> pd.Series:
    return table[(table["metric"] == metric) & (table["technique"] == technique)].iloc[0]


def test_shares_of_the_clean_model_are_counted_by_hand() -> None:
    found = clean_model_shares(np.array([counts(FORTY)]))
    assert {name: share.item() for name, share in found.items()} == {
        "accepted": 25 / 40,
        "accepted_deprived": 13 / 20,
        "accepted_favored": 12 / 20,
        "accuracy": 36 / 40,
    }


def half_width(parts: Sequence[float], overlap: float = 0.0) -> float:
    """Return half of the width of Student's interval of a mean, at 95 %."""
    n = len(parts)
    return float(scipy.stats.t.ppf(0.975, n - 1) * np.std(parts, ddof=1) * np.sqrt(1 / n + overlap))


@pytest.mark.parametrize("overlap", [0.0, 0.25])
def test_a_share_is_a_ratio_of_sums_with_a_linearised_interval(overlap: float) -> None:
    table = decisions({"t": [given_back(4, 7), given_back(9, 10), given_back(1, 3)]})
    resampling = Resampling({"one": overlap}) if overlap else None
    row = of_metric(pooled_shares(table, resampling), "given_back")
    # 4 + 9 + 1 of 7 + 10 + 3; the mean of ratios is .602.
    assert row["value"] == pytest.approx(7 / 10, rel=0, abs=1e-12)
    assert np.mean([4 / 7, 9 / 10, 1 / 3]) == pytest.approx(0.602, abs=1e-3)
    # 4 - 4.9, 9 - 7 and 1 - 2.1, over a mean denominator of 20 / 3.
    half = half_width([-0.9 * 3 / 20, 2 * 3 / 20, -1.1 * 3 / 20], overlap)
    assert (row["value_low"], row["value_high"]) == pytest.approx((0.7 - half, 0.7 + half), rel=0, abs=1e-12)
    assert (row["n"], row["reason"], row["test"]) == (3, "", "original")
    assert row["value_high"] > 1  # it is not clipped


def test_single_folds_are_the_splits_of_shares_where_there_are_some() -> None:
    first, second = (
        decisions({"t": repetitions}, fold=k)
        for k, repetitions in enumerate(
            ([given_back(4, 7), given_back(9, 10)], [given_back(1, 3), given_back(0, 0)])
        )
    )
    table = pd.concat([first, second])
    row = of_metric(pooled_shares(table, Resampling({"one": 1.0}, {"one": 2})), "given_back")
    half = half_width([-0.9 / 5, 2 / 5, -1.1 / 5, 0], overlap=1.0)
    assert (row["value"], row["n"]) == (pytest.approx(0.7), 2)
    assert (row["value_low"], row["value_high"]) == pytest.approx((0.7 - half, 0.7 + half))
    # Without such a protocol, folds are parts of their repetition: 5 - 7 and 9 - 7 of 10 each.
    row = of_metric(pooled_shares(table, None), "given_back")
    assert row["value_high"] - row["value"] == pytest.approx(half_width([-2 / 10, 2 / 10]))


def test_below_ten_people_there_is_no_share_and_below_two_splits_no_interval() -> None:
    table = pooled_shares(
        decisions({"t": [given_back(4, 5), given_back(3, 4)], "u": [given_back(5, 10)]}), None
    )
    row = of_metric(table, "given_back_deprived")
    assert row[["value", "value_low", "value_high"]].isna().all()
    assert row["reason"] == "few_people"
    row = of_metric(table, "given_back", "u")
    assert (row["value"], row["reason"]) == (0.5, TOO_FEW_SPLITS)
    assert row[["value_low", "value_high"]].isna().all()
    assert len(table) == 2 * len(SHARES)


def twenty(share: int) -> People:
    return given_back(share, 20)


def test_shares_are_shown_beside_those_of_the_refits_and_minus_the_biased_one() -> None:
    table = restoration_table(
        decisions(
            {
                "none": [twenty(0), twenty(0), twenty(0), twenty(0)],
                "t": [twenty(15), twenty(18), None, twenty(12)],
                "refit_clean": [twenty(14), twenty(16), twenty(12), twenty(14)],
                "refit_biased": [twenty(5), given_back(8, 10), twenty(9), None],
            }
        ),
        BASELINES,
        None,
        REFITS,
    )
    assert set(table["technique"]) == {"none", "t"}
    assert list(table.columns) == list(RESTORATION_COLUMNS)
    row = of_metric(table, "given_back")
    assert (row["n"], row["baseline"], row["test"], row["reason"]) == (3, "none", "original", "")
    expected = {"value": 45 / 60, "refit_clean": 56 / 80, "refit_biased": 22 / 50}
    # In the two repetitions of both: 33 of 40 minus 13 of 30.
    expected["beyond_refit"] = 33 / 40 - 13 / 30
    assert row[list(expected)].to_dict() == pytest.approx(expected, rel=0, abs=1e-12)
    treated = [(15 - 20 * 33 / 40) / 20, (18 - 20 * 33 / 40) / 20]
    refit = [(5 - 20 * 13 / 30) / 15, (8 - 10 * 13 / 30) / 15]
    half = half_width([a - b for a, b in zip(treated, refit, strict=True)])
    ends = [row["beyond_refit"] - half, row["beyond_refit"] + half]
    assert row[["beyond_refit_low", "beyond_refit_high"]].tolist() == pytest.approx(ends, rel=0, abs=1e-12)
    baseline = of_metric(table, "given_back", "none")
    assert (baseline["value"], baseline["refit_biased"]) == (0, 22 / 50)


def four_rates(*accepted: int) -> People:
    """Return ten people of each group and label, whom the clean model accepts, and of whom some are."""
    names = ("deprived_11", "deprived_01", "favored_11", "favored_01")
    return {
        f"{name}0{t}": n if t else 10 - n for name, n in zip(names, accepted, strict=True) for t in (0, 1)
    }


def test_distance_and_agreement_are_means_of_repetitions_which_sum_their_folds() -> None:
    first, second = (
        decisions({"none": [four_rates(0, 0, 0, 0)] * 2, "t": treated, "refit_biased": refit}, fold=k)
        for k, (treated, refit) in enumerate(
            (
                ([four_rates(9, 10, 10, 10), four_rates(8, 10, 10, 6)], [four_rates(5, 5, 5, 5)] * 2),
                # Here one label is missing in the second repetition, so that its rate is not defined.
                (
                    [four_rates(5, 10, 8, 10), {"deprived_1101": 10, "favored_1101": 10}],
                    [four_rates(6, 5, 5, 5)] * 2,
                ),
            )
        )
    )
    resampling = Resampling({"one": 1.0}, {"one": 2})
    table = restoration_table(pd.concat([first, second]), BASELINES, resampling, REFITS)
    row = of_metric(table, "restoration_distance")
    # First repetition: 6, 0, 2 and 0 of 20 are missed. Second: 2 of 20, 0 of 10, 0 of 20 and 4 of 10.
    repetitions = [(6 / 20 + 2 / 20) / 4, (2 / 20 + 4 / 10) / 4]
    mean = sum(repetitions) / 2
    half = half_width([(1 / 10) / 4, (5 / 10 + 2 / 10) / 4, (2 / 10 + 4 / 10) / 4], overlap=1.0)
    assert row["value"] == pytest.approx(mean, rel=0, abs=1e-12)
    assert (row["value_low"], row["value_high"]) == pytest.approx(
        (mean - half, mean + half), rel=0, abs=1e-12
    )
    # The refit misses 9, 10, 10 and 10 of 20.
    assert row["refit_biased"] == pytest.approx(39 / 80, rel=0, abs=1e-12)
    assert row["beyond_refit"] == pytest.approx(mean - 39 / 80, rel=0, abs=1e-12)
    splits = [(1 / 10) / 4 - 20 / 40, (7 / 10) / 4 - 19 / 40, (6 / 10) / 4 - 20 / 40]
    half = half_width(splits, overlap=1.0)
    assert row["beyond_refit_high"] - row["beyond_refit"] == pytest.approx(half, rel=0, abs=1e-12)
    row = of_metric(table, "agreement")
    assert row["value"] == pytest.approx((72 / 80 + 54 / 60) / 2, rel=0, abs=1e-12)
    assert row["n"] == 2


def test_rows_are_of_levels_above_0_and_a_run_may_have_none() -> None:
    table = decisions({"none": [twenty(0)] * 2}, beta=0.0)
    assert restoration_table(table, BASELINES, None, REFITS).empty
    assert len(pooled_shares(table, None)) == len(SHARES)
    assert pooled_shares(table.iloc[:0], None).empty


BEFORE, LEFT = [0.20, 0.22, 0.19, 0.21, 0.18], [0.10, 0.13, 0.08, 0.11, 0.08]
BIASED = [0.50, 0.53, 0.49, 0.50, 0.48]


def standing(n_degenerate: int = 0, *, below_constant: bool = False) -> pd.DataFrame:
    row = ("one", "cpt", "c45", "original", 0.0, "none", n_degenerate, below_constant)
    return pd.DataFrame([row], columns=[*WHERE, "n_degenerate", "below_constant"])


def effects(
    biased: Sequence[float] = BIASED,
    distances: Mapping[str, Sequence[float]] | None = None,
    standing: pd.DataFrame = standing(),  # noqa: B008
) -> pd.DataFrame:
    values = [signed({0.0: {"none": BEFORE[: len(biased)]}, 0.5: {"none": biased, "t": LEFT[: len(biased)]}})]
    if distances is not None:
        values.append(results(distances, beta=0.5, metric="restoration_distance"))
    table = effect_table(pd.concat(values), BASELINES, standing, None, REFITS)
    return table[table["technique"] == ""]


FAR = {"none": [0.30, 0.31, 0.29, 0.30, 0.32], "refit_clean": [0.10, 0.11, 0.12, 0.10, 0.09]}


def test_there_is_something_to_undo_where_the_baseline_is_farther_than_a_refit() -> None:
    table = effects(distances=FAR)
    assert table.iloc[0].to_dict() == {
        **{"dataset": "one", "bias": "cpt", "classifier": "c45", "test": "original", "level": 0.5},
        **{"baseline": "none", "technique": "", "reason": ""},
    }
    assert len(table) == 1


@pytest.mark.parametrize("distances", [None, FAR])
def test_there_is_nothing_to_undo_where_the_bias_hardly_moves_the_baseline(
    distances: Mapping[str, Sequence[float]] | None,
) -> None:
    assert effects([value + 0.019 for value in BEFORE], distances)["reason"].tolist() == [NOTHING_TO_UNDO]
    assert effects([value - 0.02 for value in BEFORE], distances)["reason"].tolist() == [""]


def test_no_effect_is_shown_where_a_refit_of_clean_rows_is_as_far() -> None:
    near = {"none": FAR["none"], "refit_clean": [0.29, 0.32, 0.28, 0.31, 0.30]}
    assert effects(distances=near)["reason"].tolist() == [NO_EFFECT_SHOWN]
    # A single repetition has no interval: the difference counts.
    for refit, verdict in ((0.29, ""), (0.31, NO_EFFECT_SHOWN), (0.30 - 1e-16, NO_EFFECT_SHOWN)):
        assert effects([0.5], {"none": [0.30], "refit_clean": [refit]})["reason"].tolist() == [verdict]


def test_a_useless_clean_model_is_no_reference() -> None:
    for useless in (standing(1), standing(below_constant=True)):
        assert effects(distances=FAR, standing=useless)["reason"].tolist() == [NO_REFERENCE]
    values = signed({0.5: {"none": BIASED, "t": LEFT}})
    table = effect_table(values, BASELINES, standing(), None, REFITS)
    assert table["reason"].tolist() == [NO_REFERENCE]


def test_a_baseline_without_results_at_a_level_does_not_make_the_clean_model_useless() -> None:
    values = signed({0.0: {"none": BEFORE, "t": BEFORE}, 0.5: {"t": LEFT}})
    assert effect_table(values, BASELINES, standing(), None, REFITS)["reason"].tolist() == [""]


def by_chance(values: pd.DataFrame, refits: Mapping[str, tuple[str, str]] = REFITS) -> pd.DataFrame:
    table = effect_table(values, BASELINES, standing(), None, refits)
    return table[table["technique"] != ""]


def test_what_comes_no_nearer_than_a_refit_of_biased_rows_does_so_by_chance() -> None:
    """The differences of `t` to the refit by hand: .1 in each split; those of `u` are of either sign."""
    refit = [0.20, 0.22, 0.21, 0.19, 0.18]
    distances = {
        "none": FAR["none"],
        "refit_biased": refit,
        "t": [value - 0.1 for value in refit],
        "u": [value + 0.02 * sign for value, sign in zip(refit, (1, -1, 1, -1, -1), strict=True)],
    }
    values = results(distances, beta=0.5, metric="restoration_distance")
    table = by_chance(values)
    assert list(table.columns) == list(EFFECT_COLUMNS)
    assert table[["technique", "baseline", "reason"]].to_numpy().tolist() == [["u", "none", BY_CHANCE]]
    # Without a refit of the baseline nothing is known of its techniques.
    assert by_chance(values, {}).empty


def test_one_sample_has_no_interval_and_its_difference_counts() -> None:
    distances = {"none": [0.3], "refit_biased": [0.2], "t": [0.1], "u": [0.2]}
    values = results(distances, beta=0.5, metric="restoration_distance")
    assert by_chance(values)["technique"].tolist() == ["u"]
