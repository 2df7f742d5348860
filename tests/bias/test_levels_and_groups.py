"""What parameters of biases may say: levels that follow beta, and people."""

import contextlib
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.bias import Group, Level, Rate, make_step
from benchmark.conformance import example_table
from benchmark.errors import BiasError, UnknownNameError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("beta", 0.4),
        ("1 - beta", 0.6),
        ("0.5 * beta", 0.2),
        ("(1 - beta) ** 2", 0.36),
        ("-beta + 1e0", 0.6),
        ("beta / 2 / 2", 0.1),
        (0.25, 0.25),
        (1, 1.0),
    ],
)
def test_expressions_are_computed(text: str | float, value: float) -> None:
    assert Level(text).at(0.4) == pytest.approx(value)
    assert pickle.loads(pickle.dumps(Level(text))) == Level(text)


@pytest.mark.parametrize(
    "text",
    [
        *("abs(beta)", "__import__('os')", "beta.real", "gamma", "beta if beta else 1", "[beta]"),
        *("beta and 1", "True", "'a'", "1j", "beta < 1", "", "1 +", "(" * 500, "1" * 500, "lambda: 1"),
        *("beta // 2", "beta % 2"),
    ],
)
def test_nothing_else_is_an_expression(text: str) -> None:
    with pytest.raises(ValueError, match=r"only numbers, beta|is no expression|at most 200 characters"):
        Level(text)


@given(st.text(max_size=30))
def test_no_text_is_run(text: str) -> None:
    try:
        level = Level(text)
    except ValueError:
        return
    with contextlib.suppress(BiasError):
        assert np.isfinite(level.at(0.5))


TOO_GREAT = "9 ** 9 ** 9 ** 9"


@pytest.mark.parametrize("text", ["1 + beta", "-beta", "1 / (beta - 0.5)", "(-beta) ** 0.5", TOO_GREAT])
def test_a_rate_out_of_range_says_at_which_level(text: str) -> None:
    with pytest.raises(BiasError, match=r"at beta = 0\.5. Expected: a number from 0 to 1. Got: "):
        Rate(text).at(0.5)


def test_groups_are_named_or_intersections() -> None:
    table = example_table()
    sex, proxy = (table.codes[:, table.schema.index(name)] for name in ("sex", "proxy"))
    assert (Group("deprived").members(table) == table.deprived).all()
    assert (Group("favored").members(table) == ~table.deprived).all()
    assert Group("all").members(table).all()
    both = Group({"sex": "women", "proxy": ["north", "south"]})
    assert (both.members(table) == (sex == 1) & np.isin(proxy, [0, 2])).all()
    assert str(both) == "proxy = north or south and sex = women"
    assert both == Group(both.written) == Group({"proxy": ["south", "north", "south"], "sex": ["women"]})
    assert both.written == {"proxy": ["north", "south"], "sex": ["women"]}
    for unknown in ({"sex": "none"}, {"age": "1"}):
        with pytest.raises(UnknownNameError):
            Group(unknown).check(table.schema)
    for wrong in ("women", {}, {"sex": []}, {"sex": 1}, {"sex": [1]}, 3):
        with pytest.raises(ValueError, match="must"):
            Group(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"rate": "f(beta)"}, r"rate: holds 'f\(beta\)'"),
        ({"ratte": 1}, r"ratte: is not a field of this table; got 1 \(did you mean 'rate'"),
        ({"group": "women"}, "group: must be 'deprived', 'favored', 'all'"),
    ],
)
def test_wrong_parameters_are_named(parameters: dict[str, object], said: str) -> None:
    with pytest.raises(BiasError, match=said):
        make_step("label", parameters)
