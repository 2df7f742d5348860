"""Names become names of files that no file system takes for one another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.errors import DataError
from benchmark.text.words import distinct_file_names, in_list, p_value, sentence, share, values_in_list


def test_the_first_of_names_that_are_alike_keeps_its_plain_form() -> None:
    assert distinct_file_names(["rate[Male]", "rate", "rate[male]", "rate(MALE)", "rate_male__2"]) == {
        "rate[Male]": "rate_Male_",
        "rate": "rate",
        "rate[male]": "rate_male__2",
        "rate(MALE)": "rate_MALE__3",
        "rate_male__2": "rate_male__2_2",
    }


@given(st.lists(st.text(alphabet="aA_2[]ß", max_size=4)))
def test_no_two_names_share_a_file(names: list[str]) -> None:
    found = distinct_file_names(names)
    assert set(found) == set(names)
    assert len({name.casefold() for name in found.values()}) == len(found)


def test_values_with_commas_are_found_in_a_list() -> None:
    def found(listed: str | tuple[str, ...], *known: str) -> list[str]:
        return values_in_list(listed, known.__contains__, "deprived")

    assert found("a, b,c", "b,c", "a") == ["a", "b,c"]
    assert found("a,b,a,", "x") == ["a", "b"]
    assert found("no, never,no", "no", "no, never") == ["no, never", "no"]
    assert found("x,no, never", "no, never") == ["x", "no, never"]
    assert found(("a,b", "c"), "a", "b") == ["a,b", "c"]
    # What can be read in two ways is not guessed; the error says what to type.
    ways = ["A,B"], ["A", "B"]
    with pytest.raises(DataError, match="two ways") as raised:
        found("A,B", "A", "B", "A,B")
    for way in ways:
        typed = in_list(way, quoted=True)
        assert f"--deprived '{typed}'" in str(raised.value)
        assert found(typed, "A", "B", "A,B") == way
    assert in_list(["yes, hired", "B"]) == '"yes, hired",B'


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0546875, "0.055"),
        (0.0504, "0.0504"),
        (0.04996, "0.04996"),
        (0.05, "0.050"),
        (0.0499999999, "0.0499999999"),
        (0.01234, "0.012"),
        (1.0, "1.000"),
        (5.3e-24, "< 0.001"),
        (float("nan"), "–"),
    ],
)
def test_a_p_value_is_not_rounded_across_the_level_of_significance(p: float, text: str) -> None:
    assert p_value(p) == text


@given(st.floats(0, 1), st.sampled_from([0.01, 0.05, 0.1]))
def test_a_p_value_is_written_on_its_side_of_any_level(p: float, alpha: float) -> None:
    written = float(p_value(p, alpha).removeprefix("< "))
    assert (written <= alpha) == (p <= alpha)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("it survives", "it survives."),
        ("does it?", "does it?"),
        ("it does!", "it does!"),
        ("it ends. ", "it ends."),
    ],
)
def test_a_sentence_keeps_its_own_end(text: str, expected: str) -> None:
    assert sentence(text) == expected


def test_a_p_value_is_not_rounded_across_the_level() -> None:
    assert [p_value(p) for p in (0.0004, 0.0496, 0.0504, 0.2)] == ["< 0.001", "0.0496", "0.0504", "0.200"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0 %"), (0.0049, "0.5 %"), (0.01, "1 %"), (0.5, "50 %"), (0.994, "99.4 %"), (1.0, "100 %")],
)
def test_a_share_has_a_decimal_only_near_none_and_all(value: float, text: str) -> None:
    assert share(value) == text
