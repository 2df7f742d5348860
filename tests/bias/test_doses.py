"""Doses: the level that adds a label gap, by hand and against what samples have."""

import numpy as np
import pytest

from benchmark.bias import Expected, Rows, make_bias, make_step
from benchmark.bias.doses import solve_doses
from benchmark.conformance import example_table
from benchmark.errors import BiasError


def deprived_rate(rows: Rows) -> float:
    """Return the share of favorable labels in the deprived group."""
    return float(rows.table.y[rows.deprived].mean())


def test_label_bias_adds_the_share_that_it_turns() -> None:
    """By hand: turning a share β of the favorable labels takes β times their share off the group's rate."""
    rows = Rows.of(example_table(5000))
    solved = solve_doses(make_bias("label").expectations_in_rows(rows), [0.0, 0.05, 0.1])
    assert (solved[0].beta, solved[0].gap) == (0.0, 0.0)
    for dose in solved[1:]:
        assert dose.beta == pytest.approx(dose.dose / deprived_rate(rows), abs=1e-8)
        assert dose.gap == pytest.approx(dose.dose, abs=1e-6)
        assert len(f"{dose.beta:.17g}".strip("0.")) >= 12 or float(f"{dose.beta:.12g}") == dose.beta


def test_selection_adds_what_the_rest_of_the_group_says() -> None:
    """By hand: of a rate p, leaving out a share β of the favorable leaves (p - βp) / (1 - βp)."""
    rows = Rows.of(example_table(5000))
    dose = solve_doses(make_bias("selection").expectations_in_rows(rows), [0.1])[0]
    p = deprived_rate(rows)
    assert p - (p - dose.beta * p) / (1 - dose.beta * p) == pytest.approx(0.1, abs=1e-6)


def test_counting_equal_rows_together_changes_nothing() -> None:
    rows = Rows.of(example_table(3000))
    for kind in ("label", "selection", "under_representation", "label_noise"):
        bias = make_bias(kind)
        quick = bias.expectations_in_rows(rows)
        for beta in (0.0, 0.3, 0.9):
            assert quick(beta).discrimination == pytest.approx(
                bias.expected_in_rows(rows, beta).discrimination, abs=1e-12
            )


def test_a_dose_out_of_reach_says_what_is_in_reach() -> None:
    rows = Rows.of(example_table(5000))
    dose = solve_doses(make_bias("label").expectations_in_rows(rows), [0.99])[0]
    assert dose.beta is None
    assert not dose.pooled
    assert dose.gap == pytest.approx(deprived_rate(rows), abs=1e-12)


def test_a_dose_that_takes_nearly_all_is_never_pooled() -> None:
    rows = Rows.of(example_table(5000))
    rate = deprived_rate(rows)
    low, high = solve_doses(make_bias("label").expectations_in_rows(rows), [0.9 * rate, 0.97 * rate])
    assert low.pooled
    assert high.beta is not None
    assert not high.pooled


def test_the_smallest_level_is_taken_where_several_add_the_same() -> None:
    """A rate that stops rising at half: the gap is reached on the way, not on the plateau."""

    def expected(beta: float) -> Expected:
        return Expected(0.1 + 0.2 * min(2 * beta, 1.0), 0.5, 1.0, 0.5)

    low, top = solve_doses(expected, [0.1, 0.2])
    assert low.beta == pytest.approx(0.25, abs=1e-8)
    assert top.beta == pytest.approx(0.5, abs=1e-8)


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        ("0 * beta", "adds no label gap"),
        ("beta * (1 - beta)", "less at"),
        ("-0.0 * beta", "adds no label gap"),
    ],
)
def test_no_dose_is_solved_where_more_bias_does_not_add_more(rate: str, words: str) -> None:
    bias = make_bias(make_step("label", {"rate": rate}))
    with pytest.raises(BiasError, match=words):
        solve_doses(bias.expectations_in_rows(Rows.of(example_table(2000))), [0.05])


def test_what_acts_on_the_favored_alone_takes_the_gap_away() -> None:
    bias = make_bias(make_step("label", {"group": "favored"}))
    with pytest.raises(BiasError, match="adds no label gap"):
        solve_doses(bias.expectations_in_rows(Rows.of(example_table(2000))), [0.05])


def test_samples_have_the_dose() -> None:
    rows = Rows.of(example_table(200_000))
    bias = make_bias("label")
    dose = solve_doses(bias.expectations_in_rows(rows), [0.1])[0]
    planted = bias.plant_in_rows(rows, dose.beta, np.random.default_rng(0))
    assert planted.discrimination - rows.discrimination == pytest.approx(0.1, abs=0.01)
