"""Agreement of classifiers about techniques, against scipy and by hand."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau
from scipy.stats import t as scipy_t

from benchmark.metrics import list_metrics
from benchmark.statistics.cells import Cells, to_cells
from benchmark.statistics.paired import paired_comparisons
from studies.agreement import AGREEMENT_COLUMNS, classifier_agreement, tau_interval, tau_of, tau_of_halves

TECHNIQUES = ("none", "a", "b", "c")


def made_up(shift: float = 0.0, n: int = 6, lost: tuple[str, ...] = ()) -> Cells:
    """Two classifiers that agree about all but ``c``, which the second one moves by ``shift``."""
    rng = np.random.default_rng(5)
    rows = [
        ("d", "cpt", 0.2, technique, classifier, "original", "discrimination", repetition, value)
        for classifier in ("one", "two")
        for i, technique in enumerate(TECHNIQUES)
        for repetition in range(n)
        for value in [0.5 - 0.1 * i + (shift if (technique, classifier) == ("c", "two") else 0.0)]
        if not (classifier == "two" and technique in lost and repetition == 0)
    ]
    keys = ("dataset", "bias", "level", "technique", "classifier", "test", "metric", "repetition", "value")
    table = pd.DataFrame(rows, columns=list(keys))
    table["value"] += rng.normal(scale=0.005, size=len(table))
    return to_cells(table)


def agreement(cells: Cells) -> pd.Series:
    found = classifier_agreement(cells, paired_comparisons(cells, "none", list_metrics()), ["one", "two"])
    assert list(found.columns) == list(AGREEMENT_COLUMNS)
    assert len(found) == 1
    return found.iloc[0]


def test_tau_is_kendalls() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 6, (2, 40, 12)).astype(float)  # with ties
    for one, other, tau in zip(first, second, tau_of(first, second), strict=True):
        assert tau == pytest.approx(kendalltau(one, other, variant="b").statistic, abs=1e-12)
    assert np.isnan(tau_of(np.ones(4), np.arange(4.0)))


def test_classifiers_that_agree_and_one_technique_that_is_turned_around() -> None:
    same = agreement(made_up())
    assert (same["tau"], same["halves"], same["n_techniques"], same["n"]) == (1, 1, 4, 6)
    assert tuple(same[["both", "opposite", "only_first", "only_second", "neither"]]) == (3, 0, 0, 0, 0)
    # From the best it becomes the worst: three of six pairs are turned around.
    turned = agreement(made_up(shift=0.5))
    assert (turned["tau"], turned["tau_low"], turned["tau_high"]) == (0, 0, 0)
    assert tuple(turned[["both", "opposite", "only_first", "only_second", "neither"]]) == (2, 1, 0, 0, 0)


def test_incomplete_techniques_are_left_out_and_fewer_than_three_are_not_ranked() -> None:
    assert agreement(made_up(lost=("b",)))["n_techniques"] == 3
    cells = made_up(lost=("a", "b"))
    compared = paired_comparisons(cells, "none", list_metrics())
    assert classifier_agreement(cells, compared, ["one", "two"]).empty


def test_noise_lowers_tau_of_halves_and_widens_the_interval() -> None:
    rng = np.random.default_rng(2)
    noise, signal = rng.normal(size=(2, 10, 8)), np.arange(10.0)[:, None]
    assert tau_of_halves(noise[0]) < 0.4
    assert tau_of_halves(signal + 0.01 * noise[0]) == 1
    assert np.isnan(tau_of_halves(signal))
    assert -1 < tau_of_halves(rng.normal(size=(10, 30))) < 0.4  # too many ways of halving to try them all
    tau, low, high, _ = tau_interval(*noise)
    assert low < tau < high
    assert high - low > 0.3


@pytest.mark.parametrize("n", [3, 4, 5, 11, 12])
def test_tau_of_halves_depends_on_no_order_of_repetitions(n: int) -> None:
    own = np.arange(6.0)[:, None] + np.random.default_rng(3).normal(scale=2, size=(6, n))
    halvings = [half for k in (n // 2, n - n // 2) for half in itertools.combinations(range(n), k)]
    rest = [[i for i in range(n) if i not in half] for half in halvings]
    taus = [
        tau_of(own[:, half].mean(axis=1), own[:, other].mean(axis=1))
        for half, other in zip(halvings, rest, strict=True)
    ]
    assert tau_of_halves(own) == pytest.approx(np.mean(taus))
    assert tau_of_halves(own[:, ::-1]) == pytest.approx(tau_of_halves(own), abs=1e-12)


def test_without_noise_the_interval_is_a_point_and_of_one_repetition_there_is_none() -> None:
    first = np.arange(5.0)[:, None] + np.zeros((5, 4))
    assert tau_interval(first, first[[1, 0, 2, 3, 4]]) == pytest.approx((0.8, 0.8, 0.8, 0.0))
    tau, *ends = tau_interval(first[:, :1], first[:, :1])
    assert tau == 1
    assert np.isnan(ends).all()


@pytest.mark.parametrize("n", [2, 4, 5])
@pytest.mark.parametrize("overlap", [0.0, 3 / 7])
def test_all_resamples_are_counted_and_deviate_as_far_as_means_of_splits_that_overlap(
    n: int, overlap: float
) -> None:
    first, second = np.random.default_rng(4).normal(size=(2, 6, n)) + np.arange(6.0)[:, None] / 3
    wider = np.sqrt((1 / n + overlap) * n * n / (n - 1))
    taus = []
    for drawn in itertools.product(range(n), repeat=n):
        means = [
            own.mean(axis=1) + wider * (own[:, drawn].mean(axis=1) - own.mean(axis=1))
            for own in (first, second)
        ]
        taus.append(float(tau_of(*means)))
    half = scipy_t.ppf(0.975, n - 1) * np.std(taus)
    found = tau_interval(first, second, overlap)
    tau = kendalltau(first.mean(axis=1), second.mean(axis=1)).statistic
    beyond = 2 * tau - np.mean(taus)
    ends = max(-1, min(tau, beyond) - half), min(1, max(tau, beyond) + half)
    assert found == pytest.approx((tau, *ends, 0.0))


@pytest.mark.parametrize("n", [8, 12, 36])
def test_drawn_resamples_say_how_far_the_ends_may_be_off(n: int) -> None:
    first, second = np.random.default_rng(5).normal(size=(2, 8, n)) + np.arange(8.0)[:, None] / 3
    few, many = (tau_interval(first, second, 0.5, resamples=k) for k in (2_000, 100_000))
    assert (many.error == 0) == (n == 8)  # 6,435 resamples are counted
    assert many.error < few.error < 0.05
    assert abs(few.low - many.low) < 4 * few.error
    assert abs(few.high - many.high) < 4 * few.error


def test_overlap_widens_the_interval_and_centers_move_it() -> None:
    first, second = np.random.default_rng(6).normal(size=(2, 6, 7)) / 3 + np.arange(6.0)[:, None] / 3
    second = second[[2, 0, 4, 1, 5, 3]]
    plain, wide = (tau_interval(first, second, overlap) for overlap in (0.0, 3 / 7))
    assert wide.high - wide.low > 1.3 * (plain.high - plain.low)
    moved = tau_interval(first + 5, second - np.arange(6.0)[:, None], 0.0, (first.mean(1), second.mean(1)))
    assert moved == pytest.approx(plain)


def test_a_technique_without_an_interval_is_shown_with_no_classifier_and_not_shown_with_none() -> None:
    cells = made_up(n=6)
    compared = paired_comparisons(cells, "none", list_metrics())
    distances = replace(cells, values=cells.distances(list_metrics()))
    asked = ["one", "two"]
    counts = ["both", "opposite", "only_first", "only_second", "neither"]
    missing = (compared["technique"] == "b") & (compared["classifier"] == "two")
    compared.loc[missing, ["improvement_low", "improvement_high"]] = np.nan
    found = classifier_agreement(distances, compared, asked).iloc[0]
    assert tuple(found[counts]) == (2, 0, 0, 0, 0)
    compared.loc[compared["classifier"] == "two", ["improvement_low", "improvement_high"]] = np.nan
    found = classifier_agreement(distances, compared, asked).iloc[0]
    assert tuple(found[counts]) == (0, 0, 0, 0, 0)
    compared.loc[compared["technique"] == "c", ["improvement_low", "improvement_high"]] = [-1.0, 1.0]
    found = classifier_agreement(distances, compared, asked).iloc[0]
    assert tuple(found[counts]) == (0, 0, 0, 0, 1)


def test_agreement_over_folds_has_the_interval_of_its_folds() -> None:
    cells = made_up(n=4)
    distances = replace(cells, values=cells.distances(list_metrics()))
    compared = paired_comparisons(cells, "none", list_metrics())
    noise = np.random.default_rng(8).normal(scale=0.3, size=(len(cells.keys), 4, 3))
    noise -= noise.mean(axis=2, keepdims=True)  # folds whose means are the repetitions
    folds = (distances.values[:, :, None] + noise).reshape(len(noise), -1)
    overlap = np.full(len(folds), 0.5)
    asked = ["one", "two"]
    plain, known, unknown = (
        classifier_agreement(replace(distances, of_folds=own, overlap=overlap), compared, asked).iloc[0]
        for own in (None, folds, np.full_like(folds, np.nan))
    )
    assert plain["tau"] == known["tau"] == unknown["tau"]
    assert plain["n"] == known["n"] == 4
    assert known["tau_high"] - known["tau_low"] > plain["tau_high"] - plain["tau_low"]
    assert np.isnan([unknown["tau_low"], unknown["tau_high"]]).all()
