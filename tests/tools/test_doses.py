"""The doses that are in reach are those of the page, and a solved level adds its dose."""

from __future__ import annotations

import pytest

from benchmark.bias import Expected
from benchmark.bias.doses import Dose, solve_doses
from tools.doses import DOSES, PAGE, as_markdown, table


@pytest.fixture(scope="module")
def solved() -> dict[str, dict[str, tuple[Dose, ...]]]:
    return table()


@pytest.mark.nightly
@pytest.mark.real_data
def test_the_page_says_what_is_in_reach(solved: dict[str, dict[str, tuple[Dose, ...]]]) -> None:
    assert as_markdown(solved) in PAGE.read_text(encoding="utf-8")


@pytest.mark.nightly
@pytest.mark.real_data
def test_a_level_adds_its_dose_on_every_dataset_unless_the_bias_jumps(
    solved: dict[str, dict[str, tuple[Dose, ...]]],
) -> None:
    added = [
        (name, kind, dose)
        for name, kinds in solved.items()
        for kind, doses in kinds.items()
        for dose in doses
        if dose.beta is not None
    ]
    assert len(added) > len(DOSES) * len(solved)
    for name, kind, dose in added:
        near = abs(dose.gap - dose.dose) < 1e-6
        assert near or (kind == "score" and not dose.pooled), (name, kind, dose)


def test_a_level_whose_gap_jumps_past_the_dose_is_not_pooled() -> None:
    def expected(beta: float) -> Expected:
        return Expected(0.1 + (0.3 if beta > 0.2 else 0.0), 0.5, 1.0, 0.5)

    (dose,) = solve_doses(expected, [0.1])
    assert dose.beta == pytest.approx(0.2, abs=1e-9)
    assert dose.gap == pytest.approx(0.3)
    assert not dose.pooled
