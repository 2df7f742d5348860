"""Estimates of a group's true gap: intervals hold it as often as they say, and the study's table is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import hypergeom

from benchmark.statistics import true_gap
from benchmark.statistics.true_gap import TrueGap, gap_from_rate, gap_from_refusals, study_of

# Made-up groups: rows, favorable ones, wrong refusals among the others, examined refusals.
GROUPS = [
    (1500, 500, 230, 50),
    (400, 60, 20, 50),
    (900, 700, 0, 40),
    (120, 30, 45, 25),
    (2500, 400, 1000, 30),
]


@pytest.mark.parametrize("group", GROUPS)
def test_the_interval_holds_the_true_gap_in_95_percent_of_all_draws(group: tuple[int, int, int, int]) -> None:
    """Exactly: over all numbers of wrong refusals that can be drawn, by their chances."""
    rows, favorable, wrong, m = group
    chances = hypergeom.pmf(np.arange(m + 1), rows - favorable, wrong, m)
    held = [
        (found := gap_from_refusals(rows, favorable, m, k)).gap.low <= wrong / rows <= found.gap.high
        for k in np.flatnonzero(chances > 1e-9)
    ]
    assert chances[chances > 1e-9][held].sum() >= 0.95


@pytest.mark.parametrize("errs", [0.0, 0.05, 0.1])
@pytest.mark.parametrize("group", GROUPS[:2])
def test_intervals_hold_the_true_gap_in_200_draws_whoever_errs(
    group: tuple[int, int, int, int], errs: float
) -> None:
    rows, favorable, wrong, m = group
    rng, made, widths, held = np.random.default_rng(3), dict[int, TrueGap](), [], 0
    refusals = np.arange(rows - favorable) < wrong
    for _ in range(200):
        k = int((rng.permutation(refusals)[:m] ^ (rng.random(m) < errs)).sum())
        if k not in made:
            made[k] = gap_from_refusals(rows, favorable, m, k, errs)
        gap = made[k].gap
        held += gap.low <= wrong / rows <= gap.high
        widths.append(gap.high - gap.low)
    assert held >= 186
    # About four standard errors, as wide as a share of m people allows.
    assert np.mean(widths) < 4.6 * (1 - favorable / rows) * 0.5 / np.sqrt(m) / (1 - 2 * errs)


def test_everybody_examined_leaves_nothing_open_and_errors_widen() -> None:
    whole = gap_from_refusals(100, 40, 60, 15)
    assert whole.gap == (0.15, 0.15, 0.15)
    assert whole.true == (0.55, 0.55, 0.55)
    assert whole.lost == pytest.approx((15 / 55,) * 3)
    exact, rough = (gap_from_refusals(1000, 400, 50, 15, errs).gap for errs in (0.0, 0.1))
    assert exact.low <= 0.6 * 0.3 <= exact.high
    assert rough.value == pytest.approx(0.6 * 0.2 / 0.8)
    assert rough.high - rough.low > exact.high - exact.low
    nothing = gap_from_refusals(1000, 400, 50, 0)
    assert nothing.gap[:2] == nothing.lost[:2] == (0, 0)
    # The rule of three: nothing in 50 leaves at most about 7 %.
    assert 0.03 < nothing.gap.high < 0.6 * 0.08


def test_a_rate_that_is_told_has_the_recorded_rates_interval() -> None:
    found = gap_from_rate(1000, 300, 0.42)
    assert found.gap.value == pytest.approx(0.12)
    assert found.gap.low == pytest.approx(0.12 - 0.029, abs=0.002)
    assert found.gap.high == pytest.approx(0.12 + 0.029, abs=0.002)
    assert found.lost.value == pytest.approx(0.12 / 0.42)
    assert gap_from_rate(50, 0, 0.1).gap.high == 0.1
    assert gap_from_rate(1000, 300, 0.42, people=100).gap == pytest.approx(gap_from_rate(100, 30, 0.42).gap)
    assert gap_from_rate(1000, 300, 0.2).lost.value == 0


def test_the_study_speaks_for_the_nearest_gap_and_number_of_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = pd.read_csv(true_gap.TOLD_FILE)
    rows = [
        {"learner": "c45", "dose": dose, "fact": fact, "m": m, "factor": factor, "break_even": 2.0}
        for dose in (0.0, 0.05, 0.1)
        for fact, m, factor in (
            ("refusals", 25, None),
            ("refusals", 50, None),
            ("rates", None, None),
            ("gap", None, 0.5),
        )
    ]
    file = tmp_path / "told.csv"
    pd.DataFrame(rows).reindex(columns=shipped.columns).to_csv(file, index=False)
    monkeypatch.setattr(true_gap, "TOLD_FILE", file)
    found = study_of("refusals", "c45", 0.3, 60)
    assert (found.dose, found.m) == (0.1, 50)
    assert study_of("rates", "c45", 0.01).dose == 0.05
    assert study_of("gap", "c45", 0.1) is None, "half the gap is another fact"
    assert study_of("rates", "random_forest", 0.1) is None
    shipped.head(0).to_csv(file.with_name("empty.csv"), index=False)
    monkeypatch.setattr(true_gap, "TOLD_FILE", file.with_name("empty.csv"))
    assert study_of("rates", "c45", 0.1) is None
