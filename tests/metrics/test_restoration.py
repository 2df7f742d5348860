"""Decisions fixed by hand: each metric of restoration is the fraction that was counted by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest

from benchmark.metrics import OneValueEach, Predictions
from benchmark.metrics.restoration import RESTORATION, restoration
from benchmark.statistics.restoration import restoration_values

NAMES = ("deprived", "favored")

People = Mapping[str, int]
"""Numbers of people by group and four digits: label, clean model, biased baseline, technique."""

# Of the kinds in the order of their digits, 1 to 16 deprived people and 16 to 1 favored ones.
ALL_KINDS: People = {
    f"{group}_{kind:04b}": n
    for kind in range(16)
    for group, n in zip(NAMES, (kind + 1, 16 - kind), strict=True)
}
DEPRIVED_ALONE: People = {"deprived_1101": 3, "deprived_1111": 4, "deprived_1110": 1, "deprived_0001": 2}
ACCEPTS_ALL: People = {  # the clean model accepts everybody
    **{"deprived_1101": 2, "deprived_0110": 3, "deprived_1111": 1, "deprived_0100": 1},
    **{"favored_1111": 4, "favored_0110": 1, "favored_0111": 2},
}


def predictions(people: People) -> tuple[Predictions, list[int]]:
    """Return one row for each person, shuffled, and the 32 numbers of people."""
    kinds = [(group, *map(int, f"{kind:04b}")) for group in range(2) for kind in range(16)]
    numbers = [people.get(f"{NAMES[group]}_{kind:04b}", 0) for group in range(2) for kind in range(16)]
    rows = np.random.default_rng(3).permutation(np.repeat(kinds, numbers, axis=0))
    codes, (y_true, clean, baseline, y_pred) = rows[:, 0], rows[:, 1:].astype(bool).T
    decisions = np.column_stack([clean, baseline])
    return Predictions(codes, NAMES, y_true, y_pred, decisions=decisions), numbers


@pytest.mark.parametrize(
    ("people", "expected"),
    [
        (
            {
                **{"deprived_1101": 3, "deprived_1100": 1, "deprived_1111": 5, "deprived_1110": 2},
                **{"deprived_0001": 1, "deprived_0000": 6, "deprived_0111": 2, "favored_1111": 8},
                **{"favored_1110": 1, "favored_1100": 2, "favored_1001": 1, "favored_0000": 4},
                **{"favored_0011": 3, "favored_0101": 1},
            },
            {
                # True positive rates: 8 and 11 of 11, 9 and 11 of 12. False ones: 3 and 2 of 9, 4 and 1 of 8.
                "restoration_distance": Fraction(3, 11) / 4
                + Fraction(1, 36)
                + Fraction(2, 48)
                + Fraction(3, 32),
                "agreement": Fraction(29, 40),
                "given_back": Fraction(4, 7),
                "given_back_deprived": Fraction(3, 4),
                "given_back_favored": Fraction(1, 3),
                "paid": Fraction(3, 18),
                "paid_deprived": Fraction(2, 9),
                "paid_favored": Fraction(1, 9),
                "in_their_place": Fraction(5, 15),
                "in_their_place_deprived": Fraction(1, 7),
                "in_their_place_favored": Fraction(4, 8),
            },
        ),
        (
            ALL_KINDS,
            {
                # True positive rates: 52 and 58 of 100, 16 and 10 of 36. False ones: 20 and 26 of 36, 48 and
                # 42 of 100.
                "restoration_distance": (Fraction(12, 100) + Fraction(12, 36)) / 4,
                "agreement": Fraction(136, 272),
                "given_back": Fraction(34, 68),
                "given_back_deprived": Fraction(6 + 14, 5 + 6 + 13 + 14),
                "given_back_favored": Fraction(11 + 3, 12 + 11 + 4 + 3),
                "paid": Fraction(34, 68),
                "paid_deprived": Fraction(7 + 15, 7 + 8 + 15 + 16),
                "paid_favored": Fraction(10 + 2, 10 + 9 + 2 + 1),
                "in_their_place": Fraction(68, 136),
                "in_their_place_deprived": Fraction(28, 52),
                "in_their_place_favored": Fraction(40, 84),
            },
        ),
        (
            DEPRIVED_ALONE,
            {
                "restoration_distance": None,
                "agreement": Fraction(7, 10),
                "given_back": Fraction(3, 3),
                "given_back_deprived": Fraction(3, 3),
                "given_back_favored": None,
                "paid": Fraction(1, 5),
                "paid_deprived": Fraction(1, 5),
                "paid_favored": None,
                "in_their_place": Fraction(2, 2),
                "in_their_place_deprived": Fraction(2, 2),
                "in_their_place_favored": None,
            },
        ),
        (
            ACCEPTS_ALL,
            {
                # Of the unfavorable of the deprived group it accepts none of 4, of the favored 2 of 3.
                "restoration_distance": (Fraction(0) + Fraction(4, 4) + Fraction(0) + Fraction(1, 3)) / 4,
                "agreement": Fraction(9, 14),
                "given_back": Fraction(2, 3),
                "given_back_deprived": Fraction(2, 3),
                "given_back_favored": None,
                "paid": Fraction(4, 11),
                "paid_deprived": Fraction(3, 4),
                "paid_favored": Fraction(1, 7),
                "in_their_place": None,
                "in_their_place_deprived": None,
                "in_their_place_favored": None,
            },
        ),
    ],
    ids=["two groups", "somebody of each kind", "an empty group", "a constant clean model"],
)
def test_metrics_are_the_fractions_counted_by_hand(
    people: People, expected: dict[str, Fraction | None]
) -> None:
    rows, numbers = predictions(people)
    by_hand = {name: math.nan if value is None else float(value) for name, value in expected.items()}
    of_rows, of_counts = (
        OneValueEach(NAMES, 0, RESTORATION)(rows.counts, rows=rows),
        restoration(np.array(numbers)),
    )
    assert list(by_hand) == list(RESTORATION)
    for results in (of_rows, of_counts):
        values = {name: results.values.get(name, math.nan) for name in RESTORATION}
        assert values == pytest.approx(by_hand, rel=0, abs=1e-12, nan_ok=True)
        assert set(results.reasons) == {name for name, value in expected.items() if value is None}


def test_statistics_have_the_same_values_of_any_counts() -> None:
    rng = np.random.default_rng(5)
    counts = rng.poisson(2, (200, 32)) * rng.integers(0, 2, (200, 32))
    counts[:20, :16] = 0
    tables = restoration_values(counts)
    assert set(tables) == set(RESTORATION)
    for i, row in enumerate(counts):
        values = restoration(row).values
        expected = {name: values.get(name, math.nan) for name in RESTORATION}
        found = {name: tables[name][i] for name in RESTORATION}
        assert found == pytest.approx(expected, rel=0, abs=1e-12, nan_ok=True)


def test_without_the_clean_model_there_is_a_reason_and_no_value() -> None:
    rows, _ = predictions(ALL_KINDS)
    alone = Predictions(rows.codes, NAMES, rows.y_true, rows.y_pred)
    results = OneValueEach(NAMES, 0, ("given_back",))(alone.counts, rows=alone, tolerant=True)
    assert not np.isfinite(results.values.get("given_back", math.nan))
    assert "the model without planted bias" in results.reasons["given_back"]
