"""Numbers of findings are written without the zero before the point, and only that zero."""

from __future__ import annotations

import pytest

from studies.estimates import signed, three, told, two


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.25, ".25"),
        (-0.25, "-.25"),
        (10.05, "10.05"),
        (20.3, "20.30"),
        (-100.007, "-100.01"),
        (0.999, "1.00"),
        (-0.001, "-.00"),
        (0.001, ".00"),
        (0.0, ".00"),
        (float("nan"), "–"),
    ],
)
def test_only_a_zero_in_front_is_left_out(value: float, text: str) -> None:
    assert two(value) == text


def test_three_digits_a_sign_and_an_interval() -> None:
    assert [three(value) for value in (10.0, 0.0625, -30.05)] == ["10.000", ".062", "-30.050"]
    assert [signed(value) for value in (10.0, 0.5, -0.5, 0.0001)] == ["+10.000", "+.500", "-.500", "+.000"]
    assert told((10.05, 0.2, 100.3), two) == "10.05 [.20, 100.30]"
