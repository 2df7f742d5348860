"""Rates from outside a file: how they are written, and whose they are."""

from __future__ import annotations

import pytest

from benchmark.data.reading import Part, Reading, parse_rates, rates_of_sides
from benchmark.errors import DataError


def reading(deprived: Part, favored: Part) -> Reading:
    label = Part("favorable", "y", (("1", 5),), 5, 5)
    return Reading("a.csv", 10, 10, (label, label, deprived, favored), ())


def group(role: str, *values: tuple[str, int], name: str = "") -> Part:
    rows = sum(n for _, n in values)
    return Part(role, "sex", values, rows, rows // 2, name)


SEXES = reading(group("deprived", ("F", 4)), group("favored", ("M", 6)))
SEVERAL = reading(group("deprived", ("a, b", 1), ("c=d", 3)), group("favored", ("1", 6)))
AGES = reading(
    group("deprived", ("20", 2), ("24", 2), name="below 25"), group("favored", ("30", 6), name="25 and more")
)


@pytest.mark.parametrize(
    ("text", "rates"),
    [
        ("F=0.4,M=0.42", {"F": 0.4, "M": 0.42}),
        (" F = .4 , M=1 ", {"F": 0.4, "M": 1.0}),
        ("a, b=0.1,c=d=0.2,1=0", {"a, b": 0.1, "c=d": 0.2, "1": 0.0}),
        ("below 25=0.5,25 and more=0.6", {"below 25": 0.5, "25 and more": 0.6}),
    ],
)
def test_names_may_hold_commas_and_equals_signs(text: str, rates: dict[str, float]) -> None:
    assert parse_rates(text) == rates


@pytest.mark.parametrize("text", ["", "F", "F=,M=0.4", "F=0.4,F=0.5", "=0.4", "F=0.4,M", "F=x"])
def test_what_is_no_list_of_rates_is_an_error(text: str) -> None:
    with pytest.raises(DataError, match=r"cannot be read.*one rate for each group"):
        parse_rates(text)


@pytest.mark.parametrize(
    ("given", "read", "rates"),
    [
        ({"F": 0.4, "M": 0.42}, SEXES, (0.4, 0.42)),
        ({"favored": 0.42, "deprived": 0.4}, SEXES, (0.4, 0.42)),
        ({"deprived": 0.0, "1": 1.0}, SEVERAL, (0.0, 1.0)),
        ({"below 25": 0.1, "25 and more": 0.2}, AGES, (0.1, 0.2)),
    ],
)
def test_each_side_has_its_rate(given: dict[str, float], read: Reading, rates: tuple[float, float]) -> None:
    found = rates_of_sides(given, read)
    assert (found["deprived"], found["favored"]) == pytest.approx(rates)


@pytest.mark.parametrize(
    ("given", "read", "words"),
    [
        ({"F": 0.4, "X": 0.5}, SEXES, "not those of the two groups of 'sex'.*'deprived' or 'F' and .*'M'"),
        ({"F": 40, "M": 0.5}, SEXES, "rate of 'F' is out of range.*write 0.4 for 40 %"),
        ({"F": -0.1, "M": 0.5}, SEXES, "out of range.*correct --true-rate"),
        ({"F": float("nan"), "M": 0.5}, SEXES, "out of range"),
        ({"F": 0.4}, SEXES, "not those of the two groups.*'favored' or 'M'.*Got: 'F'"),
        ({"a, b": 0.4, "1": 0.5}, SEVERAL, "a rate of 'deprived' and a rate of 'favored' or '1'"),
    ],
)
def test_a_wrong_group_a_wrong_rate_and_a_missing_group_are_errors(
    given: dict[str, float], read: Reading, words: str
) -> None:
    with pytest.raises(DataError, match=words):
        rates_of_sides(given, read)
